//! Spots that were localized twice in one frame.

use rayon::prelude::*;

use crate::near::{Cells, ColumnsError, Grid, by_frame, check_radius, check_rows};
use crate::parallel::of_all;

/// Which localizations to keep.
#[derive(Clone, Debug, PartialEq)]
pub struct Duplicates {
    /// For each row whether it is kept.
    pub keep: Vec<bool>,
    /// How many rows are not.
    pub count: usize,
}

/// Finds localizations that lie within `radius` of a better one in the same frame; positions and radius in one unit
/// of length.
///
/// The localization with the larger `rank` is better, for instance photons or the negative uncertainty; NaN is worse
/// than any other rank, and of equal ranks the first row is best. In the order from the best to the worst, each
/// localization that has not been removed removes all others within the radius: in a chain whose middle is worst, both
/// ends stay. A localization whose position is not finite is kept.
///
/// # Errors
///
/// If the columns differ in length or have 2³² − 1 rows or more, or if the radius is not positive and finite.
pub fn duplicates(
    frames: &[u32],
    x: &[f64],
    y: &[f64],
    rank: &[f64],
    radius: f64,
) -> Result<Duplicates, ColumnsError> {
    check_rows(x, &[("y", y.len()), ("frames", frames.len()), ("rank", rank.len())])?;
    check_radius("radius", radius)?;
    let grid = Grid::new(x, y, radius);
    let order = by_frame(frames);
    let same = |a: &u32, b: &u32| frames[*a as usize] == frames[*b as usize];
    let several: Vec<&[u32]> = order.chunk_by(same).filter(|rows| rows.len() > 1).collect();
    let worse_of = |rows: &&[u32]| {
        let cells = Cells::new(grid, x, y, rows.iter().copied());
        worse(&cells, rank, radius)
    };
    let worse = of_all(&several, worse_of).concat();
    let mut keep = vec![true; x.len()];
    for &row in &worse {
        keep[row as usize] = false;
    }
    Ok(Duplicates { keep, count: worse.len() })
}

/// The rows of one frame that are removed.
fn worse(cells: &Cells, rank: &[f64], radius: f64) -> Vec<u32> {
    let rank_of = |point: u32| {
        let rank = rank[cells.rows[point as usize] as usize];
        if rank.is_nan() { f64::NEG_INFINITY } else { rank + 0.0 }
    };
    let is_nan = |point: u32| rank[cells.rows[point as usize] as usize].is_nan();
    let mut order: Vec<u32> = (0..cells.rows.len() as u32).collect();
    order.par_sort_unstable_by(|&a, &b| {
        let by_rank = is_nan(a).cmp(&is_nan(b)).then(rank_of(b).total_cmp(&rank_of(a)));
        by_rank.then(cells.rows[a as usize].cmp(&cells.rows[b as usize]))
    });
    let mut removed = vec![false; order.len()];
    // Those that stay are a radius apart, so that few of them look at the same points, however many these are.
    for point in order.into_iter().map(|point| point as usize) {
        if !removed[point] {
            let near = cells.within(cells.x[point], cells.y[point], radius);
            for (other, _) in near.filter(|&(other, _)| other != point) {
                removed[other] = true;
            }
        }
    }
    let is_removed = |(&row, removed): (&u32, bool)| removed.then_some(row);
    cells.rows.iter().zip(removed).filter_map(is_removed).collect()
}
