//! Options and errors of the calibration.

use super::super::curve::AstigmatismError;

/// Where z is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Zero {
    /// Where the curves σx and σy cross.
    #[default]
    Crossing,
    /// Where the stage is 0, for the mean of the beads that were used.
    Stage,
}

fit_core::__options! {
    /// How a calibration is made.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct WidthCalibrationOptions {
        /// The size of a pixel in nm; only [`WidthCalibration::lateral`](super::WidthCalibration::lateral) depends on it. Range: 1 to
        /// 10⁵.
        pub pixel_size(const with_pixel_size): f64,
        /// Where z is 0.
        pub zero(const with_zero): Zero,
        /// The required range of z, in nm; `None` takes the largest possible range.
        pub range(const with_range): Option<[f64; 2]>,
        /// The factor for z due to different refractive indices; see
        /// [`Astigmatism::from_coefficients`](super::super::curve::Astigmatism::from_coefficients).
        pub magnification(const with_magnification): f64,
        /// The smallest number of slices of a bead. 5 or more.
        pub least_slices(const with_least_slices): usize,
        /// The side, in pixels, of the windows in which the widths were fitted, if it is known. The calibration stores it,
        /// so that spots are fitted in windows of the same side
        /// ([`Finder::box_size`](super::super::find::Finder::box_size)).
        pub box_size(const with_box_size): Option<usize>,
        /// The smallest number of beads. As many, or half of the beads if that is more, must have slices on both sides of
        /// every z of the range. 1 or more.
        pub least_beads(const with_least_beads): usize,
    }
}

impl WidthCalibrationOptions {
    /// The usual options for this size of a pixel in nm: zero where the curves cross, the largest range, no
    /// magnification, at least three beads of at least ten slices.
    pub fn new(pixel_size: f64) -> Self {
        Self {
            pixel_size,
            zero: Zero::Crossing,
            range: None,
            magnification: 1.0,
            least_slices: 10,
            box_size: None,
            least_beads: 3,
        }
    }

    pub(super) fn check(&self) -> Result<(), CalibrationError> {
        let wrong = |name, value, needed| Err(CalibrationError::Option { name, value, needed });
        if !(1.0..=1e5).contains(&self.pixel_size) {
            return wrong("pixel_size", self.pixel_size, "between 1 and 10⁵ nm");
        }
        if let Some([low, high]) = self.range {
            if !(low.abs() <= 1e6 && high.abs() <= 1e6) {
                let end = if low.abs() <= 1e6 { high } else { low };
                return wrong("an end of range", end, "within ±10⁶ nm");
            }
            if high - low < SHORTEST {
                return wrong("the length of range", high - low, "100 nm or more");
            }
        }
        if !(self.magnification > 0.0 && self.magnification <= 100.0) {
            return wrong("magnification", self.magnification, "above 0 and at most 100");
        }
        if self.least_slices < 5 {
            return wrong("least_slices", self.least_slices as f64, "5 or more");
        }
        if let Some(side) = self.box_size.filter(|side| !(1..=1023).contains(side)) {
            return wrong("box_size", side as f64, "from 1 to 1023 pixels");
        }
        if self.least_beads < 1 {
            return wrong("least_beads", 0.0, "1 or more");
        }
        Ok(())
    }
}

/// The shortest range in nm that is worth a calibration.
pub(super) const SHORTEST: f64 = 100.0;

/// Why there is no calibration. Heights count from the crossing of the curves.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationError {
    /// An option is out of its range.
    #[error("{name} is {value}; it must be {needed}")]
    Option {
        /// Which.
        name: &'static str,
        /// What it is.
        value: f64,
        /// What it may be.
        needed: &'static str,
    },
    /// There are not enough beads with enough slices.
    #[error(
        "{long} of {beads} beads have {least_slices} slices or more, and {least_beads} are needed \
         ({slices} slices are sound, {invalid} are not)"
    )]
    FewSlices {
        /// Sound slices.
        slices: usize,
        /// Slices with a number that is not finite or out of its range.
        invalid: usize,
        /// Beads with a sound slice.
        beads: usize,
        /// Beads with enough of them.
        long: usize,
        /// What is enough.
        least_slices: usize,
        /// How many beads are needed.
        least_beads: usize,
    },
    /// The widths of too few beads are equal somewhere in the stack.
    #[error(
        "σx and σy cross within the stack for {crossing} of {beads} beads only: is there a cylindrical lens, and the \
         focus within the stack?"
    )]
    NoCrossing {
        /// Beads with enough slices.
        beads: usize,
        /// Those among them whose widths cross.
        crossing: usize,
    },
    /// The curves fitted to all beads do not cross.
    #[error("the fitted curves σx and σy do not cross between z = {low:.0} and {high:.0} nm")]
    CurvesDoNotCross {
        /// The lower end in nm.
        low: f64,
        /// The upper end in nm.
        high: f64,
    },
    /// Too many beads do not agree with the others.
    #[error(
        "of {beads} beads with a crossing {rejected} were rejected because most of their slices are off the common \
         curve, or fewer than 5 are in the range; {least_beads} must remain"
    )]
    Disagree {
        /// Beads whose widths cross.
        beads: usize,
        /// How many of them were rejected.
        rejected: usize,
        /// How many are needed.
        least_beads: usize,
    },
    /// The slices in the range do not determine the curves.
    #[error(
        "{slices} slices between z = {low:.0} and {high:.0} nm do not determine two polynomials of degree 6"
    )]
    Undetermined {
        /// Slices in the range.
        slices: usize,
        /// The lower end in nm.
        low: f64,
        /// The upper end in nm.
        high: f64,
    },
    /// σx² − σy² turns within the range.
    #[error(
        "σx² − σy² turns at z = {z:.0} nm, within the range of {low:.0} to {high:.0} nm: z is not determined there"
    )]
    NotMonotonic {
        /// Where it turns, in nm.
        z: f64,
        /// The lower end in nm.
        low: f64,
        /// The upper end in nm.
        high: f64,
    },
    /// The range in which a calibration is possible is too short, or does not cover the requested range.
    #[error(
        "a calibration is possible between z = {low:.0} and {high:.0} nm only, where {needed} of {beads} \
         beads have slices"
    )]
    Range {
        /// The lower end in nm.
        low: f64,
        /// The upper end in nm.
        high: f64,
        /// How many beads must have slices.
        needed: usize,
        /// How many beads there are.
        beads: usize,
    },
    /// The offsets of the beads have not converged.
    #[error("the offsets of the beads still move by {change:.2} nm after {iterations} iterations")]
    NotConverged {
        /// The largest change in nm.
        change: f64,
        /// How many iterations were made.
        iterations: usize,
    },
    /// The curves do not determine z.
    #[error(transparent)]
    Curve(#[from] AstigmatismError),
}
