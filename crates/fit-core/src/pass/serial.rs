//! A window in memory, row after row, that one lane has by itself: a number, or a pack with a window in each lane.

use core::borrow::{Borrow, BorrowMut};

use super::group::OneLane;
use super::tile::{Along, Around, Line, Store, Tile};
use crate::arithmetic::Real;
use crate::size::Size;
use crate::spot::axis::{AxisSample, AxisSums, GaussianAxis, Put};

/// Numbers of a sample.
const PARTS: usize = 5;

/// Memory for the samples of both axes of a window.
#[derive(Debug)]
pub struct Axes<'a, R> {
    columns: Samples<'a, R>,
    rows: Samples<'a, R>,
}

/// The samples of one axis, component by component.
#[derive(Debug)]
struct Samples<'a, R> {
    value: &'a mut [R],
    by_centre: &'a mut [R],
    by_width: &'a mut [R],
    second: [&'a mut [R]; 2],
}

impl<'a, R: Real> Axes<'a, R> {
    /// How many numbers of scratch memory a window takes.
    pub const fn scratch_len(size: Size) -> usize {
        PARTS * (size.width + size.height)
    }

    /// No memory, for passes that sample no axis.
    pub fn none() -> Self {
        let none = || Samples {
            value: &mut [],
            by_centre: &mut [],
            by_width: &mut [],
            second: [&mut [], &mut []],
        };
        Self { columns: none(), rows: none() }
    }

    /// Samples of the columns and rows of a window; `None` if the scratch memory is too small.
    #[inline(always)]
    pub fn new(scratch: &'a mut [R], size: Size) -> Option<Self> {
        let (columns, rows) = scratch.split_at_mut_checked(PARTS * size.width)?;
        Some(Self {
            columns: Samples::new(columns, size.width)?,
            rows: Samples::new(rows, size.height)?,
        })
    }
}

impl<'a, R: Real> Samples<'a, R> {
    #[inline(always)]
    fn new(scratch: &'a mut [R], length: usize) -> Option<Self> {
        let (value, rest) = scratch.split_at_mut_checked(length)?;
        let (by_centre, rest) = rest.split_at_mut_checked(length)?;
        let (by_width, rest) = rest.split_at_mut_checked(length)?;
        let (mixed, rest) = rest.split_at_mut_checked(length)?;
        let (twice, _) = rest.split_at_mut_checked(length)?;
        Some(Self { value, by_centre, by_width, second: [mixed, twice] })
    }

    #[inline(always)]
    fn fill<const SECOND: bool>(&mut self, axis: GaussianAxis<R>, sums: &mut AxisSums<R>) {
        let length = self.value.len();
        let [mixed, twice] = &mut self.second;
        let mut samples = Filled::<R, SECOND> {
            value: &mut self.value[..length],
            by_centre: &mut self.by_centre[..length],
            by_width: &mut self.by_width[..length],
            second: [&mut mixed[..length], &mut twice[..length]],
        };
        axis.fill::<SECOND>(length, sums, &mut samples);
    }
}

/// Samples that are being filled.
struct Filled<'a, R, const SECOND: bool> {
    value: &'a mut [R],
    by_centre: &'a mut [R],
    by_width: &'a mut [R],
    second: [&'a mut [R]; 2],
}

impl<R: Real, const SECOND: bool> Put<R> for Filled<'_, R, SECOND> {
    #[inline(always)]
    fn put(&mut self, place: usize, sample: AxisSample<R>) {
        self.value[place] = sample.value;
        self.by_centre[place] = sample.by_centre;
        self.by_width[place] = sample.by_width;
        if SECOND {
            self.second[0][place] = sample.second[0];
            self.second[1][place] = sample.second[1];
        }
    }
}

/// A window in memory: `width`·`height` pixels, row after row.
#[derive(Debug)]
pub struct Serial<'a, 's, R, D, const APART: bool = false> {
    pixels: D,
    notes: &'a [R],
    weights: &'a [R],
    size: Size,
    axes: &'a mut Axes<'s, R>,
}

impl<'a, 's, R: Real, D: Borrow<[R]>> Serial<'a, 's, R, D> {
    /// The pixels of a window and memory for its axes, which must be for the same size.
    #[inline(always)]
    pub fn new(pixels: D, size: Size, axes: &'a mut Axes<'s, R>) -> Self {
        Self { pixels, notes: &[], weights: &[], size, axes }
    }

    /// The same where visits are few ([`Tile::APART`]).
    #[inline(always)]
    pub fn apart(self) -> Serial<'a, 's, R, D, true> {
        let Self { pixels, notes, weights, size, axes } = self;
        Serial { pixels, notes, weights, size, axes }
    }

    /// The same with a weight, or a variance, for each pixel.
    #[inline(always)]
    pub fn with_notes(self, notes: &'a [R]) -> Self {
        Self { notes, ..self }
    }

    /// The same with a weight for each pixel, where the notes are variances; an empty slice is as good as ones.
    #[inline(always)]
    pub fn with_weights(self, weights: &'a [R]) -> Self {
        Self { weights, ..self }
    }
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct PixelRow<'a, R>(&'a [R]);

