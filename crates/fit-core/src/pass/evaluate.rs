//! The sums of eq. 5 and 7 by way of the two axes.

use super::group::{Group, sum_axis};
use super::tile::{Along, Line, Tile};
use crate::arithmetic::{Real, Task};
use crate::search::solve::Symmetric;
use crate::spot::axis::{AxisSums, GaussianAxis};
use crate::spot::sums::{DataSums, RowSums};

/// The sums over the axis along x, over that along y, and those with the data.
pub type AxesAndData<R> = (AxisSums<R>, AxisSums<R>, DataSums<R>);

/// The sums over a window, with the second derivatives if `SECOND`.
#[inline(always)]
pub fn evaluate<R: Real, T: Tile<R>, const SECOND: bool>(
    tile: &mut T,
    (along, across): (GaussianAxis<R>, GaussianAxis<R>),
) -> AxesAndData<R> {
    let along = tile.take_along::<SECOND>(along);
    let mut sums = AxisSums::zero();
    tile.take_across::<SECOND>(across, &mut sums);
    let mut data = DataSums::zero();
    let (lane, lines) = (tile.group().lane(), tile.lines());
    // With second derivatives a line takes five sums instead of three.
    let most = if SECOND { (T::AT_ONCE * 3).div_ceil(5) } else { T::AT_ONCE };
    if most == 1 {
        for line in 0..lines {
            add_lines::<R, T, 1, SECOND>(tile, lane, line, &mut sums, &mut data);
        }
    } else {
        // As few blocks of lines as possible, of sizes that differ by one at most.
        let blocks = lines.div_ceil(most);
        let mut first = 0;
        for block in 1..=blocks {
            let end = block * lines / blocks;
            match end - first {
                5 if most >= 5 => {
                    add_lines::<R, T, 5, SECOND>(tile, lane, first, &mut sums, &mut data);
                }
                4 if most >= 4 => {
                    add_lines::<R, T, 4, SECOND>(tile, lane, first, &mut sums, &mut data);
                }
                3 if most >= 3 => {
                    add_lines::<R, T, 3, SECOND>(tile, lane, first, &mut sums, &mut data);
                }
                2 => add_lines::<R, T, 2, SECOND>(tile, lane, first, &mut sums, &mut data),
                _ => add_lines::<R, T, 1, SECOND>(tile, lane, first, &mut sums, &mut data),
            }
            first = end;
        }
    }
    let group = tile.group();
    let across = sum_axis::<R, _, SECOND>(group, across.profile(), sums);
    data.value = group.sum(data.value);
    for j in 0..4 {
        data.by[j] = group.sum(data.by[j]);
    }
    if SECOND {
        data.second = sum_second(group, data.second);
    }
    (along, across, data)
}

/// [`evaluate`].
pub(super) struct Evaluate<'a, R, T, const SECOND: bool> {
    pub(super) tile: &'a mut T,
    pub(super) axes: (GaussianAxis<R>, GaussianAxis<R>),
}

impl<R: Real, T: Tile<R>, const SECOND: bool> Task<R> for Evaluate<'_, R, T, SECOND> {
    type Output = AxesAndData<R>;
    #[inline(always)]
    fn run(self) -> AxesAndData<R> {
        evaluate::<_, _, SECOND>(self.tile, self.axes)
    }
}

/// The sums over all lanes, of those that are sums ([`crate::spot::sums::finished`]).
#[inline(always)]
pub(super) fn sum_second<R: Real, G: Group<R>>(
    group: &G,
    mut sums: Symmetric<R, 4>,
) -> Symmetric<R, 4> {
    for j in 0..4 {
        for k in 0..4 {
            if k >= j && (k > j || j >= 2) {
                sums.0[j][k] = group.sum(sums.0[j][k]);
            }
        }
    }
    sums
}

/// Adds `K` lines from `first` on. Their chains of additions overlap, each in its own order.
#[inline(always)]
fn add_lines<R: Real, T: Tile<R>, const K: usize, const SECOND: bool>(
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
        let sample = along.at::<SECOND>(place, index);
        index = index + R::splat(1.0);
        for k in 0..K {
            sums[k].add::<SECOND>(lines[k].pixel(place), sample);
        }
    }
    for k in 0..K {
        data.add::<SECOND>(sums[k], tile.across::<SECOND>(lane, first + k, across));
    }
}
