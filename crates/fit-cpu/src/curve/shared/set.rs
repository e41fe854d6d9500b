//! A data set of a fit that shares parameters: its best parameters of its own beside the shared ones, and what it says of those.

use fit_core::Estimator;
use fit_core::curve::{Units, determined, is_pushed};
use fit_core::search::Count;
use fit_curves::{CurveBatch, Frame, Prior};

use super::super::engine::{PriorTerm, Square, Work, has_ended, settings, with_capacity_for};
use super::super::visit::Formulated;

/// What data sets that share parameters have in common.
#[derive(Clone, Debug, Default)]
pub(super) struct Common {
    /// The parameters that are shared.
    pub(super) shared: Vec<usize>,
    /// The lowest and the highest datum of all, where they share what takes up a level.
    pub(super) extent: Option<[f64; 2]>,
    /// What data and weights are multiplied by.
    pub(super) scale: Option<[f64; 2]>,
    /// Those of parameters that each has for itself.
    pub(super) priors: Vec<Prior>,
    pub(super) poisson: bool,
}

impl Common {
    /// The coordinates of a data set whose data lie between these.
    pub(super) fn frame(
        &self,
        batch: &CurveBatch<'_, '_, '_>,
        origin: &[f64],
        extent: [f64; 2],
    ) -> Option<Frame> {
        batch.frame(origin, self.extent.unwrap_or(extent))
    }
}

/// What is asked of a data set.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReducedRequest<'a> {
    pub(super) fit: usize,
    /// Where its own parameters begin, and its shared ones are, in its coordinates.
    pub(super) at: &'a [f64],
    /// The length in which each shared value is measured, and which of them it has.
    pub(super) lengths: &'a [f64],
    pub(super) slots: &'a [u32],
    /// Whether its own parameters are searched for.
    pub(super) search: bool,
    /// Its own parameters may as well begin here.
    pub(super) other: Option<&'a [f64]>,
}

/// What a data set says, in units of the shared parameters' lengths.
#[derive(Clone, Debug)]
pub(super) struct ReducedProblem {
    /// χ² or the deviance, as it is scaled.
    pub(super) cost: f64,
    /// What its own parameters have left to gain.
    pub(super) left: f64,
    /// What rounding is a share of.
    pub(super) size: f64,
    /// Whether the model has values there.
    pub(super) sound: bool,
    /// Whether the search for its own parameters has ended well.
    pub(super) ended: bool,
    /// Visits to its points.
    pub(super) visits: u32,
    /// Parameters that are held: shared ones, fixed ones, and those at a limit.
    pub(super) held: u64,
    /// Those at a limit.
    pub(super) limited: u64,
    /// Those of its own that it does not determine.
    pub(super) unknown: u64,
    /// Row, lengths and diagonal of its own Hessian, then gradient and diagonal of the shared ones, how its own parameters follow, and the two
    /// matrices, in one piece of memory: there may be very many data sets.
    numbers: Vec<f64>,
    parameters: usize,
    shared: usize,
    pub(super) frame: Option<Frame>,
}

impl ReducedProblem {
    fn part(&self, before: [usize; 2], length: usize) -> &[f64] {
        &self.numbers[before[0] * self.parameters + before[1] * self.shared..][..length]
    }

