//! Two models of the same data.

use super::distributions::{chi2_survival, f_survival, knows_errors};
use super::statistics::{FitStatistics, fit_statistics};
use crate::model::{CurveFits, CurveFitter, CurveOptions, Curves};

/// Which of two models describes a data set better, by AICc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PreferredModel {
    /// The model.
    First,
    /// The one that it is compared with.
    Second,
    /// Neither fit was found, or nothing tells them apart.
    Neither,
}

impl PreferredModel {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::First => "model",
            Self::Second => "compare",
            Self::Neither => "neither",
        }
    }
}

/// Two fits of a data set, compared.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelComparison {
    /// How likely data of the model with fewer parameters are to prefer the other as much as these do: the F test where residuals
    /// scale the errors, otherwise the likelihood-ratio test, whose statistic is χ². It means something only if the model with more
    /// parameters contains the other. NaN where both have as many.
    pub p_value: f64,
    /// AICc of the second model less that of the first: above 0 the first is preferred.
    pub aicc_difference: f64,
    /// The weight of the first: how probable it is, if one of both is true (Burnham and Anderson 2002).
    pub aicc_weight: f64,
    /// Which is preferred.
    pub preferred: PreferredModel,
}

impl ModelComparison {
    /// Of fits with these statistics, χ² and degrees of freedom, the first model first; nothing where a fit was not found.
    pub(super) fn new(
        aicc: [Option<f64>; 2],
        chi2: [f64; 2],
        degrees: [u32; 2],
        scaled: bool,
    ) -> Self {
        Self::of(aicc, p_value(chi2, degrees, scaled))
    }

    /// With this p-value, where both were found.
    pub(super) fn of(aicc: [Option<f64>; 2], p_value: f64) -> Self {
        let neither = PreferredModel::Neither;
        let [Some(first), Some(second)] = aicc else {
            let preferred = match aicc {
                [Some(_), None] => PreferredModel::First,
                [None, Some(_)] => PreferredModel::Second,
                _ => neither,
            };
            let nan = f64::NAN;
            return Self { p_value: nan, aicc_difference: nan, aicc_weight: nan, preferred };
        };
        // Infinite ones, of exact fits and of too few points, still have an order.
        let difference = if first == second { 0.0 } else { second - first };
        let preferred = match difference {
            more if more > 0.0 => PreferredModel::First,
            less if less < 0.0 => PreferredModel::Second,
            _ => neither,
        };
        Self {
            p_value,
            aicc_difference: difference,
            aicc_weight: 1.0 / (1.0 + (-0.5 * difference).exp()),
            preferred,
        }
    }
}

/// That of the model with fewer parameters.
fn p_value(chi2: [f64; 2], degrees: [u32; 2], scaled: bool) -> f64 {
    let (small, large) = if degrees[0] > degrees[1] { (0, 1) } else { (1, 0) };
    let more = f64::from(degrees[small]) - f64::from(degrees[large]);
    let gained = (chi2[small] - chi2[large]).max(0.0);
    if !scaled {
        return chi2_survival(gained, more);
    }
    let left = f64::from(degrees[large]);
    let ratio = if gained == 0.0 { 0.0 } else { gained / more / (chi2[large] / left) };
    f_survival(ratio, [more, left])
}

/// The fits of two models to the same curves with the same estimator and weights, the first model first: a comparison for each data set.
pub fn compare_models(
    fitter: &CurveFitter,
    curves: &Curves<'_>,
    [first, second]: [&CurveFits; 2],
    options: &CurveOptions,
) -> Vec<ModelComparison> {
    let scaled = !knows_errors(options);
    let known = [first, second].map(|fits| fit_statistics(fitter, curves, fits, options));
    let of = |fits: &CurveFits, known: &[FitStatistics], fit: usize| {
        fits.is_found(fit).then_some(known[fit].aicc).filter(|aicc| !aicc.is_nan())
    };
    let compared = |fit: usize| {
        let aicc = [of(first, &known[0], fit), of(second, &known[1], fit)];
        let chi2 = [first.chi2[fit], second.chi2[fit]];
        ModelComparison::new(aicc, chi2, [first.degrees[fit], second.degrees[fit]], scaled)
    };
    (0..first.len()).map(compared).collect()
}
