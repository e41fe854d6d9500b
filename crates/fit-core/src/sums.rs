//! The sums over the pixels of a window that eq. 5 and 7 name, in two forms.
//!
//! [`separable`] uses that the profile is a product of a column and a row factor: width + height
//! exponentials and three multiply-adds a pixel. [`direct`] visits the pixels one by one with
//! eq. 10 and 11, as published. Both give the same [`Sums`] up to rounding.
//!
//! The parts from which [`separable`] is made ([`AxisSums`], [`RowSums`], [`DataSums`]) are public:
//! they are linear in the pixels, so a machine that gives a fit several lanes sums a part of the
//! window in each lane and adds the parts by whatever reduction it has.

use crate::axis::{AxisSample, AxisSums, CENTRE_UNIT, GaussianAxis};
use crate::real::Real;
use crate::shape::{Shape, Size};

/// All sums of eq. 5 and 7 for one window and one [`Shape`], with derivatives by the three shape
/// parameters in the order x̄, ȳ, σ, each in its relative unit (see [`crate::axis`]).
///
/// The sums of the data alone, G and Σg², are not here: they do not depend on the parameters (see
/// [`crate::condition::Conditioning`]).
#[derive(Clone, Copy, Debug)]
pub struct Sums<R> {
    /// F = Σf (eq. 5).
    pub f: R,
    /// **F** = Σf² (eq. 5).
    pub ff: R,
    /// **G** = Σfg (eq. 5).
    pub fg: R,
    /// ∂ⱼF = Σ∂ⱼf (eq. 7).
    pub df: [R; 3],
    /// ½∂ⱼ**F** = Σf∂ⱼf (eq. 7).
    pub f_df: [R; 3],
    /// ∂ⱼ**G** = Σg∂ⱼf (eq. 7).
    pub g_df: [R; 3],
    /// Σ∂ⱼf∂ₖf for jk = xx, xy, xσ, yy, yσ, σσ.
    pub df_df: [R; 6],
}

/// The sums Σgφₐ over (a part of) one row, a = 0, 1, 2, with the column factors φₐ.
#[derive(Clone, Copy, Debug)]
pub struct RowSums<R>(pub [R; 3]);

impl<R: Real> RowSums<R> {
    /// Sums over no pixel.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([R::splat(0.0); 3])
    }

    /// Adds one pixel of the row; `column` is the column factor there.
    #[inline(always)]
    pub fn add(&mut self, pixel: R, column: AxisSample<R>) {
        self.0[0] = pixel.mul_add(column.value, self.0[0]);
        self.0[1] = pixel.mul_add(column.by_centre, self.0[1]);
        self.0[2] = pixel.mul_add(column.by_width, self.0[2]);
    }
}

/// The sums with the data: Σgf and Σg∂ⱼf, the latter with a width for either axis.
#[derive(Clone, Copy, Debug)]
pub struct DataSums<R> {
    /// **G** = Σgf.
    pub value: R,
    /// Σg·∂f/∂x̄.
    pub by_x: R,
    /// Σg·∂f/∂ȳ.
    pub by_y: R,
    /// Σg·∂f/∂σ through the width of the column factor.
    pub by_width_x: R,
    /// Σg·∂f/∂σ through the width of the row factor.
    pub by_width_y: R,
}

impl<R: Real> DataSums<R> {
    /// Sums over no row.
    #[inline(always)]
    pub fn zero() -> Self {
        let zero = R::splat(0.0);
        Self { value: zero, by_x: zero, by_y: zero, by_width_x: zero, by_width_y: zero }
    }

    /// Adds (a part of) one row; `row` is the row factor there.
    #[inline(always)]
    pub fn add(&mut self, sums: RowSums<R>, row: AxisSample<R>) {
        let RowSums([value, by_centre, by_width]) = sums;
        self.value = value.mul_add(row.value, self.value);
        self.by_x = by_centre.mul_add(row.value, self.by_x);
        self.by_y = value.mul_add(row.by_centre, self.by_y);
        self.by_width_x = by_width.mul_add(row.value, self.by_width_x);
        self.by_width_y = value.mul_add(row.by_width, self.by_width_y);
    }

    /// The sums of two parts of a window together.
    #[inline(always)]
    pub fn merge(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            by_x: self.by_x + other.by_x,
            by_y: self.by_y + other.by_y,
            by_width_x: self.by_width_x + other.by_width_x,
            by_width_y: self.by_width_y + other.by_width_y,
        }
    }
}

