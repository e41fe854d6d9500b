//! Frames that lie one after the other in a file, as its header or another file beside it says.

use super::error::wrong;
use super::raw::{Adjust, RawSource};
use super::whole::said;
use super::{
    Acquisition, Dimensions, Movie, MovieAxes, MovieError, MovieOptions, PixelSize, Source,
};
use crate::npy::NumberType;
use crate::place::Bytes;

/// What is said of the frames.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Header {
    pub(super) number: NumberType,
    pub(super) big_endian: bool,
    pub(super) frames: usize,
    pub(super) height: usize,
    pub(super) width: usize,
    /// Where the first frame lies.
    pub(super) start: u64,
    /// What is done with the numbers of the file.
    pub(super) adjust: Option<Adjust>,
    /// How the frames were acquired.
    pub(super) acquisition: Acquisition,
    /// When each frame was taken, in seconds since the first, if it is known.
    pub(super) times: Option<Vec<f64>>,
    pub(super) pixel_size: Option<PixelSize>,
    /// What the user should know.
    pub(super) notes: Vec<String>,
}

impl Header {
    /// Frames (count, height, width) of numbers, the lowest byte first, from a place on, of which nothing else is said.
    pub(super) fn new(
        number: NumberType,
        (frames, height, width): (usize, usize, usize),
        start: u64,
    ) -> Self {
        Self {
            number,
            big_endian: false,
            frames,
            height,
            width,
            start,
            adjust: None,
            acquisition: Acquisition::default(),
            times: None,
            pixel_size: None,
            notes: Vec::new(),
        }
    }

    /// The movie of the frames that are there.
    pub(super) fn open(
        mut self,
        bytes: Bytes,
        options: &MovieOptions,
    ) -> Result<Movie, MovieError> {
        let Self { frames, height, width, start, .. } = self;
        options.limits.check(width, height)?;
        let frame = (width as u64 * height as u64).saturating_mul(self.number.size() as u64);
        if frames == 0 || frame == 0 {
            return Err(MovieError::Empty);
        }
        let length = bytes.length()?;
        let whole = length.saturating_sub(start) / frame;
        let whole = usize::try_from(whole).unwrap_or(usize::MAX).min(frames);
        if whole < frames {
            if whole == 0 || options.strict {
                return Err(wrong(format!(
                    "it is truncated: {frames} frames of {width}×{height} pixels were to follow its header, and its pixels end \
                     after {length} bytes"
                )));
            }
            self.notes.push(said(whole, Some(frames)));
            self.frames = whole;
        }
        if let Some(times) = &mut self.times {
            times.truncate(whole);
        }
        self.movie((bytes, start), options)
    }

    /// The movie of all frames, which are the `length` bytes from a place on.
    pub(super) fn exactly(
        self,
        (bytes, start): (Bytes, u64),
        length: u64,
        options: &MovieOptions,
    ) -> Result<Movie, MovieError> {
        let Self { frames, height, width, number, .. } = self;
        let factors = [height as u64, width as u64, frames as u64, number.size() as u64];
        let promised = factors.iter().try_fold(1_u64, |all, &factor| all.checked_mul(factor));
        if promised != Some(length) {
            return Err(wrong(format!(
                "{frames} frames of {width}×{height} pixels of {} bits do not match the {length} bytes of the movie",
                8 * number.size()
            )));
        }
        self.movie((bytes, start), options)
    }

    fn movie(
        self,
        (bytes, start): (Bytes, u64),
        options: &MovieOptions,
    ) -> Result<Movie, MovieError> {
        let Self { number, big_endian, frames, height, width, acquisition, times, notes, .. } =
            self;
        let pixels = (width as u64).saturating_mul(height as u64);
        let mut source = RawSource::new(bytes, start, number, big_endian, pixels);
        source.adjust(self.adjust);
        let dimensions = Dimensions(frames, height, width);
        let movie = Movie::new(Source::Raw(source), dimensions, &options.limits)?;
        let axes = MovieAxes { pixel_size: self.pixel_size, ..movie.axes };
        Movie { axes, acquisition, times, notes, ..movie }.alone(options)
    }
}