    /// With numbers that follow from parameters, their lengths and the gradient, and from the inverse Hessian of its own parameters and the
    /// Hessian, whether the inverse is wanted too.
    fn with(
        mut self,
        [best, lengths, gradient]: [&[f64]; 3],
        [inverse, hessian]: [Square<'_>; 2],
        shared: &[usize],
        whole: bool,
    ) -> Self {
        let (count, together) = (self.parameters, self.shared);
        let is_held = |j: usize| self.held >> j & 1 == 1;
        let own = || (0..count).filter(|&j| !is_held(j));
        let rest = (2 + count + together) * together + if whole { count * count } else { 0 };
        let mut numbers = Vec::with_capacity(3 * count + rest);
        numbers.extend_from_slice(&best[..count]);
        numbers.extend_from_slice(&lengths[..count]);
        numbers.extend((0..count).map(|j| hessian.at(j, j)));
        // The gradient, which needs what follows it.
        numbers.resize(numbers.len() + together, 0.0);
        numbers.extend(shared.iter().map(|&j| hessian.at(j, j)));
        let first = numbers.len();
        for j in 0..count {
            numbers.extend(shared.iter().map(|&parameter| match is_held(j) {
                true => 0.0,
                false => -own().map(|l| inverse.at(j, l) * hessian.at(l, parameter)).sum::<f64>(),
            }));
        }
        for (k, &j) in shared.iter().enumerate() {
            let follows = |l: usize| numbers[first + l * together + k];
            let by_own = own().map(|l| follows(l) * gradient[l]).sum::<f64>();
            numbers[3 * count + k] = gradient[j] + by_own;
        }
        let reduced = numbers.len();
        numbers.resize(reduced + together * together, 0.0);
        for (k, &j) in shared.iter().enumerate() {
            for (l, &i) in shared.iter().enumerate().skip(k) {
                let follows = |m: usize| numbers[first + m * together + k];
                let less: f64 = own().map(|m| follows(m) * hessian.at(m, i)).sum();
                let all = hessian.at(j, i) + less;
                let all = if k == l { all.max(0.0) } else { all };
                numbers[reduced + k * together + l] = all;
                numbers[reduced + l * together + k] = all;
            }
        }
        let left =
            own().map(|j| own().map(|l| gradient[j] * inverse.at(j, l) * gradient[l]).sum::<f64>());
        let left: f64 = left.sum();
        let finite = |of: &[f64]| of.iter().all(|of| of.is_finite());
        let by_shared = &numbers[3 * count..][..together];
        self.sound &= finite(by_shared) && finite(&numbers[reduced..]);
        self.left = if left.is_finite() { left.max(0.0) } else { 0.0 };
        if whole {
            numbers.extend((0..count * count).map(|at| inverse.at(at / count, at % count)));
        }
        Self { numbers, ..self }
    }

    /// All parameters, in the coordinates of the data set.
    pub(super) fn row(&self) -> &[f64] {
        self.part([0, 0], self.parameters)
    }

    /// The lengths of all parameters.
    pub(super) fn lengths(&self) -> &[f64] {
        self.part([1, 0], self.parameters)
    }

    /// The diagonal of its own Hessian.
    pub(super) fn own(&self) -> &[f64] {
        self.part([2, 0], self.parameters)
    }

    /// The gradient by the shared ones, with the best of all others.
    pub(super) fn gradient(&self) -> &[f64] {
        self.part([3, 0], self.shared)
    }

    /// The diagonal of the Hessian of the shared ones with all others held.
    pub(super) fn diagonal(&self) -> &[f64] {
        self.part([3, 1], self.shared)
    }

    /// How its own parameters follow, (parameter, shared).
    pub(super) fn by(&self) -> &[f64] {
        self.part([3, 2], self.parameters * self.shared)
    }

    /// The Hessian of the shared ones with the best of all others, row after row.
    pub(super) fn reduced(&self) -> &[f64] {
        self.part([3 + self.shared, 2], self.shared * self.shared)
    }

    /// The inverse Hessian of its own parameters in their lengths, row after row; empty if it has searched.
    pub(super) fn inverse(&self) -> &[f64] {
        &self.numbers[(3 + self.shared) * self.parameters + (2 + self.shared) * self.shared..]
    }
}

/// What answers for the data sets of a batch.
pub(super) trait ReducedSolver {
    /// Answers a request.
    fn reduce(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        common: &Common,
        request: ReducedRequest<'_>,
    ) -> Option<ReducedProblem>;
}

impl ReducedSolver for Work<Formulated<'static>> {
    fn reduce(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        common: &Common,
        request: ReducedRequest<'_>,
    ) -> Option<ReducedProblem> {
        with_capacity_for!(
            request.at.len(),
            |CAPACITY| Some(self.answer::<CAPACITY>(batch, common, request)),
            None,
            [2 3 4 5 6 7 8 16 64]
        )
    }
}

/// A data set's own parameters are found by this many times better than the shared ones.
const FINER: f64 = 0.1;

