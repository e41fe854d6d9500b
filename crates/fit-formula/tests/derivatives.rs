//! Values are those of the same model in Rust, and derivatives those that differences give.

use std::f64::consts::PI;

use fit_formula::{Axes, Evaluator, Formula, functions};

/// A formula, the same in Rust, parameters and points.
struct Case {
    text: &'static str,
    variables: &'static [&'static str],
    parameters: &'static [(&'static str, f64)],
    value: fn(&[f64], &[f64]) -> f64,
}

const X: &[&str] = &["x"];
const XY: &[&str] = &["x", "y"];

macro_rules! cases {
    ($($variables:ident $text:literal { $($name:ident $value:expr),* } |$x:pat_param, [$($p:pat_param),*]| $body:expr;)*) => {
        &[$(Case {
            text: $text,
            variables: $variables,
            parameters: &[$((stringify!($name), $value)),*],
            value: |x, p| {
                let &$x = x else { panic!("variables") };
                let &[$($p),*] = p else { panic!("parameters") };
                $body
            },
        },)*]
    };
}

fn gauss(d: f64, s: f64) -> f64 {
    (-d * d / (2.0 * s * s)).exp()
}

/// Models that people fit, and every function.
const CASES: &[Case] = cases! {
    X "a + b*x" { a 1.5, b -0.7 } |[x], [a, b]| a + b * x;
    X "a + x*(b + x*(c + x*d))" { a 1.5, b -0.7, c 0.2, d 0.01 } |[x], [a, b, c, d]| a + x * (b + x * (c + x * d));
    X "a*exp(-x/t) + c" { a 2.0, t 1.3, c 0.5 } |[x], [a, t, c]| a * (-x / t).exp() + c;
    X "a*exp(-k*x) + b*exp(-l*x) + c" { a 2.0, k 0.3, b 1.0, l 1.1, c 0.1 }
        |[x], [a, k, b, l, c]| a * (-k * x).exp() + b * (-l * x).exp() + c;
    X "a*(1 - 2*b*exp(-x/t1))" { a 2.0, b 0.9, t1 1.3 } |[x], [a, b, t]| a * (1.0 - 2.0 * b * (-x / t).exp());
    X "a*exp(-(x/t)^b)" { a 2.0, t 1.3, b 0.7 } |[x], [a, t, b]| a * (-(x / t).powf(b)).exp();
    X "a*gauss(x, x0, s) + b" { a 2.0, x0 1.7, s 0.8, b 0.3 } |[x], [a, x0, s, b]| a * gauss(x - x0, s) + b;
    X "a*exp(-(x - x0)**2/(2*s**2)) + b" { a 2.0, x0 1.7, s 0.8, b 0.3 } |[x], [a, x0, s, b]| a * gauss(x - x0, s) + b;
    X "a*lorentz(x, x0, g) + b" { a 2.0, x0 1.7, g 0.8, b 0.3 }
        |[x], [a, x0, g, b]| a / (1.0 + ((x - x0) / g).powi(2)) + b;
    X "a*g^2/((x - x0)^2 + g^2) + b" { a 2.0, x0 1.7, g 0.8, b 0.3 }
        |[x], [a, x0, g, b]| a / (1.0 + ((x - x0) / g).powi(2)) + b;
    X "a*pseudo_voigt(x, x0, w, eta) + b" { a 2.0, x0 1.7, w 0.8, eta 0.4, b 0.3 } |[x], [a, x0, w, eta, b]| {
        let square = ((x - x0) / w).powi(2);
        a * (eta / (1.0 + 4.0 * square) + (1.0 - eta) * (-4.0 * 2.0_f64.ln() * square).exp()) + b
    };
    X "a*logistic((x - x0)/w) + b" { a 2.0, x0 1.7, w 0.8, b 0.3 }
        |[x], [a, x0, w, b]| a / (1.0 + (-(x - x0) / w).exp()) + b;
    X "a/(1 + exp(-(x - x0)/w)) + b" { a 2.0, x0 1.7, w 0.8, b 0.3 }
        |[x], [a, x0, w, b]| a / (1.0 + (-(x - x0) / w).exp()) + b;
    X "a*exp(k*(x - x0))/(1 + exp(k*(x - x0)))^2" { a 2.0, x0 1.7, k 1.4 } |[x], [a, x0, k]| {
        let e = (k * (x - x0)).exp();
        a * e / (1.0 + e).powi(2)
    };
    X "d + (a - d)/(1 + (x/c)^b)" { a 2.0, b 1.4, c 1.1, d 0.3 }
        |[x], [a, b, c, d]| d + (a - d) / (1.0 + (x / c).powf(b));
    X "top*x^n/(k^n + x^n)" { top 2.0, n 1.8, k 1.1 } |[x], [top, n, k]| top * x.powf(n) / (k.powf(n) + x.powf(n));
    X "a*x^b" { a 2.0, b 0.6 } |[x], [a, b]| a * x.powf(b);
    X "a*(x - x0)^1.5" { a 2.0, x0 -0.6 } |[x], [a, x0]| a * (x - x0).powf(1.5);
    X "a*pow(x + b, 0.3) + a*pow(2, b*x)" { a 2.0, b 0.6 } |[x], [a, b]| a * (x + b).powf(0.3) + a * (b * x).exp2();
    X "a*exp(-x/t)*sin(w*x + phi) + c" { a 2.0, t 3.0, w 2.1, phi 0.4, c 0.1 }
        |[x], [a, t, w, phi, c]| a * (-x / t).exp() * (w * x + phi).sin() + c;
    X "a*cos(2*pi*f*x) + b*sin(2*π*f*x)" { a 2.0, b 1.0, f 0.3 }
        |[x], [a, b, f]| a * (2.0 * PI * f * x).cos() + b * (2.0 * PI * f * x).sin();
    X "a*tan(b*x)" { a 2.0, b 0.3 } |[x], [a, b]| a * (b * x).tan();
    X "asin(a*x) + acos(b*x)" { a 0.2, b 0.15 } |[x], [a, b]| (a * x).asin() + (b * x).acos();
    X "a*atan((x - x0)/w)" { a 2.0, x0 1.7, w 0.8 } |[x], [a, x0, w]| a * ((x - x0) / w).atan();
    X "atan2(a*x, b - x)" { a 2.0, b 5.5 } |[x], [a, b]| (a * x).atan2(b - x);
    X "sinh(a*x) + cosh(b*x)" { a 0.4, b 0.3 } |[x], [a, b]| (a * x).sinh() + (b * x).cosh();
    X "a*tanh((x0 - x)/w)" { a 2.0, x0 1.7, w 0.8 } |[x], [a, x0, w]| a * ((x0 - x) / w).tanh();
    X "log(a + x) + log10(b + x) + log2(c + x) + ln(d*x)" { a 2.0, b 3.0, c 1.2, d 0.4 }
        |[x], [a, b, c, d]| (a + x).ln() + (b + x).log10() + (c + x).log2() + (d * x).ln();
    X "log1p(a*x) + expm1(b*x)" { a 0.4, b 0.3 } |[x], [a, b]| (a * x).ln_1p() + (b * x).exp_m1();
    X "sqrt(a + b*x^2)" { a 2.0, b 0.4 } |[x], [a, b]| (a + b * x * x).sqrt();
    X "1/sqrt(a + x) + (b + x)^-0.5" { a 2.0, b 0.4 } |[x], [a, b]| (a + x).powf(-0.5) + (b + x).powf(-0.5);
    X "hypot(a, b*x)" { a 2.0, b 0.4 } |[x], [a, b]| a.hypot(b * x);
    X "a*abs(x - x0)" { a 2.0, x0 1.7 } |[x], [a, x0]| a * (x - x0).abs();
    X "min(a*x, b, 7 - x)" { a 2.0, b 3.3 } |[x], [a, b]| (a * x).min(b).min(7.0 - x);
    X "max(a*x, b)" { a 2.0, b 3.3 } |[x], [a, b]| (a * x).max(b);
    X "if(x < x0, a + b*x, a + b*x0 + c*(x - x0))" { a 1.0, b 0.5, c -0.7, x0 1.9 }
        |[x], [a, b, c, x0]| if x < x0 { a + b * x } else { a + b * x0 + c * (x - x0) };
    X "if(1 <= x <= 3 & x != 2 | !(x < 4), a*x, b)" { a 1.0, b 0.5 }
        |[x], [a, b]| if ((1.0..=3.0).contains(&x) && x != 2.0) || x >= 4.0 { a * x } else { b };
    X "a*step(x - 2) + b*sign(x - 1) + c" { a 1.0, b 0.5, c 2.0 }
        |[x], [a, b, c]| a * if x < 2.0 { 0.0 } else { 1.0 } + b * (x - 1.0).signum() + c;
    X "a*floor(x) + b*ceil(x) + c*round(x) + d*mod(x, 0.8)" { a 1.0, b 0.5, c 2.0, d 0.3 }
        |[x], [a, b, c, d]| a * x.floor() + b * x.ceil() + c * (x + 0.5).floor() + d * x.rem_euclid(0.8);
    X "a*erf((x - x0)/w)" { a 2.0, x0 1.7, w 0.8 } |[x], [a, x0, w]| a * libm::erf((x - x0) / w);
    X "a*erfc((x - x0)/w)" { a 2.0, x0 1.7, w 0.8 } |[x], [a, x0, w]| a * libm::erfc((x - x0) / w);
    X "a*erfcx(b*x - c)" { a 2.0, b 0.9, c 1.0 }
        |[x], [a, b, c]| a * (b * x - c).powi(2).exp() * libm::erfc(b * x - c);
    X "h*exp(-x/t)*erfcx((m - x)/s + s/t)" { h 2.0, t 1.6, m 1.9, s 0.9 } |[x], [h, t, m, s]| {
        let u = (m - x) / s + s / t;
        h * (-x / t).exp() * (u * u).exp() * libm::erfc(u)
    };
    X "a*lgamma(b + x)" { a 2.0, b 0.6 } |[x], [a, b]| a * libm::lgamma(b + x);
    X "a*exp(x*log(m) - m - lgamma(x + 1))" { a 2.0, m 2.6 }
        |[x], [a, m]| a * (x * m.ln() - m - libm::lgamma(x + 1.0)).exp();
    X "a*j0(b*x) + c*j1(d*x)" { a 2.0, b 0.6, c 1.0, d 0.9 }
        |[x], [a, b, c, d]| a * libm::j0(b * x) + c * libm::j1(d * x);
    X "a*(2*j1(b*x)/(b*x))^2" { a 2.0, b 0.9 } |[x], [a, b]| a * (2.0 * libm::j1(b * x) / (b * x)).powi(2);
    X "a*w_re(b*x, c) - d*w_im(x, b)" { a 2.0, b 0.6, c 1.0, d 0.9 }
        |[x], [a, b, c, d]| a * faddeeva(b * x, c)[0] - d * faddeeva(x, b)[1];
    X "a*voigt(x - x0, s, g)" { a 2.0, x0 1.6, s 1.0, g 0.9 } |[x], [a, x0, s, g]| {
        let root = s * 2.0_f64.sqrt();
        a * faddeeva((x - x0) / root, g / root)[0] / (s * (2.0 * PI).sqrt())
    };
    X "a*exp2(-x/h)" { a 2.0, h 1.6 } |[x], [a, h]| a * (-x / h).exp2();
    X "a*(1 - f*exp(-x/t)*(b + c*x))" { a 2.0, f 0.6, t 1.6, b 0.4, c 0.2 }
        |[x], [a, f, t, b, c]| a * (1.0 - f * (-x / t).exp() * (b + c * x));
    X "1/n*1/(1 + x/t)/sqrt(1 + x/(k^2*t)) + g" { n 3.0, t 1.6, k 4.0, g 1.0 }
        |[x], [n, t, k, g]| 1.0 / n / (1.0 + x / t) / (1.0 + x / (k * k * t)).sqrt() + g;
    X "u = (x - x0)/w; v = u^2; a*exp(-v/2)*(1 + b*u*(v - 3)) + c" { x0 1.8, w 0.9, a 2.0, b 0.1, c 0.4 }
        |[x], [x0, w, a, b, c]| {
            let u = (x - x0) / w;
            a * (-u * u / 2.0).exp() * (1.0 + b * u * (u * u - 3.0)) + c
        };
    X "a - -x^2*b - (-x)^2*c + 2^-x" { a 2.0, b 0.4, c 0.3 }
        |[x], [a, b, c]| a + x * x * b - x * x * c + (-x).exp2();
    X "a^b^c*x" { a 1.3, b 1.2, c 0.8 } |[x], [a, b, c]| a.powf(b.powf(c)) * x;
    X "a/b/c*x - a/(b/c)" { a 1.3, b 1.2, c 0.8 } |[x], [a, b, c]| a / b / c * x - a / (b / c);
    X "a·x − b×x" { a 1.3, b 1.2 } |[x], [a, b]| a * x - b * x;
    XY "a*exp(-((x - x0)^2 + (y - y0)^2)/(2*s^2)) + b" { a 2.0, x0 1.4, y0 0.9, s 1.1, b 0.3 }
        |[x, y], [a, x0, y0, s, b]| a * gauss(x - x0, s) * gauss(y - y0, s) + b;
    XY "a*exp(-(x - x0)^2/(2*sx^2) - (y - y0)^2/(2*sy^2)) + b" { a 2.0, x0 1.4, y0 0.9, sx 1.1, sy 0.8, b 0.3 }
        |[x, y], [a, x0, y0, sx, sy, b]| a * gauss(x - x0, sx) * gauss(y - y0, sy) + b;
    XY "c = cos(phi); s = sin(phi); u = c*(x - x0) - s*(y - y0); v = s*(x - x0) + c*(y - y0);
        a*exp(-u^2/(2*sx^2) - v^2/(2*sy^2)) + b" { phi 0.4, x0 1.4, y0 0.9, a 2.0, sx 1.1, sy 0.8, b 0.3 }
        |[x, y], [phi, x0, y0, a, sx, sy, b]| {
            let (s, c) = phi.sin_cos();
            let (dx, dy) = (x - x0, y - y0);
            a * gauss(c * dx - s * dy, sx) * gauss(s * dx + c * dy, sy) + b
        };
    XY "a/(((x - x0)/sx)^2 + 1)/(((y - y0)/sy)^2 + 1) + b" { a 2.0, x0 1.4, y0 0.9, sx 1.1, sy 0.8, b 0.3 }
        |[x, y], [a, x0, y0, sx, sy, b]| {
            a / (((x - x0) / sx).powi(2) + 1.0) / (((y - y0) / sy).powi(2) + 1.0) + b
        };
    XY "a*(erf((x - x0 + 0.5)/(r*s)) - erf((x - x0 - 0.5)/(r*s)))*gauss(y, y0, s)" { a 2.0, x0 1.4, r 1.4, s 1.1, y0 0.9 }
        |[x, y], [a, x0, r, s, y0]| {
            let edge = |d: f64| libm::erf(d / (r * s));
            a * (edge(x - x0 + 0.5) - edge(x - x0 - 0.5)) * gauss(y - y0, s)
        };
    XY "k*x + l*y + m*x*y + n" { k 1.0, l 2.0, m 0.3, n -1.0 } |[x, y], [k, l, m, n]| k * x + l * y + m * x * y + n;
    XY "a*exp(-(x/u)^2)*cos(k*y) + b*log(x + y)" { a 2.0, u 1.5, k 0.7, b 0.2 }
        |[x, y], [a, u, k, b]| a * (-(x / u).powi(2)).exp() * (k * y).cos() + b * (x + y).ln();
    XY "(a + b*x)^2*(a + c*y)^-3" { a 2.0, b 0.4, c 0.3 } |[x, y], [a, b, c]| (a + b * x).powi(2) / (a + c * y).powi(3);
    XY "exp(a*(x + y)) - exp(-b*(x^2 + y^2))" { a 0.3, b 0.2 }
        |[x, y], [a, b]| (a * (x + y)).exp() - (-b * (x * x + y * y)).exp();
};

