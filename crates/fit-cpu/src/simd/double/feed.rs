//! Registers that are filled with numbers of double precision where these lie, and emptied into sums of double precision.

use super::pack::Double;
#[cfg(not(target_arch = "x86_64"))]
use super::portable::Double4;
#[cfg(target_arch = "x86_64")]
use super::{avx2::F64x4, avx512::F64x8};
use crate::curve::Functions;
#[cfg(not(target_arch = "x86_64"))]
use crate::simd::arch::Portable;
use crate::simd::arch::pack::Pack;
#[cfg(target_arch = "x86_64")]
use crate::simd::arch::{avx2, avx512};

/// The most lanes of a register.
pub(super) const MOST_LANES: usize = 16;

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

macro_rules! feed_single {
    ($pack:ty) => {
        impl Feed for $pack {
            const FED: usize = <$pack as Pack>::LANES;
            #[inline(always)]
            fn feed(numbers: &[f64], less: f64) -> Self {
                let numbers: &[f64; Self::FED] =
                    numbers[..Self::FED].try_into().expect("a register");
                // Differences are those of double precision.
                <Self as Pack>::load(&numbers.map(|number| (number - less) as f32))
            }
            #[inline(always)]
            fn pour(self, into: &mut [f64; MOST_LANES]) {
                let mut lanes = [0.0_f32; Self::FED];
                <Self as Pack>::store(self, &mut lanes);
                for (sum, lane) in into[..Self::FED].iter_mut().zip(lanes) {
                    *sum += f64::from(lane);
                }
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
feed_double!(F64x8);
#[cfg(target_arch = "x86_64")]
feed_double!(F64x4);
#[cfg(not(target_arch = "x86_64"))]
feed_double!(Double4);
#[cfg(target_arch = "x86_64")]
feed_single!(avx512::F32x16);
#[cfg(target_arch = "x86_64")]
feed_single!(avx2::F32x8);
#[cfg(not(target_arch = "x86_64"))]
feed_single!(Portable);
