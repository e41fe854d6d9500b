//! Decimal numbers, written so that nothing of them is lost.

use std::io::Write as _;

/// Powers of ten that are exact.
const TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Whole numbers below this are exact.
const EXACT: u64 = 1 << 53;

/// Writes a number so that it is read back as it was, with as few digits as that takes or nearly so.
pub(super) fn write(value: f64, text: &mut Vec<u8>) {
    const DECIMALS: usize = 6;
    let units = (value * TENS[DECIMALS]).round();
    if units.abs() < EXACT as f64 && units / TENS[DECIMALS] == value && (value != 0.0) {
        units_of(units, DECIMALS, text);
        while text.ends_with(b"0") {
            text.pop();
        }
        if text.ends_with(b".") {
            text.pop();
        }
    } else {
        general(value, |value, text| write!(text, "{value:?}"), text);
        if text.ends_with(b".0") {
            text.truncate(text.len() - 2);
        }
    }
}

/// Writes a number with so many decimals, rounded as `format!` rounds.
pub(super) fn write_rounded(value: f64, decimals: usize, text: &mut Vec<u8>) {
    let scaled = value * TENS[decimals.min(22)];
    let units = scaled.round();
    // Where the product is so near the middle between two whole numbers that its own rounding may decide, let others do it.
    let from_middle = ((scaled - scaled.trunc()).abs() - 0.5).abs();
    let clear = from_middle > f64::EPSILON * scaled.abs();
    if decimals <= 9 && clear && units.abs() < EXACT as f64 {
        units_of(units, decimals, text);
    } else {
        general(value, |value, text| write!(text, "{value:.decimals$}"), text);
    }
}

/// How many digits a number of a column needs: as many decimals as usual, and more where its error or its size asks for them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digits {
    usual: usize,
    /// An error for which the usual decimals suffice, and a size of a number without error.
    enough: [f64; 2],
}

/// Digits of a number from the first digit of its error on, and those of a number without error.
const DIGITS: [i32; 2] = [4, 6];

impl Digits {
    /// With so many decimals as usual.
    pub(super) fn new(usual: u8) -> Self {
        let enough = DIGITS.map(|digits| 10f64.powi(digits - 1 - i32::from(usual)));
        Self { usual: usual.into(), enough }
    }

    /// Writes a number with this error, if it is known.
    #[inline]
    pub(super) fn write(&self, value: f64, error: Option<f64>, text: &mut Vec<u8>) {
        let known = error.filter(|error| *error > 0.0 && error.is_finite());
        let (rule, scale) = known.map_or((1, value.abs()), |error| (0, error));
        if scale >= self.enough[rule] || scale == 0.0 || !value.is_finite() {
            write_rounded(value, self.usual, text);
        } else {
            // At the usual decimals there are too few digits.
            let decimals = DIGITS[rule] - 1 - decade(scale);
            write_to(value, decimals as usize, text);
        }
    }
}

/// The power of ten of the first digit of a positive number.
fn decade(value: f64) -> i32 {
    /// Powers of ten below those that are usual; the literals are as near to them as numbers can be.
    const LOW: [f64; 12] =
        [1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11];
    if (1e-11..1.0).contains(&value) {
        let below = LOW.iter().position(|&power| power <= value).unwrap_or(0);
        return -(below as i32);
    }
    if (1.0..1e22).contains(&value) {
        return TENS.iter().position(|&power| power > value).map_or(22, |above| above as i32 - 1);
    }
    let near = value.log10().floor() as i32;
    // A logarithm may be rounded to the next whole number.
    match near {
        near if 10f64.powi(near + 1) <= value => near + 1,
        near if 10f64.powi(near) > value => near - 1,
        near => near,
    }
}

/// Writes a number with so many decimals, in the shorter way where these are many.
fn write_to(value: f64, decimals: usize, text: &mut Vec<u8>) {
    /// Decimals up to which numbers are written without a power of ten.
    const PLAIN: usize = 9;
    /// So many digits after the first are read back as the number that it was.
    const ALL: i32 = 16;
    if decimals <= PLAIN {
        return write_rounded(value, decimals, text);
    }
    let after = match value.abs() {
        0.0 => 0,
        size => decimals as i32 + decade(size),
    };
    if after >= ALL {
        write(value, text);
    } else {
        let after = after.max(0) as usize;
        general(value, |value, text| write!(text, "{value:.after$e}"), text);
    }
}

/// Writes a number that was single: with the digits that single precision needs.
pub(super) fn write_single(value: f64, text: &mut Vec<u8>) {
    let single = value as f32;
    if let Some((units, decimals)) = shortest(single) {
        units_of(units, decimals, text);
        return;
    }
    general(value, |_, text| write!(text, "{single:?}"), text);
    if text.ends_with(b".0") {
        text.truncate(text.len() - 2);
    }
}

