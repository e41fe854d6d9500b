//! Models written in Rust.

use fit_core::Real;
use fit_core::curve::At;

/// The arithmetic of a [`CompiledModel`]: `f64`, or numbers of several data sets side by side.
pub trait CurveNumber: Real {
    /// eˣ.
    fn exp(self) -> Self;
    /// The natural logarithm; NaN below 0.
    fn log(self) -> Self;
    /// A power; NaN for negative numbers to powers that are not whole.
    fn power(self, exponent: Self) -> Self;
    /// The sine of radians.
    fn sin(self) -> Self;
    /// The cosine of radians.
    fn cos(self) -> Self;
    /// The inverse tangent, in radians.
    fn atan(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// The error function.
    fn erf(self) -> Self;
}

macro_rules! of_libm {
    ($($name:ident: $function:ident),*) => {$(
        fn $name(self) -> Self {
            libm::$function(self)
        }
    )*};
}

impl CurveNumber for f64 {
    of_libm!(exp: exp, log: log, sin: sin, cos: cos, atan: atan, tanh: tanh, erf: erf);
    fn power(self, exponent: Self) -> Self {
        libm::pow(self, exponent)
    }
}

/// A model of P parameters and V variables, written in Rust: for models that cannot be written as formulas, or to save
/// a tenth of the time. It is compiled for double precision and for every kind of vector registers.
///
/// ```
/// use fit_curves::{At, CompiledModel, CurveNumber};
///
/// /// a·exp(−x/t) + c.
/// struct Decay;
///
/// impl CompiledModel<3, 1> for Decay {
///     fn at<R: CurveNumber>(&self, [a, t, c]: [R; 3], [x]: [R; 1]) -> At<R, 3> {
///         let rate = t.reciprocal();
///         let decay = (-x * rate).exp();
///         At { value: a * decay + c, by: [decay, a * decay * x * rate * rate, R::splat(1.0)] }
///     }
/// }
///
/// let at = Decay.at([2.0, 4.0, 1.0], [0.0]);
/// assert_eq!((at.value, at.by), (3.0, [1.0, 0.0, 1.0]));
/// ```
pub trait CompiledModel<const P: usize, const V: usize>: Sync {
    /// The value at a point, and its derivative by each parameter.
    ///
    /// Mark it `#[inline]`: then terms that do not depend on the point are computed only once.
    fn at<R: CurveNumber>(&self, parameters: [R; P], point: [R; V]) -> At<R, P>;
}
