//! What a picture looks like.

use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[cfg(feature = "clap")]
use crate::arguments::{choice, several};
use crate::render::{ColourMap, MOST_PIXELS};
use crate::steps::StepError;
use crate::table::Meaning;
use crate::{Length, OutOfRange};

fit_core::__options! {
    /// What a picture of tables looks like.
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[cfg_attr(feature = "clap", derive(clap::Args))]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct RenderOptions {
        /// Side of a pixel of the picture, in nanometres or with a unit, as in 0.1px. If not given: half the median uncertainty,
        /// rounded; more in large fields and where there are few localizations.
        pub pixel(const with_pixel)[long, value_name = "LENGTH"]: Option<Length> = None,
        /// The part that is shown, in the unit of the table or with a unit, as in 0um,0um,5um,5um. X0 and Y0 are the left edge of
        /// the first column and the upper edge of the first row; a pixel has its left and upper edge, not its right and lower one.
        /// If not given: the field of view, if the table says it, or else all localizations but those far from all others.
        pub extent(const with_extent)[
            long, value_name = "X0,Y0,X1,Y1", value_parser = several::<Length, 4>, allow_hyphen_values = true
        ]: Option<[Length; 4]> = None,
        /// How wide each spot is: uncertainty, but no less than a pixel; average (all as wide as the median uncertainty);
        /// a standard deviation in nanometres or with a unit, as in 0.1px; or none, which counts the localizations in each pixel.
        pub blur(const with_blur) default_value_t[long, value_name = "WIDTH"]: Blur = Blur::default(),
        /// The colours: inferno if not given, or turbo for values.
        pub colour_map(const with_colour_map)[
            help_heading = "Colours", long, value_parser = choice::<ColourMap>(), value_name = "COLOURS"
        ]: Option<ColourMap> = None,
        /// The column that colours show, such as z, frame or photons: the hue is its value, the brightness the density. If not
        /// given: z, if the table has it and no `colour_map` is given. density shows density only.
        pub colour_by(with_colour_by)[
            help_heading = "Colours", long, value_name = "COLUMN", conflicts_with_all = ["colours", "raw"]
        ]: Option<String> = None,
        /// The values with the first and the last colour; if not given, a hundredth of the localizations is below and above.
        pub colour_range(const with_colour_range)[
            help_heading = "Colours", long, value_name = "A,B", value_parser = several::<f64, 2>, allow_hyphen_values = true
        ]: Option<[f64; 2]> = None,
        /// A colour for each table: red, green, blue, cyan, magenta, yellow, orange, white, or as in #ff8000. Several tables are
        /// magenta, green, cyan, yellow, … if not given.
        pub colours(with_colours)[
            help_heading = "Colours", long, value_name = "COLOUR,…", value_delimiter = ',', conflicts_with_all = ["colour_map", "raw"]
        ]: Vec<Colour> = Vec::new(),
        /// Show only the localizations for which this holds, as in `spotfit filter`; before the drift is taken out.
        pub filter(with_filter)[long, value_name = "CONDITION"]: Option<String> = None,
        /// Share of the lit pixels that are saturated. If not given: 0.05; up to 0.2 where the picture would be dark, less where it
        /// would be bright nearly everywhere.
        pub saturated(const with_saturated)[help_heading = "Colours", long, value_name = "SHARE"]: Option<f64> = None,
        /// Brightness is density to this power: below 1 what is faint becomes brighter.
        pub gamma(const with_gamma) default_value_t[help_heading = "Colours", long, value_name = "POWER"]: f64 = 1.0,
        /// Length of the scale bar, in the unit of the table or with a unit, as in 1um; 0 for no bar and no legend; a round length
        /// if not given.
        pub scale_bar(const with_scale_bar)[long, value_name = "LENGTH"]: Option<Length> = None,
        /// Write the density itself, localizations per pixel, as a .tif file with numbers of 32 bits.
        pub raw(const with_raw)[long, conflicts_with = "colour_map", help_heading = "Output"]: bool = false,
        /// Also give the shades of a grey picture with 16 bits.
        pub deep_grey(const with_deep_grey)[skip]: bool = false,
        /// The most pixels that the picture may have; each takes 7 to 15 bytes of memory.
        pub max_pixels(const with_max_pixels) default_value_t[long, value_name = "N", help_heading = "Output"]: usize = MOST_PIXELS,
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
