//! A camera that is not there.

use std::thread;
use std::time::{Duration, Instant};

use fit_sim::{Stage, StageMotion, StageSimulation};

use crate::error::CliError;
use spotfit::ring::now;
use spotfit::steps::StepError;
use spotfit::steps::track::{Arrival, Arrived, FrameSource, Lost};
use spotfit::track::FrameView;

/// Width and height of its frames, its beads, and their photo-electrons in a frame.
const SIZE: [usize; 2] = [160, 128];
const BEADS: usize = 20;
const PHOTONS: f64 = 2000.0;
/// How far its stage wanders from frame to frame, creeps, and swings back and forth within so many frames, in pixels.
const WALK: [f64; 3] = [0.01, 0.01, 0.0];
const VELOCITY: [f64; 3] = [0.002, -0.001, 0.0];
const SWING: [f64; 3] = [0.3, 0.1, 0.0];
const PERIOD: f64 = 500.0;
/// How long to wait for a frame.
const WAIT: Duration = Duration::from_millis(50);

/// A simulated camera that sees beads on a stage that drifts, at so many frames a second. Whoever is too slow loses frames.
pub(super) struct SimulatedFrames {
    name: String,
    rate: f64,
    stage: Stage,
    begun: Option<Instant>,
    next: u64,
    missed: u64,
}

impl SimulatedFrames {
    pub(super) fn new(rate: &str) -> Result<Self, CliError> {
        let name = format!("simulated:{rate}");
        let wrong =
            || CliError::file(&name, "what follows the colon is frames a second, 0.01 to 1000000");
        let rate =
            rate.parse().ok().filter(|rate| (0.01..=1e6).contains(rate)).ok_or_else(wrong)?;
        let motion = StageMotion::default()
            .with_walk(WALK)
            .with_velocity(VELOCITY)
            .with_oscillation(SWING)
            .with_period(PERIOD);
        let [width, height] = SIZE;
        let stage = StageSimulation::on_grid(width, height, BEADS, PHOTONS, 1)
            .with_motion(motion)
            .stage()?;
        Ok(Self { name, rate, stage, begun: None, next: 0, missed: 0 })
    }
}

impl FrameSource for SimulatedFrames {
    fn name(&self) -> &str {
        &self.name
    }

    fn next(&mut self) -> Result<Arrived<'_>, StepError> {
        let begun = *self.begun.get_or_insert_with(Instant::now);
        let due = Duration::from_secs_f64(self.next as f64 / self.rate);
        let wait = due.saturating_sub(begun.elapsed());
        if wait > WAIT {
            thread::sleep(WAIT);
            return Ok(Arrived::Nothing);
        }
        thread::sleep(wait);
        // Frames whose successor is there already.
        let behind = (begun.elapsed().saturating_sub(due).as_secs_f64() * self.rate) as u64;
        self.missed += behind;
        let number = self.next + behind;
        self.next = number + 1;
        self.stage.advance();
        let time = number as f64 / self.rate;
        let [width, height] = SIZE;
        let view = FrameView::u16(width, height, self.stage.pixels());
        let arrival = Arrival::new(view, number).with_time(Some(time)).with_stamp(Some(now()));
        Ok(Arrived::Frame(arrival))
    }

    fn lost(&self) -> Lost {
        Lost::default().with_missed(self.missed)
    }
}
