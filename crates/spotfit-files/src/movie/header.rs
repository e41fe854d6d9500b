//! Files whose header says how their frames lie after it: what is whole of them is read.

use super::place::Bytes;
use super::raw::{Adjust, RawSource};
use super::whole::said;
use super::{Acquisition, Dimensions, MovieError, MovieOptions};
use crate::npy::NumberType;

/// What a header says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Header {
    /// Its format, as errors name it.
    pub(super) format: &'static str,
    pub(super) frames: usize,
    pub(super) height: usize,
    pub(super) width: usize,
    pub(super) number: NumberType,
    pub(super) big_endian: bool,
    /// What is done with the numbers of the file.
    pub(super) adjust: Option<Adjust>,
    /// Where the first frame lies.
    pub(super) start: u64,
    /// How the frames were acquired.
    pub(super) acquisition: Acquisition,
    /// When each frame was taken, in seconds since the first, if it is known.
    pub(super) times: Option<Vec<f64>>,
    /// What the user should know.
    pub(super) notes: Vec<String>,
}

/// A movie of which the header is known.
pub(super) struct WithHeader {
    pub(super) source: RawSource,
    pub(super) dimensions: Dimensions,
    pub(super) acquisition: Acquisition,
    pub(super) times: Option<Vec<f64>>,
    pub(super) notes: Vec<String>,
}

impl Header {
    /// The frames that are there.
    pub(super) fn open(
        self,
        bytes: Bytes,
        options: &MovieOptions,
    ) -> Result<WithHeader, MovieError> {
        let Self { format, frames, height, width, number, big_endian, start, .. } = self;
        options.limits.check(width, height)?;
        let pixels = width as u64 * height as u64;
        let frame = pixels.saturating_mul(number.size() as u64);
        if frames == 0 || frame == 0 {
            return Err(MovieError::Empty);
        }
        let length = bytes.length()?;
        let whole = length.saturating_sub(start) / frame;
        let whole = usize::try_from(whole).unwrap_or(usize::MAX).min(frames);
        let mut notes = self.notes;
        if whole < frames {
            if whole == 0 || options.strict {
                let reason = format!(
                    "it is truncated: {frames} frames of {width}×{height} pixels were to follow its header, and its pixels end \
                     after {length} bytes"
                );
                return Err(MovieError::Header { format, reason });
            }
            notes.push(said(whole, Some(frames)));
        }
        let mut source = RawSource::new(bytes, start, number, big_endian, pixels);
        source.adjust(self.adjust);
        let dimensions = Dimensions(whole, height, width);
        let times = self.times.map(|mut times| {
            times.truncate(whole);
            times
        });
        Ok(WithHeader { source, dimensions, acquisition: self.acquisition, times, notes })
    }
}
