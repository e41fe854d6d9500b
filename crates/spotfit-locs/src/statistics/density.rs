//! The number of neighbours of each localization.

use rayon::prelude::*;

use crate::near::{Cells, ColumnsError, Grid, MOST_COMPARED, check_radius, check_rows};

/// With more points than this in the cell of a point, on average, smaller cells are worth their number.
const CROWDED: u64 = 64;
/// So many points are compared before it is seen whether they are enough.
const AT_ONCE: usize = 256;

/// The number of other localizations within `radius` of each, over all frames; positions and radius in one unit of
/// length. A localization whose position is not finite has no neighbours and is no neighbour. They are counted only up to `most`: where
/// this is enough to decide, the time is proportional to the number of localizations even if all are at one position.
///
/// # Errors
///
/// If the columns differ in length or have 2³² − 1 rows or more, if the radius is not positive and finite, or so large
/// that more than 10¹² pairs would have to be compared.
pub fn density(x: &[f64], y: &[f64], radius: f64, most: u32) -> Result<Vec<u32>, ColumnsError> {
    check_rows(x, &[("y", y.len())])?;
    check_radius("radius", radius)?;
    let in_cells = |side: f64| Cells::new(Grid::new(x, y, side), x, y, 0..x.len() as u32);
    let mut cells = in_cells(radius);
    let mut reach = 1;
    let squares =
        (0..cells.len()).map(|cell| (cells.points(cell).len() as u64).pow(2)).sum::<u64>();
    if squares > CROWDED * x.len() as u64 {
        // Two points of one cell are neighbours.
        (cells, reach) = (in_cells(0.7 * radius), 2);
    }
    let near = Near::new(&cells, reach, radius);
    // The localization itself is counted, too.
    let enough = u64::from(most) + 1;
    let pairs_of = |cell: usize| near.pairs(cell, enough);
    let pairs = (0..cells.len()).into_par_iter().map(pairs_of).reduce(|| 0, u64::saturating_add);
    if pairs > MOST_COMPARED {
        return Err(ColumnsError::ManyPairs { pairs });
    }
    let counts_of = |cell: usize| near.counts(cell, enough);
    let sorted: Vec<u32> = (0..cells.len()).into_par_iter().flat_map_iter(counts_of).collect();
    let mut counts = vec![0; x.len()];
    for (&row, count) in cells.rows.iter().zip(sorted) {
        counts[row as usize] = count;
    }
    Ok(counts)
}

/// The ends of x and of y of some points. Rounding keeps an order: what is true of the ends is true of all between them.
#[derive(Clone, Copy)]
struct Extent {
    low: [f64; 2],
    high: [f64; 2],
}

impl Extent {
    /// Of one point.
    fn at(x: f64, y: f64) -> Self {
        Self { low: [x, y], high: [x, y] }
    }

    /// The squared distances of the nearest and of the farthest points.
    fn squares(&self, other: &Self) -> [f64; 2] {
        let (mut nearest, mut farthest) = (0.0, 0.0);
        for k in 0..2 {
            let (after, before) = (other.high[k] - self.low[k], other.low[k] - self.high[k]);
            let near = before.max(-after).max(0.0);
            let far = after.abs().max(before.abs());
            nearest += near * near;
            farthest += far * far;
        }
        [nearest, farthest]
    }
}

/// Points in cells, and what is near them.
struct Near<'a> {
    cells: &'a Cells,
    extents: Vec<Extent>,
    reach: i32,
    limit: f64,
}

impl<'a> Near<'a> {
    fn new(cells: &'a Cells, reach: i32, radius: f64) -> Self {
        let extent = |cell: usize| {
            let points = cells.points(cell);
            let mut all = Extent::at(cells.x[points.start], cells.y[points.start]);
            for point in points {
                let at = [cells.x[point], cells.y[point]];
                for k in 0..2 {
                    all.low[k] = all.low[k].min(at[k]);
                    all.high[k] = all.high[k].max(at[k]);
                }
            }
            all
        };
        let extents = (0..cells.len()).into_par_iter().map(extent).collect();
        Self { cells, extents, reach, limit: radius * radius }
    }

    /// How many points are neighbours of all in a cell, and the cells of which only some may be.
    fn of(&self, cell: usize) -> (u64, Vec<usize>) {
        let first = self.cells.points(cell).start;
        let (mut sure, mut others) = (0, Vec::new());
        let place = (self.cells.x[first], self.cells.y[first]);
        for other in self.cells.cells_around(place, self.reach) {
            match self.extents[cell].squares(&self.extents[other]) {
                [_, farthest] if farthest <= self.limit => {
                    sure += self.cells.points(other).len() as u64;
                }
                [nearest, _] if nearest <= self.limit => others.push(other),
                _ => {}
            }
        }
        (sure, others)
    }

    /// The pairs that are compared for the points of a cell.
    fn pairs(&self, cell: usize, enough: u64) -> u64 {
        let (sure, others) = self.of(cell);
        if sure >= enough {
            return 0;
        }
        let others: usize = others.into_iter().map(|other| self.cells.points(other).len()).sum();
        (self.cells.points(cell).len() as u64).saturating_mul(others as u64)
    }

    /// The neighbours of each point of a cell.
    fn counts(&self, cell: usize, enough: u64) -> impl Iterator<Item = u32> {
        let (sure, others) = self.of(cell);
        self.cells.points(cell).map(move |point| {
            let (x, y) = (self.cells.x[point], self.cells.y[point]);
            let mut count = sure;
            for &other in &others {
                if count >= enough {
                    break;
                }
                let points = self.cells.points(other);
                match Extent::at(x, y).squares(&self.extents[other]) {
                    [_, farthest] if farthest <= self.limit => count += points.len() as u64,
                    [nearest, _] if nearest <= self.limit => {
                        count += self.within(points, (x, y), enough - count);
                    }
                    _ => {}
                }
            }
            (count.min(enough) - 1) as u32
        })
    }

    /// How many of some points are neighbours of a place, or so many that it is enough.
    fn within(&self, points: std::ops::Range<usize>, (x, y): (f64, f64), enough: u64) -> u64 {
        let (all_x, all_y) = (&self.cells.x[points.clone()], &self.cells.y[points]);
        let mut count = 0;
        for (all_x, all_y) in all_x.chunks(AT_ONCE).zip(all_y.chunks(AT_ONCE)) {
            let near = |(other_x, other_y): (&f64, &f64)| {
                let (dx, dy) = (other_x - x, other_y - y);
                u32::from(dx * dx + dy * dy <= self.limit)
            };
            count += u64::from(all_x.iter().zip(all_y).map(near).sum::<u32>());
            if count >= enough {
                break;
            }
        }
        count
    }
}
