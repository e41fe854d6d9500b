//! The maps of an sCMOS camera, whose pixels differ.

use fit_core::Size;
use ndarray::{Array2, ArrayView2, Axis, Zip};
use rayon::prelude::*;

use crate::error::{SimulationError, check};
use crate::random::Random;

/// The most pixels of a frame: 8192×8192.
pub const MOST_FRAME_PIXELS: usize = 1 << 26;

/// Offset, gain and variance of every pixel of a camera.
///
/// A pixel reads offset + gain·electrons + √variance·(a standard normal variate), rounded and clipped at 0.
///
/// ```
/// use fit_core::Size;
/// use fit_sim::{Maps, SpotSimulation};
///
/// let maps = Maps::simulated(Size::new(128, 64), 7)?;
/// assert_eq!(maps.offset().dim(), (64, 128));
/// let spots = SpotSimulation::new(Size::new(9, 9)).with_maps(Some(maps)).generate(0..10)?;
/// assert_eq!(spots.corners.expect("where the windows lie in the maps").len(), 10);
/// # Ok::<(), fit_sim::SimulationError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Maps {
    offset: Array2<f32>,
    gain: Array2<f32>,
    variance: Array2<f32>,
}

/// Random streams from here on are those of the rows of maps.
const STREAMS: u64 = 3 << 32;

/// The share of hot pixels, and their read noise in electrons.
const HOT: f64 = 0.01;
const HOT_NOISE: [f64; 2] = [3.0, 30.0];

impl Maps {
    /// Maps that were made or measured elsewhere, (height, width) each: offset in ADU, gain in ADU per electron,
    /// variance of the dark pixel in ADU².
    ///
    /// # Errors
    /// As [`Maps::simulated`] for the size; [`SimulationError::MapSize`] unless all have the same size; [`SimulationError::MapPixel`] for the first
    /// offset that is not within ±10⁶, gain not within 10⁻⁶ to 10⁶, or variance not within 0 to 10¹².
    pub fn new(
        offset: Array2<f32>,
        gain: Array2<f32>,
        variance: Array2<f32>,
    ) -> Result<Self, SimulationError> {
        let needed = size(&offset);
        check_size(needed)?;
        for (map, array) in [("gain", &gain), ("variance", &variance)] {
            let found = size(array);
            if found != needed {
                return Err(SimulationError::MapSize { map, found, needed });
            }
        }
        let ranges = [
            ("offset", &offset, -1e6f32..=1e6, "-1e6 to 1e6"),
            ("gain", &gain, 1e-6..=1e6, "1e-6 to 1e6"),
            ("variance", &variance, 0.0..=1e12, "0 to 1e12"),
        ];
        for (map, array, allowed, range) in ranges {
            let outside = |&(_, value): &(_, &f32)| !allowed.contains(value);
            if let Some(((y, x), &value)) = array.indexed_iter().find(outside) {
                return Err(SimulationError::MapPixel { map, x, y, value, range });
            }
        }
        Ok(Self { offset, gain, variance })
    }

    /// Maps that look like those of a real sCMOS camera. Each pixel is independent:
    ///
    /// - its offset is normal, 100 ± 2 ADU;
    /// - its gain is normal, 2 ADU per electron ± 2.5 %;
    /// - its read noise is log-normal, with a median of 1.2 electrons and a standard deviation of 0.25 of its
    ///   logarithm; in 1 % of the pixels, the hot ones, it is log-uniform between 3 and 30 electrons. The variance
    ///   is (gain·read noise)².
    ///
    /// A row depends only on the seed, its number and the width.
    ///
    /// # Errors
    /// [`SimulationError::Parameter`] for a side below 3 or above 65 536, and for more than
    /// [`MOST_FRAME_PIXELS`] pixels.
    pub fn simulated(size: Size, seed: u64) -> Result<Self, SimulationError> {
        check_size(size)?;
        let Size { width, height } = size;
        let empty = || Array2::zeros((height, width));
        let mut maps = Self { offset: empty(), gain: empty(), variance: empty() };
        let Self { offset, gain, variance } = &mut maps;
        Zip::indexed(offset.axis_iter_mut(Axis(0)))
            .and(gain.axis_iter_mut(Axis(0)))
            .and(variance.axis_iter_mut(Axis(0)))
            .into_par_iter()
            .for_each(|(row, mut offset, mut gain, mut variance)| {
                let mut random = Random::new(seed, STREAMS + row as u64);
                for x in 0..width {
                    [offset[x], gain[x], variance[x]] = pixel(&mut random);
                }
            });
        Ok(maps)
    }

    /// Width and height in pixels.
    pub fn size(&self) -> Size {
        size(&self.offset)
    }

    /// What each dark pixel reads, (height, width), in ADU.
    pub fn offset(&self) -> ArrayView2<'_, f32> {
        self.offset.view()
    }

    /// The gain of each pixel, (height, width), in ADU per electron.
    pub fn gain(&self) -> ArrayView2<'_, f32> {
        self.gain.view()
    }

    /// The variance of each dark pixel, (height, width), in ADU².
    pub fn variance(&self) -> ArrayView2<'_, f32> {
        self.variance.view()
    }

    /// Whether a window has room in the maps.
    pub(crate) fn contain(&self, window: Size) -> Result<(), SimulationError> {
        let found = self.size();
        if window.width <= found.width && window.height <= found.height {
            return Ok(());
        }
        Err(SimulationError::MapSize { map: "offset", found, needed: window })
    }

    /// Offset, gain and variance of a pixel.
    pub(crate) fn pixel(&self, x: usize, y: usize) -> [f64; 3] {
        [&self.offset, &self.gain, &self.variance].map(|map| f64::from(map[(y, x)]))
    }

    /// The pixel at which a window begins, with equal chances for every place at which it is within the maps.
    pub(crate) fn corner(&self, window: Size, random: &mut Random) -> [usize; 2] {
        let Size { width, height } = self.size();
        [(width, window.width), (height, window.height)].map(|(all, part)| {
            let places = all - part + 1;
            (random.uniform() * places as f64) as usize
        })
    }
}

/// Checks the size of frames.
pub(crate) fn check_frame(width: usize, height: usize) -> Result<(), SimulationError> {
    let (width, height) = (width as f64, height as f64);
    check("width", width, 8.0, 65536.0, "8 to 65536")?;
    check("height", height, 8.0, 65536.0, "8 to 65536")?;
    let most = MOST_FRAME_PIXELS as f64;
    check("width × height", width * height, 64.0, most, "64 to 67108864 pixels")
}

fn check_size(size: Size) -> Result<(), SimulationError> {
    for side in [size.width, size.height] {
        check("camera_size", side as f64, 3.0, 65536.0, "3 to 65536")?;
    }
    let (pixels, most) = (size.pixels() as f64, MOST_FRAME_PIXELS as f64);
    check("camera_size", pixels, 9.0, most, "9 to 67108864 pixels in all")
}

fn size(map: &Array2<f32>) -> Size {
    let (height, width) = map.dim();
    Size::new(width, height)
}

/// Offset, gain and variance of a simulated pixel.
fn pixel(random: &mut Random) -> [f32; 3] {
    let offset = 100.0 + 2.0 * random.normal();
    let gain = 2.0 * (1.0 + 0.025 * random.normal());
    let noise = if random.uniform() < HOT {
        let [low, high] = HOT_NOISE;
        low * libm::exp(libm::log(high / low) * random.uniform())
    } else {
        1.2 * libm::exp(0.25 * random.normal())
    };
    let deviation = gain * noise;
    [offset, gain, deviation * deviation].map(|value| value as f32)
}
