//! From frames to localizations: detect, cut, fit, convert to photons, estimate the uncertainty.
//!
//! [`Localizer`] takes frames in order, one by one as a camera delivers them ([`Localizer::frame`]) or in blocks
//! ([`Localizer::process`]), and returns localizations. [`Localizer::localize`] goes through a
//! [`crate::movie::Movie`], with reading and fitting side by side.

mod aperture;
mod brightness;
mod checks;
pub(crate) mod counts;
mod crowd;
mod defects;
mod detected;
pub(crate) mod electrons;
pub(crate) mod emitters;
mod fits;
mod found;
mod full_scale;
mod gaussian_misfit;
mod looked;
mod measured;
mod neighbours;
#[cfg_attr(not(feature = "gpu"), path = "no_gpu.rs")]
mod on_gpu;
pub(crate) mod options;
mod outcome;
mod parts;
mod pipeline;
pub(crate) mod places;
mod reason;
mod residuals;
mod rings;
mod searcher;
mod sensitivity;
mod slopes;
mod spot;
mod temporal;
mod typical;
pub(crate) mod usual_sigma;
mod watch;

use std::sync::Arc;
use std::time::Instant;

use fit_core::Pixel;
use fit_cpu::{BatchError, MOST_THREADS};
use fit_windows::{AnyWindows, Windows};
use ndarray::{ArrayView2, Axis};
use spotfit_locs::OutOfRange;

use crate::as_windows::AsWindows;
use crate::backend::{Backend, FitError};
use crate::detect::Detector;
use crate::fitter::Fitter;
use crate::movie::Block;
use crate::psf::PsfFitter;
use crate::stage_times::StageTimes;
use crowd::Crowd;
use found::Judge;
use measured::Measured;
use on_gpu::{OnGpu, Sent};
use parts::parts;
use places::{Part, Wanted};
use searcher::{Fitted, Rooms, Searcher};
use slopes::Slopes;
use temporal::{Lit, Temporal};
use typical::Typical;
use watch::Watch;

pub use aperture::ApertureCorrection;
pub use brightness::{median_of_first, share_below};
pub use checks::{Checks, Flags, LARGE_RESIDUALS, ODD_WIDTH};
pub use defects::{Defect, DefectKind, Defects, DefectsError};
pub use emitters::{Emitters, Sigma};
pub use full_scale::FullScale;
pub use gaussian_misfit::MisfitDoubt;
pub(crate) use looked::{Looked, Surroundings, photons_of};
pub use options::{LocalizeOptions, Roi};
pub use outcome::{Counts, Dropped, LocalizeError};
pub use pipeline::{FrameDoubts, Localizations};
pub use reason::DropReason;
pub use sensitivity::{
    CameraDoubt, camera_doubts, estimate_read_noise, estimate_sensitivity, frames_for_estimates,
    two_digits,
};
pub use slopes::SlopeDoubt;
pub(crate) use spot::LocalizedColumn;
pub use spot::{Localization, SpotErrors};
pub use spotfit_locs::positions::Positions;
pub use usual_sigma::frames_for_sigma;
pub(crate) use watch::Fate;

/// Localizes blocks of frames of one movie, in order.
#[derive(Debug)]
pub struct Localizer {
    searcher: Arc<Searcher>,
    /// What is known of the full scale of the camera besides the type of its pixels.
    full_scale: Option<FullScale>,
    /// The frames that wait for their background, if that is known over time.
    temporal: Option<Temporal>,
    counts: Counts,
    stages: StageTimes,
    widths: Typical,
    /// How much residuals exceed the noise, a photon.
    misfits: Typical,
    /// What the first frames show of the light, if it may shift spots.
    slopes: Option<Slopes>,
    /// What becomes of every candidate, if anybody wants to know.
    watch: Option<Box<Watch>>,
    next_id: u64,
    /// The number of the frame after the last one.
    next_frame: usize,
}

