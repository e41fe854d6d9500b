//! Spots behind an objective.

use std::sync::Arc;

use super::{RecipeError, check};
use crate::{Objective, PupilPsf, SimulatedPsf};

/// The farthest that spots are from the focus, in nanometres.
const MOST_HEIGHT: f64 = 5000.0;

/// The light of spots within `z_range` of the focus that are moved by up to `moved`, all in nanometres.
pub(super) fn behind(
    objective: &Objective,
    pixel_size: f64,
    (name, z_range): (&'static str, f64),
    moved: f64,
) -> Result<SimulatedPsf, RecipeError> {
    let reach = z_range + moved;
    let range = format!("0 to {MOST_HEIGHT} nm from the focus, drift and steps included");
    check(name, z_range, z_range >= 0.0 && reach <= MOST_HEIGHT, range)?;
    // Rounding leaves no spot beyond.
    let psf = PupilPsf::new(objective, pixel_size, reach * (1.0 + 1e-9))?;
    Ok(SimulatedPsf::new(Arc::new(psf), z_range))
}
