//! An elliptical Gaussian whose axes may have any direction.

use super::circular::limit_sigma;
use super::{Elliptical, Outlined};
use crate::arithmetic::Real;
use crate::search::Coordinates;
use crate::size::{Outline, Size};
use crate::spot::angle::{arctangent, sine_cosine};
use crate::spot::axis::{CENTRE_UNIT, WIDTH_UNIT};
use crate::spot::limits::Limits;
use crate::spot::moments::rest;

/// An elliptical Gaussian whose axes may have any direction: centre (x̄, ȳ), standard deviations σx and σy along its
/// axes, in pixels, and the angle from x to the axis of σx.
///
/// The search has s_x, s_y and r in place of σx, σy and the angle, with which the profile is
/// f = e^(−½(X² + Y² + 2rXY)), X = (x − x̄)/s_x and Y = (y − ȳ)/s_y: the widths along a row and along a column, and how
/// far the axes are turned. So nothing is undetermined at a circle, where the angle is. r stays within ±0.995.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Rotated;

/// The limit of |r|: one width is then at most 20 times the other.
const MOST_R: f64 = 0.995;
/// In one step 1 − |r| falls to this share at most.
const LEAST_SHARE: f64 = 1.0 / 3.0;
/// Widths of a start are brought into this range, which has that of the limits within.
const START_SIGMA: [f64; 2] = [1e-2, 1e7];
/// A number that is not zero, for dividing by.
const TINY: f64 = 1e-37;

impl Coordinates<5> for Rotated {
    /// 1/s_x, 1/s_y and 1/(1 − r²).
    type TypicalSizes<R: Real> = [R; 3];
    type Constants<R: Real> = [R; 0];

    const UNITS: [f64; 5] = [CENTRE_UNIT, CENTRE_UNIT, WIDTH_UNIT, WIDTH_UNIT, WIDTH_UNIT];

    #[inline(always)]
    fn typical_sizes<R: Real>(&self, _: &[R; 0], p: &[R; 5]) -> [R; 3] {
        [p[2].reciprocal(), p[3].reciprocal(), rest(p[4]).reciprocal()]
    }
    #[inline(always)]
    fn length<R: Real>(&self, _: &[R; 0], p: &[R; 5], j: usize) -> R {
        if j < 4 { p[2 + j % 2] } else { R::splat(1.0) }
    }
    #[inline(always)]
    fn inverse_length<R: Real>(typical_sizes: &[R; 3], j: usize) -> R {
        if j < 4 { typical_sizes[j % 2] } else { R::splat(1.0) }
    }
    #[inline(always)]
    fn typical_size<R: Real>(&self, _: &[R; 0], p: &[R; 5], j: usize) -> R {
        if j < 4 { p[2 + j % 2] } else { rest(p[4]) }
    }
    #[inline(always)]
    fn place<R: Real>(&self, p: &[R; 5], j: usize) -> R {
        if j < 4 { p[j].abs() } else { R::splat(0.0) }
    }
    #[inline(always)]
    fn confine<R: Real>(&self, _: &[R; 0], from: &[R; 5], [x, y, s_x, s_y, r]: [R; 5]) -> [R; 5] {
        let one = R::splat(1.0);
        let most = (one - from[4].abs()).neg_mul_add(R::splat(LEAST_SHARE), one);
        let r = r.max(-most).min(most);
        [x, y, limit_sigma(from[2], s_x), limit_sigma(from[3], s_y), r]
    }
    #[inline(always)]
    fn distance<R: Real>(typical_sizes: &[R; 3], moved: &[R; 5]) -> R {
        // The longer width goes with 1/√(1 − |r|).
        let mut distance = moved[4].abs() * typical_sizes[2];
        for j in 0..4 {
            distance = distance.max(moved[j].abs() * typical_sizes[j % 2]);
        }
        distance
    }
}

impl Outlined<5> for Rotated {
    const PLACES: [Option<usize>; 5] = [Some(0), Some(1), None, None, None];
    const KNOWN: [bool; 7] = [false; 7];

