//! Parameters in which formulas are linear, eliminated and searched for.

use fit_cpu::{CurveReference, CurveSimd};
use fit_curves::{CurveFits, CurveOptions, CurveStart, Curves, Linear, Points};
use fit_formula::{Axes, Formula};
use fit_sim::Random;
use fit_tests::curves::{Alike, Engine};
use fit_tests::effort;
use fit_tests::models::{SIMULATED, Simulated, model};
use ndarray::{Array2, array};

fn reference() -> Engine {
    Engine::Reference(CurveReference::new(0).expect("threads"))
}

/// The reference, and the lanes of this processor.
fn both() -> [Engine; 2] {
    [reference(), Engine::Lanes(CurveSimd::new(0, None).expect("a processor"))]
}

fn options(parameters: usize, linear: Linear) -> CurveOptions {
    CurveOptions::new(parameters).with_linear(linear)
}

fn case(name: &str) -> &'static Simulated {
    SIMULATED.iter().find(|case| case.name == name).expect("a case")
}

fn separable(text: &str) -> Vec<String> {
    let formula = Formula::of_variables(text, &["x"]).expect("a formula");
    let parameters = formula.parameters();
    let program = formula.program(Axes::Together, &vec![true; parameters.len()]);
    let set = program.separable(u64::MAX);
    (0..parameters.len()).filter(|j| set >> j & 1 == 1).map(|j| parameters[j].clone()).collect()
}

/// Proves which parameters are eliminated: sets as large as can be, in which none appears in the derivative by another, and
/// on which the derivatives by others depend by a factor alone.
#[test]
fn which_are_eliminated() {
    for (text, wanted) in [
        ("a*exp(-x/t) + c", vec!["a", "c"]),
        ("a + b*x + c*x^2", vec!["a", "b", "c"]),
        ("a*exp(-x/t) + b*exp(-x/s) + c", vec!["a", "b", "c"]),
        ("a/(1 + exp(-(x - x0)/w)) + c", vec!["a", "c"]),
        // One of both, whose product is searched for.
        ("a*b*x + c", vec!["b", "c"]),
        // The derivative by t is a sum of terms with both amplitudes.
        ("a*exp(-x/t) + b*x*exp(-x/t) + c", vec!["c"]),
        ("exp(a*x)", vec![]),
        ("abs(a)*x", vec![]),
        ("if(a < 1, a*x, 2*a)", vec![]),
        // The value jumps where derivatives say nothing of it.
        ("b*x + mod(c, 5)", vec!["b"]),
        ("b*x + if(c < 0, c, c + 10)", vec!["b"]),
    ] {
        assert_eq!(separable(text), wanted, "{text}");
    }
    // Those that are fixed, or have limits, are searched for: here the line through given data is one at its limit.
    let formula = Formula::of_variables("a + b*x", &["x"]).expect("a line");
    let data = array![[1.0, 3.0, 5.0, 7.5]];
    let curves = Curves::new(data.view(), Points::Index);
    let limited = options(2, Linear::Eliminated).with_upper(1, 2.0);
    let fits = reference().fit(&formula, &curves, &[0.5, 1.0], &limited);
    assert_eq!(fits.parameters[[0, 1]], 2.0);
    let program = formula.program(Axes::Together, &[true, false]);
    assert_eq!(program.separable(u64::MAX), 0b01);
    assert_eq!(program.separable(0b10), 0);
}

/// Checks that all fits converge, with parameters within so many standard errors, and errors as a share.
fn same(what: &str, wanted: &CurveFits, found: &CurveFits, most: f64) {
    assert!(wanted.statuses.iter().all(|status| status.is_converged()), "{what}");
    Alike { parameters: most, errors: most, chi2: [f64::INFINITY; 2], ..Alike::SINGLE }
        .check(what, wanted, found);
}

/// Proves that the minimum is the same whether linear parameters are eliminated or not, with weights and points that are
/// left out too, in double precision and on all vector registers.
#[test]
fn the_minimum_is_the_same() {
    for name in
        ["linear", "exponential", "exponential_2", "gauss_1d", "logistic", "gauss_2d", "spline_2d"]
    {
        let (case, model) = (case(name), model(name));
        let formula = model.as_formula();
        let (data, at, start) = (case.data(100), case.at(), case.start());
        let mut random = Random::new(3, 0);
        let mut weights = Array2::from_shape_fn(data.dim(), |_| 1.0 + random.normal().abs());
        weights.indexed_iter_mut().for_each(|((fit, point), weight)| {
            if (fit + point) % 11 == 0 {
                *weight = if point % 2 == 0 { 0.0 } else { f64::NAN };
            }
        });
        for weighted in [false, true] {
            let mut curves = Curves::new(data.view(), case.points(&at));
            if weighted {
                curves = curves.with_weights(weights.view());
            }
            let fit = |linear| {
                // So near that both are at the minimum.
                let options = options(start.len(), linear).with_tolerance(1e-6);
                reference().fit(formula, &curves, &start[..], &options)
            };
            let [searched, eliminated] = [Linear::Searched, Linear::Eliminated].map(fit);
            let what = format!("{name}, {weighted}");
            // With no second search.
            let mut looks = eliminated.evaluations.iter().zip(&eliminated.iterations);
            assert!(looks.all(|(count, iterations)| *count < 2 * iterations + 4), "{what}");
            same(&what, &searched, &eliminated, 1e-5);
            for lanes in Engine::lanes(0) {
                let options = options(start.len(), Linear::Eliminated);
                let found = lanes.fit(formula, &curves, &start[..], &options);
                same(&format!("{what}, {}", lanes.name()), &searched, &found, 0.01);
            }
        }
    }
}

