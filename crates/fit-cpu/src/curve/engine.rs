//! The search for one data set.

use std::ops::Range;

use fit_core::curve::{
    At, Explicit, Factored, LevenbergMarquardt, Sums, Units, determined, is_pushed,
};
use fit_core::search::solve::Symmetric;
use fit_core::search::{Count, Normal, Resumable, Settings};
use fit_core::{Estimator, Real, Record, Status};
use fit_curves::{CompiledModel, CurveBatch, CurveOptions, Frame, Place, Points, clean};

use super::compiled::Compiled;
use super::evaluate::{SetPoints, set_points};
use super::places::DataSet;
use super::summary::{DataSummary, see, size};
use super::visit::{Formulated, Visit};
use crate::threads::parts;

/// A data set, and working memory for its fit.
pub(crate) struct Work<E> {
    pub(super) model: E,
    pub(super) data: Vec<f64>,
    /// 0 at points that are left out.
    pub(super) weights: Vec<f64>,
    /// What the rounding of the sums is a share of.
    pub(super) size: f64,
    pub(super) explicit: Explicit,
    /// What was subtracted from each variable.
    pub(super) origin: Vec<f64>,
    /// The parameters in which the model is linear, a bit for each.
    pub(super) linear: u64,
    /// Those whose size tells how well they are to be known at least: neither these nor places, which may be 0.
    sized: u64,
    /// What data and weights are multiplied by where their squares would overflow, or vanish.
    pub(super) scale: Option<[f64; 2]>,
    /// What is known of parameters beforehand, if derivatives are whole (`scale`).
    pub(super) known: Vec<PriorTerm>,
    /// Where the last search began: memory for the next.
    pub(super) begin: Begin,
    /// Whether sums over the data are those of their parts.
    pub(crate) long: bool,
}

/// A prior of a parameter: an extra point at its mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct PriorTerm {
    pub(super) parameter: usize,
    pub(super) mean: f64,
    /// As the weights are scaled.
    pub(super) weight: f64,
}

/// Where a search begins, and the limits of each parameter, also in the coordinates of the search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Begin {
    pub(super) start: Vec<f64>,
    pub(super) limits: Vec<[f64; 2]>,
    pub(super) within: Vec<[f64; 2]>,
}

/// Tells of a data set that there is no fit for.
fn tell_invalid(place: &mut Place<'_>) {
    for to in [&mut *place.parameters, place.errors, place.covariance] {
        to.fill(f64::NAN);
    }
    tell(place, f64::NAN, 0, [0.0; 2], Status::Invalid);
}

/// Tells how a fit ended.
fn tell(place: &mut Place<'_>, chi2: f64, degrees: i64, counts: [f64; 2], status: Status) {
    (*place.chi2, *place.degrees) = (chi2, u32::try_from(degrees).unwrap_or(u32::MAX));
    [*place.iterations, *place.evaluations] = counts.map(|count| count as u32);
    *place.status = status;
}

/// A search with room for the parameters of a model.
pub(crate) trait FitOne {
    /// Fits the data set that was taken, after so many iterations of another search.
    fn fit(&mut self, batch: &CurveBatch<'_, '_, '_>, spent: u32, place: &mut Place<'_>);
}

/// Calls a search with room for so many parameters.
macro_rules! with_capacity_for {
    ($count:expr, |$capacity:ident| $search:expr, $none:expr, [$($most:literal)*]) => {
        match $count {
            $(0..=$most => {
                const $capacity: usize = $most;
                $search
            })*
            _ => $none,
        }
    };
}
pub(crate) use with_capacity_for;

impl FitOne for Work<Formulated<'_>> {
    fn fit(&mut self, batch: &CurveBatch<'_, '_, '_>, spent: u32, place: &mut Place<'_>) {
        with_capacity_for!(
            self.begin.start.len(),
            |CAPACITY| self.search::<CAPACITY>(batch, spent, place),
            tell_invalid(place),
            [1 2 3 4 5 6 7 8 16 64]
        );
    }
}

