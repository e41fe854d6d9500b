//! Sixteen numbers in single precision in a 512-bit register, or eight in double precision; a mask has a bit for each.

use std::arch::x86_64::*;

use fit_core::Real;
use fit_engine::double;

use super::pack::Pack;
use super::register::{Packed, Register, Task, Truths};

/// Sixteen numbers.
pub(in crate::simd) type F32x16 = Packed<__m512>;

/// Eight numbers in double precision.
pub(in crate::simd) type F64x8 = Packed<__m512d>;

// SAFETY: it is laid out so.
unsafe impl Register for __m512 {
    type Number = f32;
    type Mask = __mmask16;

    compiled! { "avx512f,avx2,fma" }
    instructions! {
        fn splat(value: f64) -> Self = _mm512_set1_ps(value as f32);
        fn add(a: Self, b: Self) -> Self = _mm512_add_ps(a, b);
        fn sub(a: Self, b: Self) -> Self = _mm512_sub_ps(a, b);
        fn mul(a: Self, b: Self) -> Self = _mm512_mul_ps(a, b);
        fn div(a: Self, b: Self) -> Self = _mm512_div_ps(a, b);
        fn min(a: Self, b: Self) -> Self = _mm512_min_ps(a, b);
        fn max(a: Self, b: Self) -> Self = _mm512_max_ps(a, b);
        // Of floating-point numbers AVX-512F has no exclusive or.
        fn neg(a: Self) -> Self = {
            let sign = _mm512_castps_si512(_mm512_set1_ps(-0.0));
            _mm512_castsi512_ps(_mm512_xor_epi32(_mm512_castps_si512(a), sign))
        };
        fn abs(a: Self) -> Self = _mm512_abs_ps(a);
        fn sqrt(a: Self) -> Self = _mm512_sqrt_ps(a);
        fn mul_add(a: Self, b: Self, c: Self) -> Self = _mm512_fmadd_ps(a, b, c);
        fn neg_mul_add(a: Self, b: Self, c: Self) -> Self = _mm512_fnmadd_ps(a, b, c);
        fn exp2_of_minus_square(a: Packed<Self>) -> Packed<Self> = {
            // Beyond 2^−60 there is nothing to see; the product of two such is still a normal number, and numbers
            // that are not take some processors a hundred times as long.
            let square = _mm512_fnmsub_ps(a.0, a.0, _mm512_setzero_ps());
            let power = _mm512_max_ps(square, _mm512_set1_ps(-60.0));
            let whole = _mm512_roundscale_ps::<FLOOR>(power);
            let rest = Packed(_mm512_sub_ps(power, whole));
            let [a, b, c, d, e, f] = COEFFICIENTS;
            let square = rest * rest;
            let high = Packed::splat(a).mul_add(rest, Packed::splat(b));
            let middle = Packed::splat(c).mul_add(rest, Packed::splat(d));
            let low = Packed::splat(e).mul_add(rest, Packed::splat(f));
            let value = high.mul_add(square, middle).mul_add(square, low);
            Packed(_mm512_scalef_ps(value.0, whole))
        };
        fn exponent(a: Self) -> Self = _mm512_getexp_ps(a);
        fn power_of_two(n: Self) -> Self = _mm512_scalef_ps(_mm512_set1_ps(1.0), n);
        fn scaled(a: Self, n: Self) -> Self = _mm512_scalef_ps(a, n);
        fn lt(a: Self, b: Self) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b);
        fn le(a: Self, b: Self) -> __mmask16 = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b);
        fn select(mask: __mmask16, yes: Self, no: Self) -> Self = _mm512_mask_blend_ps(mask, no, yes);
        fn truths(value: bool) -> __mmask16 = if value { u16::MAX } else { 0 };
        fn and(a: __mmask16, b: __mmask16) -> __mmask16 = a & b;
        fn or(a: __mmask16, b: __mmask16) -> __mmask16 = a | b;
        fn not(a: __mmask16) -> __mmask16 = !a;
        fn bits(a: __mmask16) -> u32 = a.into();
    }
}

impl Pack for F32x16 {
    type Moves = __m512i;

