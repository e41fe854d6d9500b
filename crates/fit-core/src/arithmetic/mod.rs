//! The arithmetic in which the mathematics is written.
//!
//! Everything in this crate is generic over [`Real`]: one number, or a pack of numbers with one fit
//! in each lane. Comparisons give a [`Mask`], and [`Real::select`] decides, never a branch on data.
//! So the same code runs one fit in an `f64`, sixteen fits in a vector register and thirty-two in a
//! warp.

mod lanes;
mod scalar;

use core::fmt::{Debug, Display};
use core::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};
use core::panic::{RefUnwindSafe, UnwindSafe};

pub use lanes::{LaneMask, Lanes};
pub(crate) use scalar::sealed;

/// The outcome of a comparison: one truth value for each lane of a [`Real`].
pub trait Mask:
    Copy
    + Debug
    + Send
    + Sync
    + UnwindSafe
    + RefUnwindSafe
    + 'static
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Not<Output = Self>
{
    /// The same truth value in every lane.
    fn splat(value: bool) -> Self;
    /// Whether at least one lane is true.
    fn any(self) -> bool;
    /// Whether every lane is true.
    fn all(self) -> bool {
        !(!self).any()
    }
}

/// A real number, or a pack of them with one lane for each fit.
///
/// An implementation need not be IEEE 754 to the letter (a GPU's reciprocal may be off by an ulp),
/// but sums, differences and products must be correctly rounded, because the conditioning of the
/// pixels (`spot::conditioning`) relies on it.
pub trait Real:
    Copy
    + Debug
    + Send
    + Sync
    + UnwindSafe
    + RefUnwindSafe
    + 'static
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The result of comparing two numbers.
    type Mask: Mask;

    /// How many rows of a window are summed at the same time, 1 to 5. Each row takes three sums: all of
    /// them should fit into the registers and be enough to hide the latency of an addition. Each row is
    /// summed in its own order, so this changes no result.
    const ROWS: usize = 5;

    /// The spacing of the representable numbers at 1, for instance 2⁻⁵² for `f64`.
    const EPSILON: f64;

    /// Loops over more parameters than this are not unrolled (`search::Count`): code of a search grows with the cube
    /// of their number. This changes no result.
    const UNROLLED: usize = usize::MAX;

    /// Does a task; as a function of its own where code is compiled for many shapes and methods, so that there is one of what they
    /// have in common. It has to be worth a call.
    #[inline(always)]
    fn compiled<T: Task<Self>>(task: T) -> T::Output {
        task.run()
    }
    /// The same number, rounded to this arithmetic, in every lane.
    fn splat(value: f64) -> Self;
    /// `self · factor + term`; fused where the machine does that at no cost, else rounded twice.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// `term − self · factor`, rounded as [`Real::mul_add`] is.
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, term: Self) -> Self {
        term - self * factor
    }
    /// 1/self, if both the number and its reciprocal are normal; otherwise a GPU may give 0 or infinity.
    #[inline(always)]
    fn reciprocal(self) -> Self {
        Self::splat(1.0) / self
    }
    /// 2^(−self²): the Gaussian, as machines compute it.
    fn exp2_of_minus_square(self) -> Self;
    /// 2^(−self²), and its integral from 0 to self: the Gaussian and the error function, as machines compute them.
    ///
    /// The integral of a default implementation is off by 10⁻⁸ at most, and by rounding.
    #[inline(always)]
    fn exp2_integral(self) -> (Self, Self) {
        let value = self.exp2_of_minus_square();
        let t = Self::splat(INTEGRAL_SCALE).mul_add(self.abs(), Self::splat(1.0)).reciprocal();
        let mut rest = Self::splat(INTEGRAL[0]);
        for i in 1..INTEGRAL.len() {
            rest = rest.mul_add(t, Self::splat(INTEGRAL[i]));
        }
        let half = (rest * t).neg_mul_add(value, Self::splat(HALF_INTEGRAL));
        (value, Self::select(self.lt(Self::splat(0.0)), -half, half))
    }
    /// ⌊log₂ self⌋, for normal numbers > 0.
    fn exponent(self) -> Self;
    /// The natural logarithm, for normal numbers > 0.
    #[inline(always)]
    fn ln(self) -> Self {
        natural_logarithm(self)
    }
    /// 2^(−self), for self ≥ 0.
    #[inline(always)]
    fn exp2_of_minus(self) -> Self {
        self.sqrt().exp2_of_minus_square()
    }
    /// The absolute value.
    fn abs(self) -> Self;
    /// The smaller of the two numbers; `other` where `self` is NaN.
    fn min(self, other: Self) -> Self;
    /// The larger of the two numbers; `other` where `self` is NaN.
    fn max(self, other: Self) -> Self;
    /// The square root of a number ≥ 0.
    fn sqrt(self) -> Self;
    /// `self < other`; false where either is NaN.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self ≤ other`; false where either is NaN.
    fn le(self, other: Self) -> Self::Mask;
    /// Whether the number is neither infinite nor NaN.
    fn is_finite(self) -> Self::Mask;
    /// `yes` in the lanes where `mask` is true, `no` in the others.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// A power of two `s` with `1 ≤ s·self < 2`, for finite normal `self` > 0.
    ///
    /// Both `s` and `1/s` must be normal numbers, so `s` is clamped at the ends of the range. For zero,
    /// subnormal and non-finite arguments any power of two will do.
    fn normalizer(self) -> Self;
}

