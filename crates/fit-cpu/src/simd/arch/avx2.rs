//! Eight numbers in single precision in a 256-bit register, or four in double precision; in a mask all bits of a lane are set, or none.

use std::arch::x86_64::*;

use fit_engine::double;

use super::pack::{Exponent, Pack, exp2_of_minus_square};
use super::register::{Packed, Register, Task, Truths};

/// Eight numbers.
pub(in crate::simd) type F32x8 = Packed<__m256>;

/// Four numbers in double precision.
pub(in crate::simd) type F64x4 = Packed<__m256d>;

// SAFETY: it is laid out so.
unsafe impl Register for __m256 {
    type Number = f32;
    type Mask = __m256;
    const ROWS: usize = 3;

    compiled! { "avx2,fma" }
    instructions! {
        fn splat(value: f64) -> Self = _mm256_set1_ps(value as f32);
        fn add(a: Self, b: Self) -> Self = _mm256_add_ps(a, b);
        fn sub(a: Self, b: Self) -> Self = _mm256_sub_ps(a, b);
        fn mul(a: Self, b: Self) -> Self = _mm256_mul_ps(a, b);
        fn div(a: Self, b: Self) -> Self = _mm256_div_ps(a, b);
        fn min(a: Self, b: Self) -> Self = _mm256_min_ps(a, b);
        fn max(a: Self, b: Self) -> Self = _mm256_max_ps(a, b);
        fn neg(a: Self) -> Self = _mm256_xor_ps(a, _mm256_set1_ps(-0.0));
        fn abs(a: Self) -> Self = _mm256_andnot_ps(_mm256_set1_ps(-0.0), a);
        fn sqrt(a: Self) -> Self = _mm256_sqrt_ps(a);
        fn mul_add(a: Self, b: Self, c: Self) -> Self = _mm256_fmadd_ps(a, b, c);
        fn neg_mul_add(a: Self, b: Self, c: Self) -> Self = _mm256_fnmadd_ps(a, b, c);
        fn exp2_of_minus_square(a: Packed<Self>) -> Packed<Self> = exp2_of_minus_square(a);
        fn exponent(a: Self) -> Self = {
            let field = _mm256_srli_epi32::<23>(_mm256_castps_si256(Self::abs(a)));
            _mm256_cvtepi32_ps(_mm256_sub_epi32(field, _mm256_set1_epi32(127)))
        };
        // The exponent field is n + 127, and nothing else is set.
        fn power_of_two(n: Self) -> Self = {
            let biased = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
            _mm256_castsi256_ps(_mm256_slli_epi32::<23>(biased))
        };
        fn lt(a: Self, b: Self) -> Self = _mm256_cmp_ps::<_CMP_LT_OQ>(a, b);
        fn le(a: Self, b: Self) -> Self = _mm256_cmp_ps::<_CMP_LE_OQ>(a, b);
        fn select(mask: Self, yes: Self, no: Self) -> Self = _mm256_blendv_ps(no, yes, mask);
        fn truths(value: bool) -> Self = _mm256_castsi256_ps(_mm256_set1_epi32(-i32::from(value)));
        fn and(a: Self, b: Self) -> Self = _mm256_and_ps(a, b);
        fn or(a: Self, b: Self) -> Self = _mm256_or_ps(a, b);
        fn not(a: Self) -> Self = _mm256_xor_ps(a, Self::truths(true));
        fn bits(a: Self) -> u32 = _mm256_movemask_ps(a) as u32;
    }
}

impl Exponent for __m256 {
    instructions! {
        fn lower_exponent(a: Self, shifted: Self) -> Self = {
            let n = _mm256_slli_epi32::<23>(_mm256_castps_si256(shifted));
            _mm256_castsi256_ps(_mm256_sub_epi32(_mm256_castps_si256(a), n))
        };
    }
}

impl Pack for F32x8 {
    type Moves = __m256i;

