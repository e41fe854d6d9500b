//! PSFs and fits together, against what is simulated.

use std::sync::LazyLock;
use std::time::Instant;

use fit_sim::Random;
use ndarray::{Array2, Array3, Axis};
use spotfit::psf::{
    Psf, PsfCalibrationOptions, PsfFitOptions, PsfFits, PsfFitter, PsfNoise, calibrate_psf,
};
use spotfit::{Backend, Background, CameraMap, Estimator, Status};

use crate::common::nightly;

use super::simulated::{ASTIGMATIC, COMATIC, Stacks, Truth, spots};

fn calibrated(truth: Truth) -> Psf {
    let (beads, _) = Stacks { beads: 20, ..Stacks::new(truth) }.make();
    calibrate_psf(&beads, &PsfCalibrationOptions::default()).expect("a PSF").psf
}

static ROUND: LazyLock<Psf> = LazyLock::new(|| calibrated(ASTIGMATIC));
pub(super) static ODD: LazyLock<Psf> = LazyLock::new(|| calibrated(COMATIC));

/// Mean errors of x, y and z at heights a hundred nm apart, of bright spots that are made with the truth: a hundred of them, so that
/// the mean is known to a tenth of the error of one, and by night five hundred.
fn systematic(psf: &Psf, truth: Truth) -> Vec<[f64; 3]> {
    let fitter = PsfFitter::new(psf, Backend::Cpu, 1).expect("a fitter");
    let heights = (-5..=5).map(|at| 100.0 * f64::from(at));
    let count = if nightly() { 500 } else { 100 };
    heights
        .map(|z| {
            let mean = |at: [f64; 3], side: usize| truth.window(at, 1.0, 0.0, side);
            let (windows, at) = spots(mean, count, 13, [z, z + 1e-6], [2e5, 10.0], 3);
            let fits = fitter.fit(windows.view(), &PsfFitOptions::default()).expect("fits");
            assert!(fits.statuses.iter().all(|status| status.is_converged()));
            std::array::from_fn(|j| {
                (&fits.parameters.column(j) - &at.column(j)).mean().expect("numbers")
            })
        })
        .collect()
}

/// Proves that spots made with the true PSF, from one end of the range to the other, are found where they are: to 3 nm in z
/// and 0.01 px in x and y; with a PSF that is symmetric its centre and z = 0 are those of the truth, and with one that is not they are
/// the same at all heights.
#[test]
fn spots_are_where_they_are() {
    for (number, off) in systematic(&ROUND, ASTIGMATIC).into_iter().enumerate() {
        let [x, y, z] = off.map(f64::abs);
        assert!(x < 0.01 && y < 0.01 && z < 3.0, "height {number}: {off:?}");
    }
    let all = systematic(&ODD, COMATIC);
    let mean: [f64; 3] =
        std::array::from_fn(|j| all.iter().map(|off| off[j]).sum::<f64>() / all.len() as f64);
    for (number, off) in all.into_iter().enumerate() {
        let [x, y, z] = std::array::from_fn(|j| (off[j] - mean[j]).abs());
        assert!(x < 0.01 && y < 0.01 && z < 3.0, "height {number}: {off:?} beside {mean:?}");
    }
}

/// rms errors over bounds, and over the errors that fits state, of x, y and z.
fn ratios(psf: &Psf, fits: &PsfFits, truth: &Array2<f64>) -> [[f64; 3]; 2] {
    let mut sums = [[0.0; 3]; 2];
    for (fit, at) in truth.outer_iter().enumerate() {
        let bound = psf.bound(at[2], at[3], at[4], [13; 2]).expect("a bound");
        for j in 0..3 {
            let error = fits.parameters[[fit, j]] - at[j];
            sums[0][j] += (error / bound[j]).powi(2);
            sums[1][j] += (error / fits.errors[[fit, j]]).powi(2);
        }
    }
    sums.map(|sums| sums.map(|sum| (sum / truth.nrows() as f64).sqrt()))
}

fn own_spots(psf: &Psf, count: usize, light: [f64; 2], seed: u64) -> (Array3<f32>, Array2<f64>) {
    let mean = |at: [f64; 3], side: usize| psf.window(at, [side; 2]);
    spots(mean, count, 13, [-500.0, 500.0], light, seed)
}

