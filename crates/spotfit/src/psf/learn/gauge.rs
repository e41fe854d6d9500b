//! What the pixels of spots cannot tell: pedestal and slopes, which the background has, the sum, and the centre.

use super::expect::SpotFit;
use super::{COUNT, Family, HALF};

/// The annulus, in pixels from the centre, in which there is little light but that which falls with r⁻³.
const INNER: f64 = 5.5;
const OUTER: f64 = HALF as f64;

/// The centre is that of the light within so many pixels.
const CENTRAL: f64 = 3.2;

/// Where a coefficient is, in pixels from the middle.
fn offset(at: usize) -> f64 {
    at as f64 - 0.5 * (COUNT - 1) as f64
}

/// Fixes them, and moves the spots with the centre. Gives the tail: a pixel at r pixels has a/r³ of the light.
pub(super) fn fix(family: &mut Family, spots: &mut [SpotFit<'_>], nodes: &[f64]) -> f64 {
    let planes = family.planes;
    let mut tails: Vec<f64> = Vec::with_capacity(planes);
    let mut pedestals: Vec<[f64; 2]> = Vec::with_capacity(planes);
    for plane in family.knots.chunks_exact_mut(COUNT * COUNT) {
        flatten(plane);
        let [constant, mean, inverse] = pedestal(plane);
        tails.push(inverse);
        pedestals.push([constant, mean]);
    }
    // The tail changes little along the axis, and noise much.
    tails.sort_unstable_by(f64::total_cmp);
    let tail = tails[planes / 2].max(0.0);
    let mut centres = Vec::with_capacity(planes);
    let mut shares = Vec::with_capacity(planes);
    for (plane, [level, inverse_cube]) in
        family.knots.chunks_exact_mut(COUNT * COUNT).zip(pedestals)
    {
        let constant = level - tail * inverse_cube;
        plane.iter_mut().for_each(|value| *value -= constant);
        let sum = inside(plane) + tail * beyond();
        if sum > 0.0 {
            plane.iter_mut().for_each(|value| *value /= sum);
            shares.push(tail / sum);
        }
        let centre = centre(plane);
        shift(plane, centre);
        centres.push(centre);
    }
    for spot in spots {
        for (fit, &node) in spot.nodes.iter_mut().zip(nodes) {
            // A coefficient has its place a plane before its number.
            let at = (node + 1.0).clamp(0.0, (planes - 1) as f64);
            let (low, share) = ((at as usize).min(planes - 2), at.fract());
            for axis in 0..2 {
                let [a, b] = [centres[low][axis], centres[low + 1][axis]];
                fit.place[axis] += a + share * (b - a);
            }
        }
    }
    shares.sort_unstable_by(f64::total_cmp);
    shares.get(shares.len() / 2).copied().unwrap_or(0.0)
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

/// In the annulus: the mean, that of r⁻³, and a of the line constant + a·r⁻³ through all.
fn pedestal(plane: &[f64]) -> [f64; 3] {
    let mut sums = [0.0; 5];
    for (place, r) in annulus() {
        let (value, inverse) = (plane[place], r.powi(-3));
        let parts = [1.0, value, inverse, inverse * inverse, inverse * value];
        sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
    }
    let [count, values, inverses, squares, products] = sums;
    let [value, inverse] = [values / count, inverses / count];
    let slope = (products / count - value * inverse) / (squares / count - inverse * inverse);
    [value, inverse, slope]
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
