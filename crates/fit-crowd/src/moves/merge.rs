//! Emitters that do not pay.

use crate::scene::Scene;
use crate::spot::Emission;
use crate::trial::Trial;

/// Pairs nearer than so many σ may be one.
const NEAR: f64 = 1.6;
/// An emitter is weak below so many times √T, in standard deviations.
const WEAK: f64 = 2.0;

/// Merges pairs and deletes weak emitters where that costs less than they must bring; returns how many went.
pub(crate) fn merge(scene: &mut Scene, trial: &mut Trial) -> usize {
    pairs(scene, trial) + weak(scene, trial)
}

/// The variance of an emitter's score, of noise and of the misfit of the others.
fn variance(scene: &Scene, trial: &mut Trial, number: usize) -> f64 {
    let spot = &scene.spots[number];
    let others = scene.spots.iter().enumerate().filter(|&(at, _)| at != number);
    let place = [spot.is.x, spot.is.y];
    let apparent = scene.setup.apparent(place, others.map(|(_, spot)| spot));
    if apparent == 0.0 {
        return 1.0;
    }
    let weighted = &mut trial.equations.weighted;
    let found = trial.score.of(scene, weighted, place, (spot.corner, &spot.patch), 1, Some(number));
    1.0 + found.map_or(0.0, |found| found.information[0][0]) * apparent
}

fn pairs(scene: &mut Scene, trial: &mut Trial) -> usize {
    let near = NEAR * scene.setup.sigma;
    let needed = -scene.setup.thresholds.split;
    let mut pairs: Vec<(f64, [f64; 2], [f64; 2])> = Vec::new();
    for (number, spot) in scene.spots.iter().enumerate() {
        for other in &scene.spots[number + 1..] {
            let distance = spot.distance2(other.is.x, other.is.y);
            if distance < near * near {
                pairs.push((distance, [spot.is.x, spot.is.y], [other.is.x, other.is.y]));
            }
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut merged = 0;
    for (_, one, other) in pairs {
        // Both are still where they were, or have moved with a neighbour's merging.
        let find = |place: [f64; 2], not: Option<usize>| {
            let spots = scene.spots.iter().enumerate();
            let near = spots.filter(|&(number, _)| Some(number) != not);
            let distances = near.map(|(number, spot)| (spot.distance2(place[0], place[1]), number));
            distances.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|found| found.0 < 0.25)
        };
        let Some((_, first)) = find(one, None) else { continue };
        let Some((_, second)) = find(other, Some(first)) else { continue };
        let (a, b) = (scene.spots[first].is, scene.spots[second].is);
        let photons = a.photons + b.photons;
        let mean = |one: f64, other: f64| (a.photons * one + b.photons * other) / photons;
        let both = Emission {
            photons,
            x: mean(a.x, b.x),
            y: mean(a.y, b.y),
            third: mean(a.third, b.third),
        };
        let removed = [first.min(second), first.max(second)];
        let dimmer = if a.photons < b.photons { first } else { second };
        let needed = needed * variance(scene, trial, dimmer);
        merged += usize::from(trial.attempt(scene, &removed, &[both], needed));
    }
    merged
}

fn weak(scene: &mut Scene, trial: &mut Trial) -> usize {
    let threshold = scene.setup.thresholds.birth;
    let mut deleted = 0;
    let mut number = scene.spots.len();
    while number > 0 {
        number -= 1;
        let spot = &scene.spots[number];
        let functions = 1;
        trial.equations.weighted.weigh(&scene.field, spot.corner, &spot.patch, functions);
        let own = trial.equations.weighted.with(spot.corner, &spot.patch, functions)[0][0];
        let variance = variance(scene, trial, number);
        if scene.spots[number].is.photons * own.sqrt() < WEAK * (threshold * variance).sqrt() {
            deleted += usize::from(trial.attempt(scene, &[number], &[], -threshold * variance));
        }
    }
    deleted
}
