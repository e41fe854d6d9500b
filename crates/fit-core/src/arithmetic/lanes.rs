//! A pack of numbers, one fit per lane, in portable Rust.
//!
//! [`Lanes`] runs the mathematics on several fits side by side on any machine. Each lane gives the
//! same bits as its element type alone.

use core::array::from_fn;
use core::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use super::{Mask, Number, Real};

/// `N` numbers of type `T`, one in each lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lanes<T, const N: usize>(pub [T; N]);

/// A truth value for each lane of a [`Lanes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneMask<const N: usize>(pub [bool; N]);

impl<const N: usize> Mask for LaneMask<N> {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        Self([value; N])
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.0.iter().any(|&lane| lane)
    }
}

macro_rules! mask_operator {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl<const N: usize> $trait for LaneMask<N> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(from_fn(|i| self.0[i] $operator other.0[i]))
            }
        }
    };
}
mask_operator!(BitAnd, bitand, &);
mask_operator!(BitOr, bitor, |);

impl<const N: usize> Not for LaneMask<N> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(|lane| !lane))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl<T: Number, const N: usize> $trait for Lanes<T, N> {
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

impl<T: Number, const N: usize> Neg for Lanes<T, N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|lane| -lane))
    }
}

impl<T: Number, const N: usize> Real for Lanes<T, N> {
    type Mask = LaneMask<N>;
    const EPSILON: f64 = T::EPSILON;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([T::splat(value); N])
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(from_fn(|i| self.0[i].mul_add(factor.0[i], term.0[i])))
    }
    #[inline(always)]
    fn neg_mul_add(self, factor: Self, term: Self) -> Self {
        Self(from_fn(|i| self.0[i].neg_mul_add(factor.0[i], term.0[i])))
    }
    #[inline(always)]
    fn exp2_of_minus_square(self) -> Self {
        Self(self.0.map(T::exp2_of_minus_square))
    }
    #[inline(always)]
    fn exp2_of_minus(self) -> Self {
        Self(self.0.map(T::exp2_of_minus))
    }
    fn exp2_integral(self) -> (Self, Self) {
        let both = self.0.map(T::exp2_integral);
        (Self(both.map(|(value, _)| value)), Self(both.map(|(_, integral)| integral)))
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        Self(self.0.map(T::exponent))
    }
    fn ln(self) -> Self {
        Self(self.0.map(T::ln))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(self.0.map(T::abs))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i].min(other.0[i])))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(from_fn(|i| self.0[i].max(other.0[i])))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(T::sqrt))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> LaneMask<N> {
        LaneMask(from_fn(|i| self.0[i].lt(other.0[i])))
    }
    #[inline(always)]
    fn le(self, other: Self) -> LaneMask<N> {
        LaneMask(from_fn(|i| self.0[i].le(other.0[i])))
    }
    #[inline(always)]
    fn is_finite(self) -> LaneMask<N> {
        LaneMask(self.0.map(T::is_finite))
    }
    #[inline(always)]
    fn select(mask: LaneMask<N>, yes: Self, no: Self) -> Self {
        Self(from_fn(|i| if mask.0[i] { yes.0[i] } else { no.0[i] }))
    }
    #[inline(always)]
    fn normalizer(self) -> Self {
        Self(self.0.map(T::normalizer))
    }
}
