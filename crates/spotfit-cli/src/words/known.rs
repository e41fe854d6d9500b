//! What the files of `spotfit fit` say of pixels beside their values: weights, a camera map, and where windows lie.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use clap::Args;
use fit_core::{ArgumentError, Corner, Estimator, Size};
use spotfit::steps::fit::{Beside, Masked};
use spotfit::{AnyWindows, CameraMap, Start};

use crate::error::CliError;
use crate::words::corners::Corners;
use crate::words::items::{Items, Span};
use crate::words::weights::WeightsFile;

#[derive(Debug, Args)]
pub(crate) struct KnownArguments {
    /// Weights for least squares: an NPY file with an array (n, height, width), one for each pixel of each window, or
    /// (height, width), an image of the camera's frame, which needs --corners. A pixel with a weight of 0 or NaN is
    /// masked: fits ignore it.
    #[arg(help_heading = "Camera", long, value_name = "WEIGHTS.npy")]
    pub(crate) weights: Option<PathBuf>,
    /// The positions of the windows in the frame of --camera or of an image of weights: the first pixel of each window,
    /// from
    /// 0. A CSV file with columns x and y, as simulate --corners writes it, or an NPY file with an array (n, 2): x, y,
    /// or (n, 3): frame, x, y. The frame does not matter.
    #[arg(help_heading = "Camera", long, value_name = "CORNERS.csv|CORNERS.npy")]
    pub(crate) corners: Option<PathBuf>,
}

/// What is known of the pixels of a stack, on its way from files.
#[derive(Default)]
pub(crate) struct KnownFiles {
    map: Option<CameraMap>,
    weights: Option<WeightsFile>,
    corners: Option<Mutex<Corners>>,
    /// The size of the frame in which windows lie.
    frame: Option<Size>,
    /// The first window that nobody has taken.
    next: AtomicUsize,
}

/// What was read for some windows.
#[derive(Default)]
pub(crate) struct KnownPart {
    span: Span,
    weights: Vec<f32>,
    corners: Vec<Corner>,
    starts: Vec<f64>,
}

impl KnownFiles {
    /// Opens what is known of `count` windows of a size.
    pub(crate) fn open(
        arguments: &KnownArguments,
        map: Option<CameraMap>,
        estimator: Estimator,
        count: usize,
        size: Size,
    ) -> Result<Self, CliError> {
        let weights = match &arguments.weights {
            Some(_) if estimator == Estimator::MaximumLikelihood => {
                let reason = ArgumentError::WeightedLikelihood.to_string();
                return Err(CliError::file("--weights", reason));
            }
            Some(path) => Some(WeightsFile::open(path, count, size)?),
            None => None,
        };
        let (camera, image) =
            (map.as_ref().map(CameraMap::size), weights.as_ref().and_then(WeightsFile::frame));
        if let (Some(frame), Some(given)) = (camera, image)
            && frame != given
        {
            let error = ArgumentError::MapSize { what: "image of weights", given, frame };
            return Err(CliError::file("--weights", error.to_string()));
        }
        let frame = camera.or(image);
        let needs = if camera.is_some() { "--camera" } else { "--weights" };
        let corners = match (&arguments.corners, frame) {
            (Some(path), Some(_)) => Some(Mutex::new(Corners::open(path, count, size)?)),
            (None, None) => None,
            (None, Some(_)) => {
                let reason =
                    "give --corners, too: it says where in the camera's frame each window lies";
                return Err(CliError::file(needs, reason));
            }
            (Some(_), None) => {
                let reason = "it needs --camera, or --weights with an image of the camera's frame";
                return Err(CliError::file("--corners", reason));
            }
        };
        Ok(Self { map, weights, corners, frame, next: AtomicUsize::new(0) })
    }

    /// Takes the next windows, and reads what is known of them and comes in turn.
    pub(crate) fn next(&self, count: usize, part: &mut KnownPart) -> Result<(), CliError> {
        let Self { weights, corners, frame, next, .. } = self;
        part.span = Span { first: next.fetch_add(count, Ordering::Relaxed), count };
        if let Some(weights) = weights {
            weights.next(count, &mut part.weights)?;
        }
        if let Some((corners, frame)) = corners.as_ref().zip(*frame) {
            let mut corners = corners.lock().unwrap_or_else(PoisonError::into_inner);
            corners.read(count, frame, &mut part.corners)?;
        }
        Ok(())
    }

    /// Reads what else is known of windows that were taken.
    pub(crate) fn load(&self, part: &mut KnownPart) -> Result<(), CliError> {
        let Some(weights) = &self.weights else { return Ok(()) };
        weights.load(part.span, &mut part.weights)
    }

    /// Windows with what is known of them, of which a part was read.
    pub(crate) fn give<'a>(
        &'a self,
        part: &'a KnownPart,
        mut windows: AnyWindows<'a>,
    ) -> AnyWindows<'a> {
        if let Some(weights) = &self.weights {
            windows = weights.give(&part.weights, windows);
        }
        if self.corners.is_some() {
            windows = windows.with_corners(&part.corners);
        }
        match &self.map {
            Some(map) => windows.with_map(map),
            None => windows,
        }
    }

    /// Finds out whether all was read.
    pub(crate) fn finish(&mut self) -> Result<(), CliError> {
        let Some(corners) = &mut self.corners else { return Ok(()) };
        corners.get_mut().unwrap_or_else(PoisonError::into_inner).finish()
    }

    /// How many pixels no fit looked at.
    pub(crate) fn masked(&self) -> Vec<Masked> {
        let map = self.map.as_ref();
        let map = map.map(|map| Masked::new("camera map", map.masked(), map.size().pixels()));
        let weights = self.weights.as_ref().map(|weights| {
            let (masked, all) = weights.masked();
            Masked::new("weights", masked, all)
        });
        map.into_iter().chain(weights).collect()
    }
}

/// What windows come with besides their pixels: what is known of them, and where their fits start.
pub(crate) struct WithStarts<'a> {
    pub(crate) known: &'a KnownFiles,
    pub(crate) starts: Option<Items>,
}

impl Beside for WithStarts<'_> {
    type Part = KnownPart;
    type Error = CliError;

    fn next(&self, count: usize, part: &mut KnownPart) -> Result<(), CliError> {
        if let Some(starts) = &self.starts {
            starts.next(count, &mut part.starts)?;
        }
        self.known.next(count, part)
    }

    fn load(&self, part: &mut KnownPart) -> Result<(), CliError> {
        if let Some(starts) = &self.starts {
            starts.load(part.span, &mut part.starts)?;
        }
        self.known.load(part)
    }

    fn give<'a>(
        &'a self,
        part: &'a KnownPart,
        windows: AnyWindows<'a>,
    ) -> (AnyWindows<'a>, Start<'a>) {
        let start = match &self.starts {
            Some(_) => Start::F64(part.starts.as_chunks().0),
            None => Start::Estimate,
        };
        (self.known.give(part, windows), start)
    }
}
