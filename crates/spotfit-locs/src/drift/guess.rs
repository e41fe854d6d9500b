//! Where the search begins: it only finds the nearest top.

use super::pairs::Bins;
use super::refine::{Curve, Score, Search};
use super::segments::{Comparison, compare};

/// So many localizations make a segment, as far as the numbers of segments allow.
const IN_A_SEGMENT: [usize; 2] = [800, 200];
const SEGMENTS: [usize; 2] = [2, 30];
/// Parts of the movie within which localizations are compared first, where segments are not.
const NEAR: [(u32, f64); 4] = [(32, 8.0), (16, 6.0), (8, 6.0), (4, 4.0)];

/// The best of the curves that first guesses lead to.
pub(super) fn first(search: &Search<'_>, segment: Option<usize>, range: [f64; 2]) -> Curve {
    let mut found: Vec<(Score, Curve)> = Vec::new();
    let mut consider = |mut curve: Curve| {
        let score = search.coarse(&mut curve);
        found.push((score, curve));
    };
    let bins = search.coarse_bins();
    let by_segments = |count: usize| {
        let rough = compare(search.points, &Comparison { count, range });
        let of = |axis| (0..bins.count).map(|bin| rough.at(axis, bins.middle(bin))).collect();
        Curve::new(bins, (0..search.points.axes()).map(of).collect())
    };
    if let Some(count) = segment {
        consider(by_segments(count));
    } else {
        let counts =
            IN_A_SEGMENT.map(|rows| (search.points.len() / rows).clamp(SEGMENTS[0], SEGMENTS[1]));
        consider(by_segments(counts[0]));
        consider(near_in_time(search, bins));
        if counts[1] != counts[0] && !alike(&found, search.points.precision()) {
            let mut curve = by_segments(counts[1]);
            found.push((search.coarse(&mut curve), curve));
        }
    }
    if found.len() == 2 && alike(&found, search.points.precision()) {
        found.truncate(1);
    }
    if found.len() > 1 {
        // The same share of all pairs for each of them.
        let near = found.iter().map(|(_, curve)| search.near(curve)).fold(0.0, f64::max);
        found.iter_mut().for_each(|(score, curve)| *score = search.score(curve, near));
    }
    // One unit for all: that of the curve with the most pairs.
    let most = found.iter().max_by(|a, b| a.0.value.total_cmp(&b.0.value));
    let share = most.map_or(0.0, |most| most.0.share);
    let score = |(score, _): &(Score, Curve)| share * score.value + score.evidence;
    let best = found.into_iter().max_by(|a, b| score(a).total_cmp(&score(b)));
    best.map_or_else(|| none(search, bins), |best| best.1)
}

/// Whether two searches ended at the same curve.
fn alike(found: &[(Score, Curve)], precision: f64) -> bool {
    let [(_, one), (_, other)] = found else { return false };
    one.values.iter().zip(&other.values).all(|(one, other)| {
        let off = |bin: usize| one[bin] - other[bin];
        let mean = (0..one.len()).map(off).sum::<f64>() / one.len() as f64;
        (0..one.len()).all(|bin| (off(bin) - mean).abs() < 2.0 * precision)
    })
}

fn none(search: &Search<'_>, bins: Bins) -> Curve {
    Curve::new(bins, vec![vec![0.0; bins.count]; search.points.axes()])
}

/// A curve from localizations of frames that are near each other, between which little drifts.
fn near_in_time(search: &Search<'_>, bins: Bins) -> Curve {
    let mut curve = none(search, bins);
    for (parts, scale) in NEAR {
        let most = (search.span / parts).max(2);
        search.steps(&mut curve, scale, [1, most], 3);
    }
    curve
}