impl<R: Real> Line<R> for PixelRow<'_, R> {
    #[inline(always)]
    fn pixel(&self, place: usize) -> R {
        self.0[place]
    }
}

/// A row and its neighbours above and below; at an edge of the window the row itself replaces the missing one.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, R> {
    above: &'a [R],
    here: &'a [R],
    below: &'a [R],
}

impl<R: Real> Line<R> for Rows<'_, R> {
    #[inline(always)]
    fn pixel(&self, place: usize) -> R {
        self.here[place]
    }
}

impl<R: Real> Around<R> for Rows<'_, R> {
    #[inline(always)]
    fn neighbour(&self, place: usize, step: isize) -> R {
        if step < 0 { self.above[place] } else { self.below[place] }
    }
}

/// The samples of the columns.
#[derive(Debug)]
pub struct Columns<'a, R> {
    value: &'a [R],
    by_centre: &'a [R],
    by_width: &'a [R],
    second: [&'a [R]; 2],
}

impl<R: Real> Along<R> for Columns<'_, R> {
    #[inline(always)]
    fn at<const SECOND: bool>(&self, place: usize, _: R) -> AxisSample<R> {
        let mut sample = AxisSample {
            value: self.value[place],
            by_centre: self.by_centre[place],
            by_width: self.by_width[place],
            ..AxisSample::zero()
        };
        if SECOND {
            sample.second = [self.second[0][place], self.second[1][place]];
        }
        sample
    }
}

impl<R: Real, D: Borrow<[R]>, const APART: bool> Tile<R> for Serial<'_, '_, R, D, APART> {
    type Group = OneLane;
    type Line<'l>
        = PixelRow<'l, R>
    where
        Self: 'l;
    type Around<'l>
        = Rows<'l, R>
    where
        Self: 'l;
    type Along<'l>
        = Columns<'l, R>
    where
        Self: 'l;

    const WHOLE: bool = true;

    const APART: bool = APART;

    const AT_ONCE: usize = R::ROWS;

    #[inline(always)]
    fn group(&self) -> &OneLane {
        &OneLane
    }
    #[inline(always)]
    fn size(&self) -> Size {
        self.size
    }
    #[inline(always)]
    fn lines(&self) -> usize {
        self.size.height
    }
    #[inline(always)]
    fn length(&self) -> usize {
        self.size.width
    }
    #[inline(always)]
    fn line(&self, _: R, line: usize, length: usize) -> PixelRow<'_, R> {
        PixelRow(&self.pixels.borrow()[line * length..][..length])
    }
    #[inline(always)]
    fn around(&self, _: R, line: usize, length: usize) -> Rows<'_, R> {
        let (first, pixels) = (line * length, self.pixels.borrow());
        let here = &pixels[first..][..length];
        let from = |first: usize| pixels.get(first..).and_then(|pixels| pixels.get(..length));
        let above = from(first.wrapping_sub(length)).unwrap_or(here);
        Rows { above, here, below: from(first + length).unwrap_or(here) }
    }
    #[inline(always)]
    fn along(&self, length: usize) -> Columns<'_, R> {
        let Samples { value, by_centre, by_width, second: [mixed, twice] } = &self.axes.columns;
        Columns {
            value: &value[..length],
            by_centre: &by_centre[..length],
            by_width: &by_width[..length],
            second: [&mixed[..length], &twice[..length]],
        }
    }
    #[inline(always)]
    fn pixel(&self, line: usize, place: usize) -> R {
        self.pixels.borrow()[line * self.size.width + place]
    }

    #[inline(always)]
    fn note(&self, _: R, line: usize, place: usize) -> R {
        self.notes.get(line * self.size.width + place).copied().unwrap_or(R::splat(0.0))
    }
    #[inline(always)]
    fn weight(&self, _: R, line: usize, place: usize) -> R {
        self.weights.get(line * self.size.width + place).copied().unwrap_or(R::splat(1.0))
    }

    #[inline(always)]
    fn take_along<const SECOND: bool>(&mut self, axis: GaussianAxis<R>) -> AxisSums<R> {
        let mut sums = AxisSums::zero();
        self.axes.columns.fill::<SECOND>(axis, &mut sums);
        sums
    }
    #[inline(always)]
    fn take_across<const SECOND: bool>(&mut self, axis: GaussianAxis<R>, sums: &mut AxisSums<R>) {
        self.axes.rows.fill::<SECOND>(axis, sums);
    }
    #[inline(always)]
    fn across<const SECOND: bool>(&self, _: R, line: usize, _: &mut AxisSums<R>) -> AxisSample<R> {
        let Samples { value, by_centre, by_width, second } = &self.axes.rows;
        let mut sample = AxisSample {
            value: value[line],
            by_centre: by_centre[line],
            by_width: by_width[line],
            ..AxisSample::zero()
        };
        if SECOND {
            sample.second = [second[0][line], second[1][line]];
        }
        sample
    }
}

impl<R: Real, D: BorrowMut<[R]>, const APART: bool> Store<R> for Serial<'_, '_, R, D, APART> {
    #[inline(always)]
    fn set(&mut self, line: usize, place: usize, _: R::Mask, value: R) {
        self.pixels.borrow_mut()[line * self.size.width + place] = value;
    }
}
