//! Sine, cosine and arctangent, for packs of numbers too.

use crate::arithmetic::Real;

/// Sine and cosine of an angle, or minus both: what the direction of an axis needs, which has no sign.
///
/// They are good to some rounding units of the angle. Of one beyond 10⁶ radians little is left in single precision; of
/// one that is not finite they mean nothing.
#[inline(always)]
pub(crate) fn sine_cosine<R: Real>(angle: R) -> (R, R) {
    // Adding and subtracting this leaves the nearest integer.
    let integer = R::splat(1.5 / R::EPSILON);
    let turns = (angle * R::splat(core::f64::consts::FRAC_1_PI) + integer) - integer;
    let quarter = R::splat(core::f64::consts::FRAC_PI_4);
    let rest = turns.neg_mul_add(R::splat(core::f64::consts::PI), angle) * R::splat(0.5);
    let rest = rest.max(-quarter).min(quarter);
    let square = rest * rest;
    // Taylor's series, to 10⁻¹⁶ at π/4; then the double angle.
    let sine = polynomial(&SINE, square) * rest;
    let cosine = polynomial(&COSINE, square);
    let double = sine + sine;
    (double * cosine, double.neg_mul_add(sine, R::splat(1.0)))
}

/// The arctangent of a number from 0 to 1, to some rounding units.
#[inline(always)]
pub(crate) fn arctangent<R: Real>(t: R) -> R {
    // The tangent of half the angle, at most √2 − 1.
    let one = R::splat(1.0);
    let half = t * (one + t.mul_add(t, one).sqrt()).reciprocal();
    polynomial(&ARCTANGENT, half * half) * (half + half)
}

#[inline(always)]
fn polynomial<R: Real, const N: usize>(coefficients: &[f64; N], x: R) -> R {
    let mut sum = R::splat(coefficients[0]);
    for i in 1..N {
        sum = sum.mul_add(x, R::splat(coefficients[i]));
    }
    sum
}

/// sin(x)/x by x², highest power first.
const SINE: [f64; 8] = [
    -1.0 / 1_307_674_368_000.0,
    1.0 / 6_227_020_800.0,
    -1.0 / 39_916_800.0,
    1.0 / 362_880.0,
    -1.0 / 5040.0,
    1.0 / 120.0,
    -1.0 / 6.0,
    1.0,
];

/// cos(x) by x².
const COSINE: [f64; 9] = [
    1.0 / 20_922_789_888_000.0,
    -1.0 / 87_178_291_200.0,
    1.0 / 479_001_600.0,
    -1.0 / 3_628_800.0,
    1.0 / 40_320.0,
    -1.0 / 720.0,
    1.0 / 24.0,
    -0.5,
    1.0,
];

/// atan(x)/x by x², for x up to √2 − 1, to 4·10⁻¹⁷: it interpolates at Chebyshev's nodes.
const ARCTANGENT: [f64; 11] = [
    0.021_133_752_033_748_364,
    -0.043_479_198_390_465_37,
    0.056_883_034_036_332_5,
    -0.066_402_251_735_395,
    0.076_899_524_882_330_16,
    -0.090_907_730_032_408_28,
    0.111_111_061_773_752_27,
    -0.142_857_141_809_006_47,
    0.199_999_999_988_541_68,
    -0.333_333_333_333_284_35,
    1.0,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arithmetic::Number;

    fn check<R: Number>(tolerance: f64) {
        for i in -4000..=4000 {
            let angle = R::splat(f64::from(i) * 0.0031);
            let (sine, cosine) = sine_cosine(angle);
            let angle = angle.to_f64();
            let sign =
                if libm::sin(angle) * sine.to_f64() + libm::cos(angle) * cosine.to_f64() < 0.0 {
                    -1.0
                } else {
                    1.0
                };
            let bound = tolerance * (1.0 + angle.abs());
            assert!((sign * sine.to_f64() - libm::sin(angle)).abs() < bound, "sin {angle}");
            assert!((sign * cosine.to_f64() - libm::cos(angle)).abs() < bound, "cos {angle}");
        }
        for i in 0..=1000 {
            let t = R::splat(f64::from(i) / 1000.0);
            let expected = libm::atan(t.to_f64());
            assert!((arctangent(t).to_f64() - expected).abs() < tolerance, "atan {t}");
        }
        for wild in [1e9, -1e30, 3e38] {
            let (sine, cosine) = sine_cosine(R::splat(wild));
            assert!((sine * sine + cosine * cosine).to_f64() < 1.1, "{wild}");
        }
    }

    /// Proves that they agree with the library's functions, and that a wild angle gives no wild sine.
    #[test]
    fn they_are_those_of_the_library() {
        check::<f64>(4e-16);
        check::<f32>(3e-7);
    }
}
