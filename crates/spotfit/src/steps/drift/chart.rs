//! Drift as a chart.

use crate::drift::Drift;
use crate::report::figure::Drawing;
use crate::report::svg::{Axis, Chart, Series};
use crate::table::Unit;

/// So many points of a line are drawn at most, about.
const POINTS: usize = 2000;

/// A frame, counted from 0, the drift there along an axis, and its standard error if it is known.
pub(crate) type ChartedDrift = (u64, f64, Option<f64>);

/// A chart of the drift, with a band of one standard error to either side. x and y are in the given unit, z in nanometres.
pub fn drawing(drift: &Drift, unit: Unit) -> Drawing {
    let Drift { x, y, z, x_error, y_error, z_error } = drift;
    let line = |(of, errors): (&Vec<f64>, &Vec<f64>)| -> Vec<ChartedDrift> {
        let shown = (0..of.len()).step_by(of.len().div_ceil(POINTS).max(1));
        shown.map(|frame| (frame as u64, of[frame], errors.get(frame).copied())).collect()
    };
    let z = Some((z, z_error)).filter(|(z, _)| !z.is_empty());
    chart_of(unit, [(x, x_error), (y, y_error)].into_iter().chain(z).map(line))
}

/// The same of the lines of x, y and z, if it is known.
pub(crate) fn chart_of(unit: Unit, lines: impl Iterator<Item = Vec<ChartedDrift>>) -> Drawing {
    let symbol = if unit == Unit::Nanometre { "nm" } else { "px" };
    let line = |(name, of): (&str, Vec<ChartedDrift>)| {
        let of = || of.iter().map(|&(frame, value, error)| (frame as f64 + 1.0, value, error));
        let band = of().filter_map(|(x, value, error)| Some((x, value - error?, value + error?)));
        let points = of().map(|(x, value, _)| (x, value)).collect();
        Series::line(name, points).with_band(band.collect())
    };
    let series = ["x", "y", "z (nm)"].into_iter().zip(lines).map(line).collect();
    Chart::new("Drift", Axis::new("frame"), Axis::new(&format!("drift ({symbol})")), series)
        .drawing()
}
