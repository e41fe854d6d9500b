//! The equations of the paper by name: amplitude and background in closed form, the Jacobian, and the damped step.
//!
//! M. Leutenegger and M. Weber, *Least-squares fitting of Gaussian spots on graphics processing units* (2021), describe
//! them for circular spots; `docs/algorithm.md` in Spotfit's repository has each of them with its derivation and the
//! corrections to the paper.

use crate::arithmetic::Real;
use crate::search::Coordinates;
pub use crate::search::solve::{Symmetric, damped_step};
use crate::size::{Circle, Size};
use crate::spot::assembly::{Amplitudes, amplitudes, assemble};
use crate::spot::conditioning::Conditioning;
use crate::spot::limits::Background;
use crate::spot::shape::Circular;
use crate::spot::sums::{Profile, direct};

/// The least-squares equations of a circular spot in a window: the model is h = αf + β, where f is the Gaussian of eq.
/// 10, and α and β are optimal for it.
///
/// Derivatives are by x̄, ȳ and σ, in pixels.
///
/// ```
/// use fit_core::equations::SpotEquations;
/// use fit_core::{Background, Circle, Size};
///
/// let size = Size::new(7, 7);
/// let pixels: Vec<f64> = (0..49)
///     .map(|i| {
///         let (x, y) = ((i % 7) as f64 - 3.1, (i / 7) as f64 - 2.9);
///         80.0 * (-(x * x + y * y) / (2.0 * 1.4 * 1.4)).exp() + 12.0
///     })
///     .collect();
/// // Levenberg and Marquardt by hand.
/// let mut spot = Circle::new(3.0, 3.0, 1.2);
/// for _ in 0..10 {
///     let [x, y, sigma] = SpotEquations::new(&pixels, size, spot, Background::Free).step(1e-3);
///     spot = Circle::new(spot.x + x, spot.y + y, spot.sigma + sigma);
/// }
/// let equations = SpotEquations::new(&pixels, size, spot, Background::Free);
/// assert!((spot.x - 3.1).abs() < 1e-9 && (equations.amplitude - 80.0).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SpotEquations<R: Real> {
    /// The spot.
    pub spot: Circle<R>,
    /// α (eq. 6).
    pub amplitude: R,
    /// β (eq. 6).
    pub background: R,
    /// ∂α (eq. 8).
    pub amplitude_by: [R; 3],
    /// ∂β (eq. 8).
    pub background_by: [R; 3],
    /// χ² = Σ(h − g)² (eq. 2).
    pub chi2: R,
    /// Half its gradient, Jᵀ(h − g) (eq. 9).
    pub gradient: [R; 3],
    /// JᵀJ (eq. 9).
    pub hessian: Symmetric<R, 3>,
}

impl<R: Real> SpotEquations<R> {
    /// The equations for the pixels of a window, row after row. With fewer pixels than `size` the result is meaningless
    /// but safe.
    pub fn new(pixels: &[R], size: Size, spot: Circle<R>, background: Background) -> Self {
        let data = Conditioning::identity(pixels);
        let sums = direct(pixels, size, spot);
        let normal = assemble(&sums, &data, background).normal;
        let Amplitudes { alpha, beta, d_alpha, d_beta } = amplitudes(&sums, &data, background);
        let units = units(spot);
        let (mut gradient, mut hessian) = (normal.gradient, normal.hessian);
        let (mut amplitude_by, mut background_by) = (d_alpha, d_beta);
        for j in 0..3 {
            gradient[j] = gradient[j] / units[j];
            amplitude_by[j] = amplitude_by[j] / units[j];
            background_by[j] = background_by[j] / units[j];
            for k in j..3 {
                hessian.0[j][k] = hessian.0[j][k] / (units[j] * units[k]);
            }
        }
        Self {
            spot,
            amplitude: alpha,
            background: beta,
            amplitude_by,
            background_by,
            chi2: normal.cost,
            gradient,
            hessian,
        }
    }

    /// The profile f at a pixel, and ∂f (eq. 10 and 11).
    pub fn profile(&self, x: usize, y: usize) -> (R, [R; 3]) {
        let Profile { value, mut derivatives } =
            Profile::at(R::splat(x as f64), R::splat(y as f64), self.spot);
        let units = units(self.spot);
        for j in 0..3 {
            derivatives[j] = derivatives[j] / units[j];
        }
        (value, derivatives)
    }

    /// The row of the Jacobian of a pixel: ∂α·f + α·∂f + ∂β (the bracket of eq. 9).
    pub fn jacobian(&self, x: usize, y: usize) -> [R; 3] {
        let (value, mut row) = self.profile(x, y);
        for j in 0..3 {
            let own = self.amplitude_by[j].mul_add(value, self.background_by[j]);
            row[j] = self.amplitude.mul_add(row[j], own);
        }
        row
    }

    /// The Levenberg–Marquardt step: (JᵀJ + λ·diag JᵀJ)·δ = −Jᵀ(h − g) (eq. 12 and 14).
    pub fn step(&self, lambda: R) -> [R; 3] {
        damped_step(&self.hessian, &self.gradient, lambda)
    }
}

/// In what the derivatives of the search are, in pixels.
fn units<R: Real>(spot: Circle<R>) -> [R; 3] {
    <Circular as Coordinates<3>>::UNITS.map(|unit| R::splat(unit) * spot.sigma)
}
