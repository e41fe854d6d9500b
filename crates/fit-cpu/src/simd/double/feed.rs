//! Registers that are filled with numbers where these lie, and emptied into sums.

#[cfg(lanes_avx2)]
use super::avx2::F64x4;
#[cfg(lanes_avx512)]
use super::avx512::F64x8;
use super::pack::Double;
#[cfg(not(target_arch = "x86_64"))]
use super::portable::Double4;
use crate::curve::Functions;

/// The most lanes of a register.
pub(super) const MOST_LANES: usize = 8;

/// A pack that is filled and emptied.
pub(super) trait Feed: Functions + Send + Sync {
    /// The number of lanes.
    const FED: usize;

    /// As many numbers as there are lanes, less one that is the same for all.
    fn feed(numbers: &[f64], less: f64) -> Self;
    /// Adds each lane to a sum of its own.
    fn pour(self, into: &mut [f64; MOST_LANES]);

    /// Numbers, of which there may be fewer than lanes: then `last` follows.
    #[inline(always)]
    fn feed_some(numbers: &[f64], less: f64, last: f64) -> Self {
        if numbers.len() == Self::FED {
            return Self::feed(numbers, less);
        }
        let mut lanes = [last; MOST_LANES];
        lanes[..numbers.len()].copy_from_slice(numbers);
        Self::feed(&lanes[..Self::FED], less)
    }
}

macro_rules! feed_double {
    ($pack:ty) => {
        impl Feed for $pack {
            const FED: usize = <$pack as Double>::LANES;
            #[inline(always)]
            fn feed(numbers: &[f64], less: f64) -> Self {
                <Self as Double>::load(numbers) - <Self as fit_core::Real>::splat(less)
            }
            #[inline(always)]
            fn pour(self, into: &mut [f64; MOST_LANES]) {
                let mut lanes = [0.0; 8];
                <Self as Double>::store(self, &mut lanes);
                for (sum, lane) in into[..Self::FED].iter_mut().zip(lanes) {
                    *sum += lane;
                }
            }
        }
    };
}

#[cfg(lanes_avx512)]
feed_double!(F64x8);
#[cfg(lanes_avx2)]
feed_double!(F64x4);
#[cfg(not(target_arch = "x86_64"))]
feed_double!(Double4);
