//! Charts as SVG: lines with marks on linear or logarithmic axes, and horizontal bars.
//!
//! Ink and paper follow the reader's choice of light or dark; the colours of lines can be told apart by the
//! colour-blind (Okabe & Ito), and every line has a mark or a dash of its own besides.

use std::error::Error;
use std::ops::Range;

use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::element::{
    Circle, Cross, DashedPathElement, EmptyElement, PathElement, Rectangle, Text, TriangleMarker,
};
use plotters::prelude::{DrawingArea, DrawingBackend, IntoDrawingArea, RGBColor, SVGBackend};
use plotters::series::LineSeries;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, ShapeStyle, TextStyle};

/// An axis.
#[derive(Clone, Debug, Default)]
pub struct Axis {
    /// What it shows, with the unit.
    pub label: String,
    /// Whether it is logarithmic.
    pub log: bool,
    /// Where it must begin and end, if that is not to follow from the numbers.
    pub range: Option<Range<f64>>,
}

impl Axis {
    /// A linear axis.
    pub fn linear(label: &str) -> Self {
        Self { label: label.to_owned(), ..Self::default() }
    }

    /// A logarithmic axis.
    pub fn log(label: &str) -> Self {
        Self { log: true, ..Self::linear(label) }
    }

    /// The same axis from `range.start` to `range.end`.
    #[must_use]
    pub fn within(self, range: Range<f64>) -> Self {
        Self { range: Some(range), ..self }
    }
}

/// A line.
#[derive(Clone, Debug)]
pub struct Series {
    /// What it is.
    pub name: String,
    /// Its points; those that are not finite are left out.
    pub points: Vec<(f64, f64)>,
    /// Whether it is from a paper, or a bound: dashed, without marks.
    pub dashed: bool,
    /// Its colour and mark by number, if not that of its place in the chart.
    pub style: Option<usize>,
}

impl Series {
    /// A measured line.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, dashed: false, style: None }
    }

    /// The same line with a colour and a mark that are its own in all charts.
    #[must_use]
    pub fn styled(self, style: Option<usize>) -> Self {
        Self { style, ..self }
    }

    /// A line to compare with.
    pub fn dashed(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { dashed: true, ..Self::new(name, points) }
    }
}

/// A chart of lines.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
}

/// Stands for the colour of the text, which the reader's program knows.
const INK: RGBColor = RGBColor(1, 1, 1);
/// Stands for the colour of the lines behind.
const GRID: RGBColor = RGBColor(2, 2, 2);
/// Colours that can be told apart.
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(148, 103, 189),
    RGBColor(127, 127, 127),
];
const WIDTH: u32 = 580;
/// Height of a chart without its legend, and of a line of the legend.
const HEIGHT: u32 = 380;
const LINE: u32 = 22;
/// The marks of lines to compare with: lengths of dashes and of gaps.
const DASHES: [(i32, i32); 3] = [(7, 4), (2, 3), (14, 5)];

/// A number as a label has it.
pub fn label(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-3..1e5).contains(&size) {
        let digits = (2 - size.log10().floor() as i32).clamp(0, 5) as usize;
        let text = format!("{value:.digits$}");
        return if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        };
    }
    let mut power = size.log10().floor();
    let mut front = value / 10f64.powf(power);
    if front.abs() >= 9.995 {
        power += 1.0;
        front /= 10.0;
    }
    let digits: String = format!("{power}")
        .chars()
        .map(|digit| match digit {
            '-' => '⁻',
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '0' => '⁰',
            other => char::from_u32('⁰' as u32 + other as u32 - '0' as u32).unwrap_or(other),
        })
        .collect();
    let front = format!("{front:.2}");
    let front = front.trim_end_matches('0').trim_end_matches('.');
    if front == "1" { format!("10{digits}") } else { format!("{front}·10{digits}") }
}

/// An axis as plotters takes it: where it begins and ends, and its ticks, with logarithms worked in.
struct Scale {
    range: Range<f64>,
    log: bool,
    ticks: Vec<f64>,
    small: Vec<f64>,
}

