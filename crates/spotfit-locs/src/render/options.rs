//! The options of a picture.

use std::fmt;
use std::str::FromStr;

use super::{Colours, Contrast, RenderError};
use crate::Length;
use crate::range::OutOfRange;

/// How wide the Gaussians are: with a width that is a [`Length`], as text `uncertainty`, `average`, `none` or the length.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Blur<W = f64> {
    /// Each as wide as its uncertainty, but at least [`View::least`](super::View::least), usually a pixel.
    #[default]
    Uncertainty,
    /// All as wide as the median uncertainty, with the same minimum.
    Average,
    /// All with this standard deviation; a number is in the unit of the localizations.
    Fixed(W),
    /// None: each pixel counts the localizations in it.
    Histogram,
}

/// A text says no width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("uncertainty, average, none or a length is needed")]
pub struct BlurError;

impl<W> Blur<W> {
    /// The same with another fixed width.
    ///
    /// # Errors
    /// As `of` has them.
    pub fn with_width<V, E>(self, of: impl FnOnce(W) -> Result<V, E>) -> Result<Blur<V>, E> {
        Ok(match self {
            Self::Uncertainty => Blur::Uncertainty,
            Self::Average => Blur::Average,
            Self::Fixed(width) => Blur::Fixed(of(width)?),
            Self::Histogram => Blur::Histogram,
        })
    }
}

impl FromStr for Blur<Length> {
    type Err = BlurError;

    fn from_str(text: &str) -> Result<Self, BlurError> {
        Ok(match text {
            "uncertainty" => Self::Uncertainty,
            "average" => Self::Average,
            "none" => Self::Histogram,
            length => Self::Fixed(length.parse().map_err(|_| BlurError)?),
        })
    }
}

impl fmt::Display for Blur<Length> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uncertainty => f.write_str("uncertainty"),
            Self::Average => f.write_str("average"),
            Self::Histogram => f.write_str("none"),
            Self::Fixed(length) => length.fmt(f),
        }
    }
}

/// As text; a width may also be a number, which is a length without a unit.
#[cfg(feature = "serde")]
impl serde::Serialize for Blur<Length> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Fixed(length) => length.serialize(serializer),
            word => serializer.collect_str(word),
        }
    }
}

#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum GivenBlur {
    Number(f64),
    Text(String),
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Blur<Length> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match GivenBlur::deserialize(deserializer)? {
            GivenBlur::Number(width) => Ok(Self::Fixed(Length::from(width))),
            GivenBlur::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

fit_core::__options! {
    /// The options of a picture.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct RenderOptions {
        /// Side of a pixel of the picture, in the unit of the localizations; `None` chooses a round length by their uncertainty and
        /// density (see [`View`](super::View)). Range: above 0.
        pub pixel(const with_pixel): Option<f64> = None,
        /// How wide the Gaussians are.
        pub blur(const with_blur): Blur = Blur::default(),
        /// What the colours mean.
        pub colours(const with_colours): Colours = Colours::default(),
        /// Left, top, right and bottom edge, in the unit of the localizations; `None` includes all localizations except
        /// those far from all others.
        pub extent(const with_extent): Option<[f64; 4]> = None,
        /// How density becomes brightness.
        pub contrast(const with_contrast): Contrast = Contrast::default(),
        /// The largest number of pixels of the picture; each takes seven bytes of memory, or 15 if the colours show a
        /// value.
        pub most_pixels(const with_most_pixels): usize = MOST_PIXELS,
    }
}

/// Most pixels of an ordinary picture: 8192².
pub const MOST_PIXELS: usize = 1 << 26;

impl RenderOptions {
    pub(super) fn check(&self) -> Result<(), RenderError> {
        let good = |value: f64| value > 0.0 && value.is_finite();
        if let Some(pixel) = self.pixel {
            OutOfRange::check("pixel", pixel, good(pixel), "above 0")?;
        }
        if let Blur::Fixed(width) = self.blur {
            OutOfRange::check("blur", width, good(width), "above 0")?;
        }
        if let Some([left, top, right, bottom]) = self.extent {
            let text = format!("{left},{top},{right},{bottom}");
            let finite = (right - left).is_finite() && (bottom - top).is_finite();
            let good = finite && right > left && bottom > top;
            OutOfRange::check("extent", text, good, "left,top,right,bottom, each side above 0")?;
        }
        Ok(())
    }
}
