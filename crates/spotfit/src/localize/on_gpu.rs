//! Frames that a GPU searches, if it can: sent there once, for their windows too.

use std::ops::Range;

use fit_core::{Fit, Pixel};
use fit_windows::{AnyWindows, Visitor, Windows};
use ndarray::{Axis, Slice};

use super::options::LocalizeOptions;
use super::outcome::LocalizeError;
use crate::backend::FitError;
use crate::detect::{Candidate, Detector};
use crate::fitter::Fitter;

#[cfg(feature = "gpu")]
pub(super) use with::{OnGpu, Sent};
#[cfg(not(feature = "gpu"))]
pub(super) use without::{OnGpu, Sent};

/// Frames of as many pixels are best sent together.
const TOGETHER: usize = 1 << 22;

/// Numbers of frames that are best sent together, of frames of so many pixels.
pub(super) fn parts(frames: usize, pixels: usize) -> impl Iterator<Item = Range<usize>> {
    let each = (TOGETHER / pixels.max(1)).max(1);
    (0..frames).step_by(each).map(move |first| first..(first + each).min(frames))
}

/// Some of the frames.
pub(super) struct Part(pub(super) Range<usize>);

impl<'w> Visitor<'w> for Part {
    type Output = AnyWindows<'w>;

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) -> AnyWindows<'w> {
        let mut frames = frames.frames();
        frames.slice_axis_inplace(Axis(0), Slice::from(self.0));
        Windows::stack(frames).into()
    }
}

#[cfg(feature = "gpu")]
mod with {
    use std::sync::Arc;

    use fit_core::Start;
    use fit_gpu::{FrameDetector, GpuError, SentFrames};

    use super::*;
    use crate::backend::Backend;

    /// What finds spots on the GPUs that fit them.
    #[derive(Clone, Debug)]
    pub(in super::super) struct OnGpu(Arc<FrameDetector>);

    /// Frames that were sent to one of them.
    #[derive(Debug)]
    pub(in super::super) struct Sent(SentFrames);

    impl OnGpu {
        /// If a GPU was asked for, and can search for what is asked for.
        pub(in super::super) fn new(
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
        pub(in super::super) fn ahead(&self) -> usize {
            self.0.devices()
        }

        /// Sends frames, and begins to search them; `None` if the GPU cannot, or has no memory for them.
        pub(in super::super) fn send(
            &self,
            frames: AnyWindows<'_>,
        ) -> Result<Option<Sent>, LocalizeError> {
            match self.0.send(frames) {
                Ok(sent) => Ok(sent.map(Sent)),
                Err(GpuError::OutOfMemory { .. }) => Ok(None),
                Err(error) => Err(FitError::from(error).into()),
            }
        }
    }

    impl Sent {
        /// The candidates of each frame; `None` where the processor has to look.
        pub(in super::super) fn candidates(
            &mut self,
            detector: &Detector,
        ) -> Result<Vec<Option<Vec<Candidate>>>, LocalizeError> {
            let found = self.0.found().map_err(FitError::from)?;
            Ok(found.iter().map(|found| detector.candidates(found)).collect())
        }

        /// Fits windows of the frames where they are.
        pub(in super::super) fn fit(
            &self,
            fitter: &Fitter,
            windows: AnyWindows<'_>,
            fits: &mut [Fit<f64>],
        ) -> Result<(), FitError> {
            fitter.fit_sent(windows, Start::Estimate, fits.into(), &self.0)
        }
    }
}

#[cfg(not(feature = "gpu"))]
mod without {
    use super::*;

    /// There is none.
    #[derive(Clone, Debug)]
    pub(in super::super) enum OnGpu {}

    /// There are none.
    #[derive(Debug)]
    pub(in super::super) enum Sent {}

    impl OnGpu {
        pub(in super::super) fn new(
            _: &Detector,
            _: &LocalizeOptions,
        ) -> Result<Option<Self>, LocalizeError> {
            Ok(None)
        }

        pub(in super::super) fn ahead(&self) -> usize {
            match *self {}
        }

        pub(in super::super) fn send(
            &self,
            _: AnyWindows<'_>,
        ) -> Result<Option<Sent>, LocalizeError> {
            match *self {}
        }
    }
    impl Sent {
        pub(in super::super) fn candidates(
            &mut self,
            _: &Detector,
        ) -> Result<Vec<Option<Vec<Candidate>>>, LocalizeError> {
            match *self {}
        }

        pub(in super::super) fn fit(
            &self,
            _: &Fitter,
            _: AnyWindows<'_>,
            _: &mut [Fit<f64>],
        ) -> Result<(), FitError> {
            match *self {}
        }
    }
}
