//! The search for one data set.

use std::ops::Range;

use fit_core::curve::{
    At, Explicit, Factored, LevenbergMarquardt, Sums, Units, determined, is_pushed,
};
use fit_core::search::solve::Symmetric;
use fit_core::search::{Count, Evaluation, Normal, Resumable, Settings};
use fit_core::{Estimator, Real, Record, Status};
use fit_curves::{CompiledModel, CurveBatch, CurveOptions, Frame, Place};

use super::compiled::Compiled;
use super::evaluate::SetPoints;
use super::places::DataSet;
use super::subsample::SubsampleEnd;
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

/// Where a search begins, and the limits of each parameter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Begin {
    pub(super) start: Vec<f64>,
    pub(super) limits: Vec<[f64; 2]>,
}

/// What is found of a data set.
#[derive(Clone, Debug)]
pub(crate) struct CurveResult {
    parameters: Vec<f64>,
    errors: Vec<f64>,
    /// Row after row.
    covariance: Vec<f64>,
    chi2: f64,
    degrees: u32,
    iterations: u32,
    evaluations: u32,
    status: Status,
}

impl CurveResult {
    /// Puts it into its place.
    pub(crate) fn put(&self, place: Place<'_>) {
        place.parameters.copy_from_slice(&self.parameters);
        place.errors.copy_from_slice(&self.errors);
        if !place.covariance.is_empty() {
            place.covariance.copy_from_slice(&self.covariance);
        }
        *place.chi2 = self.chi2;
        *place.degrees = self.degrees;
        *place.iterations = self.iterations;
        *place.evaluations = self.evaluations;
        *place.status = self.status;
    }

    /// What was found after so many iterations and evaluations of another search.
    pub(super) fn after(mut self, iterations: u32, evaluations: u32) -> Self {
        self.iterations = self.iterations.saturating_add(iterations);
        self.evaluations = self.evaluations.saturating_add(evaluations);
        self
    }

    fn invalid(start: &[f64]) -> Self {
        let count = start.len();
        Self {
            parameters: vec![f64::NAN; count],
            errors: vec![f64::NAN; count],
            covariance: vec![f64::NAN; count * count],
            chi2: f64::NAN,
            degrees: 0,
            iterations: 0,
            evaluations: 0,
            status: Status::Invalid,
        }
    }
}

/// What a fit is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// Where the search begins.
    pub(super) start: &'a [f64],
    /// The limits of each parameter.
    pub(super) limits: &'a [[f64; 2]],
    pub(super) options: &'a CurveOptions,
    /// Iterations of a search before.
    pub(super) spent: u32,
}

/// A search with room for the parameters of a model.
pub(crate) trait FitOne {
    /// Fits the data set of a batch.
    fn fit(&mut self, batch: &CurveBatch<'_, '_, '_>, asked: Asked<'_>) -> CurveResult;
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
    fn fit(&mut self, batch: &CurveBatch<'_, '_, '_>, asked: Asked<'_>) -> CurveResult {
        with_capacity_for!(
            asked.start.len(),
            |CAPACITY| self.search::<CAPACITY>(batch, asked),
            CurveResult::invalid(asked.start),
            [1 2 3 4 5 6 7 8 16 32 64]
        )
    }
}

