//! The same model in other coordinates.

use fit_formula::{Axes, Evaluator, Formula};

fn value(formula: &Formula, parameters: &[f64], x: f64) -> f64 {
    let program = formula.program(Axes::Together, &vec![false; parameters.len()]);
    let mut evaluator = Evaluator::new(&program);
    evaluator.set_parameters(parameters);
    evaluator.value(&[x])
}

/// Proves that a formula that is the same after a shift of x, but for its parameters, is known, with what becomes of them.
#[test]
fn shifts_along_an_axis() {
    for text in [
        "a + b*x",
        "b*x",
        "a + b*x + c*x^2",
        "a + b*x + c*x^2 + d*x^3",
        "a*exp(-(x - x0)^2/(2*s^2)) + b",
        "a/(1 + ((x - x0)/g)^2) + b + c*x",
        "a1*exp(-(x - x1)^2/(2*s^2)) + a2*exp(-(x - x2)^2/(2*s^2)) + b",
        "a*sin(w*x + phi) + c",
        "a/(1 + exp(-k*(x - x0)))",
        "1/(1 + exp(-(k*x + m)))",
        "exp(m + k*x)",
        "if(x < x0, a*(x - x0), b*(x - x0)^2) + c",
        "a*max(x - x0, 0)^2 + b",
        "u = x - x0; if(u < 0, a*u, b*u) + c",
        "a*pseudo_voigt(x, x0, w, eta) + b",
        "a*voigt(x - x0, s, g) + b",
        "a*atan2(x - x0, w)",
    ] {
        let formula = Formula::of_variables(text, &["x"]).unwrap();
        let count = formula.parameters().len();
        let parameters: Vec<f64> = (0..count).map(|j| 1.25 + 0.375 * j as f64).collect();
        let Some(shift) = formula.invariance().translation(0) else {
            assert_eq!(text, "b*x", "{text}");
            continue;
        };
        let mut moved = parameters.clone();
        shift.apply(&mut moved, 3.5);
        for x in [-2.0, 0.0, 1.0, 2.125, 7.0] {
            let [before, after] =
                [value(&formula, &parameters, x), value(&formula, &moved, x - 3.5)];
            assert!((before - after).abs() <= 1e-12 * (1.0 + before.abs()), "{text} at {x}");
        }
        let mut back = moved.clone();
        shift.apply(&mut back, -3.5);
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-12 * (1.0 + b.abs());
        assert!(back.iter().zip(&parameters).all(near), "{text}: {back:?}");
        // The derivatives of what becomes of parameters.
        let jacobian = shift.jacobian(3.5);
        for k in 0..count {
            let mut other = parameters.clone();
            other[k] += 1.0;
            shift.apply(&mut other, 3.5);
            for j in 0..count {
                let change = other[j] - moved[j];
                assert!((change - jacobian[j * count + k]).abs() < 1e-11, "{text}: {j}, {k}");
            }
        }
    }
}

/// Proves that a formula that does change with a shift is not taken for one that stays.
#[test]
fn no_shift_is_made_up() {
    for text in [
        "a*exp(-x/t) + c",
        "a*exp(-2*x) + c",
        "a*x^b",
        "v*x/(k + x)",
        "a*exp(-(x - x0)^2/(2*s^2)) + x0",
        "if(x < 3, a, b)",
        "a*floor(x) + b",
        "a + b*log(x)",
        "a*sin(w*x + phi) + c*w + d*exp(-x/t)",
        "(a + x)*(b + x)*c*x",
        "c*exp(a*x + b)*exp(b)",
        "c + atan(tan(x))",
        "c + atan2(sin(x), cos(x))",
    ] {
        let formula = Formula::of_variables(text, &["x"]).unwrap();
        assert_eq!(formula.invariance().translation(0), None, "{text}");
    }
}

/// Proves which parameters take up what is added to the value.
#[test]
fn offsets_of_the_value() {
    for (text, wanted) in [
        ("a*exp(-x/t) + c", &[(2, 1.0)][..]),
        ("a + b*x", &[(0, 1.0)]),
        ("a*x - 2*b", &[(1, -0.5)]),
        ("d + (a - d)/(1 + (x/c)^b)", &[(0, 1.0), (1, 1.0)]),
        ("a*exp(-x/t)", &[]),
        ("a*x + b^2", &[]),
        ("a*x + b + if(b > 0, 1, 2)", &[]),
        ("atan2(sin(w*x + phi), cos(w*x + phi)) + c", &[(2, 1.0)]),
    ] {
        let formula = Formula::of_variables(text, &["x"]).unwrap();
        let found = formula.invariance().additive();
        assert_eq!(found.len(), wanted.len(), "{text}: {found:?}");
        let parameters: Vec<f64> =
            (0..formula.parameters().len()).map(|j| 1.5 + j as f64).collect();
        let mut moved = parameters.clone();
        for &(j, factor) in found {
            moved[j] += 3.0 * factor;
        }
        if !found.is_empty() {
            let change = value(&formula, &moved, 0.75) - value(&formula, &parameters, 0.75);
            assert!((change - 3.0).abs() < 1e-12, "{text}: {change}");
        }
    }
}
