//! Four numbers in an array, which the compiler turns into the processor's own registers. On x86-64 `sse2` stands for those of single
//! precision. In a mask all bits of a lane are set, or none.
//!
//! `fit_core::Lanes` takes its exponential lane by lane from `libm`, to the bits of a single fit. This type
//! uses the exponential of the registers, and masks as wide as numbers, so that everything is vectorized.

use std::array::from_fn;

use fit_core::Real;
use fit_engine::double;

use super::pack::{Exponent, Pack, Vector, exp2_of_minus_square};
use super::register::{Packed, Register, Task, Truths};

/// Four of something.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(in crate::simd) struct Four<T>([T; 4]);

/// Four numbers.
pub(in crate::simd) type Array4 = Packed<Four<f32>>;

/// Four numbers in double precision.
pub(in crate::simd) type Double4 = Packed<Four<f64>>;

impl<T: Copy> Four<T> {
    /// An operation in each lane.
    #[inline(always)]
    fn each<U>(self, of: impl Fn(T) -> U) -> Four<U> {
        Four(from_fn(|i| of(self.0[i])))
    }
    /// An operation on both numbers of each lane.
    #[inline(always)]
    fn both<S: Copy, U>(self, other: Four<S>, of: impl Fn(T, S) -> U) -> Four<U> {
        Four(from_fn(|i| of(self.0[i], other.0[i])))
    }
}

macro_rules! register {
    ($number:ident, $bits:ident, $signed:ident, unrolled: $unrolled:literal, $($own:tt)*) => {
        // SAFETY: it is an array of four numbers, and its size a multiple of its alignment.
        unsafe impl Register for Four<$number> {
            type Number = $number;
            type Mask = Four<$bits>;
            const ROWS: usize = 3;
            const UNROLLED: usize = $unrolled;

            compiled! {}
            instructions! {
                $($own)*
                fn splat(value: f64) -> Self = Four([value as $number; 4]);
                fn add(a: Self, b: Self) -> Self = a.both(b, |a, b| a + b);
                fn sub(a: Self, b: Self) -> Self = a.both(b, |a, b| a - b);
                fn mul(a: Self, b: Self) -> Self = a.both(b, |a, b| a * b);
                fn div(a: Self, b: Self) -> Self = a.both(b, |a, b| a / b);
                fn min(a: Self, b: Self) -> Self = a.both(b, Real::min);
                fn max(a: Self, b: Self) -> Self = a.both(b, Real::max);
                fn neg(a: Self) -> Self = a.each(|a| -a);
                fn abs(a: Self) -> Self = a.each(Real::abs);
                fn sqrt(a: Self) -> Self = a.each($number::sqrt);
                fn exponent(a: Self) -> Self = a.each(Real::exponent);
                fn normalizer(a: Self) -> Self = a.each(Real::normalizer);
                // The exponent field is n + 127 or n + 1023, and nothing else is set.
                fn power_of_two(n: Self) -> Self = n.each(|n| {
                    let biased = (n as $signed + ($number::MAX_EXP as $signed - 1)) as $bits;
                    $number::from_bits(biased << ($number::MANTISSA_DIGITS - 1))
                });
                fn lt(a: Self, b: Self) -> Four<$bits> = a.both(b, |a, b| if a < b { $bits::MAX } else { 0 });
                fn le(a: Self, b: Self) -> Four<$bits> = a.both(b, |a, b| if a <= b { $bits::MAX } else { 0 });
                fn select(mask: Four<$bits>, yes: Self, no: Self) -> Self = {
                    let kept = mask.both(yes, |mask, yes| mask & yes.to_bits());
                    let others = mask.both(no, |mask, no| !mask & no.to_bits());
                    kept.both(others, |kept, other| $number::from_bits(kept | other))
                };
                fn truths(value: bool) -> Four<$bits> = Four([if value { $bits::MAX } else { 0 }; 4]);
                fn and(a: Four<$bits>, b: Four<$bits>) -> Four<$bits> = a.both(b, |a, b| a & b);
                fn or(a: Four<$bits>, b: Four<$bits>) -> Four<$bits> = a.both(b, |a, b| a | b);
                fn not(a: Four<$bits>) -> Four<$bits> = a.each(|a| !a);
                fn bits(a: Four<$bits>) -> u32 =
                    a.0.iter().enumerate().fold(0, |bits, (i, lane)| bits | (*lane as u32 & 1) << i);
                fn any(a: Four<$bits>) -> bool = a.0.iter().fold(0, |all, lane| all | lane) != 0;
            }
        }
    };
}
register! { f32, u32, i32, unrolled: 8,
    fn exp2_of_minus_square(a: Packed<Self>) -> Packed<Self> = exp2_of_minus_square(a);
}
register! { f64, u64, i64, unrolled: 7,
    fn exp2_of_minus_square(a: Packed<Self>) -> Packed<Self> = double::exp2_of_minus_square(a);
    fn ln(a: Packed<Self>) -> Packed<Self> = double::ln(a);
}

impl Exponent for Four<f32> {
    instructions! {
        fn lower_exponent(a: Self, shifted: Self) -> Self =
            a.both(shifted, |a, n| f32::from_bits(a.to_bits().wrapping_sub(n.to_bits() << 23)));
    }
}

impl Pack for Array4 {
    moves_of_four! {}

    instructions! {
        fn transpose(rows: &[Self], step: usize, columns: &mut [Self]) -> () = {
            for (i, column) in columns[..4].iter_mut().enumerate() {
                *column = Packed(Four(from_fn(|j| rows[j * step].0.0[i])));
            }
        };
        fn mask(bits: u32) -> Truths<Four<f32>> =
            Truths(Four(from_fn(|i| if bits >> i & 1 == 1 { u32::MAX } else { 0 })));
    }
}
