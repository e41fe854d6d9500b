//! A scene whose windows hold no more emitters than they may.

use super::{add, split};
use crate::limit::WindowLimit;
use crate::maps::Maps;
use crate::scene::{Scene, TOLERANCE};
use crate::spot::Emission;
use crate::trial::Trial;

/// How often what is left is fitted after emitters were taken away.
const PASSES: usize = 3;
/// The most iterations of everything each time.
const ITERATIONS: usize = 30;

/// Takes the surplus of a scene away and fits what is left. Returns where it was, and whether the fit is finished: nothing if all may
/// stay.
pub(crate) fn enforce(limit: &WindowLimit, scene: &mut Scene) -> Option<(Vec<[f64; 2]>, bool)> {
    let (mut gone, mut settled) = (Vec::new(), true);
    for pass in 0..=PASSES {
        let places = scene.spots.iter().map(|spot| [spot.is.x, spot.is.y, spot.is.photons]);
        let surplus = limit.surplus(&places.collect::<Vec<_>>());
        if surplus.is_empty() {
            break;
        }
        for &number in surplus.iter().rev() {
            let spot = scene.spots.remove(number);
            gone.push([spot.is.x, spot.is.y]);
            scene.spare.push(spot.patch);
        }
        scene.render();
        // What moves together again goes without.
        settled = pass < PASSES && (0..ITERATIONS).any(|_| scene.iterate() < TOLERANCE);
    }
    (!gone.is_empty()).then_some((gone, settled))
}

/// The places where one emitter more would pay, and finds no room.
pub(crate) fn wanted(scene: &mut Scene, maps: &mut Maps, trial: &mut Trial) -> Vec<[f64; 2]> {
    let mut places = Vec::new();
    for number in 0..scene.spots.len() {
        let halves = split::halves(scene, trial, number);
        let Some((halves, needed)) = halves else { continue };
        let Emission { x, y, .. } = scene.spots[number].is;
        if !scene.setup.allows(&scene.spots, Some(number), &halves)
            && trial.pays(scene, &[number], &halves, needed)
        {
            places.push([x, y]);
        }
    }
    let mut peaks = Vec::new();
    maps.of_residuals(scene);
    maps.peaks(scene, add::LEAST, &mut peaks);
    for peak in &peaks {
        let Some((is, needed)) = add::candidate(scene, maps, trial, peak) else {
            continue;
        };
        if !scene.setup.allows(&scene.spots, None, &[is]) && trial.pays(scene, &[], &[is], needed) {
            places.push([is.x, is.y]);
        }
    }
    places
}
