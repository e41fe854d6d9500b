//! What a vector register must do beyond the arithmetic of [`fit_core::Real`].

use fit_core::{Number, Pixel, Real};
use fit_engine::functions::Elementary;

use super::register::{Packed, Register, Truths, integer, nearest};

/// A pack of numbers in lanes.
pub(in crate::simd) trait Vector: Elementary {
    /// What is in the lanes.
    type Number: Number;
    /// The number of lanes: at most 32, and 8 of double precision.
    const LANES: usize;

    /// The first `LANES` numbers.
    fn load(numbers: &[Self::Number]) -> Self;
    /// Writes the lanes to the first `LANES` numbers.
    fn store(self, numbers: &mut [Self::Number]);
    /// The lanes of several packs, one after the other.
    fn numbers(packs: &mut [Self]) -> &mut [Self::Number];
    /// 2ⁿ for a whole number n from −126 to 127, or from −1022 to 1023.
    fn power_of_two(n: Self) -> Self;
    /// One bit for each lane, the lowest for the first.
    fn bits(mask: Self::Mask) -> u32;
}

impl<R: Register> Vector for Packed<R> {
    type Number = R::Number;
    const LANES: usize = R::LANES;

    #[inline(always)]
    fn load(numbers: &[R::Number]) -> Self {
        let numbers = &numbers[..R::LANES];
        // SAFETY: a register is laid out as an array of its numbers, and there are so many.
        Self(unsafe { numbers.as_ptr().cast::<R>().read_unaligned() })
    }
    #[inline(always)]
    fn store(self, numbers: &mut [R::Number]) {
        let numbers = &mut numbers[..R::LANES];
        // SAFETY: as for `load`.
        unsafe { numbers.as_mut_ptr().cast::<R>().write_unaligned(self.0) }
    }
    #[inline(always)]
    fn numbers(packs: &mut [Self]) -> &mut [R::Number] {
        let count = packs.len() * R::LANES;
        // SAFETY: as for `load`, and an array of numbers needs no more than the register's alignment.
        unsafe { std::slice::from_raw_parts_mut(packs.as_mut_ptr().cast(), count) }
    }
    #[inline(always)]
    fn power_of_two(n: Self) -> Self {
        Self(R::power_of_two(n.0))
    }
    #[inline(always)]
    fn bits(mask: Truths<R>) -> u32 {
        R::bits(mask.0)
    }
}

impl<R: Register> Elementary for Packed<R> {
    #[inline(always)]
    fn nearest(self) -> Self {
        nearest(self)
    }
    #[inline(always)]
    fn scaled(self, n: Self) -> Self {
        Self(R::scaled(self.0, n.0))
    }
    #[inline(always)]
    fn each(self, of: impl Fn(f64) -> f64) -> Self {
        self.both(self, |number, _| of(number))
    }
    #[inline(always)]
    fn both(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
        let (mut a, mut b) = ([self], [other]);
        for (a, b) in Self::numbers(&mut a).iter_mut().zip(Self::numbers(&mut b)) {
            *a = R::Number::splat(of(a.to_f64(), b.to_f64()));
        }
        a[0]
    }
}

/// A pack of single-precision numbers, one fit per lane.
pub(in crate::simd) trait Pack: Vector<Number = f32> {
    /// For each lane the number of another.
    type Moves: Copy;

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
    /// The lanes whose bits are set.
    fn mask(bits: u32) -> Self::Mask;
}

/// What [`Pack`] wants, for four lanes without an instruction that moves them.
macro_rules! moves_of_four {
    () => {
        type Moves = [u32; 4];

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
        fn put(into: &mut [Self], mask: Self::Mask, from: &[Self], moves: [u32; 4]) {
            // It is cheaper to move only the lanes in the mask.
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
    };
}

/// A register whose numbers' bits can be counted on.
pub(in crate::simd) trait Exponent: Register {
    /// `a·2⁻ⁿ` for an integer n from 0 to 60, given as n + 1.5·2²³: in the number's bits the exponent
    /// less n.
    fn lower_exponent(a: Self, shifted: Self) -> Self;
}

/// 2^(−w²), with a relative error below 3·10⁻⁷ where the result exceeds 10⁻⁶ and an absolute one below
/// 10⁻¹² elsewhere.
///
/// With n the integer nearest to w² and r = n − w², 2^(−w²) = 2^(−n)·2^r; 2^r comes from a polynomial of
/// degree 5 that interpolates it at the Chebyshev nodes of [−½, ½].
#[inline(always)]
pub(in crate::simd) fn exp2_of_minus_square<R: Exponent>(w: Packed<R>) -> Packed<R> {
    let number = Packed::<R>::splat;
    // Beyond 2^−60 there is nothing to see; the product of two such is still a normal number, and numbers that
    // are not take some processors a hundred times as long.
    let square = (w * w).min(number(60.0));
    // The integer is in its lowest bits.
    let shifted = square + integer();
    let n = shifted - integer();
    let r = n - square;
    let mut power = number(COEFFICIENTS[0]);
    for &coefficient in &COEFFICIENTS[1..] {
        power = power.mul_add(r, number(coefficient));
    }
    Packed(R::lower_exponent(power.0, shifted.0))
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
