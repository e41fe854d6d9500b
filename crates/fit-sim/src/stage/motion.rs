//! How a stage moves by itself.

use core::f64::consts::TAU;

use crate::error::{SimulationError, check};

fit_core::__options! {
    /// Movement of a stage: the sum of four kinds. Along x, y in pixels, along z in nanometres.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct StageMotion {
        /// A random walk: the standard deviation of its step from frame to frame. Range: 0 to 10⁴.
        pub walk(const with_walk): [f64; 3] = [0.0; 3],
        /// A constant velocity, from frame to frame. Range: −10⁴ to 10⁴.
        pub velocity(const with_velocity): [f64; 3] = [0.0; 3],
        /// How far it jumps, there and back, every [`StageMotion::step_every`] frames. Range: −10⁴ to 10⁴.
        pub step(const with_step): [f64; 3] = [0.0; 3],
        /// Frames between two jumps; 0 for none.
        pub step_every(const with_step_every): u64 = 0,
        /// The amplitude of an oscillation, which begins at 0. Range: 0 to 10⁴.
        pub oscillation(const with_oscillation): [f64; 3] = [0.0; 3],
        /// Its period in frames. Range: above 0 (2 or more to be seen), to 10⁹; 0 for none.
        pub period(const with_period): f64 = 0.0,
    }
}

impl StageMotion {
    pub(super) fn validate(&self) -> Result<(), SimulationError> {
        for axis in 0..3 {
            check("motion.walk", self.walk[axis], 0.0, 1e4, "0 to 1e4")?;
            check("motion.velocity", self.velocity[axis], -1e4, 1e4, "-1e4 to 1e4")?;
            check("motion.step", self.step[axis], -1e4, 1e4, "-1e4 to 1e4")?;
            check("motion.oscillation", self.oscillation[axis], 0.0, 1e4, "0 to 1e4")?;
        }
        check("motion.period", self.period, 0.0, 1e9, "0 to 1e9")
    }

    /// Where the stage is in a frame, which the walk has brought so far.
    pub(super) fn at(&self, frame: u64, walked: [f64; 3]) -> [f64; 3] {
        let there = frame.checked_div(self.step_every).is_some_and(|jumps| jumps % 2 == 1);
        let turn =
            if self.period > 0.0 { libm::sin(TAU * frame as f64 / self.period) } else { 0.0 };
        [0, 1, 2].map(|axis| {
            let step = if there { self.step[axis] } else { 0.0 };
            let line = self.velocity[axis] * frame as f64;
            walked[axis] + line + step + self.oscillation[axis] * turn
        })
    }
}
