//! Whether drift can be told from chance.
//!
//! In any table, some curve brings more pairs near each other than others do. Real drift differs from chance in this:
//! the curve found from one half of the field also brings together the localizations of the other half, more than
//! curves in which parts of the movie are displaced against each other.

use super::guess;
use super::pairs::{Bins, value};
use super::points::{Points, mixed, square_of};
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
/// Nor are more pairs.
const MOST_PAIRS: f64 = 3e6;
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
    let moved = search.points.less(drift);
    let Some(halves) = halves(search, &moved) else { return whole.min(0.0) };
    let found = [0, 1].map(|one| {
        let own = Search { points: &halves[one], ..*search };
        let curve: Curve = guess::first(&own, segment, range);
        excess(&Search { points: &halves[1 - one], ..*search }, &curve.frames(), TIMES)
    });
    (found[0] + found[1]) / std::f64::consts::SQRT_2
}

/// Two halves of the localizations: squares of the field, as large as leaves something to both.
fn halves(search: &Search<'_>, moved: &Points) -> Option<[Points; 2]> {
    let reach = search.reach(1.0);
    let count = search.points.len();
    let mut side = SIDE * reach;
    while side >= reach {
        let first = |row: usize| square_of(moved.x[row], moved.y[row], side) & 1 == 0;
        let own = (0..count).filter(|&row| first(row)).count();
        if own.min(count - own) >= count / 5 {
            let half = |wanted: bool| {
                let rows: Vec<usize> = (0..count).filter(|&row| first(row) == wanted).collect();
                search.points.of(rows.into_iter())
            };
            return Some([half(true), half(false)]);
        }
        side *= 0.5;
    }
    None
}

/// By how many standard deviations pairs on a curve are more than on displaced ones.
fn excess(search: &Search<'_>, drift: &[Vec<f64>], times: usize) -> f64 {
    let reach = search.reach(1.0);
    let share = (MOST / search.points.len() as f64).min(1.0);
    let near = search.points.less(drift).pairs_within(reach);
    let points = search.points.thinned(share.min((MOST_PAIRS / near).sqrt()));
    if points.len() < 2 {
        return 0.0;
    }
    let bins = Bins { count: PARTS.min(search.span as usize), span: search.span };
    let least = (search.span / APART).max(1);
    let moved = points.less(drift);
    let own = value(&moved, &points.frames, reach, least);
    let mut number = 0u64;
    let mut uniform = || {
        number += 1;
        mixed(number) as f64 / 2f64.powi(64)
    };
    let (mut near, mut beyond) = (Vec::new(), Vec::new());
    for _ in 0..times {
        let directions: Vec<(f64, f64)> =
            (0..bins.count).map(|_| (std::f64::consts::TAU * uniform()).sin_cos()).collect();
        let displaced = |far: f64| {
            let mut other = moved.clone();
            for (row, &frame) in points.frames.iter().enumerate() {
                let (sin, cos) = directions[bins.of(frame)];
                other.x[row] += far * reach * cos;
                other.y[row] += far * reach * sin;
            }
            value(&other, &points.frames, reach, least)
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
