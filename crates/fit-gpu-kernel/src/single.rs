//! Single precision as the device computes it.

use core::ops::{Add, Div, Mul, Neg, Sub};

use fit_core::Real;

use crate::device;

/// A number in single precision, with the device's fused multiply-add and its exponential.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct Single(pub f32);

macro_rules! operator {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl $trait for Single {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(self.0 $operator other.0)
            }
        }
    };
}
operator!(Add, add, +);
operator!(Sub, sub, -);
operator!(Mul, mul, *);

impl Div for Single {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(device::divide(self.0, other.0))
    }
}

impl Neg for Single {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl Real for Single {
    type Mask = bool;
    const EPSILON: f64 = f32::EPSILON as f64;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(value as f32)
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(device::fused(self.0, factor.0, term.0))
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, term: Self) -> Self {
        Self(device::fused(-self.0, factor.0, term.0))
    }
    #[inline(always)]
    fn exp2_of_minus_square(self) -> Self {
        Self(device::exp2(-(self.0 * self.0)))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.abs())
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(if self.0 < other.0 { self.0 } else { other.0 })
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(if self.0 > other.0 { self.0 } else { other.0 })
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(device::sqrt(self.0))
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
    fn normalizer(self) -> Self {
        Self(Real::normalizer(self.0))
    }
}
