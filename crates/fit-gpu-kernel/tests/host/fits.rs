//! Pixels in registers, in a thread's memory and in shared memory: groups of threads stand in for lanes of a pack.

use fit_core::pass::{
    Axes, CovarianceEstimator, ErrorEstimate, Likelihood, Method, OneLane, PlaneFit, ROUGH, RawFit,
    RoughFit, Serial, Summable, WeightedFit,
};
use fit_core::search::Newton;
use fit_core::spot::shape::{Circular, Elliptical, Fixed, Outlined, Rotated};
use fit_core::{
    Background, Camera, Circle, Criteria, Errors, Estimator, Fit, Lanes, Options, Outline,
    Parameter, PixelProfile, Real, Setup, Size, fit_window, scratch_len,
};
use fit_gpu_kernel::shared_memory::{self, SharedTile};
use fit_gpu_kernel::{DeviceF32, Job, Task, register_tile, thread_per_fit};

use crate::{
    Threads, as_threads, check_alike, on_a_large_stack, rotated_window, same, serial, wide,
};

/// The threads of a fit with its pixels; columns that are not there hold numbers that must not matter.
#[derive(Default)]
struct Shared<const N: usize> {
    width: usize,
    pixels: Vec<f32>,
    /// Empty where nothing is known.
    notes: Vec<f32>,
    weights: Vec<f32>,
}

impl<const N: usize> Shared<N> {
    fn of(width: usize, pixels: Vec<f32>) -> Self {
        Self { width, pixels, ..Self::default() }
    }

    /// The numbers of the lanes' columns in a row.
    fn at(&self, of: &[f32], [block, row]: [usize; 2], step: isize) -> Lanes<f32, N> {
        Lanes(std::array::from_fn(|lane| {
            let column = (block * N + lane).checked_add_signed(step);
            let column = column.filter(|&column| column < self.width);
            column.map_or(-1e30, |column| of[row * self.width + column])
        }))
    }
}

as_threads!(Shared);

impl<const N: usize> SharedTile<Lanes<f32, N>> for Shared<N> {
    fn pixel(&self, block: usize, row: usize) -> Lanes<f32, N> {
        self.neighbour_pixel(block, row, 0)
    }
    fn note(&self, block: usize, row: usize) -> Lanes<f32, N> {
        if self.notes.is_empty() {
            return Lanes([0.0; N]);
        }
        self.at(&self.notes, [block, row], 0)
    }
    fn weight(&self, block: usize, row: usize) -> Lanes<f32, N> {
        if self.weights.is_empty() {
            return Lanes([1.0; N]);
        }
        self.at(&self.weights, [block, row], 0)
    }
    fn neighbour_pixel(&self, block: usize, row: usize, step: isize) -> Lanes<f32, N> {
        self.at(&self.pixels, [block, row], step)
    }
    fn set(
        &mut self,
        block: usize,
        row: usize,
        mask: <Lanes<f32, N> as Real>::Mask,
        value: Lanes<f32, N>,
    ) {
        for lane in (0..N).filter(|&lane| mask.0[lane]) {
            self.pixels[row * self.width + block * N + lane] = value.0[lane];
        }
    }
    fn publish(&self) {}
}

/// A window with a spot and a ripple that takes the place of noise.
fn window(width: usize, height: usize, number: usize) -> Vec<f32> {
    let n = number as f32;
    let (x, y) = (0.5 * width as f32 - 0.7 + 0.13 * n, 0.5 * height as f32 - 0.3 - 0.11 * n);
    let sigma = 0.8 + 0.09 * width.min(height) as f32;
    (0..width * height)
        .map(|i| {
            let (dx, dy) = ((i % width) as f32 - x, (i / width) as f32 - y);
            let ripple = ((i * 37 + number * 11) % 17) as f32 - 8.0;
            100.0 + 500.0 * (-(dx * dx + dy * dy) / (2.0 * sigma * sigma)).exp() + ripple
        })
        .collect()
}

