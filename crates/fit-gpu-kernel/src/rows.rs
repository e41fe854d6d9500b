//! The pixels in registers: one thread a fit, or a few of them with some rows each.
//!
//! All loops over pixels have fixed lengths, so that a compiler can unroll them and keep the pixels in
//! registers. Every lane samples all columns; rows are shared out.

use fit_core::axis::{AxisSample, AxisSums, GaussianAxis};
use fit_core::condition::{Conditioning, Extent};
use fit_core::normal::{CANCELS, assemble};
use fit_core::search::Search;
use fit_core::sums::{DataSums, RowSums, Sums};
use fit_core::{Mask, Real, Setup, Shape};

use crate::group::{Group, Outcome};

/// Fits a window of `SIDE`×`SIDE` pixels. Lane `l` has the rows l·`ROWS` to l·`ROWS` + `ROWS` − 1, which are
/// `N` = `ROWS`·`SIDE` pixels; what it has of rows that do not exist does not matter.
#[inline(always)]
pub fn fit<R: Real, G: Group<R>, const SIDE: usize, const ROWS: usize, const N: usize>(
    setup: &Setup<R>,
    group: &G,
    pixels: &mut [R; N],
    start: Option<Shape<R>>,
) -> Outcome<R> {
    let data = condition::<R, G, SIDE, ROWS, N>(group, pixels);
    let start = match start {
        Some(start) => start,
        None => estimate::<R, G, SIDE, ROWS, N>(group, pixels),
    };
    let mut search = Search::start(setup, &data, start);
    while search.running().any() {
        let sums = evaluate::<R, G, SIDE, ROWS, N>(group, pixels, search.trial());
        search.update(setup, &assemble(&sums, &data, setup.background));
    }
    let (best, at_best) = (search.best(), search.at_best());
    let mut chi2 = at_best.chi2;
    let cancels = chi2.lt(R::splat(CANCELS * R::EPSILON) * data.spread);
    if cancels.any() {
        let (alpha, beta) = (at_best.alpha, at_best.beta);
        let exact = residual_chi2::<R, G, SIDE, ROWS, N>(group, pixels, best, alpha, beta);
        chi2 = R::select(cancels, exact, chi2);
    }
    search.numbers(&data, chi2)
}

/// A row beyond all windows: σ is below [`fit_core::Size::MAX_PIXELS`], and the square of this is still a number.
const FAR: f64 = 1e12;

/// The rows of the lanes.
#[derive(Clone, Copy)]
struct Rows<R, const SIDE: usize, const ROWS: usize> {
    /// The number of each lane's first row.
    first: R,
    /// Whether there are lanes with rows that do not exist.
    missing: bool,
}

impl<R: Real, const SIDE: usize, const ROWS: usize> Rows<R, SIDE, ROWS> {
    #[inline(always)]
    fn of<G: Group<R>>(group: &G) -> Self {
        let first = group.lane() * R::splat(ROWS as f64);
        Self { first, missing: G::LANES * ROWS != SIDE }
    }

    /// The number of a row.
    #[inline(always)]
    fn number(&self, row: usize) -> R {
        self.first + R::splat(row as f64)
    }

    /// `value` in the lanes whose row is in the window, `other` elsewhere.
    #[inline(always)]
    fn there(&self, row: usize, value: R, other: R) -> R {
        if self.missing {
            R::select(self.number(row).lt(R::splat(SIDE as f64)), value, other)
        } else {
            value
        }
    }
}

#[inline(always)]
fn condition<R: Real, G: Group<R>, const SIDE: usize, const ROWS: usize, const N: usize>(
    group: &G,
    pixels: &mut [R; N],
) -> Conditioning<R> {
    let rows = Rows::<R, SIDE, ROWS>::of(group);
    let zero = R::splat(0.0);
    let first = group.first(pixels[0]);
    let mut extent = Extent::new(first);
    for row in 0..ROWS {
        for column in 0..SIDE {
            let pixel = pixels[row * SIDE + column];
            extent.add(rows.there(row, pixel, first));
        }
    }
    extent.low = group.least(extent.low);
    extent.high = -group.least(-extent.high);
    let (scale, offset) = extent.scaling();
    let (mut sum, mut squares) = (zero, zero);
    for row in 0..ROWS {
        for column in 0..SIDE {
            let pixel = pixels[row * SIDE + column].mul_add(scale, -offset);
            let pixel = rows.there(row, pixel, zero);
            pixels[row * SIDE + column] = pixel;
            sum = sum + pixel;
            squares = pixel.mul_add(pixel, squares);
        }
    }
    Conditioning::new(SIDE * SIDE, &extent, group.sum(sum), group.sum(squares))
}

