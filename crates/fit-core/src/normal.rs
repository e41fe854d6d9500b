//! From sums to amplitudes, χ² and the normal equations: eq. 6 to 9 in closed form.
//!
//! With the amplitudes of eq. 6 inserted, the model's derivative by a shape parameter (the bracket
//! of eq. 9) splits into two parts that are orthogonal to each other,
//!
//! ```text
//! J_j = α·P⊥∂_j f  +  e_j·(f − F/N)/V,     V = 𝐅 − F²/N,     e_j = Σ (g − h) ∂_j f,
//! ```
//!
//! where P⊥ removes from ∂_j f what a constant and f itself explain. The second part is how α and β
//! answer (eq. 8) to a change of the shape. The residual h − g is orthogonal to the constant, to f,
//! and to P⊥∂_j f up to e_j, hence
//!
//! ```text
//! (JᵀJ)_jk = α²·C_jk + e_j e_k / V,        (Jᵀ(h−g))_j = −α·e_j,
//! ```
//!
//! with C_jk the scalar product of P⊥∂_j f and P⊥∂_k f, all of it from the few sums of
//! [`Sums`]. Where β is held, the constant is not a parameter and drops out: F²/N → 0.

use crate::condition::Conditioning;
use crate::options::Background;
use crate::real::{Mask, Real};
use crate::sums::Sums;

/// The order of the six distinct elements of a symmetric 3×3 matrix: (row, column).
pub const PAIRS: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

/// χ² from sums is worth reporting where it is more than this many rounding units of Σ(g − mean)², that
/// is, good to about 10⁻⁴; below, it is to be summed from the residuals.
pub const CANCELS: f64 = 4e4;

/// What one visit to the pixels tells: amplitudes, error, and where to go next.
///
/// Derivatives are by x̄, ȳ and σ in their relative units (see [`crate::axis`]).
#[derive(Clone, Copy, Debug)]
pub struct Evaluation<R> {
    /// The amplitude α of eq. 6.
    pub alpha: R,
    /// The background β of eq. 6.
    pub beta: R,
    /// χ² = Σ(h − g)² (eq. 2), from sums.
    pub chi2: R,
    /// JᵀJ for jk = xx, xy, xσ, yy, yσ, σσ.
    pub jtj: [R; 6],
    /// Jᵀ(h − g): half the gradient of χ².
    pub jtr: [R; 3],
}

impl<R: Real> Evaluation<R> {
    /// `yes` in the lanes where `mask` is true, `no` in the others.
    #[inline(always)]
    pub fn select(mask: R::Mask, yes: &Self, no: &Self) -> Self {
        let mut chosen = *no;
        chosen.alpha = R::select(mask, yes.alpha, no.alpha);
        chosen.beta = R::select(mask, yes.beta, no.beta);
        chosen.chi2 = R::select(mask, yes.chi2, no.chi2);
        for i in 0..6 {
            chosen.jtj[i] = R::select(mask, yes.jtj[i], no.jtj[i]);
        }
        for j in 0..3 {
            chosen.jtr[j] = R::select(mask, yes.jtr[j], no.jtr[j]);
        }
        chosen
    }

    /// Whether the numbers that steer the search are finite: χ², the gradient and the diagonal of JᵀJ
    /// (which bounds the rest of it).
    #[inline(always)]
    pub fn is_finite(&self) -> R::Mask {
        // Infinities and NaNs survive a sum.
        let [xx, .., ss] = self.jtj;
        let [x, y, s] = self.jtr;
        ((self.chi2 + x + y) + (s + xx + ss) + self.jtj[3]).is_finite()
    }
}

/// α, β and their derivatives by x̄, ȳ and σ in relative units: eq. 6 and 8.
#[derive(Clone, Copy, Debug)]
pub struct Amplitudes<R> {
    /// α.
    pub alpha: R,
    /// β.
    pub beta: R,
    /// ∂α/∂pⱼ.
    pub d_alpha: [R; 3],
    /// ∂β/∂pⱼ.
    pub d_beta: [R; 3],
}

/// The projection that eq. 6 amounts to: with the constant (β free) or without it (β held).
struct Projection<R> {
    /// What is subtracted from the data: their mean, or the held background.
    level: R,
    /// 1/N where the constant is projected out, else 0.
    inverse_n: R,
    /// 1/V, or 0 where f is too flat to tell its amplitude from the background.
    inverse_variance: R,
    /// 𝐆 − F·G/N (or 𝐆 − F·level).
    covariance: R,
}

