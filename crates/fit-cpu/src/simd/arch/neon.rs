//! Four lanes in a 128-bit register.

use std::arch::aarch64::*;
use std::ops::{Add, BitAnd, BitOr, Div, Mul, Neg, Not, Sub};

use fit_core::{Mask, Real};

use super::pack::{Exponent, Pack, exp2_of_minus_square};

/// Four numbers.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(in crate::simd) struct F32x4(float32x4_t);

/// Four truth values: all bits of a lane set, or none.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(in crate::simd) struct Mask4(uint32x4_t);

/// Runs an instruction of Advanced SIMD.
macro_rules! instruction {
    ($call:expr) => {
        // SAFETY: values of these types are made by an engine only, which was made after the processor said
        // that it has Advanced SIMD.
        unsafe { $call }
    };
}

impl Mask for Mask4 {
    #[inline(always)]
    fn splat(value: bool) -> Self {
        let bits = if value { u32::MAX } else { 0 };
        Self(instruction!(vdupq_n_u32(bits)))
    }
    #[inline(always)]
    fn any(self) -> bool {
        instruction!(vmaxvq_u32(self.0)) != 0
    }
}

impl Not for Mask4 {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(instruction!(vmvnq_u32(self.0)))
    }
}

operators! { Mask4:
    BitAnd, bitand, vandq_u32;
    BitOr, bitor, vorrq_u32;
}
operators! { F32x4:
    Add, add, vaddq_f32;
    Sub, sub, vsubq_f32;
    Mul, mul, vmulq_f32;
    Div, div, vdivq_f32;
}

impl Neg for F32x4 {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(instruction!(vnegq_f32(self.0)))
    }
}

impl Real for F32x4 {
    type Mask = Mask4;
    const EPSILON: f64 = f32::EPSILON as f64;
    const UNROLLED: usize = 7;

    functions! {
        abs: vabsq_f32;
        sqrt: vsqrtq_f32;
    }
    comparisons! { Mask4:
        |a, b| lt = vcltq_f32(a, b), le = vcleq_f32(a, b);
        f32::MAX.into()
    }
    fused! { |a, b, c| vfmaq_f32(c, a, b), vfmsq_f32(c, a, b) }

    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self(instruction!(vdupq_n_f32(value as f32)))
    }
    #[inline(always)]
    fn exp2_of_minus_square(self) -> Self {
        exp2_of_minus_square(self)
    }
    // The instructions for minimum and maximum treat what is not a number in other ways.
    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self::select(self.lt(other), self, other)
    }
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self::select(other.lt(self), self, other)
    }
    #[inline(always)]
    fn select(mask: Mask4, yes: Self, no: Self) -> Self {
        Self(instruction!(vbslq_f32(mask.0, yes.0, no.0)))
    }
    #[inline(always)]
    fn exponent(self) -> Self {
        Self(instruction!({
            let field = vshrq_n_u32::<23>(vreinterpretq_u32_f32(self.abs().0));
            vcvtq_f32_s32(vsubq_s32(vreinterpretq_s32_u32(field), vdupq_n_s32(127)))
        }))
    }
    #[inline(always)]
    fn normalizer(self) -> Self {
        // With the biased exponent e of a number that of its normalizer is 254 − e, and it must be neither 0
        // nor 255.
        Self(instruction!({
            let exponent = vshrq_n_u32::<23>(vreinterpretq_u32_f32(self.abs().0));
            let exponent = vminq_u32(vmaxq_u32(exponent, vdupq_n_u32(1)), vdupq_n_u32(253));
            let inverse = vsubq_u32(vdupq_n_u32(254), exponent);
            vreinterpretq_f32_u32(vshlq_n_u32::<23>(inverse))
        }))
    }
}

impl Pack for F32x4 {
    memory! { 4, vld1q_f32, vst1q_f32 }

    /// The numbers of the bytes to take.
    type Moves = uint8x16_t;

    #[inline(always)]
    fn transpose(rows: &[Self], step: usize, columns: &mut [Self]) {
        let columns: &mut [Self; 4] = (&mut columns[..4]).try_into().expect("four columns");
        let rows = &rows[..3 * step + 1];
        let (a, b) = (rows[0].0, rows[step].0);
        let (c, d) = (rows[2 * step].0, rows[3 * step].0);
        instruction!({
            // The columns 0 and 2 of two rows side by side, then 1 and 3.
            let (even, odd) = (vtrn1q_f32(a, b), vtrn2q_f32(a, b));
            let (other_even, other_odd) = (vtrn1q_f32(c, d), vtrn2q_f32(c, d));
            columns[0].0 = low_halves(even, other_even);
            columns[1].0 = low_halves(odd, other_odd);
            columns[2].0 = high_halves(even, other_even);
            columns[3].0 = high_halves(odd, other_odd);
        });
    }
    #[inline(always)]
    fn moves(from: &[u32; 32]) -> uint8x16_t {
        instruction!({
            // Byte k of lane i is byte 4i + k.
            let first = vmulq_n_u32(vld1q_u32(from.as_ptr()), 0x0404_0404);
            vreinterpretq_u8_u32(vaddq_u32(first, vdupq_n_u32(0x0302_0100)))
        })
    }
    #[inline(always)]
    fn moved(self, moves: uint8x16_t) -> Self {
        Self(instruction!({
            let bytes = vqtbl1q_u8(vreinterpretq_u8_f32(self.0), moves);
            vreinterpretq_f32_u8(bytes)
        }))
    }
    #[inline(always)]
    fn power_of_two(n: Self) -> Self {
        // The exponent field is n + 127, and nothing else is set.
        Self(instruction!({
            let biased = vaddq_s32(vcvtq_s32_f32(n.0), vdupq_n_s32(127));
            vreinterpretq_f32_s32(vshlq_n_s32::<23>(biased))
        }))
    }
    #[inline(always)]
    fn bits(mask: Mask4) -> u32 {
        instruction!(vaddvq_u32(vandq_u32(mask.0, lanes())))
    }
    #[inline(always)]
    fn mask(bits: u32) -> Mask4 {
        Mask4(instruction!(vtstq_u32(vdupq_n_u32(bits), lanes())))
    }
}

impl Exponent for F32x4 {
    #[inline(always)]
    fn lower_exponent(self, shifted: Self) -> Self {
        Self(instruction!({
            let n = vshlq_n_u32::<23>(vreinterpretq_u32_f32(shifted.0));
            vreinterpretq_f32_u32(vsubq_u32(vreinterpretq_u32_f32(self.0), n))
        }))
    }
}

/// The bit of each lane.
#[inline(always)]
fn lanes() -> uint32x4_t {
    instruction!(vld1q_u32([1, 2, 4, 8].as_ptr()))
}

/// The first two lanes of either.
#[inline(always)]
fn low_halves(a: float32x4_t, b: float32x4_t) -> float32x4_t {
    instruction!(vreinterpretq_f32_f64(vtrn1q_f64(
        vreinterpretq_f64_f32(a),
        vreinterpretq_f64_f32(b)
    )))
}

/// The last two lanes of either.
#[inline(always)]
fn high_halves(a: float32x4_t, b: float32x4_t) -> float32x4_t {
    instruction!(vreinterpretq_f32_f64(vtrn2q_f64(
        vreinterpretq_f64_f32(a),
        vreinterpretq_f64_f32(b)
    )))
}
