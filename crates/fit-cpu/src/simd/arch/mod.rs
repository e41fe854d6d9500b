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

use fit_core::pass::{Likelihood, Method, Summable, Visitor};
use fit_core::{ArgumentError, Errors, Estimator, Fits, Options, Pixel, Real, Setup, Size, Start};
use fit_windows::{NoteKind, Windows};

use super::engine::{Run, Scratch, Sink};
use super::errors::{EstimateErrors, LaneErrors, SideKinds};
use super::instruction_set::Available;
use super::load::{How, Load};
use pack::Pack;
use register::Task;

/// Four numbers, on any processor of this architecture.
#[cfg(target_arch = "x86_64")]
pub(super) type Portable = sse2::F32x4;
/// Four numbers, on any processor of this architecture.
#[cfg(not(target_arch = "x86_64"))]
pub(super) type Portable = portable::Array4;

/// An expression for the packs of single precision of an instruction set, which is available.
macro_rules! with_packs {
    ($available:expr, |$pack:ident| $value:expr) => {
        match $available.set() {
            #[cfg(lanes_avx512)]
            $crate::InstructionSet::Avx512 => {
                type $pack = $crate::simd::arch::avx512::F32x16;
                $value
            }
            #[cfg(lanes_avx2)]
            $crate::InstructionSet::Avx2 => {
                type $pack = $crate::simd::arch::avx2::F32x8;
                $value
            }
            #[cfg(target_arch = "aarch64")]
            $crate::InstructionSet::Neon => {
                type $pack = $crate::simd::arch::neon::F32x4;
                $value
            }
            _ => {
                type $pack = $crate::simd::arch::Portable;
                $value
            }
        }
    };
}

/// Packs that windows are loaded into.
pub(super) trait Loaded: Pack {
    /// Windows of any pixels, as they are loaded into these.
    fn windows(source: &dyn Source) -> &dyn Load<Self>;
}

/// Windows that a register can be loaded from, of an instruction set that this build has or that it has not.
macro_rules! loads {
    ($name:ident, $register:ty, $compiled:meta) => {
        #[cfg($compiled)]
        pub(super) trait $name: Load<$register> {}
        #[cfg($compiled)]
        impl<W: Load<$register>> $name for W {}
        #[cfg($compiled)]
        impl Loaded for $register {
            fn windows(source: &dyn Source) -> &dyn Load<Self> {
                source
            }
        }
        #[cfg(not($compiled))]
        pub(super) trait $name {}
        #[cfg(not($compiled))]
        impl<W> $name for W {}
    };
}
loads!(LoadsAvx512, avx512::F32x16, lanes_avx512);
loads!(LoadsAvx2, avx2::F32x8, lanes_avx2);
loads!(LoadsNeon, neon::F32x4, target_arch = "aarch64");
loads!(LoadsPortable, Portable, all());

/// Windows that the registers of every instruction set of this build can be loaded from.
pub(super) trait Source: Sync + LoadsAvx512 + LoadsAvx2 + LoadsNeon + LoadsPortable {}

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
pub(super) fn engine(
    set: Available,
    size: Size,
    options: &Options,
    how: How,
) -> Result<Box<dyn Engine>, ArgumentError> {
    options.shape.visit(options.background, MakeEngine { set, size, options, how })
}

/// Finds the errors of fits with one instruction set.
pub(super) trait ErrorEstimator: Send + Sync + UnwindSafe + RefUnwindSafe {
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
pub(super) fn error_estimator(
    set: Available,
    size: Size,
    options: &Options,
    side: SideKinds,
) -> Result<Box<dyn ErrorEstimator>, ArgumentError> {
    options.shape.visit(options.background, MakeErrorEstimator { set, size, options, side })
}

/// Makes an engine.
#[derive(Clone, Copy)]
struct MakeEngine<'a> {
    set: Available,
    size: Size,
    options: &'a Options,
    how: How,
}

