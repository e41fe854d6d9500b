//! Functions of packs: those that are common by polynomials, the others lane by lane in double precision.

use fit_core::arithmetic::functions::{self, Elementary};
use fit_formula::{Function, Function2, MAX_SPLINE_AXES, Spline};

use crate::curve::RESULTS;
use crate::simd::arch::pack::Pack;

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
        Function::Floor => each!(|x| functions::floor(x)),
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
        // Of a number and NaN it is the number.
        Function2::Min => P::select(x.lt(y) | !y.le(y), x, y),
        Function2::Max => P::select(y.lt(x) | !y.le(y), x, y),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::Functions;
    use crate::simd::arch::pack::Pack;
    use crate::simd::arch::portable::Array4;

    /// Arguments, and the error allowed: relative, beside an absolute one.
    const CASES: &[(Function, [f64; 2], [f64; 2])] = &[
        (Function::Exp, [-87.0, 88.0], [3e-7, 0.0]),
        (Function::ExpM1, [-20.0, 80.0], [4e-7, 0.0]),
        (Function::Ln, [1e-30, 1e30], [2e-7, 2e-7]),
        (Function::Ln, [0.1, 3.0], [3e-7, 1e-7]),
        (Function::Ln1P, [-0.9, 5.0], [4e-7, 0.0]),
        (Function::LnOrZero, [0.1, 30.0], [3e-7, 1e-7]),
        (Function::Sqrt, [0.0, 1e9], [1e-7, 0.0]),
        (Function::Sin, [-5990.0, 5990.0], [2e-7, 1e-7]),
        (Function::Sin, [-9.0, 9.0], [2e-7, 1e-7]),
        (Function::Cos, [-5990.0, 5990.0], [2e-7, 1e-7]),
        (Function::Cos, [-1e9, 1e9], [1e-7, 1e-7]),
        (Function::Tan, [-1.5, 1.5], [4e-7, 0.0]),
        (Function::Asin, [-1.0, 1.0], [1e-7, 0.0]),
        (Function::Atan, [-20.0, 20.0], [2e-7, 0.0]),
        (Function::Sinh, [-88.0, 88.0], [1e-6, 0.0]),
        (Function::Cosh, [-88.0, 88.0], [1e-6, 0.0]),
        (Function::Tanh, [-12.0, 12.0], [2e-7, 0.0]),
        (Function::Logistic, [-80.0, 30.0], [4e-7, 0.0]),
        (Function::Abs, [-3.0, 3.0], [0.0, 0.0]),
        (Function::Floor, [-300.0, 300.0], [0.0, 0.0]),
        (Function::Erf, [-5.0, 5.0], [2e-7, 0.0]),
        (Function::Erfcx, [-2.0, 50.0], [1e-7, 0.0]),
    ];

    fn check<P: Pack + Functions>(name: &str) {
        for &(function, [low, high], [relative, absolute]) in CASES {
            for i in 0..20_000 {
                let share = f64::from(i) / 19_999.0;
                let x = if low > 0.0 {
                    low * (high / low).powf(share)
                } else {
                    low + (high - low) * share
                };
                let x = x as f32;
                let mut to = [P::splat(0.0)];
                P::call(function, &[P::splat(x.into())], &mut to);
                let mut numbers = [0.0; 32];
                to[0].store(&mut numbers);
                let (found, wanted) = (f64::from(numbers[P::LANES - 1]), function.value(x.into()));
                let off = (found - wanted).abs();
                assert!(
                    off <= relative * wanted.abs() + absolute,
                    "{name} {function:?} {x}: {found}, not {wanted}"
                );
            }
        }
        for x in [1e-30_f32, 1e-3, 0.3, 0.99, 1.0, 1.01, 1.5, 7.0, 300.0, 1e20] {
            for y in [-3.0_f32, -1.0, -0.3, 0.0, 0.5, 1.0, 1.7, 2.0, 9.5] {
                check_power::<P>(name, x, y);
            }
        }
        for (x, y) in [(0.0, 2.0), (0.0, 0.0), (0.0, -1.0), (-2.0, 3.0), (-2.0, 0.5), (2.0, 5e3)] {
            check_power::<P>(name, x, y);
        }
        // What has no value, and what is infinite.
        let odd = [0.0_f32, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-42, 3e38, -200.0];
        for function in [
            Function::Exp,
            Function::Ln,
            Function::Sqrt,
            Function::Sin,
            Function::Tanh,
            Function::Logistic,
        ] {
            for x in odd {
                let mut to = [P::splat(0.0)];
                P::call(function, &[P::splat(x.into())], &mut to);
                let mut numbers = [0.0; 32];
                to[0].store(&mut numbers);
                let wanted = function.value(x.into()) as f32;
                let same = numbers[0] == wanted
                    || (numbers[0].is_nan() && wanted.is_nan())
                    || ((numbers[0] - wanted) / wanted).abs() < 1e-6
                    || (numbers[0] - wanted).abs() < 1e-37;
                assert!(same, "{name} {function:?} {x}: {}, not {wanted}", numbers[0]);
            }
        }
    }

    fn check_power<P: Pack + Functions>(name: &str, x: f32, y: f32) {
        let value = P::call2(Function2::Power, P::splat(x.into()), P::splat(y.into()));
        let mut numbers = [0.0; 32];
        value.store(&mut numbers);
        let wanted = Function2::Power.value(x.into(), y.into()) as f32;
        let found = numbers[0];
        let same = found == wanted
            || (found.is_nan() && wanted.is_nan())
            || (found / wanted - 1.0).abs() < 6e-7
            || (found - wanted).abs() < 1e-37;
        assert!(same, "{name} {x}^{y}: {found}, not {wanted}");
    }

    /// Proves that functions of packs agree with double precision, within the errors of the table.
    #[test]
    fn functions_are_precise() {
        check::<Array4>("portable");
        #[cfg(target_arch = "x86_64")]
        {
            use crate::simd::InstructionSet;
            use crate::simd::arch::{avx2::F32x8, avx512::F32x16};
            #[target_feature(enable = "avx512f,avx2,fma")]
            unsafe fn wide() {
                check::<F32x16>("avx512");
            }
            #[target_feature(enable = "avx2,fma")]
            unsafe fn narrow() {
                check::<F32x8>("avx2");
            }
            if InstructionSet::Avx512.is_available() {
                // SAFETY: the processor has it.
                unsafe { wide() }
            }
            if InstructionSet::Avx2.is_available() {
                // SAFETY: the processor has it.
                unsafe { narrow() }
            }
        }
    }
}
