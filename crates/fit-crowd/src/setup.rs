//! What follows from the options.

use crate::options::{CrowdOptions, Thresholds};
use crate::patch::{Gaussian, Geometry, LONGEST};
use crate::spot::Spot;

/// Lengths in σ, but patches and the step in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) shape: Gaussian,
    pub(crate) geometry: Geometry,
    pub(crate) sigma: f64,
    pub(crate) sigma_free: bool,
    /// Functions of an emitter's patch.
    pub(crate) functions: usize,
    pub(crate) thresholds: Thresholds,
    pub(crate) most: usize,
}

/// Patches reach so many σ from the pixel of their centre.
const REACH: f64 = 3.0;
/// As far where widths are free, and may grow.
const REACH_OF_FREE: f64 = 4.0;
/// Light is hidden where it is below this share of the noise.
const HIDDEN: f64 = 0.3;
/// The most pixels from a patch's centre to its edge.
const WIDEST: usize = LONGEST / 2 - 1;
/// The least and the most σ of a free width, in starts.
pub(crate) const WIDTHS: [f64; 2] = [0.5, 1.6];
/// Pixels that an emitter may be outside of the frame, whose light the frame sees.
pub(crate) const OUTSIDE: f64 = 2.0;

impl Setup {
    pub(crate) fn new(options: &CrowdOptions) -> Self {
        let sigma = options.width.start();
        let sigma_free = options.width.is_free();
        let reach = if sigma_free { REACH_OF_FREE } else { REACH };
        Self {
            shape: Gaussian { integrated: options.integrated },
            geometry: Geometry::of(libm::ceil((reach * sigma).clamp(2.0, WIDEST as f64)) as usize),
            sigma,
            sigma_free,
            functions: Spot::functions(sigma_free),
            thresholds: options.thresholds(),
            most: options.most,
        }
    }

    /// The same with patches that are `more` pixels wider on every side.
    pub(crate) fn wider(self, more: usize) -> Self {
        Self { geometry: Geometry::of(self.geometry.half + more), ..self }
    }

    /// By how many pixels patches have to be wider where the brightest pixel is `peak` above a mean of `mean`: what they leave
    /// out of a spot as bright must not look like another.
    pub(crate) fn wider_for(&self, peak: f64, mean: f64) -> usize {
        let sigma = if self.sigma_free { WIDTHS[1] * self.sigma } else { self.sigma };
        let least = HIDDEN * libm::sqrt(mean.max(1.0));
        let visible = sigma * libm::sqrt(2.0 * libm::log((peak / least).max(1.0)));
        let half = (libm::ceil(visible - 0.5) as usize).min(WIDEST);
        half.saturating_sub(self.geometry.half)
    }

    /// Emitters couple in the normal equations up to this distance in pixels.
    pub(crate) fn coupling(&self) -> f64 {
        5.0 * self.sigma
    }

    /// The distance up to which patches share pixels.
    pub(crate) fn whole_coupling(&self) -> f64 {
        1.5 * self.geometry.rows as f64
    }

    /// Emitters nearer than this move in a trial.
    pub(crate) fn free(&self) -> f64 {
        3.1 * self.sigma
    }

    /// Emitters nearer than this are nuisances of a score.
    pub(crate) fn nuisance(&self) -> f64 {
        3.5 * self.sigma
    }

    /// Pixels around the core of a tile: an emitter at its edge, and those that share pixels with it.
    pub(crate) fn margin(&self) -> usize {
        2 * self.geometry.half
    }

    /// How far two tiles may place one emitter from each other.
    pub(crate) fn seam(&self) -> f64 {
        0.6 * self.sigma
    }

    /// The longest step along an axis.
    pub(crate) fn longest_step(&self) -> f64 {
        0.6 * self.sigma
    }

    /// Where emitters may be, along an axis of so many pixels.
    pub(crate) fn range(&self, size: usize) -> [f64; 2] {
        [-OUTSIDE, size as f64 - 1.0 + OUTSIDE]
    }

    /// How many emitters a region of so many pixels may have at most.
    pub(crate) fn room(&self, pixels: usize) -> usize {
        let by_area = pixels as f64 / (8.0 * self.sigma * self.sigma);
        (libm::ceil(by_area) as usize).max(1).min(self.most)
    }
}
