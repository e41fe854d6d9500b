//! Loops over parameters.

use core::ops::Range;

use crate::arithmetic::Real;

/// How many parameters a model has, of P for which there is room.
///
/// Loops over few parameters are unrolled, all P of them, so that they stay in registers. Loops over many
/// ([`Real::UNROLLED`]) are left as they are, and end with the last that the model has.
#[derive(Clone, Copy, Debug)]
pub struct Count<const P: usize>(usize);

impl<const P: usize> Count<P> {
    /// All for which there is room.
    pub const ALL: Self = Self(P);

    /// So many, or all for which there is room.
    pub const fn new(count: usize) -> Self {
        Self(if count < P { count } else { P })
    }

    #[inline(always)]
    const fn is_unrolled<R: Real>() -> bool {
        P <= R::UNROLLED
    }

    /// All of them.
    #[inline(always)]
    pub const fn all<R: Real>(self) -> Range<usize> {
        // That it is no more than P is said again, for a compiler that no longer sees who made it: then arrays of P need no
        // check of their bounds.
        if Self::is_unrolled::<R>() || self.0 > P { 0..P } else { 0..self.0 }
    }

    /// Those from number j on. If the loop is unrolled those before come too, and are to be skipped: a compiler unrolls loops
    /// whose ends are known before.
    #[inline(always)]
    pub const fn from<R: Real>(self, j: usize) -> Range<usize> {
        let Range { start, end } = self.all::<R>();
        if Self::is_unrolled::<R>() { start..end } else { j..end }
    }

    /// Those before number j. If the loop is unrolled the others come too, and are to be skipped.
    #[inline(always)]
    pub const fn before<R: Real>(self, j: usize) -> Range<usize> {
        let Range { start, end } = self.all::<R>();
        if Self::is_unrolled::<R>() { start..end } else { start..j }
    }
}