impl<M, const P: usize, const V: usize> FitOne for Work<Compiled<'_, M, f64, P, V>>
where
    M: CompiledModel<P, V>,
{
    fn fit(&mut self, batch: &CurveBatch<'_, '_, '_>, spent: u32, place: &mut Place<'_>) {
        self.search::<P>(batch, spent, place);
    }
}

/// How the search for a curve goes, after so many iterations of another; those do not count among its looks at the points.
#[inline(always)]
pub(crate) fn settings<R: Real, const P: usize>(
    options: &CurveOptions,
    spent: u32,
    limits: [[R; P]; 2],
    ends: [R; 2],
) -> Settings<R, P> {
    let most = options.max_iterations;
    let iterations = R::splat(f64::from(most.saturating_sub(spent).max(1)));
    let max_evaluations = R::splat(10.0 * f64::from(most) + 10.0);
    Settings { max_evaluations, ..Settings::of_model(iterations, limits, ends) }
}

/// Largest data and weights whose squares, and their sums, are numbers without being scaled; the smallest are 1 over this.
const MOST_PLAIN: f64 = 1e60;

/// Where a last step led to a limit, the search goes on if a full step would gain more than this share of the variance.
const MOST_LEFT: f64 = 1e-3;

/// What rounding leaves of residuals that the search cannot tell from none.
const UNRESOLVED: f64 = 4.0 * f64::EPSILON;

/// What the search for a data set begins with, whatever there is room for.
struct Problem {
    frame: Option<Frame>,
    points: usize,
    /// Points less parameters that are not held.
    degrees: i64,
    level: f64,
    /// What data and weights are multiplied by.
    scale: [f64; 2],
    poisson: bool,
}

impl Problem {
    /// In this order what is not beyond the range of numbers does not pass through there.
    fn own_cost(&self, cost: f64) -> f64 {
        cost / self.scale[0] / self.scale[1] / self.scale[0]
    }
}

/// How a search ended.
fn status<const P: usize>(record: &Record<f64, P, 0>) -> Status {
    Status::from_code(record.status as u8).unwrap_or(Status::Invalid)
}

/// Whether it found a minimum.
pub(super) fn has_ended<const P: usize>(record: &Record<f64, P, 0>) -> bool {
    let status = status(record);
    status.is_converged() || status == Status::AtLimit
}

/// A search to its end.
pub(super) struct Searched<const P: usize> {
    pub(super) descent: LevenbergMarquardt<f64, P>,
    /// Steps with some of the points before.
    pub(super) before: f64,
    /// With those of a search that found less.
    pub(super) evaluations: f64,
    /// What the Hessian tells with nothing held but what is fixed, if that is known.
    pub(super) told: Option<(Symmetric<f64, P>, [bool; P])>,
}

/// What is seen where a search ended.
struct End<const P: usize> {
    /// What takes no part: what is fixed, and what the data push against the limit that it is on. The errors of the others are those beside
    /// it. One that the data do not push only happens to be on its limit.
    out: [bool; P],
    /// Those that are on a limit.
    on_limit: [bool; P],
    degrees: i64,
    inverse: Symmetric<f64, P>,
    /// What is not determined.
    unknown: [bool; P],
    /// Whether a full step from a limit would gain what matters.
    gains: bool,
}

/// The same for any number of parameters, with where that is.
struct Ended<'a> {
    out: &'a [bool],
    on_limit: &'a [bool],
    degrees: i64,
    inverse: Square<'a>,
    unknown: &'a mut [bool],
    gains: bool,
    parameters: &'a [f64],
    gradient: &'a [f64],
    hessian: Square<'a>,
    /// The length of each parameter, and 1 over it.
    lengths: [&'a [f64]; 2],
    cost: f64,
    status: Status,
    /// Whether the search gave up.
    gave_up: bool,
    /// Iterations and evaluations.
    counts: [f64; 2],
}

/// A symmetric matrix, row after row, of which the upper half is looked at.
#[derive(Clone, Copy)]
pub(super) struct Square<'a> {
    pub(super) numbers: &'a [f64],
    /// The numbers of a row.
    pub(super) width: usize,
}

