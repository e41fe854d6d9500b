//! What a fit carries, number by number, so that lanes can be moved and refilled.

use crate::arithmetic::Real;

/// Numbers with one fit in each lane, which are taken from lane to lane together.
pub trait LaneState<R: Real>: Copy {
    /// Replaces each number by what `how` makes of it and of the same number of `other`.
    fn merge<M: MergeLanes<R>>(&mut self, other: &Self, how: &M);
}

/// A search in progress in each lane, or a pack of them.
pub trait Resumable<R: Real>: LaneState<R> {
    /// Which lanes are still searching.
    fn running(&self) -> R::Mask;
    /// Puts `other`'s fits into the lanes where `mask` is true.
    #[inline(always)]
    fn refill(&mut self, mask: R::Mask, other: &Self) {
        self.merge(other, &Replace(mask));
    }
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

/// A [`LaneState`] of fields, which are merged one after the other; what is not named stays. A field of truth values comes last.
#[doc(hidden)]
#[macro_export]
macro_rules! lane_state {
    ([$($generics:tt)*] $type:ty: $($field:ident),+ $(; $mask:ident)?) => {
        impl<$($generics)*> $crate::search::LaneState<R> for $type {
            #[inline(always)]
            fn merge<M: $crate::search::MergeLanes<R>>(&mut self, other: &Self, how: &M) {
                $($crate::search::LaneState::<R>::merge(&mut self.$field, &other.$field, how);)+
                $(self.$mask = how.mask(self.$mask, other.$mask);)?
            }
        }
    };
}
pub(crate) use crate::lane_state;

impl<R: Real> LaneState<R> for R {
    #[inline(always)]
    fn merge<M: MergeLanes<R>>(&mut self, other: &Self, how: &M) {
        *self = how.number(*self, *other);
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
