//! What is known of a bead.

use super::look::Sight;
use super::{Doubt, Gates};

/// Frames over which a bead's usual look is averaged, and its standard errors.
const LOOK_MEMORY: f64 = 64.0;
const NOISE_MEMORY: f64 = 32.0;
/// Frames over which a bead's place in the reference is averaged: a bead may creep.
const PLACE_MEMORY: f64 = 1e4;
/// Frames in which a bead shows that it stays in its place relative to the others: twice as many each time, up to the most.
const TRIAL: u32 = 32;
const MOST_TRIAL: u32 = 1024;
/// How much more than its errors say it may scatter meanwhile: in variance.
const TRIAL_SCATTER: f64 = 2.0;
/// A bead that scatters so much more than its errors say, in variance, loses weight.
const MISFIT: f64 = 2.0;
/// One that scatters so much more, in variance, has to join anew.
const TOO_FAR: f64 = 25.0;
/// Of errors in the photons or the width, so many are allowed for.
const ALLOWED: f64 = 4.0;

/// The tracker's knowledge of a bead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Own {
    /// Its place in the reference.
    pub(super) reference: [f64; 3],
    /// 1/vᵢ: see [`super::common`]; 0 if the place along an axis is not known.
    pub(super) information: [f64; 3],
    /// gᵢ.
    pub(super) anchor: [f64; 3],
    /// sᵢ², averaged.
    noise: [f64; 3],
    /// The square of how far it is from the others, in standard deviations, averaged.
    misfit: f64,
    /// ln photons and ln width.
    look: [f64; 2],
    /// Their errors.
    look_errors: [f64; 2],
    /// σx, σy and the angle.
    pub(super) outline: [f64; 3],
    /// Its height when it was last seen; NaN if that is not known.
    pub(super) height: f64,
    goodness: f64,
    /// Frames that were averaged.
    seen: f64,
    /// How far it is from where it is expected.
    pub(super) stray: [f64; 2],
    /// Frames with a drift in which it was not with the others, one after the other.
    pub(super) apart: u64,
    /// Whether it belongs to the others.
    pub(super) member: bool,
    trial: Trial,
    /// Frames of its next trial.
    trial_frames: u32,
}

/// How a bead that is to join, or to come back, behaves.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    frames: u32,
    mean: [f64; 2],
    square: [f64; 2],
}

/// What the gates let through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowed {
    /// Changes of ln of brightness and width.
    change: [f64; 2],
    /// χ², as a multiple of the usual one.
    residual: f64,
}

impl Allowed {
    /// For fits of so many degrees of freedom.
    pub(super) fn new(gates: &Gates, freedom: f64) -> Self {
        let change = [gates.brightness.ln(), gates.width.ln()];
        Self { change, residual: gates.residual + 5.0 * (2.0 / freedom).sqrt() }
    }
}

impl Own {
    /// A bead of the reference; `anchor` is its share in where the drift is 0.
    pub(super) fn new(sight: &Sight, anchor: [f64; 3]) -> Self {
        Self {
            reference: sight.place,
            information: sight.variance.map(|variance| 1.0 / variance),
            anchor,
            noise: sight.variance,
            misfit: 1.0,
            look: sight.look,
            look_errors: [sight.photons[1], sight.width[1]],
            outline: sight.outline,
            height: sight.place[2],
            goodness: sight.goodness,
            seen: 1.0,
            stray: [0.0; 2],
            apart: 0,
            member: true,
            trial: Trial::default(),
            trial_frames: TRIAL / 2,
        }
    }

    /// Its photons, as they usually are.
    pub(super) fn photons(&self) -> f64 {
        self.look[0].exp()
    }

    /// Its width, as it usually is.
    pub(super) fn width(&self) -> f64 {
        self.look[1].exp()
    }

    /// Its standard errors in x and y, as they usually are.
    pub(super) fn errors(&self) -> [f64; 2] {
        [self.noise[0].sqrt(), self.noise[1].sqrt()]
    }

    /// By how much it is brighter and wider than usual: logarithms.
    pub(super) fn change(&self, sight: &Sight) -> [f64; 2] {
        [sight.look[0] - self.look[0], sight.look[1] - self.look[1]]
    }

    /// What is wrong with a sight, when all have changed by `common`.
    pub(super) fn doubt(
        &self,
        sight: &Sight,
        common: [f64; 2],
        allowed: &Allowed,
    ) -> Option<Doubt> {
        // One that comes back may have changed.
        let loose = if self.member { 1.0 } else { 2.0 };
        let change = self.change(sight);
        let odd = |which: usize| {
            let allowed = loose * allowed.change[which] + ALLOWED * self.look_errors[which];
            (change[which] - common[which]).abs() > allowed
        };
        if odd(0) {
            return Some(Doubt::Brightness);
        }
        if odd(1) {
            return Some(Doubt::Width);
        }
        let limit = self.goodness.max(0.1) * allowed.residual;
        (sight.goodness > limit).then_some(Doubt::Residual)
    }

