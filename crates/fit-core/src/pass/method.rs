//! A way to fit windows, from their pixels to an outcome.

use core::fmt::Debug;
use core::panic::{RefUnwindSafe, UnwindSafe};

use super::tile::{Store, Tile};
use crate::arithmetic::{Mask, Real};
use crate::outcome::{Fit, Scalar};
use crate::search::{LaneState, Record, Resumable};
use crate::size::{Circle, Outline, Size};
use crate::status::Status;

/// When the reported cost is summed from the residuals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Always.
    Residuals,
    /// Only if the cost from the sums is not accurate to about 10⁻⁴.
    WhereSumsCancel,
}

/// The cost from sums is worth reporting where it is more than this many rounding units of the sums that cancel in
/// it, that is, good to about 10⁻⁴.
pub(super) const CANCELS: f64 = 4e4;

/// A way to fit windows of one size: the shape of the spots, and what is minimized.
///
/// A fit goes through these functions in their order. With a pack of numbers each lane has a fit of its own, and may
/// be at any point between [`Method::begin`] and [`Method::end`].
pub trait Method<R: Real>:
    Copy + Debug + Send + Sync + UnwindSafe + RefUnwindSafe + 'static
{
    /// What a search begins with and what stays with it: the pixels' conditioning, start values.
    type Seed: LaneState<R> + Debug + Send + Sync + UnwindSafe + RefUnwindSafe + 'static;
    /// A search in progress.
    type Search: Resumable<R> + Debug + Send + Sync + UnwindSafe + RefUnwindSafe + 'static;
    /// The result of one visit to the pixels.
    type Evaluation: Copy;

    /// The size of the windows.
    fn size(&self) -> Size;
    /// Whether the tile must have notes: weights or variances.
    #[inline(always)]
    fn takes_notes(&self) -> bool {
        false
    }
    /// Conditions the pixels in place and finds where to start, unless that is given. Also returns the lanes in which
    /// there is something to fit.
    fn prepare<T: Store<R>>(
        &self,
        tile: &mut T,
        start: Option<Outline<R>>,
    ) -> (Self::Seed, R::Mask);
    /// A seed for lanes without a fit.
    fn idle(&self) -> Self::Seed;
    /// A search in the lanes where there is something to fit; the others have ended.
    fn begin(&self, seed: &Self::Seed, usable: R::Mask) -> Self::Search;
    /// Visits the pixels at the trial of the search.
    fn evaluate<T: Tile<R>>(
        &self,
        tile: &mut T,
        seed: &Self::Seed,
        search: &Self::Search,
    ) -> Self::Evaluation;
    /// Takes the evaluation and proposes the next trial.
    fn update(&self, search: &mut Self::Search, evaluation: &Self::Evaluation);
    /// The outcomes of the searches in the lanes of `ended`, in the units of the pixels, or in photons.
    fn end<T: Tile<R>>(
        &self,
        tile: &mut T,
        seed: &Self::Seed,
        search: &Self::Search,
        ended: R::Mask,
        finish: Finish,
    ) -> RawFit<R>;
}

/// The outcome of one fit, or of one in each lane of a pack. Counts and status are numbers like all others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RawFit<R> {
    /// Centre, widths and angle.
    pub outline: Outline<R>,
    /// Amplitude and background.
    pub linear: [R; 2],
    /// The slopes of the background by x and y, in pixels; 0 unless it is a plane, whose value at the centre the background
    /// is.
    pub slopes: [R; 2],
    /// What was minimized: χ² or the deviance.
    pub cost: R,
    /// Passes of the outer loop.
    pub iterations: R,
    /// Visits to the pixels.
    pub evaluations: R,
    /// The code of a [`crate::Status`], 0 while searching.
    pub status: R,
}

impl<R: Copy> RawFit<R> {
    /// How many numbers there are.
    pub const NUMBERS: usize = 13;

