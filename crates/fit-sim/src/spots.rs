//! The windows of the papers' benchmarks.

use std::ops::Range;

use fit_core::{ArgumentError, Circle, Size, spot::sums::Profile};
use ndarray::Array3;
use rayon::prelude::*;

use crate::random::Random;

/// How the camera's counts scatter around the expected image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Noise {
    /// Photon statistics: Poisson distributed counts.
    #[default]
    Poisson,
    /// As in the paper: Gaussian noise with the variance of the expected counts, rounded to
    /// integers and clipped at zero. Its variance is about 1/12 count² larger than that of Poisson noise.
    Paper,
    /// No noise and no rounding: the expected image.
    None,
}

/// How the camera turns photo-electrons into counts: counts = baseline + gain·(electrons + read noise),
/// rounded and clipped at 0.
///
/// The default passes the electrons through. Any other camera rounds to integers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Camera {
    /// Counts that a dark pixel reads.
    pub baseline: f64,
    /// Counts per electron.
    pub gain: f64,
    /// Standard deviation of the read noise in electrons.
    pub read_noise: f64,
}

impl Default for Camera {
    fn default() -> Self {
        Self { baseline: 0.0, gain: 1.0, read_noise: 0.0 }
    }
}

/// The true parameters of a simulated spot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Centre and σ in pixels, in the window's coordinates.
    pub shape: Circle<f64>,
    /// Integrated signal 2πασ² in photo-electrons.
    pub signal: f64,
    /// Background of the whole window in photo-electrons; divide by N for that of a pixel.
    pub background: f64,
}

/// Simulated windows with their truth.
#[derive(Clone, Debug)]
pub struct Spots {
    /// (n, height, width), in counts. Without [`Noise::None`] all values are integers.
    pub pixels: Array3<f32>,
    /// One for each window.
    pub truth: Vec<Truth>,
}

/// Why a simulation makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SimulationError {
    /// The window cannot be fitted.
    #[error(transparent)]
    Window(#[from] ArgumentError),
    /// A parameter is out of its range.
    #[error("{name} = {value} is out of its range ({range})")]
    Parameter {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed values, in words.
        range: &'static str,
    },
}

/// The simulation of Leutenegger & Weber 2021, "Results and Discussion".
///
/// Centres are normally distributed around the window's centre with a standard deviation of a
/// twentieth of each side, σ is uniform, the amplitude follows from the integrated signal as
/// signal/(2πσ²), and the background is spread evenly over the pixels. The Gaussian is sampled at
/// the pixels' centres (eq. 10).
///
/// ```
/// use fit_core::Size;
/// use fit_sim::SpotSimulation;
///
/// let simulation = SpotSimulation::new(Size::new(9, 9)).with_seed(7);
/// let spots = simulation.generate(0..100)?;
/// assert_eq!(spots.pixels.dim(), (100, 9, 9));
/// // Any part of the stack can be made by itself.
/// assert_eq!(simulation.generate(40..41)?.truth[0], spots.truth[40]);
/// # Ok::<(), fit_sim::SimulationError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SpotSimulation {
    /// Width and height of the windows.
    pub size: Size,
    /// Integrated signal of each spot in photo-electrons. Range: 0 to 10¹².
    pub signal: f64,
    /// Background of each window in photo-electrons, over all its pixels. Range: 0 to 10¹².
    pub background: f64,
    /// σ is uniform in this range, in pixels. Range: 0.001 to 1000.
    pub sigma: Range<f64>,
    /// Standard deviation of the centres, as a share of the window's sides. Range: 0 to 1.
    pub scatter: f64,
    /// The noise.
    pub noise: Noise,
    /// The camera.
    pub camera: Camera,
    /// The seed: the same seed gives the same windows on every machine.
    pub seed: u64,
}

impl SpotSimulation {
    fit_core::__setters! {
        const with_size: size: Size,
        const with_signal: signal: f64,
        const with_background: background: f64,
        with_sigma: sigma: Range<f64>,
        const with_scatter: scatter: f64,
        const with_noise: noise: Noise,
        const with_camera: camera: Camera,
        const with_seed: seed: u64,
    }

    /// The paper's main case, 400 : 40 counts, with Poisson noise, an ideal camera and seed 1.
    pub fn new(size: Size) -> Self {
        Self {
            size,
            signal: 400.0,
            background: 40.0,
            sigma: 1.0..2.0,
            scatter: 1.0 / 20.0,
            noise: Noise::Poisson,
            camera: Camera::default(),
            seed: 1,
        }
    }