/// w(z) by a sum over the trapezoidal rule, which converges faster than any power for y away from 0.
fn faddeeva(x: f64, y: f64) -> [f64; 2] {
    // w(z) = i/π·∫exp(−t²)/(z − t)dt, for y > 0, with the pole's own term where the step is coarse.
    let step = 0.05;
    let (mut re, mut im) = (0.0, 0.0);
    for n in -400..=400 {
        let t = step * f64::from(n);
        let weight = (-t * t).exp() * step / PI;
        let norm = (x - t).powi(2) + y * y;
        re += weight * y / norm;
        im += weight * (x - t) / norm;
    }
    [re, im]
}

/// Points for a case: none on a jump.
fn points(case: &Case) -> Vec<Vec<f64>> {
    let along = [0.31, 0.77, 1.13, 1.55, 2.21, 2.83, 3.47, 4.19];
    match case.variables.len() {
        1 => along.iter().map(|&x| vec![x]).collect(),
        _ => along.iter().flat_map(|&x| along.map(|y| vec![x, y])).collect(),
    }
}

/// The derivative by differences, of which those of halved steps cancel the leading error three times.
fn difference(f: impl Fn(f64) -> f64, at: f64) -> f64 {
    let central = |h: f64| (f(at + h) - f(at - h)) / (2.0 * h);
    let h = 0.02 * at.abs().max(0.1);
    let mut row: Vec<f64> = (0..4).map(|k| central(h / f64::from(1 << k))).collect();
    for order in 1..4 {
        let factor = f64::from(1 << (2 * order));
        row = row.windows(2).map(|pair| (factor * pair[1] - pair[0]) / (factor - 1.0)).collect();
    }
    row[0]
}