impl Work<Formulated<'static>> {
    /// Takes a data set in its coordinates; returns these, and the points that are seen.
    fn enter_set(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        common: &Common,
        fit: usize,
    ) -> (Option<Frame>, usize) {
        self.take(batch, fit);
        let seen = self.see(common.poisson);
        let frame = common.frame(batch, &self.origin, seen.extent);
        self.enter(frame.as_ref(), common.scale, common.poisson);
        self.known.clear();
        if !common.priors.is_empty() {
            let mut means = vec![[f64::NEG_INFINITY, f64::INFINITY]; batch.options.parameters()];
            common.priors.iter().for_each(|prior| means[prior.parameter] = [prior.mean; 2]);
            if let Some(frame) = &frame {
                frame.enter_limits(&mut means);
            }
            let [data, weights] = common.scale.unwrap_or([1.0; 2]);
            self.known.extend(common.priors.iter().map(
                |&Prior { parameter, deviation, .. }| PriorTerm {
                    parameter,
                    mean: means[parameter][0],
                    // In this order what is not beyond the range of numbers does not pass through there.
                    weight: data / deviation * weights * (data / deviation),
                },
            ));
        }
        let known = self.known.iter().map(|known| known.weight * known.mean * known.mean);
        self.size += known.sum::<f64>();
        (frame, seen.points)
    }

    fn answer<const P: usize>(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        common: &Common,
        request: ReducedRequest<'_>,
    ) -> ReducedProblem {
        let ReducedRequest { fit, at, lengths: of_shared, slots, search, other } = request;
        let (count, poisson, options) = (at.len(), common.poisson, batch.options);
        let (frame, points) = self.enter_set(batch, common, fit);
        let [of_data, of_weights] = common.scale.unwrap_or([1.0; 2]);
        let (mut lower, mut upper, mut initial) = ([0.0; P], [0.0; P], [0.0; P]);
        for (j, limits) in self.begin.within.iter().enumerate() {
            [lower[j], upper[j]] = *limits;
            initial[j] = at[j].clamp(lower[j], upper[j]);
        }
        for &j in &common.shared {
            (initial[j], lower[j], upper[j]) = (at[j], at[j], at[j]);
        }
        let closed: [bool; P] = std::array::from_fn(|j| lower[j] >= upper[j]);
        let free = closed.iter().filter(|closed| !**closed).count();
        let (mut best, mut ended, mut visits) = (initial, true, 1_u32);
        if search && free > 0 {
            if let Some(other) = other {
                let mut second = initial;
                for j in (0..count).filter(|&j| !closed[j]) {
                    second[j] = other[j].clamp(lower[j], upper[j]);
                }
                let [here, there] = [initial, second].map(|at| match self.cost(&at, poisson) {
                    (cost, true) => cost,
                    _ => f64::NAN,
                });
                visits += 2;
                if there < here || !here.is_finite() {
                    initial = second;
                }
            }
            let [share, tolerance] = options.ends().map(|end| end * FINER * FINER);
            let degrees = (points + self.known.len()).saturating_sub(free).max(1);
            let ends = [share / degrees as f64, tolerance * of_data * of_weights * of_data];
            let settings = settings(options, 0, [lower, upper], ends);
            let found = self.searched_well(&settings, &closed, initial, poisson, 0.0);
            visits += found.evaluations as u32;
            let record = found.descent.record();
            (best, ended) = (record.parameters, has_ended(&record));
        }
        let mut lengths = best;
        for j in 0..count {
            if of_data != 1.0 && self.linear >> j & 1 == 1 {
                lengths[j] = 1.0 / of_data;
            }
        }
        for (&j, &slot) in common.shared.iter().zip(slots) {
            lengths[j] = of_shared[slot as usize];
        }
        let units = Units::at(&lengths);
        let sums = self.sums::<P, false>(&best, poisson, &units);
        let (normal, positive) = sums.normal(&self.scales::<P>(&units));
        let (gradient, hessian) = (normal.gradient, normal.hessian);
        // What is on a limit and would go on stays there.
        let (mut held, mut limited) = (closed, 0);
        for j in (0..count).filter(|&j| !closed[j]) {
            let pushed = is_pushed(gradient[j], hessian.at(j, j), self.size);
            let low = best[j] <= lower[j] && gradient[j] > 0.0;
            let high = best[j] >= upper[j] && gradient[j] < 0.0;
            held[j] = pushed && (low || high);
            limited |= u64::from(held[j]) << j;
        }
        let (mut inverse, unknown) = determined(Count::new(count), &hessian, &held);
        for of in inverse.0.as_flattened_mut() {
            *of = if of.is_finite() { *of } else { 0.0 };
        }
        let bits =
            |of: &[bool; P]| (0..count).filter(|&j| of[j]).fold(0_u64, |all, j| all | 1 << j);
        let answer = ReducedProblem {
            cost: normal.cost,
            left: 0.0,
            size: self.size,
            sound: positive && normal.cost.is_finite(),
            ended,
            visits,
            held: bits(&held),
            limited,
            unknown: bits(&unknown),
            numbers: Vec::new(),
            parameters: count,
            shared: common.shared.len(),
            frame,
        };
        let matrices = [Square::of(&inverse), Square::of(&hessian)];
        answer.with([&best, &units.length, &gradient], matrices, &common.shared, !search)
    }
}

/// Whether least squares are relative: errors follow from the residuals.
pub(super) fn is_relative(batch: &CurveBatch<'_, '_, '_>) -> bool {
    batch.options.estimator == Estimator::LeastSquares && !batch.options.absolute
}
