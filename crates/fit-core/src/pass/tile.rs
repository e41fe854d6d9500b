//! Access to the pixels of a window.

use super::group::Group;
use crate::arithmetic::Real;
use crate::size::Size;
use crate::spot::axis::{AxisSample, AxisSums, GaussianAxis};

/// What a lane has of a window: some of its *lines*, whole rows or whole columns. A *place* is the number of a pixel
/// on its line.
///
/// Axes go by lines too: one is *along* the lines, the other *across* them. What depends on the lane gets its number
/// ([`Group::lane`]), which a pass asks for once.
pub trait Tile<R: Real> {
    /// The lanes that have the window in common.
    type Group: Group<R>;

    /// A line at hand.
    type Line<'a>: Line<R>
    where
        Self: 'a;
    /// A line at hand with those beside it.
    type Around<'a>: Around<R>
    where
        Self: 'a;
    /// The samples of the axis along the lines.
    type Along<'a>: Along<R>
    where
        Self: 'a;

    /// Whether the lines are columns of the window; else they are rows.
    const COLUMNS: bool = false;

    /// Whether all lines of all lanes are in the window.
    const WHOLE: bool;

    /// Lines that are summed at the same time, 1 to 5; this changes no result.
    const AT_ONCE: usize = 1;

    /// The lanes that have the window in common.
    fn group(&self) -> &Self::Group;

    /// The window.
    fn size(&self) -> Size;
    /// How many lines a lane has; what it has of lines that are not in the window does not matter.
    fn lines(&self) -> usize;
    /// How many pixels a line has.
    fn length(&self) -> usize;
    /// The number that a line of each lane has in the window.
    fn number(&self, lane: R, line: usize) -> R;
    /// The lanes whose line is in the window.
    fn there(&self, lane: R, line: usize) -> R::Mask;
    /// Where a line of the lanes lies in the window.
    fn side(&self, line: usize) -> Side;
    // `length` below is [`Tile::length`], said anew so that no access is checked in a loop up to it.

    /// A line.
    fn line(&self, lane: R, line: usize, length: usize) -> Self::Line<'_>;
    /// A line with those beside it.
    fn around(&self, lane: R, line: usize, length: usize) -> Self::Around<'_>;
    /// The samples of the axis along the lines, after [`Tile::take_along`].
    fn along(&self, length: usize) -> Self::Along<'_>;
    /// A pixel; anything in lanes whose line is not in the window.
    fn pixel(&self, line: usize, place: usize) -> R;

    /// Takes the axis along the lines, and gives its sums over the window.
    fn take_along(&mut self, axis: GaussianAxis<R>) -> AxisSums<R>;
    /// Takes the axis across the lines. The samples of a lane's lines are added to `sums` once: here, or when
    /// [`Tile::across`] is asked for them.
    fn take_across(&mut self, axis: GaussianAxis<R>, sums: &mut AxisSums<R>);
    /// The sample of the axis across the lines for a line, all of it zero where there is no such line.
    fn across(&self, lane: R, line: usize, sums: &mut AxisSums<R>) -> AxisSample<R>;
}

/// A tile whose pixels can be replaced.
pub trait Store<R: Real>: Tile<R> {
    /// Replaces a pixel in the lanes of `there`, whose line is in the window, and maybe in others.
    fn set(&mut self, line: usize, place: usize, there: R::Mask, value: R);
    /// Makes pixels that were set visible to other lanes.
    #[inline(always)]
    fn publish(&self) {}
}

/// Where a line lies in its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It is the first.
    First,
    /// It has lines on both sides.
    Inner,
    /// It is the last.
    Last,
    /// That differs from lane to lane.
    Varies,
}

/// One line of a window.
pub trait Line<R>: Copy {
    /// The pixel at a place, 0 where the line is not in the window or a number that does no harm.
    fn pixel(&self, place: usize) -> R;
}

/// One line of a window, and those on either side.
pub trait Around<R>: Line<R> {
    /// The pixel on the line before (−1) or after (+1) in the window; anything where there is none.
    fn beside(&self, place: usize, step: isize) -> R;
}

/// The axis along the lines of a window.
pub trait Along<R> {
    /// The sample at a place, whose number `index` is.
    fn at(&self, place: usize, index: R) -> AxisSample<R>;
}

/// `value` in the lanes whose line is in the window, `other` elsewhere.
#[inline(always)]
pub(super) fn keep<R: Real, T: Tile<R>>(there: R::Mask, value: R, other: R) -> R {
    if T::WHOLE { value } else { R::select(there, value, other) }
}
