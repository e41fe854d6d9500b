//! Models given as formulas, fitted to values at any points.

mod engine;
mod functions;
mod interpreter;

use fit_curves::{CurveError, CurveFits, CurveOptions, CurveStart, Curves, Points};
use fit_formula::{Axes, Formula, Program};
use rayon::prelude::*;

use crate::BatchError;
use crate::threads;
use engine::{Found, Work};
use interpreter::Interpreter;

/// Fits given to a thread at a time, at least.
const CHUNK: usize = 64;
/// The most results of operations that are held, of each thread: a gigabyte.
const MOST_RESULTS: usize = 1 << 27;

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
        if options.parameters() != formula.parameters().len() {
            return Err(CurveError::Shape {
                what: "options",
                found: vec![options.parameters()],
                wanted: vec![formula.parameters().len()],
            }
            .into());
        }
        curves.validate(formula.variables().len(), &start, options)?;
        let job = Job::new(formula, *curves, start, options);
        let (operations, points) = (job.program.ops().len(), curves.points());
        if operations.saturating_mul(points) > MOST_RESULTS {
            return Err(CurveError::TooManyPoints { operations, points }.into());
        }
        let count = curves.count();
        let fit = |work: &mut Work, fit| job.fit(work, fit);
        let found: Vec<Found> = match &self.pool {
            None => {
                let mut work = job.work();
                (0..count).map(|number| fit(&mut work, number)).collect()
            }
            Some(pool) => pool.install(|| {
                (0..count)
                    .into_par_iter()
                    .with_min_len(CHUNK)
                    .map_init(|| job.work(), fit)
                    .collect()
            }),
        };
        let mut fits = CurveFits::invalid(count, formula.parameters().len());
        for (number, found) in found.iter().enumerate() {
            put(&mut fits, number, found);
        }
        Ok(fits)
    }
}

/// Puts what was found of a data set where it belongs.
fn put(fits: &mut CurveFits, number: usize, found: &Found) {
    let count = found.parameters.len();
    for j in 0..count {
        fits.parameters[[number, j]] = found.parameters[j];
        fits.errors[[number, j]] = found.covariance[j * count + j].sqrt();
        for k in 0..count {
            fits.covariance[[number, j, k]] = found.covariance[j * count + k];
        }
    }
    fits.chi2[number] = found.chi2;
    fits.degrees[number] = found.degrees;
    fits.iterations[number] = found.iterations;
    fits.evaluations[number] = found.evaluations;
    fits.statuses[number] = found.status;
}

/// All that the fits of a batch have in common.
struct Job<'c, 's, 'o> {
    curves: Curves<'c>,
    start: CurveStart<'s>,
    options: &'o CurveOptions,
    program: Program,
    axes: Axes,
    extent: [usize; 2],
}

impl<'c, 's, 'o> Job<'c, 's, 'o> {
    fn new(
        formula: &Formula,
        curves: Curves<'c>,
        start: CurveStart<'s>,
        options: &'o CurveOptions,
    ) -> Self {
        let (axes, extent) = match curves.points {
            Points::Grid { width, height } => (Axes::Grid, [width, height]),
            _ => (Axes::Together, [curves.points(), 1]),
        };
        let wanted: Vec<bool> = options.fixed.iter().map(|fixed| !fixed).collect();
        let program = formula.program(axes, &wanted);
        Self { curves, start, options, program, axes, extent }
    }

    fn work(&self) -> Work {
        let points = self.curves.points();
        let mut interpreter = Interpreter::new(&self.program, self.axes, self.extent);
        match self.curves.points {
            Points::Index => interpreter.set_points(|_, column, _| column as f64),
            Points::Grid { .. } => interpreter.set_points(
                |variable, column, row| if variable == 0 { column } else { row } as f64,
            ),
            Points::Shared(at) => {
                interpreter.set_points(|variable, column, _| at.get([variable, column]));
            }
            _ => {}
        }
        let mut weights = vec![1.0; points];
        if let Some(values) = self.curves.weights.filter(|weights| weights.shape()[0] == 1) {
            values.row(0, &mut weights);
            clean(&mut weights);
        }
        Work { interpreter, data: vec![0.0; points], weights }
    }

    fn fit(&self, work: &mut Work, fit: usize) -> Found {
        if let Points::PerFit(at) = self.curves.points {
            work.interpreter.set_points(|variable, column, _| at.get([fit, variable, column]));
        }
        self.curves.data.row(fit, &mut work.data);
        if let Some(values) = self.curves.weights.filter(|weights| weights.shape()[0] != 1) {
            values.row(fit, &mut work.weights);
            clean(&mut work.weights);
        }
        let parameters = self.options.parameters();
        let start: Vec<f64> = match self.start {
            CurveStart::Shared(start) => start.to_vec(),
            CurveStart::PerFit(start) => (0..parameters).map(|j| start.get([fit, j])).collect(),
            // Refused before.
            _ => Vec::new(),
        };
        let limits: Vec<[f64; 2]> = (0..parameters).map(|j| self.options.limit(fit, j)).collect();
        work.fit(&start, &limits, self.options)
    }
}

/// A weight that is NaN leaves its point out, as 0 does.
fn clean(weights: &mut [f64]) {
    for weight in weights {
        if weight.is_nan() {
            *weight = 0.0;
        }
    }
}
