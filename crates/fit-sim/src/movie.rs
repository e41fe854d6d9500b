//! Movies: blinking molecules on structures, and beads that drift, over an uneven background.

use fit_core::Circle;
use fit_core::spot::sums::Profile;
use ndarray::{Array2, Array3};
use rayon::prelude::*;

use crate::random::Random;
use crate::spots::{Camera, Noise, SimulationError};

/// Where molecules are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Structure {
    /// On a straight line, from and to (x, y) in pixels.
    Line([f64; 2], [f64; 2]),
    /// On a circle with centre (x, y) and radius in pixels.
    Ring([f64; 2], f64),
}

impl Structure {
    fn length(&self) -> f64 {
        match *self {
            Self::Line(from, to) => libm::hypot(to[0] - from[0], to[1] - from[1]),
            Self::Ring(_, radius) => core::f64::consts::TAU * radius,
        }
    }

    fn place(&self, share: f64) -> [f64; 2] {
        match *self {
            Self::Line(from, to) => {
                [from[0] + share * (to[0] - from[0]), from[1] + share * (to[1] - from[1])]
            }
            Self::Ring(centre, radius) => {
                let angle = core::f64::consts::TAU * share;
                [centre[0] + radius * libm::cos(angle), centre[1] + radius * libm::sin(angle)]
            }
        }
    }
}

/// A fiducial bead: always on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bead {
    /// Its place in the first frame, in pixels.
    pub x: f64,
    /// Its place in the first frame, in pixels.
    pub y: f64,
    /// Photo-electrons a frame.
    pub signal: f64,
}

/// A movie to be simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct MovieSimulation {
    /// Width of the frames in pixels. Range: 8 to 65 536.
    pub width: usize,
    /// Height of the frames in pixels. Range: 8 to 65 536.
    pub height: usize,
    /// Number of frames. Range: 1 to 10⁹.
    pub frames: usize,
    /// Where the molecules are; they are spread evenly over the total length.
    pub structures: Vec<Structure>,
    /// Number of molecules.
    pub molecules: usize,
    /// How long a molecule stays on, on average, in frames. Range: 0.1 to 10⁶.
    pub on_time: f64,
    /// How long a molecule stays off, on average, in frames. Range: 0.1 to 10⁹.
    pub off_time: f64,
    /// Photo-electrons of a molecule that is on for a whole frame. Range: 0 to 10⁹.
    pub signal: f64,
    /// Standard deviation of the spots in pixels. Range: 0.3 to 100.
    pub sigma: f64,
    /// Beads.
    pub beads: Vec<Bead>,
    /// Movement of everything from frame to frame, in pixels.
    pub drift: [f64; 2],
    /// Mean background of a pixel in photo-electrons. Range: 0 to 10⁹.
    pub background: f64,
    /// How much the background varies over the frame, as a share of its mean. Range: 0 to 1.
    pub unevenness: f64,
    /// The noise.
    pub noise: Noise,
    /// The camera.
    pub camera: Camera,
    /// The seed.
    pub seed: u64,
}

impl MovieSimulation {
    /// An ordinary movie: three lines and two rings, about 0.3 spots on every 1000 pixels, 1000
    /// photons, σ = 1.3 pixels, 20 background photons, varying by half, on a camera with 100 counts of
    /// baseline and a read noise of 1.5 electrons.
    pub fn new(width: usize, height: usize, frames: usize) -> Self {
        let (w, h) = (width as f64, height as f64);
        let structures = vec![
            Structure::Line([0.08 * w, 0.15 * h], [0.92 * w, 0.35 * h]),
            Structure::Line([0.10 * w, 0.90 * h], [0.75 * w, 0.10 * h]),
            Structure::Line([0.45 * w, 0.92 * h], [0.93 * w, 0.60 * h]),
            Structure::Ring([0.27 * w, 0.40 * h], 0.12 * w.min(h)),
            Structure::Ring([0.68 * w, 0.62 * h], 0.18 * w.min(h)),
        ];
        let (on_time, off_time) = (3.0, 300.0);
        let spots = 0.3e-3 * w * h;
        Self {
            width,
            height,
            frames,
            structures,
            molecules: (spots * (on_time + off_time) / on_time) as usize,
            on_time,
            off_time,
            signal: 1000.0,
            sigma: 1.3,
            beads: Vec::new(),
            drift: [0.0; 2],
            background: 20.0,
            unevenness: 0.5,
            noise: Noise::Poisson,
            camera: Camera { baseline: 100.0, gain: 1.0, read_noise: 1.5 },
            seed: 1,
        }
    }

