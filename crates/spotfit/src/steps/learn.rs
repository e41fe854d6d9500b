//! The PSF of a movie, learnt from its own spots: a movie in, a measured PSF out.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::fitted::warn_of_camera;
use super::localize::{Given, LocalizeOptions, PsfOption, find_defects, frames_of};
use super::words::go_on;
use super::{Listener, Note, Stack, StepError};
use crate::Estimator;
use crate::localize;
use crate::movie::{Block, Movie};
use crate::psf::{FieldGain, HeldSpots, LearnPsfError, LearntMember, Psf, PsfError, learn_while};

/// Frames that follow each other are read together, so many of them.
const TOGETHER: usize = 16;
/// The fewest parts, and the most pixels of one.
const LEAST_PARTS: usize = 10;
const PART_PIXELS: usize = 1 << 22;
/// The most pixels of all frames: half a gigabyte at most.
const MOST_PIXELS: usize = 1 << 27;
/// The most frames, if nothing is said.
pub const LEARN_FRAMES: usize = 1000;

/// A PSF that was learnt, with its report.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Learned {
    /// The PSF: [`psf::write`](crate::psf::write()) writes it.
    pub psf: Psf,
    /// The size of a pixel in nanometres, if it is known.
    pub pixel_size: Option<f64>,
    /// Its numbers.
    pub report: LearnReport,
    held: HeldSpots,
}

impl Learned {
    /// What spots that were held out show along its axis.
    pub fn members(&self) -> Vec<LearntMember> {
        self.held.members(&self.psf)
    }
}

/// The report of learning a PSF.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct LearnReport {
    /// Frames in which spots were looked for.
    pub frames: usize,
    /// Spots from which the PSF was learnt.
    pub used: usize,
    /// Spots that were held out, of which the deviances are.
    pub held_out: usize,
    /// Rounds that it took.
    pub rounds: usize,
    /// Whether the PSF has one member; otherwise it is a family along one axis.
    pub single: bool,
    /// The extent of the PSF along x and along y, in pixels.
    pub size: [usize; 2],
    /// The share of a spot's photons in these pixels.
    pub light: f64,
    /// The mean deviance of a pixel of spots that were held out: about 1 if the PSF is right.
    pub deviance: f64,
    /// The same with a circular Gaussian, each spot with a width of its own.
    pub gaussian: f64,
    /// The deviances of a pixel with the same PSF everywhere and with one that varies across the frame; `None` where it does not vary.
    pub field: Option<FieldGain>,
    /// The side of the largest windows that can be fitted with it, in pixels.
    pub largest_window: usize,
}

impl LearnReport {
    /// What was learnt from what, and how good it is.
    fn words(&self) -> [String; 3] {
        let Self { frames, used, held_out, rounds, light, deviance, gaussian, .. } = self;
        let [columns, rows] = self.size;
        let members = if self.single { "one member" } else { "a family" };
        [
            format!(
                "learnt from {used} spots of {frames} frames in {rounds} rounds: {columns}×{rows} pixels with {:.0} % of the light; {members}, no heights",
                100.0 * light
            ),
            format!(
                "deviance of a pixel in {held_out} spots that were held out: {deviance:.3}, with Gaussians {gaussian:.3}"
            ),
            match self.field {
                Some(FieldGain { centre: [middle, own_middle], corners: [corner, own] }) => {
                    format!(
                        "it varies across the frame: {own_middle:.3} at the centre and {own:.3} in the corners, with one PSF {middle:.3} and {corner:.3}"
                    )
                }
                None => "no variation across the frame".to_owned(),
            },
        ]
    }
}

impl fmt::Display for LearnReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.words().iter().try_for_each(|line| writeln!(f, "{line}"))?;
        write!(f, "for this movie and its like: `spotfit localize --psf`, `--emitters auto`")
    }
}

