//! The instruction sets: a type for a register of each, and the functions that are compiled for it.

#[macro_use]
pub(super) mod register;
#[macro_use]
pub(super) mod pack;

#[cfg(lanes_avx2)]
pub(super) mod avx2;
#[cfg(lanes_avx512)]
pub(super) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(super) mod neon;
pub(super) mod portable;
#[cfg(target_arch = "x86_64")]
pub(super) mod sse2;

use std::ops::Range;
use std::panic::{RefUnwindSafe, UnwindSafe};

use fit_core::pass::{
    Axes, Likelihood, Method, PlaneFit, Summable, Visitor, WeightedFit, on_plane,
};
use fit_core::{ArgumentError, Errors, Estimator, Fits, Options, Pixel, Setup, Size, Start};
use fit_windows::{NoteKind, Windows};

use super::InstructionSet;
use super::engine::{Feed, Scratch, Sink, Slots, run};
use super::errors::{Appraisal, SideKinds};
use super::load::{How, Load, convert, load, load_notes};
use pack::Pack;

/// Four numbers, on any processor of this architecture.
#[cfg(target_arch = "x86_64")]
pub(super) type Portable = sse2::F32x4;
/// Four numbers, on any processor of this architecture.
#[cfg(not(target_arch = "x86_64"))]
pub(super) type Portable = portable::Array4;

/// Windows that a register can be loaded from, of an instruction set that this build has or that it has not.
macro_rules! loads {
    ($name:ident, $register:ty, $compiled:meta) => {
        #[cfg($compiled)]
        pub(super) trait $name: Load<$register> {}
        #[cfg($compiled)]
        impl<W: Load<$register>> $name for W {}
        #[cfg(not($compiled))]
        pub(super) trait $name {}
        #[cfg(not($compiled))]
        impl<W> $name for W {}
    };
}
loads!(LoadsAvx512, avx512::F32x16, lanes_avx512);
loads!(LoadsAvx2, avx2::F32x8, lanes_avx2);
loads!(LoadsNeon, neon::F32x4, target_arch = "aarch64");

/// Windows that the registers of every instruction set of this build can be loaded from.
pub(super) trait Source:
    Sync + LoadsAvx512 + LoadsAvx2 + LoadsNeon + Load<Portable>
{
}

impl<X: Pixel> Source for Windows<'_, X> {}

/// Options and working memory for one instruction set.
pub(super) trait Engine: Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Fits `windows` of `source`.
    fn run(
        &mut self,
        source: &dyn Source,
        start: Start<'_>,
        windows: Range<usize>,
        sink: &mut dyn Sink,
    );
}

/// An engine for an instruction set.
///
/// # Errors
/// The size or an option makes no sense.
///
/// # Safety
/// The processor has the instruction set.
pub(super) unsafe fn engine(
    set: InstructionSet,
    size: Size,
    options: &Options,
    how: How,
) -> Result<Box<dyn Engine>, ArgumentError> {
    options.shape.visit(options.background, Make { set, size, options, how })
}

/// Finds the errors of fits with one instruction set.
pub(super) trait Appraiser: Send + Sync + UnwindSafe + RefUnwindSafe {
    /// Finds the errors of the fits of `windows`, whose outcomes have the same numbers; `errors` begins with those of
    /// the first.
    fn errors(
        &mut self,
        source: &dyn Source,
        windows: Range<usize>,
        fits: Fits<'_>,
        errors: &mut [Errors],
    );
}

/// What finds the errors of fits with an instruction set.
///
/// # Errors
/// The size or an option makes no sense.
///
/// # Safety
/// The processor has the instruction set.
pub(super) unsafe fn appraiser(
    set: InstructionSet,
    size: Size,
    options: &Options,
    side: SideKinds,
) -> Result<Box<dyn Appraiser>, ArgumentError> {
    options.shape.visit(options.background, MakeAppraiser { set, size, options, side })
}

