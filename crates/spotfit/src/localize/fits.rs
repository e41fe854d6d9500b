//! Fits of the windows that were cut: parts of them by a thread each, or all of them by a GPU.

use fit_core::{Errors, Fit, Size, Start};
use fit_windows::AnyWindows;
use spotfit_locs::private::of_all;

use super::found::Found;
use super::on_gpu::Sent;
use super::options::LocalizeOptions;
use super::outcome::LocalizeError;
use super::places::{Cut, Place};
use super::residuals::{self, Look, Residuals};
use super::searcher::Searcher;
use super::spot;
use super::temporal::Lit;
use crate::backend::Backend;

/// The most windows that a thread fits as one part.
const PART: usize = 512;

/// And the fewest: fewer do not fill its lanes well.
const LEAST: usize = 64;

impl Searcher {
    /// Fits the windows of some places, in their order.
    pub(super) fn found<'a>(
        &self,
        frames: AnyWindows<'a>,
        lit: Option<&Lit<'a>>,
        places: &[Place],
        sent: Option<&Sent>,
    ) -> Result<Vec<Found>, LocalizeError> {
        let pixels = places.iter().map(|place| place.side * place.side).sum();
        // A GPU takes all of them at once, and so does what shares them among threads by itself.
        if self.measured.is_some() || self.fitter.backend_for(pixels) == Backend::Gpu {
            return self.found_in_part(frames, lit, places, sent);
        }
        let part = (places.len() / (4 * self.pool.current_num_threads())).clamp(LEAST, PART);
        let parts: Vec<&[Place]> = places.chunks(part).collect();
        let found = |places: &&[Place]| self.found_in_part(frames, lit, places, sent);
        let found = self.pool.install(|| of_all(&parts, found));
        let found: Result<Vec<Vec<Found>>, LocalizeError> = found.into_iter().collect();
        Ok(found?.into_iter().flatten().collect())
    }

    /// The same with one thread.
    fn found_in_part<'a>(
        &self,
        frames: AnyWindows<'a>,
        lit: Option<&Lit<'a>>,
        places: &[Place],
        sent: Option<&Sent>,
    ) -> Result<Vec<Found>, LocalizeError> {
        let usual = self.found_of_side(frames, lit, places, self.options.box_size, sent)?;
        // Most frames have no others.
        if usual.len() == places.len() {
            return Ok(usual);
        }
        let mut usual = usual.into_iter();
        let mut narrow = self.found_of_side(frames, lit, places, self.narrow, sent)?.into_iter();
        let of_side = |place: &Place| match place.side == self.options.box_size {
            true => usual.next(),
            false => narrow.next(),
        };
        Ok(places.iter().filter_map(of_side).collect())
    }

    /// Fits the windows of one side, in their order.
    fn found_of_side<'a>(
        &self,
        frames: AnyWindows<'a>,
        lit: Option<&Lit<'a>>,
        places: &[Place],
        side: usize,
        sent: Option<&Sent>,
    ) -> Result<Vec<Found>, LocalizeError> {
        let mut room = self.rooms.enter();
        let corners = places.iter().filter(|place| place.side == side).map(|place| place.corner);
        room.corners.extend(corners);
        let size = Size::new(side, side);
        // As the light that is known has them, corners are of no frame.
        let cells = self.measured.as_ref().map(|own| own.cells(&room.corners, side));
        let (frames, map) = Lit::of(lit, frames, &mut room.corners, self.options.map.as_deref());
        let windows = frames.visit(Cut { size, corners: &room.corners, map });
        let found = match &self.measured {
            Some(measured) => {
                Ok(measured.fit(windows, cells.as_deref().unwrap_or_default(), &self.options)?)
            }
            None => self.fitted(windows, sent, &mut room.fits, &mut room.errors),
        };
        self.rooms.leave(room);
        found
    }

    /// Fits windows by Gaussians.
    fn fitted(
        &self,
        windows: AnyWindows<'_>,
        sent: Option<&Sent>,
        fits: &mut Vec<Fit<f64>>,
        errors: &mut Vec<Errors>,
    ) -> Result<Vec<Found>, LocalizeError> {
        fits.resize(windows.count(), Fit::invalid());
        errors.resize(windows.count(), Errors::unknown());
        match sent {
            Some(sent) => sent.fit(&self.fitter, windows, fits)?,
            None => {
                self.fitter.fit_windows(windows, Start::Estimate, fits.as_mut_slice().into())?;
            }
        }
        if !self.options.in_photons() {
            let camera = &self.options.camera;
            fits.iter_mut().for_each(|fit| *fit = spot::in_photons(fit, camera));
        }
        if let Some(judge) = &self.judge {
            judge.errors_into(windows, fits, errors)?;
        }
        let residuals = self.residuals(windows, fits);
        let (pixels, seen) = (windows.size().pixels(), residuals::seen(windows));
        let all = fits.iter().zip(&*errors).enumerate();
        let found = |(index, (fit, errors))| {
            let pixels = seen.as_ref().map_or(pixels, |seen| seen[index]);
            Found::of_fit(fit, errors, residuals.get(index), pixels, &self.options)
        };
        Ok(all.map(found).collect())
    }

    /// What the windows show of their fits, if somebody needs to know.
    fn residuals(&self, windows: AnyWindows<'_>, fits: &[Fit<f64>]) -> Vec<Residuals> {
        if !self.options.needs_residuals() {
            return Vec::new();
        }
        let LocalizeOptions { camera, saturation, fitter, .. } = &self.options;
        let saturation = saturation.or(residuals::most(&windows));
        let look = Look { fits, options: &fitter.fit, camera, saturation };
        self.pool.install(|| look.at(&windows))
    }
}
