//! Functions that formulas call, on vector registers.

use fit_cpu::{InstructionSet, internals};
use fit_formula::{Function, Function2, Op};

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

/// A function of numbers on an instruction set, and in double precision: the number, the one and the other.
fn values(set: InstructionSet, function: Function, x: &[f32]) -> Vec<(f32, f32, f64)> {
    let found = internals::operate(set, Op::Call(function, 0), [x, &[]]).expect("available");
    assert_eq!(found.len(), x.len());
    let wanted = |x: f32| function.value(x.into());
    x.iter().zip(found).map(|(&x, found)| (x, found, wanted(x))).collect()
}

fn check(set: InstructionSet) {
    for &(function, [low, high], [relative, absolute]) in CASES {
        let numbers: Vec<f32> = (0..20_000)
            .map(|i| {
                let share = f64::from(i) / 19_999.0;
                let even = low + (high - low) * share;
                (if low > 0.0 { low * (high / low).powf(share) } else { even }) as f32
            })
            .collect();
        for (x, found, wanted) in values(set, function, &numbers) {
            let near = (f64::from(found) - wanted).abs() <= relative * wanted.abs() + absolute;
            assert!(near, "{set} {function:?} {x}: {found}, not {wanted}");
        }
    }
    for x in [1e-30_f32, 1e-3, 0.3, 0.99, 1.0, 1.01, 1.5, 7.0, 300.0, 1e20] {
        for y in [-3.0_f32, -1.0, -0.3, 0.0, 0.5, 1.0, 1.7, 2.0, 9.5] {
            check_power(set, x, y);
        }
    }
    for (x, y) in [(0.0, 2.0), (0.0, 0.0), (0.0, -1.0), (-2.0, 3.0), (-2.0, 0.5), (2.0, 5e3)] {
        check_power(set, x, y);
    }
    // What has no value, and what is infinite.
    let odd = [0.0_f32, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-42, 3e38, -200.0];
    use Function::{Exp, Ln, Logistic, Sin, Sqrt, Tanh};
    for function in [Exp, Ln, Sqrt, Sin, Tanh, Logistic] {
        for (x, found, wanted) in values(set, function, &odd) {
            let wanted = wanted as f32;
            let same = found == wanted
                || (found.is_nan() && wanted.is_nan())
                || ((found - wanted) / wanted).abs() < 1e-6
                || (found - wanted).abs() < 1e-37;
            assert!(same, "{set} {function:?} {x}: {found}, not {wanted}");
        }
    }
}

fn check_power(set: InstructionSet, x: f32, y: f32) {
    let op = Op::Call2(Function2::Power, 0, 1);
    let found = internals::operate(set, op, [&[x], &[y]]).expect("available")[0];
    let wanted = Function2::Power.value(x.into(), y.into()) as f32;
    let same = found == wanted
        || (found.is_nan() && wanted.is_nan())
        || (found / wanted - 1.0).abs() < 6e-7
        || (found - wanted).abs() < 1e-37;
    assert!(same, "{set} {x}^{y}: {found}, not {wanted}");
}

/// Proves that functions of packs agree with double precision, within the errors of the table.
#[test]
fn functions_are_precise() {
    for set in InstructionSet::ALL.into_iter().filter(|set| set.is_available()) {
        check(set);
    }
}
