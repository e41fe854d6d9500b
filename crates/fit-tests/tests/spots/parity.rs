//! Every backend against the f64 reference, over the whole table of cases.

use fit_sim::{Random, SpotSimulation};
use fit_tests::cases::{Case, Kind, cases};
use fit_tests::tolerances::{Parity, parity};
use fit_tests::{GPU, TestBackend, backends, on_backends, sets};
use ndarray::{Array3, s};
use spotfit::{
    Backend, Corner, Fit, Fitter, InstructionSet, Options, Size, Start, Status, WindowFitter,
};

fn with_set(set: InstructionSet) -> Fitter {
    TestBackend { set: Some(set), ..TestBackend::new(Backend::Cpu, 1) }.fitter(Options::default())
}

/// Whether two fits are the same as far as the tolerance goes.
fn near(fit: &Fit<f64>, reference: &Fit<f64>, tolerance: &Parity) -> bool {
    let scale = reference.amplitude.abs().max(reference.chi2.sqrt());
    let positions = [fit.x - reference.x, fit.y - reference.y, fit.sigma - reference.sigma];
    positions.iter().all(|d| d.abs() <= tolerance.position)
        && (fit.amplitude - reference.amplitude).abs() <= tolerance.relative * scale
        && (fit.background - reference.background).abs()
            <= tolerance.relative * scale.max(reference.background.abs() * 1e-3)
        && (fit.chi2 - reference.chi2).abs()
            <= tolerance.relative * reference.chi2 + 1e-9 * scale * scale
}

/// What holds for every fit of every backend.
fn check_outcome(case: &Case, spot: usize, fit: &Fit<f64>) {
    let Fit { x, y, sigma, amplitude, background, chi2, .. } = *fit;
    let numbers = [x, y, sigma, amplitude, background, chi2];
    let name = &case.name;
    if fit.status == Status::Invalid {
        assert!(numbers.iter().all(|n| n.is_nan()), "{name}, spot {spot}: {fit:?}");
        return;
    }
    assert!(case.kind != Kind::Nothing, "{name}, spot {spot} should be invalid: {fit:?}");
    assert!(numbers.iter().all(|n| n.is_finite()), "{name}, spot {spot}: {fit:?}");
    assert!(sigma > 0.0 && chi2 >= 0.0, "{name}, spot {spot}: {fit:?}");
    let criteria = case.options.criteria;
    assert!((1..=criteria.max_iterations).contains(&fit.iterations), "{name}, {spot}: {fit:?}");
    assert!((1..=criteria.max_evaluations).contains(&fit.evaluations), "{name}, {spot}: {fit:?}");
}

fn check_all(backends: &[TestBackend]) {
    backends.iter().for_each(|&backend| check(backend));
}

fn check(backend: TestBackend) {
    let reference = TestBackend::new(Backend::Reference, 1);
    for case in cases() {
        let fitter = backend.fitter(case.options);
        let tolerance = parity(&fitter);
        let fits = case.fit(&fitter);
        let expected = case.fit(&reference.fitter(case.options));
        assert_eq!(fits.len(), expected.len(), "{}", case.name);
        let mut same = 0;
        for (spot, (fit, expected)) in fits.iter().zip(&expected).enumerate() {
            check_outcome(&case, spot, fit);
            let invalid = expected.status == Status::Invalid;
            assert_eq!(fit.status == Status::Invalid, invalid, "{}, spot {spot}", case.name);
            // Where there are several minima, another one that is as good will do.
            let bound = expected.chi2 * (1.0 + tolerance.as_good)
                + (tolerance.as_good * expected.amplitude).powi(2);
            let as_good = case.kind == Kind::Hopeless && fit.chi2 <= bound;
            same += usize::from(invalid || as_good || near(fit, expected, &tolerance));
        }
        let share = match case.kind {
            Kind::Hopeless => tolerance.share_hopeless,
            _ => tolerance.share,
        };
        let needed = (share * fits.len() as f64).floor() as usize;
        let what = format!("{backend:?} {:<28} {same} of {}", case.name, fits.len());
        println!("{what}");
        assert!(same >= needed, "{what} fits agree");
    }
}

/// Proves that for one instruction set the outcome of a window is the same to the last bit wherever it
/// stands in a batch, whatever is fitted beside it, and however the batch is cut and spread over threads.
#[test]
fn a_window_alone_is_a_window_among_many() {
    let simulation = SpotSimulation::new(Size::new(9, 7)).with_background(300.0);
    let spots = simulation.generate(0..1500).expect("a sound simulation").pixels;
    let bits = |fit: &Fit<f64>| format!("{fit:?}");
    for backend in backends() {
        let fit = |spots: ndarray::ArrayView3<'_, f32>, threads| -> Vec<Fit<f64>> {
            let fitter = TestBackend { threads, ..backend }.fitter(Options::default());
            fitter.fit(spots, Start::Estimate).expect("large enough")
        };
        let all = fit(spots.view(), 1);
        let mut backwards = fit(spots.slice(s![..;-1, .., ..]), 1);
        backwards.reverse();
        let threads = fit(spots.view(), 3);
        for (i, expected) in all.iter().enumerate() {
            assert_eq!(bits(&backwards[i]), bits(expected), "{backend:?}, backwards, window {i}");
            assert_eq!(bits(&threads[i]), bits(expected), "{backend:?}, threads, window {i}");
        }
        for first in [0, 1, 700, 1499] {
            let end = 1500.min(first + 1 + first % 40);
            let part = fit(spots.slice(s![first..end, .., ..]), 1);
            for (part, expected) in part.iter().zip(&all[first..]) {
                assert_eq!(bits(part), bits(expected), "{backend:?}, from {first}");
            }
        }
    }
}