impl Scale {
    fn new(axis: &Axis, values: impl Iterator<Item = f64>) -> Self {
        let usable = values.filter(|v| v.is_finite() && (!axis.log || *v > 0.0));
        let (mut low, mut high) =
            usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low > high {
            (low, high) = (1.0, 10.0);
        }
        if let Some(range) = &axis.range {
            (low, high) = (range.start, range.end);
        }
        if axis.log {
            let (low, high) = (low.log10(), high.log10());
            // A fifth of a decade around the numbers.
            let (low, high) =
                if axis.range.is_some() { (low, high) } else { (low - 0.1, high + 0.1) };
            let decades: Vec<f64> =
                (low.ceil() as i32..=high.floor() as i32).map(f64::from).collect();
            let each = decades.len().div_ceil(8).max(1);
            let mut ticks: Vec<f64> = decades.iter().copied().step_by(each).collect();
            let parts = |factors: &[f64]| -> Vec<f64> {
                (low.floor() as i32..=high.ceil() as i32)
                    .flat_map(|decade| {
                        factors.iter().map(move |factor| f64::from(decade) + factor.log10())
                    })
                    .filter(|tick| (low..=high).contains(tick))
                    .collect()
            };
            if ticks.len() < 2 {
                ticks = parts(&[1.0, 2.0, 5.0]);
            }
            let small = if decades.len() > 9 {
                decades
            } else {
                parts(&[2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])
            };
            return Self { range: low..high, log: true, ticks, small };
        }
        let span = (high - low).max(1e-300);
        let rough = span / 6.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|f| f * power).into_iter().find(|s| *s >= rough);
        let step = step.unwrap_or(10.0 * power);
        if axis.range.is_none() {
            low = if low >= 0.0 && low < span { 0.0 } else { (low / step).floor() * step };
            high = (high / step).ceil() * step;
        }
        let ticks = (low / step).ceil() as i64..=(high / step + 1e-9).floor() as i64;
        let ticks = ticks.map(|i| i as f64 * step).collect();
        Self { range: low..high, log: false, ticks, small: Vec::new() }
    }

    fn place(&self, value: f64) -> f64 {
        if self.log { value.log10() } else { value }
    }
}

impl Ranged for Scale {
    type ValueType = f64;
    type FormatOption = NoDefaultFormatting;

    fn map(&self, value: &f64, limit: (i32, i32)) -> i32 {
        let Range { start, end } = self.range;
        let share = (value - start) / (end - start);
        limit.0 + (share * f64::from(limit.1 - limit.0)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.bold_points() >= hint.max_num_points() {
            self.ticks.clone()
        } else {
            self.small.clone()
        }
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        label(if self.log { 10f64.powf(*value) } else { *value })
    }
}

fn text(size: i32, color: RGBColor) -> TextStyle<'static> {
    TextStyle {
        font: ("sans-serif", size).into(),
        color: color.to_backend_color(),
        pos: Pos::default(),
    }
}

/// The mark of a line: five shapes, filled or not.
fn mark<DB: DrawingBackend>(
    area: &DrawingArea<DB, Shift>,
    number: usize,
    at: (i32, i32),
) -> Result<(), Box<dyn Error>>
where
    DB::ErrorType: 'static,
{
    let colour = COLOURS[number % COLOURS.len()];
    let style: ShapeStyle = match number % 8 {
        0 | 1 | 3 | 5 => colour.filled(),
        _ => colour.stroke_width(2),
    };
    match number % 5 {
        0 => area.draw(&Circle::new(at, 4, style))?,
        1 => area.draw(&TriangleMarker::new(at, 6, style))?,
        2 => area.draw(&Cross::new(at, 4, colour.stroke_width(2)))?,
        3 => area.draw(&(EmptyElement::at(at) + Rectangle::new([(-4, -4), (4, 4)], style)))?,
        _ => area.draw(&Circle::new(at, 4, colour.stroke_width(2)))?,
    }
    Ok(())
}