/// All lanes of an outcome are the same; here is the fit.
fn only<const N: usize>(found: RawFit<Lanes<f32, N>>) -> Fit<f32> {
    Fit::from(RawFit::from_numbers(same(found.numbers())))
}

fn reference(pixels: &[f32], size: Size, start: Option<Circle<f64>>) -> Fit<f64> {
    let setup = Setup::new(size, &Options::default()).expect("a window to fit");
    let mut scratch = vec![0.0; scratch_len(size)];
    fit_window(&setup, pixels, start.map(Into::into), &mut scratch)
        .expect("as many pixels as there should be")
}

fn assert_near(fit: &Fit<f32>, reference: &Fit<f64>, what: &str) {
    let off = |a: f32, b: f64| (f64::from(a) - b).abs();
    assert_eq!(fit.status.is_converged(), reference.status.is_converged(), "{what}: {fit:?}");
    let worst = off(fit.x, reference.x).max(off(fit.y, reference.y));
    let worst = worst.max(off(fit.sigma, reference.sigma));
    assert!(worst < 1e-4, "{what}: {fit:?} {reference:?}");
    let relative = off(fit.chi2, reference.chi2) / reference.chi2;
    assert!(relative < 1e-3, "{what}: χ² off by {relative}");
    assert!(off(fit.amplitude, reference.amplitude) < 0.05, "{what}: {fit:?}");
    assert_eq!(fit.iterations, reference.iterations, "{what}");
}

/// Checks a kernel in windows of a size: from both starts it finds what the reference finds, and it tells hopeless windows from others.
fn check_windows(size: Size, what: &str, fit: impl Fn(&[f32], Option<Circle<f64>>) -> Fit<f32>) {
    let middle = [size.width, size.height].map(|side| 0.5 * side as f64);
    for number in 0..4 {
        let pixels = window(size.width, size.height, number);
        let given = Circle::new(middle[0] - 0.6, middle[1] - 0.4, 1.2);
        for start in [None, Some(given)] {
            let what = format!("{what}, {size:?}, {number}");
            assert_near(&fit(&pixels, start), &reference(&pixels, size, start), &what);
        }
    }
    for hopeless in [3.0, f32::NAN] {
        let fit = fit(&vec![hopeless; size.pixels()], None);
        assert_eq!(fit.status, fit_core::Status::Invalid, "{what}: {fit:?}");
    }
}

fn in_lanes<const N: usize>(start: Circle<f64>) -> Outline<Lanes<f32, N>> {
    let [x, y, sigma] = [start.x, start.y, start.sigma].map(Lanes::splat);
    Circle::new(x, y, sigma).into()
}

fn check_rows<const LANES: usize, const SIDE: usize, const ROWS: usize, const N: usize>() {
    let size = Size::new(SIDE, SIDE);
    let setup =
        Setup::<Lanes<f32, LANES>>::new(size, &Options::default()).expect("a window to fit");
    check_windows(size, &format!("{LANES} lanes"), |pixels, start| {
        // Rows that are not there hold numbers that must not matter.
        let mut lanes = [Lanes([-1e30; LANES]); N];
        for (i, to) in lanes.iter_mut().enumerate() {
            for lane in 0..LANES {
                let row = lane * ROWS + i / SIDE;
                if row < SIDE {
                    to.0[lane] = pixels[row * SIDE + i % SIDE];
                }
            }
        }
        let start = start.map(in_lanes);
        only(register_tile::fit::<_, _, _, SIDE, ROWS, N>(&setup, &Threads, &mut lanes, start))
    });
}

/// Proves that kernels with the pixels in registers find what the reference finds, from the same start, after
/// as many iterations: alone, with rows shared out evenly or not, and with a row or none in each lane.
#[test]
fn pixels_in_registers() {
    check_rows::<1, 4, 4, 16>();
    check_rows::<2, 16, 8, 128>();
    check_rows::<4, 17, 5, 85>();
    check_rows::<32, 19, 1, 19>();
}