/// The same in focus.
fn own_spots_at(psf: &Psf, count: usize, light: [f64; 2], seed: u64) -> (Array3<f32>, Array2<f64>) {
    let mean = |at: [f64; 3], side: usize| psf.window(at, [side; 2]);
    spots(mean, count, 13, [0.0, f64::MIN_POSITIVE], light, seed)
}

/// Proves that errors are the Cramér–Rao bound for maximum likelihood, and those that are stated for both estimators, over
/// ±500 nm, from 1000 photons to 5000; and that no fit is lost.
#[test]
fn errors_are_at_the_bound() {
    let fitter = PsfFitter::new(&ODD, Backend::Cpu, 1).expect("a fitter");
    for light in [[1000.0, 10.0], [5000.0, 20.0]] {
        let (windows, truth) = own_spots(&ODD, 4000, light, 7);
        for estimator in [Estimator::MaximumLikelihood, Estimator::LeastSquares] {
            let options = PsfFitOptions::default().with_estimator(estimator);
            let fits = fitter.fit(windows.view(), &options).expect("fits");
            let good = fits.statuses.iter().filter(|status| status.is_converged()).count();
            assert!(good >= 3995, "{good} converged");
            let [over_bound, over_stated] = ratios(&ODD, &fits, &truth);
            // Of 4000 fits an rms is known to 1.1 %.
            let stated = over_stated.iter().all(|ratio| (0.96..1.06).contains(ratio));
            assert!(stated, "{light:?} {estimator:?}: {over_stated:?}");
            if estimator == Estimator::MaximumLikelihood {
                let bound = over_bound.iter().all(|ratio| (0.96..1.05).contains(ratio));
                assert!(bound, "{light:?}: {over_bound:?}");
            }
        }
    }
}

/// Proves that spots on light with slopes are where they are on a plane, with the errors that are stated, and its slopes and the background
/// at the centre are the truth; that on a flat background they are shifted; and that electrons that are multiplied change errors alone.
#[test]
fn planes_are_fitted() {
    let fitter = PsfFitter::new(&ROUND, Backend::Cpu, 1).expect("a fitter");
    let (photons, slopes) = (3000.0, [3.0, -2.0]);
    let mean = |[x, y, z]: [f64; 3], side: usize| {
        let mut window = ROUND.window([x, y, z], [side; 2]);
        for ((row, column), value) in window.indexed_iter_mut() {
            let [dx, dy] = [column as f64 - x, row as f64 - y];
            *value += (slopes[0] * dx + slopes[1] * dy) / photons;
        }
        window
    };
    let (windows, truth) = spots(mean, 2000, 13, [-400.0, 400.0], [photons, 60.0], 21);
    let excess = PsfNoise::default().with_excess(2.0);
    for (estimator, noise) in [
        (Estimator::MaximumLikelihood, PsfNoise::default()),
        (Estimator::LeastSquares, PsfNoise::default()),
        (Estimator::MaximumLikelihood, excess),
    ] {
        let flat = PsfFitOptions::default().with_estimator(estimator);
        let plane = flat.clone().with_background(Background::Plane);
        let fits = fitter.fit_noisy(windows.view(), &noise, &plane).expect("fits");
        assert_eq!(fits.parameters.ncols(), 7);
        let good = fits.statuses.iter().filter(|status| status.is_converged()).count();
        assert!(good >= 1990, "{good}");
        let of = |fits: &PsfFits, j: usize, at: f64| -> [f64; 2] {
            let off = fits.parameters.column(j).to_owned() - at;
            let ratios = &off / &fits.errors.column(j);
            let count = ratios.len() as f64;
            [off.sum() / count, (ratios.mapv(|ratio| ratio * ratio).sum() / count).sqrt()]
        };
        let centre = |fits: &PsfFits, j: usize| {
            let mut moved = fits.clone();
            moved.parameters.column_mut(j).zip_mut_with(&truth.column(j), |x, at| *x -= at);
            of(&moved, j, 0.0)
        };
        let expected = noise.excess.sqrt();
        for (number, [off, ratio]) in [
            centre(&fits, 0),
            centre(&fits, 1),
            of(&fits, 3, photons),
            of(&fits, 4, 60.0),
            of(&fits, 5, slopes[0]),
            of(&fits, 6, slopes[1]),
        ]
        .into_iter()
        .enumerate()
        {
            let ratio = ratio * expected;
            assert!((0.93..1.08).contains(&ratio), "{estimator:?} {number}: {off} {ratio}");
        }
        assert!(centre(&fits, 0)[0].abs() < 0.003 && of(&fits, 5, slopes[0])[0].abs() < 0.05);
        let shifted = fitter.fit_noisy(windows.view(), &noise, &flat).expect("fits");
        assert!(centre(&shifted, 0)[0].abs() > 0.02, "{:?}", centre(&shifted, 0));
        let quality = fitter.quality(windows.view(), &PsfNoise::default(), &fits).expect("quality");
        let goodness = quality.iter().map(|of| of.goodness).sum::<f64>() / 2000.0;
        assert!((goodness - 1.0).abs() < 0.02, "{goodness}");
    }
}

