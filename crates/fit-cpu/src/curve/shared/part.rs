//! Data sets that depend on each other, and the search for what they share.
//!
//! For any values of the shared parameters the data sets are separate fits, which have their minima to themselves. The shared ones see
//! the sum of these minima: its gradient, and its Hessian, which is the Schur complement of the block-arrow normal equations of all
//! parameters. Levenberg–Marquardt in a trust region (Moré 1978) runs on these, and each data set's own parameters follow: first as
//! the equations say, then by their own search. So no data set's poor start holds up the others.

use fit_core::Status;
use fit_core::curve::is_pushed;
use fit_curves::{CurveBatch, Prior};

use super::super::MakeWork;
use super::super::engine::Work;
use super::super::visit::Formulated;
use super::dense::{Equations, norm, predicted};
use super::set::{Common, ReducedProblem, ReducedRequest, ReducedSolver, is_relative};
use crate::threads::{Idle, parts};

/// Data sets that a thread takes at a time.
pub(super) const BLOCK: usize = 64;
/// After its last step a search may be so many times as far from the minimum, in what is left to gain, as where it ends.
const MOST_LEFT: f64 = 100.0;
/// The rounding units that a gradient may be off by.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Working memory of threads.
pub(super) struct Works<'b, 'c, 's, 'o> {
    idle: Idle<Work<Formulated<'static>>>,
    batch: &'b CurveBatch<'c, 's, 'o>,
    make: &'b dyn MakeWork,
}

impl<'b, 'c, 's, 'o> Works<'b, 'c, 's, 'o> {
    pub(super) fn new(batch: &'b CurveBatch<'c, 's, 'o>, make: &'b dyn MakeWork) -> Self {
        Self { idle: Idle::new(), batch, make }
    }

    /// Does something for blocks of data sets, on the threads of this pool.
    pub(super) fn each<T: Send>(
        &self,
        count: usize,
        of: impl Fn(&mut Work<Formulated<'static>>, usize) -> T + Sync,
    ) -> Vec<T> {
        let all: Vec<Vec<T>> = parts(count, BLOCK, |these| {
            let make = || self.make.work(self.batch);
            self.idle.with(make, |work| these.map(|at| of(work, at)).collect())
        });
        all.into_iter().flatten().collect()
    }
}

/// Data sets that depend on each other.
pub(super) struct Part<'b, 'c, 's, 'o> {
    pub(super) batch: &'b CurveBatch<'c, 's, 'o>,
    pub(super) works: &'b Works<'b, 'c, 's, 'o>,
    /// The data sets that are fitted.
    pub(super) sets: Vec<usize>,
    /// The shared values of each, one after the other.
    pub(super) slots: Vec<u32>,
    pub(super) common: Common,
    /// Points and priors, less each data set's own parameters that are not held.
    pub(super) degrees: i64,
    pub(super) points: usize,
    /// Priors of shared values, in the coordinates of the search.
    pub(super) priors: Vec<(usize, Prior)>,
}

/// Where a search is.
pub(super) struct State {
    pub(super) values: Vec<f64>,
    /// The parameters of each data set, in its coordinates.
    pub(super) rows: Vec<f64>,
    pub(super) answers: Vec<ReducedProblem>,
    pub(super) cost: f64,
    size: f64,
    sound: bool,
    gradient: Vec<f64>,
    pub(super) hessian: Vec<f64>,
    pub(super) sizes: Vec<f64>,
}

/// How a search ended.
pub(super) struct Found {
    pub(super) state: State,
    pub(super) status: Status,
    pub(super) iterations: u32,
    /// Visits to the points of each data set.
    pub(super) visits: Vec<u32>,
    /// Shared values that the data push against a limit, or that are held.
    pub(super) held: Vec<bool>,
    pub(super) on_limit: Vec<bool>,
    pub(super) lengths: Vec<f64>,
}

impl Part<'_, '_, '_, '_> {
    /// What the cost of so much of the data and of its weight is, as both are scaled. In this order what is not beyond the range of numbers does
    /// not pass through there.
    fn scaled(&self, of: f64) -> f64 {
        self.common.scale.map_or(of, |[data, weight]| of * data * weight * data)
    }