/// Proves that start values of parameters that are eliminated do not count, however wrong they are, in either precision; and
/// that a search goes on with all parameters where those that are linear cannot be told from each other.
#[test]
fn their_start_does_not_count() {
    let (case, model) = (case("exponential"), model("exponential"));
    let formula = model.as_formula();
    let data = case.data(50);
    let curves = Curves::new(data.view(), Points::Index);
    let eliminated = options(3, Linear::Eliminated);
    let fit =
        |start: &[f64; 3]| both().map(|engine| engine.fit(formula, &curves, start, &eliminated));
    let wanted = fit(&[10.0, 8.0, 1.0]);
    for start in [[0.0, 8.0, 0.0], [-1e6, 8.0, 1e6], [1e-12, 8.0, -1e-12]] {
        for (wanted, found) in wanted.iter().zip(fit(&start)) {
            same(&format!("{start:?}"), wanted, &found, 1e-3);
        }
    }
    // A pulse that no point sees leaves nothing to eliminate, and data without a value are lost to all.
    for (text, data, start) in [
        ("a*exp(-(x - x0)^2/(2*s^2)) + c", 1.0, [5.0, -26.5, 1.0, 0.5]),
        ("a*sqrt(x - x0) + c*s", 1.0, [1.0, 5.0, 1.0, 1.0]),
    ] {
        let formula = Formula::of_variables(text, &["x"]).expect("a formula");
        let data = Array2::from_shape_fn((1, 30), |(_, x)| data + 0.1 * ((x * x) % 7) as f64);
        let curves = Curves::new(data.view(), Points::Index);
        let fits = reference().fit(&formula, &curves, &start, &options(4, Linear::Eliminated));
        let said = fits.statuses[0].is_converged();
        assert!(!said || fits.parameters[[0, 0]] != 0.0, "{text}: {:?}", fits.parameters);
        assert!(fits.chi2[0] != 0.0, "{text}");
    }
}

/// Proves that fits from poor start values converge at least as often where linear parameters are eliminated, and that no
/// more than two in a hundred fewer find as small a χ²: shares of fits that begin at the truth times exp(s·n), where n has a
/// normal distribution. They are printed.
#[test]
fn poor_starts() {
    let count = effort(400, 400, 10_000);
    println!("| model | s | searched: converged, at the minimum | eliminated | evaluations |");
    println!("|---|---|---|---|---|");
    for name in ["exponential", "exponential_2", "lorentz", "logistic"] {
        let (case, model) = (case(name), model(name));
        let formula = model.as_formula();
        let (data, at) = (case.data(count), case.at());
        let curves = Curves::new(data.view(), case.points(&at));
        let parameters = case.truth.len();
        let plain = options(parameters, Linear::Searched).with_covariance(false);
        let best = reference().fit(formula, &curves, case.truth, &plain);
        for spread in [0.5, 1.0] {
            let mut random = Random::new(7, 0);
            let starts = Array2::from_shape_fn((count, parameters), |(_, j)| {
                case.truth[j] * (spread * random.normal()).exp()
            });
            let shares = |linear| {
                let options = plain.clone().with_linear(linear);
                let fits = reference().fit(formula, &curves, starts.view(), &options);
                let share = |of: usize| of as f64 / count as f64;
                let converged = fits.statuses.iter().filter(|status| status.is_converged()).count();
                let right = |fit: &usize| fits.chi2[*fit] < best.chi2[*fit] * 1.0001;
                let right = (0..count).filter(right).count();
                let evaluations: f64 = fits.evaluations.iter().map(|&n| f64::from(n)).sum();
                [share(converged), share(right), evaluations / count as f64]
            };
            let [searched, eliminated] = [Linear::Searched, Linear::Eliminated].map(shares);
            println!(
                "| `{name}` | {spread} | {:.1} %, {:.1} % | {:.1} %, {:.1} % | {:.1}, {:.1} |",
                100.0 * searched[0],
                100.0 * searched[1],
                100.0 * eliminated[0],
                100.0 * eliminated[1],
                searched[2],
                eliminated[2]
            );
            assert!(eliminated[0] >= searched[0], "{name} {spread}: {searched:?}, {eliminated:?}");
            assert!(eliminated[1] >= searched[1] - 0.02, "{name} {spread}: {eliminated:?}");
        }
    }
}

