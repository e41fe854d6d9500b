//! The functions that formulas can call.

use crate::function::{Function, Function2};

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
    /// A formula of its arguments.
    Written(&'static str),
    /// The same of u = ((x − x0)/width)², from the first three arguments, and of those after them.
    Peak(&'static str),
}

impl Entry {
    /// The names of its arguments.
    pub(crate) fn arguments(&self) -> impl Iterator<Item = &'static str> {
        self.usage[self.name.len()..].trim_matches(['(', ')']).split(", ")
    }

    /// Whether it can be called with so many arguments.
    pub(crate) fn takes(&self, count: usize) -> bool {
        if matches!(self.body, Any(_)) { count >= 2 } else { count == self.arguments().count() }
    }
}

/// All functions that users know.
fn known() -> impl Iterator<Item = &'static Entry> {
    LIBRARY.iter().filter(|entry| !entry.name.starts_with('_'))
}

/// The function with a name; derivatives alone call some that users do not know.
pub(crate) fn find(name: &str, by_derivatives: bool) -> Option<&'static Entry> {
    let found = LIBRARY.iter().find(|entry| entry.name == name);
    found.filter(|_| by_derivatives || !name.starts_with('_'))
}

/// All names.
pub(crate) fn names<'a>() -> impl Iterator<Item = &'a str> {
    known().map(|entry| entry.name)
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

use Body::{Any, If, One, Peak, Two, Written};

library! {
    "exp(x)" "eˣ" One(Function::Exp);
    "expm1(x)" "eˣ − 1, exact near 0" One(Function::ExpM1);
    "exp2(x)" "2ˣ" Written("exp(0.6931471805599453*x)");
    "log(x)" "the natural logarithm" One(Function::Ln);
    "ln(x)" "the natural logarithm" One(Function::Ln);
    "log1p(x)" "log(1 + x), exact near 0" One(Function::Ln1P);
    "log10(x)" "the logarithm to base 10" Written("0.4342944819032518*log(x)");
    "log2(x)" "the logarithm to base 2" Written("1.4426950408889634*log(x)");
    "sqrt(x)" "the square root" One(Function::Sqrt);
    "pow(x, y)" "x to the power y, as x^y" Two(Function2::Power);
    "hypot(x, y)" "√(x² + y²)" Written("sqrt(x^2 + y^2)");
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
    "sign(x)" "−1, 0 or 1" Written("if(x > 0, 1, if(x < 0, -1, 0))");
    "floor(x)" "the largest integer ≤ x" One(Function::Floor);
    "ceil(x)" "the smallest integer ≥ x" Written("-floor(-x)");
    "round(x)" "the nearest integer, ½ upwards" Written("floor(x + 0.5)");
    "mod(x, y)" "x − y·floor(x/y)" Written("x - y*floor(x/y)");
    "min(x, y, …)" "the smallest" Any(Function2::Min);
    "max(x, y, …)" "the largest" Any(Function2::Max);
    "if(condition, yes, no)" "yes where the condition holds, else no" If;
    "step(x)" "0 below 0, else 1" Written("if(x < 0, 0, 1)");
    "erf(x)" "the error function" One(Function::Erf);
    "erfc(x)" "1 − erf(x), exact for large x" One(Function::Erfc);
    "erfcx(x)" "exp(x²)·erfc(x)" One(Function::Erfcx);
    "lgamma(x)" "log|Γ(x)|" One(Function::LnGamma);
    "j0(x)" "the Bessel function J₀" One(Function::J0);
    "j1(x)" "the Bessel function J₁" One(Function::J1);
    "w_re(x, y)" "the real part of the Faddeeva function w(x + iy)" Two(Function2::FaddeevaRe);
    "w_im(x, y)" "the imaginary part of the Faddeeva function w(x + iy)" Two(Function2::FaddeevaIm);
    "gauss(x, x0, sigma)" "exp(−(x − x0)²/(2·sigma²)): height 1" Peak("exp(-0.5*u)");
    "lorentz(x, x0, gamma)" "1/(1 + ((x − x0)/gamma)²): height 1, gamma is half its full width at half maximum"
        Peak("1/(1 + u)");
    "pseudo_voigt(x, x0, width, eta)"
        "eta·Lorentz + (1 − eta)·Gauss, both of height 1 and of this full width at half maximum"
        Peak("g = exp(-2.772588722239781*u); l = 1/(1 + 4*u); r = 1 - eta; eta*l + r*g");
    "voigt(x, sigma, gamma)" "the convolution of a Gauss of width sigma and a Lorentz of half width gamma, of area 1"
        Written("s = sqrt(0.5)*(x/sigma); t = sqrt(0.5)*(gamma/sigma); 0.3989422804014327*(w_re(s, t)/sigma)");
    "logistic(x)" "1/(1 + exp(−x))" One(Function::Logistic);
    "_digamma(x)" "the derivative of lgamma" One(Function::Digamma);
    "_j1_over_x(x)" "j1(x)/x" One(Function::J1OverX);
}

/// What formulas can call: how, and what it gives.
pub fn functions() -> impl Iterator<Item = (&'static str, &'static str)> {
    known().map(|entry| (entry.usage, entry.what))
}