    /// The data sets with these values, each with the best parameters of its own.
    pub(super) fn evaluate(
        &self,
        values: Vec<f64>,
        mut rows: Vec<f64>,
        lengths: &[f64],
        other: Option<&[f64]>,
        search: bool,
    ) -> State {
        let (n, shared) = (values.len(), self.common.shared.len());
        let width = self.batch.options.parameters();
        for (row, slots) in
            rows.chunks_exact_mut(width.max(1)).zip(self.slots.chunks(shared.max(1)))
        {
            for (&j, &slot) in self.common.shared.iter().zip(slots) {
                row[j] = values[slot as usize];
            }
        }
        let before = rows.as_slice();
        let answered = self.works.each(self.sets.len(), |work, at| {
            let request = ReducedRequest {
                fit: self.sets[at],
                at: &before[at * width..][..width],
                lengths,
                slots: &self.slots[at * shared..][..shared],
                search,
                other: other.map(|rows| &rows[at * width..][..width]),
            };
            work.reduce(self.batch, &self.common, request)
        });
        let mut answers = Vec::with_capacity(self.sets.len());
        for (at, found) in answered.into_iter().enumerate() {
            // No model has more parameters than there is room for. One without any has no rows, and an answer all the same.
            let answer = found.expect("room for the parameters");
            rows[at * width..][..width].copy_from_slice(answer.row());
            answers.push(answer);
        }
        let mut state = State {
            values,
            rows,
            answers,
            cost: 0.0,
            size: 0.0,
            sound: true,
            gradient: vec![0.0; n],
            hessian: vec![0.0; n * n],
            sizes: vec![0.0; n],
        };
        // In the order of the data sets, whoever answered first.
        let State { answers, cost, size, sound, gradient, hessian, sizes, values, .. } = &mut state;
        for (block, slots) in answers.chunks(BLOCK).zip(self.slots_of_blocks()) {
            let (mut own_cost, mut own_size) = (0.0, 0.0);
            for (number, answer) in block.iter().enumerate() {
                let left = if search && answer.ended { answer.left } else { 0.0 };
                own_cost += (answer.cost - left).max(0.0);
                own_size += answer.size;
                *sound &= answer.sound;
                let slots = &slots[number * shared..][..shared];
                for (k, &slot) in slots.iter().enumerate() {
                    let slot = slot as usize;
                    gradient[slot] += answer.gradient()[k];
                    sizes[slot] += answer.diagonal()[k];
                    for (l, &other) in slots.iter().enumerate() {
                        hessian[slot * n + other as usize] += answer.reduced()[k * shared + l];
                    }
                }
            }
            *cost += own_cost;
            *size += own_size;
        }
        for &(slot, Prior { mean, deviation, .. }) in &self.priors {
            let [data, weight] = self.common.scale.unwrap_or([1.0; 2]);
            let weight = data / deviation * weight * (data / deviation);
            let (length, missing) = (lengths[slot], values[slot] - mean);
            *cost += weight * missing * missing;
            *size += weight * mean * mean;
            gradient[slot] += weight * missing * length;
            hessian[slot * n + slot] += weight * length * length;
            sizes[slot] += weight * length * length;
        }
        *sound &= cost.is_finite();
        state
    }

    fn slots_of_blocks(&self) -> impl Iterator<Item = &[u32]> {
        let shared = self.common.shared.len();
        (0..self.sets.len().div_ceil(BLOCK)).map(move |block| {
            let these = block * BLOCK * shared..self.slots.len().min((block + 1) * BLOCK * shared);
            &self.slots[these]
        })
    }

