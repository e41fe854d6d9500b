//! Functions of numbers in double precision: power series where few terms are enough, with relative errors of a few 10⁻¹⁶, and `libm` for
//! what is rare.
//!
//! The constants of the reductions to small arguments are those of Cody and Waite (*Software Manual for the Elementary Functions*, 1980).

use crate::functions::{Elementary, elsewhere, polynomial};
use fit_core::{Mask, Real};

/// 1/n!, 1/(n − `step`)!, … down to 1/`last`!, with the signs of a series that alternates if `alternates`.
const fn series<const N: usize>(last: u32, step: u32, alternates: bool) -> [f64; N] {
    let mut coefficients = [0.0; N];
    let mut at = 0;
    while at < N {
        // The number from the end.
        let n = (N - 1 - at) as u32;
        let (mut factorial, mut factor) = (1.0, 2);
        while factor <= last + n * step {
            factorial *= factor as f64;
            factor += 1;
        }
        let negative = alternates && n.is_multiple_of(2);
        coefficients[at] = if negative { -1.0 / factorial } else { 1.0 / factorial };
        at += 1;
    }
    coefficients
}

/// (eʳ − 1 − r)/r² for |r| ≤ ½ ln 2: the next term is below 10⁻¹⁷.
const EXP: [f64; 12] = series(2, 1, false);
/// ln 2 in two parts; the first has so few digits that its products with whole numbers below 2¹¹ are exact.
const LN_2: [f64; 2] = [0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10];

/// The nearest whole number of a product up to 2⁵¹, which is rounded once.
#[inline(always)]
fn nearest_product<R: Real>(x: R, factor: R) -> R {
    // 1.5·2⁵² leaves no room for a fraction.
    let integer = R::splat(6_755_399_441_055_744.0);
    x.mul_add(factor, integer) - integer
}

/// eˣ.
#[inline(always)]
pub fn exp<R: Elementary>(x: R) -> R {
    // Beyond these the result is 0 or infinite; NaN stays, for it is the second number.
    let x = R::splat(710.0).min(R::splat(-746.0).max(x));
    let n = nearest_product(x, R::splat(core::f64::consts::LOG2_E));
    let r = n.neg_mul_add(R::splat(LN_2[1]), n.neg_mul_add(R::splat(LN_2[0]), x));
    let value = polynomial(r, &EXP).mul_add(r * r, r) + R::splat(1.0);
    value.scaled(n)
}

/// 2^(−x²).
#[inline(always)]
pub fn exp2_of_minus_square<R: Elementary>(x: R) -> R {
    exp(x * x * R::splat(-core::f64::consts::LN_2))
}

/// eˣ − 1, exact near 0.
#[inline(always)]
pub fn exp_m1<R: Elementary>(x: R) -> R {
    let near = x.abs().lt(R::splat(0.34));
    R::select(near, polynomial(x, &EXP).mul_add(x * x, x), exp(x) - R::splat(1.0))
}

/// 2/(2k + 1) for k from 10 down to 1: the series of ln((1 + s)/(1 − s))/s − 2 by s², whose next term is below 10⁻¹⁷.
const LN: [f64; 10] = {
    let mut coefficients = [0.0; 10];
    let mut at = 0;
    while at < 10 {
        coefficients[at] = 2.0 / (2 * (10 - at) + 1) as f64;
        at += 1;
    }
    coefficients
};

/// The natural logarithm; NaN below 0.
#[inline(always)]
pub fn ln<R: Elementary>(x: R) -> R {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    // Numbers whose reciprocal, or which themselves, are not normal are made so.
    let (small, large) = (x.lt(R::splat(1e-290)), R::splat(1e290).lt(x));
    let shift = R::select(small, R::splat(120.0), R::select(large, R::splat(-120.0), zero));
    let own = x.scaled(shift);
    let mantissa = own * own.normalizer();
    let above = R::splat(core::f64::consts::SQRT_2).lt(mantissa);
    let exponent = own.exponent() - shift;
    let exponent = R::select(above, exponent + one, exponent);
    let f = R::select(above, mantissa * R::splat(0.5), mantissa) - one;
    let s = f / (f + R::splat(2.0));
    let square = s * s;
    let rest = polynomial(square, &LN) * square;
    let half = f * f * R::splat(0.5);
    let low = exponent.mul_add(R::splat(LN_2[1]), s * (half + rest));
    let value = exponent.mul_add(R::splat(LN_2[0]), f - (half - low));
    let value = R::select(x.le(zero), R::splat(f64::NEG_INFINITY), value);
    let value = R::select(zero.le(x), value, R::splat(f64::NAN));
    R::select(R::splat(f64::MAX).lt(x), x, value)
}

/// The natural logarithm, but 0 at 0.
#[inline(always)]
pub fn ln_or_zero<R: Elementary>(x: R) -> R {
    let zero = R::splat(0.0);
    R::select(x.le(zero) & zero.le(x), zero, ln(x))
}

/// ln(1 + x), exact near 0.
#[inline(always)]
pub fn ln_1p<R: Elementary>(x: R) -> R {
    // What 1 + x loses of x is put right by the slope of the logarithm.
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let sum = one + x;
    let seen = sum - one;
    let all = ln(sum);
    let same = seen.abs().le(zero);
    let value = all * (x / R::select(same, one, seen));
    R::select(same, x, R::select(sum.is_finite() & zero.lt(sum), value, all))
}

