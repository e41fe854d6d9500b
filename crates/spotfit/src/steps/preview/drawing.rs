//! The picture of a preview: the frame, what was found in it, and how its numbers are spread.

use super::panel::{Values, colour, colour_bar, mark, panel, quantile};
use super::spots::Preview;
use crate::report::figure::{Drawing, FigureError, Stroke, TextLook, Tint};
use crate::report::svg::{Axis, Chart, Series};
use crate::steps::words::{in_unit, symbol};
use crate::table::{Column, Meaning};

/// The longer side of the frame, and the width of a chart.
const FRAME: f64 = 760.0;
const CHART: f64 = 400.0;
const CHART_HEIGHT: f64 = 186.0;
const MARGIN: f64 = 16.0;
const HEAD: f64 = 52.0;
const LINE: f64 = 22.0;
/// A chart has so many bars at least and at most.
const BARS: [usize; 2] = [8, 28];

impl Preview {
    /// The frame with what is kept and what is dropped, beside it how sigma, photons, uncertainties and responses are spread.
    pub fn drawing(&self) -> Drawing {
        let values = Values::of(self);
        let longer = self.width.max(self.height) as f64;
        let scale = FRAME / longer;
        let (width, height) = (self.width as f64 * scale, self.height as f64 * scale);
        let left = FRAME.min(width.max(420.0));
        let charts = self.charts();
        let legend = LINE * (self.reasons().len() as f64 + 2.0) + 24.0;
        let columns = if height + legend < 2.5 * CHART_HEIGHT { 2 } else { 1 };
        let rows = charts.len().div_ceil(columns);
        let below = f64::max(height + legend, rows as f64 * CHART_HEIGHT);
        let whole = 3.0 * MARGIN + left + columns as f64 * CHART;
        let title = format!("{}, frame {}", self.movie, self.frame);
        let mut drawing = Drawing::new(&title, whole, HEAD + below + MARGIN);
        let (room, soft) = (whole - 2.0 * MARGIN, TextLook::new(13.0).tinted(Tint::SOFT));
        drawing.short_text([MARGIN, 24.0], &title, TextLook::new(17.0).bold(), room);
        drawing.short_text([MARGIN, 43.0], &self.in_short(), soft, room);
        panel(self, &values, &mut drawing, [MARGIN, HEAD, width, height]);
        self.legend(&values, &mut drawing, [MARGIN, HEAD + height + 10.0], left);
        for (number, chart) in charts.into_iter().enumerate() {
            let (column, row) = (number % columns, number / columns);
            let x = 2.0 * MARGIN + left + column as f64 * CHART;
            let at = [x, HEAD + row as f64 * CHART_HEIGHT - 6.0];
            drawing.place(chart.sized([CHART, CHART_HEIGHT]).drawing(), at);
        }
        drawing
    }

    /// The same as SVG.
    pub fn svg(&self) -> String {
        self.drawing().svg()
    }

    /// The same as PNG, with so many pixels for each of the drawing along each side.
    ///
    /// # Errors
    /// [`FigureError`].
    pub fn png(&self, scale: f64) -> Result<Vec<u8>, FigureError> {
        self.drawing().png(scale)
    }

    /// The counts, in words.
    fn in_short(&self) -> String {
        let words = self.in_words();
        words.split_once(": ").map_or(String::new(), |(_, counts)| counts.to_owned())
    }

    /// What rings and squares mean.
    fn legend(&self, values: &Values, drawing: &mut Drawing, [left, top]: [f64; 2], width: f64) {
        let (dark, look) = (Tint::new([0x22; 3]), TextLook::new(13.0));
        let rows = self.reasons().len() + 1;
        // Marks are bright: they are shown on what they are drawn on.
        drawing.rect([left, top, 30.0, LINE * rows as f64 + 6.0], dark);
        let middle = |row: usize| top + 3.0 + LINE * (row as f64 + 0.5);
        let text = |row: usize| [left + 40.0, middle(row) + 4.5];
        let colour = colour(0.6);
        drawing.circle([left + 15.0, middle(0)], 6.5, Stroke::new(colour, 1.6));
        let column = self.kept.called(&self.colour_by);
        let kept = format!("{} kept", self.counts.kept);
        drawing.text(text(0), &kept, look);
        if let (Some([low, high]), Some(column)) = (values.range, column) {
            let bar = left + 150.0;
            colour_bar(drawing, [bar, middle(0) - 6.0, 110.0, 12.0]);
            let label = format!("{} {} to {}", name_of(column), number(low), number(high));
            let unit = symbol(column.unit);
            let label =
                if unit.is_empty() || unit == "photon" { label } else { format!("{label} {unit}") };
            let at = [bar + 120.0, middle(0) + 4.5];
            drawing.short_text(at, &label, look, width - 276.0);
        }
        for (row, (reason, count)) in self.reasons().into_iter().enumerate() {
            let row = row + 1;
            let square = [left + 8.5, middle(row) - 6.5, 13.0, 13.0];
            drawing.rect(square, Stroke::new(mark(reason), 1.6));
            let label = format!("{count} {}", reason.in_words());
            drawing.short_text(text(row), &label, look, width - 44.0);
        }
    }

