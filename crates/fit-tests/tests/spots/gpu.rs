//! What is the GPU's alone: every kernel, memory that stays on the device, errors, and a machine without one.

use fit_core::{Criteria, Errors, Fit, Options, Scalar, Size, Start, Status};
use fit_cpu::{InstructionSet, Simd};
use fit_gpu::{
    DeviceStart, DeviceWindows, Family, Gpu, GpuError, GpuSession, InPlace, PinnedBuffer, Resident,
    device_of, devices,
};
use fit_sim::SpotSimulation;
use fit_tests::TestBackend;
use fit_tests::emulation::estimates;
use fit_tests::spots::fitted;
use ndarray::{Array3, ArrayView3, ShapeBuilder, s};
use spotfit::{Backend, FitError, Fitter, FitterOptions, Pixel, Windows};

use super::cuda::shown;

/// Enough windows for the kernels that want many.
const MANY: usize = 8000;

/// Windows of spots in squares of 9 pixels.
fn spots(count: usize) -> Array3<f32> {
    SpotSimulation::new(Size::new(9, 9)).generate(0..count).expect("sound").pixels
}

/// The fits of a GPU.
fn fits_of<P: Pixel>(
    gpu: &Gpu,
    options: &Options,
    spots: ArrayView3<'_, P>,
    start: Start<'_>,
) -> Vec<Fit<f32>> {
    let mut fits = vec![Fit::<f32>::invalid(); spots.dim().0];
    gpu.fit_into(options, spots, start, &mut fits).expect("a GPU");
    fits
}

/// Pixels in pinned memory.
pub(super) fn pinned(spots: &[f32]) -> PinnedBuffer<f32> {
    let mut pixels = PinnedBuffer::<f32>::new(spots.len()).expect("memory");
    pixels.copy_from_slice(spots);
    pixels
}

/// The share of fits within 10⁻³ pixels of the reference.
fn share<T: Scalar>(fits: &[Fit<T>], reference: &[Fit<f64>]) -> f64 {
    let near = |(fit, reference): &(&Fit<T>, &Fit<f64>)| {
        let off = |a: T, b: f64| (a.to_f64() - b).abs() < 1e-3;
        off(fit.x, reference.x) && off(fit.y, reference.y) && off(fit.sigma, reference.sigma)
    };
    fits.iter().zip(reference).filter(near).count() as f64 / fits.len() as f64
}

/// Proves that every kernel finds the minima of the f64 reference as often as the CPU in single precision
/// does, for each type of pixels, with start values given and estimated.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn every_kernel_agrees_with_the_reference() {
    let gpu = Gpu::new(&[0]).expect("a GPU");
    // The paper's iteration to its end: how near to the minimum fits end otherwise depends on their last steps.
    let options =
        Options::default().with_criteria(Criteria::DEFAULT.with_newton(false).with_finish(0.0));
    let squares = (4..=32).map(|side| (side, side));
    for (width, height) in squares.chain([(3, 3), (5, 9), (9, 5), (33, 12), (12, 40), (63, 63)]) {
        let size = Size::new(width, height);
        let spots = SpotSimulation::new(size).generate(0..MANY).expect("sound").pixels;
        let set = Some(InstructionSet::Portable);
        let portable = TestBackend { set, ..TestBackend::new(Backend::Cpu, 0) };
        let both = |start| {
            [TestBackend::new(Backend::Reference, 0), portable]
                .map(|on| fitted(&on.fitter(options), &Windows::stack(spots.view()), start))
        };
        let [expected, fits] = both(Start::Estimate);
        let cpu = share(&fits, &expected);

        let starts: Vec<[f32; 3]> = expected
            .iter()
            .map(|fit| [fit.x as f32 + 0.3, fit.y as f32 - 0.2, fit.sigma as f32 * 1.1])
            .collect();
        // From elsewhere another minimum may be found.
        let [given, fits] = both(Start::F32(&starts));
        let cpu = cpu.min(share(&fits, &given));
        for count in [MANY, 400] {
            let spots = spots.slice(s![..count, .., ..]);
            let (short, byte) = (spots.mapv(|p| p as u16), spots.mapv(|p| p as u8));
            let (double, starts) = (spots.mapv(f64::from), Start::F32(&starts[..count]));
            let (none, gpu) = (Start::Estimate, &gpu);
            let shares = [
                share(&fits_of(gpu, &options, spots, none), &expected),
                share(&fits_of(gpu, &options, spots, starts), &given),
                share(&fits_of(gpu, &options, short.view(), none), &expected),
                share(&fits_of(gpu, &options, byte.view(), starts), &given),
                share(&fits_of(gpu, &options, double.view(), none), &expected),
            ];
            // Where windows are too small to tell, chance decides: three standard deviations of it.
            let needed = cpu - 0.005 - 3.0 * (cpu * (1.0 - cpu) / count as f64).sqrt();
            println!("{width}×{height}, {count}: {shares:.4?} of {needed:.4}");
            assert!(shares.iter().all(|&share| share >= needed), "{width}×{height}, {count}");
        }
    }
}

