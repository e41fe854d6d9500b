//! Functions of formulas in double precision, as lines of PTX.
//!
//! Their values are within a few units of the last digit where that is not said otherwise, far better than fits need.

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, LN_2, LOG2_E, PI, SQRT_2};

use fit_formula::{Function, Function2};

use super::special;
use super::text::{Real, Text};

/// A function of one number; `None` for those that only the processor has.
pub(super) fn call(text: &mut Text, function: Function, x: Real) -> Option<Real> {
    Some(match function {
        Function::Exp => exp(text, x),
        Function::ExpM1 => exp_m1(text, x),
        Function::Ln => ln(text, x),
        Function::Ln1P => ln_1p(text, x),
        Function::LnOrZero => {
            let (all, zero) = (ln(text, x), text.compare("eq", x, 0.0.into()));
            text.select(zero, 0.0.into(), all)
        }
        Function::Sqrt => text.root(x),
        Function::Sin => sin_cos(text, x)[0],
        Function::Cos => sin_cos(text, x)[1],
        Function::Tan => {
            let [sin, cos] = sin_cos(text, x);
            text.div(sin, cos)
        }
        Function::Asin => {
            let below = text.sub(1.0.into(), x);
            let above = text.add(1.0.into(), x);
            let square = text.mul(below, above);
            let root = text.root(square);
            let ratio = text.div(x, root);
            atan(text, ratio)
        }
        Function::Acos => {
            let below = text.sub(1.0.into(), x);
            let above = text.add(1.0.into(), x);
            let ratio = text.div(below, above);
            let root = text.root(ratio);
            let half = atan(text, root);
            text.add(half, half)
        }
        Function::Atan => atan(text, x),
        Function::Sinh => {
            let size = text.abs(x);
            let grown = exp_m1(text, size);
            let all = text.add(grown, 1.0.into());
            let share = text.div(grown, all);
            // Where eˣ overflows, so does this.
            let large = text.compare("gt", size, 40.0.into());
            let share = text.select(large, 1.0.into(), share);
            let sum = text.add(grown, share);
            let half = text.mul(sum, 0.5.into());
            with_sign(text, half, x)
        }
        Function::Cosh => {
            let size = text.abs(x);
            let grown = exp(text, size);
            let inverse = text.reciprocal(grown);
            let sum = text.add(grown, inverse);
            text.mul(sum, 0.5.into())
        }
        Function::Tanh => {
            let size = text.abs(x);
            // From here on it is 1.
            let large = text.compare("gt", size, 22.0.into());
            let bounded = text.select(large, 22.0.into(), size);
            let twice = text.add(bounded, bounded);
            let grown = exp_m1(text, twice);
            let below = text.add(grown, 2.0.into());
            let ratio = text.div(grown, below);
            with_sign(text, ratio, x)
        }
        Function::Logistic => {
            let minus = text.neg(x);
            let grown = exp(text, minus);
            let below = text.add(grown, 1.0.into());
            text.reciprocal(below)
        }
        Function::Abs => text.abs(x),
        Function::Floor => text.floor(x),
        Function::Erf => special::erf(text, x),
        Function::Erfc => special::erfc(text, x),
        Function::Erfcx => special::erfcx(text, x),
        Function::LnGamma => special::ln_gamma(text, x),
        Function::Digamma => special::digamma(text, x),
        _ => return None,
    })
}

/// A function of two numbers; `None` for those that only the processor has.
pub(super) fn call2(text: &mut Text, function: Function2, x: Real, y: Real) -> Option<Real> {
    Some(match function {
        Function2::Min | Function2::Max => {
            let word = if function == Function2::Min { "lt" } else { "gt" };
            let mine = text.compare(word, x, y);
            let own = text.select(mine, x, y);
            // Of a number and what is none, the number.
            let number = text.compare("eq", y, y);
            text.select(number, own, x)
        }
        Function2::Power => power(text, x, y),
        Function2::Atan2 => {
            let ratio = text.div(x, y);
            let own = atan(text, ratio);
            let nowhere = text.compare("eq", x, 0.0.into());
            let own = text.select(nowhere, 0.0.into(), own);
            let half = with_sign(text, PI.into(), x);
            let other = text.add(own, half);
            let left = text.compare("lt", y, 0.0.into());
            text.select(left, other, own)
        }
        _ => return None,
    })
}

