//! The joint fit beside explicit, dense arithmetic.

use fit_core::Status;

use crate::emitter::EmitterErrors;
use crate::errors::report;
use crate::frame::{CrowdFrame, ReadVariance};
use crate::heights::WidthCurve;
use crate::options::{CrowdOptions, EmitterImage};
use crate::rect::Rect;
use crate::scene::Scene;
use crate::score::Score;
use crate::setup::Setup;
use crate::spot::Emission;
use crate::system::BLOCK;
use crate::trial::Trial;

const SIZE: [usize; 2] = [26, 23];

/// Widths that follow the height.
fn curve() -> EmitterImage {
    let widths = |z: f64| [1.25 + 0.3 * z + 0.1 * z * z, 1.25 - 0.3 * z + 0.1 * z * z];
    EmitterImage::Astigmatic(WidthCurve::through([-1.0, 1.0], widths).unwrap())
}

/// Three emitters, two of them near each other, and one at an edge, on a slope with a masked pixel.
fn scene(shape: EmitterImage, integrated: bool) -> Scene {
    let deep = matches!(shape, EmitterImage::Astigmatic(_));
    let options = CrowdOptions::default().with_shape(shape).with_integrated(integrated);
    let mut scene = Scene::new(Setup::new(&options));
    scene.resize(SIZE);
    let number = |i: usize, of: usize| ((i * 7919 + 13) % of) as f32;
    let mut pixels: Vec<f32> = (0..SIZE[0] * SIZE[1]).map(|i| 20.0 + number(i, 41)).collect();
    pixels[9 * SIZE[0] + 11] = f32::NAN;
    let variances: Vec<f32> = (0..pixels.len()).map(|i| 1.0 + number(i, 5)).collect();
    let variance = ReadVariance::Each(&variances);
    let frame = CrowdFrame::new(SIZE[0], SIZE[1], &pixels, variance).unwrap();
    let rect = Rect { origin: [0, 0], size: SIZE };
    scene.field.take(&frame, rect, &mut scene.variance);
    scene.floor = 1.0;
    for (node, value) in scene.background.values.iter_mut().enumerate() {
        *value = 15.0 + 3.0 * node as f64;
    }
    for (photons, x, y) in [(900.0, 10.2, 8.8), (600.0, 12.3, 10.1), (700.0, 23.7, 14.2)] {
        let spot = scene.spot(Emission { photons, x, y, third: if deep { -0.2 } else { 1.25 } });
        scene.spots.push(spot);
    }
    scene.render();
    scene
}

/// All parameters, one after the other, each with a step for differences.
fn parameters(scene: &Scene) -> Vec<(usize, usize, f64)> {
    let functions = scene.setup.functions;
    let of_spots = (0..scene.spots.len()).flat_map(|spot| {
        let steps = [5.0, 0.02, 0.02, 0.02];
        (0..functions).map(move |i| (spot, i, steps[i]))
    });
    let first = scene.spots.len();
    let nodes = 0..scene.background.nodes();
    of_spots.chain(nodes.map(|node| (first + node / BLOCK, node % BLOCK, 0.5))).collect()
}

/// The scene with one parameter moved.
fn moved(scene: &Scene, (block, i, _): (usize, usize, f64), by: f64) -> Scene {
    let mut other = scene.clone();
    if let Some(spot) = other.spots.get_mut(block) {
        let is = &mut spot.is;
        *[&mut is.photons, &mut is.x, &mut is.y, &mut is.third][i] += by;
        spot.draw(&scene.setup);
    } else {
        let node = (block - scene.spots.len()) * BLOCK + i;
        other.background.values[node] += by;
    }
    other.render();
    other
}

/// The derivative of the model in each parameter, by differences.
fn jacobian(scene: &Scene) -> Vec<Vec<f64>> {
    let slope = |parameter: (usize, usize, f64)| {
        let step = parameter.2;
        let (plus, minus) = (moved(scene, parameter, step), moved(scene, parameter, -step));
        let both = plus.field.model.iter().zip(&minus.field.model);
        both.map(|(a, b)| f64::from(a - b) / (2.0 * step)).collect()
    };
    parameters(scene).into_iter().map(slope).collect()
}

/// The information of all parameters, by sums over all pixels.
fn information(scene: &Scene, jacobian: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let weight = &scene.field.weight;
    let sum = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).zip(weight).map(|((a, b), &w)| a * b * f64::from(w)).sum()
    };
    jacobian.iter().map(|a| jacobian.iter().map(|b| sum(a, b)).collect()).collect()
}