/// Proves that windows in a session, resident on the device, in pinned memory, in ordinary memory and in any
/// layout are fitted to the same bits, whatever stands beside them.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn all_ways_give_the_same() {
    let gpu = Gpu::new(&[0]).expect("a GPU");
    let options = Options::default();
    let size = Size::new(9, 9);
    let spots = spots(MANY);
    let fit = |spots: ArrayView3<'_, f32>| fits_of(&gpu, &options, spots, Start::Estimate);
    for count in [MANY, 3000] {
        let spots = spots.slice(s![..count, .., ..]);
        let all = fit(spots);
        let mut backwards = fit(spots.slice(s![..;-1, .., ..]));
        backwards.reverse();
        assert_eq!(format!("{backwards:?}"), format!("{all:?}"));

        let mut resident = Resident::new(0, spots, Start::Estimate).expect("a GPU");
        let mut fits = vec![Fit::<f32>::invalid(); count];
        for _ in 0..3 {
            assert!(resident.fit(&options).expect("a GPU") > 0.0);
        }
        resident.fetch(&mut fits).expect("a GPU");
        assert_eq!(format!("{fits:?}"), format!("{all:?}"));

        let pixels = pinned(spots.as_slice().expect("standard layout"));
        let mut pinned = PinnedBuffer::<Fit<f32>>::new(count).expect("memory");
        let view = ArrayView3::from_shape((count, 9, 9), &pixels).expect("as many");
        gpu.fit_into(&options, view, Start::Estimate, &mut pinned).expect("a GPU");
        assert_eq!(format!("{:?}", &pinned[..]), format!("{all:?}"));
        in_place(&options, &pixels, &all);
    }
    errors_are_the_same(&gpu, &options);
    let few = spots.slice(s![..3000, .., ..]);
    let all = fit(few);
    let mut session = GpuSession::new(0, size, 700, &options).expect("a GPU");
    for first in (0..2500).step_by(499) {
        for count in [1, 10, 100, 500] {
            let mut fits = vec![Fit::<f32>::invalid(); count];
            let windows = few.slice(s![first..first + count, .., ..]);
            session.fit_into(windows, Start::Estimate, &mut fits).expect("a GPU");
            assert_eq!(format!("{fits:?}"), format!("{:?}", &all[first..first + count]));
        }
    }
    let mut fits = vec![Fit::<f32>::invalid(); 701];
    assert!(session.fit_into(few.slice(s![..701, .., ..]), Start::Estimate, &mut fits).is_err());
}

/// Checks windows of 9×9 pixels, where they lie in memory that the device reaches, against what is `expected`; and that outcomes stay
/// while someone has them.
fn in_place(options: &Options, pixels: &PinnedBuffer<f32>, expected: &[Fit<f32>]) {
    let windows = DeviceWindows {
        shapes: shown(expected.len()),
        pixels: pixels.as_ptr().cast(),
        weights: std::ptr::null(),
        start: DeviceStart::Host(Start::Estimate),
    };
    let fitter = InPlace::new(0).expect("a GPU");
    // SAFETY: a device has pinned memory at the host's addresses, and there are as many windows.
    let fit = |errors| unsafe { fitter.fit(options, &windows, errors) };
    let found = [fit(false), fit(true), fit(true)].map(|fits| fits.expect("a GPU"));
    for fits in &found {
        let mut host = vec![Fit::<f32>::invalid(); expected.len()];
        fits.fetch(&mut host).expect("a GPU");
        assert_eq!(format!("{host:?}"), format!("{expected:?}"));
        let short = fits.fetch(&mut host[1..]);
        assert!(matches!(short, Err(GpuError::Argument(_))), "{short:?}");
    }
    let own = device_of(found[0].fits().cast()).expect("a GPU");
    assert_eq!((own, device_of(expected.as_ptr().cast()).expect("a GPU")), (Some(0), None));
    let ones = pinned(&vec![1.0; pixels.len()]);
    let weighted = DeviceWindows { weights: ones.as_ptr(), ..windows };
    // SAFETY: as above, with as many weights.
    unsafe { fitter.fit(options, &weighted, false) }.expect("weights on the device");
    let shape = (expected.len(), 9, 9).strides((0, 0, 0));
    let double = ArrayView3::from_shape(shape, &[0.0_f64]).expect("one is enough");
    let windows = DeviceWindows { shapes: Windows::stack(double).into(), ..windows };
    // SAFETY: nothing is read of pixels that no kernel reads.
    let wrong = unsafe { fitter.fit(options, &windows, false) };
    assert!(matches!(wrong, Err(GpuError::PixelType)), "{wrong:?}");
}

