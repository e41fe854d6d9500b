//! Operations of the device's numbers on the host, of numbers at the ends of their range and of what is no number, beside plain Rust.

use fit_core::{Number, Real};
use fit_gpu_kernel::{DeviceF32, ExactF32};

/// The same bits, or neither is a number.
fn is_same(a: f32, b: f32) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

fn check<R: Number + From<f32>>(bits: impl Fn(R) -> f32) {
    let least = f32::MIN_POSITIVE;
    let of = [0.0, f32::INFINITY, f32::MAX, least, f32::from_bits(1), 1.0, 0.3, 2.5, 3e9];
    let ends: Vec<f32> = of.into_iter().flat_map(|x| [x, -x]).chain([f32::NAN]).collect();
    for &a in &ends {
        for &b in &ends {
            let [x, y] = [R::from(a), R::from(b)];
            for (name, found, wanted) in [
                ("neg", -x, -a),
                ("abs", x.abs(), a.abs()),
                ("add", x + y, a + b),
                ("sub", x - y, a - b),
                ("mul", x * y, a * b),
                ("mul_add", x.mul_add(y, x), a.mul_add(b, a)),
                ("neg_mul_add", x.neg_mul_add(y, x), (-a).mul_add(b, a)),
                ("sqrt", Real::sqrt(x), a.sqrt()),
                ("select", R::select(x.lt(y), x, y), if a < b { a } else { b }),
            ] {
                let (found, what) = (bits(found), format!("{name} of {a:?}, {b:?}"));
                assert!(is_same(found, wanted), "{what}: {found:?}, not {wanted:?}");
            }
            let truths = [x.lt(y), x.le(y), Real::is_finite(x)];
            assert_eq!(truths, [a < b, a <= b, a.is_finite()], "{a:?}, {b:?}");
            // Of 0 and −0 a GPU may take either, and of NaN as the second the number.
            if a != b && !b.is_nan() {
                let found = [bits(Real::min(x, y)), bits(Real::max(x, y))];
                let wanted = [if a < b { a } else { b }, if a > b { a } else { b }];
                assert!(is_same(found[0], wanted[0]) && is_same(found[1], wanted[1]), "{a} {b}");
            }
        }
    }
}

/// Proves that signs of 0, infinities and what is no number are what they are in plain Rust.
#[test]
fn operations_give_the_bits_of_plain_rust() {
    check::<DeviceF32>(|number| number.0);
    check::<ExactF32>(|number| number.0);
}
