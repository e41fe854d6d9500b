//! From frames to localizations: detect, cut, fit, convert to photons, estimate the uncertainty.
//!
//! [`Localizer`] takes frames in order, one by one as a camera delivers them ([`Localizer::frame`]) or in blocks
//! ([`Localizer::process`]), and returns localizations. [`Localizer::localize`] goes through a
//! [`crate::movie::Movie`], with reading and fitting side by side.

mod options;
mod pipeline;
mod positions;
mod spot;

use fit_core::{Corner, Fit, Pixel, Size, Start};
use fit_windows::{AnyWindows, Visitor, Windows};
use ndarray::{ArrayView2, Axis};
use rayon::prelude::*;

use crate::backend::FitError;
use crate::detect::{Candidate, DetectError, Detector};
use crate::fitter::Fitter;
use crate::movie::{Block, MovieError};
use crate::range::OutOfRange;
use crate::statuses::StatusCounts;

pub use options::{LocalizeOptions, Roi};
pub use pipeline::Localizations;
pub use positions::Positions;
pub use spot::Localization;

/// Why localizing failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LocalizeError {
    /// An option, or the number of a frame, is out of its range.
    #[error(transparent)]
    Option(#[from] OutOfRange),
    /// The frames cannot be searched.
    #[error(transparent)]
    Detect(#[from] DetectError),
    /// The fit was refused.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// The frames are not of the size that the localizer is for.
    #[error("expected frames of {expected:?} pixels (width, height), got {found:?}")]
    FrameSize {
        /// Width and height that the localizer was made for.
        expected: (usize, usize),
        /// Width and height of the frames.
        found: (usize, usize),
    },
    /// The movie cannot be read.
    #[error(transparent)]
    Movie(#[from] MovieError),
    /// The threads could not be started.
    #[error("the worker threads could not be started: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
    /// A thread for reading or localizing could not be started.
    #[error("a thread could not be started: {0}")]
    Spawn(std::io::Error),
}

/// How many candidates were found, and what became of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Counts {
    /// Frames processed.
    pub frames: usize,
    /// Candidates found, or positions given.
    pub candidates: usize,
    /// Dropped because the window would cross the frame's edge.
    pub at_edge: usize,
    /// Positions dropped because their frame was not processed.
    pub no_frame: usize,
    /// Fits made, by how they ended.
    pub by_status: StatusCounts,
    /// Converged fits dropped because the amplitude is not positive.
    pub not_bright: usize,
    /// Converged fits dropped because the centre moved more than 0.3 of the box away from where the spot was
    /// detected: it is on a neighbour, which has a window of its own.
    pub wandered: usize,
    /// Converged fits dropped because a number in photons is not finite.
    pub not_finite: usize,
    /// Localizations kept.
    pub kept: usize,
}

/// How far a fit may go from where its spot was detected, as a share of the box.
const WANDER: f64 = 0.3;

/// Localizes blocks of frames of one movie, in order.
#[derive(Debug)]
pub struct Localizer {
    /// Width and height of the frames.
    size: (usize, usize),
    options: LocalizeOptions,
    detector: Detector,
    roi: Roi,
    fitter: Fitter,
    pool: rayon::ThreadPool,
    counts: Counts,
    next_id: u64,
    /// The number of the frame after the last one.
    next_frame: usize,
}

/// Where a window is to be cut, and for whom.
#[derive(Clone, Copy)]
struct Place {
    id: u64,
    corner: Corner,
}

impl Localizer {
    /// A localizer for frames of `width`×`height` pixels.
    ///
    /// # Errors
    /// [`LocalizeError`] for options out of their range.
    pub fn new(
        (width, height): (usize, usize),
        mut options: LocalizeOptions,
    ) -> Result<Self, LocalizeError> {
        options.validate()?;
        if let Some(positions) = &mut options.positions {
            positions.sort();
        }
        let detector = Detector::new(width, height, options.box_size, options.threshold)?;
        let roi = options.roi.unwrap_or(Roi { x: 0, y: 0, width, height });
        let inside = |start: usize, length: usize, end: usize| {
            length > 0 && start.checked_add(length).is_some_and(|stop| stop <= end)
        };
        OutOfRange::check(
            "roi",
            format!("{},{},{},{}", roi.x, roi.y, roi.width, roi.height),
            inside(roi.x, roi.width, width) && inside(roi.y, roi.height, height),
            format!("x,y,width,height within the frame of {width}×{height} pixels"),
        )?;
        let fitter = Fitter::new(&options.fitter)?;
        let threads = options.fitter.threads;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let size = (width, height);
        Ok(Self {
            size,
            options,
            detector,
            roi,
            fitter,
            pool,
            counts: Counts::default(),
            next_id: 0,
            next_frame: 0,
        })
    }

    /// Localizes a block of frames. The localizations are in the order of the frames; within a frame from top
    /// to bottom, or in the order of the given positions.
    ///
    /// # Errors
    /// [`LocalizeError::Detect`] if the frames are not of the size that the localizer is for,
    /// [`LocalizeError::Option`] if they cannot be numbered from `block.first` on, [`LocalizeError::Fit`].
    pub fn process(&mut self, block: &Block) -> Result<Vec<Localization>, LocalizeError> {
        self.process_frames(block.first, block.pixels.windows())
    }

    /// Localizes the next frame (height, width), straight from the memory of the caller. The first frame has the
    /// number 0.
    ///
    /// ```
    /// use spotfit::localize::{LocalizeOptions, Localizer};
    /// use spotfit::ndarray::ArrayView2;
    ///
    /// let mut localizer = Localizer::new((40, 30), LocalizeOptions::default())?;
    /// # let camera: Vec<u16> = (0..1200).map(|i| 100 + (i * 7 % 13) as u16).collect();
    /// // What the camera's driver hands over: rows of 40 pixels.
    /// let frame = ArrayView2::from_shape((30, 40), &camera[..])?;
    /// let spots = localizer.frame(frame)?;
    /// # assert!(spots.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Localizer::process`].
    pub fn frame<P: Pixel>(
        &mut self,
        frame: ArrayView2<'_, P>,
    ) -> Result<Vec<Localization>, LocalizeError> {
        let frames = Windows::stack(frame.insert_axis(Axis(0)));
        self.process_frames(self.next_frame, frames.into())
    }

    /// The counts so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The fitter in use.
    pub fn fitter(&self) -> &Fitter {
        &self.fitter
    }

    fn process_frames(
        &mut self,
        first: usize,
        frames: AnyWindows<'_>,
    ) -> Result<Vec<Localization>, LocalizeError> {
        let (count, height, width) = frames.frames();
        let (expected, found) = (self.size, (width, height));
        if found != expected {
            return Err(DetectError::FrameSize { expected, found }.into());
        }
        let most = usize::MAX - count;
        OutOfRange::check("first", first, first <= most, format!("0 to {most}"))?;
        let few = u32::try_from(count).is_ok();
        OutOfRange::check("frames", count, few, format!("0 to {} in a block", u32::MAX))?;
        self.next_frame = first + count;
        self.counts.frames += count;
        let places = self.places(first, frames)?;
        let side = self.options.box_size;
        let size = Size::new(side, side);
        let corners: Vec<Corner> = places.iter().map(|place| place.corner).collect();
        let mut fits = vec![Fit::<f64>::invalid(); corners.len()];
        let windows = frames.visit(Cut { size, corners: &corners });
        self.fitter.fit_windows(windows, Start::Estimate, fits.as_mut_slice().into())?;
        self.counts.by_status.add(&fits);
        let all = places.iter().zip(&fits);
        Ok(all.filter_map(|(place, fit)| self.judge(first, place, fit)).collect())
    }

    /// Where to cut windows in a block; those that would cross an edge are dropped and counted.
    fn places(&mut self, first: usize, frames: AnyWindows<'_>) -> Result<Vec<Place>, DetectError> {
        let (count, height, width) = frames.frames();
        let wanted: Vec<(u64, usize, f64, f64)> = match &self.options.positions {
            Some(positions) => positions
                .within(first..first + count)
                .iter()
                .map(|place| (place.id, place.frame - first, place.x, place.y))
                .collect(),
            None => self.detected(frames)?,
        };
        self.counts.candidates += wanted.len();
        let (half, side) = ((self.options.box_size / 2) as f64, self.options.box_size as f64);
        let corner = |centre: f64, length: usize| {
            let corner = centre.round() - half;
            (corner >= 0.0 && corner + side <= length as f64).then_some(corner as u32)
        };
        let places: Vec<Place> = wanted
            .iter()
            .filter_map(|&(id, block_frame, x, y)| {
                let (x, y) = (corner(x, width)?, corner(y, height)?);
                Some(Place { id, corner: Corner { frame: block_frame as u32, x, y } })
            })
            .collect();
        self.counts.at_edge += wanted.len() - places.len();
        Ok(places)
    }

    /// The spots of a block that lie in the region: 0, frame in the block, x, y.
    fn detected(&self, frames: AnyWindows<'_>) -> Result<Vec<(u64, usize, f64, f64)>, DetectError> {
        let Roi { x, y, width, height } = self.roi;
        let inside =
            |c: &Candidate| (x..x + width).contains(&c.x) && (y..y + height).contains(&c.y);
        let detect = |frame: usize| {
            let candidates = self.detector.detect_window(frames, frame)?;
            let inside = candidates.into_iter().filter(inside);
            Ok(inside.map(|c| (0, frame, c.x as f64, c.y as f64)).collect::<Vec<_>>())
        };
        let all = (0..frames.count()).into_par_iter();
        let found: Result<Vec<Vec<_>>, DetectError> =
            self.pool.install(|| all.map(detect).collect());
        Ok(found?.concat())
    }

    /// Turns a fit into a localization, or counts why not.
    fn judge(&mut self, first: usize, place: &Place, fit: &Fit<f64>) -> Option<Localization> {
        let half = (self.options.box_size / 2) as f64;
        let wander = WANDER * self.options.box_size as f64;
        let detected = self.options.positions.is_none();
        let pixels = self.options.box_size * self.options.box_size;
        let mut spot = spot::photons(fit, pixels, &self.options.camera);
        let far = |at: f64| (at - half).abs() > wander;
        let good = if !fit.status.is_converged() {
            false
        } else if fit.amplitude <= 0.0 {
            self.counts.not_bright += 1;
            false
        } else if detected && (far(fit.x) || far(fit.y)) {
            self.counts.wandered += 1;
            false
        } else if !spot.is_finite() {
            self.counts.not_finite += 1;
            false
        } else {
            true
        };
        if !good && !self.options.keep_all {
            return None;
        }
        self.counts.kept += 1;
        self.next_id += 1;
        let id = if detected { self.next_id } else { place.id };
        let frame = first + place.corner.frame as usize;
        spot.x += f64::from(place.corner.x);
        spot.y += f64::from(place.corner.y);
        Some(Localization { id, frame, ..spot })
    }
}

/// Cuts windows out of frames of any type.
struct Cut<'a> {
    size: Size,
    corners: &'a [Corner],
}

impl<'a, 'w: 'a> Visitor<'w> for Cut<'a> {
    type Output = AnyWindows<'a>;

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) -> AnyWindows<'a> {
        Windows::cuts(frames.frames().reborrow(), self.size, self.corners).into()
    }
}
