//! One thread a fit, the pixels in memory of its own, for squares of a known side in large batches where
//! the sums leave registers no room for pixels.
//!
//! The loop over rows stays a loop, so that its code fits into the instruction cache. The one over columns can be
//! unrolled, and the samples of the columns are in registers.

use fit_core::pass::{self, Around, Finish, Line, Method, OneLane, RawFit, Store, Tile};
use fit_core::spot::axis::{AxisSample, AxisSums, GaussianAxis};
use fit_core::{Outline, Real, Size};

use crate::device;

/// The numbers of a window that a thread has in memory.
pub trait Cells<R> {
    /// The number of rows.
    fn rows(&self) -> usize;
    /// A number.
    fn at(&self, row: usize, column: usize) -> R;
    /// Replaces a number.
    fn put(&mut self, row: usize, column: usize, value: R);
}

impl<R: Copy, const SIDE: usize> Cells<R> for &mut [[R; SIDE]] {
    #[inline(always)]
    fn rows(&self) -> usize {
        self.len()
    }
    #[inline(always)]
    fn at(&self, row: usize, column: usize) -> R {
        self[row][column]
    }
    #[inline(always)]
    fn put(&mut self, row: usize, column: usize, value: R) {
        self[row][column] = value;
    }
}

/// Fits a window of `SIDE` columns. There are as many notes as pixels if the method takes notes.
#[inline(always)]
pub fn fit<R: Real, M: Method<R>, const SIDE: usize>(
    method: &M,
    pixels: &mut [[R; SIDE]],
    notes: &[[R; SIDE]],
    start: Option<Outline<R>>,
) -> RawFit<R> {
    let mut tile = Window::new(pixels, notes);
    pass::fit(method, &mut tile, start, Finish::WhereSumsCancel)
}

/// A window, row after row.
pub struct Window<'a, R, C, const SIDE: usize> {
    pixels: C,
    notes: &'a [[R; SIDE]],
    /// The samples of the columns.
    columns: [AxisSample<R>; SIDE],
    /// The axis of the rows.
    down: GaussianAxis<R>,
}

impl<'a, R: Real, C: Cells<R>, const SIDE: usize> Window<'a, R, C, SIDE> {
    /// A window of `SIDE` columns, with as many notes as pixels or none.
    #[inline(always)]
    pub fn new(pixels: C, notes: &'a [[R; SIDE]]) -> Self {
        let zero = R::splat(0.0);
        let columns = [AxisSample::zero(); SIDE];
        Self { pixels, notes, columns, down: GaussianAxis::new(zero, zero) }
    }
}

/// A row and those before and after it, or itself at an edge.
pub struct Rows<'a, C> {
    cells: &'a C,
    here: usize,
    last: usize,
}

// Not derived: what is referred to need not be copied.
impl<C> Copy for Rows<'_, C> {}
impl<C> Clone for Rows<'_, C> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Real, C: Cells<R>> Line<R> for Rows<'_, C> {
    #[inline(always)]
    fn pixel(&self, place: usize) -> R {
        self.cells.at(self.here, place)
    }
}

impl<R: Real, C: Cells<R>> Around<R> for Rows<'_, C> {
    #[inline(always)]
    fn neighbour(&self, place: usize, step: isize) -> R {
        let row = if step < 0 { self.here.saturating_sub(1) } else { self.here + 1 };
        self.cells.at(if row < self.last { row } else { self.last }, place)
    }
}

impl<R: Real, C: Cells<R>, const SIDE: usize> Tile<R> for Window<'_, R, C, SIDE> {
    type Group = OneLane;
    type Line<'l>
        = Rows<'l, C>
    where
        Self: 'l;
    type Around<'l>
        = Rows<'l, C>
    where
        Self: 'l;
    type Along<'l>
        = &'l [AxisSample<R>; SIDE]
    where
        Self: 'l;

    const WHOLE: bool = true;

    #[inline(always)]
    fn group(&self) -> &OneLane {
        &OneLane
    }
    #[inline(always)]
    fn size(&self) -> Size {
        Size::new(SIDE, self.pixels.rows())
    }
    #[inline(always)]
    fn times(&self, number: u32) -> u32 {
        device::anew(number)
    }
    #[inline(always)]
    fn lines(&self) -> usize {
        self.pixels.rows()
    }
    #[inline(always)]
    fn length(&self) -> usize {
        SIDE
    }
    #[inline(always)]
    fn line(&self, _: R, line: usize, _: usize) -> Rows<'_, C> {
        Rows { cells: &self.pixels, here: line, last: line }
    }
    #[inline(always)]
    fn around(&self, _: R, line: usize, _: usize) -> Rows<'_, C> {
        Rows { cells: &self.pixels, here: line, last: self.pixels.rows() - 1 }
    }
    #[inline(always)]
    fn along(&self, _: usize) -> &[AxisSample<R>; SIDE] {
        &self.columns
    }
    #[inline(always)]
    fn pixel(&self, line: usize, place: usize) -> R {
        self.pixels.at(line, place)
    }
    #[inline(always)]
    fn note(&self, _: R, line: usize, place: usize) -> R {
        self.notes.get(line).map_or(R::splat(0.0), |notes| notes[place])
    }

    #[inline(always)]
    fn take_along<const SECOND: bool>(&mut self, axis: GaussianAxis<R>) -> AxisSums<R> {
        let mut sums = AxisSums::zero();
        axis.fill::<SECOND>(SIDE, &mut sums, &mut self.columns);
        sums
    }
    #[inline(always)]
    fn take_across<const SECOND: bool>(&mut self, axis: GaussianAxis<R>, _: &mut AxisSums<R>) {
        self.down = axis;
    }
    #[inline(always)]
    fn across<const SECOND: bool>(
        &self,
        _: R,
        line: usize,
        sums: &mut AxisSums<R>,
    ) -> AxisSample<R> {
        let sample = self.down.sample::<SECOND>(R::splat(line as f64));
        sums.add_of::<SECOND>(self.down.profile(), sample);
        sample
    }
}

impl<R: Real, C: Cells<R>, const SIDE: usize> Store<R> for Window<'_, R, C, SIDE> {
    #[inline(always)]
    fn set(&mut self, line: usize, place: usize, _: R::Mask, value: R) {
        self.pixels.put(line, place, value);
    }
}
