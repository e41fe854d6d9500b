//! What a vector register must do beyond the arithmetic of [`fit_core::Real`].

use fit_core::{Pixel, Real};

/// A pack of single-precision numbers, one fit per lane.
///
/// Types that stand for registers of an instruction set execute its instructions, so their values may be
/// made only on processors that have it: they stay inside this module, and the functions that use them
/// are entered only after a check of the processor (see [`super::InstructionSet`]).
pub(in crate::simd) trait Pack: Real {
    /// The number of lanes, at most 32.
    const LANES: usize;
    /// For each lane the number of another.
    type Moves: Copy;

    /// The first `LANES` numbers.
    fn load(numbers: &[f32]) -> Self;
    /// The first `LANES` pixels.
    #[inline(always)]
    fn load_pixels<X: Pixel>(pixels: &[X]) -> Self {
        let mut numbers = [0.0; 32];
        let pixels = &pixels[..Self::LANES];
        for i in 0..Self::LANES {
            numbers[i] = pixels[i].to_f32();
        }
        Self::load(&numbers)
    }
    /// Writes the lanes to the first `LANES` numbers.
    fn store(self, numbers: &mut [f32]);
    /// The lanes of several packs, one after the other.
    fn numbers(packs: &mut [Self]) -> &mut [f32];
    /// Makes columns of rows: number `i` of row `j·step` goes to lane `j` of `columns[i]`, for `LANES` rows
    /// and as many columns.
    fn transpose(rows: &[Self], step: usize, columns: &mut [Self]);
    /// The lanes to take from, for the first `LANES` numbers, each below `LANES`.
    fn moves(from: &[u32; 32]) -> Self::Moves;
    /// In each lane what `self` has in the lane to take from.
    fn moved(self, moves: Self::Moves) -> Self;
    /// Puts into the lanes of `mask` what `from` has in the lanes to take from.
    #[inline(always)]
    fn put(into: &mut [Self], mask: Self::Mask, from: &[Self], moves: Self::Moves) {
        for (into, from) in into.iter_mut().zip(from) {
            *into = Self::select(mask, from.moved(moves), *into);
        }
    }
    /// 2ⁿ for a whole number n from −126 to 127.
    fn power_of_two(n: Self) -> Self;
    /// self·2ⁿ for a whole number n from −252 to 254.
    #[inline(always)]
    fn scaled(self, n: Self) -> Self {
        let half = nearest(n * Self::splat(0.5));
        self * Self::power_of_two(half) * Self::power_of_two(n - half)
    }
    /// One bit for each lane, the lowest for the first.
    fn bits(mask: Self::Mask) -> u32;
    /// The lanes whose bits are set.
    fn mask(bits: u32) -> Self::Mask;
}

/// A pack whose numbers' bits can be counted on.
pub(in crate::simd) trait Exponent: Pack {
    /// `self·2⁻ⁿ` for an integer n from 0 to 60, given as n + 1.5·2²³: in the number's bits the exponent
    /// less n.
    fn lower_exponent(self, shifted: Self) -> Self;
}

/// 2^(−w²), with a relative error below 3·10⁻⁷ where the result exceeds 10⁻⁶ and an absolute one below
/// 10⁻¹² elsewhere.
///
/// With n the integer nearest to w² and r = n − w², 2^(−w²) = 2^(−n)·2^r; 2^r comes from a polynomial of
/// degree 5 that interpolates it at the Chebyshev nodes of [−½, ½].
#[inline(always)]
pub(in crate::simd) fn exp2_of_minus_square<P: Exponent>(w: P) -> P {
    let number = P::splat;
    // Beyond 2^−60 there is nothing to see; the product of two such is still a normal number, and numbers that
    // are not take some processors a hundred times as long.
    let square = (w * w).min(number(60.0));
    // 1.5·2²³ leaves no room for a fraction, and has the integer in its lowest bits.
    let shifted = square + number(INTEGER);
    let n = shifted - number(INTEGER);
    let r = n - square;
    let mut power = number(COEFFICIENTS[0]);
    for &coefficient in &COEFFICIENTS[1..] {
        power = power.mul_add(r, number(coefficient));
    }
    power.lower_exponent(shifted)
}

const INTEGER: f64 = 12_582_912.0;

/// The nearest whole number, for |x| ≤ 2²².
#[inline(always)]
pub(in crate::simd) fn nearest<P: Real>(x: P) -> P {
    (x + P::splat(INTEGER)) - P::splat(INTEGER)
}

/// The polynomial for 2^r, highest power first.
const COEFFICIENTS: [f64; 6] = [
    0.001_339_086_336_448_425_7,
    0.009_676_031_918_306_027,
    0.055_503_571_142_198_44,
    0.240_221_074_853_087_5,
    0.693_147_188_026_228,
    1.000_000_075_454_897,
];
