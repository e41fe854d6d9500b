//! What a register of double precision must do beyond the arithmetic of [`fit_core::Real`].

use fit_core::Real;
use fit_core::arithmetic::functions::Elementary;

/// A pack of numbers in double precision.
///
/// As for packs of single precision, types that stand for registers of an instruction set stay inside this module, and the functions
/// that use them are entered only after a check of the processor.
pub(in crate::simd) trait Double: Elementary {
    /// The number of lanes, at most 8.
    const LANES: usize;

    /// The first `LANES` numbers.
    fn load(numbers: &[f64]) -> Self;
    /// Writes the lanes to the first `LANES` numbers.
    fn store(self, numbers: &mut [f64; 8]);
    /// 2ⁿ for a whole number n from −1022 to 1023.
    fn power_of_two(n: Self) -> Self;

    /// self·2ⁿ for a whole number n from −2044 to 2046.
    #[inline(always)]
    fn with_power(self, n: Self) -> Self {
        let half = nearest(n * Self::splat(0.5));
        self * Self::power_of_two(half) * Self::power_of_two(n - half)
    }
    /// The sum of the lanes, pair by pair.
    #[inline(always)]
    fn total(self) -> f64 {
        let mut lanes = [0.0; 8];
        self.store(&mut lanes);
        let [a, b, c, d, e, f, g, h] = lanes;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }
}

/// 1.5·2⁵², which leaves no room for a fraction.
const INTEGER: f64 = 6_755_399_441_055_744.0;

/// The nearest whole number, for |x| ≤ 2⁵¹.
#[inline(always)]
pub(super) fn nearest<R: Real>(x: R) -> R {
    (x + R::splat(INTEGER)) - R::splat(INTEGER)
}

/// What [`fit_core::Real`] wants and every register does alike.
macro_rules! natural {
    () => {
        #[inline(always)]
        fn exp2_of_minus_square(self) -> Self {
            fit_core::arithmetic::double::exp(self * self * Self::splat(-std::f64::consts::LN_2))
        }
        #[inline(always)]
        fn ln(self) -> Self {
            fit_core::arithmetic::double::ln(self)
        }
        #[inline(always)]
        fn normalizer(self) -> Self {
            let inverse = -self.exponent();
            Self::power_of_two(inverse.max(Self::splat(-1022.0)).min(Self::splat(1022.0)))
        }
    };
}
pub(super) use natural;

/// What functions need, of a [`Double`].
macro_rules! elementary {
    ($pack:ty) => {
        impl fit_core::arithmetic::functions::Elementary for $pack {
            #[inline(always)]
            fn nearest(self) -> Self {
                super::pack::nearest(self)
            }
            #[inline(always)]
            fn scaled(self, n: Self) -> Self {
                self.with_power(n)
            }
            #[inline(always)]
            fn each(self, of: impl Fn(f64) -> f64) -> Self {
                self.both(self, |lane, _| of(lane))
            }
            #[inline(always)]
            fn both(self, other: Self, of: impl Fn(f64, f64) -> f64) -> Self {
                let (mut lanes, mut others) = ([0.0; 8], [0.0; 8]);
                self.store(&mut lanes);
                other.store(&mut others);
                for (lane, other) in lanes[..Self::LANES].iter_mut().zip(others) {
                    *lane = of(*lane, other);
                }
                Self::load(&lanes)
            }
        }
    };
}
pub(super) use elementary;
