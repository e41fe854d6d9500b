//! What a picture looks like.

use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::render::{ColourMap, MOST_PIXELS};
use crate::steps::StepError;
use crate::table::Meaning;
use crate::{Length, OutOfRange};

fit_core::__options! {
    /// What a picture of tables looks like.
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct RenderOptions {
        /// Side of a pixel of the picture. If not given, it is half the median uncertainty, rounded, and more if the field is large or
        /// localizations are few.
        pub pixel(const with_pixel): Option<Length> = None,
        /// Left, top, right and bottom edge of what is shown; without a unit they are in that of the table. If not given: the field
        /// of view, if the table says it, or else all localizations but those far from all others.
        pub extent(const with_extent): Option<[Length; 4]> = None,
        /// How wide each spot is.
        pub blur(const with_blur): Blur = Blur::default(),
        /// The colours: inferno if not given, or turbo for values.
        pub colour_map(const with_colour_map): Option<ColourMap> = None,
        /// The column that colours show; `density` shows density only. If not given: `z`, if the table has it and no `colour_map` is
        /// given.
        pub colour_by(with_colour_by): Option<String> = None,
        /// The values with the first and the last colour; if not given, the 1st and the 99th percentile of the localizations.
        pub colour_range(const with_colour_range): Option<[f64; 2]> = None,
        /// A colour for each table. Several tables are magenta, green, cyan, yellow, … if none is given.
        pub colours(with_colours): Vec<Colour> = Vec::new(),
        /// Show only the localizations for which this condition holds; before the drift is taken out.
        pub filter(with_filter): Option<String> = None,
        /// Share of the lit pixels that are saturated. If not given: 0.05; up to 0.2 where the picture would be dark, less where it
        /// would be bright nearly everywhere.
        pub saturated(const with_saturated): Option<f64> = None,
        /// Brightness is density to this power: below 1, faint parts become brighter.
        pub gamma(const with_gamma): f64 = 1.0,
        /// Length of the scale bar; without a unit it is in that of the table. 0 for no bar and no legend; a round length if not given.
        pub scale_bar(const with_scale_bar): Option<Length> = None,
        /// Give the density itself, localizations per pixel.
        pub raw(const with_raw): bool = false,
        /// Also give the shades of a grey picture with 16 bits.
        pub deep_grey(const with_deep_grey): bool = false,
        /// The most pixels that the picture may have; each takes 7 to 15 bytes of memory.
        pub max_pixels(const with_max_pixels): usize = MOST_PIXELS,
    }
}

impl RenderOptions {
    /// Checks what needs no table, for so many tables and drifts.
    ///
    /// # Errors
    /// [`StepError::Options`], [`StepError::Option`].
    pub fn check(&self, tables: usize, drifts: usize) -> Result<(), StepError> {
        let refused = |reason: String| Err(StepError::Options(reason));
        if tables == 0 {
            return refused("there is no table to show".to_owned());
        }
        if self.raw && tables > 1 {
            return refused("`raw` takes one table; write a file for each".to_owned());
        }
        if !self.colours.is_empty() && self.colours.len() != tables {
            let given = self.colours.len();
            return refused(format!("`colours` has {given} colours for {tables} tables"));
        }
        if tables > COLOURS.len() && self.colours.is_empty() {
            return refused(format!("{tables} tables need `colours`"));
        }
        if tables > 1 && (self.colour_by.is_some() || self.colour_map.is_some()) {
            let reason =
                "`colour_by` and `colour_map` take one table; for several there is `colours`";
            return refused(reason.to_owned());
        }
        if drifts > 1 && drifts != tables {
            return refused(format!("`drift` is given {drifts} times for {tables} tables"));
        }
        if let Some(bar) = self.scale_bar {
            OutOfRange::check("scale_bar", bar, bar.value() >= 0.0, "0 or more")?;
        }
        Ok(())
    }

    /// The column that colours show, if the table has it.
    pub(super) fn value(&self, tables: usize) -> Option<&str> {
        match self.colour_by.as_deref() {
            Some("density") => None,
            None if self.chooses_colours(tables) => Some(Meaning::Z.name()),
            column => column,
        }
    }

    /// Whether it is for the table to say if colours show a value.
    pub(super) fn chooses_colours(&self, tables: usize) -> bool {
        tables == 1
            && self.colour_by.is_none()
            && self.colour_map.is_none()
            && self.colours.is_empty()
            && !self.raw
    }
}

/// How wide each spot of a picture is: `uncertainty`, `average`, `none` or a length.
pub type Blur = crate::render::Blur<Length>;

/// Names of colours; several tables have the first ones in this order.
const COLOURS: [(&str, [u8; 3]); 8] = [
    ("magenta", [255, 0, 255]),
    ("green", [0, 255, 0]),
    ("cyan", [0, 255, 255]),
    ("yellow", [255, 255, 0]),
    ("red", [255, 0, 0]),
    ("blue", [60, 60, 255]),
    ("orange", [255, 128, 0]),
    ("white", [255, 255, 255]),
];

/// Red, green and blue: `red`, `green`, `blue`, `cyan`, `magenta`, `yellow`, `orange`, `white`, or as in `#ff8000`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

/// A text is no colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a colour is one of {}, or as in #ff8000", COLOURS.map(|(name, _)| name).join(", "))]
pub struct ColourError;

impl Colour {
    /// Those of several tables for which none were given.
    #[doc(hidden)]
    pub fn usual() -> impl Iterator<Item = Self> {
        COLOURS.iter().map(|(_, colour)| Self(*colour))
    }
}

impl FromStr for Colour {
    type Err = ColourError;

    fn from_str(text: &str) -> Result<Self, ColourError> {
        if let Some((_, colour)) = COLOURS.iter().find(|(name, _)| *name == text) {
            return Ok(Self(*colour));
        }
        let hex = text.strip_prefix('#').filter(|hex| hex.len() == 6);
        let parsed = hex.and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let [_, red, green, blue] = parsed.ok_or(ColourError)?.to_be_bytes();
        Ok(Self([red, green, blue]))
    }
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(f, "#{red:02x}{green:02x}{blue:02x}")
    }
}

impl Serialize for Colour {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Colour {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that options that do not go together, or with so many tables, are refused by name.
    #[test]
    fn contradictions_are_refused() {
        let of = RenderOptions::default;
        let refused = |options: RenderOptions, tables, drifts, said: &str| {
            let error = options.check(tables, drifts).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        };
        refused(of(), 0, 0, "no table");
        refused(of().with_raw(true), 2, 0, "`raw` takes one table");
        refused(of().with_colours(vec![Colour([1, 2, 3])]), 2, 0, "1 colours for 2 tables");
        refused(of(), 9, 0, "9 tables need `colours`");
        refused(of().with_colour_map(Some(ColourMap::Grey)), 2, 0, "`colour_map` take one table");
        refused(of(), 3, 2, "`drift` is given 2 times");
        refused(of().with_scale_bar(Some(Length::pixels(-1.0))), 1, 0, "scale_bar = -1px");
        assert!(of().check(8, 1).is_ok());
    }
}
