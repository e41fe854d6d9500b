//! The search for one data set.

use fit_core::curve::{Explicit, Sums, Units, covariance};
use fit_core::search::{Evaluation, Newton, Search, Settings};
use fit_core::{Estimator, Record, Status};
use fit_curves::{CompiledModel, CurveOptions, Place};

use super::compiled::Compiled;
use super::evaluate::{AtPoint, Evaluate};
use super::interpreter::Interpreter;

/// A data set, and working memory for its fit.
pub(crate) struct Work<E> {
    pub(super) model: E,
    pub(super) data: Vec<f64>,
    /// 0 at points that are left out.
    pub(super) weights: Vec<f64>,
    /// What the rounding of the sums is a share of.
    pub(super) size: f64,
    pub(super) explicit: Explicit,
}

/// What is found of a data set.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    parameters: Vec<f64>,
    /// Row after row.
    covariance: Vec<f64>,
    chi2: f64,
    degrees: u32,
    iterations: u32,
    evaluations: u32,
    status: Status,
}

impl Found {
    /// Puts it into its place.
    pub(crate) fn put(&self, place: Place<'_>) {
        place.parameters.copy_from_slice(&self.parameters);
        let count = place.parameters.len();
        for j in 0..count {
            place.errors[j] = self.covariance[j * count + j].sqrt();
        }
        if !place.covariance.is_empty() {
            place.covariance.copy_from_slice(&self.covariance);
        }
        *place.chi2 = self.chi2;
        *place.degrees = self.degrees;
        *place.iterations = self.iterations;
        *place.evaluations = self.evaluations;
        *place.status = self.status;
    }

    fn invalid(start: &[f64]) -> Self {
        let count = start.len();
        Self {
            parameters: vec![f64::NAN; count],
            covariance: vec![f64::NAN; count * count],
            chi2: f64::NAN,
            degrees: 0,
            iterations: 0,
            evaluations: 0,
            status: Status::Invalid,
        }
    }
}

/// A search with room for the parameters of a model.
pub(crate) trait FitOne {
    /// Fits the data set from the start values, with the limits of each parameter.
    fn fit(&mut self, start: &[f64], limits: &[[f64; 2]], options: &CurveOptions) -> Found;
}

/// Calls a search with room for so many parameters.
macro_rules! with_room_for {
    ($count:expr, |$room:ident| $search:expr, $none:expr, [$($most:literal)*]) => {
        match $count {
            $(0..=$most => {
                const $room: usize = $most;
                $search
            })*
            _ => $none,
        }
    };
}
pub(super) use with_room_for;

impl FitOne for Work<Interpreter<f64>> {
    fn fit(&mut self, start: &[f64], limits: &[[f64; 2]], options: &CurveOptions) -> Found {
        with_room_for!(
            start.len(),
            |ROOM| self.search::<ROOM>(start, limits, options),
            Found::invalid(start),
            [1 2 3 4 5 6 7 8 10 12 16 24 32 64]
        )
    }
}

impl<M, const P: usize, const V: usize> FitOne for Work<Compiled<'_, M, f64, P, V>>
where
    M: CompiledModel<P, V>,
{
    fn fit(&mut self, start: &[f64], limits: &[[f64; 2]], options: &CurveOptions) -> Found {
        self.search::<P>(start, limits, options)
    }
}

impl<E> Work<E> {
    /// P is at least the number of parameters; those that the model does not have are held.
    fn search<const P: usize>(
        &mut self,
        start: &[f64],
        limits: &[[f64; 2]],
        options: &CurveOptions,
    ) -> Found
    where
        E: Evaluate<f64, P>,
    {
        let count = start.len();
        let poisson = options.estimator == Estimator::MaximumLikelihood;
        let seen = || self.data.iter().zip(&self.weights).filter(|point| *point.1 > 0.0);
        let sound = |datum: f64| datum.is_finite() && !(poisson && datum < 0.0);
        let all_sound = seen().all(|(&datum, _)| sound(datum));
        let (mut initial, mut lower, mut upper) = ([0.0; P], [0.0; P], [0.0; P]);
        let mut held = [true; P];
        initial[..count].copy_from_slice(start);
        for j in 0..count {
            [lower[j], upper[j]] = limits[j];
            held[j] = lower[j] == upper[j];
        }
        self.size = seen().map(|(&d, &w)| if poisson { d } else { w * d * d }).sum();
        let free = held.iter().filter(|&&held| !held).count();
        let degrees = seen().count() as i64 - free as i64;
        if degrees < 0 || !all_sound {
            return Found::invalid(start);
        }
        let [share, tolerance] = options.ends();
        let finish = share / degrees.max(1) as f64;
        let settings = Settings {
            max_iterations: f64::from(options.max_iterations),
            // A step may be tried several times.
            max_evaluations: 10.0 * f64::from(options.max_iterations) + 10.0,
            max_error: -1.0,
            min_delta: 0.0,
            min_step: 0.0,
            step_by_place: false,
            lower,
            upper,
            newton: Newton::Always,
            finish,
            tolerance,
        };
        let units = Units::at(&initial);
        if free == 0 {
            return self.judged::<P>(&initial, &units, poisson, count, degrees);
        }
        let (mut search, mut record) = self.searched(&settings, self.explicit, initial, poisson);
        let mut evaluations = record.evaluations;
        let status = |record: &Record<f64, P, 0>| {
            Status::from_code(record.status as u8).unwrap_or(Status::Invalid)
        };
        if self.explicit.eliminated != 0 {
            let has_ended = |record: &_| {
                let status = status(record);
                status.is_converged() || status == Status::AtLimit
            };
            let hessian = &search.at_best().hessian;
            let inverse = covariance(hessian, search.constants(), &held, 1.0);
            let known = (0..count).all(|j| inverse.at(j, j).is_finite());
            if !known || !has_ended(&record) {
                // From the start values, with all parameters, other ways are open.
                let other = self.searched(&settings, Explicit::default(), initial, poisson);
                evaluations += other.1.evaluations;
                let no_worse = record.cost <= other.1.cost;
                let both = [&record, &other.1].map(has_ended);
                if both == [false, true] || (both[0] == both[1] && !no_worse) {
                    (search, record) = other;
                }
            }
        }
        let status = status(&record);
        let scaled = !(poisson || options.absolute);
        let variance = if scaled { record.cost / degrees.max(1) as f64 } else { 1.0 };
        // Without a degree of freedom the residuals say nothing of the errors.
        let variance = if scaled && degrees == 0 { f64::INFINITY } else { variance };
        let all = covariance(&search.at_best().hessian, search.constants(), &held, variance);
        let covariance = (0..count * count).map(|at| all.at(at / count, at % count)).collect();
        Found {
            parameters: record.parameters[..count].to_vec(),
            covariance,
            chi2: record.cost,
            degrees: u32::try_from(degrees).unwrap_or(u32::MAX),
            iterations: record.iterations as u32,
            evaluations: evaluations as u32,
            status,
        }
    }

