//! Spots behind an objective.

use std::sync::Arc;

use super::{RecipeError, check};
use crate::{Objective, PupilPsf, SimulatedPsf};

/// The farthest that spots are from the focus, in nanometres.
const MOST_HEIGHT: f64 = 5000.0;

/// The light of spots within `z_range` of the focus, whose option has this name, and that the option of the other moves by up to `moved`,
/// all in nanometres.
pub(super) fn behind(
    objective: &Objective,
    pixel_size: f64,
    (name, z_range): (&'static str, f64),
    (other, value, moved): (&'static str, f64, f64),
) -> Result<SimulatedPsf, RecipeError> {
    let range = |what: &str| format!("{what} {MOST_HEIGHT} nm from the focus");
    check(name, z_range, (0.0..=MOST_HEIGHT).contains(&z_range), range("0 to"))?;
    let reach = z_range + moved;
    check(other, value, reach <= MOST_HEIGHT, range("no spot farther than"))?;
    // Rounding leaves no spot beyond.
    let psf = PupilPsf::new(objective, pixel_size, reach * (1.0 + 1e-9))?;
    Ok(SimulatedPsf::new(Arc::new(psf), z_range))
}
