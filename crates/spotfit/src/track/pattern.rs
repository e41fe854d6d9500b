//! Where the pattern of all beads is among the bright places of a frame.
//!
//! A pair of beads and a pair of places as far from each other say how the pattern is shifted and turned; all beads then say how many
//! of them are at bright places (geometric hashing; Lamdan & Wolfson, ICCV 1988, with a rigid basis of two points). What most say is
//! looked at by fits ([`super::again`]). Its cost is bounded, and it takes no memory.

use super::search::Peak;

/// So many beads make pairs in a frame. Others have their turn in later ones.
const PAIRED: usize = 32;
/// By so much the sample may have turned since it was seen, in radians: a bit more than 2°.
pub(super) const MOST_TURN: f64 = 0.0375;
/// A bead is at a place if it is so near, in pixels.
const NEAR: f64 = 1.0;
/// The most that uncertain turns may add to that.
const MOST_NEAR: f64 = 3.0;
/// So many times at most a bead is asked in a frame where a pose has it: 4096 poses of 64 beads, or fewer of more.
const MOST_ASKED: usize = 4096 * 64;
/// The most poses that are tried in a frame, and that are kept.
const MOST_TRIED: usize = 4096;
pub(super) const KEPT: usize = 8;
/// Two that differ by less than this at the beads, in pixels, are the same.
const SAME: f64 = 6.0;

/// How the pattern may lie: turned about its middle, and shifted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pose {
    /// In radians from x to y, from how it was last seen.
    pub(super) angle: f64,
    /// From the reference, in pixels.
    pub(super) shift: [f64; 2],
    /// Beads that are at bright places, and the sum of the squares of how far they are from them.
    pub(super) votes: usize,
    rest: f64,
}

impl Pose {
    /// Where a place is, which is so far from the middle in the reference.
    fn place(&self, centre: [f64; 2], lever: [f64; 2]) -> [f64; 2] {
        let turned = turn(lever, self.angle);
        [0, 1].map(|k| centre[k] + self.shift[k] + turned[k])
    }
}

fn turn([x, y]: [f64; 2], angle: f64) -> [f64; 2] {
    let (sin, cos) = angle.sin_cos();
    [cos * x - sin * y, sin * x + cos * y]
}

/// The sums of a least-squares turn and shift.
#[derive(Clone, Copy, Default)]
struct Sums {
    count: f64,
    lever: [f64; 2],
    place: [f64; 2],
    dot: f64,
    cross: f64,
}

impl Sums {
    fn add(&mut self, lever: [f64; 2], place: [f64; 2]) {
        self.count += 1.0;
        for k in 0..2 {
            self.lever[k] += lever[k];
            self.place[k] += place[k];
        }
        self.dot += lever[0] * place[0] + lever[1] * place[1];
        self.cross += lever[0] * place[1] - lever[1] * place[0];
    }

    /// Places are relative to the centre.
    fn pose(&self, from: Pose) -> Pose {
        if self.count < 1.0 {
            return from;
        }
        let (lever, place) =
            (self.lever.map(|x| x / self.count), self.place.map(|x| x / self.count));
        let dot = self.dot - self.count * (lever[0] * place[0] + lever[1] * place[1]);
        let cross = self.cross - self.count * (lever[0] * place[1] - lever[1] * place[0]);
        let angle = if self.count > 1.5 && dot > 0.0 { cross.atan2(dot) } else { from.angle };
        let turned = turn(lever, angle);
        Pose { angle, shift: [place[0] - turned[0], place[1] - turned[1]], ..from }
    }
}

/// A pose after the places that were seen of beads: pairs of how far a bead is from the middle, and where it was seen. What is far from
/// where it should be is left out.
pub(super) fn refine(
    mut pose: Pose,
    centre: [f64; 2],
    seen: impl Iterator<Item = ([f64; 2], [f64; 2])> + Clone,
) -> Pose {
    for near in [3.0, 1.5, 0.75] {
        let mut sums = Sums::default();
        for (lever, place) in seen.clone() {
            let expected = pose.place(centre, lever);
            if (place[0] - expected[0]).hypot(place[1] - expected[1]) < near {
                sums.add(lever, [place[0] - centre[0], place[1] - centre[1]]);
            }
        }
        pose = sums.pose(pose);
    }
    pose
}

/// Looks for the pattern.
#[derive(Debug, Default)]
pub(super) struct Pattern {
    centre: [f64; 2],
    levers: Vec<[f64; 2]>,
    poses: Vec<Pose>,
    /// How far beads are from the middle, rms.
    size: f64,
    tried: usize,
    /// As many as may be tried.
    most: usize,
    attempts: usize,
}

impl Pattern {
    /// Room for so many beads.
    pub(super) fn new(beads: usize) -> Self {
        let (levers, poses) = (Vec::with_capacity(beads), Vec::with_capacity(KEPT));
        Self { levers, poses, most: MOST_TRIED, ..Self::default() }
    }

