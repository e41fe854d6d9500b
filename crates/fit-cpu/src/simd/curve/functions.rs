//! Functions of packs: those that are common by polynomials, the others lane by lane in double precision.
//!
//! Relative errors are some 10⁻⁷ where the table of the tests says so. Polynomials of least error are by weighted least
//! squares, with the weights of those places raised where the error was large.

use fit_core::{Mask, Real};
use fit_formula::{Function, Function2};

use crate::simd::arch::pack::{Pack, nearest};

/// A function of each number.
#[inline(always)]
pub(super) fn call<P: Pack>(function: Function, of: &[P], to: &mut [P]) {
    macro_rules! each {
        ($name:ident) => {
            for (to, &x) in to.iter_mut().zip(of) {
                *to = $name(x);
            }
        };
    }
    match function {
        Function::Exp => each!(exp),
        Function::ExpM1 => each!(exp_m1),
        Function::Ln => each!(ln),
        Function::Ln1P => each!(ln_1p),
        Function::LnOrZero => each!(ln_or_zero),
        Function::Sqrt => each!(sqrt),
        Function::Sin => each!(sin),
        Function::Cos => each!(cos),
        Function::Tan => each!(tan),
        Function::Atan => each!(atan),
        Function::Sinh => each!(sinh),
        Function::Cosh => each!(cosh),
        Function::Tanh => each!(tanh),
        Function::Logistic => each!(logistic),
        Function::Abs => each!(abs),
        Function::Floor => each!(floor),
        Function::Erf => each!(erf),
        other => {
            for (to, &x) in to.iter_mut().zip(of) {
                *to = lane_by_lane(other, x);
            }
        }
    }
}

/// A function of two numbers.
#[inline(always)]
pub(super) fn call2<P: Pack>(function: Function2, x: P, y: P) -> P {
    match function {
        Function2::Power => power(x, y),
        Function2::Min => P::select(x.lt(y) | !y.is_number(), x, y),
        Function2::Max => P::select(y.lt(x) | !y.is_number(), x, y),
        other => lanes_by_lane(other, x, y),
    }
}

/// What is not NaN.
trait IsNumber: Real {
    fn is_number(self) -> Self::Mask;
}

impl<P: Real> IsNumber for P {
    #[inline(always)]
    fn is_number(self) -> P::Mask {
        self.le(self)
    }
}

/// In double precision, one lane after the other.
#[inline(always)]
fn lane_by_lane<P: Pack>(function: Function, x: P) -> P {
    let mut numbers = [0.0; 32];
    x.store(&mut numbers);
    for number in &mut numbers[..P::LANES] {
        *number = function.value(f64::from(*number)) as f32;
    }
    P::load(&numbers)
}

/// `value` in common lanes, and the function lane by lane in the others: a lane never depends on its neighbours.
#[inline(always)]
fn elsewhere<P: Pack>(function: Function, common: P::Mask, value: P, x: P) -> P {
    if common.all() { value } else { P::select(common, value, lane_by_lane(function, x)) }
}

#[inline(always)]
fn lanes_by_lane<P: Pack>(function: Function2, x: P, y: P) -> P {
    let (mut a, mut b) = ([0.0; 32], [0.0; 32]);
    x.store(&mut a);
    y.store(&mut b);
    for lane in 0..P::LANES {
        a[lane] = function.value(f64::from(a[lane]), f64::from(b[lane])) as f32;
    }
    P::load(&a)
}

#[inline(always)]
fn polynomial<P: Real, const N: usize>(x: P, coefficients: &[f64; N]) -> P {
    let mut sum = P::splat(coefficients[0]);
    for i in 1..N {
        sum = sum.mul_add(x, P::splat(coefficients[i]));
    }
    sum
}

/// (eʳ − 1 − r)/r² for |r| ≤ ½ ln 2, highest power first; eʳ is off by 3·10⁻⁹.
const EXP: [f64; 5] = [
    0.001_395_171_926_779_772_7,
    0.008_369_598_210_827_306,
    0.041_666_187_255_390_73,
    0.166_665_128_905_905_93,
    0.500_000_010_098_668_5,
];
/// ln 2 in two parts; the first has so few digits that its products with whole numbers are exact.
const LN_2: [f64; 2] = [0.693_359_375, -2.121_944_400_546_905_8e-4];

/// n and r with x = n·ln 2 + r.
#[inline(always)]
fn reduced<P: Pack>(x: P) -> (P, P) {
    let n = nearest(x * P::splat(std::f64::consts::LOG2_E));
    let r = n.neg_mul_add(P::splat(LN_2[0]), x);
    (n, n.neg_mul_add(P::splat(LN_2[1]), r))
}

