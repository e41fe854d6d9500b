//! The slopes of a window, taken out of its pixels: see [`crate::spot::plane`].

use super::group::Group;
use super::hidden::hide;
use super::tile::{Line, Store, Tile, keep};
use crate::arithmetic::Real;
use crate::spot::conditioning::{Conditioning, Extent};
use crate::spot::plane::Tilt;

/// Pixels that scatter by less than the root of this share about their middle, in pixels, do not tell a slope.
const NARROW: f64 = 1e-5;
/// What is left of the pixels beside a plane is rounding if its root mean square is below so many rounding units of them.
const RESOLVED: f64 = 32.0;

/// The pixels' weights.
#[derive(Clone, Copy, Debug)]
pub(super) enum Weighing<R> {
    /// All the same.
    Even,
    /// The notes, multiplied by a number.
    Notes(R),
    /// 1 where the note is no more than a bound, else 0.
    Below(R),
}

impl<R: Real> Weighing<R> {
    #[inline(always)]
    fn of(&self, note: R) -> R {
        let one = R::splat(1.0);
        match self {
            Self::Even => one,
            Self::Notes(scale) => note * *scale,
            Self::Below(bound) => R::select(note.le(*bound), one, R::splat(0.0)),
        }
    }
}

/// Where the pixels of a window with weights lie.
struct Places<R> {
    /// x̄_w and ȳ_w.
    middle: [R; 2],
    /// Σw(x − x̄_w)², Σw(x − x̄_w)(y − ȳ_w) and Σw(y − ȳ_w)².
    squares: [R; 3],
    /// Σw.
    n: R,
}

#[inline(always)]
fn places<R: Real, T: Tile<R>>(tile: &T, weighing: &Weighing<R>) -> Places<R> {
    let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
    if matches!(weighing, Weighing::Even) {
        let size = tile.size();
        let (w, h) = (size.width as f64, size.height as f64);
        let n = w * h;
        let squares = [n * (w * w - 1.0) / 12.0, 0.0, n * (h * h - 1.0) / 12.0];
        let middle = [0.5 * (w - 1.0), 0.5 * (h - 1.0)];
        return Places {
            middle: middle.map(R::splat),
            squares: squares.map(R::splat),
            n: R::splat(n),
        };
    }
    let (mut n, mut middle) = (zero, [zero; 2]);
    for line in 0..tile.lines() {
        let (in_window, number) = (tile.in_window(lane, line), tile.number(lane, line));
        let (mut of_line, mut index) = (zero, zero);
        for place in 0..length {
            let weight = weighing.of(tile.note(lane, line, place));
            let weight = keep::<R, T>(in_window, weight, zero);
            of_line = of_line + weight;
            middle[0] = index.mul_add(weight, middle[0]);
            index = index + R::splat(1.0);
        }
        n = n + of_line;
        middle[1] = number.mul_add(of_line, middle[1]);
    }
    let group = tile.group();
    let n = group.sum(n);
    let of_n = n.reciprocal();
    let middle = [group.sum(middle[0]) * of_n, group.sum(middle[1]) * of_n];
    let mut squares = [zero; 3];
    for line in 0..tile.lines() {
        let in_window = tile.in_window(lane, line);
        let b = tile.number(lane, line) - middle[1];
        let (mut of_line, mut by_place, mut index) = (zero, zero, zero);
        for place in 0..length {
            let weight = weighing.of(tile.note(lane, line, place));
            let weight = keep::<R, T>(in_window, weight, zero);
            let a = index - middle[0];
            let by = weight * a;
            of_line = of_line + weight;
            by_place = by_place + by;
            squares[0] = by.mul_add(a, squares[0]);
            index = index + R::splat(1.0);
        }
        squares[1] = b.mul_add(by_place, squares[1]);
        squares[2] = (b * b).mul_add(of_line, squares[2]);
    }
    let [along, both, across] =
        [group.sum(squares[0]), group.sum(squares[1]), group.sum(squares[2])];
    Places { middle, squares: [along, both, across], n }
}

