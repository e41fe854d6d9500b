//! Functions of packs: those that are common by polynomials, the others lane by lane in double precision.

use fit_core::Real;
use fit_curves::CurveNumber;
use fit_engine::functions::{self, Elementary};
use fit_formula::{Function, Function2, Spline};

use super::lattice;
use crate::curve::{Block, Functions, Lattice, RESULTS, Step};
use crate::simd::arch::pack::Pack;
use crate::simd::arch::register::{Packed, Register};
use crate::simd::formulas::{RunSteps, call2, lane_by_lane};

macro_rules! functions_of_models {
    ($($name:ident: $of:ident),*) => {$(
        #[inline(always)]
        fn $name(self) -> Self {
            functions::$of(self)
        }
    )*};
}

impl<R: Register<Number = f32>> CurveNumber for Packed<R> {
    functions_of_models!(exp: exp, log: ln, sin: sin, cos: cos, atan: atan, tanh: tanh, erf: erf);

    #[inline(always)]
    fn power(self, exponent: Self) -> Self {
        functions::power(self, exponent)
    }
}

/// A function of each number.
#[inline(always)]
fn call<P: Elementary>(function: Function, of: &[P], to: &mut [P]) {
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

impl<R: Register<Number = f32>> Functions for Packed<R>
where
    Self: Pack,
{
    #[inline(always)]
    fn call(function: Function, of: &[Self], to: &mut [Self]) {
        call(function, of, to);
    }
    #[inline(always)]
    fn call2(function: Function2, x: Self, y: Self) -> Self {
        match function {
            Function2::Power => functions::power(x, y),
            other => call2(other, x, y),
        }
    }
    #[inline(always)]
    fn spline(spline: &Spline, arguments: &[Self]) -> [Self; RESULTS] {
        lane_by_lane(arguments, |own| spline.at_single(own))
    }
    const LATTICE: bool = true;
    #[inline(always)]
    fn lattice(lattice: &Lattice, registers: &mut [Self]) {
        lattice::lattice(lattice, registers);
    }
    fn run(registers: &mut [Self], steps: &[Step], block: &Block) {
        Self::compiled(RunSteps { registers, steps, block });
    }
}
