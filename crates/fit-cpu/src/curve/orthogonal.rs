//! Orthogonal distance regression: curves through points whose variables have errors, too.
//!
//! The sum Σ(w(y − f(x + δ))² + Σ(δ/σ)²) is least over the parameters and the shifts δ of all points (Boggs, Byrd, Schnabel 1987,
//! ODRPACK). For any parameters each point has its own best shift, to the foot of its perpendicular on the curve in units of the errors.
//! What is left is a sum of squares of distances, which the search for any curve makes least: the derivatives of a distance are those of the
//! residual at the foot over √(1 + w·Σ(σ·∂f/∂x)²), since a small change of the best shift changes nothing. Its normal equations, and so the
//! errors, are those of ODRPACK with the shifts eliminated.

use fit_curves::{CurveBatch, CurveFits, CurveOptions, CurveStart, Curves, Linear};
use fit_formula::{Axes, Evaluator, Formula, Program};

use super::engine::Work;
use super::feet::{ErrorsOfVariables, Feet, Orthogonal};
use super::visit::Formulated;
use super::{CHUNK, CurveReference};
use crate::BatchError;

impl CurveReference {
    /// Fits a formula to curves by orthogonal distance regression: weights are 1/variance of the data, variables have these errors, and χ² is the sum of
    /// the squares of both. `along` is [`Formula::along_variables`]. No parameter is eliminated.
    ///
    /// # Errors
    /// As [`CurveReference::fit`].
    pub fn fit_orthogonal(
        &self,
        (formula, along): (&Formula, &Program),
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        errors: ErrorsOfVariables<'_>,
    ) -> Result<CurveFits, BatchError> {
        let options = options.clone().with_linear(Linear::Searched);
        let mut fits = CurveFits::invalid(curves.count(), options.parameters(), options.covariance);
        let batch = CurveBatch::new(formula, curves, start, &options, false)?;
        let count = options.parameters();
        let whole = formula.program(Axes::Together, &vec![true; count]);
        let make = || {
            let model = Orthogonal {
                feet: Feet::new(along, curves.points()),
                whole: Evaluator::new(&whole),
                by: vec![0.0; count],
                errors,
                columns: batch.extent[0],
            };
            Work::new(Formulated::Orthogonal(Box::new(model)), &batch)
        };
        // Those of a long data set take long.
        let length = if curves.points() > CHUNK { 1 } else { CHUNK };
        self.run(&batch, &mut fits, (None, length), make);
        Ok(fits)
    }
}