    /// sᵢ² of a sight: its usual one, unless it is much worse; more for a bead that disagrees with the others for long.
    pub(super) fn noise(&self, sight: &Sight) -> [f64; 3] {
        let misfit = self.raised();
        [0, 1, 2].map(|axis| {
            let (usual, own) = (self.noise[axis], sight.variance[axis]);
            let known = usual.is_finite() && own < 2.0 * usual;
            misfit * if known { usual } else { own }
        })
    }

    /// By what factor its noise is raised because it disagrees with the others.
    pub(super) fn raised(&self) -> f64 {
        if self.misfit > MISFIT { self.misfit } else { 1.0 }
    }

    /// Learns how it looks.
    pub(super) fn learn_look(&mut self, sight: &Sight) {
        if sight.place[2].is_finite() {
            self.height = sight.place[2];
        }
        self.seen += 1.0;
        let slow = (1.0 / self.seen).max(1.0 / LOOK_MEMORY);
        let average = |to: &mut f64, value: f64, rate: f64| *to += rate * (value - *to);
        average(&mut self.look[0], sight.look[0], slow);
        average(&mut self.look[1], sight.look[1], slow);
        average(&mut self.look_errors[0], sight.photons[1], slow);
        average(&mut self.look_errors[1], sight.width[1], slow);
        average(&mut self.goodness, sight.goodness, slow);
        for (to, value) in self.outline.iter_mut().zip(sight.outline) {
            average(to, value, slow);
        }
        let fast = (1.0 / self.seen).max(1.0 / NOISE_MEMORY);
        for (to, value) in self.noise.iter_mut().zip(sight.variance) {
            match (to.is_finite(), value.is_finite()) {
                (true, true) => average(to, value, fast),
                (false, true) => *to = value,
                _ => {}
            }
        }
    }

    /// Learns how far it is from the others: the mean square along x and y, in variances.
    pub(super) fn learn_misfit(&mut self, square: f64) {
        self.misfit += (square - self.misfit) / NOISE_MEMORY;
        if self.misfit > TOO_FAR {
            self.leave();
        }
    }

    /// The share of what is left of its place that goes into the reference.
    pub(super) fn gain(&self, axis: usize) -> f64 {
        let own = 1.0 / self.noise[axis];
        (own / (self.information[axis] + own)).max(1.0 / PLACE_MEMORY)
    }

    /// Learns its place along an axis.
    pub(super) fn learn_place(&mut self, axis: usize, change: f64) {
        self.reference[axis] += change;
        let own = 1.0 / self.noise[axis];
        self.information[axis] = (self.information[axis] + own).min(PLACE_MEMORY * own);
    }

    /// Takes a height as its own, where it had none.
    pub(super) fn learn_height(&mut self, reference: f64, variance: f64) {
        self.reference[2] = reference;
        self.information[2] = 1.0 / variance;
    }

    /// It does not belong to the others any more.
    pub(super) fn leave(&mut self) {
        self.member = false;
        self.apart = 0;
        self.trial = Trial::default();
        self.trial_frames = (2 * self.trial_frames).min(MOST_TRIAL);
    }

    /// Something else was seen in its place: its trial begins again.
    pub(super) fn interrupt(&mut self) {
        self.trial = Trial::default();
    }

    /// A frame of its trial, in which it is `rest` from where it should be, with the error of the drift. True if it joins now.
    pub(super) fn try_to_join(&mut self, rest: [f64; 2], scatter: f64, drift: [f64; 2]) -> bool {
        let trial = &mut self.trial;
        trial.frames += 1;
        for axis in 0..2 {
            let off = rest[axis] - trial.mean[axis];
            trial.mean[axis] += off / f64::from(trial.frames);
            trial.square[axis] += off * (rest[axis] - trial.mean[axis]);
        }
        if trial.frames < self.trial_frames {
            return false;
        }
        let Trial { mean, square, frames } = std::mem::take(trial);
        let count = f64::from(frames);
        let still = (0..2).all(|axis| {
            let expected = scatter.max(1.0) * (self.noise[axis] + drift[axis]);
            square[axis] / (count - 1.0) <= TRIAL_SCATTER * expected
        });
        if still {
            for axis in 0..2 {
                self.reference[axis] += mean[axis];
                // Of the drift it has what all frames have in common.
                let variance = (self.noise[axis] + drift[axis]) / count;
                self.information[axis] = 1.0 / variance;
                self.anchor[axis] = 0.0;
            }
            self.anchor[2] = 0.0;
            self.information[2] = 0.0;
            self.misfit = 1.0;
            self.member = true;
            (self.stray, self.apart) = ([0.0; 2], 0);
        }
        still
    }
}
