//! The localization precision from the distances between nearest neighbours in successive frames (NeNA).

mod fit;
mod minimum;
mod scale;

use crate::near::{Cells, ColumnsError, Grid, by_frame, check_rows};
use crate::parallel::{of_all, of_each};

use fit::{Histogram, Second, Shape};
pub use fit::{NenaCurve, NenaTerm};

/// Why the precision could not be determined.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NenaError {
    /// Something is wrong with a column.
    #[error(transparent)]
    Columns(#[from] ColumnsError),
    /// There are too few frames whose next frame has localizations too.
    #[error("only {pairs} frames have localizations in the frame after them; at least {least} are needed",
        least = GROUPS)]
    FewFrames {
        /// The number of such frames.
        pairs: usize,
    },
    /// Too few localizations have a near neighbour in the next frame.
    #[error("only {neighbours} localizations have a near neighbour in the next frame; at least {least} are needed",
        least = LEAST_NEIGHBOURS)]
    FewNeighbours {
        /// Their number.
        neighbours: usize,
    },
    /// A frame and the next one have too many localizations near each other.
    #[error("frames {frame} and {} have too many localizations within {radius:.3} of each other", frame + 1)]
    Crowded {
        /// The first of the frames.
        frame: u32,
        /// The distance, in the unit of the positions.
        radius: f64,
    },
    /// The distances show no maximum that successive localizations of one molecule would make.
    #[error("no precision can be read from the distances between nearest neighbours: {0}")]
    NoMaximum(&'static str),
}

/// The localization precision, and the data from which it was estimated. Lengths are in the unit of the positions.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Nena {
    /// The localization precision: the standard deviation of positions along x or y, as a root mean square.
    pub sigma: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// The curve that was fitted.
    pub curve: NenaCurve,
    /// The borders of the histogram's bins: one more than bins.
    pub edges: Vec<f64>,
    /// The number of distances in each bin.
    pub counts: Vec<u64>,
}

/// Groups of successive frames, from which the standard error is estimated.
const GROUPS: usize = 20;
/// Fewer neighbours say too little.
const LEAST_NEIGHBOURS: usize = 200;
/// The range of the histogram, in units of the precision.
const RANGE: f64 = 8.0;
/// The range where there are so many localizations that neighbours at random hide each other.
const LEAST_RANGE: f64 = 5.0;
/// Pairs of localizations that are compared in two successive frames.
const MOST_PAIRS: usize = 10_000_000_000;

