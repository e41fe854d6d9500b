//! The resolution, or why there is none.

use crate::near::ColumnsError;

/// The fewest localizations in a half.
pub(super) const LEAST: usize = 100;

/// Why the resolution could not be determined.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FrcError {
    /// Something is wrong with a column or the size of the pixels.
    #[error(transparent)]
    Columns(#[from] ColumnsError),
    /// The movie cannot be cut into that many blocks.
    #[error(
        "{frames} frames cannot be cut into {blocks} blocks; at least 2 blocks of a frame are needed"
    )]
    Blocks {
        /// The number of blocks asked for.
        blocks: u32,
        /// The number of frames from the first to the last with a localization.
        frames: u64,
    },
    /// There are too few localizations in a half, or all are at one place.
    #[error("the two halves have {0} and {1} localizations in the field; at least {least} at different places are needed",
        least = LEAST)]
    FewLocalizations(usize, usize),
    /// The image is fewer than 32 pixels wide.
    #[error("pixels of {pixel} are too large for a field of {field}")]
    LargePixel {
        /// The side of the pixels.
        pixel: f64,
        /// The side of the field.
        field: f64,
    },
    /// Even at the lowest frequencies the correlation is below 1/7.
    #[error(
        "the halves are not correlated: the correlation is {correlation:.3} at the lowest frequency"
    )]
    NotCorrelated {
        /// The smoothed correlation there.
        correlation: f64,
    },
    /// The correlation stays above 1/7.
    #[error(
        "the correlation is above 1/7 up to the highest frequency, {frequency:.4}: \
        pixels are too large, or the halves share localizations"
    )]
    NoCrossing {
        /// The highest frequency, in the inverse of the unit of the positions.
        frequency: f64,
    },
}

/// The resolution, and the curve from which it was determined. Lengths are in the unit of the positions.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Frc {
    /// The inverse of the frequency at which the smoothed correlation falls to 1/7.
    pub resolution: f64,
    /// Its standard error, due to the noise of the correlation in the rings where it crosses. If the curve oscillates
    /// near 1/7, because of the structure, repeated measurements differ by a multiple of it.
    pub standard_error: f64,
    /// The radius of each ring.
    pub frequencies: Vec<f64>,
    /// The correlation in each ring.
    pub correlation: Vec<f64>,
    /// The correlation smoothed.
    pub smoothed: Vec<f64>,
    /// The side of the pixels.
    pub pixel: f64,
    /// The number of pixels along a side of each tile.
    pub side: usize,
    /// The number of tiles that were used.
    pub tiles: usize,
    /// The number of localizations in these tiles.
    pub localizations: usize,
}
