//! The beads in a frame: looking at them where they are expected, and elsewhere if they are gone.

use fit_core::Size;
use spotfit_locs::drift::{CommonDrift, SeenPlace};

use super::bead::{Allowed, Own};
use super::look::{Look, Sight};
use super::pattern::{self, Pattern, Pose};
use super::search::Search;
use super::{Bead, BeadState, Doubt, FrameView, TrackError, TrackOptions};

/// Single beads that are looked for in a frame.
const SEARCHES: usize = 2;
/// A missed bead is looked for in one of so many frames, a lost one in one of so many.
const MISSED_TURN: u64 = 4;
const LOST_TURN: u64 = 16;
/// After so many frames in which most beads were gone, they are looked for in one of [`MISSED_TURN`] frames only.
const BLIND: u64 = 4;
/// Where few of all beads are left, all are looked for in one of so many frames.
const DOUBT_TURN: u64 = 64;
/// Of fewer beads it cannot be said what they have in common.
pub(super) const FEW: usize = 4;
/// What stands out by less than this share of what beads usually do is not looked at.
const FAINT: f64 = 0.2;
/// A bead that others agreed without for so many frames says nothing of what all have in common: it may have bleached, and what is seen
/// in its place is noise.
const GONE: u64 = 4;
/// What they may have in common: ln of brightness and width.
const COMMON: [f64; 2] = [0.7, 0.4];

/// A spot that is dimmer than a bead usually is, by this much in ln, is not the bead.
const DIM: f64 = -0.7;
/// By so many of its standard errors it may be dimmer: what a fit finds in noise may have any light, and errors as large.
const SURE: f64 = 2.0;

/// Beads, and what a frame shows of them.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) own: Vec<Own>,
    look: Look,
    search: Search,
    pattern: Pattern,
    /// By how much nine pixels of a bead stand out, for each of its photons.
    light: f64,
    sights: Vec<Option<Sight>>,
    doubts: Vec<Option<Doubt>>,
    /// Whether there is no window for it.
    outside: Vec<bool>,
    /// What is to be looked at again.
    again: Vec<(usize, [f64; 2])>,
    taken: Vec<[f64; 2]>,
    sorted: Vec<f64>,
    allowed: Allowed,
    reach: usize,
    frame: u64,
    /// Frames in which most of the beads were gone, one after the other.
    blind: u64,
}

impl Watch {
    pub(super) fn new(
        size: Size,
        options: &TrackOptions,
        own: Vec<Own>,
    ) -> Result<Self, TrackError> {
        let count = own.len();
        let parameters = options.fitter.fit.parameters();
        let freedom = options.size().pixels().saturating_sub(parameters);
        Ok(Self {
            look: Look::new(size, options, count)?,
            search: Search::new(size.width, count, options.box_size),
            pattern: Pattern::new(count),
            light: 0.0,
            sights: vec![None; count],
            doubts: vec![None; count],
            outside: vec![false; count],
            again: Vec::with_capacity(count),
            taken: Vec::with_capacity(count),
            sorted: Vec::with_capacity(count),
            allowed: Allowed::new(&options.gates, freedom.max(1) as f64),
            reach: options.reach,
            frame: 0,
            blind: 0,
            own,
        })
    }

    /// Learns from the reference by how much beads stand out, and how many of them are at bright places if the pattern is shifted onto
    /// others.
    pub(super) fn learn_pattern(&mut self, reference: FrameView<'_>) -> usize {
        let Self { own, search, sorted, .. } = self;
        sorted.clear();
        for own in own.iter() {
            let [x, y, _] = own.reference;
            let light = search.light(reference, [x, y]) / own.photons();
            sorted.extend(Some(light).filter(|light| light.is_finite()));
        }
        self.light = middle(sorted).unwrap_or(0.0).max(0.0);
        let least = self.faintest();
        let places: Vec<[f64; 2]> =
            self.own.iter().map(|own| [own.reference[0], own.reference[1]]).collect();
        let apart = self.search.apart();
        pattern::alike(&places, self.search.everywhere(reference, least), apart)
    }

    /// By how much a place must stand out to be looked at.
    fn faintest(&mut self) -> f32 {
        self.sorted.clear();
        self.sorted.extend(self.own.iter().map(Own::photons));
        let photons = middle(&mut self.sorted).unwrap_or(0.0);
        ((FAINT * self.light * photons) as f32).max(f32::MIN_POSITIVE)
    }