/// Finds the localization precision from the distances of localizations to their nearest neighbours in the next frame
/// (Endesfelder, Malkusch, Fricke and Heilemann, Histochem. Cell Biol. 141:629, 2014), where many are of the same
/// molecule. Positions are in any one unit of length; rows need not be in the order of their frames, and those whose
/// position is not finite are left out.
///
/// The distances r are counted up to eight times the precision and
///
/// A₁·(r/2σ²)·exp(−r²/4σ²) + A₂·(2πω²)^(−1/2)·exp(−(r−r_c)²/2ω²) + A₃·r
///
/// is fitted to the counts by maximum likelihood. With many localizations the range ends where a twelfth of them have a
/// neighbour by chance, but not below five times the precision. If the precision differs between localizations, the
/// second term would absorb the tail of the first and σ would be too small. So three fits are made: without the second
/// term, with it, and with a second copy of the first term instead, with two precisions that differ by a factor of 2.5
/// at most. Schwarz' criterion (1978) decides between them. The result is the root mean square of the precisions.
///
/// The standard error is estimated by a jackknife over 20 parts of the movie, which takes into account that neighbours
/// share localizations.
///
/// # Errors
///
/// If the columns differ in length or have 2³² − 1 rows or more; if fewer than 20 frames or 200 localizations have
/// neighbours; if localizations of successive frames are no nearer to each other than those of frames far apart; or if
/// there are so many in two frames that it would take hours to compare them.
pub fn nena(frames: &[u32], x: &[f64], y: &[f64]) -> Result<Nena, NenaError> {
    check_rows(x, &[("y", y.len()), ("frames", frames.len())])?;
    let order = by_frame(frames);
    let same = |a: &u32, b: &u32| frames[*a as usize] == frames[*b as usize];
    let slices: Vec<&[u32]> = order.chunk_by(same).collect();
    let successive = |pair: &u32| {
        let pair = *pair as usize;
        frames[slices[pair][0] as usize].checked_add(1)
            == Some(frames[slices[pair + 1][0] as usize])
    };
    let last = slices.len().saturating_sub(1) as u32;
    let pairs: Vec<u32> = (0..last).filter(successive).collect();
    if pairs.len() < GROUPS {
        return Err(NenaError::FewFrames { pairs: pairs.len() });
    }
    let table = Table { frames, x, y, slices, pairs };
    let near = scale::squares(&table, 1);
    // Frames far apart show how near others are by chance.
    let far = scale::squares(&table, table.slices.len() / 2);
    let mut sigma =
        scale::precision(&near).ok_or(NenaError::FewNeighbours { neighbours: near.len() })?;
    // Beyond, the distances to neighbours at random are no longer in proportion to r: nearer ones hide farther ones.
    let straight = scale::quantile(&far, 0.08).sqrt();
    let range = |sigma: f64| straight.clamp(LEAST_RANGE * sigma, RANGE * sigma);
    for _ in 0..4 {
        let radius = 3.0 * RANGE * sigma;
        let distances = table.distances(radius)?;
        let found = distances.iter().map(Vec::len).sum();
        if found < LEAST_NEIGHBOURS {
            return Err(NenaError::FewNeighbours { neighbours: found });
        }
        for _ in 0..8 {
            let before = sigma;
            sigma = Fit::new(&distances, range(sigma))?.best().precision();
            if (sigma / before - 1.0).abs() < 0.02 || RANGE * sigma > radius {
                break;
            }
        }
        if RANGE * sigma <= radius {
            scale::check_excess(&near, &far, sigma)?;
            return Fit::new(&distances, range(sigma))?.outcome();
        }
    }
    Err(NenaError::NoMaximum("no range shows their maximum"))
}

/// The columns of a table and its frames.
struct Table<'a> {
    frames: &'a [u32],
    x: &'a [f64],
    y: &'a [f64],
    /// The rows of each frame that has any.
    slices: Vec<&'a [u32]>,
    /// The frames, as places in `slices`, whose next frame has rows too.
    pairs: Vec<u32>,
}

impl Table<'_> {
    fn place(&self, row: u32) -> (f64, f64) {
        (self.x[row as usize], self.y[row as usize])
    }

    /// The distances up to `radius` to the nearest neighbours in the next frame, in groups of successive frames.
    fn distances(&self, radius: f64) -> Result<Vec<Vec<f32>>, NenaError> {
        let grid = Grid::new(self.x, self.y, radius);
        let of_group = |group: usize| {
            let share = |group: usize| self.pairs.len() * group / GROUPS;
            let mut distances = Vec::new();
            for &pair in &self.pairs[share(group)..share(group + 1)] {
                let (these, next) = (self.slices[pair as usize], self.slices[pair as usize + 1]);
                let cells = Cells::new(grid, self.x, self.y, next.iter().copied());
                if these.len().saturating_mul(next.len()) > MOST_PAIRS {
                    let pairs_of = |&row: &u32| {
                        let (x, y) = self.place(row);
                        cells.around(x, y).into_iter().map(|range| range.len()).sum::<usize>()
                    };
                    if these.iter().map(pairs_of).sum::<usize>() > MOST_PAIRS {
                        let frame = self.frames[these[0] as usize];
                        return Err(NenaError::Crowded { frame, radius });
                    }
                }
                let nearest = |&row: &u32| {
                    let (x, y) = self.place(row);
                    let square = cells.within(x, y, radius).map(|(_, square)| square);
                    square.min_by(f64::total_cmp).map(|square| square.sqrt() as f32)
                };
                distances.extend(these.iter().filter_map(nearest));
            }
            Ok(distances)
        };
        of_each(GROUPS, &of_group).into_iter().collect()
    }
}