/// Proves that with least squares a background that must not be negative is none, and otherwise as it is.
#[test]
fn backgrounds_are_not_negative_where_they_must_not_be() {
    let fitter = PsfFitter::new(&ROUND, Backend::Reference, 1).expect("a fitter");
    let (windows, _) = own_spots(&ROUND, 50, [3000.0, 20.0], 5);
    let dark = windows.mapv(|value| value - 25.0);
    for estimator in [Estimator::LeastSquares, Estimator::MaximumLikelihood] {
        let free = PsfFitOptions::default().with_estimator(estimator);
        let positive = free.clone().with_background(Background::NonNegative);
        let least = |options: &PsfFitOptions, windows: &Array3<f32>| {
            let fits = fitter.fit(windows.view(), options).expect("fits");
            fits.parameters.column(4).fold(f64::INFINITY, |least, &own| least.min(own))
        };
        assert!(least(&free, &dark) < -2.0 && least(&positive, &dark) >= 0.0);
        assert!((least(&free, &windows) - least(&positive, &windows)).abs() < 1e-6);
    }
}

/// Proves that a PSF that is the same at all heights is fitted without one: centres have the errors that are stated, z is 0 and has none.
#[test]
fn single_psfs_have_no_height() {
    let member = ROUND.coefficients().index_axis(Axis(0), 12).to_owned();
    let planes = Array3::from_shape_fn((5, member.nrows(), member.ncols()), |(_, row, column)| {
        member[[row, column]]
    });
    let psf = Psf::new(planes, 50.0, 1.0).expect("a PSF");
    assert!(psf.is_single() && !psf.has_heights() && !ROUND.is_single());
    assert_eq!(psf.bound(0.0, 1000.0, 10.0, [13; 2]).expect("a bound")[2], 0.0);
    let fitter = PsfFitter::new(&psf, Backend::Cpu, 1).expect("a fitter");
    let (windows, truth) = own_spots_at(&psf, 2000, [2000.0, 10.0], 3);
    for estimator in [Estimator::MaximumLikelihood, Estimator::LeastSquares] {
        let options = PsfFitOptions::default().with_estimator(estimator);
        let fits = fitter.fit(windows.view(), &options).expect("fits");
        assert!(fits.statuses.iter().all(|status| status.is_converged()));
        assert!(fits.errors.column(2).iter().all(|&error| error == 0.0));
        assert!(fits.parameters.column(2).iter().all(|&z| z == 0.0));
        for j in [0, 1, 3, 4] {
            let off = &fits.parameters.column(j) - &truth.column(j);
            let square = (off / fits.errors.column(j)).mapv(|ratio| ratio * ratio);
            let ratio = square.mean().expect("numbers").sqrt();
            assert!((0.95..1.06).contains(&ratio), "{estimator:?} {j}: {ratio}");
        }
    }
}

/// Proves that errors are those stated where more was subtracted from windows than the offset of the camera, and that all else is what it is.
#[test]
fn errors_are_those_stated_whatever_was_subtracted() {
    let fitter = PsfFitter::new(&ROUND, Backend::Cpu, 1).expect("a fitter");
    let (windows, truth) = own_spots(&ROUND, 800, [5000.0, 100.0], 11);
    for subtracted in [100.0_f32, 200.0, 1000.0] {
        let windows = windows.mapv(|value| value - subtracted);
        for estimator in [Estimator::MaximumLikelihood, Estimator::LeastSquares] {
            let options = PsfFitOptions::default().with_estimator(estimator);
            let fits = fitter.fit(windows.view(), &options).expect("fits");
            let good = fits.statuses.iter().filter(|status| status.is_converged()).count();
            let [_, stated] = ratios(&ROUND, &fits, &truth);
            let mean = |j: usize| fits.parameters.column(j).mean().expect("numbers");
            println!("{subtracted} {estimator:?}: {good} converged, over stated {stated:.3?}");
            assert!(good >= 780, "{subtracted} {estimator:?}: {good}");
            assert!(stated.iter().all(|ratio| (0.85..1.15).contains(ratio)), "{stated:?}");
            let (photons, background) = (mean(3), mean(4) + f64::from(subtracted));
            assert!((photons / 5000.0 - 1.0).abs() < 0.02, "{photons}");
            assert!((background - 100.0).abs() < 1.0, "{background}");
        }
    }
}

