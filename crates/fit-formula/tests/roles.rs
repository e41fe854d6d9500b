//! What parameters are to the variables.

use fit_formula::{Evaluator, Formula, Role};

/// Where the points of these tests lie: sizes of parts are what they are here.
const X: [f64; 3] = [0.0, 3.0, 8.0];

/// A parameter's role in words that do not say how it is written: a place with its value at two places, or a size over these points.
#[derive(Debug, PartialEq)]
enum Known {
    Place([f64; 2]),
    Size(f64),
    Period(f64),
    Unknown,
}

fn roles(text: &str, x: impl Fn(f64) -> f64) -> Vec<(String, Known)> {
    let formula = Formula::of_variables(text, &["x"]).expect(text);
    let searched: Vec<bool> = formula.linear().iter().map(|linear| !linear).collect();
    let roles = formula.roles(&searched);
    let values = |part: usize| {
        let mut evaluator = Evaluator::new(&roles.parts[part]);
        X.map(|at| evaluator.value(&[x(at)]))
    };
    let length = |part: usize| {
        let values = values(part);
        values.iter().fold(f64::MIN, |most, value| most.max(*value))
            - values.iter().fold(f64::MAX, |least, value| least.min(*value))
    };
    let known = |role: &Role| match role {
        Role::Place { part, factor } => {
            Known::Place([factor * values(*part)[0], factor * values(*part)[2]])
        }
        Role::Size { factor, powers } => {
            let all = powers.iter().enumerate();
            Known::Size(
                factor * all.map(|(part, power)| length(part).powf(*power)).product::<f64>(),
            )
        }
        Role::Phase { period } => Known::Period(*period),
        _ => Known::Unknown,
    };
    let all = formula.parameters().iter().cloned().zip(roles.parameters.iter().map(known));
    all.zip(searched).filter(|(_, searched)| *searched).map(|(known, _)| known).collect()
}

