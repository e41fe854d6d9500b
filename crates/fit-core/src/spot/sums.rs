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
    /// Σg·∂f/∂x̄.
    pub by_x: R,
    /// Σg·∂f/∂ȳ.
    pub by_y: R,
    /// Σg·∂f/∂σ through the width of the column factor.
    pub by_width_x: R,
    /// Σg·∂f/∂σ through the width of the row factor.
    pub by_width_y: R,
    /// The sums with the second derivatives.
    pub second: SecondSums<R>,
}

/// Σgφₐ(column)φ_b(row) where the product is a second derivative of the profile, but for those that follow from
/// [`DataSums`] by φ₁₁ = φ₂ − k²φ₀.
#[derive(Clone, Copy, Debug)]
pub struct SecondSums<R> {
    /// By x̄ and ȳ: φ₁φ₁.
    pub xy: R,
    /// By x̄ and σx: φ₁₂φ₀.
    pub x_wx: R,
    /// By x̄ and σy: φ₁φ₂.
    pub x_wy: R,
    /// By ȳ and σx: φ₂φ₁.
    pub y_wx: R,
    /// By ȳ and σy: φ₀φ₁₂.
    pub y_wy: R,
    /// By σx twice: φ₂₂φ₀.
    pub wx_wx: R,
    /// By σx and σy: φ₂φ₂.
    pub wx_wy: R,
    /// By σy twice: φ₀φ₂₂.
    pub wy_wy: R,
}

impl<R: Real> SecondSums<R> {
    /// Sums over no row.
    #[inline(always)]
    pub fn zero() -> Self {
        let zero = R::splat(0.0);
        Self {
            xy: zero,
            x_wx: zero,
            x_wy: zero,
            y_wx: zero,
            y_wy: zero,
            wx_wx: zero,
            wx_wy: zero,
            wy_wy: zero,
        }
    }

    /// Adds (a part of) one row.
    #[inline(always)]
    pub fn add(&mut self, sums: RowSums<R>, row: AxisSample<R>) {
        let RowSums([value, by_centre, by_width, mixed, twice]) = sums;
        self.xy = by_centre.mul_add(row.by_centre, self.xy);
        self.x_wx = mixed.mul_add(row.value, self.x_wx);
        self.x_wy = by_centre.mul_add(row.by_width, self.x_wy);
        self.y_wx = by_width.mul_add(row.by_centre, self.y_wx);
        self.y_wy = value.mul_add(row.second[0], self.y_wy);
        self.wx_wx = twice.mul_add(row.value, self.wx_wx);
        self.wx_wy = by_width.mul_add(row.by_width, self.wx_wy);
        self.wy_wy = value.mul_add(row.second[1], self.wy_wy);
    }

    /// The sums without data, as products of the sums over each axis: Σ∂ⱼₖf from Σφₐ, or Σf∂ⱼₖf from Σφ₀φₐ.
    #[inline(always)]
    pub fn of_axes([x0, x1, x2]: [R; 3], xs: [R; 2], [y0, y1, y2]: [R; 3], ys: [R; 2]) -> Self {
        Self {
            xy: x1 * y1,
            x_wx: xs[0] * y0,
            x_wy: x1 * y2,
            y_wx: x2 * y1,
            y_wy: x0 * ys[0],
            wx_wx: xs[1] * y0,
            wx_wy: x2 * y2,
            wy_wy: x0 * ys[1],
        }
    }

    /// `self` − `factor`·`other`.
    #[inline(always)]
    pub fn less(&self, factor: R, other: &Self) -> Self {
        Self {
            xy: factor.neg_mul_add(other.xy, self.xy),
            x_wx: factor.neg_mul_add(other.x_wx, self.x_wx),
            x_wy: factor.neg_mul_add(other.x_wy, self.x_wy),
            y_wx: factor.neg_mul_add(other.y_wx, self.y_wx),
            y_wy: factor.neg_mul_add(other.y_wy, self.y_wy),
            wx_wx: factor.neg_mul_add(other.wx_wx, self.wx_wx),
            wx_wy: factor.neg_mul_add(other.wx_wy, self.wx_wy),
            wy_wy: factor.neg_mul_add(other.wy_wy, self.wy_wy),
        }
    }

