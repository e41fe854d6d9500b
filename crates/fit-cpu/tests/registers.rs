//! Every operation of every type of registers, of numbers at the ends of their range and of what is no number, beside plain Rust.

use fit_core::{LaneMask, Lanes, Mask, Number, Real};
use fit_cpu::internals::{RegisterOperations, real_operations, register_operations};

/// What an operation gives in plain Rust; none where nothing is promised.
macro_rules! plain {
    ($name:ident, $type:ident) => {
        fn $name(op: &str, fused: bool, [a, b, c]: [f64; 3], whole: i32) -> Option<f64> {
            let [a, b, c] = [a as $type, b as $type, c as $type];
            let truth = |holds: bool| if holds { 1.0 } else { 0.0 };
            let either = |first: bool, one: $type, other: $type| if first { one } else { other };
            let normal = a > 0.0 && a.is_normal();
            // ⌊log₂ a⌋ of a normal number, by its bits.
            let exponent =
                ((a.to_bits() >> ($type::MANTISSA_DIGITS - 1)) as i32) - ($type::MAX_EXP - 1);
            let power = |n: i32| 2.0_f64.powi(n);
            let value: $type = match op {
                "add" => a + b,
                "sub" | "subtracted" => a - b,
                "numbers" => a,
                "mul" => a * b,
                "div" => a / b,
                "neg" => -a,
                "negated" => -a,
                "mul_add" if fused => a.mul_add(b, c),
                "mul_add" => a * b + c,
                "neg_mul_add" if fused => (-a).mul_add(b, c),
                "neg_mul_add" => c - a * b,
                "reciprocal" => 1.0 / a,
                "abs" | "magnitude" => a.abs(),
                "min" => either(a < b, a, b),
                "max" => either(a > b, a, b),
                "sqrt" => a.sqrt(),
                "lt" => truth(a < b),
                "le" => truth(a <= b),
                "not" => truth(a.partial_cmp(&b).is_none_or(std::cmp::Ordering::is_gt)),
                "and" => truth(a <= b && b < c),
                "or" => truth(a <= b || b < c),
                "splat" => 1.0,
                "is_finite" => truth(a.is_finite()),
                "select" | "bits" => either(a < b, b, c),
                "exponent" if normal => exponent as $type,
                "normalizer" if a.abs() >= $type::MIN_POSITIVE && a.is_finite() => {
                    // Both it and its reciprocal are normal.
                    let most = $type::MAX_EXP - 2;
                    power(-exponent_of(f64::from(a)).clamp(-most, most)) as $type
                }
                "floor" => a.floor(),
                // The language's own: of equal numbers the first.
                "smaller" => either(b < a || a.is_nan(), b, a),
                "larger" => either(a < b || a.is_nan(), b, a),
                "scaled" => (f64::from(a) * power(whole)) as $type,
                "power_of_two" => power(whole) as $type,
                _ => return None,
            };
            Some(value.into())
        }
    };
}
plain!(single, f32);
plain!(double, f64);

/// ⌊log₂ |a|⌋ of a normal number.
fn exponent_of(a: f64) -> i32 {
    (a.abs().to_bits() >> 52) as i32 - 1023
}

/// Ends of the range of a precision, and some others, as double precision.
fn ends(double: bool) -> Vec<f64> {
    let [most, least, tiny, near] = match double {
        true => [f64::MAX, f64::MIN_POSITIVE, f64::from_bits(1), 1.0 + f64::EPSILON],
        false => [
            f32::MAX.into(),
            f32::MIN_POSITIVE.into(),
            f32::from_bits(1).into(),
            (1.0 + f32::EPSILON).into(),
        ],
    };
    let of = [0.0, f64::INFINITY, most, least, tiny, least - tiny, 1.0, near, 0.3, 2.5, 5e6, 3e9];
    let rounded = |number: f64| if double { number } else { f64::from(number as f32) };
    let both = |number| [rounded(number), -rounded(number)];
    of.into_iter().flat_map(both).chain([f64::NAN]).collect()
}