impl<R: Real> Sums<R> {
    /// Puts the sums of a separable profile together: products of a column and a row sum.
    #[inline(always)]
    pub fn from_axes(x: &AxisSums<R>, y: &AxisSums<R>, data: &DataSums<R>) -> Self {
        let [x0, x1, x2] = x.single;
        let [y0, y1, y2] = y.single;
        let [x00, x01, x02, x11, x12, x22] = x.product;
        let [y00, y01, y02, y11, y12, y22] = y.product;
        let x02_y02 = x02 * y02;
        Self {
            f: x0 * y0,
            ff: x00 * y00,
            fg: data.value,
            df: [x1 * y0, x0 * y1, x2.mul_add(y0, x0 * y2)],
            f_df: [x01 * y00, x00 * y01, x02.mul_add(y00, x00 * y02)],
            g_df: [data.by_x, data.by_y, data.by_width_x + data.by_width_y],
            df_df: [
                x11 * y00,
                x01 * y01,
                x12.mul_add(y00, x01 * y02),
                x00 * y11,
                x00.mul_add(y12, x02 * y01),
                x22.mul_add(y00, x00.mul_add(y22, x02_y02 + x02_y02)),
            ],
        }
    }
}

/// Working memory of [`separable`]: the column factors of one window, three numbers a column.
#[derive(Debug)]
pub struct Columns<'a, R> {
    value: &'a mut [R],
    by_centre: &'a mut [R],
    by_width: &'a mut [R],
}

impl<'a, R: Real> Columns<'a, R> {
    /// Takes 3 · `width` numbers of scratch, or `None` if there are fewer.
    #[inline(always)]
    pub fn new(scratch: &'a mut [R], width: usize) -> Option<Self> {
        let (value, rest) = scratch.split_at_mut_checked(width)?;
        let (by_centre, rest) = rest.split_at_mut_checked(width)?;
        let (by_width, _) = rest.split_at_mut_checked(width)?;
        Some(Self { value, by_centre, by_width })
    }

    fn width(&self) -> usize {
        self.value.len()
    }

    #[inline(always)]
    fn fill(&mut self, axis: GaussianAxis<R>) -> AxisSums<R> {
        let mut sums = AxisSums::zero();
        let mut index = R::splat(0.0);
        let columns = self.value.iter_mut().zip(self.by_centre.iter_mut());
        for ((value, by_centre), by_width) in columns.zip(self.by_width.iter_mut()) {
            let sample = axis.sample(index);
            sums.add(sample);
            (*value, *by_centre, *by_width) = (sample.value, sample.by_centre, sample.by_width);
            index = index + R::splat(1.0);
        }
        sums
    }

    /// The sums of `K` rows at once: their chains of additions overlap, each in its own order.
    #[inline(always)]
    fn rows<const K: usize>(&self, rows: [&[R]; K]) -> [RowSums<R>; K] {
        let mut sums = [RowSums::zero(); K];
        let width = self.width();
        // Equal lengths, said once, so that no access is checked in the loop.
        let (by_centre, by_width) = (&self.by_centre[..width], &self.by_width[..width]);
        let rows = rows.map(|row| &row[..width]);
        for (i, &value) in self.value.iter().enumerate() {
            let sample = AxisSample { value, by_centre: by_centre[i], by_width: by_width[i] };
            for k in 0..K {
                sums[k].add(rows[k][i], sample);
            }
        }
        sums
    }
}

/// Adds `K` rows, the first of them with index `*index`, to the sums over a window.
#[inline(always)]
fn add_rows<R: Real, const K: usize>(
    pixels: &[R],
    columns: &Columns<'_, R>,
    axis: GaussianAxis<R>,
    index: &mut R,
    (y, data): (&mut AxisSums<R>, &mut DataSums<R>),
) {
    let width = columns.width();
    let sums = columns.rows::<K>(core::array::from_fn(|k| &pixels[k * width..][..width]));
    for sums in sums {
        let row = axis.sample(*index);
        y.add(row);
        data.add(sums, row);
        *index = *index + R::splat(1.0);
    }
}

/// Rows that are summed at the same time. Three sums a row, four cycles for an addition and two at a
/// time: it takes three rows to keep a processor busy, and five still fit into its registers.
const MOST_ROWS: usize = 5;

