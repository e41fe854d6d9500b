//! What goes into a calibration, and what comes of it.

use super::super::curve::Astigmatism;

/// Whether a bead was used, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fate {
    /// It is part of the calibration.
    Used,
    /// It has too few slices, or too few within the range.
    Short,
    /// Its widths do not cross within its stack.
    NoCrossing,
    /// More than half of its slices are off the common curve.
    Disagrees,
}

/// A bead of the calibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WidthBead {
    /// Its number.
    pub bead: u32,
    /// Whether it was used, or why not.
    pub fate: Fate,
    /// Where the stage is when the bead is at z = 0, in nm: z of the bead is z of the stage minus this value. NaN for a
    /// bead that is short or has no crossing.
    pub offset: f64,
    /// Its sound slices.
    pub slices: usize,
    /// Those that were used.
    pub used: usize,
}

/// What a calibration left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Rejected {
    /// Slices with a number that is not finite or out of its range.
    pub invalid_slices: usize,
    /// Slices of beads that were used, beyond the range.
    pub slices_beyond: usize,
    /// Slices of beads that were used, within the range and off the curve.
    pub slices_off: usize,
    /// Beads with too few slices.
    pub short_beads: usize,
    /// Beads whose widths do not cross within the stack.
    pub beads_without_crossing: usize,
    /// Beads most of whose slices are off the curve.
    pub beads_off: usize,
}

/// Mean widths of the slices that were used, in a strip of z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableRow {
    /// Their mean z in nm, without the magnification factor.
    pub z: f64,
    /// How many they are.
    pub slices: usize,
    /// Means of σx and σy in pixels.
    pub sigma: [f64; 2],
    /// Standard deviations of σx and σy around the curves, in pixels.
    pub deviation: [f64; 2],
    /// The mean error of z found with the curves, in nm.
    pub z_bias: f64,
    /// Its root mean square, in nm.
    pub z_error: f64,
}

/// The measurement of one bead in one slice of a stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The number of the bead, unique over all stacks: in another stack, the same bead has another number.
    pub bead: u32,
    /// The bead's position along z according to the stage, in nm: it grows when the bead moves towards greater z. If
    /// the objective moves instead, this is the negative of its position. Range: ±10⁶.
    pub z: f64,
    /// Centre in pixels.
    pub x: f64,
    /// Centre in pixels.
    pub y: f64,
    /// σx in pixels. Range: 0.01 to 10⁴.
    pub sigma_x: f64,
    /// σy in pixels. Range: 0.01 to 10⁴.
    pub sigma_y: f64,
    /// Standard error of σx in pixels. Range: 10⁻¹² to 10⁴.
    pub error_x: f64,
    /// Standard error of σy in pixels. Range: 10⁻¹² to 10⁴.
    pub error_y: f64,
}

/// A calibration and its quality.
#[derive(Clone, Debug, PartialEq)]
pub struct WidthCalibration {
    /// The curves with their range.
    pub curve: Astigmatism,
    /// Each bead, by its number.
    pub beads: Vec<WidthBead>,
    /// The measurements that were not used, and why.
    pub rejected: Rejected,
    /// [`WidthCalibrationOptions::box_size`](super::WidthCalibrationOptions::box_size).
    pub box_size: Option<usize>,
    /// The number of used slices: within the range, of used beads, and not rejected.
    pub used: usize,
    /// The usual step of the stage in nm.
    pub step: f64,
    /// Root mean square difference of σx and σy of these slices from the curves, in pixels.
    pub residual: [f64; 2],
    /// The scatter of the widths beyond their errors, as a share of the width: the root of the mean excess of the
    /// squared residuals over the squared errors, 0 if there is none. For
    /// [`FindOptions::scatter`](super::super::find::FindOptions).
    pub scatter: f64,
    /// Root mean square of the error in z (nm, without the magnification factor) when z of these slices is found with
    /// the curves, and the known offset of each bead is subtracted. Slices at the ends of the range are included.
    pub z_error: f64,
    /// The largest mean error in z of the rows of the table, in nm: what the curves cannot represent, and noise.
    pub z_bias: f64,
    /// How beads move along x and y with z, in nm per µm: the medians over beads of straight lines. An inclined beam
    /// or stage, or drift during the stack.
    pub lateral: [f64; 2],
    /// Mean widths along the curve, for a plot: forty rows, less those without slices.
    pub table: Vec<TableRow>,
}
