//! Splines in formulas, beside SciPy and in single precision.

use fit_cpu::CurveSimd;
use fit_curves::{CurveFits, CurveOptions, CurveStart, Curves, Points};
use fit_formula::{Formula, Spline, SplineAxis};
use fit_gpu::CurveGpu;
use fit_tests::curves::{Alike, Engine, row, shared, values_of};
use fit_tests::models::{SIMULATED, model, places, spline};
use fit_tests::on_backends;
use fit_tests::records::records;
use ndarray::{Array2, s};
use spotfit::model::Model;

use super::assembler::Assembler;

fn lengths(numbers: &[f64]) -> Vec<usize> {
    numbers.iter().map(|&length| length as usize).collect()
}

/// The variables at each point, the last of which runs fastest.
fn grid(extent: &[f64]) -> Array2<f64> {
    let mut extent = lengths(extent);
    extent.reverse();
    let places = places(&extent);
    Array2::from_shape_fn((extent.len(), places.len()), |(k, point)| {
        places[point][extent.len() - 1 - k]
    })
}

/// Proves that natural splines and their fits are those of SciPy in double precision, with samples and as polynomials, beyond
/// the ends too.
#[test]
fn splines_of_scipy() {
    // What SciPy fitted (scripts/splines.py).
    let cases = records(include_str!("../../data/splines.txt").split("spline_").skip(1));
    assert_eq!(cases.len(), 3);
    for case in &cases {
        let (name, of) = (format!("spline_{}", case.head), |word| case.numbers(word));
        let axes: Vec<SplineAxis> =
            lengths(&of("shape")).iter().map(|&length| SplineAxis::Cubic(length - 1)).collect();
        let natural = Spline::through(&axes, &of("samples")).expect("sound");
        let again = Spline::from_polynomials(&axes, &natural.to_polynomials()).expect("sound");
        for (spline, digits) in [(&natural, 1e-6), (&again, 1e-5)] {
            let model = Model::named_with_splines(&name, &[("f", spline)]).expect("a model");
            let at = grid(&of("grid"));
            let data = row(&of("data"));
            let curves = shared(&data, &at, None);
            let options = model.options().with_tolerance(1e-8);
            let fits = model.fit(&curves, of("start")[..].into(), &options).expect("sound").fits;
            assert!(fits.statuses[0].is_converged(), "{name}: {}", fits.statuses[0]);
            assert!((fits.chi2[0] / of("chi2")[0] - 1.0).abs() < 1e-9, "{name}: {}", fits.chi2[0]);
            for (j, (minimum, error)) in of("minimum").iter().zip(&of("errors")).enumerate() {
                let off = (fits.parameters[[0, j]] - minimum) / error;
                assert!(off.abs() < digits, "{name}, parameter {j}: {off} standard errors");
                let ratio = fits.errors[[0, j]] / error;
                assert!((ratio - 1.0).abs() < digits, "{name}, parameter {j}: error {ratio}");
            }
        }
    }
}

/// A spline whose pieces do not join smoothly: each is shifted by a little.
fn rough(name: &str) -> Formula {
    let model = model(name);
    let (_, smooth) = &model.as_formula().splines()[0];
    let axes: Vec<SplineAxis> = smooth.axes().collect();
    let mut polynomials = smooth.to_polynomials();
    let size =
        4_usize.pow(axes.iter().filter(|axis| matches!(axis, SplineAxis::Cubic(_))).count() as u32);
    for (piece, own) in polynomials.chunks_exact_mut(size).enumerate() {
        own[0] += 1e-3 * ((piece * 7 % 5) as f64 - 2.0);
    }
    let spline = Spline::from_polynomials(&axes, &polynomials).expect("sound");
    assert!(!spline.is_smooth());
    let rough = Model::named_with_splines(name, &[("f", &spline)]).expect("a model");
    rough.as_formula().clone()
}

fn rough_splines(engines: &[Engine]) {
    let names = ["spline_1d", "spline_2d", "spline_3d", "spline_3d_multichannel", "spline_4d"];
    for case in SIMULATED.iter().filter(|case| names.contains(&case.name)) {
        let (name, truth) = (case.name, case.truth);
        let formula = rough(name);
        let (places, at) = (case.places(), case.at());
        let points = case.points(&at);
        let clean = values_of(&formula, truth, &places);
        let mut random = fit_sim::Random::new(5, 0);
        let data =
            Array2::from_shape_fn((100, clean.len()), |(_, at)| clean[at] + 0.3 * random.normal());
        let curves = Curves::new(data.view(), points);
        let start: Vec<f64> = truth.iter().map(|value| value * 1.02).collect();
        let options = CurveOptions::new(truth.len());
        let wanted = Engine::reference().fit(&formula, &curves, &start[..], &options);
        for engine in engines {
            let (found, _) = engine.decide(&formula, &curves, &start[..], &options);
            // A search may end on another side of a jump.
            let (near, which) = (Alike::SINGLE.near(0..100, &wanted, &found), engine.name());
            println!("{which}, {name}: {near} of 100 within 1 %");
            assert!(near >= 95, "{which}, {name}: {near}");
        }
    }
}

