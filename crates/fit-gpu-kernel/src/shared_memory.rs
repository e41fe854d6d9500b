//! The pixels in shared memory: 8, 16 or 32 threads a fit, a thread a column, or several columns. For windows
//! of any size and shape, and where a fit is to be done soon.

use fit_core::pass::{
    self, Along, Around, CovarianceEstimator, ErrorEstimate, Finish, Group, Line, Method, RawFit,
    Store, Summable, Tile, sum_axis,
};
use fit_core::spot::axis::{AxisSample, AxisSums, GaussianAxis};
use fit_core::{Outline, Real, Size};

use crate::device;

/// The pixels of one window, and the lanes that work on it. Lane `l` has the columns l, l + `LANES`, …, a
/// *block* of columns for each step.
pub trait SharedTile<R: Real>: Group<R> {
    /// The pixel of a row in the lanes' columns of a block; anything where there is no such column.
    fn pixel(&self, block: usize, row: usize) -> R;
    /// The pixel one column to the left (−1) or right (+1) of that; anything where there is none.
    fn neighbour_pixel(&self, block: usize, row: usize, step: isize) -> R;
    /// The note of that pixel; anything where there is no such column.
    fn note(&self, block: usize, row: usize) -> R;
    /// The weight of that pixel where its note is a variance; anything where there is no such column.
    fn weight(&self, block: usize, row: usize) -> R;
    /// Replaces a pixel in the lanes of `mask`.
    fn set(&mut self, block: usize, row: usize, mask: R::Mask, value: R);
    /// Makes what lanes have set visible to [`SharedTile::neighbour_pixel`] of other lanes.
    fn publish(&self);
}

/// Fits a window of any size.
#[inline(always)]
pub fn fit<R: Real, T: SharedTile<R>, M: Method<R>>(
    method: &M,
    tile: &mut T,
    start: Option<Outline<R>>,
) -> RawFit<R> {
    let size = method.size();
    pass::fit(method, &mut Columns::new(tile, size), start, Finish::WhereSumsCancel)
}

/// Finds the errors of the fit of a window with this outcome.
#[inline(always)]
pub fn errors<R: Real, T: SharedTile<R>, S: Summable<P>, const P: usize, const Q: usize>(
    covariance: &CovarianceEstimator<R, S, P, Q>,
    tile: &mut T,
    outline: Outline<R>,
    linear: [R; 2],
    slopes: [R; 2],
) -> ErrorEstimate<R> {
    covariance.errors(&mut Columns::new(tile, covariance.size()), outline, linear, slopes)
}

/// The columns of the lanes.
struct Columns<'a, R, T> {
    tile: &'a mut T,
    size: Size,
    width: R,
    /// The axis along the columns.
    down: GaussianAxis<R>,
    across: GaussianAxis<R>,
}

impl<'a, R: Real, T> Columns<'a, R, T> {
    #[inline(always)]
    fn new(tile: &'a mut T, size: Size) -> Self {
        let nowhere = GaussianAxis::new(R::splat(0.0), R::splat(0.0));
        let width = R::splat(size.width as f64);
        Self { tile, size, width, down: nowhere, across: nowhere }
    }
}

