//! The kernel that does as the paper did: emulated on the host, and on a GPU.

use fit_core::{Criteria, Fit, Options, Size, Start, Status};
use fit_cpu::Reference;
use fit_gpu::{Family, Gpu, GpuError};
use fit_sim::{SimulatedSpots, SpotSimulation};
use fit_tests::emulation::{estimates, fit_as_published};
use fit_tests::spots::fitted;
use fit_tests::statistics::largest;
use fit_tests::tolerances::{PUBLISHED_BIN, PUBLISHED_EQUAL, PUBLISHED_MEAN};
use fit_tests::{TestBackend, effort};
use ndarray::{Array3, s};
use rayon::prelude::*;
use spotfit::{Backend, Windows};

fn paper() -> Options {
    Options::default().with_criteria(Criteria::PAPER)
}

fn pixels_of(spots: &SimulatedSpots, number: usize) -> Vec<f32> {
    spots.pixels.slice(s![number, .., ..]).iter().copied().collect()
}

/// Proves that the paper's way finds what the reference finds, in windows of any shape, of one warp and of
/// several, whole and not; that hopeless windows are told from others; and that a limit of evaluations holds.
#[test]
fn a_thread_a_pixel() {
    let sizes = [(4, 4), (5, 5), (8, 4), (7, 7), (9, 9), (11, 6), (16, 16), (20, 4), (32, 32)];
    for (width, height) in sizes {
        let size = Size::new(width, height);
        let spots = SpotSimulation::new(size).with_signal(2e4);
        let spots = spots.generate(0..4).expect("sound");
        let given = [0.5 * width as f32 - 0.6, 0.5 * height as f32 - 0.4, 1.2];
        let start = [given; 4];
        let reference = TestBackend::new(Backend::Reference, 1).fitter(Options::default());
        let expected = fitted(&reference, &Windows::stack(spots.pixels.view()), Start::F32(&start));
        for (number, reference) in expected.into_iter().enumerate() {
            let pixels = pixels_of(&spots, number);
            let fit = |pixels: &[f32], options: &Options| {
                fit_as_published(pixels, size, given, options).expect("a window to fit")
            };
            let what = format!("published, {width}×{height}, {number}");
            let found = fit(&pixels, &Options::default());
            let off = |a: f32, b: f64| (f64::from(a) - b).abs();
            let worst = off(found.x, reference.x).max(off(found.y, reference.y));
            assert!(worst.max(off(found.sigma, reference.sigma)) < 2e-3, "{what}: {found:?}");
            assert!(off(found.chi2, reference.chi2) / reference.chi2 < 1e-3, "{what}: {found:?}");
            for hopeless in [vec![3.0; size.pixels()], vec![f32::NAN; size.pixels()]] {
                let fit = fit(&hopeless, &Options::default());
                assert_eq!(fit.status, Status::Invalid, "{what}: {fit:?}");
            }
            let criteria = Criteria::DEFAULT.with_max_evaluations(3).with_min_delta(0.0);
            let short = fit(&pixels, &Options::default().with_criteria(criteria));
            assert!(short.evaluations <= 3, "{what}: {short:?}");
            assert_eq!(short.status, Status::MaxIterations, "{what}");
        }
    }
}

/// Windows of the paper's benchmark and where to start.
fn benchmark(size: Size, signal: f64, count: usize) -> (SimulatedSpots, Vec<[f32; 3]>) {
    let simulation = SpotSimulation::new(size).with_signal(signal);
    let spots = simulation.generate(0..count).expect("sound");
    let starts = estimates(spots.pixels.view());
    (spots, starts)
}

fn emulated(spots: &SimulatedSpots, starts: &[[f32; 3]], size: Size) -> Vec<Fit<f32>> {
    let fit = |number: usize| {
        let pixels = pixels_of(spots, number);
        fit_as_published(&pixels, size, starts[number], &paper()).expect("a window to fit")
    };
    (0..starts.len()).into_par_iter().map(fit).collect()
}

/// Mean number of iterations, and the share of fits by their number.
fn iterations(fits: &[Fit<f32>]) -> (f64, [f64; 22]) {
    let mut histogram = [0.0; 22];
    let mut mean = 0.0;
    for fit in fits {
        histogram[fit.iterations as usize] += 1.0 / fits.len() as f64;
        mean += f64::from(fit.iterations) / fits.len() as f64;
    }
    (mean, histogram)
}

