//! Intervals by profile likelihood: how far a parameter can go if all others follow it.

use ndarray::Array2;

use super::copies::{Copies, options_of};
use super::distributions::{normal_quantile, student_quantile};
use super::side::{End, Side};
use crate::Estimator;
use crate::model::{CurveFits, CurveFitter, CurveOptions, CurveStart, Curves, Model, ModelError};

/// How an end of an interval was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IntervalEnd {
    /// The threshold is reached there.
    Closed,
    /// It is the limit of the parameter: the interval has one side only.
    Limit,
    /// The threshold is never reached: the end is infinite.
    Open,
    /// The fits with the parameter held do not converge beyond some place: the end is infinite.
    Failed,
}

/// The interval of a parameter of a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ProfileInterval {
    /// Its ends.
    pub ends: [f64; 2],
    /// How they were found.
    pub found: [IntervalEnd; 2],
}

impl ProfileInterval {
    /// One word for both ends: `closed`, or for each end that is not closed `low_limit`, `high_open` and so on, joined by `+`.
    pub fn word(&self) -> &'static str {
        use IntervalEnd::{Closed, Failed, Limit, Open};
        match self.found {
            [Closed, Closed] => "closed",
            [Limit, Closed] => "low_limit",
            [Open, Closed] => "low_open",
            [Failed, Closed] => "low_failed",
            [Closed, Limit] => "high_limit",
            [Closed, Open] => "high_open",
            [Closed, Failed] => "high_failed",
            [Limit, Limit] => "low_limit+high_limit",
            [Limit, Open] => "low_limit+high_open",
            [Limit, Failed] => "low_limit+high_failed",
            [Open, Limit] => "low_open+high_limit",
            [Open, Open] => "low_open+high_open",
            [Open, Failed] => "low_open+high_failed",
            [Failed, Limit] => "low_failed+high_limit",
            [Failed, Open] => "low_failed+high_open",
            [Failed, Failed] => "low_failed+high_failed",
        }
    }
}

/// By how much the cost of a fit may exceed that of the minimum: the χ² quantile of one degree of freedom, times χ²/degrees with the
/// quantile of F where residuals scale the errors (Bates and Watts 1988).
fn threshold(level: f64, options: &CurveOptions, chi2: f64, degrees: u32) -> f64 {
    if options.absolute || options.estimator == Estimator::MaximumLikelihood {
        return normal_quantile(level).powi(2);
    }
    let degrees = f64::from(degrees);
    match degrees > 0.0 {
        true => student_quantile(level, degrees).powi(2) * chi2 / degrees,
        false => f64::INFINITY,
    }
}

/// The intervals of the free parameters at a level between 0 and 1: for each parameter those of all fits, nothing for parameters that
/// are held, and for fits that were not found.
///
/// The parameter is held at places on both sides of what was found, all others are fitted, and the place is searched where χ² or the
/// deviance exceeds its minimum by the threshold; all data sets side by side, in double precision.
///
/// # Errors
/// Those of fits.
pub fn profile_intervals(
    model: &Model,
    fitter: &CurveFitter,
    curves: &Curves<'_>,
    fits: &CurveFits,
    options: &CurveOptions,
    level: f64,
) -> Result<Vec<Vec<Option<ProfileInterval>>>, ModelError> {
    let count = model.parameters().len();
    let mut all = vec![vec![None; fits.len()]; count];
    let free: Vec<usize> = (0..count).filter(|&j| !options.fixed[j]).collect();
    let precise = options
        .clone()
        .with_covariance(true)
        .with_tolerance(options.tolerance.min(1e-3))
        .with_linear(fit_curves::Linear::Searched);
    // From what was found, which single precision may have found.
    let rows: Vec<usize> = (0..fits.len()).filter(|&fit| fits.is_found(fit)).collect();
    if rows.is_empty() {
        return Ok(all);
    }
    let copies = Copies::of(curves, model.variables().len(), &rows);
    let own = options_of(&precise, &rows);
    let start = Array2::from_shape_fn((rows.len(), count), |(row, j)| {
        let [low, high] = own.limit(row, j);
        if own.fixed[j] {
            fits.parameters[[rows[row], j]]
        } else {
            fits.parameters[[rows[row], j]].clamp(low, high)
        }
    });
    let from = CurveStart::PerFit(start.view().into());
    let reference = fitter.reference();
    let best = reference.fit(&model.formula, &copies.curves(), from, &own)?;
    let thresholds: Vec<f64> = (0..rows.len())
        .map(|row| threshold(level, options, best.chi2[row], best.degrees[row]))
        .collect();
    let task = Task { model, fitter, curves, best: &best, rows: &rows, options: &precise };
    let quantiles: Vec<f64> = (0..rows.len())
        .map(|row| match options.absolute || options.estimator == Estimator::MaximumLikelihood {
            true => thresholds[row].sqrt(),
            false => student_quantile(level, f64::from(best.degrees[row])),
        })
        .collect();
    for j in free {
        let found = task.intervals(j, &thresholds, &quantiles)?;
        for (row, interval) in found.into_iter().enumerate() {
            all[j][rows[row]] = interval;
        }
    }
    Ok(all)
}