impl Chart {
    /// The chart as SVG.
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        // Drawing into a string does not fail.
        let height = HEIGHT + LINE * self.series.len().div_ceil(2) as u32 + 8;
        let drawn =
            self.draw(SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area());
        debug_assert!(drawn.is_ok(), "{drawn:?}");
        finish(svg, &self.title)
    }

    fn draw(&self, root: DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), Box<dyn Error>> {
        let (above, below) = root.split_vertically(HEIGHT);
        let above = above.margin(6, 2, 8, 12);
        let points = || self.series.iter().flat_map(|series| &series.points);
        let y_of = |(x, y): &(f64, f64)| if x.is_finite() { *y } else { f64::NAN };
        let x = Scale::new(&self.x, points().map(|point| point.0));
        let y = Scale::new(&self.y, points().map(y_of));
        let place = |scale: &Scale, value: f64| scale.place(value);
        let (sx, sy) =
            (Scale::new(&self.x, points().map(|p| p.0)), Scale::new(&self.y, points().map(y_of)));
        let mut chart = ChartBuilder::on(&above)
            .caption(&self.title, text(20, INK))
            .x_label_area_size(44)
            .y_label_area_size(66)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .axis_desc_style(text(17, INK))
            .label_style(text(15, INK))
            .axis_style(INK)
            .bold_line_style(GRID)
            .light_line_style(GRID.mix(0.3))
            .draw()?;
        let mut dashes = DASHES.into_iter().cycle();
        let dashes: Vec<(i32, i32)> = self
            .series
            .iter()
            .map(|series| if series.dashed { dashes.next().unwrap_or((7, 4)) } else { (0, 0) })
            .collect();
        for (number, series) in self.series.iter().enumerate() {
            let style = series.style.unwrap_or(number);
            let colour = if series.dashed { INK } else { COLOURS[style % COLOURS.len()] };
            let inside = |value: f64, scale: &Scale| {
                let slack = 1e-9 * (scale.range.end - scale.range.start);
                value >= scale.range.start - slack && value <= scale.range.end + slack
            };
            let line: Vec<(f64, f64)> = series
                .points
                .iter()
                .map(|&(a, b)| (place(&sx, a), place(&sy, b)))
                .filter(|&(a, b)| inside(a, &sx) && inside(b, &sy))
                .collect();
            if series.dashed {
                let (dash, gap) = dashes[number];
                chart.draw_series(std::iter::once(DashedPathElement::new(
                    line,
                    dash,
                    gap,
                    colour.stroke_width(1),
                )))?;
                continue;
            }
            chart.draw_series(LineSeries::new(line.iter().copied(), colour.stroke_width(2)))?;
            if line.len() <= 40 {
                for point in line {
                    let at = chart.backend_coord(&point);
                    mark(&root, style, at)?;
                }
            }
        }
        // The lines' names, below the chart, so that they hide nothing.
        for (number, series) in self.series.iter().enumerate() {
            let left = 16 + (number as i32 % 2) * (WIDTH as i32 / 2);
            let at = 8 + LINE as i32 * (number as i32 / 2);
            let style = series.style.unwrap_or(number);
            let colour = if series.dashed { INK } else { COLOURS[style % COLOURS.len()] };
            let ends = [(left, at), (left + 28, at)];
            if series.dashed {
                let (dash, gap) = dashes[number];
                below.draw(&DashedPathElement::new(ends, dash, gap, colour.stroke_width(1)))?;
            } else {
                below.draw(&PathElement::new(ends, colour.stroke_width(2)))?;
                mark(&below, style, (left + 14, at))?;
            }
            let style = text(16, INK).pos(Pos::new(HPos::Left, VPos::Center));
            below.draw(&Text::new(series.name.clone(), (left + 36, at), style))?;
        }
        root.present()?;
        Ok(())
    }
}

/// Horizontal bars that are made of parts.
#[derive(Clone, Debug)]
pub struct Bars {
    /// What they show.
    pub title: String,
    /// The unit of the numbers.
    pub unit: String,
    /// Each bar and its parts.
    pub bars: Vec<(String, Vec<(String, f64)>)>,
}

