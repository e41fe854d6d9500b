//! A microscope's stage: beads that drift with it, a camera that sees them, and an actuator that may hold it.

mod actuator;
mod fate;
mod motion;
mod see;

use crate::camera::SimulatedCamera;
use crate::error::{SimulationError, check};
use crate::light::SpotProfile;
use crate::maps::check_frame;
use crate::movie::MOST_BEADS;
use crate::random::Random;
use crate::shape::{Defocus, SpotShape, WIDTHS};

pub use actuator::Actuator;
pub use fate::BeadFate;
pub use motion::StageMotion;

use actuator::Drive;
use fate::Fortune;
use see::Scene;

fit_core::__options! {
    /// A bead on the stage.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct StageBead {
        /// Its place before the stage moves, in pixels.
        pub x(): f64,
        /// Its place before the stage moves, in pixels.
        pub y(): f64,
        /// Its height in nanometres; 0 unless beads are defocused.
        pub z(const with_z): f64,
        /// Photo-electrons a frame. Range: 0 to 10⁹.
        pub signal(): f64,
        /// What becomes of it.
        pub fate(const with_fate): BeadFate,
    }
}

impl StageBead {
    /// A bead that stays as it is, in focus.
    pub const fn new(x: f64, y: f64, signal: f64) -> Self {
        Self { x, y, z: 0.0, signal, fate: BeadFate::Steady }
    }
}

fit_core::__options! {
    /// The parameters of a simulated stage. Lengths along x and y are in pixels, along z in nanometres; times are in frames.
    ///
    /// ```
    /// use fit_sim::{StageBead, StageMotion, StageSimulation};
    ///
    /// let beads = vec![StageBead::new(20.0, 30.0, 2000.0), StageBead::new(60.0, 25.0, 1000.0)];
    /// let motion = StageMotion::default().with_walk([0.01, 0.01, 0.0]);
    /// let mut stage = StageSimulation::new(96, 64, beads).with_motion(motion).stage()?;
    /// let first = stage.advance();
    /// assert_eq!((first.frame, first.displacement), (0, [0.0; 3]));
    /// assert_eq!(stage.pixels().len(), 96 * 64);
    /// // An actuator that is told to go where the drift is taken back.
    /// let now = stage.advance();
    /// stage.command(now.drift.map(|drift| -drift));
    /// # Ok::<(), fit_sim::SimulationError>(())
    /// ```
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct StageSimulation {
        /// Width of the frames in pixels. Range: 8 to 65 536; width·height up to [`MOST_FRAME_PIXELS`].
        pub width(const with_width): usize = 256,
        /// Height of the frames in pixels. Range: as for the width.
        pub height(const with_height): usize = 256,
        /// The beads. Range: up to [`MOST_BEADS`] of them.
        pub beads(with_beads): Vec<StageBead> = Vec::new(),
        /// Standard deviation of the beads in pixels, in focus. Range: 0.3 to 100.
        pub sigma(const with_sigma): f64 = 1.3,
        /// How the widths depend on the height; `None` for beads that are always in focus. Its range of z has no effect.
        pub defocus(const with_defocus): Option<Defocus> = None,
        /// Whether pixels sample or integrate the beads.
        pub profile(const with_profile): SpotProfile = SpotProfile::Sampled,
        /// Photo-electrons a pixel besides the beads. Range: 0 to 10⁹.
        pub background(const with_background): f64 = 5.0,
        /// The camera.
        pub camera(const with_camera): SimulatedCamera = SimulatedCamera::usual(),
        /// How the stage moves by itself. The first frame is where its movement begins.
        pub motion(const with_motion): StageMotion = StageMotion::default(),
        /// What may move it.
        pub actuator(const with_actuator): Actuator = Actuator::default(),
        /// After so many frames a command has its effect: with 1, the frame after the one that was seen shows it. Range: 1 to 1000.
        pub delay(const with_delay): usize = 1,
        /// The seed.
        pub seed(const with_seed): u64 = 1,
    }
}