    /// The number of molecules that makes `spots` of them glow in a frame, on average.
    pub fn molecules_for(&self, spots: f64) -> usize {
        // A molecule shows in the frames in which it is switched on and off, too.
        let shown = self.on_time + 1.0;
        (spots * (self.on_time + self.off_time) / shown).round() as usize
    }

    /// Checks every parameter against its range.
    ///
    /// # Errors
    /// [`SimulationError`] with the first offender.
    pub fn validate(&self) -> Result<(), SimulationError> {
        let check = |name, value: f64, min: f64, max: f64, range| {
            if value >= min && value <= max {
                Ok(())
            } else {
                Err(SimulationError::Parameter { name, value, range })
            }
        };
        check("width", self.width as f64, 8.0, 65536.0, "8 to 65536")?;
        check("height", self.height as f64, 8.0, 65536.0, "8 to 65536")?;
        check("frames", self.frames as f64, 1.0, 1e9, "1 to 1e9")?;
        check("molecules", self.molecules as f64, 0.0, 1e8, "0 to 1e8")?;
        check("on-time", self.on_time, 0.1, 1e6, "0.1 to 1e6")?;
        check("off-time", self.off_time, 0.1, 1e9, "0.1 to 1e9")?;
        check("signal", self.signal, 0.0, 1e9, "0 to 1e9")?;
        check("sigma", self.sigma, 0.3, 100.0, "0.3 to 100")?;
        check("drift", self.drift[0], -100.0, 100.0, "-100 to 100")?;
        check("drift", self.drift[1], -100.0, 100.0, "-100 to 100")?;
        check("background", self.background, 0.0, 1e9, "0 to 1e9")?;
        check("unevenness", self.unevenness, 0.0, 1.0, "0 to 1")?;
        self.camera.validate()
    }

    /// Decides which molecule is on when. The movie is then made frame by frame.
    ///
    /// # Errors
    /// As [`MovieSimulation::validate`].
    pub fn plan(self) -> Result<MoviePlan, SimulationError> {
        self.validate()?;
        let total: f64 = self.structures.iter().map(Structure::length).sum();
        let molecules = if total > 0.0 { self.molecules } else { 0 };
        let mut active: Vec<Vec<Active>> = vec![Vec::new(); self.frames];
        for molecule in 0..molecules {
            // Streams above 2³² are those of molecules, below of frames.
            let mut random = Random::new(self.seed, (1 << 32) + molecule as u64);
            let mut along = random.uniform() * total;
            let mut place = [0.0; 2];
            for structure in &self.structures {
                let length = structure.length();
                if along <= length {
                    place = structure.place(along / length);
                    break;
                }
                along -= length;
            }
            let exponential =
                |random: &mut Random, mean: f64| -mean * libm::log(1.0 - random.uniform());
            // The movie begins while the blinking has been going on.
            let mut time = exponential(&mut random, self.off_time) - self.on_time;
            while time < self.frames as f64 {
                let end = time + exponential(&mut random, self.on_time);
                let mut frame = time.max(0.0) as usize;
                while frame < self.frames && (frame as f64) < end {
                    let share = end.min(frame as f64 + 1.0) - time.max(frame as f64);
                    active[frame].push(Active { molecule, place, share });
                    frame += 1;
                }
                time = end + exponential(&mut random, self.off_time);
            }
        }
        Ok(MoviePlan { simulation: self, active })
    }
}

