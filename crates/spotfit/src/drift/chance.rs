//! Whether drift can be told from chance.
//!
//! In any table there is a curve at which more pairs are near each other than at others. What tells drift from chance is that the
//! curve that one half of the field asks for also brings together the localizations of the other half, more than curves of
//! which parts of the movie are displaced against each other.

use super::guess;
use super::pairs::{Bins, Pairs, Wanted};
use super::points::{LEAST, Points};
use super::refine::{Curve, Search};

/// Parts of the movie that are displaced.
const PARTS: usize = 8;
/// So many times.
const TIMES: usize = 24;
/// The same where it is only asked whether there is any doubt.
const FEW_TIMES: usize = 8;
/// How far, in units of the reach; and once more as far.
const FAR: f64 = 2.2;
/// More localizations are not needed.
const MOST: f64 = 2e4;
/// Pairs nearer in time than one of so many parts may be of one blink.
const APART: u32 = 16;
/// The side of the squares that belong to one half or the other, in units of the reach.
const SIDE: f64 = 8.0;
/// If all localizations agree so well, their halves do.
const CERTAIN: f64 = 40.0;

/// By how many standard deviations localizations of different times are nearer to each other than by chance.
pub(super) fn significance(
    search: &Search<'_>,
    drift: &[Vec<f64>],
    segment: Option<usize>,
    range: [f64; 2],
) -> f64 {
    let whole = excess(search, drift, FEW_TIMES);
    if whole > CERTAIN {
        return whole;
    }
    let side = SIDE * search.reach(1.0);
    let moved = search.points.less(drift);
    let number = |at: f64| (at / side).floor() as i64 as u64;
    let half = |row: usize| {
        let mixed = number(moved.x[row]).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ^ number(moved.y[row]).wrapping_mul(0xD6E8_FEB8_6659_FD93);
        (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 63 == 0
    };
    let halves = [true, false].map(|wanted| {
        let rows: Vec<usize> =
            (0..search.points.len()).filter(|&row| half(row) == wanted).collect();
        search.points.of(rows.into_iter())
    });
    if halves.iter().any(|half| half.len() < LEAST / 4) {
        return 0.0;
    }
    let found = [0, 1].map(|one| {
        let own = Search { points: &halves[one], ..*search };
        let curve: Curve = guess::first(&own, segment, range);
        excess(&Search { points: &halves[1 - one], ..*search }, &curve.frames(), TIMES)
    });
    (found[0] + found[1]) / std::f64::consts::SQRT_2
}

/// By how many standard deviations pairs on a curve are more than on displaced ones.
fn excess(search: &Search<'_>, drift: &[Vec<f64>], times: usize) -> f64 {
    let points: Points = search.points.thinned(MOST / search.points.len() as f64);
    let reach = search.reach(1.0);
    let bins = Bins { count: PARTS.min(search.span as usize), span: search.span };
    let lags = [(search.span / APART).max(1), u32::MAX];
    let wanted = Wanted { reach, lags, most: f64::INFINITY };
    let value = |drift: &[Vec<f64>]| Pairs::list(&points, bins, drift, &wanted).value(drift, reach);
    let own = value(drift);
    let mut number = 0u64;
    let mut uniform = || {
        number += 1;
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) as f64 / 2f64.powi(64)
    };
    let (mut near, mut beyond) = (Vec::new(), Vec::new());
    for _ in 0..times {
        let directions: Vec<(f64, f64)> =
            (0..bins.count).map(|_| (std::f64::consts::TAU * uniform()).sin_cos()).collect();
        let displaced = |far: f64| {
            let mut moved = drift.to_vec();
            for frame in 0..moved[0].len() {
                let (sin, cos) = directions[bins.of(frame as u32)];
                moved[0][frame] += far * reach * cos;
                moved[1][frame] += far * reach * sin;
            }
            value(&moved)
        };
        near.push(displaced(FAR));
        // Displaced parts overlap less: the line through two displacements says what chance makes of none.
        beyond.push(2.0 * near[near.len() - 1] - displaced(2.0 * FAR));
    }
    let times = times as f64;
    let moments = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / times;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        (mean, squares / (times - 1.0))
    };
    let ((_, spread), (mean, of_mean)) = (moments(&near), moments(&beyond));
    // Of what a pair by chance counts, the mean square is 4/7 of the mean; at least one is thought of.
    let chance = (4.0 / 7.0) * mean.max(1.0);
    (own - mean) / (spread.max(chance) + of_mean / times).sqrt()
}