impl StageSimulation {
    /// Beads of σ = 1.3 pixels on a stage that stands still, 5 background photons, and a camera with 100 counts of baseline and a
    /// read noise of 1.5 electrons.
    pub fn new(width: usize, height: usize, beads: Vec<StageBead>) -> Self {
        Self { width, height, beads, ..Self::default() }
    }

    /// `count` beads of so many photo-electrons in the cells of a grid, anywhere in the middle of their cells.
    pub fn on_grid(width: usize, height: usize, count: usize, signal: f64, seed: u64) -> Self {
        let mut random = Random::new(seed, PLACES);
        let (w, h) = (width as f64, height as f64);
        let columns = (count as f64 * w / h.max(1.0)).sqrt().ceil().max(1.0);
        let rows = (count as f64 / columns).ceil().max(1.0);
        let mut place = |cell: f64, cells: f64, side: f64| {
            let length = side / cells;
            length * (cell + 0.5) - 0.5 + 0.2 * length * (random.uniform() - 0.5)
        };
        let beads = (0..count).map(|number| {
            let (column, row) = (number as f64 % columns, (number as f64 / columns).floor());
            StageBead::new(place(column, columns, w), place(row, rows, h), signal)
        });
        let beads = beads.collect();
        Self::new(width, height, beads).with_seed(seed)
    }

    /// Checks every parameter against its range.
    ///
    /// # Errors
    /// [`SimulationError`] for the first value out of range.
    pub fn validate(&self) -> Result<(), SimulationError> {
        check_frame(self.width, self.height)?;
        check("beads", self.beads.len() as f64, 0.0, MOST_BEADS as f64, "0 to 1e6")?;
        check("sigma", self.sigma, 0.3, 100.0, "0.3 to 100")?;
        check("background", self.background, 0.0, 1e9, "0 to 1e9")?;
        check("delay", self.delay as f64, 1.0, 1000.0, "1 to 1000")?;
        for bead in &self.beads {
            check("beads.x", bead.x, -1e6, 1e6, "-1e6 to 1e6")?;
            check("beads.y", bead.y, -1e6, 1e6, "-1e6 to 1e6")?;
            check("beads.signal", bead.signal, 0.0, 1e9, "0 to 1e9")?;
            bead.fate.validate()?;
            match &self.defocus {
                None => check("beads.z", bead.z, 0.0, 0.0, IN_FOCUS)?,
                Some(defocus) if defocus.reaches(bead.z.abs()) => {}
                Some(_) => {
                    let (name, value) = ("beads.z", bead.z);
                    return Err(SimulationError::Parameter { name, value, range: WIDTHS });
                }
            }
        }
        if let Some(defocus) = self.defocus {
            SpotShape::Defocused(defocus.with_z_range(0.0)).validate()?;
        }
        self.camera.validate()?;
        self.motion.validate()?;
        self.actuator.validate()
    }

    /// The stage before its first frame.
    ///
    /// # Errors
    /// As [`StageSimulation::validate`].
    pub fn stage(self) -> Result<Stage, SimulationError> {
        self.validate()?;
        let mut random = Random::new(self.seed, FRAMES);
        let scene = Scene::new(&self, &mut random);
        let fortunes = vec![Fortune::default(); self.beads.len()];
        Ok(Stage {
            drive: Drive::new(self.actuator, self.delay),
            fortunes,
            scene,
            random,
            moving: Random::new(self.seed, MOVES),
            walked: [0.0; 3],
            frame: 0,
            seen: Vec::with_capacity(self.beads.len()),
            simulation: self,
        })
    }
}

/// What heights may be without a defocus.
const IN_FOCUS: &str = "0: beads that are in focus have no height";

/// Streams of random numbers, besides those of frames and molecules.
const PLACES: u64 = 5 << 32;
const FRAMES: u64 = 6 << 32;
const MOVES: u64 = 7 << 32;

