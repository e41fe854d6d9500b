//! The sums of eq. 5 and 7 over the pixels of a window, in two forms.
//!
//! The profile is a product of a column and a row factor, so the sums can be assembled from the sums over each axis
//! ([`super::axis::AxisSums`]) and the sums with the data ([`RowSums`], [`DataSums`]): width + height exponentials
//! and three multiply-adds a pixel ([`crate::pass::evaluate`]). [`direct`] visits the pixels one by one with eq. 10
//! and 11, as published. Both give the same [`Sums`] up to rounding.
//!
//! All parts are linear in the pixels: a fit may be spread over several lanes that each sum a part of the window,
//! and the parts are then added.

use super::axis::{AxisSample, CENTRE_UNIT};
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

    /// The same sums with rows and columns exchanged.
    #[inline(always)]
    pub fn turned(self) -> Self {
        let Self { value, by_x, by_y, by_width_x, by_width_y } = self;
        Self { value, by_x: by_y, by_y: by_x, by_width_x: by_width_y, by_width_y: by_width_x }
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