/// Checks that errors are the same to the bit from the device's memory, from pinned memory into pinned memory and from
/// ordinary memory, of fits in either precision, in one chunk and in several; and nearly those of the CPU.
fn errors_are_the_same(gpu: &Gpu, options: &Options) {
    let spots = spots(MANY);
    for count in [900, 800_000] {
        let mut pixels = PinnedBuffer::<u16>::new(count * 81).expect("memory");
        let source = spots.iter().cycle();
        pixels.iter_mut().zip(source).for_each(|(to, &from)| *to = from as u16);
        let view = ArrayView3::from_shape((count, 9, 9), &pixels).expect("as many");
        let windows = Windows::stack(view).into();
        let mut fits = PinnedBuffer::<Fit<f32>>::new(count).expect("memory");
        gpu.fit_into(options, view, Start::Estimate, &mut fits).expect("a GPU");
        fits[7] = Fit::invalid();
        let mut pinned = PinnedBuffer::<Errors>::new(count).expect("memory");
        gpu.errors_into(options, windows, &fits, &mut pinned).expect("a GPU");
        assert_eq!(pinned[7], Errors::unknown());

        let ordinary = view.to_owned();
        let windows = Windows::stack(ordinary.view()).into();
        let double: Vec<Fit<f64>> = fits.iter().map(Fit::cast).collect();
        let mut errors = vec![Errors::unknown(); count];
        gpu.errors_into(options, windows, &double, &mut errors).expect("a GPU");
        assert!(errors == pinned[..], "{count}: ordinary memory");
        let short = gpu.errors_into(options, windows, &double, &mut errors[1..]);
        assert!(matches!(short, Err(GpuError::Argument(_))), "{short:?}");

        let cpu = Simd::new(0, None).expect("threads");
        cpu.errors_into(options, windows, &double, &mut errors).expect("sound");
        let of = |errors: &Errors| [errors.x(), errors.photons, errors.goodness];
        let near = |(a, b): &(&Errors, &Errors)| {
            let mut pairs = of(a).into_iter().zip(of(b));
            pairs.all(|(a, b)| a == b || (a / b - 1.0).abs() < 0.01)
        };
        let near = errors.iter().zip(&pinned[..]).filter(near).count();
        assert!(near >= count * 99 / 100, "{near} of {count} are those of the CPU");

        let mut resident = Resident::new(0, view, Start::Estimate).expect("a GPU");
        resident.errors_into(options, &mut errors).expect("a GPU");
        assert!(errors.iter().all(|errors| *errors == Errors::unknown()));
        resident.fit(options).expect("a GPU");
        assert!(resident.errors_into(options, &mut errors).expect("a GPU") > 0.0);
        errors[7] = Errors::unknown();
        assert!(errors == pinned[..], "{count}: resident");
    }
}

