//! The functions of formulas, of packs in double precision; those that are rare lane by lane.

use fit_engine::{double, functions};
use fit_formula::{Function, Function2};

use super::pack::Double;
use crate::simd::formulas;

/// A function of each number.
#[inline(always)]
pub(super) fn call<R: Double>(function: Function, of: &[R], to: &mut [R]) {
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
pub(super) fn call2<R: Double>(function: Function2, x: R, y: R) -> R {
    match function {
        Function2::Power => double::power(x, y),
        other => formulas::call2(other, x, y),
    }
}
