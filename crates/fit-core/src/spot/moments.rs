//! The moments of a rotated spot, from which all of its sums follow.
//!
//! With w = k(column − x̄)/s_x, y = k(row − ȳ)/s_y (k of [`super::axis`]) and u = w + ry the profile is
//!
//! ```text
//! f = 2^(−(w² + y² + 2rwy)) = 2^(−u²)·2^(−(1 − r²)y²).
//! ```
//!
//! Along a row it is a Gaussian of u, whose centre moves from row to row; across the rows it is one of y. Its relative
//! derivatives by x̄, ȳ, s_x, s_y and r are ∂ⱼf = f·Eⱼ and ∂ⱼₖf = f·(EⱼEₖ + k²Eⱼₖ), with
//!
//! ```text
//! E₁ = u,   E₂ = (1 − r²)y + ru,   E₃ = uw,   E₄ = yE₂,   E₅ = −wy,
//! E₁₁ = E₂₂ = −1,          E₁₂ = −r,      E₁₃ = −(2w + ry),         E₂₄ = −(2y + rw),
//! E₁₄ = −ry,  E₂₃ = −rw,   E₃₄ = −rwy,    E₃₃ = −(3w² + 2rwy),      E₄₄ = −(3y² + 2rwy),
//! E₁₅ = y,    E₂₅ = w,     E₃₅ = E₄₅ = wy,   E₅₅ = 0,
//! ```
//!
//! which are polynomials in u and y. Sums over derivatives, with any weight, and over products of two derivatives are
//! therefore linear in the moments Σ(weight)·f·uⁱyʲ up to i + j = 4.

use super::assembly::Remainder;
use super::axis::WIDTH_UNIT;
use crate::arithmetic::Real;
use crate::search::solve::Symmetric;

/// Sums of uⁱ over (a part of) a row, i = 0 … 4, with some weight.
#[derive(Clone, Copy, Debug)]
pub struct RowMoments<R>(pub [R; 5]);

impl<R: Real> RowMoments<R> {
    /// Sums over no pixel.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([R::splat(0.0); 5])
    }

    /// Adds a pixel; `powers` are 1, u, u², u³ and u⁴ there. Powers above `ORDER` are left out.
    #[inline(always)]
    pub fn add<const ORDER: usize>(&mut self, weight: R, powers: &[R; 5]) {
        self.0[0] = self.0[0] + weight;
        for i in 1..5 {
            if i <= ORDER {
                self.0[i] = weight.mul_add(powers[i], self.0[i]);
            }
        }
    }
}

/// Sums of uⁱyʲ with some weight: element `[i][j]`, i + j ≤ 4.
#[derive(Clone, Copy, Debug)]
pub struct Moments<R>(pub [[R; 5]; 5]);

/// A number and its products with the first four powers of another.
#[inline(always)]
pub fn powers<R: Real>(number: R, of: R) -> [R; 5] {
    let mut powers = [number; 5];
    for i in 1..5 {
        powers[i] = powers[i - 1] * of;
    }
    powers
}

