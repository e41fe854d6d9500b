//! The sums of eq. 5 and 7 over the pixels of a window, in two forms.
//!
//! The profile is a product of a column and a row factor, so the sums can be assembled from the sums over each axis
//! ([`super::axis::AxisSums`]) and the sums with the data ([`RowSums`], [`DataSums`]): width + height exponentials
//! and three multiply-adds a pixel ([`crate::pass::evaluate`]). [`direct`] visits the pixels one by one with eq. 10
//! and 11, as published. Both give the same [`Sums`] up to rounding.
//!
//! All parts are linear in the pixels: a fit may be spread over several lanes that each sum a part of the window,
//! and the parts are then added.

use super::axis::{AxisSample, AxisSums, CENTRE_UNIT, WIDTH_UNIT};
use crate::arithmetic::Real;
use crate::search::solve::Symmetric;
use crate::size::{Circle, Size};

/// All sums of eq. 5 and 7 for one window and one set of P parameters, with derivatives by each parameter in its
/// relative unit (see [`crate::search::Coordinates`]).
///
/// The sums of the data alone, G and Σg², are not here: they do not depend on the parameters (see
/// [`super::conditioning::Conditioning`]).
#[derive(Clone, Copy, Debug)]
pub struct Sums<R, const P: usize> {
    /// F = Σf (eq. 5).
    pub f: R,
    /// **F** = Σf² (eq. 5).
    pub ff: R,
    /// **G** = Σfg (eq. 5).
    pub fg: R,
    /// ∂ⱼF = Σ∂ⱼf (eq. 7).
    pub df: [R; P],
    /// ½∂ⱼ**F** = Σf∂ⱼf (eq. 7).
    pub f_df: [R; P],
    /// ∂ⱼ**G** = Σg∂ⱼf (eq. 7).
    pub g_df: [R; P],
    /// Σ∂ⱼf∂ₖf.
    pub df_df: Symmetric<R, P>,
}

impl<R: Real, const P: usize> Sums<R, P> {
    /// Sums over no pixel.
    #[inline(always)]
    pub fn zero() -> Self {
        let zero = R::splat(0.0);
        Self {
            f: zero,
            ff: zero,
            fg: zero,
            df: [zero; P],
            f_df: [zero; P],
            g_df: [zero; P],
            df_df: Symmetric::zero(),
        }
    }
}

/// The sums Σgφₐ over (a part of) one row, with the column factors φ₀, φ₁, φ₂, and φ₁₂, φ₂₂.
#[derive(Clone, Copy, Debug)]
pub struct RowSums<R>(pub [R; 5]);

impl<R: Real> RowSums<R> {
    /// Sums over no pixel.
    #[inline(always)]
    pub fn zero() -> Self {
        Self([R::splat(0.0); 5])
    }

    /// Adds one pixel of the row; `column` is the column factor there.
    #[inline(always)]
    pub fn add<const SECOND: bool>(&mut self, pixel: R, column: AxisSample<R>) {
        self.0[0] = pixel.mul_add(column.value, self.0[0]);
        self.0[1] = pixel.mul_add(column.by_centre, self.0[1]);
        self.0[2] = pixel.mul_add(column.by_width, self.0[2]);
        if SECOND {
            self.0[3] = pixel.mul_add(column.second[0], self.0[3]);
            self.0[4] = pixel.mul_add(column.second[1], self.0[4]);
        }
    }
}

/// The sums with the data: Σgf and Σg∂ⱼf, with a separate width for each axis.
#[derive(Clone, Copy, Debug)]
pub struct DataSums<R> {
    /// **G** = Σgf.
    pub value: R,
    /// Σg∂ⱼf by x̄, ȳ, σx and σy.
    pub by: [R; 4],
    /// The sums with the second derivatives ([`finished`]).
    pub second: Symmetric<R, 4>,
}

/// Adds (a part of) one row to Σg∂ⱼₖf by x̄, ȳ, σx and σy: where that is no sum of a product φₐ(column)φ_b(row) the element stays
/// ([`finished`]).
#[inline(always)]
pub fn add_second<R: Real>(to: &mut Symmetric<R, 4>, sums: RowSums<R>, row: AxisSample<R>) {
    let RowSums([value, by_centre, by_width, mixed, twice]) = sums;
    let [x, y, wx, wy] = &mut to.0;
    x[1] = by_centre.mul_add(row.by_centre, x[1]);
    x[2] = mixed.mul_add(row.value, x[2]);
    x[3] = by_centre.mul_add(row.by_width, x[3]);
    y[2] = by_width.mul_add(row.by_centre, y[2]);
    y[3] = value.mul_add(row.second[0], y[3]);
    wx[2] = twice.mul_add(row.value, wx[2]);
    wx[3] = by_width.mul_add(row.by_width, wx[3]);
    wy[3] = value.mul_add(row.second[1], wy[3]);
}

/// The same sums without data, as products of the sums over each axis: Σ∂ⱼₖf from Σφₐ, or Σf∂ⱼₖf from Σφ₀φₐ.
#[inline(always)]
pub fn second_of_axes<R: Real>(
    [x0, x1, x2]: [R; 3],
    xs: [R; 2],
    [y0, y1, y2]: [R; 3],
    ys: [R; 2],
) -> Symmetric<R, 4> {
    let mut second = Symmetric::zero();
    let [x, y, wx, wy] = &mut second.0;
    (x[1], x[2], x[3]) = (x1 * y1, xs[0] * y0, x1 * y2);
    (y[2], y[3]) = (x2 * y1, x0 * ys[0]);
    (wx[2], wx[3]) = (xs[1] * y0, x2 * y2);
    wy[3] = x0 * ys[1];
    second
}

