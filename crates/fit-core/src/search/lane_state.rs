//! What a fit carries, number by number, so that lanes can be moved and refilled.

use crate::arithmetic::Real;

/// Numbers with one fit in each lane, which are taken from lane to lane together.
pub trait LaneState<R: Real>: Copy {
    /// Replaces each number by what `how` makes of it and of the same number of `other`.
    fn merge<M: MergeLanes<R>>(&mut self, other: &Self, how: &M);
}

/// A search in progress in each lane, or a pack of them.
pub trait Resumable<R: Real>: Copy {
    /// Which lanes are still searching.
    fn running(&self) -> R::Mask;
    /// Puts `other`'s fits into the lanes where `mask` is true.
    fn refill(&mut self, mask: R::Mask, other: &Self);
}

/// What to do with each number of [`LaneState`]. (No closure: those are functions of their own, for which an instruction
/// set is not enabled.)
pub trait MergeLanes<R: Real> {
    /// For a number.
    fn number(&self, mine: R, other: R) -> R;
    /// For a truth value.
    fn mask(&self, mine: R::Mask, other: R::Mask) -> R::Mask;
}

/// Takes the other number in the lanes of a mask.
#[derive(Clone, Copy, Debug)]
pub struct Replace<M>(pub M);

impl<R: Real> MergeLanes<R> for Replace<R::Mask> {
    #[inline(always)]
    fn number(&self, mine: R, other: R) -> R {
        R::select(self.0, other, mine)
    }
    #[inline(always)]
    fn mask(&self, mine: R::Mask, other: R::Mask) -> R::Mask {
        (self.0 & other) | (!self.0 & mine)
    }
}

impl<R: Real, const N: usize> LaneState<R> for [R; N] {
    #[inline(always)]
    fn merge<M: MergeLanes<R>>(&mut self, other: &Self, how: &M) {
        for i in 0..N {
            self[i] = how.number(self[i], other[i]);
        }
    }
}