/// Something to do with numbers of a type, in one piece ([`Real::compiled`]).
pub trait Task<R> {
    /// What comes of it.
    type Output;
    /// Does it. This and all that it calls has to be inlined: it is compiled for an instruction set as a part of a function that is.
    fn run(self) -> Self::Output;
}

/// The natural logarithm, for normal numbers > 0, with a relative error of some rounding units, near 1 too.
#[inline(always)]
pub fn natural_logarithm<R: Real>(of: R) -> R {
    // With a mantissa m in [√½, √2), ln m = x − x²/2 + x³·P(x) for x = m − 1.
    let mantissa = of * of.normalizer();
    let above = R::splat(core::f64::consts::SQRT_2).le(mantissa);
    let half = mantissa * R::splat(0.5);
    let x = R::select(above, half, mantissa) - R::splat(1.0);
    let exponent = of.exponent();
    let exponent = R::select(above, exponent + R::splat(1.0), exponent);
    let mut rest = R::splat(LOGARITHM[0]);
    for i in 1..LOGARITHM.len() {
        rest = rest.mul_add(x, R::splat(LOGARITHM[i]));
    }
    let square = x * x;
    let small = (rest * x).mul_add(square, square * R::splat(-0.5)) + x;
    exponent.mul_add(R::splat(core::f64::consts::LN_2), small)
}

/// ∫2^(−t²)dt from 0 to infinity.
const HALF_INTEGRAL: f64 = 1.064_467_019_431_226_2;
/// The integral from w to infinity is 2^(−w²) times a polynomial in t = 1/(1 + `INTEGRAL_SCALE`·w), by a fit to
/// 8·10⁻⁹.
const INTEGRAL_SCALE: f64 = 0.325;
/// The coefficients of that polynomial from t⁶ to t.
const INTEGRAL: [f64; 6] = [
    -0.241_411_351_454_525_75,
    0.937_635_111_909_071_8,
    -0.666_909_587_187_806_4,
    0.684_938_568_839_997_8,
    0.099_821_598_220_737_44,
    0.250_392_669_368_207_64,
];

/// (ln(1 + x) − x + x²/2)/x³ on [√½ − 1, √2 − 1] as a polynomial, highest power first.
const LOGARITHM: [f64; 9] = [
    0.069_147_685_808_157_67,
    -0.117_893_707_261_421_4,
    0.118_730_391_800_731_58,
    -0.123_844_361_378_865_33,
    0.142_186_587_777_495_37,
    -0.166_692_448_582_327_18,
    0.200_022_264_166_815_9,
    -0.249_999_867_363_651_7,
    0.333_333_104_442_614_6,
];

/// A [`Real`] that is a single number, so that code may branch on data.
pub trait Number:
    Real<Mask = bool> + PartialOrd + Default + Display + Send + Sync + 'static
{
    /// Converts a pixel of any type.
    fn from_pixel<P: Pixel>(pixel: P) -> Self;
    /// The number as an `f64`.
    fn to_f64(self) -> f64;
}

/// The types in which cameras and files store pixels: integers of 8 to 64 bits, `f32` and `f64`, and no others.
pub trait Pixel: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The value as an `f32`, rounded to nearest.
    fn to_f32(self) -> f32;
    /// The value as an `f64`, rounded to nearest.
    fn to_f64(self) -> f64;
    /// Turns something of this pixel type into its type-erased form.
    fn erase<E: Erase>(of: E::Of<Self>) -> E::Erased;
}

/// How to erase the pixel type: it turns something of a known pixel type into, for instance, an enum with a variant for
/// each type. Functions that take the enum are compiled once, not again in each caller.
pub trait Erase {
    /// The form with pixels of type `P`.
    type Of<P: Pixel>;
    /// The form with pixels of any type.
    type Erased;
    /// Of `u8`.
    fn u8(of: Self::Of<u8>) -> Self::Erased;
    /// Of `u16`.
    fn u16(of: Self::Of<u16>) -> Self::Erased;
    /// Of `u32`.
    fn u32(of: Self::Of<u32>) -> Self::Erased;
    /// Of `u64`.
    fn u64(of: Self::Of<u64>) -> Self::Erased;
    /// Of `i8`.
    fn i8(of: Self::Of<i8>) -> Self::Erased;
    /// Of `i16`.
    fn i16(of: Self::Of<i16>) -> Self::Erased;
    /// Of `i32`.
    fn i32(of: Self::Of<i32>) -> Self::Erased;
    /// Of `i64`.
    fn i64(of: Self::Of<i64>) -> Self::Erased;
    /// Of `f32`.
    fn f32(of: Self::Of<f32>) -> Self::Erased;
    /// Of `f64`.
    fn f64(of: Self::Of<f64>) -> Self::Erased;
}
