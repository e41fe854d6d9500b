//! What the search must know about the parameters of any model.

use crate::arithmetic::Real;
use crate::search::region::{ROUNDS, Region};
use crate::search::{Coordinates, Count, lane_state};

/// The parameters of a model, each measured in a length of its own that stays the same during a fit.
#[derive(Clone, Copy, Debug)]
pub struct Explicit {
    /// A bit for each parameter that is eliminated.
    pub eliminated: u64,
    /// Times that λ is improved for a step, at most.
    pub rounds: usize,
    /// How many parameters there are; more than there is room for are as many as there is room for.
    pub count: usize,
}

impl Default for Explicit {
    fn default() -> Self {
        Self { eliminated: 0, rounds: ROUNDS, count: usize::MAX }
    }
}

impl Explicit {
    /// Whether parameter j is eliminated.
    #[inline(always)]
    pub const fn eliminates(self, j: usize) -> bool {
        self.eliminated >> j & 1 == 1
    }

    /// Start values of 0 for those that are eliminated: the sums there are as precise as the data, which those at a poor
    /// guess are not.
    #[inline(always)]
    pub fn clear<R: Real, const P: usize>(self, initial: &mut [R; P]) {
        for j in 0..P {
            if self.eliminates(j) {
                initial[j] = R::splat(0.0);
            }
        }
    }
}

/// The length in which each parameter is measured, and its reciprocal.
#[derive(Clone, Copy, Debug)]
pub struct Units<R, const P: usize> {
    /// In units of the parameter.
    pub length: [R; P],
    /// 1/length.
    pub inverse: [R; P],
    region: Region<R, P>,
}

impl<R: Real, const P: usize> Units<R, P> {
    /// The length of a parameter is its size at the start, or 1 if it is 0 there.
    #[inline(always)]
    pub fn at(start: &[R; P]) -> Self {
        let (zero, one) = (R::splat(0.0), R::splat(1.0));
        let (mut length, mut inverse) = ([one; P], [one; P]);
        for j in 0..P {
            let size = start[j].abs();
            length[j] = R::select(zero.lt(size), size, one);
            inverse[j] = length[j].reciprocal();
        }
        Self { length, inverse, region: Region::everywhere() }
    }
}

lane_state!([R: Real, const P: usize] Units<R, P>: length, inverse, region);

impl<const P: usize> Coordinates<P> for Explicit {
    type TypicalSizes<R: Real> = [R; P];
    type Constants<R: Real> = Units<R, P>;

    const UNITS: [f64; P] = [1.0; P];
    /// Where a model is far from quadratic a step may have to be a tiny share of that of Gauss and Newton.
    const LAMBDA_MAX: f64 = 1e16;
    /// A step that is damped says little of how far the minimum is.
    const LAMBDA_NEAR: f64 = 1e-3;

    const GAUSS_NEWTON: bool = true;
    const TRUST_REGION: bool = true;

    #[inline(always)]
    fn count(&self) -> Count<P> {
        Count::new(self.count)
    }
    #[inline(always)]
    fn rounds(&self) -> usize {
        self.rounds
    }
    #[inline(always)]
    fn region<R: Real>(units: &Units<R, P>) -> Region<R, P> {
        units.region
    }
    #[inline(always)]
    fn set_region<R: Real>(units: &mut Units<R, P>, region: Region<R, P>) {
        units.region = region;
    }
    #[inline(always)]
    fn typical_sizes<R: Real>(&self, constants: &Units<R, P>, _: &[R; P]) -> [R; P] {
        constants.inverse
    }
    #[inline(always)]
    fn length<R: Real>(&self, constants: &Units<R, P>, _: &[R; P], j: usize) -> R {
        constants.length[j]
    }
    #[inline(always)]
    fn inverse_length<R: Real>(typical_sizes: &[R; P], j: usize) -> R {
        typical_sizes[j]
    }
    #[inline(always)]
    fn typical_size<R: Real>(&self, _: &Units<R, P>, p: &[R; P], j: usize) -> R {
        p[j].abs()
    }
    #[inline(always)]
    fn distance<R: Real>(_: &[R; P], _: &[R; P]) -> R {
        // Nobody knows how far a model is from quadratic: damping fades step by step.
        R::splat(f64::MAX)
    }
    #[inline(always)]
    fn yields(_: usize) -> bool {
        true
    }
    #[inline(always)]
    fn damped(&self) -> u64 {
        !self.eliminated
    }
}