impl Square<'_> {
    pub(super) fn of<const P: usize>(of: &Symmetric<f64, P>) -> Square<'_> {
        Square { numbers: of.0.as_flattened(), width: P }
    }

    pub(super) fn at(&self, j: usize, k: usize) -> f64 {
        self.numbers[j.min(k) * self.width + j.max(k)]
    }

    /// Marks those that are not `out` and whose variances are no numbers.
    pub(super) fn doubt(&self, out: &[bool], unknown: &mut [bool]) {
        for j in (0..out.len()).filter(|&j| !out[j]) {
            unknown[j] |= !(0.0..=f64::MAX).contains(&self.at(j, j));
        }
    }

    /// Finds errors and, where there is room for them, covariances of parameters, of which this is the inverse Hessian in their lengths, and
    /// has all leave the frame.
    pub(super) fn state(
        &self,
        [out, unknown]: [&[bool]; 2],
        (lengths, deviation): (&[f64], f64),
        frame: Option<&Frame>,
        [parameters, errors, covariance]: [&mut [f64]; 3],
    ) {
        let count = parameters.len();
        for (j, to) in errors.iter_mut().enumerate() {
            *to = match self.at(j, j) {
                _ if out[j] => 0.0,
                _ if unknown[j] => f64::INFINITY,
                own => finite(own.sqrt() * lengths[j] * deviation),
            };
        }
        let mixed = frame.is_some_and(Frame::mixes);
        let mut own = vec![0.0; if mixed && covariance.is_empty() { count * count } else { 0 }];
        let covariance = if own.is_empty() { covariance } else { &mut own };
        for (at, to) in covariance.iter_mut().enumerate() {
            let (j, k) = (at / count, at % count);
            *to = match self.at(j, k) {
                _ if out[j] || out[k] => 0.0,
                _ if unknown[j] || unknown[k] => f64::INFINITY,
                own if mixed => own / (self.at(j, j).sqrt() * self.at(k, k).sqrt()),
                own => finite(own * (lengths[j] * deviation) * (lengths[k] * deviation)),
            };
        }
        if let Some(frame) = frame {
            frame.leave(parameters);
            if mixed {
                frame.leave_errors(errors, covariance);
            }
        }
    }
}

/// A model in units of the parameters: in these its derivatives are whole, where the data had to be scaled.
struct InUnits<'a, E, const P: usize> {
    model: &'a mut E,
    /// 1 over the units, if the data were scaled.
    inverse: Option<[f64; P]>,
}

impl<E: Visit<P>, const P: usize> Factored<f64, P> for InUnits<'_, E, P> {
    fn prepare(&mut self, parameters: &[f64; P]) {
        self.model.place(parameters);
    }
    fn factors(&self) -> [f64; P] {
        self.inverse.unwrap_or_else(|| self.model.factors())
    }
    fn relative(&self, length: &[f64; P]) -> [f64; P] {
        if self.inverse.is_some() {
            return [1.0; P];
        }
        let mut factors = self.model.factors();
        for j in 0..P {
            factors[j] *= length[j];
        }
        factors
    }
}

/// Two to the power that makes a number that large one between 1 and 2.
fn normalizer(number: f64) -> f64 {
    let exponent = (number.to_bits() >> 52) as i64 - 1023;
    f64::from_bits(((1023 - exponent.clamp(-1000, 1000)) as u64) << 52)
}

/// What data and weights of this size are multiplied by, if they have to be.
pub(super) fn scales(most: f64, heaviest: f64) -> Option<[f64; 2]> {
    let is_plain = |size: f64| size == 0.0 || (1.0 / MOST_PLAIN..=MOST_PLAIN).contains(&size);
    let of = |size: f64| if size == 0.0 { 1.0 } else { normalizer(size) };
    let plain = is_plain(most) && is_plain(heaviest);
    (!plain).then(|| [of(most), of(heaviest)])
}

/// An infinity in place of what is no number.
pub(super) fn finite(number: f64) -> f64 {
    if number.is_finite() { number } else { f64::INFINITY }
}

/// Points that are looked at together.
const PART: usize = 1 << 16;