/// Proves that fits of dark and of very bright spots converge too, with errors that are those stated, and without photons that
/// become background.
#[test]
fn darkness_is_no_wall() {
    darkness_is_no_wall_on(Backend::Cpu);
}

fn darkness_is_no_wall_on(backend: Backend) {
    let fitter = PsfFitter::new(&ROUND, backend, 1).expect("a fitter");
    for light in [[1000.0, 0.0], [1000.0, 0.1], [5000.0, 0.0], [5000.0, 0.3], [20_000.0, 1.0]] {
        let (windows, truth) = own_spots(&ROUND, 1000, light, 9);
        let fits = fitter.fit(windows.view(), &PsfFitOptions::default()).expect("fits");
        let good = fits.statuses.iter().filter(|status| status.is_converged()).count();
        let steps = fits.statuses.iter().filter(|status| **status == Status::MinStep).count();
        let mean = |j: usize| fits.parameters.column(j).mean().expect("numbers");
        let [_, stated] = ratios(&ROUND, &fits, &truth);
        println!(
            "{light:?}: {good} converged, {steps} by their step; over stated {stated:.3?}; {:.1} {:.3}",
            mean(3),
            mean(4)
        );
        assert!(good >= 990, "{light:?}: {good} converged");
        assert!(stated.iter().all(|ratio| (0.85..1.1).contains(ratio)), "{light:?}: {stated:?}");
        assert!((mean(3) / light[0] - 1.0).abs() < 0.02 && (mean(4) - light[1]).abs() < 0.1);
    }
}

/// Proves that read noise, alike and of each pixel, multiplied electrons and masked pixels are in the errors that fits
/// state, and that masked pixels are not looked at.
#[test]
fn cameras_have_noise() {
    cameras_have_noise_on(Backend::Cpu);
}

fn cameras_have_noise_on(backend: Backend) {
    let fitter = PsfFitter::new(&ROUND, backend, 1).expect("a fitter");
    let (clean, truth) = own_spots(&ROUND, 1500, [2000.0, 5.0], 4);
    let mut random = Random::new(5, 1);
    let variances = Array3::from_shape_fn(clean.dim(), |(_, row, column)| match (row, column) {
        (6, 7) => CameraMap::MASKED,
        (row, column) => {
            if (row + column) % 3 == 0 {
                40.0
            } else {
                2.0_f32
            }
        }
    });
    let mut each = clean.clone();
    each.zip_mut_with(&variances, |value, &variance| {
        *value =
            if variance > 1e9 { 7e5 } else { *value + variance.sqrt() * random.normal() as f32 };
    });
    let alike = clean.mapv(|value| value + 3.0 * random.normal() as f32);
    // The variance of the electrons of a pixel that are multiplied is twice their mean.
    let multiplied = clean.mapv(|value| value + (value.sqrt() * random.normal() as f32));
    let none = PsfNoise::default();
    let cases = [
        ("alike", alike, none.with_read(9.0)),
        ("each", each, none.with_pixels(Some(variances.view()))),
        ("multiplied", multiplied, none.with_excess(2.0)),
    ];
    for estimator in [Estimator::MaximumLikelihood, Estimator::LeastSquares] {
        let options = PsfFitOptions::default().with_estimator(estimator);
        for (name, windows, noise) in &cases {
            let fits = fitter.fit_noisy(windows.view(), noise, &options).expect("fits");
            let good = fits.statuses.iter().filter(|status| status.is_converged()).count();
            let [_, stated] = ratios(&ROUND, &fits, &truth);
            let quality = fitter.quality(windows.view(), noise, &fits).expect("alike");
            let goodness = quality.iter().map(|quality| quality.goodness).sum::<f64>() / 1500.0;
            println!(
                "{name} {estimator:?}: {good} converged, over stated {stated:.3?}, goodness {goodness:.3}"
            );
            assert!(good >= 1490, "{name}: {good}");
            assert!(stated.iter().all(|ratio| (0.94..1.08).contains(ratio)), "{name}: {stated:?}");
            assert!((goodness - 1.0).abs() < 0.03, "{name}: {goodness}");
            assert!(quality.iter().all(|quality| (1.0..3.0).contains(&quality.sigma)));
        }
    }
    let wrong = |noise: PsfNoise<'_>| {
        let options = PsfFitOptions::default();
        fitter.fit_noisy(clean.view(), &noise, &options).expect_err("refused").to_string()
    };
    assert!(wrong(none.with_excess(3.0)).contains("excess"));
    assert!(wrong(none.with_read(-1.0)).contains("read noise"));
    let few = variances.slice_axis(Axis(0), (0..2).into());
    assert!(wrong(none.with_pixels(Some(few))).contains("variances of the shape"));
}

