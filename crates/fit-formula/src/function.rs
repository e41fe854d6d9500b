//! Functions of one and of two numbers, as programs know them.

use crate::special;

macro_rules! functions {
    ($(#[$of:meta])* $name:ident: $($(#[$doc:meta])* $variant:ident $text:literal,)*) => {
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
        }
    };
}

functions! {
    /// A function of one number.
    Function:
    /// eˣ.
    Exp "exp",
    /// eˣ − 1, exact near 0.
    ExpM1 "expm1",
    /// The natural logarithm; NaN below 0.
    Ln "log",
    /// ln(1 + x), exact near 0.
    Ln1P "log1p",
    /// The natural logarithm, but 0 at 0: the derivative of a power by its exponent has the logarithm of its base as a
    /// factor, beside one that is 0 there.
    LnOrZero "_log_or_0",
    /// The square root; NaN below 0.
    Sqrt "sqrt",
    /// The sine of radians.
    Sin "sin",
    /// The cosine of radians.
    Cos "cos",
    /// The tangent of radians.
    Tan "tan",
    /// The inverse sine, in radians.
    Asin "asin",
    /// The inverse cosine, in radians.
    Acos "acos",
    /// The inverse tangent, in radians.
    Atan "atan",
    /// The hyperbolic sine.
    Sinh "sinh",
    /// The hyperbolic cosine.
    Cosh "cosh",
    /// The hyperbolic tangent.
    Tanh "tanh",
    /// 1/(1 + e⁻ˣ), which does not overflow.
    Logistic "logistic",
    /// |x|.
    Abs "abs",
    /// The largest integer that is not above.
    Floor "floor",
    /// The error function 2/√π·∫exp(−t²)dt from 0.
    Erf "erf",
    /// 1 − erf x, exact for large x.
    Erfc "erfc",
    /// exp(x²)·erfc x.
    Erfcx "erfcx",
    /// ln|Γ(x)|.
    LnGamma "lgamma",
    /// The derivative of ln Γ.
    Digamma "_digamma",
    /// The Bessel function J₀.
    J0 "j0",
    /// The Bessel function J₁.
    J1 "j1",
    /// J₁(x)/x, which is ½ at 0.
    J1OverX "_j1_over_x",
}

functions! {
    /// A function of two numbers.
    Function2:
    /// The first to the power of the second; NaN for a negative number to a power that is not whole.
    Power "pow",
    /// The angle of the point (second, first), in radians.
    Atan2 "atan2",
    /// The smaller.
    Min "min",
    /// The larger.
    Max "max",
    /// The real part of the Faddeeva function w(x + iy) = exp(−z²)·erfc(−iz), to 10⁻¹³ of |w|.
    FaddeevaRe "w_re",
    /// Its imaginary part.
    FaddeevaIm "w_im",
}

/// How a function behaves when its argument changes its sign.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parity {
    Even,
    Odd,
    Neither,
}

impl Function {
    /// The value in f64; NaN outside its domain.
    pub fn value(self, x: f64) -> f64 {
        match self {
            Self::Exp => libm::exp(x),
            Self::ExpM1 => libm::expm1(x),
            Self::Ln => libm::log(x),
            Self::Ln1P => libm::log1p(x),
            Self::LnOrZero if x == 0.0 => 0.0,
            Self::LnOrZero => libm::log(x),
            Self::Sqrt => libm::sqrt(x),
            Self::Sin => libm::sin(x),
            Self::Cos => libm::cos(x),
            Self::Tan => libm::tan(x),
            Self::Asin => libm::asin(x),
            Self::Acos => libm::acos(x),
            Self::Atan => libm::atan(x),
            Self::Sinh => libm::sinh(x),
            Self::Cosh => libm::cosh(x),
            Self::Tanh => libm::tanh(x),
            Self::Logistic => 1.0 / (1.0 + libm::exp(-x)),
            Self::Abs => libm::fabs(x),
            Self::Floor => libm::floor(x),
            Self::Erf => libm::erf(x),
            Self::Erfc => libm::erfc(x),
            Self::Erfcx => special::erfcx(x),
            Self::LnGamma => libm::lgamma(x),
            Self::Digamma => special::digamma(x),
            Self::J0 => libm::j0(x),
            Self::J1 => libm::j1(x),
            Self::J1OverX if x == 0.0 => 0.5,
            Self::J1OverX => libm::j1(x) / x,
        }
    }

    pub(crate) const fn parity(self) -> Parity {
        match self {
            Self::Cos | Self::Cosh | Self::Abs | Self::J0 | Self::J1OverX => Parity::Even,
            Self::Sin | Self::Tan | Self::Asin | Self::Atan | Self::Sinh | Self::Tanh => {
                Parity::Odd
            }
            Self::Erf | Self::J1 => Parity::Odd,
            _ => Parity::Neither,
        }
    }

    /// Whether its values are never negative.
    pub(crate) const fn is_never_negative(self) -> bool {
        matches!(
            self,
            Self::Exp
                | Self::Sqrt
                | Self::Cosh
                | Self::Logistic
                | Self::Abs
                | Self::Erfc
                | Self::Erfcx
                | Self::Acos
        )
    }
}

impl Function2 {
    /// The value in f64; NaN outside its domain.
    pub fn value(self, x: f64, y: f64) -> f64 {
        match self {
            Self::Power => libm::pow(x, y),
            Self::Atan2 => libm::atan2(x, y),
            Self::Min if y < x || x.is_nan() => y,
            Self::Min => x,
            Self::Max if x < y || x.is_nan() => y,
            Self::Max => x,
            Self::FaddeevaRe => special::faddeeva(x, y)[0],
            Self::FaddeevaIm => special::faddeeva(x, y)[1],
        }
    }
}
