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
mod outcome;
mod solve;
mod start;
mod summary;

pub use options::{CalibrationError, WidthCalibrationOptions, Zero};
pub use outcome::{Fate, Rejected, Slice, TableRow, WidthBead, WidthCalibration};

/// Finds the curves that give z from the two widths.
///
/// z = 0 is where σx = σy, unless the options say otherwise. As each bead has its own offset, this is so for the
/// curves, which is the average over beads; a single bead in focus is at its offset on the stage. The range is that in
/// which enough beads have slices, σx² − σy² grows or falls throughout, and z is not more than five times less certain
/// than in the median over the range.
///
/// # Errors
/// [`CalibrationError`].
pub fn calibrate_widths(
    slices: &[Slice],
    options: &WidthCalibrationOptions,
) -> Result<WidthCalibration, CalibrationError> {
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