/// Proves that a session for windows that need much shared memory goes on when a batch of smaller ones comes in between, and that
/// threads with windows of several sizes do not disturb each other.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn windows_of_other_sizes_take_no_memory_away() {
    let shared = devices().expect("a GPU")[0].shared;
    // Both need more than any kernel has unasked.
    let [large, small] = if shared > 110_000 { [160, 115] } else { [124, 115] };
    let spots =
        |side| SpotSimulation::new(Size::new(side, side)).generate(0..3).expect("sound").pixels;
    let options = Options::default();
    let batch = |spots: ArrayView3<'_, f32>| {
        let gpu = Gpu::new(&[0]).expect("a GPU");
        let fits = fits_of(&gpu, &options, spots, Start::Estimate);
        let mut errors = vec![Errors::unknown(); fits.len()];
        let windows = Windows::stack(spots).into();
        gpu.errors_into(&options, windows, &fits, &mut errors).expect("errors");
        format!("{fits:?} {errors:?}")
    };
    let in_session = |session: &mut GpuSession, spots: ArrayView3<'_, f32>| {
        let mut fits = vec![Fit::<f32>::invalid(); spots.dim().0];
        session.fit_into(spots, Start::Estimate, &mut fits).expect("a session");
        format!("{fits:?}")
    };
    let [large, small] = [large, small].map(spots);
    let (height, width) = (large.dim().1, large.dim().2);
    let mut session = GpuSession::new(0, Size::new(width, height), 3, &options).expect("a GPU");
    let before = in_session(&mut session, large.view());
    batch(small.view());
    assert_eq!(in_session(&mut session, large.view()), before);

    let expected = [&large, &small].map(|spots| batch(spots.view()));
    std::thread::scope(|scope| {
        for (spots, expected) in [&large, &small].into_iter().zip(&expected) {
            scope.spawn(move || {
                for _ in 0..100 {
                    assert_eq!(&batch(spots.view()), expected);
                }
            });
        }
    });
    assert_eq!(in_session(&mut session, large.view()), before);
}

/// Windows that are flat, no numbers, infinite, empty, and of one bright pixel, in turn.
fn hopeless(count: usize, width: usize, height: usize) -> Array3<f32> {
    let mut spots = Array3::<f32>::zeros((count, height, width));
    for (number, mut window) in spots.outer_iter_mut().enumerate() {
        match number % 5 {
            0 => window.fill(7.0),
            1 => window.fill(f32::NAN),
            2 => window[(height - 1, width - 1)] = f32::INFINITY,
            3 => window.fill(0.0),
            _ => window[(1, 2)] = 100.0,
        }
    }
    spots
}

/// Proves that garbage, numbers that are none, flat and empty windows get the reference's statuses from every
/// kernel.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn hopeless_windows_get_the_references_statuses() {
    let gpu = Gpu::new(&[0]).expect("a GPU");
    let options = Options::default();
    for (width, height) in (4..=32).map(|side| (side, side)).chain([(5, 9), (40, 7)]) {
        for count in [MANY, 40] {
            let spots = hopeless(count, width, height);
            let fits = fits_of(&gpu, &options, spots.view(), Start::Estimate);
            for (number, fit) in fits.iter().enumerate() {
                let invalid = fit.status == Status::Invalid;
                assert_eq!(invalid, number % 5 != 4, "{width}×{height}, {number}: {fit:?}");
            }
            let mut errors = vec![Errors::unknown(); count];
            let windows = Windows::stack(spots.view()).into();
            gpu.errors_into(&options, windows, &fits, &mut errors).expect("a GPU");
            let none = errors.iter().find(|errors| errors.numbers().iter().any(|n| n.is_nan()));
            assert!(none.is_none(), "{width}×{height}: {none:?}");
        }
    }
}

/// Proves that impossible requests are refused with their reason, and that the GPU goes on afterwards.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn impossible_requests_are_refused() {
    let count = devices().expect("a GPU").len();
    let error = Gpu::new(&[count]).expect_err("no such device");
    assert!(matches!(error, GpuError::NoSuchDevice { .. }), "{error}");
    assert!(Gpu::new(&[]).is_err());
    let gpu = Gpu::new(&[0]).expect("a GPU");
    let options = Options::default();
    let mut fits = [Fit::<f32>::invalid(); 1];
    let huge = Array3::<u8>::zeros((1, 300, 300));
    let error = gpu.fit_into(&options, huge.view(), Start::Estimate, &mut fits).expect_err("huge");
    assert!(matches!(error, GpuError::WindowTooLarge { .. }), "{error}");
    let small = Array3::<u8>::zeros((1, 2, 9));
    assert!(gpu.fit_into(&options, small.view(), Start::Estimate, &mut fits).is_err());
    let none = Array3::<u8>::zeros((0, 9, 9));
    fits_of(&gpu, &options, none.view(), Start::Estimate);
    let bytes = 1 << 45;
    assert!(matches!(PinnedBuffer::<u8>::new(bytes), Err(GpuError::OutOfMemory { .. })));
    let fits = fits_of(&gpu, &options, spots(1).view(), Start::Estimate);
    assert!(fits[0].status.is_converged());
}