#[inline(always)]
fn exp<P: Pack>(x: P) -> P {
    // Beyond these the result is 0 or infinite; NaN stays.
    let x = P::select(x.lt(P::splat(-104.0)), P::splat(-104.0), x);
    let x = P::select(P::splat(89.0).lt(x), P::splat(89.0), x);
    let (n, r) = reduced(x);
    let value = polynomial(r, &EXP).mul_add(r * r, r) + P::splat(1.0);
    value.scaled(n)
}

#[inline(always)]
fn exp_m1<P: Pack>(x: P) -> P {
    let near = x.abs().lt(P::splat(0.35));
    P::select(near, polynomial(x, &EXP).mul_add(x * x, x), exp(x) - P::splat(1.0))
}

#[inline(always)]
fn ln<P: Pack>(x: P) -> P {
    let (zero, most) = (P::splat(0.0), P::splat(f32::MAX.into()));
    // Numbers whose reciprocal, or which themselves, are not normal are made so.
    let (small, large) = (x.lt(P::splat(1e-36)), P::splat(1e36).lt(x));
    let shift = P::select(small, P::splat(24.0), P::select(large, P::splat(-24.0), zero));
    let value = shift.neg_mul_add(P::splat(std::f64::consts::LN_2), Real::ln(x.scaled(shift)));
    let value = P::select(x.le(zero), P::splat(f64::NEG_INFINITY), value);
    let value = P::select(zero.le(x), value, P::splat(f64::NAN));
    P::select(most.lt(x), x, value)
}

#[inline(always)]
fn ln_or_zero<P: Pack>(x: P) -> P {
    let zero = P::splat(0.0);
    P::select(x.le(zero) & zero.le(x), zero, ln(x))
}

#[inline(always)]
fn ln_1p<P: Pack>(x: P) -> P {
    // What 1 + x loses of x is put right by the slope of the logarithm.
    let one = P::splat(1.0);
    let sum = one + x;
    let seen = sum - one;
    let same = seen.abs().le(P::splat(0.0)) | !sum.is_finite();
    let value = ln(sum) * (x / P::select(same, one, seen));
    P::select(seen.abs().le(P::splat(0.0)), x, P::select(sum.is_finite(), value, ln(sum)))
}

#[inline(always)]
fn sqrt<P: Pack>(x: P) -> P {
    let value = x.max(P::splat(0.0)).sqrt();
    P::select(P::splat(0.0).le(x), value, P::splat(f64::NAN))
}

/// (sin r − r)/r³ as a polynomial in r² for |r| ≤ π/4.
const SIN: [f64; 3] =
    [-0.000_195_108_391_966_593_64, 0.008_332_131_497_688_655, -0.166_666_542_255_661_24];
/// (cos r − 1 + r²/2)/r⁴.
const COS: [f64; 3] =
    [2.443_120_501_738_695_5e-5, -0.001_388_730_604_373_969_8, 0.041_666_645_652_892_12];
/// π/2 in three parts; the first two have so few digits that their products with n are exact.
const HALF_PI: [f64; 3] = [1.570_312_5, 4.837_512_969_970_703e-4, 7.549_789_948_768_648e-8];
/// Beyond this n has too many digits.
const MOST_TURNED: f64 = 6000.0;

/// Sine and cosine of |x| ≤ [`MOST_TURNED`].
#[inline(always)]
fn sin_cos<P: Pack>(x: P) -> [P; 2] {
    let n = nearest(x * P::splat(std::f64::consts::FRAC_2_PI));
    let mut r = x;
    for part in HALF_PI {
        r = n.neg_mul_add(P::splat(part), r);
    }
    let square = r * r;
    let sine = (polynomial(square, &SIN) * square).mul_add(r, r);
    let half = square.neg_mul_add(P::splat(0.5), P::splat(1.0));
    let cosine = polynomial(square, &COS).mul_add(square * square, half);
    // n modulo 4, from −2 to 2.
    let quarter = nearest(n * P::splat(0.25)).neg_mul_add(P::splat(4.0), n);
    let odd = P::splat(0.5).lt(quarter.abs()) & quarter.abs().lt(P::splat(1.5));
    let (s, c) = (P::select(odd, cosine, sine), P::select(odd, sine, cosine));
    // The sine is negative for quarters −1 and ±2, the cosine for 1 and ±2.
    let far = P::splat(1.5).lt(quarter.abs());
    let below = (quarter.lt(P::splat(-0.5)) & odd) | far;
    let above = (P::splat(0.5).lt(quarter) & odd) | far;
    [P::select(below, -s, s), P::select(above, -c, c)]
}