#[inline(always)]
fn axes<R: Real>(shape: Shape<R>) -> (GaussianAxis<R>, GaussianAxis<R>) {
    let inverse_sigma = R::splat(1.0) / shape.sigma;
    (GaussianAxis::new(shape.x, inverse_sigma), GaussianAxis::new(shape.y, inverse_sigma))
}

/// The sums of [`fit_core::sums::separable`].
#[inline(always)]
fn evaluate<R: Real, G: Group<R>, const SIDE: usize, const ROWS: usize, const N: usize>(
    group: &G,
    pixels: &[R; N],
    shape: Shape<R>,
) -> Sums<R> {
    let rows = Rows::<R, SIDE, ROWS>::of(group);
    let (across, down) = axes(shape);
    let zero = R::splat(0.0);
    let mut columns = [AxisSample { value: zero, by_centre: zero, by_width: zero }; SIDE];
    let (mut x, mut y) = (AxisSums::zero(), AxisSums::zero());
    for i in 0..SIDE {
        columns[i] = across.sample(R::splat(i as f64));
        x.add_gaussian(columns[i]);
    }
    let mut data = DataSums::zero();
    for row in 0..ROWS {
        // Rows that do not exist are so far away that the profile is zero there.
        let place = rows.number(row);
        let sample = down.sample(rows.there(row, place, R::splat(FAR)));
        y.add_gaussian(sample);
        let mut sums = RowSums::zero();
        for i in 0..SIDE {
            sums.add(pixels[row * SIDE + i], columns[i]);
        }
        data.add(sums, sample);
    }
    let data = DataSums {
        value: group.sum(data.value),
        by_x: group.sum(data.by_x),
        by_y: group.sum(data.by_y),
        by_width_x: group.sum(data.by_width_x),
        by_width_y: group.sum(data.by_width_y),
    };
    Sums::from_axes(&x, &axis_sums(group, y), &data)
}

/// The sums of an axis over all lanes.
#[inline(always)]
pub(crate) fn axis_sums<R: Real, G: Group<R>>(group: &G, sums: AxisSums<R>) -> AxisSums<R> {
    let [a, b, c] = sums.single;
    let [aa, ab, ac, _, bc, cc] = sums.product;
    let ac = group.sum(ac);
    AxisSums {
        single: [group.sum(a), group.sum(b), group.sum(c)],
        // A Gaussian's φ₁φ₁ = φ₀φ₂.
        product: [group.sum(aa), group.sum(ab), ac, ac, group.sum(bc), group.sum(cc)],
    }
}

/// χ² of [`fit_core::sums::residual_chi2`].
#[inline(always)]
fn residual_chi2<R: Real, G: Group<R>, const SIDE: usize, const ROWS: usize, const N: usize>(
    group: &G,
    pixels: &[R; N],
    shape: Shape<R>,
    alpha: R,
    beta: R,
) -> R {
    let rows = Rows::<R, SIDE, ROWS>::of(group);
    let (across, down) = axes(shape);
    let zero = R::splat(0.0);
    let mut columns = [zero; SIDE];
    for i in 0..SIDE {
        columns[i] = across.sample(R::splat(i as f64)).value;
    }
    let mut chi2 = zero;
    for row in 0..ROWS {
        let height = alpha * down.sample(rows.number(row)).value;
        for i in 0..SIDE {
            let residual = height.mul_add(columns[i], beta - pixels[row * SIDE + i]);
            let residual = rows.there(row, residual, zero);
            chi2 = residual.mul_add(residual, chi2);
        }
    }
    group.sum(chi2)
}

