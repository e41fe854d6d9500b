//! One frame, with all that one may want to know of it.

use std::ops::Range;

use fit_core::{Corner, Size};
use fit_windows::AnyWindows;

use super::electrons::photons;
use super::places::Cut;
use super::temporal::{self, Known, Temporal};
use super::watch::{Fate, Watch};
use super::{Localization, LocalizeError, LocalizeOptions, Localizer};
use crate::detect::Response;
use crate::psf::Misfit;

/// What was found in a frame.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    pub(crate) spots: Vec<Localization>,
    pub(crate) fates: Vec<Fate>,
    /// The maxima of the filtered frame; none where no detector has searched it.
    pub(crate) responses: Vec<Response>,
    /// What is known of the light of the frame.
    known: Option<Known>,
}

/// Frames that tell the background of one of them over time.
#[derive(Debug)]
pub(crate) struct Surroundings(Temporal);

impl Surroundings {
    /// Which frames of a movie are needed for one of them, with windows of so many frames.
    pub(crate) fn needed(window: usize, frame: usize, all: Range<usize>) -> Range<usize> {
        temporal::around(window, frame, all)
    }
}

impl Localizer {
    /// The same, which tells what becomes of every candidate. The processor detects: bit by bit as a GPU does.
    pub(crate) fn watched(mut self) -> Self {
        let searcher = self.searcher_mut();
        searcher.detector = searcher.detector.clone().heard();
        searcher.on_gpu = None;
        self.watch = Some(Box::default());
        self
    }

    /// What it goes by.
    pub(crate) fn options(&self) -> &LocalizeOptions {
        &self.searcher.options
    }

    /// The width that spots share, once it is known.
    pub(crate) fn usual_sigma(&self) -> Option<f64> {
        self.searcher.options.usual_sigma
    }

    /// How spots differ from Gaussians, once it is known.
    pub(crate) fn misfit(&self) -> Option<&Misfit> {
        self.searcher.options.misfit.as_ref()
    }

    /// The background over time by these frames, of which the first has this number.
    pub(crate) fn surroundings(
        &self,
        first: usize,
        frames: AnyWindows<'_>,
    ) -> Result<Option<Surroundings>, LocalizeError> {
        let Some(window) = self.searcher.options.temporal_background else { return Ok(None) };
        let mut temporal = Temporal::new(window, self.searcher.size);
        temporal.push(first, frames, &self.searcher.pool)?;
        temporal.end(&self.searcher.pool)?;
        Ok(Some(Surroundings(temporal)))
    }

    /// Localizes a frame with this number; where the background is known over time, by its surroundings.
    pub(crate) fn look(
        &mut self,
        number: usize,
        frame: AnyWindows<'_>,
        around: Option<&Surroundings>,
    ) -> Result<Looked, LocalizeError> {
        let (spots, known) = match around.zip(self.searcher.options.map.clone()) {
            Some((Surroundings(temporal), map)) => {
                let range = number..number + 1;
                let known = temporal.known(
                    &range,
                    &self.searcher.options.camera,
                    &map,
                    &self.searcher.pool,
                )?;
                let spots = match temporal.frames(&range, &known) {
                    Some((frames, lit)) => {
                        self.timed(|localizer| localizer.search(number, frames, Some(&lit), None))?
                    }
                    None => Vec::new(),
                };
                (spots, Some(known))
            }
            None => (self.process_frames(number, frame)?, None),
        };
        let Watch { fates, .. } = self.watch.as_deref_mut().map(std::mem::take).unwrap_or_default();
        Ok(Looked { spots, fates, responses: self.searcher.detector.take_heard(), known })
    }
}

/// The pixels of a window in photons, as fits see them; with what is known of their light. NaN where a pixel is masked.
pub(crate) fn photons_of(
    frame: AnyWindows<'_>,
    options: &LocalizeOptions,
    looked: &Looked,
    [x, y]: [u32; 2],
    size: Size,
) -> Vec<f64> {
    let corners = [Corner { frame: 0, x, y }];
    let map = match &looked.known {
        Some(known) => Some(known.map()),
        None => options.map.as_deref(),
    };
    let windows = frame.visit(Cut { size, corners: &corners, map });
    let mut photons = photons(windows, 0..1, &options.camera).into_raw_vec_and_offset().0;
    if let Some(known) = &looked.known {
        let places = (0..size.pixels()).map(|at| (at % size.width, at / size.width));
        for (photons, (column, row)) in photons.iter_mut().zip(places) {
            *photons += known.at(0, f64::from(x) + column as f64, f64::from(y) + row as f64);
        }
    }
    photons
}

impl Looked {
    /// What is known of the light of a pixel, in photons, besides what is fitted.
    pub(crate) fn known_at(&self, x: f64, y: f64) -> f64 {
        self.known.as_ref().map_or(0.0, |known| known.at(0, x, y))
    }
}
