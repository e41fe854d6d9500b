//! The arithmetic the mathematics is written in.
//!
//! Everything in this crate is generic over [`Real`], which stands for one number or for a pack of
//! numbers that are worked on side by side, one fit a lane. Comparisons give a [`Mask`] and
//! decisions are taken by [`Real::select`], never by branching on data, so that the same code runs
//! one fit in an `f64`, sixteen fits in a vector register and thirty-two in a warp.

use core::fmt::{Debug, Display};
use core::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

/// The outcome of a comparison: one truth value for each lane of a [`Real`].
pub trait Mask:
    Copy + Debug + BitAnd<Output = Self> + BitOr<Output = Self> + Not<Output = Self>
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

impl Mask for bool {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        value
    }
    #[inline(always)]
    fn any(self) -> bool {
        self
    }
}

/// A real number, or a pack of them with one lane for each fit.
///
/// An implementation need not be IEEE 754 to the letter (a GPU's reciprocal may be off by an ulp),
/// but sums, differences and products must be correctly rounded, because the conditioning of the
/// pixels ([`crate::condition`]) counts on it.
pub trait Real:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// What comparing two numbers gives.
    type Mask: Mask;

    /// Rows of a window that are summed at the same time, 1 to 5. Three sums a row should fit into the
    /// machine's registers and be enough of them to hide the latency of an addition. Each row is summed
    /// in its own order, so this changes no result.
    const ROWS: usize = 5;

    /// The spacing of the representable numbers at 1, for instance 2⁻⁵² for `f64`.
    const EPSILON: f64;

    /// The same number, rounded to this arithmetic, in every lane.
    fn splat(value: f64) -> Self;
    /// `self · factor + term`; fused where the machine does that at no cost, else rounded twice.
    fn mul_add(self, factor: Self, term: Self) -> Self;
    /// `term − self · factor`, rounded as [`Real::mul_add`] is.
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, term: Self) -> Self {
        term - self * factor
    }
    /// 2^(−self²): the Gaussian, as machines compute it.
    fn exp2_of_minus_square(self) -> Self;
    /// 2^(−self), for self ≥ 0.
    #[inline(always)]
    fn exp2_of_minus(self) -> Self {
        self.sqrt().exp2_of_minus_square()
    }
    /// The absolute value.
    fn abs(self) -> Self;
    /// The smaller of the two numbers; `other` where `self` is not a number.
    fn min(self, other: Self) -> Self;
    /// The larger of the two numbers; `other` where `self` is not a number.
    fn max(self, other: Self) -> Self;
    /// The square root of a number ≥ 0.
    fn sqrt(self) -> Self;
    /// `self < other`; false where either is not a number.
    fn lt(self, other: Self) -> Self::Mask;
    /// `self ≤ other`; false where either is not a number.
    fn le(self, other: Self) -> Self::Mask;
    /// Whether the number is neither infinite nor not a number.
    fn is_finite(self) -> Self::Mask;
    /// `yes` in the lanes where `mask` is true, `no` in the others.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// A power of two `s` with `1 ≤ s·self < 2`, for finite normal `self` > 0.
    ///
    /// Both `s` and `1/s` must be normal numbers, so `s` is clamped at the ends of the range; what
    /// it is for arguments that are zero, subnormal or not finite does not matter, as long as it is
    /// a power of two.
    fn normalizer(self) -> Self;
}

/// A [`Real`] that is a single number, so that data may decide what is done next.
pub trait Scalar:
    Real<Mask = bool> + PartialOrd + Default + Display + Send + Sync + 'static
{
    /// The name of the type, for messages.
    const NAME: &'static str;
    /// Converts a pixel of any type.
    fn from_pixel<P: Pixel>(pixel: P) -> Self;
    /// The number as an `f64`.
    fn to_f64(self) -> f64;
}

/// A type that cameras and files store pixels in.
pub trait Pixel: Copy + Send + Sync + 'static {
    /// The value as an `f32`, rounded to nearest.
    fn to_f32(self) -> f32;
    /// The value as an `f64`, rounded to nearest.
    fn to_f64(self) -> f64;
}

macro_rules! pixel {
    ($($type:ty),*) => {$(
        impl Pixel for $type {
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )*};
}
pixel!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

macro_rules! scalar {
    ($type:ident, $bits:ident, $exp:path, $sqrt:path, $from_pixel:ident) => {
        impl Real for $type {
            type Mask = bool;
            const EPSILON: f64 = $type::EPSILON as f64;

            #[inline(always)]
            fn splat(value: f64) -> Self {
                value as $type
            }
            // Not fused: a fused operation would be a call into a library where the target has no
            // such instruction, and the reference would round differently from machine to machine.
            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                self * factor + term
            }
            #[inline(always)]
            fn exp2_of_minus_square(self) -> Self {
                $exp(-(self * self))
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $type::from_bits(self.to_bits() & ($bits::MAX >> 1))
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                if self < other { self } else { other }
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                if self > other { self } else { other }
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $sqrt(self)
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn le(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                $type::is_finite(self)
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn normalizer(self) -> Self {
                const MANTISSA: u32 = $type::MANTISSA_DIGITS - 1;
                const BIAS: $bits = ($type::MAX_EXP - 1) as $bits;
                // With the biased exponent e of `self` that of its normalizer is 2·BIAS − e.
                let exponent = (self.to_bits() << 1) >> (MANTISSA + 1);
                let exponent = exponent.clamp(1, 2 * BIAS - 1);
                $type::from_bits((2 * BIAS - exponent) << MANTISSA)
            }
        }

        impl Scalar for $type {
            const NAME: &'static str = stringify!($type);
            #[inline(always)]
            fn from_pixel<P: Pixel>(pixel: P) -> Self {
                pixel.$from_pixel()
            }
            #[inline(always)]
            #[allow(clippy::unnecessary_cast)] // one macro for both types
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    };
}
scalar!(f32, u32, libm::exp2f, libm::sqrtf, to_f32);
scalar!(f64, u64, libm::exp2, libm::sqrt, to_f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn check<R: Scalar>(values: &[f64]) {
        for &value in values {
            let x = R::splat(value);
            let s = x.normalizer();
            let scaled = (x * s).to_f64();
            assert!((1.0..2.0).contains(&scaled), "{value}: {scaled}");
            assert_eq!((s * (R::splat(1.0) / s)).to_f64(), 1.0);
            assert_eq!(s.to_f64().log2().fract(), 0.0, "{value}: not a power of two");
        }
    }

    /// Proves that the normalizer brings numbers to [1, 2) by a power of two.
    #[test]
    fn normalizer_is_a_power_of_two_that_brings_numbers_to_one() {
        let values = [1.0, 1.5, 2.0, 3.999, 65535.0, 1e-30, 1e30, 0.1];
        check::<f32>(&values);
        check::<f64>(&values);
        check::<f64>(&[1e-300, 1e300]);
    }

    /// Proves that odd arguments still give a usable power of two.
    #[test]
    fn normalizer_of_odd_arguments_is_normal() {
        for x in [0.0f32, 1e-45, f32::MIN_POSITIVE, f32::MAX, f32::INFINITY, f32::NAN] {
            assert!(x.normalizer().is_normal() && (1.0 / x.normalizer()).is_normal(), "{x}");
        }
    }
}
