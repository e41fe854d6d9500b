//! Sixteen lanes in a 512-bit register.

use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use fit_core::{Mask, Real};

use super::pack::Pack;

/// Sixteen numbers.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(in crate::simd) struct F32x16(__m512);

/// Sixteen truth values, a bit each.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(in crate::simd) struct Mask16(__mmask16);

/// Runs an instruction of AVX-512.
macro_rules! instruction {
    ($call:expr) => {
        // SAFETY: values of these types are made by an engine only, which was made after the processor said
        // that it has AVX-512F.
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

operators! { F32x16:
    Add, add, _mm512_add_ps;
    Sub, sub, _mm512_sub_ps;
    Mul, mul, _mm512_mul_ps;
    Div, div, _mm512_div_ps;
}

impl Neg for F32x16 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        // Of floating-point numbers AVX-512F has no exclusive or.
        Self(instruction!({
            let (bits, sign) =
                (_mm512_castps_si512(self.0), _mm512_castps_si512(_mm512_set1_ps(-0.0)));
            _mm512_castsi512_ps(_mm512_xor_epi32(bits, sign))
        }))
    }
}

impl Real for F32x16 {
    type Mask = Mask16;
    const EPSILON: f64 = f32::EPSILON as f64;
    const UNROLLED: usize = 7;

    functions! {
        abs: _mm512_abs_ps;
        sqrt: _mm512_sqrt_ps;
    }
    functions_of_two! {
        min: _mm512_min_ps;
        max: _mm512_max_ps;
    }
    comparisons! { Mask16:
        |a, b| lt = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b), le = _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b);
        f32::MAX.into()
    }
    fused! { |a, b, c| _mm512_fmadd_ps(a, b, c), _mm512_fnmadd_ps(a, b, c) }

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(instruction!(_mm512_set1_ps(value as f32)))
    }
    #[inline(always)]
    fn exp2_of_minus_square(self) -> Self {
        // Beyond 2^−60 there is nothing to see; the product of two such is still a normal number, and numbers
        // that are not take some processors a hundred times as long.
        let power = Self(instruction!({
            let square = _mm512_fnmsub_ps(self.0, self.0, _mm512_setzero_ps());
            _mm512_max_ps(square, _mm512_set1_ps(-60.0))
        }));
        let whole = Self(instruction!(_mm512_roundscale_ps::<FLOOR>(power.0)));
        let rest = power - whole;
        let [a, b, c, d, e, f] = COEFFICIENTS;
        let square = rest * rest;
        let high = Self::splat(a).mul_add(rest, Self::splat(b));
        let middle = Self::splat(c).mul_add(rest, Self::splat(d));
        let low = Self::splat(e).mul_add(rest, Self::splat(f));
        let value = high.mul_add(square, middle).mul_add(square, low);
        Self(instruction!(_mm512_scalef_ps(value.0, whole.0)))
    }
    #[inline(always)]
    fn select(mask: Mask16, yes: Self, no: Self) -> Self {
        Self(instruction!(_mm512_mask_blend_ps(mask.0, no.0, yes.0)))
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        Self(instruction!(_mm512_getexp_ps(self.0)))
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
    memory! { 16, _mm512_loadu_ps, _mm512_storeu_ps }

    type Moves = __m512i;

    #[inline(always)]
    fn transpose(rows: &[Self], step: usize, columns: &mut [Self]) {
        let columns: &mut [Self; 16] = (&mut columns[..16]).try_into().expect("sixteen columns");
        let rows = &rows[..15 * step + 1];
        let zero = instruction!(_mm512_setzero_ps());
        // Four numbers of four rows at a time: the first lanes of a register, the second, …
        let mut quads = [[zero; 4]; 4];
        for i in 0..4 {
            let at = 4 * i * step;
            let (a, b) = (rows[at].0, rows[at + step].0);
            let (c, d) = (rows[at + 2 * step].0, rows[at + 3 * step].0);
            let (low, high) = instruction!((_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b),));
            let (other_low, other_high) =
                instruction!((_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d),));
            quads[i] = instruction!([
                _mm512_shuffle_ps::<0x44>(low, other_low),
                _mm512_shuffle_ps::<0xee>(low, other_low),
                _mm512_shuffle_ps::<0x44>(high, other_high),
                _mm512_shuffle_ps::<0xee>(high, other_high),
            ]);
        }
        // quads[i][k] has rows 4i to 4i + 3 of the columns k, k + 4, k + 8 and k + 12.
        for k in 0..4 {
            let [a, b, c, d] = [quads[0][k], quads[1][k], quads[2][k], quads[3][k]];
            instruction!({
                let (ab, cd) =
                    (_mm512_shuffle_f32x4::<0x88>(a, b), _mm512_shuffle_f32x4::<0x88>(c, d));
                columns[k].0 = _mm512_shuffle_f32x4::<0x88>(ab, cd);
                columns[k + 8].0 = _mm512_shuffle_f32x4::<0xdd>(ab, cd);
                let (ab, cd) =
                    (_mm512_shuffle_f32x4::<0xdd>(a, b), _mm512_shuffle_f32x4::<0xdd>(c, d));
                columns[k + 4].0 = _mm512_shuffle_f32x4::<0x88>(ab, cd);
                columns[k + 12].0 = _mm512_shuffle_f32x4::<0xdd>(ab, cd);
            });
        }
    }
    #[inline(always)]
    fn moves(from: &[u32; 32]) -> __m512i {
        instruction!(_mm512_loadu_si512(from.as_ptr().cast()))
    }
    #[inline(always)]
    fn moved(self, moves: __m512i) -> Self {
        Self(instruction!(_mm512_permutexvar_ps(moves, self.0)))
    }
    #[inline(always)]
    fn power_of_two(n: Self) -> Self {
        Self::splat(1.0).scaled(n)
    }
    #[inline(always)]
    fn scaled(self, n: Self) -> Self {
        Self(instruction!(_mm512_scalef_ps(self.0, n.0)))
    }
    #[inline(always)]
    fn bits(mask: Mask16) -> u32 {
        mask.0.into()
    }
    #[inline(always)]
    fn mask(bits: u32) -> Mask16 {
        Mask16(bits as u16)
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
