//! Every tolerance that a backend is held to.

use spotfit::Fitter;

/// How near a fit must come to the reference, with the criteria `tight`.
#[derive(Clone, Copy, Debug)]
pub struct Parity {
    /// Greatest difference of x, y and σ in pixels.
    pub position: f64,
    /// Greatest difference of α, β as a share of |α|, and of χ² as a share of χ².
    pub relative: f64,
    /// Share of the fits of an ordinary case that must be that near.
    pub share: f64,
    /// Where two minima or a flat valley leave the choice to rounding (noise, doubles, peak SNR near
    /// 1), a χ² that is greater by no more than this share, or this share of α squared, will do.
    pub as_good: f64,
    /// Share of the fits of such a case.
    pub share_hopeless: f64,
}

/// Backends that compute in double precision.
pub const DOUBLE: Parity =
    Parity { position: 1e-7, relative: 1e-7, share: 1.0, as_good: 0.0, share_hopeless: 1.0 };

/// Backends that compute in single precision.
pub const SINGLE: Parity =
    Parity { position: 1e-3, relative: 1e-3, share: 0.99, as_good: 1e-3, share_hopeless: 0.9 };

/// The tolerance of a backend.
pub fn parity(fitter: &Fitter) -> Parity {
    if fitter.is_single_precision() { SINGLE } else { DOUBLE }
}

/// Against an outside optimizer, criteria `tight`, f64: pixels.
pub const OUTSIDE_DOUBLE: f64 = 1e-4;
/// Against an outside optimizer, criteria `tight`, f32: pixels.
pub const OUTSIDE_SINGLE: f64 = 1e-3;

/// The 99th percentile of |f32 − f64| in position, as a share of the Cramér–Rao bound, both with the
/// criteria `tight`.
pub const ROUNDING: f64 = 0.01;
/// The mean number of iterations in f32 must not exceed that in f64 by more than this factor.
pub const ROUNDING_ITERATIONS: f64 = 1.01;

/// Table 1, free background: x and y against both rows.
pub const TABLE_1_CENTRE: f64 = 0.015;
/// Table 1, free background: σ against the row of Gpufit.
pub const TABLE_1_SIGMA: f64 = 0.025;
/// Table 1, background ≥ 0: σ at most this times the row of Fit2DGaussian.
pub const TABLE_1_NONNEGATIVE: f64 = 1.01;

/// The kernel that does as the paper did: its mean number of iterations against the f32 reference.
pub const PUBLISHED_MEAN: f64 = 0.01;
/// The same for every bin of the histogram of iterations: share of all fits.
pub const PUBLISHED_BIN: f64 = 0.01;
/// Share of its fits that end with the same status after as many iterations on the device and on the host.
pub const PUBLISHED_EQUAL: f64 = 0.99;

/// The root mean square of error over stated uncertainty, of localizations without a flag, from 100 photons.
pub const HONEST: f64 = 1.08;
