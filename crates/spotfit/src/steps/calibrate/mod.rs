//! Calibrates from z stacks of beads: the widths of spots behind an astigmatic lens, or a measured PSF.

mod plot;
mod psf;
mod psf_report;
mod widths;

pub use psf::{MeasuredPsf, PsfOptions, run_psf};
pub use psf_report::{PsfReport, PsfStack};
pub use widths::{CalibrateOptions, CalibrateReport, Calibrated, WidthStack, run};

use super::StepError;
use super::stack::PixelScale;
use crate::OutOfRange;

/// Which way the stage goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The first slice shows the beads highest, as in Picasso.
    #[default]
    FirstHighest,
    /// The first slice shows the beads lowest.
    FirstLowest,
}

fit_core::__options! {
    /// How stacks of beads were taken: frames are slices at equal steps of z.
    #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct StackOptions {
        /// From slice to slice, in nanometres. Range: above 0, to 10⁵. It has no default: 0 is refused.
        pub step(const with_step): f64 = 0.0,
        /// Which slice is highest.
        pub order(const with_order): Order = Order::default(),
        /// Frames taken at each step, one after the other; 1 or more.
        pub frames_per_step(const with_frames_per_step): u32 = 1,
        /// The size of a pixel.
        pub pixel_size(const with_pixel_size): PixelScale = PixelScale::default(),
        /// The factor by which z is multiplied, because of different refractive indices. Range: above 0, to 100.
        pub magnification(const with_magnification): f64 = 1.0,
    }
}

impl StackOptions {
    /// Refuses numbers that are out of their range.
    ///
    /// # Errors
    /// [`StepError::Option`].
    pub fn check(&self) -> Result<(), StepError> {
        let Self { step, frames_per_step, pixel_size, magnification, .. } = *self;
        OutOfRange::check("step", step, step > 0.0 && step <= 1e5, "above 0, to 100000 nm")?;
        let good = magnification > 0.0 && magnification <= 100.0;
        OutOfRange::check("magnification", magnification, good, "above 0, to 100")?;
        OutOfRange::check("frames_per_step", frames_per_step, frames_per_step > 0, "1 or more")?;
        pixel_size.check()
    }

    /// How high beads are seen in each frame of a stack, in nm from its middle.
    fn heights(&self, frames: usize) -> Vec<f64> {
        let each = self.frames_per_step as usize;
        let middle = 0.5 * (frames.div_ceil(each).max(1) as f64 - 1.0);
        let sign = if self.order == Order::FirstHighest { -1.0 } else { 1.0 };
        (0..frames).map(|frame| sign * ((frame / each) as f64 - middle) * self.step).collect()
    }
}
