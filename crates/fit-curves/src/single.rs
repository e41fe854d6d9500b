//! What single precision finds, and whether it is enough.

use std::borrow::Cow;
use std::ops::Range;

use fit_core::{Estimator, Status};
use fit_engine::single::{LEAST_RESIDUAL, MOST_ROUNDED, MOST_SPACED};

use crate::{Chunk, CurveBatch};

/// What a search in single precision found of a data set.
#[derive(Clone, Copy, Debug)]
pub struct SingleFit<'a> {
    /// The parameters.
    pub parameters: &'a [f32],
    /// The lengths in which they were measured.
    pub lengths: &'a [f32],
    /// The roots of the diagonal of the inverse Hessian, in these lengths; infinite where single precision does not tell a
    /// parameter from the others ([`fit_engine::single::MOST_ALIKE`]).
    pub errors: &'a [f32],
    /// The others, in the order in which they come.
    pub numbers: [f32; 8],
}

/// What was minimized, of the data and weights as they were scaled.
const COST: usize = 0;
/// Steps taken.
const ITERATIONS: usize = 1;
/// Visits to the points.
const EVALUATIONS: usize = 2;
/// The code of the [`Status`].
const STATUS: usize = 3;
/// The same before a look at the limits.
const RAW: usize = 4;
/// The cost was multiplied by two to this power.
const UNIT: usize = 5;
/// Degrees of freedom: points minus free parameters.
const DEGREES: usize = 6;
/// Σwd² of the data as they were scaled, the largest of which is between 1 and 2.
const SIZE: usize = 7;

impl SingleFit<'_> {
    /// The length in which a parameter that starts there is measured.
    #[inline(always)]
    pub fn length(start: f32) -> f32 {
        let size = start.abs();
        if size > 0.0 { size } else { 1.0 }
    }

    #[inline(always)]
    fn measured(&self, rules: Rules) -> Measured {
        let [cost, degrees, size] =
            [COST, DEGREES, SIZE].map(|which| f64::from(self.numbers[which]));
        rules.measure([cost, degrees, size, power_of_two(self.numbers[UNIT])], self.numbers[STATUS])
    }

    #[inline(always)]
    fn error_by(&self, parameter: usize, deviation: f64) -> f64 {
        f64::from(self.errors[parameter]) * f64::from(self.lengths[parameter]) * deviation
    }

    /// χ² or the deviance.
    pub fn chi2(&self, rules: Rules) -> f64 {
        self.measured(rules).chi2
    }

    /// What an element of the inverse Hessian is multiplied by to make the covariance of two parameters.
    pub fn covariance_unit(&self, rules: Rules, [j, k]: [usize; 2]) -> f64 {
        let length = |j: usize| f64::from(self.lengths[j]);
        self.measured(rules).variance * length(j) * length(k)
    }

    /// The standard error of a parameter.
    pub fn error(&self, rules: Rules, parameter: usize) -> f64 {
        self.error_by(parameter, self.measured(rules).variance.sqrt())
    }

    /// How the fit ended.
    pub fn ended(&self) -> Status {
        status(self.numbers[STATUS])
    }

    /// Degrees of freedom, steps taken, and visits to the points.
    pub fn counts(&self) -> [u32; 3] {
        [DEGREES, ITERATIONS, EVALUATIONS].map(|which| self.numbers[which] as u32)
    }

    /// Writes the outcome of a fit; false if single precision could not decide it. `covariance` gives the inverse of the
    /// Hessian, of which the upper half is asked for.
    #[inline(always)]
    pub fn put(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        fit: usize,
        covariance: impl Fn(usize, usize) -> f32,
        chunk: &mut Chunk<'_>,
    ) -> bool {
        let rules = Rules::of(batch);
        let Measured { chi2, variance, exact } = self.measured(rules);
        let (count, deviation) = (self.parameters.len(), variance.sqrt());
        let told = |j: usize| {
            let error = self.error_by(j, deviation) as f32;
            is_told(self.parameters[j], self.errors[j], error)
        };
        let ends = rules.is_end(self.ended(), self.numbers[RAW], self.numbers[ITERATIONS]);
        if exact || !ends || !(0..count).all(told) {
            return false;
        }
        let length = |j: usize| f64::from(self.lengths[j]);
        let place = chunk.place(fit);
        for j in 0..count {
            place.parameters[j] = kept(batch, fit, j, self.parameters[j]);
            if !place.covariance.is_empty() {
                let factor = variance * length(j);
                for k in j..count {
                    let value = f64::from(covariance(j, k)) * factor * length(k);
                    place.covariance[j * count + k] = value;
                    place.covariance[k * count + j] = value;
                }
            }
            place.errors[j] = self.error_by(j, deviation);
        }
        *place.chi2 = chi2;
        [*place.degrees, *place.iterations, *place.evaluations] = self.counts();
        *place.status = self.ended();
        true
    }
}