    /// What a frame shows of a bead that is as it should be.
    pub(super) fn good(&self, bead: usize) -> Option<&Sight> {
        self.sights[bead].as_ref().filter(|_| self.doubts[bead].is_none())
    }

    /// Looks at all beads, which are expected after a drift; again at those that are aside in their windows, and around for some of those
    /// that are gone.
    pub(super) fn look(
        &mut self,
        frame: FrameView<'_>,
        common: &CommonDrift,
        ahead: [f64; 3],
        beads: &[Bead],
    ) {
        self.frame += 1;
        self.look_at(frame, common, ahead, true);
        let held = |(bead, known): (usize, &Bead)| {
            known.state == BeadState::Held && self.good(bead).is_none()
        };
        // Where most are gone, the stage made a step.
        let gone = beads.iter().enumerate().filter(|&known| held(known)).count();
        if gone * 2 <= due(beads) {
            self.look_aside(frame, common, ahead, beads);
        }
    }

    /// Looks at all beads where they are after a drift; with `strays`, also as far aside as they were.
    pub(super) fn look_at(
        &mut self,
        frame: FrameView<'_>,
        common: &CommonDrift,
        by: [f64; 3],
        strays: bool,
    ) {
        self.look.clear();
        self.sights.fill(None);
        for (bead, own) in self.own.iter().enumerate() {
            let [x, y, _] = common.place(own.reference, by);
            let stray = if strays { own.stray } else { [0.0; 2] };
            let place = [x + stray[0], y + stray[1]];
            self.outside[bead] = !self.look.add(bead, place, own.outline, own.height);
        }
        self.see(frame, false);
    }

    /// Whether it is time to look elsewhere: after many frames in vain, not in each.
    pub(super) fn is_time(&self) -> bool {
        self.blind <= BLIND || self.frame.is_multiple_of(MISSED_TURN)
    }

    /// Whether it is time to see whether few beads are right.
    pub(super) fn is_time_to_doubt(&self) -> bool {
        self.frame.is_multiple_of(DOUBT_TURN)
    }

    /// Looks for all beads around where they are expected.
    pub(super) fn look_around(
        &mut self,
        frame: FrameView<'_>,
        common: &CommonDrift,
        ahead: [f64; 3],
    ) {
        self.again.clear();
        for (bead, own) in self.own.iter().enumerate().filter(|(_, own)| own.member) {
            let [x, y, _] = common.place(own.reference, ahead);
            let found = self.search.around(frame, [x, y], self.reach, &[]);
            self.again.extend(found.map(|found| (bead, found)));
            (self.sights[bead], self.doubts[bead]) = (None, Some(Doubt::Fit));
        }
        self.look_again(frame);
    }

    /// How the pattern of the beads may lie among the bright places of the whole frame; how many of these there are, and how many poses
    /// were tried.
    pub(super) fn poses(&mut self, frame: FrameView<'_>, common: &CommonDrift) -> [usize; 2] {
        let least = self.faintest();
        let Self { own, search, pattern, .. } = self;
        let peaks = search.everywhere(frame, least);
        let members = own.iter().filter(|own| own.member);
        pattern.search(common.centre(), members.map(|own| lever(common, own)), peaks);
        [peaks.len(), pattern.tried()]
    }

    /// One of the poses that were found last, the best first.
    pub(super) fn pose(&self, number: usize) -> Option<Pose> {
        self.pattern.poses().get(number).copied()
    }

    /// Whether there are more poses than were found.
    pub(super) fn has_more_poses(&self) -> bool {
        self.pattern.is_full()
    }

    /// A pose after what was seen of the beads.
    pub(super) fn refine(&self, pose: Pose, common: &CommonDrift) -> Pose {
        let members = self.own.iter().enumerate().filter(|(_, own)| own.member);
        let seen = members.filter_map(|(bead, own)| {
            let [x, y, _] = self.good(bead)?.place;
            Some((lever(common, own), [x, y]))
        });
        pattern::refine(pose, common.centre(), seen)
    }

    /// How many beads there are, and how many of them have a window in the frame.
    pub(super) fn members(&self) -> [usize; 2] {
        let members = || self.own.iter().zip(&self.outside).filter(|(own, _)| own.member);
        [members().count(), members().filter(|(_, outside)| !**outside).count()]
    }

    /// Counts the frames in which most beads were gone, one after the other.
    pub(super) fn count_blind(&mut self, blind: bool) {
        self.blind = if blind { self.blind + 1 } else { 0 };
    }

