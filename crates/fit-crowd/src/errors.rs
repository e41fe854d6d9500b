//! Stated errors: the bound of Cramér and Rao of the joint fit, and for places what spots show that are not quite their image.

use fit_core::Status;

use crate::emitter::{Emitter, EmitterErrors};
use crate::moves::split::direction;
use crate::sandwich::factors;
use crate::scene::Scene;
use crate::setup::Third;
use crate::spot::Spot;
use crate::system::{BLOCK, Inverse};
use crate::trial::Trial;

/// Reports the emitters of a scene whose model is evaluated, in the coordinates of the frame.
pub(crate) fn report(
    scene: &mut Scene,
    trial: &mut Trial,
    origin: [usize; 2],
    into: &mut Vec<Emitter>,
) {
    let first = into.len();
    scores(scene, trial, into);
    for emitter in &mut into[first..] {
        emitter.x += origin[0] as f64;
        emitter.y += origin[1] as f64;
    }
}

fn scores(scene: &mut Scene, trial: &mut Trial, into: &mut Vec<Emitter>) {
    // All that patches share: information that lacks a part of it states errors that are none.
    scene.assemble(scene.setup.whole_coupling());
    if !(scene.equations.system.factorize(0.0) || scene.equations.system.factorize(1e-6)) {
        // Something is free that no pixel shows: errors without end.
        for number in 0..scene.spots.len() {
            let errors = EmitterErrors {
                x: f64::INFINITY,
                y: f64::INFINITY,
                photons: f64::INFINITY,
                sigma: if scene.setup.third == Third::Width { f64::INFINITY } else { 0.0 },
                z: if scene.setup.is_flat() { 0.0 } else { f64::INFINITY },
                background: f64::INFINITY,
                of_photons_and_sigma: 0.0,
            };
            into.push(emitter(scene, trial, number, errors));
        }
        return;
    }
    let system = core::mem::take(&mut scene.equations.system);
    let inverse = system.invert();
    for number in 0..scene.spots.len() {
        let errors = errors(scene, &inverse, number, &mut trial.patch);
        into.push(emitter(scene, trial, number, errors));
    }
    scene.equations.system = system;
}

fn errors(
    scene: &Scene,
    inverse: &Inverse<'_>,
    number: usize,
    patch: &mut Vec<f32>,
) -> EmitterErrors {
    let error = |i: usize| inverse.entry(number, i, number, i).max(0.0).sqrt();
    let [by_x, by_y] = factors(scene, number, patch);
    EmitterErrors {
        photons: error(0),
        x: by_x * error(1),
        y: by_y * error(2),
        sigma: if scene.setup.third == Third::Width { error(3) } else { 0.0 },
        z: if scene.setup.is_flat() { 0.0 } else { error(3) },
        background: background_error(scene, inverse, number),
        of_photons_and_sigma: match scene.setup.third {
            Third::Width => inverse.entry(number, 3, number, 0),
            _ => 0.0,
        },
    }
}

/// The pixel of memory that an emitter is at, within the region.
fn pixel(scene: &Scene, number: usize) -> [usize; 2] {
    let Spot { is, .. } = &scene.spots[number];
    let [x, y] = [(is.x, 0), (is.y, 1)]
        .map(|(at, axis)| libm::round(at).clamp(0.0, (scene.size[axis] - 1) as f64) as i32);
    [(x - scene.field.left) as usize, (y - scene.field.top) as usize]
}

fn background_error(scene: &Scene, inverse: &Inverse<'_>, number: usize) -> f64 {
    let [column, row] = pixel(scene, number);
    let shares = scene.background.shares(column, row);
    let first = scene.spots.len();
    let mut variance = 0.0;
    for (a, share) in shares {
        for (b, other) in shares {
            let (late, early) = (a.max(b), a.min(b));
            let entry = inverse.entry(
                first + late / BLOCK,
                late % BLOCK,
                first + early / BLOCK,
                early % BLOCK,
            );
            variance += share * other * entry;
        }
    }
    variance.max(0.0).sqrt()
}

fn emitter(scene: &Scene, trial: &mut Trial, number: usize, errors: EmitterErrors) -> Emitter {
    let Spot { is, cell, settled, .. } = scene.spots[number];
    let reach = scene.setup.nuisance() * scene.setup.nuisance();
    let around = scene.spots.iter().filter(|spot| spot.distance2(is.x, is.y) < reach).count() - 1;
    let [column, row] = pixel(scene, number);
    let significance = scene.spots[number].split.unwrap_or_else(|| {
        let split = direction(scene, trial, number);
        split.map_or(0.0, |direction| direction.significance)
    });
    let [sigma_x, sigma_y] = scene.setup.shape.widths(cell, is.third);
    let sigma = if sigma_x == sigma_y { sigma_x } else { (sigma_x * sigma_y).sqrt() };
    Emitter {
        x: is.x,
        y: is.y,
        photons: is.photons,
        sigma,
        sigma_x,
        sigma_y,
        z: if scene.setup.is_flat() { 0.0 } else { is.third },
        background: scene.background.value(column, row),
        errors,
        // Not all of the frame's emitters are known here.
        neighbour: f64::INFINITY,
        crowd: crowded(significance, around),
        goodness: goodness(scene, number, sigma),
        status: if settled { Status::MinDelta } else { Status::MaxIterations },
    }
}

/// The significance of a split, in standard deviations, from which an emitter alone may be two.
const ALONE: f64 = 1.95;
/// By how much less that is for each emitter around: the more there are, the likelier is one more.
const FOR_EACH: f64 = 0.28;

/// Whether there may be more emitters than were told.
fn crowded(significance: f64, around: usize) -> bool {
    significance + FOR_EACH * around as f64 > ALONE
}

/// χ² per pixel within 2σ of an emitter.
fn goodness(scene: &Scene, number: usize, sigma: f64) -> f64 {
    let Spot { is, .. } = &scene.spots[number];
    let field = &scene.field;
    let reach = libm::round(2.0 * sigma).clamp(1.0, scene.setup.geometry.half as f64) as i32;
    let [x, y] = [is.x, is.y].map(|at| libm::round(at) as i32);
    let (mut sum, mut count) = (0.0, 0.0);
    for y in y - reach..=y + reach {
        for x in x - reach..=x + reach {
            let at = field.at(x, y);
            let residual = f64::from(field.residual[at]);
            sum += residual * residual * f64::from(field.model[at]);
            count += f64::from(field.mask[at]);
        }
    }
    if count > 0.0 { sum / count } else { 0.0 }
}
