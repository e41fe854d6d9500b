//! Numbers as text, as `{:?}` of the standard library writes them, in a fraction of its time.

use std::fmt::Debug;
use std::io::Write as _;

/// Appends a number of single precision.
pub fn write_single(value: f32, text: &mut Vec<u8>) {
    let size = value.abs();
    if !(1e-4..1e12).contains(&size) {
        return write_other(value, value.is_nan(), text);
    }
    let (bits, explicit) = (size.to_bits(), f32::MANTISSA_DIGITS - 1);
    let last = (bits >> explicit) as i32 - 150 + (bits | 1 << explicit).trailing_zeros() as i32;
    if !usual(zmij::Buffer::new().format_finite(value), last, text) {
        write_other(value, false, text);
    }
}

/// Appends a number of double precision.
pub fn write_double(value: f64, text: &mut Vec<u8>) {
    let size = value.abs();
    if !(1e-4..1e15).contains(&size) {
        return write_other(value, value.is_nan(), text);
    }
    let (bits, explicit) = (size.to_bits(), f64::MANTISSA_DIGITS - 1);
    let last = (bits >> explicit) as i32 - 1075 + (bits | 1 << explicit).trailing_zeros() as i32;
    if !usual(zmij::Buffer::new().format_finite(value), last, text) {
        write_other(value, false, text);
    }
}

/// Appends the text of a number without a power of ten, whose last bit that is set is worth two to the power of `last`; nothing if the
/// standard library writes another. Both write the fewest digits that are read back as the number, and of such texts the nearest. But of two
/// that are as near, which differ from it by a five as the next digit, the standard library writes the larger and others the even one. Such a
/// number has one digit more than its text behind the point, and as many bits.
fn usual(found: &str, last: i32, text: &mut Vec<u8>) -> bool {
    let found = found.as_bytes();
    let decimals = found.iter().rev().position(|&byte| byte == b'.');
    let usual = decimals.is_some_and(|decimals| decimals as i32 + 1 != -last);
    if usual {
        text.extend_from_slice(found);
    }
    usual
}

/// Appends the text of the standard library.
#[cold]
fn write_other(value: impl Debug, is_nan: bool, text: &mut Vec<u8>) {
    if is_nan {
        text.extend_from_slice(b"NaN");
        return;
    }
    let written = write!(text, "{value:?}");
    debug_assert!(written.is_ok(), "writing to memory cannot fail");
}

/// Appends a whole number.
pub fn write_whole(value: usize, text: &mut Vec<u8>) {
    text.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

#[cfg(test)]
mod tests {
    use fit_sim::Random;

    use super::*;

    fn single(value: f32) {
        let mut text = Vec::new();
        write_single(value, &mut text);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            format!("{value:?}"),
            "{:#x}",
            value.to_bits()
        );
    }

    fn double(value: f64) {
        let mut text = Vec::new();
        write_double(value, &mut text);
        assert_eq!(
            String::from_utf8(text).unwrap(),
            format!("{value:?}"),
            "{:#x}",
            value.to_bits()
        );
    }

    /// Proves that numbers look as the standard library writes them: of any bits, of usual sizes, whole, with few digits, next to powers of
    /// two and ten, and no numbers at all.
    #[test]
    fn numbers_look_as_those_of_std() {
        let mut random = Random::new(43, 0);
        for _ in 0..400_000 {
            let bits = (random.uniform() * 2f64.powi(32)) as u64;
            let more = (random.uniform() * 2f64.powi(32)) as u64;
            single(f32::from_bits(bits as u32));
            double(f64::from_bits(bits << 32 | more));
            let usual =
                10f64.powf(20.0 * random.uniform() - 6.0) * (random.uniform() - 0.5).signum();
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
}