    instructions! {
        fn transpose(rows: &[Self], step: usize, columns: &mut [Self]) -> () = {
            let columns: &mut [Self; 16] = (&mut columns[..16]).try_into().expect("sixteen columns");
            let rows = &rows[..15 * step + 1];
            // Four numbers of four rows at a time: the first lanes of a register, the second, …
            let mut quads = [[_mm512_setzero_ps(); 4]; 4];
            for i in 0..4 {
                let at = 4 * i * step;
                let (a, b) = (rows[at].0, rows[at + step].0);
                let (c, d) = (rows[at + 2 * step].0, rows[at + 3 * step].0);
                let (low, high) = (_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
                let (other_low, other_high) = (_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
                quads[i] = [
                    _mm512_shuffle_ps::<0x44>(low, other_low),
                    _mm512_shuffle_ps::<0xee>(low, other_low),
                    _mm512_shuffle_ps::<0x44>(high, other_high),
                    _mm512_shuffle_ps::<0xee>(high, other_high),
                ];
            }
            // quads[i][k] has rows 4i to 4i + 3 of the columns k, k + 4, k + 8 and k + 12.
            for k in 0..4 {
                let [a, b, c, d] = [quads[0][k], quads[1][k], quads[2][k], quads[3][k]];
                let ab = _mm512_shuffle_f32x4::<0x88>(a, b);
                let cd = _mm512_shuffle_f32x4::<0x88>(c, d);
                columns[k].0 = _mm512_shuffle_f32x4::<0x88>(ab, cd);
                columns[k + 8].0 = _mm512_shuffle_f32x4::<0xdd>(ab, cd);
                let ab = _mm512_shuffle_f32x4::<0xdd>(a, b);
                let cd = _mm512_shuffle_f32x4::<0xdd>(c, d);
                columns[k + 4].0 = _mm512_shuffle_f32x4::<0x88>(ab, cd);
                columns[k + 12].0 = _mm512_shuffle_f32x4::<0xdd>(ab, cd);
            }
        };
        fn moves(from: &[u32; 32]) -> __m512i = _mm512_loadu_si512(from.as_ptr().cast());
        fn moved(self, moves: __m512i) -> Self = Self(_mm512_permutexvar_ps(moves, self.0));
        fn mask(bits: u32) -> Truths<__m512> = Truths(bits as u16);
    }
}

/// Rounding to the next integer below, without a trap.
const FLOOR: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;

/// The polynomial of degree 5 for 2^r, 0 ≤ r < 1, of least relative error (7.5·10⁻⁸), highest power first.
const COEFFICIENTS: [f64; 6] = [
    0.001_877_576_683_222_232_9,
    0.008_989_340_141_495_994,
    0.055_826_317_934_922_99,
    0.240_153_617_122_301_65,
    0.693_153_073_182_399_9,
    0.999_999_925_064_550_6,
];

// SAFETY: it is laid out so.
unsafe impl Register for __m512d {
    type Number = f64;
    type Mask = __mmask8;

    compiled! { "avx512f,avx2,fma" }
    instructions! {
        fn splat(value: f64) -> Self = _mm512_set1_pd(value);
        fn add(a: Self, b: Self) -> Self = _mm512_add_pd(a, b);
        fn sub(a: Self, b: Self) -> Self = _mm512_sub_pd(a, b);
        fn mul(a: Self, b: Self) -> Self = _mm512_mul_pd(a, b);
        fn div(a: Self, b: Self) -> Self = _mm512_div_pd(a, b);
        fn min(a: Self, b: Self) -> Self = _mm512_min_pd(a, b);
        fn max(a: Self, b: Self) -> Self = _mm512_max_pd(a, b);
        fn neg(a: Self) -> Self = {
            let sign = _mm512_castpd_si512(_mm512_set1_pd(-0.0));
            _mm512_castsi512_pd(_mm512_xor_epi64(_mm512_castpd_si512(a), sign))
        };
        fn abs(a: Self) -> Self = _mm512_abs_pd(a);
        fn sqrt(a: Self) -> Self = _mm512_sqrt_pd(a);
        fn mul_add(a: Self, b: Self, c: Self) -> Self = _mm512_fmadd_pd(a, b, c);
        fn neg_mul_add(a: Self, b: Self, c: Self) -> Self = _mm512_fnmadd_pd(a, b, c);
        fn exp2_of_minus_square(a: Packed<Self>) -> Packed<Self> = double::exp2_of_minus_square(a);
        fn ln(a: Packed<Self>) -> Packed<Self> = double::ln(a);
        fn exponent(a: Self) -> Self = _mm512_getexp_pd(a);
        fn power_of_two(n: Self) -> Self = _mm512_scalef_pd(_mm512_set1_pd(1.0), n);
        fn scaled(a: Self, n: Self) -> Self = _mm512_scalef_pd(a, n);
        fn lt(a: Self, b: Self) -> __mmask8 = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b);
        fn le(a: Self, b: Self) -> __mmask8 = _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b);
        fn select(mask: __mmask8, yes: Self, no: Self) -> Self = _mm512_mask_blend_pd(mask, no, yes);
        fn truths(value: bool) -> __mmask8 = if value { u8::MAX } else { 0 };
        fn and(a: __mmask8, b: __mmask8) -> __mmask8 = a & b;
        fn or(a: __mmask8, b: __mmask8) -> __mmask8 = a | b;
        fn not(a: __mmask8) -> __mmask8 = !a;
        fn bits(a: __mmask8) -> u32 = a.into();
    }
}