/// A formula that calls smooth splines f (one argument), g (two), h (three, the first of which are channels) and k (four), with
/// its truth and its points: so many columns and rows, or along a line.
type Called = (&'static str, &'static [f64], [usize; 2]);

const CALLED: &[Called] = &[
    // On a lattice: along a line, and beyond both ends.
    ("a*f(x - s) + b", &[20.0, 0.3, 2.0], [12, 1]),
    ("a*f(x - s) + b", &[20.0, 5.3, 2.0], [30, 1]),
    ("a*f(x - s) + b", &[20.0, -9.3, 2.0], [10, 1]),
    ("a*f(x + s) + b", &[20.0, 0.4, 2.0], [14, 1]),
    ("a*f(x) + b", &[20.0, 2.0], [14, 1]),
    ("a*f(x - s) + b*f(x - t)", &[20.0, 1.3, 14.0, -4.2], [16, 1]),
    // No lattice: another scale, another direction, a spline of a spline.
    ("a*f(w*x) + b", &[20.0, 0.8, 2.0], [16, 1]),
    ("a*f(s - x) + b", &[20.0, 14.2, 2.0], [14, 1]),
    ("a*f(8 + f(x - s)) + b", &[20.0, 0.4, 2.0], [14, 1]),
    ("a*f(2.5)*x + b", &[20.0, 2.0], [14, 1]),
    // Images: both axes, one of them, in the other order.
    ("a*g(x - s, y - t) + b", &[20.0, -3.3, -4.2, 2.0], [9, 9]),
    ("a*g(y - t, x - s) + b", &[20.0, -3.3, -4.2, 2.0], [9, 8]),
    ("a*g(x - s, y - t) + b", &[20.0, 3.3, 4.2, 2.0], [13, 14]),
    ("a*f(x - s) + b*y", &[20.0, -3.3, 2.0], [9, 7]),
    ("a*f(y - s) + b*x", &[20.0, -3.3, 2.0], [8, 9]),
    ("a*g(x - s, z) + b", &[20.0, 1.3, 7.2, 2.0], [15, 1]),
    ("a*g(z, x - s) + b*y", &[20.0, 7.2, 1.3, 2.0], [15, 3]),
    ("a*g(x - s, y - t) + b*g(x - u, y - v)", &[20.0, -3.3, -4.2, 15.0, -5.8, -1.9], [11, 11]),
    // Channels, depths, and both.
    ("a*h(1, x - s, y - t) + b", &[20.0, -3.3, -4.2, 2.0], [9, 9]),
    ("a*k(x - s, y - t, z, w) + b", &[20.0, -3.3, -4.2, 4.4, 3.6, 2.0], [9, 9]),
    ("a*k(z, x - s, y - t, w) + b", &[20.0, 6.4, -3.3, -1.2, 4.6, 2.0], [9, 7]),
];

/// The formula with its splines.
fn called(&(text, truth, [columns, rows]): &Called) -> (Formula, Vec<f64>, [usize; 2]) {
    // As wide along the first axes as the last ones say, so that these are more than another amplitude.
    let bump = |at: &[f64]| {
        let (mut widths, centres) = ([1.9, 2.1, 2.4, 1.7], [8.0, 7.5, 4.0, 4.0]);
        let half = at.len() / 2;
        for axis in 0..half {
            widths[axis] *= 1.0 + 0.1 * (at[half + axis] - centres[half + axis]);
        }
        let square = |(x, (width, centre)): (&f64, (f64, f64))| ((x - centre) / width).powi(2);
        (-0.5 * at.iter().zip(widths.into_iter().zip(centres)).map(square).sum::<f64>()).exp()
    };
    let made = |axes: &[SplineAxis], channels: usize| {
        spline(axes, |at| bump(&at[channels..]) * (1.0 + 0.3 * at[..channels].iter().sum::<f64>()))
    };
    use SplineAxis::{Cubic, Steps};
    let splines = [
        ("f", made(&[Cubic(16)], 0)),
        ("g", made(&[Cubic(16), Cubic(15)], 0)),
        ("h", made(&[Steps(2), Cubic(16), Cubic(15)], 1)),
        ("k", made(&[Cubic(16), Cubic(15), Cubic(9), Cubic(8)], 0)),
    ];
    let used: Vec<(&str, &Spline)> = splines
        .iter()
        .filter(|(name, _)| text.contains(&format!("{name}(")))
        .map(|(name, spline)| (*name, spline))
        .collect();
    let variables: &[&str] = if rows > 1 { &["x", "y"] } else { &["x"] };
    let formula = Formula::of_variables_with_splines(text, variables, &used).expect(text);
    // Parameters come as they appear; truths are in that order.
    assert_eq!(formula.parameters().len(), truth.len(), "{text}");
    (formula, truth.to_vec(), [columns, rows])
}

