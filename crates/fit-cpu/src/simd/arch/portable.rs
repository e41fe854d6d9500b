//! Four lanes in an array, which the compiler turns into the processor's own registers. On x86-64 `sse2` stands for it.
//!
//! `fit_core::Lanes` takes its exponential lane by lane from `libm`, to the bits of a single fit. This type
//! uses the exponential of the registers, and masks as wide as numbers, so that everything is vectorized.

use std::array::from_fn;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use fit_core::{Mask, Real};

use super::pack::{Exponent, Pack, exp2_of_minus_square};

const LANES: usize = 4;

/// Four numbers.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(in crate::simd) struct Array4([f32; LANES]);

/// Four truth values: all bits set, or none.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub(in crate::simd) struct ArrayMask4([u32; LANES]);

impl Mask for ArrayMask4 {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        Self([if value { u32::MAX } else { 0 }; LANES])
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.0.iter().fold(0, |all, lane| all | lane) != 0
    }
}

macro_rules! mask_operator {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl $trait for ArrayMask4 {
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

impl Not for ArrayMask4 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(from_fn(|i| !self.0[i]))
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $operator:tt) => {
        impl $trait for Array4 {
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

impl Neg for Array4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(from_fn(|i| -self.0[i]))
    }
}

impl Array4 {
    #[inline(always)]
    fn compare(self, other: Self, holds: impl Fn(f32, f32) -> bool) -> ArrayMask4 {
        ArrayMask4(from_fn(|i| if holds(self.0[i], other.0[i]) { u32::MAX } else { 0 }))
    }
}

impl Real for Array4 {
    type Mask = ArrayMask4;
    const ROWS: usize = 3;
    const EPSILON: f64 = f32::EPSILON as f64;
    const UNROLLED: usize = 8;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value as f32; LANES])
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        self * factor + term
    }
    #[inline(always)]
    fn exp2_of_minus_square(self) -> Self {
        exp2_of_minus_square(self)
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
    fn lt(self, other: Self) -> ArrayMask4 {
        self.compare(other, |a, b| a < b)
    }
    #[inline(always)]
    fn le(self, other: Self) -> ArrayMask4 {
        self.compare(other, |a, b| a <= b)
    }
    #[inline(always)]
    fn is_finite(self) -> ArrayMask4 {
        self.abs().le(Self::splat(f32::MAX.into()))
    }
    #[inline(always)]
    fn select(mask: ArrayMask4, yes: Self, no: Self) -> Self {
        Self(from_fn(|i| {
            let (yes, no) = (yes.0[i].to_bits(), no.0[i].to_bits());
            f32::from_bits((mask.0[i] & yes) | (!mask.0[i] & no))
        }))
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        Self(from_fn(|i| self.0[i].exponent()))
    }
    #[inline(always)]
    fn normalizer(self) -> Self {
        Self(from_fn(|i| self.0[i].normalizer()))
    }
}

impl Pack for Array4 {
    const LANES: usize = LANES;
    type Moves = [u32; LANES];

    #[inline(always)]
    fn load(numbers: &[f32]) -> Self {
        Self(from_fn(|i| numbers[i]))
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f32]) {
        numbers[..LANES].copy_from_slice(&self.0);
    }
    #[inline(always)]
    fn numbers(packs: &mut [Self]) -> &mut [f32] {
        // SAFETY: `Array4` is an array of four numbers and nothing else, its alignment being its size.
        unsafe {
            let count = packs.len() * Self::LANES;
            std::slice::from_raw_parts_mut(packs.as_mut_ptr().cast::<f32>(), count)
        }
    }
    #[inline(always)]
    fn transpose(rows: &[Self], step: usize, columns: &mut [Self]) {
        for (i, column) in columns[..LANES].iter_mut().enumerate() {
            *column = Self(from_fn(|j| rows[j * step].0[i]));
        }
    }
    #[inline(always)]
    fn moves(from: &[u32; 32]) -> [u32; LANES] {
        from_fn(|i| from[i] % LANES as u32)
    }
    #[inline(always)]
    fn moved(self, moves: [u32; LANES]) -> Self {
        Self(from_fn(|i| self.0[moves[i] as usize % LANES]))
    }
    #[inline(always)]
    fn put(into: &mut [Self], mask: ArrayMask4, from: &[Self], moves: [u32; LANES]) {
        // Without an instruction that moves lanes it is cheaper to move only the lanes in the mask.
        for lane in (0..LANES).filter(|&lane| mask.0[lane] != 0) {
            let other = moves[lane] as usize % LANES;
            for (into, from) in into.iter_mut().zip(from) {
                into.0[lane] = from.0[other];
            }
        }
    }
    #[inline(always)]
    fn power_of_two(n: Self) -> Self {
        // The exponent field is n + 127, and nothing else is set.
        Self(from_fn(|i| f32::from_bits(((n.0[i] as i32 + 127) as u32) << 23)))
    }
    #[inline(always)]
    fn bits(mask: ArrayMask4) -> u32 {
        mask.0.iter().enumerate().fold(0, |bits, (i, lane)| bits | (lane & 1) << i)
    }
    #[inline(always)]
    fn mask(bits: u32) -> ArrayMask4 {
        ArrayMask4(from_fn(|i| if bits >> i & 1 == 1 { u32::MAX } else { 0 }))
    }
}

impl Exponent for Array4 {
    #[inline(always)]
    fn lower_exponent(self, shifted: Self) -> Self {
        Self(from_fn(|i| {
            f32::from_bits(self.0[i].to_bits().wrapping_sub(shifted.0[i].to_bits() << 23))
        }))
    }
}
