//! Access to the pixels of a window.

use core::hint::black_box;

use super::group::Group;
use crate::arithmetic::{Mask, Real};
use crate::size::Size;
use crate::spot::axis::{AxisSample, AxisSums, GaussianAxis};

/// The part of a window that one lane holds: some of its *lines*, which are whole rows. A *place* is the index of a pixel on its
/// line.
///
/// The axis of x runs *along* the lines, that of y *across* them. Functions that depend on the lane take its number
/// ([`Group::lane`]), which a pass asks for once.
pub trait Tile<R: Real> {
    /// The type of [`Tile::group`].
    type Group: Group<R>;

    /// A line, ready to read.
    type Line<'a>: Line<R>
    where
        Self: 'a;
    /// A line with its neighbours, ready to read.
    type Around<'a>: Around<R>
    where
        Self: 'a;
    /// The samples of the axis along the lines.
    type Along<'a>: Along<R>
    where
        Self: 'a;

    /// Whether all lines of all lanes are in the window.
    const WHOLE: bool;

    /// Whether what visits the pixels is a function of its own ([`Real::compiled`]), one for all that is fitted: where visits are few.
    const APART: bool = false;

    /// How many lines are summed at the same time, 1 to 5; this changes no result.
    const AT_ONCE: usize = 1;

    /// The lanes that share the window.
    fn group(&self) -> &Self::Group;

    /// The window.
    fn size(&self) -> Size;
    /// How many lines a lane has; the pixels of lines outside the window do not matter.
    fn lines(&self) -> usize;
    /// How many pixels a line has.
    fn length(&self) -> usize;
    /// The number in the window of a line of each lane.
    #[inline(always)]
    fn number(&self, lane: R, line: usize) -> R {
        let _ = lane;
        R::splat(line as f64)
    }
    /// The lanes whose line is in the window.
    #[inline(always)]
    fn in_window(&self, lane: R, line: usize) -> R::Mask {
        let _ = (lane, line);
        R::Mask::splat(true)
    }
    /// Where a line of the lanes lies in the window.
    #[inline(always)]
    fn side(&self, line: usize) -> Side {
        match line {
            _ if Self::Group::LANES > 1 => Side::Varies,
            0 => Side::First,
            _ if line + 1 == self.lines() => Side::Last,
            _ => Side::Inner,
        }
    }
    /// The same number, of which a compiler does not know that it is the same, so that a loop of as many rounds stays one:
    /// what is done once need not be fast, but small.
    #[inline(always)]
    fn times(&self, number: u32) -> u32 {
        black_box(number)
    }
    // `length` below is [`Tile::length`], passed again so that accesses in a loop up to it need no bounds check.

    /// A line.
    fn line(&self, lane: R, line: usize, length: usize) -> Self::Line<'_>;
    /// A line with its neighbours.
    fn around(&self, lane: R, line: usize, length: usize) -> Self::Around<'_>;
    /// The samples of the axis along the lines, after [`Tile::take_along`].
    fn along(&self, length: usize) -> Self::Along<'_>;
    /// A pixel; undefined in lanes whose line is not in the window.
    fn pixel(&self, line: usize, place: usize) -> R;
    /// What else is known of a pixel: its weight, or the variance of its read noise. Harmless in lanes whose line
    /// is not in the window.
    fn note(&self, lane: R, line: usize, place: usize) -> R;
    /// The weight of a pixel where a pass needs both, and the note is a variance.
    #[inline(always)]
    fn weight(&self, lane: R, line: usize, place: usize) -> R {
        let _ = (lane, line, place);
        R::splat(1.0)
    }

    // `SECOND` below is whether second derivatives are wanted.

    /// Takes the axis along the lines, and returns its sums over the window.
    fn take_along<const SECOND: bool>(&mut self, axis: GaussianAxis<R>) -> AxisSums<R>;
    /// Takes the axis across the lines. The samples of a lane's lines are added to `sums` once: here, or by
    /// [`Tile::across`].
    fn take_across<const SECOND: bool>(&mut self, axis: GaussianAxis<R>, sums: &mut AxisSums<R>);
    /// The sample of the axis across the lines for one line; zero where there is no such line.
    fn across<const SECOND: bool>(
        &self,
        lane: R,
        line: usize,
        sums: &mut AxisSums<R>,
    ) -> AxisSample<R>;
}

/// A tile whose pixels can be replaced.
pub trait Store<R: Real>: Tile<R> {
    /// Replaces a pixel in the lanes of `in_window`, whose line is in the window, and possibly in other lanes.
    fn set(&mut self, line: usize, place: usize, in_window: R::Mask, value: R);
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
    /// It differs from lane to lane.
    Varies,
}

/// One line of a window.
pub trait Line<R>: Copy {
    /// The pixel at a place; 0, or another harmless number, where the line is not in the window.
    fn pixel(&self, place: usize) -> R;
}

/// One line of a window, and its neighbours on either side.
pub trait Around<R>: Line<R> {
    /// The pixel on the line before (−1) or after (+1) in the window; undefined where there is none.
    fn neighbour(&self, place: usize, step: isize) -> R;
}

/// The axis along the lines of a window.
pub trait Along<R> {
    /// The sample at a place; `index` is its number as an `R`.
    fn at<const SECOND: bool>(&self, place: usize, index: R) -> AxisSample<R>;
}

impl<R: Real, const N: usize> Along<R> for &[AxisSample<R>; N] {
    #[inline(always)]
    fn at<const SECOND: bool>(&self, place: usize, _: R) -> AxisSample<R> {
        self[place]
    }
}

/// `value` in the lanes whose line is in the window, `other` elsewhere.
#[inline(always)]
pub(super) fn keep<R: Real, T: Tile<R>>(in_window: R::Mask, value: R, other: R) -> R {
    if T::WHOLE { value } else { R::select(in_window, value, other) }
}