    /// All numbers, in the order of the fields.
    #[inline(always)]
    pub fn numbers(&self) -> [R; 13] {
        let Self { outline, linear: [alpha, beta], slopes: [by_x, by_y], .. } = *self;
        let Self { cost, iterations, evaluations, status, .. } = *self;
        let Outline { x, y, sigma_x, sigma_y, angle } = outline;
        [
            x,
            y,
            sigma_x,
            sigma_y,
            angle,
            alpha,
            beta,
            by_x,
            by_y,
            cost,
            iterations,
            evaluations,
            status,
        ]
    }

    /// From all numbers, in the order of the fields.
    #[inline(always)]
    pub fn from_numbers(numbers: [R; 13]) -> Self {
        let [x, y, sigma_x, sigma_y, angle, alpha, beta, by_x, by_y, rest @ ..] = numbers;
        let [cost, iterations, evaluations, status] = rest;
        Self {
            outline: Outline { x, y, sigma_x, sigma_y, angle },
            linear: [alpha, beta],
            slopes: [by_x, by_y],
            cost,
            iterations,
            evaluations,
            status,
        }
    }
}

/// The outcome of one fit from its numbers. It is invalid if amplitude or background overflow. A cost beyond the range
/// of numbers, as χ² is for pixels beyond the root of the largest, becomes the largest.
impl<T: Scalar> From<RawFit<T>> for Fit<T> {
    #[inline(always)]
    fn from(found: RawFit<T>) -> Self {
        let RawFit { outline, linear: [amplitude, background], slopes, cost, .. } = found;
        let [offset_x, offset_y] = slopes;
        let Outline { x, y, sigma_x, sigma_y, angle } = outline;
        let invalid = T::splat(Status::Invalid.code()).le(found.status);
        let slope = offset_x.abs() + offset_y.abs();
        let sound = (amplitude.abs() + background.abs() + slope).is_finite() && cost.le(cost);
        if invalid || !sound {
            return Self::invalid();
        }
        Self {
            x,
            y,
            // A compiler sees that a circle has no root to take.
            sigma: if sigma_x < sigma_y || sigma_y < sigma_x {
                (sigma_x * sigma_y).sqrt()
            } else {
                sigma_x
            },
            sigma_x,
            sigma_y,
            angle,
            amplitude,
            background,
            offset_x,
            offset_y,
            chi2: cost.min(T::splat(largest(T::EPSILON))),
            iterations: found.iterations.to_f64() as u32,
            evaluations: found.evaluations.to_f64() as u32,
            status: Status::from_code(found.status.to_f64() as u8).unwrap_or(Status::NotConverged),
        }
    }
}

/// The outcome of one fit of a circular spot.
impl<T: Scalar> From<Record<T, 3, 2>> for Fit<T> {
    #[inline(always)]
    fn from(record: Record<T, 3, 2>) -> Self {
        let Record { parameters: [x, y, sigma], linear, cost, iterations, evaluations, status } =
            record;
        let outline = Circle::new(x, y, sigma).into();
        let slopes = [T::splat(0.0); 2];
        Self::from(RawFit { outline, linear, slopes, cost, iterations, evaluations, status })
    }
}

/// The largest number of an arithmetic.
const fn largest(epsilon: f64) -> f64 {
    if epsilon < 1e-10 { f64::MAX } else { f32::MAX as f64 }
}

/// Fits one window from `start`, or from the paper's estimate. All lanes of the group get the same.
#[inline(always)]
pub fn fit<R: Real, T: Store<R>, M: Method<R>>(
    method: &M,
    tile: &mut T,
    start: Option<Outline<R>>,
    finish: Finish,
) -> RawFit<R> {
    let (seed, usable) = method.prepare(tile, start);
    let mut search = method.begin(&seed, usable);
    while search.running().any() {
        let evaluation = method.evaluate(tile, &seed, &search);
        method.update(&mut search, &evaluation);
    }
    method.end(tile, &seed, &search, R::Mask::splat(true), finish)
}
