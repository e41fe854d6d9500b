//! How many localizations lie around each.

use rayon::prelude::*;

use crate::near::{Cells, ColumnsError, Grid, check_radius, check_rows};

/// Why localizations could not be counted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DensityError {
    /// Something is wrong with a column or the radius.
    #[error(transparent)]
    Columns(#[from] ColumnsError),
    /// The radius is so large that it would take hours to compare all pairs.
    #[error("{pairs} pairs of localizations are to be compared, at most {most} can be; choose a smaller radius",
        most = MOST_PAIRS)]
    ManyPairs {
        /// The number of pairs in neighbouring cells.
        pairs: u64,
    },
}

/// Two processors compare that many pairs in about ten minutes.
const MOST_PAIRS: u64 = 1_000_000_000_000;

/// The number of other localizations within `radius` of each, over all frames; positions and radius in one unit of
/// length. A localization whose position is not finite has none and counts for none.
///
/// # Errors
///
/// If the columns differ in length or have 2³² − 1 rows or more, if the radius is not positive and finite, or so large
/// that more than 10¹² pairs would have to be compared.
pub fn density(x: &[f64], y: &[f64], radius: f64) -> Result<Vec<u32>, DensityError> {
    check_rows(x, &[("y", y.len())])?;
    check_radius("radius", radius)?;
    let cells = Cells::new(Grid::new(x, y, radius), x, y, 0..x.len() as u32);
    let around = |cell: usize| {
        let point = cells.points(cell).start;
        cells.around(cells.x[point], cells.y[point])
    };
    let pairs_of = |cell: usize| {
        let others: usize = around(cell).iter().map(ExactSizeIterator::len).sum();
        (cells.points(cell).len() as u64).saturating_mul(others as u64)
    };
    let pairs = (0..cells.len()).into_par_iter().map(pairs_of).reduce(|| 0, u64::saturating_add);
    if pairs > MOST_PAIRS {
        return Err(DensityError::ManyPairs { pairs });
    }
    let limit = radius * radius;
    let counts_of = |cell: usize| {
        let ranges = around(cell);
        let cells = &cells;
        cells.points(cell).map(move |point| {
            let (x, y) = (cells.x[point], cells.y[point]);
            let count = |range: &std::ops::Range<usize>| {
                let others = cells.x[range.clone()].iter().zip(&cells.y[range.clone()]);
                let near = |(other_x, other_y): (&f64, &f64)| {
                    let (dx, dy) = (other_x - x, other_y - y);
                    u32::from(dx * dx + dy * dy <= limit)
                };
                others.map(near).sum::<u32>()
            };
            // The localization itself is among them.
            ranges.iter().map(count).sum::<u32>() - 1
        })
    };
    let sorted: Vec<u32> = (0..cells.len()).into_par_iter().flat_map_iter(counts_of).collect();
    let mut counts = vec![0; x.len()];
    for (&row, count) in cells.rows.iter().zip(sorted) {
        counts[row as usize] = count;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fit_sim::Random;

    /// Proves that the counts are those of a look at all pairs, whatever the radius.
    #[test]
    fn all_within_the_radius_are_counted() {
        let mut random = Random::new(2, 0);
        let mut column = || (0..500).map(|_| (80.0 * random.uniform()).floor()).collect::<Vec<_>>();
        let (mut x, y) = (column(), column());
        x[17] = f64::NAN;
        for radius in [1e-9, 1.0, 5.0, 300.0] {
            let counts = density(&x, &y, radius).unwrap();
            for row in 0..x.len() {
                let is_near = |&other: &usize| {
                    let square = (x[other] - x[row]).powi(2) + (y[other] - y[row]).powi(2);
                    other != row && square <= radius * radius
                };
                let expected = (0..x.len()).filter(is_near).count();
                assert_eq!(counts[row] as usize, expected, "{radius} {row}");
            }
        }
    }

    /// Proves that what cannot be counted is refused.
    #[test]
    fn bad_input_is_an_error() {
        let rows = ColumnsError::Rows { column: "y", rows: 1, expected: 2 };
        assert_eq!(density(&[1.0, 2.0], &[1.0], 1.0), Err(rows.into()));
        for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(matches!(density(&[], &[], radius), Err(DensityError::Columns(_))));
        }
        let same = vec![1.0; 1_100_000];
        let pairs = same.len() as u64 * same.len() as u64;
        assert_eq!(density(&same, &same, 1.0), Err(DensityError::ManyPairs { pairs }));
    }
}