/// All of these sums: those by x̄ twice and by ȳ twice follow by φ₁₁ = φ₂ − k²φ₀ from Σgφ₀φ₀, Σgφ₂φ₀ and Σgφ₀φ₂.
#[inline(always)]
pub fn finished<R: Real>(of: &Symmetric<R, 4>, value: R, [wx, wy]: [R; 2]) -> Symmetric<R, 4> {
    let (k2, mut all) = (R::splat(WIDTH_UNIT), *of);
    all.0[0][0] = k2.neg_mul_add(value, wx);
    all.0[1][1] = k2.neg_mul_add(value, wy);
    all
}

impl<R: Real> DataSums<R> {
    /// Sums over no row.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { value: R::splat(0.0), by: [R::splat(0.0); 4], second: Symmetric::zero() }
    }

    /// Adds (a part of) one row; `row` is the row factor there.
    #[inline(always)]
    pub fn add<const SECOND: bool>(&mut self, sums: RowSums<R>, row: AxisSample<R>) {
        let RowSums([value, by_centre, by_width, ..]) = sums;
        if SECOND {
            add_second(&mut self.second, sums, row);
        }
        self.value = value.mul_add(row.value, self.value);
        self.by[0] = by_centre.mul_add(row.value, self.by[0]);
        self.by[1] = value.mul_add(row.by_centre, self.by[1]);
        self.by[2] = by_width.mul_add(row.value, self.by[2]);
        self.by[3] = value.mul_add(row.by_width, self.by[3]);
    }
}

/// Σ∂ⱼₖf with three weights: 1, f and g. With the amplitudes they make the sums over the residual.
#[derive(Clone, Copy, Debug)]
pub struct Second<R> {
    x: AxisSums<R>,
    y: AxisSums<R>,
    data: DataSums<R>,
}

impl<R: Real> Second<R> {
    /// From the sums over the axes and the sums with the data, made with second derivatives.
    #[inline(always)]
    pub fn new(x: &AxisSums<R>, y: &AxisSums<R>, data: &DataSums<R>) -> Self {
        Self { x: *x, y: *y, data: *data }
    }

    /// Σ(g − αf − β)·∂ⱼₖf by x̄, ȳ, σx and σy.
    #[inline(always)]
    pub fn of_residual(&self, alpha: R, beta: R) -> Symmetric<R, 4> {
        let Self { x, y, data } = self;
        let ([x0, _, x2], [y0, _, y2]) = (x.single, y.single);
        let ([x00, x01, x02, ..], [y00, y01, y02, ..]) = (x.product, y.product);
        let level = second_of_axes(x.single, x.second, y.single, y.second);
        let (columns, rows) = ([x00, x01, x02], [y00, y01, y02]);
        let square = second_of_axes(columns, x.second_product, rows, y.second_product);
        let mut second = data.second;
        for j in 0..4 {
            for k in 0..4 {
                if k >= j {
                    let less = alpha.neg_mul_add(square.0[j][k], second.0[j][k]);
                    second.0[j][k] = beta.neg_mul_add(level.0[j][k], less);
                }
            }
        }
        let [_, _, wx, wy] = data.by;
        let by_widths = [
            beta.neg_mul_add(x2 * y0, alpha.neg_mul_add(x02 * y00, wx)),
            beta.neg_mul_add(x0 * y2, alpha.neg_mul_add(x00 * y02, wy)),
        ];
        let value = beta.neg_mul_add(x0 * y0, alpha.neg_mul_add(x00 * y00, data.value));
        finished(&second, value, by_widths)
    }
}

/// The profile f (eq. 10) at one pixel and its derivatives (eq. 11).
#[derive(Clone, Copy, Debug)]
pub struct Profile<R> {
    /// f.
    pub value: R,
    /// kσ·∂f/∂x̄, kσ·∂f/∂ȳ, k²σ·∂f/∂σ, with k of [`super::axis`].
    pub derivatives: [R; 3],
}

impl<R: Real> Profile<R> {
    /// Eq. 10 and 11 at pixel (x, y), with one exponential, as published.
    #[inline(always)]
    pub fn at(x: R, y: R, shape: Circle<R>) -> Self {
        let scale = R::splat(CENTRE_UNIT) / shape.sigma;
        let u = (x - shape.x) * scale;
        let v = (y - shape.y) * scale;
        let r2 = u.mul_add(u, v * v);
        let value = r2.exp2_of_minus();
        Self { value, derivatives: [u * value, v * value, r2 * value] }
    }
}

impl<R: Real> Sums<R, 3> {
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
            for k in 0..3 {
                if k >= j {
                    self.df_df.0[j][k] = d[j].mul_add(d[k], self.df_df.0[j][k]);
                }
            }
        }
    }
}

/// The sums of a window pixel by pixel, as the paper's kernel computes them.
pub fn direct<R: Real>(pixels: &[R], size: Size, shape: Circle<R>) -> Sums<R, 3> {
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
