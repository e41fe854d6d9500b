//! χ² from the residuals.

use super::each::Each;
use super::group::Group;
use super::shape::Summable;
use super::tile::{Tile, keep};
use crate::arithmetic::Real;

/// The squares of the residuals, times weights if `WEIGHTED`, on a plane if `TILTED`.
struct Squares<R, const WEIGHTED: bool, const TILTED: bool> {
    /// The value of the plane at (0, 0), and its slopes.
    plane: [R; 3],
    beta: R,
    chi2: R,
}

impl<R: Real, const WEIGHTED: bool, const TILTED: bool> Each<R> for Squares<R, WEIGHTED, TILTED> {
    #[inline(always)]
    fn at(&mut self, [x, y]: [R; 2]) {
        if TILTED {
            let [level, by_x, by_y] = self.plane;
            self.beta = by_x.mul_add(x, by_y.mul_add(y, level));
        }
    }
    #[inline(always)]
    fn pixel<T: Tile<R>>(
        &mut self,
        in_window: R::Mask,
        [height, value]: [R; 2],
        pixel: R,
        weight: R,
    ) {
        let residual = height.mul_add(value, self.beta - pixel);
        let residual = keep::<R, T>(in_window, residual, R::splat(0.0));
        let weighted = if WEIGHTED { residual * weight } else { residual };
        self.chi2 = weighted.mul_add(residual, self.chi2);
    }
}

/// χ² = Σ(αf + β − g)² (eq. 2) from the residuals themselves, pixel by pixel; each square times the pixel's weight if
/// `WEIGHTED`.
///
/// [`crate::spot::assembly::assemble`] computes χ² from sums. That is enough to steer the search, but the sums
/// cancel where the spot is bright; this is the number to report.
#[inline(always)]
pub fn residual_chi2<R: Real, T: Tile<R>, S: Summable<P>, const P: usize, const WEIGHTED: bool>(
    tile: &mut T,
    shape: &S,
    spot: S::Spot<R>,
    [alpha, beta]: [R; 2],
) -> R {
    let plane = [beta, R::splat(0.0), R::splat(0.0)];
    tilted_chi2::<_, _, _, _, WEIGHTED, false>(tile, shape, spot, alpha, plane)
}

/// The same on a plane, if `TILTED`: of its value at (0, 0) and its slopes.
#[inline(always)]
pub(super) fn tilted_chi2<
    R: Real,
    T: Tile<R>,
    S: Summable<P>,
    const P: usize,
    const WEIGHTED: bool,
    const TILTED: bool,
>(
    tile: &mut T,
    shape: &S,
    spot: S::Spot<R>,
    alpha: R,
    plane: [R; 3],
) -> R {
    let [beta, ..] = plane;
    let mut squares = Squares::<R, WEIGHTED, TILTED> { plane, beta, chi2: R::splat(0.0) };
    shape.show::<_, _, _, WEIGHTED>(tile, spot, alpha, &mut squares);
    tile.group().sum(squares.chi2)
}