    /// The search from these values and rows, within limits of the values.
    pub(super) fn search(&self, values: Vec<f64>, rows: Vec<f64>, limits: &[[f64; 2]]) -> Found {
        let options = self.batch.options;
        let n = values.len();
        let lengths: Vec<f64> =
            values.iter().map(|value| if *value == 0.0 { 1.0 } else { value.abs() }).collect();
        let closed = |k: usize| limits[k][0] == limits[k][1];
        let open = (0..n).filter(|&k| !closed(k)).count();
        let degrees = self.degrees - open as i64;
        let [share, tolerance] = options.ends();
        let [finish, tolerance] = [share / degrees.max(1) as f64, self.scaled(tolerance)];
        let mut best = self.evaluate(values, rows, &lengths, None, true);
        let (mut iterations, mut radius) = (0, f64::INFINITY);
        let mut visits: Vec<u32> = best.answers.iter().map(|answer| answer.visits).collect();
        let mut scales = vec![0.0; n];
        let most = 10 * u64::from(options.max_iterations) + 10;
        let (mut tried, mut spent, mut ending) = (0, false, None);
        let status = loop {
            if !best.sound {
                break Status::NotConverged;
            }
            for (k, scale) in scales.iter_mut().enumerate() {
                *scale = best.hessian[k * n + k].sqrt().max(*scale);
                if *scale == 0.0 {
                    *scale = if best.sizes[k] > 0.0 { best.sizes[k].sqrt() } else { 1.0 };
                }
            }
            let held: Vec<bool> = (0..n)
                .map(|k| {
                    let ([low, high], at) = (limits[k], best.values[k]);
                    closed(k)
                        || (at <= low && best.gradient[k] >= 0.0)
                        || (at >= high && best.gradient[k] <= 0.0)
                })
                .collect();
            let all = 2.0 * (best.size + best.cost);
            let flat =
                |k: usize| best.gradient[k].abs() <= best.sizes[k].sqrt() * all.sqrt() * ROUNDING;
            if (0..n).all(|k| held[k] || flat(k)) {
                let is_held = open == 0 || held.iter().all(|held| *held);
                let status = if is_held { Status::MinStep } else { Status::Stalled };
                break ending.unwrap_or(status);
            }
            let room: Vec<[f64; 2]> = (0..n)
                .map(|k| limits[k].map(|limit| (limit - best.values[k]) / lengths[k]))
                .collect();
            let equations = Equations {
                gradient: &best.gradient,
                hessian: &best.hessian,
                sizes: &best.sizes,
                scales: &scales,
            };
            let ends = ending.is_some() || spent;
            let step = equations.step(&held, if ends { f64::INFINITY } else { radius }, &room);
            let predicted = predicted(&best.gradient, &best.hessian, &step.by);
            let rounded = ROUNDING * all + 2.0 * (best.cost * all).sqrt() + best.cost;
            let resolution = Some(rounded * ROUNDING).filter(|of| of.is_finite()).unwrap_or(0.0);
            let little = finish * best.cost + tolerance;
            // Where no step helps, and after the last, a full one would gain nothing from a minimum.
            let is_minimum = predicted <= (MOST_LEFT * little).max(resolution);
            match ending.take() {
                Some(status) if is_minimum => break status,
                None if spent && is_minimum => break Status::Stalled,
                None if spent => break Status::NotConverged,
                // Along a valley the last step was long, and led out of it.
                Some(_) => continue,
                None => {}
            }
            let last = !step.damped && !step.clipped && predicted < little;
            // What a damped step gains says nothing of what is left to gain.
            let tiny = !step.damped && predicted <= resolution;
            let trial = self.moved(&best, &step.by, &lengths, limits);
            // Far from the minimum the own parameters may be better where they were.
            let far = predicted > 0.1 * best.cost;
            let next = self.evaluate(trial.0, trial.1, &lengths, far.then_some(&best.rows), true);
            tried += 1;
            visits.iter_mut().zip(&next.answers).for_each(|(all, next)| *all += next.visits);
            let difference = best.cost - next.cost;
            let by_gradients: f64 = best
                .gradient
                .iter()
                .zip(&next.gradient)
                .zip(&step.by)
                .map(|((before, after), by)| -(before + after) * by)
                .sum();
            let decrease = if predicted > resolution { difference } else { by_gradients };
            let better = next.sound && decrease >= 0.0 && difference >= -resolution;
            let length = norm(&step.by, &scales);
            let ratio = if next.sound { decrease / predicted } else { -1.0 };
            if better {
                best = next;
                iterations += 1;
            }
            if last || tiny {
                let status = if last { Status::MinStep } else { Status::Stalled };
                if !better {
                    break status;
                }
                ending = Some(status);
            }
            if ratio < 0.25 || !better {
                let share = if ratio.is_finite() { 0.5 / (1.0 - ratio.min(0.0)) } else { 0.1 };
                radius = length * share.clamp(0.1, 0.5);
            } else if ratio > 0.75 || !step.damped {
                radius = if step.damped { radius.max(2.0 * length) } else { radius };
            }
            if ending.is_none() && (iterations >= options.max_iterations || tried >= most) {
                break Status::MaxIterations;
            }
            let extent = norm(&vec![1.0; n], &scales);
            spent = radius.is_nan() || radius <= 1e-16 * extent;
        };
        let inside = |k: usize| limits[k][0] < best.values[k] && best.values[k] < limits[k][1];
        let on_limit: Vec<bool> = (0..n).map(|k| !(closed(k) || inside(k))).collect();
        let pushed = |k: usize| is_pushed(best.gradient[k], best.sizes[k], best.size);
        let held = (0..n).map(|k| closed(k) || (on_limit[k] && pushed(k))).collect();
        Found { state: best, status, iterations, visits, held, on_limit, lengths }
    }

