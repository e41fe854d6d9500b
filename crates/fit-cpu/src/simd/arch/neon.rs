//! Four numbers in a 128-bit register; in a mask all bits of a lane are set, or none.

use std::arch::aarch64::*;

use super::pack::{Exponent, Pack, exp2_of_minus_square};
use super::register::{Packed, Register, Task, Truths};

/// Four numbers.
pub(in crate::simd) type F32x4 = Packed<float32x4_t>;

// SAFETY: it is laid out so.
unsafe impl Register for float32x4_t {
    type Number = f32;
    type Mask = uint32x4_t;

    compiled! { "neon" }
    instructions! {
        fn splat(value: f64) -> Self = vdupq_n_f32(value as f32);
        fn add(a: Self, b: Self) -> Self = vaddq_f32(a, b);
        fn sub(a: Self, b: Self) -> Self = vsubq_f32(a, b);
        fn mul(a: Self, b: Self) -> Self = vmulq_f32(a, b);
        fn div(a: Self, b: Self) -> Self = vdivq_f32(a, b);
        // The instructions for minimum and maximum treat what is not a number in other ways.
        fn min(a: Self, b: Self) -> Self = Self::select(Self::lt(a, b), a, b);
        fn max(a: Self, b: Self) -> Self = Self::select(Self::lt(b, a), a, b);
        fn neg(a: Self) -> Self = vnegq_f32(a);
        fn abs(a: Self) -> Self = vabsq_f32(a);
        fn sqrt(a: Self) -> Self = vsqrtq_f32(a);
        fn mul_add(a: Self, b: Self, c: Self) -> Self = vfmaq_f32(c, a, b);
        fn neg_mul_add(a: Self, b: Self, c: Self) -> Self = vfmsq_f32(c, a, b);
        fn exp2_of_minus_square(a: Packed<Self>) -> Packed<Self> = exp2_of_minus_square(a);
        fn exponent(a: Self) -> Self = {
            let field = vshrq_n_u32::<23>(vreinterpretq_u32_f32(vabsq_f32(a)));
            vcvtq_f32_s32(vsubq_s32(vreinterpretq_s32_u32(field), vdupq_n_s32(127)))
        };
        // With the biased exponent e of a number that of its normalizer is 254 − e, and it must be neither 0
        // nor 255.
        fn normalizer(a: Self) -> Self = {
            let exponent = vshrq_n_u32::<23>(vreinterpretq_u32_f32(vabsq_f32(a)));
            let exponent = vminq_u32(vmaxq_u32(exponent, vdupq_n_u32(1)), vdupq_n_u32(253));
            vreinterpretq_f32_u32(vshlq_n_u32::<23>(vsubq_u32(vdupq_n_u32(254), exponent)))
        };
        // The exponent field is n + 127, and nothing else is set.
        fn power_of_two(n: Self) -> Self = {
            let biased = vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(127));
            vreinterpretq_f32_s32(vshlq_n_s32::<23>(biased))
        };
        fn lt(a: Self, b: Self) -> uint32x4_t = vcltq_f32(a, b);
        fn le(a: Self, b: Self) -> uint32x4_t = vcleq_f32(a, b);
        fn select(mask: uint32x4_t, yes: Self, no: Self) -> Self = vbslq_f32(mask, yes, no);
        fn truths(value: bool) -> uint32x4_t = vdupq_n_u32(if value { u32::MAX } else { 0 });
        fn and(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t = vandq_u32(a, b);
        fn or(a: uint32x4_t, b: uint32x4_t) -> uint32x4_t = vorrq_u32(a, b);
        fn not(a: uint32x4_t) -> uint32x4_t = vmvnq_u32(a);
        fn bits(a: uint32x4_t) -> u32 = vaddvq_u32(vandq_u32(a, lanes()));
        fn any(a: uint32x4_t) -> bool = vmaxvq_u32(a) != 0;
    }
}

impl Exponent for float32x4_t {
    instructions! {
        fn lower_exponent(a: Self, shifted: Self) -> Self = {
            let n = vshlq_n_u32::<23>(vreinterpretq_u32_f32(shifted));
            vreinterpretq_f32_u32(vsubq_u32(vreinterpretq_u32_f32(a), n))
        };
    }
}

impl Pack for F32x4 {
    /// The numbers of the bytes to take.
    type Moves = uint8x16_t;

    instructions! {
        fn transpose(rows: &[Self], step: usize, columns: &mut [Self]) -> () = {
            let columns: &mut [Self; 4] = (&mut columns[..4]).try_into().expect("four columns");
            let rows = &rows[..3 * step + 1];
            let (a, b) = (rows[0].0, rows[step].0);
            let (c, d) = (rows[2 * step].0, rows[3 * step].0);
            // The columns 0 and 2 of two rows side by side, then 1 and 3.
            let pairs = [[vtrn1q_f32(a, b), vtrn1q_f32(c, d)], [vtrn2q_f32(a, b), vtrn2q_f32(c, d)]];
            for (k, [a, b]) in pairs.into_iter().enumerate() {
                let (a, b) = (vreinterpretq_f64_f32(a), vreinterpretq_f64_f32(b));
                columns[k].0 = vreinterpretq_f32_f64(vtrn1q_f64(a, b));
                columns[k + 2].0 = vreinterpretq_f32_f64(vtrn2q_f64(a, b));
            }
        };
        // Byte k of lane i is byte 4i + k.
        fn moves(from: &[u32; 32]) -> uint8x16_t = {
            let first = vmulq_n_u32(vld1q_u32(from.as_ptr()), 0x0404_0404);
            vreinterpretq_u8_u32(vaddq_u32(first, vdupq_n_u32(0x0302_0100)))
        };
        fn moved(self, moves: uint8x16_t) -> Self = {
            let bytes = vqtbl1q_u8(vreinterpretq_u8_f32(self.0), moves);
            Self(vreinterpretq_f32_u8(bytes))
        };
        fn mask(bits: u32) -> Truths<float32x4_t> = Truths(vtstq_u32(vdupq_n_u32(bits), lanes()));
    }
}

instructions! {
    // The bit of each lane.
    fn lanes() -> uint32x4_t = vld1q_u32([1, 2, 4, 8].as_ptr());
}
