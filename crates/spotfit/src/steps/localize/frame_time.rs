//! When frames were taken, for those who ask for it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::options::LocalizeOptions;
use crate::OutOfRange;
use crate::movie::Movie;
use crate::steps::StepError;
use crate::table::FrameTimes;

/// When frames were taken.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "snake_case")
)]
#[non_exhaustive]
pub enum FrameTime {
    /// One every so many seconds.
    Seconds(f64),
    /// As the metadata of the movie say.
    Metadata,
    /// What they have said.
    #[cfg_attr(feature = "serde", serde(skip))]
    Said(FrameTimes),
}

/// Times that a frame may take, in seconds.
const POSSIBLE: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

impl FrameTime {
    pub(super) fn check(&self) -> Result<(), OutOfRange> {
        let Self::Seconds(time) = self else { return Ok(()) };
        let range = "1e-9 to 1e9 seconds, or metadata";
        OutOfRange::check("frame_time", time, POSSIBLE.contains(time), range)
    }

    /// For a table. What metadata will say stands as a second.
    pub(super) fn times(&self) -> FrameTimes {
        match self {
            Self::Seconds(time) => FrameTimes::Every(*time),
            Self::Metadata => FrameTimes::Every(1.0),
            Self::Said(times) => times.clone(),
        }
    }
}

impl fmt::Display for FrameTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seconds(time) => time.fmt(f),
            Self::Metadata | Self::Said(_) => f.write_str("metadata"),
        }
    }
}

impl FromStr for FrameTime {
    type Err = OutOfRange;

    fn from_str(text: &str) -> Result<Self, OutOfRange> {
        let time = match text.strip_suffix('s').unwrap_or(text).trim().parse() {
            _ if text == "metadata" => Self::Metadata,
            Ok(time) => Self::Seconds(time),
            Err(_) => Self::Seconds(f64::NAN),
        };
        let good = time.check().is_ok();
        OutOfRange::check("frame_time", text, good, "1e-9 to 1e9 seconds, or metadata")?;
        Ok(time)
    }
}

impl LocalizeOptions {
    /// The same with what the metadata of a movie say of its times, if that is asked for.
    pub(super) fn timed(mut self, movie: &Movie, name: &str) -> Result<Self, StepError> {
        if let Some(time) = &self.frame_time {
            time.check()?;
        }
        if self.frame_time != Some(FrameTime::Metadata) {
            return Ok(self);
        }
        // Between time points; where slices are frames too, nobody says when each was taken.
        let points = movie.axes().times == movie.frames();
        let said = match (movie.times(), movie.acquisition().frame_time.filter(|_| points)) {
            (Some(times), _) => FrameTimes::Each(Arc::from(times)),
            (None, Some(time)) => FrameTimes::Every(time),
            (None, None) => {
                let reason = "the metadata do not say `frame_time`: give the time from frame to frame in seconds";
                return Err(StepError::input(name, reason));
            }
        };
        self.frame_time = Some(FrameTime::Said(said));
        Ok(self)
    }
}
