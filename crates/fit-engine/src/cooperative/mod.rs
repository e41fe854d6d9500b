//! Models of many parameters, fitted by 32 threads together, which have a parameter each, and a point each in turn.
//!
//! What a thread could keep of a model of a few parameters, it cannot of one of thirty: their Hessian has a thousand numbers.
//! Here each thread has a row of it. The sums (`sums`), the elimination (`matrix`) and the search (`search`) are those of
//! [`fit_core::curve`] and [`fit_core::search`] with their steps in the same order; only where numbers are differs, and that a
//! Hessian is inverted where those solve. The number of a parameter is that of its thread; where there are 16 of them, the
//! upper half of the threads has the same parameters as the lower, and the other points.
//!
//! Numbers that all threads have, such as χ², are the same in all of them to the last bit, so all of them take the same
//! decisions.

mod matrix;
mod search;
mod sums;
mod threads;

use crate::single;
use fit_core::arithmetic::{Mask, Real};
use search::CooperativeSearch;
pub use threads::{COOPERATIVE_THREADS, Cooperative, ParameterStart, SearchOptions};

/// What a thread has of the outcome: its own parameter, and the numbers of all.
#[derive(Clone, Copy, Debug)]
pub struct ThreadOutcome<R, const N: usize> {
    /// The parameter.
    pub parameter: R,
    /// The root of its element in the inverse Hessian; infinite where single precision does not tell it from the others.
    pub error: R,
    /// Its row of the inverse Hessian.
    pub covariance: [R; N],
    /// Of all: cost, iterations, evaluations, status with and without a look at the limits, unit, degrees of freedom, size.
    pub others: [R; 8],
}

/// Fits a data set.
#[inline(always)]
pub fn fit<R: Real, C: Cooperative<R, N>, const N: usize>(
    group: &mut C,
    options: &SearchOptions<R>,
    start: &ParameterStart<R>,
) -> ThreadOutcome<R, N> {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let held = start.upper.le(start.lower);
    let survey = sums::survey(group, options, group.over(R::select(held, zero, one)));
    let mut search = CooperativeSearch::start(group, options, start, &survey);
    while search.runs() {
        let evaluation = search.evaluate(group, options, &survey);
        search.update(group, start, &evaluation);
    }
    let (status, raw) = search.outcome(group, start);
    let on_limit = (search.best.le(start.lower) | start.upper.le(search.best)) & !held;
    let pushed = search.is_pushed(survey.size);
    let degrees = survey.degrees + group.over(R::select(on_limit & pushed, one, zero));
    // Whether the data push the others, single precision does not tell.
    let doubted = on_limit & !pushed;
    let held = held | on_limit;
    let mut covariance = search.hessian;
    let keeps = R::select(held, zero, one);
    matrix::keep(group, &mut covariance, keeps);
    let free = R::select(held, zero, search.diagonal);
    let positive = matrix::sweep(group, &mut covariance, free, u32::MAX);
    let definite = group.all(positive | held);
    let infinite = R::splat(f64::INFINITY);
    for k in 0..N {
        let value = -covariance[k];
        let known = R::Mask::splat(definite) & value.is_finite();
        covariance[k] = R::select(known, value, infinite);
    }
    matrix::keep(group, &mut covariance, keeps);
    let variance = matrix::own(group, &covariance);
    // 1/(1 − R²): where it is large, rounding of the sums is all that tells parameters apart.
    let alike = search.diagonal * variance;
    let told_apart = alike.le(R::splat(single::MOST_ALIKE)) & zero.lt(variance);
    let error = R::select(told_apart, variance.sqrt(), infinite);
    let error = R::select(held, zero, error);
    ThreadOutcome {
        parameter: search.best,
        error: R::select(doubted, infinite, error),
        covariance,
        others: [
            search.cost,
            search.iterations,
            search.evaluations,
            status,
            raw,
            survey.unit,
            degrees,
            survey.size,
        ],
    }
}