/// Proves that a model with linear parameters alone is fitted at once, to the digits of double precision where points lie
/// well, however many points there are and whatever their noise; and that Auto eliminates them where all fits begin at the
/// same values, and nowhere else.
#[test]
fn linear_models() {
    let formula = Formula::of_variables("a + b*x + c*x^2 + d*x^3", &["x"]).expect("a formula");
    let x = Array2::from_shape_fn((1, 20), |(_, i)| i as f64 / 10.0 - 1.0);
    let truth = [1.0, -2.0, 0.5, 3.0];
    let value = |x: f64| truth[0] + x * (truth[1] + x * (truth[2] + x * truth[3]));
    let data = Array2::from_shape_fn((1, 20), |(_, i)| value(x[[0, i]]));
    let curves = Curves::new(data.view(), Points::Shared(x.view().into()));
    let fits = reference().fit(&formula, &curves, &[0.0; 4], &CurveOptions::new(4));
    for (j, wanted) in truth.iter().enumerate() {
        assert!((fits.parameters[[0, j]] - wanted).abs() < 1e-12, "{:?}", fits.parameters);
    }
    assert!(fits.evaluations[0] <= 3, "{}", fits.evaluations[0]);
    let line = Formula::of_variables("a + b*x", &["x"]).expect("a line");
    let mut random = Random::new(5, 0);
    for (points, noise) in [(30, 1.0), (1000, 1.0), (1000, 1e-3), (20_000, 0.1)] {
        let data = Array2::from_shape_fn((40, points), |(_, i)| {
            (100.0 + 100.0 * i as f64 / points as f64 + noise * random.normal()) as f32
        });
        let curves = Curves::new(data.view(), Points::Index);
        for engine in both() {
            let fits = engine.fit(&line, &curves, &[1.0, 1.0], &CurveOptions::new(2));
            let most = fits.evaluations.iter().max();
            assert!(most <= Some(&4), "{points}, {noise}: {most:?}");
            assert!(fits.statuses.iter().all(|status| status.is_converged()));
        }
    }

    let (case, model) = (case("exponential"), model("exponential"));
    let data = case.data(20);
    let curves = Curves::new(data.view(), Points::Index);
    let shared = [10.0, 5.0, 0.5];
    let own = Array2::from_shape_fn((20, 3), |(_, j)| shared[j]);
    let fit = |start: CurveStart<'_>, linear| {
        reference().fit(model.as_formula(), &curves, start, &options(3, linear)).parameters
    };
    let per_fit = || CurveStart::PerFit(own.view().into());
    let all = || CurveStart::Shared(&shared);
    assert_eq!(fit(per_fit(), Linear::Auto), fit(per_fit(), Linear::Searched));
    assert_eq!(fit(all(), Linear::Auto), fit(all(), Linear::Eliminated));
    assert_ne!(fit(all(), Linear::Eliminated), fit(all(), Linear::Searched));
}

/// Proves that fits end at their limits where the parameters that may still move are eliminated, or searched for beside
/// those.
#[test]
fn limits_hold_beside_them() {
    let model = model("exponential");
    let data = case("exponential").data(200);
    let curves = Curves::new(data.view(), Points::Index);
    for (what, limited) in [
        ("t", options(3, Linear::Eliminated).with_upper(1, 6.5)),
        ("a and t", options(3, Linear::Eliminated).with_lower(0, 9.0).with_upper(1, 6.5)),
        ("t and c", options(3, Linear::Eliminated).with_upper(1, 6.5).with_upper(2, 1.2)),
    ] {
        let searched = limited.clone().with_linear(Linear::Searched);
        let start = &[10.0, 5.0, 0.5];
        let [found, wanted] = [&limited, &searched]
            .map(|options| reference().fit(model.as_formula(), &curves, start, options));
        for fit in 0..200 {
            assert_eq!(found.statuses[fit], wanted.statuses[fit], "{what} {fit}");
            assert!(found.evaluations[fit] < 20, "{what} {fit}: {}", found.evaluations[fit]);
            for j in 0..3 {
                let off = (found.parameters[[fit, j]] - wanted.parameters[[fit, j]]).abs();
                assert!(off <= 1e-2 * wanted.errors[[fit, j]], "{what} {fit} {j}: {off}");
            }
        }
        let single = both()[1].fit(model.as_formula(), &curves, start, &limited);
        assert!(single.iterations.iter().max() < Some(&20), "{what}: {:?}", single.iterations);
    }
}
