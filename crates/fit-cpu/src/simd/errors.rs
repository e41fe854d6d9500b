//! The errors of many fits at once, one per lane.

use std::ops::Range;

use fit_core::pass::{Axes, CovarianceEstimator, ErrorEstimate, Serial, Summable};
use fit_core::{ArgumentError, Errors, Fit, Fits, Options, Outline, Size};
use fit_reference::em_gain;
use fit_windows::{AnyWindows, NoteKind};

use super::arch::pack::Pack;
use super::arch::register::Task;
use super::lanes::{room, turn};
use super::load::{How, Load};

/// The side data that windows come with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SideKinds {
    /// Whether there is a camera map.
    mapped: bool,
    /// Whether there are weights.
    weighted: bool,
}

impl SideKinds {
    pub(super) fn of(windows: &AnyWindows<'_>) -> Self {
        let data = windows.side_data();
        Self { mapped: data.is_mapped(), weighted: data.is_weighted() }
    }
}

/// Options and working memory for the errors of fits.
pub(super) struct LaneErrors<P: Pack, S, const K: usize, const Q: usize> {
    covariance: CovarianceEstimator<P, S, K, Q>,
    side: SideKinds,
    em_gain: f64,
    /// The windows as they come, each begins a pack.
    rows: Vec<P>,
    /// Pixels, variances and weights of windows in lanes.
    pixels: Vec<P>,
    variances: Vec<P>,
    weights: Vec<P>,
    axes: Vec<P>,
}

impl<P: Pack, S: Summable<K>, const K: usize, const Q: usize> LaneErrors<P, S, K, Q> {
    /// To be compiled for the instruction set of `P`.
    #[inline(always)]
    pub(super) fn new(
        shape: S,
        size: Size,
        options: &Options,
        side: SideKinds,
    ) -> Result<Self, ArgumentError> {
        let SideKinds { mapped, weighted } = side;
        let all = size.pixels().div_ceil(P::LANES) * P::LANES;
        Ok(Self {
            covariance: CovarianceEstimator::for_shape(shape, size, options, mapped, weighted)?,
            side,
            em_gain: em_gain(options),
            rows: room(all),
            pixels: room(all),
            variances: room(if mapped { all } else { 0 }),
            weights: room(if weighted { all } else { 0 }),
            axes: room(Axes::<P>::scratch_len(size)),
        })
    }
}

/// See [`super::arch::ErrorEstimator::errors`].
pub(super) struct EstimateErrors<'a, P: Pack, S, const K: usize, const Q: usize> {
    pub(super) errors_of_lanes: &'a mut LaneErrors<P, S, K, Q>,
    pub(super) source: &'a dyn Load<P>,
    pub(super) windows: Range<usize>,
    pub(super) fits: Fits<'a>,
    pub(super) errors: &'a mut [Errors],
}

impl<P: Pack, S: Summable<K>, const K: usize, const Q: usize> Task<P>
    for EstimateErrors<'_, P, S, K, Q>
{
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Self { errors_of_lanes, source, windows, fits, errors } = self;
        let LaneErrors { covariance, side, em_gain, rows, pixels, variances, weights, axes } =
            errors_of_lanes;
        let size = covariance.size();
        let Some(mut axes) = Axes::new(axes, size) else { return };
        let how = |kind| How { kind, mapped: side.mapped, em_gain: *em_gain };
        for (first, errors) in windows.step_by(P::LANES).zip(errors.chunks_mut(P::LANES)) {
            let these = first..first + errors.len();
            source.load(these.clone(), rows, how(NoteKind::None));
            turn(rows, pixels, size.pixels());
            if side.mapped {
                source.load(these.clone(), rows, how(NoteKind::Variances));
                turn(rows, variances, size.pixels());
            }
            if side.weighted {
                source.load(these.clone(), rows, how(NoteKind::Weights));
                turn(rows, weights, size.pixels());
            }
            let numbers = given(fits, these);
            // No closure, which is a function of its own.
            let mut packs = [P::splat(0.0); 9];
            for (pack, numbers) in packs.iter_mut().zip(&numbers) {
                *pack = P::load(numbers);
            }
            let [x, y, sigma_x, sigma_y, angle, alpha, beta, by_x, by_y] = packs;
            let outline = Outline { x, y, sigma_x, sigma_y, angle };
            let mut tile = Serial::new(&pixels[..size.pixels()], size, &mut axes)
                .with_notes(variances)
                .with_weights(weights);
            let estimate = covariance.errors(&mut tile, outline, [alpha, beta], [by_x, by_y]);
            let estimate = estimate.numbers();
            let mut numbers = [[0.0; 32]; ErrorEstimate::<f32>::NUMBERS];
            for (to, number) in numbers.iter_mut().zip(estimate) {
                number.store(to);
            }
            put(&numbers, fits, first, Q, errors);
        }
    }
}

/// The numbers of fits, each for all lanes.
// Single numbers: compiled once for all instruction sets.
#[inline(never)]
fn given(fits: Fits<'_>, windows: Range<usize>) -> [[f32; 32]; 9] {
    let mut numbers = [[f32::NAN; 32]; 9];
    for (lane, window) in windows.enumerate() {
        let Fit {
            x, y, sigma_x, sigma_y, angle, amplitude, background, offset_x, offset_y, ..
        } = fits.at::<f32>(window);
        let all = [x, y, sigma_x, sigma_y, angle, amplitude, background, offset_x, offset_y];
        for (numbers, number) in numbers.iter_mut().zip(all) {
            numbers[lane] = number;
        }
    }
    numbers
}

/// Writes the errors of fits of so many parameters, of which the first has the number `first`.
// Single numbers: compiled once for all instruction sets.
#[inline(never)]
fn put(
    numbers: &[[f32; 32]; ErrorEstimate::<f32>::NUMBERS],
    fits: Fits<'_>,
    first: usize,
    parameters: usize,
    errors: &mut [Errors],
) {
    for (lane, errors) in errors.iter_mut().enumerate() {
        let estimate =
            ErrorEstimate::from_numbers(&numbers.each_ref().map(|numbers| numbers[lane]));
        *errors = Errors::from_estimate(&estimate, &fits.at(first + lane), parameters);
    }
}
