//! The functions that formulas can call.

use alloc::vec::Vec;

use crate::function::{Function, Function2};
use crate::graph::{Graph, Id};

/// A function as users know it.
#[derive(Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// How it is called, with the names of its arguments.
    pub(crate) usage: &'static str,
    /// What it gives.
    pub(crate) what: &'static str,
    pub(crate) body: Body,
}

/// How a function is made.
#[derive(Clone, Copy)]
pub(crate) enum Body {
    One(Function),
    Two(Function2),
    /// Of two numbers or more, from left to right.
    Any(Function2),
    If,
    /// Of others.
    Macro(fn(&mut Graph, &[Id]) -> Id),
}

impl Entry {
    /// Whether it can be called with so many arguments.
    pub(crate) fn takes(&self, count: usize) -> bool {
        let wanted = self.usage.matches(',').count() + 1;
        if matches!(self.body, Any(_)) { count >= 2 } else { count == wanted }
    }
}

/// The function with a name.
pub(crate) fn find(name: &str) -> Option<&'static Entry> {
    LIBRARY.iter().find(|entry| entry.name == name)
}

/// All names.
pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    LIBRARY.iter().map(|entry| entry.name)
}

macro_rules! library {
    ($($usage:literal $what:literal $body:expr;)*) => {
        const LIBRARY: &[Entry] = &[$(Entry {
            name: before_parenthesis($usage),
            usage: $usage,
            what: $what,
            body: $body,
        },)*];
    };
}