fn all_calls(engines: &[Engine]) {
    for case in CALLED {
        let (formula, truth, [columns, rows]) = called(case);
        let line = rows == 1;
        let extent: &[usize] = if line { &[columns] } else { &[columns, rows] };
        let clean = values_of(&formula, &truth, &places(extent));
        let mut random = fit_sim::Random::new(9, 0);
        let data =
            Array2::from_shape_fn((70, clean.len()), |(_, at)| clean[at] + 0.1 * random.normal());
        let points =
            if line { Points::Index } else { Points::Grid { width: columns, height: rows } };
        let curves = Curves::new(data.view(), points);
        let options = CurveOptions::new(truth.len());
        let start: Vec<f64> = truth.iter().map(|value| value * 1.01).collect();
        let wanted = Engine::reference().fit(&formula, &curves, &start[..], &options);
        assert!(wanted.statuses.iter().all(|status| status.is_converged()), "{}", case.0);
        for engine in engines {
            let (found, left) = engine.decide(&formula, &curves, &start[..], &options);
            assert!(left.is_empty(), "{}: {left:?}", case.0);
            Alike::SINGLE.check(&format!("{}, {}", engine.name(), case.0), &wanted, &found);
        }
    }
}

/// Proves that kernels of all these calls are what NVIDIA's assembler takes.
#[test]
#[ignore = "needs NVIDIA's assembler, which the environment variable PTXAS names"]
fn all_calls_assemble() {
    let assembler = Assembler::new("calls");
    for case in CALLED {
        let (formula, truth, _) = called(case);
        let program = formula.program(fit_formula::Axes::Together, &vec![true; truth.len()]);
        let text = fit_gpu::spliced(&program, fit_gpu::CurveMethod::Plain, 0, false);
        assembler.report(&text.expect("a kernel"), "sm_80", case.0);
    }
}

/// Proves that shifts far beyond the spline, infinite or none give no finite nonsense, and harm no neighbour: fits that begin
/// there are those of double precision.
#[test]
fn odd_shifts_harm_no_neighbour() {
    let (formula, _, [columns, rows]) = called(&CALLED[10]);
    let count = 40;
    let mut random = fit_sim::Random::new(2, 0);
    let data = Array2::from_shape_fn((count, columns * rows), |_| 2.0 + 0.1 * random.normal());
    let odd = [1e30_f64, -1e30, 1e15, -4e9, 700.0, -60.0, 1e-30];
    let start = Array2::from_shape_fn((count, 4), |(fit, j)| match (j, fit % 3) {
        (1 | 2, 0) => odd[fit / 3 % 7],
        _ => [20.0, -3.3, -4.2, 2.0][j],
    });
    let curves = Curves::new(data.view(), Points::Grid { width: columns, height: rows });
    let options = CurveOptions::new(4).with_max_iterations(30);
    let wanted = Engine::reference().fit(&formula, &curves, start.view(), &options);
    let simd = Engine::Lanes(CurveSimd::new(1, None).expect("a processor"));
    let found = simd.fit(&formula, &curves, start.view(), &options);
    let alone = |fit: usize| {
        let (data, start) = (data.slice(s![fit..=fit, ..]), start.slice(s![fit..=fit, ..]));
        let curves = Curves::new(data, Points::Grid { width: columns, height: rows });
        simd.fit(&formula, &curves, start, &options)
    };
    for fit in 0..count {
        let own = alone(fit);
        assert_eq!(own.statuses[0], found.statuses[fit], "{fit}");
        for j in 0..4 {
            let (own, found) = (own.parameters[[0, j]], found.parameters[[fit, j]]);
            assert_eq!(own.to_bits(), found.to_bits(), "{fit}, {j}");
        }
        if fit % 3 == 0 && odd[fit / 3 % 7].abs() > 1e5 {
            assert_eq!(wanted.statuses[fit].is_converged(), found.statuses[fit].is_converged());
        }
    }
}

