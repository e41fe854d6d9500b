//! The logic of kernels with rows in shared memory on the host: the threads of a fit stand in for lanes of a pack.

use fit_core::pass::{
    Axes, CovarianceEstimator, ErrorEstimate, Likelihood, Method, PlaneFit, ROUGH, RawFit, Serial,
    Summable, WeightedFit,
};
use fit_core::spot::axis::AxisSample;
use fit_core::spot::shape::{Circular, Elliptical, Fixed, Outlined, Rotated};
use fit_core::{
    Background, Camera, Criteria, Errors, Estimator, Fit, Lanes, Options, Outline, Parameter,
    PixelProfile, Real, Setup, Size, Status,
};
use fit_gpu_kernel::shared_rows::{self, RowsTile};
use fit_gpu_kernel::{DeviceF32, Job, Specialization, Task};

use crate::fits::{check_windows, in_lanes, only};
use crate::{as_threads, check_alike, on_a_large_stack, rotated_window, same, serial, wide};

type Pack<const N: usize> = Lanes<f32, N>;

/// The threads of a fit with what they have in shared memory. What nobody has written are numbers that must not matter.
struct Shared<const N: usize> {
    size: Size,
    pixels: Vec<f32>,
    /// Empty where nothing is known.
    notes: Vec<f32>,
    weights: Vec<f32>,
    samples: Vec<[f32; 5]>,
}

impl<const N: usize> Shared<N> {
    fn of(size: Size, pixels: &[f32], notes: &[f32]) -> Self {
        let samples = vec![[f32::NAN; 5]; size.width];
        let [pixels, notes] = [pixels, notes].map(<[f32]>::to_vec);
        Self { size, pixels, notes, weights: Vec::new(), samples }
    }

    /// The numbers of the lanes in a column, or `other` where there are none.
    fn at(&self, of: &[f32], row: [usize; N], column: usize, other: f32) -> Pack<N> {
        let number = |row| of.get(row * self.size.width + column).copied().unwrap_or(other);
        Lanes(row.map(number))
    }
}

as_threads!(Shared);

impl<const N: usize> RowsTile<Pack<N>> for Shared<N> {
    type Row = [usize; N];

    fn size(&self) -> Size {
        self.size
    }
    fn lanes(&self) -> usize {
        N
    }
    fn is_whole(&self) -> bool {
        self.size.height.is_multiple_of(N)
    }
    fn row(&self, line: usize, step: isize) -> [usize; N] {
        let last = self.size.height - 1;
        std::array::from_fn(|lane| (line * N + lane).saturating_add_signed(step).min(last))
    }
    fn pixel(&self, row: [usize; N], column: usize) -> Pack<N> {
        self.at(&self.pixels, row, column, f32::NAN)
    }
    fn note(&self, row: [usize; N], column: usize) -> Pack<N> {
        self.at(&self.notes, row, column, 0.0)
    }
    fn weight(&self, row: [usize; N], column: usize) -> Pack<N> {
        self.at(&self.weights, row, column, 1.0)
    }
    fn set(
        &mut self,
        row: [usize; N],
        column: usize,
        mask: <Pack<N> as Real>::Mask,
        value: Pack<N>,
    ) {
        for lane in (0..N).filter(|&lane| mask.0[lane]) {
            self.pixels[row[lane] * self.size.width + column] = value.0[lane];
        }
    }
    fn put<const SECOND: bool>(
        &mut self,
        block: usize,
        mask: <Pack<N> as Real>::Mask,
        sample: AxisSample<Pack<N>>,
    ) {
        let AxisSample { value, by_centre, by_width, second: [first, second] } = sample;
        for lane in (0..N).filter(|&lane| mask.0[lane]) {
            let unknown = if SECOND { 1.0 } else { f32::NAN };
            let numbers = [value, by_centre, by_width, first, second].map(|n| n.0[lane]);
            self.samples[block * N + lane] =
                std::array::from_fn(|i| numbers[i] * if i < 3 { 1.0 } else { unknown });
        }
    }
    fn sample<const SECOND: bool>(&self, column: usize) -> AxisSample<Pack<N>> {
        let [value, by_centre, by_width, second @ ..] =
            self.samples[column].map(|number| Lanes([number; N]));
        AxisSample { value, by_centre, by_width, second }
    }
    fn publish(&self) {}
}

/// Compares what lanes find with what a number finds, in double precision.
fn check<M: Method<f64>, L: Method<Pack<N>>, const N: usize>(
    method: &M,
    lanes: &L,
    notes: &[f32],
    what: &str,
) {
    let size = method.size();
    let pixels = rotated_window(size, [3.0, -2.0]);
    let mut tile = Shared::<N>::of(size, &pixels, notes);
    let found = same(shared_rows::fit(lanes, &mut tile, None).numbers()).map(f64::from);
    check_alike(&RawFit::from_numbers(found), &serial(method, &pixels, notes), what);
}

