//! The windows of the benchmark that is published with Gpufit.

use std::ops::Range;

use fit_core::spot::sums::Profile;
use fit_core::{Circle, Size};

use crate::error::{SimulationError, check};
use crate::random::Random;
use crate::shape::Outline;
use crate::spots::{SimulatedSpots, Truth, windows};

fit_core::__options! {
    /// Spots of about the same shape with noise of the same strength in every pixel: the comparison published with
    /// Gpufit (Przybylski et al. 2017).
    ///
    /// Amplitude, centre, σ and background, and a start value for each of them, are uniform within a share
    /// `spread` of their nominal values. The noise is Gaussian, with the mean signal over a square of 4.292·σ
    /// pixels divided by `snr` as its standard deviation; nothing is rounded or clipped.
    ///
    /// ```
    /// use fit_core::Size;
    /// use fit_sim::GpufitBenchmark;
    ///
    /// let (spots, starts) = GpufitBenchmark::new(Size::new(5, 5)).generate(0..100)?;
    /// assert_eq!(spots.pixels.dim(), (100, 5, 5));
    /// assert_eq!(starts.len(), 100);
    /// # Ok::<(), fit_sim::SimulationError>(())
    /// ```
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct GpufitBenchmark {
        /// Width and height of the windows; the nominal centre of the spots is the centre of the window.
        pub size(const with_size): Size = Size::new(5, 5),
        /// Nominal amplitude in counts. Range: 0 to 10¹².
        pub amplitude(const with_amplitude): f64 = 500.0,
        /// Nominal σ in pixels. Range: above 0, up to 1000.
        pub sigma(const with_sigma): f64 = 1.0,
        /// Nominal background in counts a pixel. Range: 0 to 10¹².
        pub background(const with_background): f64 = 10.0,
        /// Half the width of all distributions, as a share of the nominal value. Range: 0 to 0.9.
        pub spread(const with_spread): f64 = 0.1,
        /// Signal-to-noise ratio. Range: above 0.
        pub snr(const with_snr): f64 = 10.0,
        /// The seed: the same seed gives the same windows on every machine.
        pub seed(const with_seed): u64 = 1,
    }
}

/// The side, in σ, of the square over which the signal is averaged.
const SQUARE: f64 = 4.292;

impl GpufitBenchmark {
    /// Amplitude 500, σ 1, background 10, all within ±10 %, SNR 10 and seed 1.
    pub fn new(size: Size) -> Self {
        Self { size, ..Self::default() }
    }

    /// The standard deviation of the noise in counts.
    pub fn noise(&self) -> f64 {
        let side = SQUARE * self.sigma;
        std::f64::consts::TAU * self.amplitude * self.sigma * self.sigma / (side * side) / self.snr
    }

    /// Checks every parameter against its range.
    ///
    /// # Errors
    /// [`SimulationError`] for the first value out of range.
    pub fn validate(&self) -> Result<(), SimulationError> {
        self.size.validate()?;
        let tiny = f64::MIN_POSITIVE;
        let parameters = [
            ("amplitude", self.amplitude, 0.0, 1e12, "0 to 1e12"),
            ("sigma", self.sigma, tiny, 1e3, "above 0, up to 1000"),
            ("background", self.background, 0.0, 1e12, "0 to 1e12"),
            ("spread", self.spread, 0.0, 0.9, "0 to 0.9"),
            ("snr", self.snr, tiny, f64::INFINITY, "above 0"),
        ];
        for (name, value, min, max, range) in parameters {
            check(name, value, min, max, range)?;
        }
        Ok(())
    }

    /// Makes the windows with the given numbers, and the start values amplitude, x, y, σ and background of each.
    /// A window depends only on the seed and its number.
    ///
    /// # Errors
    /// As [`GpufitBenchmark::validate`].
    pub fn generate(
        &self,
        spots: Range<usize>,
    ) -> Result<(SimulatedSpots, Vec<[f64; 5]>), SimulationError> {
        self.validate()?;
        let make = |spot, window: &mut [f32]| self.window(spot, window);
        let (pixels, truth, starts) = windows(self.size, spots, [0.0; 5], make);
        Ok((SimulatedSpots { pixels, truth, corners: None }, starts))
    }

    fn window(&self, spot: usize, window: &mut [f32]) -> (Truth, [f64; 5]) {
        let mut random = Random::new(self.seed, spot as u64);
        let Size { width, height } = self.size;
        let middle = |side: usize| (side - 1) as f64 / 2.0;
        let nominal = [self.amplitude, middle(width), middle(height), self.sigma, self.background];
        let mut near = || {
            nominal.map(|value| {
                let half = self.spread * value;
                random.uniform_in(value - half, value + half)
            })
        };
        let [amplitude, x, y, sigma, background] = near();
        let start = near();
        let shape = Circle::new(x, y, sigma);
        let noise = self.noise();
        for (index, pixel) in window.iter_mut().enumerate() {
            let (column, row) = (index % width, index / width);
            let profile = Profile::at(column as f64, row as f64, shape);
            let expected = amplitude * profile.value + background;
            *pixel = (expected + noise * random.normal()) as f32;
        }
        let signal = std::f64::consts::TAU * amplitude * sigma * sigma;
        let background = background * self.size.pixels() as f64;
        let outline = Outline { sigma: [sigma; 2], ..Outline::default() };
        (Truth::new([x, y], &outline, signal, background), start)
    }
}