/// Proves that a spline has no slope along channels: an argument there that is searched for is told, if nothing else depends on
/// it, and changes nothing if something does.
#[test]
fn channels_have_no_slope() {
    use SplineAxis::{Cubic, Steps};
    let spline = Spline::through(&[Steps(2), Cubic(8), Cubic(8)], &[1.0; 162]).expect("sound");
    let error = Formula::of_variables_with_splines("a*f(c, x - s, 2)", &["x"], &[("f", &spline)]);
    let told = error.expect_err("no slope").to_string();
    assert!(told.contains("derivative by the parameter `c` is 0"), "{told}");
    let text = "a*f(z/9, x - s, z)";
    let formula = Formula::of_variables_with_splines(text, &["x"], &[("f", &spline)]).expect(text);
    let program = formula.program(fit_formula::Axes::Together, &[true; 3]);
    assert!(!program.to_string().contains("f'1"), "{program}");
}

/// Proves that room that had other outcomes keeps nothing of them, and that room of another kind is refused.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn room_is_used_again() {
    let gpu = CurveGpu::new(0).expect("a GPU");
    let (formula, truth, _) = called(&CALLED[0]);
    let options = CurveOptions::new(3);
    let mut data = Array2::from_shape_fn((50, 12), |(fit, x)| (fit * 7 % 5 + x) as f64);
    let mut fits = CurveFits::room(50, 3, true);
    let start = || CurveStart::Shared(&truth);
    for _ in 0..2 {
        let curves = Curves::new(data.view(), Points::Index);
        let left = gpu.fit_into(&formula, &curves, start(), &options, &mut fits).expect("a GPU");
        for &fit in &left {
            assert_eq!(fits.statuses[fit], fit_core::Status::Invalid);
            assert_eq!([fits.degrees[fit], fits.iterations[fit], fits.evaluations[fit]], [0; 3]);
            assert!(fits.chi2[fit].is_nan());
        }
        data.row_mut(7).fill(f64::NAN);
        data.row_mut(20).fill(f64::INFINITY);
    }
    let curves = Curves::new(data.view(), Points::Index);
    fits.parameters = ndarray::ArrayBase::zeros(ndarray::ShapeBuilder::f((50, 3)));
    let error = gpu.fit_into(&formula, &curves, start(), &options, &mut fits);
    assert!(error.expect_err("order").to_string().contains("standard order"));
}

/// Proves that errors name the spline and what is wrong.
#[test]
fn wrong_splines_are_told() {
    let spline = Spline::through(&[SplineAxis::Cubic(3); 2], &[0.0; 16]).expect("sound");
    for (text, name, says) in [
        ("a*psf(x)", "psf", "the spline `psf` has 2 axes, and is called with 1 argument"),
        ("a*psg(x, y)", "psf", "did you mean `psf`?"),
        ("a*exp(x, y)", "exp", "`exp` is already the name of something else"),
        ("a*a(x, y)", "a", "the name `a` is given twice"),
        ("a*psf(x, y > 1)", "psf", "a number is needed here"),
        ("a*x", "psf", "does not call the spline `psf`"),
    ] {
        let error = Formula::with_splines(text, &["x", "y"], &["a"], &[(name, &spline)]);
        let told = error.expect_err(text).shown_in(text);
        assert!(told.contains(says), "{text}: {told}");
    }
    let text = "a*psf + b";
    let error = Formula::of_variables_with_splines(text, &["x", "y"], &[("psf", &spline)]);
    let told = error.expect_err(text).shown_in(text);
    assert!(told.contains("expected `(` after the name of a function"), "{told}");
    let missing = Model::named("spline_2d").expect_err("a spline").to_string();
    assert!(missing.contains("calls f: a spline for each"), "{missing}");
    let many = Model::named_with_splines("linear", &[("f", &spline)]).expect_err("none");
    assert_eq!(many.to_string(), "the model 'linear' calls no splines");
    let flat = Model::named_with_splines("spline_1d", &[("f", &spline)]).expect_err("two axes");
    assert!(flat.to_string().contains("has 2 axes"), "{flat}");
}

on_backends! {
    /// Proves that splines of single polynomials are evaluated as in double precision, on all vector registers.
    rough_splines_on_lanes(&lanes()), rough_splines_on_the_gpu(&[Engine::gpu()]) => rough_splines;

    /// Proves that every way of calling splines gives in single precision what it gives in double precision: on lattices along one
    /// axis and two, beyond the ends, at depths and of channels, and where there is no lattice.
    all_calls_on_lanes(&lanes()), all_calls_on_the_gpu(&[Engine::gpu()]) => all_calls;
}

fn lanes() -> Vec<Engine> {
    Engine::lanes(1).collect()
}
