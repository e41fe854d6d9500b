//! Charts of series.

use super::axis::{Axis, Scale};
use super::field::Field;
use super::series::{DASHES, Look, MARK, Series, mark};
use super::sheet::{LARGE, SMALL, Sheet};
use crate::report::figure::{Drawing, Stroke, TextLook, Tint, text_width};

/// The width of the line that shows how a series looks in the legend.
const KEY: f64 = 24.0;
/// A legend at the side is not wider than this share of the chart.
const SIDE: f64 = 0.27;

/// A chart.
#[derive(Clone, Debug)]
pub struct Chart {
    title: String,
    said: Vec<String>,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
    lower: Option<(Axis, Vec<Series>)>,
    pub(super) large: bool,
    size: Option<[f64; 2]>,
    legend: bool,
}

impl Chart {
    /// A chart of series, the first of which is drawn first. It is small, for pages of many.
    pub fn new(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Self {
        let (title, said, lower) = (title.to_owned(), Vec::new(), None);
        Self { title, said, x, y, series, lower, large: false, size: None, legend: true }
    }

    /// The same for itself: with larger text, the legend below, and round ends of the axes.
    #[must_use]
    pub fn large(self) -> Self {
        Self { large: true, ..self }
    }

    /// The same in another size: pixels across, and from the top to the bottom.
    #[must_use]
    pub fn sized(self, size: [f64; 2]) -> Self {
        Self { size: Some(size), ..self }
    }

    /// The same with lines of text below the title.
    #[must_use]
    pub fn saying(self, lines: Vec<String>) -> Self {
        Self { said: lines, ..self }
    }

    /// The same with a low chart of other series below, such as residuals, which has the same x.
    #[must_use]
    pub fn above(self, y: Axis, series: Vec<Series>) -> Self {
        Self { lower: Some((y, series)), ..self }
    }

    /// The same without a legend, as where another chart has it for both.
    #[must_use]
    pub fn without_legend(self) -> Self {
        Self { legend: false, ..self }
    }

    /// The same without series that have no values.
    #[must_use]
    pub fn without_empty(mut self) -> Self {
        self.series.retain(|series| !series.points.is_empty());
        self
    }

    /// Its title.
    pub fn title(&self) -> &str {
        &self.title
    }

    /// Whether there is something to see that is not only for comparison.
    pub fn has_curve(&self) -> bool {
        let seen = |point: &(f64, f64)| point.0.is_finite() && point.1.is_finite();
        self.series.iter().any(|series| !series.is_dashed() && series.points.iter().any(seen))
    }

    /// The chart as SVG. What is not finite is left out, as is what a logarithmic axis does not have.
    pub fn svg(&self) -> String {
        self.drawing().svg()
    }

    /// The chart as a drawing, which is an SVG or a PNG. What is not finite is left out, as is what a logarithmic axis does not have.
    pub fn drawing(&self) -> Drawing {
        let sheet = if self.large { &LARGE } else { &SMALL };
        let [width, height] = self.size.unwrap_or([sheet.width, sheet.height]);
        let named: Vec<usize> =
            (0..self.series.len()).filter(|&number| self.is_named(number)).collect();
        let widest = named.iter().map(|&number| text_width(&self.series[number].name, sheet.tick));
        let widest = widest.fold(0.0, f64::max) + KEY + 26.0;
        let beside = !self.large && !named.is_empty() && widest <= SIDE * width;
        let columns = (((width - 16.0) / widest) as usize).clamp(1, 3.min(named.len().max(1)));
        let below = if beside || named.is_empty() {
            0.0
        } else {
            sheet.line * named.len().div_ceil(columns) as f64 + 10.0
        };
        let mut drawing = Drawing::new(&self.title, width, height + below);
        let bottom = drawing.height() - below;
        let right = width - if beside { widest } else { sheet.right };
        self.head(&mut drawing, sheet);
        self.fields(&mut drawing, sheet, right, bottom);
        for (place, &number) in named.iter().enumerate() {
            let at = if beside {
                let top = sheet.top + self.said_height(sheet) + 0.5 * sheet.line;
                [right + 12.0, top + sheet.line * place as f64]
            } else {
                let left = 12.0 + (place % columns) as f64 * (width - 16.0) / columns as f64;
                [left, bottom + 0.5 * sheet.line + sheet.line * (place / columns) as f64]
            };
            let room = if beside { widest - 12.0 } else { (width - 16.0) / columns as f64 };
            self.key(&mut drawing, sheet, number, at, room);
        }
        drawing
    }

    /// Whether the legend has a series.
    fn is_named(&self, number: usize) -> bool {
        self.legend && !self.series[number].name.is_empty()
    }

    fn said_height(&self, sheet: &Sheet) -> f64 {
        1.3 * sheet.tick * self.said.len() as f64
    }

    /// The title, and what is said below it.
    fn head(&self, drawing: &mut Drawing, sheet: &Sheet) {
        let (at, room) = (0.55 * sheet.name, drawing.width() - 1.1 * sheet.name);
        let look = TextLook::new(sheet.title).bold();
        drawing.short_text([at, 1.55 * sheet.title], &self.title, look, room);
        let look = TextLook::new(sheet.tick).tinted(Tint::SOFT);
        for (line, said) in self.said.iter().enumerate() {
            let below = 1.55 * sheet.title + 1.3 * sheet.tick * (line + 1) as f64 + 2.0;
            drawing.short_text([at, below], said, look, room);
        }
    }

    /// The axes with all that is between them.
    fn fields(&self, drawing: &mut Drawing, sheet: &Sheet, right: f64, bottom: f64) {
        let lower = self.lower.as_ref().map(|(axis, series)| (axis, series));
        let all: Vec<(&Axis, &Vec<Series>)> =
            std::iter::once((&self.y, &self.series)).chain(lower).collect();
        let of_x = all.iter().flat_map(|(_, series)| *series);
        let of_x = of_x.flat_map(|series| series.x().chain(series.errors.iter().map(|end| end.0)));
        let x = Scale::new(&self.x, of_x, self.large);
        let of_y = |(axis, series): &(&Axis, &Vec<Series>)| {
            Scale::new(axis, heights(series, self.large).into_iter(), self.large)
        };
        let scales: Vec<Scale> = all.iter().map(of_y).collect();
        let widest = scales.iter().map(|scale| scale.widest(sheet.tick)).fold(0.0, f64::max);
        let left = (widest + sheet.gap + 1.6 * sheet.name).max(sheet.left);
        let (top, bottom) = (sheet.top + self.said_height(sheet), bottom - sheet.bottom);
        let end = if lower.is_some() { top + 0.7 * (bottom - top) } else { bottom };
        let ends = [(top, end, lower.is_none()), (end + 14.0, bottom, true)];
        for (((axis, series), y), (top, end, is_lowest)) in all.into_iter().zip(&scales).zip(ends) {
            let at = [left, top, (right - left).max(1.0), (end - top).max(1.0)];
            let ink = |number: usize| self.ink(series, number);
            let names = [&*self.x.label, &*axis.label];
            Field { x: &x, y, at, sheet }.draw(drawing, names, series, &ink, is_lowest);
        }
    }

    /// The colour of a series, and its dashes if it has some.
    fn ink(&self, all: &[Series], number: usize) -> Stroke {
        let series = &all[number];
        if series.is_dashed() {
            let before = all[..number].iter().filter(|series| series.is_dashed()).count();
            return Stroke::new(Tint::INK, 1.0).dashed(DASHES[before % DASHES.len()]);
        }
        let width = if self.large { 2.0 } else { 1.5 };
        Stroke::new(Tint::series(series.style.unwrap_or(number)), width)
    }

    /// A series in the legend.
    fn key(
        &self,
        drawing: &mut Drawing,
        sheet: &Sheet,
        number: usize,
        [x, y]: [f64; 2],
        room: f64,
    ) {
        let series = &self.series[number];
        let ink = self.ink(&self.series, number);
        let middle = [x + KEY / 2.0, y];
        match series.look {
            Look::Points => drawing.circle(middle, 3.0, ink.tint),
            Look::Bars => {
                drawing.rect([x + 4.0, y - 5.0, KEY - 8.0, 10.0], ink.tint.covering(0.45));
            }
            Look::Mark => {
                drawing.line([x, y], [x + KEY, y], ink.dashed(MARK));
            }
            _ => drawing.line([x, y], [x + KEY, y], ink),
        }
        if series.look == Look::Curve {
            mark(drawing, series.style.unwrap_or(number), middle);
        }
        let (at, look) = ([x + KEY + 6.0, y + 0.36 * sheet.tick], TextLook::new(sheet.tick));
        drawing.short_text(at, &series.name, look, room - KEY - 8.0);
    }
}

/// The heights that an axis shows. What has no place in x counts for no height in a chart with round ends.
fn heights(series: &[Series], large: bool) -> Vec<f64> {
    let mut heights = Vec::new();
    for series in series {
        let shown = series
            .points
            .iter()
            .filter(|point| point.1.is_finite() && (point.0.is_finite() || !large));
        heights.extend(shown.map(|point| point.1));
        heights.extend(series.band.iter().chain(&series.errors).flat_map(|end| [end.1, end.2]));
        if series.look == Look::Level {
            heights.push(series.points[0].1);
        }
        if series.look == Look::Bars {
            heights.push(0.0);
        }
    }
    heights
}
