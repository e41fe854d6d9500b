//! The circular Gaussian of Leutenegger & Weber 2021 (eq. 10): x̄, ȳ and σ.

use super::{Outlined, Separable};
use crate::arithmetic::Real;
use crate::search::Coordinates;
use crate::search::solve::Symmetric;
use crate::size::Outline;
use crate::spot::axis::{AxisSums, CENTRE_UNIT, GaussianAxis, PixelProfile, WIDTH_UNIT};
use crate::spot::sums::{DataSums, Sums};

/// In one step σ grows and shrinks by this factor at most, so that one bad step cannot end in the
/// minimum of a single noisy pixel or of a flat background.
pub(super) const SIGMA_FACTOR: f64 = 2.0;

/// A circular Gaussian: centre (x̄, ȳ) and standard deviation σ, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Circular;

impl Coordinates<3> for Circular {
    /// 1/σ.
    type TypicalSizes<R: Real> = [R; 1];
    type Constants<R: Real> = [R; 0];

    const UNITS: [f64; 3] = [CENTRE_UNIT, CENTRE_UNIT, WIDTH_UNIT];

    #[inline(always)]
    fn typical_sizes<R: Real>(&self, _: &[R; 0], p: &[R; 3]) -> [R; 1] {
        [p[2].reciprocal()]
    }
    #[inline(always)]
    fn length<R: Real>(&self, _: &[R; 0], p: &[R; 3], _: usize) -> R {
        p[2]
    }
    #[inline(always)]
    fn inverse_length<R: Real>(typical_sizes: &[R; 1], _: usize) -> R {
        typical_sizes[0]
    }
    #[inline(always)]
    fn confine<R: Real>(&self, _: &[R; 0], from: &[R; 3], [x, y, sigma]: [R; 3]) -> [R; 3] {
        [x, y, limit_sigma(from[2], sigma)]
    }
}

/// A σ after a step from another, which may be neither too small nor too large.
#[inline(always)]
pub(super) fn limit_sigma<R: Real>(from: R, to: R) -> R {
    let least = from * R::splat(1.0 / SIGMA_FACTOR);
    to.max(least).min(from * R::splat(SIGMA_FACTOR))
}

impl Outlined<3> for Circular {
    const PLACES: [Option<usize>; 5] = [Some(0), Some(1), Some(2), Some(2), None];
    #[inline(always)]
    fn parameters<R: Real>(&self, start: Outline<R>) -> ([R; 3], [R; 0]) {
        ([start.x, start.y, start.sigma_x], [])
    }
    #[inline(always)]
    fn outline<R: Real>(&self, _: &[R; 0], &[x, y, sigma]: &[R; 3]) -> Outline<R> {
        Outline { x, y, sigma_x: sigma, sigma_y: sigma, angle: R::splat(0.0) }
    }
}

impl Separable<3> for Circular {
    #[inline(always)]
    fn axes<R: Real>(
        &self,
        profile: PixelProfile,
        _: &[R; 0],
        &[x, y, sigma]: &[R; 3],
    ) -> (GaussianAxis<R>, GaussianAxis<R>) {
        let inverse_sigma = sigma.reciprocal();
        (
            GaussianAxis::with_profile(profile, x, inverse_sigma),
            GaussianAxis::with_profile(profile, y, inverse_sigma),
        )
    }
    #[inline(always)]
    fn sums<R: Real>(&self, x: &AxisSums<R>, y: &AxisSums<R>, data: &DataSums<R>) -> Sums<R, 3> {
        let [x0, x1, x2] = x.single;
        let [y0, y1, y2] = y.single;
        let [x00, x01, x02, x11, x12, x22] = x.product;
        let [y00, y01, y02, y11, y12, y22] = y.product;
        let x02_y02 = x02 * y02;
        let mut df_df = Symmetric::zero();
        df_df.0[0][0] = x11 * y00;
        df_df.0[0][1] = x01 * y01;
        df_df.0[0][2] = x12.mul_add(y00, x01 * y02);
        df_df.0[1][1] = x00 * y11;
        df_df.0[1][2] = x00.mul_add(y12, x02 * y01);
        df_df.0[2][2] = x22.mul_add(y00, x00.mul_add(y22, x02_y02 + x02_y02));
        Sums {
            f: x0 * y0,
            ff: x00 * y00,
            fg: data.value,
            df: [x1 * y0, x0 * y1, x2.mul_add(y0, x0 * y2)],
            f_df: [x01 * y00, x00 * y01, x02.mul_add(y00, x00 * y02)],
            g_df: Self::gather(data.by),
            df_df,
        }
    }
    #[inline(always)]
    fn gather<R: Real>([x, y, sigma_x, sigma_y]: [R; 4]) -> [R; 3] {
        [x, y, sigma_x + sigma_y]
    }
    #[inline(always)]
    fn gather_matrix<R: Real>(Symmetric(of): &Symmetric<R, 4>) -> Symmetric<R, 3> {
        let mut matrix = Symmetric::zero();
        matrix.0[0] = [of[0][0], of[0][1], of[0][2] + of[0][3]];
        matrix.0[1][1] = of[1][1];
        matrix.0[1][2] = of[1][2] + of[1][3];
        matrix.0[2][2] = of[2][2] + of[3][3] + (of[2][3] + of[2][3]);
        matrix
    }
}