/// The lanes that do not turn too often for [`sin_cos`], and x with 0 in the others.
#[inline(always)]
fn turned<P: Pack>(x: P) -> (P::Mask, P) {
    let common = x.abs().le(P::splat(MOST_TURNED));
    (common, P::select(common, x, P::splat(0.0)))
}

#[inline(always)]
fn sin<P: Pack>(x: P) -> P {
    let (common, near) = turned(x);
    elsewhere(Function::Sin, common, sin_cos(near)[0], x)
}

#[inline(always)]
fn cos<P: Pack>(x: P) -> P {
    let (common, near) = turned(x);
    elsewhere(Function::Cos, common, sin_cos(near)[1], x)
}

#[inline(always)]
fn tan<P: Pack>(x: P) -> P {
    let (common, near) = turned(x);
    let [sine, cosine] = sin_cos(near);
    elsewhere(Function::Tan, common, sine / cosine, x)
}

/// (atan x − x)/x³ as a polynomial in x² for |x| ≤ tan π/8.
const ATAN: [f64; 4] = [
    0.080_116_338_745_300_33,
    -0.138_657_420_369_381_17,
    0.199_767_193_431_916_12,
    -0.333_329_268_077_544_2,
];
/// tan π/8, and tan 3π/8.
const EIGHTHS: [f64; 2] = [0.414_213_562_373_095_03, 2.414_213_562_373_095];

#[inline(always)]
fn atan<P: Pack>(x: P) -> P {
    let one = P::splat(1.0);
    let size = x.abs();
    let far = P::splat(EIGHTHS[1]).lt(size);
    let middle = P::splat(EIGHTHS[0]).lt(size) & !far;
    let top = P::select(far, -one, P::select(middle, size - one, size));
    let bottom = P::select(far, size, P::select(middle, size + one, one));
    let offset = P::select(
        far,
        P::splat(std::f64::consts::FRAC_PI_2),
        P::select(middle, P::splat(std::f64::consts::FRAC_PI_4), P::splat(0.0)),
    );
    let t = top / bottom;
    let square = t * t;
    let value = (polynomial(square, &ATAN) * square).mul_add(t, t) + offset;
    P::select(x.lt(P::splat(0.0)), -value, value)
}

/// (sinh x − x)/x³ as a polynomial in x² for |x| ≤ 1.
const SINH: [f64; 3] =
    [0.000_203_774_043_344_368_31, 0.008_330_211_425_111_924, 0.166_667_182_467_442_9];

#[inline(always)]
fn sinh<P: Pack>(x: P) -> P {
    let square = x * x;
    let near = (polynomial(square, &SINH) * square).mul_add(x, x);
    let half = exp(x.abs()) * P::splat(0.5);
    let far = half - P::splat(0.25) / half;
    let far = P::select(x.lt(P::splat(0.0)), -far, far);
    P::select(x.abs().lt(P::splat(1.0)), near, far)
}

#[inline(always)]
fn cosh<P: Pack>(x: P) -> P {
    let half = exp(x.abs()) * P::splat(0.5);
    half + P::splat(0.25) / half
}

/// (tanh x − x)/x³ as a polynomial in x² for |x| ≤ 0.625.
const TANH: [f64; 5] = [
    -0.005_717_044_955_316_101_5,
    0.020_650_587_219_135_128,
    -0.053_743_498_064_341_81,
    0.133_314_912_869_542_92,
    -0.333_332_839_252_961_2,
];

#[inline(always)]
fn tanh<P: Pack>(x: P) -> P {
    let (one, two) = (P::splat(1.0), P::splat(2.0));
    let square = x * x;
    let near = (polynomial(square, &TANH) * square).mul_add(x, x);
    let far = one - two / (exp(x.abs() * two) + one);
    let far = P::select(x.lt(P::splat(0.0)), -far, far);
    P::select(x.abs().lt(P::splat(0.625)), near, far)
}

#[inline(always)]
fn logistic<P: Pack>(x: P) -> P {
    let one = P::splat(1.0);
    one / (one + exp(-x))
}

#[inline(always)]
fn abs<P: Pack>(x: P) -> P {
    x.abs()
}

#[inline(always)]
fn floor<P: Pack>(x: P) -> P {
    if (!x.abs().lt(P::splat(4_194_304.0))).any() {
        return lane_by_lane(Function::Floor, x);
    }
    let near = nearest(x);
    P::select(x.lt(near), near - P::splat(1.0), near)
}

