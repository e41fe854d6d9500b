//! Beads that are not where they are expected: around, and the pattern of all of them in the whole frame.
//!
//! What is found counts only if it cannot be something else. So many beads must agree, to some of their standard errors, that chance does
//! not bring them together, and no other place of the pattern may have nearly as many.

use spotfit_locs::drift::{CommonShift, Turn};

use super::watch::FEW;
use super::{FrameView, STEP, Tracker, pattern};

/// How likely chance may bring as many places together as are needed. They must also look like beads, which makes it less.
const CHANCE: f64 = 1e-3;
/// Two that differ by less, in pixels, are the same.
const SAME: f64 = 2.0;
/// Beyond the errors of what is expected, a stage that stands still may be so far, in pixels.
const STILL: f64 = 0.1;
/// Of the error of a turn that was not asked for, so much is none.
const NO_TURN: f64 = 4.0;

/// Where the beads may be.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    by: [f64; 3],
    turn: Turn,
    beads: usize,
    /// Beads that should be in the frame, and are not.
    missing: usize,
}

impl Candidate {
    fn is_same(&self, other: &Self) -> bool {
        (0..2).all(|axis| (self.by[axis] - other.by[axis]).abs() < SAME)
    }

    /// Whether it is so much better that the other cannot be. Of a grid all are there, and where it is shifted at least a row is missing;
    /// but not if the grid goes on.
    fn rules_out(&self, other: &Self) -> bool {
        2 * other.beads <= self.beads || other.missing >= FEW + 2 * self.missing
    }
}

impl Tracker {
    /// Whether what was found where beads are expected needs no look elsewhere. While beads are followed, these are all that were there
    /// in the last frame, or half of them, and more than a wrong shift has. After an interruption, it must be clear without that.
    pub(super) fn is_sure(&self, found: Option<CommonShift>) -> bool {
        let Some(CommonShift { beads, .. }) = found else { return false };
        let half = 2 * beads >= self.due.max(self.parts.len());
        if self.waited > 0.0 {
            return half && beads >= FEW && beads > 2 * self.alike;
        }
        // Few may be others.
        let is_doubtful = self.watch.is_time_to_doubt() && 2 * beads < self.watch.members()[0];
        half && !is_doubtful && (beads >= self.due || beads > self.alike)
    }

    /// Looks for the beads elsewhere; `here` is what was found where they are expected, as far as it was, when the sample was turned so.
    pub(super) fn find_again(
        &mut self,
        frame: FrameView<'_>,
        ahead: [f64; 3],
        turn: Turn,
        here: Option<CommonShift>,
    ) -> Option<CommonShift> {
        // Some look like beads, and are fewer than should be there.
        self.lost |= here.is_some_and(|here| self.waited > 0.0 || here.beads < self.due);
        if !self.watch.is_time() {
            return None;
        }
        let here = here.filter(|here| 2 * here.beads >= self.parts.len());
        self.common.set_turn(turn);
        self.watch.look_around(frame, &self.common, ahead);
        // A grid looks the same after a long step; few beads are none.
        let enough = if self.due > FEW { (2 * self.alike).max(1) } else { 1 };
        let near = self.gather().filter(|near| near.beads > enough);
        let are_spots = !self.parts.is_empty();
        if self.is_sure(near) {
            return self.with_turn(turn);
        }
        let found = self.find_pattern(frame, ahead, turn, here);
        // Some look like beads, and are too few, or nobody knows which.
        self.lost |= are_spots && found.is_none();
        found
    }

    /// Looks for the pattern of all beads in the whole frame.
    fn find_pattern(
        &mut self,
        frame: FrameView<'_>,
        ahead: [f64; 3],
        turn: Turn,
        here: Option<CommonShift>,
    ) -> Option<CommonShift> {
        self.common.set_turn(turn);
        let [places, tried] = self.watch.poses(frame, &self.common);
        let [members, _] = self.watch.members();
        let missing = |beads| members.saturating_sub(beads);
        let stays = here.map(|CommonShift { by, beads, .. }| Candidate {
            by,
            turn,
            beads,
            missing: missing(beads),
        });
        let mut all = [None; 1 + pattern::KEPT];
        let mut most = 0;
        for (number, found) in all[1..].iter_mut().enumerate() {
            // Those with fewer votes are ruled out by what was found.
            let Some(pose) = self.watch.pose(number).filter(|pose| 2 * pose.votes > most) else {
                break;
            };
            *found = self.try_pose(frame, pose, ahead[2], turn);
            most = most.max(found.map_or(0, |found| found.beads));
        }
        if let Some((stays, here)) = stays.zip(here)
            && self.may_stay(here, ahead)
            && all.iter().flatten().all(|one| one.is_same(&stays) || one.beads <= stays.beads)
        {
            return self.take(frame, stays, turn);
        }
        all[0] = stays;
        // The first of those with the most.
        let best = all.iter().rev().flatten().max_by_key(|one| one.beads).copied();
        let is_clear = |best: &Candidate| {
            let mut others = all.iter().flatten().filter(|one| !one.is_same(best));
            !self.watch.has_more_poses()
                && best.beads >= self.needed(members, places, tried)
                && others.all(|one| best.rules_out(one))
        };
        let taken = best.filter(is_clear).and_then(|best| self.take(frame, best, turn));
        let taken = taken.filter(|shift| shift.beads >= FEW.min(members));
        if taken.is_none() {
            // There are spots, which are not the pattern, or too few of it.
            self.lost |= best.is_some() || places >= FEW.min(members);
        }
        taken
    }

