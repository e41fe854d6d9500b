//! What stands for frames that a GPU searches, where there is no GPU.

use fit_core::Fit;
use fit_windows::AnyWindows;

use super::options::LocalizeOptions;
use super::outcome::LocalizeError;
use crate::backend::FitError;
use crate::detect::{Candidate, Detector};
use crate::fitter::Fitter;

/// There is none.
#[derive(Clone, Debug)]
pub(super) enum OnGpu {}

/// There are none.
#[derive(Debug)]
pub(super) enum Sent {}

impl OnGpu {
    pub(super) fn new(_: &Detector, _: &LocalizeOptions) -> Result<Option<Self>, LocalizeError> {
        Ok(None)
    }

    pub(super) fn ahead(&self) -> usize {
        match *self {}
    }

    pub(super) fn send(&self, _: AnyWindows<'_>) -> Result<Option<Sent>, LocalizeError> {
        match *self {}
    }
}
impl Sent {
    pub(super) fn candidates(
        &mut self,
        _: &Detector,
    ) -> Result<Vec<Option<Vec<Candidate>>>, LocalizeError> {
        match *self {}
    }

    pub(super) fn fit(
        &self,
        _: &Fitter,
        _: AnyWindows<'_>,
        _: &mut [Fit<f64>],
    ) -> Result<(), FitError> {
        match *self {}
    }
}
