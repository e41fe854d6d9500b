//! Four lanes in a 128-bit register, as every x86-64 processor has them.
//!
//! This is the portable set there: each operation gives the bits that the one of [`super::portable::Array4`] gives. A
//! compiler makes ten times as much code of arrays, and slower code.

use std::arch::x86_64::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use fit_core::{Mask, Real};

use super::pack::{Exponent, Pack, exp2_of_minus_square};

/// Four numbers.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(in crate::simd) struct F32x4(__m128);

/// Four truth values: all bits of a lane set, or none.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(in crate::simd) struct Mask4(__m128);

/// Runs an instruction of SSE or SSE2.
macro_rules! instruction {
    ($call:expr) => {{
        // SAFETY: every x86-64 processor has SSE2.
        #[allow(unused_unsafe)]
        let value = unsafe { $call };
        value
    }};
}

impl Mask for Mask4 {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        let bits = if value { -1 } else { 0 };
        Self(instruction!(_mm_castsi128_ps(_mm_set1_epi32(bits))))
    }
    #[inline(always)]
    fn any(self) -> bool {
        instruction!(_mm_movemask_ps(self.0)) != 0
    }
}

impl Not for Mask4 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(instruction!(_mm_xor_ps(self.0, Self::splat(true).0)))
    }
}

operators! { Mask4:
    BitAnd, bitand, _mm_and_ps;
    BitOr, bitor, _mm_or_ps;
}
operators! { F32x4:
    Add, add, _mm_add_ps;
    Sub, sub, _mm_sub_ps;
    Mul, mul, _mm_mul_ps;
    Div, div, _mm_div_ps;
}

impl Neg for F32x4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(instruction!(_mm_xor_ps(self.0, _mm_set1_ps(-0.0))))
    }
}

/// The exponents as they are stored, 127 more than they are.
#[inline(always)]
fn biased(numbers: F32x4) -> __m128i {
    instruction!(_mm_srli_epi32::<24>(_mm_slli_epi32::<1>(_mm_castps_si128(numbers.0))))
}

impl Real for F32x4 {
    type Mask = Mask4;
    const ROWS: usize = 3;
    const EPSILON: f64 = f32::EPSILON as f64;
    const UNROLLED: usize = 8;

    functions! {
        sqrt: _mm_sqrt_ps;
    }
    functions_of_two! {
        min: _mm_min_ps;
        max: _mm_max_ps;
    }
    comparisons! { Mask4:
        |a, b| lt = _mm_cmplt_ps(a, b), le = _mm_cmple_ps(a, b);
        f32::MAX.into()
    }

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(instruction!(_mm_set1_ps(value as f32)))
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
        Self(instruction!(_mm_andnot_ps(_mm_set1_ps(-0.0), self.0)))
    }
    #[inline(always)]
    fn select(mask: Mask4, yes: Self, no: Self) -> Self {
        Self(instruction!(_mm_or_ps(_mm_and_ps(mask.0, yes.0), _mm_andnot_ps(mask.0, no.0))))
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        Self(instruction!(_mm_cvtepi32_ps(_mm_sub_epi32(biased(self), _mm_set1_epi32(127)))))
    }
    #[inline(always)]
    fn normalizer(self) -> Self {
        // The halves of 16 bits that are compared are those numbers, and zeros.
        Self(instruction!({
            let low = _mm_max_epi16(biased(self), _mm_set1_epi32(1));
            let field = _mm_min_epi16(low, _mm_set1_epi32(253));
            _mm_castsi128_ps(_mm_slli_epi32::<23>(_mm_sub_epi32(_mm_set1_epi32(254), field)))
        }))
    }
}

impl Pack for F32x4 {
    memory! { 4, _mm_loadu_ps, _mm_storeu_ps }

    type Moves = [u32; 4];

    #[inline(always)]
    fn transpose(rows: &[Self], step: usize, columns: &mut [Self]) {
        let columns: &mut [Self; 4] = (&mut columns[..4]).try_into().expect("four columns");
        let rows = &rows[..3 * step + 1];
        let [a, b, c, d] = [rows[0].0, rows[step].0, rows[2 * step].0, rows[3 * step].0];
        instruction!({
            let (ab, cd) = (_mm_unpacklo_ps(a, b), _mm_unpacklo_ps(c, d));
            columns[0].0 = _mm_movelh_ps(ab, cd);
            columns[1].0 = _mm_movehl_ps(cd, ab);
            let (ab, cd) = (_mm_unpackhi_ps(a, b), _mm_unpackhi_ps(c, d));
            columns[2].0 = _mm_movelh_ps(ab, cd);
            columns[3].0 = _mm_movehl_ps(cd, ab);
        });
    }
    #[inline(always)]
    fn moves(from: &[u32; 32]) -> [u32; 4] {
        [from[0] % 4, from[1] % 4, from[2] % 4, from[3] % 4]
    }
    #[inline(always)]
    fn moved(self, moves: [u32; 4]) -> Self {
        let mut numbers = [0.0; 4];
        self.store(&mut numbers);
        Self::load(&moves.map(|from| numbers[from as usize % 4]))
    }
    #[inline(always)]
    fn put(into: &mut [Self], mask: Mask4, from: &[Self], moves: [u32; 4]) {
        // Without an instruction that moves lanes it is cheaper to move only the lanes in the mask.
        let bits = Self::bits(mask);
        for lane in (0..4).filter(|lane| bits >> lane & 1 == 1) {
            let other = moves[lane] as usize % 4;
            for (into, from) in into.iter_mut().zip(from) {
                let (mut to, mut numbers) = ([0.0; 4], [0.0; 4]);
                into.store(&mut to);
                from.store(&mut numbers);
                to[lane] = numbers[other];
                *into = Self::load(&to);
            }
        }
    }
    #[inline(always)]
    fn power_of_two(n: Self) -> Self {
        // The exponent field is n + 127, and nothing else is set.
        Self(instruction!({
            let biased = _mm_add_epi32(_mm_cvttps_epi32(n.0), _mm_set1_epi32(127));
            _mm_castsi128_ps(_mm_slli_epi32::<23>(biased))
        }))
    }
    #[inline(always)]
    fn bits(mask: Mask4) -> u32 {
        instruction!(_mm_movemask_ps(mask.0)) as u32
    }
    #[inline(always)]
    fn mask(bits: u32) -> Mask4 {
        Mask4(instruction!({
            let lanes = _mm_setr_epi32(1, 2, 4, 8);
            let set = _mm_and_si128(_mm_set1_epi32(bits as i32), lanes);
            _mm_castsi128_ps(_mm_cmpeq_epi32(set, lanes))
        }))
    }
}

impl Exponent for F32x4 {
    #[inline(always)]
    fn lower_exponent(self, shifted: Self) -> Self {
        Self(instruction!({
            let n = _mm_slli_epi32::<23>(_mm_castps_si128(shifted.0));
            _mm_castsi128_ps(_mm_sub_epi32(_mm_castps_si128(self.0), n))
        }))
    }
}