/// A number that is not negative, with the sign of another.
pub(super) fn with_sign(text: &mut Text, size: Real, of: Real) -> Real {
    let minus = text.neg(size);
    let below = text.compare("lt", of, 0.0.into());
    text.select(below, minus, size)
}

/// 1/0!, 1/1!, 1/2!, …
fn exponential_series<const N: usize>() -> [f64; N] {
    let mut all = [1.0; N];
    for k in 1..N {
        all[k] = all[k - 1] / k as f64;
    }
    all
}

/// ln 2 in two parts, of which the first has so few digits that its products with exponents are exact.
fn ln_2_parts() -> [f64; 2] {
    let high = f64::from_bits(LN_2.to_bits() & !0xffff_ffff);
    // What ln 2 has beyond double precision, beside what it has beyond the first part.
    [high, LN_2 - high + 2.319_046_813_846_299_6e-17]
}

/// eˣ: 0 below −708, where it has lost digits.
pub(super) fn exp(text: &mut Text, x: Real) -> Real {
    const LOW: f64 = -708.0;
    const HIGH: f64 = 709.782_712_893_384;
    let (below, above) = (text.compare("lt", x, LOW.into()), text.compare("gt", x, HIGH.into()));
    let bounded = text.select(below, LOW.into(), x);
    let bounded = text.select(above, HIGH.into(), bounded);
    let steps = text.mul(bounded, LOG2_E.into());
    let (steps, power) = text.nearest(steps);
    let [high, low] = ln_2_parts();
    let rest = text.fma(steps, (-high).into(), bounded);
    let rest = text.fma(steps, (-low).into(), rest);
    let share = text.polynomial(rest, &exponential_series::<14>());
    // In two parts: the largest power alone would overflow.
    let less = text.word();
    text.line(format_args!("add.s32 {less}, {power}, -1;"));
    let factor = text.power_of_two(less);
    let twice = text.add(share, share);
    let all = text.mul(twice, factor);
    let all = text.select(below, 0.0.into(), all);
    text.select(above, f64::INFINITY.into(), all)
}

/// eˣ − 1.
fn exp_m1(text: &mut Text, x: Real) -> Real {
    let far = exp(text, x);
    let far = text.sub(far, 1.0.into());
    let series = exponential_series::<18>();
    let near = text.polynomial(x, &series[1..]);
    let near = text.mul(near, x);
    let size = text.abs(x);
    let small = text.compare("lt", size, 0.5.into());
    text.select(small, near, far)
}

/// ln x; that of numbers below the smallest normal one as that of 0.
pub(super) fn ln(text: &mut Text, x: Real) -> Real {
    let (share, power) = text.parts(x);
    let large = text.compare("gt", share, SQRT_2.into());
    let half = text.mul(share, 0.5.into());
    let share = text.select(large, half, share);
    let more = text.add(power, 1.0.into());
    let power = text.select(large, more, power);
    let above = text.sub(share, 1.0.into());
    let below = text.add(share, 1.0.into());
    let s = text.div(above, below);
    let square = text.mul(s, s);
    // 2·artanh s.
    let odd: [f64; 11] = std::array::from_fn(|k| 2.0 / (2 * k + 3) as f64);
    let rest = text.polynomial(square, &odd);
    let cube = text.mul(square, s);
    let [high, low] = ln_2_parts();
    let small = text.mul(power, low.into());
    let small = text.fma(rest, cube, small);
    let twice = text.add(s, s);
    let sum = text.add(twice, small);
    let all = text.fma(power, high.into(), sum);
    let nothing = text.compare("lt", x, f64::MIN_POSITIVE.into());
    let all = text.select(nothing, f64::NEG_INFINITY.into(), all);
    let negative = text.compare("lt", x, 0.0.into());
    let all = text.select(negative, f64::NAN.into(), all);
    let finite = text.compare("lt", x, f64::INFINITY.into());
    // What is no number, or infinite, stays so.
    text.select(finite, all, x)
}

