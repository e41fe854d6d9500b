//! An elliptical Gaussian along the axes: x̄, ȳ, σx and σy.

use super::circular::limit_sigma;
use super::{Outlined, Separable};
use crate::arithmetic::Real;
use crate::search::Coordinates;
use crate::search::solve::Symmetric;
use crate::size::Outline;
use crate::spot::axis::{CENTRE_UNIT, WIDTH_UNIT};

/// An elliptical Gaussian whose axes are those of the image: centre (x̄, ȳ) and standard deviations σx and σy, in
/// pixels. An astigmatic lens makes such spots, and their widths tell the depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Elliptical;

impl Coordinates<4> for Elliptical {
    /// 1/σx and 1/σy.
    type TypicalSizes<R: Real> = [R; 2];
    type Constants<R: Real> = [R; 0];

    const UNITS: [f64; 4] = [CENTRE_UNIT, CENTRE_UNIT, WIDTH_UNIT, WIDTH_UNIT];

    #[inline(always)]
    fn typical_sizes<R: Real>(&self, _: &[R; 0], p: &[R; 4]) -> [R; 2] {
        [p[2].reciprocal(), p[3].reciprocal()]
    }
    #[inline(always)]
    fn length<R: Real>(&self, _: &[R; 0], p: &[R; 4], j: usize) -> R {
        p[2 + j % 2]
    }
    #[inline(always)]
    fn inverse_length<R: Real>(typical_sizes: &[R; 2], j: usize) -> R {
        typical_sizes[j % 2]
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
    const PLACES: [Option<usize>; 5] = [Some(0), Some(1), Some(2), Some(3), None];
    #[inline(always)]
    fn parameters<R: Real>(&self, start: Outline<R>) -> ([R; 4], [R; 0]) {
        ([start.x, start.y, start.sigma_x, start.sigma_y], [])
    }
    #[inline(always)]
    fn outline<R: Real>(&self, _: &[R; 0], &[x, y, sigma_x, sigma_y]: &[R; 4]) -> Outline<R> {
        Outline { x, y, sigma_x, sigma_y, angle: R::splat(0.0) }
    }
}

impl Separable<4> for Elliptical {
    #[inline(always)]
    fn gather<R: Real>(of: [R; 4]) -> [R; 4] {
        of
    }
    #[inline(always)]
    fn gather_matrix<R: Real>(of: &Symmetric<R, 4>) -> Symmetric<R, 4> {
        *of
    }
}