/// Proves that both engines find the same, and that start values need no help from the truth: a fit that begins at it ends there too.
#[test]
fn engines_agree() {
    let options = PsfFitOptions::default();
    agrees_with_the_reference(Backend::Cpu, &options, 200);
}

fn agrees_with_the_reference(backend: Backend, options: &PsfFitOptions, count: usize) {
    let (windows, _) = own_spots(&ROUND, count, [2000.0, 10.0], 2);
    let options = options.clone().with_tolerance(1e-3);
    let [single, double] = [backend, Backend::Reference].map(|backend| {
        let fitter = PsfFitter::new(&ROUND, backend, 1).expect("a fitter");
        assert_eq!(fitter.backend(), backend);
        fitter.fit(windows.view(), &options).expect("fits")
    });
    for fit in 0..count {
        for j in 0..5 {
            let error = double.errors[[fit, j]];
            let off = single.parameters[[fit, j]] - double.parameters[[fit, j]];
            assert!(off.abs() < 0.02 * error, "fit {fit}, parameter {j}: {off} of {error}");
            assert!((single.errors[[fit, j]] / error - 1.0).abs() < 0.02);
        }
    }
}

/// Proves that a spot beyond the range of z ends at its limit and says so, that windows without sense give no numbers that
/// look like an answer, and that sizes that the PSF does not cover are refused.
#[test]
fn ends_are_told() {
    ends_are_told_on(Backend::Cpu);
}

fn ends_are_told_on(backend: Backend) {
    let psf = &*ROUND;
    let [low, high] = psf.range();
    let fitter = PsfFitter::new(psf, backend, 1).expect("a fitter");
    let mut windows = Array3::<f32>::zeros((8, 13, 13));
    for (number, z) in [low - 250.0, high + 250.0].into_iter().enumerate() {
        let bright = ASTIGMATIC.window([6.0, 6.0, z], 20_000.0, 10.0, 13);
        windows.index_axis_mut(Axis(0), number).assign(&bright.mapv(|value| value as f32));
    }
    windows.index_axis_mut(Axis(0), 2).fill(f32::NAN);
    windows.index_axis_mut(Axis(0), 3).fill(-5.0);
    windows.index_axis_mut(Axis(0), 4).fill(1e30);
    windows[[5, 6, 6]] = f32::INFINITY;
    windows[[7, 2, 2]] = f32::NEG_INFINITY;
    let mut random = Random::new(1, 1);
    windows.index_axis_mut(Axis(0), 6).mapv_inplace(|_| random.poisson(5.0) as f32);
    for estimator in [Estimator::MaximumLikelihood, Estimator::LeastSquares] {
        let options = PsfFitOptions::default().with_estimator(estimator);
        let fits = fitter.fit(windows.view(), &options).expect("fits");
        assert_eq!(fits.statuses[..2], [Status::AtLimit; 2]);
        assert!((fits.parameters[[0, 2]] - low).abs() < 1e-6 * (high - low));
        assert!((fits.parameters[[1, 2]] - high).abs() < 1e-6 * (high - low));
        for bad in [2, 5, 7] {
            assert_eq!(fits.statuses[bad], Status::Invalid);
        }
        for bad in [3, 4] {
            assert!(!fits.statuses[bad].is_converged() || fits.parameters[[bad, 2]].is_finite());
        }
        for fit in 0..8 {
            let z = fits.parameters[[fit, 2]];
            assert!(z.is_nan() || (low - 1e-3..=high + 1e-3).contains(&z), "{fit}: {z}");
        }
    }
    let none = Array3::<f32>::zeros((0, 13, 13));
    assert_eq!(fitter.fit(none.view(), &PsfFitOptions::default()).expect("none").statuses, []);
    for size in [(1, 4, 13), (1, 13, 19), (1, 0, 0)] {
        let error = fitter.start(Array3::<f32>::zeros(size).view()).expect_err("refused");
        assert!(error.to_string().contains("cannot be fitted with a PSF of 18×18"), "{error}");
    }
    let options = PsfFitOptions::default().with_tolerance(f64::NAN);
    assert!(fitter.fit(windows.view(), &options).is_err());
}

