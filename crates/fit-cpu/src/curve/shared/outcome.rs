//! What is told of fits that share parameters: values, errors with all correlations, and how they ended.

use fit_core::Status;
use fit_curves::CurveFits;
use ndarray::Array2;

use super::dense::{Inverse, LEAST_PART};
use super::layout::{Fitted, Layout};
use super::part::{Found, Part};
use super::set::ReducedProblem;
use super::{SharedFits, SharedPart, SharedValue};
use crate::curve::engine::{Square, finite};

/// What is known of the shared values of a part.
struct Known<'a> {
    inverse: &'a Inverse,
    held: &'a [bool],
    on_limit: &'a [bool],
    lengths: &'a [f64],
    deviation: f64,
    status: Status,
}

/// What is told of a data set.
struct Told {
    parameters: Vec<f64>,
    errors: Vec<f64>,
    covariance: Vec<f64>,
    status: Status,
}

impl Layout<'_, '_, '_, '_> {
    /// The outcomes of all parts.
    pub(super) fn outcome(&self, all: Vec<Fitted<'_, '_, '_, '_>>) -> SharedFits {
        let (count, width) = (self.batch.curves.count(), self.batch.options.parameters());
        let mut fits = CurveFits::invalid(count, width, self.batch.options.covariance);
        let mut values: Vec<Vec<SharedValue>> = Vec::new();
        for ((&(parameter, _), names), places) in
            self.sharing.shared.iter().zip(&self.names).zip(&self.places)
        {
            let of = |(&group, &(part, _)): (&usize, &(u32, u32))| SharedValue {
                parameter,
                group,
                value: f64::NAN,
                error: f64::NAN,
                part: part as usize,
            };
            values.push(names.iter().zip(places).map(of).collect());
        }
        let mut parts = Vec::with_capacity(all.len());
        for (Fitted { part, found }, members) in all.into_iter().zip(&self.parts) {
            let told = match found {
                Some(found) => self.tell(&part, found, &mut fits, &mut values),
                None => SharedPart {
                    fitted: 0,
                    left_out: 0,
                    chi2: f64::NAN,
                    degrees: 0,
                    iterations: 0,
                    status: Status::Invalid,
                    covariance: Array2::zeros((0, 0)),
                },
            };
            parts.push(SharedPart { left_out: members.len() - told.fitted, ..told });
        }
        SharedFits { fits, values: values.into_iter().flatten().collect(), parts }
    }

    fn tell(
        &self,
        part: &Part<'_, '_, '_, '_>,
        found: Found,
        fits: &mut CurveFits,
        values: &mut [Vec<SharedValue>],
    ) -> SharedPart {
        let Found { state, status, iterations, visits, held, on_limit, lengths } = found;
        let n = state.values.len();
        let ended: Vec<bool> = state.answers.iter().map(|answer| answer.ended).collect();
        let mut state = part.evaluate(state.values, state.rows, &lengths, None, false);
        for (answer, ended) in state.answers.iter_mut().zip(ended) {
            // That was the search for its own parameters; this is only a last look.
            answer.ended = ended;
        }
        let limited: u32 = state.answers.iter().map(|answer| answer.limited.count_ones()).sum();
        let free = held.iter().filter(|held| !**held).count();
        let degrees = part.degrees + i64::from(limited) - free as i64;
        let deviation = part.deviation(&state, degrees);
        let inverse = Inverse::new(&state.hessian, &state.sizes, &held);
        let known = Known {
            inverse: &inverse,
            held: &held,
            on_limit: &on_limit,
            lengths: &lengths,
            deviation,
            status,
        };
        let shared = part.common.shared.len();
        let width = self.batch.options.parameters();
        let told = part.works.each(part.sets.len(), |_, at| {
            let row = &state.rows[at * width..][..width];
            let slots = &part.slots[at * shared..][..shared];
            self.told(part.sets[at], row, &state.answers[at], slots, &part.common.shared, &known)
        });
        for ((&fit, told), (at, answer)) in
            part.sets.iter().zip(&told).zip(state.answers.iter().enumerate())
        {
            for j in 0..width {
                fits.parameters[[fit, j]] = told.parameters[j];
                fits.errors[[fit, j]] = told.errors[j];
                for k in 0..width {
                    if self.batch.options.covariance {
                        fits.covariance[[fit, j, k]] = told.covariance[j * width + k];
                    }
                }
            }
            fits.chi2[fit] = part.own_cost(answer.cost);
            fits.statuses[fit] = told.status;
            fits.iterations[fit] = iterations;
            fits.evaluations[fit] = visits[at] + answer.visits;
            let points = self.points(fit) + part.common.priors.len();
            let own = width as u32 - answer.held.count_ones();
            fits.degrees[fit] = (points as u32).saturating_sub(own);
            for (k, &slot) in part.slots[at * shared..][..shared].iter().enumerate() {
                let (j, group) = (part.common.shared[k], self.groups[k][fit] as usize);
                let to = &mut values[k][group];
                if to.value.is_nan() {
                    to.value = told.parameters[j];
                    to.error = error(&known, slot as usize);
                }
            }
        }
        let covariance = Array2::from_shape_fn((n, n), |(k, l)| {
            let scales = (lengths[k] * deviation) * (lengths[l] * deviation);
            match () {
                () if held[k] || held[l] => 0.0,
                () if inverse.unknown[k] || inverse.unknown[l] => f64::INFINITY,
                () => finite(inverse.of[k * n + l] * scales),
            }
        });
        let at_limit = status.is_converged() && on_limit.contains(&true);
        let unknown = inverse.unknown.contains(&true);
        SharedPart {
            fitted: part.sets.len(),
            left_out: 0,
            chi2: part.own_cost(state.cost),
            degrees: degrees.max(0) as u64,
            iterations,
            status: match status {
                status if unknown && status.is_converged() => Status::NotConverged,
                _ if at_limit => Status::AtLimit,
                status => status,
            },
            covariance,
        }
    }

