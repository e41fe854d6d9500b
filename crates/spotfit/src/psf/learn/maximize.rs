//! The coefficients of a family from the pixels of all spots.

use std::ops::Range;

use super::expect::{SpotFit, behind, place};
use super::{Family, LEAST_SHARE};
use crate::psf::calibrate::conjugate_gradients;
use crate::psf::field::{values, within};
use fit_crowd::private::{LatticePlace, Patch};
use spotfit_locs::private::of_each;

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
    /// The terms at its place in the frame.
    across: Vec<f64>,
}

impl Entry<'_, '_> {
    /// The coefficients of the planes that its node has to do with.
    fn planes(&self, count: usize, nodes: &[f64], size: usize) -> Range<usize> {
        let first = (nodes[self.node] as usize).min(count - 4);
        first * size..(first + 4) * size
    }
}

/// Memory, with room for local coefficients where they vary across the frame.
struct Room {
    patch: Patch,
    local: Vec<f64>,
}

/// The standard deviations of terms across the frame, as a share of the light there, which counts as this much at least.
const VARIES: f64 = 0.3;
const LEAST_LIGHT: f64 = 5e-4;

/// Improves the coefficients by weighted least squares.
pub(super) fn solve(family: &mut Family, spots: &[SpotFit<'_>], nodes: &[f64]) {
    solve_terms(family, (&mut Vec::new(), 0, [[0.0; 2]; 2]), spots, nodes, STEPS);
}

/// The same in so many steps with those of terms across a part of the frame, up to a degree.
pub(super) fn solve_terms(
    family: &mut Family,
    (terms, degree, part): (&mut Vec<f64>, usize, [[f64; 2]; 2]),
    spots: &[SpotFit<'_>],
    nodes: &[f64],
    steps: usize,
) {
    let (shape, size, count) = (family.shape(), family.extent.knots(), family.extent.count());
    let known = &*family;
    let length = known.knots.len();
    let planes = (length + terms.len()) / size;
    let entries: Vec<Entry<'_, '_>> = spots
        .iter()
        .filter(|spot| spot.good)
        .flat_map(|spot| {
            let shares = spot.shares.iter().enumerate().filter(|(_, share)| **share > LEAST_SHARE);
            shares.map(move |(node, &share)| {
                let place = place(known, nodes[node], spot.nodes[node].place);
                let across = values(degree, within(part, spot.window.field));
                Entry { spot, node, share, place, across }
            })
        })
        .collect();
    let spread =
        |squares: bool, number: &(dyn Fn(&mut Room, &Entry<'_, '_>) -> Vec<f64> + Sync)| {
            let of_group = |group: usize| {
                let mut own = vec![0.0; length + terms.len()];
                let local = vec![0.0; if terms.is_empty() { 0 } else { length }];
                let mut room = Room { patch: Patch::default(), local };
                for entry in entries.iter().skip(group).step_by(GROUPS) {
                    let numbers = number(&mut room, entry);
                    let Room { patch, local } = &mut room;
                    if local.is_empty() {
                        patch.spread(&numbers, &mut own, shape, &entry.place, squares);
                        continue;
                    }
                    let planes = entry.planes(shape[0], nodes, size);
                    local[planes.clone()].fill(0.0);
                    patch.spread(&numbers, local, shape, &entry.place, squares);
                    let weights = std::iter::once(&1.0).chain(&entry.across);
                    for (own, weight) in own.chunks_exact_mut(length).zip(weights) {
                        let weight = if squares { weight * weight } else { *weight };
                        let both = own[planes.clone()].iter_mut().zip(&local[planes.clone()]);
                        both.for_each(|(own, local)| *own += weight * local);
                    }
                }
                own
            };
            let all: Vec<Vec<f64>> = of_each(GROUPS, &of_group);
            all.into_iter().fold(vec![0.0; length + terms.len()], |mut sums, own| {
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
    let told = said[..length].iter().filter(|&&said| said > 0.0);
    let (sum, told) = told.fold((0.0, 0.0), |(sum, told), said| (sum + said, told + 1.0));
    let usual = sum / f64::max(told, 1.0);
    if usual.is_nan() || usual <= 0.0 {
        return;
    }
    let light = |at: usize| VARIES * known.knots[at % length].abs().max(LEAST_LIGHT);
    let ridge = |at: usize| if at < length { RIDGE * usual } else { light(at).powi(-2) };
    let apply = |vector: &[f64]| {
        let mut sums = spread(false, &|Room { patch, local }, entry| {
            if local.is_empty() {
                patch.evaluate(vector, shape, &entry.place, false);
            } else {
                let planes = entry.planes(shape[0], nodes, size);
                local[planes.clone()].fill(0.0);
                let weights = std::iter::once(&1.0).chain(&entry.across);
                for (own, weight) in vector.chunks_exact(length).zip(weights) {
                    let both = local[planes.clone()].iter_mut().zip(&own[planes.clone()]);
                    both.for_each(|(local, own)| *local += weight * own);
                }
                patch.evaluate(local, shape, &entry.place, false);
            }
            let all = entry.spot.weights.iter().zip(&patch.value);
            all.map(|(weight, value)| scale(entry) * weight * value).collect()
        });
        for (at, (sum, value)) in sums.iter_mut().zip(vector).enumerate() {
            *sum += ridge(at) * value;
        }
        second_differences(planes, shape[0], |[before, middle, after]| {
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
    let mut diagonal: Vec<f64> =
        said.iter().enumerate().map(|(at, said)| said + ridge(at)).collect();
    second_differences(planes, shape[0], |places| {
        for (plane, times) in places.into_iter().zip([1.0, 4.0, 1.0]) {
            let own = &mut diagonal[plane * size..][..size];
            own.iter_mut().for_each(|value| *value += times * STIFFNESS * usual);
        }
    });
    let mut solution = [&known.knots[..], terms].concat();
    conjugate_gradients(&mut solution, &right, &diagonal, steps, apply);
    // The rim is hardly seen: it is as its neighbour.
    for plane in solution.chunks_exact_mut(size) {
        let inside = |at: usize| at.clamp(2, count - 3);
        for place in 0..size {
            let (row, column) = (place / count, place % count);
            plane[place] = plane[inside(row) * count + inside(column)];
        }
    }
    *terms = solution.split_off(length);
    family.knots = solution;
}

/// The three planes of each second difference along the axis, of families of so many planes in `all`.
fn second_differences(all: usize, planes: usize, mut with: impl FnMut([usize; 3])) {
    let middles = (0..all).filter(|at| (1..planes - 1).contains(&(at % planes)));
    middles.for_each(|middle| with([middle - 1, middle, middle + 1]));
}