    /// Fits the windows that were added; with `only_better`, keeps what was seen before unless this is as it should be.
    fn see(&mut self, frame: FrameView<'_>, only_better: bool) {
        if self.look.run(frame, false).is_err() {
            return;
        }
        if !only_better {
            for number in 0..self.look.count() {
                self.sights[self.look.bead(number)] = self.look.sight(number);
            }
            let common = self.in_common();
            for (bead, own) in self.own.iter().enumerate() {
                self.doubts[bead] = match &self.sights[bead] {
                    Some(sight) => own.doubt(sight, common, &self.allowed),
                    None => Some(Doubt::Fit),
                };
            }
            return;
        }
        for number in 0..self.look.count() {
            let bead = self.look.bead(number);
            let Some(sight) = self.look.sight(number) else { continue };
            let doubt = self.own[bead].doubt(&sight, [0.0; 2], &self.allowed);
            if doubt.is_none() || self.sights[bead].is_none() {
                (self.sights[bead], self.doubts[bead]) = (Some(sight), doubt);
                self.outside[bead] = false;
            }
        }
    }

    /// By how much all beads are brighter and wider than usual: medians of logarithms.
    fn in_common(&mut self) -> [f64; 2] {
        let mut found = [0.0; 2];
        for which in 0..2 {
            self.sorted.clear();
            for (own, sight) in self.own.iter().zip(&self.sights) {
                let is_here = own.member && own.apart < GONE;
                if let Some(sight) = sight.as_ref().filter(|_| is_here) {
                    self.sorted.push(own.change(sight)[which]);
                }
            }
            if self.sorted.len() >= FEW {
                let median = middle(&mut self.sorted).unwrap_or(0.0);
                found[which] = if median.abs() < COMMON[which] { median } else { 0.0 };
            }
        }
        found
    }

    /// Looks again at beads that are aside in their windows, and for some of those that are gone.
    fn look_aside(
        &mut self,
        frame: FrameView<'_>,
        common: &CommonDrift,
        ahead: [f64; 3],
        beads: &[Bead],
    ) {
        self.again.clear();
        self.taken.clear();
        for bead in 0..beads.len() {
            if let Some(place) = self.good(bead).map(|sight| [sight.place[0], sight.place[1]]) {
                self.taken.push(place);
                if self.good(bead).is_some_and(|sight| sight.aside) {
                    self.again.push((bead, place));
                }
            }
        }
        let mut searches = 0;
        for (bead, known) in beads.iter().enumerate() {
            let due = match known.state {
                _ if self.good(bead).is_some() => false,
                BeadState::Lost => (self.frame + bead as u64).is_multiple_of(LOST_TURN),
                BeadState::Outside => false,
                _ => known.missed % MISSED_TURN == 1,
            };
            if !due || searches == SEARCHES {
                continue;
            }
            searches += 1;
            let own = &self.own[bead];
            let [x, y, _] = common.place(own.reference, ahead);
            let found = self.search.around(frame, [x, y], self.reach, &self.taken);
            self.again.extend(found.map(|found| (bead, found)));
        }
        if !self.again.is_empty() {
            self.look_again(frame);
        }
    }

    /// Looks at beads in other places.
    fn look_again(&mut self, frame: FrameView<'_>) {
        self.look.clear();
        for &(bead, place) in &self.again {
            let own = &self.own[bead];
            self.look.add(bead, place, own.outline, own.height);
        }
        self.see(frame, true);
    }

    /// All beads were missed.
    pub(super) fn miss(&mut self, beads: &mut [Bead], patience: u64) {
        for bead in 0..beads.len() {
            self.doubt_trial(bead);
            let doubt = self.doubts[bead].unwrap_or(Doubt::Place);
            self.missed(&mut beads[bead], bead, doubt, patience);
        }
    }

    /// Whether what is seen in the place of a bead that is not as it should be is surely as bright as the bead: it is not dark.
    fn is_other(&self, bead: usize) -> bool {
        let dimmest = |sight: &Sight| self.own[bead].change(sight)[0] - SURE * sight.photons[1];
        self.sights[bead].as_ref().is_some_and(|sight| dimmest(sight) > DIM)
    }

    /// A trial begins anew where something else is seen. It waits for a bead that is dark: one that blinks would never end it.
    fn doubt_trial(&mut self, bead: usize) {
        if self.is_other(bead) {
            self.own[bead].interrupt();
        }
    }

