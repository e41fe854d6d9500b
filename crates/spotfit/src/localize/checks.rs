//! Whether a localization can be trusted: neighbours, residuals and saturated pixels.

use fit_core::spot::axis::GaussianAxis;
use fit_core::{Camera, Estimator, Fit, Number, Options, Pixel};
use fit_windows::{AnyWindows, Visitor, Windows};
use rayon::prelude::*;

/// Residuals that exceed the noise by more than so many standard deviations are flagged.
pub const LARGE_RESIDUALS: f64 = 4.0;

/// What speaks against a localization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[non_exhaustive]
pub struct Flags {
    /// Another candidate lies within a box of this spot, so that its light is in the window.
    pub neighbour: bool,
    /// The residuals are too large for the noise ([`LARGE_RESIDUALS`]): the window shows something else than one spot
    /// of this shape on a flat background.
    pub residual: bool,
    /// A pixel of the window is saturated.
    pub saturated: bool,
}

impl Flags {
    /// All of them.
    pub const ALL: Self = Self { neighbour: true, residual: true, saturated: true };

    fit_core::__setters! {
        const with_neighbour: neighbour: bool,
        const with_residual: residual: bool,
        const with_saturated: saturated: bool,
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.bits() == 0
    }

    /// Those of these that are also among `others`.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self::from_bits(self.bits() & others.bits())
    }

    /// As a number for tables: 1 for a neighbour, 2 for residuals, 4 for a saturated pixel, and their sums.
    pub const fn bits(self) -> u8 {
        self.neighbour as u8 | (self.residual as u8) << 1 | (self.saturated as u8) << 2
    }

    /// From that number; other bits are ignored.
    pub const fn from_bits(bits: u8) -> Self {
        Self { neighbour: bits & 1 != 0, residual: bits & 2 != 0, saturated: bits & 4 != 0 }
    }
}

/// What was checked of a localization.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Checks {
    /// How far away, in pixels, the nearest other candidate of the frame was detected, or the nearest other position
    /// was given, whatever became of it; infinite if there is none.
    pub neighbour: f64,
    /// Pearson's χ² per degree of freedom, Σ(h − g)²/variance/(N − parameters): about 1 where the model and the
    /// camera are right. NaN for fits that failed.
    pub goodness: f64,
    /// What speaks against it.
    pub flags: Flags,
}

/// What a window shows of its fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Residuals {
    /// Σ(h − g)² in photons².
    pub(super) squares: f64,
    /// Whether a pixel is saturated.
    pub(super) saturated: bool,
}

/// How the residuals of windows are found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    /// The fits, in photons.
    pub(super) fits: &'a [Fit<f64>],
    pub(super) options: &'a Options,
    /// The camera; where there is a map, only its EM gain matters.
    pub(super) camera: &'a Camera,
    /// The least value of a saturated pixel, in ADU.
    pub(super) saturation: Option<f64>,
}

/// The value of a saturated pixel of this type, if there is one.
pub(super) fn most(windows: &AnyWindows<'_>) -> Option<f64> {
    match windows {
        AnyWindows::U8(_) => Some(u8::MAX.into()),
        AnyWindows::U16(_) => Some(u16::MAX.into()),
        AnyWindows::U32(_) => Some(u32::MAX.into()),
        AnyWindows::U64(_) => Some(u64::MAX as f64),
        AnyWindows::I8(_) => Some(i8::MAX.into()),
        AnyWindows::I16(_) => Some(i16::MAX.into()),
        AnyWindows::I32(_) => Some(i32::MAX.into()),
        AnyWindows::I64(_) => Some(i64::MAX as f64),
        AnyWindows::F32(_) | AnyWindows::F64(_) => None,
    }
}

impl<'w> Visitor<'w> for Look<'_> {
    type Output = Vec<Residuals>;

    fn visit<P: Pixel>(self, windows: Windows<'w, P>) -> Vec<Residuals> {
        let room = || vec![0.0; windows.size().pixels()];
        let all = self.fits.par_iter().enumerate();
        all.map_init(room, |pixels, (index, fit)| self.residuals(&windows, index, fit, pixels))
            .collect()
    }
}

impl Look<'_> {
    fn residuals<P: Pixel>(
        &self,
        windows: &Windows<'_, P>,
        index: usize,
        fit: &Fit<f64>,
        pixels: &mut [f64],
    ) -> Residuals {
        let (camera, limit) = (self.camera, self.saturation.unwrap_or(f64::INFINITY));
        let mut saturated = false;
        for (to, &pixel) in pixels.iter_mut().zip(windows.window(index)) {
            *to = f64::from_pixel(pixel);
            saturated |= *to >= limit;
        }
        if self.options.estimator == Estimator::LeastSquares {
            return Residuals { squares: fit.chi2, saturated };
        }
        if windows.known().is_mapped() {
            windows.convert(index, pixels, camera.em_gain.unwrap_or(1.0));
        } else {
            let gain = camera.photons_per_adu();
            pixels.iter_mut().for_each(|pixel| *pixel = (*pixel - camera.baseline) * gain);
        }
        let size = windows.size();
        let axis = |centre: f64, sigma: f64, length: usize| -> Vec<f64> {
            let axis = GaussianAxis::with_profile(self.options.profile, centre, 1.0 / sigma);
            (0..length).map(|i| axis.sample::<false>(i as f64).value).collect()
        };
        let across = axis(fit.x, fit.sigma_x, size.width);
        let down = axis(fit.y, fit.sigma_y, size.height);
        let mut squares = 0.0;
        for (row, down) in pixels.chunks_exact(size.width).zip(&down) {
            for (pixel, across) in row.iter().zip(&across) {
                squares += (pixel - fit.amplitude * down * across - fit.background).powi(2);
            }
        }
        Residuals { squares, saturated }
    }
}
