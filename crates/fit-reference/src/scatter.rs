//! Errors of fits whose pixels cannot be photons above the camera's offset.
//!
//! [`CovarianceEstimator`](fit_core::pass::CovarianceEstimator) takes the variance of a pixel from the model, εμ + v. If too much was
//! subtracted from an image, or a background, μ counts too few photons, down to less than none, and errors would be too small
//! without a limit. Where a pixel is so far below the offset that the read noise does not explain it, the residuals say what the
//! background scatters by: with the light αf of the spot alone the variance is
//!
//! ```text
//! Var(d) = ε·max(αf, 0) + v + t,    t from Σ(r² − Var(d))/Var(d)² = 0,
//! ```
//!
//! with the residuals r less their weighted mean, and N/(N − P) for the parameters that were fitted to them. That is a camera whose
//! offset is lower by Δ = t/ε − β, for which least squares has its errors as always. Maximum likelihood takes d below −v as −v,
//! and weighs pixels by the given offset: its errors are A⁻¹BA⁻¹ with the variances of normal pixels that are cut off there, about
//! the model that least squares finds.
//!
//! Pixels that photons and read noise explain keep the errors of the model, to the last bit.

use fit_core::pass::HIDDEN;
use fit_core::{
    ArgumentError, Background, Camera, Errors, Estimator, Fit, Fits, Options, Outline, Real, Size,
    Status, scratch_len,
};
use fit_windows::{AnyWindows, NoteKind};

use crate::batch::{Arithmetic, Window};
use crate::one::{ErrorsOfOne, FitOne, em_gain, errors_of_one, fit_one};

/// By how many standard deviations Pearson's χ² is above what noise explains where the residuals are asked.
const MORE: f32 = 2.0;
/// A pixel that is so many standard deviations of the read noise below the offset is not one of photons.
const BELOW: f64 = 5.0;
/// Steps to the variance of the background.
const STEPS: usize = 4;
/// The median of the square of a standard normal variate.
const MEDIAN: f64 = 0.4549;
/// No variance is less.
const LEAST: f64 = 1e-6;

/// Takes what residuals show as the least error of fits that were made with these options from the windows from number `first` on,
/// where pixels cannot be photons above the offset of the camera. `errors` are those of the model.
///
/// # Errors
/// [`ArgumentError`] for options that no fit has.
pub fn widen_errors(
    options: &Options,
    windows: AnyWindows<'_>,
    first: usize,
    fits: Fits<'_>,
    errors: &mut [Errors],
) -> Result<(), ArgumentError> {
    Widener::widen_odd(&mut None, options, windows, first, fits, errors)
}

/// What [`widen_errors`] needs for windows of one size and kind, made once. It does not allocate afterwards.
pub struct Widener {
    options: Options,
    side: [bool; 2],
    work: Work,
}

impl Widener {
    /// For windows like these.
    ///
    /// # Errors
    /// [`ArgumentError`] for options that no fit has.
    pub fn new(options: &Options, windows: &AnyWindows<'_>) -> Result<Self, ArgumentError> {
        let data = windows.side_data();
        let side = [data.is_mapped(), data.is_weighted()];
        // Counts are whole, and a baseline may be off by as much.
        let camera = options.camera.unwrap_or_default();
        let unit = if side[0] { 1.0 } else { camera.photons_per_adu() };
        Ok(Self { options: *options, side, work: Work::new(windows.size(), options, side, unit)? })
    }

    /// The same, made where there is none and something is to be widened.
    ///
    /// # Errors
    /// [`ArgumentError`] for options that no fit has.
    pub fn widen_odd(
        made: &mut Option<Self>,
        options: &Options,
        windows: AnyWindows<'_>,
        first: usize,
        fits: Fits<'_>,
        errors: &mut [Errors],
    ) -> Result<(), ArgumentError> {
        if errors.iter().all(|errors| !is_odd(errors)) {
            return Ok(());
        }
        let widener = match made {
            Some(widener) => widener,
            None => made.insert(Self::new(options, &windows)?),
        };
        widener.widen(windows, first, fits, errors)
    }

    /// See [`widen_errors`].
    ///
    /// # Errors
    /// [`ArgumentError`] for options that no fit has.
    pub fn widen(
        &mut self,
        windows: AnyWindows<'_>,
        first: usize,
        fits: Fits<'_>,
        errors: &mut [Errors],
    ) -> Result<(), ArgumentError> {
        for (place, errors) in errors.iter_mut().enumerate() {
            let fit = fits.at::<f64>(first + place);
            if fit.status == Status::Invalid || !is_odd(errors) {
                continue;
            }
            self.take(windows, first + place);
            if let Some(mut found) = self.work.errors(&fit)? {
                (found.goodness, found.excess) = (errors.goodness, errors.excess);
                *errors = found;
            }
        }
        Ok(())
    }

