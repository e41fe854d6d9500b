//! The explicit five-parameter fit: the baseline that both papers compare with.
//!
//! It is the algorithm of Gpufit and Cpufit (Przybylski et al. 2017) for the circular Gaussian with
//! a constant background: amplitude and background are two more parameters of an ordinary
//! Levenberg–Marquardt search, on the pixels as they are. It is here to be compared with, not to be
//! used: it is slower and, in single precision, less robust than the implicit fit.
//!
//! - λ starts at 0.001, ×10 after a trial that failed, ÷10 after one that succeeded;
//! - the diagonal is damped by λ times the largest value that it has had so far;
//! - every trial counts as an iteration;
//! - it ends when |χ²_trial − χ²_best| < tolerance·max(1, χ²_trial), or after `max_iterations`.

use fit_core::spot::axis::{CENTRE_UNIT, WIDTH_UNIT};
use fit_core::spot::sums::Profile;
use fit_core::{ArgumentError, Circle, Fit, Pixel, Scalar, Size, Status, estimate};
use nalgebra::{RealField, SMatrix, SVector};
use ndarray::{ArrayView3, Axis};

type Vector<R> = SVector<R, 5>;
type Matrix<R> = SMatrix<R, 5, 5>;

const AMPLITUDE: usize = 0;
const X: usize = 1;
const Y: usize = 2;
const SIGMA: usize = 3;
const BACKGROUND: usize = 4;

/// When the explicit fit ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExplicitCriteria {
    /// Ends a fit when a trial changes χ² by less than `tolerance`·max(1, χ²). The 1 is in counts²,
    /// so the test depends on the unit of the pixels.
    pub tolerance: f64,
    /// The largest number of trials.
    pub max_iterations: u32,
}

impl Default for ExplicitCriteria {
    /// The values of the papers' comparison: 10⁻⁴ and 20.
    fn default() -> Self {
        Self { tolerance: 1e-4, max_iterations: 20 }
    }
}

/// The five start values that go with a shape: the amplitude is the highest pixel minus the lowest,
/// the background the lowest (the papers' estimate).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExplicitStart<R> {
    /// Centre and σ in pixels.
    pub shape: Circle<R>,
    /// Amplitude in counts.
    pub amplitude: R,
    /// Background in counts.
    pub background: R,
}

impl<R: Scalar> ExplicitStart<R> {
    /// The papers' estimate for a window, with another shape if one is given.
    pub fn estimate(pixels: &[R], size: Size, shape: Option<Circle<R>>) -> Self {
        let first = pixels.first().copied().unwrap_or_default();
        let low = pixels.iter().fold(first, |low, &pixel| pixel.min(low));
        let high = pixels.iter().fold(first, |high, &pixel| pixel.max(high));
        Self {
            shape: shape.unwrap_or_else(|| estimate(pixels, size)),
            amplitude: high - low,
            background: low,
        }
    }
}

/// χ², ½∇χ² (as Jᵀ(g − h)) and JᵀJ at one set of parameters.
struct Evaluation<R> {
    chi2: R,
    jtj: Matrix<R>,
    jtr: Vector<R>,
}

fn evaluate<R: Scalar + RealField>(pixels: &[R], width: usize, p: &Vector<R>) -> Evaluation<R> {
    // The profile's derivatives are relative to σ; its sign does not matter to the profile.
    let shape = Circle::new(p[X], p[Y], p[SIGMA]);
    let by_centre = p[AMPLITUDE] / (p[SIGMA] * number::<R>(CENTRE_UNIT));
    let by_width = p[AMPLITUDE] / (p[SIGMA] * number::<R>(WIDTH_UNIT));
    let mut chi2 = R::default();
    let mut jtj = Matrix::zeros();
    let mut jtr = Vector::zeros();
    for (y, row) in pixels.chunks_exact(width).enumerate() {
        for (x, &pixel) in row.iter().enumerate() {
            let profile = Profile::at(number(x as f64), number(y as f64), shape);
            let [by_x, by_y, by_sigma] = profile.derivatives;
            let residual = pixel - (p[AMPLITUDE] * profile.value + p[BACKGROUND]);
            let slope = [
                profile.value,
                by_centre * by_x,
                by_centre * by_y,
                by_width * by_sigma,
                number(1.0),
            ];
            chi2 += residual * residual;
            for j in 0..5 {
                jtr[j] += slope[j] * residual;
                for k in 0..=j {
                    jtj[(j, k)] += slope[j] * slope[k];
                }
            }
        }
    }
    jtj.fill_upper_triangle_with_lower_triangle();
    Evaluation { chi2, jtj, jtr }
}

