//! Sums over the points: [`fit_core::curve::Sums`] by rows.

use super::matrix;
use super::threads::{Cooperative, SearchOptions};
use crate::single::DataScale;
use fit_core::arithmetic::{Mask, Real};
use fit_core::curve::{MOST_LOST, MOST_SHIFTED, ROUNDING, counted, least_square};

/// Looks at the data; `free` parameters are not held.
#[inline(always)]
pub(super) fn survey<R: Real, C: Cooperative<R, N>, const N: usize>(
    group: &C,
    options: &SearchOptions<R>,
    free: R,
) -> DataScale<R> {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let [weighted, own] = group.weighted();
    let (mut most, mut below, mut seen, mut heaviest, mut odd) = (zero, zero, zero, zero, zero);
    let mut round = 0;
    while round < group.rounds() {
        let mut counts = group.has(round);
        if weighted {
            let weight = group.weight(round);
            counts = counts & zero.lt(weight);
            heaviest = heaviest.max(R::select(counts, weight, zero));
        }
        let datum = R::select(counts, group.datum(round), zero);
        seen = seen + R::select(counts, one, zero);
        most = most.max(datum.abs());
        below = below.max(-datum);
        odd = R::select(datum.is_finite(), odd, one);
        round += 1;
    }
    let (most, below) = (group.most(most), group.most(below));
    let (heaviest, odd) = (group.most(heaviest), group.most(odd));
    let degrees = group.sum(seen) - free;
    let weights = (own, heaviest, options.weight_unit);
    let degrees = [degrees, free];
    let mut survey = DataScale::new(options.poisson, degrees, odd.lt(one), [most, below], weights);
    let mut size = zero;
    let mut round = 0;
    while round < group.rounds() {
        let (_, datum, weight) = point(group, &survey, options, round);
        let more = (weight * datum).mul_add(datum, size);
        size = if options.poisson { size + datum } else { more };
        round += 1;
    }
    survey.size = group.sum(size);
    survey
}

/// Whether the point of this thread counts, its datum and its weight, scaled; 0 if it does not.
#[inline(always)]
fn point<R: Real, C: Cooperative<R, N>, const N: usize>(
    group: &C,
    survey: &DataScale<R>,
    options: &SearchOptions<R>,
    round: usize,
) -> (R::Mask, R, R) {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let [weighted, own] = group.weighted();
    let (mut counts, mut weight) = (group.has(round), one);
    if weighted {
        let given = group.weight(round);
        counts = counts & zero.lt(given);
        if !options.poisson {
            weight = if own { given * survey.weight_scale } else { given };
        }
    }
    let datum = group.datum(round) * survey.scale;
    (counts, R::select(counts, datum, zero), R::select(counts, weight, zero))
}

/// What the search takes.
pub(super) struct Evaluation<R, const N: usize> {
    pub(super) cost: R,
    pub(super) gradient: R,
    pub(super) hessian: [R; N],
    pub(super) diagonal: R,
    /// How far the cost may be off.
    pub(super) resolution: R,
    /// Whether the element of the gradient is only rounding (0 or 1).
    pub(super) flat: R,
    /// Whether the points say where to go.
    pub(super) resolved: bool,
    /// Whether a search may end with it.
    pub(super) settled: bool,
    /// What leads to the best values of the parameters that are eliminated.
    pub(super) shift: R,
}

/// Visits the points, with the parameters that were prepared at `trial`; `length` is that of this thread's parameter.
#[inline(always)]
pub(super) fn evaluate<R: Real, C: Cooperative<R, N>, const N: usize>(
    group: &mut C,
    options: &SearchOptions<R>,
    survey: &DataScale<R>,
    trial: R,
    length: R,
) -> Evaluation<R, N> {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    group.prepare(trial);
    let mut cost = zero;
    let mut sound = R::Mask::splat(true);
    let (mut gradient, mut diagonal, mut hessian) = (zero, zero, [zero; N]);
    let mut round = 0;
    while round < group.rounds() {
        let (counts, datum, weight) = point(group, survey, options, round);
        let value = group.model(round);
        if options.poisson {
            let value = R::select(counts, value, zero);
            sound = sound & (!counts | zero.le(value));
            let [term, inverse, missing] = counted(value, datum);
            cost = cost + R::select(counts, term + term, zero);
            group.note(counts, missing * inverse, inverse);
        } else {
            let residual = R::select(counts, value.neg_mul_add(survey.scale, datum), zero);
            let weighted = weight * residual;
            cost = weighted.mul_add(residual, cost);
            group.note(counts, weighted, weight);
        }
        let mut point = 0;
        while point < group.times(N) {
            let [by, residual, weight] = group.noted(point);
            gradient = by.neg_mul_add(residual, gradient);
            let own = by * weight;
            diagonal = own.mul_add(by, diagonal);
            for four in 0..N / 4 {
                let others = group.derivatives(point, four);
                for i in 0..4 {
                    hessian[4 * four + i] = own.mul_add(others[i], hessian[4 * four + i]);
                }
            }
            point += 1;
        }
        group.forget();
        round += 1;
    }
    cost = group.sum(cost);
    let sound = group.sum(R::select(sound, zero, one)).le(zero).any();
    gradient = group.of_same(gradient);
    diagonal = group.of_same(diagonal);
    for k in 0..N {
        hessian[k] = group.of_same(hessian[k]);
    }
    let mut evaluation = Evaluation {
        cost,
        gradient,
        hessian,
        diagonal,
        resolution: zero,
        flat: zero,
        resolved: sound,
        settled: true,
        shift: zero,
    };
    if !options.poisson && options.eliminated != 0 {
        project(group, options.eliminated, &mut evaluation, trial, survey, length);
    } else {
        let scale = group.scale() * survey.scale * length;
        finish(group, options.poisson, &mut evaluation, scale, survey.size);
    }
    evaluation
}