/// The sums of a window by way of its two axes.
///
/// `pixels` are the rows of the window one after the other; their number decides how many rows
/// there are, the scratch in `columns` how wide they are.
#[inline(always)]
pub fn separable<R: Real>(pixels: &[R], shape: Shape<R>, columns: &mut Columns<'_, R>) -> Sums<R> {
    let inverse_sigma = R::splat(1.0) / shape.sigma;
    let x = columns.fill(GaussianAxis::new(shape.x, inverse_sigma));
    let axis = GaussianAxis::new(shape.y, inverse_sigma);
    let mut y = AxisSums::zero();
    let mut data = DataSums::zero();
    let mut index = R::splat(0.0);
    let height = pixels.len() / columns.width().max(1);
    // As few blocks of rows as possible, of sizes that differ by one at most.
    let blocks = height.div_ceil(MOST_ROWS);
    let mut first = 0;
    for block in 1..=blocks {
        let end = block * height / blocks;
        let sums = (&mut y, &mut data);
        let pixels = &pixels[first * columns.width()..end * columns.width()];
        match end - first {
            1 => add_rows::<R, 1>(pixels, columns, axis, &mut index, sums),
            2 => add_rows::<R, 2>(pixels, columns, axis, &mut index, sums),
            3 => add_rows::<R, 3>(pixels, columns, axis, &mut index, sums),
            4 => add_rows::<R, 4>(pixels, columns, axis, &mut index, sums),
            _ => add_rows::<R, MOST_ROWS>(pixels, columns, axis, &mut index, sums),
        }
        first = end;
    }
    Sums::from_axes(&x, &y, &data)
}

/// χ² = Σ(αf + β − g)² (eq. 2) from the residuals themselves, pixel by pixel.
///
/// [`crate::normal::assemble`] gives χ² from sums, which is enough to steer by but cancels where
/// the spot is bright; this is the number to report.
#[inline(always)]
pub fn residual_chi2<R: Real>(
    pixels: &[R],
    shape: Shape<R>,
    alpha: R,
    beta: R,
    columns: &mut Columns<'_, R>,
) -> R {
    let inverse_sigma = R::splat(1.0) / shape.sigma;
    let _ = columns.fill(GaussianAxis::new(shape.x, inverse_sigma));
    let axis = GaussianAxis::new(shape.y, inverse_sigma);
    let mut chi2 = R::splat(0.0);
    let mut index = R::splat(0.0);
    for pixels in pixels.chunks_exact(columns.width()) {
        let height = alpha * axis.sample(index).value;
        for (&pixel, &value) in pixels.iter().zip(columns.value.iter()) {
            let residual = height.mul_add(value, beta - pixel);
            chi2 = residual.mul_add(residual, chi2);
        }
        index = index + R::splat(1.0);
    }
    chi2
}

/// The profile f (eq. 10) at one pixel and its derivatives (eq. 11).
#[derive(Clone, Copy, Debug)]
pub struct Profile<R> {
    /// f.
    pub value: R,
    /// kσ·∂f/∂x̄, kσ·∂f/∂ȳ, k²σ·∂f/∂σ, with k of [`crate::axis`].
    pub derivatives: [R; 3],
}

impl<R: Real> Profile<R> {
    /// Eq. 10 and 11 at pixel (x, y), with one exponential, as published.
    #[inline(always)]
    pub fn at(x: R, y: R, shape: Shape<R>) -> Self {
        let scale = R::splat(CENTRE_UNIT) / shape.sigma;
        let u = (x - shape.x) * scale;
        let v = (y - shape.y) * scale;
        let r2 = u.mul_add(u, v * v);
        let value = r2.sqrt().exp2_of_minus_square();
        Self { value, derivatives: [u * value, v * value, r2 * value] }
    }
}

impl<R: Real> Sums<R> {
    /// Sums over no pixel.
    #[inline(always)]
    pub fn zero() -> Self {
        let zero = R::splat(0.0);
        Self {
            f: zero,
            ff: zero,
            fg: zero,
            df: [zero; 3],
            f_df: [zero; 3],
            g_df: [zero; 3],
            df_df: [zero; 6],
        }
    }

    /// Adds one pixel with grey value g.
    #[inline(always)]
    pub fn add(&mut self, pixel: R, profile: Profile<R>) {
        let Profile { value, derivatives: d } = profile;
        self.f = self.f + value;
        self.ff = value.mul_add(value, self.ff);
        self.fg = value.mul_add(pixel, self.fg);
        for j in 0..3 {
            self.df[j] = self.df[j] + d[j];
            self.f_df[j] = value.mul_add(d[j], self.f_df[j]);
            self.g_df[j] = pixel.mul_add(d[j], self.g_df[j]);
        }
        for (sum, (j, k)) in self.df_df.iter_mut().zip(crate::normal::PAIRS) {
            *sum = d[j].mul_add(d[k], *sum);
        }
    }
}

/// The sums of a window pixel by pixel, the form that the paper's kernel uses.
pub fn direct<R: Real>(pixels: &[R], size: Size, shape: Shape<R>) -> Sums<R> {
    let mut sums = Sums::zero();
    let mut y = R::splat(0.0);
    for row in pixels.chunks_exact(size.width) {
        let mut x = R::splat(0.0);
        for &pixel in row {
            sums.add(pixel, Profile::at(x, y, shape));
            x = x + R::splat(1.0);
        }
        y = y + R::splat(1.0);
    }
    sums
}
