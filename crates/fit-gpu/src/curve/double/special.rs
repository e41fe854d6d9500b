//! The error function and its kin, and those of Γ, as lines of PTX.
//!
//! The coefficients come from the functions of the processor: Chebyshev's series of what they leave.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};
use std::sync::LazyLock;

use fit_formula::Function;

use super::functions::{exp, ln, with_sign};
use super::text::{Real, Text};

/// Terms that are enough for double precision.
const TERMS: usize = 34;

/// Chebyshev's coefficients of a smooth function from −1 to 1.
fn chebyshev(of: impl Fn(f64) -> f64) -> [f64; TERMS] {
    let angle = |k: usize| PI * (k as f64 + 0.5) / TERMS as f64;
    let values: [f64; TERMS] = std::array::from_fn(|k| of(angle(k).cos()));
    std::array::from_fn(|j| {
        let terms = values.iter().enumerate().map(|(k, value)| value * (j as f64 * angle(k)).cos());
        let share = if j == 0 { 1.0 } else { 2.0 };
        terms.sum::<f64>() * share / TERMS as f64
    })
}

/// The sum of such a series, without what is below the last digit.
fn series(text: &mut Text, at: Real, coefficients: &[f64; TERMS]) -> Real {
    let most = coefficients.iter().fold(0.0_f64, |most, own| most.max(own.abs()));
    let count = coefficients.iter().rposition(|own| own.abs() > 1e-17 * most).unwrap_or(0) + 1;
    let twice = text.add(at, at);
    let (mut one, mut two) = (Real::Number(0.0), Real::Number(0.0));
    for &own in coefficients[1..count].iter().rev() {
        let less = text.sub(own.into(), two);
        (one, two) = (text.fma(twice, one, less), one);
    }
    let less = text.sub(coefficients[0].into(), two);
    text.fma(at, one, less)
}

/// Where the variable of the series is 0.
const MIDDLE: f64 = 3.75;

/// exp(x²)·erfc x for x ≥ 0, whose product with 1 + 2x is a smooth function of (x − k)/(x + k).
fn scaled(text: &mut Text, x: Real) -> Real {
    static COEFFICIENTS: LazyLock<[f64; TERMS]> = LazyLock::new(|| {
        chebyshev(|t| {
            let x = MIDDLE * (1.0 + t) / (1.0 - t);
            (1.0 + 2.0 * x) * Function::Erfcx.value(x)
        })
    });
    let (above, below) = (text.sub(x, MIDDLE.into()), text.add(x, MIDDLE.into()));
    let at = text.div(above, below);
    let sum = series(text, at, &COEFFICIENTS);
    let factor = text.fma(x, 2.0.into(), 1.0.into());
    text.div(sum, factor)
}

/// exp(−x²), of which the square has all digits.
fn bell(text: &mut Text, x: Real) -> Real {
    let square = text.mul(x, x);
    let minus = text.neg(square);
    let lost = text.fma(x, x, minus);
    let main = exp(text, minus);
    let share = text.sub(1.0.into(), lost);
    let all = text.mul(main, share);
    // 0 times what is no number.
    let far = text.compare("gt", square, 800.0.into());
    text.select(far, 0.0.into(), all)
}

/// 1 − erf x.
pub(super) fn erfc(text: &mut Text, x: Real) -> Real {
    let size = text.abs(x);
    let far = text.compare("gt", size, 30.0.into());
    let bounded = text.select(far, 30.0.into(), size);
    let scaled = scaled(text, bounded);
    let bell = bell(text, bounded);
    let own = text.mul(scaled, bell);
    let other = text.sub(2.0.into(), own);
    let negative = text.compare("lt", x, 0.0.into());
    text.select(negative, other, own)
}