    fn missed(&mut self, known: &mut Bead, bead: usize, doubt: Doubt, patience: u64) {
        known.missed += 1;
        known.state = if self.outside[bead] {
            BeadState::Outside
        } else if known.missed > patience {
            BeadState::Lost
        } else {
            BeadState::Doubted(doubt)
        };
        if known.missed.is_multiple_of(MISSED_TURN) {
            self.own[bead].stray = [0.0; 2];
        }
    }

    /// Decides how each bead is after a frame whose drift is known.
    pub(super) fn settle(
        &mut self,
        common: &CommonDrift,
        (by, variance): ([f64; 3], [f64; 3]),
        parts: &[SeenPlace],
        beads: &mut [Bead],
        patience: u64,
    ) {
        let mut parts = parts.iter().peekable();
        for bead in 0..beads.len() {
            let part = parts.next_if(|part| part.bead == bead);
            let known = &mut beads[bead];
            let Some(sight) = self.good(bead).copied() else {
                let doubt = self.doubts[bead].unwrap_or(Doubt::Fit);
                self.doubt_trial(bead);
                self.missed(known, bead, doubt, patience);
                // It is there for long, and another than it was: it may join as it is now. One that is dark is as it was.
                let is_other = self.is_other(bead);
                let own = &mut self.own[bead];
                own.apart += 1;
                if is_other && own.member && own.apart > 2 * patience {
                    own.leave();
                }
                continue;
            };
            known.place = [sight.place[0], sight.place[1]];
            known.height = sight.place[2].is_finite().then_some(sight.place[2]);
            match part {
                Some(part) if part.agrees[0] => {
                    let own = &mut self.own[bead];
                    own.learn_look(&sight);
                    own.stray = [0.0; 2];
                    own.apart = 0;
                    let height = sight.variance[2];
                    if own.information[2] == 0.0 && height.is_finite() && variance[2].is_finite() {
                        own.learn_height(sight.place[2] - by[2], height + variance[2]);
                    }
                    known.state = BeadState::Held;
                    known.missed = 0;
                    known.used += 1;
                }
                Some(part) => {
                    let own = &mut self.own[bead];
                    own.stray = [part.rest[0], part.rest[1]];
                    // Frames in which all were gone say nothing of it.
                    if own.apart >= patience {
                        own.leave();
                    }
                    own.apart += 1;
                    known.missed += 1;
                    known.state = BeadState::Doubted(Doubt::Place);
                }
                None => self.join(common, (by, variance), bead, &sight, known),
            }
            let own = &self.own[bead];
            known.reference = [own.reference[0], own.reference[1]];
            (known.error, known.photons, known.sigma) = (own.errors(), own.photons(), own.width());
        }
    }

    /// A bead that does not belong to the others, and was seen.
    fn join(
        &mut self,
        common: &CommonDrift,
        (by, variance): ([f64; 3], [f64; 3]),
        bead: usize,
        sight: &Sight,
        known: &mut Bead,
    ) {
        let apart = self.search.apart();
        let near = |other: usize| {
            let place = self.good(other).filter(|_| other != bead && self.own[other].member);
            place.is_some_and(|other| {
                (0..2).all(|axis| (other.place[axis] - sight.place[axis]).abs() < apart)
            })
        };
        known.missed += 1;
        // It may not sit on another bead.
        if (0..self.own.len()).any(near) {
            known.state = BeadState::Lost;
            self.own[bead].stray = [0.0; 2];
            self.own[bead].interrupt();
            return;
        }
        let own = &mut self.own[bead];
        let place = common.place(own.reference, by);
        let rest = [sight.place[0] - place[0], sight.place[1] - place[1]];
        own.learn_look(sight);
        own.stray = rest;
        known.state = BeadState::Joining;
        if own.try_to_join(rest, common.scatter(0), [variance[0], variance[1]]) {
            known.missed = 0;
        }
    }
}

/// The beads that were held in the last frame.
pub(super) fn due(beads: &[Bead]) -> usize {
    beads.iter().filter(|bead| bead.state == BeadState::Held).count()
}

/// How far a bead is from the middle, turned as the sample is.
fn lever(common: &CommonDrift, own: &Own) -> [f64; 2] {
    let ([x, y, _], [cx, cy]) = (common.place(own.reference, [0.0; 3]), common.centre());
    [x - cx, y - cy]
}

/// The median, which changes the order; `None` of nothing.
fn middle(numbers: &mut [f64]) -> Option<f64> {
    let middle = numbers.len() / 2;
    let is_empty = numbers.is_empty();
    (!is_empty).then(|| *numbers.select_nth_unstable_by(middle, f64::total_cmp).1)
}