/// Proves all of it for the GPU: few spots have a warp each, many a thread.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_gpu_fits_psfs() {
    for estimator in [Estimator::MaximumLikelihood, Estimator::LeastSquares] {
        let options = PsfFitOptions::default().with_estimator(estimator);
        for count in [200, 8000] {
            agrees_with_the_reference(Backend::Gpu, &options, count);
        }
    }
    darkness_is_no_wall_on(Backend::Gpu);
    cameras_have_noise_on(Backend::Gpu);
    ends_are_told_on(Backend::Gpu);
}

/// Measures, and prints, how many fits of 13×13 pixels the GPU does in a second, and the lanes of all processors beside it: medians of
/// five calls in turns.
#[test]
#[ignore = "measures speed, and needs an NVIDIA GPU: --release, --nocapture"]
fn speed_of_the_gpu() {
    let backends = [Backend::Gpu, Backend::Cpu];
    let fitters = backends.map(|backend| PsfFitter::new(&ROUND, backend, 0).expect("a fitter"));
    for count in [1000, 100_000] {
        let (windows, _) = own_spots(&ROUND, count, [1000.0, 20.0], 7);
        for estimator in [Estimator::MaximumLikelihood, Estimator::LeastSquares] {
            let options = PsfFitOptions::default().with_estimator(estimator);
            let mut times = [const { Vec::new() }; 3];
            for _ in 0..5 {
                for (fitter, times) in fitters.iter().zip(&mut times) {
                    let begin = Instant::now();
                    fitter.fit(windows.view(), &options).expect("fits");
                    times.push(begin.elapsed().as_secs_f64());
                }
                let begin = Instant::now();
                fitters[0].start(windows.view()).expect("starts");
                times[2].push(begin.elapsed().as_secs_f64());
            }
            let [gpu, lanes, starts] = times.map(|mut times| {
                times.sort_unstable_by(f64::total_cmp);
                1e-6 * count as f64 / times[2]
            });
            println!(
                "{count} {estimator:?}: GPU {gpu:.3}, lanes {lanes:.3}, starts alone {starts:.3} million/s"
            );
        }
    }
}

/// Proves that values add up to 1 at z = 0, that derivatives are those by differences, that what is beyond the PSF is said
/// to be, and that what is no PSF is refused.
#[test]
fn psfs_are_checked() {
    let psf = &*ODD;
    let [down, across] = psf.extent();
    let middle = [0.5 * (across - 1) as f64, 0.5 * (down - 1) as f64, 0.0];
    assert!((psf.window(middle, [down, across]).sum() - 1.0).abs() < 1e-12);
    let window = psf.window([6.2, 5.7, 130.0], [13, 12]);
    let h = 1e-4;
    for ((row, column), value) in window.indexed_iter() {
        let at = [column as f64 - 6.2, row as f64 - 5.7, 130.0];
        let [own, slopes @ ..] = psf.at(at).expect("within");
        assert!((own - value).abs() < 1e-12);
        for axis in 0..3 {
            let of = |step: f64| {
                let mut at = at;
                at[axis] += step;
                psf.at(at).expect("within")[0]
            };
            assert!((slopes[axis] - (of(h) - of(-h)) / (2.0 * h)).abs() < 1e-7);
        }
    }
    assert_eq!(psf.at([0.0, 0.0, psf.range()[1] + 1.0]), None);
    assert_eq!(psf.at([9.1, 0.0, 0.0]), None);
    assert_eq!(psf.at([f64::NAN, 0.0, 0.0]), None);
    assert_eq!(psf.bound(0.0, 1000.0, 10.0, [30; 2]), None);
    assert_eq!(psf.window([1e300, f64::NAN, 0.0], [3, 3]), Array2::<f64>::zeros((3, 3)));
    let refused = |knots: Array3<f64>, step: f64, zero: f64| {
        Psf::new(knots, step, zero).expect_err("refused").to_string()
    };
    let good = psf.coefficients().to_owned();
    let says = |text: String, what: &str| assert!(text.contains(what), "{text}");
    says(refused(Array3::zeros((4, 9, 9)), 50.0, 1.0), "4×9×9");
    says(refused(Array3::zeros((9, 9, 9)), 50.0, 1.0), "add up to 0");
    says(refused(Array3::ones((9, 9, 9)), 50.0, 1.0), "told from each other");
    says(refused(good.clone(), 0.0, 1.0), "the step in z");
    says(refused(good.clone(), 50.0, -2e4), "z = 0");
    says(refused(-good.clone(), 50.0, psf.zero()), "add up to -");
    let mut bad = good;
    bad[[1, 2, 3]] = f64::NAN;
    says(refused(bad, 50.0, 1.0), "plane 1, row 2, column 3");
}

