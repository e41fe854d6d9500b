//! One look at the windows of some beads: fits and their errors, on the calling thread and without allocation.

use std::sync::Arc;

use fit_core::{Corner, Errors, Fit, Parameter, Size, Start};
use fit_cpu::{InstructionSet, WindowFitter};
use fit_windows::{AnyWindows, CameraMap};

use super::deep::Deep;
use super::{FrameView, TrackError, TrackOptions};
use crate::astigmatism::find::{DepthStatus, Finder, SpotWidths};
use crate::psf::Followed;

/// A spot that was fitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sight {
    /// Where it is in the frame, in pixels, and its height in nanometres; NaN if that is not known.
    pub(super) place: [f64; 3],
    /// The squares of their standard errors; infinite if there is no height.
    pub(super) variance: [f64; 3],
    /// σx and σy in pixels, and the angle.
    pub(super) outline: [f64; 3],
    /// √(σxσy) in pixels and its relative error.
    pub(super) width: [f64; 2],
    /// Photo-electrons and their relative error.
    pub(super) photons: [f64; 2],
    /// ln of photons and width.
    pub(super) look: [f64; 2],
    /// χ² per degree of freedom.
    pub(super) goodness: f64,
    /// Whether a window around it would show it better.
    pub(super) aside: bool,
}

/// Windows, and room for what is found in them.
#[derive(Debug)]
pub(super) struct Look {
    frame: Size,
    size: Size,
    fitter: WindowFitter,
    map: Option<Arc<CameraMap>>,
    finder: Option<Arc<Finder>>,
    deep: Option<Deep>,
    beads: Vec<usize>,
    corners: Vec<Corner>,
    starts: Vec<[f64; 5]>,
    heights: Vec<f64>,
    fits: Vec<Fit<f32>>,
    errors: Vec<Errors>,
}

/// How near the centre of a spot may come to the outermost pixels of the frame.
const MARGIN: f64 = 1.5;

impl Look {
    /// Room for so many beads.
    pub(super) fn new(
        frame: Size,
        options: &TrackOptions,
        most: usize,
    ) -> Result<Self, TrackError> {
        let set = options.fitter.instruction_set;
        let set = set.map_or_else(InstructionSet::choose, Ok)?;
        let size = options.size();
        Ok(Self {
            frame,
            size,
            fitter: WindowFitter::new(set, size, &options.fit())?,
            map: options.map.clone(),
            finder: options.calibration.clone(),
            deep: Deep::new(options, most)?,
            beads: Vec::with_capacity(most),
            corners: Vec::with_capacity(most),
            starts: Vec::with_capacity(most),
            heights: Vec::with_capacity(most),
            fits: vec![Fit::invalid(); most],
            errors: vec![Errors::unknown(); most],
        })
    }

    /// Forgets what was to be looked at.
    pub(super) fn clear(&mut self) {
        self.beads.clear();
        self.corners.clear();
        self.starts.clear();
        self.heights.clear();
    }

    /// The corner of the window around a place; `None` for places at the edge or beyond.
    pub(super) fn corner(&self, place: [f64; 2]) -> Option<[usize; 2]> {
        let along = |at: f64, frame: usize, side: usize| {
            let inside = at >= MARGIN && at <= frame as f64 - 1.0 - MARGIN;
            let first = at.round() - (side / 2) as f64;
            inside.then(|| (first.max(0.0) as usize).min(frame - side))
        };
        let x = along(place[0], self.frame.width, self.size.width)?;
        Some([x, along(place[1], self.frame.height, self.size.height)?])
    }

    /// Adds a bead, which is expected at a place with an outline (σx, σy, angle) and a height (NaN if it is not known). False if its window
    /// is not within the frame.
    pub(super) fn add(
        &mut self,
        bead: usize,
        place: [f64; 2],
        outline: [f64; 3],
        height: f64,
    ) -> bool {
        let Some([x, y]) = self.corner(place) else { return false };
        let [sigma_x, sigma_y, angle] = outline;
        self.beads.push(bead);
        self.heights.push(height);
        self.corners.push(Corner { frame: 0, x: x as u32, y: y as u32 });
        self.starts.push([place[0] - x as f64, place[1] - y as f64, sigma_x, sigma_y, angle]);
        true
    }

