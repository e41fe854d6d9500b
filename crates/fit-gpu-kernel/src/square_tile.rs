//! Square windows of a side that is known when a kernel is compiled: their pixels in registers, in one thread or a few with some rows each,
//! or in memory of a thread's own.
//!
//! All loops over pixels in registers have fixed lengths, so that a compiler can unroll them and keep the pixels there. In memory the
//! loop over rows stays a loop, so that its code fits into the instruction cache, for large batches where the sums leave registers no
//! room for pixels. Every lane samples all columns, into registers; rows are shared out.

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

/// The pixels of a lane: rows of `SIDE`.
pub trait Cells<R, const SIDE: usize> {
    /// The number of rows.
    const ROWS: usize;
    /// The same, of which a compiler need not know that it is the same.
    fn rows(&self) -> usize;
    /// A pixel.
    fn at(&self, row: usize, column: usize) -> R;
    /// Replaces a pixel.
    fn put(&mut self, row: usize, column: usize, value: R);
}

impl<R: Copy, const SIDE: usize, const N: usize> Cells<R, SIDE> for &mut [R; N] {
    const ROWS: usize = N / SIDE;

    #[inline(always)]
    fn rows(&self) -> usize {
        N / SIDE
    }
    #[inline(always)]
    fn at(&self, row: usize, column: usize) -> R {
        self[row * SIDE + column]
    }
    #[inline(always)]
    fn put(&mut self, row: usize, column: usize, value: R) {
        self[row * SIDE + column] = value;
    }
}

/// As many rows as columns, which is not said, so that loops over rows stay loops.
impl<R: Copy, const SIDE: usize> Cells<R, SIDE> for &mut [[R; SIDE]] {
    const ROWS: usize = SIDE;

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

/// Fits a window of `SIDE`×`SIDE` pixels. Lane `l` has the rows l·n to l·n + n − 1 of n rows of its cells; what it has of rows
/// that do not exist does not matter. There are as many notes as pixels if the method takes notes, which a single lane has.
#[inline(always)]
pub fn fit<R: Real, G: Group<R>, C: Cells<R, SIDE>, M: Method<R>, const SIDE: usize>(
    method: &M,
    group: &G,
    cells: C,
    notes: &[[R; SIDE]],
    start: Option<Outline<R>>,
) -> RawFit<R> {
    pass::fit(method, &mut SquareTile::new(group, cells, notes), start, Finish::WhereSumsCancel)
}

/// A row beyond all windows: σ is below [`fit_core::Size::MAX_PIXELS`], and the square of this is still a number.
const FAR: f64 = 1e12;

/// The rows of the lanes.
pub struct SquareTile<'a, R, G, C, const SIDE: usize> {
    group: &'a G,
    cells: C,
    notes: &'a [[R; SIDE]],
    /// The samples of the columns.
    columns: [AxisSample<R>; SIDE],
    /// The axis of the rows.
    down: GaussianAxis<R>,
}

impl<'a, R: Real, G, C, const SIDE: usize> SquareTile<'a, R, G, C, SIDE> {
    /// The rows that [`fit`] has.
    #[inline(always)]
    pub fn new(group: &'a G, cells: C, notes: &'a [[R; SIDE]]) -> Self {
        let zero = R::splat(0.0);
        let columns = [AxisSample::zero(); SIDE];
        Self { group, cells, notes, columns, down: GaussianAxis::new(zero, zero) }
    }
}

impl<R: Real, G: Group<R>, C: Cells<R, SIDE>, const SIDE: usize> Tile<R>
    for SquareTile<'_, R, G, C, SIDE>
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

    const WHOLE: bool = G::LANES * C::ROWS == SIDE;

    #[inline(always)]
    fn group(&self) -> &G {
        self.group
    }
    #[inline(always)]
    fn size(&self) -> Size {
        Size::new(SIDE, if G::LANES == 1 { self.cells.rows() } else { SIDE })
    }
    #[inline(always)]
    fn times(&self, number: u32) -> u32 {
        device::anew(number)
    }
    #[inline(always)]
    fn lines(&self) -> usize {
        self.cells.rows()
    }
    #[inline(always)]
    fn length(&self) -> usize {
        SIDE
    }
    #[inline(always)]
    fn number(&self, lane: R, line: usize) -> R {
        let line = R::splat(line as f64);
        if G::LANES == 1 { line } else { lane * R::splat(C::ROWS as f64) + line }
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
        self.cells.at(line, place)
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

impl<R: Real, G: Group<R>, C: Cells<R, SIDE>, const SIDE: usize> Store<R>
    for SquareTile<'_, R, G, C, SIDE>
{
    #[inline(always)]
    fn set(&mut self, line: usize, place: usize, _: R::Mask, value: R) {
        self.cells.put(line, place, value);
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

impl<R: Real, T: Tile<R>> Line<R> for LaneRow<'_, T> {
    #[inline(always)]
    fn pixel(&self, place: usize) -> R {
        self.tile.pixel(self.row, place)
    }
}

impl<R: Real, T: Tile<R>> Around<R> for LaneRow<'_, T> {
    #[inline(always)]
    fn neighbour(&self, place: usize, step: isize) -> R {
        let Self { tile, row } = *self;
        let (row, rows) = (row.wrapping_add_signed(step), tile.lines());
        if row < rows {
            return tile.pixel(row, place);
        }
        // The next row may be that of the lane beside.
        let other = if step < 0 { rows - 1 } else { 0 };
        tile.group().neighbour(tile.pixel(other, place), step)
    }
}