/// What searches in single precision found of data sets that follow each other.
#[derive(Clone, Copy, Debug)]
pub struct SingleFits<'a> {
    /// The parameters of one after the other; errors in the same way; each of the other numbers of a [`SingleFit`], of all data sets; if it
    /// is wanted, the upper half of the inverse Hessian, row after row.
    pub found: &'a [f32],
    /// Start values: of all, or of each.
    pub starts: &'a [f32],
    /// Numbers from the start values of a fit to those of the next: 0 if all have the same.
    pub step: usize,
    /// Whether single precision is not enough for what each comes with; nothing if it is enough for all.
    pub wrong: &'a [bool],
}

/// Fits that are measured together.
const BLOCK: usize = 64;

impl<'a> SingleFits<'a> {
    /// What was found of a fit of a model of so many parameters, which are measured in these lengths.
    pub fn single<'s>(&self, fit: usize, count: usize, lengths: &'s [f32]) -> SingleFit<'s>
    where
        'a: 's,
    {
        let (parameters, numbers) = (lengths.len(), count * lengths.len());
        let row = |first: usize| &self.found[first + fit * parameters..][..parameters];
        let others = std::array::from_fn(|which| self.found[2 * numbers + which * count + fit]);
        SingleFit { parameters: row(0), lengths, errors: row(numbers), numbers: others }
    }

    /// Which of so many fits single precision could not decide, in rising order; `lengths` are those of the parameters of all, or of
    /// each. Nobody asks for the start values. Errors are multiplied in single precision here, which leaves a fit whose errors are too small
    /// for that.
    pub fn undecided(
        &self,
        rules: Rules,
        [count, parameters]: [usize; 2],
        lengths: &[f32],
    ) -> Vec<usize> {
        let numbers = count * parameters;
        let (of_parameters, rest) = self.found.split_at(numbers);
        let (of_errors, others) = rest.split_at(numbers);
        let other = |which: usize| &others[which * count..][..count];
        // Row after row, as parameters and errors come: loops without branches, of which a compiler makes vectors.
        let same = lengths.len() == parameters;
        let lengths: Cow<'_, [f32]> =
            if same { lengths.repeat(BLOCK).into() } else { lengths.into() };
        let mut deviations = vec![0.0_f32; BLOCK * parameters];
        let mut told = vec![true; BLOCK * parameters];
        let mut left = Vec::new();
        for first in (0..count).step_by(BLOCK) {
            let these = first..(first + BLOCK).min(count);
            let row = first * parameters..these.end * parameters;
            let block = rules.measure_block(&other, these.clone());
            for (to, &own) in deviations.chunks_exact_mut(parameters).zip(&block.deviations) {
                to.fill(own as f32);
            }
            let lengths = &lengths[if same { 0 } else { row.start }..];
            let from = of_parameters[row.clone()].iter().zip(&of_errors[row]);
            for ((to, (&parameter, &root)), (length, deviation)) in
                told.iter_mut().zip(from).zip(lengths.iter().zip(&deviations))
            {
                *to = is_told(parameter, root, root * length * deviation);
            }
            let rows = told.chunks_exact(parameters).zip(block.fine);
            for (at, (told, fine)) in these.zip(rows) {
                let wrong = self.wrong.get(at).is_some_and(|&wrong| wrong);
                if !fine || wrong || told.contains(&false) {
                    left.push(at);
                }
            }
        }
        left
    }

    /// Where the status of one of so many fits lies.
    pub const fn status_at(fit: usize, count: usize, parameters: usize) -> usize {
        (2 * parameters + STATUS) * count + fit
    }

    /// Writes the outcomes of all fits of a chunk; those that single precision could not decide are left, and invalid.
    pub fn put(&self, batch: &CurveBatch<'_, '_, '_>, chunk: &mut Chunk<'_>) {
        let (fits, parameters) = (chunk.fits(), batch.options.parameters());
        let count = fits.len();
        let numbers = count * parameters;
        let (of_parameters, rest) = self.found.split_at(numbers);
        let (of_errors, rest) = rest.split_at(numbers);
        let (others, covariance) = rest.split_at(8 * count);
        let other = |which: usize| &others[which * count..][..count];
        let (rules, statuses) = (Rules::of(batch), other(STATUS));
        for (to, from) in [
            (&mut *chunk.room.iterations, other(ITERATIONS)),
            (chunk.room.evaluations, other(EVALUATIONS)),
            (chunk.room.degrees, other(DEGREES)),
        ] {
            to.iter_mut().zip(from).for_each(|(to, &from)| *to = whole(from));
        }
        if batch.has_limits {
            for number in 0..numbers {
                let (fit, j) = (fits.start + number / parameters, number % parameters);
                chunk.room.parameters[number] = kept(batch, fit, j, of_parameters[number]);
            }
        } else {
            let to = chunk.room.parameters.iter_mut();
            to.zip(of_parameters).for_each(|(to, &from)| *to = f64::from(from));
        }
        let mut lengths = vec![0.0; parameters];
        for first in (0..count).step_by(BLOCK) {
            let these = first..(first + BLOCK).min(count);
            let MeasuredBlock { chi2, variances, deviations, mut fine } =
                rules.measure_block(&other, these.clone());
            chunk.room.chi2[these.clone()].copy_from_slice(&chi2[..these.len()]);
            for (i, at) in these.clone().enumerate() {
                chunk.room.statuses[at] = status(statuses[at]);
                if self.step > 0 || at == 0 {
                    let starts = &self.starts[at * self.step..][..parameters];
                    for (to, &start) in lengths.iter_mut().zip(starts) {
                        *to = f64::from(SingleFit::length(start));
                    }
                }
                let row = at * parameters..(at + 1) * parameters;
                let from = of_parameters[row.clone()].iter().zip(&of_errors[row.clone()]);
                for ((to, length), (&parameter, &root)) in
                    chunk.room.errors[row].iter_mut().zip(&lengths).zip(from)
                {
                    *to = f64::from(root) * length * deviations[i];
                    fine[i] &= is_told(parameter, root, *to as f32);
                }
                if !chunk.room.covariance.is_empty() {
                    let pairs = parameters * (parameters + 1) / 2;
                    let mut upper = covariance[at * pairs..][..pairs].iter();
                    let to = &mut chunk.room.covariance[at * parameters * parameters..];
                    for j in 0..parameters {
                        let factor = variances[i] * lengths[j];
                        for (k, &value) in (j..parameters).zip(&mut upper) {
                            let value = f64::from(value) * factor * lengths[k];
                            to[j * parameters + k] = value;
                            to[k * parameters + j] = value;
                        }
                    }
                }
            }
            for (i, at) in these.enumerate() {
                if !fine[i] || self.wrong.get(at).is_some_and(|&wrong| wrong) {
                    chunk.leave_invalid(fits.start + at);
                }
            }
        }
    }
}

