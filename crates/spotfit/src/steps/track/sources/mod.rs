//! Where frames come from.

mod live;
mod movie;
mod ring;

use super::StepError;
use crate::track::FrameView;

pub use crate::movie::{FrameFormat, FrameType};
pub use live::LiveFrames;
pub use movie::MovieFrames;
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

    fit_core::__setters! {
        const with_time: time: Option<f64>,
        const with_stamp: stamp: Option<u64>,
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

fit_core::__options! {
    /// What was lost on the way.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
    #[non_exhaustive]
    pub struct Lost {
        /// Frames that were lost, by the camera or because nobody was fast enough to read them.
        pub missed(const with_missed): u64 = 0,
        /// Reads of a frame that was overwritten meanwhile, or was not where it should have been.
        pub torn(const with_torn): u64 = 0,
        /// Frames whose number is not above that of the frame before.
        pub disorder(const with_disorder): u64 = 0,
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
