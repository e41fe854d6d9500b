//! Single precision as the device computes it: fast, or the same as the host to the last bit.

use core::f32::consts::LN_2;
use core::fmt::{Display, Formatter};
use core::ops::{Add, Div, Mul, Neg, Sub};

use fit_core::{Number, Pixel, Real};
use fit_engine::functions::Elementary;

use crate::device;

/// A number in single precision, with the device's fused multiply-add, its exponential and its division,
/// which are fast and not rounded correctly.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct DeviceF32(pub f32);

/// A number in single precision whose operations give the same bits on device and host: all are rounded
/// correctly, and the exponential is made of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct ExactF32(pub f32);

impl DeviceF32 {
    #[inline(always)]
    fn divide(self, other: Self) -> Self {
        Self(device::divide(self.0, other.0))
    }

    #[inline(always)]
    fn inverse(self) -> Self {
        Self(device::reciprocal(self.0))
    }

    #[inline(always)]
    fn power(exponent: f32) -> f32 {
        device::exp2(exponent)
    }
}

impl Elementary for DeviceF32 {
    #[inline(always)]
    fn nearest(self) -> Self {
        // Of 1.5·2²³ the last digit is 1.
        const INTEGER: f32 = 12_582_912.0;
        Self((self.0 + INTEGER) - INTEGER)
    }
    #[inline(always)]
    fn scaled(self, n: Self) -> Self {
        let half = Self(n.0 * 0.5).nearest();
        Self(self.0 * device::exp2(half.0) * device::exp2(n.0 - half.0))
    }
    // Not inlined: arguments that need it are rare, and its code is long.
    #[inline(never)]
    fn each(self, of: impl Fn(f64) -> f64) -> Self {
        Self(of(self.0.into()) as f32)
    }
    #[inline(never)]
    fn both(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self(of(self.0.into(), other.0.into()) as f32)
    }
}

impl ExactF32 {
    #[inline(always)]
    fn divide(self, other: Self) -> Self {
        Self(self.0 / other.0)
    }

    #[inline(always)]
    fn inverse(self) -> Self {
        Self(1.0 / self.0)
    }

    /// 2^exponent for an exponent of zero or less, within two units in the last place; 0 below 2⁻¹²⁶.
    #[inline(always)]
    fn power(exponent: f32) -> f32 {
        if exponent.is_nan() {
            return exponent;
        }
        if exponent < -126.0 {
            return 0.0;
        }
        // The nearest integer, and a polynomial for the rest, of a relative error of 3·10⁻⁹.
        let whole = (exponent - 0.5) as i32;
        let rest = exponent - whole as f32;
        let mut value = 0.000_154_697_32;
        let coefficients = [0.001_340_043_2, 0.009_618_026, 0.055_503_27, 0.240_226_5, LN_2, 1.0];
        for i in 0..coefficients.len() {
            value = device::fused(value, rest, coefficients[i]);
        }
        value * f32::from_bits(((whole + 127) as u32) << 23)
    }
}

macro_rules! operator {
    ($number:ident, $trait:ident, $method:ident, $operator:tt) => {
        impl $trait for $number {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0 $operator other.0)
            }
        }
    };
}

macro_rules! number {
    ($number:ident($inner:ident): $fused:path, $sqrt:path, [$min:path, $max:path], $from_pixel:ident;
        $($own:item)*) => {
        operator!($number, Add, add, +);
        operator!($number, Sub, sub, -);
        operator!($number, Mul, mul, *);

        impl Div for $number {
            type Output = Self;
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                self.divide(other)
            }
        }

        impl Neg for $number {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                Self(-self.0)
            }
        }

        impl Real for $number {
            type Mask = bool;
            const EPSILON: f64 = $inner::EPSILON as f64;

            #[inline(always)]
            fn splat(value: f64) -> Self {
                Self(value as $inner)
            }
            #[inline(always)]
            fn mul_add(self, factor: Self, term: Self) -> Self {
                Self($fused(self.0, factor.0, term.0))
            }
            #[inline(always)]
            fn neg_mul_add(self, factor: Self, term: Self) -> Self {
                Self($fused(-self.0, factor.0, term.0))
            }
            #[inline(always)]
            fn reciprocal(self) -> Self {
                self.inverse()
            }
            #[inline(always)]
            fn exp2_of_minus_square(self) -> Self {
                Self(Self::power(-(self.0 * self.0)))
            }
            #[inline(always)]
            fn exp2_of_minus(self) -> Self {
                Self(Self::power(-self.0))
            }
            $($own)*
            #[inline(always)]
            fn abs(self) -> Self {
                Self(self.0.abs())
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                Self($min(self.0, other.0))
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                Self($max(self.0, other.0))
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                Self($sqrt(self.0))
            }
            #[inline(always)]
            fn lt(self, other: Self) -> bool {
                self.0 < other.0
            }
            #[inline(always)]
            fn le(self, other: Self) -> bool {
                self.0 <= other.0
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.0.is_finite()
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn exponent(self) -> Self {
                Self(Real::exponent(self.0))
            }
            #[inline(always)]
            fn normalizer(self) -> Self {
                Self(Real::normalizer(self.0))
            }
        }

        impl From<f32> for $number {
            #[inline(always)]
            fn from(value: f32) -> Self {
                Self(value.into())
            }
        }

        impl Display for $number {
            fn fmt(&self, f: &mut Formatter<'_>) -> core::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl Number for $number {
            #[inline(always)]
            fn from_pixel<P: Pixel>(pixel: P) -> Self {
                Self(pixel.$from_pixel())
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self.0.into()
            }
        }
    };
}
number!(
    DeviceF32(f32): device::fused, device::sqrt, [f32::min, f32::max], to_f32;
    #[inline(always)]
    fn ln(self) -> Self {
        Self(device::log2(self.0) * LN_2)
    }
);
number!(ExactF32(f32): device::fused, device::sqrt, [f32::min, f32::max], to_f32;);
pub(crate) use {number, operator};

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the exponential is within two units in the last place, and 0 where it is next to nothing.
    #[test]
    fn the_exact_exponential_is_accurate() {
        for i in 0..100_000 {
            let x = i as f32 * 1.26e-3;
            let expected = libm::exp2(-f64::from(x));
            let off = (f64::from(ExactF32(x).exp2_of_minus().0) / expected - 1.0).abs();
            assert!(off < 2.0 * f64::from(f32::EPSILON), "{x}: {off:e}");
        }
        assert_eq!(ExactF32(127.0).exp2_of_minus().0, 0.0);
        assert_eq!(ExactF32(f32::INFINITY).exp2_of_minus().0, 0.0);
        assert!(ExactF32(f32::NAN).exp2_of_minus().0.is_nan());
        assert_eq!(ExactF32(0.0).exp2_of_minus().0, 1.0);
    }
}