impl<E: SetPoints<f64>> Work<E> {
    /// For the data sets of a batch.
    pub(crate) fn new(mut model: E, batch: &CurveBatch<'_, '_, '_>) -> Self {
        let mut origin = Vec::new();
        if let Points::Shared(at) = batch.curves.points {
            origin = batch.origin(0);
            let less = |variable: usize| origin.get(variable).copied().unwrap_or(0.0);
            model.set_points(|variable, column, _| at.get([variable, column]) - less(variable));
        } else {
            set_points(batch, &mut model);
        }
        let (mut data, mut weights) = (Vec::new(), Vec::new());
        if model.borrowed().is_none() {
            data = vec![0.0; batch.curves.points()];
            weights = batch.shared_weights();
        }
        let linear = batch.program.as_ref().map_or(0, |program| program.separable(u64::MAX));
        Self {
            model,
            data,
            weights,
            size: 0.0,
            explicit: batch.explicit,
            origin,
            linear,
            sized: !(linear | batch.places()),
            scale: None,
            known: Vec::new(),
            begin: Begin::default(),
            long: false,
        }
    }

    /// Takes a data set, with the origin of its variables, its start values and its limits.
    pub(super) fn take(&mut self, batch: &CurveBatch<'_, '_, '_>, fit: usize) {
        let Self { model, data, weights, origin, begin, .. } = self;
        model.begin(fit);
        if let Points::PerFit(at) = batch.curves.points {
            *origin = batch.origin(fit);
            let less = |variable: usize| origin.get(variable).copied().unwrap_or(0.0);
            model
                .set_points(|variable, column, _| at.get([fit, variable, column]) - less(variable));
        }
        if let Some(held) = model.borrowed() {
            held.take(fit, origin);
        } else {
            batch.curves.data.row(fit, data);
            if let Some(values) = batch.curves.weights.filter(|_| batch.has_own_weights()) {
                values.row(fit, weights);
                clean(weights);
            }
        }
        let parameters = 0..batch.options.parameters();
        begin.start.clear();
        begin.start.extend(parameters.clone().map(|j| batch.start(fit, j)));
        begin.limits.clear();
        begin.limits.extend(parameters.map(|j| batch.limit(fit, j)));
    }

    /// Fits a data set.
    pub(crate) fn fit_set(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        fit: usize,
        mut place: Place<'_>,
    ) where
        Self: FitOne,
    {
        self.take(batch, fit);
        self.fit(batch, 0, &mut place);
    }

    /// Goes on with the fit of a data set from what another search found, whose iterations and evaluations count too.
    pub(crate) fn finish(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        fit: usize,
        mut place: Place<'_>,
    ) where
        Self: FitOne,
    {
        self.take(batch, fit);
        self.begin.start.copy_from_slice(place.parameters);
        let [iterations, evaluations] = [*place.iterations, *place.evaluations];
        // From a minimum there is nothing to gain by what is eliminated.
        let none = Explicit { eliminated: 0, ..self.explicit };
        let explicit = std::mem::replace(&mut self.explicit, none);
        self.fit(batch, iterations, &mut place);
        self.explicit = explicit;
        *place.iterations = place.iterations.saturating_add(iterations);
        *place.evaluations = place.evaluations.saturating_add(evaluations);
    }

    /// Takes the limits, the level and the scale that the data set is searched with.
    pub(super) fn enter(&mut self, frame: Option<&Frame>, scale: Option<[f64; 2]>, poisson: bool) {
        let Begin { limits, within, .. } = &mut self.begin;
        within.clone_from(limits);
        if let Some(frame) = frame {
            frame.enter_limits(within);
            self.set_level(frame.level());
        }
        self.scale = scale;
        self.size = self.size_of_data(poisson);
    }

    pub(super) fn see(&mut self, poisson: bool) -> DataSummary {
        if let Some(model) = self.model.borrowed() {
            return model.see(poisson);
        }
        let Self { data, weights, .. } = self;
        if data.len() <= PART {
            return see(data, weights, poisson);
        }
        parts(data.len(), PART, |part| see(&data[part.clone()], &weights[part], poisson))
            .into_iter()
            .reduce(DataSummary::and)
            .unwrap_or_else(|| see(&[], &[], poisson))
    }

