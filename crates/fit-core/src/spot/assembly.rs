//! From sums to amplitudes, χ² and the normal equations: eq. 6 to 9 in closed form.
//!
//! With the amplitudes of eq. 6 inserted, the model's derivative by a shape parameter (the bracket
//! of eq. 9) splits into two parts that are orthogonal to each other,
//!
//! ```text
//! J_j = α·P⊥∂_j f  +  e_j·(f − F/N)/V,     V = 𝐅 − F²/N,     e_j = Σ (g − h) ∂_j f,
//! ```
//!
//! where P⊥ projects the constant and f out of ∂_j f. The second part is how α and β
//! respond (eq. 8) to a change of the shape. The residual h − g is orthogonal to the constant, to f,
//! and to P⊥∂_j f up to e_j, hence
//!
//! ```text
//! (JᵀJ)_jk = α²·C_jk + e_j e_k / V,        (Jᵀ(h−g))_j = −α·e_j,
//! ```
//!
//! with C_jk the scalar product of P⊥∂_j f and P⊥∂_k f, all of it from the few sums of
//! [`Sums`]. Where β is held, the constant is not a parameter and drops out: F²/N → 0.

use super::conditioning::Conditioning;
use super::limits::Background;
use super::sums::Sums;
use crate::arithmetic::{Mask, Real};
use crate::search::solve::Symmetric;
use crate::search::{Evaluation, Normal};

/// Below this V the window sees nothing of the spot: a pixel has less than 10⁻¹⁵ of its amplitude, and with less
/// still α² would leave the range of single precision.
const FAINT: f64 = 1e-30;

/// χ² from sums is known to this many rounding units of the sums that cancel in it.
const RESOLVED: f64 = 32.0;
/// A gradient of fewer rounding units than this is that of a minimum.
const STALLED: f64 = 8.0;
/// [`STALLED`]² by [`RESOLVED`]: times ε² and a resolution, that of the square of a gradient.
pub(super) const STALLED_BY_RESOLVED: f64 = STALLED * STALLED / RESOLVED;

/// α, β and their derivatives by the parameters in relative units: eq. 6 and 8.
#[derive(Clone, Copy, Debug)]
pub struct Amplitudes<R, const P: usize> {
    /// α.
    pub alpha: R,
    /// β.
    pub beta: R,
    /// ∂α/∂pⱼ.
    pub d_alpha: [R; P],
    /// ∂β/∂pⱼ.
    pub d_beta: [R; P],
}

/// The projection that eq. 6 amounts to: with the constant (β free) or without it (β held).
struct Projection<R: Real> {
    /// What is subtracted from the data: their mean, or the held background.
    level: R,
    /// 1/N where the constant is projected out, else 0.
    inverse_n: R,
    /// 1/V, or 0 where f is too flat to tell its amplitude from the background.
    inverse_variance: R,
    /// 𝐆 − F·G/N (or 𝐆 − F·level).
    covariance: R,
    /// Whether f can be told from the background, and from nothing.
    resolved: R::Mask,
}

impl<R: Real> Projection<R> {
    #[inline(always)]
    fn new<const P: usize>(sums: &Sums<R, P>, level: R, inverse_n: R) -> Self {
        let variance = (sums.f * inverse_n).neg_mul_add(sums.f, sums.ff);
        let covariance = sums.f.neg_mul_add(level, sums.fg);
        let resolved = (R::splat(16.0 * R::EPSILON) * sums.ff).max(R::splat(FAINT)).lt(variance);
        Self {
            level,
            inverse_n,
            inverse_variance: R::select(resolved, variance.reciprocal(), R::splat(0.0)),
            covariance,
            resolved,
        }
    }

    #[inline(always)]
    fn free<const P: usize>(sums: &Sums<R, P>, data: &Conditioning<R>) -> Self {
        Self::new(sums, data.mean, data.inverse_n)
    }

    #[inline(always)]
    fn alpha(&self) -> R {
        self.covariance * self.inverse_variance
    }

    #[inline(always)]
    fn beta<const P: usize>(&self, sums: &Sums<R, P>) -> R {
        (sums.f * self.inverse_n).neg_mul_add(self.alpha(), self.level)
    }

    /// β as the option asks: eq. 6, or held at `data.dark` where eq. 6 would go below it.
    #[inline(always)]
    fn choose<const P: usize>(
        sums: &Sums<R, P>,
        data: &Conditioning<R>,
        background: Background,
    ) -> Self {
        let free = Self::free(sums, data);
        match background {
            Background::Free | Background::Plane => free,
            Background::NonNegative => {
                let held = free.beta(sums).lt(data.dark);
                if !held.any() {
                    return free;
                }
                let zero = R::splat(0.0);
                Self::new(
                    sums,
                    R::select(held, data.dark, free.level),
                    R::select(held, zero, free.inverse_n),
                )
            }
        }
    }

    /// Σf∂ⱼf with the constant projected out: the covariance of f and ∂ⱼf.
    #[inline(always)]
    fn f_df<const P: usize>(&self, sums: &Sums<R, P>, j: usize) -> R {
        (sums.f * self.inverse_n).neg_mul_add(sums.df[j], sums.f_df[j])
    }

    /// e_j = Σ(g − h)∂ⱼf.
    #[inline(always)]
    fn answer<const P: usize>(&self, sums: &Sums<R, P>, f_df: R, j: usize) -> R {
        let around = self.level.neg_mul_add(sums.df[j], sums.g_df[j]);
        self.alpha().neg_mul_add(f_df, around)
    }
}

/// Eq. 6 to 9: amplitudes, χ², JᵀJ and Jᵀ(h − g) from the sums over a window.
#[inline(always)]
pub fn assemble<R: Real, const P: usize>(
    sums: &Sums<R, P>,
    data: &Conditioning<R>,
    background: Background,
) -> Evaluation<R, P, 2> {
    assemble_with(sums, &NoSecond::<false>, data, background)
}

