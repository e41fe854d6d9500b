//! The joint fit beside explicit, dense arithmetic.

use fit_crowd::internals::{BLOCK, JointFit};
use fit_crowd::{CrowdFrame, CrowdOptions, EmitterErrors, EmitterImage, ReadVariance, WidthCurve};

const SIZE: [usize; 2] = [26, 23];

/// Widths that follow the height.
fn curve() -> EmitterImage {
    let widths = |z: f64| [1.25 + 0.3 * z + 0.1 * z * z, 1.25 - 0.3 * z + 0.1 * z * z];
    EmitterImage::Astigmatic(WidthCurve::through([-1.0, 1.0], widths).unwrap())
}

/// Three emitters, two of them near each other, and one at an edge, on a slope with a masked pixel.
fn scene(shape: EmitterImage, integrated: bool) -> JointFit {
    let deep = matches!(shape, EmitterImage::Astigmatic(_));
    let options = CrowdOptions::default().with_shape(shape).with_integrated(integrated);
    let number = |i: usize, of: usize| ((i * 7919 + 13) % of) as f32;
    let mut pixels: Vec<f32> = (0..SIZE[0] * SIZE[1]).map(|i| 20.0 + number(i, 41)).collect();
    pixels[9 * SIZE[0] + 11] = f32::NAN;
    let variances: Vec<f32> = (0..pixels.len()).map(|i| 1.0 + number(i, 5)).collect();
    let variance = ReadVariance::Each(&variances);
    let frame = CrowdFrame::new(SIZE[0], SIZE[1], &pixels, variance).unwrap();
    let third = if deep { -0.2 } else { 1.25 };
    let spots = [[900.0, 10.2, 8.8], [600.0, 12.3, 10.1], [700.0, 23.7, 14.2]];
    let spots = spots.map(|[photons, x, y]| [photons, x, y, third]);
    JointFit::new(&frame, &options, |node| 15.0 + 3.0 * node as f64, &spots)
}

/// All parameters, one after the other, each with a step for differences.
fn parameters(scene: &JointFit) -> Vec<(usize, usize, f64)> {
    let functions = scene.functions();
    let of_spots = (0..scene.spots()).flat_map(|spot| {
        let steps = [5.0, 0.02, 0.02, 0.02];
        (0..functions).map(move |i| (spot, i, steps[i]))
    });
    let first = scene.spots();
    let nodes = 0..scene.nodes();
    of_spots.chain(nodes.map(|node| (first + node / BLOCK, node % BLOCK, 0.5))).collect()
}

/// The derivative of the model in each parameter, by differences.
fn jacobian(scene: &JointFit) -> Vec<Vec<f64>> {
    let slope = |parameter: (usize, usize, f64)| {
        let (block, i, step) = parameter;
        let (plus, minus) = (scene.moved(block, i, step), scene.moved(block, i, -step));
        let both = plus.model().iter().zip(minus.model());
        both.map(|(a, b)| f64::from(a - b) / (2.0 * step)).collect()
    };
    parameters(scene).into_iter().map(slope).collect()
}

/// The information of all parameters, by sums over all pixels.
fn information(scene: &JointFit, jacobian: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let weight = scene.weight();
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
        scene.assemble();
        for (a, &(block, i, step)) in all.iter().enumerate() {
            let score = scene.right(block, i);
            let residual = scene.residual().iter();
            let explicit: f64 = residual.zip(&jacobian[a]).map(|(&r, f)| f64::from(r) * f).sum();
            let root = dense[a][a].sqrt();
            assert!(
                (score - explicit).abs() < 0.01 * root,
                "score {block} {i}: {score}, {explicit}"
            );
            let deviance = |by: f64| scene.moved(block, i, by).deviance();
            let slope = (deviance(-step) - deviance(step)) / (4.0 * step);
            assert!((score - slope).abs() < 0.02 * root, "slope {block} {i}: {score}, {slope}");
            for (b, &(other, j, _)) in all[..=a].iter().enumerate() {
                let found = scene.entry(block, i, other, j);
                let scale = (dense[a][a] * dense[b][b]).sqrt();
                let off = (found - dense[a][b]).abs();
                assert!(off < 2e-3 * scale, "{block} {i}, {other} {j}: {found}, {}", dense[a][b]);
            }
        }
    }
}

/// √(J·I)/H of a parameter, by sums over all pixels of differences.
fn sandwich(scene: &JointFit, (block, i, step): (usize, usize, f64)) -> f64 {
    let [plus, minus] = [step, -step].map(|step| scene.moved(block, i, step));
    let both = plus.model().iter().zip(scene.model()).zip(minus.model());
    let rests = scene.weight().iter().zip(scene.residual());
    let (mut information, mut variance, mut curvature) = (0.0, 0.0, 0.0);
    for (((&plus, &here), &minus), (&weight, &rest)) in both.zip(rests) {
        let [plus, here, minus, weight, rest] = [plus, here, minus, weight, rest].map(f64::from);
        let counts = f64::from(weight > 0.0);
        let slope = (plus - minus) / (2.0 * step);
        let bend = (plus - 2.0 * here + minus) / (step * step);
        information += slope * slope * weight;
        variance += slope * slope * weight * (rest + counts);
        curvature += slope * slope * weight * (rest + counts) - rest * bend;
    }
    (f64::sqrt(variance * information) / f64::max(curvature, 0.2 * information)).clamp(0.5, 3.0)
}

/// Proves that the errors stated are the roots of the diagonal of the inverse of the explicit information, and those of places as many times
/// that as the pixels say.
#[test]
fn errors_are_of_the_dense_inverse() {
    assert_errors(scene(EmitterImage::Free { start: 1.2 }, false), |errors| errors.sigma);
    assert_errors(scene(curve(), false), |errors| errors.z);
}

fn assert_errors(mut scene: JointFit, third: impl Fn(&EmitterErrors) -> f64) {
    let dense = inverse(information(&scene, &jacobian(&scene)));
    for (number, emitter) in scene.emitters().iter().enumerate() {
        let errors = &emitter.errors;
        let found = [errors.photons, errors.x, errors.y, third(errors)];
        for (i, found) in found.into_iter().enumerate() {
            let of_places = (1..3).contains(&i).then(|| sandwich(&scene, (number, i, 0.1)));
            let expected = dense[4 * number + i][4 * number + i].sqrt() * of_places.unwrap_or(1.0);
            assert!((found / expected - 1.0).abs() < 0.01, "{number}, {i}: {found}, {expected}");
        }
        let (column, row) = (emitter.x.round() as i32, emitter.y.round() as i32);
        let mut variance = 0.0;
        for (a, share) in scene.shares(column, row) {
            for (b, other) in scene.shares(column, row) {
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
    let mut last = scene.deviance();
    for _ in 0..60 {
        let gain = scene.iterate();
        assert!(gain >= 0.0 && (last - gain - scene.deviance()).abs() < 1e-6);
        last = scene.deviance();
    }
    scene.assemble();
    for block in 0..scene.spots() {
        // An emitter whose place is at its limit, or whose light vanishes, is not at a minimum.
        if scene.photons(block) > 50.0 {
            for i in 0..3 {
                let score = scene.right(block, i) / scene.entry(block, i, block, i).sqrt();
                assert!(score.abs() < 0.05, "{block}, {i}: {score}");
            }
        }
    }
}