    /// Σwd², or Σd, of the data as they are scaled.
    pub(super) fn size_of_data(&mut self, poisson: bool) -> f64 {
        if let Some(model) = self.model.borrowed() {
            return model.size(self.scale, poisson);
        }
        let Self { data, weights, scale, .. } = self;
        let size = |part: Range<usize>| size(&data[part.clone()], &weights[part], *scale, poisson);
        if self.long {
            parts(data.len(), PART, size).into_iter().sum()
        } else {
            size(0..data.len())
        }
    }

    /// Subtracts a level from the data.
    pub(super) fn set_level(&mut self, level: f64) {
        if let Some(model) = self.model.borrowed() {
            model.set_level(level);
        } else if level != 0.0 {
            self.data.iter_mut().for_each(|datum| *datum -= level);
        }
    }

    /// The weights of the points that are seen, as they are scaled.
    fn weight(&mut self, scale: f64) -> f64 {
        match self.model.borrowed() {
            Some(model) => model.weight() * scale,
            None => {
                let seen = self.weights.iter().filter(|&&weight| weight > 0.0);
                seen.map(|weight| weight * scale).sum()
            }
        }
    }

    /// How many points there are, with those that are left out.
    pub(super) fn points(&mut self) -> usize {
        self.model.borrowed().map_or(self.data.len(), |model| model.points())
    }

    /// What a search begins with; nothing if there is no fit for the data set.
    fn problem(&mut self, batch: &CurveBatch<'_, '_, '_>) -> Option<Problem> {
        let poisson = batch.options.estimator == Estimator::MaximumLikelihood;
        let seen = self.see(poisson);
        let frame = batch.frame(&self.origin, seen.extent);
        let level = frame.as_ref().map_or(0.0, Frame::level);
        let scale = if poisson { None } else { scales(seen.most(level), seen.heaviest) };
        self.enter(frame.as_ref(), scale, poisson);
        let free = self.begin.within.iter().filter(|[low, high]| low != high).count();
        let degrees = seen.points as i64 - free as i64;
        if degrees < 0 || !seen.sound {
            return None;
        }
        let scale = scale.unwrap_or([1.0; 2]);
        Some(Problem { frame, points: seen.points, degrees, level, scale, poisson })
    }

    /// P is at least the number of parameters; those that the model does not have are held.
    fn search<const P: usize>(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        spent: u32,
        place: &mut Place<'_>,
    ) where
        E: Visit<P>,
    {
        let Some(problem) = self.problem(batch) else { return tell_invalid(place) };
        let Problem { degrees, scale, poisson, .. } = problem;
        let (options, count) = (batch.options, self.begin.start.len());
        let (mut initial, mut lower, mut upper) = ([0.0; P], [0.0; P], [0.0; P]);
        let mut held = [true; P];
        initial[..count].copy_from_slice(&self.begin.start);
        if let Some(frame) = &problem.frame {
            frame.enter(&mut initial[..count]);
        }
        for (j, limits) in self.begin.within.iter().enumerate() {
            [lower[j], upper[j]] = *limits;
            held[j] = lower[j] == upper[j];
        }
        if !held.contains(&false) {
            let (cost, _) = self.cost(&initial, poisson);
            place.parameters.copy_from_slice(&self.begin.start);
            place.errors.fill(0.0);
            place.covariance.fill(0.0);
            let chi2 = problem.own_cost(cost);
            let status = if chi2.is_finite() { Status::MinStep } else { Status::NotConverged };
            return tell(place, chi2, degrees, [0.0, 1.0], status);
        }
        let [share, tolerance] = options.ends();
        let finish = share / degrees.max(1) as f64;
        let tolerance = tolerance * scale[0] * scale[1] * scale[0];
        let settings = settings(options, spent, [lower, upper], [finish, tolerance]);
        let near = match spent {
            0 => self.search_subsample(&settings, options, &held, initial),
            _ => Err(0.0),
        };
        let mut searched = match near {
            Ok(searched) => searched,
            Err(looks) => self.searched_well(&settings, &held, initial, poisson, looks),
        };
        let mut record = searched.descent.record();
        let mut end = self.look_at_end(&searched, &record, degrees, poisson);
        if end.gains {
            let other = self.searched(&settings, self.explicit, record.parameters, poisson);
            let found = other.record();
            searched.evaluations += found.evaluations;
            // It never ends above where it begins, but what was gained by a step without a look is only predicted.
            if found.cost.is_finite() {
                (searched.descent, searched.told, record) = (other, None, found);
                end = self.look_at_end(&searched, &record, degrees, poisson);
            }
        }
        let search = searched.descent.search();
        let units = search.constants();
        let ended = Ended {
            out: &end.out[..count],
            on_limit: &end.on_limit,
            degrees: end.degrees,
            inverse: Square::of(&end.inverse),
            unknown: &mut end.unknown[..count],
            gains: end.gains,
            parameters: &record.parameters[..count],
            gradient: &search.at_best().gradient,
            hessian: Square::of(&search.at_best().hessian),
            lengths: [&units.length, &units.inverse],
            cost: record.cost,
            status: status(&record),
            gave_up: search.status() as u8 == Status::NotConverged as u8,
            counts: [searched.before + record.iterations, searched.evaluations],
        };
        self.tell_end(options, &problem, ended, place);
    }

