//! Localizations in an order in which those of a square lie together, for pictures of parts.

use std::ops::Range;

use rayon::prelude::*;

use crate::averages::sorted_sample;

/// Bits of the place along an axis.
const BITS: u32 = 16;
/// Localizations of a square that are not worth looking for apart.
const FEW: usize = 64;
/// The share of a coordinate at either end that may lie beyond the grid, where it is far from all others.
const FAR: f64 = 0.001;
/// So many coordinates say where the grid is.
const SAMPLE: usize = 1 << 16;

/// An order of localizations in which those of each square of a grid follow each other, and so do those of its quarters (Morton 1966).
/// Those with a coordinate that is not finite are left out.
#[derive(Clone, Debug)]
pub struct Order {
    /// The corner of the grid, and the side of its cells, a power of two.
    corner: [f64; 2],
    cell: f64,
    /// The place of each in the grid: bits of the column and of the row in turn.
    keys: Vec<u32>,
    rows: Vec<u32>,
}

impl Order {
    /// Orders places in the plane, of which there may be 2³².
    ///
    /// # Panics
    /// If there are not as many of `x` as of `y`, or more than 2³².
    pub fn new(x: &[f64], y: &[f64]) -> Self {
        assert_eq!(x.len(), y.len(), "an x for each y");
        assert!(u32::try_from(x.len().saturating_sub(1)).is_ok(), "at most 2³² localizations");
        let [(left, right), (top, bottom)] = [x, y].map(ends);
        let side = (right - left).max(bottom - top);
        // The last cells hold what is beyond.
        let usable = f64::from((1u32 << BITS) - 4);
        let cell = power_above(side / usable);
        let corner = [left, top].map(|low| (low / cell).floor() * cell - 2.0 * cell);
        let grid = Self { corner, cell, keys: Vec::new(), rows: Vec::new() };
        let placed = (0..x.len() as u64).into_par_iter().filter_map(|row| {
            let (x, y) = (x[row as usize], y[row as usize]);
            let finite = x.is_finite() && y.is_finite();
            finite.then(|| u64::from(key(grid.column(x, 0), grid.column(y, 1))) << 32 | row)
        });
        let mut placed: Vec<u64> = placed.collect();
        placed.par_sort_unstable();
        let keys = placed.par_iter().map(|place| (place >> 32) as u32).collect();
        let rows = placed.par_iter().map(|&place| place as u32).collect();
        Self { keys, rows, ..grid }
    }

    /// The number of the row that has each place.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// The values of a column in this order.
    pub fn arranged(&self, values: &[f64]) -> Vec<f64> {
        self.rows.par_iter().map(|&row| values[row as usize]).collect()
    }

    /// The column of the grid, or its row, in which a coordinate is.
    fn column(&self, value: f64, axis: usize) -> u32 {
        // What is beyond is in the last.
        let place = ((value - self.corner[axis]) / self.cell).clamp(0.0, f64::from(u32::MAX));
        (place as u32).min((1 << BITS) - 1)
    }

    /// Which places may be within a rectangle: left, top, right, bottom. All that are within it are among them.
    pub fn within(&self, [left, top, right, bottom]: [f64; 4]) -> Vec<Range<usize>> {
        let low = [self.column(left, 0), self.column(top, 1)];
        let high = [self.column(right, 0), self.column(bottom, 1)];
        let mut found = Vec::new();
        if left <= right && top <= bottom {
            self.search(0..self.keys.len(), [0, 0], BITS, low, high, &mut found);
        }
        found
    }

    /// Looks in a square of 2^`bits` cells, whose places are these.
    fn search(
        &self,
        places: Range<usize>,
        from: [u32; 2],
        bits: u32,
        low: [u32; 2],
        high: [u32; 2],
        found: &mut Vec<Range<usize>>,
    ) {
        let last = from.map(|from| from + ((1 << bits) - 1));
        let apart = |axis: usize| last[axis] < low[axis] || from[axis] > high[axis];
        if places.is_empty() || apart(0) || apart(1) {
            return;
        }
        let inside = |axis: usize| low[axis] <= from[axis] && last[axis] <= high[axis];
        if bits == 0 || places.len() <= FEW || (inside(0) && inside(1)) {
            match found.last_mut() {
                Some(before) if before.end == places.start => before.end = places.end,
                _ => found.push(places),
            }
            return;
        }
        let (half, first) = (bits - 1, u64::from(key(from[0], from[1])));
        let mut start = places.start;
        for quarter in 0..4u32 {
            let end = first + (u64::from(quarter + 1) << (2 * half));
            let rest = &self.keys[start..places.end];
            let end = start + rest.partition_point(|&key| u64::from(key) < end);
            let from = [from[0] + ((quarter & 1) << half), from[1] + ((quarter >> 1) << half)];
            self.search(start..end, from, half, low, high, found);
            start = end;
        }
    }

    /// How many bits of a key tell the places apart within a square whose side is at most this; nothing if cells are larger.
    pub(super) fn shift(&self, side: f64) -> Option<u32> {
        let fits = |bits: &u32| self.cell * f64::from(1u32 << bits) <= side;
        (0..BITS).rev().find(fits).map(|bits| 2 * bits)
    }

    pub(super) fn keys(&self) -> &[u32] {
        &self.keys
    }

    /// Whether a key is that of a cell at the edge, which may hold what is far away.
    pub(super) fn is_edge(key: u32) -> bool {
        let last = (1u32 << BITS) - 1;
        [even_bits(key), even_bits(key >> 1)].iter().any(|&place| place == 0 || place == last)
    }
}

/// The bits of the column and of the row in turn.
fn key(column: u32, row: u32) -> u32 {
    spread(column) | spread(row) << 1
}

/// The lower 16 bits with a zero between two.
fn spread(bits: u32) -> u32 {
    let bits = (bits | bits << 8) & 0x00ff_00ff;
    let bits = (bits | bits << 4) & 0x0f0f_0f0f;
    let bits = (bits | bits << 2) & 0x3333_3333;
    (bits | bits << 1) & 0x5555_5555
}

/// Every second bit.
fn even_bits(bits: u32) -> u32 {
    let bits = bits & 0x5555_5555;
    let bits = (bits | bits >> 1) & 0x3333_3333;
    let bits = (bits | bits >> 2) & 0x0f0f_0f0f;
    let bits = (bits | bits >> 4) & 0x00ff_00ff;
    (bits | bits >> 8) & 0xffff
}

/// Where coordinates begin and end, but for those far from all others.
fn ends(values: &[f64]) -> (f64, f64) {
    let sample = sorted_sample(values, SAMPLE);
    let Some(last) = sample.len().checked_sub(1) else { return (0.0, 1.0) };
    let at = |share: f64| sample[(last as f64 * share).round() as usize];
    let (low, high) = (at(FAR), at(1.0 - FAR));
    let beyond = (high - low).max(f64::MIN_POSITIVE) / 4.0;
    (low - beyond, high + beyond)
}

/// The least power of two that is not less.
fn power_above(length: f64) -> f64 {
    let power = length.clamp(1e-290, 1e290).log2().ceil();
    2f64.powi(power as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that keys hold column and row.
    #[test]
    fn keys_are_of_both() {
        for (column, row) in [(0, 0), (1, 0), (0, 1), (65_535, 3), (0x1234, 0xabcd)] {
            let key = key(column, row);
            assert_eq!([even_bits(key), even_bits(key >> 1)], [column, row]);
        }
        assert!(Order::is_edge(0) && Order::is_edge(u32::MAX) && !Order::is_edge(key(1, 1)));
    }
}
