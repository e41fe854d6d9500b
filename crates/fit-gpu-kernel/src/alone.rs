//! One thread a fit.

use fit_core::axis::{AxisSample, AxisSums, GaussianAxis};
use fit_core::condition::condition;
use fit_core::normal::{CANCELS, assemble};
use fit_core::search::Search;
use fit_core::sums::{DataSums, RowSums, Sums};
use fit_core::{Fit, Real, Setup, Shape, Size, estimate};

use crate::Single;

/// Fits a window of `SIDE`×`SIDE` = `N` pixels. All loops over pixels have fixed lengths, so that a compiler
/// can unroll them and keep the pixels in registers.
#[inline(always)]
pub fn fit<const SIDE: usize, const N: usize>(
    setup: &Setup<Single>,
    pixels: &mut [Single; N],
    start: Option<Shape<Single>>,
) -> Fit<f32> {
    let data = condition(pixels);
    let start = match start {
        Some(start) => start,
        None => estimate(pixels, Size::new(SIDE, SIDE)),
    };
    let mut search = Search::start(setup, &data, start);
    if !search.running() {
        return Fit::invalid();
    }
    while search.running() {
        let sums = evaluate::<SIDE, N>(pixels, search.trial());
        search.update(setup, &assemble(&sums, &data, setup.background));
    }
    let (best, at_best) = (search.best(), search.at_best());
    let mut chi2 = at_best.chi2;
    if chi2.lt(Single::splat(CANCELS * Single::EPSILON) * data.spread) {
        chi2 = residual_chi2::<SIDE, N>(pixels, best, at_best.alpha, at_best.beta);
    }
    Fit::from_numbers([
        best.x.0,
        best.y.0,
        best.sigma.0,
        data.amplitude(at_best.alpha).0,
        data.background(at_best.beta).0,
        data.chi2(chi2).0,
        search.iterations().0,
        search.evaluations().0,
        search.status_code().0,
    ])
}

#[inline(always)]
fn axes(shape: Shape<Single>) -> (GaussianAxis<Single>, GaussianAxis<Single>) {
    let inverse_sigma = Single(1.0) / shape.sigma;
    (GaussianAxis::new(shape.x, inverse_sigma), GaussianAxis::new(shape.y, inverse_sigma))
}

/// The sums of [`fit_core::sums::separable`].
#[inline(always)]
fn evaluate<const SIDE: usize, const N: usize>(
    pixels: &[Single; N],
    shape: Shape<Single>,
) -> Sums<Single> {
    let (across, down) = axes(shape);
    let zero = Single(0.0);
    let mut columns = [AxisSample { value: zero, by_centre: zero, by_width: zero }; SIDE];
    let (mut x, mut y) = (AxisSums::zero(), AxisSums::zero());
    for i in 0..SIDE {
        columns[i] = across.sample(Single(i as f32));
        x.add_gaussian(columns[i]);
    }
    let mut data = DataSums::zero();
    for j in 0..SIDE {
        let row = down.sample(Single(j as f32));
        y.add_gaussian(row);
        let mut sums = RowSums::zero();
        for i in 0..SIDE {
            sums.add(pixels[j * SIDE + i], columns[i]);
        }
        data.add(sums, row);
    }
    Sums::from_axes(&x, &y, &data)
}

/// χ² of [`fit_core::sums::residual_chi2`].
#[inline(always)]
fn residual_chi2<const SIDE: usize, const N: usize>(
    pixels: &[Single; N],
    shape: Shape<Single>,
    alpha: Single,
    beta: Single,
) -> Single {
    let (across, down) = axes(shape);
    let mut columns = [Single(0.0); SIDE];
    for i in 0..SIDE {
        columns[i] = across.sample(Single(i as f32)).value;
    }
    let mut chi2 = Single(0.0);
    for j in 0..SIDE {
        let height = alpha * down.sample(Single(j as f32)).value;
        for i in 0..SIDE {
            let residual = height.mul_add(columns[i], beta - pixels[j * SIDE + i]);
            chi2 = residual.mul_add(residual, chi2);
        }
    }
    chi2
}
