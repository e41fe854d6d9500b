//! What a window shows of its fit: squares, saturated pixels, and structure in the residuals.
//!
//! Two spots that are fitted as one leave a pattern: the spot is longer than it is wide, or leans to one side, or the
//! background slopes. χ² over all pixels hardly sees it in dim light. So the residuals are compared with the few
//! [patterns](Basis) that neighbours make: what is left of each, without what the parameters of the fit can change, is a
//! standard normal variate where there is one spot only (a score test).

use fit_core::spot::axis::GaussianAxis;
use fit_core::{Background, Camera, Fit, Options, Pixel, PixelProfile};
use fit_windows::{AnyWindows, CameraMap, NoteKind, Visitor, Windows};
use rayon::prelude::*;

use super::counts::photons;

/// What a window shows of its fit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Residuals {
    /// Σ(h − g)² in photons².
    pub(super) squares: f64,
    /// By how many standard deviations the patterns of neighbours are above what noise alone makes.
    pub(super) structure: f64,
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

/// The patterns: background, spot and its derivatives by x, y, both widths and the angle; skewed spots; slopes of the
/// background.
const PATTERNS: usize = 13;
/// How many of them, the last, are slopes of the background.
const SLOPES: usize = 2;

/// Where the model is no brighter than so many photons a pixel, the noise is that of so many.
const FAINTEST: f64 = 0.05;

impl Look<'_> {
    /// Of each window.
    pub(super) fn at(&self, windows: &AnyWindows<'_>) -> Vec<Residuals> {
        let (camera, limit) = (self.camera, self.saturation.unwrap_or(f64::INFINITY));
        let size = windows.size();
        let room = || [vec![0.0; size.pixels()], vec![0.0; size.pixels()]];
        let all = self.fits.par_iter().enumerate();
        all.map_init(room, |[pixels, variances], (index, fit)| {
            let saturated = photons(windows, index, camera, limit, [pixels, variances]);
            let (squares, structure) = self.compare(fit, size.width, pixels, variances);
            Residuals { squares, structure, saturated }
        })
        .collect()
    }

    /// Σ(h − g)², and the structure in the residuals.
    fn compare(
        &self,
        fit: &Fit<f64>,
        width: usize,
        pixels: &[f64],
        variances: &[f64],
    ) -> (f64, f64) {
        let basis = Basis::new(fit, self.options.profile, [width, pixels.len() / width]);
        let excess = if self.camera.em_gain.is_some() { 2.0 } else { 1.0 };
        let on_plane = self.options.background == Background::Plane;
        let mut squares = 0.0;
        let mut matrix = [[0.0; PATTERNS]; PATTERNS];
        let mut right = [0.0; PATTERNS];
        for (at, (&pixel, &variance)) in pixels.iter().zip(variances).enumerate() {
            if variance >= f64::from(CameraMap::MASKED) {
                continue;
            }
            let mut patterns = basis.at(at % width, at / width);
            let [.., along, across] = patterns;
            let plane = fit.offset_x * along + fit.offset_y * across;
            let model = fit.background + plane + fit.amplitude * patterns[1];
            let residual = pixel - model;
            if on_plane {
                // What is fitted comes first.
                patterns.rotate_right(SLOPES);
            }
            squares += residual * residual;
            let weight = 1.0 / (excess * model.max(FAINTEST) + variance);
            for j in 0..PATTERNS {
                let weighted = weight * patterns[j];
                right[j] += weighted * residual;
                for k in 0..=j {
                    matrix[j][k] += weighted * patterns[k];
                }
            }
        }
        // So many patterns, the first, a fit can change.
        (squares, structure(&mut matrix, &mut right, self.options.parameters()))
    }
}

/// Whether one of these pixels, in ADU, is saturated that is not masked.
pub(super) fn is_saturated(pixels: &[f64], variances: &[f64], limit: f64) -> bool {
    let masked = f64::from(CameraMap::MASKED);
    pixels.iter().zip(variances).any(|(&pixel, &variance)| pixel >= limit && variance < masked)
}

/// How many pixels of each window a fit sees, where some are masked.
pub(super) fn seen(windows: AnyWindows<'_>) -> Option<Vec<usize>> {
    let masks = windows.side_data().map().is_some_and(|map| map.masked() > 0);
    masks.then(|| windows.visit(Seen))
}

struct Seen;

impl<'w> Visitor<'w> for Seen {
    type Output = Vec<usize>;

    fn visit<P: Pixel>(self, windows: Windows<'w, P>) -> Vec<usize> {
        let mut variances = vec![0.0; windows.size().pixels()];
        let seen = |index| {
            windows.notes(index, NoteKind::Variances, &mut variances, 1.0);
            variances.iter().filter(|&&variance| variance < f64::from(CameraMap::MASKED)).count()
        };
        (0..windows.count()).map(seen).collect()
    }
}

