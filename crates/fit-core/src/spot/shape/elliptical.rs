//! An elliptical Gaussian along the axes: x̄, ȳ, σx and σy.

use super::circular::limit_sigma;
use super::{NUMBERS, Outlined, Separable, both_centres, parts};
use crate::arithmetic::Real;
use crate::search::Coordinates;
use crate::search::solve::Symmetric;
use crate::size::{Outline, Size};
use crate::spot::axis::{AxisSums, CENTRE_UNIT, GaussianAxis, PixelProfile, WIDTH_UNIT};
use crate::spot::limits::Limits;
use crate::spot::sums::{DataSums, Sums};

/// An elliptical Gaussian whose axes are those of the image: centre (x̄, ȳ) and standard deviations σx and σy, in
/// pixels. An astigmatic lens makes such spots, and their widths tell the depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Elliptical;

impl Coordinates<4> for Elliptical {
    /// 1/σx and 1/σy.
    type Memo<R: Real> = [R; 2];
    type Constants<R: Real> = [R; 0];

    const UNITS: [f64; 4] = [CENTRE_UNIT, CENTRE_UNIT, WIDTH_UNIT, WIDTH_UNIT];

    #[inline(always)]
    fn memo<R: Real>(&self, _: &[R; 0], p: &[R; 4]) -> [R; 2] {
        [p[2].reciprocal(), p[3].reciprocal()]
    }
    #[inline(always)]
    fn length<R: Real>(&self, _: &[R; 0], p: &[R; 4], j: usize) -> R {
        p[2 + j % 2]
    }
    #[inline(always)]
    fn inverse_length<R: Real>(memo: &[R; 2], j: usize) -> R {
        memo[j % 2]
    }
    #[inline(always)]
    fn yardstick<R: Real>(&self, _: &[R; 0], p: &[R; 4], j: usize) -> R {
        p[2 + j % 2]
    }
    #[inline(always)]
    fn confine<R: Real>(
        &self,
        _: &[R; 0],
        from: &[R; 4],
        [x, y, sigma_x, sigma_y]: [R; 4],
    ) -> [R; 4] {
        [x, y, limit_sigma(from[2], sigma_x), limit_sigma(from[3], sigma_y)]
    }
}

impl Outlined<4> for Elliptical {
    fn numbers(&self) -> [f32; NUMBERS] {
        [0.0; NUMBERS]
    }
    #[inline(always)]
    fn from_numbers(_: [f32; NUMBERS]) -> Self {
        Self
    }
    fn limits(&self, size: Size, limits: &Limits) -> [(f64, f64); 4] {
        let [x, y] = both_centres(size, limits);
        let sigma = (limits.sigma_min, limits.sigma_max_in(size));
        [x, y, sigma, sigma]
    }
    #[inline(always)]
    fn parameters<R: Real>(&self, start: Outline<R>) -> ([R; 4], [R; 0]) {
        ([start.x, start.y, start.sigma_x, start.sigma_y], [])
    }
    #[inline(always)]
    fn outline<R: Real>(&self, _: &[R; 0], &[x, y, sigma_x, sigma_y]: &[R; 4]) -> Outline<R> {
        Outline { x, y, sigma_x, sigma_y, angle: R::splat(0.0) }
    }
    #[inline(always)]
    fn outline_by<R: Real>(&self, _: &[R; 0], _: &[R; 4]) -> [[R; 4]; 5] {
        parts([Some(0), Some(1), Some(2), Some(3), None])
    }
    const KNOWN: [bool; 7] = [false, false, false, false, true, false, false];
}

impl Separable<4> for Elliptical {
    #[inline(always)]
    fn axes<R: Real>(
        &self,
        profile: PixelProfile,
        _: &[R; 0],
        &[x, y, sigma_x, sigma_y]: &[R; 4],
    ) -> (GaussianAxis<R>, GaussianAxis<R>) {
        (
            GaussianAxis::with_profile(profile, x, sigma_x.reciprocal()),
            GaussianAxis::with_profile(profile, y, sigma_y.reciprocal()),
        )
    }
    #[inline(always)]
    fn sums<R: Real>(&self, x: &AxisSums<R>, y: &AxisSums<R>, data: &DataSums<R>) -> Sums<R, 4> {
        let ([x0, x1, x2], [y0, y1, y2]) = (x.single, y.single);
        let [x00, x01, x02, x11, x12, x22] = x.product;
        let [y00, y01, y02, y11, y12, y22] = y.product;
        let mut df_df = Symmetric::zero();
        df_df.0[0] = [x11 * y00, x01 * y01, x12 * y00, x01 * y02];
        df_df.0[1][1] = x00 * y11;
        df_df.0[1][2] = x02 * y01;
        df_df.0[1][3] = x00 * y12;
        df_df.0[2][2] = x22 * y00;
        df_df.0[2][3] = x02 * y02;
        df_df.0[3][3] = x00 * y22;
        Sums {
            f: x0 * y0,
            ff: x00 * y00,
            fg: data.value,
            df: [x1 * y0, x0 * y1, x2 * y0, x0 * y2],
            f_df: [x01 * y00, x00 * y01, x02 * y00, x00 * y02],
            g_df: [data.by_x, data.by_y, data.by_width_x, data.by_width_y],
            df_df,
        }
    }
    #[inline(always)]
    fn gather<R: Real>(of: [R; 4]) -> [R; 4] {
        of
    }
    #[inline(always)]
    fn gather_matrix<R: Real>(of: &Symmetric<R, 4>) -> Symmetric<R, 4> {
        *of
    }
}
