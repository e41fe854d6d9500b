//! What other projects build on: windows of any shape, the equations by name, and problems of their own.

use fit_core::equations::SpotEquations;
use fit_core::pass::{
    Axes, CovarianceEstimator, Likelihood, START_EVALUATIONS, Serial, Summable, Visitor,
};
use fit_core::{
    ArgumentError, Background, Circle, Errors, Estimator, Fit, Fitter, Options, Outline, Problem,
    ProblemOptions, Scalar, Setup, Shape, Size, Status, fit_in_place, fit_problem, fit_window,
    scratch_len,
};

const SIZE: Size = Size::new(9, 8);
const SHAPES: [Shape; 4] =
    [Shape::CIRCULAR, Shape::ELLIPTICAL, Shape::ROTATED, Shape::fixed_sigma(1.3)];

fn window() -> Vec<u16> {
    (0..SIZE.pixels())
        .map(|i| {
            let (x, y) = ((i % 9) as f64 - 4.2, (i / 9) as f64 - 3.6);
            let spot = 250.0 * (-(x * x / 3.0 + y * y / 3.8 + 0.1 * x * y)).exp();
            (spot + 20.0 + ((i * 29) % 13) as f64 - 6.0) as u16
        })
        .collect()
}

/// The same by the method of the shape, and its errors.
struct ByMethod<'a, R>(&'a Options, &'a [R]);

impl<R: Scalar> Visitor for ByMethod<'_, R> {
    type Output = (Fit<R>, Errors);

    fn visit<S: Summable<P>, const P: usize, const L: usize, const Q: usize>(
        self,
        shape: S,
    ) -> (Fit<R>, Errors) {
        let Self(options, pixels) = self;
        let mut scratch = vec![R::splat(0.0); scratch_len(SIZE)];
        scratch[..pixels.len()].copy_from_slice(pixels);
        let found = if options.estimator == Estimator::MaximumLikelihood {
            let method = Likelihood::<R, S, P, Q, true>::for_spots(shape, SIZE, options, false);
            // As the backends do, with a read noise of 0 for each pixel.
            let notes = vec![R::splat(0.0); SIZE.pixels()];
            fit_in_place(&method.unwrap(), None, &mut scratch, &notes)
        } else {
            let method = Setup::<R, S, P>::for_shape(shape, SIZE, options).unwrap();
            fit_in_place(&method, None, &mut scratch, &[])
        };
        let fit: Fit<R> = found.unwrap().into();
        let covariance =
            CovarianceEstimator::<R, S, P, Q>::for_shape(shape, SIZE, options, false, false);
        let mut axes = Axes::new(&mut scratch, SIZE).unwrap();
        let mut tile = Serial::new(pixels, SIZE, &mut axes);
        let Fit { amplitude, background, offset_x, offset_y, .. } = fit;
        let (linear, slopes) = ([amplitude, background], [offset_x, offset_y]);
        let estimate = covariance.unwrap().errors(&mut tile, outline(&fit), linear, slopes);
        (fit, Errors::from_estimate(&estimate, &fit, Q))
    }
}

fn outline<R: Scalar>(&Fit { x, y, sigma_x, sigma_y, angle, .. }: &Fit<R>) -> Outline<R> {
    Outline { x, y, sigma_x, sigma_y, angle }
}

fn check_shapes<R: Scalar>() {
    let counts = window();
    let pixels: Vec<R> = counts.iter().map(|&count| R::from_pixel(count)).collect();
    let mut scratch = vec![R::splat(0.0); scratch_len(SIZE)];
    for shape in SHAPES {
        for estimator in Estimator::ALL {
            let options = Options::default().with_shape(shape).with_estimator(estimator);
            let fitter = Fitter::<R>::new(SIZE, &options).unwrap();
            let fit = fitter.fit(&counts, None, &mut scratch).unwrap();
            assert!(fit.status.is_converged(), "{shape:?} {fit:?}");
            let errors = fitter.errors(&counts, &fit, &mut scratch).unwrap();
            let same = shape.visit(options.background, ByMethod(&options, &pixels));
            assert_eq!(format!("{:?}", (fit, errors)), format!("{same:?}"));
            // From where it ended it stays there, with nothing to do.
            let again = fitter.fit(&counts, Some(outline(&fit)), &mut scratch).unwrap();
            let likelihood = estimator == Estimator::MaximumLikelihood;
            let most = if likelihood { START_EVALUATIONS + 3 } else { 3 };
            let stays = (again.x - fit.x).to_f64().abs() < 1e-3 && again.evaluations <= most;
            assert!(stays, "{shape:?} {estimator:?} {again:?}");
            assert!((0.005..0.1).contains(&errors.x()), "{shape:?} {errors:?}");
            if estimator == Estimator::LeastSquares {
                let weights = vec![R::splat(0.5); SIZE.pixels()];
                let weighted = fitter.fit_weighted(&counts, &weights, None, &mut scratch).unwrap();
                assert!((weighted.x - fit.x).to_f64().abs() < 1e-3, "{shape:?}");
                let beside =
                    fitter.errors_weighted(&counts, &weights, &weighted, &mut scratch).unwrap();
                assert!((beside.x() / errors.x() - 1.0).abs() < 0.02, "{shape:?}");
            }
        }
    }
}