    /// Tells the outcome of a search.
    fn tell_end(
        &mut self,
        options: &CurveOptions,
        problem: &Problem,
        ended: Ended<'_>,
        place: &mut Place<'_>,
    ) {
        let Ended { out, on_limit, degrees, inverse, unknown, gradient, hessian, .. } = ended;
        let Ended { lengths: [lengths, inverses], cost, mut status, .. } = ended;
        let Problem { frame, points, level, scale, poisson, .. } = problem;
        let (count, within) = (out.len(), &self.begin.within);
        let resolved =
            |j: usize| gradient[j] * gradient[j] > UNRESOLVED * self.size * hessian.at(j, j);
        let open = |j: usize| within[j][0] != within[j][1] && !on_limit[j] && resolved(j);
        if status == Status::AtLimit && (ended.gains || ended.gave_up && (0..count).any(open)) {
            // The others were still on their way.
            status = Status::NotConverged;
        }
        // The variance of data that are known to their last digit, and what the search cannot tell.
        let mut least = 0.0;
        if !*poisson {
            let rounding = f64::EPSILON * level.abs();
            let mut given = self.size * (f64::EPSILON * f64::EPSILON);
            if rounding > 0.0 {
                let own = rounding * scale[0];
                given += own * own * self.weight(scale[1]);
            }
            let each = given / (12.0 * *points as f64);
            for j in (0..count).filter(|&j| !out[j] && self.sized >> j & 1 == 1) {
                let size = ended.parameters[j] * inverses[j];
                unknown[j] |= inverse.at(j, j) * each >= 1.0_f64.max(size * size);
            }
            least = each;
            if status == Status::Stalled {
                least = (2.0 * (UNRESOLVED * UNRESOLVED) * (self.size + cost)).max(least);
            }
        }
        inverse.doubt(out, unknown);
        if unknown.contains(&true) && (status.is_converged() || status == Status::AtLimit) {
            status = Status::NotConverged;
        }
        let deviation = match degrees {
            _ if *poisson => 1.0,
            _ if options.absolute => scale[0] * scale[1].sqrt(),
            // Without a degree of freedom the residuals say nothing of the errors.
            0 => f64::INFINITY,
            _ => (cost / degrees as f64).max(least).sqrt(),
        };
        place.parameters.copy_from_slice(ended.parameters);
        let room = [&mut *place.parameters, place.errors, place.covariance];
        inverse.state([out, unknown], (lengths, deviation), frame.as_ref(), room);
        if frame.is_some() {
            let Begin { limits, within, .. } = &self.begin;
            for (j, to) in place.parameters.iter_mut().enumerate() {
                let ([low, high], [lower, upper]) = (limits[j], within[j]);
                *to = match ended.parameters[j] {
                    at if at <= lower => low,
                    at if upper <= at => high,
                    _ => to.clamp(low, high),
                };
            }
        }
        tell(place, problem.own_cost(cost), degrees, ended.counts, status);
    }

