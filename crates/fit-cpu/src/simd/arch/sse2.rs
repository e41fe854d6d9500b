//! Four numbers in a 128-bit register, as every x86-64 processor has them; in a mask all bits of a lane are set, or none.
//!
//! This is the portable set there: each operation gives the bits that the one of [`super::portable::Array4`] gives. A
//! compiler makes ten times as much code of arrays, and slower code.

use std::arch::x86_64::*;

use super::pack::{Exponent, Pack, Vector, exp2_of_minus_square};
use super::register::{Packed, Register, Task, Truths};

/// Four numbers.
pub(in crate::simd) type F32x4 = Packed<__m128>;

instructions! {
    // The exponents as they are stored, 127 more than they are.
    fn biased(a: __m128) -> __m128i = _mm_srli_epi32::<24>(_mm_slli_epi32::<1>(_mm_castps_si128(a)));
}

// SAFETY: it is laid out so.
unsafe impl Register for __m128 {
    type Number = f32;
    type Mask = __m128;
    const ROWS: usize = 3;
    const UNROLLED: usize = 8;

    compiled! {}
    instructions! {
        fn splat(value: f64) -> Self = _mm_set1_ps(value as f32);
        fn add(a: Self, b: Self) -> Self = _mm_add_ps(a, b);
        fn sub(a: Self, b: Self) -> Self = _mm_sub_ps(a, b);
        fn mul(a: Self, b: Self) -> Self = _mm_mul_ps(a, b);
        fn div(a: Self, b: Self) -> Self = _mm_div_ps(a, b);
        fn min(a: Self, b: Self) -> Self = _mm_min_ps(a, b);
        fn max(a: Self, b: Self) -> Self = _mm_max_ps(a, b);
        fn neg(a: Self) -> Self = _mm_xor_ps(a, _mm_set1_ps(-0.0));
        fn abs(a: Self) -> Self = _mm_andnot_ps(_mm_set1_ps(-0.0), a);
        fn sqrt(a: Self) -> Self = _mm_sqrt_ps(a);
        fn exp2_of_minus_square(a: Packed<Self>) -> Packed<Self> = exp2_of_minus_square(a);
        fn exponent(a: Self) -> Self = _mm_cvtepi32_ps(_mm_sub_epi32(biased(a), _mm_set1_epi32(127)));
        // The halves of 16 bits that are compared are those numbers, and zeros.
        fn normalizer(a: Self) -> Self = {
            let low = _mm_max_epi16(biased(a), _mm_set1_epi32(1));
            let field = _mm_min_epi16(low, _mm_set1_epi32(253));
            _mm_castsi128_ps(_mm_slli_epi32::<23>(_mm_sub_epi32(_mm_set1_epi32(254), field)))
        };
        // The exponent field is n + 127, and nothing else is set.
        fn power_of_two(n: Self) -> Self = {
            let biased = _mm_add_epi32(_mm_cvttps_epi32(n), _mm_set1_epi32(127));
            _mm_castsi128_ps(_mm_slli_epi32::<23>(biased))
        };
        fn lt(a: Self, b: Self) -> Self = _mm_cmplt_ps(a, b);
        fn le(a: Self, b: Self) -> Self = _mm_cmple_ps(a, b);
        fn select(mask: Self, yes: Self, no: Self) -> Self =
            _mm_or_ps(_mm_and_ps(mask, yes), _mm_andnot_ps(mask, no));
        fn truths(value: bool) -> Self = _mm_castsi128_ps(_mm_set1_epi32(-i32::from(value)));
        fn and(a: Self, b: Self) -> Self = _mm_and_ps(a, b);
        fn or(a: Self, b: Self) -> Self = _mm_or_ps(a, b);
        fn not(a: Self) -> Self = _mm_xor_ps(a, Self::truths(true));
        fn bits(a: Self) -> u32 = _mm_movemask_ps(a) as u32;
    }
}

impl Exponent for __m128 {
    instructions! {
        fn lower_exponent(a: Self, shifted: Self) -> Self = {
            let n = _mm_slli_epi32::<23>(_mm_castps_si128(shifted));
            _mm_castsi128_ps(_mm_sub_epi32(_mm_castps_si128(a), n))
        };
    }
}

impl Pack for F32x4 {
    moves_of_four! {}

    instructions! {
        fn transpose(rows: &[Self], step: usize, columns: &mut [Self]) -> () = {
            let columns: &mut [Self; 4] = (&mut columns[..4]).try_into().expect("four columns");
            let rows = &rows[..3 * step + 1];
            let [a, b, c, d] = [rows[0].0, rows[step].0, rows[2 * step].0, rows[3 * step].0];
            let (ab, cd) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d));
            columns[0].0 = _mm_movelh_ps(ab, cd);
            columns[1].0 = _mm_movehl_ps(cd, ab);
            let (ab, cd) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d));
            columns[2].0 = _mm_movelh_ps(ab, cd);
            columns[3].0 = _mm_movehl_ps(cd, ab);
        };
        fn mask(bits: u32) -> Truths<__m128> = {
            let lanes = _mm_setr_epi32(1, 2, 4, 8);
            let set = _mm_and_si128(_mm_set1_epi32(bits as i32), lanes);
            Truths(_mm_castsi128_ps(_mm_cmpeq_epi32(set, lanes)))
        };
    }
}