impl Localizer {
    /// A localizer for frames of `width`×`height` pixels.
    ///
    /// # Errors
    /// [`LocalizeError`] for options out of their range, and for frames smaller than the box.
    pub fn new(
        (width, height): (usize, usize),
        mut options: LocalizeOptions,
    ) -> Result<Self, LocalizeError> {
        options.validate()?;
        let box_size = options.box_size;
        if width.min(height) < box_size {
            return Err(LocalizeError::SmallFrames { width, height, box_size });
        }
        if let Some(positions) = &mut options.positions {
            positions.sort();
        }
        options.mask_defects((width, height))?;
        options.map_background((width, height))?;
        let detector = Detector::new(width, height, options.box_size, 1.0)?;
        let detector = match options.threshold {
            Some(threshold) => detector.with_threshold(threshold)?,
            None => detector.with_false_rate(options.false_rate, &options.detected_by())?,
        };
        let detector = match &options.map {
            Some(map) => detector.with_map(map)?,
            None => detector,
        };
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
        // There is one pool: what finds spots waits for what fits them.
        let threads = options.fitter.threads;
        if threads > MOST_THREADS {
            return Err(FitError::from(BatchError::TooManyThreads { given: threads }).into());
        }
        let pool = Arc::new(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?);
        let fitter = Fitter::in_pool(&options.fitter.clone().with_fit(options.fit()), Some(&pool))?;
        let on_gpu = OnGpu::new(&detector, &options)?;
        let judge = if options.psf.is_none() {
            let fit = options.fit().with_camera(Some(options.camera));
            // A block has too few spots for a GPU.
            let backend = match options.fitter.backend {
                Backend::Reference => Backend::Reference,
                _ => Backend::Cpu,
            };
            let fitter = options.fitter.clone().with_fit(fit).with_backend(backend);
            Some(Fitter::in_pool(&fitter, Some(&pool))?)
        } else {
            None
        };
        let measured = options.psf.as_ref().map(|psf| Measured::new(psf, &options, &pool));
        let measured = measured.transpose()?;
        let crowd = match options.emitters.are_together() {
            // Where the width is not known yet, the first frames will tell.
            true if options.knows_sigma() => Some(Crowd::new((width, height), roi, &options)?),
            _ => None,
        };
        let size = (width, height);
        let narrow = options.narrow_box();
        let slopes = Slopes::new(&options);
        let temporal = options.temporal_background.map(|frames| Temporal::new(frames, size));
        let searcher = Searcher {
            size,
            options,
            detector,
            roi,
            narrow,
            fitter,
            on_gpu,
            judge,
            measured,
            crowd,
            pool,
            rooms: Rooms::default(),
        };
        Ok(Self {
            searcher: searcher.into(),
            full_scale: None,
            temporal,
            counts: Counts::default(),
            stages: StageTimes::default(),
            widths: Typical::default(),
            misfits: Typical::default(),
            slopes,
            watch: None,
            next_id: 0,
            next_frame: 0,
        })
    }

    /// Localizes a block of frames. The localizations are in the order of the frames; within a frame from top
    /// to bottom, or in the order of the given positions.
    ///
    /// Where the background is known over time ([`LocalizeOptions::temporal_background`]), blocks follow each other, and their last
    /// frames wait for those that come: the localizations are those of all frames whose background is known by now, and
    /// [`Localizer::finish`] returns the others.
    ///
    /// # Errors
    /// [`LocalizeError::Detect`] if the frames do not have the size of the localizer, [`LocalizeError::Option`] if they
    /// cannot be numbered from `block.first` on, [`LocalizeError::Fit`].
    pub fn process(&mut self, block: &Block) -> Result<Vec<Localization>, LocalizeError> {
        self.process_frames(block.first, block.pixels.windows())
    }

    /// Localizes the next frame (height, width), directly from the memory of the caller. The first frame has the number
    /// 0.
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

    /// Ends a movie: returns the localizations of frames that wait for their background
    /// ([`LocalizeOptions::temporal_background`]); otherwise there are none. Another movie may follow.
    ///
    /// # Errors
    /// As [`Localizer::process`], and [`LocalizeError::Option`] for movies of less than 3 frames.
    pub fn finish(&mut self) -> Result<Vec<Localization>, LocalizeError> {
        self.timed(|localizer| localizer.stream(Temporal::end, true))
    }

