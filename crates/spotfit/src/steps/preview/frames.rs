//! Frames of a movie, in any order.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use ndarray::{Array3, Axis, Slice};

use crate::movie::{Movie, Pixels};
use crate::steps::{Stack, StepError};

/// So many pixels of frames are kept.
const MOST_PIXELS: usize = 1 << 24;

/// The frames of a movie that stays open.
#[derive(Debug)]
pub(super) struct Frames {
    stack: Stack,
    /// The movie, and its next frame.
    open: Option<(Movie, usize)>,
    /// The last ones that were asked for.
    held: VecDeque<(usize, Arc<Pixels>)>,
    /// The first frames, as many as estimates look at.
    first: Option<Arc<Pixels>>,
}

impl Frames {
    pub(super) fn of(stack: Stack) -> Self {
        Self { stack, open: None, held: VecDeque::new(), first: None }
    }

    pub(super) fn stack(&mut self) -> &mut Stack {
        &mut self.stack
    }

    /// One frame.
    pub(super) fn one(&mut self, frame: usize) -> Result<Arc<Pixels>, StepError> {
        if let Some((_, pixels)) = self.held.iter().find(|(number, _)| *number == frame) {
            return Ok(pixels.clone());
        }
        let pixels = Arc::new(self.some(frame..frame + 1)?);
        self.held.push_back((frame, pixels.clone()));
        let (_, height, width) = pixels.dim();
        let most = (MOST_PIXELS / (width * height).max(1)).clamp(2, 64);
        if self.held.len() > most {
            self.held.pop_front();
        }
        Ok(pixels)
    }

    /// Frames that follow each other.
    pub(super) fn some(&mut self, frames: Range<usize>) -> Result<Pixels, StepError> {
        if let Some(all) = self.stack.held() {
            return Ok(part(all, frames));
        }
        let name = self.stack.name().to_owned();
        let failed = |source| StepError::Movie { name: name.clone(), source };
        let open = self.open.take().filter(|(_, next)| *next <= frames.start);
        let mut movie = match open {
            Some((movie, _)) => movie,
            None => self.stack.movie()?,
        };
        movie.skip_to(frames.start).map_err(failed)?;
        let read = movie.peek(frames.len()).map_err(failed)?;
        let read = read.map(|pixels| part(pixels, 0..frames.len()));
        let read = read.filter(|pixels| pixels.dim().0 == frames.len());
        let read = read.ok_or_else(|| {
            let reason = format!("the movie has ended before frame {}", frames.end);
            StepError::input(&name, reason)
        })?;
        self.open = Some((movie, frames.start));
        Ok(read)
    }

    /// The first frames, as many as estimates look at, if they can be read.
    pub(super) fn first(&mut self) -> Option<Arc<Pixels>> {
        if self.first.is_none() {
            self.first = self.stack.first_frames(true).map(Arc::new);
        }
        self.first.clone()
    }
}

/// Some of these frames, as far as they are there.
fn part(pixels: &Pixels, frames: Range<usize>) -> Pixels {
    fn of<P: Clone>(all: &Array3<P>, frames: Range<usize>) -> Array3<P> {
        let end = frames.end.min(all.dim().0);
        all.slice_axis(Axis(0), Slice::from(frames.start.min(end)..end)).to_owned()
    }
    match pixels {
        Pixels::U8(all) => Pixels::U8(of(all, frames)),
        Pixels::U16(all) => Pixels::U16(of(all, frames)),
        Pixels::F32(all) => Pixels::F32(of(all, frames)),
    }
}