/// [`fit_core::curve::Sums::evaluation`].
#[inline(always)]
fn finish<R: Real, C: Cooperative<R, N>, const N: usize>(
    group: &mut C,
    poisson: bool,
    evaluation: &mut Evaluation<R, N>,
    scale: R,
    size: R,
) {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let rounding = R::splat(ROUNDING * R::EPSILON);
    let cost = evaluation.cost;
    let size = if poisson { size } else { (size + cost) * R::splat(2.0) };
    let length = size.sqrt();
    let seen = R::splat(const { least_square(R::EPSILON) }).le(evaluation.diagonal);
    evaluation.gradient = evaluation.gradient * scale;
    let diagonal = R::select(seen, evaluation.diagonal * scale * scale, zero);
    evaluation.diagonal = diagonal;
    matrix::scale(group, &mut evaluation.hessian, scale);
    matrix::set_own(group, &mut evaluation.hessian, diagonal);
    let most = diagonal.sqrt() * length * rounding;
    evaluation.flat = R::select(evaluation.gradient.abs().le(most), one, zero);
    let some = group.most(R::select(zero.lt(diagonal), one, zero));
    evaluation.resolved &= zero.lt(some).any();
    let resolution = if poisson {
        size * rounding
    } else {
        let cross = cost.sqrt() * length;
        let all = rounding.mul_add(size, cross + cross) + cost;
        all * rounding
    };
    evaluation.resolution = R::select(resolution.is_finite(), resolution, zero);
}

/// [`fit_core::curve::Sums::project`], the evaluation that is made of it, and [`crate::curve::Projected::settle`].
#[inline(always)]
fn project<R: Real, C: Cooperative<R, N>, const N: usize>(
    group: &mut C,
    eliminated: u32,
    evaluation: &mut Evaluation<R, N>,
    trial: R,
    survey: &DataScale<R>,
    length: R,
) {
    let zero = R::splat(0.0);
    let before = evaluation.cost;
    let which = group.is_among(eliminated);
    let mut swept = evaluation.hessian;
    let diagonal = evaluation.diagonal;
    let positive = matrix::sweep(group, &mut swept, diagonal, eliminated);
    let gradient = evaluation.gradient;
    let step = matrix::product(group, &swept, R::select(which, gradient, zero));
    let mut step = R::select(which, step, zero);
    let mut shift = step * (group.scale() * survey.scale).reciprocal();
    shift = R::select(which, shift, zero);
    let seen = positive & R::splat(const { least_square(R::EPSILON) }).le(diagonal);
    let sound = group.all(!which | (seen & shift.is_finite())) & before.is_finite().all();
    if !sound {
        (step, shift) = (zero, zero);
    }
    let mut cost = before + group.over(gradient * step);
    // What is no number stays so.
    cost = if sound { cost.max(zero) } else { before };
    evaluation.cost = cost;
    let more = matrix::product(group, &evaluation.hessian, step);
    let own = if sound { zero } else { gradient };
    evaluation.gradient = R::select(which, own, gradient + more);
    let gained = (before - cost).max(zero);
    evaluation.shift = shift;
    group.prepare(trial + shift);
    let scale = group.scale() * survey.scale * length;
    finish(group, false, evaluation, scale, survey.size + gained);

    let (size, epsilon) = (survey.size, R::splat(R::EPSILON));
    let rounding = R::splat(ROUNDING * R::EPSILON);
    let little = (before * rounding).le((size + cost) * R::splat(MOST_LOST)).all();
    evaluation.resolved = evaluation.resolved & sound & little;
    let settled = gained.le(cost.mul_add(R::splat(MOST_SHIFTED), evaluation.resolution)).all();
    evaluation.settled = settled;
    if settled {
        // Along the valley the rounding of residuals makes less of a gradient than beside it.
        let most = ((size + before) * R::splat(2.0)).sqrt() * rounding;
        let left = matrix::own(group, &swept) * scale * scale;
        let little = evaluation.gradient.abs().le(left.max(zero).sqrt() * most);
        let flat = R::select(little, evaluation.flat, zero);
        evaluation.flat = R::select(which, evaluation.flat, flat);
    } else {
        // As large as rounding of the sums may have made it small: the next evaluation there is no worse.
        let lost = (survey.degrees * epsilon + rounding) * before;
        evaluation.cost = cost + evaluation.resolution + lost;
        evaluation.flat = zero;
    }
}
