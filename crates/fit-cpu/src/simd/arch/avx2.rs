//! Eight lanes in a 256-bit register.

use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use fit_core::{Mask, Real};

use super::pack::{Exponent, Pack, exp2_of_minus_square};

/// Eight numbers.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(in crate::simd) struct F32x8(__m256);

/// Eight truth values: all bits of a lane set, or none.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(in crate::simd) struct Mask8(__m256);

/// Runs an instruction of AVX2 or FMA.
macro_rules! instruction {
    ($call:expr) => {
        // SAFETY: values of these types are made by an engine only, which was made after the processor said
        // that it has AVX2 and FMA.
        unsafe { $call }
    };
}

impl Mask for Mask8 {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        let bits = if value { -1 } else { 0 };
        Self(instruction!(_mm256_castsi256_ps(_mm256_set1_epi32(bits))))
    }
    #[inline(always)]
    fn any(self) -> bool {
        instruction!(_mm256_movemask_ps(self.0)) != 0
    }
}

impl Not for Mask8 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(instruction!(_mm256_xor_ps(self.0, Self::splat(true).0)))
    }
}

operators! { Mask8:
    BitAnd, bitand, _mm256_and_ps;
    BitOr, bitor, _mm256_or_ps;
}
operators! { F32x8:
    Add, add, _mm256_add_ps;
    Sub, sub, _mm256_sub_ps;
    Mul, mul, _mm256_mul_ps;
    Div, div, _mm256_div_ps;
}

impl Neg for F32x8 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(instruction!(_mm256_xor_ps(self.0, _mm256_set1_ps(-0.0))))
    }
}

impl Real for F32x8 {
    type Mask = Mask8;
    const ROWS: usize = 3;
    const EPSILON: f64 = f32::EPSILON as f64;
    const UNROLLED: usize = 7;

    functions! {
        sqrt: _mm256_sqrt_ps;
    }
    functions_of_two! {
        min: _mm256_min_ps;
        max: _mm256_max_ps;
    }
    comparisons! { Mask8:
        |a, b| lt = _mm256_cmp_ps::<_CMP_LT_OQ>(a, b), le = _mm256_cmp_ps::<_CMP_LE_OQ>(a, b);
        f32::MAX.into()
    }
    fused! { |a, b, c| _mm256_fmadd_ps(a, b, c), _mm256_fnmadd_ps(a, b, c) }

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(instruction!(_mm256_set1_ps(value as f32)))
    }
    #[inline(always)]
    fn exp2_of_minus_square(self) -> Self {
        exp2_of_minus_square(self)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        Self(instruction!(_mm256_andnot_ps(_mm256_set1_ps(-0.0), self.0)))
    }
    #[inline(always)]
    fn select(mask: Mask8, yes: Self, no: Self) -> Self {
        Self(instruction!(_mm256_blendv_ps(no.0, yes.0, mask.0)))
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        Self(instruction!({
            let field = _mm256_srli_epi32::<23>(_mm256_castps_si256(self.abs().0));
            _mm256_cvtepi32_ps(_mm256_sub_epi32(field, _mm256_set1_epi32(127)))
        }))
    }
    #[inline(always)]
    fn normalizer(self) -> Self {
        let inverse = -self.exponent();
        Self::power_of_two(inverse.max(Self::splat(-126.0)).min(Self::splat(126.0)))
    }
}

impl Pack for F32x8 {
    memory! { 8, _mm256_loadu_ps, _mm256_storeu_ps }

    type Moves = __m256i;

    #[inline(always)]
    fn transpose(rows: &[Self], step: usize, columns: &mut [Self]) {
        let columns: &mut [Self; 8] = (&mut columns[..8]).try_into().expect("eight columns");
        let rows = &rows[..7 * step + 1];
        let zero = instruction!(_mm256_setzero_ps());
        let mut quads = [[zero; 4]; 2];
        for i in 0..2 {
            let at = 4 * i * step;
            let (a, b) = (rows[at].0, rows[at + step].0);
            let (c, d) = (rows[at + 2 * step].0, rows[at + 3 * step].0);
            let (low, high) = instruction!((_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b),));
            let (other_low, other_high) =
                instruction!((_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d),));
            quads[i] = instruction!([
                _mm256_shuffle_ps::<0x44>(low, other_low),
                _mm256_shuffle_ps::<0xee>(low, other_low),
                _mm256_shuffle_ps::<0x44>(high, other_high),
                _mm256_shuffle_ps::<0xee>(high, other_high),
            ]);
        }
        // quads[i][k] has rows 4i to 4i + 3 of the columns k and k + 4.
        for k in 0..4 {
            let [a, b] = [quads[0][k], quads[1][k]];
            columns[k].0 = instruction!(_mm256_permute2f128_ps::<0x20>(a, b));
            columns[k + 4].0 = instruction!(_mm256_permute2f128_ps::<0x31>(a, b));
        }
    }
    #[inline(always)]
    fn moves(from: &[u32; 32]) -> __m256i {
        instruction!(_mm256_loadu_si256(from.as_ptr().cast()))
    }
    #[inline(always)]
    fn moved(self, moves: __m256i) -> Self {
        Self(instruction!(_mm256_permutevar8x32_ps(self.0, moves)))
    }
    #[inline(always)]
    fn power_of_two(n: Self) -> Self {
        // The exponent field is n + 127, and nothing else is set.
        Self(instruction!({
            let biased = _mm256_add_epi32(_mm256_cvtps_epi32(n.0), _mm256_set1_epi32(127));
            _mm256_castsi256_ps(_mm256_slli_epi32::<23>(biased))
        }))
    }
    #[inline(always)]
    fn bits(mask: Mask8) -> u32 {
        instruction!(_mm256_movemask_ps(mask.0)) as u32
    }
    #[inline(always)]
    fn mask(bits: u32) -> Mask8 {
        Mask8(instruction!({
            let lanes = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let set = _mm256_and_si256(_mm256_set1_epi32(bits as i32), lanes);
            _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, lanes))
        }))
    }
}

impl Exponent for F32x8 {
    #[inline(always)]
    fn lower_exponent(self, shifted: Self) -> Self {
        Self(instruction!({
            let n = _mm256_slli_epi32::<23>(_mm256_castps_si256(shifted.0));
            _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_castps_si256(self.0), n))
        }))
    }
}