impl<R: Real> Moments<R> {
    /// Sums over no pixel.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([[R::splat(0.0); 5]; 5])
    }

    /// Adds (a part of) a row; `powers` are those of y there, times the row's factor of the profile. Moments above
    /// `ORDER` are left out.
    #[inline(always)]
    pub fn add_row<const ORDER: usize>(&mut self, row: &RowMoments<R>, powers: &[R; 5]) {
        for i in 0..5 {
            for j in 0..5 {
                if i + j <= ORDER {
                    self.0[i][j] = row.0[i].mul_add(powers[j], self.0[i][j]);
                }
            }
        }
    }

    /// Adds `weight`·`other`, without moments above `ORDER`.
    #[inline(always)]
    pub fn add<const ORDER: usize>(&mut self, weight: R, other: &Self) {
        for i in 0..5 {
            for j in 0..5 {
                if i + j <= ORDER {
                    self.0[i][j] = weight.mul_add(other.0[i][j], self.0[i][j]);
                }
            }
        }
    }

    /// The sum with the weight alone.
    #[inline(always)]
    pub fn value(&self) -> R {
        self.0[0][0]
    }

    /// The sums over ∂ⱼf.
    #[inline(always)]
    pub fn gradient(&self, r: R) -> [R; 5] {
        let m = &self.0;
        let rest = rest(r);
        [
            m[1][0],
            rest.mul_add(m[0][1], r * m[1][0]),
            r.neg_mul_add(m[1][1], m[2][0]),
            rest.mul_add(m[0][2], r * m[1][1]),
            r.mul_add(m[0][2], -m[1][1]),
        ]
    }

    /// The sums over EⱼEₖf.
    #[inline(always)]
    pub fn products(&self, r: R) -> Symmetric<R, 5> {
        let m = &self.0;
        let rest = rest(r);
        let turn = r.neg_mul_add(r, rest);
        // With one more factor uⁱyʲ each: E₁E₂, E₁w, E₂w, E₂E₂ and ww.
        let mut sums = [[[R::splat(0.0); 3]; 3]; 5];
        for i in 0..3 {
            for j in 0..3 {
                if i + j <= 2 {
                    let [uu, uy, yy] = [m[i + 2][j], m[i + 1][j + 1], m[i][j + 2]];
                    sums[0][i][j] = rest.mul_add(uy, r * uu);
                    sums[1][i][j] = r.neg_mul_add(uy, uu);
                    let low = rest.neg_mul_add(yy, uu);
                    sums[2][i][j] = turn.mul_add(uy, r * low);
                    let low = r.mul_add(uu, (rest + rest) * uy);
                    sums[3][i][j] = (rest * rest).mul_add(yy, r * low);
                    let low = r.mul_add(yy, -(uy + uy));
                    sums[4][i][j] = r.mul_add(low, uu);
                }
            }
        }
        let [both, first, second, twice, wide] = sums;
        let mut products = Symmetric::zero();
        products.0[0] = [m[2][0], both[0][0], first[1][0], both[0][1], -first[0][1]];
        products.0[1][1] = twice[0][0];
        products.0[1][2] = second[1][0];
        products.0[1][3] = twice[0][1];
        products.0[1][4] = -second[0][1];
        products.0[2][2] = wide[2][0];
        products.0[2][3] = second[1][1];
        products.0[2][4] = -wide[1][1];
        products.0[3][3] = twice[0][2];
        products.0[3][4] = -second[0][2];
        products.0[4][4] = wide[0][2];
        products
    }

    /// The sums over ∂ⱼₖf.
    #[inline(always)]
    pub fn second(&self, r: R) -> Symmetric<R, 5> {
        let m = &self.0;
        let two = R::splat(2.0);
        let (one, y, yy) = (m[0][0], m[0][1], m[0][2]);
        let w = r.neg_mul_add(y, m[1][0]);
        let wy = r.neg_mul_add(yy, m[1][1]);
        // (u − ry)²
        let ww = r.mul_add(r.mul_add(yy, -(m[1][1] + m[1][1])), m[2][0]);
        let three = R::splat(3.0);
        let mut bent = Symmetric::zero();
        bent.0[0] = [-one, -(r * one), -two.mul_add(w, r * y), -(r * y), y];
        bent.0[1][1] = -one;
        bent.0[1][2] = -(r * w);
        bent.0[1][3] = -two.mul_add(y, r * w);
        bent.0[1][4] = w;
        bent.0[2][2] = -three.mul_add(ww, two * r * wy);
        bent.0[2][3] = -(r * wy);
        bent.0[2][4] = wy;
        bent.0[3][3] = -three.mul_add(yy, two * r * wy);
        bent.0[3][4] = wy;
        let mut second = self.products(r);
        for j in 0..5 {
            for k in 0..5 {
                if k >= j {
                    second.0[j][k] = R::splat(WIDTH_UNIT).mul_add(bent.0[j][k], second.0[j][k]);
                }
            }
        }
        second
    }
}

/// 1 − r².
#[inline(always)]
pub(crate) fn rest<R: Real>(r: R) -> R {
    let one = R::splat(1.0);
    (one - r) * (one + r)
}

/// ∂ⱼₖf summed with the weights 1, f and g.
#[derive(Clone, Copy, Debug)]
pub struct SecondMoments<R> {
    /// r.
    pub r: R,
    /// With the weight 1.
    pub level: Moments<R>,
    /// With the weight f.
    pub square: Moments<R>,
    /// With the weight g.
    pub data: Moments<R>,
}

impl<R: Real> Remainder<R, 5> for SecondMoments<R> {
    const SOME: bool = true;
    #[inline(always)]
    fn of_residual(&self, alpha: R, beta: R) -> Symmetric<R, 5> {
        let mut moments = self.data;
        moments.add::<4>(-alpha, &self.square);
        moments.add::<4>(-beta, &self.level);
        moments.second(self.r)
    }
}
