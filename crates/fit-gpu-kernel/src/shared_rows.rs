//! The pixels in shared memory: a few threads a fit, with some rows each. For windows of any size and shape.
//!
//! The loops over rows and columns stay loops, whose ends and steps are marks in the text of a kernel: the host replaces them
//! when it loads it ([`crate::specialization`]), so that one text serves every size and any number of threads. The samples of the
//! columns are in shared memory too, made by all threads of a fit together.

use fit_core::pass::{
    self, Along, Around, CovarianceEstimator, ErrorEstimate, Finish, Group, Line, Method, RawFit,
    Store, Summable, Tile, sum_axis,
};
use fit_core::spot::axis::{AxisSample, AxisSums, GaussianAxis};
use fit_core::{Mask, Outline, Real, Size};

use crate::device;

/// The pixels of one window, and the lanes that work on it. Lane `l` has the rows l, l + n, … of n lanes, a *line* for
/// each step.
pub trait RowsTile<R: Real>: Group<R> {
    /// A row of each lane.
    type Row: Copy;

    /// The window.
    fn size(&self) -> Size;
    /// The number of lanes, of which [`Group::LANES`] is the most.
    fn lanes(&self) -> usize;
    /// Whether all lines of all lanes are in the window.
    fn is_whole(&self) -> bool;
    /// The lanes' rows of a line, or those `step` rows below; the last of the window, or the first, where there are no such
    /// rows.
    fn row(&self, line: usize, step: isize) -> Self::Row;
    /// A pixel of these rows.
    fn pixel(&self, row: Self::Row, column: usize) -> R;
    /// Its note.
    fn note(&self, row: Self::Row, column: usize) -> R;
    /// Its weight where its note is a variance.
    fn weight(&self, row: Self::Row, column: usize) -> R;
    /// Replaces a pixel in the lanes of `mask`.
    fn set(&mut self, row: Self::Row, column: usize, mask: R::Mask, value: R);
    /// Keeps the samples of the columns of a block, l, l + n, …, in the lanes of `mask`; with second derivatives if `SECOND`.
    fn put<const SECOND: bool>(&mut self, block: usize, mask: R::Mask, sample: AxisSample<R>);
    /// The sample of a column, whichever lane made it.
    fn sample<const SECOND: bool>(&self, column: usize) -> AxisSample<R>;
    /// Makes what lanes have set visible to other lanes, and waits until they have read what was there.
    fn publish(&self);
}

/// Fits a window.
#[inline(always)]
pub fn fit<R: Real, T: RowsTile<R>, M: Method<R>>(
    method: &M,
    tile: &mut T,
    start: Option<Outline<R>>,
) -> RawFit<R> {
    pass::fit(method, &mut Rows::new(tile), start, Finish::WhereSumsCancel)
}

/// Finds the errors of the fit of a window with this outcome.
#[inline(always)]
pub fn errors<R: Real, T: RowsTile<R>, S: Summable<P>, const P: usize, const Q: usize>(
    covariance: &CovarianceEstimator<R, S, P, Q>,
    tile: &mut T,
    outline: Outline<R>,
    linear: [R; 2],
    slopes: [R; 2],
) -> ErrorEstimate<R> {
    covariance.errors(&mut Rows::new(tile), outline, linear, slopes)
}

/// The rows of the lanes.
struct Rows<'a, R, T> {
    tile: &'a mut T,
    height: R,
    /// The axis of the rows.
    down: GaussianAxis<R>,
}

impl<'a, R: Real, T: RowsTile<R>> Rows<'a, R, T> {
    #[inline(always)]
    fn new(tile: &'a mut T) -> Self {
        let nowhere = GaussianAxis::new(R::splat(0.0), R::splat(0.0));
        let height = R::splat(tile.size().height as f64);
        Self { tile, height, down: nowhere }
    }
}

