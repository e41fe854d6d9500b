//! The windows of the papers' benchmarks.

use std::ops::Range;

use fit_core::{Circle, Corner, Size};
use ndarray::Array3;
use rayon::prelude::*;

use crate::camera::{Noise, SimulatedCamera};
use crate::error::{SimulationError, check};
use crate::light::{Light, SpotProfile};
use crate::maps::Maps;
use crate::random::Random;
use crate::shape::{Outline, SpotShape};

/// The most windows that are made at a time, and the most bytes of their pixels, but at least one window.
const PIECE: usize = 1 << 15;
const PIECE_BYTES: usize = 1 << 26;

/// The true parameters of a simulated spot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// Centre and σ in pixels, in the window's coordinates; of a spot that is not circular √(σxσy).
    pub shape: Circle<f64>,
    /// σx in pixels; σ if the spot is circular.
    pub sigma_x: f64,
    /// σy in pixels; σ if the spot is circular.
    pub sigma_y: f64,
    /// From the x axis to the direction in which the width is σx, towards the y axis, in radians. 0 unless the shape
    /// is [`SpotShape::Rotated`].
    pub angle: f64,
    /// The height in nanometres. 0 unless the shape is [`SpotShape::Defocused`].
    pub z: f64,
    /// Integrated signal 2πασxσy in photo-electrons.
    pub signal: f64,
    /// Background of the whole window in photo-electrons; divide by N for that of a pixel.
    pub background: f64,
}

impl Truth {
    pub(crate) fn new([x, y]: [f64; 2], outline: &Outline, signal: f64, background: f64) -> Self {
        let Outline { sigma: [sigma_x, sigma_y], angle, z } = *outline;
        Self { shape: outline.circle(x, y), sigma_x, sigma_y, angle, z, signal, background }
    }

    /// What stands in for a spot until it is made.
    pub(crate) fn nothing() -> Self {
        Self::new([0.0; 2], &Outline::default(), 0.0, 0.0)
    }
}

/// Makes the windows with the given numbers, side by side, each with its truth and something more.
pub(crate) fn windows<T: Clone + Send>(
    size: Size,
    numbers: Range<usize>,
    nothing: T,
    make: impl Fn(usize, &mut [f32]) -> (Truth, T) + Sync,
) -> (Array3<f32>, Vec<Truth>, Vec<T>) {
    let mut pixels = Array3::zeros((numbers.len(), size.height, size.width));
    let mut truth = vec![Truth::nothing(); numbers.len()];
    let mut more = vec![nothing; numbers.len()];
    if let Some(pixels) = pixels.as_slice_mut() {
        pixels
            .par_chunks_exact_mut(size.pixels())
            .zip(&mut truth)
            .zip(&mut more)
            .zip(numbers)
            .for_each(|(((window, truth), more), number)| (*truth, *more) = make(number, window));
    }
    (pixels, truth, more)
}

/// Simulated windows with their truth.
#[derive(Clone, Debug)]
pub struct SimulatedSpots {
    /// (n, height, width), in counts. Without [`Noise::None`] all values are integers.
    pub pixels: Array3<f32>,
    /// One for each window.
    pub truth: Vec<Truth>,
    /// Where each window begins in the maps of the camera, if it has any; the frame is always 0.
    pub corners: Option<Vec<Corner>>,
}

fit_core::__options! {
    /// The simulation of Leutenegger & Weber 2021, "Results and Discussion".
    ///
    /// Centres are normally distributed around the window's centre with a standard deviation of a
    /// twentieth of each side, σ is uniform, the amplitude follows from the integrated signal as
    /// signal/(2πσ²), and the background is spread evenly over the pixels. The Gaussian is sampled at
    /// the pixels' centres (eq. 10).
    ///
    /// Beyond the paper, spots may have other shapes, pixels may integrate them, and cameras may multiply electrons
    /// (EMCCD) or have pixels that differ (sCMOS).
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
        pub size(const with_size): Size = Size::new(9, 9),
        /// Integrated signal of each spot in photo-electrons. Range: 0 to 10¹².
        pub signal(const with_signal): f64 = 400.0,
        /// Background of each window in photo-electrons, over all its pixels. Range: 0 to 10¹².
        pub background(const with_background): f64 = 40.0,
        /// σ is uniform in this range, in pixels. Range: 0.001 to 1000.
        pub sigma(with_sigma): Range<f64> = 1.0..2.0,
        /// The shape of the spots.
        pub shape(const with_shape): SpotShape = SpotShape::Circular,
        /// Whether pixels sample or integrate the spots.
        pub profile(const with_profile): SpotProfile = SpotProfile::Sampled,
        /// Standard deviation of the centres, as a share of the window's sides. Range: 0 to 1.
        pub scatter(const with_scatter): f64 = 1.0 / 20.0,
        /// Centres are uniform within this many pixels of the window's centre, along x and along y, in place of
        /// [`SpotSimulation::scatter`]. Range: 0 to 1000.
        pub reach(const with_reach): Option<f64> = None,
        /// The noise.
        pub noise(const with_noise): Noise = Noise::Poisson,
        /// The camera.
        pub camera(const with_camera): SimulatedCamera = SimulatedCamera::default(),
        /// The maps of a camera whose pixels differ, at least as large as the windows. They replace baseline, gain and
        /// read noise of [`SpotSimulation::camera`]. Each window lies somewhere in them, with equal chances for every
        /// place ([`SimulatedSpots::corners`]).
        pub maps(with_maps): Option<Maps> = None,
        /// The seed: the same seed gives the same windows on every machine.
        pub seed(const with_seed): u64 = 1,
    }
}

