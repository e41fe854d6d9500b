//! What moves a stage on command.

use std::collections::VecDeque;

use crate::error::{SimulationError, check};
use crate::random::Random;

fit_core::__options! {
    /// What an actuator can do: along x, y in pixels, along z in nanometres. By default it goes 100 pixels and 10 µm far, without steps or
    /// noise.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct Actuator {
        /// It goes as far as this to both sides. Range: 0 to 10⁹.
        pub range(const with_range): [f64; 3] = [100.0, 100.0, 10_000.0],
        /// It goes in steps of this; 0 to any place. Range: 0 to 10⁶.
        pub step(const with_step): [f64; 3] = [0.0; 3],
        /// The standard deviation of its place in each frame. Range: 0 to 10⁶.
        pub noise(const with_noise): [f64; 3] = [0.0; 3],
    }
}

impl Actuator {
    pub(super) fn validate(&self) -> Result<(), SimulationError> {
        for axis in 0..3 {
            check("actuator.range", self.range[axis], 0.0, 1e9, "0 to 1e9")?;
            check("actuator.step", self.step[axis], 0.0, 1e6, "0 to 1e6")?;
            check("actuator.noise", self.noise[axis], 0.0, 1e6, "0 to 1e6")?;
        }
        Ok(())
    }

    /// Where it goes when it is sent to a place.
    fn goes_to(&self, axis: usize, target: f64) -> f64 {
        let (range, step) = (self.range[axis], self.step[axis]);
        let target = target.clamp(-range, range);
        // Towards the middle, as far as a whole number of steps is within the range.
        if step > 0.0 {
            let most = libm::floor(range / step);
            step * libm::round(target / step).clamp(-most, most)
        } else {
            target
        }
    }
}

/// An actuator, and the commands on their way to it.
#[derive(Clone, Debug)]
pub(super) struct Drive {
    actuator: Actuator,
    target: [f64; 3],
    waiting: VecDeque<[f64; 3]>,
}

impl Drive {
    pub(super) fn new(actuator: Actuator, delay: usize) -> Self {
        Self { actuator, target: [0.0; 3], waiting: vec![[0.0; 3]; delay - 1].into() }
    }

    pub(super) fn command(&mut self, target: [f64; 3]) {
        for (axis, value) in target.into_iter().enumerate() {
            if value.is_finite() {
                self.target[axis] = self.actuator.goes_to(axis, value);
            }
        }
    }

    /// Where it is in the next frame.
    pub(super) fn advance(&mut self, random: &mut Random) -> [f64; 3] {
        self.waiting.push_back(self.target);
        let at = self.waiting.pop_front().unwrap_or_default();
        [0, 1, 2].map(|axis| {
            let noise = self.actuator.noise[axis];
            at[axis] + if noise > 0.0 { noise * random.normal() } else { 0.0 }
        })
    }
}
