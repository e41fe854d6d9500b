//! The axes of a movie according to its metadata.

use std::fmt;
use std::ops::RangeInclusive;

/// The axes of a movie other than x and y, according to its metadata. Each is 1 if it is unknown, except that `times`
/// is then the number of frames.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MovieAxes {
    /// Channels, of which one is read.
    pub channels: usize,
    /// Slices along z.
    pub slices: usize,
    /// Time points.
    pub times: usize,
    /// The side of a pixel, if it is known and pixels are square.
    pub pixel_size: Option<PixelSize>,
}

impl MovieAxes {
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
    /// What says so, in words.
    pub source: &'static str,
}

impl PixelSize {
    /// Pixels that the camera of a microscope may have, in nanometres.
    const POSSIBLE: RangeInclusive<f64> = 1.0..=1e5;

    /// A size that can be one, or what is odd about it. What is not even a length was not meant to be one.
    pub(super) fn new(nanometres: f64, source: &'static str) -> Result<Option<Self>, String> {
        let known = possible_pixel(nanometres, source)?;
        Ok(known.map(|nanometres| Self { nanometres, source }))
    }

    /// The same of what may not be said; what is odd is noted.
    pub(super) fn noted(
        nanometres: Option<f64>,
        source: &'static str,
        notes: &mut Vec<String>,
    ) -> Option<Self> {
        Self::new(nanometres?, source).unwrap_or_else(|odd| {
            notes.push(odd);
            None
        })
    }
}

/// The side of a pixel in nanometres, as files say it: `None` for what is no length, and an error, a sentence without a full stop, for
/// what no microscope has.
pub fn possible_pixel(nanometres: f64, said_by: impl fmt::Display) -> Result<Option<f64>, String> {
    if !(nanometres > 0.0 && nanometres.is_finite()) {
        return Ok(None);
    }
    if PixelSize::POSSIBLE.contains(&nanometres) {
        return Ok(Some(nanometres));
    }
    let size = match nanometres {
        readable if (1e-4..1e9).contains(&readable) => readable.to_string(),
        other => format!("{other:e}"),
    };
    Err(format!(
        "pixels of {size} nm, by {said_by}, are left aside: those of microscopes are from 1 nm to 100 µm"
    ))
}