    /// Looks at where a search ended, with so many degrees of freedom if nothing is held there.
    fn look_at_end<const P: usize>(
        &mut self,
        Searched { descent, told, .. }: &Searched<P>,
        record: &Record<f64, P, 0>,
        mut degrees: i64,
        poisson: bool,
    ) -> End<P>
    where
        E: Visit<P>,
    {
        let mut told = told.as_ref();
        let (search, Settings { lower, upper, .. }) = (descent.search(), descent.settings);
        let (at, units) = (record.parameters, search.constants());
        let Normal { mut gradient, hessian, .. } = *search.at_best();
        let mut out: [bool; P] = std::array::from_fn(|j| lower[j] == upper[j]);
        let on_limit: [bool; P] =
            std::array::from_fn(|j| !out[j] && (at[j] <= lower[j] || upper[j] <= at[j]));
        let looked = on_limit.contains(&true);
        if looked {
            // A last step is taken without another look.
            let sums = self.sums::<P, false>(&at, poisson, units);
            gradient = sums.normal(&self.scales(units)).0.gradient;
        }
        for j in (0..P).filter(|&j| on_limit[j]) {
            let against = if at[j] <= lower[j] { gradient[j] > 0.0 } else { gradient[j] < 0.0 };
            if against && is_pushed(gradient[j], hessian.0[j][j], self.size) {
                (out[j], degrees, told) = (true, degrees + 1, None);
            }
        }
        let count = Count::new(self.explicit.count);
        let (inverse, unknown) = told.copied().unwrap_or_else(|| determined(count, &hessian, &out));
        // Together with others one that was held, and is pushed no longer, may gain what it does not alone.
        let free = || count.all::<f64>().filter(|&j| !out[j]);
        let gain: f64 = free()
            .flat_map(|j| free().map(move |k| (j, k)))
            .map(|(j, k)| gradient[j] * inverse.at(j, k) * gradient[k])
            .sum();
        let variance = if poisson { 1.0 } else { record.cost / degrees.max(1) as f64 };
        let little = (MOST_LEFT * variance).max(UNRESOLVED * (self.size + record.cost));
        let gains = looked && record.status as u8 == Status::AtLimit as u8 && gain > little;
        End { out, on_limit, degrees, inverse, unknown, gains }
    }

    /// A search to its end.
    pub(super) fn searched<const P: usize>(
        &mut self,
        settings: &Settings<f64, P>,
        explicit: Explicit,
        initial: [f64; P],
        poisson: bool,
    ) -> LevenbergMarquardt<f64, P>
    where
        E: Visit<P>,
    {
        let (mut descent, units) = self.begun(settings, explicit, initial);
        while descent.running() {
            self.go_on(&mut descent, &units, poisson);
        }
        descent
    }

    /// The same, after so many looks at all points. Where it finds no minimum, or one that does not determine the others, while some
    /// parameters are eliminated, there is another search with all of them; the better counts.
    #[inline(always)]
    pub(super) fn searched_well<const P: usize>(
        &mut self,
        settings: &Settings<f64, P>,
        held: &[bool; P],
        initial: [f64; P],
        poisson: bool,
        looks: f64,
    ) -> Searched<P>
    where
        E: Visit<P>,
    {
        let descent = self.searched(settings, self.explicit, initial, poisson);
        let mut searched = Searched { descent, before: 0.0, evaluations: looks, told: None };
        let record = searched.descent.record();
        searched.evaluations += record.evaluations;
        if self.explicit.eliminated == 0 {
            return searched;
        }
        let count = Count::new(self.explicit.count);
        let told = determined(count, &searched.descent.search().at_best().hessian, held);
        if has_ended(&record) && !told.1.contains(&true) {
            searched.told = Some(told);
            return searched;
        }
        // From the start values, with all parameters, other ways are open.
        let unbound = Explicit { eliminated: 0, ..self.explicit };
        let other = self.searched(settings, unbound, initial, poisson);
        let found = other.record();
        searched.evaluations += found.evaluations;
        let no_worse = record.cost <= found.cost;
        let both = [&record, &found].map(has_ended);
        if both == [false, true] || (both[0] == both[1] && !no_worse) {
            searched.descent = other;
        }
        searched
    }

