use std::sync::Arc;

use fit_core::Camera;
use fit_sim::{MovieSimulation, MovieTruth, Objective, PupilPsf, Random, SimulatedPsf, Zernike};

use crate::localize::{Emitters, Localization, LocalizeOptions, Localizer, Sigma};
use crate::movie::{Block, Pixels};

use super::*;

/// Spots of an objective within ±range nm, of log-normal photons, over a background with slopes; with their heights.
fn spots(psf: &PupilPsf, count: usize, range: f64, seed: u64) -> (Vec<SpotWindow>, Vec<f64>) {
    let mut random = Random::new(seed, 0);
    let mut heights = Vec::new();
    let mut windows: Vec<SpotWindow> = (0..count)
        .map(|_| {
            let z = random.uniform_in(-range, range);
            heights.push(z);
            let place = [0, 1].map(|_| random.uniform_in(-0.5, 0.5));
            let photons = 1500.0 * (0.6 * random.normal() - 0.18).exp();
            let slopes = [0, 1].map(|_| random.uniform_in(-0.5, 0.5));
            let light = |pixel: usize| {
                let [dx, dy] = [pixel % SIDE, pixel / SIDE].map(|at| at as f64 - HALF as f64);
                let behind = 30.0 + slopes[0] * dx + slopes[1] * dy;
                behind + photons * psf.share(dx - place[0], dy - place[1], z)
            };
            let means: Vec<f64> = (0..SIDE * SIDE).map(light).collect();
            let pixels = means.iter().map(|&mean| random.poisson(mean) + 1.5 * random.normal());
            SpotWindow {
                pixels: pixels.collect(),
                others: vec![0.0; SIDE * SIDE],
                counts: vec![true; SIDE * SIDE],
                read_noise: 2.25,
                place: place.map(|at| at + 0.1 * random.normal()),
                photons: 0.75 * photons,
                background: 31.0,
                order: 0.0,
                sigma: 1.3,
                field: [0.0; 2],
            }
        })
        .collect();
    // What widths tell of the height is rough.
    let keys: Vec<f64> = heights.iter().map(|z| z + 60.0 * random.normal()).collect();
    let mut ranks: Vec<usize> = (0..count).collect();
    ranks.sort_by(|&a, &b| keys[a].total_cmp(&keys[b]));
    for (rank, spot) in ranks.into_iter().enumerate() {
        windows[spot].order = rank as f64 / (count - 1) as f64;
    }
    (windows, heights)
}

/// Proves that a family learnt from noisy spots has the light of the objective that they were seen with, and their order along the axis.
#[test]
fn spots_tell_their_psf() {
    let zernike = vec![Zernike::new(4, 0, 0.04), Zernike::new(2, 2, 0.05)];
    let objective = Objective::default().with_zernike(zernike);
    let psf = PupilPsf::new(&objective, 100.0, 300.0).expect("sound");
    let (windows, heights) = spots(&psf, 400, 200.0, 7);
    let learnt = learn(&windows, 6, 8, None);
    let mut sorted = learnt.deviances.clone();
    sorted.sort_by(f64::total_cmp);
    assert!((0.9..1.05).contains(&sorted[200]), "{}", sorted[200]);
    let good = learnt.good.iter().filter(|&&good| good).count();
    assert!(good > 380, "{good}");
    // Spearman's correlation of place and height.
    let rank = |values: &[f64]| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mut ranks = vec![0.0; values.len()];
        order.into_iter().enumerate().for_each(|(rank, at)| ranks[at] = rank as f64);
        ranks
    };
    let (a, b) = (rank(&learnt.places), rank(&heights));
    let mean = 199.5;
    let both: f64 = a.iter().zip(&b).map(|(a, b)| (a - mean) * (b - mean)).sum();
    let square: f64 = a.iter().map(|a| (a - mean) * (a - mean)).sum();
    assert!(both / square > 0.85, "{}", both / square);
    let mut patch = crate::psf::lattice::Patch::default();
    let mut before = 0.0;
    for z in [-120.0, 0.0, 120.0] {
        let mut best = (f64::INFINITY, 0.0, 0.0);
        let peak = psf.share(0.0, 0.0, z);
        for step in 0..=30 {
            let node = 0.1 * f64::from(step);
            let place = expect::place(6, node, [0.0, 0.0]);
            patch.evaluate(&learnt.family.knots, learnt.family.shape(), &place, false);
            let (mut sum, mut count, mut shares) = (0.0, 0.0, [0.0; 2]);
            for (pixel, value) in patch.value.iter().enumerate() {
                let [dx, dy] = [pixel % SIDE, pixel / SIDE].map(|at| at as f64 - HALF as f64);
                let truth = psf.share(dx, dy, z);
                shares[0] += value;
                shares[1] += truth;
                if dx.hypot(dy) <= 5.0 {
                    sum += (value - truth).powi(2);
                    count += 1.0;
                }
            }
            let rms = (sum / count).sqrt() / peak;
            if rms < best.0 {
                best = (rms, node, shares[0] / shares[1]);
            }
        }
        let (rms, node, light) = best;
        assert!(rms < 0.04 && (light - 1.0).abs() < 0.1, "{z} {rms} {node} {light}");
        assert!(node > before, "{z} {node}");
        before = node;
    }
}

