//! The charts of a report.

use super::{Quantity, StatsReport};
use crate::report::figure::Drawing;
use crate::report::number::{self, five_digits};
use crate::report::svg::{Axis, Chart, Series};
use crate::steps::drift;
use crate::steps::words::{evenly, in_unit, symbol};

/// A chart and what is to be said about it.
pub(super) type Figure = (Drawing, String);

fn figure(title: &str, [x, y]: [Axis; 2], series: Vec<Series>, caption: &[String]) -> Figure {
    (Chart::new(title, x, y, series).drawing(), caption.join(" "))
}

/// The correlation at which the resolution is read.
const THRESHOLD: f64 = 1.0 / 7.0;
/// The points of a curve.
const POINTS: u32 = 200;

/// All charts for which there is something to draw.
pub(super) fn of(report: &StatsReport) -> Vec<Figure> {
    let mut figures = Vec::new();
    figures.extend(per_frame(report));
    figures.extend(report.quantities.iter().filter_map(|quantity| histogram(report, quantity)));
    figures.extend(nena(report));
    figures.extend(frc(report));
    if let Some(drift) = &report.drift {
        let mut caption = "What was subtracted from the positions.".to_owned();
        if !drift.x_error.is_empty() {
            caption.push_str(" Bands reach one standard error to either side.");
        }
        figures.push((drift::drawing(drift, report.unit), caption));
    }
    figures
}

/// The name of a part in a legend, which one part does not need.
fn name(report: &StatsReport, part: usize) -> &'static str {
    match (report.parts.len(), part) {
        (1, _) => "",
        (_, 0) => "all",
        _ => "kept",
    }
}

fn per_frame(report: &StatsReport) -> Option<Figure> {
    let parts = report.parts.iter().enumerate();
    let bars = parts.filter_map(|(part, of)| {
        Some(Series::bars(name(report, part), of.per_frame.as_ref()?.bars.clone()))
    });
    let series: Vec<Series> = bars.collect();
    let width = report.parts[0].per_frame.as_ref()?.width;
    let last = f64::from(report.frames?) + 0.5;
    let axes = [Axis::new("frame").from(0.5).to(last), Axis::new("localizations").from(0.0)];
    let caption = match width {
        1 => String::new(),
        width => format!("Means over {width} frames."),
    };
    Some(figure("Localizations per frame", axes, series, &[caption]))
}

fn histogram(report: &StatsReport, quantity: &Quantity) -> Option<Figure> {
    let Quantity { name: own, title, unit, histogram, .. } = quantity;
    let histogram = histogram.as_ref()?;
    let series = (0..report.parts.len())
        .map(|part| Series::bars(name(report, part), histogram.bars(part)))
        .collect();
    let (first, last) = (histogram.edges[0], *histogram.edges.last()?);
    let axes = [
        Axis::new(&in_unit(own, *unit)).from(first).to(last),
        Axis::new("localizations").from(0.0),
    ];
    let mut caption = Vec::new();
    for (part, [below, above]) in histogram.beyond.iter().enumerate() {
        let whose = match name(report, part) {
            "" => String::new(),
            name => format!(" ({name})"),
        };
        let beyond = [(below, "below", first), (above, "above", last)];
        let beyond = beyond.into_iter().filter(|(count, ..)| **count > 0);
        let beyond: Vec<String> = beyond
            .map(|(count, side, end)| format!("{count} {side} {}", five_digits(end)))
            .collect();
        if !beyond.is_empty() {
            caption.push(format!("Not shown{whose}: {}.", beyond.join(", ")));
        }
    }
    let left_out = quantity.parts[0].left_out;
    if left_out > 0 {
        caption.push(format!("{left_out} are not finite."));
    }
    Some(figure(title, axes, series, &caption))
}

/// A length and its error, to two digits of the error.
pub(super) fn with_error(report: &StatsReport, found: [f64; 2]) -> String {
    let told = |[value, error]: [f64; 2]| number::with_error(value, error);
    let text = format!("{} {}", told(found), symbol(report.unit));
    match found.map(|length| report.in_nanometres(length, report.unit)) {
        [Some(value), Some(error)] => format!("{text} ({} nm)", told([value, error])),
        _ => text,
    }
}

/// The same of a part, in a caption.
fn said_of(report: &StatsReport, what: &str, name: &str, found: [f64; 2]) -> String {
    let found = with_error(report, found);
    match name {
        "" => format!("{what} {found}."),
        name => format!("{what}, {name}: {found}."),
    }
}

fn nena(report: &StatsReport) -> Option<Figure> {
    let (mut series, mut curves) = (Vec::new(), Vec::new());
    let mut caption = vec!["Distances to the nearest neighbour in the next frame.".to_owned()];
    let mut end = 0.0f64;
    for (part, of) in report.parts.iter().enumerate() {
        let Some(Ok(found)) = &of.nena else { continue };
        let bars = found.edges.windows(2).zip(&found.counts);
        let mut bars: Vec<(f64, f64)> =
            bars.map(|(edges, &count)| (edges[0], count as f64 / (edges[1] - edges[0]))).collect();
        let last = *found.edges.last()?;
        bars.push((last, 0.0));
        end = end.max(last);
        let curve = evenly([0.0, last], POINTS).map(|r| (r, found.curve.density(r))).collect();
        let name = name(report, part);
        series.push(Series::bars(name, bars));
        let style = if name.is_empty() { 1 } else { part };
        curves.push(Series::line(format!("{name} fit").trim(), curve).styled(style));
        let precision = [found.sigma, found.standard_error];
        caption.push(said_of(report, "Precision", name, precision));
    }
    if series.is_empty() {
        return None;
    }
    series.append(&mut curves);
    let unit = symbol(report.unit);
    let x = Axis::new(&format!("distance ({unit})")).from(0.0).to(end);
    let y = Axis::new(&format!("neighbours per {unit}")).from(0.0);
    Some(figure("Precision by nearest neighbours (NeNA)", [x, y], series, &caption))
}

fn frc(report: &StatsReport) -> Option<Figure> {
    let mut series = Vec::new();
    let mut marks = Vec::new();
    let mut caption = Vec::new();
    let mut end = 0.0f64;
    for (part, of) in report.parts.iter().enumerate() {
        let Some(Ok(found)) = &of.frc else { continue };
        let curve = |of: &[f64]| -> Vec<(f64, f64)> {
            found.frequencies.iter().copied().zip(of.iter().copied()).collect()
        };
        let name = name(report, part);
        if name.is_empty() {
            series.push(Series::points("rings", curve(&found.correlation)));
        }
        let style = if name.is_empty() { 1 } else { part };
        let smoothed = Series::line(format!("{name} smoothed").trim(), curve(&found.smoothed));
        series.push(smoothed.styled(style));
        marks.push(Series::mark("", found.resolution.recip()).styled(style));
        let last = found.frequencies.last().copied().unwrap_or_default();
        end = end.max(last.min(3.0 / found.resolution));
        let resolution = [found.resolution, found.standard_error];
        caption.push(said_of(report, "Resolution", name, resolution));
    }
    if series.is_empty() {
        return None;
    }
    series.push(Series::level("1/7", THRESHOLD));
    series.append(&mut marks);
    let x = Axis::new(&format!("spatial frequency (1/{})", symbol(report.unit))).from(0.0).to(end);
    let y = Axis::new("correlation").from(-0.2).to(1.05);
    Some(figure("Resolution by Fourier ring correlation", [x, y], series, &caption))
}
