//! The axes of a movie according to its metadata.

use std::fmt;

/// The axes of a movie other than x and y, according to its metadata. Each is 1 if it is unknown, except that `times`
/// is then the number of frames.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Axes {
    /// Channels, of which one is read.
    pub channels: usize,
    /// Slices along z.
    pub slices: usize,
    /// Time points.
    pub times: usize,
    /// The side of a pixel, if it is known and pixels are square.
    pub pixel_size: Option<PixelSize>,
}

impl Axes {
    /// Frames one after the other.
    pub(super) fn frames(times: usize) -> Self {
        Self { channels: 1, slices: 1, times, pixel_size: None }
    }

    /// Planes of all channels; too many to count is as many as can be counted.
    #[cfg(feature = "tiff")]
    pub(super) fn planes(&self) -> usize {
        self.channels.saturating_mul(self.slices).saturating_mul(self.times)
    }
}

/// The side of a pixel, and the source of this value.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PixelSize {
    /// The side in nanometres, positive and finite.
    pub nanometres: f64,
    /// What says so.
    pub source: PixelSizeSource,
}

impl PixelSize {
    /// A size that can be one.
    pub(super) fn new(nanometres: f64, source: PixelSizeSource) -> Option<Self> {
        let sound = (1e-6..=1e12).contains(&nanometres);
        sound.then_some(Self { nanometres, source })
    }
}

/// The source of the pixel size of a movie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PixelSizeSource {
    /// `PhysicalSizeX` of the OME metadata.
    Ome,
    /// The resolution of the TIFF file, in the unit that ImageJ's description names.
    ImageJ,
    /// The resolution of the TIFF file, in its own unit.
    Resolution,
    /// `Pixelsize` in Picasso's YAML file.
    Picasso,
}

impl fmt::Display for PixelSizeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ome => "the OME metadata",
            Self::ImageJ => "ImageJ's description",
            Self::Resolution => "the resolution of the TIFF file",
            Self::Picasso => "Picasso's YAML file",
        })
    }
}
