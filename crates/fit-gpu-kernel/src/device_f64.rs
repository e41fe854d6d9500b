//! Double precision as the device computes it.

use core::fmt::{Display, Formatter};
use core::ops::{Add, Div, Mul, Neg, Sub};

use fit_core::{Number, Pixel, Real};
use fit_engine::double;
use fit_engine::functions::Elementary;

use crate::device;
use crate::device_f32::{number, operator};

/// A number in double precision, with the device's fused multiply-add.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
#[repr(transparent)]
pub struct DeviceF64(pub f64);

impl DeviceF64 {
    #[inline(always)]
    fn divide(self, other: Self) -> Self {
        Self(self.0 / other.0)
    }

    #[inline(always)]
    fn inverse(self) -> Self {
        Self(1.0 / self.0)
    }

    #[inline(always)]
    fn power(exponent: f64) -> f64 {
        double::exp(Self(exponent * core::f64::consts::LN_2)).0
    }

    /// 2ⁿ for a whole number n from −1022 to 1023.
    #[inline(always)]
    fn power_of_two(n: Self) -> Self {
        Self(f64::from_bits(((n.0 as i32 + 1023) as u64) << 52))
    }
}

impl Elementary for DeviceF64 {
    #[inline(always)]
    fn nearest(self) -> Self {
        // Of 1.5·2⁵² the last digit is 1.
        const INTEGER: f64 = 6_755_399_441_055_744.0;
        Self((self.0 + INTEGER) - INTEGER)
    }
    #[inline(always)]
    fn scaled(self, n: Self) -> Self {
        let half = Self(n.0 * 0.5).nearest();
        self * Self::power_of_two(half) * Self::power_of_two(n - half)
    }
    // Not inlined: arguments that need it are rare, and its code is long.
    #[inline(never)]
    fn each(self, of: impl Fn(f64) -> f64) -> Self {
        Self(of(self.0))
    }
    #[inline(never)]
    fn both(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        Self(of(self.0, other.0))
    }
}

number!(
    // Of a number and what is none the second, as processors have it.
    DeviceF64(f64): device::fused_f64, device::sqrt_f64, [Real::min, Real::max], to_f64;
    #[inline(always)]
    fn ln(self) -> Self {
        double::ln(self)
    }
);