/// Takes the slopes out of conditioned pixels; those that are hidden ([`hide`]) are the lowest again afterwards. Returns them, and
/// the conditioning and the extent of the pixels that are left, without their weights. `NOTES` is whether there are notes, and
/// `ABOVE` whether pixels are hidden whose notes are above the bound.
#[inline(always)]
pub(super) fn level<R: Real, T: Store<R>, const NOTES: bool, const ABOVE: bool>(
    tile: &mut T,
    data: &Conditioning<R>,
    weighing: Weighing<R>,
    bound: R,
) -> (Tilt<R>, Conditioning<R>, Extent<R>) {
    let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
    let (lines, far) = (tile.lines(), R::splat(f64::MAX));
    let weighing = if NOTES { weighing } else { Weighing::Even };
    let noted = !matches!(weighing, Weighing::Even);
    let Places { middle, squares: [xx, xy, yy], n } = places(tile, &weighing);
    let [first, number] = middle;
    let (mut by_along, mut by_across) = (zero, zero);
    for line in 0..lines {
        let (pixels, in_window) = (tile.line(lane, line, length), tile.in_window(lane, line));
        let b = tile.number(lane, line) - number;
        let (mut of_line, mut a) = (zero, -first);
        for place in 0..length {
            let pixel = keep::<R, T>(in_window, pixels.pixel(place), zero);
            let pixel =
                if noted { weighing.of(tile.note(lane, line, place)) * pixel } else { pixel };
            of_line = of_line + pixel;
            by_along = a.mul_add(pixel, by_along);
            a = a + R::splat(1.0);
        }
        by_across = b.mul_add(of_line, by_across);
    }
    let group = tile.group();
    let [by_x, by_y] = [group.sum(by_along), group.sum(by_across)];
    let least = R::splat(NARROW) * n;
    let told = least.lt(xx);
    let inverse_x = R::select(told, xx.reciprocal(), zero);
    let shear = xy * inverse_x;
    let across = shear.neg_mul_add(xy, yy);
    let inverse_y = R::select(least.lt(across), across.reciprocal(), zero);
    let inverse = [inverse_x, inverse_y];
    let slopes = [by_x * inverse_x, shear.neg_mul_add(by_x, by_y) * inverse_y];
    let tilt = Tilt { middle, shear, inverse, slopes };

    let [_, by_place, by_line] = tilt.plane(zero, slopes);
    let (mut sum, mut squares, mut low, mut high) = (zero, zero, far, -far);
    for line in 0..lines {
        let in_window = tile.in_window(lane, line);
        let b = tile.number(lane, line) - number;
        let mut slope = by_place.neg_mul_add(first, by_line * b);
        for place in 0..length {
            let pixel = tile.pixel(line, place) - slope;
            let pixel = keep::<R, T>(in_window, pixel, zero);
            tile.set(line, place, in_window, pixel);
            // From their mean, which is about the same without slopes: little is left of a plane.
            let off = keep::<R, T>(in_window, pixel - data.mean, zero);
            sum = sum + off;
            squares = off.mul_add(off, squares);
            low = keep::<R, T>(in_window, pixel.min(low), low);
            high = keep::<R, T>(in_window, pixel.max(high), high);
            slope = slope + by_place;
        }
    }
    tile.publish();
    if noted {
        hide::<R, T, ABOVE>(tile, bound);
        (sum, squares, low, high) = (zero, zero, far, -far);
        for line in 0..lines {
            let in_window = tile.in_window(lane, line);
            for place in 0..length {
                let pixel = tile.pixel(line, place);
                let off = keep::<R, T>(in_window, pixel - data.mean, zero);
                sum = sum + off;
                squares = off.mul_add(off, squares);
                low = keep::<R, T>(in_window, pixel.min(low), low);
                high = keep::<R, T>(in_window, pixel.max(high), high);
            }
        }
    }
    let group = tile.group();
    let (sum, squares) = (group.sum(sum), group.sum(squares));
    let (low, high) = (group.least(low), -group.least(-high));
    let off = sum * data.inverse_n;
    let (mean, spread) = (data.mean + off, sum.neg_mul_add(off, squares));
    let rounding = R::splat((RESOLVED * R::EPSILON) * (RESOLVED * R::EPSILON)) * data.spread;
    let usable = data.usable & rounding.lt(spread);
    let extent = Extent { first: low, low, high };
    (tilt, Conditioning { mean, spread, usable, ..*data }, extent)
}