/// The estimate of [`fit_core::estimate`].
#[inline(always)]
fn estimate<R: Real, G: Group<R>, const SIDE: usize, const ROWS: usize, const N: usize>(
    group: &G,
    pixels: &[R; N],
) -> Shape<R> {
    let rows = Rows::<R, SIDE, ROWS>::of(group);
    let (zero, one) = (R::splat(0.0), R::splat(1.0));
    let lowest = R::splat(f64::NEG_INFINITY);
    let (mut highest, mut x, mut y) = (lowest, zero, zero);
    let (mut low, mut high) = (pixels[0], pixels[0]);
    for row in 0..ROWS {
        let down = rows.number(row);
        let mut left = three::<R, G, SIDE, ROWS, N>(group, pixels, row, 0);
        let mut middle = three::<R, G, SIDE, ROWS, N>(group, pixels, row, 1);
        // At an edge two columns count as if the third were their mean.
        let (mut value, mut column) = ((left + middle) * R::splat(1.5), zero);
        for i in 2..SIDE {
            let right = three::<R, G, SIDE, ROWS, N>(group, pixels, row, i);
            let smooth = middle + (left + right);
            let better = value.lt(smooth);
            value = R::select(better, smooth, value);
            column = R::select(better, R::splat((i - 1) as f64), column);
            (left, middle) = (middle, right);
        }
        let smooth = (left + middle) * R::splat(1.5);
        let better = value.lt(smooth);
        value = R::select(better, smooth, value);
        column = R::select(better, R::splat((SIDE - 1) as f64), column);
        let value = rows.there(row, value, lowest);
        let better = highest.lt(value);
        highest = R::select(better, value, highest);
        x = R::select(better, column, x);
        y = R::select(better, down, y);
        for column in 0..SIDE {
            let pixel = pixels[row * SIDE + column];
            low = rows.there(row, pixel.min(low), low);
            high = rows.there(row, pixel.max(high), high);
        }
    }
    // The first in reading order of those that are as high as the highest: lanes have whole rows.
    let far = R::splat(f64::MAX);
    let most = -group.least(-highest);
    let first = group.least(R::select(most.le(highest), y, far));
    let x = group.least(R::select(most.le(highest) & y.le(first), x, far));
    let y = first.min(R::splat((SIDE - 1) as f64));
    let x = x.min(R::splat((SIDE - 1) as f64));

    // Lanes without a row have seen nothing but zeros, which is not theirs to tell.
    let none = rows.number(0).lt(R::splat(SIDE as f64));
    let low = group.least(R::select(none, low, far));
    let high = -group.least(R::select(none, -high, far));
    let share = R::splat(0.606_530_659_712_633_4);
    let threshold = low * (one - share) + high * share;
    let mut above = zero;
    for row in 0..ROWS {
        for column in 0..SIDE {
            let pixel = rows.there(row, pixels[row * SIDE + column], low);
            above = R::select(threshold.lt(pixel), above + one, above);
        }
    }
    let above = group.sum(above).max(one);
    Shape::new(x, y, (above * R::splat(1.0 / core::f64::consts::PI)).sqrt())
}

/// The sum of three pixels above one another; at an edge of the window two count as if the third were their
/// mean.
#[inline(always)]
fn three<R: Real, G: Group<R>, const SIDE: usize, const ROWS: usize, const N: usize>(
    group: &G,
    pixels: &[R; N],
    row: usize,
    column: usize,
) -> R {
    let rows = Rows::<R, SIDE, ROWS>::of(group);
    let at = |row: usize| pixels[row * SIDE + column];
    let here = at(row);
    let above = if row > 0 { at(row - 1) } else { group.neighbour(at(ROWS - 1), -1) };
    let below = if row + 1 < ROWS { at(row + 1) } else { group.neighbour(at(0), 1) };
    let down = rows.number(row);
    let missing = R::splat(1.5);
    let inner = here + (above + below);
    let edge = R::select(down.lt(R::splat(0.5)), (here + below) * missing, inner);
    R::select(R::splat((SIDE - 1) as f64).le(down), (here + above) * missing, edge)
}
