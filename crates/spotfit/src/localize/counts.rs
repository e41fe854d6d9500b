//! What the pixels of a window are, of whatever type they are.

use fit_core::{Camera, Number, Pixel};
use fit_windows::{AnyWindows, NoteKind, Visitor, Windows};

use super::residuals::is_saturated;

/// Takes the counts of a window.
pub(crate) fn counts(windows: &AnyWindows<'_>, index: usize, to: &mut [f64]) {
    windows.visit(Counts { index, to });
}

struct Counts<'a> {
    index: usize,
    to: &'a mut [f64],
}

impl<'w> Visitor<'w> for Counts<'_> {
    type Output = ();

    fn visit<P: Pixel>(self, windows: Windows<'w, P>) {
        let window = windows.window(self.index);
        let rows = self.to.chunks_exact_mut(window.ncols().max(1)).zip(window.rows());
        let take = |(to, &pixel): (&mut f64, &P)| *to = f64::from_pixel(pixel);
        rows.for_each(|(to, row)| match row.to_slice() {
            Some(row) => to.iter_mut().zip(row).for_each(take),
            None => to.iter_mut().zip(row).for_each(take),
        });
    }
}

/// Takes the photons of a window, and the variances of their read noise; true if a pixel has so many counts that it is saturated.
pub(crate) fn photons(
    windows: &AnyWindows<'_>,
    index: usize,
    camera: &Camera,
    limit: f64,
    [photons, variances]: [&mut [f64]; 2],
) -> bool {
    let em_gain = camera.em_gain.unwrap_or(1.0);
    counts(windows, index, photons);
    if windows.side_data().is_mapped() {
        windows.notes(index, NoteKind::Variances, variances, em_gain);
        let saturated = is_saturated(photons, variances, limit);
        windows.convert(index, photons, em_gain);
        return saturated;
    }
    let saturated = photons.iter().any(|&count| count >= limit);
    let gain = camera.photons_per_adu();
    photons.iter_mut().for_each(|count| *count = (*count - camera.baseline) * gain);
    variances.fill((camera.read_noise / em_gain).powi(2));
    saturated
}
