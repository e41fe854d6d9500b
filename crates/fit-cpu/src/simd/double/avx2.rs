//! Four numbers in a 256-bit register.

use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use fit_core::{Mask, Real};

use super::pack::{Double, elementary, natural};

/// Four numbers.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(in crate::simd) struct F64x4(__m256d);

/// Four truth values: all bits of a lane set, or none.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(in crate::simd) struct Mask4(__m256d);

/// Runs an instruction of AVX2 or FMA.
macro_rules! instruction {
    ($call:expr) => {
        // SAFETY: values of these types are made by an engine only, which was made after the processor said
        // that it has AVX2 and FMA.
        unsafe { $call }
    };
}

impl Mask for Mask4 {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        let bits = if value { -1 } else { 0 };
        Self(instruction!(_mm256_castsi256_pd(_mm256_set1_epi64x(bits))))
    }
    #[inline(always)]
    fn any(self) -> bool {
        instruction!(_mm256_movemask_pd(self.0)) != 0
    }
}

impl Not for Mask4 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(instruction!(_mm256_xor_pd(self.0, Self::splat(true).0)))
    }
}

operators! { Mask4:
    BitAnd, bitand, _mm256_and_pd;
    BitOr, bitor, _mm256_or_pd;
}
operators! { F64x4:
    Add, add, _mm256_add_pd;
    Sub, sub, _mm256_sub_pd;
    Mul, mul, _mm256_mul_pd;
    Div, div, _mm256_div_pd;
}

impl Neg for F64x4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(instruction!(_mm256_xor_pd(self.0, _mm256_set1_pd(-0.0))))
    }
}

/// 2⁵²: the last bits of a number from there to twice it are a whole number.
const WHOLE: f64 = 4_503_599_627_370_496.0;

impl Real for F64x4 {
    type Mask = Mask4;
    const EPSILON: f64 = f64::EPSILON;
    const UNROLLED: usize = 7;

    functions! {
        sqrt: _mm256_sqrt_pd;
    }
    functions_of_two! {
        min: _mm256_min_pd;
        max: _mm256_max_pd;
    }
    comparisons! { Mask4:
        |a, b| lt = _mm256_cmp_pd::<_CMP_LT_OQ>(a, b), le = _mm256_cmp_pd::<_CMP_LE_OQ>(a, b);
        f64::MAX
    }
    fused! { |a, b, c| _mm256_fmadd_pd(a, b, c), _mm256_fnmadd_pd(a, b, c) }
    natural! {}

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(instruction!(_mm256_set1_pd(value)))
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(instruction!(_mm256_andnot_pd(_mm256_set1_pd(-0.0), self.0)))
    }
    #[inline(always)]
    fn select(mask: Mask4, yes: Self, no: Self) -> Self {
        Self(instruction!(_mm256_blendv_pd(no.0, yes.0, mask.0)))
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        let field = Self(instruction!({
            let field = _mm256_srli_epi64::<52>(_mm256_castpd_si256(self.abs().0));
            _mm256_or_pd(_mm256_castsi256_pd(field), _mm256_set1_pd(WHOLE))
        }));
        field - Self::splat(WHOLE + 1023.0)
    }
}

impl Double for F64x4 {
    const LANES: usize = 4;

    #[inline(always)]
    fn load(numbers: &[f64]) -> Self {
        let numbers: &[f64; 4] = numbers[..4].try_into().expect("a register");
        Self(instruction!(_mm256_loadu_pd(numbers.as_ptr())))
    }
    #[inline(always)]
    fn store(self, numbers: &mut [f64; 8]) {
        instruction!(_mm256_storeu_pd(numbers.as_mut_ptr(), self.0));
    }
    #[inline(always)]
    fn power_of_two(n: Self) -> Self {
        // The exponent field is n + 1023, and nothing else is set.
        let field = n + Self::splat(WHOLE + 1023.0);
        Self(instruction!(_mm256_castsi256_pd(_mm256_slli_epi64::<52>(_mm256_castpd_si256(
            field.0
        )))))
    }
}

elementary!(F64x4);
