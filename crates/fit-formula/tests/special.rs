//! Functions of our own beside SciPy's values (tests/special.py).

use fit_formula::{Function, Function2};

/// Proves that they agree to 13 digits.
#[test]
fn scipy_gives_the_same() {
    let mut worst = [0.0_f64; 3];
    let lines = include_str!("special.csv").lines().filter(|line| !line.starts_with('#'));
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let &[name, x, y, wanted] = &fields[..] else { panic!("{line}") };
        let [x, y, wanted] = [x, y, wanted].map(|field| field.parse::<f64>().expect("a number"));
        // Both parts of w are as exact as its absolute value.
        let w = || {
            let parts = [Function2::FaddeevaRe, Function2::FaddeevaIm].map(|part| part.value(x, y));
            parts[0].hypot(parts[1])
        };
        let (kind, value, size) = match name {
            "erfcx" => (0, Function::Erfcx.value(x), wanted.abs()),
            "digamma" => (1, Function::Digamma.value(x), wanted.abs().max(1.0)),
            "w_re" => (2, Function2::FaddeevaRe.value(x, y), w()),
            _ => (2, Function2::FaddeevaIm.value(x, y), w()),
        };
        let error = (value - wanted).abs() / size;
        assert!(error < 1e-13, "{line}: {value}, {error:e}");
        worst[kind] = worst[kind].max(error);
    }
    println!("erfcx, digamma, w: {worst:?}");
}

/// Proves what is said of points without a value.
#[test]
fn poles_are_nan() {
    for x in [0.0, -1.0, -7.0, f64::NEG_INFINITY, f64::NAN] {
        assert!(Function::Digamma.value(x).is_nan(), "{x}");
    }
    assert!(Function2::FaddeevaRe.value(f64::NAN, 1.0).is_nan());
    assert!(Function::Erfcx.value(f64::NAN).is_nan());
    assert_eq!(Function::Erfcx.value(f64::INFINITY), 0.0);
}
