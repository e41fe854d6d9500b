//! Where frames come from.

mod follow;
mod movie;
mod raw;
mod ring;

use std::fmt;
use std::str::FromStr;

use super::StepError;
use crate::track::FrameView;

pub use follow::FollowedFrames;
pub use movie::MovieFrames;
pub use raw::RawFrames;
pub use ring::RingFrames;

/// A frame that has arrived.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Arrival<'a> {
    /// Its pixels.
    pub frame: FrameView<'a>,
    /// Its number, from 0; numbers that are left out are frames that were lost.
    pub number: u64,
    /// When it was there, in seconds since the first, if that is known. It is known of all frames or of none.
    pub time: Option<f64>,
    /// When it was in memory, in nanoseconds of [`spotfit_ring::now`]; not known of frames that were there before.
    pub stamp: Option<u64>,
}

impl<'a> Arrival<'a> {
    /// A frame of this number, from 0, of which nothing else is known.
    pub const fn new(frame: FrameView<'a>, number: u64) -> Self {
        Self { frame, number, time: None, stamp: None }
    }

    /// The same with the time in seconds since the first frame.
    #[must_use]
    pub const fn with_time(self, time: Option<f64>) -> Self {
        Self { time, ..self }
    }

    /// The same with the time at which it was in memory.
    #[must_use]
    pub const fn with_stamp(self, stamp: Option<u64>) -> Self {
        Self { stamp, ..self }
    }
}

/// What came of waiting for a frame.
#[derive(Debug)]
pub enum Arrived<'a> {
    /// The next frame.
    Frame(Arrival<'a>),
    /// Nothing for a while; there may be more.
    Nothing,
    /// There are no more frames.
    End,
}

/// What was lost on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Lost {
    /// Frames that were lost, by the camera or because nobody was fast enough to read them.
    pub missed: u64,
    /// Reads of a frame that was overwritten meanwhile, or was not where it should have been.
    pub torn: u64,
    /// Frames whose number is not above that of the frame before.
    pub disorder: u64,
}

impl Lost {
    fit_core::__setters! {
        const with_missed: missed: u64,
        const with_torn: torn: u64,
        const with_disorder: disorder: u64,
    }
}

/// Something that has frames, one after the other.
pub trait FrameSource {
    /// What it is called in errors.
    fn name(&self) -> &str;

    /// The side of a pixel in nanometres, as far as the source knows it.
    fn pixel_size(&self) -> Option<f64> {
        None
    }

    /// How many frames there are, if that is known before they have come.
    fn frames(&self) -> Option<u64> {
        None
    }

    /// Whether frames come as they are taken. To end such a source is no error.
    fn is_live(&self) -> bool {
        true
    }

    /// The next frame. It waits for it, but not much longer than 50 ms.
    ///
    /// # Errors
    /// [`StepError`]: there can be no more frames.
    fn next(&mut self) -> Result<Arrived<'_>, StepError>;

    /// What was lost so far.
    fn lost(&self) -> Lost {
        Lost::default()
    }
}

/// The type of raw pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrameType {
    /// 8 bits.
    U8,
    /// 16 bits, the lower byte first.
    U16,
    /// Floating point of 32 bits, the lowest byte first.
    F32,
}

/// The size and the type of raw frames, as in `512x512:u16`: width, height, and `u8`, `u16` or `f32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameFormat {
    /// Pixels of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// Their type.
    pub pixels: FrameType,
}

/// The most bytes of a frame.
const MOST_BYTES: usize = 1 << 30;

impl FrameFormat {
    /// The bytes of a frame.
    pub fn bytes(&self) -> usize {
        let each = match self.pixels {
            FrameType::U8 => 1,
            FrameType::U16 => 2,
            FrameType::F32 => 4,
        };
        self.width * self.height * each
    }
}

impl FromStr for FrameFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "'{text}' is not WIDTHxHEIGHT:TYPE, as in 512x512:u16, with TYPE u8, u16 or f32"
            )
        };
        let (size, pixels) = text.split_once(':').ok_or_else(wrong)?;
        let (width, height) = size.split_once('x').ok_or_else(wrong)?;
        let side =
            |text: &str| text.parse::<usize>().ok().filter(|side| *side > 0).ok_or_else(wrong);
        let pixels = match pixels {
            "u8" => FrameType::U8,
            "u16" => FrameType::U16,
            "f32" => FrameType::F32,
            _ => return Err(wrong()),
        };
        let (width, height) = (side(width)?, side(height)?);
        let fits = width.checked_mul(height).is_some_and(|all| all <= MOST_BYTES / 4);
        if !fits {
            return Err(format!("frames of {width}×{height} pixels are too large"));
        }
        Ok(Self { width, height, pixels })
    }
}

impl fmt::Display for FrameFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pixels = match self.pixels {
            FrameType::U8 => "u8",
            FrameType::U16 => "u16",
            FrameType::F32 => "f32",
        };
        write!(f, "{}x{}:{pixels}", self.width, self.height)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that formats are read and written, and that what makes no sense is refused.
    #[test]
    fn formats_are_read() {
        for text in ["512x512:u16", "1x2:u8", "640x480:f32"] {
            assert_eq!(text.parse::<FrameFormat>().unwrap().to_string(), text);
        }
        assert_eq!("640x480:f32".parse::<FrameFormat>().unwrap().bytes(), 4 * 640 * 480);
        for wrong in [
            "",
            "512",
            "512x512",
            "512x512:i16",
            "0x5:u8",
            "-1x5:u8",
            "99999999999x99999999999:u8",
            "40000x40000:u8",
        ] {
            assert!(wrong.parse::<FrameFormat>().is_err(), "{wrong}");
        }
    }
}