/// Proves that a single thread, in the device's own arithmetic, gives the same as one lane of a pack.
#[test]
fn a_single_thread() {
    let size = Size::new(7, 7);
    // As it travels.
    let task = Task::new(&Setup::<f32>::new(size, &Options::default()).expect("a window to fit"));
    let setup =
        task.setup::<DeviceF32, Circular, 3>(PixelProfile::Sampled).expect("it was made from one");
    for number in 0..4 {
        let pixels = window(7, 7, number);
        let mut numbers: [DeviceF32; 49] = std::array::from_fn(|i| DeviceF32(pixels[i]));
        let found = register_tile::fit::<_, _, _, 7, 7, 49>(&setup, &OneLane, &mut numbers, None);
        assert_near(&Job::outcome(&found), &reference(&pixels, size, None), "one thread");
    }
}

/// Proves that the last steps of the paper's iteration need not be looked at: fits end as near to the minimum after fewer visits to
/// the pixels.
#[test]
fn the_last_steps_are_foreseen() {
    let size = Size::new(9, 9);
    let setup = |criteria| {
        let options = Options::default().with_criteria(criteria);
        Setup::<f64>::new(size, &options).expect("a window to fit")
    };
    let (tight, usual) = (setup(Criteria::TIGHT), setup(Criteria::DEFAULT));
    let (mut looked_at, mut foreseen) = (0.0, 0.0);
    for number in 0..12 {
        let pixels = window(9, 9, number);
        let fit = |method: &RoughFit<f64, Circular, 3>| {
            let mut rows: [[f64; 9]; 9] =
                std::array::from_fn(|row| std::array::from_fn(|i| pixels[row * 9 + i].into()));
            thread_per_fit::fit::<_, _, 9>(method, &mut rows, &[], None)
        };
        let expected = fit(&tight.ending(Newton::Never, 0.0).by());
        let all = fit(&usual.ending(Newton::Never, 0.0).by());
        let found = fit(&usual.ending(Newton::Never, Criteria::DEFAULT.finish).by());
        for (found, expected) in found.numbers().into_iter().zip(expected.numbers()).take(10) {
            let off = (found - expected).abs();
            assert!(off < 2e-5 * expected.abs().max(1.0), "{number}: {found} {expected}");
        }
        looked_at += all.evaluations;
        foreseen += found.evaluations;
    }
    assert!(foreseen < 0.8 * looked_at, "{foreseen} evaluations in place of {looked_at}");
}

/// Proves that a single thread with its pixels in memory finds what the reference finds.
#[test]
fn a_thread_with_pixels_in_memory() {
    let size = Size::new(9, 9);
    let setup = Setup::<f32>::new(size, &Options::default()).expect("a window to fit");
    check_windows(size, "one thread, in memory", |pixels, start| {
        let mut rows: [[f32; 9]; 9] =
            std::array::from_fn(|row| std::array::from_fn(|i| pixels[row * 9 + i]));
        let start = start
            .map(|Circle { x, y, sigma }| Circle::new(x as f32, y as f32, sigma as f32).into());
        Fit::from(thread_per_fit::fit::<_, _, 9>(&setup, &mut rows, &[], start))
    });
}

/// Proves that it finds rotated spots with a weight and with a variance for each pixel, which count.
#[test]
fn a_thread_with_notes_in_memory() {
    let size = Size::new(9, 9);
    let pixels = rotated_window(size, [0.0; 2]);
    let mut notes: Vec<f32> = (0..81).map(|i| 1.0 + (i % 5) as f32).collect();
    // A pixel of which nothing is known, which would count.
    let mut spoilt = pixels;
    (spoilt[30], notes[30]) = (3000.0, 0.0);
    let square = |of: &[f32]| -> [[f32; 9]; 9] {
        std::array::from_fn(|row| std::array::from_fn(|i| of[row * 9 + i]))
    };
    let options = Options::default().with_criteria(Criteria::TIGHT);
    let weighted =
        WeightedFit::<f64, _, 5>::for_spots(Rotated, size, &options, true).expect("sound");
    let expected = serial(&weighted, &spoilt, &notes);
    let weighted =
        WeightedFit::<f32, _, 5>::for_spots(Rotated, size, &options, true).expect("sound");
    let mut rows = square(&spoilt);
    let found =
        thread_per_fit::fit::<_, _, 9>(&weighted, &mut rows, &square(&notes), None).numbers();
    for j in 0..5 {
        let off = (f64::from(found[j]) - expected.numbers()[j]).abs();
        assert!(off < 1e-3, "{found:?} {expected:?}");
    }
}

