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