fn env(name: &str, usual: f64) -> f64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// Jaccard index in percent, precision, and the root of the mean square distance in pixels, of spots within 2 pixels.
fn score(truth: &[MovieTruth], found: &[Localization], side: f64) -> [f64; 3] {
    let inside = |x: f64, y: f64| [x, y].iter().all(|&at| at > 4.0 && at < side - 5.0);
    let (mut right, mut wrong, mut missed, mut square) = (0.0, 0.0, 0.0, 0.0);
    let frames = truth.iter().map(|spot| spot.frame).max().unwrap_or(0);
    for frame in 0..=frames {
        let truth: Vec<_> = truth.iter().filter(|spot| spot.frame == frame).collect();
        let found: Vec<_> = found.iter().filter(|spot| spot.frame == frame).collect();
        let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
        for (t, a) in truth.iter().enumerate() {
            for (f, b) in found.iter().enumerate() {
                let distance = (a.shape.x - b.x).hypot(a.shape.y - b.y);
                if distance < 2.0 {
                    pairs.push((distance, t, f));
                }
            }
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut seen, mut used) = (vec![false; truth.len()], vec![false; found.len()]);
        for (distance, t, f) in pairs {
            if !seen[t] && !used[f] {
                (seen[t], used[f]) = (true, true);
                if inside(truth[t].shape.x, truth[t].shape.y) {
                    right += 1.0;
                    square += distance * distance;
                }
            }
        }
        let missing = truth
            .iter()
            .zip(&seen)
            .filter(|(spot, seen)| !**seen && inside(spot.shape.x, spot.shape.y));
        missed += missing.count() as f64;
        let false_ones =
            found.iter().zip(&used).filter(|(spot, used)| !**used && inside(spot.x, spot.y));
        wrong += false_ones.count() as f64;
    }
    [
        100.0 * right / (right + wrong + missed),
        100.0 * right / (right + wrong),
        (square / right).sqrt(),
    ]
}