impl Visitor for MakeEngine<'_> {
    type Output = Result<Box<dyn Engine>, ArgumentError>;

    fn visit<S: Summable<K>, const K: usize, const L: usize, const Q: usize>(
        self,
        shape: S,
    ) -> Self::Output {
        // The single-precision setup says what is wrong without an instruction of the set.
        Setup::<f32, S, K>::for_shape(shape, self.size, self.options)?;
        with_packs!(self.set, |P| P::compiled(ForShape::<_, S, K, L, Q> { make: self, shape }))
    }
}

/// Makes what finds the errors of fits.
#[derive(Clone, Copy)]
struct MakeErrorEstimator<'a> {
    set: Available,
    size: Size,
    options: &'a Options,
    side: SideKinds,
}

impl Visitor for MakeErrorEstimator<'_> {
    type Output = Result<Box<dyn ErrorEstimator>, ArgumentError>;

    fn visit<S: Summable<K>, const K: usize, const L: usize, const Q: usize>(
        self,
        shape: S,
    ) -> Self::Output {
        Setup::<f32, S, K>::for_shape(shape, self.size, self.options)?;
        with_packs!(self.set, |P| P::compiled(ForShape::<_, S, K, L, Q> { make: self, shape }))
    }
}

/// Makes something for a shape.
struct ForShape<T, S, const K: usize, const L: usize, const Q: usize> {
    make: T,
    shape: S,
}

impl<P: Loaded, S: Summable<K>, const K: usize, const L: usize, const Q: usize> Task<P>
    for ForShape<MakeEngine<'_>, S, K, L, Q>
{
    type Output = Result<Box<dyn Engine>, ArgumentError>;
    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { make: MakeEngine { size, options, how, .. }, shape } = self;
        let How { kind, mapped, .. } = how;
        if options.estimator == Estimator::MaximumLikelihood {
            let method = Likelihood::<P, S, K, Q, true>::for_spots(shape, size, options, mapped)?;
            return Ok(vectorized(method, how));
        }
        if kind == NoteKind::Weights {
            let method = Setup::<P, S, K, L, true>::for_spots(shape, size, options, mapped)?;
            return Ok(vectorized(method, how));
        }
        Ok(vectorized(Setup::<P, S, K, L>::for_spots(shape, size, options, mapped)?, how))
    }
}

impl<P: Loaded, S: Summable<K>, const K: usize, const L: usize, const Q: usize> Task<P>
    for ForShape<MakeErrorEstimator<'_>, S, K, L, Q>
{
    type Output = Result<Box<dyn ErrorEstimator>, ArgumentError>;
    #[inline(always)]
    fn run(self) -> Self::Output {
        let Self { make: MakeErrorEstimator { size, options, side, .. }, shape } = self;
        Ok(Box::new(LaneErrors::<P, S, K, Q>::new(shape, size, options, side)?))
    }
}

struct Vectorized<P: Pack, M: Method<P>> {
    method: M,
    scratch: Scratch<P, M>,
}

#[inline(always)]
fn vectorized<P: Loaded, M: Method<P>>(method: M, how: How) -> Box<dyn Engine> {
    let scratch = Scratch::<P, M>::new(&method, how);
    Box::new(Vectorized { method, scratch })
}

impl<P: Loaded, M: Method<P>> Engine for Vectorized<P, M> {
    fn run(
        &mut self,
        source: &dyn Source,
        start: Start<'_>,
        windows: Range<usize>,
        sink: &mut dyn Sink,
    ) {
        let Self { method, scratch } = self;
        P::compiled(Run { method, scratch, source: P::windows(source), start, windows, sink });
    }
}

impl<P: Loaded, S: Summable<K>, const K: usize, const Q: usize> ErrorEstimator
    for LaneErrors<P, S, K, Q>
{
    fn errors(
        &mut self,
        source: &dyn Source,
        windows: Range<usize>,
        fits: Fits<'_>,
        errors: &mut [Errors],
    ) {
        let source = P::windows(source);
        P::compiled(EstimateErrors { errors_of_lanes: self, source, windows, fits, errors });
    }
}
