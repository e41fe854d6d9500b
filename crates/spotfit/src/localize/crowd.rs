//! Frames in which spots overlap: all spots of a frame are found and fitted together.

use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use fit_core::spot::axis::GaussianAxis;
use fit_core::{Camera, Corner, PixelProfile, Shape, Size, Status};
use fit_crowd::{CrowdError, CrowdFinder, CrowdOptions, Emitter, EmitterImage, WindowLimit};
use fit_windows::{AnyWindows, CameraMap};
use rayon::prelude::*;

use super::electrons::{Electrons, excess};
use super::emitters::Sigma;
use super::found::{Found, Seen};
use super::options::LocalizeOptions;
use super::places::{Cut, Place};
use super::residuals;
use super::spot::{Localization, SpotErrors, deviation};
use super::temporal::Lit;
use super::{LocalizeError, Roi};
use crate::astigmatism::find::{Depth, DepthStatus, Finder};
use crate::psf::Psf;

/// Spots outside the region shine into it: so many pixels around it are fitted with it.
const MARGIN: usize = 12;
/// The width of an ordinary spot, where nothing is known of it, in pixels.
pub(super) const ORDINARY: f64 = 1.3;
/// Light farther from a spot than so many sigma does not count.
const REACH: f64 = 4.0;

/// Finds the spots of frames of one size.
#[derive(Debug)]
pub(super) struct Crowd {
    options: CrowdOptions,
    /// The part of the frames that is fitted.
    fitted: Roi,
    /// The part of the frames from which localizations come.
    wanted: Roi,
    box_size: usize,
    profile: PixelProfile,
    calibration: Option<Arc<Finder>>,
    psf: Option<Arc<Psf>>,
    /// That of each cell of the frame, once it is wanted.
    locals: Vec<OnceLock<Psf>>,
    camera: Camera,
    saturation: Option<f64>,
    /// Whether localizations have the errors of all their numbers.
    errors: bool,
    /// Finders that no thread uses at the moment.
    finders: Mutex<Vec<CrowdFinder>>,
}

impl Crowd {
    /// For frames of `width`·`height` pixels, of which a region is wanted.
    pub(super) fn new(
        (width, height): (usize, usize),
        wanted: Roi,
        options: &LocalizeOptions,
    ) -> Result<Self, LocalizeError> {
        let around = |start: usize, length: usize, end: usize| {
            let first = start.saturating_sub(MARGIN);
            (first, (start + length + MARGIN).min(end) - first)
        };
        let (x, columns) = around(wanted.x, wanted.width, width);
        let (y, rows) = around(wanted.y, wanted.height, height);
        let fitted = Roi { x, y, width: columns, height: rows };
        let profile = options.fitter.fit.profile;
        let crowd = CrowdOptions::default()
            .with_shape(shape_of(options, [x, y])?)
            .with_integrated(profile == PixelProfile::Integrated)
            .with_false_rate(options.false_rate)
            .with_misfit(match &options.psf {
                Some(psf) => psf.misfit().cloned(),
                None => options.misfit.clone(),
            })
            .with_window(options.emitters.most().map(|most| {
                let side = options.box_size as f64;
                WindowLimit { most, side }
            }));
        let crowd = Self {
            options: crowd,
            fitted,
            wanted,
            box_size: options.box_size,
            profile,
            calibration: options.calibration.clone(),
            psf: options.psf.clone(),
            locals: vec![OnceLock::new(); options.psf.as_ref().map_or(0, |psf| psf.cells())],
            camera: options.camera,
            saturation: options.saturation,
            errors: options.errors,
            finders: Mutex::default(),
        };
        // What is wrong with the options is said before there is a frame.
        let finder = crowd.finder()?;
        crowd.give_back(finder);
        Ok(crowd)
    }

