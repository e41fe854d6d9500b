//! Charts as SVG: lines with marks on linear or logarithmic axes, and horizontal bars.

mod axis;
mod bars;
mod number;
mod style;

use std::error::Error;

use plotters::chart::ChartBuilder;
use plotters::coord::Shift;
use plotters::element::{DashedPathElement, PathElement, Text};
use plotters::prelude::{DrawingArea, IntoDrawingArea, SVGBackend};
use plotters::series::LineSeries;
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};

pub use axis::Axis;
use axis::Scale;
pub use bars::Bars;
pub use number::{grouped, label, plain, scientific};
use style::{COLOURS, GRID, INK, WIDTH, finish, mark, text};

/// A line.
#[derive(Clone, Debug)]
pub struct Series {
    /// What it is.
    pub name: String,
    /// Its points; those that are not finite are left out.
    pub points: Vec<(f64, f64)>,
    /// A height that it has everywhere, instead of points.
    pub level: Option<f64>,
    /// Whether it is from a paper, or a bound: dashed, without marks.
    pub dashed: bool,
    /// Its colour and mark by number, if not that of its place in the chart.
    pub style: Option<usize>,
}

impl Series {
    /// A measured line.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, level: None, dashed: false, style: None }
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

    /// A number to compare with: a dashed line from one side of the chart to the other.
    pub fn level(name: impl Into<String>, level: f64) -> Self {
        Self { level: Some(level), ..Self::dashed(name, Vec::new()) }
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

/// Height of a chart without its legend, and of a line of the legend.
const HEIGHT: u32 = 360;
const LINE: u32 = 23;
/// Names of lines that are longer than this have a line of the legend to themselves.
const HALF: usize = 26;
/// So many marks a line has, about.
const MARKS: usize = 40;
/// The marks of lines to compare with: lengths of dashes and of gaps.
const DASHES: [(i32, i32); 3] = [(7, 4), (2, 3), (14, 5)];

impl Chart {
    /// Whether there is a measured line with something to see.
    pub fn has_curve(&self) -> bool {
        let seen = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
        self.series.iter().any(|series| !series.dashed && series.points.iter().any(seen))
    }

    /// Columns of the legend.
    fn columns(&self) -> usize {
        let long = |series: &Series| series.name.chars().count() > HALF;
        if self.series.iter().any(long) { 1 } else { 2 }
    }

    /// The chart as SVG.
    pub fn svg(&self) -> String {
        let mut svg = String::new();
        let height = HEIGHT + LINE * self.series.len().div_ceil(self.columns()) as u32 + 14;
        // Drawing into a string does not fail.
        let drawn =
            self.draw(SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area());
        debug_assert!(drawn.is_ok(), "{drawn:?}");
        finish(svg, &self.title)
    }

    fn scales(&self) -> (Scale, Scale) {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let heights = points().map(|(x, y)| if x.is_finite() { *y } else { f64::NAN });
        let levels = self.series.iter().filter_map(|series| series.level);
        let x = Scale::new(&self.x, points().map(|point| point.0));
        (x, Scale::new(&self.y, heights.chain(levels)))
    }

    fn draw(&self, root: DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), Box<dyn Error>> {
        let (above, below) = root.split_vertically(HEIGHT);
        let above = above.margin(6, 2, 8, 14);
        let ((x, y), (sx, sy)) = (self.scales(), self.scales());
        let mut chart = ChartBuilder::on(&above)
            .caption(&self.title, text(20, INK))
            .x_label_area_size(46)
            .y_label_area_size(70)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .x_desc(&self.x.label)
            .y_desc(&self.y.label)
            .axis_desc_style(text(18, INK))
            .label_style(text(16, INK))
            .axis_style(INK)
            .bold_line_style(GRID)
            .light_line_style(GRID.mix(0.3))
            .draw()?;
        let styles = self.styles();
        for (number, (series, style)) in self.series.iter().zip(&styles).enumerate() {
            let line: Vec<(f64, f64)> = match series.level {
                Some(level) => [sx.range.start, sx.range.end].map(|x| (x, sy.place(level))).into(),
                None => {
                    let places = series.points.iter().map(|&(x, y)| (sx.place(x), sy.place(y)));
                    places.filter(|&(x, y)| sx.contains(x) && sy.contains(y)).collect()
                }
            };
            match style {
                Style::Dashed(dash, gap) => {
                    let dashes = DashedPathElement::new(line, *dash, *gap, INK.stroke_width(1));
                    chart.draw_series(std::iter::once(dashes))?;
                }
                Style::Marked(style) => {
                    let colour = COLOURS[style % COLOURS.len()];
                    let points = line.iter().copied();
                    chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
                    // Where lines lie upon each other, each has its marks elsewhere.
                    let each = line.len().div_ceil(MARKS);
                    let each = if each > 1 { 4 * each } else { each };
                    let first = if each > 1 { (number * each) / styles.len() } else { 0 };
                    for point in line.iter().skip(first).step_by(each.max(1)) {
                        mark(&root, *style, chart.backend_coord(point))?;
                    }
                }
            }
        }
        self.legend(&below, &styles)?;
        root.present()?;
        Ok(())
    }

    fn styles(&self) -> Vec<Style> {
        let mut dashes = DASHES.into_iter().cycle();
        let style = |(number, series): (usize, &Series)| {
            if series.dashed {
                let (dash, gap) = dashes.next().unwrap_or(DASHES[0]);
                Style::Dashed(dash, gap)
            } else {
                Style::Marked(series.style.unwrap_or(number))
            }
        };
        self.series.iter().enumerate().map(style).collect()
    }

    /// The lines' names, below the chart, so that they hide nothing.
    fn legend(
        &self,
        area: &DrawingArea<SVGBackend<'_>, Shift>,
        styles: &[Style],
    ) -> Result<(), Box<dyn Error>> {
        let columns = self.columns();
        for (number, (series, style)) in self.series.iter().zip(styles).enumerate() {
            let left = 16 + ((number % columns) * (WIDTH as usize / columns)) as i32;
            let at = 14 + LINE as i32 * (number / columns) as i32;
            let ends = [(left, at), (left + 28, at)];
            match style {
                Style::Dashed(dash, gap) => {
                    area.draw(&DashedPathElement::new(ends, *dash, *gap, INK.stroke_width(1)))?;
                }
                Style::Marked(style) => {
                    let colour = COLOURS[style % COLOURS.len()];
                    area.draw(&PathElement::new(ends, colour.stroke_width(2)))?;
                    mark(area, *style, (left + 14, at))?;
                }
            }
            let style = text(17, INK).pos(Pos::new(HPos::Left, VPos::Center));
            area.draw(&Text::new(series.name.clone(), (left + 36, at), style))?;
        }
        Ok(())
    }
}

/// How a line is told from the others.
enum Style {
    /// Lengths of its dashes and gaps.
    Dashed(i32, i32),
    /// Its colour and mark by number.
    Marked(usize),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that a chart has its title, its axes' labels and ticks, the names of its lines and their points, a
    /// background of its own, and leaves out what is not a number.
    #[test]
    fn a_chart_has_all_of_its_parts() {
        let chart = Chart {
            title: "Speed & size".to_owned(),
            x: Axis::linear("side (pixels)"),
            y: Axis::log("fits per second"),
            series: vec![
                Series::new("cpu", vec![(4.0, 1e4), (9.0, 1e6), (16.0, f64::NAN), (25.0, 0.0)]),
                Series::level("the paper", 4e5),
            ],
        };
        let svg = chart.svg();
        for part in [
            "Speed &amp; size",
            "side (pixels)",
            "fits per second",
            "cpu",
            "the paper",
            "10⁵",
            "\n25\n",
            "<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"",
        ] {
            assert!(svg.contains(part), "{part} is missing in {svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(svg.matches("<circle").count(), 3, "two points and the legend");
    }

    /// Proves that a chart with nothing measured is known to be empty, whatever it is compared with.
    #[test]
    fn a_chart_without_numbers_has_no_curve() {
        let chart = |points| Chart {
            title: String::new(),
            x: Axis::linear(""),
            y: Axis::linear(""),
            series: vec![Series::new("cpu", points), Series::level("the paper", 1.0)],
        };
        assert!(!chart(Vec::new()).has_curve());
        assert!(!chart(vec![(f64::NAN, 1.0), (1.0, f64::NAN)]).has_curve());
        assert!(chart(vec![(1.0, 1.0)]).has_curve());
    }
}
