//! Eight numbers in a 512-bit register.

use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use fit_core::{Mask, Real};

use super::pack::{Double, elementary, natural};

/// Eight numbers.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(in crate::simd) struct F64x8(__m512d);

/// Eight truth values, a bit each.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(in crate::simd) struct Mask8(__mmask8);

/// Runs an instruction of AVX-512.
macro_rules! instruction {
    ($call:expr) => {
        // SAFETY: values of these types are made by an engine only, which was made after the processor said
        // that it has AVX-512F.
        unsafe { $call }
    };
}

impl Mask for Mask8 {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        Self(if value { u8::MAX } else { 0 })
    }
    #[inline(always)]
    fn any(self) -> bool {
        self.0 != 0
    }
}

impl BitAnd for Mask8 {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Mask8 {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Not for Mask8 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

operators! { F64x8:
    Add, add, _mm512_add_pd;
    Sub, sub, _mm512_sub_pd;
    Mul, mul, _mm512_mul_pd;
    Div, div, _mm512_div_pd;
}

impl Neg for F64x8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // Of floating-point numbers AVX-512F has no exclusive or.
        Self(instruction!({
            let (bits, sign) =
                (_mm512_castpd_si512(self.0), _mm512_castpd_si512(_mm512_set1_pd(-0.0)));
            _mm512_castsi512_pd(_mm512_xor_epi64(bits, sign))
        }))
    }
}

impl Real for F64x8 {
    type Mask = Mask8;
    const EPSILON: f64 = f64::EPSILON;
    const UNROLLED: usize = 7;

    functions! {
        abs: _mm512_abs_pd;
        sqrt: _mm512_sqrt_pd;
    }
    functions_of_two! {
        min: _mm512_min_pd;
        max: _mm512_max_pd;
    }
    comparisons! { Mask8:
        |a, b| lt = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b), le = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b);
        f64::MAX
    }
    fused! { |a, b, c| _mm512_fmadd_pd(a, b, c), _mm512_fnmadd_pd(a, b, c) }
    natural! {}

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(instruction!(_mm512_set1_pd(value)))
    }
    #[inline(always)]
    fn select(mask: Mask8, yes: Self, no: Self) -> Self {
        Self(instruction!(_mm512_mask_blend_pd(mask.0, no.0, yes.0)))
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        Self(instruction!(_mm512_getexp_pd(self.0)))
    }
}

impl Double for F64x8 {
    const LANES: usize = 8;

    #[inline(always)]
    fn load(numbers: &[f64]) -> Self {
        let numbers: &[f64; 8] = numbers[..8].try_into().expect("a register");
        Self(instruction!(_mm512_loadu_pd(numbers.as_ptr())))
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f64; 8]) {
        instruction!(_mm512_storeu_pd(numbers.as_mut_ptr(), self.0));
    }
    #[inline(always)]
    fn power_of_two(n: Self) -> Self {
        Self(instruction!(_mm512_scalef_pd(_mm512_set1_pd(1.0), n.0)))
    }
    #[inline(always)]
    fn with_power(self, n: Self) -> Self {
        Self(instruction!(_mm512_scalef_pd(self.0, n.0)))
    }
}

elementary!(F64x8);
