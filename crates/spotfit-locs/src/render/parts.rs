//! Pictures of parts of many localizations, which lie in the order of their places.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::canvas::{POINT, Run, Shape, reach};
use super::{Blur, Canvas, Order, Point};
use crate::averages::sorted_sample;
use crate::parallel::of_all;

/// Up to so many localizations are drawn one by one, in the order of their rows: the picture has the bits of that of all.
const FEW: usize = 1 << 17;
/// Localizations that a thread looks at together.
const PIECE: usize = 1 << 16;
/// So many pieces are looked at together, such that memory is bounded.
const TOGETHER: usize = 64;
/// The share of uncertainties that are so large that those localizations are looked at wherever the part is.
const WIDE: f64 = 0.001;
/// So many uncertainties say which are large.
const SAMPLE: usize = 1 << 16;

/// How far localizations reach beyond their places.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    /// All are at most so wide,
    widest: f64,
    /// but for those at these places.
    wide: Vec<u32>,
}

impl Reach {
    /// Of localizations with these uncertainties, in their order.
    pub fn new(uncertainty: &[f64]) -> Self {
        let sample = sorted_sample(uncertainty, SAMPLE);
        let Some(last) = sample.len().checked_sub(1) else { return Self::default() };
        let widest = sample[(last as f64 * (1.0 - WIDE)) as usize];
        let wide = (0..uncertainty.len() as u32).into_par_iter();
        let wide = wide.filter(|&place| uncertainty[place as usize] > widest).collect();
        Self { widest, wide }
    }
}

/// Localizations in the order of their places. All lengths have the unit of the picture.
#[derive(Clone, Debug)]
pub struct Arranged<'a> {
    /// The order.
    pub order: &'a Order,
    /// x of each place.
    pub x: Cow<'a, [f64]>,
    /// y of each place.
    pub y: Cow<'a, [f64]>,
    /// The uncertainty of each place; empty where it is not known.
    pub uncertainty: Cow<'a, [f64]>,
    /// How far they reach.
    pub reach: &'a Reach,
    /// What colours show; empty if they show nothing.
    pub value: Cow<'a, [f64]>,
    /// Which of them are shown; all if it is empty.
    pub shown: &'a [bool],
}

impl Arranged<'_> {
    /// The localization at a place.
    pub fn point(&self, place: usize) -> Point {
        Point {
            x: self.x[place],
            y: self.y[place],
            uncertainty: self.uncertainty.get(place).copied().unwrap_or_default(),
            value: self.value.get(place).copied().unwrap_or_default(),
        }
    }

    /// Whether the localization at a place is shown.
    pub fn shows(&self, place: usize) -> bool {
        self.shown.is_empty() || self.shown[place]
    }

    fn is_wide(&self, place: usize) -> bool {
        self.uncertainty.get(place).is_some_and(|&width| width > self.reach.widest)
    }
}

impl Canvas {
    /// Adds the localizations that reach into the picture.
    ///
    /// Up to 2¹⁷ of them are summed in the order of their rows: the result has the same bits as [`Canvas::add`] of all. More of them are
    /// summed in cells of at most half a pixel, or half the width of a Gaussian: each cell is one Gaussian with the mean and the variances
    /// of what it holds, which leaves the picture as it is but for a hundredth of the brightness of a pixel.
    pub fn add_part(&mut self, part: &Arranged<'_>) {
        let view = *self.view();
        let (right, bottom) = (
            view.left + view.width as f64 * view.pixel,
            view.top + view.height as f64 * view.pixel,
        );
        let (widest, wide) = match view.blur {
            Blur::Fixed(sigma) => (sigma, &[][..]),
            Blur::Histogram => (0.0, &[][..]),
            _ => (part.reach.widest.max(view.least), &part.reach.wide[..]),
        };
        let around = reach(widest / view.pixel) * view.pixel + view.pixel;
        let rectangle = [view.left - around, view.top - around, right + around, bottom + around];
        let ranges = part.order.within(rectangle);
        let by_width = !wide.is_empty();
        let is_in = |place: &usize| part.shows(*place) && !(by_width && part.is_wide(*place));
        let count: usize = ranges.iter().map(Range::len).sum();
        let others = wide.iter().map(|&place| place as usize).filter(|&place| part.shows(place));
        if count <= FEW {
            let near = ranges.into_iter().flatten().filter(is_in);
            self.add_places(part, near.chain(others).collect());
            return;
        }
        self.add_places(part, others.collect());
        match self.grouping(part.order) {
            Grouping::Pixels => {
                let pieces = pieces(part.order.keys(), ranges, 0);
                for pieces in pieces.chunks(TOGETHER) {
                    let runs = of_all(pieces, |piece| self.runs(part, piece.clone()));
                    self.add_runs(&runs.concat());
                }
            }
            Grouping::None => {
                self.add_places(part, ranges.into_iter().flatten().filter(is_in).collect());
            }
            Grouping::Cells(shift) => {
                let pieces = pieces(part.order.keys(), ranges, shift);
                for pieces in pieces.chunks(TOGETHER) {
                    let cells =
                        |piece: &Range<usize>| self.cells(part, piece.clone(), shift, by_width);
                    self.add_shapes(&of_all(pieces, cells).concat());
                }
            }
        }
    }