/// The fewest decimals with which a number is read back as it was, and how many units of the last one it is then; `None` for
/// numbers that are very small or large, or for which this is not clear.
fn shortest(value: f32) -> Option<(f64, usize)> {
    let size = value.abs();
    // Whole numbers are exact below 2²⁴. Below a power of two numbers are closer to each other than above.
    if !(1e-3..16_777_216.0).contains(&size) || size.to_bits().trailing_zeros() >= 23 {
        return None;
    }
    let wide = f64::from(size);
    let half = (f64::from(size.next_up()) - wide) / 2.0;
    // Nine digits are enough, and all products are exact: 25 bits times the 28 of 5¹².
    for (decimals, ten) in TENS.iter().enumerate().take(13) {
        let scaled = wide * ten;
        let units = scaled.round();
        let off = (units - scaled).abs();
        if off < half * ten {
            return (off < 0.5).then(|| (units.copysign(value.into()), decimals));
        }
        // The end of the range belongs to it for every other number.
        if off == half * ten {
            return None;
        }
    }
    None
}

/// Writes a number in the general way; what is infinite in the word that every language reads.
fn general(
    value: f64,
    write: impl Fn(f64, &mut Vec<u8>) -> std::io::Result<()>,
    text: &mut Vec<u8>,
) {
    match value {
        f64::INFINITY => text.extend_from_slice(b"Infinity"),
        f64::NEG_INFINITY => text.extend_from_slice(b"-Infinity"),
        value => {
            let written = write(value, text);
            debug_assert!(written.is_ok(), "writing to memory cannot fail");
        }
    }
}

/// The digits of the numbers below 100.
static PAIRS: [[u8; 2]; 100] = {
    let mut pairs = [[b'0'; 2]; 100];
    let mut number = 0;
    while number < 100 {
        pairs[number] = [b'0' + number as u8 / 10, b'0' + number as u8 % 10];
        number += 1;
    }
    pairs
};

/// Writes a whole number of units, of which 10^`decimals` make one.
fn units_of(units: f64, decimals: usize, text: &mut Vec<u8>) {
    let mut rest = units.abs() as u64;
    // Before the digits there is room for a sign, and for the digits that make way for the point.
    let mut digits = [b'0'; 26];
    let end = digits.len();
    let mut first = end;
    while rest >= 10 {
        first -= 2;
        digits[first..first + 2].copy_from_slice(&PAIRS[(rest % 100) as usize]);
        rest /= 100;
    }
    if rest > 0 {
        first -= 1;
        digits[first] = b'0' + rest as u8;
    }
    first = first.min(end - decimals - 1);
    if decimals > 0 {
        let point = end - decimals - 1;
        digits.copy_within(first..=point, first - 1);
        digits[point] = b'.';
        first -= 1;
    }
    // Also what is rounded to −0.
    if units.is_sign_negative() {
        first -= 1;
        digits[first] = b'-';
    }
    text.extend_from_slice(&digits[first..]);
}

#[cfg(test)]
mod tests {
    use spotfit_files::columns::DecimalMark;

    use super::*;

    fn parse(text: &[u8]) -> Option<f64> {
        DecimalMark::Point.number(text)
    }
    use proptest::prelude::*;

