//! Frames of a movie.

use ndarray::{ArrayView2, Axis};

use super::{Arrival, Arrived, FrameSource};
use crate::OutOfRange;
use crate::movie::{Movie, Pixels};
use crate::steps::{Stack, StepError};
use crate::track::{FramePixels, FrameView};

/// Frames of a movie, all that there are.
#[derive(Debug)]
pub struct MovieFrames {
    name: String,
    movie: Movie,
    block: Option<Pixels>,
    /// The next frame of the block.
    at: usize,
    number: u64,
    rate: Option<f64>,
}

impl MovieFrames {
    /// The frames of a movie. With a rate, frames a second, they have times.
    ///
    /// # Errors
    /// [`StepError::Movie`], [`StepError::Option`].
    pub fn new(mut stack: Stack, rate: Option<f64>) -> Result<Self, StepError> {
        if let Some(rate) = rate {
            OutOfRange::check(
                "rate",
                rate,
                (1e-6..=1e9).contains(&rate),
                "1e-6 to 1e9 frames a second",
            )?;
        }
        let (name, movie) = (stack.name().to_owned(), stack.movie()?);
        Ok(Self { name, movie, block: None, at: 0, number: 0, rate })
    }
}

/// The pixels of a frame of a block, whose frames are contiguous.
pub(super) fn frame(block: &Pixels, at: usize) -> Option<FrameView<'_>> {
    fn rows<P>(frame: ArrayView2<'_, P>) -> Option<(usize, usize, &[P])> {
        let (height, width) = frame.dim();
        Some((width, height, frame.to_slice()?))
    }
    let at = (Axis(0), at);
    Some(match block {
        Pixels::U8(frames) => {
            let (width, height, pixels) = rows(frames.index_axis(at.0, at.1))?;
            FrameView::new(width, height, FramePixels::U8(pixels))
        }
        Pixels::U16(frames) => {
            let (width, height, pixels) = rows(frames.index_axis(at.0, at.1))?;
            FrameView::new(width, height, FramePixels::U16(pixels))
        }
        Pixels::F32(frames) => {
            let (width, height, pixels) = rows(frames.index_axis(at.0, at.1))?;
            FrameView::new(width, height, FramePixels::F32(pixels))
        }
    })
}

/// The same pixels row by row, wherever they lie in memory.
pub(super) fn by_rows(block: Pixels) -> Pixels {
    match block {
        Pixels::U8(frames) => Pixels::U8(frames.as_standard_layout().into_owned()),
        Pixels::U16(frames) => Pixels::U16(frames.as_standard_layout().into_owned()),
        Pixels::F32(frames) => Pixels::F32(frames.as_standard_layout().into_owned()),
    }
}

impl FrameSource for MovieFrames {
    fn name(&self) -> &str {
        &self.name
    }

    fn pixel_size(&self) -> Option<f64> {
        self.movie.axes().pixel_size.map(|size| size.nanometres)
    }

    fn frames(&self) -> Option<u64> {
        Some(self.movie.frames() as u64)
    }

    fn is_live(&self) -> bool {
        false
    }

    fn next(&mut self) -> Result<Arrived<'_>, StepError> {
        let there = self.block.as_ref().is_some_and(|block| self.at < block.dim().0);
        if !there {
            let read = self.movie.read(usize::MAX);
            let failed = |source| StepError::Movie { name: self.name.clone(), source };
            let Some(block) = read.map_err(failed)? else { return Ok(Arrived::End) };
            (self.block, self.at) = (Some(by_rows(block.pixels)), 0);
        }
        let (at, number) = (self.at, self.number);
        let Some(view) = self.block.as_ref().and_then(|block| frame(block, at)) else {
            return Ok(Arrived::End);
        };
        self.at += 1;
        self.number += 1;
        let time = self.rate.map(|rate| number as f64 / rate);
        Ok(Arrived::Frame(Arrival::new(view, number).with_time(time)))
    }
}