/// The patterns of a fit.
enum Basis<'a> {
    /// Along x and y: products of functions of the column and the row.
    Straight {
        fit: &'a Fit<f64>,
        /// φ₀ to φ₃ for each column and each row: the profile along an axis times powers of the distance.
        axes: [Vec<[f64; 4]>; 2],
    },
    /// Along the axes of a rotated spot.
    Turned { fit: &'a Fit<f64>, profile: PixelProfile },
}

impl<'a> Basis<'a> {
    fn new(fit: &'a Fit<f64>, profile: PixelProfile, sides: [usize; 2]) -> Self {
        if fit.angle != 0.0 {
            return Self::Turned { fit, profile };
        }
        let axis = |centre: f64, sigma: f64, side: usize| {
            let axis = GaussianAxis::with_profile(profile, centre, 1.0 / sigma);
            let sample = |i: usize| {
                let sample = axis.sample::<false>(i as f64);
                let distance = (i as f64 - centre) / sigma;
                [sample.value, sample.by_centre, sample.by_width, distance * sample.by_width]
            };
            (0..side).map(sample).collect()
        };
        let axes = [axis(fit.x, fit.sigma_x, sides[0]), axis(fit.y, fit.sigma_y, sides[1])];
        Self::Straight { fit, axes }
    }

    #[inline(always)]
    fn at(&self, column: usize, row: usize) -> [f64; PATTERNS] {
        match self {
            Self::Straight { fit, axes: [across, down] } => {
                let slopes = [column as f64 - fit.x, row as f64 - fit.y];
                patterns(across[column], down[row], slopes)
            }
            Self::Turned { fit, profile } => turned(fit, *profile, column, row),
        }
    }
}

/// The patterns at a pixel from the functions along both axes of the spot.
#[inline(always)]
fn patterns(x: [f64; 4], y: [f64; 4], [right, down]: [f64; 2]) -> [f64; PATTERNS] {
    let (wide, high) = (x[2] * y[0], x[0] * y[2]);
    [
        1.0,
        x[0] * y[0],
        x[1] * y[0],
        x[0] * y[1],
        wide + high,
        wide - high,
        x[1] * y[1],
        x[3] * y[0],
        x[2] * y[1],
        x[1] * y[2],
        x[0] * y[3],
        right,
        down,
    ]
}

/// The patterns of a rotated spot: integrated ones by Gauss's rule with two points along each side of the pixel.
fn turned(fit: &Fit<f64>, profile: PixelProfile, column: usize, row: usize) -> [f64; PATTERNS] {
    let (sine, cosine) = fit.angle.sin_cos();
    let apart = match profile {
        PixelProfile::Integrated => 0.5 / 3f64.sqrt(),
        _ => 0.0,
    };
    let along = |w: f64| {
        let value = (-0.5 * w * w).exp();
        [value, w * value, w * w * value, w * w * w * value]
    };
    let mut mean = [0.0; PATTERNS];
    for (right, down) in [(-apart, -apart), (apart, -apart), (-apart, apart), (apart, apart)] {
        let (dx, dy) = (column as f64 + right - fit.x, row as f64 + down - fit.y);
        let u = along((cosine * dx + sine * dy) / fit.sigma_x);
        let v = along((cosine * dy - sine * dx) / fit.sigma_y);
        let here = patterns(u, v, [dx, dy]);
        mean.iter_mut().zip(here).for_each(|(mean, here)| *mean += 0.25 * here);
    }
    mean
}

/// The sum of squares of what is left of the patterns from `fitted` on, as standard deviations of a normal variate.
///
/// The rows of a Cholesky factor do it: each is a pattern without those before it.
fn structure(
    matrix: &mut [[f64; PATTERNS]; PATTERNS],
    right: &mut [f64; PATTERNS],
    fitted: usize,
) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for j in 0..PATTERNS {
        let scale = matrix[j][j];
        for k in 0..=j {
            let mut value = matrix[j][k];
            for i in 0..k {
                value -= matrix[j][i] * matrix[k][i];
            }
            if k < j {
                // A pattern that is made of others has a factor of 0.
                matrix[j][k] = if matrix[k][k] > 0.0 { value / matrix[k][k] } else { 0.0 };
            } else {
                matrix[j][j] = if value > 1e-9 * scale { value.sqrt() } else { 0.0 };
            }
        }
        let known: f64 = (0..j).map(|k| matrix[j][k] * right[k]).sum();
        if matrix[j][j] > 0.0 {
            right[j] = (right[j] - known) / matrix[j][j];
        } else {
            right[j] = 0.0;
        }
        if j >= fitted && matrix[j][j] > 0.0 {
            sum += right[j] * right[j];
            count += 1.0;
        }
    }
    // Wilson & Hilferty: the cube root of χ² is nearly normal.
    let spread = 2.0 / (9.0 * count);
    ((sum / count).cbrt() - 1.0 + spread) / spread.sqrt()
}