#[test]
#[ignore = "explores"]
fn a_movie_tells_its_psf() {
    let objective = match env("OBJECTIVE", 0.0) as u32 {
        0 => Objective::default()
            .with_zernike(vec![Zernike::new(4, 0, 0.04), Zernike::new(2, 2, 0.05)]),
        1 => Objective::default()
            .with_na(1.2)
            .with_index(1.33)
            .with_sample_index(1.33)
            .with_zernike(vec![Zernike::new(3, 1, 0.08), Zernike::new(4, 0, 0.1)]),
        2 => Objective::default().with_na(1.49).with_zernike(vec![Zernike::new(2, 2, 0.15)]),
        _ => Objective::default()
            .with_na(1.45)
            .with_wavelength(640.0)
            .with_zernike(vec![Zernike::new(4, 0, 0.08)]),
    };
    let psf = Arc::new(PupilPsf::new(&objective, 100.0, 600.0).expect("sound"));
    let movie = |frames: usize, density: f64, seed: u64| {
        MovieSimulation::new(64, 64, frames)
            .with_uniform(true)
            .with_own_spots(Some(density * 40.96))
            .with_signal(env("SIGNAL", 1500.0))
            .with_signal_spread(0.6)
            .with_background(30.0)
            .with_psf(Some(SimulatedPsf::new(psf.clone(), env("RANGE", 200.0))))
            .with_seed(seed)
    };
    let fit = fit_core::Options::default().with_estimator(fit_core::Estimator::MaximumLikelihood);
    let options = LocalizeOptions::default()
        .with_fitter(crate::FitterOptions::default().with_fit(fit))
        .with_camera(Camera::default().with_baseline(100.0).with_read_noise(1.5));
    // What beads tell.
    let mut random = Random::new(3, 0);
    let beads: Vec<crate::psf::BeadStack> = (0..8)
        .map(|_| {
            let place = [0, 1].map(|_| random.uniform_in(-0.5, 0.5));
            let heights: Vec<f64> = (-25..=25).map(|k| 20.0 * f64::from(k)).collect();
            let stack =
                ndarray::Array3::from_shape_fn((heights.len(), 21, 21), |(slice, row, column)| {
                    let [dx, dy] = [column, row].map(|at| at as f64 - 10.0);
                    (20.0 + 1e5 * psf.share(dx - place[0], dy - place[1], heights[slice])) as f32
                });
            crate::psf::BeadStack { stack, heights }
        })
        .collect();
    let beads = crate::psf::calibrate_psf(&beads, &crate::psf::PsfCalibrationOptions::default());
    let beads = Arc::new(beads.expect("a PSF").psf);
    let seeds = env("SEEDS", 3.0) as u64;
    for density in [0.3, 1.5] {
        if env("ONLY", density) != density {
            continue;
        }
        let frames = if density < 1.0 { env("FRAMES", 250.0) as usize } else { 400 };
        let mut sums = std::collections::BTreeMap::<String, [f64; 4]>::new();
        for seed in 0..seeds {
            let mut plan = movie(frames, density, 11 + seed).plan().expect("sound");
            let pixels = plan.piece(0..frames).frames();
            let blocks: Vec<Block> = (0..frames)
                .step_by(16)
                .map(|first| {
                    let last = (first + 16).min(frames);
                    let part = pixels.slice_axis(ndarray::Axis(0), (first..last).into()).to_owned();
                    Block { first, pixels: Pixels::U16(part) }
                })
                .collect();
            let begin = std::time::Instant::now();
            let learnt = learn_psf(&blocks, &options).expect("a PSF");
            println!(
                "{} frames, {} and {} spots, {} rounds, {} planes, light {:.3}, deviance {:.3}, {:.3}, {:.1?}",
                learnt.frames, learnt.spots, learnt.held_out, learnt.rounds,
                learnt.psf.coefficients().dim().0, learnt.psf.light(), learnt.deviance, learnt.gaussian, begin.elapsed()
            );
            let learnt = Arc::new(learnt.psf);
            for test in [0.3, 1.5] {
                let frames = if test < 1.0 { 120 } else { 40 };
                let mut plan = movie(frames, test, 901 + seed).plan().expect("sound");
                let piece = plan.piece(0..frames);
                let truth: Vec<MovieTruth> =
                    (0..frames).flat_map(|frame| piece.truth(frame).collect::<Vec<_>>()).collect();
                let block = Block { first: 0, pixels: Pixels::U16(piece.frames()) };
                let auto = options.clone().with_emitters(Emitters::Auto).with_box_size(env("BOX", 7.0) as usize);
                let mut ways = vec![("learnt", auto.clone().with_psf(Some(learnt.clone())))];
                if std::env::var("BEADS").is_ok() {
                    let gauss = auto.clone().with_sigma(Sigma::Shared).with_usual_sigma(Some(1.3));
                    ways.push(("gauss", gauss));
                    ways.push(("beads", auto.clone().with_psf(Some(beads.clone()))));
                }
                for (name, options) in ways {
                    let found = Localizer::new((64, 64), options)
                        .expect("sound")
                        .process(&block)
                        .expect("fits");
                    let [jaccard, precision, rms] = score(&truth, &found, 64.0);
                    let sum = sums.entry(format!("{test} {name}")).or_default();
                    for (sum, value) in sum.iter_mut().zip([jaccard, precision, rms * rms, 1.0]) {
                        *sum += value;
                    }
                }
            }
        }
        println!();
        for (name, [jaccard, precision, square, count]) in sums {
            println!(
                "from {density}: {name}: {:.2} {:.2} {:.2} nm",
                jaccard / count,
                precision / count,
                100.0 * (square / count).sqrt()
            );
        }
    }
}
