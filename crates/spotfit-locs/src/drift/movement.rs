//! The motion of the sample.

/// The displacement of the sample in each frame, relative to the first frame that has a localization. It is subtracted
/// from the positions.
///
/// Errors are standard errors of the drift in a frame relative to the mean drift of all frames, since drift does not
/// determine the position of the whole picture. They are empty if they are unknown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drift {
    /// For each frame.
    pub x: Vec<f64>,
    /// For each frame.
    pub y: Vec<f64>,
    /// For each frame; empty if drift along z was not estimated.
    pub z: Vec<f64>,
    /// The standard error of [`Drift::x`].
    pub x_error: Vec<f64>,
    /// The standard error of [`Drift::y`].
    pub y_error: Vec<f64>,
    /// The standard error of [`Drift::z`].
    pub z_error: Vec<f64>,
}

impl Drift {
    /// The number of frames.
    pub fn frames(&self) -> usize {
        self.x.len()
    }

    /// Whether it has no frame.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Subtracts the drift from one coordinate: `of` is [`Drift::x`], [`Drift::y`] or [`Drift::z`]. Later frames have
    /// the drift of the last frame.
    pub fn correct(of: &[f64], frames: &[u32], coordinates: &mut [f64]) {
        let Some(last) = of.len().checked_sub(1) else { return };
        for (coordinate, &frame) in coordinates.iter_mut().zip(frames) {
            *coordinate -= of[(frame as usize).min(last)];
        }
    }

    /// Adds the error of the drift to the uncertainties of positions, as for independent errors: `of` is
    /// [`Drift::x_error`], [`Drift::y_error`] or [`Drift::z_error`]. Later frames have the error of the last frame; if
    /// it is empty, nothing changes.
    pub fn add_error(of: &[f64], frames: &[u32], uncertainties: &mut [f64]) {
        let Some(last) = of.len().checked_sub(1) else { return };
        for (uncertainty, &frame) in uncertainties.iter_mut().zip(frames) {
            *uncertainty = uncertainty.hypot(of[(frame as usize).min(last)]);
        }
    }

    /// Measures from the first frame.
    pub(super) fn begin_at_zero(&mut self) {
        for values in [&mut self.x, &mut self.y, &mut self.z] {
            let first = values.first().copied().unwrap_or_default();
            values.iter_mut().for_each(|value| *value -= first);
        }
    }
}
