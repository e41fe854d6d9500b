//! Fits where variables have errors, too.

use fit_core::Status;
use fit_cpu::effective_weights;
use fit_curves::{CurveFits, CurveOptions, CurveStart, Curves};
use ndarray::Array2;

use super::rounds::Task;
use super::spread::Spread;
use super::{NoiseError, NoiseFits, check_shape};
use crate::model::copies::within;
use crate::model::{CurveFitter, Model, ModelError, ModelFits};

impl Model {
    /// Orthogonal distance regression of curves with weights of 1/variance, from what least squares finds and from the start values; the lower sum
    /// is taken.
    pub(super) fn fit_orthogonal(
        &self,
        fitter: &CurveFitter,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        errors: &Spread<'_>,
    ) -> Result<NoiseFits, ModelError> {
        let variables = self.variables().len();
        if curves.weights.is_none() {
            let needed = "errors of y: weights of 1/variance";
            return Err(NoiseError::Needs { what: "errors of x", needed }.into());
        }
        errors.check(curves, variables)?;
        let along = self.formula.along_variables().ok_or(NoiseError::NoSlope)?;
        let plain = self.fit_given(fitter, curves, start, options)?.fits;
        let fit = |start: CurveStart<'_>| -> Result<CurveFits, ModelError> {
            let of = |fit: usize, variable: usize, point: usize| errors.of(fit, variable, point);
            let model = (&self.formula, &along);
            Ok(fitter.double().fit_orthogonal(model, curves, start, options, &of)?)
        };
        let mut from = within(&plain.parameters, options);
        let is_given = !matches!(start, CurveStart::Estimate);
        let given = is_given.then(|| self.beginning(fitter, curves, start, options)).flatten();
        if let Some(given) = given {
            let lost = (0..plain.len()).filter(|&fit| plain.statuses[fit] == Status::Invalid);
            lost.for_each(|fit| from.row_mut(fit).assign(&given.row(fit)));
        }
        let mut fits = fit(from.view().into())?;
        if is_given {
            fits.keep_better(&fit(start)?);
        }
        for (all, own) in fits.iterations.iter_mut().zip(&plain.iterations) {
            *all = all.saturating_add(*own);
        }
        for (all, own) in fits.evaluations.iter_mut().zip(&plain.evaluations) {
            *all = all.saturating_add(*own);
        }
        let task = Task::new(self, fitter, curves, options);
        let points = curves.points();
        let rows = fitter.double().map(fits.len(), |fit| {
            if fits.statuses[fit] == Status::Invalid {
                return vec![0.0; points];
            }
            let seen = task.see(fit, fits.parameters.row(fit).to_vec());
            let own = errors.row(fit, variables, points);
            let (places, data) = ([&seen.places[..], &own], [&seen.data[..], &seen.weights]);
            effective_weights(&along, &seen.parameters, places, data)
        });
        let weights = Array2::from_shape_vec((fits.len(), points), rows.concat());
        let fits = ModelFits { names: self.parameters().to_vec(), fits };
        let (weights, moving) = (weights.ok(), Some("errors of x"));
        Ok(NoiseFits { weights, moving, ..NoiseFits::plain(fits) })
    }
}

impl Spread<'_> {
    fn check(&self, curves: &Curves<'_>, variables: usize) -> Result<(), NoiseError> {
        let is_wrong = |error: f64| !(error >= 0.0 && error.is_finite());
        match self {
            Self::All(error) if is_wrong(*error) => {
                let (what, range) = ("the error of x", "0 or more");
                Err(NoiseError::Range { what, range, value: *error })
            }
            Self::All(_) => Ok(()),
            Self::Each(values) => {
                let wanted = [curves.count(), variables, curves.points()];
                check_shape("errors of x", &values.shape(), &wanted)?;
                match values.position(is_wrong) {
                    Some(at) => {
                        let value = values.get([at[0], at[1], at[2]]);
                        Err(NoiseError::ErrorOfX { fit: at[0], point: at[2], value })
                    }
                    None => Ok(()),
                }
            }
        }
    }
}
