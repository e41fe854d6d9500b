//! What is drawn in a chart: values with a name.

use super::colours;

/// How values are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Look {
    Line,
    /// A line with a mark at each point.
    Curve,
    /// A dashed line.
    Reference,
    /// A dashed line from the left to the right.
    Level,
    Points,
    Bars,
    /// A line from the bottom to the top.
    Mark,
}

/// Values with a name.
#[derive(Clone, Debug)]
pub struct Series {
    pub(super) name: String,
    pub(super) look: Look,
    pub(super) points: Vec<(f64, f64)>,
    /// x, and the ends at it of what is drawn faintly.
    pub(super) band: Vec<(f64, f64, f64)>,
    pub(super) style: Option<usize>,
}

impl Series {
    fn new(name: &str, look: Look, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.to_owned(), look, points, band: Vec::new(), style: None }
    }

    /// A line through points. A series without a name is not in the legend.
    pub fn line(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Look::Line, points)
    }

    /// A line through measured points, each with a mark.
    pub fn curve(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Look::Curve, points)
    }

    /// A line to compare with: dashed, in the colour of text.
    pub fn reference(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Look::Reference, points)
    }

    /// A number to compare with: a dashed line from one side of the chart to the other.
    pub fn level(name: &str, y: f64) -> Self {
        Self::new(name, Look::Level, vec![(f64::NAN, y)])
    }

    /// Points.
    pub fn points(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Look::Points, points)
    }

    /// Bars from zero; each begins at its x and ends at the next one's.
    pub fn bars(name: &str, points: Vec<(f64, f64)>) -> Self {
        Self::new(name, Look::Bars, points)
    }

    /// A vertical line.
    pub fn mark(name: &str, x: f64) -> Self {
        Self::new(name, Look::Mark, vec![(x, f64::NAN)])
    }

    /// The same over a faint band, such as that of an error: x, and its lower and upper end there.
    #[must_use]
    pub fn with_band(self, band: Vec<(f64, f64, f64)>) -> Self {
        Self { band, ..self }
    }

    /// The same with the colour and the mark of this number in every chart, and not those of its place in the chart.
    #[must_use]
    pub fn styled(self, style: usize) -> Self {
        Self { style: Some(style), ..self }
    }

    /// Its x values.
    pub fn x(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|point| point.0)
    }

    /// Its y values.
    pub fn y(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|point| point.1)
    }

    /// Whether it is dashed, for others to be compared with.
    pub(super) fn is_dashed(&self) -> bool {
        matches!(self.look, Look::Reference | Look::Level)
    }
}

/// The dashes of lines to compare with, one after the other.
pub(super) const DASHES: [&str; 3] = ["7 4", "2 3", "14 5"];

/// The mark of a line: eight shapes for each of the colours.
pub(super) fn mark(number: usize, [x, y]: [f64; 2]) -> String {
    let colour = colours::line(number);
    let full = format!("fill=\"{colour}\"");
    let hollow = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"");
    let circle = |look: &str| format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" {look}/>\n");
    let path = |path: &str, look: &str| {
        format!("<path transform=\"translate({x:.1} {y:.1})\" d=\"{path}\" {look}/>\n")
    };
    let square = "M-4 -4H4V4H-4Z";
    match (number + number / colours::COUNT) % 8 {
        0 => circle(&full),
        1 => path("M0 -6L5.2 3H-5.2Z", &full),
        2 => path("M-4 -4L4 4M-4 4L4 -4", &hollow),
        3 => path(square, &full),
        4 => circle(&hollow),
        5 => path("M-5 0L0 -5L5 0L0 5Z", &full),
        6 => path(square, &hollow),
        _ => path("M-5 -4H5L0 5Z", &hollow),
    }
}
