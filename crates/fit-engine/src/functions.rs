//! Functions of numbers in single precision: polynomials, with relative errors of some 10⁻⁷ (the tests of fit-cpu have a
//! table), and double precision for arguments that are rare.
//!
//! Polynomials of least error are by weighted least squares, with the weights of those places raised where the error was
//! large.

use fit_core::arithmetic::{Mask, Real, natural_logarithm};

/// A number, or a pack of them, with what these functions and those of [`double`](super::double) need.
pub trait Elementary: Real {
    /// The nearest whole number, for |x| ≤ 2²²; in double precision for |x| ≤ 2⁵¹.
    fn nearest(self) -> Self;
    /// self·2ⁿ for a whole number n from −252 to 254; in double precision from −2044 to 2046.
    fn scaled(self, n: Self) -> Self;
    /// A function in double precision of each number.
    fn each(self, of: impl Fn(f64) -> f64) -> Self;
    /// A function in double precision of each pair.
    fn both(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self;
}

impl Elementary for f32 {
    #[inline(always)]
    fn nearest(self) -> Self {
        libm::rintf(self)
    }
    #[inline(always)]
    fn scaled(self, n: Self) -> Self {
        libm::scalbnf(self, n as i32)
    }
    #[inline(always)]
    fn each(self, of: impl Fn(f64) -> f64) -> Self {
        of(self.into()) as f32
    }
    #[inline(always)]
    fn both(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        of(self.into(), other.into()) as f32
    }
}

/// `value` in common lanes, and the function in double precision in the others: a lane never depends on its neighbours.
#[inline(always)]
pub(crate) fn elsewhere<R: Elementary>(
    of: impl Fn(f64) -> f64,
    common: R::Mask,
    value: R,
    x: R,
) -> R {
    if common.all() { value } else { R::select(common, value, x.each(of)) }
}

/// The value of a polynomial, highest power first.
#[inline(always)]
pub(crate) fn polynomial<R: Real, const N: usize>(x: R, coefficients: &[f64; N]) -> R {
    let mut sum = R::splat(coefficients[0]);
    for i in 1..N {
        sum = sum.mul_add(x, R::splat(coefficients[i]));
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
fn reduced<R: Elementary>(x: R) -> (R, R) {
    let n = (x * R::splat(core::f64::consts::LOG2_E)).nearest();
    let r = n.neg_mul_add(R::splat(LN_2[0]), x);
    (n, n.neg_mul_add(R::splat(LN_2[1]), r))
}

/// eˣ.
#[inline(always)]
pub fn exp<R: Elementary>(x: R) -> R {
    // Beyond these the result is 0 or infinite; NaN stays.
    let x = R::select(x.lt(R::splat(-104.0)), R::splat(-104.0), x);
    let x = R::select(R::splat(89.0).lt(x), R::splat(89.0), x);
    let (n, r) = reduced(x);
    let value = polynomial(r, &EXP).mul_add(r * r, r) + R::splat(1.0);
    value.scaled(n)
}

/// eˣ − 1, exact near 0.
#[inline(always)]
pub fn exp_m1<R: Elementary>(x: R) -> R {
    let near = x.abs().lt(R::splat(0.35));
    R::select(near, polynomial(x, &EXP).mul_add(x * x, x), exp(x) - R::splat(1.0))
}

/// The natural logarithm; NaN below 0.
#[inline(always)]
pub fn ln<R: Elementary>(x: R) -> R {
    let (zero, most) = (R::splat(0.0), R::splat(f32::MAX.into()));
    // Numbers whose reciprocal, or which themselves, are not normal are made so.
    let (small, large) = (x.lt(R::splat(1e-36)), R::splat(1e36).lt(x));
    let shift = R::select(small, R::splat(24.0), R::select(large, R::splat(-24.0), zero));
    let value =
        shift.neg_mul_add(R::splat(core::f64::consts::LN_2), natural_logarithm(x.scaled(shift)));
    let value = R::select(x.le(zero), R::splat(f64::NEG_INFINITY), value);
    let value = R::select(zero.le(x), value, R::splat(f64::NAN));
    R::select(most.lt(x), x, value)
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
    let one = R::splat(1.0);
    let sum = one + x;
    let seen = sum - one;
    let same = seen.abs().le(R::splat(0.0)) | !sum.is_finite();
    let value = ln(sum) * (x / R::select(same, one, seen));
    R::select(seen.abs().le(R::splat(0.0)), x, R::select(sum.is_finite(), value, ln(sum)))
}

/// The square root; NaN below 0.
#[inline(always)]
pub fn sqrt<R: Elementary>(x: R) -> R {
    let value = x.max(R::splat(0.0)).sqrt();
    R::select(R::splat(0.0).le(x), value, R::splat(f64::NAN))
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

/// The tangent of radians.
#[inline(always)]
pub fn tan<R: Elementary>(x: R) -> R {
    let (common, near) = turned(x);
    let [sine, cosine] = sin_cos(near);
    elsewhere(libm::tan, common, sine / cosine, x)
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

/// The inverse tangent, in radians.
#[inline(always)]
pub fn atan<R: Elementary>(x: R) -> R {
    let one = R::splat(1.0);
    let size = x.abs();
    let far = R::splat(EIGHTHS[1]).lt(size);
    let middle = R::splat(EIGHTHS[0]).lt(size) & !far;
    let top = R::select(far, -one, R::select(middle, size - one, size));
    let bottom = R::select(far, size, R::select(middle, size + one, one));
    let offset = R::select(
        far,
        R::splat(core::f64::consts::FRAC_PI_2),
        R::select(middle, R::splat(core::f64::consts::FRAC_PI_4), R::splat(0.0)),
    );
    let t = top / bottom;
    let square = t * t;
    let value = (polynomial(square, &ATAN) * square).mul_add(t, t) + offset;
    R::select(x.lt(R::splat(0.0)), -value, value)
}

/// (sinh x − x)/x³ as a polynomial in x² for |x| ≤ 1.
const SINH: [f64; 3] =
    [0.000_203_774_043_344_368_31, 0.008_330_211_425_111_924, 0.166_667_182_467_442_9];

/// The hyperbolic sine.
#[inline(always)]
pub fn sinh<R: Elementary>(x: R) -> R {
    let square = x * x;
    let near = (polynomial(square, &SINH) * square).mul_add(x, x);
    let half = exp(x.abs()) * R::splat(0.5);
    let far = half - R::splat(0.25) / half;
    let far = R::select(x.lt(R::splat(0.0)), -far, far);
    R::select(x.abs().lt(R::splat(1.0)), near, far)
}

/// The hyperbolic cosine.
#[inline(always)]
pub fn cosh<R: Elementary>(x: R) -> R {
    let half = exp(x.abs()) * R::splat(0.5);
    half + R::splat(0.25) / half
}

/// (tanh x − x)/x³ as a polynomial in x² for |x| ≤ 0.625.
const TANH: [f64; 5] = [
    -0.005_717_044_955_316_101_5,
    0.020_650_587_219_135_128,
    -0.053_743_498_064_341_81,
    0.133_314_912_869_542_92,
    -0.333_332_839_252_961_2,
];

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh<R: Elementary>(x: R) -> R {
    let (one, two) = (R::splat(1.0), R::splat(2.0));
    let square = x * x;
    let near = (polynomial(square, &TANH) * square).mul_add(x, x);
    let far = one - two / (exp(x.abs() * two) + one);
    let far = R::select(x.lt(R::splat(0.0)), -far, far);
    R::select(x.abs().lt(R::splat(0.625)), near, far)
}

/// 1/(1 + e⁻ˣ), which does not overflow.
#[inline(always)]
pub fn logistic<R: Elementary>(x: R) -> R {
    let one = R::splat(1.0);
    one / (one + exp(-x))
}

/// The largest integer that is not above.
#[inline(always)]
pub fn floor<R: Elementary>(x: R) -> R {
    if (!x.abs().lt(R::splat(4_194_304.0))).any() {
        return x.each(libm::floor);
    }
    let near = x.nearest();
    R::select(x.lt(near), near - R::splat(1.0), near)
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

/// The error function 2/√π·∫exp(−t²)dt from 0.
#[inline(always)]
pub fn erf<R: Elementary>(x: R) -> R {
    let near = polynomial(x * x, &ERF) * x;
    let (_, integral) = (x * R::splat(ROOT_LOG2_E)).exp2_integral();
    let far = integral * R::splat(ERF_SCALE);
    R::select(x.abs().lt(R::splat(0.8)), near, far)
}

/// The error of a power grows with its exponent, to 10⁻⁵ at this one.
const MOST_POWER: f64 = 100.0;

/// xʸ. With x = m·2ᵉ it is 2^(y·e)·exp(y·ln m), where a product of whole numbers loses nothing.
#[inline(always)]
pub fn power<R: Elementary>(x: R, y: R) -> R {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let nothing = x.le(zero) & zero.le(x);
    let normal = R::splat(1e-36).le(x) & x.lt(R::splat(1e36));
    let common = (normal | nothing) & y.abs().le(R::splat(MOST_POWER));
    let [given, exponent_given] = [x, y];
    let y = R::select(common, y, one);
    let base = R::select(common & normal, x, one);
    // The mantissa between √½ and √2.
    let mantissa = base * base.normalizer();
    let above = R::splat(core::f64::consts::SQRT_2).le(mantissa);
    let mantissa = R::select(above, mantissa * R::splat(0.5), mantissa);
    let exponent = base.exponent();
    let exponent = R::select(above, exponent + one, exponent);
    // Half of the digits of y each, so that products with the exponent are exact.
    let split = y * R::splat(4097.0);
    let high = split - (split - y);
    let low = y - high;
    let whole = (y * exponent).nearest();
    let rest = low.mul_add(exponent, high * exponent - whole);
    let inner = rest.mul_add(R::splat(core::f64::consts::LN_2), y * natural_logarithm(mantissa));
    let inner = R::select(inner.lt(R::splat(-1e4)), R::splat(-1e4), inner);
    let inner = R::select(R::splat(1e4).lt(inner), R::splat(1e4), inner);
    let (n, r) = reduced(inner);
    let value = polynomial(r, &EXP).mul_add(r * r, r) + one;
    let n = (n + whole).max(R::splat(-250.0)).min(R::splat(250.0));
    let value = value.scaled(n);
    let at_zero = R::select(zero.lt(y), zero, R::select(y.lt(zero), R::splat(f64::INFINITY), one));
    let value = R::select(nothing, at_zero, value);
    if common.all() {
        return value;
    }
    R::select(common, value, given.both(exponent_given, libm::pow))
}
