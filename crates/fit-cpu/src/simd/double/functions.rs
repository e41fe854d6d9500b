//! The functions of formulas, of packs in double precision; those that are rare lane by lane.

use fit_core::arithmetic::{double, functions};
use fit_formula::{Function, Function2, MAX_SPLINE_AXES, Spline};

use super::pack::Double;
use crate::curve::RESULTS;

/// A function of each number.
#[inline(always)]
pub(in crate::simd) fn call<R: Double>(function: Function, of: &[R], to: &mut [R]) {
    macro_rules! each {
        (|$x:ident| $value:expr) => {
            for (to, &$x) in to.iter_mut().zip(of) {
                *to = $value;
            }
        };
    }
    match function {
        Function::Exp => each!(|x| double::exp(x)),
        Function::ExpM1 => each!(|x| double::exp_m1(x)),
        Function::Ln => each!(|x| double::ln(x)),
        Function::Ln1P => each!(|x| double::ln_1p(x)),
        Function::LnOrZero => each!(|x| double::ln_or_zero(x)),
        Function::Sqrt => each!(|x| functions::sqrt(x)),
        Function::Sin => each!(|x| double::sin(x)),
        Function::Cos => each!(|x| double::cos(x)),
        Function::Sinh => each!(|x| double::sinh(x)),
        Function::Cosh => each!(|x| double::cosh(x)),
        Function::Tanh => each!(|x| double::tanh(x)),
        Function::Logistic => each!(|x| double::logistic(x)),
        Function::Abs => each!(|x| x.abs()),
        other => each!(|x| x.each(|x| other.value(x))),
    }
}

/// A function of two numbers.
#[inline(always)]
pub(in crate::simd) fn call2<R: Double>(function: Function2, x: R, y: R) -> R {
    match function {
        Function2::Power => double::power(x, y),
        // Of a number and NaN it is the number, and of equal ones, as 0 and −0, the first.
        Function2::Min => R::select(y.lt(x) | !x.le(x), y, x),
        Function2::Max => R::select(x.lt(y) | !x.le(x), y, x),
        other => x.both(y, |x, y| other.value(x, y)),
    }
}

/// A spline, and its slopes along all axes, lane by lane.
#[inline(always)]
pub(super) fn spline<R: Double>(spline: &Spline, arguments: &[R]) -> [R; RESULTS] {
    let mut numbers = [[0.0; 8]; MAX_SPLINE_AXES];
    for (to, argument) in numbers.iter_mut().zip(arguments) {
        argument.store(to);
    }
    let mut results = [[0.0; 8]; RESULTS];
    let mut own = [0.0; MAX_SPLINE_AXES];
    let own = &mut own[..arguments.len()];
    for lane in 0..R::LANES {
        for (to, from) in own.iter_mut().zip(&numbers) {
            *to = from[lane];
        }
        for (to, result) in results.iter_mut().zip(spline.at(own)) {
            to[lane] = result;
        }
    }
    results.map(|numbers| R::load(&numbers))
}