/// The time that this thread had on a processor, in seconds: on Linux, to some milliseconds; elsewhere any time.
fn processor_time() -> f64 {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse::<f64>().ok());
    nanoseconds.map_or_else(|| BEGIN.elapsed().as_secs_f64(), |time| 1e-9 * time)
}

/// Measures, and prints, how many fits of 13×13 pixels one thread does in a second, and rms errors over bounds for spots made with the
/// fitted PSF and with the true one, from which the mean error is subtracted where it is a matter of definition.
#[test]
#[ignore = "measures speed and accuracy, for some seconds: --release, --nocapture"]
fn speed_and_accuracy() {
    for (truth, psf) in [(ASTIGMATIC, &*ROUND), (COMATIC, &*ODD)] {
        for backend in [Backend::Cpu, Backend::Reference] {
            let fitter = PsfFitter::new(psf, backend, 1).expect("a fitter");
            let count = if backend == Backend::Cpu { 100_000 } else { 1000 };
            println!("{truth:?}, {backend}, {:?}", fitter.instruction_set());
            for (light, own) in [
                ([1000.0, 10.0], true),
                ([1000.0, 20.0], true),
                ([1000.0, 20.0], false),
                ([5000.0, 20.0], true),
                ([5000.0, 20.0], false),
            ] {
                let mean = |at: [f64; 3], side: usize| {
                    if own { psf.window(at, [side; 2]) } else { truth.window(at, 1.0, 0.0, side) }
                };
                let (windows, mut at) = spots(mean, count, 13, [-500.0, 500.0], light, 7);
                for estimator in [Estimator::MaximumLikelihood, Estimator::LeastSquares] {
                    let options = PsfFitOptions::default().with_estimator(estimator);
                    let fits = fitter.fit(windows.view(), &options).expect("fits");
                    // The least time of several parts: others slow a shared core down.
                    let (mut least, mut least_start) = (f64::INFINITY, f64::INFINITY);
                    for part in windows.axis_chunks_iter(Axis(0), count / 4) {
                        let spots = part.len_of(Axis(0)) as f64;
                        let begin = processor_time();
                        fitter.start(part).expect("starts");
                        least_start = least_start.min((processor_time() - begin) / spots);
                        let begin = processor_time();
                        fitter.fit(part, &options).expect("fits");
                        least = least.min((processor_time() - begin) / spots);
                    }
                    if !own {
                        for j in 0..3 {
                            let off = &fits.parameters.column(j) - &at.column(j);
                            let off = off.mean().expect("numbers");
                            at.column_mut(j).mapv_inplace(|value| value + off);
                        }
                    }
                    let lost = fits.statuses.iter().filter(|status| !status.is_converged());
                    let [over_bound, over_stated] = ratios(psf, &fits, &at);
                    let iterations: u32 = fits.iterations.iter().sum();
                    println!(
                        "  {light:?} own {own} {estimator:?}: {:.3} million/s, starts alone {:.2}; {:.2} iterations, {} did \
                         not converge; rms/bound {over_bound:.3?}, rms/stated {over_stated:.3?}",
                        1e-6 / least,
                        1e-6 / least_start,
                        f64::from(iterations) / count as f64,
                        lost.count(),
                    );
                }
            }
        }
    }
}
