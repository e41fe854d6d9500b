//! Points in square cells, to find those near a place.

use std::ops::Range;

use rayon::prelude::*;

use crate::averages::sorted_sample;

/// Errors in the columns of a table, or in a radius.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ColumnsError {
    /// The columns do not have the same number of rows.
    #[error("the column of {column} has {rows} rows, that of x has {expected}")]
    Rows {
        /// What the column holds.
        column: &'static str,
        /// Its number of rows.
        rows: usize,
        /// The number of rows of the column of x.
        expected: usize,
    },
    /// Rows are numbered with 32 bits.
    #[error("the table has {0} rows; at most {most} are possible", most = MOST_ROWS)]
    ManyRows(usize),
    /// A radius is not a valid length.
    #[error("{name} is {value}; it must be positive and finite")]
    Radius {
        /// Which radius.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// A frame has too many pairs of localizations and others, tracks or spots, near them.
    #[error("frame {frame}: more than {most} pairs of a localization and a {other} lie within the radius; choose a smaller one", most = MOST_NEAR)]
    Crowded {
        /// The frame, from 0.
        frame: u32,
        /// What the others are.
        other: &'static str,
    },
    /// The radius is so large that it would take hours to compare all pairs.
    #[error("{pairs} pairs of localizations are to be compared, at most {most} can be; choose a smaller radius", most = MOST_COMPARED)]
    ManyPairs {
        /// The number of pairs in neighbouring cells.
        pairs: u64,
    },
    /// The number of a group is not below the number of groups.
    #[error("row {row} is in group {group}, but there are {count} groups")]
    Group {
        /// The row.
        row: usize,
        /// Its group.
        group: u32,
        /// The number of groups.
        count: usize,
    },
}

/// As many pairs in a frame take some 400 MB.
pub(crate) const MOST_NEAR: usize = 1 << 23;
/// Two processors compare that many pairs in about ten minutes.
pub(crate) const MOST_COMPARED: u64 = 1_000_000_000_000;
/// The largest number of rows; one number of 32 bits stays free to mean none.
pub(crate) const MOST_ROWS: usize = u32::MAX as usize - 1;