/// Learns the PSF of a movie from its own spots, without beads. Of the options the camera, maps, defects, saturation, false rate, ROI, frames,
/// those to learn from, size of a pixel, threads and instruction set matter.
///
/// # Errors
/// [`StepError::Input`] where the spots are too few or too dim, or where Gaussians describe spots that were held out as well; other
/// [`StepError`]s.
pub fn run(
    asked: &LocalizeOptions,
    mut movie: Stack,
    listener: &dyn Listener,
) -> Result<Learned, StepError> {
    for (name, given) in [
        ("psf", asked.psf.as_ref().is_some_and(|psf| psf.given().is_some())),
        ("calibration", asked.calibration.is_some()),
        ("positions", asked.positions.is_some()),
    ] {
        if given {
            return Err(StepError::Options(format!(
                "`{name}` is for localizing: the PSF is learnt from the movie alone"
            )));
        }
    }
    let name = movie.name().to_owned();
    let (asked, by_metadata) = movie.about(|movie| asked.by_metadata(movie, &name))??;
    by_metadata.iter().for_each(|note| listener.note(note));
    let pixel_size = movie.about(|movie| asked.pixel_size.of(movie))?;
    let told = asked.told(pixel_size)?;
    told.notes.iter().for_each(|note| listener.note(&Note::Warning(note.clone())));
    let engine = told.options;
    let is_known = asked.camera.camera().is_some() || engine.map.is_some();
    warn_of_camera(is_known, Estimator::MaximumLikelihood, true, listener);
    let learnt = learn(&asked, &engine, &mut movie, listener)?;
    let learnt = learnt.map_err(|reason| StepError::input(&name, format!("{reason}")))?;
    Ok(Learned { pixel_size, ..learnt })
}

/// The options to localize a movie with: where its PSF is to be learnt, with what was learnt, or without. A note says what was learnt, or why
/// nothing was.
///
/// # Errors
/// [`StepError`]; not where spots tell too little.
pub fn learnt(
    asked: &LocalizeOptions,
    movie: &mut Stack,
    listener: &dyn Listener,
) -> Result<LocalizeOptions, StepError> {
    let Some(PsfOption::Learn) = asked.psf else { return Ok(asked.clone()) };
    let said = movie.about(|movie| movie.axes().pixel_size.map(|size| size.nanometres))?;
    let pixel_size = movie.about(|movie| asked.pixel_size.of(movie))?;
    let engine = asked.told(pixel_size.or(said))?.options;
    let psf = match learn(asked, &engine, movie, listener)? {
        Ok(Learned { psf, report, .. }) => {
            listener.note(&Note::Part(format!("PSF {}", report.words().join("; "))));
            Some(PsfOption::Given(Given::Content(Arc::new(psf))))
        }
        Err(reason) => {
            let text = format!("`psf` learn: {reason}; spots are fitted with Gaussians");
            listener.note(&Note::Warning(text));
            None
        }
    };
    Ok(with_learnt(asked, psf))
}

/// The options with what was learnt, if anything was: in any case by maximum likelihood, if nothing else is said.
pub(crate) fn with_learnt(asked: &LocalizeOptions, psf: Option<PsfOption>) -> LocalizeOptions {
    let estimator = asked.estimator.or(Some(Estimator::MaximumLikelihood));
    let mut asked = asked.clone();
    asked.localizer.tells_no_psf = psf.is_none();
    asked.with_psf(psf).with_estimator(estimator)
}

/// How many frames at most a PSF is learnt from.
pub(crate) fn most_frames(asked: &LocalizeOptions) -> usize {
    asked.learn_frames.unwrap_or(LEARN_FRAMES)
}

