//! The pixels in registers: one thread a fit, or a few of them with some rows each.
//!
//! All loops over pixels have fixed lengths, so that a compiler can unroll them and keep the pixels in
//! registers. Every lane samples all columns; rows are shared out.

use fit_core::pass::{self, Around, Finish, Group, Line, Method, RawFit, Store, Tile};
use fit_core::spot::axis::{AxisSample, AxisSums, GaussianAxis};
use fit_core::{Mask, Outline, Real, Size};

use crate::device;

/// Whether spots with so many parameters are fitted with Newton steps: in windows so small that registers have room for the sums
/// of second derivatives too, and where many steps are saved.
pub const fn is_exact(parameters: usize, lanes: usize, side: usize) -> bool {
    let longest = match parameters {
        2 => 6,
        _ => 7,
    };
    lanes == 1 && side <= longest
}

/// Whether threads fit such windows in turn: where some spots take many times as many steps as others.
pub const fn is_in_turn(parameters: usize, lanes: usize, side: usize) -> bool {
    let longest = match parameters {
        3 => 5,
        4 => 6,
        _ => 0,
    };
    lanes == 1 && side <= longest
}

/// Fits a window of `SIDE`×`SIDE` pixels. Lane `l` has the rows l·`ROWS` to l·`ROWS` + `ROWS` − 1, which are
/// `N` = `ROWS`·`SIDE` pixels; what it has of rows that do not exist does not matter.
#[inline(always)]
pub fn fit<
    R: Real,
    G: Group<R>,
    M: Method<R>,
    const SIDE: usize,
    const ROWS: usize,
    const N: usize,
>(
    method: &M,
    group: &G,
    pixels: &mut [R; N],
    start: Option<Outline<R>>,
) -> RawFit<R> {
    let mut tile = RegisterTile::<_, _, SIDE, ROWS, N>::new(group, pixels);
    pass::fit(method, &mut tile, start, Finish::WhereSumsCancel)
}

/// A row beyond all windows: σ is below [`fit_core::Size::MAX_PIXELS`], and the square of this is still a number.
const FAR: f64 = 1e12;

/// The rows of the lanes.
pub struct RegisterTile<'a, R, G, const SIDE: usize, const ROWS: usize, const N: usize> {
    group: &'a G,
    pixels: &'a mut [R; N],
    /// The samples of the columns.
    columns: [AxisSample<R>; SIDE],
    /// The axis of the rows.
    down: GaussianAxis<R>,
}

impl<'a, R: Real, G: Group<R>, const SIDE: usize, const ROWS: usize, const N: usize>
    RegisterTile<'a, R, G, SIDE, ROWS, N>
{
    /// The rows that [`fit`] has.
    #[inline(always)]
    pub fn new(group: &'a G, pixels: &'a mut [R; N]) -> Self {
        let zero = R::splat(0.0);
        let columns = [AxisSample::zero(); SIDE];
        Self { group, pixels, columns, down: GaussianAxis::new(zero, zero) }
    }
}

impl<R: Real, G: Group<R>, const SIDE: usize, const ROWS: usize, const N: usize> Tile<R>
    for RegisterTile<'_, R, G, SIDE, ROWS, N>
{
    type Group = G;
    type Line<'l>
        = LaneRow<'l, Self>
    where
        Self: 'l;
    type Around<'l>
        = LaneRow<'l, Self>
    where
        Self: 'l;
    type Along<'l>
        = &'l [AxisSample<R>; SIDE]
    where
        Self: 'l;

    const WHOLE: bool = G::LANES * ROWS == SIDE;

    #[inline(always)]
    fn group(&self) -> &G {
        self.group
    }
    #[inline(always)]
    fn size(&self) -> Size {
        Size::new(SIDE, SIDE)
    }
    #[inline(always)]
    fn times(&self, number: u32) -> u32 {
        device::anew(number)
    }
    #[inline(always)]
    fn lines(&self) -> usize {
        ROWS
    }
    #[inline(always)]
    fn length(&self) -> usize {
        SIDE
    }
    #[inline(always)]
    fn number(&self, lane: R, line: usize) -> R {
        lane * R::splat(ROWS as f64) + R::splat(line as f64)
    }
    #[inline(always)]
    fn in_window(&self, lane: R, line: usize) -> R::Mask {
        if Self::WHOLE {
            R::Mask::splat(true)
        } else {
            self.number(lane, line).lt(R::splat(SIDE as f64))
        }
    }
    #[inline(always)]
    fn line(&self, _: R, row: usize, _: usize) -> LaneRow<'_, Self> {
        LaneRow { tile: self, row }
    }
    #[inline(always)]
    fn around(&self, _: R, row: usize, _: usize) -> LaneRow<'_, Self> {
        LaneRow { tile: self, row }
    }
    #[inline(always)]
    fn along(&self, _: usize) -> &[AxisSample<R>; SIDE] {
        &self.columns
    }
    #[inline(always)]
    fn pixel(&self, line: usize, place: usize) -> R {
        self.pixels[line * SIDE + place]
    }

    #[inline(always)]
    fn note(&self, _: R, _: usize, _: usize) -> R {
        // No kernel with pixels in registers has notes.
        R::splat(0.0)
    }

    #[inline(always)]
    fn take_along<const SECOND: bool>(&mut self, axis: GaussianAxis<R>) -> AxisSums<R> {
        let mut sums = AxisSums::zero();
        for i in 0..SIDE {
            self.columns[i] = axis.sample::<SECOND>(R::splat(i as f64));
            sums.add_of::<SECOND>(axis.profile(), self.columns[i]);
        }
        sums
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
        // Rows that do not exist are so far away that the profile is zero there.
        let mut number = self.number(lane, line);
        if !Self::WHOLE {
            number = R::select(self.in_window(lane, line), number, R::splat(FAR));
        }
        let sample = self.down.sample::<SECOND>(number);
        sums.add_of::<SECOND>(self.down.profile(), sample);
        sample
    }
}

impl<R: Real, G: Group<R>, const SIDE: usize, const ROWS: usize, const N: usize> Store<R>
    for RegisterTile<'_, R, G, SIDE, ROWS, N>
{
    #[inline(always)]
    fn set(&mut self, line: usize, place: usize, _: R::Mask, value: R) {
        self.pixels[line * SIDE + place] = value;
    }
}

/// A row of each lane.
pub struct LaneRow<'a, T> {
    tile: &'a T,
    row: usize,
}

// Not derived: what is referred to need not be copied.
impl<T> Copy for LaneRow<'_, T> {}
impl<T> Clone for LaneRow<'_, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<R: Real, G: Group<R>, const SIDE: usize, const ROWS: usize, const N: usize> Line<R>
    for LaneRow<'_, RegisterTile<'_, R, G, SIDE, ROWS, N>>
{
    #[inline(always)]
    fn pixel(&self, place: usize) -> R {
        self.tile.pixel(self.row, place)
    }
}

impl<R: Real, G: Group<R>, const SIDE: usize, const ROWS: usize, const N: usize> Around<R>
    for LaneRow<'_, RegisterTile<'_, R, G, SIDE, ROWS, N>>
{
    #[inline(always)]
    fn neighbour(&self, place: usize, step: isize) -> R {
        let Self { tile, row } = *self;
        // The next row may be that of the lane beside.
        if step < 0 {
            if row > 0 {
                tile.pixel(row - 1, place)
            } else {
                tile.group.neighbour(tile.pixel(ROWS - 1, place), -1)
            }
        } else if row + 1 < ROWS {
            tile.pixel(row + 1, place)
        } else {
            tile.group.neighbour(tile.pixel(0, place), 1)
        }
    }
}
