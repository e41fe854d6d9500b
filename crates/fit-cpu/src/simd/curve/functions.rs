//! Functions of packs: those that are common by polynomials, the others lane by lane in double precision.

use fit_core::arithmetic::functions::{self, Elementary};
use fit_curves::CurveNumber;
use fit_formula::{Function, Function2, MAX_SPLINE_AXES, Spline};

use crate::curve::RESULTS;
use crate::simd::arch::pack::Pack;
use crate::simd::arch::register::{Packed, Register};

impl<R: Register<Number = f32>> CurveNumber for Packed<R> {
    #[inline(always)]
    fn exp(self) -> Self {
        functions::exp(self)
    }
    #[inline(always)]
    fn log(self) -> Self {
        functions::ln(self)
    }
    #[inline(always)]
    fn power(self, exponent: Self) -> Self {
        functions::power(self, exponent)
    }
    #[inline(always)]
    fn sin(self) -> Self {
        functions::sin(self)
    }
    #[inline(always)]
    fn cos(self) -> Self {
        functions::cos(self)
    }
    #[inline(always)]
    fn atan(self) -> Self {
        functions::atan(self)
    }
    #[inline(always)]
    fn tanh(self) -> Self {
        functions::tanh(self)
    }
    #[inline(always)]
    fn erf(self) -> Self {
        functions::erf(self)
    }
}

/// A function of each number.
#[inline(always)]
pub(super) fn call<P: Elementary>(function: Function, of: &[P], to: &mut [P]) {
    macro_rules! each {
        (|$x:ident| $value:expr) => {
            for (to, &$x) in to.iter_mut().zip(of) {
                *to = $value;
            }
        };
    }
    match function {
        Function::Exp => each!(|x| functions::exp(x)),
        Function::ExpM1 => each!(|x| functions::exp_m1(x)),
        Function::Ln => each!(|x| functions::ln(x)),
        Function::Ln1P => each!(|x| functions::ln_1p(x)),
        Function::LnOrZero => each!(|x| functions::ln_or_zero(x)),
        Function::Sqrt => each!(|x| functions::sqrt(x)),
        Function::Sin => each!(|x| functions::sin(x)),
        Function::Cos => each!(|x| functions::cos(x)),
        Function::Tan => each!(|x| functions::tan(x)),
        Function::Atan => each!(|x| functions::atan(x)),
        Function::Sinh => each!(|x| functions::sinh(x)),
        Function::Cosh => each!(|x| functions::cosh(x)),
        Function::Tanh => each!(|x| functions::tanh(x)),
        Function::Logistic => each!(|x| functions::logistic(x)),
        // The floor of −0 is −0, as it is lane by lane where a neighbour is large.
        Function::Floor => each!(|x| {
            let below = functions::floor(x);
            P::select(below.lt(x), below, x)
        }),
        Function::Erf => each!(|x| functions::erf(x)),
        Function::Abs => each!(|x| x.abs()),
        other => each!(|x| x.each(|x| other.value(x))),
    }
}

/// A function of two numbers.
#[inline(always)]
pub(super) fn call2<P: Elementary>(function: Function2, x: P, y: P) -> P {
    match function {
        Function2::Power => functions::power(x, y),
        // Of a number and NaN it is the number, and of equal ones, as 0 and −0, the first.
        Function2::Min => P::select(y.lt(x) | !x.le(x), y, x),
        Function2::Max => P::select(x.lt(y) | !x.le(x), y, x),
        other => x.both(y, |x, y| other.value(x, y)),
    }
}

/// A spline, and its slopes along all axes, lane by lane.
#[inline(always)]
pub(super) fn spline<P: Pack>(spline: &Spline, arguments: &[P]) -> [P; RESULTS] {
    let mut numbers = [[0.0_f32; 32]; MAX_SPLINE_AXES];
    for (to, argument) in numbers.iter_mut().zip(arguments) {
        argument.store(to);
    }
    let mut results = [[0.0_f32; 32]; RESULTS];
    let mut own = [0.0; MAX_SPLINE_AXES];
    let own = &mut own[..arguments.len()];
    for lane in 0..P::LANES {
        for (to, from) in own.iter_mut().zip(&numbers) {
            *to = from[lane];
        }
        for (to, result) in results.iter_mut().zip(spline.at_single(own)) {
            to[lane] = result;
        }
    }
    results.map(|numbers| P::load(&numbers))
}
