//! The kernel that does as the paper did, on the host: its threads are the lanes of a pack.

use fit_core::pass::Group;
use fit_core::search::Normal;
use fit_core::spot::assembly::assemble;
use fit_core::spot::conditioning::Conditioning;
use fit_core::spot::sums::{Profile, direct};
use fit_core::{
    ArgumentError, Circle, Fit, LaneMask, Lanes, Options, Pixel, Scalar, Setup, Size, condition,
    estimate,
};
use fit_engine::published::{Gaussian2D, search};
use fit_gpu_kernel::ExactF32;
use fit_gpu_kernel::published::{self, Pixels, threads};
use ndarray::{ArrayView3, Axis};
use rayon::prelude::*;

/// The threads of a fit, in whole warps.
struct Threads<const N: usize> {
    size: Size,
    pixels: Lanes<ExactF32, N>,
}

/// The numbers of each thread from its number.
fn each<const N: usize>(value: impl Fn(usize) -> f32) -> Lanes<ExactF32, N> {
    Lanes(std::array::from_fn(|thread| ExactF32(value(thread))))
}

impl<const N: usize> Group<Lanes<ExactF32, N>> for Threads<N> {
    const LANES: usize = 32;

    fn lane(&self) -> Lanes<ExactF32, N> {
        each(|thread| (thread % 32) as f32)
    }
    fn first(&self, value: Lanes<ExactF32, N>) -> Lanes<ExactF32, N> {
        each(|thread| value.0[thread / 32 * 32].0)
    }
    fn exchanged(&self, value: Lanes<ExactF32, N>, step: usize) -> Lanes<ExactF32, N> {
        each(|thread| value.0[thread ^ step].0)
    }
    fn neighbour(&self, value: Lanes<ExactF32, N>, step: isize) -> Lanes<ExactF32, N> {
        each(|thread| value.0[thread.saturating_add_signed(step).min(N - 1)].0)
    }
}

impl<const N: usize> Pixels<Lanes<ExactF32, N>> for Threads<N> {
    fn pixel(&self) -> Lanes<ExactF32, N> {
        self.pixels
    }
    fn place(&self) -> (Lanes<ExactF32, N>, Lanes<ExactF32, N>, LaneMask<N>) {
        let Size { width, height } = self.size;
        let there = LaneMask(std::array::from_fn(|thread| thread < width * height));
        (each(|thread| (thread % width) as f32), each(|thread| (thread / width) as f32), there)
    }
    fn warps(&self) -> usize {
        N / 32
    }
    fn gather<const K: usize>(
        &mut self,
        values: [Lanes<ExactF32, N>; K],
    ) -> [Lanes<ExactF32, N>; K] {
        // What there is no warp for must not matter.
        values.map(|value| each(|thread| value.0.get(thread % 32 * 32).map_or(-1e30, |v| v.0)))
    }
}

fn fit<const N: usize>(
    pixels: &[f32],
    size: Size,
    start: [f32; 3],
    options: &Options,
) -> Result<Fit<f32>, ArgumentError> {
    let setup = Setup::<Lanes<ExactF32, N>>::new(size, options)?;
    // What threads without a pixel have must not matter.
    let pixels = each(|thread| pixels.get(thread).copied().unwrap_or(-1e30));
    let start = start.map(|value| Lanes([ExactF32(value); N]));
    let mut threads = Threads { size, pixels };
    let found = published::fit(&setup, &mut threads, start).map(|number| {
        let first = number.0[0].0;
        let same = |lane: &ExactF32| lane.0.to_bits() == first.to_bits();
        assert!(number.0.iter().all(same), "threads of a fit differ: {number:?}");
        first
    });
    Ok(Fit::from(found))
}

/// Fits a window as the kernel `published` does, in the same order to the last bit.
///
/// # Errors
/// As [`Setup::new`].
///
/// # Panics
/// For numbers of pixels that no test has asked for yet: more than 96, other than 225 to 256 and 993 to
/// 1024; and if the threads do not agree.
pub fn fit_as_published(
    pixels: &[f32],
    size: Size,
    start: [f32; 3],
    options: &Options,
) -> Result<Fit<f32>, ArgumentError> {
    match threads(size.pixels()) {
        32 => fit::<32>(pixels, size, start, options),
        64 => fit::<64>(pixels, size, start, options),
        96 => fit::<96>(pixels, size, start, options),
        256 => fit::<256>(pixels, size, start, options),
        1024 => fit::<1024>(pixels, size, start, options),
        threads => panic!("nothing is compiled for {threads} threads"),
    }
}

/// The paper's estimate for every window of a stack: the kernel as published makes none.
pub fn estimates<P: Pixel>(spots: ArrayView3<'_, P>) -> Vec<[f32; 3]> {
    let (count, height, width) = spots.dim();
    let one = |number| {
        let window = spots.index_axis(Axis(0), number);
        let mut pixels: Vec<f32> = window.iter().map(|pixel| pixel.to_f32()).collect();
        condition(&mut pixels);
        let Circle { x, y, sigma } = estimate(&pixels, Size::new(width, height));
        [x, y, sigma]
    };
    (0..count).into_par_iter().map(one).collect()
}

/// A window whose pixels are summed one after the other.
struct InTurn<'a, R: Scalar> {
    pixels: &'a [R],
    setup: &'a Setup<R>,
    data: Conditioning<R>,
}

impl<R: Scalar> Gaussian2D<R> for InTurn<'_, R> {
    fn evaluate(&mut self, p: &[R; 3], _: bool) -> Normal<R, 3, 2> {
        let (size, shape) = (self.setup.size(), Circle::new(p[0], p[1], p[2]));
        let sums = direct(self.pixels, size, shape);
        let mut found = assemble(&sums, &self.data, self.setup.background()).normal;
        let [alpha, beta] = found.linear;
        let mut chi2 = R::splat(0.0);
        let width = size.width;
        for (i, &pixel) in self.pixels.iter().enumerate() {
            let (x, y) = (R::splat((i % width) as f64), R::splat((i / width) as f64));
            let value = Profile::at(x, y, shape).value;
            let residual = alpha * value + beta - pixel;
            chi2 = residual.mul_add(residual, chi2);
        }
        found.cost = chi2;
        found
    }
}

/// Fits a window with the paper's iteration ([`fit_engine::published`]), in single or double precision and in the
/// plain order of the pixels: to tell what is the iteration's doing and what is rounding's.
///
/// # Errors
/// As [`Setup::new`], and [`ArgumentError::PixelCount`].
pub fn fit_in_turn<R: Scalar>(
    pixels: &[f32],
    size: Size,
    start: [f32; 3],
    options: &Options,
) -> Result<Fit<R>, ArgumentError> {
    let setup = Setup::<R>::new(size, options)?;
    if pixels.len() != size.pixels() {
        return Err(ArgumentError::PixelCount { size, pixels: pixels.len() });
    }
    let pixels: Vec<R> = pixels.iter().map(|&pixel| R::from_pixel(pixel)).collect();
    let identity = Conditioning::identity(&pixels);
    let flat = pixels.iter().all(|&pixel| pixel == pixels[0]);
    let data = Conditioning { usable: identity.mean.is_finite() && !flat, ..identity };
    let mut window = InTurn { pixels: &pixels, setup: &setup, data };
    Ok(Fit::from(search(&setup, &data, start.map(R::from_pixel), &mut window)))
}
