//! Functions of one and of two numbers, as programs know them.

use crate::special;

macro_rules! functions {
    (
        $(#[$of:meta])*
        $name:ident($($x:ident),*):
        $($(#[$doc:meta])* $variant:ident $text:literal $value:expr, $derivative:literal;)*
    ) => {
        $(#[$of])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// As it is written in a formula; names with an underscore in front are made by differentiation alone.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// The value in f64; NaN outside its domain.
            pub fn value(self, $($x: f64),*) -> f64 {
                match self {
                    $(Self::$variant => $value,)*
                }
            }

            /// Its derivative as a formula.
            pub(crate) const fn derivative(self) -> &'static str {
                match self {
                    $(Self::$variant => $derivative,)*
                }
            }
        }
    };
}

// Name, value, and the derivative by x, where the value is `own`.
functions! {
    /// A function of one number.
    Function(x):
    /// eˣ.
    Exp "exp" libm::exp(x), "own";
    /// eˣ − 1, exact near 0.
    ExpM1 "expm1" libm::expm1(x), "exp(x)";
    /// The natural logarithm; NaN below 0.
    Ln "log" libm::log(x), "1/x";
    /// ln(1 + x), exact near 0.
    Ln1P "log1p" libm::log1p(x), "1/(1 + x)";
    /// The natural logarithm, but 0 at 0: the derivative of a power by its exponent has the logarithm of its base as a
    /// factor, beside one that is 0 there.
    LnOrZero "_log_or_0" if x == 0.0 { 0.0 } else { libm::log(x) }, "1/x";
    /// The square root; NaN below 0.
    Sqrt "sqrt" libm::sqrt(x), "0.5/own";
    /// The sine of radians.
    Sin "sin" libm::sin(x), "cos(x)";
    /// The cosine of radians.
    Cos "cos" libm::cos(x), "-sin(x)";
    /// The tangent of radians.
    Tan "tan" libm::tan(x), "1 + own^2";
    /// The inverse sine, in radians.
    Asin "asin" libm::asin(x), "1/sqrt(1 - x^2)";
    /// The inverse cosine, in radians.
    Acos "acos" libm::acos(x), "-1/sqrt(1 - x^2)";
    /// The inverse tangent, in radians.
    Atan "atan" libm::atan(x), "1/(1 + x^2)";
    /// The hyperbolic sine.
    Sinh "sinh" libm::sinh(x), "cosh(x)";
    /// The hyperbolic cosine.
    Cosh "cosh" libm::cosh(x), "sinh(x)";
    /// The hyperbolic tangent.
    Tanh "tanh" libm::tanh(x), "1 - own^2";
    /// 1/(1 + e⁻ˣ), which does not overflow.
    Logistic "logistic" 1.0 / (1.0 + libm::exp(-x)), "own*logistic(-x)";
    /// |x|.
    Abs "abs" libm::fabs(x), "if(x < 0, -1, 1)";
    /// The largest integer that is not above.
    Floor "floor" libm::floor(x), "0";
    /// The error function 2/√π·∫exp(−t²)dt from 0.
    Erf "erf" libm::erf(x), "1.1283791670955126*exp(-x^2)";
    /// 1 − erf x, exact for large x.
    Erfc "erfc" libm::erfc(x), "-1.1283791670955126*exp(-x^2)";
    /// exp(x²)·erfc x.
    Erfcx "erfcx" special::erfcx(x), "2*x*own - 1.1283791670955126";
    /// ln|Γ(x)|.
    LnGamma "lgamma" libm::lgamma(x), "_digamma(x)";
    // No formula has this, and the last, but as a derivative: its own is NaN.
    /// The derivative of ln Γ.
    Digamma "_digamma" special::digamma(x), "log(-1)";
    /// The Bessel function J₀.
    J0 "j0" libm::j0(x), "-j1(x)";
    /// The Bessel function J₁.
    J1 "j1" libm::j1(x), "j0(x) - _j1_over_x(x)";
    /// J₁(x)/x, which is ½ at 0.
    J1OverX "_j1_over_x" if x == 0.0 { 0.5 } else { libm::j1(x) / x }, "log(-1)";
}

// Name, value, and the derivative by what x and y depend on, where theirs are `dx` and `dy`; nothing where it is made by hand.
functions! {
    /// A function of two numbers.
    Function2(x, y):
    /// The first to the power of the second; NaN for a negative number to a power that is not whole.
    Power "pow" libm::pow(x, y), "";
    /// The angle of the point (second, first), in radians.
    Atan2 "atan2" libm::atan2(x, y), "s = x^2 + y^2; (y*dx - x*dy)/s";
    /// The smaller.
    Min "min" if y < x || x.is_nan() { y } else { x }, "if(y < x, dy, dx)";
    /// The larger.
    Max "max" if x < y || x.is_nan() { y } else { x }, "if(x < y, dy, dx)";
    /// The real part of the Faddeeva function w(x + iy) = exp(−z²)·erfc(−iz), to 10⁻¹³ of |w|.
    FaddeevaRe "w_re" special::faddeeva(x, y)[0], "";
    /// Its imaginary part.
    FaddeevaIm "w_im" special::faddeeva(x, y)[1], "";
}

/// How a function behaves when its argument changes its sign.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parity {
    Even,
    Odd,
    Neither,
}

impl Function {
    pub(crate) const fn parity(self) -> Parity {
        use Function::{Abs, Asin, Atan, Cos, Cosh, Erf, J0, J1, J1OverX, Sin, Sinh, Tan, Tanh};
        match self {
            Cos | Cosh | Abs | J0 | J1OverX => Parity::Even,
            Sin | Tan | Asin | Atan | Sinh | Tanh | Erf | J1 => Parity::Odd,
            _ => Parity::Neither,
        }
    }

    /// Whether its values are never negative.
    pub(crate) const fn is_never_negative(self) -> bool {
        use Function::{Abs, Acos, Cosh, Erfc, Erfcx, Exp, Logistic, Sqrt};
        matches!(self, Exp | Sqrt | Cosh | Logistic | Abs | Erfc | Erfcx | Acos)
    }
}
