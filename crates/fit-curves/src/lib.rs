#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod chunks;
mod compiled;
mod curve_batch;
mod error;
mod fits;
mod frame;
mod gpufit;
mod options;
mod precision;
mod sharing;
mod single;
mod values;

use ndarray::{ArrayView2, Dimension, Ix2, Ix3};

pub use chunks::{Chunk, CurveBuffers, FitBuffers, Piece, Place, chunks, pieces};
pub use compiled::{CompiledModel, CurveNumber};
pub use curve_batch::{CurveBatch, clean};
pub use error::CurveError;
pub use fit_core::curve::At;
pub use fits::CurveFits;
pub use frame::Frame;
pub use gpufit::{GpufitBuffers, GpufitChunk, GpufitOptions, GpufitPlace};
pub use options::{CurveLimits, CurveOptions, Linear};
pub use precision::CurvePrecision;
pub use sharing::{Prior, Sharing};
pub use single::{Rules, SingleFit, SingleFits};
pub use values::{Element, Values};

/// The positions of the points: the values of the variables of the model.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Points<'a> {
    /// The only variable is the number of the point: 0, 1, 2, …
    Index,
    /// The same for all fits: (variable, point).
    Shared(Values<'a, Ix2>),
    /// The points are the pixels of an image, row after row: the first variable is the column, the second the row, both
    /// from 0.
    Grid {
        /// Columns.
        width: usize,
        /// Rows.
        height: usize,
    },
    /// Different for each fit: (fit, variable, point).
    PerFit(Values<'a, Ix3>),
}

/// Where the search begins.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum CurveStart<'a> {
    /// At values that the model finds in the data. Only named models find their start values.
    Estimate,
    /// The same parameters for all fits.
    Shared(&'a [f64]),
    /// Parameters for each fit: (fit, parameter). Fixed parameters are constants that may differ from fit to fit.
    PerFit(Values<'a, Ix2>),
}

impl<'a> From<&'a [f64]> for CurveStart<'a> {
    fn from(start: &'a [f64]) -> Self {
        Self::Shared(start)
    }
}

impl<'a, const N: usize> From<&'a [f64; N]> for CurveStart<'a> {
    fn from(start: &'a [f64; N]) -> Self {
        Self::Shared(start)
    }
}

impl<'a, T: Element> From<ArrayView2<'a, T>> for CurveStart<'a> {
    fn from(start: ArrayView2<'a, T>) -> Self {
        Self::PerFit(start.into())
    }
}

/// Data sets to fit, with their points and weights.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Curves<'a> {
    /// The data: (fit, point).
    pub data: Values<'a, Ix2>,
    /// Where the points lie.
    pub points: Points<'a>,
    /// A weight for each point: (1, point) for all fits, or (fit, point). A point whose weight is 0 or NaN is left out.
    /// Maximum likelihood has its own weights and uses these only to leave out points.
    pub weights: Option<Values<'a, Ix2>>,
}

impl Points<'_> {
    /// The value of a variable at a point of a data set.
    pub fn at(&self, fit: usize, variable: usize, point: usize) -> f64 {
        match self {
            Self::Shared(at) => at.get([variable, point]),
            Self::PerFit(at) => at.get([fit, variable, point]),
            Self::Grid { width, .. } if variable == 0 => (point % width) as f64,
            Self::Grid { width, .. } => (point / width) as f64,
            Self::Index => point as f64,
        }
    }

    /// The same points, for as long as these are borrowed.
    pub fn reborrow(&self) -> Points<'_> {
        match self {
            Self::Index => Points::Index,
            Self::Shared(at) => Points::Shared(at.reborrow()),
            &Self::Grid { width, height } => Points::Grid { width, height },
            Self::PerFit(at) => Points::PerFit(at.reborrow()),
        }
    }
}

impl<'a> Curves<'a> {
    /// Data sets (fit, point) whose points all have the same weight.
    pub fn new(data: impl Into<Values<'a, Ix2>>, points: Points<'a>) -> Self {
        Self { data: data.into(), points, weights: None }
    }

    /// With weights: (1, point) or (fit, point).
    #[must_use]
    pub fn with_weights(mut self, weights: impl Into<Values<'a, Ix2>>) -> Self {
        self.weights = Some(weights.into());
        self
    }

