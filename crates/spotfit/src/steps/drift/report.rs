//! The report of drift.

use std::fmt;

use spotfit_locs::private::{ends, median};

use crate::drift::Drift;
use crate::steps::words::{length, symbol};
use crate::table::Unit;

/// The report of drift. Lengths in x and y are in `unit`, those in z in nanometres.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct DriftReport {
    /// The localizations of the table.
    pub localizations: usize,
    /// The number of frames.
    pub frames: usize,
    /// The unit of the table, `px` or `nm`.
    pub unit: &'static str,
    /// From the least to the greatest drift in x.
    pub x: f64,
    /// The same in y.
    pub y: f64,
    /// The same in z, if it was looked for.
    pub z: Option<f64>,
    /// The median of the standard errors in x, if they are known.
    pub x_error: Option<f64>,
    /// The same in y.
    pub y_error: Option<f64>,
    /// The same in z.
    pub z_error: Option<f64>,
    /// The beads that were followed, if any were.
    pub beads: Option<usize>,
    /// The share of the frames in which a bead was seen, on average.
    pub bead_share: Option<f64>,
}

impl DriftReport {
    pub(super) fn of(drift: &Drift, unit: Unit, localizations: usize) -> Self {
        Self {
            localizations,
            frames: drift.frames(),
            unit: symbol(unit),
            x: most(&drift.x),
            y: most(&drift.y),
            z: (!drift.z.is_empty()).then(|| most(&drift.z)),
            x_error: middle(&drift.x_error),
            y_error: middle(&drift.y_error),
            z_error: middle(&drift.z_error),
            beads: None,
            bead_share: None,
        }
    }
}

fn most(of: &[f64]) -> f64 {
    let [low, high] = ends(of.iter().copied());
    high - low
}

fn middle(of: &[f64]) -> Option<f64> {
    (!of.is_empty()).then(|| median(of.iter().copied()))
}

impl fmt::Display for DriftReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.unit == "nm" { Unit::Nanometre } else { Unit::Pixel };
        if let (Some(beads), Some(share)) = (self.beads, self.bead_share) {
            let (share, frames) = (100.0 * share, self.frames);
            writeln!(f, "{beads} beads, seen in {share:.0} % of {frames} frames on average")?;
        }
        let (x, y) = (length(self.x, unit), length(self.y, unit));
        write!(f, "drift over {} frames: {x} in x, {y} in y", self.frames)?;
        if let Some(z) = self.z {
            write!(f, ", {} in z", length(z, Unit::Nanometre))?;
        }
        write!(f, "{}; {} localizations corrected", self.errors(unit), self.localizations)
    }
}

impl DriftReport {
    /// The median errors in words, as far as they are known.
    fn errors(&self, unit: Unit) -> String {
        let errors = [(self.x_error, unit), (self.y_error, unit), (self.z_error, Unit::Nanometre)];
        let known: Vec<(f64, Unit)> =
            errors.into_iter().filter_map(|(error, unit)| Some((error?, unit))).collect();
        let texts = known.iter().enumerate().map(|(k, &(error, unit))| {
            let text = length(error, unit);
            // A unit is said once where it is the same for several.
            let same = known.get(k + 1).is_some_and(|next| next.1 == unit);
            match text.split_once(' ') {
                Some((number, _)) if same => number.to_owned(),
                _ => text,
            }
        });
        let texts: Vec<String> = texts.collect();
        match texts.split_last() {
            Some((last, [])) => format!(" (standard error {last})"),
            Some((last, rest)) => format!(" (standard errors {} and {last})", rest.join(", ")),
            None => String::new(),
        }
    }
}