/// What a batch asks of the outcomes of its fits.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    poisson: bool,
    absolute: bool,
    most_iterations: f32,
}

/// What follows from the cost.
struct Measured {
    chi2: f64,
    /// That of the data.
    variance: f64,
    /// Whether residuals are so small that they are rounding.
    exact: bool,
}

/// What follows of a block of fits.
struct MeasuredBlock {
    chi2: [f64; BLOCK],
    variances: [f64; BLOCK],
    deviations: [f64; BLOCK],
    /// Whether they ended, and not by rounding.
    fine: [bool; BLOCK],
}

impl Rules {
    /// What follows of some fits, from the numbers of all in the order of [`SingleFit`]'s fields.
    #[inline(always)]
    fn measure_block<'f>(
        self,
        other: &impl Fn(usize) -> &'f [f32],
        these: Range<usize>,
    ) -> MeasuredBlock {
        let zeros = [0.0; BLOCK];
        let mut all =
            MeasuredBlock { chi2: zeros, variances: zeros, deviations: zeros, fine: [true; BLOCK] };
        let mut units = zeros;
        for (unit, &power) in units.iter_mut().zip(&other(UNIT)[these.clone()]) {
            *unit = power_of_two(power);
        }
        let known = [COST, DEGREES, SIZE, STATUS].map(|which| &other(which)[these.clone()]);
        for i in 0..these.len() {
            let [cost, degrees, size] = [0, 1, 2].map(|which: usize| f64::from(known[which][i]));
            let measured = self.measure([cost, degrees, size, units[i]], known[3][i]);
            all.chi2[i] = measured.chi2;
            all.variances[i] = measured.variance;
            all.deviations[i] = measured.variance.sqrt();
            all.fine[i] = !measured.exact;
        }
        let (iterations, raw) = (&other(ITERATIONS)[these.clone()], &other(RAW)[these]);
        for (i, (&iterations, &raw)) in iterations.iter().zip(raw).enumerate() {
            all.fine[i] &= self.is_end(status(known[3][i]), raw, iterations);
        }
        all
    }

    /// Those of a batch.
    #[inline(always)]
    pub fn of(batch: &CurveBatch<'_, '_, '_>) -> Self {
        Self {
            poisson: batch.options.estimator == Estimator::MaximumLikelihood,
            absolute: batch.options.absolute,
            most_iterations: batch.options.max_iterations as f32,
        }
    }

    #[inline(always)]
    fn measure(self, [cost, degrees, size, unit]: [f64; 4], status: f32) -> Measured {
        const STALLED: f32 = Status::Stalled as u8 as f32;
        let residual = cost / degrees;
        let own = if self.absolute { unit } else { residual };
        let least = if status == STALLED {
            MOST_ROUNDED * MOST_ROUNDED * (size + cost)
        } else {
            LEAST_RESIDUAL * LEAST_RESIDUAL
        };
        Measured {
            chi2: cost / unit,
            variance: if self.poisson { 1.0 } else { own },
            // Standard errors are those of the weights, which may say less than the residuals.
            exact: !self.poisson & (residual.min(own) < least),
        }
    }

    /// Whether nothing better is known of a search that ended so: it converged, at a limit or within, or had all of its iterations.
    #[inline(always)]
    fn is_end(self, ended: Status, raw: f32, iterations: f32) -> bool {
        // That a search of least squares gave up where no parameter alone can gain does not tell what all together can. A model of counts
        // meets a wall where it is 0, before which no step helps.
        let raw = status(raw);
        let (kept, at_wall) = (raw.is_converged(), self.poisson && raw == Status::NotConverged);
        (ended.is_converged() && (kept || at_wall))
            || (ended == Status::AtLimit && kept)
            || (ended == Status::MaxIterations && iterations >= self.most_iterations)
    }
}

