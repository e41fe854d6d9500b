//! Threads that work on a fit together.

use crate::arithmetic::Real;
use crate::spot::axis::{AxisSums, PixelProfile};

/// The threads of a fit, as the lanes of a [`Real`]: on the device each thread has one number, and sums over
/// the group go through shuffles; on the host all lanes are in one pack, and the same code runs.
pub trait Group<R: Real> {
    /// The number of lanes: a power of two.
    const LANES: usize;
    /// The number of each lane.
    fn lane(&self) -> R;
    /// The first lane, in every lane.
    fn first(&self, value: R) -> R;
    /// `value` of the lane whose number differs in the bits of `step`, a power of two.
    fn exchanged(&self, value: R, step: usize) -> R;
    /// `value` of the lane before (−1) or after (+1); undefined at the ends.
    fn neighbour(&self, value: R, step: isize) -> R;

    /// The sum over the lanes, in every lane. Lanes exchange in pairs, so that every lane gets the same bits
    /// and takes the same decisions.
    #[inline(always)]
    fn sum(&self, mut value: R) -> R {
        let mut step = Self::LANES / 2;
        while step > 0 {
            value = value + self.exchanged(value, step);
            step /= 2;
        }
        value
    }

    /// The least of the lanes, in every lane.
    #[inline(always)]
    fn least(&self, mut value: R) -> R {
        let mut step = Self::LANES / 2;
        while step > 0 {
            value = value.min(self.exchanged(value, step));
            step /= 2;
        }
        value
    }
}

/// A single lane: nothing to exchange.
#[derive(Clone, Copy, Debug)]
pub struct OneLane;

impl<R: Real> Group<R> for OneLane {
    const LANES: usize = 1;

    #[inline(always)]
    fn lane(&self) -> R {
        R::splat(0.0)
    }
    #[inline(always)]
    fn first(&self, value: R) -> R {
        value
    }
    #[inline(always)]
    fn exchanged(&self, value: R, _: usize) -> R {
        value
    }
    #[inline(always)]
    fn neighbour(&self, value: R, _: isize) -> R {
        value
    }
}

/// The sums of an axis over all lanes.
#[inline(always)]
pub fn sum_axis<R: Real, G: Group<R>, const SECOND: bool>(
    group: &G,
    profile: PixelProfile,
    sums: AxisSums<R>,
) -> AxisSums<R> {
    let [a, b, c] = sums.single;
    let [aa, ab, ac, bb, bc, cc] = sums.product;
    let ac = group.sum(ac);
    let bb = match profile {
        PixelProfile::Sampled => ac,
        PixelProfile::Integrated => group.sum(bb),
    };
    let mut all = AxisSums {
        single: [group.sum(a), group.sum(b), group.sum(c)],
        product: [group.sum(aa), group.sum(ab), ac, bb, group.sum(bc), group.sum(cc)],
        ..AxisSums::zero()
    };
    if SECOND {
        for i in 0..2 {
            all.second[i] = group.sum(sums.second[i]);
            all.second_product[i] = group.sum(sums.second_product[i]);
        }
    }
    all
}