    /// The spots of each frame of a block, from top to bottom, with where they lie in it; of frames whose light is known, where those are
    /// given below each other as one.
    pub(super) fn find<'a>(
        &self,
        frames: AnyWindows<'a>,
        map: Option<&CameraMap>,
        lit: Option<&Lit<'a>>,
        pool: &rayon::ThreadPool,
    ) -> Result<Vec<(Place, Found)>, LocalizeError> {
        let (count, ..) = frames.frames();
        let Roi { x, y, width, height } = self.fitted;
        let corner = |frame| Corner { frame: frame as u32, x: x as u32, y: y as u32 };
        let mut corners: Vec<Corner> = (0..count).map(corner).collect();
        let (frames, map) = Lit::of(lit, frames, &mut corners, map);
        let size = Size::new(width, height);
        let saturation = self.saturation.or(residuals::most(&frames));
        let windows = frames.visit(Cut { size, corners: &corners, map });
        let found: Result<Vec<_>, CrowdError> =
            pool.install(|| InFrames { crowd: self, saturation }.all(&windows));
        Ok(found?.into_iter().flatten().collect())
    }

    /// A finder that is free, or a new one.
    fn finder(&self) -> Result<CrowdFinder, CrowdError> {
        let free = self.finders.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match free {
            Some(finder) => Ok(finder),
            None => CrowdFinder::new(self.fitted.width, self.fitted.height, &self.options),
        }
    }

    fn give_back(&self, finder: CrowdFinder) {
        self.finders.lock().unwrap_or_else(PoisonError::into_inner).push(finder);
    }

    /// The PSF at the place of an emitter.
    fn local<'a>(&'a self, psf: &'a Psf, emitter: &Emitter) -> &'a Psf {
        let Roi { x, y, .. } = self.fitted;
        let cell = psf.cell_at([emitter.x + x as f64, emitter.y + y as f64]);
        let known = self.locals.get(cell).filter(|_| psf.field().is_some());
        known.map_or(psf, |local| local.get_or_init(|| psf.in_cell(cell)))
    }

    fn excess(&self) -> f64 {
        excess(&self.camera)
    }

    /// How many parameters a spot has. Its background is that of the frame: the pixels of a box hardly change it.
    fn parameters(&self) -> usize {
        let third = self.psf.as_ref().is_some_and(|psf| !psf.is_single())
            || self.calibration.is_some()
            || matches!(self.options.shape, EmitterImage::Free { .. });
        3 + usize::from(third)
    }

    /// The height of a spot, if it has one. `residual` is by how many standard deviations the residuals exceed the noise.
    fn depth(&self, emitter: &Emitter, residual: f64) -> Option<Depth> {
        let (range, scale) = match (&self.psf, &self.calibration) {
            (Some(psf), _) if psf.is_single() => ([f64::NEG_INFINITY, f64::INFINITY], 1.0),
            (Some(psf), _) => (psf.range(), 1.0),
            (None, Some(finder)) => (finder.curve().range(), finder.curve().magnification()),
            (None, None) => return None,
        };
        let status = match emitter.z {
            z if z <= range[0] => DepthStatus::Below,
            z if z >= range[1] => DepthStatus::Above,
            _ => DepthStatus::Found,
        };
        let (z, error) = (emitter.z * scale, emitter.errors.z * scale);
        Some(Depth { z, error, distance: residual, status })
    }

    /// The standard errors of the widths: those that are fitted, or follow from the height.
    fn width_errors(&self, emitter: &Emitter) -> [f64; 2] {
        match (&self.psf, &self.calibration) {
            (Some(_), _) => [f64::NAN; 2],
            (None, Some(finder)) => finder
                .curve()
                .derivatives(emitter.z)
                .map(|[_, slope, _]| slope.abs() * emitter.errors.z),
            (None, None) => [emitter.errors.sigma; 2],
        }
    }

    /// Whether a spot is one of those wanted, and where it lies in the frame.
    fn placed(&self, emitter: &Emitter) -> Option<(f64, f64)> {
        let (x, y) = (emitter.x + self.fitted.x as f64, emitter.y + self.fitted.y as f64);
        self.wanted.holds(x, y).then_some((x, y))
    }
}

