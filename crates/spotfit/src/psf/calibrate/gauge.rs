//! What beads cannot tell: where the PSF's centre and its z = 0 are.

use super::bead::{BeadFit, used};
use super::table::Table;
use fit_crowd::private::{LatticePlace, Patch};

/// Places in z for each plane.
const FINENESS: usize = 10;

/// Moves all beads together such that the PSF's centre will be in the middle of its box, and takes from all the mean drift.
pub(super) fn fix(table: &Table, fits: &mut [BeadFit<'_>]) {
    let [_, rows, columns] = table.shape;
    let size = [rows - 3, columns - 3];
    let mut patch = Patch::default();
    let zero = zero(table);
    let place = LatticePlace::new(table.shape, [zero, 0.5, 0.5], size);
    patch.evaluate(&table.knots, table.shape, &place, false);
    let (mut sum, mut moments) = (0.0, [0.0; 2]);
    for (pixel, value) in patch.value.iter().enumerate() {
        let at = [pixel % size[1], pixel / size[1]];
        sum += value * value;
        for axis in 0..2 {
            let middle = 0.5 * (size[1 - axis] - 1) as f64;
            moments[axis] += value * value * (at[axis] as f64 - middle);
        }
    }
    let count = used(fits).count().max(1) as f64;
    let drift = [0, 1].map(|axis| used(fits).map(|fit| fit.drift[axis]).sum::<f64>() / count);
    for fit in fits.iter_mut() {
        for axis in 0..2 {
            let off = moments[axis] / sum;
            if off.is_finite() {
                fit.place[axis] += off;
            }
            fit.drift[axis] -= drift[axis];
        }
    }
}

/// The plane where the PSF is most compact: the mean, weighted by how much Σf² exceeds half of its maximum.
pub(super) fn zero(table: &Table) -> f64 {
    let [planes, rows, columns] = table.shape;
    let size = [rows - 3, columns - 3];
    let mut patch = Patch::default();
    let count = (planes - 3) * FINENESS;
    let squares: Vec<f64> = (0..=count)
        .map(|at| {
            let plane = at as f64 / FINENESS as f64;
            let place = LatticePlace::new(table.shape, [plane, 0.5, 0.5], size);
            patch.evaluate(&table.knots, table.shape, &place, false);
            patch.value.iter().map(|value| value * value).sum()
        })
        .collect();
    let most = squares.iter().copied().fold(0.0, f64::max);
    let (mut sum, mut moment) = (0.0, 0.0);
    for (at, square) in squares.iter().enumerate() {
        let over = (square - 0.5 * most).max(0.0);
        sum += over;
        moment += over * at as f64 / FINENESS as f64;
    }
    if sum > 0.0 { moment / sum } else { 0.5 * (planes - 3) as f64 }
}