    /// How many frames tell the background of a frame, where it is known over time: those of a window, or of the movie if that is
    /// shorter; 0 while none was found.
    pub fn background_frames(&self) -> Option<usize> {
        self.temporal.as_ref().map(Temporal::used)
    }

    /// The counts so far.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// How long the stages took so far.
    pub fn stages(&self) -> &StageTimes {
        &self.stages
    }

    /// The defective pixels that are masked, if they were given.
    pub fn defects(&self) -> Option<&Defects> {
        self.searcher.options.defects.as_deref()
    }

    /// Whether slopes of the light shift the spots of the first frames, for fits on a flat background; `None` if they do not or too
    /// little was seen to tell, with overlapping spots, a measured PSF, a camera map or masked defects. The first 32 frames are
    /// looked at, where spots blink.
    pub fn slope_doubt(&self) -> Option<SlopeDoubt> {
        self.slopes.as_ref().and_then(Slopes::doubt)
    }

    /// What the frames tell so far.
    pub fn doubts(&self) -> FrameDoubts {
        let (misfit, slopes) = (self.misfit_doubt(), self.slope_doubt());
        FrameDoubts { full_scale: self.full_scale, misfit, slopes }
    }

    /// How many frames are to be given to [`Localizer::look_ahead`] before the first block; 0 if it would find nothing that is needed.
    pub fn frames_ahead(&self) -> usize {
        if self.looks_ahead() { frames_for_sigma(self.searcher.size) } else { 0 }
    }

    /// By how much photons are multiplied to be those within an aperture ([`LocalizeOptions::aperture`]), once it is known.
    pub fn aperture_correction(&self) -> Option<ApertureCorrection> {
        self.searcher.options.aperture_correction
    }

    /// What the first frames, or the metadata of the movie, say of the full scale of the camera, where it is not that of the type of its
    /// pixels, and where somebody needs it ([`LocalizeOptions::saturation`]).
    pub fn full_scale(&self) -> Option<FullScale> {
        self.full_scale
    }

    /// The fitter in use, if there is no measured PSF.
    pub fn fitter(&self) -> &Fitter {
        &self.searcher.fitter
    }

    /// The fitter in use, if there is a measured PSF.
    pub fn psf_fitter(&self) -> Option<&PsfFitter> {
        self.searcher.measured.as_ref().map(Measured::fitter)
    }

    /// Whether a GPU searches the frames, too.
    #[doc(hidden)]
    pub fn searches_on_gpu(&self) -> bool {
        self.searcher.on_gpu.is_some()
    }

    /// What it searches with; nobody searches while that changes.
    fn searcher_mut(&mut self) -> &mut Searcher {
        Arc::get_mut(&mut self.searcher)
            .expect("threads that search end before the localizer is used")
    }

    pub(crate) fn process_frames(
        &mut self,
        first: usize,
        frames: AnyWindows<'_>,
    ) -> Result<Vec<Localization>, LocalizeError> {
        self.process_sent(first, frames, None)
    }

    /// Localizes frames, which may have been sent to a GPU.
    fn process_sent(
        &mut self,
        first: usize,
        frames: AnyWindows<'_>,
        sent: Option<Sent>,
    ) -> Result<Vec<Localization>, LocalizeError> {
        self.searcher.check(first, frames)?;
        self.next_frame = first + frames.count();
        self.timed(|localizer| localizer.search_sent(first, frames, sent))
    }

    /// Does something that detects as long as it does not fit.
    fn timed<T>(&mut self, act: impl FnOnce(&mut Self) -> T) -> T {
        let (begin, fitted) = (Instant::now(), self.stages.fit);
        let done = act(self);
        let other = begin.elapsed().saturating_sub(self.stages.fit - fitted);
        *self.stages.detect.get_or_insert_default() += other;
        done
    }

