//! Mean and variance of each pixel of a movie, one block of frames at a time.

use ndarray::{Array2, ArrayView2, ArrayView3, Axis};
use spotfit_locs::private::{change_parts, of_all};

use crate::movie::{Movie, Pixels};
use crate::steps::words::go_on;
use crate::steps::{Listener, Stack, StepError};

/// What is known of a pixel so far: numbers are counted from the first one, so that their squares keep their digits.
#[derive(Clone, Copy, Default)]
struct Sums {
    first: f32,
    sum: f64,
    squares: f64,
    /// The highest number, and how often it came.
    top: f32,
    tops: u32,
}

impl Sums {
    fn add(&mut self, number: f32) {
        let beyond = f64::from(number) - f64::from(self.first);
        self.sum += beyond;
        self.squares += beyond * beyond;
        if number > self.top {
            (self.top, self.tops) = (number, 1);
        } else if number == self.top {
            self.tops += 1;
        }
    }
}

/// The frames of a movie under one light.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    pub(super) name: String,
    pub(super) frames: usize,
    /// In ADU.
    pub(super) mean: Array2<f64>,
    /// Of single frames, in ADU².
    pub(super) variance: Array2<f64>,
    /// Pixels that stayed at the highest number of all.
    pub(super) clipped: Array2<bool>,
    /// The highest number.
    pub(super) top: f32,
    /// The mean of each frame.
    pub(super) lights: Vec<f64>,
}

/// A pixel is clipped if so much of its frames have the highest number of the movie, and at least so many.
const CLIPPED: (f64, u32) = (0.05, 3);

impl Moments {
    /// Reads all frames of a movie; it must have two at least.
    pub(super) fn of(
        stack: &mut Stack,
        done: &mut u64,
        listener: &dyn Listener,
    ) -> Result<Self, StepError> {
        let name = stack.name().to_owned();
        let mut movie = stack.movie()?;
        let (width, height) = movie.size();
        let mut sums = Array2::from_elem((height, width), Sums::default());
        let mut lights = Vec::new();
        let failed = |source| StepError::Movie { name: name.clone(), source };
        while let Some(block) = movie.read(usize::MAX).map_err(failed)? {
            go_on(listener)?;
            let first = lights.is_empty();
            match block.pixels {
                Pixels::U8(frames) => add(&mut sums, frames.view(), first, &mut lights),
                Pixels::U16(frames) => add(&mut sums, frames.view(), first, &mut lights),
                Pixels::F32(frames) => add(&mut sums, frames.view(), first, &mut lights),
            }
            if let Some(odd) = lights.iter().position(|light| !light.is_finite()) {
                let reason = format!("frame {} has a pixel that is not finite", odd + 1);
                return Err(StepError::input(&name, reason));
            }
            listener.progress(*done + lights.len() as u64);
        }
        *done += lights.len() as u64;
        let frames = lights.len();
        if frames < 2 {
            let reason = "it has one frame: the noise of a pixel needs two, and a hundred or more to be measured well";
            return Err(StepError::input(&name, reason));
        }
        Ok(Self::from(name, &sums, lights))
    }

    fn from(name: String, sums: &Array2<Sums>, lights: Vec<f64>) -> Self {
        let count = lights.len() as f64;
        let top = sums.iter().map(|sums| sums.top).fold(f32::NEG_INFINITY, f32::max);
        let least = (CLIPPED.0 * count).max(f64::from(CLIPPED.1));
        Self {
            name,
            frames: lights.len(),
            mean: sums.mapv(|sums| f64::from(sums.first) + sums.sum / count),
            variance: sums.mapv(|sums| {
                ((sums.squares - sums.sum * sums.sum / count) / (count - 1.0)).max(0.0)
            }),
            clipped: sums.mapv(|sums| sums.top == top && f64::from(sums.tops) >= least),
            top,
            lights,
        }
    }

    /// Width and height.
    pub(super) fn size(&self) -> (usize, usize) {
        let (height, width) = self.mean.dim();
        (width, height)
    }
}

/// The number of frames of a movie, as far as it is known.
pub(super) fn frames(stack: &mut Stack) -> Result<u64, StepError> {
    stack.about(|movie: &Movie| if movie.is_counted() { movie.frames() as u64 } else { 0 })
}

/// A type of pixels.
trait Pixel: Copy + Into<f32> + Send + Sync {}
impl<P: Copy + Into<f32> + Send + Sync> Pixel for P {}

fn add<P: Pixel>(
    sums: &mut Array2<Sums>,
    frames: ArrayView3<'_, P>,
    first: bool,
    lights: &mut Vec<f64>,
) {
    let ((_, width), pixels) = (sums.dim(), sums.len() as f64);
    change_parts(sums.as_slice_mut().unwrap_or_default(), width.max(1), &|y, sums| {
        for (number, row) in frames.index_axis(Axis(1), y).axis_iter(Axis(0)).enumerate() {
            for (sums, &pixel) in sums.iter_mut().zip(row) {
                let pixel = pixel.into();
                if first && number == 0 {
                    *sums = Sums { first: pixel, top: f32::NEG_INFINITY, ..Sums::default() };
                }
                sums.add(pixel);
            }
        }
    });
    let all: Vec<ArrayView2<'_, P>> = frames.axis_iter(Axis(0)).collect();
    lights.extend(of_all(&all, |frame| {
        frame.iter().map(|&pixel| f64::from(pixel.into())).sum::<f64>() / pixels
    }));
}
