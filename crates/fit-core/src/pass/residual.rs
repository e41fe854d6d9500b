//! χ² from the residuals.

use super::group::Group;
use super::tile::{Along, Line, Tile, keep};
use crate::arithmetic::Real;
use crate::spot::axis::{AxisSums, GaussianAxis};

/// χ² = Σ(αf + β − g)² (eq. 2) from the residuals themselves, pixel by pixel; each square times the pixel's weight if
/// `WEIGHTED`.
///
/// [`crate::spot::assembly::assemble`] computes χ² from sums. That is enough to steer the search, but the sums
/// cancel where the spot is bright; this is the number to report.
#[inline(always)]
pub fn residual_chi2<R: Real, T: Tile<R>, const WEIGHTED: bool>(
    tile: &mut T,
    (x, y): (GaussianAxis<R>, GaussianAxis<R>),
    [alpha, beta]: [R; 2],
) -> R {
    let (along, across) = if T::COLUMNS { (y, x) } else { (x, y) };
    let _ = tile.take_along::<false>(along);
    let mut sums = AxisSums::zero();
    tile.take_across::<false>(across, &mut sums);
    let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
    let along = tile.along(length);
    let mut chi2 = zero;
    for line in 0..tile.lines() {
        let height = alpha * tile.across::<false>(lane, line, &mut sums).value;
        let (pixels, there) = (tile.line(lane, line, length), tile.there(lane, line));
        let mut index = zero;
        for place in 0..length {
            let value = along.at::<false>(place, index).value;
            index = index + R::splat(1.0);
            let residual = height.mul_add(value, beta - pixels.pixel(place));
            let residual = keep::<R, T>(there, residual, zero);
            let weighted =
                if WEIGHTED { residual * tile.note(lane, line, place) } else { residual };
            chi2 = weighted.mul_add(residual, chi2);
        }
    }
    tile.group().sum(chi2)
}