/// The truth of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StageTruth {
    /// Its number, from 0.
    pub frame: u64,
    /// How far the stage moved by itself: x, y in pixels, z in nanometres.
    pub drift: [f64; 3],
    /// How far the actuator moved it.
    pub actuator: [f64; 3],
    /// Both: how far the beads are from their places.
    pub displacement: [f64; 3],
}

/// A bead in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SeenBead {
    /// Where it is, in pixels.
    pub place: [f64; 2],
    /// Its height in nanometres.
    pub z: f64,
    /// σx and σy in pixels.
    pub sigma: [f64; 2],
    /// Photo-electrons in this frame.
    pub signal: f64,
    /// Whether it is where it belongs, alone, and at least half as bright as in the beginning.
    pub sound: bool,
}

/// A stage, from frame to frame.
#[derive(Clone, Debug)]
pub struct Stage {
    simulation: StageSimulation,
    drive: Drive,
    fortunes: Vec<Fortune>,
    scene: Scene,
    random: Random,
    moving: Random,
    walked: [f64; 3],
    frame: u64,
    seen: Vec<SeenBead>,
}

impl Stage {
    /// Makes the next frame.
    ///
    /// Pixels far from all beads keep the noise of the first frame: new noise is drawn within some σ of the beads, where it matters.
    pub fn advance(&mut self) -> StageTruth {
        let frame = self.frame;
        self.frame += 1;
        let motion = self.simulation.motion;
        if frame > 0 {
            for (walked, step) in self.walked.iter_mut().zip(motion.walk) {
                if step > 0.0 {
                    *walked += step * self.moving.normal();
                }
            }
        }
        let drift = motion.at(frame, self.walked);
        let actuator = self.drive.advance(&mut self.moving);
        let displacement = [0, 1, 2].map(|axis| drift[axis] + actuator[axis]);
        self.seen.clear();
        let Self { simulation, fortunes, seen, .. } = self;
        for (bead, fortune) in simulation.beads.iter().zip(fortunes) {
            let stays = fortune.advance(bead.fate, frame, &mut self.moving);
            let z = bead.z + displacement[2];
            let sigma = simulation.defocus.map_or([simulation.sigma; 2], |defocus| {
                // Beyond what the curve is for, widths stay numbers.
                defocus
                    .widths(simulation.sigma, z)
                    .map(|sigma| if sigma.is_finite() { sigma.clamp(0.3, 100.0) } else { 100.0 })
            });
            seen.push(SeenBead {
                place: [
                    bead.x + displacement[0] + stays.off[0],
                    bead.y + displacement[1] + stays.off[1],
                ],
                z,
                sigma,
                signal: bead.signal * stays.light,
                sound: stays.sound,
            });
        }
        let guests = self.fortunes.iter().zip(&simulation.beads).filter_map(|(fortune, bead)| {
            let off = fortune.guest()?;
            let place = [bead.x + displacement[0] + off[0], bead.y + displacement[1] + off[1]];
            Some((place, bead.signal))
        });
        let guests: Vec<([f64; 2], f64)> = guests.collect();
        self.scene.draw(simulation, &self.seen, &guests, &mut self.random);
        StageTruth { frame, drift, actuator, displacement }
    }

    /// The pixels of the frame, row after row.
    pub fn pixels(&self) -> &[u16] {
        self.scene.pixels()
    }

    /// The beads in the frame, in their order.
    pub fn seen(&self) -> &[SeenBead] {
        &self.seen
    }

    /// Tells the actuator where to go: x, y in pixels, z in nanometres from where it began. It goes there after the delay, as far as
    /// its range allows, and stays until another command has its effect. A number that is not finite changes nothing along its axis.
    pub fn command(&mut self, target: [f64; 3]) {
        self.drive.command(target);
    }

    /// The parameters.
    pub fn simulation(&self) -> &StageSimulation {
        &self.simulation
    }
}

#[cfg(test)]
mod tests;