impl<M, const P: usize, const V: usize> FitOne for Work<Compiled<'_, M, f64, P, V>>
where
    M: CompiledModel<P, V>,
{
    fn fit(&mut self, batch: &CurveBatch<'_, '_, '_>, asked: Asked<'_>) -> CurveResult {
        self.search::<P>(batch, asked)
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
    /// For the data sets of a batch, whose weights are these unless each has its own.
    pub(super) fn new(model: E, batch: &CurveBatch<'_, '_, '_>, origin: Vec<f64>) -> Self {
        let mut model = model;
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

    /// P is at least the number of parameters; those that the model does not have are held.
    fn search<const P: usize>(
        &mut self,
        batch: &CurveBatch<'_, '_, '_>,
        asked: Asked<'_>,
    ) -> CurveResult
    where
        E: Visit<P>,
    {
        let Asked { start, limits, options, spent } = asked;
        let count = start.len();
        let poisson = options.estimator == Estimator::MaximumLikelihood;
        let seen = self.see(poisson);
        let (mut initial, mut lower, mut upper) = ([0.0; P], [0.0; P], [0.0; P]);
        let mut held = [true; P];
        initial[..count].copy_from_slice(start);
        let frame = batch.frame(&self.origin, seen.extent);
        let mut own = Vec::new();
        let mut within = limits;
        if let Some(frame) = &frame {
            own.extend_from_slice(limits);
            frame.enter_limits(&mut own);
            within = &own;
            frame.enter(&mut initial[..count]);
        }
        for j in 0..count {
            [lower[j], upper[j]] = within[j];
            held[j] = lower[j] == upper[j];
        }
        let free = held.iter().filter(|&&held| !held).count();
        let degrees = seen.points as i64 - free as i64;
        if degrees < 0 || !seen.sound {
            return CurveResult::invalid(start);
        }
        let level = frame.as_ref().map_or(0.0, Frame::level);
        let rounding = f64::EPSILON * level.abs();
        self.scale = if poisson { None } else { scales(seen.most(level), seen.heaviest) };
        let own_scale = self.scale;
        let scale = own_scale.unwrap_or([1.0; 2]);
        self.set_level(level);
        self.size = self.size_of_data(poisson);
        let [share, tolerance] = options.ends();
        let finish = share / degrees.max(1) as f64;
        let tolerance = tolerance * scale[0] * scale[1] * scale[0];
        let settings = settings(options, spent, [lower, upper], [finish, tolerance]);
        // In this order what is not beyond the range of numbers does not pass through there.
        let own_cost = |cost: f64| match own_scale {
            None => cost,
            Some(scale) => cost / scale[0] / scale[1] / scale[0],
        };
        if free == 0 {
            let units = Units::at(&initial);
            let sums = self.sums::<P, false>(&initial, poisson, &units);
            let chi2 = own_cost(self.evaluation(&sums, &units, poisson).normal.cost);
            let status = if chi2.is_finite() { Status::MinStep } else { Status::NotConverged };
            return CurveResult {
                parameters: start.to_vec(),
                errors: vec![0.0; count],
                covariance: vec![0.0; count * count],
                chi2,
                degrees: u32::try_from(degrees).unwrap_or(u32::MAX),
                iterations: 0,
                evaluations: 1,
                status,
            };
        }
        let near = match spent {
            0 => self.search_subsample(&settings, options, &held, initial),
            _ => Err(0.0),
        };
        let brought = near.is_ok();
        let (mut descent, iterations, mut evaluations) = match near {
            Ok(SubsampleEnd { descent, iterations }) => (descent, iterations, 0.0),
            Err(looks) => (self.searched(&settings, self.explicit, initial, poisson), 0.0, looks),
        };
        let mut record = descent.record();
        evaluations += record.evaluations;
        let status = |record: &Record<f64, P, 0>| {
            Status::from_code(record.status as u8).unwrap_or(Status::Invalid)
        };
        let mut told = None;
        if self.explicit.eliminated != 0 && !brought {
            let has_ended = |record: &_| {
                let status = status(record);
                status.is_converged() || status == Status::AtLimit
            };
            let all = determined(Count::new(count), &descent.search().at_best().hessian, &held);
            if all.1.contains(&true) || !has_ended(&record) {
                // From the start values, with all parameters, other ways are open.
                let unbound = Explicit { eliminated: 0, ..self.explicit };
                let other = self.searched(&settings, unbound, initial, poisson);
                let found = other.record();
                evaluations += found.evaluations;
                let no_worse = record.cost <= found.cost;
                let both = [&record, &found].map(has_ended);
                if both == [false, true] || (both[0] == both[1] && !no_worse) {
                    (descent, record) = (other, found);
                }
            } else {
                told = Some(all);
            }
        }
        let mut end = self.look_at_end(&descent, &record, degrees, told, poisson);
        if end.gains {
            let other = self.searched(&settings, self.explicit, record.parameters, poisson);
            let found = other.record();
            evaluations += found.evaluations;
            // It never ends above where it begins, but what was gained by a step without a look is only predicted.
            if found.cost.is_finite() {
                (descent, record) = (other, found);
                end = self.look_at_end(&descent, &record, degrees, None, poisson);
            }
        }
        let End { out, on_limit, degrees, inverse, mut unknown, gains } = end;
        let search = descent.search();
        let (gradient, hessian) = (search.at_best().gradient, &search.at_best().hessian);
        let units = search.constants();
        let mut status = status(&record);
        let gave_up = search.status() as u8 == Status::NotConverged as u8;
        let resolved =
            |j: usize| gradient[j] * gradient[j] > UNRESOLVED * self.size * hessian.0[j][j];
        let open = |j: usize| !held[j] && !on_limit[j] && resolved(j);
        if status == Status::AtLimit && (gains || gave_up && (0..count).any(open)) {
            // The others were still on their way.
            status = Status::NotConverged;
        }
        // The variance of data that are known to their last digit, and what the search cannot tell.
        let mut least = 0.0;
        if !poisson {
            let mut given = self.size * (f64::EPSILON * f64::EPSILON);
            if rounding > 0.0 {
                let own = rounding * scale[0];
                given += own * own * self.weight(scale[1]);
            }
            let each = given / (12.0 * seen.points as f64);
            for j in (0..count).filter(|&j| !out[j] && self.sized >> j & 1 == 1) {
                let size = record.parameters[j] * units.inverse[j];
                unknown[j] |= inverse.at(j, j) * each >= 1.0_f64.max(size * size);
            }
            least = each;
            if status == Status::Stalled {
                least = (2.0 * (UNRESOLVED * UNRESOLVED) * (self.size + record.cost)).max(least);
            }
        }
        for j in (0..count).filter(|&j| !out[j]) {
            unknown[j] |= !(0.0..=f64::MAX).contains(&inverse.at(j, j));
        }
        if unknown.contains(&true) && (status.is_converged() || status == Status::AtLimit) {
            status = Status::NotConverged;
        }
        let deviation = match degrees {
            _ if poisson => 1.0,
            _ if options.absolute => scale[0] * scale[1].sqrt(),
            // Without a degree of freedom the residuals say nothing of the errors.
            0 => f64::INFINITY,
            _ => (record.cost / degrees as f64).max(least).sqrt(),
        };
        let mut errors: Vec<f64> = (0..count)
            .map(|j| match inverse.at(j, j) {
                _ if out[j] => 0.0,
                _ if unknown[j] => f64::INFINITY,
                own => finite(own.sqrt() * units.length[j] * deviation),
            })
            .collect();
        let mixed = frame.as_ref().is_some_and(Frame::mixes);
        let wanted = options.covariance || mixed;
        let mut covariance = vec![0.0; if wanted { count * count } else { 0 }];
        for (at, to) in covariance.iter_mut().enumerate() {
            let (j, k) = (at / count, at % count);
            *to = match inverse.at(j, k) {
                _ if out[j] || out[k] => 0.0,
                _ if unknown[j] || unknown[k] => f64::INFINITY,
                own if mixed => own / (inverse.at(j, j).sqrt() * inverse.at(k, k).sqrt()),
                own => finite(own * (units.length[j] * deviation) * (units.length[k] * deviation)),
            };
        }
        let mut parameters = record.parameters[..count].to_vec();
        if let Some(frame) = &frame {
            frame.leave(&mut parameters);
            if mixed {
                frame.leave_errors(&mut errors, &mut covariance);
            }
            for j in 0..count {
                let [low, high] = limits[j];
                parameters[j] = match record.parameters[j] {
                    at if at <= lower[j] => low,
                    at if upper[j] <= at => high,
                    _ => parameters[j].clamp(low, high),
                };
            }
        }
        CurveResult {
            parameters,
            errors,
            covariance,
            chi2: own_cost(record.cost),
            degrees: u32::try_from(degrees).unwrap_or(u32::MAX),
            iterations: (iterations + record.iterations) as u32,
            evaluations: evaluations as u32,
            status,
        }
    }

    /// Looks at where a search ended, with so many degrees of freedom if nothing is held there. `told` is what the Hessian tells with nothing
    /// held but what is fixed, if that is known.
    fn look_at_end<const P: usize>(
        &mut self,
        descent: &LevenbergMarquardt<f64, P>,
        record: &Record<f64, P, 0>,
        mut degrees: i64,
        mut told: Option<(Symmetric<f64, P>, [bool; P])>,
        poisson: bool,
    ) -> End<P>
    where
        E: Visit<P>,
    {
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
        let (inverse, unknown) = told.unwrap_or_else(|| determined(count, &hessian, &out));
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

    fn evaluation<const P: usize>(
        &self,
        sums: &Sums<f64, P>,
        units: &Units<f64, P>,
        poisson: bool,
    ) -> Evaluation<f64, P, 0>
    where
        E: Visit<P>,
    {
        let scales = self.scales(units);
        if poisson {
            sums.evaluation::<true>(&scales, self.size)
        } else {
            sums.evaluation::<false>(&scales, self.size)
        }
    }
}