/// Checks that the columns are as long as that of x, and not too long.
pub(crate) fn check_rows(x: &[f64], others: &[(&'static str, usize)]) -> Result<(), ColumnsError> {
    let expected = x.len();
    if let Some(&(column, rows)) = others.iter().find(|(_, rows)| *rows != expected) {
        return Err(ColumnsError::Rows { column, rows, expected });
    }
    if expected > MOST_ROWS { Err(ColumnsError::ManyRows(expected)) } else { Ok(()) }
}

/// Checks that a radius is a length.
pub(crate) fn check_radius(name: &'static str, value: f64) -> Result<(), ColumnsError> {
    let good = value > 0.0 && value.is_finite();
    if good { Ok(()) } else { Err(ColumnsError::Radius { name, value }) }
}

/// The rows in the order of their frames; rows of one frame stay in their order.
pub(crate) fn by_frame(frames: &[u32]) -> Vec<u32> {
    if frames.is_sorted() {
        return (0..frames.len() as u32).collect();
    }
    let with_row = |(row, &frame): (usize, &u32)| (u64::from(frame) << 32) | row as u64;
    let mut keys: Vec<u64> = frames.iter().enumerate().map(with_row).collect();
    keys.par_sort_unstable();
    keys.into_iter().map(|key| key as u32).collect()
}

/// Square cells, numbered from one in the middle of the points.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    side: f64,
    middle: (f64, f64),
}

impl Grid {
    /// Cells not smaller than `side`. They are larger where a side that small would put many points beyond the
    /// outermost cells. A few points far from the others change nothing.
    pub(crate) fn new(x: &[f64], y: &[f64], side: f64) -> Self {
        let ((middle_x, spread_x), (middle_y, spread_y)) = (middle(x), middle(y));
        // Rounding must not put points that are one side apart two cells apart.
        let side = (side * 1.000_001).max(spread_x.max(spread_y) / f64::from(1 << 28));
        Self { side: side.max(f64::MIN_POSITIVE), middle: (middle_x, middle_y) }
    }

    /// Column and row of the cell that holds a place; beyond the outermost cells, the outermost one.
    pub(crate) fn cell(&self, x: f64, y: f64) -> (i32, i32) {
        let number = |distance: f64| (distance / self.side).floor().clamp(-2e9, 2e9) as i32;
        (number(x - self.middle.0), number(y - self.middle.1))
    }
}

/// A number for each cell; those of the cells of a row are consecutive.
pub(crate) fn key((column, row): (i32, i32)) -> u64 {
    let unsigned = |number: i32| u64::from(number as u32 ^ (1 << 31));
    (unsigned(row) << 32) | unsigned(column)
}

/// The median of a sample of the finite values, and between which distances nine tenths of them lie.
fn middle(values: &[f64]) -> (f64, f64) {
    let sample = sorted_sample(values, 1024);
    if sample.is_empty() {
        return (0.0, 0.0);
    }
    let (last, median) = (sample.len() - 1, sample[sample.len() / 2]);
    let spread = sample[last - last / 20] - sample[last / 20];
    (median, if spread.is_finite() { spread } else { f64::MAX })
}

/// Points sorted by the cells of a grid. Empty cells take no memory.
pub(crate) struct Cells {
    grid: Grid,
    /// Row, x and y of the points, cell after cell; in a cell in the order of the rows.
    pub(crate) rows: Vec<u32>,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    /// The cells that hold points, by their keys, and where their points begin.
    keys: Vec<u64>,
    starts: Vec<u32>,
}

impl Cells {
    /// Sorts those of the rows whose coordinates are finite. Rows come in ascending order.
    pub(crate) fn new(
        grid: Grid,
        x: &[f64],
        y: &[f64],
        rows: impl ExactSizeIterator<Item = u32>,
    ) -> Self {
        let mut order: Vec<(u64, u32)> = Vec::with_capacity(rows.len());
        for row in rows {
            let (x, y) = (x[row as usize], y[row as usize]);
            if x.is_finite() && y.is_finite() {
                order.push((key(grid.cell(x, y)), row));
            }
        }
        order.par_sort_unstable();
        let (mut keys, mut starts) = (Vec::new(), Vec::new());
        for (place, &(key, _)) in order.iter().enumerate() {
            if keys.last() != Some(&key) {
                keys.push(key);
                starts.push(place as u32);
            }
        }
        starts.push(order.len() as u32);
        let rows: Vec<u32> = order.iter().map(|&(_, row)| row).collect();
        drop(order);
        let gather = |values: &[f64]| rows.iter().map(|&row| values[row as usize]).collect();
        Self { grid, x: gather(x), y: gather(y), rows, keys, starts }
    }

    /// The number of cells that hold points.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The points in the cell of the given number, below [`Self::len`].
    pub(crate) fn points(&self, cell: usize) -> Range<usize> {
        self.starts[cell] as usize..self.starts[cell + 1] as usize
    }

    /// The cells that hold points among those no more than so many columns and rows from the one that holds a place.
    pub(crate) fn cells_around(
        &self,
        (x, y): (f64, f64),
        reach: i32,
    ) -> impl Iterator<Item = usize> + '_ {
        let (column, row) = self.grid.cell(x, y);
        (row - reach..=row + reach).flat_map(move |row| {
            let (first, last) = (key((column - reach, row)), key((column + reach, row)));
            let begin = self.keys.partition_point(|&other| other < first);
            let beyond = self.keys[begin..].iter().take_while(move |&&key| key <= last);
            begin..begin + beyond.count()
        })
    }

    /// The points in the cell that holds a place and in the eight around it. All points within the grid's side of the
    /// place are among them.
    pub(crate) fn around(&self, x: f64, y: f64) -> [Range<usize>; 3] {
        let (column, row) = self.grid.cell(x, y);
        [row - 1, row, row + 1].map(|row| {
            let first = key((column - 1, row));
            let begin = self.keys.partition_point(|&other| other < first);
            let beyond = self.keys[begin..].iter().take(3).take_while(|&&key| key <= first + 2);
            self.starts[begin] as usize..self.starts[begin + beyond.count()] as usize
        })
    }

    /// The points within a radius of a place, with their squared distances. The radius is at most the grid's side.
    pub(crate) fn within(
        &self,
        x: f64,
        y: f64,
        radius: f64,
    ) -> impl Iterator<Item = (usize, f64)> + '_ {
        let limit = radius * radius;
        self.around(x, y).into_iter().flatten().filter_map(move |point| {
            let (dx, dy) = (self.x[point] - x, self.y[point] - y);
            let square = dx * dx + dy * dy;
            (square <= limit).then_some((point, square))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fit_sim::Random;

    /// Proves that the points within a radius are those that a look at all of them finds, at borders of cells, far
    /// away, where they are not finite, and where the radius is tiny; and that empty cells take no memory.
    #[test]
    fn points_within_a_radius_are_found() {
        let mut random = Random::new(1, 0);
        for (extent, radius) in [(30.0, 2.0), (5.0, 9.0), (1e9, 5e7), (1e9, 1e-6), (1e-3, 1e-4)] {
            let mut column = || -> Vec<f64> {
                let mut values: Vec<f64> = (0..400).map(|_| extent * random.uniform()).collect();
                values.extend((0..100).map(|row| radius * f64::from(row % 10)));
                values.extend([f64::NAN, 1e300, -1e300, f64::INFINITY, 3.0, f64::MAX]);
                values
            };
            let (x, y) = (column(), column());
            let rows = x.len() as u32;
            let cells = Cells::new(Grid::new(&x, &y, radius), &x, &y, 0..rows);
            assert!(cells.len() <= x.len());
            for row in 0..x.len() {
                if !(x[row].is_finite() && y[row].is_finite()) {
                    assert!(!cells.rows.contains(&(row as u32)));
                    continue;
                }
                let is_near = |&other: &u32| {
                    let other = other as usize;
                    (x[other] - x[row]).powi(2) + (y[other] - y[row]).powi(2) <= radius * radius
                };
                let expected: Vec<u32> = (0..rows).filter(is_near).collect();
                let found = cells.within(x[row], y[row], radius);
                let mut found: Vec<u32> = found.map(|(point, _)| cells.rows[point]).collect();
                found.sort_unstable();
                assert_eq!(found, expected, "{extent} {radius} {row}");
            }
        }
    }

    /// Proves that rows are sorted by frame and stay in order within one.
    #[test]
    fn rows_are_sorted_by_frame() {
        assert!(by_frame(&[]).is_empty());
        assert_eq!(by_frame(&[7, u32::MAX, 7, 0, 9]), [3, 0, 2, 4, 1]);
        assert_eq!(by_frame(&[1, 1, 3]), [0, 1, 2]);
    }
}