/// Proves that values are those of Rust and derivatives those of differences, on a grid and for points anywhere.
#[test]
fn values_and_derivatives() {
    assert!(CASES.len() >= 60, "{}", CASES.len());
    for case in CASES {
        let names: Vec<&str> = case.parameters.iter().map(|parameter| parameter.0).collect();
        let at: Vec<f64> = case.parameters.iter().map(|parameter| parameter.1).collect();
        let formula = Formula::new(case.text, case.variables, &names)
            .unwrap_or_else(|error| panic!("{}", error.shown_in(case.text)));
        let found = Formula::of_variables(case.text, case.variables).expect("the same");
        let mut sorted = [found.parameters().to_vec(), names.iter().map(|&n| n.into()).collect()];
        sorted.iter_mut().for_each(|names| names.sort());
        assert_eq!(sorted[0], sorted[1], "{}", case.text);
        for axes in [Axes::Together, Axes::Grid] {
            let program = formula.program(axes, &vec![true; names.len()]);
            let mut evaluator = Evaluator::new(&program);
            evaluator.set_parameters(&at);
            for point in points(case) {
                let value = evaluator.value(&point);
                let wanted = (case.value)(&point, &at);
                let tolerance = 1e-12 * (1.0 + wanted.abs());
                assert!((value - wanted).abs() < tolerance, "{}: {value} {wanted}", case.text);
                let mut derivatives = vec![0.0; names.len()];
                evaluator.derivatives(&mut derivatives);
                for (number, derivative) in derivatives.into_iter().enumerate() {
                    let along = |value: f64| {
                        let mut moved = at.clone();
                        moved[number] = value;
                        (case.value)(&point, &moved)
                    };
                    let wanted = difference(along, at[number]);
                    assert!(
                        (derivative - wanted).abs() < 1e-8 * (1.0 + wanted.abs()),
                        "{} by {} at {point:?}: {derivative}, by differences {wanted}",
                        case.text,
                        names[number]
                    );
                }
            }
        }
    }
}

