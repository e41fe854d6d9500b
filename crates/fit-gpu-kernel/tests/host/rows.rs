//! The logic of kernels with rows in shared memory on the host: the threads of a fit stand in for lanes of a pack.

use fit_core::pass::{Likelihood, Method, PlaneFit, ROUGH, RawFit, Summable, WeightedFit};
use fit_core::spot::axis::AxisSample;
use fit_core::spot::shape::{Circular, Elliptical, Fixed, Outlined, Rotated};
use fit_core::{Background, Criteria, Estimator, Lanes, Options, PixelProfile, Real, Setup, Size};
use fit_gpu_kernel::Specialization;
use fit_gpu_kernel::shared_rows::{self, RowsTile};

use crate::{as_threads, check_alike, on_a_large_stack, rotated_window, same, serial};

type Pack<const N: usize> = Lanes<f32, N>;

/// The threads of a fit with what they have in shared memory. What nobody has written are numbers that must not matter.
struct Shared<const N: usize> {
    size: Size,
    pixels: Vec<f32>,
    notes: Vec<f32>,
    samples: Vec<[f32; 5]>,
}

impl<const N: usize> Shared<N> {
    fn of(size: Size, pixels: &[f32], notes: &[f32]) -> Self {
        let samples = vec![[f32::NAN; 5]; size.width];
        Self { size, pixels: pixels.to_vec(), notes: notes.to_vec(), samples }
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
        Lanes(row.map(|row| self.pixels[row * self.size.width + column]))
    }
    fn note(&self, row: [usize; N], column: usize) -> Pack<N> {
        if self.notes.is_empty() {
            return Lanes([0.0; N]);
        }
        Lanes(row.map(|row| self.notes[row * self.size.width + column]))
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

/// A shape in squares, and what methods come with.
struct Case<S> {
    shape: S,
    size: Size,
    options: Options,
    weights: Vec<f32>,
    variances: Vec<f32>,
}

impl<S: std::fmt::Debug> Case<S> {
    fn new(shape: S, side: usize, profile: PixelProfile) -> Self {
        let pixels = 0..side * side;
        Self {
            shape,
            size: Size::new(side, side),
            options: Options::default().with_criteria(Criteria::TIGHT).with_profile(profile),
            weights: pixels.clone().map(|i| (i % 5) as f32 * 0.6).collect(),
            variances: pixels.map(|i| if i % 9 == 4 { 1e30 } else { (i % 3) as f32 }).collect(),
        }
    }

    fn what(&self, method: &str) -> String {
        let Self { shape, size, options, .. } = self;
        format!("{method}, {shape:?}, {}, {:?}", size.width, options.profile)
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

/// Proves that rows in shared memory give what the reference finds, for every shape and method, with a thread and with some, and sides
/// that they divide and others. Shapes whose axes are those of the window share the lines of a visit to the pixels: of these one has
/// every method.
#[test]
fn rows_of_every_shape_and_method() {
    on_a_large_stack(|| {
        for profile in [PixelProfile::Sampled, PixelProfile::Integrated] {
            for side in [9, 13, 16] {
                check_methods::<_, 5, 7, 9, 2>(&Case::new(Rotated, side, profile));
            }
            check_methods::<_, 4, 6, 8, 4>(&Case::new(Elliptical, 10, profile));
            check_shape::<_, 3, 7, 1>(&Case::new(Circular, 8, profile));
            let fixed = Fixed::from_numbers([1.4, 1.4]);
            check_shape::<_, 2, 6, 8>(&Case::new(fixed, 16, profile));
        }
    });
}

/// Proves that the threads of a warp read different banks of shared memory, whatever the side.
#[test]
fn banks_are_different() {
    for side in 4..=32 {
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