    fn told(
        &self,
        fit: usize,
        row: &[f64],
        answer: &ReducedProblem,
        slots: &[u32],
        shared: &[usize],
        known: &Known<'_>,
    ) -> Told {
        let (width, n) = (row.len(), known.held.len());
        let Known { inverse, held, deviation, .. } = known;
        let place = |j: usize| shared.iter().position(|&parameter| parameter == j);
        let mut out: Vec<bool> = (0..width).map(|j| answer.held >> j & 1 == 1).collect();
        let mut unknown: Vec<bool> = (0..width).map(|j| answer.unknown >> j & 1 == 1).collect();
        // How each parameter follows the shared values: itself, if it is one of them.
        let mut follows = vec![0.0; width * shared.len()];
        for j in 0..width {
            let to = &mut follows[j * shared.len()..][..shared.len()];
            match place(j) {
                Some(k) => {
                    let slot = slots[k] as usize;
                    (out[j], unknown[j]) = (held[slot], inverse.unknown[slot]);
                    to[k] = 1.0;
                }
                None => to.copy_from_slice(&answer.by()[j * shared.len()..][..shared.len()]),
            }
        }
        for direction in &inverse.null {
            let size = |k: usize| direction[slots[k] as usize].abs() * answer.diagonal()[k].sqrt();
            let most = (0..shared.len()).map(size).fold(0.0, f64::max);
            for j in (0..width).filter(|&j| !out[j] && place(j).is_none()) {
                let by = &follows[j * shared.len()..][..shared.len()];
                let along: f64 =
                    by.iter().zip(slots).map(|(by, &slot)| by * direction[slot as usize]).sum();
                unknown[j] |= along.abs() * answer.own()[j].sqrt() > LEAST_PART * most;
            }
        }
        let covariance = |j: usize, l: usize| {
            let own = place(j).is_none() && place(l).is_none();
            let alone = if own { answer.inverse()[j * width + l] } else { 0.0 };
            let mut sum = 0.0;
            for (k, &slot) in slots.iter().enumerate() {
                for (m, &other) in slots.iter().enumerate() {
                    let (a, b) = (follows[j * shared.len() + k], follows[l * shared.len() + m]);
                    if a != 0.0 && b != 0.0 {
                        sum += a * inverse.of[slot as usize * n + other as usize] * b;
                    }
                }
            }
            alone + sum
        };
        let mut all = vec![0.0; width * width];
        for j in (0..width).filter(|&j| !out[j]) {
            for l in (j..width).filter(|&l| !out[l]) {
                all[j * width + l] = covariance(j, l);
                all[l * width + j] = all[j * width + l];
            }
        }
        let all = Square { numbers: &all, width };
        all.doubt(&out, &mut unknown);
        let pairs = if self.batch.options.covariance { width * width } else { 0 };
        let mut told = Told {
            parameters: row.to_vec(),
            errors: vec![0.0; width],
            covariance: vec![0.0; pairs],
            status: known.status,
        };
        let room = [&mut told.parameters[..], &mut told.errors, &mut told.covariance];
        let (frame, lengths) = (answer.frame.as_ref(), (answer.lengths(), *deviation));
        all.state([&out, &unknown], lengths, frame, room);
        for (j, to) in told.parameters.iter_mut().enumerate() {
            let [low, high] = self.batch.limit(fit, j);
            *to = to.clamp(low, high);
        }
        let limit = |&slot: &u32| known.on_limit[slot as usize];
        let at_limit = answer.limited != 0 || slots.iter().any(limit);
        let undecided = unknown.iter().zip(&out).any(|(unknown, out)| *unknown && !out);
        if known.status.is_converged() {
            told.status = match known.status {
                _ if undecided || !(answer.ended && answer.sound) => Status::NotConverged,
                _ if at_limit => Status::AtLimit,
                status => status,
            };
        }
        told
    }
}

/// The error of a shared value.
fn error(known: &Known<'_>, slot: usize) -> f64 {
    let n = known.held.len();
    match known.inverse.of[slot * n + slot] {
        _ if known.held[slot] => 0.0,
        _ if known.inverse.unknown[slot] => f64::INFINITY,
        own => finite(own.sqrt() * known.lengths[slot] * known.deviation),
    }
}