/// Proves that the table above has every function.
#[test]
fn every_function_is_tested() {
    for (usage, _) in functions() {
        let name = usage.split_inclusive('(').next().expect("a name");
        let there = |case: &Case| {
            case.text.match_indices(name).any(|(at, _)| {
                !case.text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
            })
        };
        assert!(CASES.iter().any(there), "{usage} is not tested");
    }
}

/// Proves what happens at the ends of the range: no derivative is NaN where its limit is a number.
#[test]
fn limits_are_numbers() {
    let cases: [(&str, &[f64], f64, &[f64]); 7] = [
        // Powers at 0.
        ("a*x^n", &[2.0, 1.5], 0.0, &[0.0, 0.0]),
        ("v*x^n/(k^n + x^n)", &[2.0, 1.5, 1.0], 0.0, &[0.0, 0.0, 0.0]),
        ("d + (a - d)/(1 + (x/c)^b)", &[1.0, 2.0, 3.0, 0.5], 0.0, &[0.0, 1.0, 0.0, 0.0]),
        // Fermi functions far away.
        ("a/(1 + exp(k*x))", &[2.0, 1.0], 1e3, &[0.0, 0.0]),
        ("a/(1 + exp(k*x))", &[2.0, 1.0], -1e3, &[1.0, 0.0]),
        ("a*exp(k*x)/(1 + exp(k*x))", &[2.0, 1.0], 1e3, &[1.0, 0.0]),
        ("a*j1(b*x)", &[2.0, 1.0], 0.0, &[0.0, 0.0]),
    ];
    for (text, parameters, x, wanted) in cases {
        let formula = Formula::of_variables(text, &["x"]).expect(text);
        let program = formula.program(Axes::Together, &vec![true; parameters.len()]);
        let mut evaluator = Evaluator::new(&program);
        evaluator.set_parameters(parameters);
        assert!(evaluator.value(&[x]).is_finite(), "{text}");
        let mut derivatives = vec![f64::NAN; parameters.len()];
        evaluator.derivatives(&mut derivatives);
        assert_eq!(derivatives, wanted, "{text} at {x}");
    }
}

/// Proves that common models take few operations at each point.
#[test]
fn programs_are_short() {
    for (text, variables, axes, most) in [
        ("a*exp(-x/t) + c", X, Axes::Together, 4),
        ("a*exp(-(x - x0)^2/(2*s^2)) + b", X, Axes::Together, 7),
        ("a*exp(-x/t) + b*exp(-x/u) + c", X, Axes::Together, 8),
        ("a*exp(-((x - x0)^2 + (y - y0)^2)/(2*s^2)) + b", XY, Axes::Grid, 6),
        ("a*exp(-((x - x0)^2 + (y - y0)^2)/(2*s^2)) + b", XY, Axes::Together, 10),
        ("a*exp(-(x - x0)^2/(2*sx^2) - (y - y0)^2/(2*sy^2)) + b", XY, Axes::Grid, 6),
    ] {
        let formula = Formula::of_variables(text, variables).expect(text);
        let program = formula.program(axes, &vec![true; formula.parameters().len()]);
        let count = program.point_operations();
        assert!(count <= most, "{text}: {count}\n{program}");
    }
}
