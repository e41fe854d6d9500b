//! Drawings as files.

use std::path::Path;

use super::Drawing;

/// Pixels of a PNG file for each of the drawing, along each side: fine enough for print at the drawing's own size.
#[cfg(feature = "render")]
const SCALE: f64 = 2.0;

/// Why a drawing cannot be a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// The size is none, or too large.
    #[error(
        "a PNG of {width:.0} × {height:.0} pixels cannot be made: 1 to 10⁸ pixels are possible"
    )]
    Size {
        /// Pixels across.
        width: f64,
        /// Pixels from the top to the bottom.
        height: f64,
    },
    /// The writer's error.
    #[error(transparent)]
    Write(#[from] std::io::Error),
}

/// What a drawing is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FigureFormat {
    /// Shapes and text: [`Drawing::svg`].
    Svg,
    /// Pixels, two for each of the drawing along each side: [`Drawing::png`].
    #[cfg(feature = "render")]
    Png,
}

impl FigureFormat {
    /// The endings of names, without dots.
    pub const ENDINGS: &[&str] = if cfg!(feature = "render") { &["svg", "png"] } else { &["svg"] };

    /// That of a file, by the ending of its name.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_lowercase().as_str() {
            "svg" => Some(Self::Svg),
            #[cfg(feature = "render")]
            "png" => Some(Self::Png),
            _ => None,
        }
    }
}

impl Drawing {
    /// The bytes of a file.
    ///
    /// # Errors
    /// [`FigureError`].
    pub fn file(&self, format: FigureFormat) -> Result<Vec<u8>, FigureError> {
        match format {
            FigureFormat::Svg => Ok(self.svg().into_bytes()),
            #[cfg(feature = "render")]
            FigureFormat::Png => self.png(SCALE),
        }
    }
}
