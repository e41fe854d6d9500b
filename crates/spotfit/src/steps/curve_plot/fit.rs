//! What is drawn of a fit.

use crate::Status;

/// One fit that is drawn.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlottedFit<'a> {
    /// What it is called.
    pub name: &'a str,
    /// What was found.
    pub parameters: &'a [f64],
    /// The errors of the parameters.
    pub errors: &'a [f64],
    /// How it ended.
    pub status: Status,
    /// The variables at each point.
    pub at: Vec<Vec<f64>>,
    /// The data.
    pub data: Vec<f64>,
    /// The errors of the data, if they are known; points whose error is not finite were left out of the fit.
    pub data_errors: Option<Vec<f64>>,
    /// Width of the image, if the points are its pixels.
    pub image: Option<usize>,
    /// What bands follow from, if it is known: the covariance, row after row, χ² or the deviance, and degrees of freedom.
    pub spread: Option<(Vec<f64>, f64, u32)>,
}

impl<'a> PlottedFit<'a> {
    /// A fit of data at the points 0, 1, 2, ….
    pub fn new(name: &'a str, parameters: &'a [f64], errors: &'a [f64], data: Vec<f64>) -> Self {
        let at = (0..data.len()).map(|point| vec![point as f64]).collect();
        let status = Status::MinStep;
        let (data_errors, image, spread) = (None, None, None);
        Self { name, parameters, errors, status, at, data, data_errors, image, spread }
    }

    /// Whether a point was in the fit.
    pub(super) fn uses(&self, point: usize) -> bool {
        self.data_errors.as_ref().is_none_or(|errors| errors[point].is_finite())
    }
}
