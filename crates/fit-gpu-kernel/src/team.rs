//! The pixels in shared memory: 8, 16 or 32 threads a fit, a thread a column, or several columns. For windows
//! of any size and shape, and where a fit is to be done soon.

use fit_core::axis::{AxisSums, GaussianAxis};
use fit_core::condition::{Conditioning, Extent};
use fit_core::normal::{CANCELS, assemble};
use fit_core::search::Search;
use fit_core::sums::{DataSums, RowSums, Sums};
use fit_core::{Mask, Real, Setup, Shape};

use crate::group::{Group, Outcome};
use crate::rows::axis_sums;

/// The pixels of one window, and the lanes that work on it. Lane `l` has the columns l, l + `LANES`, …, a
/// *block* of columns for each step.
pub trait Team<R: Real>: Group<R> {
    /// The pixel of a row in the lanes' columns of a block; anything where there is no such column.
    fn pixel(&self, block: usize, row: usize) -> R;
    /// The pixel one column to the left (−1) or right (+1) of that; anything where there is none.
    fn beside(&self, block: usize, row: usize, step: isize) -> R;
    /// Replaces a pixel in the lanes of `mask`.
    fn set(&mut self, block: usize, row: usize, mask: R::Mask, value: R);
    /// Makes what lanes have set visible to [`Team::beside`] of other lanes.
    fn publish(&self);
}

/// Width, height and the columns' blocks of a window.
#[derive(Clone, Copy)]
struct Grid<R> {
    width: R,
    columns: usize,
    rows: usize,
    blocks: usize,
}

impl<R: Real> Grid<R> {
    /// The numbers of the lanes' columns in a block, and the lanes that have one.
    #[inline(always)]
    fn columns<T: Team<R>>(&self, team: &T, block: usize) -> (R, R::Mask) {
        let column = team.lane() + R::splat((block * T::LANES) as f64);
        (column, column.lt(self.width))
    }
}

/// Fits a window of any size.
#[inline(always)]
pub fn fit<R: Real, T: Team<R>>(
    setup: &Setup<R>,
    team: &mut T,
    start: Option<Shape<R>>,
) -> Outcome<R> {
    let size = setup.size;
    let grid = Grid {
        width: R::splat(size.width as f64),
        columns: size.width,
        rows: size.height,
        blocks: size.width.div_ceil(T::LANES),
    };
    let data = condition(&grid, team);
    let start = match start {
        Some(start) => start,
        None => estimate(&grid, team),
    };
    let mut search = Search::start(setup, &data, start);
    while search.running().any() {
        let sums = evaluate(&grid, team, search.trial());
        search.update(setup, &assemble(&sums, &data, setup.background));
    }
    let (best, at_best) = (search.best(), search.at_best());
    let mut chi2 = at_best.chi2;
    let cancels = chi2.lt(R::splat(CANCELS * R::EPSILON) * data.spread);
    if cancels.any() {
        let exact = residual_chi2(&grid, team, best, at_best.alpha, at_best.beta);
        chi2 = R::select(cancels, exact, chi2);
    }
    search.numbers(&data, chi2)
}

#[inline(always)]
fn condition<R: Real, T: Team<R>>(grid: &Grid<R>, team: &mut T) -> Conditioning<R> {
    let first = team.first(team.pixel(0, 0));
    let mut extent = Extent::new(first);
    for block in 0..grid.blocks {
        let (_, there) = grid.columns(team, block);
        for row in 0..grid.rows {
            extent.add(R::select(there, team.pixel(block, row), first));
        }
    }
    extent.low = team.least(extent.low);
    extent.high = -team.least(-extent.high);
    let (scale, offset) = extent.scaling();
    let zero = R::splat(0.0);
    let (mut total, mut squares) = (zero, zero);
    for block in 0..grid.blocks {
        let (_, there) = grid.columns(team, block);
        for row in 0..grid.rows {
            let pixel = team.pixel(block, row).mul_add(scale, -offset);
            team.set(block, row, there, pixel);
            let pixel = R::select(there, pixel, zero);
            total = total + pixel;
            squares = pixel.mul_add(pixel, squares);
        }
    }
    team.publish();
    let (total, squares) = (team.sum(total), team.sum(squares));
    Conditioning::new(grid.columns * grid.rows, &extent, total, squares)
}