/// The name in `name(arguments)`.
const fn before_parenthesis(usage: &'static str) -> &'static str {
    let mut length = 0;
    while usage.as_bytes()[length] != b'(' {
        length += 1;
    }
    usage.split_at(length).0
}

use Body::{Any, If, Macro, One, Two};

library! {
    "exp(x)" "eˣ" One(Function::Exp);
    "expm1(x)" "eˣ − 1, exact near 0" One(Function::ExpM1);
    "exp2(x)" "2ˣ" Macro(exp2);
    "log(x)" "the natural logarithm" One(Function::Ln);
    "ln(x)" "the natural logarithm" One(Function::Ln);
    "log1p(x)" "log(1 + x), exact near 0" One(Function::Ln1P);
    "log10(x)" "the logarithm to base 10" Macro(log10);
    "log2(x)" "the logarithm to base 2" Macro(log2);
    "sqrt(x)" "the square root" One(Function::Sqrt);
    "pow(x, y)" "x to the power y, as x^y" Two(Function2::Power);
    "hypot(x, y)" "√(x² + y²)" Macro(hypot);
    "sin(x)" "the sine of radians" One(Function::Sin);
    "cos(x)" "the cosine of radians" One(Function::Cos);
    "tan(x)" "the tangent of radians" One(Function::Tan);
    "asin(x)" "the inverse sine, in radians" One(Function::Asin);
    "acos(x)" "the inverse cosine, in radians" One(Function::Acos);
    "atan(x)" "the inverse tangent, in radians" One(Function::Atan);
    "atan2(y, x)" "the angle of the point (x, y), in radians" Two(Function2::Atan2);
    "sinh(x)" "the hyperbolic sine" One(Function::Sinh);
    "cosh(x)" "the hyperbolic cosine" One(Function::Cosh);
    "tanh(x)" "the hyperbolic tangent" One(Function::Tanh);
    "abs(x)" "|x|" One(Function::Abs);
    "sign(x)" "−1, 0 or 1" Macro(sign);
    "floor(x)" "the largest integer ≤ x" One(Function::Floor);
    "ceil(x)" "the smallest integer ≥ x" Macro(ceil);
    "round(x)" "the nearest integer, ½ upwards" Macro(round);
    "mod(x, y)" "x − y·floor(x/y)" Macro(modulo);
    "min(x, y, …)" "the smallest" Any(Function2::Min);
    "max(x, y, …)" "the largest" Any(Function2::Max);
    "if(condition, yes, no)" "yes where the condition holds, else no" If;
    "step(x)" "0 below 0, else 1" Macro(step);
    "erf(x)" "the error function" One(Function::Erf);
    "erfc(x)" "1 − erf(x), exact for large x" One(Function::Erfc);
    "erfcx(x)" "exp(x²)·erfc(x)" One(Function::Erfcx);
    "lgamma(x)" "log|Γ(x)|" One(Function::LnGamma);
    "j0(x)" "the Bessel function J₀" One(Function::J0);
    "j1(x)" "the Bessel function J₁" One(Function::J1);
    "w_re(x, y)" "the real part of the Faddeeva function w(x + iy)" Two(Function2::FaddeevaRe);
    "w_im(x, y)" "the imaginary part of the Faddeeva function w(x + iy)" Two(Function2::FaddeevaIm);
    "gauss(x, x0, sigma)" "exp(−(x − x0)²/(2·sigma²)): height 1" Macro(gauss);
    "lorentz(x, x0, gamma)" "1/(1 + ((x − x0)/gamma)²): height 1, gamma is half its full width at half maximum"
        Macro(lorentz);
    "pseudo_voigt(x, x0, width, eta)"
        "eta·Lorentz + (1 − eta)·Gauss, both of height 1 and of this full width at half maximum" Macro(pseudo_voigt);
    "voigt(x, sigma, gamma)" "the convolution of a Gauss of width sigma and a Lorentz of half width gamma, of area 1"
        Macro(voigt);
    "logistic(x)" "1/(1 + exp(−x))" One(Function::Logistic);
}

fn exp2(graph: &mut Graph, x: &[Id]) -> Id {
    let scaled = graph.scaled(core::f64::consts::LN_2, x[0]);
    graph.call(Function::Exp, scaled)
}

fn log10(graph: &mut Graph, x: &[Id]) -> Id {
    let ln = graph.call(Function::Ln, x[0]);
    graph.scaled(core::f64::consts::LOG10_E, ln)
}

fn log2(graph: &mut Graph, x: &[Id]) -> Id {
    let ln = graph.call(Function::Ln, x[0]);
    graph.scaled(core::f64::consts::LOG2_E, ln)
}

fn hypot(graph: &mut Graph, x: &[Id]) -> Id {
    let squares = [graph.product(&[(x[0], 2)]), graph.product(&[(x[1], 2)])];
    let sum = graph.add(squares[0], squares[1]);
    graph.call(Function::Sqrt, sum)
}

fn sign(graph: &mut Graph, x: &[Id]) -> Id {
    let [zero, one, minus] = [0.0, 1.0, -1.0].map(|value| graph.number(value));
    let above = graph.less(zero, x[0]);
    let below = graph.less(x[0], zero);
    let other = graph.choice(below, minus, zero);
    graph.choice(above, one, other)
}

fn ceil(graph: &mut Graph, x: &[Id]) -> Id {
    let minus = graph.scaled(-1.0, x[0]);
    let floor = graph.call(Function::Floor, minus);
    graph.scaled(-1.0, floor)
}

fn round(graph: &mut Graph, x: &[Id]) -> Id {
    let more = graph.sum(&[(x[0], 1.0)], 0.5);
    graph.call(Function::Floor, more)
}

fn modulo(graph: &mut Graph, x: &[Id]) -> Id {
    let ratio = graph.divide(x[0], x[1]);
    let whole = graph.call(Function::Floor, ratio);
    let taken = graph.multiply(whole, x[1]);
    graph.subtract(x[0], taken)
}

fn step(graph: &mut Graph, x: &[Id]) -> Id {
    let [zero, one] = [0.0, 1.0].map(|value| graph.number(value));
    let below = graph.less(x[0], zero);
    graph.choice(below, zero, one)
}

/// (x − x0)/width, squared.
fn square(graph: &mut Graph, x: &[Id]) -> Id {
    let from_centre = graph.subtract(x[0], x[1]);
    graph.product(&[(from_centre, 2), (x[2], -2)])
}

fn gauss(graph: &mut Graph, x: &[Id]) -> Id {
    let square = square(graph, x);
    let exponent = graph.scaled(-0.5, square);
    graph.call(Function::Exp, exponent)
}

fn lorentz(graph: &mut Graph, x: &[Id]) -> Id {
    let square = square(graph, x);
    let sum = graph.sum(&[(square, 1.0)], 1.0);
    graph.product(&[(sum, -1)])
}

fn pseudo_voigt(graph: &mut Graph, x: &[Id]) -> Id {
    let (square, eta) = (square(graph, x), x[3]);
    let gauss_exponent = graph.scaled(-4.0 * core::f64::consts::LN_2, square);
    let gauss = graph.call(Function::Exp, gauss_exponent);
    let sum = graph.sum(&[(square, 4.0)], 1.0);
    let lorentz = graph.product(&[(sum, -1)]);
    let rest = graph.sum(&[(eta, -1.0)], 1.0);
    let parts = [graph.multiply(eta, lorentz), graph.multiply(rest, gauss)];
    graph.add(parts[0], parts[1])
}

fn voigt(graph: &mut Graph, x: &[Id]) -> Id {
    let root_half = core::f64::consts::FRAC_1_SQRT_2;
    let scaled: Vec<Id> = [x[0], x[2]]
        .iter()
        .map(|&number| {
            let ratio = graph.divide(number, x[1]);
            graph.scaled(root_half, ratio)
        })
        .collect();
    let real = graph.call2(Function2::FaddeevaRe, scaled[0], scaled[1]);
    let over = graph.divide(real, x[1]);
    // 1/√(2π).
    graph.scaled(root_half * 0.5 * core::f64::consts::FRAC_2_SQRT_PI, over)
}

/// What formulas can call: how, and what it gives.
pub fn functions() -> impl Iterator<Item = (&'static str, &'static str)> {
    LIBRARY.iter().map(|entry| (entry.usage, entry.what))
}
