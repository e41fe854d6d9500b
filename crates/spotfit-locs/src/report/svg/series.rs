//! What is drawn in a chart: values with a name.

use crate::report::figure::{Drawing, Stroke, Tint};

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
    /// x, and the ends at it of the bar of an error.
    pub(super) errors: Vec<(f64, f64, f64)>,
    pub(super) style: Option<usize>,
}

impl Series {
    fn new(name: &str, look: Look, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.to_owned(),
            look,
            points,
            band: Vec::new(),
            errors: Vec::new(),
            style: None,
        }
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

    /// The same with bars of errors: x, and the lower and upper end there.
    #[must_use]
    pub fn with_errors(self, errors: Vec<(f64, f64, f64)>) -> Self {
        Self { errors, ..self }
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

    /// How far from zero each of its y values, and of the ends of its errors, is.
    pub fn sizes(&self) -> impl Iterator<Item = f64> {
        let errors = self.errors.iter().flat_map(|end| [end.1, end.2]);
        self.y().chain(errors).map(f64::abs).filter(|size| size.is_finite())
    }

    /// Whether it is dashed, for others to be compared with.
    pub(super) fn is_dashed(&self) -> bool {
        matches!(self.look, Look::Reference | Look::Level)
    }
}

/// The dashes of lines to compare with, one after the other.
pub(super) const DASHES: [&[f32]; 3] = [&[7.0, 4.0], &[2.0, 3.0], &[14.0, 5.0]];
/// The dashes of vertical lines.
pub(super) const MARK: &[f32] = &[4.0, 3.0];

/// The mark of a line: eight shapes for each of the colours.
pub(super) fn mark(drawing: &mut Drawing, number: usize, [x, y]: [f64; 2]) {
    let tint = Tint::series(number);
    let hollow = Stroke::new(tint, 2.0);
    let moved = |points: &[[f64; 2]]| -> Vec<[f64; 2]> {
        points.iter().map(|[right, down]| [x + right, y + down]).collect()
    };
    match (number + number / Tint::COUNT) % 8 {
        0 => drawing.circle([x, y], 4.0, tint),
        1 => drawing.polygon(moved(&[[0.0, -6.0], [5.2, 3.0], [-5.2, 3.0]]), tint),
        2 => {
            for up in [-4.0, 4.0] {
                drawing.line([x - 4.0, y + up], [x + 4.0, y - up], hollow);
            }
        }
        3 => drawing.rect([x - 4.0, y - 4.0, 8.0, 8.0], tint),
        4 => drawing.circle([x, y], 4.0, hollow),
        5 => drawing.polygon(moved(&[[-5.0, 0.0], [0.0, -5.0], [5.0, 0.0], [0.0, 5.0]]), tint),
        6 => drawing.rect([x - 4.0, y - 4.0, 8.0, 8.0], hollow),
        _ => drawing.polygon(moved(&[[-5.0, -4.0], [5.0, -4.0], [0.0, 5.0]]), hollow),
    }
}
