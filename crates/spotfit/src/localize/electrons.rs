//! Pixels as photo-electrons, as `fit-crowd` takes them.

use fit_core::{Camera, Number, Pixel};
use fit_crowd::{CrowdError, CrowdFrame, ReadVariance};
use fit_windows::{CameraMap, NoteKind, Windows};

/// By how much the variance of light exceeds that of its photo-electrons.
pub(crate) fn excess(camera: &Camera) -> f64 {
    if camera.em_gain.is_some() { 2.0 } else { 1.0 }
}

/// The pixels of one frame or window.
#[derive(Debug, Default)]
pub(crate) struct Electrons {
    /// Counts, and then photons of each pixel; NaN where it is masked.
    pub(crate) photons: Vec<f64>,
    variances: Vec<f64>,
    /// Photo-electrons and variances without the noise of EM gain.
    electrons: Vec<f32>,
    read_variances: Vec<f32>,
}

impl Electrons {
    /// Takes the counts of a window.
    pub(crate) fn take<P: Pixel>(&mut self, windows: &Windows<'_, P>, index: usize) {
        self.photons.clear();
        self.photons.extend(windows.window(index).map(|&pixel| f64::from_pixel(pixel)));
    }

    /// Makes photons of the counts that were taken of the same window.
    pub(crate) fn convert<P: Pixel>(
        &mut self,
        windows: &Windows<'_, P>,
        index: usize,
        camera: &Camera,
    ) {
        let excess = excess(camera);
        let em_gain = camera.em_gain.unwrap_or(1.0);
        let Self { photons, variances, electrons, read_variances } = self;
        variances.clear();
        variances.resize(photons.len(), (camera.read_noise / em_gain).powi(2));
        if windows.side_data().is_mapped() {
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
        electrons.clear();
        electrons.extend(photons.iter().map(|photons| (photons / excess) as f32));
        read_variances.clear();
        read_variances.extend(variances.iter().map(|variance| (variance / excess.powi(2)) as f32));
    }

    /// The frame of a finder.
    pub(crate) fn frame(&self, width: usize, height: usize) -> Result<CrowdFrame<'_>, CrowdError> {
        let variances = ReadVariance::Each(&self.read_variances);
        CrowdFrame::new(width, height, &self.electrons, variances)
    }
}