impl<R: Real, T: RowsTile<R>> Tile<R> for Rows<'_, R, T> {
    type Group = T;
    type Line<'l>
        = Row<'l, R, T>
    where
        Self: 'l;
    type Around<'l>
        = Row<'l, R, T>
    where
        Self: 'l;
    type Along<'l>
        = Samples<'l, T>
    where
        Self: 'l;

    const WHOLE: bool = false;
    const AT_ONCE: usize = 4;

    #[inline(always)]
    fn group(&self) -> &T {
        self.tile
    }
    #[inline(always)]
    fn size(&self) -> Size {
        self.tile.size()
    }
    #[inline(always)]
    fn times(&self, number: u32) -> u32 {
        device::anew(number)
    }
    #[inline(always)]
    fn lines(&self) -> usize {
        self.tile.size().height.div_ceil(self.tile.lanes())
    }
    #[inline(always)]
    fn length(&self) -> usize {
        self.tile.size().width
    }
    #[inline(always)]
    fn number(&self, lane: R, line: usize) -> R {
        lane + R::splat((line * self.tile.lanes()) as f64)
    }
    #[inline(always)]
    fn in_window(&self, lane: R, line: usize) -> R::Mask {
        R::Mask::splat(self.tile.is_whole()) | self.number(lane, line).lt(self.height)
    }
    #[inline(always)]
    fn line(&self, _: R, line: usize, _: usize) -> Row<'_, R, T> {
        let here = self.tile.row(line, 0);
        Row { tile: self.tile, above: here, here, below: here }
    }
    #[inline(always)]
    fn around(&self, _: R, line: usize, _: usize) -> Row<'_, R, T> {
        let [above, here, below] = [-1, 0, 1].map(|step| self.tile.row(line, step));
        Row { tile: self.tile, above, here, below }
    }
    #[inline(always)]
    fn along(&self, _: usize) -> Samples<'_, T> {
        Samples(self.tile)
    }
    #[inline(always)]
    fn pixel(&self, line: usize, place: usize) -> R {
        self.tile.pixel(self.tile.row(line, 0), place)
    }
    #[inline(always)]
    fn note(&self, _: R, line: usize, place: usize) -> R {
        self.tile.note(self.tile.row(line, 0), place)
    }
    #[inline(always)]
    fn weight(&self, _: R, line: usize, place: usize) -> R {
        self.tile.weight(self.tile.row(line, 0), place)
    }

    #[inline(always)]
    fn take_along<const SECOND: bool>(&mut self, axis: GaussianAxis<R>) -> AxisSums<R> {
        let (lanes, width) = (self.tile.lanes(), self.tile.size().width);
        let (lane, end) = (self.tile.lane(), R::splat(width as f64));
        let mut sums = AxisSums::zero();
        self.tile.publish();
        for block in 0..width.div_ceil(lanes) {
            let column = lane + R::splat((block * lanes) as f64);
            let inside = column.lt(end);
            let sample = axis.sample::<SECOND>(column).masked(inside);
            sums.add_of::<SECOND>(axis.profile(), sample);
            self.tile.put::<SECOND>(block, inside, sample);
        }
        self.tile.publish();
        sum_axis::<_, _, SECOND>(self.tile, axis.profile(), sums)
    }
    #[inline(always)]
    fn take_across<const SECOND: bool>(&mut self, axis: GaussianAxis<R>, _: &mut AxisSums<R>) {
        self.down = axis;
    }
    #[inline(always)]
    fn across<const SECOND: bool>(
        &self,
        lane: R,
        line: usize,
        sums: &mut AxisSums<R>,
    ) -> AxisSample<R> {
        let sample = self.down.sample::<SECOND>(self.number(lane, line));
        let sample = sample.masked(self.in_window(lane, line));
        sums.add_of::<SECOND>(self.down.profile(), sample);
        sample
    }
}

impl<R: Real, T: RowsTile<R>> Store<R> for Rows<'_, R, T> {
    #[inline(always)]
    fn set(&mut self, line: usize, place: usize, in_window: R::Mask, value: R) {
        let row = self.tile.row(line, 0);
        self.tile.set(row, place, in_window, value);
    }
    #[inline(always)]
    fn publish(&self) {
        self.tile.publish();
    }
}

/// A row of each lane, and those beside it.
struct Row<'a, R: Real, T: RowsTile<R>> {
    tile: &'a T,
    above: T::Row,
    here: T::Row,
    below: T::Row,
}

// Not derived: what is referred to need not be copied.
impl<R: Real, T: RowsTile<R>> Copy for Row<'_, R, T> {}
impl<R: Real, T: RowsTile<R>> Clone for Row<'_, R, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Real, T: RowsTile<R>> Line<R> for Row<'_, R, T> {
    #[inline(always)]
    fn pixel(&self, place: usize) -> R {
        self.tile.pixel(self.here, place)
    }
}

impl<R: Real, T: RowsTile<R>> Around<R> for Row<'_, R, T> {
    #[inline(always)]
    fn neighbour(&self, place: usize, step: isize) -> R {
        self.tile.pixel(if step < 0 { self.above } else { self.below }, place)
    }
}

/// The samples of the columns.
struct Samples<'a, T>(&'a T);

impl<R: Real, T: RowsTile<R>> Along<R> for Samples<'_, T> {
    #[inline(always)]
    fn at<const SECOND: bool>(&self, place: usize, _: R) -> AxisSample<R> {
        self.0.sample::<SECOND>(place)
    }
}