impl<R: Real, T: SharedTile<R>> Tile<R> for Columns<'_, R, T> {
    type Group = T;
    type Line<'l>
        = Column<'l, R, T>
    where
        Self: 'l;
    type Around<'l>
        = Column<'l, R, T>
    where
        Self: 'l;
    type Along<'l>
        = Down<R>
    where
        Self: 'l;

    const COLUMNS: bool = true;
    const WHOLE: bool = false;

    #[inline(always)]
    fn group(&self) -> &T {
        self.tile
    }
    #[inline(always)]
    fn size(&self) -> Size {
        self.size
    }
    #[inline(always)]
    fn times(&self, number: u32) -> u32 {
        device::anew(number)
    }
    #[inline(always)]
    fn lines(&self) -> usize {
        self.size.width.div_ceil(T::LANES)
    }
    #[inline(always)]
    fn length(&self) -> usize {
        self.size.height
    }
    #[inline(always)]
    fn number(&self, lane: R, line: usize) -> R {
        lane + R::splat((line * T::LANES) as f64)
    }
    #[inline(always)]
    fn in_window(&self, lane: R, line: usize) -> R::Mask {
        self.number(lane, line).lt(self.width)
    }
    #[inline(always)]
    fn line(&self, lane: R, block: usize, _: usize) -> Column<'_, R, T> {
        Column { tile: self.tile, block, in_window: self.in_window(lane, block) }
    }
    #[inline(always)]
    fn around(&self, lane: R, block: usize, length: usize) -> Column<'_, R, T> {
        self.line(lane, block, length)
    }
    #[inline(always)]
    fn along(&self, _: usize) -> Down<R> {
        Down(self.down)
    }
    #[inline(always)]
    fn pixel(&self, line: usize, place: usize) -> R {
        self.tile.pixel(line, place)
    }

    #[inline(always)]
    fn note(&self, lane: R, line: usize, place: usize) -> R {
        R::select(self.in_window(lane, line), self.tile.note(line, place), R::splat(0.0))
    }

    #[inline(always)]
    fn weight(&self, lane: R, line: usize, place: usize) -> R {
        R::select(self.in_window(lane, line), self.tile.weight(line, place), R::splat(0.0))
    }

    #[inline(always)]
    fn take_along<const SECOND: bool>(&mut self, axis: GaussianAxis<R>) -> AxisSums<R> {
        self.down = axis;
        // The rows are shared out as the columns are.
        let mut sums = AxisSums::zero();
        let lane = self.tile.lane();
        let height = R::splat(self.size.height as f64);
        for block in 0..self.size.height.div_ceil(T::LANES) {
            let row = self.number(lane, block);
            let sample = axis.sample::<SECOND>(row).masked(row.lt(height));
            sums.add_of::<SECOND>(axis.profile(), sample);
        }
        sum_axis::<_, _, SECOND>(self.tile, axis.profile(), sums)
    }
    #[inline(always)]
    fn take_across<const SECOND: bool>(&mut self, axis: GaussianAxis<R>, _: &mut AxisSums<R>) {
        self.across = axis;
    }
    #[inline(always)]
    fn across<const SECOND: bool>(
        &self,
        lane: R,
        line: usize,
        sums: &mut AxisSums<R>,
    ) -> AxisSample<R> {
        let sample = self.across.sample::<SECOND>(self.number(lane, line));
        let sample = sample.masked(self.in_window(lane, line));
        sums.add_of::<SECOND>(self.across.profile(), sample);
        sample
    }
}

impl<R: Real, T: SharedTile<R>> Store<R> for Columns<'_, R, T> {
    #[inline(always)]
    fn set(&mut self, line: usize, place: usize, in_window: R::Mask, value: R) {
        self.tile.set(line, place, in_window, value);
    }
    #[inline(always)]
    fn publish(&self) {
        self.tile.publish();
    }
}

/// A column of each lane.
struct Column<'a, R: Real, T> {
    tile: &'a T,
    block: usize,
    in_window: R::Mask,
}

// Not derived: what is referred to need not be copied.
impl<R: Real, T> Copy for Column<'_, R, T> {}
impl<R: Real, T> Clone for Column<'_, R, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Real, T: SharedTile<R>> Line<R> for Column<'_, R, T> {
    #[inline(always)]
    fn pixel(&self, place: usize) -> R {
        R::select(self.in_window, self.tile.pixel(self.block, place), R::splat(0.0))
    }
}

impl<R: Real, T: SharedTile<R>> Around<R> for Column<'_, R, T> {
    #[inline(always)]
    fn neighbour(&self, place: usize, step: isize) -> R {
        self.tile.neighbour_pixel(self.block, place, step)
    }
}

/// The axis along the columns, sampled again for each of them: registers are few.
struct Down<R>(GaussianAxis<R>);

impl<R: Real> Along<R> for Down<R> {
    #[inline(always)]
    fn at<const SECOND: bool>(&self, _: usize, index: R) -> AxisSample<R> {
        self.0.sample::<SECOND>(index)
    }
}