    fn limits(&self, size: Size, limits: &Limits) -> [(f64, f64); 5] {
        let [x, y, sigma_x, sigma_y] = Elliptical.limits(size, limits);
        [x, y, sigma_x, sigma_y, (-MOST_R, MOST_R)]
    }
    #[inline(always)]
    fn parameters<R: Real>(&self, start: Outline<R>) -> ([R; 5], [R; 0]) {
        let Outline { x, y, sigma_x, sigma_y, angle } = start;
        // A width or an angle that is no number makes a start that is none.
        let x = (sigma_x + sigma_y + angle).mul_add(R::splat(0.0), x);
        let [low, high] = START_SIGMA;
        let mut narrow = [sigma_x, sigma_y];
        for i in 0..2 {
            let inverse = narrow[i].max(R::splat(low)).min(R::splat(high)).reciprocal();
            narrow[i] = inverse * inverse;
        }
        let [of_x, of_y] = narrow;
        let (sine, cosine) = sine_cosine(angle);
        let a = (cosine * cosine).mul_add(of_x, sine * sine * of_y);
        let c = (sine * sine).mul_add(of_x, cosine * cosine * of_y);
        let (s_x, s_y) = (a.sqrt().reciprocal(), c.sqrt().reciprocal());
        ([x, y, s_x, s_y, (of_x - of_y) * sine * cosine * s_x * s_y], [])
    }
    #[inline(always)]
    fn outline<R: Real>(&self, _: &[R; 0], &[x, y, s_x, s_y, r]: &[R; 5]) -> Outline<R> {
        let zero = R::splat(0.0);
        let (inverse_x, inverse_y) = (s_x.reciprocal(), s_y.reciprocal());
        let (a, b, c) = (inverse_x * inverse_x, r * inverse_x * inverse_y, inverse_y * inverse_y);
        // 1/σ² are the eigenvalues of (a b; b c); the lesser without a difference that cancels.
        let difference = (a - c) * R::splat(0.5);
        let half = difference.mul_add(difference, b * b).sqrt();
        let large = (a + c).mul_add(R::splat(0.5), half);
        let wide = (large * s_x * s_x * s_y * s_y * rest(r).reciprocal()).sqrt();
        let narrow = large.sqrt().reciprocal();
        // tan(2·angle) = 2b/(a − c), hence tan|angle|.
        let tangent = b.abs() * (difference.abs() + half).max(R::splat(TINY)).reciprocal();
        let angle = arctangent(tangent);
        let diagonal = R::splat(core::f64::consts::FRAC_PI_4);
        let steep = diagonal.le(angle);
        let (b_low, a_low) = (b.lt(zero), difference.lt(zero));
        let negative = (b_low & !a_low) | (!b_low & a_low);
        let angle = R::select(negative, -angle, angle);
        let angle = R::select(steep, diagonal, angle);
        // Whether the axis nearer to x is the long one.
        let long = (steep & b_low) | (!steep & a_low);
        Outline {
            x,
            y,
            sigma_x: R::select(long, wide, narrow),
            sigma_y: R::select(long, narrow, wide),
            angle,
        }
    }
    #[inline(always)]
    fn outline_by<R: Real>(&self, constants: &[R; 0], p: &[R; 5]) -> [[R; 5]; 5] {
        let Outline { sigma_x, sigma_y, angle, .. } = self.outline(constants, p);
        let &[_, _, s_x, s_y, r] = p;
        let zero = R::splat(0.0);
        let (of_x, of_y) = (s_x.reciprocal(), s_y.reciprocal());
        let b = r * of_x * of_y;
        let two = R::splat(-2.0);
        // The matrix (a b; b c) by s_x, s_y and r.
        let matrix = [
            [two * of_x * of_x * of_x, -(b * of_x), zero],
            [zero, -(b * of_y), two * of_y * of_y * of_y],
            [zero, of_x * of_y, zero],
        ];
        let (sine, cosine) = sine_cosine(angle);
        let (mixed, even) = (sine * cosine, cosine * cosine - sine * sine);
        // Its eigenvalues are 1/σx² and 1/σy².
        let (narrow_x, narrow_y) = (sigma_x.reciprocal(), sigma_y.reciprocal());
        let apart = narrow_x.mul_add(narrow_x, -(narrow_y * narrow_y));
        let apart = R::select(apart.abs().lt(R::splat(TINY)), R::splat(TINY), apart);
        let mut by = [[zero; 5]; 5];
        (by[0][0], by[1][1]) = (R::splat(1.0), R::splat(1.0));
        for j in 0..3 {
            let [a, b, c] = matrix[j];
            let turned = R::splat(2.0) * mixed * b;
            let along_x = (cosine * cosine).mul_add(a, (sine * sine).mul_add(c, turned));
            let along_y = (sine * sine).mul_add(a, (cosine * cosine).mul_add(c, -turned));
            let half = R::splat(-0.5);
            by[2][2 + j] = half * sigma_x * sigma_x * sigma_x * along_x;
            by[3][2 + j] = half * sigma_y * sigma_y * sigma_y * along_y;
            by[4][2 + j] = even.mul_add(b, mixed * (c - a)) * apart.reciprocal();
        }
        by
    }
}
