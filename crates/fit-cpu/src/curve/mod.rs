//! Models given as formulas, fitted to values at any points.

mod engine;
mod functions;
mod interpreter;
mod outcomes;

use fit_curves::{
    CurveError, CurveFits, CurveOptions, CurveStart, Curves, Limits as CurveLimits, Points,
};
use fit_formula::{Axes, Formula, Program};
use rayon::prelude::*;

use crate::BatchError;
use crate::threads;
use engine::Found;
pub(crate) use engine::Work;
pub(crate) use functions::Functions;
pub(crate) use interpreter::{Block, Interpreter, Step, bytes, run};
pub(crate) use outcomes::{Chunk, chunks};

/// Fits given to a thread at a time, at least.
const CHUNK: usize = 64;
/// The most bytes that results of operations may take, of each thread.
const MOST_BYTES: usize = 1 << 30;
/// The same of a pack of numbers, which is no larger than this.
const PACK_BYTES: usize = 64;
/// Sums over more points have too few digits in single precision.
const MOST_SINGLE_POINTS: usize = 1 << 20;
/// Single precision seldom tells where a step shorter than this many standard errors leads.
const LEAST_SINGLE_TOLERANCE: f64 = 1e-4;

/// Fits models given as formulas in f64, one data set after the other on each thread.
///
/// Every other backend is tested against it. Its arithmetic is plain IEEE 754 with the functions of `libm`, so it gives
/// the same bits on every machine, with any number of threads.
#[derive(Debug)]
pub struct CurveReference {
    pool: Option<rayon::ThreadPool>,
}

impl CurveReference {
    /// With so many threads; 0 takes one for each processor.
    ///
    /// # Errors
    /// If they cannot be started, or are more than [`crate::MOST_THREADS`].
    pub fn new(threads: usize) -> Result<Self, BatchError> {
        Ok(Self { pool: threads::pool(threads)? })
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, rayon::ThreadPool::current_num_threads)
    }

    /// Does something for each number below `count`, on these threads.
    pub fn map<T: Send>(&self, count: usize, of: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
        match &self.pool {
            None => (0..count).map(of).collect(),
            Some(pool) => pool.install(|| (0..count).into_par_iter().map(of).collect()),
        }
    }

    pub(crate) fn pool(&self) -> Option<&rayon::ThreadPool> {
        self.pool.as_ref()
    }

    /// Fits a formula to curves.
    ///
    /// # Errors
    /// If the request makes no sense. A fit that fails is no error; its status says how it ended.
    pub fn fit(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<CurveFits, BatchError> {
        let job = Job::new(formula, curves, start, options)?;
        let mut fits = CurveFits::invalid(curves.count(), options.parameters(), options.covariance);
        let run = |work: &mut Work, mut chunk: Chunk<'_>| {
            for fit in chunk.fits() {
                let found = job.fit(work, fit);
                chunk.put(fit, &found);
            }
        };
        let chunks = chunks(&mut fits, CHUNK);
        match &self.pool {
            None => {
                let mut work = job.work();
                chunks.into_iter().for_each(|chunk| run(&mut work, chunk));
            }
            Some(pool) => {
                pool.install(|| chunks.into_par_iter().for_each_init(|| job.work(), run));
            }
        }
        Ok(fits)
    }
}

/// All that the fits of a batch have in common.
pub(crate) struct Job<'c, 's, 'o> {
    pub(crate) curves: Curves<'c>,
    start: CurveStart<'s>,
    pub(crate) options: &'o CurveOptions,
    pub(crate) program: Program,
    pub(crate) axes: Axes,
    pub(crate) extent: [usize; 2],
    /// How many the formula has.
    pub(crate) variables: usize,
    /// Whether a parameter is held, or has a limit.
    pub(crate) has_limits: bool,
}