#[derive(Clone, Copy, Debug)]
struct Active {
    molecule: usize,
    place: [f64; 2],
    share: f64,
}

/// What is true of a spot in a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovieTruth {
    /// The frame, from 0.
    pub frame: usize,
    /// Centre and σ in pixels.
    pub shape: Circle<f64>,
    /// Photo-electrons in this frame.
    pub signal: f64,
    /// Background of a pixel at the centre, in photo-electrons.
    pub background: f64,
    /// The molecule, from 0; beads follow after the last molecule.
    pub molecule: usize,
}

/// A movie whose events are decided.
#[derive(Clone, Debug)]
pub struct MoviePlan {
    simulation: MovieSimulation,
    active: Vec<Vec<Active>>,
}

impl MoviePlan {
    /// What was asked for.
    pub fn simulation(&self) -> &MovieSimulation {
        &self.simulation
    }

    /// The spots of a frame.
    pub fn truth(&self, frame: usize) -> Vec<MovieTruth> {
        let simulation = &self.simulation;
        let drift = simulation.drift.map(|d| d * frame as f64);
        let truth = |molecule: usize, x: f64, y: f64, signal: f64| {
            let shape = Circle::new(x + drift[0], y + drift[1], simulation.sigma);
            let background = self.background(shape.x, shape.y);
            MovieTruth { frame, shape, signal, background, molecule }
        };
        let active = self.active.get(frame).map_or(&[][..], Vec::as_slice);
        let molecules = active
            .iter()
            .map(|a| truth(a.molecule, a.place[0], a.place[1], a.share * simulation.signal));
        let beads = simulation
            .beads
            .iter()
            .enumerate()
            .map(|(i, bead)| truth(simulation.molecules + i, bead.x, bead.y, bead.signal));
        molecules.chain(beads).collect()
    }

    fn background(&self, x: f64, y: f64) -> f64 {
        let MovieSimulation { width, height, background, unevenness, .. } = self.simulation;
        let tau = core::f64::consts::TAU;
        let across = libm::cos(tau * (0.8 * x / width as f64 + 0.05));
        let down = libm::cos(tau * (0.7 * y / height as f64 - 0.06));
        background * (1.0 + unevenness * across * down)
    }

    /// A frame as the camera delivers it, saturated at 65 535 counts.
    pub fn frame(&self, frame: usize) -> Array2<u16> {
        let MovieSimulation { width, height, sigma, noise, camera, seed, .. } = self.simulation;
        let mut expected =
            Array2::from_shape_fn((height, width), |(y, x)| self.background(x as f64, y as f64));
        let reach = 6.0 * sigma;
        for MovieTruth { shape, signal, .. } in self.truth(frame) {
            let amplitude = signal / (core::f64::consts::TAU * sigma * sigma);
            let range = |centre: f64, length: usize| {
                let first = (centre - reach).max(0.0).ceil() as usize;
                let last = (centre + reach + 1.0).clamp(0.0, length as f64) as usize;
                first.min(last)..last
            };
            for y in range(shape.y, height) {
                for x in range(shape.x, width) {
                    expected[(y, x)] += amplitude * Profile::at(x as f64, y as f64, shape).value;
                }
            }
        }
        let mut random = Random::new(seed, frame as u64);
        expected.mapv(|expected| {
            let counts = camera.read(noise.draw(expected, &mut random), &mut random);
            counts.min(65535.0) as u16
        })
    }

    /// Several frames, made at the same time.
    pub fn frames(&self, frames: std::ops::Range<usize>) -> Array3<u16> {
        let MovieSimulation { width, height, .. } = self.simulation;
        let mut movie = Array3::zeros((frames.len(), height, width));
        movie
            .outer_iter_mut()
            .into_par_iter()
            .zip(frames)
            .for_each(|(mut to, frame)| to.assign(&self.frame(frame)));
        movie
    }
}