/// The shape of the spots that these options say, in a part of the frame that begins at this column and row;
/// [`LocalizeOptions::knows_sigma`].
pub(super) fn shape_of(
    options: &LocalizeOptions,
    origin: [usize; 2],
) -> Result<EmitterImage, CrowdError> {
    if let Some(psf) = &options.psf {
        return Ok(EmitterImage::Measured(psf.image(origin)?));
    }
    if let Some(calibration) = &options.calibration {
        return Ok(EmitterImage::Astigmatic(calibration.curve().by_height()?));
    }
    let usual = options.usual_sigma.unwrap_or(ORDINARY);
    Ok(match (options.fitter.fit.shape, options.sigma) {
        (Shape::FixedSigma(fixed), _) => EmitterImage::Fixed(fixed.sigma),
        (Shape::FixedSigmas(fixed), _) => EmitterImage::FixedAxes([fixed.sigma_x, fixed.sigma_y]),
        (_, Sigma::Shared) => EmitterImage::Fixed(usual),
        (_, Sigma::Free) => EmitterImage::Free { start: usual },
    })
}

/// A frame's memory.
#[derive(Default)]
struct Room {
    light_of: Electrons,
    /// By how many photons its pixels are raised.
    raised: f64,
    /// The light of all spots; 0 between two frames.
    light: Vec<f64>,
    /// The columns and rows where that is not 0.
    lit: Vec<[Range<usize>; 2]>,
}

/// Goes through the fitted part of each frame.
struct InFrames<'a> {
    crowd: &'a Crowd,
    saturation: Option<f64>,
}

