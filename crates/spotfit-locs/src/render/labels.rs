//! Lengths and numbers as they stand in pictures.

use crate::short::short;

/// A length with its unit, nanometres or pixels, for a scale bar: `500 nm`, `2 µm`, `3 px`.
pub fn length_label(length: f64, nanometres: bool) -> String {
    match nanometres {
        true if length >= 1000.0 => format!("{} µm", short(length / 1000.0)),
        true => format!("{} nm", short(length)),
        false => format!("{} px", short(length)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that lengths have few digits, and the unit that suits them.
    #[test]
    fn lengths_are_short() {
        let looks = [500.0, 2000.0, 0.12345678].map(|length| length_label(length, true));
        assert_eq!(looks, ["500 nm", "2 µm", "0.1235 nm"]);
        assert_eq!(length_label(5.0, false), "5 px");
        assert_eq!([f64::NAN, -1e-12, 123456.0].map(short), ["0", "-1.00e-12", "123456"]);
    }
}
