//! Pixels as photo-electrons, as `fit-crowd` takes them.

use std::ops::Range;

use fit_core::{Camera, Corner, Number, Pixel, Size};
use fit_crowd::{CrowdError, CrowdFrame, ReadVariance};
use fit_windows::{AnyWindows, CameraMap, NoteKind, Visitor, Windows};
use ndarray::{Array2, Array3, ArrayViewMut2, Axis};

use super::places::Cut;

use crate::raise::raise;

/// By how much the variance of light exceeds that of its photo-electrons.
pub(crate) fn excess(camera: &Camera) -> f64 {
    if camera.em_gain.is_some() { 2.0 } else { 1.0 }
}

/// The photons of a part of these windows (window, row, column); NaN where a pixel is masked.
pub(crate) fn photons(windows: AnyWindows<'_>, part: Range<usize>, camera: &Camera) -> Array3<f64> {
    windows.visit(Photons { camera, part, raise: false }).0
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
    let (photons, raised) = whole.visit(Photons { camera, part: 0..1, raise: true });
    (photons.index_axis_move(Axis(0), 0) + raised, raised)
}

/// Photons, and by how much the first window is to be raised if somebody asks.
struct Photons<'a> {
    camera: &'a Camera,
    part: Range<usize>,
    raise: bool,
}

impl<'w> Visitor<'w> for Photons<'_> {
    type Output = (Array3<f64>, f64);

    fn visit<P: Pixel>(self, windows: Windows<'w, P>) -> Self::Output {
        let Size { width, height } = windows.size();
        let mut all = Array3::zeros((self.part.len(), height, width));
        let mut electrons = Electrons::default();
        let of = |(mut to, number): (ArrayViewMut2<'_, f64>, usize)| {
            let photons = electrons.photons(&windows, number, self.camera);
            to.iter_mut().zip(photons).for_each(|(to, &photons)| *to = photons);
        };
        all.axis_iter_mut(Axis(0)).zip(self.part).for_each(of);
        (all, if self.raise { electrons.take(&windows, 0, self.camera) } else { 0.0 })
    }
}

/// The pixels of one frame or window.
#[derive(Debug, Default)]
pub(crate) struct Electrons {
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
    pub(crate) fn photons<P: Pixel>(
        &mut self,
        windows: &Windows<'_, P>,
        index: usize,
        camera: &Camera,
    ) -> &[f64] {
        let em_gain = camera.em_gain.unwrap_or(1.0);
        let Self { photons, variances, .. } = self;
        photons.clear();
        photons.extend(windows.window(index).map(|&pixel| f64::from_pixel(pixel)));
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
    pub(crate) fn take<P: Pixel>(
        &mut self,
        windows: &Windows<'_, P>,
        index: usize,
        camera: &Camera,
    ) -> f64 {
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

    /// Takes the pixels of a window above the offset of the camera.
    fn take_above<P: Pixel>(&mut self, windows: &Windows<'_, P>, index: usize, camera: &Camera) {
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
        let of = |&pixel: &P| ((f64::from_pixel(pixel) - baseline) * gain) as f32;
        for row in windows.window(index).rows() {
            match row.to_slice() {
                Some(row) => self.electrons.extend(row.iter().map(of)),
                None => self.electrons.extend(row.iter().map(of)),
            }
        }
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
