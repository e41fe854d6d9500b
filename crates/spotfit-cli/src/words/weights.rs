//! Weights of the pixels, read as they are needed.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use fit_core::{ArgumentError, Size};
use ndarray::{Array2, ArrayView3};
use spotfit::movie::MovieLimits;
use spotfit::npy::NpyReader;
use spotfit::{AnyWindows, Weights};

use crate::error::CliError;
use crate::words::input::Input;
use crate::words::items::{Items, Span};

/// The weights of windows.
pub(crate) enum WeightsFile {
    /// A weight for each pixel of each window.
    Windows(WindowWeights),
    /// An image of the frame, and how many of its pixels are masked.
    Frame(Array2<f32>, usize),
}

pub(crate) struct WindowWeights {
    items: Items,
    /// The size of a window.
    size: Size,
    /// Windows read so far.
    done: AtomicUsize,
    /// Pixels with a weight of 0 or NaN so far.
    masked: AtomicUsize,
}

fn refused(weight: f32) -> bool {
    weight < 0.0 || weight.is_infinite()
}

fn masked(weights: &[f32]) -> usize {
    weights.iter().filter(|&&weight| weight.is_nan() || weight == 0.0).count()
}

impl WeightsFile {
    /// Opens the weights of `count` windows of a size.
    pub(crate) fn open(path: &Path, count: usize, size: Size) -> Result<Self, CliError> {
        let file = path.display().to_string();
        let (input, length) = Input::open(path)?;
        let mut reader = NpyReader::seekable(input, length).map_err(CliError::read(&file))?;
        match reader.header().shape[..] {
            [n, rows, columns] => {
                let (given, expected) = ((n, rows, columns), (count, size.height, size.width));
                if given != expected {
                    let error = ArgumentError::WeightsShape { given, expected };
                    return Err(CliError::file(&file, error.to_string()));
                }
                let (done, masked) = (AtomicUsize::new(0), AtomicUsize::new(0));
                let items = Items::new(reader, file);
                Ok(Self::Windows(WindowWeights { items, size, done, masked }))
            }
            [height, width] => {
                let limit = MovieLimits::default().frame_pixels;
                if height.saturating_mul(width) > limit {
                    let reason = format!(
                        "an image of {width}x{height} weights has more than {limit} pixels"
                    );
                    return Err(CliError::file(&file, reason));
                }
                let mut numbers = Vec::new();
                reader.read_f32(height, &mut numbers).map_err(CliError::read(&file))?;
                if let Some(at) = numbers.iter().position(|&weight| refused(weight)) {
                    let (x, y, weight) = (at % width, at / width, numbers[at]);
                    let reason = format!(
                        "the weight {weight} at column {x}, row {y} is not a finite number ≥ 0"
                    );
                    return Err(CliError::file(&file, reason));
                }
                let masked = masked(&numbers);
                let image = Array2::from_shape_vec((height, width), numbers)
                    .map_err(|error| CliError::file(&file, error.to_string()))?;
                Ok(Self::Frame(image, masked))
            }
            ref shape => {
                let reason = format!(
                    "weights are (n, height, width), or an image (height, width); this array is {shape:?}"
                );
                Err(CliError::file(&file, reason))
            }
        }
    }

    /// The size of the frame, if the weights are an image of it.
    pub(crate) fn frame(&self) -> Option<Size> {
        match self {
            Self::Windows(_) => None,
            Self::Frame(image, _) => Some(Size::new(image.dim().1, image.dim().0)),
        }
    }

    /// How many pixels of how many are masked: of the windows that were read, or of the image.
    pub(crate) fn masked(&self) -> (usize, usize) {
        match self {
            Self::Windows(windows) => {
                let so_far = |count: &AtomicUsize| count.load(Ordering::Relaxed);
                (so_far(&windows.masked), so_far(&windows.done) * windows.size.pixels())
            }
            Self::Frame(image, masked) => (*masked, image.len()),
        }
    }

    /// Reads the weights of the next windows, if each has its own and they come in turn.
    pub(crate) fn next(&self, count: usize, numbers: &mut Vec<f32>) -> Result<(), CliError> {
        match self {
            Self::Windows(windows) => windows.items.next(count, numbers),
            Self::Frame(..) => Ok(()),
        }
    }

    /// Reads the weights of windows, if each has its own, unless they were read in turn; and checks them.
    pub(crate) fn load(&self, span: Span, numbers: &mut Vec<f32>) -> Result<(), CliError> {
        match self {
            Self::Windows(windows) => windows.load(span, numbers),
            Self::Frame(..) => Ok(()),
        }
    }

    /// Windows with their weights, of which these were read.
    pub(crate) fn give<'a>(
        &'a self,
        numbers: &'a [f32],
        windows: AnyWindows<'a>,
    ) -> AnyWindows<'a> {
        let Size { width, height, .. } = windows.size();
        match self {
            Self::Frame(image, _) => windows.with_weights(Weights::Frame(image.view())),
            Self::Windows(_) => {
                let shape = (windows.count(), height, width);
                match ArrayView3::from_shape(shape, numbers) {
                    Ok(weights) => windows.with_weights(Weights::Windows(weights)),
                    // There are as many as were asked for.
                    Err(_) => windows,
                }
            }
        }
    }
}

impl WindowWeights {
    fn load(&self, span: Span, numbers: &mut Vec<f32>) -> Result<(), CliError> {
        let Self { items, size, .. } = self;
        items.load(span, numbers)?;
        if let Some(at) = numbers.iter().position(|&weight| refused(weight)) {
            let (spot, pixel) = (span.first + at / size.pixels(), at % size.pixels());
            let (x, y, weight) = (pixel % size.width, pixel / size.width, numbers[at]);
            let error = ArgumentError::Weight { spot, x, y, weight };
            return Err(CliError::file(items.file(), error.to_string()));
        }
        self.masked.fetch_add(masked(numbers), Ordering::Relaxed);
        self.done.fetch_add(span.count, Ordering::Relaxed);
        Ok(())
    }
}