    /// A search before its first look at the points, with the units of its parameters.
    pub(super) fn begun<const P: usize>(
        &self,
        settings: &Settings<f64, P>,
        explicit: Explicit,
        initial: [f64; P],
    ) -> (LevenbergMarquardt<f64, P>, Units<f64, P>) {
        let mut lengths = initial;
        let scale = self.scale.filter(|scale| *scale != [1.0; 2]);
        for j in 0..P {
            match scale {
                // Start values of these may be anything.
                None if explicit.eliminates(j) => lengths[j] = self.size.sqrt(),
                Some([data, _]) if self.linear >> j & 1 == 1 => lengths[j] = 1.0 / data,
                _ => {}
            }
        }
        let units = Units::at(&lengths);
        (LevenbergMarquardt::start(*settings, explicit, true, initial, units), units)
    }

    /// A look at the points where a search wants it.
    pub(super) fn go_on<const P: usize>(
        &mut self,
        descent: &mut LevenbergMarquardt<f64, P>,
        units: &Units<f64, P>,
        poisson: bool,
    ) where
        E: Visit<P>,
    {
        let mut sums = self.sums::<P, false>(descent.search().trial(), poisson, units);
        if self.scale.is_some() && descent.explicit.eliminated != 0 {
            descent.eliminate(sums, &units.inverse);
            sums = self.sums::<P, false>(descent.search().trial(), poisson, units);
        }
        self.give(descent, sums, units, poisson);
    }

    /// Gives a search what was seen where it wanted it.
    pub(super) fn give<const P: usize>(
        &mut self,
        descent: &mut LevenbergMarquardt<f64, P>,
        sums: Sums<f64, P>,
        units: &Units<f64, P>,
        poisson: bool,
    ) where
        E: Visit<P>,
    {
        let points = self.points() as f64;
        let inverse = self.scale.map(|_| units.inverse);
        let mut model = InUnits { model: &mut self.model, inverse };
        descent.step(sums, &mut model, poisson, self.size, points);
    }

    /// Visits the points.
    pub(super) fn sums<const P: usize, const OBSERVED: bool>(
        &mut self,
        parameters: &[f64; P],
        poisson: bool,
        units: &Units<f64, P>,
    ) -> Sums<f64, P>
    where
        E: Visit<P>,
    {
        let Self { model, data, weights, scale, known, .. } = self;
        model.place(parameters);
        let scaled = scale.map(|scale| (scale, units.length.as_slice()));
        let seen = DataSet { data, weights, scaled, poisson, count: self.explicit.count };
        let mut sums = model.visit::<OBSERVED>(seen);
        if scale.is_some() {
            for &PriorTerm { parameter, mean, weight } in known.iter() {
                let mut by = [0.0; P];
                by[parameter] = units.length[parameter];
                let at = At { value: parameters[parameter], by };
                sums.add_square::<true>(&at, mean, weight, 1.0);
            }
        }
        sums
    }

    /// The factors of derivatives in these units.
    pub(super) fn scales<const P: usize>(&self, units: &Units<f64, P>) -> [f64; P]
    where
        E: Visit<P>,
    {
        if self.scale.is_some() {
            return [1.0; P];
        }
        let mut scales = self.model.factors();
        for j in 0..P {
            scales[j] *= units.length[j];
        }
        scales
    }

    /// The cost at these parameters, and whether the model is sound there.
    pub(super) fn cost<const P: usize>(&mut self, at: &[f64; P], poisson: bool) -> (f64, bool)
    where
        E: Visit<P>,
    {
        let units = Units::at(at);
        let sums = self.sums::<P, false>(at, poisson, &units);
        let (normal, sound) = sums.normal(&self.scales(&units));
        (normal.cost, sound)
    }
}