/// Second derivatives of a model, if there are any.
pub trait Remainder<R: Real, const P: usize> {
    /// Whether there are.
    const SOME: bool;
    /// Whether the derivatives of α and β are wanted.
    const LINEAR: bool = Self::SOME;
    /// Σ(g − αf − β)·∂ⱼₖf.
    fn of_residual(&self, alpha: R, beta: R) -> Symmetric<R, P>;
}

/// No second derivatives, but the derivatives of α and β if `LINEAR`.
#[derive(Clone, Copy, Debug)]
pub struct NoSecond<const LINEAR: bool>;

impl<R: Real, const P: usize, const LINEAR: bool> Remainder<R, P> for NoSecond<LINEAR> {
    const SOME: bool = false;
    const LINEAR: bool = LINEAR;
    #[inline(always)]
    fn of_residual(&self, _: R, _: R) -> Symmetric<R, P> {
        Symmetric::zero()
    }
}

/// [`assemble`], and with second derivatives also the exact Hessian of χ²/2 after elimination of α and β: with
/// m_j = Σ(f − f̄)∂ⱼf,
///
/// ```text
/// H_jk = (JᵀJ)_jk + α(m_j e_k + m_k e_j)/V − 2e_j e_k/V − αΣ(g − h)∂ⱼₖf.
/// ```
///
/// Of L linear parameters α and β come first; the others are left to the caller.
#[inline(always)]
pub fn assemble_with<R: Real, N: Remainder<R, P>, const P: usize, const L: usize>(
    sums: &Sums<R, P>,
    second: &N,
    data: &Conditioning<R>,
    background: Background,
) -> Evaluation<R, P, L> {
    let fit = Projection::choose(sums, data, background);
    let alpha = fit.alpha();
    let alpha2 = alpha * alpha;
    let zero = R::splat(0.0);
    let (mut f_df, mut answer, mut gradient) = ([zero; P], [zero; P], [zero; P]);
    for j in 0..P {
        f_df[j] = fit.f_df(sums, j);
        answer[j] = fit.answer(sums, f_df[j], j);
        gradient[j] = -(alpha * answer[j]);
    }
    let mut hessian = Symmetric::zero();
    for j in 0..P {
        for k in 0..P {
            if k >= j {
                let projected =
                    (sums.df[j] * fit.inverse_n).neg_mul_add(sums.df[k], sums.df_df.0[j][k]);
                let projected = (f_df[j] * fit.inverse_variance).neg_mul_add(f_df[k], projected);
                let turned = answer[j] * fit.inverse_variance * answer[k];
                hessian.0[j][k] = alpha2.mul_add(projected, turned);
            }
        }
    }
    let beta = fit.beta(sums);
    let mut newton = Symmetric::zero();
    let (mut linear, mut linear_by) = ([zero; L], [[zero; P]; L]);
    (linear[0], linear[1]) = (alpha, beta);
    if N::LINEAR {
        for j in 0..P {
            // ∂ⱼα and ∂ⱼβ (eq. 8).
            let d_alpha = alpha.neg_mul_add(f_df[j], answer[j]) * fit.inverse_variance;
            let turned = sums.f.mul_add(d_alpha, alpha * sums.df[j]);
            linear_by[0][j] = d_alpha;
            linear_by[1][j] = -(turned * fit.inverse_n);
        }
    }
    if N::SOME {
        let remainder = second.of_residual(alpha, beta);
        for j in 0..P {
            for k in 0..P {
                if k >= j {
                    // α(m_j e_k + m_k e_j)/V − 2e_j e_k/V = −(e_j ∂ₖα + e_k ∂ⱼα)
                    let of_alpha = answer[j].mul_add(linear_by[0][k], answer[k] * linear_by[0][j]);
                    let bent = alpha.mul_add(remainder.0[j][k], of_alpha);
                    newton.0[j][k] = hessian.0[j][k] - bent;
                }
            }
        }
    }
    let above = fit.level - data.mean;
    let spread = data.spread + data.n * above * above;
    // What cancels in χ², and with Σ(∂ⱼf)² in e_j: the data and the profile, before anything is projected out.
    let size = alpha2.mul_add(sums.ff, spread);
    let unit = R::splat((STALLED * R::EPSILON) * (STALLED * R::EPSILON)) * size;
    let mut flat = [R::Mask::splat(false); P];
    for j in 0..P {
        flat[j] = (answer[j] * answer[j]).le(unit * sums.df_df.0[j][j]);
    }
    Evaluation {
        normal: Normal {
            cost: alpha.neg_mul_add(fit.covariance, spread).max(zero),
            gradient,
            hessian,
            linear,
        },
        resolution: R::splat(RESOLVED * R::EPSILON) * size,
        newton,
        linear_by,
        flat,
        resolved: fit.resolved,
    }
}

/// Eq. 6 and 8 by themselves.
///
/// The search does not need the derivatives of the amplitudes, since [`assemble`] includes them;
/// they are here for callers who want the Jacobian of single pixels:
/// `J_j = ∂ⱼα·f + α·∂ⱼf + ∂ⱼβ` (the bracket of eq. 9).
pub fn amplitudes<R: Real, const P: usize>(
    sums: &Sums<R, P>,
    data: &Conditioning<R>,
    background: Background,
) -> Amplitudes<R, P> {
    let found = assemble_with(sums, &NoSecond::<true>, data, background);
    let ([alpha, beta], [d_alpha, d_beta]) = (found.normal.linear, found.linear_by);
    Amplitudes { alpha, beta, d_alpha, d_beta }
}