    /// How the numbers are spread.
    fn charts(&self) -> Vec<Chart> {
        let one_of = |names: &[Meaning]| names.iter().find_map(|name| self.kept.column(name));
        let sigma = one_of(&[Meaning::Sigma, Meaning::SigmaX]);
        let spread = [sigma, one_of(&[Meaning::Photons]), one_of(&[Meaning::Uncertainty])];
        let charts = spread.into_iter().flatten().map(|column| {
            let bars = bars(&[&column.values], false);
            let label = in_unit(name_of(column), column.unit);
            let series = bars.into_iter().map(|bars| Series::bars("", bars)).collect();
            Chart::new(&title_of(column), Axis::new(&label), Axis::new("kept").from(0.0), series)
        });
        charts.chain(self.responses()).collect()
    }

    /// How far maxima stand out, beside the threshold.
    fn responses(&self) -> Option<Chart> {
        let threshold = self.detector.threshold?;
        let found: Vec<f64> = self.detector.responses.iter().copied().flatten().collect();
        let below: Vec<f64> = self.detector.below.iter().map(|&one| f64::from(one)).collect();
        let mut all = bars(&[&below, &found], true).into_iter();
        let mut series = Vec::new();
        for (name, style) in [("noise", 7), ("candidates", 0)] {
            series.extend(all.next().map(|bars| Series::bars(name, bars).styled(style)));
        }
        series.push(Series::mark("threshold", threshold));
        let label = "times the noise";
        let title = "Response of the detector";
        Some(Chart::new(title, Axis::log(label), Axis::log("maxima"), series).without_empty())
    }
}

/// Several previews below each other; of none, empty paper.
pub fn drawing_of(previews: &[Preview]) -> Drawing {
    let mut parts: Vec<Drawing> = previews.iter().map(Preview::drawing).collect();
    if parts.len() == 1 {
        return parts.remove(0);
    }
    let title = previews.first().map_or("nothing", |first| &first.movie);
    Drawing::tiled("", parts, 1).titled(title)
}

fn title_of(column: &Column) -> String {
    column.meaning().map_or(column.name.clone(), |meaning| meaning.title().to_owned())
}

fn name_of(column: &Column) -> &str {
    match column.name.as_str() {
        "sigma" => "σ",
        "sigma_x" => "σ along x",
        "sigma_y" => "σ along y",
        name => name,
    }
}

/// A number with as many digits as one reads at a glance.
fn number(value: f64) -> String {
    match value.abs() {
        size if (100.0..1e7).contains(&size) => format!("{value:.0}"),
        size if (1.0..100.0).contains(&size) => format!("{value:.1}"),
        size if size == 0.0 || (1e-3..1.0).contains(&size) => format!("{value:.3}"),
        _ => format!("{value:.1e}"),
    }
}

/// The bars of several lists in the same bins; without those far from all others. Nothing where there is nothing.
fn bars(parts: &[&Vec<f64>], log: bool) -> Vec<Vec<(f64, f64)>> {
    let scaled = |value: f64| if log { value.ln() } else { value };
    let part = |values: &&Vec<f64>| -> Vec<f64> {
        values.iter().map(|&value| scaled(value)).filter(|value| value.is_finite()).collect()
    };
    let parts: Vec<Vec<f64>> = parts.iter().map(part).collect();
    let mut all = parts.concat();
    all.sort_unstable_by(f64::total_cmp);
    if all.is_empty() {
        return Vec::new();
    }
    let [low, high] = match log {
        true => [0.0, 1.0].map(|share| quantile(&all, share)),
        false => [0.01, 0.99].map(|share| quantile(&all, share)),
    };
    let margin = if high > low { 0.05 * (high - low) } else { f64::max(0.05 * low.abs(), 0.5) };
    let (low, high) = (low - margin, high + margin);
    let count = ((2.0 * (all.len() as f64).sqrt()) as usize).clamp(BARS[0], BARS[1]);
    let step = (high - low) / count as f64;
    let back = |value: f64| if log { value.exp() } else { value };
    let bars_of = |values: &Vec<f64>| {
        let mut counts = vec![0u32; count];
        for value in values.iter().filter(|value| (low..high).contains(*value)) {
            counts[(((value - low) / step) as usize).min(count - 1)] += 1;
        }
        let edges = (0..=count).map(|bin| back(low + bin as f64 * step));
        edges.zip(counts.into_iter().map(f64::from).chain([0.0])).collect()
    };
    parts.iter().map(bars_of).collect()
}
