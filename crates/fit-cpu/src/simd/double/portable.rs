//! Four numbers in an array, which the compiler turns into the processor's own registers.

use std::array::from_fn;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use fit_core::{Mask, Real};

use super::pack::{Double, elementary, natural};

const LANES: usize = 4;

/// Four numbers.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(in crate::simd) struct Double4([f64; LANES]);

/// Four truth values: all bits set, or none.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(in crate::simd) struct DoubleMask4([u64; LANES]);

impl Mask for DoubleMask4 {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        Self([if value { u64::MAX } else { 0 }; LANES])
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.0.iter().fold(0, |all, lane| all | lane) != 0
    }
}

impl BitAnd for DoubleMask4 {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] & other.0[i]))
    }
}

impl BitOr for DoubleMask4 {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i] | other.0[i]))
    }
}

impl Not for DoubleMask4 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(from_fn(|i| !self.0[i]))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl $trait for Double4 {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(from_fn(|i| self.0[i] $operator other.0[i]))
            }
        }
    };
}
operator!(Add, add, +);
operator!(Sub, sub, -);
operator!(Mul, mul, *);
operator!(Div, div, /);

impl Neg for Double4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(from_fn(|i| -self.0[i]))
    }
}

impl Double4 {
    #[inline(always)]
    fn compare(self, other: Self, holds: impl Fn(f64, f64) -> bool) -> DoubleMask4 {
        DoubleMask4(from_fn(|i| if holds(self.0[i], other.0[i]) { u64::MAX } else { 0 }))
    }
}

impl Real for Double4 {
    type Mask = DoubleMask4;
    const ROWS: usize = 3;
    const EPSILON: f64 = f64::EPSILON;
    const UNROLLED: usize = 7;

    natural! {}

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; LANES])
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        self * factor + term
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(from_fn(|i| self.0[i].abs()))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(from_fn(|i| if self.0[i] < other.0[i] { self.0[i] } else { other.0[i] }))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(from_fn(|i| if self.0[i] > other.0[i] { self.0[i] } else { other.0[i] }))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(from_fn(|i| self.0[i].sqrt()))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> DoubleMask4 {
        self.compare(other, |a, b| a < b)
    }
    #[inline(always)]
    fn le(self, other: Self) -> DoubleMask4 {
        self.compare(other, |a, b| a <= b)
    }
    #[inline(always)]
    fn is_finite(self) -> DoubleMask4 {
        self.abs().le(Self::splat(f64::MAX))
    }
    #[inline(always)]
    fn select(mask: DoubleMask4, yes: Self, no: Self) -> Self {
        Self(from_fn(|i| {
            let (yes, no) = (yes.0[i].to_bits(), no.0[i].to_bits());
            f64::from_bits((mask.0[i] & yes) | (!mask.0[i] & no))
        }))
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        Self(from_fn(|i| ((self.0[i].to_bits() >> 52 & 0x7ff) as i64 - 1023) as f64))
    }
}

impl Double for Double4 {
    const LANES: usize = LANES;

    #[inline(always)]
    fn load(numbers: &[f64]) -> Self {
        Self(from_fn(|i| numbers[i]))
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f64; 8]) {
        numbers[..LANES].copy_from_slice(&self.0);
    }
    #[inline(always)]
    fn power_of_two(n: Self) -> Self {
        // The exponent field is n + 1023, and nothing else is set.
        Self(from_fn(|i| f64::from_bits(((n.0[i] as i64 + 1023) as u64) << 52)))
    }
}

elementary!(Double4);