    /// Finds how the pattern of beads, which are so far from a centre, may lie among bright places, which are sorted by y.
    pub(super) fn search(
        &mut self,
        centre: [f64; 2],
        levers: impl Iterator<Item = [f64; 2]>,
        peaks: &[Peak],
    ) {
        self.centre = centre;
        self.levers.clear();
        self.levers.extend(levers);
        self.poses.clear();
        self.tried = 0;
        let count = self.levers.len();
        self.most = MOST_TRIED.min(MOST_ASKED / count.max(1)).max(1);
        let squares: f64 = self.levers.iter().map(|[x, y]| x * x + y * y).sum();
        self.size = (squares / count.max(1) as f64).sqrt();
        if let [[x, y]] = self.levers[..] {
            for peak in peaks {
                let shift = [peak.place[0] - centre[0] - x, peak.place[1] - centre[1] - y];
                self.keep(Pose { angle: 0.0, shift, votes: 1, rest: 0.0 });
            }
            return;
        }
        // Where there is too much to try, it is something else each time.
        let first = 5 * self.attempts;
        self.attempts = (self.attempts + 1) % count.max(1);
        let at = |number: usize| (first + number) % count;
        let paired = count.min(PAIRED);
        for one in 0..paired {
            for other in one + 1..paired {
                if self.tried == self.most {
                    return;
                }
                self.pair([self.levers[at(one)], self.levers[at(other)]], peaks);
            }
        }
    }

    /// What was found last, the best first.
    pub(super) fn poses(&self) -> &[Pose] {
        &self.poses
    }

    /// How many poses were tried.
    pub(super) fn tried(&self) -> usize {
        self.tried
    }

    /// Whether there are more that are as good as the best than there was room for.
    pub(super) fn is_full(&self) -> bool {
        let ends = self.poses.first().zip(self.poses.last());
        self.poses.len() == KEPT && ends.is_some_and(|(first, last)| first.votes == last.votes)
    }

    /// Tries all pairs of places that are as far from each other as two beads.
    fn pair(&mut self, [one, other]: [[f64; 2]; 2], peaks: &[Peak]) {
        let [x, y] = [other[0] - one[0], other[1] - one[1]];
        let length = x.hypot(y);
        let reach = MOST_TURN * x.abs() + NEAR;
        let middle = [0.5 * (one[0] + other[0]), 0.5 * (one[1] + other[1])];
        for peak in peaks {
            let [from_x, from_y] = peak.place;
            let first = peaks.partition_point(|peak| peak.place[1] < from_y + y - reach);
            let within = |peak: &&Peak| peak.place[1] <= from_y + y + reach;
            for other in peaks[first..].iter().take_while(within) {
                let [dx, dy] = [other.place[0] - from_x, other.place[1] - from_y];
                let off = (dx.hypot(dy) - length).abs();
                let angle = (x * dy - y * dx).atan2(x * dx + y * dy);
                if off > NEAR || angle.abs() > MOST_TURN + NEAR / length {
                    continue;
                }
                if self.tried == self.most {
                    return;
                }
                self.tried += 1;
                let angle = angle.clamp(-MOST_TURN, MOST_TURN);
                let turned = turn(middle, angle);
                let shift = [
                    from_x + 0.5 * dx - self.centre[0] - turned[0],
                    from_y + 0.5 * dy - self.centre[1] - turned[1],
                ];
                self.vote(Pose { angle, shift, votes: 0, rest: 0.0 }, middle, length, peaks);
            }
        }
    }

    /// Asks all beads, as exactly as two can say it and then as exactly as those can that agree.
    fn vote(&mut self, pose: Pose, middle: [f64; 2], length: f64, peaks: &[Peak]) {
        let mut sums = Sums::default();
        for &lever in &self.levers {
            let far = (lever[0] - middle[0]).hypot(lever[1] - middle[1]);
            let near = (NEAR + 0.5 * far / length).min(MOST_NEAR);
            if let Some((place, _)) = nearest(peaks, pose.place(self.centre, lever), near) {
                sums.add(lever, [place[0] - self.centre[0], place[1] - self.centre[1]]);
            }
        }
        let few = 3.min(self.levers.len());
        if sums.count < few as f64 {
            return;
        }
        let mut pose = sums.pose(pose);
        if pose.angle.abs() > MOST_TURN {
            return;
        }
        for &lever in &self.levers {
            if let Some((_, square)) = nearest(peaks, pose.place(self.centre, lever), NEAR) {
                pose.votes += 1;
                pose.rest += square;
            }
        }
        if pose.votes >= few {
            self.keep(pose);
        }
    }

