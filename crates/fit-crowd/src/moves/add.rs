//! Emitters that the residuals show.

use super::HOPE;
use crate::maps::{Maps, Peak};
use crate::patch::Shape;
use crate::scene::Scene;
use crate::score::Score;
use crate::spot::{Emission, Spot, clear_margin};
use crate::trial::Trial;

/// Maxima of the residual's score are looked at from here on, in standard deviations.
const LEAST: f64 = 2.0;
/// An emitter whose light is that of its neighbours, but for this share of its information, is not tried.
const INDEPENDENT: f64 = 1e-3;
/// Emitters nearer than so many σ make a birth a split.
const NEAR: f64 = 2.0;

/// Adds emitters at maxima of the residuals' score; returns how many, and whether the region is full.
pub(crate) fn add(
    scene: &mut Scene,
    maps: &mut Maps,
    score: &mut Score,
    trial: &mut Trial,
    peaks: &mut Vec<Peak>,
) -> (usize, bool) {
    let setup = scene.setup;
    let geometry = setup.geometry;
    maps.of_residuals(scene);
    maps.peaks(scene, LEAST, peaks);
    let mut patch = vec![0.0; 3 * geometry.size()];
    setup.shape.functions([geometry.half as f64; 2], setup.sigma, false, geometry, &mut patch);
    clear_margin(&mut patch, geometry);
    let room = setup.room(scene.size[0] * scene.size[1]);
    let mut added = 0;
    for peak in peaks.iter() {
        let [x, y] = [peak.x, peak.y].map(f64::from);
        let near = (NEAR * setup.sigma) * (NEAR * setup.sigma);
        let beside = scene.spots.iter().any(|spot| spot.distance2(x, y) < near);
        let needed = if beside { setup.thresholds.split } else { setup.thresholds.birth };
        let mut is = Emission { photons: 0.0, x, y, sigma: setup.sigma };
        let corner = Spot::corner(&is, geometry);
        let found = score.of(scene, &mut trial.equations.weighted, [x, y], corner, &patch, 1);
        let Some(found) = found else { continue };
        let information = found.information[0][0];
        if information < INDEPENDENT * found.plain {
            continue;
        }
        let significance = found.score[0] / information.sqrt();
        if significance < HOPE * needed.sqrt() {
            continue;
        }
        if scene.spots.len() >= room {
            return (added, true);
        }
        is.photons = found.score[0] / information;
        added += usize::from(trial.attempt(scene, &[], &[is], needed));
    }
    (added, false)
}
