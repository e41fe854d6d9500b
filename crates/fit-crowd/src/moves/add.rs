//! Emitters that the residuals show.

use super::HOPE;
use crate::maps::{Maps, Peak};
use crate::scene::Scene;
use crate::spot::{Emission, Spot};
use crate::trial::Trial;

/// Maxima of the residual's score are looked at from here on, in standard deviations.
pub(crate) const LEAST: f64 = 2.0;
/// An emitter whose light is that of its neighbours, but for this share of its information, is not tried.
const INDEPENDENT: f64 = 1e-3;
/// All planes are looked at where the first has this share of the significance that a trial needs.
const OTHER_PLANES: f64 = 0.6;
/// Emitters nearer than so many σ make a birth a split.
const NEAR: f64 = 2.0;

/// Adds emitters at maxima of the residuals' score; returns how many, and whether the region is full.
pub(crate) fn add(
    scene: &mut Scene,
    maps: &mut Maps,
    trial: &mut Trial,
    peaks: &mut Vec<Peak>,
) -> (usize, bool) {
    maps.of_residuals(scene);
    maps.peaks(scene, LEAST, peaks);
    let room = scene.setup.room(scene.size[0] * scene.size[1]);
    let mut added = 0;
    for peak in peaks.iter() {
        let Some((is, needed)) = candidate(scene, maps, trial, peak) else { continue };
        if scene.spots.len() >= room {
            return (added, true);
        }
        if scene.setup.allows(&scene.spots, None, &[is]) {
            added += usize::from(trial.attempt(scene, &[], &[is], needed));
        }
    }
    (added, false)
}

/// The emitter that a maximum hopes to be, and by how much the deviance must fall for it.
pub(crate) fn candidate(
    scene: &Scene,
    maps: &Maps,
    trial: &mut Trial,
    peak: &Peak,
) -> Option<(Emission, f64)> {
    let geometry = scene.setup.geometry;
    let near = (NEAR * scene.setup.sigma) * (NEAR * scene.setup.sigma);
    let [x, y] = [peak.x, peak.y].map(f64::from);
    let beside = scene.spots.iter().any(|spot| spot.distance2(x, y) < near);
    let thresholds = scene.setup.thresholds;
    let needed = if beside { thresholds.split } else { thresholds.birth };
    let hoped = HOPE * needed.sqrt();
    let (third, _) = maps.plane(peak.plane);
    let is = Emission { photons: 0.0, x, y, third };
    let corner = Spot::corner(&is, geometry);
    let apparent = scene.setup.apparent([x, y], scene.spots.iter());
    let mut best = None;
    let mut look = |plane: usize, best: &mut Option<(f64, f64, f64, f64)>| {
        let (third, patch) = maps.plane(plane);
        let weighted = &mut trial.equations.weighted;
        let found = trial.score.of(scene, weighted, [x, y], (corner, patch), 1, None);
        let Some(found) = found else { return };
        let information = found.information[0][0];
        let variance = 1.0 + information * apparent;
        let significance = found.score[0] / (information * variance).sqrt();
        let independent = information >= INDEPENDENT * found.plain;
        if independent && best.is_none_or(|(most, ..)| significance > most) {
            *best = Some((significance, found.score[0] / information, third, variance));
        }
    };
    look(peak.plane, &mut best);
    // The height may be another once the light of the neighbours is counted.
    if best.is_some_and(|(significance, ..)| significance >= OTHER_PLANES * hoped) {
        for plane in (0..maps.planes()).filter(|&plane| plane != peak.plane) {
            look(plane, &mut best);
        }
    }
    let (_, photons, third, variance) = best.filter(|&(significance, ..)| significance >= hoped)?;
    Some((Emission { photons, third, ..is }, needed * variance))
}
