//! χ² from the residuals.

use super::each::Each;
use super::group::Group;
use super::shape::Summable;
use super::tile::{Tile, keep};
use crate::arithmetic::Real;
use crate::spot::plane::plane_at;

/// The squares of the residuals, times weights if `WEIGHTED`, on a plane if L > 2.
struct Squares<R, const WEIGHTED: bool, const L: usize> {
    /// The value of the plane at (0, 0), and its slopes.
    plane: [R; 3],
    beta: R,
    chi2: R,
}

impl<R: Real, const WEIGHTED: bool, const L: usize> Each<R> for Squares<R, WEIGHTED, L> {
    #[inline(always)]
    fn at(&mut self, place: [R; 2]) {
        if const { L > 2 } {
            self.beta = plane_at(self.plane, place);
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
/// `WEIGHTED`. `plane` is β, or, if L > 2, the value of the background at (0, 0) and its slopes.
///
/// [`crate::spot::assembly::assemble`] computes χ² from sums. That is enough to steer the search, but the sums
/// cancel where the spot is bright; this is the number to report.
#[inline(always)]
pub fn residual_chi2<
    R: Real,
    T: Tile<R>,
    S: Summable<P>,
    const P: usize,
    const WEIGHTED: bool,
    const L: usize,
>(
    tile: &mut T,
    shape: &S,
    spot: S::Spot<R>,
    alpha: R,
    plane: [R; 3],
) -> R {
    let [beta, ..] = plane;
    let mut squares = Squares::<R, WEIGHTED, L> { plane, beta, chi2: R::splat(0.0) };
    shape.show::<_, _, _, WEIGHTED>(tile, spot, alpha, &mut squares);
    tile.group().sum(squares.chi2)
}
