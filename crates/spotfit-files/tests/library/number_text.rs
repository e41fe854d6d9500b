//! Numbers as text.

use fit_sim::Random;
use spotfit_files::private::{write_double, write_single, write_whole};

use crate::nightly;

fn single(value: f32) {
    let mut text = Vec::new();
    write_single(value, &mut text);
    assert_eq!(String::from_utf8(text).unwrap(), format!("{value:?}"), "{:#x}", value.to_bits());
}

fn double(value: f64) {
    let mut text = Vec::new();
    write_double(value, &mut text);
    assert_eq!(String::from_utf8(text).unwrap(), format!("{value:?}"), "{:#x}", value.to_bits());
}

/// Proves that numbers look as the standard library writes them: of any bits, of usual sizes, whole, with few digits, next to powers of
/// two and ten, and no numbers at all.
#[test]
fn numbers_look_as_those_of_std() {
    let mut random = Random::new(43, 0);
    // Each gives eight numbers: also the fewer miss what is wrong with one in 10⁵ in one run of 25 only.
    for _ in 0..if nightly() { 400_000 } else { 40_000 } {
        let bits = (random.uniform() * 2f64.powi(32)) as u64;
        let more = (random.uniform() * 2f64.powi(32)) as u64;
        single(f32::from_bits(bits as u32));
        double(f64::from_bits(bits << 32 | more));
        let usual = 10f64.powf(20.0 * random.uniform() - 6.0) * (random.uniform() - 0.5).signum();
        single(usual as f32);
        double(usual);
        double((usual as f32).into());
        double(usual.round());
        double((usual * 1e3).round() / 1e3);
        single((usual as f32 * 10.0).round() / 10.0);
    }
    for power in -45..39 {
        let ten: f32 = format!("1e{power}").parse().unwrap();
        for off in -3i32..4 {
            single(f32::from_bits(ten.to_bits().saturating_add_signed(off)));
            single(-f32::from_bits(ten.to_bits().saturating_add_signed(off)));
        }
    }
    for power in -320..309 {
        let ten: f64 = format!("1e{power}").parse().unwrap();
        for off in -3i64..4 {
            double(f64::from_bits(ten.to_bits().saturating_add_signed(off)));
        }
    }
    for exponent in 0..255_u32 {
        for off in -2i32..3 {
            single(f32::from_bits((exponent << 23_u32).saturating_add_signed(off)));
        }
    }
    for exponent in 0..2047_u64 {
        for off in -2i64..3 {
            double(f64::from_bits((exponent << 52u64).saturating_add_signed(off)));
        }
    }
    for value in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0] {
        single(value);
        double(value.into());
    }
    let mut text = Vec::new();
    write_whole(0, &mut text);
    write_whole(usize::MAX, &mut text);
    assert_eq!(String::from_utf8(text).unwrap(), format!("0{}", usize::MAX));
}

/// Proves it of all numbers of single precision.
#[test]
#[ignore = "takes ten minutes"]
fn all_singles_look_as_those_of_std() {
    use rayon::prelude::*;
    (0..=u32::MAX).into_par_iter().for_each(|bits| single(f32::from_bits(bits)));
}