/// The search for the intervals of some fits.
struct Task<'a, 'c> {
    model: &'a Model,
    fitter: &'a CurveFitter,
    curves: &'a Curves<'c>,
    /// The minima, and the numbers of their data sets.
    best: &'a CurveFits,
    rows: &'a [usize],
    options: &'a CurveOptions,
}

impl Task<'_, '_> {
    fn intervals(
        &self,
        j: usize,
        thresholds: &[f64],
        quantiles: &[f64],
    ) -> Result<Vec<Option<ProfileInterval>>, ModelError> {
        let Self { best, rows, options, .. } = self;
        let begin = |row: usize, direction: f64| {
            let [low, high] = options.limit(rows[row], j);
            let limit = if direction < 0.0 { low } else { high };
            let parameters = best.parameters.row(row).to_vec();
            let error = best.errors[[row, j]];
            let variance = best.covariance[[row, j, j]];
            let slopes = (0..parameters.len()).map(|k| best.covariance[[row, k, j]] / variance);
            let step = error * quantiles[row];
            Side::new(j, direction, limit, parameters, slopes.collect(), step, thresholds[row])
        };
        let fine = |row: &usize| best.is_found(*row);
        let mut sides: Vec<(usize, Side)> = (0..rows.len())
            .filter(fine)
            .flat_map(|row| [-1.0, 1.0].map(|direction| (row, begin(row, direction))))
            .collect();
        let held = (*options).clone().with_fixed(j).with_covariance(false);
        loop {
            let active: Vec<usize> = (0..sides.len()).filter(|&at| sides[at].1.goes_on()).collect();
            if active.is_empty() {
                break;
            }
            let of: Vec<usize> = active.iter().map(|&at| rows[sides[at].0]).collect();
            let copies = Copies::of(self.curves, self.model.variables().len(), &of);
            let own = options_of(&held, &of);
            let mut start = Array2::zeros((of.len(), best.parameters.ncols()));
            for (row, (&at, mut to)) in active.iter().zip(start.rows_mut()).enumerate() {
                let side = &sides[at].1;
                let guess = side.guess();
                for (k, value) in guess.into_iter().enumerate() {
                    let [low, high] = own.limit(row, k);
                    to[k] = value.clamp(low, high);
                }
            }
            let from = CurveStart::PerFit(start.view().into());
            let curves = copies.curves();
            let fits = self.fitter.reference().fit(&self.model.formula, &curves, from, &own)?;
            for (row, &at) in active.iter().enumerate() {
                let (of, side) = &mut sides[at];
                let above = fits.chi2[row] - best.chi2[*of];
                side.take(fits.parameters.row(row).to_vec(), above, fits.is_found(row));
            }
        }
        let mut found = vec![None; rows.len()];
        for pair in sides.chunks_exact(2) {
            let ends = [&pair[0].1, &pair[1].1].map(Side::end);
            let kind = |End { found, .. }: End| found;
            let interval = ProfileInterval { ends: ends.map(|end| end.at), found: ends.map(kind) };
            found[pair[0].0] = Some(interval);
        }
        Ok(found)
    }
}