impl InFrames<'_> {
    fn all(&self, windows: &AnyWindows<'_>) -> Result<Vec<Vec<(Place, Found)>>, CrowdError> {
        let find = |room: &mut Room, frame: usize| {
            room.raised = room.light_of.take(windows, frame, &self.crowd.camera);
            let mut finder = self.crowd.finder()?;
            let found = self.find(&mut finder, frame, room);
            self.crowd.give_back(finder);
            found
        };
        (0..windows.count()).into_par_iter().map_init(Room::default, find).collect()
    }

    fn find(
        &self,
        finder: &mut CrowdFinder,
        frame: usize,
        room: &mut Room,
    ) -> Result<Vec<(Place, Found)>, CrowdError> {
        let Roi { width, height, .. } = self.crowd.fitted;
        let emitters = finder.find(&room.light_of.frame(width, height)?)?;
        self.shine(emitters, room);
        let place = |neighbour| {
            let corner = Corner { frame: frame as u32, x: 0, y: 0 };
            Place { id: 0, corner, side: self.crowd.box_size, neighbour, response: 0.0 }
        };
        let wanted = emitters.iter().filter_map(|emitter| {
            let (x, y) = self.crowd.placed(emitter)?;
            Some((place(emitter.neighbour), self.found(emitter, [x, y], room)))
        });
        let found = wanted.collect();
        for [columns, rows] in room.lit.drain(..) {
            for y in rows {
                room.light[y * width..][columns.clone()].fill(0.0);
            }
        }
        Ok(found)
    }

    /// Adds up the light of all spots.
    fn shine(&self, emitters: &[Emitter], room: &mut Room) {
        let Roi { width, height, .. } = self.crowd.fitted;
        let Room { light, lit, .. } = room;
        light.resize(width * height, 0.0);
        let mut across = Vec::new();
        for emitter in emitters {
            let photons = emitter.photons * self.crowd.excess();
            if let Some(psf) = &self.crowd.psf {
                let psf = self.crowd.local(psf, emitter);
                lit.push(shine_measured(psf, emitter, photons, width, height, light));
                continue;
            }
            let Emitter { x, y, sigma_x, sigma_y, .. } = *emitter;
            let amplitude = photons / (core::f64::consts::TAU * sigma_x * sigma_y);
            let axis = |at: f64, sigma: f64| {
                GaussianAxis::with_profile(self.crowd.profile, at, sigma.recip())
            };
            let (columns, rows) =
                (near(x, REACH * sigma_x, width), near(y, REACH * sigma_y, height));
            let (columns_of, rows_of) = (axis(x, sigma_x), axis(y, sigma_y));
            lit.push([columns.clone(), rows.clone()]);
            across.clear();
            across.extend(columns.clone().map(|x| columns_of.sample::<false>(x as f64).value));
            for y in rows {
                let factor = amplitude * rows_of.sample::<false>(y as f64).value;
                let row = &mut light[y * width..][columns.clone()];
                row.iter_mut().zip(&across).for_each(|(light, across)| *light += factor * across);
            }
        }
    }

    /// A spot at its place in the frame, with what the pixels around it show.
    fn found(&self, emitter: &Emitter, [x, y]: [f64; 2], room: &Room) -> Found {
        let Roi { width, height, .. } = self.crowd.fitted;
        let excess = self.crowd.excess();
        let Emitter { sigma, sigma_x, sigma_y, errors, goodness, crowd, .. } = *emitter;
        let offset = emitter.background * excess;
        let half = (self.crowd.box_size / 2) as f64;
        let limit = self.saturation.unwrap_or(f64::INFINITY);
        let (mut squares, mut pixels, mut saturated) = (0.0, 0, false);
        let columns = near(emitter.x.round(), half, width);
        for row in near(emitter.y.round(), half, height) {
            for column in columns.clone() {
                let at = row * width + column;
                saturated |= room.light_of.counts(at) >= limit;
                let photons = room.light_of.electrons(at) * excess;
                let residual = photons - offset - room.light[at];
                if residual.is_finite() {
                    squares += residual * residual;
                    pixels += 1;
                }
            }
        }
        // χ² of n pixels has a variance of 2 n.
        let side = 2.0 * (2.0 * sigma).floor() + 1.0;
        let residual = (goodness - 1.0) * side / core::f64::consts::SQRT_2;
        let depth = self.crowd.depth(emitter, residual);
        let end = depth.is_some_and(|depth| depth.status != DepthStatus::Found);
        let converged = emitter.status.is_converged();
        let at_end = end && converged && self.crowd.psf.is_some();
        let status = if at_end { Status::AtLimit } else { emitter.status };
        let [sigma_x_error, sigma_y_error] = self.crowd.width_errors(emitter);
        let spot = Localization {
            x,
            y,
            sigma,
            sigma_x,
            sigma_y,
            angle: 0.0,
            intensity: emitter.photons * excess,
            offset: offset - room.raised,
            offset_x: 0.0,
            offset_y: 0.0,
            background_std: deviation(squares, pixels, self.crowd.parameters()),
            chi2: squares,
            depth,
            errors: self.crowd.errors.then_some(SpotErrors {
                photons: errors.photons * excess,
                background: errors.background * excess,
                sigma_x: sigma_x_error,
                sigma_y: sigma_y_error,
            }),
            status,
            ..Localization::UNKNOWN
        };
        let spot = spot.with_uncertainties([errors.x, errors.y]);
        let sigma_error = errors.sigma;
        let seen = Seen { goodness, residual, saturated, of_noise: 0.0, sigma_error, crowd };
        // What is not a number is not dark.
        let dark = emitter.photons <= 0.0;
        Found { spot, converged, bright: !dark, at_end, seen: Some(seen) }
    }
}

/// Adds the light of a spot with a measured image; returns its columns and rows.
fn shine_measured(
    psf: &Psf,
    emitter: &Emitter,
    photons: f64,
    width: usize,
    height: usize,
    light: &mut [f64],
) -> [Range<usize>; 2] {
    let [down, across] = psf.extent().map(|extent| 0.5 * extent as f64);
    let (columns, rows) = (near(emitter.x, across, width), near(emitter.y, down, height));
    let (x, y) = (emitter.x - columns.start as f64, emitter.y - rows.start as f64);
    let window = psf.window([x, y, emitter.z], [rows.len(), columns.len()]);
    for (row, values) in rows.clone().zip(window.outer_iter()) {
        let light = &mut light[row * width..][columns.clone()];
        light.iter_mut().zip(values).for_each(|(light, value)| *light += photons * value);
    }
    [columns, rows]
}

/// The pixels of an axis within a reach of a place.
fn near(at: f64, reach: f64, length: usize) -> Range<usize> {
    let first = (at - reach).ceil().max(0.0) as usize;
    let last = ((at + reach).floor() + 1.0).clamp(0.0, length as f64) as usize;
    first.min(last)..last
}