/// The error function.
pub(super) fn erf(text: &mut Text, x: Real) -> Real {
    let size = text.abs(x);
    let square = text.mul(x, x);
    let mut factor = FRAC_2_SQRT_PI;
    // 2/√π·(−1)ᵏ/(k!·(2k + 1)).
    let coefficients: [f64; 20] = std::array::from_fn(|k| {
        if k > 0 {
            factor /= -(k as f64);
        }
        factor / (2 * k + 1) as f64
    });
    let sum = text.polynomial(square, &coefficients);
    let near = text.mul(sum, x);
    let rest = erfc(text, size);
    let far = text.sub(1.0.into(), rest);
    let far = with_sign(text, far, x);
    let small = text.compare("lt", size, 1.0.into());
    text.select(small, near, far)
}

/// exp(x²)·erfc x.
pub(super) fn erfcx(text: &mut Text, x: Real) -> Real {
    let size = text.abs(x);
    let own = scaled(text, size);
    let square = text.mul(x, x);
    let grown = exp(text, square);
    let twice = text.add(grown, grown);
    let other = text.sub(twice, own);
    let negative = text.compare("lt", x, 0.0.into());
    text.select(negative, other, own)
}

/// Steps up to where the asymptotic series are exact.
const STEPS: usize = 12;

/// ln Γ for positive numbers, to the last digits of ln Γ(x + 12); the processor has the others.
pub(super) fn ln_gamma(text: &mut Text, x: Real) -> Real {
    let mut product = x;
    for step in 1..STEPS {
        let next = text.add(x, (step as f64).into());
        product = text.mul(product, next);
    }
    let up = text.add(x, (STEPS as f64).into());
    let inverse = text.reciprocal(up);
    let square = text.mul(inverse, inverse);
    let tail = text.polynomial(
        square,
        &[
            1.0 / 12.0,
            -1.0 / 360.0,
            1.0 / 1260.0,
            -1.0 / 1680.0,
            1.0 / 1188.0,
            -691.0 / 360_360.0,
            1.0 / 156.0,
        ],
    );
    let logarithm = ln(text, up);
    let less = text.sub(up, 0.5.into());
    let half_ln_two_pi = 0.5 * (2.0 * PI).ln();
    let start = text.sub(half_ln_two_pi.into(), up);
    let sum = text.fma(less, logarithm, start);
    let sum = text.fma(tail, inverse, sum);
    // Where the product overflows, the series is exact without a step, and its digits are those of ln Γ.
    let taken = ln(text, product);
    let all = text.sub(sum, taken);
    let far = far_ln_gamma(text, x);
    let large = text.compare("gt", x, 1e10.into());
    let all = text.select(large, far, all);
    positive_only(text, x, all)
}

/// (x − ½)·ln x − x + ½·ln 2π.
fn far_ln_gamma(text: &mut Text, x: Real) -> Real {
    let logarithm = ln(text, x);
    let less = text.sub(x, 0.5.into());
    let start = text.sub((0.5 * (2.0 * PI).ln()).into(), x);
    text.fma(less, logarithm, start)
}

/// The derivative of ln Γ for positive numbers; the processor has the others.
pub(super) fn digamma(text: &mut Text, x: Real) -> Real {
    let mut sum = Real::Number(0.0);
    for step in 0..STEPS {
        let next = text.add(x, (step as f64).into());
        let inverse = text.reciprocal(next);
        sum = text.sub(sum, inverse);
    }
    let up = text.add(x, (STEPS as f64).into());
    let inverse = text.reciprocal(up);
    let square = text.mul(inverse, inverse);
    let tail = text.polynomial(
        square,
        &[
            0.0,
            1.0 / 12.0,
            -1.0 / 120.0,
            1.0 / 252.0,
            -1.0 / 240.0,
            1.0 / 132.0,
            -691.0 / 32760.0,
            1.0 / 12.0,
        ],
    );
    let logarithm = ln(text, up);
    let half = text.fma(inverse, (-0.5).into(), logarithm);
    let rest = text.sub(half, tail);
    let all = text.add(sum, rest);
    positive_only(text, x, all)
}

/// A value, or none for arguments that are not positive.
fn positive_only(text: &mut Text, x: Real, value: Real) -> Real {
    let positive = text.compare("gt", x, 0.0.into());
    text.select(positive, value, f64::NAN.into())
}
