//! Frames of a movie.

use ndarray::Axis;

use super::{Arrival, Arrived, FrameSource};
use crate::OutOfRange;
use crate::movie::{Movie, Pixels};
use crate::steps::{Stack, StepError};
use crate::track::{FramePixels, FrameView};

/// Frames of blocks, one after the other.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Its frames are contiguous.
    block: Option<Pixels>,
    /// The next frame of the block.
    at: usize,
    number: u64,
}

impl Blocks {
    /// Takes a block all of whose frames were looked at.
    pub(super) fn take_seen(&mut self) -> Option<Pixels> {
        self.block.take_if(|block| self.at >= block.dim().0)
    }

    /// Whether there is no block.
    pub(super) fn is_empty(&self) -> bool {
        self.block.is_none()
    }

    /// Goes on with a block.
    pub(super) fn put(&mut self, block: Pixels) {
        (self.block, self.at) = (Some(block), 0);
    }

    /// The next frame, and its number.
    pub(super) fn next(&mut self) -> Option<(FrameView<'_>, u64)> {
        let block = self.block.as_ref()?;
        let (_, height, width) = block.dim();
        let at = (Axis(0), self.at);
        let pixels = match block {
            Pixels::U8(frames) => FramePixels::U8(frames.index_axis(at.0, at.1).to_slice()?),
            Pixels::U16(frames) => FramePixels::U16(frames.index_axis(at.0, at.1).to_slice()?),
            Pixels::F32(frames) => FramePixels::F32(frames.index_axis(at.0, at.1).to_slice()?),
        };
        let number = self.number;
        (self.at, self.number) = (self.at + 1, number + 1);
        Some((FrameView::new(width, height, pixels), number))
    }
}

/// Frames of a movie, all that there are.
#[derive(Debug)]
pub struct MovieFrames {
    name: String,
    movie: Movie,
    blocks: Blocks,
    rate: Option<f64>,
}

impl MovieFrames {
    /// The frames of a movie. With a rate, frames a second, they have times.
    ///
    /// # Errors
    /// [`StepError::Movie`], [`StepError::Option`].
    pub fn new(mut stack: Stack, rate: Option<f64>) -> Result<Self, StepError> {
        if let Some(rate) = rate {
            let good = (1e-6..=1e9).contains(&rate);
            OutOfRange::check("rate", rate, good, "1e-6 to 1e9 frames a second")?;
        }
        let (name, movie) = (stack.name().to_owned(), stack.movie()?);
        Ok(Self { name, movie, blocks: Blocks::default(), rate })
    }
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
        self.blocks.take_seen();
        if self.blocks.is_empty() {
            let read = self.movie.read(usize::MAX);
            let failed = |source| StepError::Movie { name: self.name.clone(), source };
            let Some(block) = read.map_err(failed)? else { return Ok(Arrived::End) };
            self.blocks.put(by_rows(block.pixels));
        }
        let Some((view, number)) = self.blocks.next() else { return Ok(Arrived::End) };
        let time = self.rate.map(|rate| number as f64 / rate);
        Ok(Arrived::Frame(Arrival::new(view, number).with_time(time)))
    }
}
