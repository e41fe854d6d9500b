//! The logic of kernels with rows in shared memory on the host: the threads of a fit stand in for lanes of a pack.

use fit_core::pass::{Group, Likelihood, Method, PlaneFit, ROUGH, Summable, WeightedFit};
use fit_core::spot::axis::AxisSample;
use fit_core::spot::shape::{Circular, Elliptical, Fixed, Outlined, Rotated};
use fit_core::{
    Background, Criteria, Estimator, Lanes, Options, PixelProfile, Real, Setup, Size, fit_in_place,
    scratch_len,
};
use fit_gpu_kernel::Marks;
use fit_gpu_kernel::shared_rows::{self, RowsTile};

use crate::on_a_large_stack;

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

impl<const N: usize> Group<Pack<N>> for Shared<N> {
    const LANES: usize = N;

    fn lane(&self) -> Pack<N> {
        Lanes(std::array::from_fn(|lane| lane as f32))
    }
    fn first(&self, value: Pack<N>) -> Pack<N> {
        Lanes([value.0[0]; N])
    }
    fn exchanged(&self, value: Pack<N>, step: usize) -> Pack<N> {
        Lanes(std::array::from_fn(|lane| value.0[lane ^ step]))
    }
    fn neighbour(&self, _: Pack<N>, _: isize) -> Pack<N> {
        unreachable!("rows beside each other are in memory")
    }
}

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

/// A rotated spot on a slope, with a ripple that takes the place of noise.
fn window(size: Size) -> Vec<f32> {
    let (x, y) = (0.5 * size.width as f32 - 0.6, 0.5 * size.height as f32 - 0.2);
    (0..size.pixels())
        .map(|i| {
            let (column, row) = ((i % size.width) as f32, (i / size.width) as f32);
            let (dx, dy) = (column - x, row - y);
            let (u, v) = (0.9 * dx + 0.436 * dy, -0.436 * dx + 0.9 * dy);
            let ripple = ((i * 37) % 17) as f32 - 8.0;
            100.0 + 3.0 * column - 2.0 * row + 500.0 * (-(u * u / 5.1 + v * v / 2.4)).exp() + ripple
        })
        .collect()
}

/// Compares what lanes find with what a number finds, in double precision.
fn check<M: Method<f64>, L: Method<Pack<N>>, const N: usize>(
    serial: &M,
    lanes: &L,
    notes: &[f32],
    what: &str,
) {
    let size = serial.size();
    let pixels = window(size);
    let mut scratch = vec![0.0; scratch_len(size)];
    for (number, &pixel) in scratch.iter_mut().zip(&pixels) {
        *number = f64::from(pixel);
    }
    let wide: Vec<f64> = notes.iter().map(|&note| f64::from(note)).collect();
    let expected = fit_in_place(serial, None, &mut scratch, &wide).expect("as many numbers");
    let mut tile = Shared::<N>::of(size, &pixels, notes);
    let found = shared_rows::fit(lanes, &mut tile, None).numbers().map(|number| {
        assert!(number.0.iter().all(|lane| lane.to_bits() == number.0[0].to_bits()), "{what}");
        f64::from(number.0[0])
    });
    let expected = expected.numbers();
    for j in 0..9 {
        // Of slopes the scale is that of the background, and an angle is one where there is a longer axis.
        let scale = if j < 5 { 1.0 } else { expected[6].abs().max(expected[j].abs()) };
        let near = if j == 4 { 0.05 } else { 2e-3 };
        assert!(
            (found[j] - expected[j]).abs() < near * scale,
            "{what}, {j}: {found:?} {expected:?}"
        );
    }
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

/// Compares a method of both kinds of numbers; `$of` is that of one number, `$in_lanes` that of lanes.
macro_rules! check {
    ($case:expr, $what:literal, $notes:expr, [$($of:tt)*], [$($in_lanes:tt)*], $options:expr $(, $rest:expr)*) => {
        check::<_, _, N>(
            &$($of)*::for_spots($case.shape, $case.size, &$options $(, $rest)*).expect("sound"),
            &$($in_lanes)*::for_spots($case.shape, $case.size, &$options $(, $rest)*).expect("sound"),
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
    check!(
        case,
        "plane, likelihood",
        variances,
        [Likelihood::<f64, S, P, T, true>],
        [Likelihood::<Pack<N>, S, P, T, true>],
        on_plane,
        true
    );
}

/// Every method, for a shape.
fn check_methods<S: Summable<P>, const P: usize, const Q: usize, const T: usize, const N: usize>(
    case: &Case<S>,
) {
    check_shape::<S, P, T, N>(case);
    let Case { options, weights, variances, .. } = case;
    let likely = options.with_estimator(Estimator::MaximumLikelihood);
    let on_plane = options.with_background(Background::Plane);
    check!(
        case,
        "weights",
        weights,
        [WeightedFit::<f64, S, P>],
        [WeightedFit::<Pack<N>, S, P>],
        options,
        false
    );
    check!(
        case,
        "likelihood",
        &[],
        [Likelihood::<f64, S, P, Q, false>],
        [Likelihood::<Pack<N>, S, P, Q, false>],
        likely,
        false
    );
    check!(
        case,
        "likelihood, mapped",
        variances,
        [Likelihood::<f64, S, P, Q, true>],
        [Likelihood::<Pack<N>, S, P, Q, true>],
        likely,
        true
    );
    check!(
        case,
        "plane",
        &[],
        [PlaneFit::<f64, S, P, false>],
        [PlaneFit::<Pack<N>, S, P, false, ROUGH>],
        on_plane,
        false
    );
    check!(
        case,
        "plane, weights",
        weights,
        [PlaneFit::<f64, S, P, true>],
        [PlaneFit::<Pack<N>, S, P, true, ROUGH>],
        on_plane,
        false
    );
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
            let Marks { row, fit, .. } = Marks::new(side, side, lanes);
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
