//! What the tests in `tests/` need and no user does. As tests within the library they would have the engines of all
//! instruction sets compiled a second time, which takes minutes.

use std::ops::Range;

use fit_core::pass::Found;
use fit_core::{Fit, Start};
use fit_formula::Op;
use fit_windows::NoteKind;

#[cfg(target_arch = "aarch64")]
use super::arch::neon;
use super::arch::pack::Pack;
use super::arch::{Portable, Source};
#[cfg(target_arch = "x86_64")]
use super::arch::{avx2, avx512};
use super::engine::{Numbers, Sink};
use super::load::{How, Load};
use super::{InstructionSet, WindowFitter};
use crate::curve::{self, Functions};
use crate::reference::BatchError;

/// An operation of formulas on each pair of numbers, with the pair in all lanes: what the last lane holds then.
///
/// # Errors
/// [`BatchError::InstructionSet`] if the processor does not have it.
pub fn operate(set: InstructionSet, op: Op, operands: [&[f32]; 2]) -> Result<Vec<f32>, BatchError> {
    Ok(match set.checked()? {
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => in_lanes::<avx512::F32x16>(op, operands),
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => in_lanes::<avx2::F32x8>(op, operands),
        #[cfg(target_arch = "aarch64")]
        InstructionSet::Neon => in_lanes::<neon::F32x4>(op, operands),
        _ => in_lanes::<Portable>(op, operands),
    })
}

fn in_lanes<P: Pack + Functions>(op: Op, operands: [&[f32]; 2]) -> Vec<f32> {
    let splat = |numbers: &[f32]| numbers.iter().map(|&x| P::splat(x.into())).collect::<Vec<P>>();
    let last = |pack: P| {
        let mut numbers = [0.0; 32];
        pack.store(&mut numbers);
        numbers[P::LANES - 1]
    };
    let operands = operands.map(splat);
    curve::operate(op, [&operands[0], &operands[1]]).into_iter().map(last).collect()
}

/// Fits windows whose pixels `load` writes, given their number, and gives `put` each number with the fit, or with none where
/// there is nothing to fit.
pub fn fit_loaded(
    fitter: &mut WindowFitter,
    load: &(dyn Fn(usize, &mut [f32]) + Sync),
    windows: Range<usize>,
    put: &mut dyn FnMut(usize, Option<Fit<f32>>),
) {
    let source = Loaded { load, pixels: fitter.size().pixels() };
    fitter.engine.run(&source, Start::Estimate, windows, &mut Put(put));
}

/// Windows that a function writes.
struct Loaded<'a> {
    load: &'a (dyn Fn(usize, &mut [f32]) + Sync),
    /// Of a window.
    pixels: usize,
}

impl<P: Pack> Load<P> for Loaded<'_> {
    fn load(&self, windows: Range<usize>, packs: &mut [P], _: How) {
        let packs = packs.chunks_exact_mut(self.pixels.div_ceil(P::LANES));
        for (window, packs) in windows.zip(packs) {
            (self.load)(window, &mut P::numbers(packs)[..self.pixels]);
        }
    }
    fn load_notes(&self, _: Range<usize>, _: NoteKind, _: &mut [P], _: f64) {
        unreachable!("nothing is known of the pixels");
    }
}

impl Source for Loaded<'_> {}

/// Gives outcomes to a function.
struct Put<'a>(&'a mut dyn FnMut(usize, Option<Fit<f32>>));

impl Sink for Put<'_> {
    fn put(&mut self, lanes: u32, windows: &[usize; 32], found: &Numbers) {
        for lane in (0..32).filter(|lane| lanes >> lane & 1 == 1) {
            let numbers = found.map(|numbers| numbers[lane]);
            (self.0)(windows[lane], Some(Fit::from_found(&Found::from_numbers(numbers))));
        }
    }

    fn put_invalid(&mut self, window: usize) {
        (self.0)(window, None);
    }
}
