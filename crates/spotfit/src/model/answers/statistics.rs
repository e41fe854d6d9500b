//! How well a model describes its data.

use super::distributions::{chi2_survival, knows_errors};
use crate::Estimator;
use crate::model::copies::data_and_weights;
use crate::model::{CurveFits, CurveFitter, CurveOptions, Curves};

/// What is known of a fit beyond χ². What does not follow from the data is NaN.
///
/// With n points that count, k free parameters, and the weights w of the fit:
///
/// | | least squares | least squares with absolute weights | maximum likelihood |
/// |---|---|---|---|
/// | R² | 1 − χ²/Σw(d − d̄)², with the weighted mean d̄ | the same | 1 − D/D₀, the deviance over that of the mean (Cameron and Windmeijer 1996) |
/// | adjusted R² | 1 − (1 − R²)(n − 1)/(n − k) | the same | the same |
/// | −2·log-likelihood | n·ln(χ²/n) | χ² | D |
/// | parameters K | k + 1: the variance is one | k | k |
/// | p-value | – | of χ² with n − k degrees of freedom | of D, which is nearly χ² where counts are not few |
///
/// AICc = −2·log-likelihood + 2K + 2K(K + 1)/(n − K − 1) (Hurvich and Tsai 1989), BIC the same with K·ln(n) in place of the other
/// terms (Schwarz 1978). Both leave out what is the same for all models of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct FitStatistics {
    /// Which share of the variance of the data the model explains.
    pub r_squared: f64,
    /// The same, less what any parameters explain.
    pub adjusted_r_squared: f64,
    /// Akaike's criterion, corrected for few points; infinite where there are not more than K + 1 points.
    pub aicc: f64,
    /// Schwarz's criterion.
    pub bic: f64,
    /// How likely χ² or the deviance is to be this large or larger if the model is true. Known where weights are absolute, or data
    /// counts; residuals that scale the errors say nothing of it.
    pub p_value: f64,
}

impl FitStatistics {
    /// The names of the numbers, in their order.
    pub const NAMES: [&str; 5] = ["r_squared", "adjusted_r_squared", "aicc", "bic", "p_value"];
    const UNKNOWN: Self = Self {
        r_squared: f64::NAN,
        adjusted_r_squared: f64::NAN,
        aicc: f64::NAN,
        bic: f64::NAN,
        p_value: f64::NAN,
    };

    /// The numbers in the order of their names.
    pub fn numbers(&self) -> [f64; 5] {
        [self.r_squared, self.adjusted_r_squared, self.aicc, self.bic, self.p_value]
    }

    /// Of a fit of data with these weights, which ended with this χ² or deviance and degrees of freedom.
    pub fn new(
        data: &[f64],
        weights: &[f64],
        chi2: f64,
        degrees: u32,
        options: &CurveOptions,
    ) -> Self {
        let poisson = options.estimator == Estimator::MaximumLikelihood;
        let used = || data.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
        let weight = |weight: &f64| if poisson { 1.0 } else { *weight };
        let n = used().count() as f64;
        let free = n - f64::from(degrees);
        if n == 0.0 || !chi2.is_finite() || free < 0.0 {
            return Self::UNKNOWN;
        }
        let all: f64 = used().map(|(_, w)| weight(w)).sum();
        let mean = used().map(|(d, w)| d * weight(w)).sum::<f64>() / all;
        let of_mean: f64 = match poisson {
            false => used().map(|(d, w)| w * (d - mean).powi(2)).sum(),
            true => used().map(|(d, _)| deviance(*d, mean)).sum(),
        };
        let r_squared = if of_mean > 0.0 { 1.0 - chi2 / of_mean } else { f64::NAN };
        let degrees = f64::from(degrees);
        let adjusted = 1.0 - (1.0 - r_squared) * (n - 1.0) / degrees;
        let known = knows_errors(options);
        let (lost, count) = match known {
            true => (chi2, free),
            false => (n * (chi2 / n).ln(), free + 1.0),
        };
        let left = n - count - 1.0;
        let small = if left > 0.0 { 2.0 * count * (count + 1.0) / left } else { f64::INFINITY };
        // An exact fit is better than all others, whatever its parameters.
        let aicc = if lost == f64::NEG_INFINITY { lost } else { lost + 2.0 * count + small };
        Self {
            r_squared,
            adjusted_r_squared: if degrees > 0.0 { adjusted } else { f64::NAN },
            aicc,
            bic: lost + count * n.ln(),
            p_value: if known { chi2_survival(chi2, degrees) } else { f64::NAN },
        }
    }
}

/// What a count adds to the deviance of a model that expects another.
fn deviance(count: f64, expected: f64) -> f64 {
    let entropy = if count > 0.0 { count * (count / expected).ln() } else { 0.0 };
    2.0 * (expected - count + entropy)
}

/// [`FitStatistics`] of all fits of curves.
pub fn fit_statistics(
    fitter: &CurveFitter,
    curves: &Curves<'_>,
    fits: &CurveFits,
    options: &CurveOptions,
) -> Vec<FitStatistics> {
    fitter.double().map(fits.len(), |fit| {
        let [data, weights] = data_and_weights(curves, fit);
        FitStatistics::new(&data, &weights, fits.chi2[fit], fits.degrees[fit], options)
    })
}