/// Proves that a fitter does what the methods of its shape and its estimator do, to the last bit, in both precisions, that
/// its errors are those of [`CovarianceEstimator`] and about those of the photons, and that a fit by a method known beforehand is the same.
#[test]
fn a_fitter_takes_every_shape_and_estimator() {
    check_shapes::<f32>();
    check_shapes::<f64>();
    let (counts, mut scratch) = (window(), vec![0.0; scratch_len(SIZE)]);
    let fit = Fitter::<f64>::new(SIZE, &Options::default()).unwrap();
    let fit = fit.fit(&counts, None, &mut scratch).unwrap();
    let setup = Setup::<f64>::new(SIZE, &Options::default()).unwrap();
    assert_eq!(fit, fit_window(&setup, &counts, None, &mut scratch).unwrap());
}

/// Proves that what is wrong with a request is said, and where.
#[test]
fn requests_that_make_no_sense_are_errors() {
    let small = Fitter::<f64>::new(Size::new(2, 9), &Options::default()).unwrap_err();
    assert_eq!(small, ArgumentError::WindowTooSmall(Size::new(2, 9)));
    let wide = Options::default().with_shape(Shape::fixed_sigma(-1.0));
    assert!(matches!(Fitter::<f32>::new(SIZE, &wide), Err(ArgumentError::Option { .. })));
    let fitter = Fitter::<f64>::new(SIZE, &Options::default()).unwrap();
    let mut scratch = vec![0.0; scratch_len(SIZE)];
    let counts = window();
    let short = fitter.fit(&counts[1..], None, &mut scratch).unwrap_err();
    assert_eq!(short, ArgumentError::PixelCount { size: SIZE, pixels: 71 });
    let little = fitter.fit(&counts, None, &mut scratch[1..]).unwrap_err();
    let (needed, given) = (scratch_len(SIZE), scratch_len(SIZE) - 1);
    assert_eq!(little, ArgumentError::Scratch { needed, given });
    let mut weights = vec![1.0; SIZE.pixels()];
    weights[11] = -2.0;
    let negative = fitter.fit_weighted(&counts, &weights, None, &mut scratch).unwrap_err();
    assert_eq!(negative, ArgumentError::Weight { spot: 0, x: 2, y: 1, weight: -2.0 });
    let likely = Options::default().with_estimator(Estimator::MaximumLikelihood);
    let likely = Fitter::<f64>::new(SIZE, &likely).unwrap();
    let both = likely.fit_weighted(&counts, &weights, None, &mut scratch).unwrap_err();
    assert_eq!(both, ArgumentError::WeightedLikelihood);
}

/// Proves by finite differences that derivatives are by x̄, ȳ and σ in pixels, and that the rows of the Jacobian make the
/// gradient and JᵀJ.
#[test]
fn equations_are_those_of_finite_differences() {
    let pixels: Vec<f64> = window().into_iter().map(f64::from).collect();
    for background in [Background::Free, Background::NonNegative] {
        let at = |spot| SpotEquations::new(&pixels, SIZE, spot, background);
        let place = [4.1, 3.5, 1.25];
        let of = |p: [f64; 3]| at(Circle::new(p[0], p[1], p[2]));
        let here = of(place);
        let (mut gradient, mut hessian) = ([0.0; 3], [[0.0; 3]; 3]);
        let mut chi2 = 0.0;
        for (i, pixel) in pixels.iter().enumerate() {
            let (x, y) = (i % 9, i / 9);
            let residual = here.amplitude * here.profile(x, y).0 + here.background - pixel;
            let row = here.jacobian(x, y);
            chi2 += residual * residual;
            for j in 0..3 {
                gradient[j] += row[j] * residual;
                for k in 0..3 {
                    hessian[j][k] += row[j] * row[k];
                }
            }
        }
        assert!((chi2 / here.chi2 - 1.0).abs() < 1e-9);
        for j in 0..3 {
            let step = 1e-5;
            let moved = [1.0, -1.0].map(|sign| {
                let mut p = place;
                p[j] += sign * step;
                of(p)
            });
            let slope =
                |of: fn(&SpotEquations<f64>) -> f64| (of(&moved[0]) - of(&moved[1])) / (2.0 * step);
            let near = |a: f64, b: f64| (a - b).abs() < 1e-5 * (1.0 + a.abs().max(b.abs()));
            assert!(near(slope(|at| at.amplitude), here.amplitude_by[j]), "{j}");
            assert!(near(slope(|at| at.background), here.background_by[j]), "{j}");
            assert!(near(slope(|at| at.chi2) / 2.0, here.gradient[j]), "{j}");
            assert!(near(gradient[j], here.gradient[j]), "{j}");
            for k in 0..3 {
                assert!(near(hessian[j][k], here.hessian.at(j, k)), "{j} {k}");
            }
        }
    }
}

