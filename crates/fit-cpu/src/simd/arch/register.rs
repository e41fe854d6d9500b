//! Registers of instruction sets, and the numbers and truth values in them.
//!
//! A set says once, as a table, which instruction does what ([`Register`]); all else follows from that here and in [`super::pack`].

use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};
use std::panic::{RefUnwindSafe, UnwindSafe};

pub(in crate::simd) use fit_core::arithmetic::Task;
use fit_core::arithmetic::natural_logarithm;
use fit_core::{Mask, Number, Real};

/// A table of instructions: functions, each of an expression.
///
/// This is where instructions are run, and the only place that says why they may be. [`Real::splat`] makes a number of nothing but
/// an `f64`, so it cannot ask for a token that shows that the processor was looked at. The token, `Available`, is asked for one step
/// before: the types stay inside `simd`, and whatever makes a number of them is reached by `with_packs!` or `with_doubles!`, which take
/// one.
macro_rules! instructions {
    ($(fn $name:ident($($argument:ident $(: $type:ty)?),*) -> $result:ty = $value:expr;)*) => {$(
        #[inline(always)]
        // What every processor of an architecture has is safe there.
        #[allow(unused_unsafe)]
        fn $name($($argument $(: $type)?),*) -> $result {
            // SAFETY: only what was reached with the token of the instruction set makes values of these types.
            unsafe { $value }
        }
    )*};
}

/// [`Real::compiled`], with these features of the processor.
macro_rules! compiled {
    ($($features:literal)?) => {
        #[inline(always)]
        #[allow(unused_unsafe)]
        fn compiled<T: Task<Packed<Self>>>(task: T) -> T::Output {
            // Where it is called from is no place for another copy of it.
            #[inline(never)]
            $(#[target_feature(enable = $features)])?
            fn entry<T: Task<P>, P>(task: T) -> T::Output {
                task.run()
            }
            // SAFETY: as for `instructions!`.
            unsafe { entry(task) }
        }
    };
}

/// A register of an instruction set, and what its instructions do. Those whose names [`Real`], [`Mask`] and [`super::pack`] have do
/// what is said there.
///
/// # Safety
/// It is laid out as an array of its numbers.
pub(in crate::simd) unsafe trait Register: Plain {
    /// What is in the lanes.
    type Number: Number;
    /// A truth value for each lane.
    type Mask: Plain;
    const LANES: usize = size_of::<Self>() / size_of::<Self::Number>();
    const ROWS: usize = 5;
    const UNROLLED: usize = 7;
    /// The largest exponent of a number whose reciprocal is normal.
    const HIGHEST: f64 = if size_of::<Self::Number>() == 4 { 126.0 } else { 1022.0 };

    /// Does a task.
    fn compiled<T: Task<Packed<Self>>>(task: T) -> T::Output;
    fn splat(value: f64) -> Self;
    fn add(a: Self, b: Self) -> Self;
    fn sub(a: Self, b: Self) -> Self;
    fn mul(a: Self, b: Self) -> Self;
    fn div(a: Self, b: Self) -> Self;
    fn min(a: Self, b: Self) -> Self;
    fn max(a: Self, b: Self) -> Self;
    fn neg(a: Self) -> Self;
    fn abs(a: Self) -> Self;
    fn sqrt(a: Self) -> Self;
    /// a·b + c.
    #[inline(always)]
    fn mul_add(a: Self, b: Self, c: Self) -> Self {
        Self::add(Self::mul(a, b), c)
    }
    /// c − a·b.
    #[inline(always)]
    fn neg_mul_add(a: Self, b: Self, c: Self) -> Self {
        Self::sub(c, Self::mul(a, b))
    }
    fn exp2_of_minus_square(a: Packed<Self>) -> Packed<Self>;
    #[inline(always)]
    fn ln(a: Packed<Self>) -> Packed<Self> {
        natural_logarithm(a)
    }
    fn exponent(a: Self) -> Self;
    #[inline(always)]
    fn normalizer(a: Self) -> Self {
        let most = Self::HIGHEST;
        let exponent = Packed(Self::exponent(a)).max(Real::splat(-most)).min(Real::splat(most));
        Self::power_of_two(Self::neg(exponent.0))
    }
    fn power_of_two(n: Self) -> Self;
    #[inline(always)]
    fn scaled(a: Self, n: Self) -> Self {
        let half = nearest(Packed(n) * Packed::splat(0.5)).0;
        let first = Self::mul(a, Self::power_of_two(half));
        Self::mul(first, Self::power_of_two(Self::sub(n, half)))
    }
    fn lt(a: Self, b: Self) -> Self::Mask;
    fn le(a: Self, b: Self) -> Self::Mask;
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// The same truth value in every lane.
    fn truths(value: bool) -> Self::Mask;
    fn and(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    fn not(a: Self::Mask) -> Self::Mask;
    fn bits(a: Self::Mask) -> u32;
    #[inline(always)]
    fn any(a: Self::Mask) -> bool {
        Self::bits(a) != 0
    }
}

/// What is copied and shared.
pub(in crate::simd) trait Plain:
    Copy + Debug + Send + Sync + UnwindSafe + RefUnwindSafe + 'static
{
}

impl<T: Copy + Debug + Send + Sync + UnwindSafe + RefUnwindSafe + 'static> Plain for T {}

/// The numbers in a register.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(in crate::simd) struct Packed<R>(pub(in crate::simd) R);

/// A truth value for each lane of a register.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(in crate::simd) struct Truths<R: Register>(pub(super) R::Mask);

macro_rules! operators {
    ($type:ident: $($trait:ident, $method:ident, $of:ident;)*) => {$(
        impl<R: Register> $trait for $type<R> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(R::$of(self.0, other.0))
            }
        }
    )*};
}
operators! { Truths:
    BitAnd, bitand, and;
    BitOr, bitor, or;
}
operators! { Packed:
    Add, add, add;
    Sub, sub, sub;
    Mul, mul, mul;
    Div, div, div;
}

