//! What the pixels of spots cannot tell: pedestal and slopes, which the background has, the sum, and the centre.

use super::expect::{MOST_OFF, SpotFit};
use super::{Extent, Family, middle_and_spread};
use crate::psf::bounds::{Information, inverse};
use spotfit_locs::private::median;

/// The annulus, in pixels from the edge of windows, in which there is little light but that which falls with r⁻³.
const INNER: f64 = 2.5;
/// Where only that light is left.
const EDGE: f64 = 1.0;

/// The centre is that of the light within so many pixels.
const CENTRAL: f64 = 3.2;

/// Fixes them, and moves the spots with the centre.
pub(super) fn fix(family: &mut Family, spots: &mut [SpotFit<'_>], nodes: &[f64]) {
    let pedestal = pedestal(spots, nodes, family.last());
    let centres = fix_planes(family, pedestal.as_ref());
    spots.iter_mut().for_each(|spot| follow(spot, &centres, nodes));
}

/// Fixes the planes; where their centres were.
pub(super) fn fix_planes(family: &mut Family, pedestal: Option<&Pedestal>) -> Vec<[f64; 2]> {
    let (planes, last, extent) = (family.planes, family.last(), family.extent);
    let mut centres = Vec::with_capacity(planes);
    for (number, plane) in family.knots.chunks_exact_mut(extent.knots()).enumerate() {
        // A coefficient has its place a plane before its number.
        let usual = usual(plane, extent);
        let level = match pedestal {
            // The spots of a single member are all half-way.
            Some(pedestal) if family.single => pedestal.with(0.0, usual),
            Some(pedestal) => pedestal.with(along(number as f64 - 1.0, last), usual),
            None => usual,
        };
        plane.iter_mut().for_each(|value| *value += level);
        flatten(plane, extent);
        let tail = tail(plane, extent).max(0.0);
        let sum = inside(plane, extent) + tail * beyond(extent);
        if sum > 0.0 {
            plane.iter_mut().for_each(|value| *value /= sum);
        }
        let centre = centre(plane, extent);
        shift(plane, centre, extent.count());
        centres.push(centre);
    }
    centres
}

/// Moves a spot with the centres of the planes.
pub(super) fn follow(spot: &mut SpotFit<'_>, centres: &[[f64; 2]], nodes: &[f64]) {
    let planes = centres.len();
    for (fit, &node) in spot.nodes.iter_mut().zip(nodes) {
        let at = (node + 1.0).clamp(0.0, (planes - 1) as f64);
        let (low, share) = ((at as usize).min(planes - 2), at.fract());
        for axis in 0..2 {
            let [a, b] = [centres[low][axis], centres[low + 1][axis]];
            let place = fit.place[axis] + a + share * (b - a);
            fit.place[axis] = place.clamp(-MOST_OFF, MOST_OFF);
        }
    }
}

/// Of a background, what is a quadratic function of the place in the frame; and what grows with the photons, as a quadratic function of
/// the place along the axis.
const FIELD: usize = 6;
const PARTS: usize = FIELD + 3;

/// Spots tell the pedestal where the variance of their photons is so many times that of their errors, and such a share of their square.
const LEAST_SPREAD: f64 = 4.0;
const LEAST_SPREAD_OF_ALL: f64 = 0.04;

/// a of a/r³ otherwise: that of free dipoles in focus behind an objective of NA 1.2 to 1.45, 100 nm a pixel.
pub(super) const USUAL_TAIL: f64 = 0.15;

/// Standard deviations of the pedestal, a photon: of that which follows from the usual tail; and of that which backgrounds tell, where spots that
/// nobody knows of brighten them.
const USUALLY_WITHIN: f64 = 1.2e-4;
const ITS_BIAS: f64 = 1.5e-4;

/// Residuals beyond so many deviations count less.
const HUBER: f64 = 2.0;

/// A place along the axis from −1 to 1.
fn along(place: f64, last: f64) -> f64 {
    (2.0 * place / last - 1.0).clamp(-1.0, 1.0)
}

/// What backgrounds tell of the pedestal.
pub(super) struct Pedestal {
    /// A quadratic function of the place along the axis, and the covariance of its coefficients.
    parts: [f64; 3],
    covariance: [[f64; 3]; 3],
}

impl Pedestal {
    /// The likeliest at a place along the axis, where it would usually be so large.
    fn with(&self, t: f64, usual: f64) -> f64 {
        let powers = [1.0, t, t * t];
        let (mut own, mut variance) = (0.0, ITS_BIAS * ITS_BIAS);
        for j in 0..3 {
            own += powers[j] * self.parts[j];
            for k in 0..3 {
                variance += powers[j] * self.covariance[j][k] * powers[k];
            }
        }
        let share = variance / (variance + USUALLY_WITHIN * USUALLY_WITHIN);
        if share.is_finite() { own + share * (usual - own) } else { usual }
    }
}

/// What the family lacks in all of its pixels, a photon, along the axis. A spot alone does not tell this from its background; but the true
/// background does not grow with the photons of the spot on it, and what is lacking does. Photons have errors, which go with those of the
/// background: what they add to the sums is taken out (Fuller 1987, eq. 2.2.9). `None` where spots are too equal to tell.
pub(super) fn pedestal(spots: &[SpotFit<'_>], nodes: &[f64], last: f64) -> Option<Pedestal> {
    let used = || spots.iter().filter(|spot| spot.good);
    let count = used().count() as f64;
    let mean = used().map(|spot| spot.best().photons).sum::<f64>() / count;
    let rows: Vec<Row> = used()
        .map(|spot| {
            let [x, y] = spot.window.field;
            let (fit, t) = (spot.best(), along(spot.mean_place(nodes), last));
            let light = fit.photons / mean;
            let [variance, together] = fit.errors;
            Row {
                parts: [1.0, x, y, x * x, x * y, y * y, light, light * t, light * t * t],
                background: fit.background,
                error: [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, t, t * t],
                variance: variance / (mean * mean),
                together: together / mean,
            }
        })
        .collect();
    // Spots that are two, or shine for a part of a frame, are outliers here.
    let [_, spread] = middle_and_spread(rows.iter().map(|row| row.parts[FIELD]));
    let spread = spread.powi(2);
    let error = rows.iter().map(|row| row.variance).sum::<f64>() / count;
    if !(error > 0.0 && spread > LEAST_SPREAD * error && spread > LEAST_SPREAD_OF_ALL) {
        return None;
    }
    let mut found = [0.0; PARTS];
    let (mut limit, mut covariance) = (f64::INFINITY, [[0.0; PARTS]; PARTS]);
    for _ in 0..4 {
        let (mut information, mut right) = (Information::<PARTS>::NONE, [0.0; PARTS]);
        for row in &rows {
            let weight = limit / row.residual(&found).abs().max(limit);
            let weight = if weight.is_nan() { 1.0 } else { weight };
            information.add(&row.parts, weight);
            information.add(&row.error, -weight * row.variance);
            for (part, sum) in right.iter_mut().enumerate() {
                *sum +=
                    weight * (row.parts[part] * row.background - row.error[part] * row.together);
            }
        }
        information.ridge(1e-6 * count);
        covariance = inverse(&information)?;
        found = covariance.map(|row| row.iter().zip(&right).map(|(a, b)| a * b).sum());
        limit = HUBER * 1.4826 * median(rows.iter().map(|row| row.residual(&found).abs()));
    }
    let variance = (limit / (HUBER * mean)).powi(2);
    let part = |j: usize, k: usize| variance * covariance[FIELD + j][FIELD + k];
    Some(Pedestal {
        parts: [0, 1, 2].map(|part| found[FIELD + part] / mean),
        covariance: [0, 1, 2].map(|j| [0, 1, 2].map(|k| part(j, k))),
    })
}

/// A spot in the regression of backgrounds.
struct Row {
    parts: [f64; PARTS],
    background: f64,
    /// Which parts the error of the photons is in, its variance, and its covariance with the background's.
    error: [f64; PARTS],
    variance: f64,
    together: f64,
}

impl Row {
    fn residual(&self, found: &[f64; PARTS]) -> f64 {
        self.background
            - self.parts.iter().zip(found).map(|(part, found)| part * found).sum::<f64>()
    }
}

/// The coefficients in the annulus, with their distance from the centre.
fn annulus(extent: Extent) -> impl Iterator<Item = (usize, f64)> {
    let half = extent.half as f64;
    (0..extent.knots()).filter_map(move |place| {
        let [x, y] = at(extent, place);
        let r = x.hypot(y);
        (r > half - INNER && r <= half).then_some((place, r))
    })
}

/// Where a coefficient of a plane is, in pixels from the middle.
fn at(extent: Extent, place: usize) -> [f64; 2] {
    [place % extent.count(), place / extent.count()].map(|at| extent.place(at))
}

/// Those at its edge.
fn edge(extent: Extent) -> impl Iterator<Item = (usize, f64)> {
    annulus(extent).filter(move |&(_, r)| r > extent.half as f64 - EDGE)
}

/// Takes the slopes that a plane has in the annulus from all of it.
fn flatten(plane: &mut [f64], extent: Extent) {
    let (mut slopes, mut squares) = ([0.0; 2], [0.0; 2]);
    for (place, _) in annulus(extent) {
        let at = at(extent, place);
        for axis in 0..2 {
            slopes[axis] += at[axis] * plane[place];
            squares[axis] += at[axis] * at[axis];
        }
    }
    for (place, value) in plane.iter_mut().enumerate() {
        let at = at(extent, place);
        *value -= at[0] * slopes[0] / squares[0] + at[1] * slopes[1] / squares[1];
    }
}

/// What is lacking if the light at the edge of the annulus falls as that of most objectives does.
fn usual(plane: &[f64], extent: Extent) -> f64 {
    let (count, light) = edge(extent).fold((0.0, 0.0), |(count, light), (place, r)| {
        (count + 1.0, light + USUAL_TAIL * r.powi(-3) - plane[place])
    });
    light / count
}

/// a of a/r³ at the edge of the annulus: farther inside is light of spots that are out of focus.
pub(super) fn tail(plane: &[f64], extent: Extent) -> f64 {
    let sums = edge(extent).fold([0.0; 2], |[values, inverses], (place, r)| {
        [values + plane[place], inverses + r.powi(-3)]
    });
    sums[0] / sums[1]
}

/// The light in the pixels of the window: coefficients at its edge count half.
fn inside(plane: &[f64], extent: Extent) -> f64 {
    let share = |at: f64| (extent.half as f64 + 1.0 - at.abs()).clamp(0.0, 1.0);
    let all = plane.iter().enumerate();
    let of = |(place, value): (usize, &f64)| {
        let [x, y] = at(extent, place);
        share(x) * share(y) * value
    };
    all.map(of).sum()
}

/// ∫r⁻³ beyond these pixels.
fn beyond(extent: Extent) -> f64 {
    let half = extent.half as f64 + 0.5;
    // In an octant of the plane the edge is at half/cos φ, and ∫r⁻³·r dr = cos φ/half.
    8.0 * std::f64::consts::FRAC_1_SQRT_2 / half
}

/// The centre of the light near the middle, x and y.
fn centre(plane: &[f64], extent: Extent) -> [f64; 2] {
    let (mut sum, mut moments) = (0.0, [0.0; 2]);
    for (place, value) in plane.iter().enumerate() {
        let at = at(extent, place);
        if at[0].hypot(at[1]) < CENTRAL {
            sum += value;
            moments[0] += value * at[0];
            moments[1] += value * at[1];
        }
    }
    moments.map(|moment| if sum > 0.0 { (moment / sum).clamp(-1.0, 1.0) } else { 0.0 })
}

/// Moves a plane such that this place comes into the middle: cubics through four neighbours, along x and then along y.
fn shift(plane: &mut [f64], [x, y]: [f64; 2], count: usize) {
    let weights = |t: f64| {
        let (a, b, c) = (t + 1.0, t - 1.0, t - 2.0);
        [-t * b * c / 6.0, a * b * c / 2.0, -a * t * c / 2.0, a * t * b / 6.0]
    };
    for (step, by) in [(1, x), (count, y)] {
        let (whole, rest) = (by.floor(), by - by.floor());
        let own = weights(rest);
        let from = plane.to_vec();
        for (place, value) in plane.iter_mut().enumerate() {
            let (at, line) = if step == 1 {
                (place % count, place - place % count)
            } else {
                (place / count, place % count)
            };
            let of = |k: usize| {
                let at = at as f64 + whole + k as f64 - 1.0;
                from[line + at.clamp(0.0, (count - 1) as f64) as usize * step]
            };
            *value = (0..4).map(|k| own[k] * of(k)).sum();
        }
    }
}