    /// The same sums with rows and columns exchanged.
    #[inline(always)]
    pub fn turned(self) -> Self {
        let Self { xy, x_wx, x_wy, y_wx, y_wy, wx_wx, wx_wy, wy_wy } = self;
        Self {
            xy,
            x_wx: y_wy,
            x_wy: y_wx,
            y_wx: x_wy,
            y_wy: x_wx,
            wx_wx: wy_wy,
            wx_wy,
            wy_wy: wx_wx,
        }
    }

    /// The second derivatives by x̄, ȳ, σx and σy, weighted: from these sums, and Σgφ₀φ₀, Σgφ₂φ₀, Σgφ₀φ₂.
    #[inline(always)]
    pub fn matrix(&self, value: R, by_width_x: R, by_width_y: R) -> Symmetric<R, 4> {
        let Self { xy, x_wx, x_wy, y_wx, y_wy, wx_wx, wx_wy, wy_wy } = *self;
        let k2 = R::splat(WIDTH_UNIT);
        let mut matrix = Symmetric::zero();
        matrix.0[0] = [k2.neg_mul_add(value, by_width_x), xy, x_wx, x_wy];
        matrix.0[1][1] = k2.neg_mul_add(value, by_width_y);
        matrix.0[1][2] = y_wx;
        matrix.0[1][3] = y_wy;
        matrix.0[2][2] = wx_wx;
        matrix.0[2][3] = wx_wy;
        matrix.0[3][3] = wy_wy;
        matrix
    }
}

impl<R: Real> DataSums<R> {
    /// Sums over no row.
    #[inline(always)]
    pub fn zero() -> Self {
        let zero = R::splat(0.0);
        let second = SecondSums::zero();
        Self { value: zero, by_x: zero, by_y: zero, by_width_x: zero, by_width_y: zero, second }
    }

    /// Adds (a part of) one row; `row` is the row factor there.
    #[inline(always)]
    pub fn add<const SECOND: bool>(&mut self, sums: RowSums<R>, row: AxisSample<R>) {
        let RowSums([value, by_centre, by_width, ..]) = sums;
        if SECOND {
            self.second.add(sums, row);
        }
        self.value = value.mul_add(row.value, self.value);
        self.by_x = by_centre.mul_add(row.value, self.by_x);
        self.by_y = value.mul_add(row.by_centre, self.by_y);
        self.by_width_x = by_width.mul_add(row.value, self.by_width_x);
        self.by_width_y = value.mul_add(row.by_width, self.by_width_y);
    }

    /// The same sums with rows and columns exchanged.
    #[inline(always)]
    pub fn turned(self) -> Self {
        let Self { value, by_x, by_y, by_width_x, by_width_y, second } = self;
        Self {
            value,
            by_x: by_y,
            by_y: by_x,
            by_width_x: by_width_y,
            by_width_y: by_width_x,
            second: second.turned(),
        }
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
        let ([x0, x1, x2], [y0, y1, y2]) = (x.single, y.single);
        let ([x00, x01, x02, ..], [y00, y01, y02, ..]) = (x.product, y.product);
        let level = SecondSums::of_axes([x0, x1, x2], x.second, [y0, y1, y2], y.second);
        let square = SecondSums::of_axes(
            [x00, x01, x02],
            x.second_product,
            [y00, y01, y02],
            y.second_product,
        );
        let sums = data.second.less(alpha, &square).less(beta, &level);
        sums.matrix(
            beta.neg_mul_add(x0 * y0, alpha.neg_mul_add(x00 * y00, data.value)),
            beta.neg_mul_add(x2 * y0, alpha.neg_mul_add(x02 * y00, data.by_width_x)),
            beta.neg_mul_add(x0 * y2, alpha.neg_mul_add(x00 * y02, data.by_width_y)),
        )
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
            df_df: Symmetric::zero(),
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