fn check_shared_memory(width: usize, height: usize) {
    let size = Size::new(width, height);
    let setup = Setup::<Lanes<f32, 8>>::new(size, &Options::default()).expect("a window to fit");
    check_windows(size, "in shared memory", |pixels, start| {
        let mut tile = Shared::<8>::of(width, pixels.to_vec());
        only(shared_memory::fit(&setup, &mut tile, start.map(in_lanes)))
    });
}

/// Proves that kernels with pixels in shared memory find what the reference finds, in windows of any shape, with more and fewer
/// columns than threads.
#[test]
fn pixels_in_shared_memory() {
    on_a_large_stack(|| {
        for (width, height) in
            [(5, 9), (8, 8), (11, 6), (9, 12), (16, 5), (21, 13), (17, 17), (33, 12), (12, 40)]
        {
            check_shared_memory(width, height);
        }
    });
}

type Pack = Lanes<f32, 8>;

/// Proves that kernels whose lines are columns find the spots on planes that the reference finds by rows, with background, slopes and
/// errors, for every shape and profile, with weights and hidden pixels. Shapes whose axes are those of the window share the lines of
/// a visit to the pixels.
#[test]
fn planes_in_columns() {
    on_a_large_stack(|| {
        for (width, height) in [(9, 11), (7, 8)] {
            for profile in [PixelProfile::Sampled, PixelProfile::Integrated] {
                let size = Size::new(width, height);
                check_plane::<_, 5, 9>(Rotated, size, profile);
                check_plane::<_, 4, 8>(Elliptical, size, profile);
                check_plane_by_likelihood::<_, 3, 7>(Circular, size, profile);
                let fixed = Fixed::from_numbers([1.4, 1.4]);
                check_plane_by_likelihood::<_, 2, 6>(fixed, size, profile);
            }
        }
    });
}

fn on_plane(profile: PixelProfile) -> Options {
    Options::default()
        .with_criteria(Criteria::TIGHT)
        .with_profile(profile)
        .with_background(Background::Plane)
}

fn check_plane<S: Summable<P>, const P: usize, const Q: usize>(
    shape: S,
    size: Size,
    profile: PixelProfile,
) {
    let options = on_plane(profile);
    let weights: Vec<f32> = (0..size.pixels()).map(|i| (i % 5) as f32 * 0.6).collect();
    let serial = PlaneFit::<f64, S, P, false>::for_spots(shape, size, &options, false);
    let lanes = PlaneFit::<Pack, S, P, false, ROUGH>::for_spots(shape, size, &options, false);
    let fits = both(&serial.expect("sound"), &lanes.expect("sound"), &[]);
    check_both::<_, P, Q>(shape, size, &options, &[], fits);
    let serial = PlaneFit::<f64, S, P, true>::for_spots(shape, size, &options, false);
    let lanes = PlaneFit::<Pack, S, P, true, ROUGH>::for_spots(shape, size, &options, false);
    let fits = both(&serial.expect("sound"), &lanes.expect("sound"), &weights);
    check_both::<_, P, Q>(shape, size, &options, &[], fits);
    check_plane_by_likelihood::<_, P, Q>(shape, size, profile);
}

