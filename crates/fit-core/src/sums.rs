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

/// Working memory of [`separable`]: the column and the row factors of one window, three numbers each.
#[derive(Debug)]
pub struct Axes<'a, R> {
    columns: Samples<'a, R>,
    rows: Samples<'a, R>,
}

/// The samples of one axis.
#[derive(Debug)]
struct Samples<'a, R> {
    value: &'a mut [R],
    by_centre: &'a mut [R],
    by_width: &'a mut [R],
}

impl<'a, R: Real> Axes<'a, R> {
    /// How many numbers of scratch memory a window needs.
    pub const fn scratch_len(size: Size) -> usize {
        3 * (size.width + size.height)
    }

    /// Takes [`Axes::scratch_len`] numbers of scratch, or `None` if there are fewer.
    #[inline(always)]
    pub fn new(scratch: &'a mut [R], size: Size) -> Option<Self> {
        let (columns, rest) = scratch.split_at_mut_checked(3 * size.width)?;
        let (rows, _) = rest.split_at_mut_checked(3 * size.height)?;
        Some(Self {
            columns: Samples::new(columns, size.width)?,
            rows: Samples::new(rows, size.height)?,
        })
    }

    #[inline(always)]
    fn fill(&mut self, shape: Shape<R>) -> (AxisSums<R>, AxisSums<R>) {
        let inverse_sigma = R::splat(1.0) / shape.sigma;
        let x = self.columns.fill(GaussianAxis::new(shape.x, inverse_sigma));
        let y = self.rows.fill(GaussianAxis::new(shape.y, inverse_sigma));
        (x, y)
    }
}

impl<'a, R: Real> Samples<'a, R> {
    #[inline(always)]
    fn new(scratch: &'a mut [R], length: usize) -> Option<Self> {
        let (value, rest) = scratch.split_at_mut_checked(length)?;
        let (by_centre, by_width) = rest.split_at_mut_checked(length)?;
        Some(Self { value, by_centre, by_width })
    }

    #[inline(always)]
    fn fill(&mut self, axis: GaussianAxis<R>) -> AxisSums<R> {
        let mut sums = AxisSums::zero();
        let mut index = R::splat(0.0);
        let length = self.value.len();
        let (value, by_centre) = (&mut self.value[..length], &mut self.by_centre[..length]);
        let by_width = &mut self.by_width[..length];
        for i in 0..length {
            let sample = axis.sample(index);
            sums.add_gaussian(sample);
            (value[i], by_centre[i], by_width[i]) =
                (sample.value, sample.by_centre, sample.by_width);
            index = index + R::splat(1.0);
        }
        sums
    }

    #[inline(always)]
    fn at(&self, index: usize) -> AxisSample<R> {
        AxisSample {
            value: self.value[index],
            by_centre: self.by_centre[index],
            by_width: self.by_width[index],
        }
    }
}

/// Adds `K` rows, the first of them with index `first`, to the sums over a window.
#[inline(always)]
fn add_rows<R: Real, const K: usize>(
    pixels: &[R],
    axes: &Axes<'_, R>,
    first: usize,
    data: &mut DataSums<R>,
) {
    let Axes { columns, rows } = axes;
    let width = columns.value.len();
    // Equal lengths, said once, so that no access is checked in the loop.
    let lines: [&[R]; K] = core::array::from_fn(|k| &pixels[k * width..][..width]);
    let (value, by_centre) = (&columns.value[..width], &columns.by_centre[..width]);
    let by_width = &columns.by_width[..width];
    // The chains of additions of the rows overlap, each in its own order.
    let mut sums = [RowSums::zero(); K];
    for i in 0..width {
        let column = AxisSample { value: value[i], by_centre: by_centre[i], by_width: by_width[i] };
        for k in 0..K {
            sums[k].add(lines[k][i], column);
        }
    }
    for (k, sums) in sums.into_iter().enumerate() {
        data.add(sums, rows.at(first + k));
    }
}

/// The sums of a window by way of its two axes.
///
/// `pixels` are the rows of the window that `axes` is for, one after the other.
#[inline(always)]
pub fn separable<R: Real>(pixels: &[R], shape: Shape<R>, axes: &mut Axes<'_, R>) -> Sums<R> {
    let (x, y) = axes.fill(shape);
    let (width, height) = (axes.columns.value.len(), axes.rows.value.len());
    let mut data = DataSums::zero();
    // As few blocks of rows as possible, of sizes that differ by one at most.
    let blocks = height.div_ceil(R::ROWS);
    let mut first = 0;
    for block in 1..=blocks {
        let end = block * height / blocks;
        let pixels = &pixels[first * width..end * width];
        match end - first {
            1 => add_rows::<R, 1>(pixels, axes, first, &mut data),
            2 => add_rows::<R, 2>(pixels, axes, first, &mut data),
            3 => add_rows::<R, 3>(pixels, axes, first, &mut data),
            4 => add_rows::<R, 4>(pixels, axes, first, &mut data),
            _ => add_rows::<R, 5>(pixels, axes, first, &mut data),
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
    axes: &mut Axes<'_, R>,
) -> R {
    let _ = axes.fill(shape);
    let width = axes.columns.value.len();
    let mut chi2 = R::splat(0.0);
    for (pixels, &row) in pixels.chunks_exact(width).zip(axes.rows.value.iter()) {
        let height = alpha * row;
        for (&pixel, &value) in pixels.iter().zip(axes.columns.value.iter()) {
            let residual = height.mul_add(value, beta - pixel);
            chi2 = residual.mul_add(residual, chi2);
        }
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
        let value = r2.exp2_of_minus();
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
        let [x, y, s] = d;
        self.df_df[0] = x.mul_add(x, self.df_df[0]);
        self.df_df[1] = x.mul_add(y, self.df_df[1]);
        self.df_df[2] = x.mul_add(s, self.df_df[2]);
        self.df_df[3] = y.mul_add(y, self.df_df[3]);
        self.df_df[4] = y.mul_add(s, self.df_df[4]);
        self.df_df[5] = s.mul_add(s, self.df_df[5]);
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