/// The sums of [`fit_core::sums::separable`]: each lane sums its columns downwards, then the lanes' sums are
/// added. x and y have changed places: a column here is what a row is there.
#[inline(always)]
fn evaluate<R: Real, T: Team<R>>(grid: &Grid<R>, team: &T, shape: Shape<R>) -> Sums<R> {
    let inverse_sigma = R::splat(1.0) / shape.sigma;
    let across = GaussianAxis::new(shape.x, inverse_sigma);
    let down = GaussianAxis::new(shape.y, inverse_sigma);
    let zero = R::splat(0.0);
    let (mut x, mut data) = (AxisSums::zero(), DataSums::zero());
    for block in 0..grid.blocks {
        let (column, there) = grid.columns(team, block);
        let mut sample = across.sample(column);
        sample.value = R::select(there, sample.value, zero);
        sample.by_centre = R::select(there, sample.by_centre, zero);
        sample.by_width = R::select(there, sample.by_width, zero);
        x.add_gaussian(sample);
        let mut sums = RowSums::zero();
        let mut number = zero;
        for row in 0..grid.rows {
            let pixel = R::select(there, team.pixel(block, row), zero);
            sums.add(pixel, down.sample(number));
            number = number + R::splat(1.0);
        }
        data.add(sums, sample);
    }
    // The rows are shared out as the columns are.
    let mut y = AxisSums::zero();
    let height = R::splat(grid.rows as f64);
    for block in 0..grid.rows.div_ceil(T::LANES) {
        let row = team.lane() + R::splat((block * T::LANES) as f64);
        let there = row.lt(height);
        let mut sample = down.sample(row);
        sample.value = R::select(there, sample.value, zero);
        sample.by_centre = R::select(there, sample.by_centre, zero);
        sample.by_width = R::select(there, sample.by_width, zero);
        y.add_gaussian(sample);
    }
    let data = DataSums {
        value: team.sum(data.value),
        by_x: team.sum(data.by_y),
        by_y: team.sum(data.by_x),
        by_width_x: team.sum(data.by_width_y),
        by_width_y: team.sum(data.by_width_x),
    };
    Sums::from_axes(&axis_sums(team, x), &axis_sums(team, y), &data)
}

/// χ² of [`fit_core::sums::residual_chi2`].
#[inline(always)]
fn residual_chi2<R: Real, T: Team<R>>(
    grid: &Grid<R>,
    team: &T,
    shape: Shape<R>,
    alpha: R,
    beta: R,
) -> R {
    let inverse_sigma = R::splat(1.0) / shape.sigma;
    let across = GaussianAxis::new(shape.x, inverse_sigma);
    let down = GaussianAxis::new(shape.y, inverse_sigma);
    let mut chi2 = R::splat(0.0);
    for block in 0..grid.blocks {
        let (column, there) = grid.columns(team, block);
        let height = alpha * across.sample(column).value;
        let mut number = R::splat(0.0);
        for row in 0..grid.rows {
            let value = down.sample(number).value;
            let residual = height.mul_add(value, beta - team.pixel(block, row));
            let residual = R::select(there, residual, R::splat(0.0));
            chi2 = residual.mul_add(residual, chi2);
            number = number + R::splat(1.0);
        }
    }
    team.sum(chi2)
}

/// The estimate of [`fit_core::estimate`].
#[inline(always)]
fn estimate<R: Real, T: Team<R>>(grid: &Grid<R>, team: &T) -> Shape<R> {
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let last = R::splat((grid.columns - 1) as f64);
    let (mut highest, mut x, mut y) = (R::splat(f64::NEG_INFINITY), zero, zero);
    let (mut low, mut high) = (R::splat(f64::INFINITY), R::splat(f64::NEG_INFINITY));
    let mut number = zero;
    for row in 0..grid.rows {
        for block in 0..grid.blocks {
            let (column, there) = grid.columns(team, block);
            let middle = down3(grid, team, block, row, 0);
            let left = down3(grid, team, block, row, -1);
            let right = down3(grid, team, block, row, 1);
            // At an edge two columns count as if the third were their mean.
            let inner = middle + (left + right);
            let missing = R::splat(1.5);
            let value = R::select(column.lt(one), (middle + right) * missing, inner);
            let value = R::select(last.le(column), (left + middle) * missing, value);
            let better = there & highest.lt(value);
            highest = R::select(better, value, highest);
            x = R::select(better, column, x);
            y = R::select(better, number, y);
            let pixel = team.pixel(block, row);
            low = R::select(there, pixel.min(low), low);
            high = R::select(there, pixel.max(high), high);
        }
        number = number + one;
    }
    // The first in reading order of those that are as high as the highest.
    let far = R::splat(f64::MAX);
    let most = -team.least(-highest);
    let top = most.le(highest);
    let first_row = team.least(R::select(top, y, far));
    let top = top & y.le(first_row);
    let first_column = team.least(R::select(top, x, far));

    let (low, high) = (team.least(low), -team.least(-high));
    let share = R::splat(0.606_530_659_712_633_4);
    let threshold = low * (one - share) + high * share;
    let mut above = zero;
    for block in 0..grid.blocks {
        let (_, there) = grid.columns(team, block);
        for row in 0..grid.rows {
            let counts = there & threshold.lt(team.pixel(block, row));
            above = R::select(counts, above + one, above);
        }
    }
    let above = team.sum(above).max(one);
    let sigma = (above * R::splat(1.0 / core::f64::consts::PI)).sqrt();
    Shape::new(first_column.min(last), first_row.min(R::splat(grid.rows as f64)), sigma)
}

/// The sum of three pixels above one another, in the lanes' columns or beside them.
#[inline(always)]
fn down3<R: Real, T: Team<R>>(
    grid: &Grid<R>,
    team: &T,
    block: usize,
    row: usize,
    step: isize,
) -> R {
    let missing = R::splat(1.5);
    let here = at(team, block, row, step);
    if row == 0 {
        (here + at(team, block, 1, step)) * missing
    } else if row + 1 == grid.rows {
        (here + at(team, block, row - 1, step)) * missing
    } else {
        here + (at(team, block, row - 1, step) + at(team, block, row + 1, step))
    }
}

#[inline(always)]
fn at<R: Real, T: Team<R>>(team: &T, block: usize, row: usize, step: isize) -> R {
    if step == 0 { team.pixel(block, row) } else { team.beside(block, row, step) }
}
