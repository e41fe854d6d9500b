//! The options of a picture.

use super::{Colours, Contrast, RenderError};
use crate::range::OutOfRange;

/// How wide the Gaussians are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Blur {
    /// Each as wide as its uncertainty, but at least [`View::least`](super::View::least), usually a pixel.
    #[default]
    Uncertainty,
    /// All as wide as the median uncertainty, with the same minimum.
    Average,
    /// All with this standard deviation, in the unit of the localizations.
    Fixed(f64),
    /// None: each pixel counts the localizations in it.
    Histogram,
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
