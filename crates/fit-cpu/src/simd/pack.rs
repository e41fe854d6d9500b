//! What a vector register must do beyond the arithmetic of [`fit_core::Real`].

use fit_core::{Pixel, Real};

/// A pack of single-precision numbers, one fit a lane.
///
/// Types that stand for registers of an instruction set execute its instructions, so values of them may
/// be made on processors that have it only: they stay inside this module, and the functions that use
/// them are entered after the processor has been asked (see [`super::InstructionSet`]).
pub(super) trait Pack: Real {
    /// The number of lanes, at most 32.
    const LANES: usize;

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
    /// Replaces one lane, less than `LANES`.
    fn set_lane(&mut self, lane: usize, value: f32);
    /// The first lane.
    fn first(self) -> f32;
    /// The lanes of several packs, one after the other.
    fn numbers(packs: &mut [Self]) -> &mut [f32];
    /// The sum of all lanes, in every lane.
    fn sum_of_lanes(self) -> Self;
    /// The least of all lanes, in every lane.
    fn least_lane(self) -> Self;
    /// One bit for each lane, the lowest for the first.
    fn bits(mask: Self::Mask) -> u32;
    /// The lanes whose bits are set.
    fn mask(bits: u32) -> Self::Mask;
    /// The nearest integer.
    fn round(self) -> Self;
    /// The number, or as much of it as [`Pack::scale_down`] can take: beyond 120 there is nothing to see.
    fn bounded(self) -> Self;
    /// `self·2⁻ⁿ` for an integer n ≥ 0 that is no more than [`Pack::bounded`] leaves.
    fn scale_down(self, n: Self) -> Self;
}

/// 2^(−w²), with a relative error below 3·10⁻⁷ where the result exceeds 10⁻⁶ and an absolute one below
/// 10⁻¹² elsewhere.
///
/// With n the integer nearest to w² and r = n − w², 2^(−w²) = 2^(−n)·2^r; 2^r comes from a polynomial of degree 5 that interpolates it at the
/// Chebyshev nodes of [−½, ½].
#[inline(always)]
pub(super) fn exp2_of_minus_square<P: Pack>(w: P) -> P {
    let number = P::splat;
    let square = (w * w).bounded();
    let n = square.round();
    let r = n - square;
    let mut power = number(COEFFICIENTS[0]);
    for &coefficient in &COEFFICIENTS[1..] {
        power = power.mul_add(r, number(coefficient));
    }
    power.scale_down(n)
}

/// The polynomial for 2^r, highest power first.
const COEFFICIENTS: [f64; 6] = [
    0.001_339_086_336_448_425_7,
    0.009_676_031_918_306_027,
    0.055_503_571_142_198_44,
    0.240_221_074_853_087_49,
    0.693_147_188_026_228,
    1.000_000_075_454_897,
];