/// A shape in windows of a size, and what methods come with.
struct Case<S> {
    shape: S,
    size: Size,
    options: Options,
    weights: Vec<f32>,
    variances: Vec<f32>,
}

impl<S: std::fmt::Debug> Case<S> {
    fn new(shape: S, (width, height): (usize, usize), profile: PixelProfile) -> Self {
        let pixels = 0..width * height;
        Self {
            shape,
            size: Size::new(width, height),
            options: Options::default().with_criteria(Criteria::TIGHT).with_profile(profile),
            weights: pixels.clone().map(|i| (i % 5) as f32 * 0.6).collect(),
            variances: pixels.map(|i| if i % 9 == 4 { 1e30 } else { (i % 3) as f32 }).collect(),
        }
    }

    fn what(&self, method: &str) -> String {
        let Self { shape, size, options, .. } = self;
        format!("{method}, {shape:?}, {size:?}, {:?}", options.profile)
    }
}

/// Compares a method with generic arguments for both kinds of numbers.
macro_rules! check {
    ($case:expr, $what:literal, $notes:expr, $of:ident<S, $($of_one:tt),*>, $($of_lanes:tt),*; $options:expr, $mapped:expr) => {
        check::<_, _, N>(
            &$of::<f64, S, $($of_one),*>::for_spots($case.shape, $case.size, &$options, $mapped)
                .expect("sound"),
            &$of::<Pack<N>, S, $($of_lanes),*>::for_spots($case.shape, $case.size, &$options, $mapped)
                .expect("sound"),
            $notes,
            &$case.what($what),
        )
    };
}

/// What has lines for each shape: the sums of least squares, and those with weights of pixels.
fn check_shape<S: Summable<P>, const P: usize, const T: usize, const N: usize>(case: &Case<S>) {
    let Case { shape, size, options, variances, .. } = case;
    let setup = Setup::<f64, S, P>::for_shape(*shape, *size, options).expect("sound");
    let in_lanes = Setup::<Pack<N>, S, P>::for_shape(*shape, *size, options).expect("sound");
    check::<_, _, N>(&setup, &in_lanes.by::<2, false, ROUGH>(), &[], &case.what("least squares"));
    let likely = options.with_estimator(Estimator::MaximumLikelihood);
    let on_plane = likely.with_background(Background::Plane);
    check!(case, "plane, likelihood", variances, Likelihood<S, P, T, true>, P, T, true; on_plane, true);
}

/// Every method, for a shape.
fn check_methods<S: Summable<P>, const P: usize, const Q: usize, const T: usize, const N: usize>(
    case: &Case<S>,
) {
    check_shape::<S, P, T, N>(case);
    let Case { options, weights, variances, .. } = case;
    let likely = options.with_estimator(Estimator::MaximumLikelihood);
    let on_plane = options.with_background(Background::Plane);
    check!(case, "weights", weights, WeightedFit<S, P>, P; options, false);
    check!(case, "likelihood", &[], Likelihood<S, P, Q, false>, P, Q, false; likely, false);
    check!(case, "mapped", variances, Likelihood<S, P, Q, true>, P, Q, true; likely, true);
    check!(case, "plane", &[], PlaneFit<S, P, false>, P, false, ROUGH; on_plane, false);
    check!(case, "plane, weights", weights, PlaneFit<S, P, true>, P, true, ROUGH; on_plane, false);
}

/// Proves that rows in shared memory give what the reference finds, for every shape and method, with a thread and with some, and windows
/// of all forms, that threads divide and others, and longer than a warp. Shapes whose axes are those of the window share the lines of
/// a visit to the pixels: of these one has every method.
#[test]
fn rows_of_every_shape_and_method() {
    on_a_large_stack(|| {
        for profile in [PixelProfile::Sampled, PixelProfile::Integrated] {
            for size in [(9, 9), (9, 11), (13, 8), (16, 16), (34, 9), (8, 35)] {
                check_methods::<_, 5, 7, 9, 2>(&Case::new(Rotated, size, profile));
            }
            for size in [(10, 10), (9, 13), (35, 8), (10, 34)] {
                check_methods::<_, 4, 6, 8, 4>(&Case::new(Elliptical, size, profile));
            }
            let fixed = Fixed::from_numbers([1.4, 1.4]);
            for size in [(8, 8), (9, 7), (33, 10), (9, 36)] {
                check_shape::<_, 3, 7, 1>(&Case::new(Circular, size, profile));
                check_shape::<_, 2, 6, 8>(&Case::new(fixed, size, profile));
            }
        }
    });
}

