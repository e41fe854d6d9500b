//! What a register of double precision must do beyond the arithmetic of [`fit_core::Real`].

use crate::simd::arch::pack::Vector;
use crate::simd::arch::register::{Packed, Register};

/// The most lanes of a register.
pub(super) const MOST_LANES: usize = 8;

/// A pack of numbers in double precision.
pub(in crate::simd) trait Double: Vector<Number = f64> {
    /// The sum of the lanes, pair by pair.
    #[inline(always)]
    fn total(self) -> f64 {
        let mut lanes = [0.0; MOST_LANES];
        self.store(&mut lanes);
        let [a, b, c, d, e, f, g, h] = lanes;
        ((a + e) + (c + g)) + ((b + f) + (d + h))
    }
    /// The first lane.
    #[inline(always)]
    fn first(self) -> f64 {
        let mut lanes = [0.0; MOST_LANES];
        self.store(&mut lanes);
        lanes[0]
    }
    /// Numbers, of which there may be fewer than lanes: then `last` follows.
    #[inline(always)]
    fn load_some(numbers: &[f64], last: f64) -> Self {
        if numbers.len() >= Self::LANES {
            return Self::load(numbers);
        }
        let mut lanes = [last; MOST_LANES];
        lanes[..numbers.len()].copy_from_slice(numbers);
        Self::load(&lanes)
    }
    /// Adds each lane to a sum of its own.
    #[inline(always)]
    fn pour(self, into: &mut [f64; MOST_LANES]) {
        let mut lanes = [0.0; MOST_LANES];
        self.store(&mut lanes);
        for (sum, lane) in into[..Self::LANES].iter_mut().zip(lanes) {
            *sum += lane;
        }
    }
}

impl<R: Register<Number = f64>> Double for Packed<R> {}