    /// Takes a window in photons.
    fn take(&mut self, windows: AnyWindows<'_>, index: usize) {
        let Self { options, side: [mapped, weighted], work } = self;
        let (camera, em_gain) = (options.camera.unwrap_or_default(), em_gain(options));
        let Photons { photons: pixels, variances, weights, .. } = &mut work.window;
        if !*mapped {
            variances.fill((camera.read_noise / em_gain).powi(2));
        }
        let weights = if *weighted { &mut weights[..] } else { &mut [] };
        f64::read(windows, Window { index, em_gain, pixels, variances, weights });
        if !*mapped {
            let gain = camera.photons_per_adu();
            pixels.iter_mut().for_each(|pixel| *pixel = (*pixel - camera.baseline) * gain);
        }
    }
}

/// Whether the residuals are larger than the model explains.
fn is_odd(errors: &Errors) -> bool {
    errors.excess > MORE
}

/// A window in photons.
struct Photons {
    photons: Vec<f64>,
    /// Of the read noise.
    variances: Vec<f64>,
    weights: Vec<f64>,
    /// The number of each pixel.
    numbers: Vec<f64>,
    width: usize,
}

impl Photons {
    fn seen(&self, at: usize) -> bool {
        self.variances[at] < HIDDEN && self.weights[at] > 0.0 && self.photons[at].is_finite()
    }

    /// The background of a fit at a pixel.
    fn level(&self, fit: &Fit<f64>, at: usize) -> f64 {
        let (x, y) = ((at % self.width) as f64, (at / self.width) as f64);
        fit.background + fit.offset_x * (x - fit.x) + fit.offset_y * (y - fit.y)
    }
}

/// What is needed for windows of one size.
struct Work {
    window: Photons,
    side: [bool; 2],
    /// Of photons.
    options: Options,
    excess: f64,
    /// What a pixel is below the offset without read noise.
    unit: f64,
    errors: Box<dyn ErrorsOfOne<f64>>,
    /// Least squares beside maximum likelihood.
    beside: Option<Box<dyn FitOne<f64>>>,
    scratch: Vec<f64>,
    /// αf of each pixel, of a fit and of the one beside it.
    lights: [Vec<f64>; 2],
    notes: Vec<f64>,
    /// The residual of each pixel that is seen, and its variance but for the background's.
    residuals: Vec<[f64; 2]>,
    squares: Vec<f64>,
}

impl Work {
    fn new(
        size: Size,
        options: &Options,
        side: [bool; 2],
        unit: f64,
    ) -> Result<Self, ArgumentError> {
        let gain = options.camera.and_then(|camera| camera.em_gain);
        let read_noise = options.camera.map_or(0.0, |camera| camera.read_noise);
        let camera = Camera::default()
            .with_em_gain(gain)
            .with_sensitivity(gain.unwrap_or(1.0))
            .with_read_noise(read_noise);
        let likely = options.estimator == Estimator::MaximumLikelihood;
        let background = match options.background {
            Background::NonNegative if likely => Background::Free,
            other => other,
        };
        let options = options
            .with_camera(Some(camera))
            .with_estimator(Estimator::LeastSquares)
            .with_background(background);
        // Those of maximum likelihood have weights and variances of their own.
        let side = if likely { [true; 2] } else { side };
        let beside =
            likely.then(|| fit_one::<f64>(size, &options, NoteKind::Weights, false)).transpose()?;
        let pixels = size.pixels();
        Ok(Self {
            window: Photons {
                photons: vec![0.0; pixels],
                variances: vec![0.0; pixels],
                weights: vec![1.0; pixels],
                numbers: (0..pixels).map(|at| at as f64).collect(),
                width: size.width,
            },
            side,
            options,
            excess: if gain.is_some() { 2.0 } else { 1.0 },
            unit,
            errors: errors_of_one::<f64>(size, &options, side)?,
            beside,
            scratch: vec![0.0; scratch_len(size)],
            lights: [vec![0.0; pixels], vec![0.0; pixels]],
            notes: Vec::with_capacity(pixels),
            residuals: Vec::with_capacity(pixels),
            squares: Vec::with_capacity(pixels),
        })
    }

