//! Places and heights with a measured PSF.

use std::sync::Arc;

use fit_core::{Camera, Corner, Fit};
use fit_windows::AnyWindows;

use super::{TrackError, TrackOptions};
use crate::localize::counts::photons;
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
        let camera = self.camera;
        for (number, (fit, &height)) in fits.iter().zip(heights).enumerate() {
            let fit = fit.cast::<f64>();
            if !fit.status.is_converged() {
                self.found[number] = None;
                continue;
            }
            let Corner { x, y, .. } = corners[number];
            self.go_to([f64::from(x) + fit.x, f64::from(y) + fit.y]);
            photons(&windows, number, &camera, f64::INFINITY, self.follower.window());
            let near = self.follower.fit(start(&fit, height));
            self.found[number] = near.or_else(|| self.anywhere(&fit));
        }
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