impl<'c, 's, 'o> Job<'c, 's, 'o> {
    /// A job that has been checked.
    pub(crate) fn new(
        formula: &Formula,
        curves: &Curves<'c>,
        start: CurveStart<'s>,
        options: &'o CurveOptions,
    ) -> Result<Self, BatchError> {
        if options.parameters() != formula.parameters().len() {
            return Err(CurveError::Shape {
                what: "options",
                found: vec![options.parameters()],
                wanted: vec![formula.parameters().len()],
            }
            .into());
        }
        let variables = formula.variables().len();
        curves.validate(variables, &start, options)?;
        let curves = *curves;
        let (axes, extent) = match curves.points {
            Points::Grid { width, height } => (Axes::Grid, [width, height]),
            _ => (Axes::Together, [curves.points(), 1]),
        };
        let wanted: Vec<bool> = options.fixed.iter().map(|fixed| !fixed).collect();
        let program = formula.program(axes, &wanted);
        if bytes(&program, axes, extent, size_of::<f64>()) > MOST_BYTES {
            let (operations, points) = (program.ops().len(), curves.points());
            return Err(CurveError::TooManyPoints { operations, points }.into());
        }
        let free = |limits: &[f64; 2]| limits[0] == f64::NEG_INFINITY && limits[1] == f64::INFINITY;
        let has_limits = options.fixed.contains(&true)
            || match &options.limits {
                CurveLimits::Shared(limits) => !limits.iter().all(free),
                _ => true,
            };
        Ok(Self { curves, start, options, program, axes, extent, variables, has_limits })
    }

    /// Takes the variables at the points, if they are the same for all fits.
    pub(crate) fn set_points<R: Functions>(&self, interpreter: &mut Interpreter<R>) {
        match self.curves.points {
            Points::Index => interpreter.set_points(|_, column, _| R::splat(column as f64)),
            Points::Grid { .. } => interpreter.set_points(|variable, column, row| {
                R::splat(if variable == 0 { column } else { row } as f64)
            }),
            Points::Shared(at) => {
                interpreter.set_points(|variable, column, _| R::splat(at.get([variable, column])));
            }
            _ => {}
        }
    }

    /// Whether each fit has weights of its own.
    pub(crate) fn has_own_weights(&self) -> bool {
        self.curves.weights.is_some_and(|weights| weights.shape()[0] != 1)
    }

    /// The weights of all fits: 1 if there are none.
    pub(crate) fn shared_weights(&self) -> Vec<f64> {
        let mut weights = vec![1.0; self.curves.points()];
        if let Some(values) = self.curves.weights.filter(|_| !self.has_own_weights()) {
            values.row(0, &mut weights);
            clean(&mut weights);
        }
        weights
    }

    /// Whether single precision is enough for what is the same for all fits: not too many points, which it can tell from
    /// each other, limits and weights that stay as they are, and a tolerance within its reach.
    pub(crate) fn is_single(&self) -> bool {
        let Self { curves, options, program, axes, extent, .. } = self;
        let points = 0..curves.points();
        let told = match curves.points {
            Points::Shared(at) => (0..self.variables)
                .all(|variable| is_single(points.clone().map(|point| at.get([variable, point])))),
            _ => true,
        };
        let limits = match &options.limits {
            CurveLimits::Shared(limits) => {
                limits.iter().all(|&[lower, upper]| lower == upper || (lower as f32) < upper as f32)
            }
            _ => true,
        };
        let weights = self.shared_weights();
        let most = weights.iter().copied().fold(0.0, f64::max);
        let weighs = |&weight: &f64| weight == 0.0 || weight >= 1e-30 * most;
        told && limits
            && weights.iter().all(weighs)
            && curves.points() <= MOST_SINGLE_POINTS
            && options.tolerance >= LEAST_SINGLE_TOLERANCE
            && bytes(program, *axes, *extent, PACK_BYTES) <= MOST_BYTES
    }

    /// Puts the data of a fit into their place.
    pub(crate) fn read_data(&self, fit: usize, into: &mut [f32]) {
        self.curves.data.row_single(fit, into);
    }