/// Histograms of distances, one for each group, and what was fitted to them.
struct Fit {
    width: f64,
    groups: Vec<Vec<u64>>,
}

impl Fit {
    fn new(distances: &[Vec<f32>], range: f64) -> Result<Self, NenaError> {
        let within = |group: &Vec<f32>| group.iter().filter(|&&r| f64::from(r) < range).count();
        let neighbours: usize = distances.iter().map(within).sum();
        if neighbours < LEAST_NEIGHBOURS {
            return Err(NenaError::FewNeighbours { neighbours });
        }
        let bins = ((neighbours as f64).sqrt() as usize).clamp(20, 80);
        let width = range / bins as f64;
        let histogram = |group: &Vec<f32>| {
            let mut counts = vec![0; bins];
            for &r in group {
                if let Some(count) = counts.get_mut((f64::from(r) / width) as usize) {
                    *count += 1;
                }
            }
            counts
        };
        Ok(Self { width, groups: of_all(distances, histogram) })
    }

    /// The counts of all groups but one.
    fn counts(&self, without: Option<usize>) -> Vec<u64> {
        let mut counts = vec![0; self.groups[0].len()];
        for (group, more) in self.groups.iter().enumerate() {
            if Some(group) != without {
                counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
            }
        }
        counts
    }

    fn histogram(&self, without: Option<usize>) -> Histogram {
        let counts = self.counts(without).into_iter().map(|count| count as f64).collect();
        Histogram { width: self.width, counts }
    }

    /// The curve that the counts speak for, of several starts for each choice of terms.
    fn best(&self) -> NenaCurve {
        let histogram = self.histogram(None);
        let count: f64 = histogram.counts.iter().sum();
        let range = self.width * histogram.counts.len() as f64;
        let best = |starts: &[Shape]| {
            // Schwarz' criterion (1978): another parameter must be worth it.
            let fit = |start: &Shape| {
                let (curve, value) = histogram.fit(*start);
                (curve, value + 0.5 * start.count() as f64 * count.ln())
            };
            let fits = of_all(starts, fit).into_iter();
            fits.min_by(|a, b| a.1.total_cmp(&b.1)).expect("there are starts")
        };
        let single = best(
            &[4.0, 8.0, 14.0].map(|share| Shape { sigma: range / share, second: Second::None }),
        );
        let sigma = single.0.sigma;
        let precisions = [(0.7, 1.3), (0.9, 1.8), (0.5, 1.1)].map(|(first, second)| Shape {
            sigma: first * sigma,
            second: Second::Precision(second * sigma),
        });
        let beside = [(3.5, 1.0), (5.0, 1.0), (5.0, 2.5)].map(|(centre, omega)| Shape {
            sigma,
            second: Second::Beside(centre * sigma, omega * sigma),
        });
        let choices = [single, best(&precisions), best(&beside)];
        let [first, others @ ..] = choices;
        others.into_iter().fold(first, |best, next| if next.1 < best.1 { next } else { best }).0
    }

    fn outcome(&self) -> Result<Nena, NenaError> {
        let curve = self.best();
        let shape = Shape::of(&curve);
        let without = |group: usize| self.histogram(Some(group)).fit(shape).0.precision();
        let sigmas = of_each(GROUPS, &without);
        let mean = sigmas.iter().sum::<f64>() / GROUPS as f64;
        let squares = sigmas.iter().map(|sigma| (sigma - mean).powi(2)).sum::<f64>();
        let standard_error = ((GROUPS - 1) as f64 / GROUPS as f64 * squares).sqrt();
        let counts = self.counts(None);
        let edges = (0..=counts.len()).map(|edge| self.width * edge as f64).collect();
        Ok(Nena { sigma: curve.precision(), standard_error, curve, edges, counts })
    }
}