fn check_frames(backends: &[TestBackend]) {
    let mut random = Random::new(7, 0);
    let frames = Array3::from_shape_fn((3, 40, 33), |_| random.poisson(100.0) as u16);
    for size in [Size::new(5, 4), Size::new(9, 9), Size::new(7, 31), Size::new(17, 16)] {
        let (far_x, far_y) = (33 - size.width as u32, 40 - size.height as u32);
        let mut corners = vec![Corner::default(), Corner { frame: 2, x: far_x, y: far_y }];
        corners.extend((0..100u32).map(|i| Corner {
            frame: i % 3,
            x: (i * 7) % (far_x + 1),
            y: (i * 5) % (far_y + 1),
        }));
        let mut copies = Array3::zeros((corners.len(), size.height, size.width));
        for (mut copy, corner) in copies.outer_iter_mut().zip(&corners) {
            let (x, y) = (corner.x as usize, corner.y as usize);
            let window = s![corner.frame as usize, y..y + size.height, x..x + size.width];
            copy.assign(&frames.slice(window));
        }
        for backend in backends {
            let fitter = backend.fitter(Options::default());
            let expected: Vec<Fit<f64>> =
                fitter.fit(copies.view(), Start::Estimate).expect("sound");
            let turned = frames.t().as_standard_layout().into_owned();
            for frames in [frames.view(), turned.t()] {
                let fits: Vec<Fit<f64>> =
                    fitter.fit_in_frames(frames, size, &corners, Start::Estimate).expect("sound");
                assert_eq!(format!("{fits:?}"), format!("{expected:?}"), "{backend:?}");
            }
            for (frame, x, y) in [(3, 0, 0), (0, far_x + 1, 0), (0, 0, far_y + 1), (0, u32::MAX, 0)]
            {
                let corners = [Corner::default(), Corner { frame, x, y }];
                let fits =
                    fitter.fit_in_frames::<_, f64>(frames.view(), size, &corners, Start::Estimate);
                let message = fits.expect_err("outside").to_string();
                assert!(message.contains("window 1") && message.contains("33x40"), "{message}");
            }
        }
        for set in sets() {
            let expected: Vec<Fit<f32>> =
                with_set(set).fit(copies.view(), Start::Estimate).expect("sound");
            let mut few = WindowFitter::new(set, size, &Options::default()).expect("available");
            let mut fits = vec![Fit::<f32>::invalid(); corners.len()];
            few.fit_in_frames_into(frames.view(), &corners, Start::Estimate, &mut fits)
                .expect("sound");
            assert_eq!(format!("{fits:?}"), format!("{expected:?}"), "{set}");
            assert_eq!(few.instruction_set(), set);
            // A handful of them, again and again.
            for first in (0..corners.len()).step_by(7) {
                let windows = copies.slice(s![first..corners.len().min(first + 7), .., ..]);
                let fits = &mut fits[..windows.dim().0];
                few.fit_into(windows, Start::Estimate, fits).expect("sound");
                let wanted = &expected[first..first + fits.len()];
                assert_eq!(format!("{fits:?}"), format!("{wanted:?}"), "{set}");
            }
            let other = Array3::<u8>::zeros((1, 7, 7));
            assert!(few.fit_into(other.view(), Start::Estimate, &mut fits[..1]).is_err());
        }
    }
}

/// Proves that there is no backend that the tests forget.
#[test]
fn every_backend_is_tested() {
    for backend in Backend::ALL {
        let all = backends();
        let tested = all.iter().chain([&GPU]).any(|tested| tested.backend == backend);
        assert!(tested, "{backend}");
    }
}

on_backends! {
    /// Proves that every backend finds the minima of the f64 reference, whatever the size, the pixel
    /// type, the memory layout, the options and the content of the windows. Of the GPU's kernels these are those for small batches;
    /// `gpu.rs` has all of them.
    every_backend_agrees_with_the_reference(&backends()), the_gpu_agrees_with_the_reference(&[GPU]) => check_all;

    /// Proves that windows cut out of frames, of any memory layout, even at the last corner of the last frame,
    /// are fitted to the same bits as copies of them.
    windows_in_frames_are_fitted_as_copies_are(&backends()), windows_in_frames_are_fitted_as_copies_are_on_the_gpu(&[GPU]) => check_frames;
}
