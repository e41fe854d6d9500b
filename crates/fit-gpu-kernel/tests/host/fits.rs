//! Pixels in registers and in a thread's memory: groups of threads stand in for lanes of a pack.

use fit_core::pass::{OneLane, RawFit, RoughFit, WeightedFit};
use fit_core::search::Newton;
use fit_core::spot::shape::{Circular, Rotated};
use fit_core::{
    Circle, Criteria, Fit, Lanes, Options, Outline, PixelProfile, Real, Setup, Size, fit_window,
    scratch_len,
};
use fit_gpu_kernel::square_tile;
use fit_gpu_kernel::{DeviceF32, Job, Task};

use crate::{Threads, rotated_window, same, serial};

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
pub(crate) fn only<const N: usize>(found: RawFit<Lanes<f32, N>>) -> Fit<f32> {
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
pub(crate) fn check_windows(
    size: Size,
    what: &str,
    fit: impl Fn(&[f32], Option<Circle<f64>>) -> Fit<f32>,
) {
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

pub(crate) fn in_lanes<const N: usize>(start: Circle<f64>) -> Outline<Lanes<f32, N>> {
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
        only(square_tile::fit::<_, _, _, _, SIDE>(&setup, &Threads, &mut lanes, &[], start))
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
        let found = square_tile::fit::<_, _, _, _, 7>(&setup, &OneLane, &mut numbers, &[], None);
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
            square_tile::fit(method, &OneLane, &mut rows[..], &[], None)
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
        Fit::from(square_tile::fit(&setup, &OneLane, &mut rows[..], &[], start))
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
        square_tile::fit(&weighted, &OneLane, &mut rows[..], &square(&notes), None).numbers();
    for j in 0..5 {
        let off = (f64::from(found[j]) - expected.numbers()[j]).abs();
        assert!(off < 1e-3, "{found:?} {expected:?}");
    }
}
