//! Jumps, to the frame.
//!
//! Bins blur a jump, and so do blinks that were merged across it. Where the curve jumps, the localizations around it say in which
//! frame: each is compared with those of all other times, once as it would lie before the jump and once as after it.

use super::points::Points;
use super::refine::{Curve, Search};

/// A step of the curve over some bins that is so many times the usual one, and so many precisions, is a jump.
const OUTSTANDING: f64 = 8.0;
const LARGE: f64 = 2.0;
/// Over how many bins steps are looked at.
const WIDTHS: [usize; 3] = [3, 12, 48];
/// Frames of a blink on either side of a jump that may be merged across it.
const BLINK: f64 = 3.0;
/// The most pairs that are looked at for the whole field.
const MOST_PAIRS: f64 = 5e6;
/// By so much the logarithm of the likelihood grows at least.
const LEAST_GAIN: f64 = 2.0;

/// Makes jumps of a curve as sharp as the localizations (`all` before blinks were merged) say.
pub(super) fn sharpen(
    search: &Search<'_>,
    all: &Points,
    curve: &Curve,
    drift: &mut [Vec<f64>],
    errors: &mut [Vec<f64>],
) -> bool {
    let places = find(search, curve);
    if places.is_empty() {
        return false;
    }
    let mut any = false;
    let axes = search.points.axes();
    let reach = search.reach(1.0);
    let whole = search.points.less(drift);
    // A share of the others is enough where there are many.
    let kept = (MOST_PAIRS / whole.pairs_within(reach)).min(1.0);
    let others = search.points.thinned(kept);
    let moved = others.less(drift);
    let cells = moved.cells(reach);
    // What one localization says, its blink says once.
    let blink = all.len() as f64 / search.points.len() as f64;
    let share = curve.shares.iter().sum::<f64>() / curve.shares.len() as f64 / (blink * kept);
    for [first, last] in places {
        let ends = [first, last].map(|bin| curve.bins.middle(bin).round().max(0.0) as u32);
        let [from, to] = ends.map(|frame| frame.min(search.span - 1));
        let level =
            |frame: u32| -> Vec<f64> { drift.iter().map(|of| of[frame as usize]).collect() };
        let levels = [level(from), level(to)];
        // In each frame, how well its localizations fit before and after the jump, and on the curve.
        let length = (to - from + 1) as usize;
        let mut fits = vec![[0.0; 3]; length];
        let rows = all.frames.partition_point(|&frame| frame < from)
            ..all.frames.partition_point(|&frame| frame <= to);
        for row in rows {
            let frame = all.frames[row];
            let own = level(frame);
            for (which, drift) in [&levels[0], &levels[1], &own].into_iter().enumerate() {
                let (x, y) = (all.x[row] - drift[0], all.y[row] - drift[1]);
                let mut sum = 0.0;
                for (place, square) in cells.within(x, y, reach) {
                    let other = cells.rows[place] as usize;
                    if (from..=to).contains(&others.frames[other]) {
                        continue;
                    }
                    let z = if axes == 3 { all.z[row] - drift[2] - moved.z[other] } else { 0.0 };
                    let left = 1.0 - (square + z * z) / (reach * reach);
                    if left > 0.0 {
                        sum += left.powi(3);
                    }
                }
                fits[(frame - from) as usize][which] += share * sum;
            }
        }
        // For each frame that it may come before.
        let mut gained = fits.iter().map(|fit| fit[1]).sum::<f64>();
        let on_curve = fits.iter().map(|fit| fit[2]).sum::<f64>();
        let mut likely = Vec::with_capacity(length);
        for fit in &fits {
            likely.push(gained);
            gained += fit[0] - fit[1];
        }
        let most = likely.iter().copied().fold(f64::MIN, f64::max);
        if most < on_curve + LEAST_GAIN {
            continue;
        }
        any = true;
        let chances: Vec<f64> = likely.iter().map(|value| (value - most).exp()).collect();
        let whole: f64 = chances.iter().sum();
        let mut after = 0.0;
        let squares: Vec<[f64; 2]> = errors
            .iter()
            .map(|of| [from, to].map(|frame| of.get(frame as usize).map_or(0.0, |e| e * e)))
            .collect();
        for (frame, chance) in (from..=to).zip(&chances) {
            after += chance / whole;
            let frame = frame as usize;
            for axis in 0..axes {
                let step = levels[1][axis] - levels[0][axis];
                drift[axis][frame] = levels[0][axis] + after * step;
                let [before, behind] = squares[axis];
                let square =
                    before + after * (behind - before) + after * (1.0 - after) * step * step;
                if let Some(error) = errors[axis].get_mut(frame) {
                    *error = square.max(0.0).sqrt();
                }
            }
        }
    }
    any
}

/// The bins before and after each jump.
fn find(search: &Search<'_>, curve: &Curve) -> Vec<[usize; 2]> {
    let count = curve.bins.count;
    let wide = (BLINK / curve.bins.length()).ceil() as usize;
    if count < 4 * (wide + 2) {
        return Vec::new();
    }
    let mut places: Vec<[usize; 2]> = Vec::new();
    for width in WIDTHS.into_iter().filter(|width| 4 * width < count) {
        let step = |bin: usize| -> f64 {
            let square = |of: &Vec<f64>| (of[bin + width] - of[bin]).powi(2);
            curve.values.iter().map(square).sum::<f64>().sqrt()
        };
        let steps: Vec<f64> = (0..count - width).map(step).collect();
        let usual = crate::averages::median(steps.iter().copied());
        let least = (OUTSTANDING * usual).max(LARGE * search.points.precision());
        let mut found: Vec<[usize; 2]> = Vec::new();
        for bin in (0..steps.len()).filter(|&bin| steps[bin] > least) {
            match found.last_mut() {
                Some(place) if bin <= place[1] => place[1] = bin + width,
                _ => found.push([bin, bin + width]),
            }
        }
        // Steps begin a width before a jump: the outermost of them only touch it.
        for [first, last] in found.into_iter().filter(|[first, last]| last - first <= 4 * width) {
            let place = [
                (first + width / 2).saturating_sub(wide),
                (last - width / 2 + wide).min(count - 1),
            ];
            let known = |other: &[usize; 2]| other[0] <= place[1] && place[0] <= other[1];
            if !places.iter().any(known) {
                places.push(place);
            }
        }
    }
    places.sort_unstable();
    places
}
