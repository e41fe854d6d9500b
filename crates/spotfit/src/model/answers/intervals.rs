//! Intervals by profile likelihood: how far a parameter can go if all others follow it.

use ndarray::{Array2, Axis};

use super::distributions::{knows_errors, quantile_of};
use super::side::Side;
use crate::model::copies::{Copies, options_of, within};
use crate::model::noise::fit_held;
use crate::model::{
    CurveFits, CurveFitter, CurveOptions, CurveStart, Curves, Loss, Model, ModelError,
};

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
    /// Where two sides ended.
    pub(super) fn between(sides: [&Side; 2]) -> Self {
        let ends = sides.map(Side::end);
        Self { ends: ends.map(|end| end.at), found: ends.map(|end| end.found) }
    }

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

/// What is fitted again with a parameter held: data, with a loss at the scale of each data set or without.
#[derive(Clone, Copy)]
pub(super) struct Profiled<'a, 'c> {
    pub(super) model: &'a Model,
    pub(super) fitter: &'a CurveFitter,
    pub(super) curves: &'a Curves<'c>,
    pub(super) loss: Option<(Loss, &'a [f64])>,
}

impl Profiled<'_, '_> {
    /// Fits copies of data sets; also by how much the cost rises within one error, if that is asked for.
    fn fit(
        &self,
        rows: &[usize],
        start: &Array2<f64>,
        options: &CurveOptions,
        judged: bool,
    ) -> Result<(CurveFits, Vec<f64>), ModelError> {
        let copies = Copies::of(self.curves, self.model.variables().len(), rows);
        let Some((loss, scales)) = self.loss else {
            let from = CurveStart::PerFit(start.view().into());
            let formula = &self.model.formula;
            let fits = self.fitter.double().fit(formula, &copies.curves(), from, options)?;
            let unit = |fit: usize| match fits.degrees[fit] {
                _ if knows_errors(options) => 1.0,
                0 => f64::INFINITY,
                degrees => fits.chi2[fit] / f64::from(degrees),
            };
            let units = (0..fits.len()).map(unit).collect();
            return Ok((fits, units));
        };
        let scales: Vec<f64> = rows.iter().map(|&row| scales[row]).collect();
        let own = (loss, &scales[..]);
        let curves = copies.curves();
        let (fits, units) =
            fit_held(self.model, self.fitter, &curves, start, options, own, judged)?;
        Ok((fits, units.into_iter().map(|unit| unit.step).collect()))
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
    let profiled = Profiled { model, fitter, curves, loss: None };
    profiled.intervals(fits, options, level)
}

impl Profiled<'_, '_> {
    /// [`profile_intervals`], with a loss by its robust deviance: the ends are where 2s²·Σρ at the scale of the fit exceeds its minimum by the square
    /// of the quantile of Student's t (with absolute weights of the normal distribution) times s²E\[ψ²\]/E\[ψ′\] (Heritier and Ronchetti 1994).
    pub(super) fn intervals(
        &self,
        fits: &CurveFits,
        options: &CurveOptions,
        level: f64,
    ) -> Result<Vec<Vec<Option<ProfileInterval>>>, ModelError> {
        let count = self.model.parameters().len();
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
        let own = options_of(&precise, &rows);
        let start = within(&fits.parameters.select(Axis(0), &rows), &own);
        let (best, units) = self.fit(&rows, &start, &own, true)?;
        // Of χ², times χ²/degrees that of F where residuals scale the errors (Bates and Watts 1988).
        let degrees = best.degrees.iter().map(|&degrees| f64::from(degrees));
        let quantiles: Vec<f64> = degrees.map(|own| quantile_of(options, level, own)).collect();
        let threshold = |(unit, quantile): (&f64, &f64)| match unit.is_finite() {
            true => unit * quantile.powi(2),
            false => f64::INFINITY,
        };
        let thresholds: Vec<f64> = units.iter().zip(&quantiles).map(threshold).collect();
        let task = Task { of: self, best: &best, rows: &rows, options: &precise };
        for j in free {
            let found = task.intervals(j, &thresholds, &quantiles)?;
            for (row, interval) in found.into_iter().enumerate() {
                all[j][rows[row]] = interval;
            }
        }
        Ok(all)
    }
}

/// The search for the intervals of some fits.
struct Task<'a, 'c> {
    of: &'a Profiled<'a, 'c>,
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
            let (fits, _) = self.of.fit(&of, &start, &own, false)?;
            for (row, &at) in active.iter().enumerate() {
                let (of, side) = &mut sides[at];
                let above = fits.chi2[row] - best.chi2[*of];
                side.take(fits.parameters.row(row).to_vec(), above, fits.is_found(row));
            }
        }
        let mut found = vec![None; rows.len()];
        for pair in sides.chunks_exact(2) {
            found[pair[0].0] = Some(ProfileInterval::between([&pair[0].1, &pair[1].1]));
        }
        Ok(found)
    }
}
