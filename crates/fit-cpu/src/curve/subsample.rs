//! Searches of long data sets that begin with some of the points.
//!
//! Some of the points lead to near the minimum of all, unless they do not see what all see: a narrow peak, or a weak one. So the search
//! begins with all points where parts of the few do not say the same, where what the few found may be noise, or where these and all do
//! not say the same.

use fit_core::curve::{Explicit, LevenbergMarquardt, Units, determined};
use fit_core::search::{Count, Normal, Record, Resumable, Settings};
use fit_core::{Estimator, Status};
use fit_curves::CurveOptions;

use super::engine::{Searched, Work, has_ended};
use super::evaluate::SetPoints;
use super::visit::Visit;

/// Some of the points are searched until a step is as short as this, in their standard errors. The next would be much shorter.
const COARSE_TOLERANCE: f64 = 0.01;
/// The share by which what some of the points say of curvature may differ from what all say.
const MOST_UNLIKE: f64 = 0.25;
/// How uneven parts of some of the points may be: their deviation is half of what they say.
const MOST_UNEVEN: f64 = 0.25;
/// What some of the points say of χ² may differ by so many of its standard errors from what all say.
const MOST_APART: f64 = 5.0;
/// Amplitudes that some of the points find are at least so many of their standard errors. Less may be noise.
const LEAST_SEEN: f64 = 8.0;
/// The share of the last step's gain that a step gains, at most, where a search ends fast.
const MOST_SHARE: f64 = 0.01;
/// The same where no amplitude tells whether the minimum is that of noise.
const MOST_DOUBTED: f64 = 0.1;
/// From where some of the points lead, χ² falls by the share of parameters in them, about; no more than so many times of it.
const MOST_GAIN: f64 = 100.0;

/// Sums of some points, or all, at the best parameters so far.
struct NormalSnapshot<const P: usize> {
    normal: Normal<f64, P, 0>,
    /// What the derivatives are multiplied by.
    length: [f64; P],
}

impl<const P: usize> NormalSnapshot<P> {
    fn by(descent: &LevenbergMarquardt<f64, P>) -> Self {
        let search = descent.search();
        Self { normal: *search.at_best(), length: search.constants().length }
    }

    /// Whether some of the points, times their share, say the same as all: of χ², which may be off by `apart`, and of how it is curved.
    fn is_like(&self, all: &Self, share: f64, apart: f64, free: &[usize]) -> bool {
        let near = |few: f64, all: f64, size: f64| (share * few - all).abs() <= size;
        let curvature = |said: &Self, j: usize, k: usize| {
            said.normal.hessian.0[j][k] / said.length[j] / said.length[k]
        };
        let size = |j: usize| curvature(all, j, j).sqrt();
        near(self.normal.cost, all.normal.cost, apart)
            && free.iter().enumerate().all(|(at, &j)| {
                free[at..].iter().all(|&k| {
                    let [few, whole] = [self, all].map(|said| curvature(said, j, k));
                    near(few, whole, MOST_UNLIKE * size(j) * size(k))
                })
            })
    }
}

impl<E: SetPoints<f64>> Work<E> {
    /// A search that begins with some of the points, if the data are held and all points say what these say. Otherwise the number of looks
    /// at all points that told so.
    pub(super) fn search_subsample<const P: usize>(
        &mut self,
        settings: &Settings<f64, P>,
        options: &CurveOptions,
        held: &[bool; P],
        initial: [f64; P],
    ) -> Result<Searched<P>, f64>
    where
        E: Visit<P>,
    {
        let poisson = options.estimator == Estimator::MaximumLikelihood;
        let (points, size) = (self.points() as f64, self.size);
        if self.scale.is_some() || !self.use_subsample(true, poisson) {
            return Err(0.0);
        }
        let few = self.points() as f64;
        let tolerance = options.tolerance.max(COARSE_TOLERANCE);
        let [finish, tolerance] = options.clone().with_tolerance(tolerance).ends();
        let coarse = Settings { finish: finish / few, tolerance, ..*settings };
        let free: Vec<usize> = (0..self.explicit.count.min(P)).filter(|&j| !held[j]).collect();
        let (mut descent, units) = self.begun(&coarse, self.explicit, initial);
        self.go_on(&mut descent, &units, poisson);
        let mut is_seen = self.is_even(&free);
        let first = NormalSnapshot::by(&descent);
        let (mut gain, mut rate) = (f64::INFINITY, 0.0);
        while is_seen && descent.running() {
            let before = descent.search().at_best().cost;
            self.go_on(&mut descent, &units, poisson);
            let gained = before - descent.search().at_best().cost;
            if gained > 0.0 {
                (rate, gain) = (gained / gain, gained);
            }
        }
        let said = NormalSnapshot::by(&descent);
        let Record { parameters, cost, iterations, .. } = descent.record();
        let variance = match poisson || options.absolute {
            true => (cost / few).max(1.0),
            false => cost / few,
        };
        is_seen = is_seen
            && self.is_even(&free)
            && self.is_no_noise([&first, &said], (&parameters, variance, rate), held, &free);
        let apart = self.model.borrowed().map_or(0.0, |model| model.unevenness().1);
        // Where all parts have a χ² of 0 it is no number.
        let apart = MOST_APART * apart.max(0.0);
        self.use_subsample(false, poisson);
        self.size = size;
        let left = settings.max_iterations - iterations;
        if !is_seen || !is_at_minimum(&descent) || left < 1.0 {
            return Err(0.0);
        }
        // From near a minimum there is nothing to gain by what is eliminated.
        let explicit = Explicit { eliminated: 0, ..self.explicit };
        let settings = Settings { max_iterations: left, ..*settings };
        let (mut descent, units) = self.begun(&settings, explicit, parameters);
        self.go_on(&mut descent, &units, poisson);
        let all = NormalSnapshot::by(&descent);
        // What the rounding of all residuals makes of χ².
        let rounding = 16.0 * f64::EPSILON * f64::EPSILON * size;
        if !said.is_like(&all, points / few, apart * all.normal.cost + rounding, &free) {
            return Err(1.0);
        }
        let is_straight = self.end(&mut descent, &units, poisson, rate <= MOST_SHARE);
        let found = descent.record();
        let count = Count::new(self.explicit.count);
        let (_, unknown) = determined(count, &descent.search().at_best().hessian, held);
        let least = all.normal.cost * (1.0 - MOST_GAIN * free.len() as f64 / few) - rounding;
        if is_straight && is_at_minimum(&descent) && found.cost >= least && !unknown.contains(&true)
        {
            Ok(Searched { descent, before: iterations, evaluations: found.evaluations, told: None })
        } else {
            Err(found.evaluations)
        }
    }

