//! The coefficients of the PSF from the pixels of all beads: regularised linear least squares by conjugate gradients.

use super::bead::{BeadFit, used};
use super::table::Table;
use fit_crowd::private::{LatticePlace, Patch};
use spotfit_locs::private::of_each;

/// What second differences of neighbouring coefficients along z, y and x cost, in units of what the pixels say of the one in
/// the middle. Along z a PSF changes little from plane to plane: what repeats itself within five planes is noise mostly. Along x and
/// y nearly all of it is above this.
const STIFFNESS: [f64; 3] = [3.0, 3e-4, 3e-4];
/// What pixels say of a coefficient is taken for this share of the most at least, so that those that they say nothing of
/// continue what is beside them.
const LEAST: f64 = 1e-4;
/// Beads are summed in so many groups, whatever the number of threads.
const GROUPS: usize = 16;
/// The gradient has become so much smaller when it is small enough.
const TOLERANCE: f64 = 1e-6;

/// Appends a number for each pixel of a slice of a bead that the PSF covers: (room, place, bead, slice, numbers).
type Number<'a> = dyn Fn(&mut Patch, &LatticePlace, usize, usize, &mut Vec<f64>) + Sync + 'a;

/// Improves the coefficients, beginning with those that there are, in some steps.
pub(super) fn solve(table: &mut Table, fits: &[BeadFit<'_>], steps: usize) {
    let used: Vec<&BeadFit<'_>> = used(fits).collect();
    let places: Vec<Vec<(usize, LatticePlace)>> = used
        .iter()
        .map(|fit| {
            let slices = 0..fit.bead.heights.len();
            slices.filter_map(|slice| Some((slice, fit.slice(table, slice)?))).collect()
        })
        .collect();
    let shape = table.shape;
    let total = table.knots.len();
    // Sums over all pixels of what is to be spread from each.
    let spread = |squares: bool, number: &Number<'_>| {
        let of_group = |group: usize| {
            let (mut patch, mut numbers) = (Patch::default(), Vec::new());
            let mut own = vec![0.0; total];
            for bead in (group..used.len()).step_by(GROUPS) {
                for (slice, place) in &places[bead] {
                    numbers.clear();
                    number(&mut patch, place, bead, *slice, &mut numbers);
                    patch.spread(&numbers, &mut own, shape, place, squares);
                }
            }
            own
        };
        let groups = GROUPS.min(used.len());
        let all: Vec<Vec<f64>> = of_each(groups, &of_group);
        let mut sums = vec![0.0; total];
        for own in all {
            for (sum, own) in sums.iter_mut().zip(own) {
                *sum += own;
            }
        }
        sums
    };
    let said = spread(true, &|_, place, bead, slice, numbers| {
        let photons = used[bead].photons;
        numbers
            .extend(used[bead].covered(slice, place).map(|(_, weight)| weight * photons * photons));
    });
    let right = spread(false, &|_, place, bead, slice, numbers| {
        let fit = used[bead];
        let background = fit.background[slice];
        let of = |(datum, weight)| weight * fit.photons * (datum - background);
        numbers.extend(fit.covered(slice, place).map(of));
    });
    let least = LEAST * said.iter().copied().fold(0.0, f64::max);
    if least.is_nan() || least <= 0.0 {
        return;
    }
    let stiffness: Vec<f64> = said.iter().map(|said| said.max(least)).collect();
    let apply = |vector: &[f64]| {
        let mut sums = spread(false, &|patch, place, bead, slice, numbers| {
            let fit = used[bead];
            patch.evaluate(vector, shape, place, false);
            let all = fit.covered(slice, place).zip(&patch.value);
            let square = fit.photons * fit.photons;
            numbers.extend(all.map(|((_, weight), value)| weight * square * value));
        });
        stiffen(vector, &mut sums, shape, &stiffness);
        sums
    };
    let mut diagonal = said;
    stiff_diagonal(&mut diagonal, shape, &stiffness);
    conjugate_gradients(&mut table.knots, &right, &diagonal, steps, apply);
}

/// Calls with the three places of each second difference along an axis, and what it costs.
fn second_differences(shape: [usize; 3], stiffness: &[f64], mut with: impl FnMut([usize; 3], f64)) {
    let steps = [shape[1] * shape[2], shape[2], 1];
    for (middle, &own) in stiffness.iter().enumerate() {
        let at = [middle / steps[0], middle / steps[1] % shape[1], middle % shape[2]];
        for axis in 0..3 {
            if (1..shape[axis] - 1).contains(&at[axis]) {
                let step = steps[axis];
                with([middle - step, middle, middle + step], STIFFNESS[axis] * own);
            }
        }
    }
}

fn stiffen(vector: &[f64], sums: &mut [f64], shape: [usize; 3], stiffness: &[f64]) {
    second_differences(shape, stiffness, |[before, middle, after], cost| {
        let difference = cost * (vector[before] - 2.0 * vector[middle] + vector[after]);
        sums[before] += difference;
        sums[middle] -= 2.0 * difference;
        sums[after] += difference;
    });
}

fn stiff_diagonal(diagonal: &mut [f64], shape: [usize; 3], stiffness: &[f64]) {
    second_differences(shape, stiffness, |[before, middle, after], cost| {
        diagonal[before] += cost;
        diagonal[middle] += 4.0 * cost;
        diagonal[after] += cost;
    });
}

/// Hestenes and Stiefel's method, preconditioned by the diagonal.
pub(in crate::psf) fn conjugate_gradients(
    solution: &mut [f64],
    right: &[f64],
    diagonal: &[f64],
    steps: usize,
    apply: impl Fn(&[f64]) -> Vec<f64>,
) {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let scaled = |vector: &[f64]| -> Vec<f64> {
        let scale = |(value, own): (&f64, &f64)| if *own > 0.0 { value / own } else { 0.0 };
        vector.iter().zip(diagonal).map(scale).collect()
    };
    let product = apply(solution);
    let mut rest: Vec<f64> = right.iter().zip(&product).map(|(a, b)| a - b).collect();
    let mut small = scaled(&rest);
    let mut direction = small.clone();
    let mut size = dot(&rest, &small);
    let end = TOLERANCE * TOLERANCE * dot(right, &scaled(right));
    for _ in 0..steps {
        if size.is_nan() || size <= end {
            break;
        }
        let product = apply(&direction);
        let curvature = dot(&direction, &product);
        if curvature.is_nan() || curvature <= 0.0 {
            break;
        }
        let length = size / curvature;
        for (value, along) in solution.iter_mut().zip(&direction) {
            *value += length * along;
        }
        for (rest, product) in rest.iter_mut().zip(&product) {
            *rest -= length * product;
        }
        small = scaled(&rest);
        let next = dot(&rest, &small);
        let share = next / size;
        size = next;
        for (along, own) in direction.iter_mut().zip(&small) {
            *along = own + share * *along;
        }
    }
}