/// Proves that rows in shared memory find what the reference finds, from the same start, after as many iterations, in windows of any
/// shape, with more and fewer rows than threads.
#[test]
fn windows_of_every_size() {
    on_a_large_stack(|| {
        for (width, height) in
            [(5, 9), (8, 8), (11, 6), (9, 12), (16, 5), (21, 13), (17, 17), (33, 12), (12, 40)]
        {
            let size = Size::new(width, height);
            let setup = Setup::<Pack<8>>::new(size, &Options::default()).expect("a window to fit");
            check_windows(size, "rows", |pixels, start| {
                let mut tile = Shared::<8>::of(size, pixels, &[]);
                only(shared_rows::fit(&setup, &mut tile, start.map(in_lanes)))
            });
        }
    });
}

/// What pixels come with when errors are found.
struct Noted<'a> {
    pixels: &'a [f32],
    /// Variances, and weights beside them; empty where nothing is known.
    notes: &'a [f32],
    weights: &'a [f32],
}

impl Noted<'_> {
    /// What a number finds in double precision.
    fn serial<S: Summable<P>, const P: usize, const Q: usize>(
        &self,
        covariance: &CovarianceEstimator<f64, S, P, Q>,
        RawFit { outline, linear, slopes, .. }: RawFit<f64>,
    ) -> ErrorEstimate<f64> {
        let size = covariance.size();
        let mut scratch = vec![0.0; Axes::<f64>::scratch_len(size)];
        let mut axes = Axes::new(&mut scratch, size).expect("as much as it takes");
        let [pixels, notes, weights] = [self.pixels, self.notes, self.weights].map(wide);
        let tile = Serial::new(&pixels[..], size, &mut axes);
        let mut tile = tile.with_notes(&notes).with_weights(&weights);
        covariance.errors(&mut tile, outline, linear, slopes)
    }

    /// What lanes find.
    fn in_lanes<S: Summable<P>, const P: usize, const Q: usize, const N: usize>(
        &self,
        covariance: &CovarianceEstimator<Pack<N>, S, P, Q>,
        RawFit { outline, linear, slopes, .. }: RawFit<f64>,
    ) -> [f32; ErrorEstimate::<f32>::NUMBERS] {
        let mut tile = Shared::<N>::of(covariance.size(), self.pixels, self.notes);
        tile.weights = self.weights.to_vec();
        let Outline { x, y, sigma_x, sigma_y, angle } = outline;
        let [x, y, sigma_x, sigma_y, angle] = [x, y, sigma_x, sigma_y, angle].map(Lanes::splat);
        let outline = Outline { x, y, sigma_x, sigma_y, angle };
        let [linear, slopes] = [linear, slopes].map(|two| two.map(Lanes::splat));
        same(shared_rows::errors(covariance, &mut tile, outline, linear, slopes).numbers())
    }
}

/// Proves that rows in shared memory have the errors of spots on planes that a number finds, by every estimator, for every shape and
/// profile, with hidden pixels, in windows of all forms.
#[test]
fn errors_on_planes() {
    on_a_large_stack(|| {
        for size in [(9, 11), (7, 8), (34, 9), (9, 33)] {
            for profile in [PixelProfile::Sampled, PixelProfile::Integrated] {
                check_errors_on_a_plane::<_, 5, 9, 2>(&Case::new(Rotated, size, profile));
                check_errors_on_a_plane::<_, 4, 8, 8>(&Case::new(Elliptical, size, profile));
                check_errors_on_a_plane::<_, 3, 7, 1>(&Case::new(Circular, size, profile));
                let fixed = Fixed::from_numbers([1.4, 1.4]);
                check_errors_on_a_plane::<_, 2, 6, 4>(&Case::new(fixed, size, profile));
            }
        }
    });
}

fn check_errors_on_a_plane<S: Summable<P>, const P: usize, const Q: usize, const N: usize>(
    case: &Case<S>,
) {
    let Case { shape, size, options, variances, .. } = case;
    let pixels = rotated_window(*size, [7.0, -4.0]);
    let options = options.with_background(Background::Plane);
    for (estimator, notes) in
        [(Estimator::LeastSquares, &[][..]), (Estimator::MaximumLikelihood, variances)]
    {
        let (options, mapped) = (options.with_estimator(estimator), !notes.is_empty());
        let likely = options.with_estimator(Estimator::MaximumLikelihood);
        let method = Likelihood::<f64, S, P, Q, true>::for_spots(*shape, *size, &likely, true);
        let fit = serial(&method.expect("sound"), &pixels, variances);
        let noted = Noted { pixels: &pixels, notes, weights: &[] };
        let of = CovarianceEstimator::<f64, S, P, Q>::for_shape;
        let expected =
            noted.serial(&of(*shape, *size, &options, mapped, false).expect("sound"), fit);
        let of = CovarianceEstimator::<Pack<N>, S, P, Q>::for_shape;
        let found =
            noted.in_lanes(&of(*shape, *size, &options, mapped, false).expect("sound"), fit);
        // Of x and y, and of the background.
        for j in [0, 7, 27] {
            let (found, expected) = (f64::from(found[j]), expected.numbers()[j]);
            let what = case.what("errors");
            assert!((found / expected - 1.0).abs() < 1e-2, "{what}: {found} {expected}");
        }
    }
}

