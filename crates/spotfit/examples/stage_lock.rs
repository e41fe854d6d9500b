//! A microscope's stage that is held still: beads are tracked, and an actuator takes their drift back.
//!
//! ```sh
//! cargo run --release -p spotfit --example stage_lock [PICTURE.svg]
//! ```
//!
//! The stage drifts as stages do, and the actuator obeys some frames late. A proportional-integral (PI) controller sees the drift d
//! after each frame, which still has to be taken back, and changes its command u by
//!
//! > Δu = −(Kp·Δd + Ki·d).
//!
//! # How to tune it
//!
//! All depends on the delay D: the number of frames from a frame to the first one that shows the effect of a command, from the camera's
//! readout to the last creep of the piezo. Measure it: send a step, and count. Then
//!
//! > Kp = 0.2, Ki = 0.4/D
//!
//! is stable with a wide margin. With Kp = 0 a loop with a delay oscillates from Ki = 2·sin(π/(4D − 2)) on: 2 for D = 1, 0.35 for
//! D = 5. If your delay is uncertain, take the longer one. What the loop leaves of a random walk of w a frame is about 1.2·w for
//! D = 1, and grows as √D to 2.8·w for D = 5; no gain brings that back, only a shorter delay does.
//!
//! The controller follows the noise of the measurement, too. Where the stated error of the drift is larger than what the stage moves in
//! a frame, halve both gains, or smooth with [`Smooth::Kalman`](spotfit::track::Smooth::Kalman), whose lag is small.
//!
//! The program prints the error beside that of the same controller if it knew the truth, or draws the stage before and after the loop is
//! closed. Noise depends on where the stage is, and the stage on noise: fits with other last bits make another picture. The one in the
//! docs was made with `SPOTFIT_INSTRUCTION_SET=portable`, whose bits are the same on every processor.

use std::error::Error;

use fit_sim::{Actuator, Stage, StageMotion, StageSimulation};
use spotfit::Camera;
use spotfit::report::svg::{Axis, Chart, Series};
use spotfit::track::{FrameStatus, FrameView, TrackOptions, Tracker};

/// Side of a pixel in nanometres, for the picture.
const PIXEL: f64 = 100.0;

/// The controller, along x and y.
pub(crate) struct Controller {
    proportional: f64,
    integral: f64,
    last: [f64; 2],
    command: [f64; 2],
}

impl Controller {
    /// The documented gains for a delay of so many frames.
    pub(crate) fn for_delay(delay: usize) -> Self {
        let integral = 0.4 / delay as f64;
        Self { proportional: 0.2, integral, last: [0.0; 2], command: [0.0; 2] }
    }

    /// What to send the actuator to, after a frame with this drift.
    pub(crate) fn command(&mut self, drift: [f64; 2]) -> [f64; 2] {
        for axis in 0..2 {
            let change = drift[axis] - self.last[axis];
            self.command[axis] -= self.proportional * change + self.integral * drift[axis];
        }
        self.last = drift;
        self.command
    }
}

/// A stage that walks, creeps and vibrates, with twenty beads, on an actuator with steps of a thousandth of a pixel.
pub(crate) fn stage(delay: usize, seed: u64) -> Result<Stage, fit_sim::SimulationError> {
    let motion = StageMotion::default()
        .with_walk([0.01, 0.01, 0.0])
        .with_velocity([0.002, -0.001, 0.0])
        .with_oscillation([0.05, 0.02, 0.0])
        .with_period(200.0);
    let actuator = Actuator::default().with_step([1e-3, 1e-3, 0.0]).with_noise([5e-4, 5e-4, 0.0]);
    StageSimulation::on_grid(160, 128, 20, 2000.0, seed)
        .with_motion(motion)
        .with_actuator(actuator)
        .with_delay(delay)
        .stage()
}

/// Where the stage is in each of so many frames, along x and y in pixels. It is held from frame `closed` on. With `knows`, the
/// controller is told the truth.
fn run(
    delay: usize,
    frames: usize,
    closed: usize,
    knows: bool,
) -> Result<Vec<[f64; 2]>, Box<dyn Error>> {
    let mut stage = stage(delay, 7)?;
    let camera = Camera::default().with_baseline(100.0).with_read_noise(1.5);
    let options = TrackOptions::default().with_camera(camera);
    let (width, height) = (stage.simulation().width, stage.simulation().height);
    stage.advance();
    let mut tracker = Tracker::new(FrameView::u16(width, height, stage.pixels()), &options)?;
    let mut controller = Controller::for_delay(delay);
    let mut places = Vec::with_capacity(frames);
    for frame in 0..frames {
        let [x, y, _] = stage.advance().displacement;
        places.push([x, y]);
        let mut seen = || {
            let drift = tracker.update(FrameView::u16(width, height, stage.pixels()), frame as f64);
            // Without beads there is nothing to take back.
            if drift.status == FrameStatus::Measured { [drift.x, drift.y] } else { [0.0; 2] }
        };
        let told = if knows { [x, y] } else { seen() };
        if frame >= closed {
            let [x, y] = controller.command(told);
            stage.command([x, y, 0.0]);
        }
    }
    Ok(places)
}

/// Holds the stage for so many frames; the result is the rms of its displacement along x and y, in pixels. With `knows`, the
/// controller is told the truth.
pub(crate) fn hold(delay: usize, frames: usize, knows: bool) -> Result<f64, Box<dyn Error>> {
    // What the loop needs to begin does not count.
    let begin = 20 * delay;
    let places = run(delay, frames + begin, 0, knows)?;
    let places = &places[begin..];
    let mean = [0, 1].map(|k| places.iter().map(|place| place[k]).sum::<f64>() / frames as f64);
    // Where the drift is 0 is as uncertain as the reference frame.
    let square = |place: &[f64; 2]| (place[0] - mean[0]).powi(2) + (place[1] - mean[1]).powi(2);
    Ok((0.5 * places.iter().map(square).sum::<f64>() / frames as f64).sqrt())
}

/// A chart of the stage before and after the loop is closed, in nanometres.
fn picture() -> Result<String, Box<dyn Error>> {
    let (closed, frames) = (400, 1000);
    let places = run(2, frames, closed, false)?;
    let line = |name: &str, k: usize| {
        let points = places.iter().enumerate();
        let points = points.map(|(frame, place)| (frame as f64, PIXEL * place[k]));
        Series::line(name, points.collect())
    };
    let title = format!("A stage that drifts; the loop is closed at frame {closed}");
    let axes = (Axis::new("frame"), Axis::new("displacement (nm)"));
    Ok(Chart::new(&title, axes.0, axes.1, vec![line("x", 0), line("y", 1)]).svg())
}

#[allow(dead_code)] // a test has this file as a module
fn main() -> Result<(), Box<dyn Error>> {
    if let Some(file) = std::env::args_os().nth(1) {
        return Ok(std::fs::write(file, picture()?)?);
    }
    println!("delay   Kp    Ki    rms error [px]   with the truth   ratio");
    for delay in 1..=5 {
        let (own, best) = (hold(delay, 5000, false)?, hold(delay, 5000, true)?);
        let integral = 0.4 / delay as f64;
        let ratio = own / best;
        println!("{delay:5}  0.20  {integral:.2}  {own:15.4}  {best:15.4}  {ratio:6.2}");
    }
    Ok(())
}