impl Bars {
    /// The bars as SVG.
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        let rows: usize = self.bars.iter().map(|(_, parts)| parts.len() + 1).sum();
        let height = 60 + 24 * rows as u32;
        let drawn =
            self.draw(SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area());
        debug_assert!(drawn.is_ok(), "{drawn:?}");
        finish(svg, &self.title)
    }

    fn draw(&self, area: DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), Box<dyn Error>> {
        let left = Pos::new(HPos::Left, VPos::Center);
        area.draw(&Text::new(self.title.clone(), (12, 16), text(20, INK).pos(left)))?;
        let all = || self.bars.iter().flat_map(|(_, parts)| parts);
        let longest = all().map(|(_, value)| *value).fold(0.0, f64::max).max(1e-300);
        let room = f64::from(WIDTH) - 330.0;
        let mut at = 44;
        for (name, parts) in &self.bars {
            let sum: f64 = parts.iter().map(|(_, value)| value).sum();
            let head = format!("{name}: {} {} in all", label(sum), self.unit);
            area.draw(&Text::new(head, (12, at), text(17, INK).pos(left)))?;
            at += 24;
            for (number, (part, value)) in parts.iter().enumerate() {
                let end = 160 + ((value / longest) * room).round().max(1.0) as i32;
                let colour = COLOURS[number % COLOURS.len()].filled();
                area.draw(&Rectangle::new([(160, at - 8), (end, at + 8)], colour))?;
                area.draw(&Text::new(part.clone(), (28, at), text(16, INK).pos(left)))?;
                let number = format!("{} {}", label(*value), self.unit);
                area.draw(&Text::new(number, (end + 8, at), text(16, INK).pos(left)))?;
                at += 24;
            }
        }
        area.present()?;
        Ok(())
    }
}

/// Lets the picture follow the width and the colours of the page it stands on, and gives it a name.
fn finish(svg: String, title: &str) -> String {
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    let style = "<style>svg.plot{color:#1b1b1b;--grid:#c9c9c9;background:#fff;max-width:100%;height:auto}\
        @media(prefers-color-scheme:dark){svg.plot{color:#e4e4e4;--grid:#4a4a4a;background:#161616}}</style>";
    let svg = svg
        .replace("\"#010101\"", "\"currentColor\"")
        .replace("\"#020202\"", "\"var(--grid)\"")
        .replacen("<svg ", "<svg class=\"plot\" role=\"img\" ", 1);
    match svg.find('>') {
        Some(end) => {
            format!("{}<title>{title}</title>{style}{}", &svg[..=end], &svg[end + 1..])
        }
        None => svg,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that labels read as people write numbers.
    #[test]
    fn labels() {
        for (value, expected) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.05, "0.05"),
            (12.5, "12.5"),
            (1000.0, "1000"),
            (1e5, "10⁵"),
            (2.5e7, "2.5·10⁷"),
            (9.999e6, "10⁷"),
            (1e-4, "10⁻⁴"),
            (-3e-5, "-3·10⁻⁵"),
        ] {
            assert_eq!(label(value), expected);
        }
    }

    /// Proves that a chart has its title, its axes' labels and ticks, the names of its lines and their points, and
    /// leaves out what is not a number.
    #[test]
    fn a_chart_has_all_of_its_parts() {
        let chart = Chart {
            title: "Speed & size".to_owned(),
            x: Axis::linear("side (pixels)"),
            y: Axis::log("fits a second"),
            series: vec![
                Series::new("cpu", vec![(4.0, 1e4), (9.0, 1e6), (16.0, f64::NAN), (25.0, 0.0)]),
                Series::dashed("the paper", vec![(4.0, 4e5), (32.0, 4e5)]),
            ],
        };
        let svg = chart.svg();
        for part in [
            "Speed &amp; size",
            "side (pixels)",
            "fits a second",
            "cpu",
            "the paper",
            "10⁵",
            "\n30\n",
        ] {
            assert!(svg.contains(part), "{part} is missing in {svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 3, "two points and the legend");
        assert!(svg.contains("currentColor") && !svg.contains("#010101"));
    }
}