fn check_plane_by_likelihood<S: Summable<P>, const P: usize, const Q: usize>(
    shape: S,
    size: Size,
    profile: PixelProfile,
) {
    let options = on_plane(profile).with_estimator(Estimator::MaximumLikelihood);
    let variances: Vec<f32> =
        (0..size.pixels()).map(|i| if i % 9 == 4 { 1e30 } else { (i % 3) as f32 }).collect();
    let serial = Likelihood::<f64, S, P, Q, true>::for_spots(shape, size, &options, true);
    let lanes = Likelihood::<Pack, S, P, Q, true>::for_spots(shape, size, &options, true);
    let fits = both(&serial.expect("sound"), &lanes.expect("sound"), &variances);
    check_both::<_, P, Q>(shape, size, &options, &variances, fits);
}

/// Compares the fits, and the errors that lanes and a number find of the second one, with these variances of pixels.
fn check_both<S: Summable<P>, const P: usize, const Q: usize>(
    shape: S,
    size: Size,
    options: &Options,
    variances: &[f32],
    [found, expected]: [RawFit<f64>; 2],
) {
    let what = format!("{shape:?}, {size:?}, {:?}", options.profile);
    check_alike(&found, &expected, &what);
    let mapped = !variances.is_empty();
    let mut tile = Shared::<8>::of(size.width, rotated_window(size, SLOPE));
    tile.notes = variances.to_vec();
    let number =
        CovarianceEstimator::<f64, S, P, Q>::for_shape(shape, size, options, mapped, false);
    let lanes =
        CovarianceEstimator::<Pack, S, P, Q>::for_shape(shape, size, options, mapped, false);
    let at = (expected.outline, expected.linear, expected.slopes);
    let in_a_number = errors_in_a_number(&number.expect("sound"), &tile, at).numbers();
    let in_lanes = errors_in_lanes(&lanes.expect("sound"), &mut tile, at).numbers();
    // Of x and y, and of the background.
    for j in [0, 7, 27] {
        let (found, expected) = (f64::from(in_lanes[j].0[0]), in_a_number[j]);
        assert!((found / expected - 1.0).abs() < 1e-2, "{what}: {found} {expected}");
    }
}

/// An outline, amplitude and background, and slopes.
type Found = (Outline<f64>, [f64; 2], [f64; 2]);

fn errors_in_a_number<S: Summable<P>, const P: usize, const Q: usize>(
    covariance: &CovarianceEstimator<f64, S, P, Q>,
    tile: &Shared<8>,
    (outline, linear, slopes): Found,
) -> ErrorEstimate<f64> {
    let size = Size::new(tile.width, tile.pixels.len() / tile.width);
    let mut scratch = vec![0.0; Axes::<f64>::scratch_len(size)];
    let mut axes = Axes::new(&mut scratch, size).expect("as much as it takes");
    let [pixels, notes, weights] =
        [&tile.pixels, &tile.notes, &tile.weights].map(|numbers| wide(numbers));
    let tile = Serial::new(&pixels[..], size, &mut axes).with_notes(&notes);
    covariance.errors(&mut tile.with_weights(&weights), outline, linear, slopes)
}

fn errors_in_lanes<S: Summable<P>, const P: usize, const Q: usize>(
    covariance: &CovarianceEstimator<Pack, S, P, Q>,
    tile: &mut Shared<8>,
    (outline, linear, slopes): Found,
) -> ErrorEstimate<Pack> {
    let pack = |number: f64| Lanes([number as f32; 8]);
    let Outline { x, y, sigma_x, sigma_y, angle } = outline;
    let [x, y, sigma_x, sigma_y, angle] = [x, y, sigma_x, sigma_y, angle].map(pack);
    let outline = Outline { x, y, sigma_x, sigma_y, angle };
    shared_memory::errors(covariance, tile, outline, linear.map(pack), slopes.map(pack))
}

/// The light of a slope, in a column and in a row.
const SLOPE: [f32; 2] = [7.0, -4.0];