/// Fits one window of width · height pixels explicitly.
///
/// # Errors
/// [`ArgumentError::WindowTooSmall`], [`ArgumentError::WindowTooLarge`] or
/// [`ArgumentError::PixelCount`].
pub fn fit_explicit<R: Scalar + RealField>(
    pixels: &[R],
    size: Size,
    start: ExplicitStart<R>,
    criteria: &ExplicitCriteria,
) -> Result<Fit<R>, ArgumentError> {
    size.validate()?;
    if pixels.len() != size.pixels() {
        return Err(ArgumentError::PixelCount { size, pixels: pixels.len() });
    }
    let Circle { x, y, sigma } = start.shape;
    let mut best = Vector::from([start.amplitude, x, y, sigma, start.background]);
    let mut at_best = evaluate(pixels, size.width, &best);
    let mut scale = Vector::<R>::zeros();
    let mut lambda = number(0.001);
    let mut status = Status::MaxIterations;
    let mut iterations = 0;
    while iterations < criteria.max_iterations {
        iterations += 1;
        let mut damped = at_best.jtj;
        for j in 0..5 {
            scale[j] = larger(scale[j], damped[(j, j)]);
            damped[(j, j)] += scale[j] * lambda;
        }
        let Some(step) = damped.lu().solve(&at_best.jtr) else {
            status = Status::NotConverged;
            break;
        };
        let trial = best + step;
        let at_trial = evaluate(pixels, size.width, &trial);
        let change = magnitude(at_trial.chi2 - at_best.chi2);
        let bound = number::<R>(criteria.tolerance) * larger(number(1.0), at_trial.chi2);
        if at_trial.chi2 < at_best.chi2 {
            lambda *= number(0.1);
            (best, at_best) = (trial, at_trial);
        } else {
            lambda *= number(10.0);
        }
        if change < bound {
            status = Status::MinDelta;
            break;
        }
    }
    // The profile knows σ² only, and an explicit fit may well end at −σ.
    let sigma = magnitude(best[SIGMA]);
    let fit = Fit {
        x: best[X],
        y: best[Y],
        sigma,
        sigma_x: sigma,
        sigma_y: sigma,
        angle: number(0.0),
        amplitude: best[AMPLITUDE],
        background: best[BACKGROUND],
        offset_x: number(0.0),
        offset_y: number(0.0),
        chi2: at_best.chi2,
        iterations,
        evaluations: iterations + 1,
        status,
    };
    let finite =
        best.iter().all(|p| fit_core::Real::is_finite(*p)) && fit_core::Real::is_finite(fit.chi2);
    Ok(if finite { fit } else { Fit::invalid() })
}

// `Scalar` and nalgebra's `RealField` name several methods alike; these pick ours.

fn number<R: Scalar>(value: f64) -> R {
    R::splat(value)
}

fn magnitude<R: Scalar>(value: R) -> R {
    value.abs()
}

fn larger<R: Scalar>(a: R, b: R) -> R {
    a.max(b)
}

/// Fits every window of a stack (n, height, width) explicitly, one after the other, from the papers'
/// estimate or the shapes given.
///
/// # Errors
/// As [`fit_explicit`].
pub fn fit_explicit_stack<R: Scalar + RealField, P: Pixel>(
    spots: ArrayView3<'_, P>,
    start: fit_core::Start<'_>,
    criteria: &ExplicitCriteria,
) -> Result<Vec<Fit<R>>, ArgumentError> {
    let (count, height, width) = spots.dim();
    let size = Size::new(width, height);
    start.validate(count)?;
    let mut pixels = Vec::with_capacity(size.pixels());
    let mut fits = Vec::with_capacity(count);
    for (index, window) in spots.axis_iter(Axis(0)).enumerate() {
        pixels.clear();
        pixels.extend(window.iter().map(|&pixel| R::from_pixel(pixel)));
        let circle = start.outline(index).map(|start| Circle::new(start.x, start.y, start.sigma_x));
        let start = ExplicitStart::estimate(&pixels, size, circle);
        fits.push(fit_explicit(&pixels, size, start, criteria)?);
    }
    Ok(fits)
}
