//! Places and heights with a measured PSF.

use std::sync::Arc;

use fit_core::{Camera, Corner, Fit, Number, Pixel};
use fit_windows::{AnyWindows, NoteKind, Visitor, Windows};

use super::{TrackError, TrackOptions};
use crate::psf::{Followed, Psf, PsfFollower};

/// Fits with a PSF after those of a shape.
#[derive(Debug)]
pub(super) struct Deep {
    follower: PsfFollower,
    psf: Arc<Psf>,
    /// The cell of the frame whose PSF the follower has, where the PSF varies, and those that were used before, with theirs.
    cell: usize,
    others: Vec<(usize, Psf)>,
    camera: Camera,
    found: Vec<Option<Followed>>,
}

impl Deep {
    /// Room for so many beads; `None` if there is no PSF.
    pub(super) fn new(options: &TrackOptions, most: usize) -> Result<Option<Self>, TrackError> {
        let Some(psf) = &options.psf else { return Ok(None) };
        let camera = options.camera;
        let excess = if camera.em_gain.is_some() { 2.0 } else { 1.0 };
        let follower = PsfFollower::new(psf, options.size(), excess)?;
        let (psf, others) = (Arc::clone(psf), Vec::new());
        let (cell, found) = (usize::MAX, vec![None; most]);
        Ok(Some(Self { follower, psf, cell, others, camera, found }))
    }

    /// Fits windows with these corners from their fits, and from the heights of the spots; NaN for one that is not known.
    pub(super) fn run(
        &mut self,
        windows: AnyWindows<'_>,
        corners: &[Corner],
        fits: &[Fit<f32>],
        heights: &[f64],
    ) {
        windows.visit(Follow { deep: self, corners, fits, heights });
    }

    /// Takes the PSF at a place of the frame, if it varies. Only the first time that takes memory.
    fn go_to(&mut self, place: [f64; 2]) {
        let cell = self.psf.cell_at(place);
        if self.psf.field().is_none() || cell == self.cell {
            return;
        }
        let known = self.others.iter().position(|(own, _)| *own == cell);
        let local = match known {
            Some(at) => self.others.swap_remove(at).1,
            None => self.psf.in_cell(cell),
        };
        let before = self.follower.exchange(local);
        self.others.push((self.cell, before));
        self.cell = cell;
    }

    /// What was found in a window.
    pub(super) fn found(&self, window: usize) -> Option<&Followed> {
        self.found[window].as_ref()
    }

    /// Fits the window that was filled in, from any height.
    fn anywhere(&mut self, fit: &Fit<f64>) -> Option<Followed> {
        let mut best: Option<Followed> = None;
        for height in self.follower.heights() {
            let found = self.follower.fit(start(fit, height));
            if let Some(found) = found
                && best.is_none_or(|best| found.goodness < best.goodness)
            {
                best = Some(found);
            }
        }
        best
    }
}

fn start(fit: &Fit<f64>, height: f64) -> [f64; 5] {
    [fit.x, fit.y, height, fit.signal(), fit.background.max(0.0)]
}

struct Follow<'a> {
    deep: &'a mut Deep,
    corners: &'a [Corner],
    fits: &'a [Fit<f32>],
    heights: &'a [f64],
}

impl<'w> Visitor<'w> for Follow<'_> {
    type Output = ();

    fn visit<P: Pixel>(self, windows: Windows<'w, P>) {
        let Self { deep, corners, fits, heights } = self;
        let camera = deep.camera;
        let em_gain = camera.em_gain.unwrap_or(1.0);
        let mapped = windows.side_data().is_mapped();
        for (number, (fit, &height)) in fits.iter().zip(heights).enumerate() {
            let fit = fit.cast::<f64>();
            if !fit.status.is_converged() {
                deep.found[number] = None;
                continue;
            }
            let Corner { x, y, .. } = corners[number];
            deep.go_to([f64::from(x) + fit.x, f64::from(y) + fit.y]);
            let [photons, read] = deep.follower.window();
            for (to, &pixel) in photons.iter_mut().zip(windows.window(number)) {
                *to = f64::from_pixel(pixel);
            }
            if mapped {
                windows.notes(number, NoteKind::Variances, read, em_gain);
                windows.convert(number, photons, em_gain);
            } else {
                let gain = camera.photons_per_adu();
                photons.iter_mut().for_each(|value| *value = (*value - camera.baseline) * gain);
                read.fill((camera.read_noise / em_gain).powi(2));
            }
            let near = deep.follower.fit(start(&fit, height));
            deep.found[number] = near.or_else(|| deep.anywhere(&fit));
        }
    }
}
