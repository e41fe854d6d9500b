//! A first estimate of the precision, from distances of any length.

use super::{NenaError, Table};
use crate::parallel::of_all;

/// Frames and localizations that are looked at.
const FRAMES: usize = 2000;
const PLACES: usize = 20_000;

/// The squared distances of a sample of the localizations to their nearest neighbours in another frame: the next one,
/// or the one that is so many places behind it in the list of frames.
pub(super) fn squares(table: &Table, ahead: usize) -> Vec<f64> {
    let step = table.pairs.len().div_ceil(FRAMES).max(1);
    let sample: Vec<u32> = table.pairs.iter().copied().step_by(step).collect();
    let squares_of = |&pair: &u32| {
        let (pair, count) = (pair as usize, table.slices.len());
        let (these, others) = (table.slices[pair], table.slices[(pair + ahead) % count]);
        let places = (100_000 / others.len()).min(PLACES / sample.len()).max(1);
        let chosen = these.iter().step_by(these.len().div_ceil(places));
        let nearest = |&row: &u32| {
            let (x, y) = table.place(row);
            let square = |&other: &u32| {
                let (other_x, other_y) = table.place(other);
                (other_x - x).powi(2) + (other_y - y).powi(2)
            };
            others.iter().map(square).filter(|square| square.is_finite()).min_by(f64::total_cmp)
        };
        chosen.filter_map(nearest).collect::<Vec<_>>()
    };
    let mut squares = of_all(&sample, squares_of).concat();
    squares.sort_unstable_by(f64::total_cmp);
    squares
}

/// The precision, from sorted squared distances; none if nearly all are zero or there are hardly any.
///
/// The squared distance to another localization of the same molecule is exponentially distributed with mean 4σ², that
/// to any other one roughly so with a much larger mean. Three such distributions are fitted.
pub(super) fn precision(squares: &[f64]) -> Option<f64> {
    let squares = &squares[squares.partition_point(|&square| square < f64::MIN_POSITIVE)..];
    if squares.len() < 20 {
        return None;
    }
    let quantile = |share: f64| quantile(squares, share);
    let starts = [[0.02, 0.5, 0.98], [0.1, 0.5, 0.9], [0.3, 0.6, 0.95]];
    let fits = starts.map(|shares| exponentials(squares, shares.map(quantile)));
    let (means, weights, _) = fits.into_iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
    let known = (0..3).filter(|&term| weights[term] > 0.02).map(|term| means[term]);
    known.min_by(f64::total_cmp).map(|mean| mean.sqrt() / 2.0)
}

/// Means and weights of three exponential distributions, by expectation and maximization from these means, and the
/// logarithm of their likelihood.
fn exponentials(values: &[f64], mut means: [f64; 3]) -> ([f64; 3], [f64; 3], f64) {
    let mut weights = [1.0 / 3.0; 3];
    let mut likelihood = f64::NEG_INFINITY;
    for _ in 0..200 {
        let (mut sums, mut counts, mut logarithm) = ([0.0; 3], [0.0; 3], 0.0);
        for &value in values {
            let parts: [f64; 3] = std::array::from_fn(|term| {
                weights[term] / means[term] * (-value / means[term]).exp()
            });
            let whole: f64 = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            logarithm += whole.ln();
            for term in 0..3 {
                let part = parts[term] / whole;
                sums[term] += part * value;
                counts[term] += part;
            }
        }
        for term in 0..3 {
            weights[term] = counts[term] / values.len() as f64;
            if counts[term] > 0.5 {
                means[term] = (sums[term] / counts[term]).max(values[0]);
            }
        }
        let gain = logarithm - likelihood;
        likelihood = logarithm;
        if gain < 1e-3 {
            break;
        }
    }
    (means, weights, likelihood)
}

/// Checks that more neighbours are within the peak of the precision in the next frame than in frames far away.
pub(super) fn check_excess(near: &[f64], far: &[f64], sigma: f64) -> Result<(), NenaError> {
    let share = |squares: &[f64]| {
        let within = squares.partition_point(|&square| square < 9.0 * sigma * sigma);
        within as f64 / squares.len().max(1) as f64
    };
    if share(near) > 1.5 * share(far) {
        return Ok(());
    }
    Err(NenaError::NoMaximum(
        "localizations of successive frames are no nearer to each other than those of frames far apart",
    ))
}

/// The value below which a share of sorted values lies; infinite if there are none.
pub(super) fn quantile(values: &[f64], share: f64) -> f64 {
    let last = values.len().saturating_sub(1);
    values.get((share * last as f64) as usize).copied().unwrap_or(f64::INFINITY)
}
