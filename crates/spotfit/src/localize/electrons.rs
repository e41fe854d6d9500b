//! Pixels as photo-electrons, as `fit-crowd` takes them.

use std::ops::Range;

use fit_core::{Camera, Corner, Size};
use fit_crowd::{CrowdError, CrowdFrame, ReadVariance};
use fit_windows::{AnyWindows, CameraMap, NoteKind};
use ndarray::{Array2, Array3, Axis};

use super::counts::counts;
use super::places::Cut;
use crate::raise::raise;

/// By how much the variance of light exceeds that of its photo-electrons.
pub(crate) fn excess(camera: &Camera) -> f64 {
    if camera.em_gain.is_some() { 2.0 } else { 1.0 }
}

/// The photons of a part of these windows (window, row, column); NaN where a pixel is masked.
pub(crate) fn photons(windows: AnyWindows<'_>, part: Range<usize>, camera: &Camera) -> Array3<f64> {
    let Size { width, height } = windows.size();
    let mut all = Array3::zeros((part.len(), height, width));
    let mut electrons = Electrons::default();
    for (mut to, number) in all.axis_iter_mut(Axis(0)).zip(part) {
        let photons = electrons.photons(&windows, number, camera);
        to.iter_mut().zip(photons).for_each(|(to, &photons)| *to = photons);
    }
    all
}

/// The photons of one of these frames, raised as far as a fit raises them ([`Electrons::take`]), and by how much that is.
pub(crate) fn photons_of_frame(
    frames: AnyWindows<'_>,
    frame: usize,
    camera: &Camera,
    map: Option<&CameraMap>,
) -> (Array2<f64>, f64) {
    let (_, height, width) = frames.frames();
    let corners = [Corner { frame: frame as u32, x: 0, y: 0 }];
    let size = Size::new(width, height);
    let whole = frames.visit(Cut { size, corners: &corners, map });
    let photons = photons(whole, 0..1, camera);
    let raised = Electrons::default().take(&whole, 0, camera);
    (photons.index_axis_move(Axis(0), 0) + raised, raised)
}

/// The pixels of one frame or window.
#[derive(Debug, Default)]
pub(crate) struct Electrons {
    counts: Vec<f64>,
    photons: Vec<f64>,
    variances: Vec<f64>,
    /// Photo-electrons without the noise of EM gain; NaN where a pixel is masked.
    electrons: Vec<f32>,
    /// The variance of each pixel without that noise, if they differ, and otherwise that of all.
    read_variances: Vec<f32>,
    read_variance: f32,
}

impl Electrons {
    /// The photons of a window; NaN where a pixel is masked.
    pub(crate) fn photons(
        &mut self,
        windows: &AnyWindows<'_>,
        index: usize,
        camera: &Camera,
    ) -> &[f64] {
        let em_gain = camera.em_gain.unwrap_or(1.0);
        self.count(windows, index);
        let Self { counts, photons, variances, .. } = self;
        photons.clone_from(counts);
        if windows.side_data().is_mapped() {
            variances.clear();
            variances.resize(photons.len(), (camera.read_noise / em_gain).powi(2));
            windows.convert(index, photons, em_gain);
            windows.notes(index, NoteKind::Variances, variances, em_gain);
            for (photons, variance) in photons.iter_mut().zip(&mut *variances) {
                if *variance >= f64::from(CameraMap::MASKED) {
                    (*photons, *variance) = (f64::NAN, 0.0);
                }
            }
        } else {
            let gain = camera.photons_per_adu();
            photons.iter_mut().for_each(|pixel| *pixel = (*pixel - camera.baseline) * gain);
        }
        photons
    }

    /// Takes the pixels of a window; returns by how many photons they are raised above the offset of the camera, because that leaves
    /// pixels that cannot be photons.
    pub(crate) fn take(&mut self, windows: &AnyWindows<'_>, index: usize, camera: &Camera) -> f64 {
        self.take_above(windows, index, camera);
        let excess = excess(camera);
        let mapped = windows.side_data().is_mapped();
        let unit = if mapped { 1.0 } else { camera.photons_per_adu() } / excess;
        let read = |at: usize| match self.read_variances.get(at) {
            _ if !self.electrons[at].is_finite() => None,
            Some(read) => Some(f64::from(*read)),
            None => Some(self.read_variance.into()),
        };
        let raised = raise(&self.electrons, windows.size().width, read, 1.0, unit);
        if raised > 0.0 {
            self.electrons.iter_mut().for_each(|electrons| *electrons += raised as f32);
        }
        raised * excess
    }

    fn count(&mut self, windows: &AnyWindows<'_>, index: usize) {
        self.counts.resize(windows.size().pixels(), 0.0);
        counts(windows, index, &mut self.counts);
    }

    /// Takes the pixels of a window above the offset of the camera.
    fn take_above(&mut self, windows: &AnyWindows<'_>, index: usize, camera: &Camera) {
        let excess = excess(camera);
        self.electrons.clear();
        self.read_variances.clear();
        if windows.side_data().is_mapped() {
            self.photons(windows, index, camera);
            let Self { photons, variances, electrons, read_variances, .. } = self;
            electrons.extend(photons.iter().map(|photons| (photons / excess) as f32));
            let variances = variances.iter();
            read_variances.extend(variances.map(|variance| (variance / excess.powi(2)) as f32));
            return;
        }
        let em_gain = camera.em_gain.unwrap_or(1.0);
        let variance = (camera.read_noise / em_gain).powi(2);
        self.read_variance = (variance / excess.powi(2)) as f32;
        let (baseline, gain) = (camera.baseline, camera.photons_per_adu() / excess);
        self.count(windows, index);
        let of = |count: &f64| ((count - baseline) * gain) as f32;
        self.electrons.extend(self.counts.iter().map(of));
    }

    /// The counts of a pixel that was taken.
    pub(crate) fn counts(&self, at: usize) -> f64 {
        self.counts[at]
    }

    /// The photo-electrons of a pixel that was taken, without the noise of EM gain.
    pub(crate) fn electrons(&self, at: usize) -> f64 {
        self.electrons[at].into()
    }

    /// What was taken, for a finder.
    pub(crate) fn frame(&self, width: usize, height: usize) -> Result<CrowdFrame<'_>, CrowdError> {
        let variances = if self.read_variances.is_empty() {
            ReadVariance::Same(self.read_variance)
        } else {
            ReadVariance::Each(&self.read_variances)
        };
        CrowdFrame::new(width, height, &self.electrons, variances)
    }
}
