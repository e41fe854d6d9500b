//! Sixteen lanes in a 512-bit register.

use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use fit_core::{Mask, Real};

use super::pack::{Pack, exp2_of_minus_square};

/// Sixteen numbers.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(super) struct F32x16(__m512);

/// Sixteen truth values, a bit each.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(super) struct Mask16(__mmask16);

/// Runs an instruction of AVX-512.
macro_rules! instruction {
    ($call:expr) => {
        // SAFETY: values of these types are made by the engine only, which was entered by
        // `InstructionSet::Avx512` after the processor said that it has AVX-512F.
        unsafe { $call }
    };
}

impl Mask for Mask16 {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        Self(if value { u16::MAX } else { 0 })
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.0 != 0
    }
}

impl BitAnd for Mask16 {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Mask16 {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Not for Mask16 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

macro_rules! operator {
    ($trait:ident, $method:ident, $instruction:ident) => {
        impl $trait for F32x16 {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self(instruction!($instruction(self.0, other.0)))
            }
        }
    };
}
operator!(Add, add, _mm512_add_ps);
operator!(Sub, sub, _mm512_sub_ps);
operator!(Mul, mul, _mm512_mul_ps);
operator!(Div, div, _mm512_div_ps);

impl Neg for F32x16 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self::splat(0.0) - self
    }
}

impl F32x16 {
    /// Merges all lanes, in every lane.
    #[inline(always)]
    fn fold(self, merge: impl Fn(Self, Self) -> Self) -> Self {
        let halves = merge(self, Self(instruction!(_mm512_shuffle_f32x4::<0x4e>(self.0, self.0))));
        let rotated = instruction!(_mm512_shuffle_f32x4::<0xb1>(halves.0, halves.0));
        let quarters = merge(halves, Self(rotated));
        let swapped = instruction!(_mm512_permute_ps::<0x4e>(quarters.0));
        let pairs = merge(quarters, Self(swapped));
        merge(pairs, Self(instruction!(_mm512_permute_ps::<0xb1>(pairs.0))))
    }
}

impl Real for F32x16 {
    type Mask = Mask16;
    const EPSILON: f64 = f32::EPSILON as f64;

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(instruction!(_mm512_set1_ps(value as f32)))
    }
    #[inline(always)]
    fn mul_add(self, factor: Self, term: Self) -> Self {
        Self(instruction!(_mm512_fmadd_ps(self.0, factor.0, term.0)))
    }
    #[inline(always)]
    fn exp2_of_minus_square(self) -> Self {
        exp2_of_minus_square(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(instruction!(_mm512_abs_ps(self.0)))
    }
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(instruction!(_mm512_min_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(instruction!(_mm512_max_ps(self.0, other.0)))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(instruction!(_mm512_sqrt_ps(self.0)))
    }
    #[inline(always)]
    fn lt(self, other: Self) -> Mask16 {
        Mask16(instruction!(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn le(self, other: Self) -> Mask16 {
        Mask16(instruction!(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.0, other.0)))
    }
    #[inline(always)]
    fn is_finite(self) -> Mask16 {
        self.abs().le(Self::splat(f32::MAX.into()))
    }
    #[inline(always)]
    fn select(mask: Mask16, yes: Self, no: Self) -> Self {
        Self(instruction!(_mm512_mask_blend_ps(mask.0, no.0, yes.0)))
    }
    #[inline(always)]
    fn normalizer(self) -> Self {
        // 2^−⌊log₂ x⌋: the exponent as a number, and a power of two of it.
        let exponent = instruction!(_mm512_getexp_ps(self.0));
        let inverse = Self(exponent).max(Self::splat(-126.0)).min(Self::splat(126.0));
        Self(instruction!(_mm512_scalef_ps(_mm512_set1_ps(1.0), (-inverse).0)))
    }
}

impl Pack for F32x16 {
    const LANES: usize = 16;

    #[inline(always)]
    fn load(numbers: &[f32]) -> Self {
        let numbers: &[f32; 16] = numbers[..16].try_into().expect("sixteen numbers");
        Self(instruction!(_mm512_loadu_ps(numbers.as_ptr())))
    }
    #[inline(always)]
    fn broadcast(number: f32) -> Self {
        Self(instruction!(_mm512_set1_ps(number)))
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f32]) {
        let numbers: &mut [f32; 16] = (&mut numbers[..16]).try_into().expect("sixteen numbers");
        instruction!(_mm512_storeu_ps(numbers.as_mut_ptr(), self.0));
    }
    #[inline(always)]
    fn set_lane(&mut self, lane: usize, value: f32) {
        assert!(lane < Self::LANES);
        // SAFETY: a register of sixteen numbers is laid out as an array of them, and the lane is one of
        // the sixteen. Volatile, because a compiler would make a scatter of a run of such stores, which
        // takes several times as long.
        unsafe { std::ptr::from_mut(self).cast::<f32>().add(lane).write_volatile(value) }
    }
    #[inline(always)]
    fn first(self) -> f32 {
        instruction!(_mm512_cvtss_f32(self.0))
    }
    #[inline(always)]
    fn numbers(packs: &mut [Self]) -> &mut [f32] {
        // SAFETY: a register of sixteen numbers is laid out as an array of them.
        unsafe {
            let count = packs.len() * Self::LANES;
            std::slice::from_raw_parts_mut(packs.as_mut_ptr().cast::<f32>(), count)
        }
    }
    #[inline(always)]
    fn sum_of_lanes(self) -> Self {
        self.fold(|a, b| a + b)
    }
    #[inline(always)]
    fn least_lane(self) -> Self {
        self.fold(Real::min)
    }
    #[inline(always)]
    fn bits(mask: Mask16) -> u32 {
        mask.0.into()
    }
    #[inline(always)]
    fn mask(bits: u32) -> Mask16 {
        Mask16(bits as u16)
    }
    #[inline(always)]
    fn lower_exponent(self, shifted: Self) -> Self {
        Self(instruction!({
            let n = _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted.0));
            _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_castps_si512(self.0), n))
        }))
    }
}
