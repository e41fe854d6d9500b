//! What the pixels of spots cannot tell: pedestal and slopes, which the background has, the sum, and the centre.

use super::expect::SpotFit;
use super::{COUNT, Family, HALF};
use crate::psf::bounds::{Information, inverse};

/// The annulus, in pixels from the centre, in which there is little light but that which falls with r⁻³.
const INNER: f64 = 5.5;
const OUTER: f64 = HALF as f64;

/// The centre is that of the light within so many pixels.
const CENTRAL: f64 = 3.2;

/// Where a coefficient is, in pixels from the middle.
fn offset(at: usize) -> f64 {
    at as f64 - 0.5 * (COUNT - 1) as f64
}

/// Fixes them, and moves the spots with the centre.
pub(super) fn fix(family: &mut Family, spots: &mut [SpotFit<'_>], nodes: &[f64]) {
    let (planes, last) = (family.planes, family.last());
    let pedestal = pedestal(spots, nodes, last);
    let mut centres = Vec::with_capacity(planes);
    for (number, plane) in family.knots.chunks_exact_mut(COUNT * COUNT).enumerate() {
        // A coefficient has its place a plane before its number.
        let level = at(&pedestal, along(number as f64 - 1.0, last));
        plane.iter_mut().for_each(|value| *value += level);
        flatten(plane);
        let tail = tail(plane).max(0.0);
        let sum = inside(plane) + tail * beyond();
        if sum > 0.0 {
            plane.iter_mut().for_each(|value| *value /= sum);
        }
        let centre = centre(plane);
        shift(plane, centre);
        centres.push(centre);
    }
    for spot in spots {
        for (fit, &node) in spot.nodes.iter_mut().zip(nodes) {
            let at = (node + 1.0).clamp(0.0, (planes - 1) as f64);
            let (low, share) = ((at as usize).min(planes - 2), at.fract());
            for axis in 0..2 {
                let [a, b] = [centres[low][axis], centres[low + 1][axis]];
                fit.place[axis] += a + share * (b - a);
            }
        }
    }
}

/// Of a background, what is a quadratic function of the place in the frame; and what grows with the photons, as a quadratic function of
/// the place along the axis.
const FIELD: usize = 6;
const PARTS: usize = FIELD + 3;

/// Residuals beyond so many deviations count less.
const HUBER: f64 = 2.0;

/// A place along the axis from −1 to 1.
fn along(place: f64, last: f64) -> f64 {
    (2.0 * place / last - 1.0).clamp(-1.0, 1.0)
}

fn at(pedestal: &[f64; 3], t: f64) -> f64 {
    pedestal[0] + t * (pedestal[1] + t * pedestal[2])
}

/// What the family lacks in all of its pixels, a photon, along the axis. A spot alone does not tell this from its background; but the true
/// background does not grow with the photons of the spot on it, and what is lacking does.
fn pedestal(spots: &[SpotFit<'_>], nodes: &[f64], last: f64) -> [f64; 3] {
    let used = || spots.iter().filter(|spot| spot.good);
    let mean = used().map(|spot| spot.best().photons).sum::<f64>() / used().count().max(1) as f64;
    let rows: Vec<([f64; PARTS], f64)> = used()
        .map(|spot| {
            let [x, y] = spot.window.field;
            let (light, t) = (spot.best().photons / mean, along(spot.mean_place(nodes), last));
            let row = [1.0, x, y, x * x, x * y, y * y, light, light * t, light * t * t];
            (row, spot.best().background)
        })
        .collect();
    let mut found = [0.0; PARTS];
    let mut limit = f64::INFINITY;
    for _ in 0..4 {
        let (mut information, mut right) = (Information::<PARTS>::NONE, [0.0; PARTS]);
        let residual = |found: &[f64; PARTS], (row, own): &([f64; PARTS], f64)| {
            own - row.iter().zip(found).map(|(part, found)| part * found).sum::<f64>()
        };
        for row in &rows {
            let weight = limit / residual(&found, row).abs().max(limit);
            let weight = if weight.is_nan() { 1.0 } else { weight };
            information.add(&row.0, weight);
            for (sum, part) in right.iter_mut().zip(row.0) {
                *sum += weight * part * row.1;
            }
        }
        information.ridge(1e-6 * rows.len() as f64);
        let Some(covariance) = inverse(&information) else { return [0.0; 3] };
        found = covariance.map(|row| row.iter().zip(&right).map(|(a, b)| a * b).sum());
        let mut sizes: Vec<f64> = rows.iter().map(|row| residual(&found, row).abs()).collect();
        sizes.sort_unstable_by(f64::total_cmp);
        limit = HUBER * 1.4826 * sizes.get(sizes.len() / 2).copied().unwrap_or(f64::INFINITY);
    }
    [0, 1, 2].map(|part| found[FIELD + part] / mean)
}

/// The coefficients in the annulus, with their distance from the centre.
fn annulus() -> impl Iterator<Item = (usize, f64)> {
    (0..COUNT * COUNT).filter_map(|place| {
        let r = offset(place % COUNT).hypot(offset(place / COUNT));
        (r > INNER && r <= OUTER).then_some((place, r))
    })
}

/// Takes the slopes that a plane has in the annulus from all of it.
fn flatten(plane: &mut [f64]) {
    let (mut slopes, mut squares) = ([0.0; 2], [0.0; 2]);
    for (place, _) in annulus() {
        let at = [place % COUNT, place / COUNT].map(offset);
        for axis in 0..2 {
            slopes[axis] += at[axis] * plane[place];
            squares[axis] += at[axis] * at[axis];
        }
    }
    for (place, value) in plane.iter_mut().enumerate() {
        let at = [place % COUNT, place / COUNT].map(offset);
        *value -= at[0] * slopes[0] / squares[0] + at[1] * slopes[1] / squares[1];
    }
}

/// a of a/r³ in the annulus.
fn tail(plane: &[f64]) -> f64 {
    let sums = annulus().fold([0.0; 2], |[values, inverses], (place, r)| {
        [values + plane[place], inverses + r.powi(-3)]
    });
    sums[0] / sums[1]
}

/// The light in the window.
fn inside(plane: &[f64]) -> f64 {
    let within = |at: usize| (1..COUNT - 1).contains(&at);
    let all = plane.iter().enumerate();
    all.filter(|(place, _)| within(place % COUNT) && within(place / COUNT))
        .map(|(_, value)| value)
        .sum()
}

/// ∫r⁻³ beyond a square of as many pixels as the sum has.
fn beyond() -> f64 {
    let half = 0.5 * (COUNT - 2) as f64;
    // In an octant of the plane the edge is at half/cos φ, and ∫r⁻³·r dr = cos φ/half.
    8.0 * std::f64::consts::FRAC_1_SQRT_2 / half
}

/// The centre of the light near the middle, x and y.
fn centre(plane: &[f64]) -> [f64; 2] {
    let (mut sum, mut moments) = (0.0, [0.0; 2]);
    for (place, value) in plane.iter().enumerate() {
        let at = [place % COUNT, place / COUNT].map(offset);
        if at[0].hypot(at[1]) < CENTRAL {
            sum += value;
            moments[0] += value * at[0];
            moments[1] += value * at[1];
        }
    }
    moments.map(|moment| if sum > 0.0 { (moment / sum).clamp(-1.0, 1.0) } else { 0.0 })
}

/// Moves a plane such that this place comes into the middle: cubics through four neighbours, along x and then along y.
fn shift(plane: &mut [f64], [x, y]: [f64; 2]) {
    let weights = |t: f64| {
        let (a, b, c) = (t + 1.0, t - 1.0, t - 2.0);
        [-t * b * c / 6.0, a * b * c / 2.0, -a * t * c / 2.0, a * t * b / 6.0]
    };
    for (step, by) in [(1, x), (COUNT, y)] {
        let (whole, rest) = (by.floor(), by - by.floor());
        let own = weights(rest);
        let from = plane.to_vec();
        for (place, value) in plane.iter_mut().enumerate() {
            let (at, line) = if step == 1 {
                (place % COUNT, place - place % COUNT)
            } else {
                (place / COUNT, place % COUNT)
            };
            let of = |k: usize| {
                let at = at as f64 + whole + k as f64 - 1.0;
                from[line + at.clamp(0.0, (COUNT - 1) as f64) as usize * step]
            };
            *value = (0..4).map(|k| own[k] * of(k)).sum();
        }
    }
}
