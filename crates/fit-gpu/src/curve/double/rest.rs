//! Data sets that single precision could not decide, fitted in double precision on the same device.

use fit_curves::{
    CurveFits, CurveLimits, CurveOptions, CurvePrecision, CurveStart, Curves, Points, Values,
};
use fit_formula::Formula;
use ndarray::{Array2, Array3, Ix2};

use crate::GpuError;
use crate::curve::{CurveGpu, LEAST_LEFT};

impl CurveGpu {
    /// Fits those data sets of a batch that are left, if they are many, and returns which of them are left then.
    pub(crate) fn fit_rest(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
        left: Vec<usize>,
        fits: &mut CurveFits,
    ) -> Result<Vec<usize>, GpuError> {
        if left.len() < LEAST_LEFT {
            return Ok(left);
        }
        let (count, points, parameters) = (left.len(), curves.points(), options.parameters());
        // Their rows, or the only one.
        let rows = |all: &Values<'_, Ix2>| {
            let of = |n: usize| if all.shape()[0] == 1 { 0 } else { left[n] };
            let shape = (count.min(all.shape()[0]), all.shape()[1]);
            Array2::from_shape_fn(shape, |(n, at)| all.get([of(n), at]))
        };
        let data = rows(&curves.data);
        let own = match curves.points {
            Points::PerFit(at) => {
                let variables = formula.variables().len();
                let of = |(n, variable, point): (usize, usize, usize)| {
                    at.get([left[n], variable, point])
                };
                Some(Array3::from_shape_fn((count, variables, points), of))
            }
            _ => None,
        };
        let at = match &own {
            Some(own) => Points::PerFit(own.view().into()),
            None => curves.reborrow().points,
        };
        let mut these = Curves::new(data.view(), at);
        let weights = curves.weights.as_ref().map(rows);
        if let Some(weights) = &weights {
            these = these.with_weights(weights.view());
        }
        let starts = match &start {
            CurveStart::PerFit(all) => Some(rows(all)),
            _ => None,
        };
        let begin = match (&starts, start) {
            (Some(starts), _) => starts.view().into(),
            (_, CurveStart::Shared(start)) => CurveStart::Shared(start),
            _ => CurveStart::Estimate,
        };
        let mut own = options.clone().with_precision(CurvePrecision::F64);
        if matches!(options.limits, CurveLimits::PerFit(_)) {
            let all = left.iter().flat_map(|&fit| (0..parameters).map(move |j| (fit, j)));
            own.limits = CurveLimits::PerFit(all.map(|(fit, j)| options.limit(fit, j)).collect());
        }
        let (found, rest) = self.fit(formula, &these, begin, &own)?;
        let mut rest = rest.into_iter().peekable();
        let mut still = Vec::new();
        for (n, &fit) in left.iter().enumerate() {
            if rest.next_if_eq(&n).is_some() {
                still.push(fit);
                continue;
            }
            fits.take(fit, &found, n);
        }
        Ok(still)
    }
}
