//! A plane under the spot: a background β + s_x·x̃ + s_y·ỹ, whose slopes are eliminated as α and β are.
//!
//! x̃ = x − x̄_w and ỹ = y − ȳ_w − c·x̃ are orthogonal to the constant and to each other (with the weights, if there are any;
//! over a whole window without weights x̄_w and ȳ_w are its middle, and c = 0). What projects the plane out of the products
//! of eq. 5 to 9 therefore subtracts one more term of rank one for each slope:
//!
//! ```text
//! Σab → Σab − Σa·Σb/N − Σax̃·Σbx̃/Σx̃² − Σaỹ·Σbỹ/Σỹ².
//! ```
//!
//! It is taken out of the pixels once, before a search ([`Tilt::slopes`]). Then all of [`super::assembly`] holds as it is,
//! with sums from which it has been projected ([`assemble_tilted`]).

use super::assembly::{Remainder, STALLED_BY_RESOLVED, assemble_with};
use super::conditioning::Conditioning;
use super::limits::Background;
use super::sums::Sums;
use crate::arithmetic::Real;
use crate::search::solve::Symmetric;
use crate::search::{Evaluation, lane_state};
use crate::size::Size;

/// x̃ and ỹ of a window, and the slopes of its pixels.
#[derive(Clone, Copy, Debug)]
pub struct Tilt<R> {
    /// x̄_w and ȳ_w, the middle of the pixels.
    pub middle: [R; 2],
    /// c, the share of x̃ that is taken out of ỹ.
    pub shear: R,
    /// 1/Σx̃² and 1/Σỹ²; 0 where the pixels do not tell a slope.
    pub inverse: [R; 2],
    /// The slopes by x̃ and ỹ that have been taken out of the pixels.
    pub slopes: [R; 2],
}

lane_state!([R: Real] Tilt<R>: middle, shear, inverse, slopes);

impl<R: Real> Tilt<R> {
    /// That of nothing.
    #[inline(always)]
    pub fn none() -> Self {
        let zero = R::splat(0.0);
        Self { middle: [zero; 2], shear: zero, inverse: [zero; 2], slopes: [zero; 2] }
    }

    /// That of all pixels of a window, without weights, from which no slopes have been taken.
    #[inline(always)]
    pub fn of_window(size: Size) -> Self {
        let (w, h) = (size.width as f64, size.height as f64);
        let inverse = [12.0 / (w * h * (w * w - 1.0)), 12.0 / (w * h * (h * h - 1.0))];
        let middle = [0.5 * (w - 1.0), 0.5 * (h - 1.0)];
        Self { middle: middle.map(R::splat), inverse: inverse.map(R::splat), ..Self::none() }
    }

    /// A plane with slopes by x̃ and ỹ that has the value `level` in the middle: its value at (0, 0), and its slopes by x
    /// and y.
    #[inline(always)]
    pub fn plane(&self, level: R, [along, across]: [R; 2]) -> [R; 3] {
        let [x, y] = self.middle;
        let by_x = self.shear.neg_mul_add(across, along);
        [by_x.neg_mul_add(x, across.neg_mul_add(y, level)), by_x, across]
    }
}

/// The value at a place of a plane with this value at (0, 0) and these slopes.
#[inline(always)]
pub(crate) fn plane_at<R: Real>([level, by_x, by_y]: [R; 3], [x, y]: [R; 2]) -> R {
    by_x.mul_add(x, by_y.mul_add(y, level))
}

/// Σx̃f, Σx̃∂ⱼf and Σx̃∂ⱼₖf, and the same of ỹ.
#[derive(Clone, Copy, Debug)]
pub struct TiltedSums<R, const P: usize> {
    /// Σx̃f and Σỹf.
    pub f: [R; 2],
    /// Σx̃∂ⱼf and Σỹ∂ⱼf.
    pub df: [[R; P]; 2],
    /// Σx̃∂ⱼₖf and Σỹ∂ⱼₖf; anything where the second derivatives were not asked for.
    pub second: [Symmetric<R, P>; 2],
}

