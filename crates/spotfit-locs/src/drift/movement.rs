//! How far everything moved.

/// How far everything had moved in each frame, relative to the first that has a localization: what is subtracted from the positions.
///
/// Errors are standard errors of the drift in that frame relative to the mean drift of all frames: where the whole picture lies
/// is no question of drift. They are empty if they are not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drift {
    /// For each frame.
    pub x: Vec<f64>,
    /// For each frame.
    pub y: Vec<f64>,
    /// For each frame; empty if it was not looked for.
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

    /// Takes the drift out of one coordinate: `of` is [`Drift::x`], [`Drift::y`] or [`Drift::z`]. After the last frame the
    /// drift is that of the last.
    pub fn correct(of: &[f64], frames: &[u32], coordinates: &mut [f64]) {
        let Some(last) = of.len().checked_sub(1) else { return };
        for (coordinate, &frame) in coordinates.iter_mut().zip(frames) {
            *coordinate -= of[(frame as usize).min(last)];
        }
    }

    /// Adds the error of the drift to uncertainties of positions, as independent errors add up: `of` is [`Drift::x_error`],
    /// [`Drift::y_error`] or [`Drift::z_error`]. After the last frame it is that of the last; if it is empty, nothing changes.
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
