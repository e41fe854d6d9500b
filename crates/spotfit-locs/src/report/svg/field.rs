//! What is between two axes.

use super::axis::Scale;
use super::series::{Look, MARK, Series, mark};
use super::sheet::Sheet;
use crate::report::figure::{Drawing, Stroke, TextLook, Tint, text_width};

/// So many marks a curve has, about.
const MARKS: usize = 40;
/// Up to so many points stand alone, and are larger.
const FEW: usize = 80;
/// Half of the line at either end of the bar of an error.
const END: f64 = 2.5;

/// Where things are between two axes.
pub(super) struct Field<'a> {
    pub(super) x: &'a Scale,
    pub(super) y: &'a Scale,
    /// Left, top, width and height.
    pub(super) at: [f64; 4],
    pub(super) sheet: &'a Sheet,
}

impl Field<'_> {
    fn place(&self, (x, y): (f64, f64)) -> [f64; 2] {
        self.of_shares([self.x.share(x), self.y.share(y)])
    }

    /// The line through the field at this share of one of its axes: x, or y.
    fn across(&self, axis: usize, share: f64) -> [[f64; 2]; 2] {
        let [left, top, width, height] = self.at;
        match (axis, self.of_shares([share; 2])) {
            (0, [x, _]) => [[x, top], [x, top + height]],
            (_, [_, y]) => [[left, y], [left + width, y]],
        }
    }

    fn of_shares(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let [left, top, width, height] = self.at;
        [left + x * width, top + height - y * height]
    }

    /// All of it. Only the lowest of some fields has numbers at x.
    pub(super) fn draw(
        &self,
        drawing: &mut Drawing,
        names: [&str; 2],
        series: &[Series],
        ink: &dyn Fn(usize) -> Stroke,
        is_lowest: bool,
    ) {
        self.grid(drawing);
        self.numbers(drawing, is_lowest);
        self.names(drawing, names, is_lowest);
        drawing.clipped(self.at, |drawing| {
            for (number, series) in series.iter().enumerate() {
                self.series(drawing, series, ink(number));
            }
        });
        self.axes(drawing);
        self.marks(drawing, series);
    }

    fn axes(&self, drawing: &mut Drawing) {
        let [left, top, width, height] = self.at;
        let corner = [left, top + height];
        drawing.polyline(
            [[left, top], corner, [left + width, top + height]],
            Stroke::new(Tint::INK, 1.0),
        );
    }

    fn grid(&self, drawing: &mut Drawing) {
        for (axis, scale) in [self.x, self.y].into_iter().enumerate() {
            for (places, cover) in [(&scale.small, 0.3), (&scale.ticks, 0.75)] {
                for place in places {
                    let line = self.across(axis, scale.share_of_place(*place));
                    drawing.polyline(line, Stroke::new(Tint::GRID.covering(cover), 1.0));
                }
            }
        }
    }

    /// The numbers at the axes: as many as there is room for.
    pub(super) fn numbers(&self, drawing: &mut Drawing, is_lowest: bool) {
        let ([left, top, _, height], Sheet { tick: size, gap, .. }) = (self.at, *self.sheet);
        let look = TextLook::new(size);
        if is_lowest {
            let labels: Vec<(String, f64, f64)> = self
                .x
                .ticks
                .iter()
                .map(|tick| {
                    let text = self.x.text(*tick);
                    let half = text_width(&text, size) / 2.0;
                    let x = self.across(0, self.x.share_of_place(*tick))[0][0];
                    // The first and the last stay on the paper.
                    (text, x.min(drawing.width() - half - 1.0).max(half + 1.0), half)
                })
                .collect();
            let apart = |a: usize, b: usize| {
                labels[b].1 - labels[b].2 - labels[a].1 - labels[a].2 >= 0.5 * size
            };
            for number in some(&self.x.ticks, apart) {
                let (text, x, _) = &labels[number];
                let below = top + height + 1.15 * size + 4.0;
                drawing.text([*x, below], text, look.middle().classed("x"));
            }
        }
        let y = |number: usize| self.across(1, self.y.share_of_place(self.y.ticks[number]))[0][1];
        for number in some(&self.y.ticks, |a, b| y(a) - y(b) >= 1.25 * size) {
            let (at, text) =
                ([left - gap, y(number) + 0.36 * size], self.y.text(self.y.ticks[number]));
            drawing.text(at, &text, look.end().classed("y"));
        }
    }

    pub(super) fn names(&self, drawing: &mut Drawing, [x, y]: [&str; 2], is_lowest: bool) {
        let ([left, top, width, height], size) = (self.at, self.sheet.name);
        let look = TextLook::new(size).middle();
        if is_lowest {
            let below = top + height + self.sheet.bottom - 0.75 * size;
            let room = width + 2.0 * self.sheet.right;
            drawing.short_text([left + width / 2.0, below], x, look, room);
        }
        // There is some room below the lowest field, and above it.
        let room = if is_lowest { height + 14.0 } else { height - 6.0 };
        drawing.short_text([1.25 * size, top + height / 2.0], y, look.turned(), room.max(0.0));
    }

    fn series(&self, drawing: &mut Drawing, series: &Series, ink: Stroke) {
        let shown = || {
            let places = series.points.iter().map(|point| self.place(*point));
            places.filter(|place| place.iter().all(|at| at.is_finite()))
        };
        self.band(drawing, series, ink.tint);
        self.errors(drawing, series, ink.tint);
        match series.look {
            Look::Curve => drawing.polyline(shown(), ink.classed("curve")),
            Look::Line | Look::Reference => drawing.polyline(shown(), ink),
            Look::Level => drawing.polyline(self.across(1, self.y.share(series.points[0].1)), ink),
            Look::Points => {
                let (radius, cover) =
                    if series.points.len() <= FEW { (2.8, 0.85) } else { (1.8, 0.6) };
                shown().for_each(|place| drawing.circle(place, radius, ink.tint.covering(cover)));
            }
            Look::Bars => series.points.windows(2).for_each(|pair| {
                let ([from, high], [to, _]) =
                    (self.place(pair[0]), self.place((pair[1].0, pair[0].1)));
                // A logarithmic axis has no zero.
                let low = Some(self.place((pair[0].0, 0.0))[1]).filter(|low| low.is_finite());
                let low = low.unwrap_or(self.at[1] + self.at[3]);
                let rect = [from, high.min(low), (to - from).max(0.3), (low - high).abs()];
                drawing.rect(rect, ink.tint.covering(0.45));
            }),
            Look::Mark => {
                let line = self.across(0, self.x.share(series.points[0].0));
                drawing.polyline(line, Stroke::new(ink.tint, 1.0).dashed(MARK));
            }
        }
    }

    /// What is drawn faintly: there along its upper end, and back along its lower one.
    fn band(&self, drawing: &mut Drawing, series: &Series, tint: Tint) {
        let ends = |end: &(f64, f64, f64)| [self.place((end.0, end.1)), self.place((end.0, end.2))];
        let band: Vec<_> = series.band.iter().map(ends).filter(|ends| is_place(ends)).collect();
        let there = band.iter().map(|ends| ends[1]);
        let back = band.iter().rev().map(|ends| ends[0]);
        drawing.polygon(there.chain(back), tint.covering(0.2));
    }

    fn errors(&self, drawing: &mut Drawing, series: &Series, tint: Tint) {
        let stroke = Stroke::new(tint.covering(0.7), 1.0);
        let [_, top, _, height] = self.at;
        for &(x, low, high) in &series.errors {
            let [x, high] = self.place((x, high));
            // What a logarithmic axis does not have lies below it.
            let low = Some(self.y.share(low)).filter(|share| share.is_finite()).unwrap_or(-1.0);
            let low = self.across(1, low)[0][1];
            if !is_place(&[[x, low], [x, high]]) {
                continue;
            }
            drawing.line([x, high], [x, low], stroke);
            for end in [low, high].into_iter().filter(|end| (top..=top + height).contains(end)) {
                drawing.line([x - END, end], [x + END, end], stroke);
            }
        }
    }

    /// The marks of curves, which may reach over the ends of the axes.
    fn marks(&self, drawing: &mut Drawing, all: &[Series]) {
        let inside = |share: &f64| (-1e-9..=1.0 + 1e-9).contains(share);
        for (number, series) in all.iter().enumerate() {
            if series.look != Look::Curve {
                continue;
            }
            let shares = series.points.iter().map(|&(x, y)| [self.x.share(x), self.y.share(y)]);
            let shown: Vec<[f64; 2]> = shares.filter(|shares| shares.iter().all(inside)).collect();
            // Where lines lie upon each other, each has its marks elsewhere.
            let each = shown.len().div_ceil(MARKS);
            let each = if each > 1 { 4 * each } else { each };
            let first = if each > 1 { (number * each) / all.len() } else { 0 };
            for shares in shown.iter().skip(first).step_by(each.max(1)) {
                mark(drawing, series.style.unwrap_or(number), self.of_shares(*shares));
            }
        }
    }
}

fn is_place(places: &[[f64; 2]]) -> bool {
    places.iter().flatten().all(|at| at.is_finite())
}

/// The numbers of ticks that have room beside each other: every one, or every second, and so on, zero among them if it is there.
pub(super) fn some(ticks: &[f64], apart: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let zero = ticks.iter().position(|tick| *tick == 0.0).unwrap_or(0);
    let chosen = |each: usize| -> Vec<usize> {
        (0..ticks.len()).filter(|number| number % each == zero % each).collect()
    };
    let fits = |chosen: &[usize]| chosen.windows(2).all(|pair| apart(pair[0], pair[1]));
    (1..ticks.len().max(2)).map(chosen).find(|chosen| fits(chosen)).unwrap_or_default()
}