impl<R: Real> Projection<R> {
    #[inline(always)]
    fn new(sums: &Sums<R>, level: R, inverse_n: R) -> Self {
        let variance = (sums.f * inverse_n).neg_mul_add(sums.f, sums.ff);
        let covariance = sums.f.neg_mul_add(level, sums.fg);
        let resolved = (R::splat(16.0 * R::EPSILON) * sums.ff).lt(variance);
        let inverse = R::splat(1.0) / R::select(resolved, variance, R::splat(1.0));
        Self {
            level,
            inverse_n,
            inverse_variance: R::select(resolved, inverse, R::splat(0.0)),
            covariance,
        }
    }

    #[inline(always)]
    fn free(sums: &Sums<R>, data: &Conditioning<R>) -> Self {
        Self::new(sums, data.mean, data.inverse_n)
    }

    #[inline(always)]
    fn alpha(&self) -> R {
        self.covariance * self.inverse_variance
    }

    #[inline(always)]
    fn beta(&self, sums: &Sums<R>) -> R {
        (sums.f * self.inverse_n).neg_mul_add(self.alpha(), self.level)
    }

    /// β as the option asks: eq. 6, or held at `data.zero` where eq. 6 would go below it.
    #[inline(always)]
    fn choose(sums: &Sums<R>, data: &Conditioning<R>, background: Background) -> Self {
        let free = Self::free(sums, data);
        match background {
            Background::Free => free,
            Background::NonNegative => {
                let held = free.beta(sums).lt(data.zero);
                if !held.any() {
                    return free;
                }
                let zero = R::splat(0.0);
                Self::new(
                    sums,
                    R::select(held, data.zero, free.level),
                    R::select(held, zero, free.inverse_n),
                )
            }
        }
    }

    /// Σf∂ⱼf with the constant projected out: the covariance of f and ∂ⱼf.
    #[inline(always)]
    fn f_df(&self, sums: &Sums<R>, j: usize) -> R {
        (sums.f * self.inverse_n).neg_mul_add(sums.df[j], sums.f_df[j])
    }

    /// e_j = Σ(g − h)∂ⱼf.
    #[inline(always)]
    fn answer(&self, sums: &Sums<R>, f_df: R, j: usize) -> R {
        let around = self.level.neg_mul_add(sums.df[j], sums.g_df[j]);
        self.alpha().neg_mul_add(f_df, around)
    }
}

/// Eq. 6 to 9: amplitudes, χ², JᵀJ and Jᵀ(h − g) from the sums over a window.
#[inline(always)]
pub fn assemble<R: Real>(
    sums: &Sums<R>,
    data: &Conditioning<R>,
    background: Background,
) -> Evaluation<R> {
    let fit = Projection::choose(sums, data, background);
    let alpha = fit.alpha();
    let alpha2 = alpha * alpha;
    let zero = R::splat(0.0);
    let (mut f_df, mut answer, mut jtr) = ([zero; 3], [zero; 3], [zero; 3]);
    for j in 0..3 {
        f_df[j] = fit.f_df(sums, j);
        answer[j] = fit.answer(sums, f_df[j], j);
        jtr[j] = -(alpha * answer[j]);
    }
    let mut jtj = [zero; 6];
    for (i, (j, k)) in PAIRS.into_iter().enumerate() {
        let projected = (sums.df[j] * fit.inverse_n).neg_mul_add(sums.df[k], sums.df_df[i]);
        let projected = (f_df[j] * fit.inverse_variance).neg_mul_add(f_df[k], projected);
        jtj[i] = alpha2.mul_add(projected, answer[j] * fit.inverse_variance * answer[k]);
    }
    let above = fit.level - data.mean;
    let spread = data.spread + data.n * above * above;
    Evaluation {
        alpha,
        beta: fit.beta(sums),
        chi2: alpha.neg_mul_add(fit.covariance, spread).max(zero),
        jtj,
        jtr,
    }
}

/// Eq. 6 and 8 by themselves.
///
/// The search does not need the derivatives of the amplitudes, [`assemble`] has them worked in;
/// they are here for those who want the Jacobian of single pixels:
/// `J_j = ∂ⱼα·f + α·∂ⱼf + ∂ⱼβ` (the bracket of eq. 9).
pub fn amplitudes<R: Real>(
    sums: &Sums<R>,
    data: &Conditioning<R>,
    background: Background,
) -> Amplitudes<R> {
    let fit = Projection::choose(sums, data, background);
    let alpha = fit.alpha();
    let f_df: [R; 3] = core::array::from_fn(|j| fit.f_df(sums, j));
    let d_alpha = core::array::from_fn(|j| {
        (fit.answer(sums, f_df[j], j) - alpha * f_df[j]) * fit.inverse_variance
    });
    let d_beta =
        core::array::from_fn(|j| -(sums.f * d_alpha[j] + alpha * sums.df[j]) * fit.inverse_n);
    Amplitudes { alpha, beta: fit.beta(sums), d_alpha, d_beta }
}
