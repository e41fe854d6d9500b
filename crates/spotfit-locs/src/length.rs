//! Lengths with a unit of their own.

use std::fmt;
use std::str::FromStr;

use crate::table::Unit;

/// A length as a user writes it: `50nm`, `0.5px`, `0.1um`, or `50` without a unit.
///
/// A number without a unit depends on its purpose: lengths in tables are in nanometres, lengths in frames and windows
/// in pixels.
///
/// ```
/// use spotfit_locs::Length;
/// use spotfit_locs::table::Unit;
///
/// let radius: Length = "0.5px".parse()?;
/// assert_eq!(radius.within(Unit::Nanometre, Some(100.0)), Some(50.0));
/// assert_eq!(Length::from(50.0).or(Unit::Nanometre).within(Unit::Pixel, Some(100.0)), Some(0.5));
/// assert_eq!("0.1um".parse::<Length>()?.within(Unit::Nanometre, None), Some(100.0));
/// # Ok::<(), spotfit_locs::LengthError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Length {
    value: f64,
    unit: Option<Unit>,
}

/// A text is not a length.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a length, such as 50nm, 0.5px or 0.1um")]
pub struct LengthError(String);

impl Length {
    /// So many nanometres.
    pub const fn nanometres(value: f64) -> Self {
        Self { value, unit: Some(Unit::Nanometre) }
    }

    /// So many pixels of the camera.
    pub const fn pixels(value: f64) -> Self {
        Self { value, unit: Some(Unit::Pixel) }
    }

    /// The number, in the unit that it was given in.
    pub const fn value(self) -> f64 {
        self.value
    }

    /// The unit, [`Unit::Pixel`] or [`Unit::Nanometre`], if one was given.
    pub const fn unit(self) -> Option<Unit> {
        self.unit
    }

    /// The length, with this unit if it has none.
    #[must_use]
    pub fn or(self, unit: Unit) -> Self {
        Self { unit: self.unit.or(Some(unit)), ..self }
    }

    /// The number in this unit; `None` if the conversion needs the pixel size, in nanometres, and it is unknown. A
    /// length without a unit is in this one.
    pub fn within(self, unit: Unit, pixel_size: Option<f64>) -> Option<f64> {
        match (self.unit.unwrap_or(unit), unit) {
            (Unit::Pixel, Unit::Nanometre) => pixel_size.map(|size| self.value * size),
            (Unit::Nanometre, Unit::Pixel) => pixel_size.map(|size| self.value / size),
            _ => Some(self.value),
        }
    }
}

/// A number without a unit.
impl From<f64> for Length {
    fn from(value: f64) -> Self {
        Self { value, unit: None }
    }
}

impl FromStr for Length {
    type Err = LengthError;

    fn from_str(text: &str) -> Result<Self, LengthError> {
        /// The symbols of units, each with what its numbers are multiplied by to be in ours.
        const SYMBOLS: [(&str, Unit, f64); 5] = [
            ("nm", Unit::Nanometre, 1.0),
            ("px", Unit::Pixel, 1.0),
            ("um", Unit::Nanometre, 1e3),
            ("µm", Unit::Nanometre, 1e3),
            ("μm", Unit::Nanometre, 1e3),
        ];
        let trimmed = text.trim();
        let known = SYMBOLS.iter().find_map(|(symbol, unit, scale)| {
            Some((trimmed.strip_suffix(symbol)?, Some(*unit), *scale))
        });
        let (number, unit, scale) = known.unwrap_or((trimmed, None, 1.0));
        let value: f64 = number.trim_end().parse().map_err(|_| LengthError(text.to_owned()))?;
        let value = value * scale;
        if value.is_finite() { Ok(Self { value, unit }) } else { Err(LengthError(text.to_owned())) }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let symbol = self.unit.map_or("", |unit| if unit == Unit::Pixel { "px" } else { "nm" });
        write!(f, "{}{symbol}", self.value)
    }
}

#[cfg(feature = "serde")]
mod serial {
    use super::Length;
    use serde::de::{Error, Visitor};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// A number, or text with a unit.
    impl Serialize for Length {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self.unit {
                None => serializer.serialize_f64(self.value),
                Some(_) => serializer.collect_str(self),
            }
        }
    }

    struct Given;

    impl Visitor<'_> for Given {
        type Value = Length;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a number, or a length such as '50nm' or '0.5px'")
        }

        fn visit_f64<E: Error>(self, value: f64) -> Result<Length, E> {
            Ok(value.into())
        }

        fn visit_u64<E: Error>(self, value: u64) -> Result<Length, E> {
            Ok((value as f64).into())
        }

        fn visit_i64<E: Error>(self, value: i64) -> Result<Length, E> {
            Ok((value as f64).into())
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Length, E> {
            text.parse().map_err(E::custom)
        }
    }

    impl<'de> Deserialize<'de> for Length {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(Given)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that lengths are read with and without units, and that what is no length is refused.
    #[test]
    fn lengths_are_read() {
        let read = |text: &str| text.parse::<Length>();
        assert_eq!(read("50nm"), Ok(Length::nanometres(50.0)));
        assert_eq!(read(" 0.5 px "), Ok(Length::pixels(0.5)));
        assert_eq!(read("0.1um"), Ok(Length::nanometres(100.0)));
        assert_eq!(read("2µm"), Ok(Length::nanometres(2000.0)));
        assert_eq!(read("-3e2"), Ok(Length::from(-300.0)));
        for wrong in ["", "nm", "5 mm", "5km", "inf", "nan px", "1e308um", "5nmnm", "0,5px"] {
            assert_eq!(read(wrong), Err(LengthError(wrong.to_owned())), "{wrong}");
        }
    }

    /// Proves that a length is written so that it is read again, and is the same length in either unit.
    #[test]
    fn lengths_come_back() {
        for length in [Length::nanometres(12.5), Length::pixels(1e-7), Length::from(3.0)] {
            assert_eq!(length.to_string().parse(), Ok(length));
        }
        let length = Length::pixels(2.0);
        assert_eq!(length.within(Unit::Nanometre, Some(107.0)), Some(214.0));
        assert_eq!(length.within(Unit::Pixel, None), Some(2.0));
        assert_eq!(length.within(Unit::Nanometre, None), None);
        assert_eq!(length.or(Unit::Nanometre), length);
    }
}
