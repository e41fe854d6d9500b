//! Why a simulation makes no sense.

use fit_core::{ArgumentError, Size};

/// Why a simulation makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// The window cannot be fitted.
    #[error(transparent)]
    Window(#[from] ArgumentError),
    /// A parameter is out of its range.
    #[error("{name} = {value} is out of its range ({range})")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed values, in words.
        range: &'static str,
    },
    /// A map of the camera does not fit what it is for.
    #[error(
        "the camera's map '{map}' has {}×{} pixels (width×height); {}×{} are needed",
        found.width, found.height, needed.width, needed.height
    )]
    MapSize {
        /// Which of the maps.
        map: &'static str,
        /// Its size.
        found: Size,
        /// The size of the other maps or of the frames, or the least size: that of the windows.
        needed: Size,
    },
    /// A pixel of a map of the camera is out of its range.
    #[error("the camera's map '{map}' is {value} at x = {x}, y = {y}, out of its range ({range})")]
    MapPixel {
        /// Which of the maps.
        map: &'static str,
        /// The pixel's column, from 0.
        x: usize,
        /// The pixel's row, from 0.
        y: usize,
        /// Its value.
        value: f32,
        /// The allowed values, in words.
        range: &'static str,
    },
}

/// Refuses a parameter that is NaN or not within `min` to `max`; `range` says that in words.
pub(crate) fn check(
    name: &'static str,
    value: f64,
    min: f64,
    max: f64,
    range: &'static str,
) -> Result<(), SimulationError> {
    if value >= min && value <= max {
        Ok(())
    } else {
        Err(SimulationError::Parameter { name, value, range })
    }
}