/// What was learnt, whatever the size of a pixel is, or why it cannot be learnt.
fn learn(
    asked: &LocalizeOptions,
    engine: &localize::LocalizeOptions,
    movie: &mut Stack,
    listener: &dyn Listener,
) -> Result<Result<Learned, LearnPsfError>, StepError> {
    let most = most_frames(asked);
    if !movie.is_at_hand() && movie.followed().is_none() {
        let reason = "a PSF is learnt before frames are localized, which a stream has only once: give a file";
        return Err(StepError::input(movie.name(), reason));
    }
    let (size, count) = movie.about(|movie| (movie.size(), movie.frames()))?;
    let (given, map) = (engine.defects.as_deref(), engine.map.as_deref());
    let found = find_defects(asked.defects.as_ref(), given, map, movie)?;
    let engine = engine.clone().with_psf(None);
    let engine = if found.is_some() { engine.with_defects(found) } else { engine };
    let frames = frames_of(asked.frames.as_deref(), count)?;
    let most = most.min((MOST_PIXELS / (size.0 * size.1).max(1)).max(1));
    let blocks = read(movie, frames, (size, most), listener)?;
    // Its files are known while it is open.
    movie.about(|_| ())?;
    let learnt = match learn_while(&blocks, &engine, &|| !listener.is_cancelled()) {
        Ok(learnt) => learnt,
        Err(LearnPsfError::Localize(source)) => return Err(StepError::localize(None)(source)),
        Err(LearnPsfError::Cancelled) => return Err(StepError::Cancelled),
        Err(LearnPsfError::Psf(error @ (PsfError::Maps { .. } | PsfError::Threads(_)))) => {
            return Err(StepError::refused(error));
        }
        Err(reason) => return Ok(Err(reason)),
    };
    let psf = learnt.psf;
    let [rows, columns] = psf.extent();
    let report = LearnReport {
        frames: learnt.frames,
        used: learnt.spots,
        held_out: learnt.held_out,
        rounds: learnt.rounds,
        single: psf.is_single(),
        size: [columns, rows],
        light: psf.light(),
        deviance: learnt.deviance,
        gaussian: learnt.gaussian,
        field: learnt.field,
        largest_window: rows.min(columns) - 1,
    };
    Ok(Ok(Learned { psf, pixel_size: None, report, held: learnt.held }))
}

/// The frames that a PSF is learnt from: some that follow each other, from all of a range of frames of this width and height.
pub fn frames_to_learn(
    frames: Range<usize>,
    (width, height): (usize, usize),
    learn_frames: usize,
) -> impl Iterator<Item = Range<usize>> {
    let pixels = width.saturating_mul(height).max(1);
    let most = (MOST_PIXELS / pixels).clamp(1, learn_frames.max(1)).min(frames.len());
    // A few megabytes, and parts enough to hold some out.
    let together = TOGETHER.min(most.div_ceil(LEAST_PARTS)).min((PART_PIXELS / pixels).max(1));
    let parts = most.div_ceil(together.max(1));
    let gap = frames.len() - most;
    (0..parts).map(move |part| {
        let first = frames.start + together * part + gap * part / (parts - 1).max(1);
        first..first + together.min(most - together * part)
    })
}

/// These frames; of a movie that is being written the first ones.
fn read(
    stack: &mut Stack,
    frames: Range<usize>,
    (size, most): ((usize, usize), usize),
    listener: &dyn Listener,
) -> Result<Vec<Block>, StepError> {
    let name = stack.name().to_owned();
    let failed = |source| StepError::Movie { name: name.clone(), source };
    let wanted = frames.start..frames.end.min(frames.start.saturating_add(most));
    let (mut movie, frames) = match stack.first_written(wanted, &|| !listener.is_cancelled())? {
        Some(first) => {
            let count = first.dim().0;
            (Movie::of(first).map_err(failed)?, 0..count)
        }
        None => (stack.movie()?, frames),
    };
    let (mut blocks, mut taken) = (Vec::new(), 0);
    listener.begin(most.min(frames.len()) as u64, "frames");
    for part in frames_to_learn(frames, size, most) {
        go_on(listener)?;
        movie.skip_to(part.start).map_err(failed)?;
        let mut left = part.len();
        while left > 0 {
            let Some(block) = Movie::read(&mut movie, left).map_err(failed)? else { break };
            let read = block.pixels.dim().0;
            (left, taken) = (left - read.min(left), taken + read);
            blocks.push(block);
        }
        listener.progress(taken as u64);
    }
    listener.end();
    Ok(blocks)
}