/// Proves that rows in shared memory have the errors of a fit that a serial pass finds in double precision, with variances and weights
/// or without, in windows of all forms; and that what travels to a device says the same.
#[test]
fn errors_of_every_estimator() {
    on_a_large_stack(|| {
        let camera =
            Camera::default().with_baseline(20.0).with_sensitivity(0.5).with_read_noise(2.0);
        for estimator in Estimator::ALL {
            for camera in [camera, camera.with_em_gain(Some(3.0))] {
                let options =
                    Options::default().with_estimator(estimator).with_camera(Some(camera));
                for size in [(9, 11), (7, 11), (35, 11), (9, 37)] {
                    check_errors(size, &options, false);
                    check_errors(size, &options, true);
                }
            }
        }
    });
}

fn check_errors((width, height): (usize, usize), options: &Options, noted: bool) {
    let size = Size::new(width, height);
    let pixels = rotated_window(size, [0.0; 2]);
    let all = |of: fn(usize) -> f32| -> Vec<f32> {
        (0..if noted { pixels.len() } else { 0 }).map(of).collect()
    };
    let notes = all(|i| if i == 30 { f32::MAX } else { 1.0 + (i % 5) as f32 });
    let weights = all(|i| if i == 40 { 0.0 } else { 0.5 + (i % 3) as f32 });
    let noted_pixels = Noted { pixels: &pixels, notes: &notes, weights: &weights };
    let (x, y) = (0.5 * width as f32 - 0.5, 0.5 * height as f32 - 0.3);
    let (sigma_x, sigma_y, angle) = (1.6, 1.1, 0.45);
    let (amplitude, background) = (if noted { 490.0 } else { 240.0 }, 38.0);
    let known = Fit { status: Status::MinDelta, ..Fit::<f32>::invalid() };
    let fit = Fit { x, y, sigma_x, sigma_y, angle, amplitude, background, ..known };
    let [x, y, sigma_x, sigma_y, angle] = [x, y, sigma_x, sigma_y, angle].map(f64::from);
    let outline = Outline { x, y, sigma_x, sigma_y, angle };
    let linear = [amplitude, background].map(f64::from);
    let found = RawFit { outline, linear, ..RawFit::from_numbers([0.0; RawFit::<f64>::NUMBERS]) };
    let in_a_number = |covariance: &CovarianceEstimator<f64, Rotated, 5, 7>| {
        Errors::from_estimate(&noted_pixels.serial(covariance, found), &fit.cast(), 7)
    };
    let covariance =
        CovarianceEstimator::<f64, _, 5, 7>::for_shape(Rotated, size, options, noted, noted);
    let expected = in_a_number(&covariance.expect("sound"));
    assert!(!expected.exploding, "{expected:?}");

    let task = Task::of_errors(size, options, noted, noted).expect("sound");
    let travelled = in_a_number(&task.covariance_estimator::<f64, Rotated, 5, 7>(noted));
    let covariance =
        CovarianceEstimator::<Pack<2>, _, 5, 7>::for_shape(Rotated, size, options, noted, noted);
    let numbers = noted_pixels.in_lanes(&covariance.expect("sound"), found).map(DeviceF32);
    let found = Job::errors(&ErrorEstimate::from_numbers(&numbers), &fit, 7);
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

/// Proves that the threads of a warp read different banks of shared memory, whatever the side.
#[test]
fn banks_are_different() {
    for side in 4..=70 {
        for lanes in [1, 2, 4, 8, 16, 32] {
            let Specialization { row, fit, .. } = Specialization::new(side, side, lanes);
            assert!(row >= side && fit >= row * side, "{side}, {lanes}");
            assert!(fit < row * side + 32, "{side}, {lanes}");
            let mut banks: Vec<usize> =
                (0..32).map(|thread| (thread % lanes * row + thread / lanes * fit) % 32).collect();
            banks.sort_unstable();
            banks.dedup();
            assert_eq!(banks.len(), 32, "{side}, {lanes}");
        }
    }
}
