//! One thread a fit, the pixels in memory of its own, for squares of a known side in large batches where
//! the sums leave registers no room for pixels.
//!
//! The loop over rows stays a loop, so that its code fits into the instruction cache. The one over columns can be
//! unrolled, and the samples of the columns are in registers.

use fit_core::pass::{
    self, Along, Around, Finish, Line, Method, OneLane, RawFit, Side, Store, Tile,
};
use fit_core::spot::axis::{AxisSample, AxisSums, GaussianAxis, Put};
use fit_core::{Mask, Outline, Real, Size};

use crate::device;

/// Fits a window of `SIDE` columns. There are as many notes as pixels if the method takes notes.
#[inline(always)]
pub fn fit<R: Real, M: Method<R>, const SIDE: usize>(
    method: &M,
    pixels: &mut [[R; SIDE]],
    notes: &[[R; SIDE]],
    start: Option<Outline<R>>,
) -> RawFit<R> {
    let zero = R::splat(0.0);
    let columns = Samples([AxisSample::zero(); SIDE]);
    let mut tile = Window { pixels, notes, columns, down: GaussianAxis::new(zero, zero) };
    pass::fit(method, &mut tile, start, Finish::WhereSumsCancel)
}

/// A window, row after row.
struct Window<'a, R, const SIDE: usize> {
    pixels: &'a mut [[R; SIDE]],
    notes: &'a [[R; SIDE]],
    columns: Samples<R, SIDE>,
    /// The axis of the rows.
    down: GaussianAxis<R>,
}

/// The samples of the columns.
struct Samples<R, const SIDE: usize>([AxisSample<R>; SIDE]);

impl<R: Real, const SIDE: usize> Put<R> for Samples<R, SIDE> {
    #[inline(always)]
    fn put(&mut self, place: usize, sample: AxisSample<R>) {
        self.0[place] = sample;
    }
}

impl<R: Real, const SIDE: usize> Along<R> for &Samples<R, SIDE> {
    #[inline(always)]
    fn at<const SECOND: bool>(&self, place: usize, _: R) -> AxisSample<R> {
        self.0[place]
    }
}

/// A row.
#[derive(Clone, Copy)]
struct PixelRow<'a, R, const SIDE: usize>(&'a [R; SIDE]);

impl<R: Real, const SIDE: usize> Line<R> for PixelRow<'_, R, SIDE> {
    #[inline(always)]
    fn pixel(&self, place: usize) -> R {
        self.0[place]
    }
}

/// A row and those before and after it, or itself at an edge.
#[derive(Clone, Copy)]
struct Rows<'a, R, const SIDE: usize> {
    above: &'a [R; SIDE],
    here: &'a [R; SIDE],
    below: &'a [R; SIDE],
}

impl<R: Real, const SIDE: usize> Line<R> for Rows<'_, R, SIDE> {
    #[inline(always)]
    fn pixel(&self, place: usize) -> R {
        self.here[place]
    }
}

impl<R: Real, const SIDE: usize> Around<R> for Rows<'_, R, SIDE> {
    #[inline(always)]
    fn neighbour(&self, place: usize, step: isize) -> R {
        if step < 0 { self.above[place] } else { self.below[place] }
    }
}

impl<R: Real, const SIDE: usize> Tile<R> for Window<'_, R, SIDE> {
    type Group = OneLane;
    type Line<'l>
        = PixelRow<'l, R, SIDE>
    where
        Self: 'l;
    type Around<'l>
        = Rows<'l, R, SIDE>
    where
        Self: 'l;
    type Along<'l>
        = &'l Samples<R, SIDE>
    where
        Self: 'l;

    const WHOLE: bool = true;

    #[inline(always)]
    fn group(&self) -> &OneLane {
        &OneLane
    }
    #[inline(always)]
    fn size(&self) -> Size {
        Size::new(SIDE, self.pixels.len())
    }
    #[inline(always)]
    fn times(&self, number: u32) -> u32 {
        device::anew(number)
    }
    #[inline(always)]
    fn lines(&self) -> usize {
        self.pixels.len()
    }
    #[inline(always)]
    fn length(&self) -> usize {
        SIDE
    }
    #[inline(always)]
    fn number(&self, _: R, line: usize) -> R {
        R::splat(line as f64)
    }
    #[inline(always)]
    fn in_window(&self, _: R, _: usize) -> R::Mask {
        R::Mask::splat(true)
    }
    #[inline(always)]
    fn side(&self, line: usize) -> Side {
        match line {
            0 => Side::First,
            _ if line + 1 == self.pixels.len() => Side::Last,
            _ => Side::Inner,
        }
    }
    #[inline(always)]
    fn line(&self, _: R, line: usize, _: usize) -> PixelRow<'_, R, SIDE> {
        PixelRow(&self.pixels[line])
    }
    #[inline(always)]
    fn around(&self, _: R, line: usize, _: usize) -> Rows<'_, R, SIDE> {
        let here = &self.pixels[line];
        let above = self.pixels.get(line.wrapping_sub(1)).unwrap_or(here);
        Rows { above, here, below: self.pixels.get(line + 1).unwrap_or(here) }
    }
    #[inline(always)]
    fn along(&self, _: usize) -> &Samples<R, SIDE> {
        &self.columns
    }
    #[inline(always)]
    fn pixel(&self, line: usize, place: usize) -> R {
        self.pixels[line][place]
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

impl<R: Real, const SIDE: usize> Store<R> for Window<'_, R, SIDE> {
    #[inline(always)]
    fn set(&mut self, line: usize, place: usize, _: R::Mask, value: R) {
        self.pixels[line][place] = value;
    }
}