    instructions! {
        fn transpose(rows: &[Self], step: usize, columns: &mut [Self]) -> () = {
            let columns: &mut [Self; 8] = (&mut columns[..8]).try_into().expect("eight columns");
            let rows = &rows[..7 * step + 1];
            let mut quads = [[_mm256_setzero_ps(); 4]; 2];
            for i in 0..2 {
                let at = 4 * i * step;
                let (a, b) = (rows[at].0, rows[at + step].0);
                let (c, d) = (rows[at + 2 * step].0, rows[at + 3 * step].0);
                let (low, high) = (_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
                let (other_low, other_high) = (_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
                quads[i] = [
                    _mm256_shuffle_ps::<0x44>(low, other_low),
                    _mm256_shuffle_ps::<0xee>(low, other_low),
                    _mm256_shuffle_ps::<0x44>(high, other_high),
                    _mm256_shuffle_ps::<0xee>(high, other_high),
                ];
            }
            // quads[i][k] has rows 4i to 4i + 3 of the columns k and k + 4.
            for k in 0..4 {
                let [a, b] = [quads[0][k], quads[1][k]];
                columns[k].0 = _mm256_permute2f128_ps::<0x20>(a, b);
                columns[k + 4].0 = _mm256_permute2f128_ps::<0x31>(a, b);
            }
        };
        fn moves(from: &[u32; 32]) -> __m256i = _mm256_loadu_si256(from.as_ptr().cast());
        fn moved(self, moves: __m256i) -> Self = Self(_mm256_permutevar8x32_ps(self.0, moves));
        fn mask(bits: u32) -> Truths<__m256> = {
            let lanes = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
            let set = _mm256_and_si256(_mm256_set1_epi32(bits as i32), lanes);
            Truths(_mm256_castsi256_ps(_mm256_cmpeq_epi32(set, lanes)))
        };
    }
}

/// 2⁵²: the last bits of a number from there to twice it are a whole number.
const WHOLE: f64 = 4_503_599_627_370_496.0;

// SAFETY: it is laid out so.
unsafe impl Register for __m256d {
    type Number = f64;
    type Mask = __m256d;

    compiled! { "avx2,fma" }
    instructions! {
        fn splat(value: f64) -> Self = _mm256_set1_pd(value);
        fn add(a: Self, b: Self) -> Self = _mm256_add_pd(a, b);
        fn sub(a: Self, b: Self) -> Self = _mm256_sub_pd(a, b);
        fn mul(a: Self, b: Self) -> Self = _mm256_mul_pd(a, b);
        fn div(a: Self, b: Self) -> Self = _mm256_div_pd(a, b);
        fn min(a: Self, b: Self) -> Self = _mm256_min_pd(a, b);
        fn max(a: Self, b: Self) -> Self = _mm256_max_pd(a, b);
        fn neg(a: Self) -> Self = _mm256_xor_pd(a, _mm256_set1_pd(-0.0));
        fn abs(a: Self) -> Self = _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
        fn sqrt(a: Self) -> Self = _mm256_sqrt_pd(a);
        fn mul_add(a: Self, b: Self, c: Self) -> Self = _mm256_fmadd_pd(a, b, c);
        fn neg_mul_add(a: Self, b: Self, c: Self) -> Self = _mm256_fnmadd_pd(a, b, c);
        fn exp2_of_minus_square(a: Packed<Self>) -> Packed<Self> = double::exp2_of_minus_square(a);
        fn ln(a: Packed<Self>) -> Packed<Self> = double::ln(a);
        fn exponent(a: Self) -> Self = {
            let field = _mm256_srli_epi64::<52>(_mm256_castpd_si256(Self::abs(a)));
            let field = _mm256_or_pd(_mm256_castsi256_pd(field), _mm256_set1_pd(WHOLE));
            Self::sub(field, Self::splat(WHOLE + 1023.0))
        };
        // The exponent field is n + 1023, and nothing else is set.
        fn power_of_two(n: Self) -> Self = {
            let field = _mm256_castpd_si256(Self::add(n, Self::splat(WHOLE + 1023.0)));
            _mm256_castsi256_pd(_mm256_slli_epi64::<52>(field))
        };
        fn lt(a: Self, b: Self) -> Self = _mm256_cmp_pd::<_CMP_LT_OQ>(a, b);
        fn le(a: Self, b: Self) -> Self = _mm256_cmp_pd::<_CMP_LE_OQ>(a, b);
        fn select(mask: Self, yes: Self, no: Self) -> Self = _mm256_blendv_pd(no, yes, mask);
        fn truths(value: bool) -> Self = _mm256_castsi256_pd(_mm256_set1_epi64x(-i64::from(value)));
        fn and(a: Self, b: Self) -> Self = _mm256_and_pd(a, b);
        fn or(a: Self, b: Self) -> Self = _mm256_or_pd(a, b);
        fn not(a: Self) -> Self = _mm256_xor_pd(a, Self::truths(true));
        fn bits(a: Self) -> u32 = _mm256_movemask_pd(a) as u32;
    }
}