#[inline(always)]
fn status(code: f32) -> Status {
    Status::from_code(code as u8).unwrap_or(Status::Invalid)
}

/// Whether the root of a variance is known, which it is not where the Hessian is singular in this precision, and the error is more
/// than the distance of two numbers.
#[inline(always)]
fn is_told(parameter: f32, root: f32, error: f32) -> bool {
    let spacing = parameter.abs() * f32::EPSILON;
    root.is_finite() & !((root > 0.0) & (spacing > MOST_SPACED as f32 * error))
}

/// A parameter within its limits, which were rounded.
#[inline(always)]
fn kept(batch: &CurveBatch<'_, '_, '_>, fit: usize, parameter: usize, found: f32) -> f64 {
    let value = f64::from(found);
    if !batch.has_limits {
        return value;
    }
    let [lower, upper] = batch.limit(fit, parameter);
    match found {
        _ if found == lower as f32 => lower,
        _ if found == upper as f32 => upper,
        _ => value.clamp(lower, upper),
    }
}

/// A whole number from 0 to 2²³ − 1.
#[inline(always)]
fn whole(number: f32) -> u32 {
    const ALL: f32 = (1 << 23) as f32;
    // Its bits are the last of the sum: many at once, which a conversion is not everywhere.
    (number + ALL).to_bits() & ((1 << 23) - 1)
}

/// 2ⁿ for a whole number.
#[inline(always)]
fn power_of_two(n: f32) -> f64 {
    if n.abs() < 1000.0 {
        f64::from_bits(((1023 + n as i64) as u64) << 52)
    } else {
        f64::from(n).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that a search that single precision did not let go on is no end, of counts neither; one that gave up before a wall is one.
    #[test]
    fn what_is_left_is_no_end() {
        let is_end = |poisson, raw: Status| {
            let rules = Rules { poisson, absolute: false, most_iterations: 200.0 };
            rules.is_end(Status::Stalled, f32::from(raw as u8), 9.0)
        };
        for poisson in [false, true] {
            assert!(is_end(poisson, Status::Stalled) && !is_end(poisson, Status::Invalid));
            assert_eq!(is_end(poisson, Status::NotConverged), poisson);
        }
    }

    /// Proves that what weights say of the noise is as much a bound as the residuals: single precision does not resolve a standard error
    /// below its rounding, however large the residuals are.
    #[test]
    fn the_smaller_of_noise_and_residuals_is_resolved() {
        let is_left = |absolute, residual: f64, unit| {
            let rules = Rules { poisson: false, absolute, most_iterations: 200.0 };
            let numbers = [10.0 * residual, 10.0, 20.0, unit];
            rules.measure(numbers, f32::from(Status::MinStep as u8)).exact
        };
        assert!(!is_left(true, 1e-8, 1e-8));
        assert!(is_left(true, 1e-8, 1e-12));
        assert!(is_left(true, 1e-12, 1e-8));
        assert!(!is_left(false, 1e-8, 1e-12));
        assert!(is_left(false, 1e-12, 1.0));
    }
}