/// Something that is made for a shape, with the functions of an instruction set.
macro_rules! made_for_a_shape {
    ($(#[$doc:meta])* $name:ident($extra:ident: $type:ty) -> $made:ident,
        $avx512:ident, $avx2:ident, $neon:ident, $portable:ident) => {
        $(#[$doc])*
        struct $name<'a> {
            set: InstructionSet,
            size: Size,
            options: &'a Options,
            $extra: $type,
        }

        impl Visitor for $name<'_> {
            type Output = Result<Box<dyn $made>, ArgumentError>;

            fn visit<S: Summable<K>, const K: usize, const Q: usize>(
                self,
                shape: S,
            ) -> Self::Output {
                let Self { set, size, options, $extra } = self;
                // The single-precision setup says what is wrong without an instruction of the set.
                Setup::<f32, S, K>::for_shape(shape, size, options)?;
                // SAFETY: whoever makes this promises that the processor has the instruction set.
                unsafe {
                    match set {
                        #[cfg(lanes_avx512)]
                        InstructionSet::Avx512 => $avx512::<S, K, Q>(shape, size, options, $extra),
                        #[cfg(lanes_avx2)]
                        InstructionSet::Avx2 => $avx2::<S, K, Q>(shape, size, options, $extra),
                        #[cfg(target_arch = "aarch64")]
                        InstructionSet::Neon => $neon::<S, K, Q>(shape, size, options, $extra),
                        _ => $portable::<S, K, Q>(shape, size, options, $extra),
                    }
                }
            }
        }
    };
}
made_for_a_shape!(
    /// An engine.
    Make(how: How) -> Engine, avx512_engine, avx2_engine, neon_engine, portable_engine
);
made_for_a_shape!(
    /// What finds the errors of fits.
    MakeAppraiser(side: SideKinds) -> Appraiser,
    avx512_appraiser, avx2_appraiser, neon_appraiser, portable_appraiser
);

struct Vectorized<P: Pack, M: Method<P>> {
    method: M,
    scratch: Scratch<P, M>,
}