    /// The same data sets, for as long as these are borrowed.
    pub fn reborrow(&self) -> Curves<'_> {
        let weights = self.weights.as_ref().map(Values::reborrow);
        Curves { data: self.data.reborrow(), points: self.points.reborrow(), weights }
    }

    /// The number of data sets.
    pub fn count(&self) -> usize {
        self.data.shape()[0]
    }

    /// The number of points of each data set.
    pub fn points(&self) -> usize {
        self.data.shape()[1]
    }

    /// Checks that there are points and weights for all data.
    pub(crate) fn check_shapes(&self, variables: usize) -> Result<(), CurveError> {
        let (count, points) = (self.count(), self.points());
        match self.points {
            Points::Index if variables > 1 => return Err(CurveError::IndexOfMany { variables }),
            Points::Grid { .. } if variables > 2 => {
                return Err(CurveError::GridOfMany { variables });
            }
            Points::Grid { width, height } if width.checked_mul(height) != Some(points) => {
                return Err(CurveError::GridSize { width, height, points });
            }
            Points::Shared(at) => check("points", &at.shape(), &[variables, points])?,
            Points::PerFit(at) => check("points", &at.shape(), &[count, variables, points])?,
            Points::Index | Points::Grid { .. } => {}
        }
        if let Some(weights) = &self.weights {
            let rows = weights.shape()[0];
            let wanted = if rows == 1 { 1 } else { count };
            check("weights", &weights.shape(), &[wanted, points])?;
        }
        Ok(())
    }

    /// Checks that all of this is consistent, for a model with this number of variables; the options give the number of
    /// its parameters.
    ///
    /// # Errors
    /// The error and its position.
    pub fn validate(
        &self,
        variables: usize,
        start: &CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<(), CurveError> {
        options.validate()?;
        let (count, points, parameters) = (self.count(), self.points(), options.parameters());
        let free = options.free();
        if points == 0 {
            return Err(CurveError::NoPoints);
        }
        if free > points {
            return Err(CurveError::TooFewPoints { points, free });
        }
        self.check_shapes(variables)?;
        match self.points {
            Points::Shared(at) => finite("points", &at)?,
            Points::PerFit(at) => finite("points", &at)?,
            Points::Index | Points::Grid { .. } => {}
        }
        if let Some(weights) = &self.weights {
            let wrong = |weight: f64| weight < 0.0 || weight == f64::INFINITY;
            if let Some(at) = weights.position(wrong) {
                return Err(CurveError::Weight { fit: at[0], point: at[1] });
            }
        }
        match start {
            CurveStart::Estimate => return Err(CurveError::NoStart),
            CurveStart::Shared(start) => {
                check("start values", &[start.len()], &[parameters])?;
                options.check_count(count)?;
                let own = matches!(options.limits, CurveLimits::PerFit(_));
                for fit in 0..if own { count } else { 1 } {
                    options.allow(start.iter().copied(), own.then_some(fit))?;
                }
            }
            CurveStart::PerFit(start) => {
                check("start values", &start.shape(), &[count, parameters])?;
                options.check_count(count)?;
                // Where fits have limits of their own nobody knows.
                let fine = match &options.limits {
                    CurveLimits::Shared(limits) => start.are_within(limits),
                    CurveLimits::PerFit(_) => false,
                };
                if !fine {
                    for fit in 0..count {
                        options.allow((0..parameters).map(|j| start.get([fit, j])), Some(fit))?;
                    }
                }
            }
        }
        options.check_count(count)
    }
}

pub(crate) fn check(
    what: &'static str,
    found: &[usize],
    wanted: &[usize],
) -> Result<(), CurveError> {
    if found == wanted {
        Ok(())
    } else {
        Err(CurveError::Shape { what, found: found.to_vec(), wanted: wanted.to_vec() })
    }
}

fn finite<D: Dimension>(what: &'static str, values: &Values<'_, D>) -> Result<(), CurveError> {
    match values.position(|value| !value.is_finite()) {
        None => Ok(()),
        Some(at) => Err(CurveError::NotFinite { what, at }),
    }
}
