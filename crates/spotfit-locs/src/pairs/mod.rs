//! Pairs localizations with the true spots: in each frame the best assignment of one to the other.
//!
//! ```
//! use spotfit_locs::pairs::{Pair, Spots, pairs};
//!
//! let found = Spots { frames: &[0, 0, 1], x: &[1.0, 4.0, 1.0], y: &[0.0; 3], z: None };
//! let truth = Spots { frames: &[0, 0], x: &[2.0, 0.1], y: &[0.0; 2], z: None };
//! // The nearest pair alone would leave the other two spots without a partner.
//! let pairs = pairs(&found, &truth, 2.0, 1.0)?;
//! assert_eq!(pairs, [Pair { found: 0, truth: 1 }, Pair { found: 1, truth: 0 }]);
//! # Ok::<(), spotfit_locs::statistics::ColumnsError>(())
//! ```

mod assign;

use crate::near::{Cells, ColumnsError, Grid, MOST_NEAR, by_frame, check_radius, check_rows};
use crate::parallel::of_all;
use assign::{Edge, assign};

/// Places in frames. Their unit of length is also that of the spots with which they are compared.
#[derive(Clone, Copy, Debug)]
pub struct Spots<'a> {
    /// The frame of each.
    pub frames: &'a [u32],
    /// Its x.
    pub x: &'a [f64],
    /// Its y.
    pub y: &'a [f64],
    /// Its z in the same unit, if there is one.
    pub z: Option<&'a [f64]>,
}

/// A localization and the spot that it shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The row of the localization.
    pub found: u32,
    /// The row of the spot.
    pub truth: u32,
}

/// Pairs localizations with spots of the same frame that lie within `radius` in x and y, and within `radius_z` in z if both have
/// one. Each is in one pair at most. There are as many pairs as possible, and of all such choices it is the one with the least sum of
/// distances (in space where both have z).
///
/// What is not finite has no partner. Pairs are in the order of the rows of the localizations.
///
/// # Errors
/// [`ColumnsError`].
pub fn pairs(
    found: &Spots<'_>,
    truth: &Spots<'_>,
    radius: f64,
    radius_z: f64,
) -> Result<Vec<Pair>, ColumnsError> {
    for spots in [found, truth] {
        let z = spots.z.map(|z| ("z", z.len()));
        let others: Vec<_> =
            [("y", spots.y.len()), ("frames", spots.frames.len())].into_iter().chain(z).collect();
        check_rows(spots.x, &others)?;
    }
    check_radius("radius", radius)?;
    check_radius("radius_z", radius_z)?;
    let within = Within { radius, radius_z, grid: Grid::new(truth.x, truth.y, radius) };
    let (mine, theirs) = (by_frame(found.frames), by_frame(truth.frames));
    let frames = common(found.frames, &mine, truth.frames, &theirs);
    let of_frame = |(found_rows, truth_rows): &(&[u32], &[u32])| {
        within.of_frame(found, found_rows, truth, truth_rows)
    };
    let mut pairs = Vec::new();
    for found in of_all(&frames, of_frame) {
        pairs.extend(found?);
    }
    pairs.sort_unstable_by_key(|pair: &Pair| pair.found);
    Ok(pairs)
}

/// The rows of each frame that both have.
fn common<'a>(
    frames: &[u32],
    mine: &'a [u32],
    other_frames: &[u32],
    theirs: &'a [u32],
) -> Vec<(&'a [u32], &'a [u32])> {
    let of = |row: u32| frames[row as usize];
    let mut rest = theirs;
    let mut common = Vec::new();
    for rows in mine.chunk_by(|a, b| of(*a) == of(*b)) {
        let frame = of(rows[0]);
        let first = rest.partition_point(|&row| other_frames[row as usize] < frame);
        rest = &rest[first..];
        let count = rest.partition_point(|&row| other_frames[row as usize] == frame);
        if count > 0 {
            common.push((rows, &rest[..count]));
        }
    }
    common
}

struct Within {
    radius: f64,
    radius_z: f64,
    grid: Grid,
}

impl Within {
    /// The pairs of one frame.
    fn of_frame(
        &self,
        found: &Spots<'_>,
        found_rows: &[u32],
        truth: &Spots<'_>,
        truth_rows: &[u32],
    ) -> Result<Vec<Pair>, ColumnsError> {
        let cells = Cells::new(self.grid, truth.x, truth.y, truth_rows.iter().copied());
        let mut edges = Vec::new();
        for (row, &own) in found_rows.iter().enumerate() {
            let own = own as usize;
            let (x, y) = (found.x[own], found.y[own]);
            if !(x.is_finite() && y.is_finite()) {
                continue;
            }
            for (point, square) in cells.within(x, y, self.radius) {
                let square = match (found.z, truth.z) {
                    (Some(z), Some(other)) => {
                        let off = z[own] - other[cells.rows[point] as usize];
                        let is_near = off.abs() <= self.radius_z;
                        if !is_near {
                            continue;
                        }
                        square + off * off
                    }
                    _ => square,
                };
                edges.push(Edge { row: row as u32, column: point as u32, cost: square.sqrt() });
            }
            if edges.len() > MOST_NEAR {
                return Err(ColumnsError::Crowded { frame: found.frames[own], other: "spot" });
            }
        }
        let partners = assign(found_rows.len(), cells.rows.len(), &edges);
        let pair = |(&row, partner): (&u32, Option<u32>)| {
            partner.map(|point| Pair { found: row, truth: cells.rows[point as usize] })
        };
        Ok(found_rows.iter().zip(partners).filter_map(pair).collect())
    }
}
