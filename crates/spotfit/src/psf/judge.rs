//! Errors of fits with a PSF, and what windows show of them.

use fit_crowd::private::Patch;
use ndarray::ArrayView2;

use super::Psf;
use super::bounds::{Information, sandwich};
use super::measured::DARKEST;
use super::noise::PsfNoise;

/// Where the model is no brighter than so many photons a pixel, the noise is that of so many.
const FAINTEST: f64 = 0.05;

/// The quality of a fit. All numbers are NaN if the fit failed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PsfQuality {
    /// Σ(h − g)² in photons².
    pub squares: f64,
    /// Pearson's χ² per degree of freedom, Σ(h − g)²/variance/(N − 5), or N − 7 on a plane: about 1 if the PSF and the camera are correct.
    pub goodness: f64,
    /// By how many standard deviations Pearson's χ² exceeds its value for pure noise.
    pub excess: f64,
    /// The width in pixels of a Gaussian as compact as the light in the PSF's pixels at this z: 1/√(4πΣf²).
    pub sigma: f64,
}

impl PsfQuality {
    const NONE: Self =
        Self { squares: f64::NAN, goodness: f64::NAN, excess: f64::NAN, sigma: f64::NAN };
}

/// Looks at windows beside their fits.
pub(super) struct Judge<'a, 'n> {
    pub(super) psf: &'a Psf,
    pub(super) noise: PsfNoise<'n>,
    /// Whether fits are by maximum likelihood.
    pub(super) poisson: bool,
    /// Rows and columns.
    pub(super) size: [usize; 2],
    /// How many parameters fits have.
    pub(super) parameters: usize,
}

/// The model at a pixel of a window, where the PSF has this value.
fn mean(parameters: [f64; 7], value: f64, [column, row]: [usize; 2]) -> f64 {
    let [x, y, _, photons, background, by_x, by_y] = parameters;
    photons * value + background + by_x * (column as f64 - x) + by_y * (row as f64 - y)
}

impl Judge<'_, '_> {
    /// Evaluates the PSF where a fit found a spot, and returns its columns from, and how many they are; `None` if there is no fit.
    fn evaluate(&self, patch: &mut Patch, parameters: [f64; 7], slopes: bool) -> Option<Covered> {
        let [x, y, z, ..] = parameters;
        parameters.iter().all(|value| value.is_finite()).then(|| {
            let place = self.psf.place([x, y, z], self.size);
            patch.evaluate(self.psf.knots(), self.psf.shape(), &place, slopes);
            Covered {
                row: place.rows.start,
                column: place.columns.start,
                width: place.columns.len(),
            }
        })
    }

    /// The standard errors of a fit of N parameters: 7 on a plane.
    pub(super) fn errors<const N: usize>(
        &self,
        patch: &mut Patch,
        fit: usize,
        parameters: [f64; 7],
    ) -> [f64; N] {
        let Some(covered) = self.evaluate(patch, parameters, true) else { return [f64::NAN; N] };
        let [.., photons, _, by_x, by_y] = parameters;
        let (mut a, mut b) = (Information::NONE, Information::NONE);
        let rows = patch.value.len().checked_div(covered.width).unwrap_or(0);
        for pixel in 0..rows * covered.width {
            let [row, column] = covered.at(pixel);
            let Some(read) = self.noise.of([fit, row, column]) else { continue };
            let [dx, dy] = [column as f64 - parameters[0], row as f64 - parameters[1]];
            let [x, y, z, light, behind] = self.psf.slopes(patch, pixel, photons);
            let all = [x - by_x, y - by_y, z, light, behind, dx, dy];
            let slopes: [f64; N] = std::array::from_fn(|j| all[j]);
            let bright = mean(parameters, patch.value[pixel], [column, row]).max(0.0);
            if self.poisson && bright + read <= DARKEST {
                continue;
            }
            let variance = self.noise.excess * bright + read;
            let weight = if self.poisson { 1.0 / (bright + read) } else { 1.0 };
            a.add(&slopes, weight);
            b.add(&slopes, weight * weight * variance);
        }
        let single = self.psf.is_single();
        if single {
            a.hold(2);
            b.hold(2);
        }
        let mut errors = sandwich(&a, &b).unwrap_or([f64::INFINITY; N]);
        if single {
            errors[2] = 0.0;
        }
        errors
    }

    /// What a window shows of its fit.
    pub(super) fn quality(
        &self,
        patch: &mut Patch,
        fit: usize,
        parameters: [f64; 7],
        window: ArrayView2<'_, f32>,
    ) -> PsfQuality {
        let Some(covered) = self.evaluate(patch, parameters, false) else {
            return PsfQuality::NONE;
        };
        let (mut squares, mut pearson, mut spread, mut seen, mut compact) =
            (0.0, 0.0, 0.0, 0.0, 0.0);
        let rows = patch.value.len().checked_div(covered.width).unwrap_or(0);
        for pixel in 0..rows * covered.width {
            let [row, column] = covered.at(pixel);
            let value = patch.value[pixel];
            compact += value * value;
            let Some(read) = self.noise.of([fit, row, column]) else { continue };
            let model = mean(parameters, value, [column, row]);
            let residual = f64::from(window[[row, column]]) - model;
            let bright = model.max(FAINTEST);
            let inverse = 1.0 / (self.noise.excess * bright + read);
            // κ₄ of photo-electrons is μ, and 24μ after the multiplication of electrons.
            let fourth = bright * (23.0 * self.noise.excess - 22.0);
            squares += residual * residual;
            pearson += residual * residual * inverse;
            spread += 2.0 + fourth * inverse * inverse;
            seen += 1.0;
        }
        let freedom = f64::max(seen - self.parameters as f64, 1.0);
        PsfQuality {
            squares,
            goodness: pearson / freedom,
            excess: (pearson - freedom) / f64::max(spread, 1.0).sqrt(),
            sigma: 1.0 / (4.0 * std::f64::consts::PI * compact).sqrt(),
        }
    }
}

/// The pixels of a window that the PSF covers.
struct Covered {
    row: usize,
    column: usize,
    width: usize,
}

impl Covered {
    /// Row and column in the window.
    fn at(&self, pixel: usize) -> [usize; 2] {
        [self.row + pixel / self.width, self.column + pixel % self.width]
    }
}