impl<R: Real, const P: usize> TiltedSums<R, P> {
    /// All zeros.
    #[inline(always)]
    pub fn zero() -> Self {
        let zero = R::splat(0.0);
        Self { f: [zero; 2], df: [[zero; P]; 2], second: [Symmetric::zero(); 2] }
    }

    /// From the same sums of x − x̄_w and y − ȳ_w.
    #[inline(always)]
    #[must_use]
    pub fn orthogonal(mut self, tilt: &Tilt<R>) -> Self {
        let c = tilt.shear;
        self.f[1] = c.neg_mul_add(self.f[0], self.f[1]);
        for j in 0..P {
            self.df[1][j] = c.neg_mul_add(self.df[0][j], self.df[1][j]);
            for k in 0..P {
                if k >= j {
                    let (first, second) = (self.second[0].0[j][k], self.second[1].0[j][k]);
                    self.second[1].0[j][k] = c.neg_mul_add(first, second);
                }
            }
        }
        self
    }
}

/// Second derivatives beside a residual from which the plane has been projected.
struct OnPlane<'a, R: Real, N, const P: usize> {
    second: &'a N,
    tilted: &'a TiltedSums<R, P>,
    /// Σx̃f/Σx̃² and Σỹf/Σỹ².
    shares: [R; 2],
}

impl<R: Real, N: Remainder<R, P>, const P: usize> Remainder<R, P> for OnPlane<'_, R, N, P> {
    const SOME: bool = N::SOME;
    #[inline(always)]
    fn of_residual(&self, alpha: R, beta: R) -> Symmetric<R, P> {
        let mut of = self.second.of_residual(alpha, beta);
        for i in 0..2 {
            let slope = alpha * self.shares[i];
            for j in 0..P {
                for k in 0..P {
                    if k >= j {
                        of.0[j][k] = slope.mul_add(self.tilted.second[i].0[j][k], of.0[j][k]);
                    }
                }
            }
        }
        of
    }
}

/// [`super::assembly::assemble_with`] for a spot on a plane: the linear parameters are α, β and the slopes by x̃ and ỹ, L = 4, and
/// the sums those of pixels from which the slopes have been taken.
#[inline(always)]
pub fn assemble_tilted<R: Real, N: Remainder<R, P>, const P: usize, const L: usize>(
    sums: &Sums<R, P>,
    tilted: &TiltedSums<R, P>,
    second: &N,
    data: &Conditioning<R>,
    tilt: &Tilt<R>,
) -> Evaluation<R, P, L> {
    let mut level = *sums;
    let mut shares = [R::splat(0.0); 2];
    for i in 0..2 {
        let (f, df) = (tilted.f[i], &tilted.df[i]);
        let share = f * tilt.inverse[i];
        shares[i] = share;
        level.ff = share.neg_mul_add(f, level.ff);
        for j in 0..P {
            level.f_df[j] = share.neg_mul_add(df[j], level.f_df[j]);
            let share = df[j] * tilt.inverse[i];
            for k in 0..P {
                if k >= j {
                    level.df_df.0[j][k] = share.neg_mul_add(df[k], level.df_df.0[j][k]);
                }
            }
        }
    }
    let second = OnPlane { second, tilted, shares };
    let mut found = assemble_with::<_, _, P, L>(&level, &second, data, Background::Free);
    let Evaluation { normal, linear_by, flat, resolution, .. } = &mut found;
    let alpha = normal.linear[0];
    for i in 0..2 {
        normal.linear[2 + i] = alpha.neg_mul_add(shares[i], tilt.slopes[i]);
        for j in 0..P {
            let by_shape = alpha * tilted.df[i][j];
            let by = linear_by[0][j].mul_add(tilted.f[i], by_shape);
            linear_by[2 + i][j] = -(by * tilt.inverse[i]);
        }
    }
    // What cancels in a gradient is more than the plane has left of Σ(∂ⱼf)².
    let unit = R::splat(STALLED_BY_RESOLVED * R::EPSILON) * *resolution * alpha * alpha;
    for j in 0..P {
        let gradient = normal.gradient[j];
        flat[j] = (gradient * gradient).le(unit * sums.df_df.0[j][j]);
    }
    found
}