    /// A search, and its outcome.
    #[allow(clippy::type_complexity)]
    fn searched<const P: usize>(
        &mut self,
        settings: &Settings<f64, P>,
        explicit: Explicit,
        mut initial: [f64; P],
        poisson: bool,
    ) -> (Search<f64, Explicit, P, 0>, Record<f64, P, 0>)
    where
        E: Evaluate<f64, P>,
    {
        let mut lengths = initial;
        for j in 0..P {
            if explicit.eliminates(j) {
                // Start values of these may be anything.
                lengths[j] = self.size.sqrt();
            }
        }
        let units = Units::at(&lengths);
        explicit.clear(&mut initial);
        let mut search: Search<f64, Explicit, P, 0> =
            Search::start(settings, &explicit, true, -1.0, initial, units);
        let mut unsettled = *settings;
        (unsettled.finish, unsettled.tolerance) = (0.0, 0.0);
        while search.running() {
            let mut sums = self.sums::<P, false>(search.trial(), poisson);
            let (evaluation, settled) = if explicit.eliminated == 0 {
                (self.evaluation(&sums, &units, poisson), true)
            } else {
                let projected = sums.project(explicit, &self.model.scales());
                search.shift(&projected.shift);
                self.model.set_parameters(search.trial());
                let size = self.size + projected.gained;
                let mut evaluation = sums.evaluation::<false>(&self.scales(&units), size);
                let points = self.data.len() as f64;
                let settled = projected.judge(explicit, &mut evaluation, self.size, points);
                (evaluation, settled)
            };
            let settings = if settled { settings } else { &unsettled };
            search.update::<true>(settings, &explicit, &evaluation);
        }
        let record = search.record(settings, &explicit);
        (search, record)
    }

    /// With nothing to find there is only χ².
    fn judged<const P: usize>(
        &mut self,
        parameters: &[f64; P],
        units: &Units<f64, P>,
        poisson: bool,
        count: usize,
        degrees: i64,
    ) -> Found
    where
        E: Evaluate<f64, P>,
    {
        let sums = self.sums::<P, false>(parameters, poisson);
        let chi2 = self.evaluation(&sums, units, poisson).normal.cost;
        let status = if chi2.is_finite() { Status::MinStep } else { Status::NotConverged };
        Found {
            parameters: parameters[..count].to_vec(),
            covariance: vec![0.0; count * count],
            chi2,
            degrees: u32::try_from(degrees).unwrap_or(u32::MAX),
            iterations: 0,
            evaluations: 1,
            status,
        }
    }

    /// Visits the points.
    pub(super) fn sums<const P: usize, const OBSERVED: bool>(
        &mut self,
        parameters: &[f64; P],
        poisson: bool,
    ) -> Sums<f64, P>
    where
        E: Evaluate<f64, P>,
    {
        let Self { model, data, weights, .. } = self;
        model.set_parameters(parameters);
        let mut sums = Sums::zero();
        for number in 0..model.blocks() {
            let block = model.evaluate(number);
            let results = model.found(&block);
            for (at, point) in block.points().enumerate() {
                let (datum, weight) = (data[point], weights[point]);
                if poisson && OBSERVED {
                    sums.add_observed(&results.at(at), datum, weight);
                } else if poisson {
                    sums.add_poisson::<true>(&results.at(at), datum, weight);
                } else {
                    sums.add_square::<true>(&results.at(at), datum, weight, 1.0);
                }
            }
        }
        sums
    }

    /// The factors of derivatives in these units.
    pub(super) fn scales<const P: usize>(&self, units: &Units<f64, P>) -> [f64; P]
    where
        E: Evaluate<f64, P>,
    {
        let mut scales = self.model.scales();
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
        E: Evaluate<f64, P>,
    {
        let scales = self.scales(units);
        if poisson {
            sums.evaluation::<true>(&scales, self.size)
        } else {
            sums.evaluation::<false>(&scales, self.size)
        }
    }
}