/// Proves that on a machine without a GPU everything says so, with the reason, and that the CPU goes on.
#[test]
fn without_a_gpu_the_reason_is_told() {
    let Err(error) = devices() else {
        println!("SKIPPED: this machine has a GPU");
        return;
    };
    use GpuError::{DriverTooOld, NoDevice, NoDriver};
    assert!(matches!(error, NoDriver | NoDevice(_) | DriverTooOld { .. }), "{error}");
    assert!(error.to_string().contains("driver") || error.to_string().contains("GPU"), "{error}");
    let spots = spots(10);
    assert!(Gpu::new(&[0]).is_err());
    assert!(PinnedBuffer::<f32>::new(1).is_err());
    assert!(Resident::new(0, spots.view(), Start::Estimate).is_err());
    assert!(GpuSession::new(0, Size::new(9, 9), 10, &Options::default()).is_err());
    let error =
        Fitter::new(&FitterOptions::default().with_backend(Backend::Gpu)).expect_err("no GPU");
    assert!(matches!(error, FitError::Gpu(_)), "{error}");
    assert!(error.to_string().starts_with("the GPU cannot be used: "), "{error}");
    let fits: Vec<Fit<f64>> =
        Fitter::default().fit(spots.view(), Start::Estimate).expect("the CPU is there");
    assert!(fits.iter().all(|fit| fit.status.is_converged()));
}

/// Set in the environment of a process that is to be killed.
const UNTIL_KILLED: &str = "SPOTFIT_TEST_UNTIL_KILLED";

/// Fits without an end where it is told to; see the next test.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn fits_until_killed() {
    if std::env::var_os(UNTIL_KILLED).is_none() {
        return;
    }
    let gpu = Gpu::new(&[0]).expect("a GPU");
    let spots = spots(200_000);
    for round in 0.. {
        fits_of(&gpu, &Options::default(), spots.view(), Start::Estimate);
        if round == 20 {
            println!("\nunder way");
        }
    }
}

/// Proves that a process that is killed in the midst of its fits leaves the device usable: for one that has it
/// open already, and for a new one.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn killing_a_process_leaves_the_device_usable() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let gpu = Gpu::new(&[0]).expect("a GPU");
    let spots = spots(MANY);
    let fit = || format!("{:?}", fits_of(&gpu, &Options::default(), spots.view(), Start::Estimate));
    let before = fit();
    for round in 0..5 {
        let mut other = Command::new(std::env::current_exe().expect("this program"))
            .args(["gpu::fits_until_killed", "--exact", "--ignored", "--nocapture"])
            .env(UNTIL_KILLED, "1")
            .stdout(Stdio::piped())
            .spawn()
            .expect("another process");
        let lines = BufReader::new(other.stdout.take().expect("a pipe")).lines();
        let started = lines.map_while(Result::ok).any(|line| line.contains("under way"));
        assert!(started, "the other process ended by itself");
        // It gets on by another number of fits each time.
        (0..=round).for_each(|_| assert_eq!(fit(), before, "beside {round}"));
        other.kill().expect("it is still there");
        assert!(!other.wait().expect("it has ended").success());
        assert_eq!(fit(), before, "after {round}");
    }
}

/// Proves that the kernel as published tells hopeless windows from others, with blocks of any number of warps,
/// and gives numbers for all others.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn hopeless_windows_as_published() {
    let gpu = Gpu::with_family(&[0], Family::Published).expect("a GPU");
    let shapes =
        [(3, 3), (4, 8), (5, 5), (7, 7), (9, 9), (13, 17), (22, 22), (23, 23), (31, 33), (32, 32)];
    for (width, height) in shapes {
        let count = 60;
        let spots = hopeless(count, width, height);
        let starts = estimates(spots.view());
        let fits = fits_of(&gpu, &Options::default(), spots.view(), Start::F32(&starts));
        for (number, fit) in fits.iter().enumerate() {
            let found = [fit.status == Status::Invalid, fit.x.is_nan()];
            assert_eq!(found, [number % 5 < 4; 2], "{width}×{height}: {fit:?}");
        }
    }
}
