//! χ² from the residuals.

use super::each::Each;
use super::group::Group;
use super::shape::Summable;
use super::tile::{Tile, keep};
use crate::arithmetic::Real;

/// The squares of the residuals, times weights if `WEIGHTED`.
struct Squares<R, const WEIGHTED: bool> {
    beta: R,
    chi2: R,
}

impl<R: Real, const WEIGHTED: bool> Each<R> for Squares<R, WEIGHTED> {
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
    let mut squares = Squares::<R, WEIGHTED> { beta, chi2: R::splat(0.0) };
    shape.show::<_, _, _, WEIGHTED>(tile, spot, alpha, &mut squares);
    tile.group().sum(squares.chi2)
}