/// The iterations of the paper's way against those of the f32 reference.
fn check_iterations(
    what: &str,
    published: &[Fit<f32>],
    spots: &SimulatedSpots,
    starts: &[[f32; 3]],
) {
    let mut fits = vec![Fit::<f32>::invalid(); starts.len()];
    let reference = Reference::<f32>::new(0).expect("threads");
    let pixels = spots.pixels.slice(s![..starts.len(), .., ..]);
    reference.fit_into(&paper(), pixels, Start::F32(starts), &mut fits).expect("sound");
    let ((mean, bins), (expected, others)) = (iterations(published), iterations(&fits));
    println!("{what}: {mean:.3} iterations, the reference {expected:.3}");
    let worst = largest((0..bins.len()).map(|i| (bins[i] - others[i]).abs()));
    println!("  {:.2} points in the bin that differs most", 100.0 * worst);
    assert!((mean / expected - 1.0).abs() <= PUBLISHED_MEAN, "{what}");
    assert!(worst <= PUBLISHED_BIN, "{what}");
}

/// Proves that the paper's way takes as many iterations as the reference in single precision.
#[test]
fn as_many_iterations_as_the_reference() {
    let size = Size::new(9, 9);
    // Bright spots end sooner, and more of them alike: they are for CI.
    for &signal in &[400.0, 1600.0][..effort(1, 2, 2)] {
        let (spots, starts) = benchmark(size, signal, 10_000);
        let published = emulated(&spots, &starts, size);
        check_iterations(&format!("emulated, {signal}:40"), &published, &spots, &starts);
    }
}

/// Proves the same for the kernel on the device, and that it ends as its emulation on the host does.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_kernel_does_as_its_emulation() {
    let gpu = Gpu::with_family(&[0], Family::Published).expect("a GPU");
    for (width, height, signal, count) in [
        (9, 9, 400.0, 100_000),
        (9, 9, 1600.0, 100_000),
        (5, 5, 400.0, 20_000),
        (7, 7, 400.0, 20_000),
        (11, 6, 400.0, 20_000),
        (16, 16, 400.0, 20_000),
        (32, 32, 1600.0, 3000),
    ] {
        let size = Size::new(width, height);
        let (spots, starts) = benchmark(size, signal, count);
        let mut fits = vec![Fit::<f32>::invalid(); count];
        let start = Start::F32(&starts);
        gpu.fit_into(&paper(), spots.pixels.view(), start, &mut fits).expect("a GPU");
        if (width, height) == (9, 9) {
            check_iterations(&format!("GPU, {signal}:40"), &fits, &spots, &starts);
        }
        let few = count.min(20_000);
        let emulated = emulated(&spots, &starts[..few], size);
        let end = |fit: &Fit<f32>| (fit.status, fit.iterations, fit.evaluations);
        let equal = fits.iter().zip(&emulated).filter(|(a, b)| end(a) == end(b));
        let equal = equal.count() as f64 / few as f64;
        println!("{width}×{height}, {signal}: {:.3} % end as emulated", 100.0 * equal);
        assert!(equal >= PUBLISHED_EQUAL, "{width}×{height}: {equal}");

        let mut others = fits.clone();
        let bytes = spots.pixels.mapv(|pixel| pixel as u8);
        let shorts = spots.pixels.mapv(|pixel| pixel as u16);
        gpu.fit_into(&paper(), shorts.view(), start, &mut others).expect("a GPU");
        assert_eq!(format!("{others:?}"), format!("{fits:?}"), "u16");
        gpu.fit_into(&paper(), bytes.view(), start, &mut others).expect("a GPU");
        if signal < 1000.0 {
            assert_eq!(format!("{others:?}"), format!("{fits:?}"), "u8");
        }
    }
    let large = Array3::<f32>::zeros((1, 33, 32));
    let (start, none) = (Start::F32(&[[16.0, 16.0, 2.0]]), &mut [Fit::<f32>::invalid()]);
    let error = gpu.fit_into(&paper(), large.view(), start, none);
    assert!(matches!(error, Err(GpuError::NoKernel { .. })), "{error:?}");
    let error = gpu.fit_into(&paper(), large.slice(s![.., ..32, ..]), Start::Estimate, none);
    assert!(matches!(error, Err(GpuError::Argument(_))), "{error:?}");
}