/// Whether a parameter is known as another is.
fn is_alike(found: &Known, wanted: &Known) -> bool {
    use Known::{Period, Place, Size};
    match (found, wanted) {
        (Place(a), Place(b)) => near(a[0], b[0]) && near(a[1], b[1]),
        (Size(a), Size(b)) | (Period(a), Period(b)) => near(*a, *b),
        _ => found == wanted,
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * (1e-3 + b.abs())
}

/// Proves that lengths, rates, places, angles and numbers are told from each other, whatever the linear parameters are.
#[test]
fn parameters_are_told_by_the_form() {
    use Known::{Period, Place, Size};
    let place = || Place([0.0, 8.0]);
    for (text, wanted) in [
        ("a*exp(-x/t) + a2", vec![Size(8.0)]),
        ("a*exp(-k*x) + a2", vec![Size(0.125)]),
        ("a*exp(-k*x) + a2*exp(-(x - m)^2/s^2)", vec![Size(0.125), place(), Size(8.0)]),
        ("(a + a2*x)/(1 + p*x + q*x^2)", vec![Size(0.125), Size(1.0 / 64.0)]),
        ("a*exp(b/(x + c))", vec![Size(8.0), Size(8.0)]),
        ("a*x^n/(k^n + x^n)", vec![Size(1.0), Size(8.0)]),
        ("exp(-b*x)/(c + d*x)", vec![Size(0.125), Size(1.0), Size(0.125)]),
        ("a*exp(-(x/t)^b) + a2", vec![Size(8.0), Size(1.0)]),
        ("a*(b + x)^(-1/c)", vec![Size(8.0), Size(1.0)]),
        ("a - a2*x - atan(b/(x - c))/pi", vec![Size(8.0), place()]),
        ("a*if(x < m, 1, exp(-(x - m)/t))", vec![place(), Size(8.0)]),
        ("a*lorentz(x, m, g) + a2*lorentz(x, m + d, g)", vec![place(), Size(8.0), Size(8.0)]),
        (
            "a*(gauss(x, m - d/2, s) + gauss(x, m + d/2, s))",
            vec![place(), Size(16.0), Size(32_f64.sqrt())],
        ),
        ("a*sin(w*x + p) + a2", vec![Size(0.125), Period(std::f64::consts::TAU)]),
        ("a*cos(2*pi*(x/t - p))", vec![Size(16.0 * std::f64::consts::PI), Period(1.0)]),
    ] {
        let found = roles(text, |x| x);
        assert_eq!(found.len(), wanted.len(), "{text}: {found:?}");
        for ((name, found), wanted) in found.iter().zip(&wanted) {
            assert!(is_alike(found, wanted), "{text}: {name} is {found:?}, not {wanted:?}");
        }
    }
}

/// Proves that roles follow what is written in the place of x, and what the value is multiplied by and added to: all are to the shifted x what
/// they were to x.
#[test]
fn roles_follow_shifts_and_scales() {
    for text in [
        "a*exp(-X/t) + b",
        "a*exp(-k*X) + b + c*X",
        "a*exp(-(X - m)^2/(2*s^2)) + b + c*X",
        "a1*gauss(X, m1, s1) + a2*gauss(X, m2, s2) + a3*gauss(X, m3, s3) + b + c*X",
        "a*voigt(X - m, s, g) + b",
        "a*pseudo_voigt(X, m, w, e) + b",
        "a*X^n/(k^n + X^n)",
        "d + (a - d)/(1 + (X/c)^b)",
        "(a + b*X)/(1 + p*X + q*X^2)",
        "a*exp(b/(X + c))",
        "exp(-b*X)/(c + d*X)",
        "a/(1 + exp(-(X - m)/w)) + b",
        "a*exp(-X/t)*sin(w*X + p) + c",
        "a*cos(2*pi*X/t) + b*sin(2*pi*X/t) + c",
        "a*(1 - exp(-(X/t)^b)) + c",
        "a*exp(-(sqrt(X) - m)^2/s^2)",
        "if(X < m, a, a*exp(-(X - m)/t)) + b",
    ] {
        let plain = roles(&text.replace('X', "x"), |x| x);
        for (shift, scale) in [(550.0, 1.0), (-7.25, 1000.0), (0.0, 1e-9), (1e4, 0.3), (0.0, 60.0)]
        {
            let shifted = text.replace('X', &format!("((x - ({shift:?}))/{scale:?})"));
            for whole in [shifted.clone(), format!("1e6 + 2.5e-7*({shifted})")] {
                let found = roles(&whole, |x| scale * x + shift);
                for ((name, found), (_, wanted)) in found.iter().zip(&plain) {
                    let alike = is_alike(found, wanted);
                    assert!(alike, "{whole}: {name} is {found:?}, not {wanted:?}");
                }
            }
        }
    }
}

/// Proves that what turns sines and cosines is found, with its factor and power, and nothing else is.
#[test]
fn frequencies_and_periods_are_told() {
    let turning = |text: &str| {
        let formula = Formula::of_variables(text, &["x"]).expect(text);
        let searched: Vec<bool> = formula.linear().iter().map(|linear| !linear).collect();
        let all = formula.roles(&searched).turning;
        let named =
            all.iter().map(|of| (formula.parameters()[of.parameter].clone(), of.factor, of.power));
        named.collect::<Vec<_>>()
    };
    let tau = std::f64::consts::TAU;
    for (text, wanted) in [
        ("a*sin(w*x + p) + c", vec![("w", 1.0, 1.0)]),
        ("a*sin(w*(x - m)) + c", vec![("w", 1.0, 1.0)]),
        ("a*exp(-x/t)*cos(2*pi*f*x/1000) + c", vec![("f", tau / 1000.0, 1.0)]),
        ("a*cos(2*pi*x/T) + b*sin(2*pi*x/T) + c", vec![("T", tau, -1.0)]),
        ("a*cos(sqrt(k)*x)", vec![("k", 1.0, 0.5)]),
        (
            "a*sin(w1*x + p) + b*sin(w2*x + q) + c*sin(0.5*x)",
            vec![("w1", 1.0, 1.0), ("w2", 1.0, 1.0)],
        ),
        ("a*sin(x/3) + b*exp(-x/t)", vec![]),
        ("a*sin(w*x^2) + b*exp(-x/t)", vec![]),
    ] {
        let mut found = turning(text);
        found.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(found.len(), wanted.len(), "{text}: {found:?}");
        for (found, wanted) in found.iter().zip(wanted) {
            let alike = found.0 == wanted.0 && near(found.1, wanted.1) && found.2 == wanted.2;
            assert!(alike, "{text}: {found:?}, not {wanted:?}");
        }
    }
}
