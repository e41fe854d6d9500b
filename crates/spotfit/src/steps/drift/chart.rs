//! Drift as a chart.

use crate::drift::Drift;
use crate::report::figure::Drawing;
use crate::report::svg::{Axis, Chart, Series};
use crate::table::Unit;

/// So many points of a line are drawn at most, about.
const POINTS: usize = 2000;

/// A chart of the drift, with a band of one standard error to either side. x and y are in the given unit, z in nanometres.
pub fn drawing(drift: &Drift, unit: Unit) -> Drawing {
    let symbol = if unit == Unit::Nanometre { "nm" } else { "px" };
    let line = |name: &str, of: &[f64], errors: &[f64]| {
        let step = of.len().div_ceil(POINTS).max(1);
        let shown = || of.iter().enumerate().step_by(step);
        let points = shown().map(|(frame, &value)| (frame as f64 + 1.0, value)).collect();
        let band = shown().zip(errors.iter().step_by(step));
        let band =
            band.map(|((frame, value), error)| (frame as f64 + 1.0, value - error, value + error));
        Series::line(name, points).with_band(band.collect())
    };
    let mut series = vec![line("x", &drift.x, &drift.x_error), line("y", &drift.y, &drift.y_error)];
    if !drift.z.is_empty() {
        series.push(line("z (nm)", &drift.z, &drift.z_error));
    }
    Chart::new("Drift", Axis::new("frame"), Axis::new(&format!("drift ({symbol})")), series)
        .drawing()
}
