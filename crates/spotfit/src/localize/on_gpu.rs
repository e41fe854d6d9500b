//! Frames that a GPU searches, if it can: sent there once, for their windows too.

use std::sync::Arc;

use fit_core::{Fit, Start};
use fit_gpu::{FrameDetector, GpuError, SentFrames};
use fit_windows::AnyWindows;

use super::options::LocalizeOptions;
use super::outcome::LocalizeError;
use crate::backend::{Backend, FitError};
use crate::detect::{Candidate, Detector};
use crate::fitter::Fitter;

/// What finds spots on the GPUs that fit them.
#[derive(Clone, Debug)]
pub(super) struct OnGpu(Arc<FrameDetector>);

/// Frames that were sent to one of them.
#[derive(Debug)]
pub(super) struct Sent(SentFrames);

impl OnGpu {
    /// If a GPU was asked for, and can search for what is asked for.
    pub(super) fn new(
        detector: &Detector,
        options: &LocalizeOptions,
    ) -> Result<Option<Self>, LocalizeError> {
        let alone = !options.emitters.are_together() && options.positions.is_none();
        if options.fitter.backend != Backend::Gpu || !alone {
            return Ok(None);
        }
        let Some(detection) = detector.on_device() else { return Ok(None) };
        let made = FrameDetector::new(&options.fitter.devices, &detection);
        Ok(Some(Self(made.map_err(FitError::from)?.into())))
    }

    /// How many searches are best begun before the first one is asked for.
    pub(super) fn ahead(&self) -> usize {
        self.0.devices()
    }

    /// Sends frames, and begins to search them; `None` if the GPU cannot, or has no memory for them.
    pub(super) fn send(&self, frames: AnyWindows<'_>) -> Result<Option<Sent>, LocalizeError> {
        match self.0.send(frames) {
            Ok(sent) => Ok(sent.map(Sent)),
            Err(GpuError::OutOfMemory { .. }) => Ok(None),
            Err(error) => Err(FitError::from(error).into()),
        }
    }
}

impl Sent {
    /// The candidates of each frame; `None` where the processor has to look.
    pub(super) fn candidates(
        &mut self,
        detector: &Detector,
    ) -> Result<Vec<Option<Vec<Candidate>>>, LocalizeError> {
        let found = self.0.found().map_err(FitError::from)?;
        Ok(found.iter().map(|found| detector.candidates(found)).collect())
    }

    /// Fits windows of the frames where they are.
    pub(super) fn fit(
        &self,
        fitter: &Fitter,
        windows: AnyWindows<'_>,
        fits: &mut [Fit<f64>],
    ) -> Result<(), FitError> {
        fitter.fit_sent(windows, Start::Estimate, fits.into(), &self.0)
    }
}