    /// Localizes frames, which are sent to the GPU if they were not and it can search them.
    fn search_sent(
        &mut self,
        first: usize,
        frames: AnyWindows<'_>,
        sent: Option<Sent>,
    ) -> Result<Vec<Localization>, LocalizeError> {
        let (count, height, width) = frames.frames();
        if self.temporal.is_some() {
            return self.stream(|temporal, pool| temporal.push(first, frames, pool), false);
        }
        let searcher = self.searcher.clone();
        let Some(on_gpu) = searcher.on_gpu.as_ref().filter(|_| sent.is_none()) else {
            return self.search(first, frames, None, sent);
        };
        let mut all = Vec::new();
        for part in parts(count, height * width) {
            let (first, frames) = (first + part.start, frames.visit(Part(part)));
            let sent = on_gpu.send(frames)?;
            all.extend(self.search(first, frames, None, sent)?);
        }
        Ok(all)
    }

    /// Does something with the frames that wait for their background, and searches those for which it is known then.
    fn stream(
        &mut self,
        act: impl FnOnce(&mut Temporal, &rayon::ThreadPool) -> Result<(), OutOfRange>,
        ended: bool,
    ) -> Result<Vec<Localization>, LocalizeError> {
        let Some(mut temporal) = self.temporal.take() else { return Ok(Vec::new()) };
        let found = act(&mut temporal, &self.searcher.pool).map_err(LocalizeError::from);
        let found = found.and_then(|()| self.search_known(&mut temporal, ended));
        if ended || found.is_err() {
            temporal.reset();
        }
        self.temporal = Some(temporal);
        found
    }

    /// Searches the frames whose background is known.
    fn search_known(
        &mut self,
        temporal: &mut Temporal,
        ended: bool,
    ) -> Result<Vec<Localization>, LocalizeError> {
        let mut all = Vec::new();
        let searcher = self.searcher.clone();
        let Searcher { options, pool, .. } = &*searcher;
        let threads = pool.current_num_threads();
        while let Some((part, map)) = temporal.ready(ended, threads).zip(options.map.as_deref()) {
            let known = temporal.known(&part, &options.camera, map, pool)?;
            if let Some((frames, lit)) = temporal.frames(&part, &known) {
                all.extend(self.search(part.start, frames, Some(&lit), None)?);
            }
            temporal.done(part.end);
        }
        Ok(all)
    }

    /// Localizes frames, of which the first has this number.
    fn search<'a>(
        &mut self,
        first: usize,
        frames: AnyWindows<'a>,
        lit: Option<&Lit<'a>>,
        sent: Option<Sent>,
    ) -> Result<Vec<Localization>, LocalizeError> {
        let fitted = self.searcher.search(first, frames, lit, sent, 1)?;
        self.stages.fit += fitted.fitting;
        Ok(self.decide(first, frames, lit, fitted))
    }

    /// Decides about what was found in frames, which follow those before.
    fn decide<'a>(
        &mut self,
        first: usize,
        frames: AnyWindows<'a>,
        lit: Option<&Lit<'a>>,
        fitted: Fitted,
    ) -> Vec<Localization> {
        let begin = Instant::now();
        let Fitted { places, found, candidates, at_edge, .. } = fitted;
        self.counts.frames += frames.count();
        self.counts.candidates += candidates;
        let near = self.searcher.options.box_size as f64;
        let known = places.iter().map(|place| place.neighbour).filter(|near| !near.is_nan());
        self.counts.beside_others += known.clone().count();
        self.counts.neighbours += known.filter(|&distance| distance < near).count();
        self.counts.dropped.at_edge += at_edge.len();
        if let Some(watch) = &mut self.watch {
            for Wanted { id, frame, x, y, response, .. } in at_edge {
                watch.at_edge(id, first + frame, [x, y], response);
            }
        }
        let mut judge = self.judging();
        let judged = places
            .iter()
            .zip(found)
            .filter_map(|(place, found)| judge.judge(first, place, found.lit(place, lit)));
        let kept: Vec<Localization> = judged.collect();
        if let Some(slopes) = &mut self.slopes {
            let share = self.searcher.options.share_of_gaussian();
            slopes.look(first, frames, &kept, share);
        }
        self.stages.fit += begin.elapsed();
        kept
    }

    /// What decides about fits, with what was found so far.
    fn judging(&mut self) -> Judge<'_> {
        let Self { searcher, counts, widths, misfits, next_id, watch, .. } = self;
        let watch = watch.as_deref_mut();
        Judge { options: &searcher.options, counts, widths, misfits, next_id, watch }
    }
}

#[cfg(test)]
mod tests;
