//! The paper's initial estimate.

use super::group::Group;
use super::tile::{Around, Line, Side, Tile, keep};
use crate::arithmetic::Real;
use crate::size::{Circle, Size};
use crate::spot::conditioning::Extent;

/// Estimates centre and σ of the spot in a window as the paper does; `extent` is the extent of its pixels.
///
/// The window is smoothed by a moving average of 3×3 pixels; the centre is the brightest pixel of
/// the smoothed window, the first of them in reading order. With β the lowest and β + α the highest
/// pixel, σ = √(M/π) with M the number of pixels above α·e^(−1/2) + β.
///
/// At the border the average is over the pixels that exist: 6 at an edge, 4 in a corner. Padding with
/// zeros would push spots at the border inwards.
///
/// With a side below 2, or with pixels that are not finite, the estimate is meaningless but safe.
#[inline(always)]
pub fn estimate<R: Real, T: Tile<R>>(tile: &T, extent: &Extent<R>) -> Circle<R> {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let Size { width, height } = tile.size();
    if width < 2 || height < 2 {
        return Circle::new(zero, zero, one);
    }
    let (group, lane, length) = (tile.group(), tile.group().lane(), tile.length());
    let best = in_rows(tile, lane);
    // The first in reading order of those that are as high as the highest: a lane has the first of its own.
    let far = R::splat(f64::MAX);
    let top = (-group.least(-best.value)).le(best.value);
    let y = group.least(R::select(top, best.y, far));
    let x = group.least(R::select(top & best.y.le(y), best.x, far));

    // e^(−1/2); low + (high − low)·e^(−1/2) without a difference that could overflow.
    let share = R::splat(0.606_530_659_712_633_4);
    let threshold = extent.low * (one - share) + extent.high * share;
    let mut above = zero;
    for line in 0..tile.lines() {
        let (pixels, in_window) = (tile.line(lane, line, length), tile.in_window(lane, line));
        for place in 0..length {
            let pixel = keep::<R, T>(in_window, pixels.pixel(place), extent.low);
            above = R::select(threshold.lt(pixel), above + one, above);
        }
    }
    let above = group.sum(above).max(one);
    let sigma = (above * R::splat(1.0 / core::f64::consts::PI)).sqrt();
    let last = |side: usize| R::splat((side - 1) as f64);
    Circle::new(x.min(last(width)), y.min(last(height)), sigma)
}

/// The brightest place of the smoothed window that a lane has seen.
///
/// Values are 9 times the average, which changes no comparison; sums of two pixels instead of three, at an edge,
/// count as if the third were their mean.
#[derive(Clone, Copy)]
struct Brightest<R> {
    value: R,
    x: R,
    y: R,
}

impl<R: Real> Brightest<R> {
    #[inline(always)]
    fn none() -> Self {
        Self { value: R::splat(f64::NEG_INFINITY), x: R::splat(0.0), y: R::splat(0.0) }
    }

    /// Takes in another place.
    #[inline(always)]
    fn see(&mut self, value: R, x: R, y: R) {
        let better = self.value.lt(value);
        self.value = R::select(better, value, self.value);
        self.x = R::select(better, x, self.x);
        self.y = R::select(better, y, self.y);
    }
}

/// What two columns or rows at an edge are multiplied with, in place of a third.
const MISSING: f64 = 1.5;

/// The brightest place: sums of three above one another, then of three side by side.
#[inline(always)]
fn in_rows<R: Real, T: Tile<R>>(tile: &T, lane: R) -> Brightest<R> {
    let mut best = Brightest::none();
    for line in 0..tile.lines() {
        let of_line = match tile.side(line) {
            Side::First => in_row::<R, T, true, false>(tile, lane, line),
            Side::Inner => in_row::<R, T, false, false>(tile, lane, line),
            Side::Last => in_row::<R, T, false, true>(tile, lane, line),
            Side::Varies => in_row::<R, T, true, true>(tile, lane, line),
        };
        let none = R::splat(f64::NEG_INFINITY);
        let value = keep::<R, T>(tile.in_window(lane, line), of_line.value, none);
        best.see(value, of_line.x, tile.number(lane, line));
    }
    best
}

/// The brightest place of a row, which may be the `FIRST` or the `LAST` of the window.
#[inline(always)]
fn in_row<R: Real, T: Tile<R>, const FIRST: bool, const LAST: bool>(
    tile: &T,
    lane: R,
    line: usize,
) -> Brightest<R> {
    let missing = R::splat(MISSING);
    let (one, mut column) = (R::splat(1.0), R::splat(0.0));
    let row = tile.number(lane, line);
    let last = R::splat((tile.size().height - 1) as f64);
    let length = tile.length();
    let pixels = tile.around(lane, line, length);
    let mut best = Brightest::none();
    let mut left = above_below::<R, _, FIRST, LAST>(&pixels, row, last, 0);
    let mut middle = above_below::<R, _, FIRST, LAST>(&pixels, row, last, 1);
    best.see((left + middle) * missing, column, row);
    for place in 2..length {
        let right = above_below::<R, _, FIRST, LAST>(&pixels, row, last, place);
        column = column + one;
        best.see(middle + (left + right), column, row);
        (left, middle) = (middle, right);
    }
    best.see((left + middle) * missing, column + one, row);
    best
}

/// The sum of three pixels above one another.
#[inline(always)]
fn above_below<R: Real, L: Around<R>, const FIRST: bool, const LAST: bool>(
    pixels: &L,
    row: R,
    last: R,
    place: usize,
) -> R {
    let missing = R::splat(MISSING);
    let here = pixels.pixel(place);
    match (FIRST, LAST) {
        (true, false) => (here + pixels.neighbour(place, 1)) * missing,
        (false, true) => (here + pixels.neighbour(place, -1)) * missing,
        (false, false) => here + (pixels.neighbour(place, -1) + pixels.neighbour(place, 1)),
        (true, true) => {
            let (above, below) = (pixels.neighbour(place, -1), pixels.neighbour(place, 1));
            let inner = here + (above + below);
            let edge = R::select(row.lt(R::splat(0.5)), (here + below) * missing, inner);
            R::select(last.le(row), (here + above) * missing, edge)
        }
    }
}