/// erf x/x as a polynomial in x² for |x| ≤ 0.8.
const ERF: [f64; 6] = [
    -0.000_654_959_746_947_629_5,
    0.005_087_439_983_223_644,
    -0.026_822_108_603_664_41,
    0.112_831_428_348_645_54,
    -0.376_126_038_206_665_6,
    1.128_379_164_018_252_1,
];
/// √log₂e.
const ROOT_LOG2_E: f64 = 1.201_122_408_786_449_8;
/// 2/√π·√ln 2.
const ERF_SCALE: f64 = 0.939_437_278_699_651_3;

#[inline(always)]
fn erf<P: Pack>(x: P) -> P {
    let near = polynomial(x * x, &ERF) * x;
    let (_, integral) = (x * P::splat(ROOT_LOG2_E)).exp2_integral();
    let far = integral * P::splat(ERF_SCALE);
    P::select(x.abs().lt(P::splat(0.8)), near, far)
}

/// The error of a power grows with its exponent, to 10⁻⁵ at this one.
const MOST_POWER: f64 = 100.0;

/// xʸ. With x = m·2ᵉ it is 2^(y·e)·exp(y·ln m), where a product of whole numbers loses nothing.
#[inline(always)]
fn power<P: Pack>(x: P, y: P) -> P {
    let (zero, one) = (P::splat(0.0), P::splat(1.0));
    let nothing = x.le(zero) & zero.le(x);
    let normal = P::splat(1e-36).le(x) & x.lt(P::splat(1e36));
    let common = (normal | nothing) & y.abs().le(P::splat(MOST_POWER));
    let [given, exponent_given] = [x, y];
    let y = P::select(common, y, one);
    let base = P::select(common & normal, x, one);
    // The mantissa between √½ and √2.
    let mantissa = base * base.normalizer();
    let above = P::splat(std::f64::consts::SQRT_2).le(mantissa);
    let mantissa = P::select(above, mantissa * P::splat(0.5), mantissa);
    let exponent = base.exponent();
    let exponent = P::select(above, exponent + one, exponent);
    // Half of the digits of y each, so that products with the exponent are exact.
    let split = y * P::splat(4097.0);
    let high = split - (split - y);
    let low = y - high;
    let whole = nearest(y * exponent);
    let rest = low.mul_add(exponent, high * exponent - whole);
    let inner = rest.mul_add(P::splat(std::f64::consts::LN_2), y * Real::ln(mantissa));
    let inner = P::select(inner.lt(P::splat(-1e4)), P::splat(-1e4), inner);
    let inner = P::select(P::splat(1e4).lt(inner), P::splat(1e4), inner);
    let (n, r) = reduced(inner);
    let value = polynomial(r, &EXP).mul_add(r * r, r) + one;
    let n = (n + whole).max(P::splat(-250.0)).min(P::splat(250.0));
    let value = value.scaled(n);
    let at_zero = P::select(zero.lt(y), zero, P::select(y.lt(zero), P::splat(f64::INFINITY), one));
    let value = P::select(nothing, at_zero, value);
    if common.all() {
        return value;
    }
    P::select(common, value, lanes_by_lane(Function2::Power, given, exponent_given))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Functions;
    use crate::simd::arch::portable::Array4;

    /// Arguments, and the error allowed: relative, beside an absolute one.
    const CASES: &[(Function, [f64; 2], [f64; 2])] = &[
        (Function::Exp, [-87.0, 88.0], [3e-7, 0.0]),
        (Function::ExpM1, [-20.0, 80.0], [4e-7, 0.0]),
        (Function::Ln, [1e-30, 1e30], [2e-7, 2e-7]),
        (Function::Ln, [0.1, 3.0], [3e-7, 1e-7]),
        (Function::Ln1P, [-0.9, 5.0], [4e-7, 0.0]),
        (Function::LnOrZero, [0.1, 30.0], [3e-7, 1e-7]),
        (Function::Sqrt, [0.0, 1e9], [1e-7, 0.0]),
        (Function::Sin, [-5990.0, 5990.0], [2e-7, 1e-7]),
        (Function::Sin, [-9.0, 9.0], [2e-7, 1e-7]),
        (Function::Cos, [-5990.0, 5990.0], [2e-7, 1e-7]),
        (Function::Cos, [-1e9, 1e9], [1e-7, 1e-7]),
        (Function::Tan, [-1.5, 1.5], [4e-7, 0.0]),
        (Function::Asin, [-1.0, 1.0], [1e-7, 0.0]),
        (Function::Atan, [-20.0, 20.0], [2e-7, 0.0]),
        (Function::Sinh, [-88.0, 88.0], [1e-6, 0.0]),
        (Function::Cosh, [-88.0, 88.0], [1e-6, 0.0]),
        (Function::Tanh, [-12.0, 12.0], [2e-7, 0.0]),
        (Function::Logistic, [-80.0, 30.0], [4e-7, 0.0]),
        (Function::Abs, [-3.0, 3.0], [0.0, 0.0]),
        (Function::Floor, [-300.0, 300.0], [0.0, 0.0]),
        (Function::Erf, [-5.0, 5.0], [2e-7, 0.0]),
        (Function::Erfcx, [-2.0, 50.0], [1e-7, 0.0]),
    ];

    fn check<P: Pack + Functions>(name: &str) {
        for &(function, [low, high], [relative, absolute]) in CASES {
            for i in 0..20_000 {
                let share = f64::from(i) / 19_999.0;
                let x = if low > 0.0 {
                    low * (high / low).powf(share)
                } else {
                    low + (high - low) * share
                };
                let x = x as f32;
                let mut to = [P::splat(0.0)];
                P::call(function, &[P::splat(x.into())], &mut to);
                let mut numbers = [0.0; 32];
                to[0].store(&mut numbers);
                let (found, wanted) = (f64::from(numbers[P::LANES - 1]), function.value(x.into()));
                let off = (found - wanted).abs();
                assert!(
                    off <= relative * wanted.abs() + absolute,
                    "{name} {function:?} {x}: {found}, not {wanted}"
                );
            }
        }
        for x in [1e-30_f32, 1e-3, 0.3, 0.99, 1.0, 1.01, 1.5, 7.0, 300.0, 1e20] {
            for y in [-3.0_f32, -1.0, -0.3, 0.0, 0.5, 1.0, 1.7, 2.0, 9.5] {
                check_power::<P>(name, x, y);
            }
        }
        for (x, y) in [(0.0, 2.0), (0.0, 0.0), (0.0, -1.0), (-2.0, 3.0), (-2.0, 0.5), (2.0, 5e3)] {
            check_power::<P>(name, x, y);
        }
        // What has no value, and what is infinite.
        let odd = [0.0_f32, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-42, 3e38, -200.0];
        for function in [
            Function::Exp,
            Function::Ln,
            Function::Sqrt,
            Function::Sin,
            Function::Tanh,
            Function::Logistic,
        ] {
            for x in odd {
                let mut to = [P::splat(0.0)];
                P::call(function, &[P::splat(x.into())], &mut to);
                let mut numbers = [0.0; 32];
                to[0].store(&mut numbers);
                let wanted = function.value(x.into()) as f32;
                let same = numbers[0] == wanted
                    || (numbers[0].is_nan() && wanted.is_nan())
                    || ((numbers[0] - wanted) / wanted).abs() < 1e-6
                    || (numbers[0] - wanted).abs() < 1e-37;
                assert!(same, "{name} {function:?} {x}: {}, not {wanted}", numbers[0]);
            }
        }
    }

    fn check_power<P: Pack + Functions>(name: &str, x: f32, y: f32) {
        let value = P::call2(Function2::Power, P::splat(x.into()), P::splat(y.into()));
        let mut numbers = [0.0; 32];
        value.store(&mut numbers);
        let wanted = Function2::Power.value(x.into(), y.into()) as f32;
        let found = numbers[0];
        let same = found == wanted
            || (found.is_nan() && wanted.is_nan())
            || (found / wanted - 1.0).abs() < 6e-7
            || (found - wanted).abs() < 1e-37;
        assert!(same, "{name} {x}^{y}: {found}, not {wanted}");
    }

    /// Proves that functions of packs agree with double precision, within the errors of the table.
    #[test]
    fn functions_are_precise() {
        check::<Array4>("portable");
        #[cfg(target_arch = "x86_64")]
        {
            use crate::simd::InstructionSet;
            use crate::simd::arch::{avx2::F32x8, avx512::F32x16};
            #[target_feature(enable = "avx512f,avx2,fma")]
            unsafe fn wide() {
                check::<F32x16>("avx512");
            }
            #[target_feature(enable = "avx2,fma")]
            unsafe fn narrow() {
                check::<F32x8>("avx2");
            }
            if InstructionSet::Avx512.is_available() {
                // SAFETY: the processor has it.
                unsafe { wide() }
            }
            if InstructionSet::Avx2.is_available() {
                // SAFETY: the processor has it.
                unsafe { narrow() }
            }
        }
    }
}