impl<R: Register> Not for Truths<R> {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(R::not(self.0))
    }
}

impl<R: Register> Neg for Packed<R> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(R::neg(self.0))
    }
}

impl<R: Register> Mask for Truths<R> {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        Self(R::truths(value))
    }
    #[inline(always)]
    fn any(self) -> bool {
        R::any(self.0)
    }
}

/// Functions that are one of the register each.
macro_rules! functions {
    ($(fn $name:ident(self $(, $argument:ident)*) -> $result:ident;)*) => {$(
        #[inline(always)]
        fn $name(self $(, $argument: Self)*) -> $result<R> {
            $result(R::$name(self.0 $(, $argument.0)*))
        }
    )*};
}

impl<R: Register> Real for Packed<R> {
    type Mask = Truths<R>;
    const ROWS: usize = R::ROWS;
    const EPSILON: f64 = R::Number::EPSILON;
    const UNROLLED: usize = R::UNROLLED;

    functions! {
        fn mul_add(self, factor, term) -> Packed;
        fn neg_mul_add(self, factor, term) -> Packed;
        fn exponent(self) -> Packed;
        fn abs(self) -> Packed;
        fn min(self, other) -> Packed;
        fn max(self, other) -> Packed;
        fn sqrt(self) -> Packed;
        fn lt(self, other) -> Truths;
        fn le(self, other) -> Truths;
        fn normalizer(self) -> Packed;
    }

    #[inline(always)]
    fn compiled<T: Task<Self>>(task: T) -> T::Output {
        R::compiled(task)
    }
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(R::splat(value))
    }
    #[inline(always)]
    fn exp2_of_minus_square(self) -> Self {
        R::exp2_of_minus_square(self)
    }
    #[inline(always)]
    fn ln(self) -> Self {
        R::ln(self)
    }
    #[inline(always)]
    fn is_finite(self) -> Truths<R> {
        self.abs().lt(Self::splat(f64::INFINITY))
    }
    #[inline(always)]
    fn select(mask: Truths<R>, yes: Self, no: Self) -> Self {
        Self(R::select(mask.0, yes.0, no.0))
    }
}

/// 1.5·2²³ or 1.5·2⁵², which leaves no room for a fraction.
#[inline(always)]
pub(in crate::simd) fn integer<R: Real>() -> R {
    R::splat(1.5 / R::EPSILON)
}

/// The nearest whole number, for |x| ≤ 2²² or 2⁵¹.
#[inline(always)]
pub(in crate::simd) fn nearest<R: Real>(x: R) -> R {
    (x + integer()) - integer()
}
