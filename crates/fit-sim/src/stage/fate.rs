//! What becomes of a bead.

use crate::error::{SimulationError, check};
use crate::random::Random;

/// What becomes of a bead.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum BeadFate {
    /// It stays as it is.
    #[default]
    Steady,
    /// It is dark from time to time.
    Blinks {
        /// How long it stays on, on average, in frames. Range: 1 to 10⁹.
        on: f64,
        /// How long it stays off, on average, in frames. Range: 1 to 10⁹.
        off: f64,
    },
    /// From a frame on, its light falls by e in so many frames.
    Bleaches {
        /// When this begins.
        from: u64,
        /// In so many frames. Range: 1 to 10⁹.
        frames: f64,
    },
    /// From a frame on, another particle as bright comes from 12 pixels away and stays beside it.
    Merges {
        /// When this begins.
        from: u64,
        /// In so many frames. Range: 1 to 10⁹.
        frames: f64,
    },
    /// From a frame on it floats away along x, in a random walk along both axes.
    Floats {
        /// When this begins.
        from: u64,
        /// Pixels a frame, and the standard deviation of the walk's step along an axis. Range: 0 to 10³.
        speed: f64,
    },
}

/// From how far another particle comes, and how near it ends, in pixels.
const FAR: f64 = 12.0;
const NEAR: f64 = 1.0;

impl BeadFate {
    pub(super) fn validate(&self) -> Result<(), SimulationError> {
        let frames = |value| check("fate", value, 1.0, 1e9, "1 to 1e9 frames");
        match *self {
            Self::Steady => Ok(()),
            Self::Blinks { on, off } => frames(on).and_then(|()| frames(off)),
            Self::Bleaches { frames: long, .. } | Self::Merges { frames: long, .. } => frames(long),
            Self::Floats { speed, .. } => {
                check("fate", speed, 0.0, 1e3, "0 to 1000 pixels a frame")
            }
        }
    }
}

/// A bead on its way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fortune {
    dark: bool,
    off: [f64; 2],
    guest: Option<[f64; 2]>,
}

/// How a bead is in a frame.
pub(super) struct Stays {
    /// How far it is from its place.
    pub(super) off: [f64; 2],
    /// The share of its light.
    pub(super) light: f64,
    /// See [`super::SeenBead::sound`].
    pub(super) sound: bool,
}

impl Fortune {
    /// Where the other particle is beside the bead, if there is one.
    pub(super) fn guest(&self) -> Option<[f64; 2]> {
        self.guest
    }

    pub(super) fn advance(&mut self, fate: BeadFate, frame: u64, random: &mut Random) -> Stays {
        let (mut light, mut sound) = (1.0, true);
        let since = |from: u64| frame.checked_sub(from).map(|since| since as f64);
        match fate {
            BeadFate::Steady => {}
            BeadFate::Blinks { on, off } => {
                let long = if self.dark { off } else { on };
                // The first frame shows all beads.
                if frame > 0 && random.uniform() < 1.0 / long {
                    self.dark = !self.dark;
                }
                light = if self.dark { 0.0 } else { 1.0 };
                sound = !self.dark;
            }
            BeadFate::Bleaches { from, frames } => {
                if let Some(since) = since(from) {
                    light = libm::exp(-since / frames);
                    sound = light >= 0.5;
                }
            }
            BeadFate::Merges { from, frames } => {
                if let Some(since) = since(from) {
                    let share = (since / frames).min(1.0);
                    self.guest = Some([FAR + share * (NEAR - FAR), 0.3]);
                    sound = false;
                }
            }
            BeadFate::Floats { from, speed } => {
                if since(from).is_some() {
                    self.off[0] += speed * (1.0 + random.normal());
                    self.off[1] += speed * random.normal();
                    sound = false;
                }
            }
        }
        Stays { off: self.off, light, sound }
    }
}