    /// A search that goes on from near a minimum to its end; false if a step brought nothing, as if there were another minimum. Where
    /// steps gain ever smaller shares of what the one before them gained (`fast`), the last is taken without another look, if the one after
    /// it would gain little enough.
    fn end<const P: usize>(
        &mut self,
        descent: &mut LevenbergMarquardt<f64, P>,
        units: &Units<f64, P>,
        poisson: bool,
        fast: bool,
    ) -> bool
    where
        E: Visit<P>,
    {
        while descent.running() {
            let before = *descent;
            let sums = self.sums::<P, false>(before.search().trial(), poisson, units);
            self.give(descent, sums, units, poisson);
            let cost = descent.search().at_best().cost;
            let gain = before.search().at_best().cost - cost;
            // What is taken has another χ², if only in its last bits.
            if gain == 0.0 {
                return false;
            }
            if fast && descent.running() && gain > 0.0 {
                let little = before.settings.finish * cost + before.settings.tolerance;
                let enough = (little * gain).sqrt().min(MOST_SHARE * gain);
                let mut last = before;
                last.settings.finish = 0.0;
                last.settings.tolerance = enough.max(little);
                self.give(&mut last, sums, units, poisson);
                if !last.running() {
                    last.settings = descent.settings;
                    *descent = last;
                }
            }
        }
        true
    }

    /// Whether what some of the points found is more than their noise: amplitudes, which are the linear parameters whose curvature changed
    /// with the others on the way from the first look to the last, are many of their standard errors. Without an amplitude the search must
    /// have ended fast, which it does not where noise makes the minimum.
    fn is_no_noise<const P: usize>(
        &self,
        [first, last]: [&NormalSnapshot<P>; 2],
        (parameters, variance, rate): (&[f64; P], f64, f64),
        held: &[bool; P],
        free: &[usize],
    ) -> bool {
        let is_linear = |j: usize| self.linear >> j & 1 == 1;
        if free.iter().all(|&j| is_linear(j)) {
            return true;
        }
        let curvature = |said: &NormalSnapshot<P>, j: usize| said.normal.hessian.0[j][j];
        let mut amplitudes = free
            .iter()
            .filter(|&&j| is_linear(j) && curvature(first, j) != curvature(last, j))
            .peekable();
        if amplitudes.peek().is_none() {
            return rate <= MOST_DOUBTED;
        }
        let count = Count::new(self.explicit.count);
        let (inverse, _) = determined(count, &last.normal.hessian, held);
        amplitudes.all(|&j| {
            let error = (inverse.at(j, j) * variance).sqrt() * last.length[j];
            parameters[j].abs() >= LEAST_SEEN * error
        })
    }

    /// Whether parts of some of the points said the same of these parameters.
    fn is_even(&mut self, free: &[usize]) -> bool {
        let Some(model) = self.model.borrowed() else { return false };
        let (unevenness, _) = model.unevenness();
        free.iter().all(|&j| unevenness[j] <= MOST_UNEVEN)
    }

    /// Looks at some of the points from now on, or at all again; false if all are too few for that.
    fn use_subsample(&mut self, few: bool, poisson: bool) -> bool {
        let Some(model) = self.model.borrowed() else { return false };
        let is_set = model.use_subsample(few);
        if few {
            self.size = model.size(None, poisson);
        }
        is_set
    }
}

/// Whether a search found a minimum. One that gave up may stand on a limit.
fn is_at_minimum<const P: usize>(descent: &LevenbergMarquardt<f64, P>) -> bool {
    let gave_up = descent.search().status() == f64::from(Status::NotConverged as u8);
    !gave_up && has_ended(&descent.record())
}
