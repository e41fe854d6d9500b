//! What is found.

use fit_core::Status;

/// One emitter, in pixels and photo-electrons; (0, 0) is the centre of the first pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Emitter {
    /// Column.
    pub x: f64,
    /// Row.
    pub y: f64,
    /// Photo-electrons.
    pub photons: f64,
    /// Standard deviation of the spot: √(σxσy) if they differ, and that of a Gaussian as compact if its image is measured.
    pub sigma: f64,
    /// That along x.
    pub sigma_x: f64,
    /// That along y.
    pub sigma_y: f64,
    /// Height, in the unit of the shape; 0 if it has none. An emitter at an end of the range is there or beyond.
    pub z: f64,
    /// Background in photo-electrons a pixel, at the centre.
    pub background: f64,
    /// Standard errors from the information of all emitters and the background of the region.
    pub errors: EmitterErrors,
    /// Distance to the nearest other emitter, infinite if there is none.
    pub neighbour: f64,
    /// Whether there may be more emitters here than the fit could tell.
    pub crowd: bool,
    /// χ² per pixel in a window of ±2σ: Σ (d − μ)²/μ over the number of pixels.
    pub goodness: f64,
    /// How the fit ended. [`Status::MaxIterations`] if it was not finished, or where there were more emitters than may be fitted.
    pub status: Status,
}

/// Standard errors of an emitter.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct EmitterErrors {
    /// Of x.
    pub x: f64,
    /// Of y.
    pub y: f64,
    /// Of the photo-electrons.
    pub photons: f64,
    /// Of σ; 0 if widths are not fitted.
    pub sigma: f64,
    /// Of the height; 0 if there is none.
    pub z: f64,
    /// Of the background at the centre.
    pub background: f64,
    /// The covariance of photo-electrons and σ; 0 if widths are not fitted.
    pub of_photons_and_sigma: f64,
}