    /// The errors that the residuals of a window show; `None` if its pixels may be photons.
    fn errors(&mut self, fit: &Fit<f64>) -> Result<Option<Errors>, ArgumentError> {
        let Photons { photons, variances, .. } = &self.window;
        let limit = |variance: f64| -(BELOW * variance.sqrt() + self.unit);
        let below = |at: usize| self.window.seen(at) && photons[at] < limit(variances[at]);
        if !(0..photons.len()).any(below) {
            return Ok(None);
        }
        if let Some(beside) = &self.beside {
            let pixels = photons.len();
            self.scratch[..pixels].copy_from_slice(photons);
            self.notes.clear();
            self.notes.extend((0..pixels).map(|at| f64::from(u8::from(self.window.seen(at)))));
            let Fit { x, y, sigma_x, sigma_y, angle, .. } = *fit;
            let start = Outline { x, y, sigma_x, sigma_y, angle };
            let level = beside.fit(Some(start), &mut self.scratch, &self.notes)?;
            if level.status == Status::Invalid {
                return Ok(Some(Errors::unknown()));
            }
            return Ok(self.of_likelihood(fit, &level));
        }
        self.light_up(0, fit);
        let lower = self.scatter(fit, 0) / self.excess - fit.background;
        if !(lower > 0.0 && lower.is_finite()) {
            return Ok(None);
        }
        self.window.photons.iter_mut().for_each(|photons| *photons += lower);
        Ok(self.of_window(&Fit { background: fit.background + lower, ..*fit }))
    }

    /// The errors of maximum likelihood, where least squares has found the level of the background.
    fn of_likelihood(&mut self, fit: &Fit<f64>, level: &Fit<f64>) -> Option<Errors> {
        self.light_up(0, fit);
        self.light_up(1, level);
        let scatter = self.scatter(level, 1);
        let [found, light] = &self.lights;
        for at in 0..light.len() {
            if !self.window.seen(at) {
                self.window.weights[at] = 0.0;
                continue;
            }
            let model = found[at] + self.window.level(fit, at);
            let read = self.window.variances[at];
            let variance = (self.excess * light[at].max(0.0) + read + scatter).max(LEAST);
            let mean = light[at] + self.window.level(level, at) + read;
            let cut = variance * cut_off(mean / variance.sqrt());
            self.window.photons[at] = model;
            self.window.weights[at] = 1.0 / (model.max(0.0) + read).max(LEAST);
            self.window.variances[at] = cut - self.excess * model.max(0.0);
        }
        let errors = self.of_window(fit);
        // The weights of the next window are its own.
        self.window.weights.fill(1.0);
        errors
    }

    fn of_window(&mut self, fit: &Fit<f64>) -> Option<Errors> {
        let Photons { photons, variances, weights, .. } = &self.window;
        let (variances, weights): (&[f64], &[f64]) =
            (if self.side[0] { variances } else { &[] }, if self.side[1] { weights } else { &[] });
        self.errors.errors(photons, [variances, weights], &mut self.scratch, fit)
    }

    /// Finds αf of each pixel.
    fn light_up(&mut self, which: usize, fit: &Fit<f64>) {
        let light = &mut self.lights[which];
        light.fill(0.0);
        self.errors.light(fit, &self.window.numbers, &mut self.scratch, light);
    }

    /// t: the variance of a pixel of the background, but for the read noise. It is not below that of the background's photons.
    fn scatter(&mut self, fit: &Fit<f64>, which: usize) -> f64 {
        let (window, light, excess) = (&self.window, &self.lights[which], self.excess);
        let Photons { photons, variances, .. } = window;
        let seen = (0..light.len()).filter(|&at| window.seen(at));
        let (all, squares) = (&mut self.residuals, &mut self.squares);
        all.clear();
        all.extend(seen.map(|at| {
            let known = excess * light[at].max(0.0) + variances[at];
            [photons[at] - light[at] - window.level(fit, at), known]
        }));
        let parameters = self.options.parameters();
        let share = all.len() as f64 / all.len().saturating_sub(parameters).max(1) as f64;
        let least = (self.excess * fit.background).max(0.0);
        squares.clear();
        squares.extend(all.iter().map(|[residual, _]| residual * residual));
        squares.sort_unstable_by(f64::total_cmp);
        let mut scatter = (squares[squares.len() / 2] / MEDIAN).max(least).max(LEAST);
        for _ in 0..STEPS {
            let sum = |of: &dyn Fn(f64, f64, f64) -> f64| -> f64 {
                all.iter()
                    .map(|[residual, known]| of(1.0 / (known + scatter), *residual, *known))
                    .sum()
            };
            let mean = sum(&|w, r, _| w * r) / sum(&|w, _, _| w);
            let more = sum(&|w, r, known| w * w * ((r - mean).powi(2) * share - known));
            scatter = (more / sum(&|w, _, _| w * w)).max(least).max(LEAST);
        }
        scatter
    }
}

/// The variance of a normal variate of the mean z and the variance 1 where what is below 0 is taken as 0.
fn cut_off(z: f64) -> f64 {
    // 2^(−s²) with s = z/√(2 ln 2).
    let (value, integral) = (z * 0.849_321_800_288_019_1).exp2_integral();
    let density = value / std::f64::consts::TAU.sqrt();
    let above = 0.5 + 0.5 * integral / 1.064_467_019_431_226_2;
    let mean = z * above + density;
    ((z * z + 1.0) * above + z * density - mean * mean).clamp(0.0, 1.0)
}
