//! Colours of density and of values.

use super::RenderError;
use crate::range::OutOfRange;

/// Colours in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum ColourMap {
    /// Black, purple, orange, yellow.
    #[default]
    Inferno,
    /// Black, purple, pink, white.
    Magma,
    /// Blue, green, yellow.
    Viridis,
    /// Black to white.
    Grey,
    /// Blue, green, yellow, red: a rainbow without false edges (Mikhailov 2019).
    Turbo,
    /// All hues, the last as the first: for angles.
    Sinebow,
}

/// The meaning of the colours.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Colours {
    /// The density of localizations.
    Density(ColourMap),
    /// The density of localizations, from black to this colour: red, green and blue.
    Tint([u8; 3]),
    /// The hue is the mean colour of the values of the localizations, the brightness their density.
    Value {
        /// [`ColourMap::Turbo`], [`ColourMap::Viridis`] or [`ColourMap::Sinebow`].
        map: ColourMap,
        /// The value with the first colour, also for lower ones.
        low: f64,
        /// The value with the last colour, also for higher ones.
        high: f64,
    },
}

impl Default for Colours {
    fn default() -> Self {
        Self::Density(ColourMap::default())
    }
}

/// Colours of a map that are told apart.
pub(super) const STEPS: usize = 1024;

impl ColourMap {
    /// The colour of a thing that is drawn onto something dark, by its place from 0 to 1: as bright as can be.
    pub fn on_dark(self, place: f64) -> [u8; 3] {
        self.hue(if place.is_nan() { 0.0 } else { place.clamp(0.0, 1.0) })
    }

    /// The colour at a place from 0 to 1.
    pub(super) fn colour(self, value: f64) -> [u8; 3] {
        let value = value.clamp(0.0, 1.0);
        let gradient = match self {
            Self::Inferno => colorous::INFERNO,
            Self::Magma => colorous::MAGMA,
            Self::Viridis => colorous::VIRIDIS,
            Self::Turbo => colorous::TURBO,
            Self::Sinebow => colorous::SINEBOW,
            Self::Grey => return [(value * 255.0).round() as u8; 3],
        };
        let colour = gradient.eval_continuous(value);
        [colour.r, colour.g, colour.b]
    }

    /// The hue at a place from 0 to 1, as bright as can be.
    pub(super) fn hue(self, value: f64) -> [u8; 3] {
        // The ends of this map are dark, and as bright hues hardly differ from what is beside them.
        let value = if self == Self::Turbo { 0.07 + 0.86 * value } else { value };
        bright(self.colour(value).map(f32::from), 1.0)
    }
}

impl Colours {
    pub(super) fn check(&self) -> Result<(), RenderError> {
        if let Self::Value { map, low, high } = *self {
            let hues = matches!(map, ColourMap::Turbo | ColourMap::Viridis | ColourMap::Sinebow);
            let name = format!("{map:?}").to_lowercase();
            OutOfRange::check("colour_map", name, hues, "turbo, viridis or sinebow for values")?;
            let good = (high - low).is_finite() && high >= low;
            let range = "two finite values, the lower first";
            OutOfRange::check("colour_range", format!("{low},{high}"), good, range)?;
        }
        Ok(())
    }

    /// The colours of a density from black to white.
    pub(super) fn table(&self) -> Vec<[u8; 3]> {
        let place = |step: usize| step as f64 / (STEPS - 1) as f64;
        let colour = |step: usize| match self {
            Self::Density(map) => map.colour(place(step)),
            Self::Tint(tint) => tint.map(|part| (f64::from(part) * place(step)).round() as u8),
            Self::Value { map, .. } => map.hue(place(step)),
        };
        (0..STEPS).map(colour).collect()
    }

    /// The shares of red, green and blue in the light of a value; all of it is 1.
    pub(super) fn shares(&self) -> Vec<[f32; 3]> {
        let share = |colour: [u8; 3]| {
            let colour = colour.map(f32::from);
            let sum: f32 = colour.iter().sum();
            colour.map(|part| if sum > 0.0 { part / sum } else { 1.0 / 3.0 })
        };
        self.table().into_iter().map(share).collect()
    }
}

/// A colour of the same hue that is as bright as can be, times `level`.
pub(super) fn bright(colour: [f32; 3], level: f32) -> [u8; 3] {
    let most = colour.into_iter().fold(f32::MIN_POSITIVE, f32::max);
    colour.map(|part| (part / most * level * 255.0).round() as u8)
}