/// (sin r − r)/r³ as a polynomial in r² for |r| ≤ π/4.
const SIN: [f64; 8] = series(3, 2, true);
/// (cos r − 1 + r²/2)/r⁴.
const COS: [f64; 7] = {
    let mut coefficients = series(4, 2, true);
    let mut at = 0;
    while at < 7 {
        coefficients[at] = -coefficients[at];
        at += 1;
    }
    coefficients
};
/// π/2 in four parts; the first three have so few digits that their products with n are exact.
const HALF_PI: [f64; 4] = [
    1.570_796_326_734_125_6,
    6.077_100_506_303_966e-11,
    2.022_266_248_711_166_5e-21,
    8.478_427_660_368_899e-32,
];
/// Beyond this n has too many digits.
const MOST_TURNED: f64 = 1e6;

/// Sine and cosine of |x| ≤ [`MOST_TURNED`].
#[inline(always)]
fn sin_cos<R: Elementary>(x: R) -> [R; 2] {
    let n = (x * R::splat(core::f64::consts::FRAC_2_PI)).nearest();
    let mut r = x;
    for part in HALF_PI {
        r = n.neg_mul_add(R::splat(part), r);
    }
    let square = r * r;
    let sine = (polynomial(square, &SIN) * square).mul_add(r, r);
    let half = square.neg_mul_add(R::splat(0.5), R::splat(1.0));
    let cosine = polynomial(square, &COS).mul_add(square * square, half);
    // n modulo 4, from −2 to 2.
    let quarter = (n * R::splat(0.25)).nearest().neg_mul_add(R::splat(4.0), n);
    let odd = R::splat(0.5).lt(quarter.abs()) & quarter.abs().lt(R::splat(1.5));
    let (s, c) = (R::select(odd, cosine, sine), R::select(odd, sine, cosine));
    // The sine is negative for quarters −1 and ±2, the cosine for 1 and ±2.
    let far = R::splat(1.5).lt(quarter.abs());
    let below = (quarter.lt(R::splat(-0.5)) & odd) | far;
    let above = (R::splat(0.5).lt(quarter) & odd) | far;
    [R::select(below, -s, s), R::select(above, -c, c)]
}

/// The lanes that do not turn too often for [`sin_cos`], and x with 0 in the others.
#[inline(always)]
fn turned<R: Elementary>(x: R) -> (R::Mask, R) {
    let common = x.abs().le(R::splat(MOST_TURNED));
    (common, R::select(common, x, R::splat(0.0)))
}

/// The sine of radians.
#[inline(always)]
pub fn sin<R: Elementary>(x: R) -> R {
    let (common, near) = turned(x);
    elsewhere(libm::sin, common, sin_cos(near)[0], x)
}

/// The cosine of radians.
#[inline(always)]
pub fn cos<R: Elementary>(x: R) -> R {
    let (common, near) = turned(x);
    elsewhere(libm::cos, common, sin_cos(near)[1], x)
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh<R: Elementary>(x: R) -> R {
    let size = x.abs();
    // Beyond 20 it is 1.
    let twice = exp_m1(R::splat(2.0) * R::select(R::splat(20.0).lt(size), R::splat(20.0), size));
    let value = twice / (twice + R::splat(2.0));
    R::select(x.lt(R::splat(0.0)), -value, value)
}

/// 1/(1 + e⁻ˣ), which does not overflow.
#[inline(always)]
pub fn logistic<R: Elementary>(x: R) -> R {
    (exp(-x) + R::splat(1.0)).reciprocal()
}

/// (sinh x − x)/x³ as a polynomial in x² for |x| ≤ 1.
const SINH: [f64; 8] = series(3, 2, false);

/// The hyperbolic sine.
#[inline(always)]
pub fn sinh<R: Elementary>(x: R) -> R {
    let square = x * x;
    let near = (polynomial(square, &SINH) * square).mul_add(x, x);
    // Half of it twice: at its ends the whole is infinite too soon.
    let root = exp(x.abs() * R::splat(0.5));
    let far = (root * R::splat(0.5)) * root - (R::splat(0.5) / root) / root;
    let far = R::select(x.lt(R::splat(0.0)), -far, far);
    R::select(x.abs().lt(R::splat(1.0)), near, far)
}

/// The hyperbolic cosine.
#[inline(always)]
pub fn cosh<R: Elementary>(x: R) -> R {
    let root = exp(x.abs() * R::splat(0.5));
    (root * R::splat(0.5)) * root + (R::splat(0.5) / root) / root
}

/// Powers of numbers > 0 that are neither tiny nor huge; the logarithm's rounding counts as often as the exponent says.
#[inline(always)]
pub fn power<R: Elementary>(x: R, y: R) -> R {
    let (least, most) = (R::splat(1e-290), R::splat(1e290));
    let common = least.lt(x) & x.lt(most);
    let logarithm = ln(R::select(common, x, R::splat(1.0))) * y;
    let common = common & logarithm.abs().lt(R::splat(32.0));
    let value = exp(R::select(common, logarithm, R::splat(0.0)));
    if common.all() {
        return value;
    }
    R::select(common, value, x.both(y, libm::pow))
}