impl SpotSimulation {
    /// The paper's main case, 400 : 40 counts, with Poisson noise, an ideal camera and seed 1.
    pub fn new(size: Size) -> Self {
        Self { size, ..Self::default() }
    }

    /// Checks every parameter against its range.
    ///
    /// # Errors
    /// [`SimulationError`] for the first value out of range.
    pub fn validate(&self) -> Result<(), SimulationError> {
        self.size.validate()?;
        check("photons", self.signal, 0.0, 1e12, "0 to 1e12")?;
        check("background", self.background, 0.0, 1e12, "0 to 1e12")?;
        // Thinner spots have amplitudes that no number holds.
        check("sigma.start", self.sigma.start, 1e-3, 1e3, "0.001 to 1000")?;
        check("sigma.end", self.sigma.end, self.sigma.start, 1e3, "sigma.start to 1000")?;
        check("scatter", self.scatter, 0.0, 1.0, "0 to 1")?;
        check("reach", self.reach.unwrap_or(0.0), 0.0, 1e3, "0 to 1000")?;
        self.shape.validate()?;
        self.camera.validate()?;
        match &self.maps {
            Some(maps) => maps.contain(self.size),
            None => Ok(()),
        }
    }

    /// Makes the windows with the given numbers. A window depends only on the seed and its number.
    ///
    /// # Errors
    /// As [`SpotSimulation::validate`].
    pub fn generate(&self, spots: Range<usize>) -> Result<SimulatedSpots, SimulationError> {
        self.validate()?;
        let make = |spot, window: &mut [f32]| self.window(spot, window);
        let (pixels, truth, corners) = windows(self.size, spots, Corner::default(), make);
        Ok(SimulatedSpots { pixels, truth, corners: self.maps.is_some().then_some(corners) })
    }

    /// How many windows are best made at a time.
    pub fn piece_length(&self) -> usize {
        (PIECE_BYTES / (size_of::<f32>() * self.size.pixels()).max(1)).clamp(1, PIECE)
    }

    fn window(&self, spot: usize, window: &mut [f32]) -> (Truth, Corner) {
        let mut random = Random::new(self.seed, spot as u64);
        let Size { width, height } = self.size;
        let mut centre = |side: usize| {
            let off = match self.reach {
                Some(reach) => reach * (2.0 * random.uniform() - 1.0),
                None => self.scatter * side as f64 * random.normal(),
            };
            (side - 1) as f64 / 2.0 + off
        };
        let centre = [centre(width), centre(height)];
        let outline = self.shape.draw(&self.sigma, &mut random, |z| z);
        let light = Light::new(self.signal, centre, &outline, self.profile, 0..width, 0..height);
        let background = self.background / self.size.pixels() as f64;
        let maps = self.maps.as_ref();
        // After the spot and before the noise: with maps the spots are the same as without.
        let [left, top] = maps.map_or([0; 2], |maps| maps.corner(self.size, &mut random));
        for (index, pixel) in window.iter_mut().enumerate() {
            let (column, row) = (index % width, index / width);
            let electrons = self.noise.draw(light.at(column, row) + background, &mut random);
            let place = [left + column, top + row];
            *pixel = self.camera.read(maps, place, electrons, &mut random) as f32;
        }
        let corner = Corner { frame: 0, x: left as u32, y: top as u32 };
        (Truth::new(centre, &outline, self.signal, self.background), corner)
    }
}
