//! The coefficients of a family from the pixels of all spots.

use super::expect::{SpotFit, behind, place};
use super::{Family, LEAST_SHARE};
use crate::psf::calibrate::conjugate_gradients;
use crate::psf::parallel::of_each;
use fit_crowd::private::{LatticePlace, Patch};

/// What second differences along the axis cost, in units of what the pixels say of a coefficient on average, and what any coefficient does.
const STIFFNESS: f64 = 1.0;
const RIDGE: f64 = 1e-5;

/// Steps of the solution.
const STEPS: usize = 25;

/// Spots are summed in so many groups, whatever the number of threads.
const GROUPS: usize = 16;

/// A spot at a node for which it counts.
struct Entry<'s, 'w> {
    spot: &'s SpotFit<'w>,
    node: usize,
    share: f64,
    place: LatticePlace,
}

/// Improves the coefficients by weighted least squares.
pub(super) fn solve(family: &mut Family, spots: &[SpotFit<'_>], nodes: &[f64]) {
    let (shape, size, count) = (family.shape(), family.extent.knots(), family.extent.count());
    let known = &*family;
    let entries: Vec<Entry<'_, '_>> = spots
        .iter()
        .filter(|spot| spot.good)
        .flat_map(|spot| {
            let shares = spot.shares.iter().enumerate().filter(|(_, share)| **share > LEAST_SHARE);
            shares.map(move |(node, &share)| {
                let place = place(known, nodes[node], spot.nodes[node].place);
                Entry { spot, node, share, place }
            })
        })
        .collect();
    let spread =
        |squares: bool, number: &(dyn Fn(&mut Patch, &Entry<'_, '_>) -> Vec<f64> + Sync)| {
            let of_group = |group: usize| {
                let (mut patch, mut own) = (Patch::default(), vec![0.0; shape.iter().product()]);
                for entry in entries.iter().skip(group).step_by(GROUPS) {
                    let numbers = number(&mut patch, entry);
                    patch.spread(&numbers, &mut own, shape, &entry.place, squares);
                }
                own
            };
            let all: Vec<Vec<f64>> = of_each(GROUPS, &of_group);
            all.into_iter().fold(vec![0.0; shape.iter().product()], |mut sums, own| {
                sums.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
                sums
            })
        };
    // What a pixel says of its model: the share, photons², and its weight.
    let scale = |entry: &Entry<'_, '_>| {
        let photons = entry.spot.nodes[entry.node].photons;
        entry.share * photons * photons
    };
    let said = spread(true, &|_, entry| {
        entry.spot.weights.iter().map(|weight| scale(entry) * weight).collect()
    });
    let right = spread(false, &|_, entry| {
        let (spot, fit) = (entry.spot, &entry.spot.nodes[entry.node]);
        let pixels = spot.window.pixels.iter().zip(&spot.weights).enumerate();
        let number = |(pixel, (datum, weight)): (usize, (&f64, &f64))| {
            entry.share * fit.photons * weight * (datum - behind(spot.window, fit, pixel))
        };
        pixels.map(number).collect()
    });
    let told = said.iter().filter(|&&said| said > 0.0);
    let (sum, told) = told.fold((0.0, 0.0), |(sum, told), said| (sum + said, told + 1.0));
    let usual = sum / f64::max(told, 1.0);
    if usual.is_nan() || usual <= 0.0 {
        return;
    }
    let apply = |vector: &[f64]| {
        let mut sums = spread(false, &|patch, entry| {
            patch.evaluate(vector, shape, &entry.place, false);
            let all = entry.spot.weights.iter().zip(&patch.value);
            all.map(|(weight, value)| scale(entry) * weight * value).collect()
        });
        for (sum, value) in sums.iter_mut().zip(vector) {
            *sum += RIDGE * usual * value;
        }
        second_differences(shape[0], |[before, middle, after]| {
            for pixel in 0..size {
                let at = |plane: usize| plane * size + pixel;
                let bend = vector[at(before)] - 2.0 * vector[at(middle)] + vector[at(after)];
                let bend = STIFFNESS * usual * bend;
                sums[at(before)] += bend;
                sums[at(middle)] -= 2.0 * bend;
                sums[at(after)] += bend;
            }
        });
        sums
    };
    let mut diagonal: Vec<f64> = said.iter().map(|said| said + RIDGE * usual).collect();
    second_differences(shape[0], |places| {
        for (plane, times) in places.into_iter().zip([1.0, 4.0, 1.0]) {
            let own = &mut diagonal[plane * size..][..size];
            own.iter_mut().for_each(|value| *value += times * STIFFNESS * usual);
        }
    });
    conjugate_gradients(&mut family.knots, &right, &diagonal, STEPS, apply);
    // The rim is hardly seen: it is as its neighbour.
    for plane in family.knots.chunks_exact_mut(size) {
        let inside = |at: usize| at.clamp(2, count - 3);
        for place in 0..size {
            let (row, column) = (place / count, place % count);
            plane[place] = plane[inside(row) * count + inside(column)];
        }
    }
}

/// The three planes of each second difference along the axis.
fn second_differences(planes: usize, mut with: impl FnMut([usize; 3])) {
    (1..planes - 1).for_each(|middle| with([middle - 1, middle, middle + 1]));
}
