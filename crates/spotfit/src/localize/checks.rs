//! Whether a localization can be trusted: neighbours, residuals and saturated pixels.

use fit_core::spot::axis::GaussianAxis;
use fit_core::spot::shape::{self, Separable};
use fit_core::{Camera, Fit, Number, Options, Pixel, Shape};
use fit_windows::{AnyWindows, CameraMap, NoteKind, Visitor, Windows};
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

/// Where the model is no brighter than so many photons a pixel, the noise is that of so many.
const FAINTEST: f64 = 0.05;

/// How many parameters a fit of this shape has, with amplitude and background.
pub(super) fn parameters(shape: Shape) -> usize {
    struct Count;
    impl shape::Visitor for Count {
        type Output = usize;
        fn visit<S: Separable<P>, const P: usize, const Q: usize>(self, _: S) -> usize {
            Q
        }
    }
    shape.visit(Count)
}

/// What a window shows of its fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Residuals {
    /// Σ(h − g)² in photons².
    pub(super) squares: f64,
    /// Pearson's χ² per degree of freedom.
    pub(super) goodness: f64,
    /// How far it is above 1, in standard deviations.
    pub(super) surprise: f64,
    /// The variance of the read noise of a pixel in photons², on average.
    pub(super) variance: f64,
    /// Whether a pixel is saturated.
    pub(super) saturated: bool,
}

/// How the residuals of windows are judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge<'a> {
    /// The fits, in photons.
    pub(super) fits: &'a [Fit<f64>],
    pub(super) options: &'a Options,
    /// How many parameters a fit has.
    pub(super) parameters: usize,
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

impl<'w> Visitor<'w> for Judge<'_> {
    type Output = Vec<Residuals>;

    fn visit<P: Pixel>(self, windows: Windows<'w, P>) -> Vec<Residuals> {
        let all = self.fits.par_iter().enumerate();
        all.map_init(Window::default, |room, (index, fit)| {
            let saturated = room.fill(&windows, index, &self);
            self.residuals(fit, room, saturated)
        })
        .collect()
    }
}

/// A window in photons, with the variance of the read noise of each pixel.
#[derive(Default)]
struct Window {
    width: usize,
    pixels: Vec<f64>,
    variances: Vec<f64>,
}

impl Window {
    /// Takes a window; true if a pixel is saturated.
    fn fill<P: Pixel>(
        &mut self,
        windows: &Windows<'_, P>,
        index: usize,
        judge: &Judge<'_>,
    ) -> bool {
        let (camera, limit) = (judge.camera, judge.saturation.unwrap_or(f64::INFINITY));
        self.width = windows.size().width;
        self.pixels.clear();
        self.pixels.extend(windows.window(index).iter().map(|&pixel| f64::from_pixel(pixel)));
        let saturated = self.pixels.iter().any(|&pixel| pixel >= limit);
        self.variances.clear();
        let em_gain = camera.em_gain.unwrap_or(1.0);
        if windows.known().is_mapped() {
            self.variances.resize(self.pixels.len(), 0.0);
            windows.convert(index, &mut self.pixels, em_gain);
            windows.notes(index, NoteKind::Variances, &mut self.variances, em_gain);
        } else {
            let gain = camera.photons_per_adu();
            self.pixels.iter_mut().for_each(|pixel| *pixel = (*pixel - camera.baseline) * gain);
            let variance = (camera.read_noise / em_gain).powi(2);
            self.variances.resize(self.pixels.len(), variance);
        }
        saturated
    }
}

impl Judge<'_> {
    fn residuals(&self, fit: &Fit<f64>, window: &Window, saturated: bool) -> Residuals {
        let axis = |centre: f64, sigma: f64, length: usize| -> Vec<f64> {
            let axis = GaussianAxis::with_profile(self.options.profile, centre, 1.0 / sigma);
            (0..length).map(|i| axis.sample::<false>(i as f64).value).collect()
        };
        let across = axis(fit.x, fit.sigma_x, window.width);
        let down = axis(fit.y, fit.sigma_y, window.pixels.len() / window.width);
        // EM gain doubles the variance; the fourth cumulant of its multiplied electrons is 24 times their number.
        let (excess, fourth) = if self.camera.em_gain.is_some() { (2.0, 24.0) } else { (1.0, 1.0) };
        let (mut squares, mut pearson, mut spread) = (0.0, 0.0, 0.0);
        let (mut variances, mut count) = (0.0, 0.0);
        for (at, (&pixel, &variance)) in window.pixels.iter().zip(&window.variances).enumerate() {
            if variance >= f64::from(CameraMap::MASKED) {
                continue;
            }
            let profile = down[at / window.width] * across[at % window.width];
            let model = fit.amplitude * profile + fit.background;
            let light = model.max(FAINTEST);
            let square = (pixel - model).powi(2);
            let noise = excess * light + variance;
            squares += square;
            pearson += square / noise;
            spread += 2.0 + fourth * light / (noise * noise);
            variances += variance;
            count += 1.0;
        }
        let freedom = f64::max(count - self.parameters as f64, 1.0);
        let surprise = (pearson - freedom) / (spread * freedom / count).sqrt();
        let (goodness, variance) = (pearson / freedom, variances / f64::max(count, 1.0));
        Residuals { squares, goodness, surprise, variance, saturated }
    }
}