/// What lanes find, and what a number finds.
fn both<M: Method<f64>, L: Method<Pack>>(method: &M, lanes: &L, notes: &[f32]) -> [RawFit<f64>; 2] {
    let size = method.size();
    let pixels = rotated_window(size, SLOPE);
    let expected = serial(method, &pixels, notes);
    let mut tile = Shared::<8> { notes: notes.to_vec(), ..Shared::of(size.width, pixels) };
    let found = same(shared_memory::fit(lanes, &mut tile, None).numbers()).map(f64::from);
    [RawFit::from_numbers(found), expected]
}

/// Proves that a kernel finds the errors of a fit that a serial pass finds in double precision, with variances and weights or
/// without, in windows with more and fewer columns than threads; and that what travels to a device says the same.
#[test]
fn errors_in_shared_memory() {
    on_a_large_stack(|| {
        let camera =
            Camera::default().with_baseline(20.0).with_sensitivity(0.5).with_read_noise(2.0);
        for estimator in Estimator::ALL {
            for camera in [camera, camera.with_em_gain(Some(3.0))] {
                for noted in [false, true] {
                    let options =
                        Options::default().with_estimator(estimator).with_camera(Some(camera));
                    check_errors(9, 11, &options, noted);
                    check_errors(7, 11, &options, noted);
                }
            }
        }
    });
}

fn check_errors(width: usize, height: usize, options: &Options, noted: bool) {
    let size = Size::new(width, height);
    let pixels = rotated_window(size, [0.0; 2]);
    let all = |of: fn(usize) -> f32| -> Vec<f32> {
        (0..if noted { pixels.len() } else { 0 }).map(of).collect()
    };
    let notes = all(|i| if i == 30 { f32::MAX } else { 1.0 + (i % 5) as f32 });
    let weights = all(|i| if i == 40 { 0.0 } else { 0.5 + (i % 3) as f32 });
    let (x, y, sigma_x, sigma_y, angle) = (0.5 * width as f64 - 0.5, 5.2, 1.6, 1.1, 0.45);
    let (amplitude, background) = (if noted { 490.0 } else { 240.0 }, 38.0);
    let status = fit_core::Status::MinDelta;
    let fit =
        Fit { x, y, sigma_x, sigma_y, angle, amplitude, background, status, ..Fit::invalid() };
    let at = (Outline { x, y, sigma_x, sigma_y, angle }, [amplitude, background], [0.0; 2]);
    let mut tile = Shared::<8> { width, pixels, notes, weights };
    let serial = |covariance: &CovarianceEstimator<f64, Rotated, 5, 7>| {
        Errors::from_estimate(&errors_in_a_number(covariance, &tile, at), &fit, 7)
    };
    let covariance =
        CovarianceEstimator::<f64, _, 5, 7>::for_shape(Rotated, size, options, noted, noted);
    let expected = serial(&covariance.expect("sound"));
    assert!(!expected.exploding, "{expected:?}");

    let task = Task::of_errors(size, options, noted, noted).expect("sound");
    let travelled = serial(&task.covariance_estimator::<f64, Rotated, 5, 7>(noted));
    let covariance =
        CovarianceEstimator::<Pack, _, 5, 7>::for_shape(Rotated, size, options, noted, noted);
    let estimate = errors_in_lanes(&covariance.expect("sound"), &mut tile, at);
    let numbers = same(estimate.numbers()).map(DeviceF32);
    let found = Job::errors(&ErrorEstimate::from_numbers(&numbers), &fit.cast(), 7);
    for (found, within) in [(travelled, 1e-5), (found, 1e-3)] {
        let each = |of: &Errors| {
            let all = Parameter::ALL.map(|parameter| of.of(parameter));
            all.into_iter().chain([of.photons, of.goodness]).collect::<Vec<f32>>()
        };
        for (a, b) in each(&found).into_iter().zip(each(&expected)) {
            assert!((a / b - 1.0).abs() < within, "{found:?} {expected:?} {options:?}, {noted}");
        }
    }
}
