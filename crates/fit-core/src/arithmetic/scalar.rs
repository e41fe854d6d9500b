//! Single numbers: `f32` and `f64`, and what pixels are stored in.

use super::{Erase, Mask, Number, Pixel, Real, Task};

/// Traits that no other crate can implement: code that is not safe counts on what these types are.
pub(crate) mod sealed {
    /// See [`super::Pixel`] and [`crate::Scalar`].
    pub trait Sealed {}
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

macro_rules! pixel {
    ($($type:ident),*) => {$(
        impl sealed::Sealed for $type {}

        impl Pixel for $type {
            #[inline(always)]
            fn to_f32(self) -> f32 {
                self as f32
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            fn erase<E: Erase>(of: E::Of<Self>) -> E::Erased {
                E::$type(of)
            }
        }
    )*};
}
pixel!(u8, u16, u32, u64, i8, i16, i32, i64, f32, f64);

macro_rules! scalar {
    ($type:ident, $bits:ident, $exp:path, $sqrt:path, $erf:path, $ln:path, $from_pixel:ident) => {
        impl Real for $type {
            type Mask = bool;
            const EPSILON: f64 = $type::EPSILON as f64;
            const UNROLLED: usize = 8;

            #[inline(never)]
            fn compiled<T: Task<Self>>(task: T) -> T::Output {
                task.run()
            }
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
            fn exp2_integral(self) -> (Self, Self) {
                // erf(w·√(ln 2))·½√(π/ln 2)
                let w = self * Self::splat(0.832_554_611_157_697_8);
                let whole = Self::splat(1.064_467_019_431_226_2);
                (self.exp2_of_minus_square(), whole * $erf(w))
            }
            fn ln(self) -> Self {
                $ln(self)
            }
            #[inline(always)]
            fn exponent(self) -> Self {
                const MANTISSA: u32 = $type::MANTISSA_DIGITS - 1;
                let biased = ((self.to_bits() << 1) >> (MANTISSA + 1)) as i32;
                (biased - ($type::MAX_EXP - 1)) as $type
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

        impl Number for $type {
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
scalar!(f32, u32, libm::exp2f, libm::sqrtf, libm::erff, libm::logf, to_f32);
scalar!(f64, u64, libm::exp2, libm::sqrt, libm::erf, libm::log, to_f64);

#[cfg(test)]
mod tests {
    use super::*;

    fn check<R: Number>(values: &[f64]) {
        for &value in values {
            let x = R::splat(value);
            let s = x.normalizer();
            let scaled = (x * s).to_f64();
            assert!((1.0..2.0).contains(&scaled), "{value}: {scaled}");
            assert_eq!((s * (R::splat(1.0) / s)).to_f64(), 1.0);
            assert_eq!(s.to_f64().to_bits() << 12, 0, "{value}: not a power of two");
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