/// Proves that score and information of emitters and nodes are the explicit sums over pixels of derivatives by differences, and
/// that the score is half the slope of the deviance.
#[test]
fn equations_are_explicit_sums() {
    let free = EmitterImage::Free { start: 1.2 };
    for (shape, integrated) in [
        (EmitterImage::Fixed(1.2), false),
        (EmitterImage::FixedAxes([1.1, 1.4]), true),
        (free.clone(), false),
        (free, true),
        (curve(), false),
        (curve(), true),
    ] {
        let mut scene = scene(shape, integrated);
        let jacobian = jacobian(&scene);
        let dense = information(&scene, &jacobian);
        let all = parameters(&scene);
        scene.assemble(scene.setup.whole_coupling());
        for (a, &(block, i, step)) in all.iter().enumerate() {
            let score = scene.equations.system.right[block * BLOCK + i];
            let residual = scene.field.residual.iter();
            let explicit: f64 = residual.zip(&jacobian[a]).map(|(&r, f)| f64::from(r) * f).sum();
            let root = dense[a][a].sqrt();
            assert!(
                (score - explicit).abs() < 0.01 * root,
                "score {block} {i}: {score}, {explicit}"
            );
            let deviance = |by: f64| moved(&scene, (block, i, step), by).deviance;
            let slope = (deviance(-step) - deviance(step)) / (4.0 * step);
            assert!((score - slope).abs() < 0.02 * root, "slope {block} {i}: {score}, {slope}");
            for (b, &(other, j, _)) in all[..=a].iter().enumerate() {
                let couples = scene.equations.system.couples(block, other);
                let found =
                    if couples { *scene.equations.system.entry(block, i, other, j) } else { 0.0 };
                let scale = (dense[a][a] * dense[b][b]).sqrt();
                let off = (found - dense[a][b]).abs();
                assert!(off < 2e-3 * scale, "{block} {i}, {other} {j}: {found}, {}", dense[a][b]);
            }
        }
    }
}

/// Proves that the errors stated are the roots of the diagonal of the inverse of the explicit information.
#[test]
fn errors_are_of_the_dense_inverse() {
    assert_errors(scene(EmitterImage::Free { start: 1.2 }, false), |errors| errors.sigma);
    assert_errors(scene(curve(), false), |errors| errors.z);
}

fn assert_errors(mut scene: Scene, third: impl Fn(&EmitterErrors) -> f64) {
    let dense = inverse(information(&scene, &jacobian(&scene)));
    let (mut score, mut trial) = (Score::default(), Trial::new(&scene));
    let mut emitters = Vec::new();
    let status = Status::MinDelta;
    report(&mut scene, &mut score, &mut trial, &mut Vec::new(), status, [0, 0], &mut emitters);
    for (number, emitter) in emitters.iter().enumerate() {
        let errors = &emitter.errors;
        let found = [errors.photons, errors.x, errors.y, third(errors)];
        for (i, found) in found.into_iter().enumerate() {
            let expected = dense[4 * number + i][4 * number + i].sqrt();
            assert!((found / expected - 1.0).abs() < 0.01, "{number}, {i}: {found}, {expected}");
        }
        let (column, row) = (emitter.x.round() as i32, emitter.y.round() as i32);
        let at = [column - scene.field.left, row - scene.field.top].map(|at| at as usize);
        let mut variance = 0.0;
        for (a, share) in scene.background.shares(at[0], at[1]) {
            for (b, other) in scene.background.shares(at[0], at[1]) {
                variance += share * other * dense[12 + a][12 + b];
            }
        }
        assert!((errors.background / variance.sqrt() - 1.0).abs() < 0.01, "{number}");
    }
}

/// Gauss and Jordan's.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let unit = |i: usize| (0..size).map(|j| f64::from(u8::from(i == j))).collect();
    let mut inverse: Vec<Vec<f64>> = (0..size).map(unit).collect();
    for column in 0..size {
        let pivot = matrix[column][column];
        for j in 0..size {
            matrix[column][j] /= pivot;
            inverse[column][j] /= pivot;
        }
        for i in (0..size).filter(|&i| i != column) {
            let factor = matrix[i][column];
            for j in 0..size {
                matrix[i][j] -= factor * matrix[column][j];
                inverse[i][j] -= factor * inverse[column][j];
            }
        }
    }
    inverse
}

/// Proves that an iteration of everything lowers the deviance until the score vanishes.
#[test]
fn iterations_end_at_the_minimum() {
    let mut scene = scene(EmitterImage::Fixed(1.2), false);
    let mut last = scene.deviance;
    for _ in 0..60 {
        let gain = scene.iterate();
        assert!(gain >= 0.0 && (last - gain - scene.deviance).abs() < 1e-6);
        last = scene.deviance;
    }
    scene.assemble(scene.setup.whole_coupling());
    for block in 0..scene.spots.len() {
        // An emitter whose place is at its limit, or whose light vanishes, is not at a minimum.
        if scene.spots[block].is.photons > 50.0 {
            for i in 0..3 {
                let information = *scene.equations.system.entry(block, i, block, i);
                let score = scene.equations.system.right[block * BLOCK + i] / information.sqrt();
                assert!(score.abs() < 0.05, "{block}, {i}: {score}");
            }
        }
    }
}
