//! Emitters that are two.

use super::HOPE;
use crate::scene::Scene;
use crate::score::Effective;
use crate::spot::{Emission, Spot, clear_margin};
use crate::trial::Trial;

/// Directions in which an emitter is split.
const DIRECTIONS: usize = 12;
/// The least and the most distance of the halves from the middle, in σ.
const DISTANCES: [f64; 2] = [0.385, 1.23];

/// A spot whose height is fitted changes its widths. A direction in which that is nearly what the halves do is not looked in: less than
/// this share of its information is left.
const INDEPENDENT: f64 = 0.02;

/// The most significant direction of a split.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direction {
    /// The score in standard deviations.
    pub(crate) significance: f64,
    /// Cosine and sine.
    along: [f64; 2],
    /// The distance of the halves from the middle that the score expects, in pixels.
    distance: f64,
    /// The variance of the score, of noise and misfit.
    variance: f64,
}

/// The significance of splitting an emitter: two halves at ±δ·(c, s) are, to second order, the emitter plus
/// ½δ²·A·(c²·g_xx + 2cs·g_xy + s²·g_yy).
pub(crate) fn direction(scene: &Scene, trial: &mut Trial, number: usize) -> Option<Direction> {
    let Trial { score, equations, patch, .. } = trial;
    let setup = &scene.setup;
    let geometry = setup.geometry;
    let Spot { is, cell, corner, .. } = scene.spots[number];
    patch.resize(3 * geometry.size(), 0.0);
    let place = [is.x - f64::from(corner[0]), is.y - f64::from(corner[1])];
    setup.shape.second(cell, place, is.third, geometry, patch);
    for value in patch.iter_mut() {
        *value *= is.photons as f32;
    }
    clear_margin(patch, geometry);
    let found = score.of(scene, &mut equations.weighted, [is.x, is.y], (corner, patch), 3, None)?;
    let least = if setup.is_flat() { 0.0 } else { INDEPENDENT };
    best(&found, least, setup.apparent_moment(&is))
}

/// The best of the directions that keep this share of their information beside the nuisances. Misfit alone has second moments of this mean
/// square.
fn best(found: &Effective, least: f64, apparent: f64) -> Option<Direction> {
    let Effective { score, information, alone, .. } = found;
    let mut best: Option<Direction> = None;
    for k in 0..DIRECTIONS {
        let (s, c) = libm::sincos(k as f64 * core::f64::consts::PI / DIRECTIONS as f64);
        let q = [c * c, 2.0 * c * s, s * s];
        let (mut known, mut whole) = (0.0, 0.0);
        let mut expected = 0.0;
        for i in 0..3 {
            expected += q[i] * score[i];
            for j in 0..3 {
                known += q[i] * information[i][j] * q[j];
                whole += q[i] * alone[i][j] * q[j];
            }
        }
        if known.is_nan() || known <= least * whole {
            continue;
        }
        // The functions count ½δ², and the second moment of the halves is δ².
        let variance = 1.0 + known * 0.25 * apparent;
        let significance = expected / (known * variance).sqrt();
        if best.is_none_or(|best| significance > best.significance) {
            let distance = libm::sqrt(2.0 * (expected / known).max(0.0));
            best = Some(Direction { significance, along: [c, s], distance, variance });
        }
    }
    best
}

/// Splits emitters that changed, where that pays; returns how many.
pub(crate) fn split(scene: &mut Scene, trial: &mut Trial) -> usize {
    let room = scene.setup.room(scene.size[0] * scene.size[1]);
    let mut splits = 0;
    // Those that a split makes are asked in the next round.
    let changed: Vec<bool> = scene.spots.iter().map(|spot| spot.changed).collect();
    for spot in &mut scene.spots {
        spot.changed = false;
    }
    // From the last, so that a removal leaves the numbers of those before.
    for number in (0..changed.len()).rev() {
        if !changed[number] || scene.spots.len() >= room {
            continue;
        }
        let Some((halves, needed)) = halves(scene, trial, number) else { continue };
        if scene.setup.allows(&scene.spots, Some(number), &halves) {
            splits += usize::from(trial.attempt(scene, &[number], &halves, needed));
        }
    }
    splits
}

/// The two that an emitter hopes to be, and by how much the deviance must fall for them.
pub(crate) fn halves(
    scene: &mut Scene,
    trial: &mut Trial,
    number: usize,
) -> Option<([Emission; 2], f64)> {
    let found = direction(scene, trial, number)?;
    scene.spots[number].split = Some(found.significance);
    let needed = scene.setup.thresholds.split;
    if found.significance < HOPE * needed.sqrt() {
        return None;
    }
    let is = scene.spots[number].is;
    let sigma = scene.setup.sigma_of(&is);
    let [low, high] = DISTANCES.map(|distance| distance * sigma);
    let distance = found.distance.clamp(low, high);
    let [dx, dy] = found.along.map(|part| part * distance);
    let half = Emission { photons: 0.5 * is.photons, ..is };
    let halves = [
        Emission { x: is.x - dx, y: is.y - dy, ..half },
        Emission { x: is.x + dx, y: is.y + dy, ..half },
    ];
    Some((halves, needed * found.variance))
}