    proptest! {
        /// Proves that numbers are read as the standard library reads them, and that what it refuses is refused.
        #[test]
        fn numbers_are_read_as_by_std(text in "-?[0-9]{0,12}\\.?[0-9]{0,12}(e-?[0-9]{1,3})?|[0-9.+eE-]{0,10}|nan|-inf") {
            let expected = text.parse::<f64>().ok();
            let found = parse(text.as_bytes());
            prop_assert_eq!(found.map(f64::to_bits), expected.map(f64::to_bits), "{}", text);
        }

        /// Proves that what is written is read back bit for bit.
        #[test]
        fn numbers_come_back(value in prop_oneof![any::<f64>(), -1e6..1e6, (-1e9..1e9).prop_map(|v: f64| v.round() / 1e4)]) {
            prop_assume!(!value.is_nan());
            let mut text = Vec::new();
            write(value, &mut text);
            prop_assert_eq!(parse(&text).map(f64::to_bits), Some(value.to_bits()));
            text.clear();
            write_single(value, &mut text);
            prop_assert_eq!(parse(&text).map(|found| found as f32), Some(value as f32));
        }

        /// Proves that single precision has the digits that the standard library gives it.
        #[test]
        fn singles_are_written_as_by_std(
            value in prop_oneof![
                any::<f32>(),
                -1e5f32..1e5,
                (0u32..1 << 27).prop_map(|units| units as f32 / 1e4),
                (0i32..40, -3i32..4).prop_map(|(power, off)| {
                    f32::from_bits(((117 + power as u32) << 23).wrapping_add_signed(off))
                }),
            ],
        ) {
            let mut text = Vec::new();
            write_single(value.into(), &mut text);
            let expected = format!("{value:?}").replace("inf", "Infinity");
            let expected = expected.strip_suffix(".0").unwrap_or(&expected);
            prop_assert_eq!(String::from_utf8(text).unwrap(), expected);
        }

        /// Proves that at least three digits more come back than the error of a number needs, or six where it has none, at any scale.
        #[test]
        fn enough_digits_come_back(
            value in prop_oneof![-1e3..1e3, -1e-3..1e-3, Just(1.0), Just(0.0)],
            scale in -20i32..20,
            relative in prop_oneof![Just(None), (-12i32..3, 1.0..10.0).prop_map(|(power, of)| Some(of * 10f64.powi(power)))],
            usual in prop_oneof![Just(4u8), Just(6)],
        ) {
            let value: f64 = value * 10f64.powi(scale);
            let error: Option<f64> = relative.map(|error| error * value.abs()).filter(|error| *error > 0.0);
            let mut text = Vec::new();
            Digits::new(usual).write(value, error, &mut text);
            let found = parse(&text).unwrap();
            // Half of the last digit that is needed, or what double precision is off.
            let step: f64 = error.map_or(1e-5 * value.abs(), |error| 1e-3 * error);
            let off = (0.5 * step * (1.0 + 1e-9)).max(2.0 * f64::EPSILON * value.abs());
            prop_assert!((found - value).abs() <= off, "{value:e} ± {error:?}: {}", String::from_utf8_lossy(&text));
            let usual = 0.5 * 10f64.powi(-i32::from(usual)) + f64::EPSILON * value.abs();
            prop_assert!((found - value).abs() <= usual, "{value:e}: {}", String::from_utf8_lossy(&text));
        }

        /// Proves that rounding is that of the standard library, halves included.
        #[test]
        fn numbers_are_rounded_as_by_std(
            value in prop_oneof![
                any::<f64>(),
                -1e5..1e5,
                (-1e9..1e9).prop_map(|v: f64| v.round() / 2e4),
                -1e12..1e12,
                (-1e15..1e15).prop_map(|v: f64| v.round() / 2e4),
            ],
            decimals in 0usize..9,
        ) {
            let mut text = Vec::new();
            write_rounded(value, decimals, &mut text);
            let expected = format!("{value:.decimals$}").replace("inf", "Infinity");
            prop_assert_eq!(String::from_utf8(text).unwrap(), expected);
        }
    }

    /// Proves that ordinary numbers have the usual decimals, and others as many as their error or size asks for.
    #[test]
    fn digits_are_as_many_as_needed() {
        let written = |usual, value, error| {
            let mut text = Vec::new();
            Digits::new(usual).write(value, error, &mut text);
            String::from_utf8(text).unwrap()
        };
        for (usual, value, error, needed) in [
            (4, 1234.567891, Some(8.0), "1234.5679"),
            (4, -0.00001, Some(8.0), "-0.0000"),
            (4, 0.0, None, "0.0000"),
            (4, 812.512345, None, "812.5123"),
            (4, 10.0, None, "10.0000"),
            (4, 9.123456, None, "9.12346"),
            (4, 1234.567891, Some(0.1), "1234.5679"),
            (4, 1234.567891, Some(0.099), "1234.56789"),
            (6, 12.3456789, Some(0.05), "12.345679"),
            (6, 12.3456789, Some(0.0005), "12.3456789"),
            (4, 0.0062123456, Some(1.7e-4), "0.0062123"),
            (4, 1.23456789e-9, None, "1.23457e-9"),
            (4, 1.23456789e-9, Some(3e-10), "1.2346e-9"),
            (4, 1e-15, Some(3e-10), "1e-15"),
            (4, 0.1, Some(1e-30), "0.1"),
            (4, 1.0 / 3.0, Some(1e-30), "0.3333333333333333"),
            (4, 5.0, Some(f64::NAN), "5.00000"),
            (4, f64::NAN, Some(1e-9), "NaN"),
            (4, f64::NEG_INFINITY, None, "-Infinity"),
            (6, 123456789012.0, Some(f64::INFINITY), "123456789012.000000"),
        ] {
            assert_eq!(written(usual, value, error), needed, "{value:e} ± {error:?}");
        }
    }

    /// Proves how numbers look.
    #[test]
    fn numbers_are_short() {
        let written = |value| {
            let mut text = Vec::new();
            write(value, &mut text);
            String::from_utf8(text).unwrap()
        };
        let looks =
            [0.0, -0.0, 1.0, 1234.5, -0.25, 0.1 + 0.2, f64::NAN, f64::INFINITY].map(written);
        assert_eq!(
            looks,
            ["0", "-0", "1", "1234.5", "-0.25", "0.30000000000000004", "NaN", "Infinity"]
        );
    }
}