    /// The same for its weights; false if one of them vanishes in single precision.
    pub(crate) fn read_weights(&self, fit: usize, into: &mut [f32]) -> bool {
        let Some(weights) = &self.curves.weights else { return false };
        weights.row_single(fit, into);
        let vanishes = |(point, &weight): (usize, &f32)| {
            weight < f32::MIN_POSITIVE && weights.get([fit, point]) > 0.0
        };
        !into.iter().enumerate().any(vanishes)
    }

    /// The same for a variable; false if single precision cannot tell its values from each other.
    pub(crate) fn read_variable(&self, fit: usize, variable: usize, into: &mut [f32]) -> bool {
        let Points::PerFit(at) = self.curves.points else { return false };
        for (point, to) in into.iter_mut().enumerate() {
            *to = at.get([fit, variable, point]) as f32;
        }
        let points = 0..self.curves.points();
        is_single(points.map(|point| at.get([fit, variable, point])))
    }

    /// A start value.
    #[inline]
    pub(crate) fn start(&self, fit: usize, parameter: usize) -> f64 {
        match self.start {
            CurveStart::Shared(start) => start[parameter],
            CurveStart::PerFit(start) => start.get([fit, parameter]),
            // Refused before.
            _ => f64::NAN,
        }
    }

    /// Puts the start values of a fit into their place.
    pub(crate) fn read_start(&self, fit: usize, into: &mut [f32]) {
        match &self.start {
            CurveStart::PerFit(start) => start.row_single(fit, into),
            _ => {
                for (parameter, to) in into.iter_mut().enumerate() {
                    *to = self.start(fit, parameter) as f32;
                }
            }
        }
    }

    /// Whether all fits have the same start values.
    pub(crate) fn has_same_start(&self) -> bool {
        matches!(self.start, CurveStart::Shared(_))
    }

    /// Whether all fits have the same limits.
    pub(crate) fn has_same_limits(&self) -> bool {
        matches!(self.options.limits, CurveLimits::Shared(_))
            && (self.has_same_start() || !self.options.fixed.contains(&true))
    }

    /// The limits of a parameter; both are the start value if it is fixed.
    #[inline]
    pub(crate) fn limit(&self, fit: usize, parameter: usize) -> [f64; 2] {
        if self.options.fixed[parameter] {
            [self.start(fit, parameter); 2]
        } else {
            self.options.limit(fit, parameter)
        }
    }

    pub(crate) fn work(&self) -> Work {
        let mut interpreter = Interpreter::new(&self.program, self.axes, self.extent);
        self.set_points(&mut interpreter);
        let data = vec![0.0; self.curves.points()];
        Work { interpreter, data, weights: self.shared_weights(), size: 0.0 }
    }

    pub(crate) fn fit(&self, work: &mut Work, fit: usize) -> Found {
        if let Points::PerFit(at) = self.curves.points {
            work.interpreter.set_points(|variable, column, _| at.get([fit, variable, column]));
        }
        self.curves.data.row(fit, &mut work.data);
        if let Some(values) = self.curves.weights.filter(|_| self.has_own_weights()) {
            values.row(fit, &mut work.weights);
            clean(&mut work.weights);
        }
        let parameters = 0..self.options.parameters();
        let start: Vec<f64> = parameters.clone().map(|j| self.start(fit, j)).collect();
        let limits: Vec<[f64; 2]> = parameters.map(|j| self.limit(fit, j)).collect();
        work.fit(&start, &limits, self.options)
    }
}

/// The share of the mean distance of two points by which rounding may move one.
const MOST_MOVED: f64 = 1e-3;

/// Whether single precision can tell these values from each other.
fn is_single(values: impl Iterator<Item = f64>) -> bool {
    let (mut low, mut high, mut moved, mut count) = (f64::INFINITY, f64::NEG_INFINITY, 0.0_f64, 0);
    for value in values {
        low = low.min(value);
        high = high.max(value);
        moved = moved.max((f64::from(value as f32) - value).abs());
        count += 1;
    }
    moved <= MOST_MOVED * (high - low) / f64::from(count)
}

/// A weight that is NaN leaves its point out, as 0 does.
fn clean(weights: &mut [f64]) {
    for weight in weights {
        if weight.is_nan() {
            *weight = 0.0;
        }
    }
}
