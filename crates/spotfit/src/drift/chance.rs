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
const TIMES: u64 = 24;
/// How far, in units of the reach.
const FAR: [f64; 2] = [2.5, 10.0];
/// More localizations are not needed.
const MOST: f64 = 2e4;
/// Pairs nearer in time than one of so many parts may be of one blink.
const APART: u32 = 16;
/// The side of the squares that belong to one half or the other, in units of the reach.
const SIDE: f64 = 8.0;
/// If all localizations agree so well, their halves do.
const CERTAIN: f64 = 60.0;

/// By how many standard deviations localizations of different times are nearer to each other than by chance.
pub(super) fn significance(
    search: &Search<'_>,
    drift: &[Vec<f64>],
    segment: Option<usize>,
    range: [f64; 2],
) -> f64 {
    let whole = excess(search, drift);
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
        excess(&Search { points: &halves[1 - one], ..*search }, &curve.frames())
    });
    if std::env::var("DRIFT_DEBUG").is_ok() {
        eprintln!("whole {whole:.1} halves {found:.1?}");
    }
    (found[0] + found[1]) / std::f64::consts::SQRT_2
}

/// By how many standard deviations pairs on a curve are more than on displaced ones.
fn excess(search: &Search<'_>, drift: &[Vec<f64>]) -> f64 {
    let points: Points = search.points.thinned(MOST / search.points.len() as f64);
    let reach = search.reach(1.0);
    let bins = Bins { count: PARTS.min(search.span as usize), span: search.span };
    let lags = [(search.span / APART).max(1), u32::MAX];
    let wanted = Wanted { reach, lags, most: f64::INFINITY };
    let value = |drift: &[Vec<f64>]| {
        Pairs::list(&points, bins, drift, &wanted).value(drift, reach)
    };
    let own = value(drift);
    let mut number = 0u64;
    let mut uniform = || {
        number += 1;
        let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) as f64 / 2f64.powi(64)
    };
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..TIMES {
        let offsets: Vec<[f64; 2]> = (0..bins.count)
            .map(|_| {
                let far = reach * (FAR[0] + (FAR[1] - FAR[0]) * uniform());
                let (sin, cos) = (std::f64::consts::TAU * uniform()).sin_cos();
                [far * cos, far * sin]
            })
            .collect();
        let mut moved = drift.to_vec();
        for axis in 0..2 {
            for (frame, value) in (0..).zip(&mut moved[axis]) {
                *value += offsets[bins.of(frame)][axis];
            }
        }
        let other = value(&moved);
        sum += other;
        squares += other * other;
    }
    let times = TIMES as f64;
    let mean = sum / times;
    let spread = (squares / times - mean * mean).max(0.0) * times / (times - 1.0);
    // Pairs by chance count ∫(1 − u)⁶ du over ∫(1 − u)³ du = 4/7 on average, squared; at least one is thought of.
    let chance = (4.0 / 7.0) * mean.max(1.0);
    (own - mean) / spread.max(chance).sqrt()
}
