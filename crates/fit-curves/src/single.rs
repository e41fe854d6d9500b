//! What single precision finds, and whether it is enough.

use fit_core::curve::single::{LEAST_RESIDUAL, MOST_ROUNDED, MOST_SPACED};
use fit_core::{Estimator, Status};

use crate::{Chunk, Job};

/// What a search in single precision found of a data set.
#[derive(Clone, Copy, Debug)]
pub struct Single<'a> {
    /// The parameters.
    pub parameters: &'a [f32],
    /// The lengths in which they were measured.
    pub lengths: &'a [f32],
    /// The roots of the diagonal of the inverse Hessian, in these lengths; infinite where single precision does not tell a
    /// parameter from the others ([`fit_core::curve::single::MOST_ALIKE`]).
    pub errors: &'a [f32],
    /// What was minimized, of the data and weights as they were scaled.
    pub cost: f32,
    /// Steps taken.
    pub iterations: f32,
    /// Visits to the points.
    pub evaluations: f32,
    /// The code of the [`Status`].
    pub status: f32,
    /// The same before a look at the limits.
    pub raw: f32,
    /// The cost was multiplied by two to this power.
    pub unit: f32,
    /// Points less parameters that are not held.
    pub degrees: f32,
    /// Σwd² of the data as they were scaled, the largest of which is between 1 and 2.
    pub size: f32,
}

impl<'a> Single<'a> {
    /// From the numbers that a search gives: those of the parameters, and the others in the order of the fields.
    #[inline(always)]
    pub fn from_numbers(
        parameters: &'a [f32],
        lengths: &'a [f32],
        errors: &'a [f32],
        [cost, iterations, evaluations, status, raw, unit, degrees, size]: [f32; 8],
    ) -> Self {
        Self {
            parameters,
            lengths,
            errors,
            cost,
            iterations,
            evaluations,
            status,
            raw,
            unit,
            degrees,
            size,
        }
    }

    /// Writes the outcome of a fit; false if single precision could not decide it. `covariance` gives the inverse of the
    /// Hessian, of which the upper half is asked for.
    #[inline(always)]
    pub fn put(
        &self,
        job: &Job<'_, '_, '_>,
        fit: usize,
        covariance: impl Fn(usize, usize) -> f32,
        chunk: &mut Chunk<'_>,
    ) -> bool {
        let Self { parameters, lengths, errors, .. } = *self;
        let [cost, degrees, size] = [self.cost, self.degrees, self.size].map(f64::from);
        let [status, raw] = [self.status, self.raw]
            .map(|code| Status::from_code(code as u8).unwrap_or(Status::Invalid));
        let poisson = job.options.estimator == Estimator::MaximumLikelihood;
        let unit = power_of_two(self.unit);
        let chi2 = cost / unit;
        let variance = if poisson {
            1.0
        } else if job.options.absolute {
            unit
        } else {
            cost / degrees
        };
        let deviation = variance.sqrt();
        let least = match status {
            Status::Stalled => MOST_ROUNDED * MOST_ROUNDED * (size + cost),
            _ => LEAST_RESIDUAL * LEAST_RESIDUAL,
        };
        let exact = !poisson && cost < least * degrees;
        // Where the Hessian is singular in this precision, all of it is infinite.
        let known = errors.iter().all(|error| error.is_finite());
        // Of a search that had all of its iterations nothing better is known.
        let spent =
            status == Status::MaxIterations && self.iterations >= job.options.max_iterations as f32;
        let at_limit = status == Status::AtLimit && raw.is_converged();
        let ended = status.is_converged() || at_limit || spent;
        if exact || !ended || !known {
            return false;
        }
        let count = parameters.len();
        let length = |j: usize| f64::from(lengths[j]);
        for j in 0..count {
            let spacing = f64::from(parameters[j].abs() * f32::EPSILON);
            let error = f64::from(errors[j]) * length(j) * deviation;
            if error > 0.0 && spacing > MOST_SPACED * error {
                return false;
            }
        }
        let place = chunk.place(fit);
        for j in 0..count {
            let found = parameters[j];
            let mut value = f64::from(found);
            if job.has_limits {
                // They were rounded.
                let [lower, upper] = job.limit(fit, j);
                value = match found {
                    _ if found == lower as f32 => lower,
                    _ if found == upper as f32 => upper,
                    _ => value.clamp(lower, upper),
                };
            }
            place.parameters[j] = value;
            if !place.covariance.is_empty() {
                let factor = variance * length(j);
                for k in j..count {
                    let value = f64::from(covariance(j, k)) * factor * length(k);
                    place.covariance[j * count + k] = value;
                    place.covariance[k * count + j] = value;
                }
            }
            place.errors[j] = f64::from(errors[j]) * length(j) * deviation;
        }
        *place.chi2 = chi2;
        *place.degrees = degrees as u32;
        *place.iterations = self.iterations as u32;
        *place.evaluations = self.evaluations as u32;
        *place.status = status;
        true
    }
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
