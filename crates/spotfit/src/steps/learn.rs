//! The PSF of a movie, learnt from its own spots: a movie in, a measured PSF out.

use std::fmt;

use super::fitted::unknown_camera;
use super::localize::{LocalizeOptions, find_defects, frames_of};
use super::words::go_on;
use super::{Listener, Note, Stack, StepError};
use crate::movie::{Block, Movie};
use crate::psf::{LearnPsfError, Psf, learn_while};
use crate::{Estimator, OutOfRange};

/// Frames that follow each other are read together, so many of them.
const TOGETHER: usize = 16;
/// The fewest parts, and the most pixels of one.
const LEAST_PARTS: usize = 10;
const PART_PIXELS: usize = 1 << 22;
/// The most pixels of all frames: half a gigabyte at most.
const MOST_PIXELS: usize = 1 << 27;

/// How a PSF is learnt.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LearnOptions {
    /// How the movie would be localized: camera, maps, defects, saturation, false rate, ROI, frames, size of a pixel, threads and instruction
    /// set. Other options do not matter.
    pub localize: LocalizeOptions,
    /// The most frames that are looked at, from all of the movie. Range: 1 or more.
    pub learn_frames: usize,
}

impl Default for LearnOptions {
    fn default() -> Self {
        Self { localize: LocalizeOptions::default(), learn_frames: 1000 }
    }
}

impl LearnOptions {
    fit_core::__setters! {
        with_localize: localize: LocalizeOptions,
        const with_learn_frames: learn_frames: usize,
    }
}

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
    /// The extent of the PSF along x and along y, in pixels.
    pub size: [usize; 2],
    /// The share of a spot's photons in these pixels.
    pub light: f64,
    /// The mean deviance of a pixel of spots that were held out: about 1 if the PSF is right.
    pub deviance: f64,
    /// The same with a Gaussian of two widths for each spot.
    pub gaussian: f64,
    /// The side of the largest windows that can be fitted with it, in pixels.
    pub largest_window: usize,
}

impl fmt::Display for LearnReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { frames, used, held_out, rounds, light, deviance, gaussian, .. } = self;
        let [columns, rows] = self.size;
        writeln!(
            f,
            "learnt from {used} spots of {frames} frames in {rounds} rounds: {columns}×{rows} pixels with {:.0} % of the light; no heights",
            100.0 * light
        )?;
        writeln!(
            f,
            "deviance of a pixel in {held_out} spots that were held out: {deviance:.3}, with Gaussians {gaussian:.3}"
        )?;
        write!(f, "for this movie and its like: `spotfit localize --psf`, `--emitters auto`")
    }
}

/// Learns the PSF of a movie from its own spots, without beads.
///
/// # Errors
/// [`StepError::Refused`] where the spots are too few or too dim, or where Gaussians describe spots that were held out as well; other
/// [`StepError`]s.
pub fn run(
    options: &LearnOptions,
    mut movie: Stack,
    listener: &dyn Listener,
) -> Result<Learned, StepError> {
    let LearnOptions { localize: asked, learn_frames } = options;
    OutOfRange::check("learn_frames", *learn_frames as f64, *learn_frames > 0, "1 or more")?;
    for (name, given) in [
        ("psf", asked.psf.is_some()),
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
    if !movie.is_at_hand() {
        let reason =
            "a PSF is learnt from frames of all of the movie; give a file that is complete";
        return Err(StepError::input(&name, reason.to_owned()));
    }
    let (asked, by_metadata) = movie.about(|movie| asked.by_metadata(movie, &name))??;
    by_metadata.iter().for_each(|note| listener.note(note));
    let (size, count) = movie.about(|movie| (movie.size(), movie.frames()))?;
    let pixel_size = movie.about(|movie| asked.pixel_size.of(movie))?;
    let told = asked.told(pixel_size)?;
    told.notes.iter().for_each(|note| listener.note(&Note::Warning(note.clone())));
    let engine = told.options;
    if asked.camera.camera().is_none()
        && engine.map.is_none()
        && let Some(text) = unknown_camera(Estimator::MaximumLikelihood, true)
    {
        listener.note(&Note::Warning(text));
    }
    let (given, map) = (engine.defects.as_deref(), engine.map.as_deref());
    let found = find_defects(asked.defects.as_ref(), given, map, &movie)?;
    let engine = if found.is_some() { engine.with_defects(found) } else { engine };
    let frames = frames_of(asked.frames.as_deref(), count)?;
    let most = (MOST_PIXELS / (size.0 * size.1).max(1)).clamp(1, *learn_frames);
    let blocks = read(&mut movie, frames, (size, most), listener)?;
    let learnt = learn_while(&blocks, &engine, &|| !listener.is_cancelled());
    let learnt = learnt.map_err(|error| match error {
        LearnPsfError::Localize(source) => StepError::localize(None)(source),
        LearnPsfError::Cancelled => StepError::Cancelled,
        error => StepError::input(&name, error.to_string()),
    })?;
    let psf = learnt.psf;
    let [rows, columns] = psf.extent();
    let report = LearnReport {
        frames: learnt.frames,
        used: learnt.spots,
        held_out: learnt.held_out,
        rounds: learnt.rounds,
        size: [columns, rows],
        light: psf.light(),
        deviance: learnt.deviance,
        gaussian: learnt.gaussian,
        largest_window: rows.min(columns) - 1,
    };
    Ok(Learned { psf, pixel_size, report })
}

/// So many of the frames, some together, from all of their range.
fn read(
    stack: &mut Stack,
    frames: std::ops::Range<usize>,
    (size, most): ((usize, usize), usize),
    listener: &dyn Listener,
) -> Result<Vec<Block>, StepError> {
    let name = stack.name().to_owned();
    let failed = |source| StepError::Movie { name: name.clone(), source };
    let mut movie = stack.movie()?;
    let mut blocks = Vec::new();
    // A few megabytes, and parts enough to hold some out.
    let pixels = size.0.saturating_mul(size.1).max(1);
    let together = TOGETHER.min(most.div_ceil(LEAST_PARTS)).min((PART_PIXELS / pixels).max(1));
    let parts = most.min(frames.len()).div_ceil(together).max(1);
    listener.begin(most.min(frames.len()) as u64, "frames");
    let mut taken = 0;
    for part in 0..parts {
        go_on(listener)?;
        let many = most.saturating_sub(taken).min(together);
        // Where there are no more, one part follows the other.
        let gap = frames.len().saturating_sub(most.min(frames.len()));
        let first = frames.start + taken + gap * part / parts.saturating_sub(1).max(1);
        movie.skip_to(first).map_err(failed)?;
        let mut left = many.min(frames.end.saturating_sub(first));
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