/// The entries of an instruction set: everything in them is inlined, so all of it is compiled for it.
macro_rules! entries {
    ($engine:ident, $appraiser:ident, $pack:ty $(, $features:literal)?) => {
        /// # Safety
        /// The processor has the instruction set.
        $(#[target_feature(enable = $features)])?
        unsafe fn $appraiser<S: Summable<K>, const K: usize, const Q: usize>(
            shape: S,
            size: Size,
            options: &Options,
            side: SideKinds,
        ) -> Result<Box<dyn Appraiser>, ArgumentError> {
            Ok(Box::new(Appraisal::<$pack, S, K, Q>::new(shape, size, options, side)?))
        }

        /// # Safety
        /// The processor has the instruction set.
        $(#[target_feature(enable = $features)])?
        unsafe fn $engine<S: Summable<K>, const K: usize, const Q: usize>(
            shape: S,
            size: Size,
            options: &Options,
            how: How,
        ) -> Result<Box<dyn Engine>, ArgumentError> {
            // There are two of them, and one copy of what makes them.
            #[inline(never)]
            $(#[target_feature(enable = $features)])?
            unsafe fn slots<M: Method<$pack>>(method: &M) -> Slots<$pack, M> {
                Slots::new(method)
            }
            let How { kind, mapped, .. } = how;
            if options.estimator == Estimator::MaximumLikelihood {
                let method = Likelihood::<$pack, S, K, Q, true>::for_shape(shape, size, options, mapped)?;
                let scratch = Scratch::new(&method, how, slots::<_>);
                return Ok(Box::new(Vectorized { method, scratch }));
            }
            let plane = const { on_plane(K, Q) };
            if plane && kind == NoteKind::Weights {
                let method =
                    PlaneFit::<$pack, S, K, true, false>::for_shape(shape, size, options, mapped)?;
                let scratch = Scratch::new(&method, how, slots::<_>);
                return Ok(Box::new(Vectorized { method, scratch }));
            }
            if plane {
                let method =
                    PlaneFit::<$pack, S, K, false, false>::for_shape(shape, size, options, mapped)?;
                let scratch = Scratch::new(&method, how, slots::<_>);
                return Ok(Box::new(Vectorized { method, scratch }));
            }
            if kind == NoteKind::Weights {
                let method = WeightedFit::<$pack, S, K>::for_shape(shape, size, options, mapped)?;
                let scratch = Scratch::new(&method, how, slots::<_>);
                return Ok(Box::new(Vectorized { method, scratch }));
            }
            let method = Setup::<$pack, S, K>::for_shape(shape, size, options)?;
            let method = if mapped { method.of_photons() } else { method };
            let scratch = Scratch::new(&method, how, slots::<_>);
            Ok(Box::new(Vectorized { method, scratch }))
        }

        impl<M: Method<$pack>> Engine for Vectorized<$pack, M> {
            fn run(
                &mut self,
                source: &dyn Source,
                start: Start<'_>,
                windows: Range<usize>,
                sink: &mut dyn Sink,
            ) {
                $(#[target_feature(enable = $features)])?
                unsafe fn entry<M: Method<$pack>>(
                    Vectorized { method, scratch }: &mut Vectorized<$pack, M>,
                    source: &dyn Load<$pack>,
                    start: Start<'_>,
                    windows: Range<usize>,
                    sink: &mut dyn Sink,
                ) {
                    run(method, scratch, source, start, windows, sink, ready::<M>);
                }
                // Where it is called from is no place for another copy of it.
                #[inline(never)]
                $(#[target_feature(enable = $features)])?
                unsafe fn ready<M: Method<$pack>>(
                    feed: &mut Feed<'_, $pack, M>,
                    method: &M,
                    axes: &mut Axes<'_, $pack>,
                    sink: &mut dyn Sink,
                ) {
                    feed.make_ready(method, axes, sink);
                }
                // SAFETY: who made the engine saw to it that the processor has the instruction set.
                unsafe { entry(self, source, start, windows, sink) }
            }
        }

        impl<X: Pixel> Load<$pack> for Windows<'_, X> {
            fn load(&self, windows: Range<usize>, packs: &mut [$pack], how: How) {
                $(#[target_feature(enable = $features)])?
                unsafe fn entry<X: Pixel>(
                    from: &Windows<'_, X>,
                    windows: Range<usize>,
                    packs: &mut [$pack],
                    how: How,
                ) {
                    load(from, windows.clone(), packs);
                    convert(from, windows, packs, how);
                }
                // SAFETY: there are registers of this type only where an engine of the instruction set was
                // made, after the processor said that it has it.
                unsafe { entry(self, windows, packs, how) }
            }
            fn load_notes(
                &self,
                windows: Range<usize>,
                kind: NoteKind,
                packs: &mut [$pack],
                em_gain: f64,
            ) {
                $(#[target_feature(enable = $features)])?
                unsafe fn entry<X: Pixel>(
                    from: &Windows<'_, X>,
                    windows: Range<usize>,
                    kind: NoteKind,
                    packs: &mut [$pack],
                    em_gain: f64,
                ) {
                    load_notes(from, windows, kind, packs, em_gain);
                }
                // SAFETY: as for `load`.
                unsafe { entry(self, windows, kind, packs, em_gain) }
            }
        }

        impl<S: Summable<K>, const K: usize, const Q: usize> Appraiser for Appraisal<$pack, S, K, Q> {
            fn errors(
                &mut self,
                source: &dyn Source,
                windows: Range<usize>,
                fits: Fits<'_>,
                errors: &mut [Errors],
            ) {
                $(#[target_feature(enable = $features)])?
                unsafe fn entry<S: Summable<K>, const K: usize, const Q: usize>(
                    appraisal: &mut Appraisal<$pack, S, K, Q>,
                    source: &dyn Load<$pack>,
                    windows: Range<usize>,
                    fits: Fits<'_>,
                    errors: &mut [Errors],
                ) {
                    appraisal.errors(source, windows, fits, errors);
                }
                // SAFETY: who made it saw to it that the processor has the instruction set.
                unsafe { entry(self, source, windows, fits, errors) }
            }
        }
    };
}
#[cfg(lanes_avx512)]
entries!(avx512_engine, avx512_appraiser, avx512::F32x16, "avx512f,avx2,fma");
#[cfg(lanes_avx2)]
entries!(avx2_engine, avx2_appraiser, avx2::F32x8, "avx2,fma");
#[cfg(target_arch = "aarch64")]
entries!(neon_engine, neon_appraiser, neon::F32x4, "neon");
entries!(portable_engine, portable_appraiser, Portable);
