//! Where the widths of each bead cross.

use super::beads::Bead;
use super::outcome::Fate;

/// At least so many slices must be on either side of a crossing.
const LEAST_SIDE: usize = 3;
/// At most so large a share of a bead's slices may be on the wrong side.
const MOST_WRONG: f64 = 0.35;

/// Gives each bead the crossing of its widths as its offset. Beads without one are not used any more.
///
/// Only the sign of σx − σy counts, so wrong widths, however wrong, are votes like others: the crossing is where fewest
/// slices have the wrong sign. All beads have the same sign above.
pub(super) fn cross(beads: &mut [Bead]) {
    let mut splits: Vec<[Option<Split>; 2]> = Vec::with_capacity(beads.len());
    let mut wrong = [0, 0];
    for bead in beads.iter().filter(|bead| bead.used()) {
        let both = [split(bead, true), split(bead, false)];
        for (wrong, split) in wrong.iter_mut().zip(&both) {
            *wrong += split.as_ref().map_or(bead.points.len(), |split| split.wrong);
        }
        splits.push(both);
    }
    let sign = usize::from(wrong[1] < wrong[0]);
    for (bead, both) in beads.iter_mut().filter(|bead| bead.used()).zip(splits) {
        let most = (MOST_WRONG * bead.points.len() as f64) as usize;
        match &both[sign] {
            Some(split) if split.wrong <= most => bead.offset = split.z,
            _ => bead.fate = Fate::NoCrossing,
        }
    }
}

struct Split {
    z: f64,
    wrong: usize,
}

/// The best place between two slices such that σx > σy above it (or below, if not `above`).
fn split(bead: &Bead, above: bool) -> Option<Split> {
    let high: Vec<bool> = bead.points.iter().map(|p| (p.sigma[0] > p.sigma[1]) == above).collect();
    let count = high.len();
    let all_high = high.iter().filter(|&&high| high).count();
    let mut below_high = 0;
    let mut best: Option<(usize, usize, usize)> = None;
    for k in 1..count {
        below_high += usize::from(high[k - 1]);
        let (low_side, high_side) = (k, count - k);
        let above_low = high_side - (all_high - below_high);
        let majority = 3 * below_high < low_side && 3 * above_low < high_side;
        if low_side < LEAST_SIDE || high_side < LEAST_SIDE || !majority {
            continue;
        }
        let wrong = below_high + above_low;
        match &mut best {
            Some((least, _, last)) if wrong == *least => *last = k,
            Some((least, ..)) if wrong > *least => {}
            _ => best = Some((wrong, k, k)),
        }
    }
    let (wrong, first, last) = best?;
    let between = |k: usize| 0.5 * (bead.points[k - 1].z + bead.points[k].z);
    Some(Split { z: 0.5 * (between(first) + between(last)), wrong })
}
