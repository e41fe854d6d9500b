//! Calibration of astigmatic z from stacks of beads.
//!
//! Beads lie at different heights, because the cover glass is tilted or some lie in a gel. So each bead has its own
//! offset along z, and the offsets are fitted together with the curves that all beads share: in turn, the curves are
//! fitted for given offsets, and each offset for given curves, with weights that suppress outliers (Tukey's biweight of
//! the Mahalanobis distance).
//!
//! One error cannot be detected from a stack: a stage that drifts along z at a constant rate looks like a stage with
//! another step. The calibration is then wrong by the same factor, for every stack. Lateral drift does not affect the
//! widths.

mod beads;
mod options;
mod solve;
mod start;
mod summary;

pub use options::{CalibrationError, CalibrationOptions, Zero};
pub use summary::{BeadOutcome, Fate, Rejected, TableRow};

use super::curve::Astigmatism;
use beads::Bead;

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
pub struct Calibration {
    /// The curves with their range.
    pub curve: Astigmatism,
    /// Each bead, by its number.
    pub beads: Vec<BeadOutcome>,
    /// The measurements that were not used, and why.
    pub rejected: Rejected,
    /// [`CalibrationOptions::box_size`].
    pub box_size: Option<usize>,
    /// The number of used slices: within the range, of used beads, and not rejected.
    pub used: usize,
    /// The usual step of the stage in nm.
    pub step: f64,
    /// Root mean square difference of σx and σy of these slices from the curves, in pixels.
    pub residual: [f64; 2],
    /// The scatter of the widths beyond their errors, as a share of the width: the root of the mean excess of the
    /// squared residuals over the squared errors, 0 if there is none. For
    /// [`FindOptions::scatter`](super::find::FindOptions).
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

/// Finds the curves that give z from the two widths.
///
/// z = 0 is where σx = σy, unless the options say otherwise. As each bead has its own offset, this is so for the
/// curves, which is the average over beads; a single bead in focus is at its offset on the stage. The range is that in
/// which enough beads have slices, σx² − σy² grows or falls throughout, and z is not more than five times less certain
/// than in the median over the range.
///
/// # Errors
/// [`CalibrationError`].
pub fn calibrate(
    slices: &[Slice],
    options: &CalibrationOptions,
) -> Result<Calibration, CalibrationError> {
    options.check()?;
    let (mut beads, invalid) = beads::group(slices);
    for bead in &mut beads {
        if bead.points.len() < options.least_slices {
            bead.fate = Fate::Short;
        }
    }
    let long = beads.iter().filter(|bead| bead.used()).count();
    if long < options.least_beads {
        return Err(CalibrationError::FewSlices {
            slices: slices.len() - invalid,
            invalid,
            beads: beads.len(),
            long,
            least_slices: options.least_slices,
            least_beads: options.least_beads,
        });
    }
    start::cross(&mut beads);
    let crossing = beads.iter().filter(|bead| bead.used()).count();
    if crossing < options.least_beads {
        return Err(CalibrationError::NoCrossing { beads: long, crossing });
    }
    let solution = solve::solve(&mut beads, options)?;
    summary::summarize(beads, &solution, options, invalid)
}

/// What is to be added to z that counts from the crossing, in nm, so that 0 is what the option says.
fn zero(beads: &[Bead], options: &CalibrationOptions) -> f64 {
    match options.zero {
        Zero::Crossing => 0.0,
        Zero::Stage => {
            let offsets: Vec<f64> = beads.iter().filter(|b| b.used()).map(|b| b.offset).collect();
            offsets.iter().sum::<f64>() / offsets.len().max(1) as f64
        }
    }
}

#[cfg(test)]
mod tests;