    /// Keeps a pose if it is among the best.
    fn keep(&mut self, pose: Pose) {
        let better = |other: &Pose| (other.votes, -other.rest) >= (pose.votes, -pose.rest);
        let same = |other: &Pose| {
            let off = [0, 1].map(|k| (other.shift[k] - pose.shift[k]).abs());
            off[0].max(off[1]).max((other.angle - pose.angle).abs() * self.size) < SAME
        };
        if let Some(at) = self.poses.iter().position(same) {
            if better(&self.poses[at]) {
                return;
            }
            self.poses.remove(at);
        }
        let at = self.poses.iter().take_while(|other| better(other)).count();
        if at == KEPT {
            return;
        }
        self.poses.truncate(KEPT - 1);
        self.poses.insert(at, pose);
    }
}

/// The nearest place within so many pixels, and the square of how far it is.
fn nearest(peaks: &[Peak], [x, y]: [f64; 2], near: f64) -> Option<([f64; 2], f64)> {
    let first = peaks.partition_point(|peak| peak.place[1] < y - near);
    let within = |peak: &&Peak| peak.place[1] <= y + near;
    let square = |peak: &Peak| (peak.place[0] - x).powi(2) + (peak.place[1] - y).powi(2);
    let all = peaks[first..].iter().take_while(within).map(|peak| (peak.place, square(peak)));
    all.min_by(|one, other| one.1.total_cmp(&other.1)).filter(|(_, square)| *square <= near * near)
}

/// How many beads of a reference are at bright places of it once more if the pattern is shifted by so much that beads go to others.
pub(super) fn alike(beads: &[[f64; 2]], peaks: &[Peak], apart: f64) -> usize {
    /// More would take long, and are alike by as large a share.
    const MOST: usize = 64;
    let some = &beads[..beads.len().min(MOST)];
    let mut shifts: Vec<[f64; 2]> = some
        .iter()
        .flat_map(|bead| peaks.iter().map(|peak| [0, 1].map(|k| peak.place[k] - bead[k])))
        .filter(|[x, y]| x.hypot(*y) > apart)
        .collect();
    shifts.sort_unstable_by(|one, other| one[0].total_cmp(&other[0]));
    let mut most = 0;
    for (number, [x, y]) in shifts.iter().enumerate() {
        let within = shifts[number..].iter().take_while(|[other, _]| other - x <= 2.0 * NEAR);
        // By one of them as the left and the upper, or the lower end: as many are within two pixels.
        let (up, down) = within.fold((0, 0), |(up, down), [_, other]| {
            let off = other - y;
            let is = |off: f64| usize::from((0.0..=2.0 * NEAR).contains(&off));
            (up + is(off), down + is(-off))
        });
        most = most.max(up).max(down);
    }
    most * beads.len() / some.len().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fit_sim::Random;

    /// Proves that four of twelve beads are enough to find a pattern that went by 40 pixels and turned by 2°, among as many places that
    /// are no beads; and that a grid is alike where it goes on, and chance is not.
    #[test]
    fn a_pattern_is_found() {
        for seed in 0..20 {
            let mut random = Random::new(7, seed);
            let mut place = || [300.0 * random.uniform(), 250.0 * random.uniform()];
            let beads: Vec<[f64; 2]> = (0..12).map(|_| place()).collect();
            let centre = [150.0, 125.0];
            let levers = beads.iter().map(|bead| [bead[0] - centre[0], bead[1] - centre[1]]);
            let truth = Pose { angle: 0.034, shift: [-30.0, 26.0], votes: 0, rest: 0.0 };
            let others: Vec<[f64; 2]> = (0..12).map(|_| place()).collect();
            let there = levers.clone().take(4).map(|lever| truth.place(centre, lever));
            let mut peaks: Vec<Peak> = there
                .chain(others)
                .map(|[x, y]| Peak { place: [x + 0.2, y - 0.2], light: 1.0 })
                .collect();
            peaks.sort_by(|one, other| one.place[1].total_cmp(&other.place[1]));
            let mut pattern = Pattern::new(12);
            pattern.search(centre, levers, &peaks);
            let poses = pattern.poses();
            let is_right = |pose: &Pose| {
                (pose.angle - truth.angle).abs() < 0.01
                    && (0..2).all(|k| (pose.shift[k] - truth.shift[k]).abs() < 2.0)
            };
            assert!(poses.iter().any(is_right), "{seed}: {poses:?}");
            let light: Vec<Peak> = beads.iter().map(|&place| Peak { place, light: 1.0 }).collect();
            assert!(alike(&beads, &light, 4.0) <= 3);
        }
        let grid: Vec<[f64; 2]> =
            (0..16).map(|at| [20.0 * f64::from(at % 4), 20.0 * f64::from(at / 4)]).collect();
        let light: Vec<Peak> = grid.iter().map(|&place| Peak { place, light: 1.0 }).collect();
        assert_eq!(alike(&grid, &light, 4.0), 12);
    }
}