    /// Adds the localizations at some places in the order of their rows.
    fn add_places(&mut self, part: &Arranged<'_>, mut places: Vec<usize>) {
        places.par_sort_unstable_by_key(|&place| part.order.rows()[place]);
        for places in places.chunks(PIECE) {
            let points: Vec<Point> = places.iter().map(|&place| part.point(place)).collect();
            self.add(&points);
        }
    }

    fn grouping(&self, order: &Order) -> Grouping {
        let view = self.view();
        let side = match view.blur {
            Blur::Histogram => return Grouping::Pixels,
            Blur::Fixed(sigma) if sigma / view.pixel < POINT => return Grouping::Pixels,
            Blur::Fixed(sigma) => (0.5 * sigma).max(0.25 * view.pixel),
            _ => 0.5 * view.least.max(view.pixel),
        };
        order.shift(side).map_or(Grouping::None, Grouping::Cells)
    }

    /// How many localizations of a piece each pixel has: whole numbers, whose sums do not depend on their order.
    fn runs(&self, part: &Arranged<'_>, piece: Range<usize>) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for place in piece.filter(|&place| part.shows(place)) {
            let point = part.point(place);
            let Some(pixel) = self.pixel_of(&point) else { continue };
            let colour = self.colour(point.value);
            match runs.last_mut().filter(|run| run.pixel == pixel) {
                Some(run) => run.add(colour),
                None => runs.push(Run { pixel, count: 1, colour }),
            }
        }
        runs
    }

    /// The Gaussians of the cells of a piece, and of those localizations that are wider than others.
    fn cells(
        &self,
        part: &Arranged<'_>,
        piece: Range<usize>,
        shift: u32,
        by_width: bool,
    ) -> Vec<Shape> {
        let view = *self.view();
        let (keys, inverse) = (part.order.keys(), view.pixel.recip());
        let least = match view.blur {
            Blur::Fixed(sigma) => sigma,
            _ => view.least,
        };
        let grows = !matches!(view.blur, Blur::Fixed(_));
        let mut shapes = Vec::new();
        let mut cell = Cell::default();
        let mut last = u32::MAX;
        for place in piece {
            if !part.shows(place) || by_width && part.is_wide(place) {
                continue;
            }
            let own = keys[place] >> shift;
            if own != last {
                shapes.extend(cell.take(least * inverse).and_then(|shape| self.placed(shape)));
                last = own;
            }
            let point = part.point(place);
            if !point.is_finite() {
                continue;
            }
            if grows && point.uncertainty > least || Order::is_edge(keys[place]) {
                shapes.extend(self.shape(&point));
                continue;
            }
            let (x, y) = ((point.x - view.left) * inverse, (point.y - view.top) * inverse);
            cell.add(x, y, self.colour(point.value));
        }
        shapes.extend(cell.take(least * inverse).and_then(|shape| self.placed(shape)));
        shapes
    }
}

/// How many localizations become few.
enum Grouping {
    /// Not at all.
    None,
    /// Each pixel counts its own.
    Pixels,
    /// Those whose keys are the same without so many bits.
    Cells(u32),
}

/// Ranges in pieces that end where a cell does.
fn pieces(keys: &[u32], ranges: Vec<Range<usize>>, shift: u32) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    for mut range in ranges {
        while range.len() > PIECE {
            let cell = keys[range.start + PIECE] >> shift;
            let rest = &keys[range.start + PIECE..range.end];
            let end = range.start + PIECE + rest.partition_point(|key| key >> shift == cell);
            pieces.push(range.start..end);
            range.start = end;
        }
        if !range.is_empty() {
            pieces.push(range);
        }
    }
    pieces
}

/// Sums over the localizations of a cell, whose coordinates are those from the first.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    count: f64,
    first: [f64; 2],
    sums: [f64; 2],
    squares: [f64; 2],
    colour: [f32; 3],
}

impl Cell {
    fn add(&mut self, x: f64, y: f64, colour: [f32; 3]) {
        if self.count == 0.0 {
            self.first = [x, y];
        }
        let place = [x - self.first[0], y - self.first[1]];
        self.count += 1.0;
        for axis in 0..2 {
            self.sums[axis] += place[axis];
            self.squares[axis] += place[axis] * place[axis];
        }
        self.colour.iter_mut().zip(colour).for_each(|(sum, part)| *sum += part);
    }

    /// The Gaussian of a cell in which there are some, each of this width.
    fn take(&mut self, sigma: f64) -> Option<Shape> {
        let Self { count, first, sums, squares, colour } = std::mem::take(self);
        if count == 0.0 {
            return None;
        }
        let mean = sums.map(|sum| sum / count);
        let width = |axis: usize| {
            let variance = squares[axis] / count - mean[axis] * mean[axis];
            (sigma * sigma + variance.max(0.0)).sqrt()
        };
        let [x, y] = [first[0] + mean[0], first[1] + mean[1]];
        Some(Shape { x, y, sigma: [width(0), width(1)], rows: [0, 0], count: count as f32, colour })
    }
}
