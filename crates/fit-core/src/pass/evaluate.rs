//! The sums of eq. 5 and 7 by way of the two axes.

use super::group::{Group, sum_axis};
use super::tile::{Along, Line, Tile};
use crate::arithmetic::Real;
use crate::spot::axis::AxisSums;
use crate::spot::shape::Separable;
use crate::spot::sums::{DataSums, RowSums, Sums};

/// The sums over a window at the parameters `p`.
#[inline(always)]
pub fn evaluate<R: Real, T: Tile<R>, S: Separable<P>, const P: usize>(
    tile: &mut T,
    shape: &S,
    p: &[R; P],
) -> Sums<R, P> {
    let (x, y) = shape.axes(p);
    let (along, across) = if T::COLUMNS { (y, x) } else { (x, y) };
    let along = tile.take_along(along);
    let mut sums = AxisSums::zero();
    tile.take_across(across, &mut sums);
    let mut data = DataSums::zero();
    let (lane, lines) = (tile.group().lane(), tile.lines());
    if T::AT_ONCE == 1 {
        for line in 0..lines {
            add_lines::<R, T, 1>(tile, lane, line, &mut sums, &mut data);
        }
    } else {
        // As few blocks of lines as possible, of sizes that differ by one at most.
        let blocks = lines.div_ceil(T::AT_ONCE);
        let mut first = 0;
        for block in 1..=blocks {
            let end = block * lines / blocks;
            match end - first {
                1 => add_lines::<R, T, 1>(tile, lane, first, &mut sums, &mut data),
                2 => add_lines::<R, T, 2>(tile, lane, first, &mut sums, &mut data),
                3 => add_lines::<R, T, 3>(tile, lane, first, &mut sums, &mut data),
                4 => add_lines::<R, T, 4>(tile, lane, first, &mut sums, &mut data),
                _ => add_lines::<R, T, 5>(tile, lane, first, &mut sums, &mut data),
            }
            first = end;
        }
    }
    let across = sum_axis(tile.group(), sums);
    let group = tile.group();
    let data = DataSums {
        value: group.sum(data.value),
        by_x: group.sum(data.by_x),
        by_y: group.sum(data.by_y),
        by_width_x: group.sum(data.by_width_x),
        by_width_y: group.sum(data.by_width_y),
    };
    if T::COLUMNS {
        shape.sums(&across, &along, &data.turned())
    } else {
        shape.sums(&along, &across, &data)
    }
}

/// Adds `K` lines from `first` on. Their chains of additions overlap, each in its own order.
#[inline(always)]
fn add_lines<R: Real, T: Tile<R>, const K: usize>(
    tile: &T,
    lane: R,
    first: usize,
    across: &mut AxisSums<R>,
    data: &mut DataSums<R>,
) {
    let length = tile.length();
    let along = tile.along(length);
    let mut lines = [tile.line(lane, first, length); K];
    for k in 1..K {
        lines[k] = tile.line(lane, first + k, length);
    }
    let mut sums = [RowSums::zero(); K];
    let mut index = R::splat(0.0);
    for place in 0..length {
        let sample = along.at(place, index);
        index = index + R::splat(1.0);
        for k in 0..K {
            sums[k].add(lines[k].pixel(place), sample);
        }
    }
    for k in 0..K {
        data.add(sums[k], tile.across(lane, first + k, across));
    }
}