/// NIST's problem Misra1a, with its certified values.
struct Misra1a;

const MISRA: [[f64; 2]; 14] = [
    [10.07, 77.6],
    [14.73, 114.9],
    [17.94, 141.1],
    [23.93, 190.8],
    [29.61, 239.9],
    [35.18, 289.0],
    [40.02, 332.8],
    [44.82, 378.4],
    [50.76, 434.8],
    [55.05, 477.3],
    [61.01, 536.8],
    [66.40, 593.1],
    [75.47, 689.1],
    [81.78, 760.0],
];

impl Problem<f64, 2> for Misra1a {
    fn residuals(&self) -> usize {
        MISRA.len()
    }
    fn residual(&self, &[b1, b2]: &[f64; 2], index: usize) -> (f64, [f64; 2]) {
        let [y, x] = MISRA[index];
        let decay = (-b2 * x).exp();
        (b1 * (1.0 - decay) - y, [1.0 - decay, b1 * x * decay])
    }
    fn size(&self, index: usize) -> f64 {
        MISRA[index][0]
    }
}

/// Proves that a problem of one's own gets NIST's certified parameters, standard deviations and residual sum of squares, from
/// both of their starts.
#[test]
fn a_problem_is_solved_as_certified() {
    for start in [[500.0, 0.0001], [250.0, 0.0005]] {
        let options = ProblemOptions::default().with_tolerance(1e-7);
        let found = fit_problem(&Misra1a, start, &options).unwrap();
        assert!(found.status.is_converged(), "{found:?}");
        let near = |a: f64, b: f64, to: f64| (a / b - 1.0).abs() < to;
        assert!(near(found.parameters[0], 2.389_421_291_8e2, 1e-8), "{found:?}");
        assert!(near(found.parameters[1], 5.501_564_318_1e-4, 1e-8), "{found:?}");
        assert!(near(found.errors[0], 2.707_007_524_1, 1e-6), "{found:?}");
        assert!(near(found.errors[1], 7.266_868_843_6e-6, 1e-6), "{found:?}");
        assert!(near(found.chi2, 1.245_513_889_4e-1, 1e-9), "{found:?}");
        assert_eq!(found.degrees, 12);
        let share = found.covariance.at(0, 1) / (found.errors[0] * found.errors[1]);
        assert!((-1.0..-0.9).contains(&share));
    }
}

/// Proves that limits hold, that weights of 1/variance give absolute errors and weights of 0 leave residuals out, and that
/// nonsense is an error or an invalid outcome, never a panic.
#[test]
fn limits_weights_and_nonsense() {
    /// Readings around a constant, the last of which is no number.
    struct Mean([f64; 4], f64);
    impl Problem<f64, 1> for Mean {
        fn residuals(&self) -> usize {
            4
        }
        fn residual(&self, &[mean]: &[f64; 1], index: usize) -> (f64, [f64; 1]) {
            (mean - self.0[index], [1.0])
        }
        fn weight(&self, index: usize) -> f64 {
            if index == 3 { 0.0 } else { self.1 }
        }
    }
    let options = ProblemOptions::default();
    let readings = Mean([1.0, 2.0, 6.0, f64::NAN], 4.0);
    let found = fit_problem(&readings, [0.5], &options.with_absolute(true)).unwrap();
    assert!((found.parameters[0] - 3.0).abs() < 1e-6 && found.degrees == 2, "{found:?}");
    assert!((found.errors[0] - 12.0_f64.sqrt().recip()).abs() < 1e-9, "{found:?}");
    let found = fit_problem(&readings, [0.5], &options.with_limits([0.0], [2.5])).unwrap();
    assert_eq!((found.parameters, found.errors, found.status), ([2.5], [0.0], Status::AtLimit));
    let found = fit_problem(&readings, [0.5], &options.with_limits([0.7], [0.7])).unwrap();
    assert_eq!((found.parameters, found.errors), ([0.7], [0.0]));
    for wrong in [f64::NAN, f64::INFINITY, -1.0] {
        let found = fit_problem(&Mean([1.0; 4], wrong), [0.5], &options).unwrap();
        assert!(found.status == Status::Invalid && found.parameters[0].is_nan());
    }
    let found = fit_problem(&Mean([f64::NAN; 4], 1.0), [0.5], &options).unwrap();
    assert!(!found.status.is_converged(), "{found:?}");
    let found = fit_problem(&readings, [f64::NAN], &options).unwrap();
    assert_eq!(found.status, Status::Invalid);
    for options in [
        options.with_limits([1.0], [0.0]),
        options.with_limits([f64::NAN], [0.0]),
        options.with_max_iterations(0),
        options.with_tolerance(2.0),
    ] {
        let error = fit_problem(&readings, [0.5], &options).unwrap_err();
        assert!(matches!(error, ArgumentError::Option { .. }), "{error}");
    }
}
