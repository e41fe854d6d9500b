//! A further search for starts, where what a fit leaves hangs together.

use fit_core::Estimator;
use fit_curves::{CurveFits, CurveOptions, Curves};
use spotfit_files::private::sort_by;

use super::copies::{Copies, data_and_weights, options_of};
use super::{CurveFitter, Model, ModelError, points};

/// How often further candidates are tried.
const TURNS: usize = 2;
/// Residuals hang together whose neighbours are alike by more than so many standard deviations: by chance 0.1 % do.
const ALIKE: f64 = 3.0;

impl Model {
    /// Replaces fits of a formula whose residuals hang together along the variable by better ones from further candidates, if there are any: a
    /// model with several terms may have missed one.
    pub(super) fn search_again(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        options: &CurveOptions,
        fits: &mut CurveFits,
    ) -> Result<(), ModelError> {
        let searched = self.formula.linear().iter().filter(|linear| !**linear).count();
        if self.kinds().is_some() || self.variables().len() != 1 || searched < 2 {
            return Ok(());
        }
        let hang = |fits: &CurveFits, rows: Vec<usize>| -> Vec<usize> {
            let of = |at: usize| self.hangs_together(curves, options, fits, rows[at]);
            let known = fitter.double().map(rows.len(), of);
            rows.iter().zip(known).filter(|known| known.1).map(|known| *known.0).collect()
        };
        let mut rows = hang(fits, (0..fits.len()).collect());
        for turn in 1..=TURNS {
            if rows.is_empty() {
                break;
            }
            let copies = Copies::of(curves, 1, &rows);
            let own = options_of(options, &rows);
            for start in self.starts(fitter, &copies.curves(), &own, turn)? {
                let start = start.view().into();
                let others = fitter.fit(&self.formula, &copies.curves(), start, &own)?;
                let better = rows.iter().enumerate().filter(|(at, fit)| {
                    let lower = others.chi2[*at] < fits.chi2[**fit];
                    others.is_found(*at) && (lower || !fits.is_found(**fit))
                });
                let better: Vec<(usize, usize)> = better.map(|(at, fit)| (at, *fit)).collect();
                better.into_iter().for_each(|(at, fit)| fits.take(fit, &others, at));
            }
            rows = hang(fits, rows);
        }
        Ok(())
    }

    /// Whether neighbours along the variable are alike: by the lag-one correlation of residuals, which for noise has the deviation 1/√n.
    fn hangs_together(
        &self,
        curves: &Curves<'_>,
        options: &CurveOptions,
        fits: &CurveFits,
        fit: usize,
    ) -> bool {
        let parameters = fits.parameters.row(fit).to_vec();
        if parameters.iter().any(|value| !value.is_finite()) {
            return false;
        }
        let places = points(curves, 1, fit);
        let [data, weights] = data_and_weights(curves, fit);
        let values = self.values(&parameters, &places);
        let counts = options.estimator == Estimator::MaximumLikelihood;
        let mut left: Vec<(f64, f64)> = Vec::with_capacity(data.len());
        for (at, value) in values.iter().enumerate().filter(|(at, _)| weights[*at] > 0.0) {
            let weight = if counts { 1.0 / value.max(1.0) } else { weights[at] };
            left.push((places[at][0], weight.sqrt() * (data[at] - value)));
        }
        sort_by(&mut left, |a, b| a.0.total_cmp(&b.0));
        let n = left.len();
        if n < 2 * parameters.len() + 4 {
            return false;
        }
        let all: f64 = left.iter().map(|left| left.1 * left.1).sum();
        let neighbours: f64 = left.windows(2).map(|pair| pair[0].1 * pair[1].1).sum();
        // Not for exact data, whose rounding may be alike.
        let size: f64 =
            data.iter().zip(&weights).map(|(datum, weight)| weight * datum * datum).sum();
        all > 1e-20 * size && neighbours > ALIKE * all / (n as f64).sqrt()
    }
}