    /// Checks every parameter against its range.
    ///
    /// # Errors
    /// [`SimulationError`] for the first value out of range.
    pub fn validate(&self) -> Result<(), SimulationError> {
        self.size.validate()?;
        let check = |name, value: f64, min: f64, max: f64, range| {
            if value >= min && value <= max {
                Ok(())
            } else {
                Err(SimulationError::Parameter { name, value, range })
            }
        };
        check("signal", self.signal, 0.0, 1e12, "0 to 1e12")?;
        check("background", self.background, 0.0, 1e12, "0 to 1e12")?;
        // Thinner spots have amplitudes that no number holds.
        check("sigma.start", self.sigma.start, 1e-3, 1e3, "0.001 to 1000")?;
        check("sigma.end", self.sigma.end, self.sigma.start, 1e3, "sigma.start to 1000")?;
        check("scatter", self.scatter, 0.0, 1.0, "0 to 1")?;
        self.camera.validate()
    }

    /// Makes the windows with the given numbers. A window depends only on the seed and its number.
    ///
    /// # Errors
    /// As [`SpotSimulation::validate`].
    pub fn generate(&self, spots: Range<usize>) -> Result<Spots, SimulationError> {
        self.validate()?;
        let Size { width, height } = self.size;
        let mut pixels = Array3::zeros((spots.len(), height, width));
        let mut truth =
            vec![
                Truth { shape: Circle::new(0.0, 0.0, 0.0), signal: 0.0, background: 0.0 };
                spots.len()
            ];
        if let Some(pixels) = pixels.as_slice_mut() {
            pixels
                .par_chunks_exact_mut(self.size.pixels())
                .zip(&mut truth)
                .zip(spots)
                .for_each(|((window, truth), spot)| *truth = self.window(spot, window));
        }
        Ok(Spots { pixels, truth })
    }

    fn window(&self, spot: usize, window: &mut [f32]) -> Truth {
        let mut random = Random::new(self.seed, spot as u64);
        let Size { width, height } = self.size;
        let mut centre =
            |side: usize| (side - 1) as f64 / 2.0 + self.scatter * side as f64 * random.normal();
        let (x, y) = (centre(width), centre(height));
        let sigma = random.uniform_in(self.sigma.start, self.sigma.end);
        let shape = Circle::new(x, y, sigma);
        let amplitude = self.signal / (core::f64::consts::TAU * sigma * sigma);
        let background = self.background / self.size.pixels() as f64;
        for (index, pixel) in window.iter_mut().enumerate() {
            let (column, row) = (index % width, index / width);
            let profile = Profile::at(column as f64, row as f64, shape);
            let expected = amplitude * profile.value + background;
            *pixel = self.camera.read(self.noise.draw(expected, &mut random), &mut random) as f32;
        }
        Truth { shape, signal: self.signal, background: self.background }
    }
}

/// Rounded, and never below zero. No `max`: of −0 and 0 it gives either, as the processor likes.
fn counts(value: f64) -> f64 {
    let rounded = libm::round(value);
    if rounded > 0.0 { rounded } else { 0.0 }
}

impl Noise {
    pub(crate) fn draw(self, expected: f64, random: &mut Random) -> f64 {
        match self {
            Self::Poisson => random.poisson(expected),
            Self::Paper => counts(expected + libm::sqrt(expected) * random.normal()),
            Self::None => expected,
        }
    }
}

impl Camera {
    fit_core::__setters! {
        const with_baseline: baseline: f64,
        const with_gain: gain: f64,
        const with_read_noise: read_noise: f64,
    }

    pub(crate) fn validate(&self) -> Result<(), SimulationError> {
        let Self { baseline, gain, read_noise } = *self;
        let parameters = [
            ("baseline", baseline, 0.0, "0 to 1e6"),
            ("gain", gain, 1e-6, "1e-6 to 1e6"),
            ("read_noise", read_noise, 0.0, "0 to 1e6"),
        ];
        for (name, value, min, range) in parameters {
            if !(min..=1e6).contains(&value) {
                return Err(SimulationError::Parameter { name, value, range });
            }
        }
        Ok(())
    }

    pub(crate) fn read(&self, electrons: f64, random: &mut Random) -> f64 {
        if *self == Self::default() {
            return electrons;
        }
        let noise = if self.read_noise > 0.0 { self.read_noise * random.normal() } else { 0.0 };
        counts(self.baseline + self.gain * (electrons + noise))
    }
}