/// ln(1 + x).
fn ln_1p(text: &mut Text, x: Real) -> Real {
    let sum = text.add(x, 1.0.into());
    let own = ln(text, sum);
    let taken = text.sub(sum, 1.0.into());
    let lost = text.sub(x, taken);
    let more = text.div(lost, sum);
    let all = text.add(own, more);
    // Where the sum is infinite or 0, nothing was lost.
    let (finite, some) =
        (text.compare("lt", sum, f64::INFINITY.into()), text.compare("gt", sum, 0.0.into()));
    let usual = text.both(finite, some);
    text.select(usual, all, own)
}

/// Sine and cosine; no number beyond 10⁸, where the processor takes over.
fn sin_cos(text: &mut Text, x: Real) -> [Real; 2] {
    const FARTHEST: f64 = 1e8;
    let steps = text.mul(x, FRAC_2_PI.into());
    let (steps, quarter) = text.nearest(steps);
    // π/2 in three parts.
    let mut rest = x;
    for part in [FRAC_PI_2, 6.123_233_995_736_766e-17, -1.497_384_904_859_169_8e-33] {
        rest = text.fma(steps, (-part).into(), rest);
    }
    let square = text.mul(rest, rest);
    let factorial = exponential_series::<20>();
    let alternating = |k: usize| if k.is_multiple_of(2) { 1.0 } else { -1.0 };
    let of_sin: [f64; 8] = std::array::from_fn(|k| -alternating(k) * factorial[2 * k + 3]);
    let of_cos: [f64; 9] = std::array::from_fn(|k| alternating(k) * factorial[2 * k]);
    let cos = text.polynomial(square, &of_cos);
    let tail = text.polynomial(square, &of_sin);
    let cube = text.mul(square, rest);
    let sin = text.fma(tail, cube, rest);
    let odd = text.bit(quarter, 0);
    let swapped = [text.select(odd, cos, sin), text.select(odd, sin, cos)];
    let next = text.word();
    text.line(format_args!("add.s32 {next}, {quarter}, 1;"));
    let signs = [text.bit(quarter, 1), text.bit(next, 1)];
    let size = text.abs(x);
    let near = text.compare("lt", size, FARTHEST.into());
    let mut both = [Real::Number(0.0); 2];
    for ((to, own), sign) in both.iter_mut().zip(swapped).zip(signs) {
        let minus = text.neg(own);
        let signed = text.select(sign, minus, own);
        *to = text.select(near, signed, f64::NAN.into());
    }
    both
}

/// The inverse tangent.
fn atan(text: &mut Text, x: Real) -> Real {
    let size = text.abs(x);
    let far = text.compare("gt", size, 1.0.into());
    let inverse = text.reciprocal(size);
    let mut near = text.select(far, inverse, size);
    // Half the angle, twice.
    for _ in 0..2 {
        let square = text.fma(near, near, 1.0.into());
        let root = text.root(square);
        let below = text.add(root, 1.0.into());
        near = text.div(near, below);
    }
    let square = text.mul(near, near);
    let series: [f64; 13] = std::array::from_fn(|k| {
        let sign = if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        sign / (2 * k + 1) as f64
    });
    let sum = text.polynomial(square, &series);
    let fourfold = text.mul(near, 4.0.into());
    let angle = text.mul(sum, fourfold);
    let other = text.sub(FRAC_PI_2.into(), angle);
    let angle = text.select(far, other, angle);
    with_sign(text, angle, x)
}

/// x to the power of y, whose relative error is that of y·ln x.
fn power(text: &mut Text, x: Real, y: Real) -> Real {
    let size = text.abs(x);
    let logarithm = ln(text, size);
    let product = text.mul(logarithm, y);
    let all = exp(text, product);
    let whole = text.floor(y);
    let is_whole = text.compare("eq", whole, y);
    let half = text.mul(y, 0.5.into());
    let half_whole = text.floor(half);
    let even = text.compare("eq", half_whole, half);
    let minus = text.neg(all);
    let of_negative = text.select(even, all, minus);
    let of_negative = text.select(is_whole, of_negative, f64::NAN.into());
    let negative = text.compare("lt", x, 0.0.into());
    let all = text.select(negative, of_negative, all);
    let (none, one) = (text.compare("eq", y, 0.0.into()), text.compare("eq", x, 1.0.into()));
    let certain = text.either(none, one);
    text.select(certain, 1.0.into(), all)
}