    /// Where a step leads: the values, and each data set's parameters as the equations say.
    fn moved(
        &self,
        from: &State,
        by: &[f64],
        lengths: &[f64],
        limits: &[[f64; 2]],
    ) -> (Vec<f64>, Vec<f64>) {
        let width = self.batch.options.parameters();
        let shared = self.common.shared.len();
        let values = from.values.iter().enumerate().map(|(k, value)| {
            // Where a limit stops a step it is met exactly.
            let [low, high] = limits[k];
            let to = value + by[k] * lengths[k];
            if by[k] != 0.0 && by[k] == (low - value) / lengths[k] {
                low
            } else if by[k] != 0.0 && by[k] == (high - value) / lengths[k] {
                high
            } else {
                to.clamp(low, high)
            }
        });
        let mut rows = from.rows.clone();
        for (at, (row, answer)) in
            rows.chunks_exact_mut(width.max(1)).zip(&from.answers).enumerate()
        {
            let slots = &self.slots[at * shared..][..shared];
            for (j, to) in row.iter_mut().enumerate() {
                let follows = slots.iter().enumerate();
                let follows =
                    follows.map(|(k, &slot)| answer.by()[j * shared + k] * by[slot as usize]);
                let moved = *to + answer.lengths()[j] * follows.sum::<f64>();
                if answer.held >> j & 1 == 0 && moved.is_finite() {
                    *to = moved;
                }
            }
        }
        (values.collect(), rows)
    }

    /// The standard deviation of data of weight 1, as they are scaled, by so many degrees of freedom.
    pub(super) fn deviation(&self, state: &State, degrees: i64) -> f64 {
        // Data are known to their last digit at best.
        let least = state.size * (f64::EPSILON * f64::EPSILON) / (12.0 * self.points as f64);
        match degrees {
            _ if self.common.poisson => 1.0,
            _ if !is_relative(self.batch) => {
                self.common.scale.map_or(1.0, |[data, weight]| data * weight.sqrt())
            }
            // Without a degree of freedom the residuals say nothing of the errors.
            ..=0 => f64::INFINITY,
            _ => (state.cost / degrees as f64).max(least).sqrt(),
        }
    }

    /// χ² from what is scaled.
    pub(super) fn own_cost(&self, cost: f64) -> f64 {
        self.common.scale.map_or(cost, |[data, weight]| cost / data / weight / data)
    }
}