/// The same number, or neither is one.
fn is_same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// What differs in the operations of a type; and how many were compared.
fn check(
    all: &RegisterOperations,
    numbers: &[[f64; 16]; 3],
    whole: i32,
    wrong: &mut Vec<String>,
) -> usize {
    let RegisterOperations { name, double: is_double, fused, lanes: all } = all;
    let of = if *is_double { double } else { single };
    let mut compared = 0;
    for (op, found) in all {
        let at = |lane: usize| [numbers[0][lane], numbers[1][lane], numbers[2][lane]];
        let lanes = 0..found.len();
        let less = |lane: usize| at(lane)[0] < at(lane)[1];
        let not_more = |lane: usize| at(lane)[0] <= at(lane)[1];
        let together = match *op {
            "any" => Some(lanes.clone().any(less)),
            "all" => Some(lanes.clone().all(not_more)),
            _ => None,
        };
        for lane in lanes {
            let wanted = match (together, *op) {
                (Some(holds), _) => Some(f64::from(u8::from(holds))),
                (None, "swapped") => Some(at(lane ^ 1)[0]),
                (None, op) => of(op, *fused, at(lane), whole),
            };
            let Some(wanted) = wanted else { continue };
            compared += 1;
            if !is_same(found[lane], wanted) {
                let bits = if *is_double { 64 } else { 32 };
                let (of, found) = (at(lane), found[lane]);
                wrong.push(format!(
                    "{name}, {bits} bits: {op} of {of:?}: {found:?}, not {wanted:?}"
                ));
            }
        }
    }
    compared
}

/// Numbers in lanes: three of the list, and their neighbours in it, so that lanes differ.
fn in_lanes(ends: &[f64], first: [usize; 3]) -> [[f64; 16]; 3] {
    first.map(|first| std::array::from_fn(|lane| ends[(first + lane * (first % 3)) % ends.len()]))
}

/// Runs the operations of all types on all pairs of special numbers, with some third ones.
#[test]
fn every_operation_gives_the_bits_of_plain_rust() {
    let mut wrong = Vec::new();
    let mut compared = std::collections::BTreeMap::new();
    for is_double in [false, true] {
        let ends = ends(is_double);
        for i in 0..ends.len() {
            for j in 0..ends.len() {
                let numbers = in_lanes(&ends, [i, j, (i * 7 + j * 3) % ends.len()]);
                let whole = [-60, -3, 0, 5, 60][(i + j) % 5];
                let mut all = register_operations(&numbers, whole, true);
                all.retain(|all| all.double == is_double);
                if is_double {
                    all.push(of_lanes::<f64>("fit-core", true, &numbers));
                } else {
                    all.push(of_lanes::<f32>("fit-core", false, &numbers));
                }
                for all in &all {
                    let count: &mut usize = compared.entry((all.name, is_double)).or_default();
                    *count += check(all, &numbers, whole, &mut wrong);
                }
            }
        }
    }
    println!("{compared:?}");
    // Each type has at least four lanes, and twenty operations of which all is promised.
    let are_many = compared.values().all(|&count| count > 625 * 4 * 20);
    assert!(compared.len() >= 5 && are_many, "{compared:?}");
    assert!(wrong.is_empty(), "{} differ: {:#?}", wrong.len(), &wrong[..wrong.len().min(40)]);
}

/// The same of packs of plain numbers.
fn of_lanes<T: Number>(
    name: &'static str,
    double: bool,
    numbers: &[[f64; 16]; 3],
) -> RegisterOperations
where
    Lanes<T, 16>: Real<Mask = LaneMask<16>>,
{
    assert!(LaneMask::<16>::splat(true).all());
    let numbers = numbers.map(|numbers| Lanes(numbers.map(T::splat)));
    let lanes = real_operations(numbers)
        .into_iter()
        .map(|(name, Lanes(lanes))| (name, lanes.map(Number::to_f64).to_vec()))
        .collect();
    RegisterOperations { name, double, fused: false, lanes }
}