    /// Whether beads that are where they are expected may be taken for those, if there are not more elsewhere: half of those that were
    /// there while they are followed; and where three or fewer were left, also after an interruption if they have not moved, or one alone
    /// without one.
    fn may_stay(&self, here: CommonShift, ahead: [f64; 3]) -> bool {
        let is_still = (0..2).all(|axis| {
            let variance = here.variance[axis] + self.variance[axis];
            let allowed = (self.jump * variance.sqrt() + STILL).min(STEP);
            (here.by[axis] - ahead[axis]).abs() < allowed
        });
        let (half, few) = (2 * here.beads >= self.due, self.due < FEW && is_still);
        if self.waited == 0.0 { half || few } else { half && few }
    }

    /// The beads that must agree such that chance does not do it: two say where the pattern is, and each other one is there by chance as
    /// often as there are bright places within its errors.
    fn needed(&self, members: usize, places: usize, tried: usize) -> usize {
        let area: f64 = self
            .watch
            .own
            .iter()
            .filter(|own| own.member)
            .map(|own| {
                let [x, y] = own.errors();
                x * y + 1.0 / (own.information[0] * own.information[1]).sqrt()
            })
            .sum();
        let circle = std::f64::consts::PI * self.jump * self.jump * self.common.scatter(0).max(1.0);
        let density = places as f64 / (self.frame.width * self.frame.height) as f64;
        let expected = circle * area * density;
        let (mut others, mut chance) = (0, tried.max(1) as f64);
        while chance > CHANCE && others < members {
            others += 1;
            chance *= expected / others as f64;
        }
        (others + 2).max(FEW).min(members)
    }

    /// What the beads have in common if the pattern lies so.
    fn try_pose(
        &mut self,
        frame: FrameView<'_>,
        mut pose: pattern::Pose,
        z: f64,
        turn: Turn,
    ) -> Option<Candidate> {
        for _ in 0..2 {
            self.common.set_turn(turn.turned(pose.angle));
            let by = [pose.shift[0], pose.shift[1], z];
            self.watch.look_at(frame, &self.common, by, false);
            self.common.set_turn(turn);
            pose = self.watch.refine(pose, &self.common);
        }
        self.common.set_turn(turn.turned(pose.angle));
        let CommonShift { by, beads, .. } = self.gather()?;
        let found = self.common.turn();
        let angle = (found.angle() - turn.angle()).sin();
        let [_, inside] = self.watch.members();
        let missing = inside.saturating_sub(beads);
        (angle.abs() < pattern::MOST_TURN).then_some(Candidate { by, turn: found, beads, missing })
    }

    /// Looks at the beads there once more.
    fn take(&mut self, frame: FrameView<'_>, there: Candidate, turn: Turn) -> Option<CommonShift> {
        self.common.set_turn(there.turn);
        self.watch.look_at(frame, &self.common, there.by, false);
        self.with_turn(turn)
    }

    /// What the beads that were seen have in common, with a turn that nobody has asked for only if it is one.
    pub(super) fn with_turn(&mut self, before: Turn) -> Option<CommonShift> {
        self.common.set_turn(self.common.turn().turned(0.0));
        let free = self.gather();
        let found = self.common.turn();
        let [angle, variance] = self.common.rotation();
        if before.is_free() || free.is_none() {
            return free;
        }
        if (angle - before.angle()).sin().abs() <= NO_TURN * variance.sqrt() {
            self.common.set_turn(before);
            let fixed = self.gather();
            if fixed.map(|fixed| fixed.beads) >= free.map(|free| free.beads) {
                return fixed;
            }
        }
        self.common.set_turn(found);
        self.gather()
    }
}
