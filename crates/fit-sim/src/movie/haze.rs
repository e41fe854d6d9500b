//! Haze: uneven light out of focus that moves and bleaches.

use crate::error::{SimulationError, check};

/// The most clouds of a movie.
pub const MOST_CLOUDS: usize = 1000;

/// A cloud of light out of focus: a broad Gaussian that moves and bleaches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HazeCloud {
    /// Photo-electrons of a pixel at its centre in the first frame. Range: 0 to 10⁹.
    pub photons: f64,
    /// Its centre in the first frame, in pixels; it may lie outside the frame. Range: −10⁶ to 10⁶.
    pub centre: [f64; 2],
    /// Its standard deviation in pixels. Range: 1 to 10⁶.
    pub sigma: f64,
    /// Movement from frame to frame, in pixels; that of the spots has no part in it. Range: −100 to 100.
    pub drift: [f64; 2],
    /// In so many frames it falls to 1/e. Range: 1 to 10⁹.
    pub bleaching: f64,
}

impl HazeCloud {
    /// Checks every number against its range.
    pub(super) fn validate(&self) -> Result<(), SimulationError> {
        let Self { photons, centre, sigma, drift, bleaching } = *self;
        check("haze.photons", photons, 0.0, 1e9, "0 to 1e9")?;
        check("haze.sigma", sigma, 1.0, 1e6, "1 to 1e6")?;
        check("haze.bleaching", bleaching, 1.0, 1e9, "1 to 1e9")?;
        for (&centre, &drift) in centre.iter().zip(&drift) {
            check("haze.centre", centre, -1e6, 1e6, "-1e6 to 1e6")?;
            check("haze.drift", drift, -100.0, 100.0, "-100 to 100")?;
        }
        Ok(())
    }

    /// How it shines in a frame.
    pub(super) fn seen(&self, frame: usize) -> SeenCloud {
        let Self { photons, centre, sigma, drift, bleaching } = *self;
        let time = frame as f64;
        SeenCloud {
            photons: photons * libm::exp(-time / bleaching),
            centre: [0, 1].map(|axis| centre[axis] + time * drift[axis]),
            sigma,
        }
    }
}

/// A cloud in a frame.
pub(super) struct SeenCloud {
    photons: f64,
    centre: [f64; 2],
    sigma: f64,
}

impl SeenCloud {
    /// The share of its light along an axis: 1 at the centre.
    pub(super) fn along(&self, axis: usize, at: f64) -> f64 {
        let off = (at - self.centre[axis]) / self.sigma;
        libm::exp(-0.5 * off * off)
    }

    /// Its light at a row, for all columns.
    pub(super) fn row(&self, y: f64) -> f64 {
        self.photons * self.along(1, y)
    }

    /// Its light at a place.
    pub(super) fn at(&self, x: f64, y: f64) -> f64 {
        self.row(y) * self.along(0, x)
    }
}