    /// Fits all that were added; with `estimate`, from the paper's estimate.
    ///
    /// # Errors
    /// If the frame is not the one that this was made for.
    pub(super) fn run(&mut self, frame: FrameView<'_>, estimate: bool) -> Result<(), TrackError> {
        let Self { size, fitter, map, deep, beads, corners, starts, heights, fits, errors, .. } =
            self;
        let windows = frame.windows(*size, corners).ok_or_else(|| TrackError::pixels(frame))?;
        let windows: AnyWindows<'_> = match map {
            Some(map) => windows.with_map(map),
            None => windows,
        };
        let start = if estimate { Start::Estimate } else { Start::Outlines(starts) };
        let fits = &mut fits[..beads.len()];
        fitter.fit_windows(windows, start, (&mut *fits).into())?;
        fitter.errors_into(windows, fits, &mut errors[..beads.len()])?;
        if let Some(deep) = deep {
            deep.run(windows, corners, fits, heights);
        }
        Ok(())
    }

    /// How many were added.
    pub(super) fn count(&self) -> usize {
        self.beads.len()
    }

    /// Which bead was added under a number.
    pub(super) fn bead(&self, number: usize) -> usize {
        self.beads[number]
    }

    /// What was found in a window; `None` if there is no spot.
    pub(super) fn sight(&self, number: usize) -> Option<Sight> {
        use Parameter::{SigmaX, SigmaY, X, Y};
        let (fit, errors) = (self.fits[number].cast::<f64>(), &self.errors[number]);
        let corner = self.corners[number];
        let [width, height] = [self.size.width, self.size.height].map(|side| side as f64 - 0.5);
        let inside = fit.x > -0.5 && fit.y > -0.5 && fit.x < width && fit.y < height;
        if !fit.status.is_converged() || fit.amplitude <= 0.0 || errors.exploding || !inside {
            return None;
        }
        let covariance = |a, b| f64::from(errors.covariance(a, b));
        let [xx, yy] = [covariance(X, X), covariance(Y, Y)];
        let (xs, ys) = (covariance(SigmaX, SigmaX), covariance(SigmaY, SigmaY));
        let both = covariance(SigmaX, SigmaY);
        let (sigma_x, sigma_y) = (fit.sigma_x, fit.sigma_y);
        let spread = xs / (sigma_x * sigma_x) + ys / (sigma_y * sigma_y);
        let spread = (0.25 * (spread + 2.0 * both / (sigma_x * sigma_y))).max(0.0).sqrt();
        let place = [fit.x + f64::from(corner.x), fit.y + f64::from(corner.y)];
        let (photons, goodness) = (fit.signal(), f64::from(errors.goodness));
        let unsure = f64::from(errors.photons) / photons;
        let numbers = [xx, yy, spread, photons, unsure, goodness];
        if !numbers.iter().all(|number| number.is_finite()) || xx <= 0.0 || yy <= 0.0 {
            return None;
        }
        let (mut place, mut variance, mut goodness) = (place, [xx, yy, f64::INFINITY], goodness);
        let mut z = f64::NAN;
        if let Some(deep) = &self.deep {
            // Another model has another centre: without it there is no place.
            let Followed { parameters, errors, goodness: own } = *deep.found(number)?;
            place = [parameters[0] + f64::from(corner.x), parameters[1] + f64::from(corner.y)];
            variance = [0, 1, 2].map(|axis| errors[axis] * errors[axis]);
            (z, goodness) = (parameters[2], own);
        } else if let Some(finder) = &self.finder {
            let errors = [xs.sqrt(), ys.sqrt()];
            let correlation = both / (errors[0] * errors[1]);
            let depth = finder.find(&SpotWidths { sigma: [sigma_x, sigma_y], errors, correlation });
            if depth.status == DepthStatus::Found && depth.error > 0.0 {
                (z, variance[2]) = (depth.z, depth.error * depth.error);
            }
        }
        let best = self.corner(place);
        let aside = best.is_some_and(|[x, y]| {
            x.abs_diff(corner.x as usize).max(y.abs_diff(corner.y as usize)) > 1
        });
        let width = (sigma_x * sigma_y).sqrt();
        Some(Sight {
            place: [place[0], place[1], z],
            variance,
            outline: [sigma_x, sigma_y, fit.angle],
            width: [width, spread],
            look: [photons.ln(), width.ln()],
            photons: [photons, unsure],
            goodness,
            aside,
        })
    }
}
