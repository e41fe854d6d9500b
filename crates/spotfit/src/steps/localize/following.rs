//! Movies that somebody else is writing, and what waits for their first frames.

use std::io;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

use super::defects;
use super::doubts::{Hears, Kept, Topic};
use super::options::LocalizeOptions;
use super::report::LocalizeReport;
use super::{CameraOptions, DefectsOption};
use crate::localize::{Defects, frames_for_estimates};
use crate::movie::{GrowingMovie, Movie};
use crate::record::{self, InputFile};
use crate::steps::{Note, PixelScale, Stack, StepError};

/// Pixels that take longer to look at than some blocks to search.
const LONG: usize = 1 << 22;

/// How a movie is followed. Its reader stops when this is dropped.
#[derive(Debug)]
pub(super) struct Following {
    stop: Option<Arc<AtomicBool>>,
    promised: Option<usize>,
    /// What was said of it already.
    notes: usize,
}

impl Drop for Following {
    fn drop(&mut self) {
        if let Some(stop) = &self.stop {
            stop.store(true, Ordering::Relaxed);
        }
    }
}

impl Following {
    /// For a movie that somebody is writing; nothing for another.
    ///
    /// # Errors
    /// [`StepError::Options`] where its rows could not be those of the movie at the end.
    pub(super) fn of(movie: &mut Stack, scale: PixelScale) -> Result<Option<Self>, StepError> {
        let Some(follow) = movie.followed() else { return Ok(None) };
        let stop = follow.stop.clone();
        let name = movie.name().to_owned();
        let of = |movie: &Movie| {
            let growing = movie.growing()?;
            Some((growing.promised(), growing.ends_with_metadata(), growing.notes().len()))
        };
        let Some((promised, waits, notes)) = movie.about(of)? else { return Ok(None) };
        if waits && scale == PixelScale::OfMovie {
            let reason = "Micro-Manager writes the size of a pixel when the acquisition ends: give `pixel_size` NM|px";
            return Err(StepError::Options(format!("{name}: {reason}")));
        }
        Ok(Some(Self { stop, promised, notes }))
    }

    /// How many frames the metadata promise; 0 if they do not.
    pub(super) fn promised(&self) -> usize {
        self.promised.unwrap_or(0)
    }

    /// Tells how the movie has ended, and what it is not that it was.
    pub(super) fn tell_end(&self, movie: &GrowingMovie, hears: &dyn Hears) {
        let warn = |note: String| hears.hear(Topic::Metadata, Note::Warning(note));
        movie.notes().iter().skip(self.notes).cloned().for_each(warn);
        if movie.has_ended()
            && let Some(contradiction) = movie.contradiction()
        {
            warn(contradiction);
        }
    }
}

/// What is to be looked for in the first frames of a movie while others are localized.
#[derive(Debug)]
pub(super) struct Doubting {
    movie: Stack,
    frames: usize,
    camera: CameraOptions,
    asked: Option<DefectsOption>,
    defects: Option<Arc<Defects>>,
}

/// Who looks at the first frames; waited for when this is dropped, since a file is open meanwhile.
#[derive(Debug)]
pub(super) struct Aside(Option<JoinHandle<Vec<(Topic, Note)>>>);

impl Drop for Aside {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // Nobody hears of it any more.
            let _ = thread.join();
        }
    }
}

impl Aside {
    /// What is to be told.
    ///
    /// # Panics
    /// If the thread panicked.
    pub(super) fn into_notes(mut self) -> Vec<(Topic, Note)> {
        let notes = self.0.take().map_or_else(|| Ok(Vec::new()), JoinHandle::join);
        notes.unwrap_or_else(|panic| resume_unwind(panic))
    }
}

impl Doubting {
    pub(super) fn new(
        options: &LocalizeOptions,
        movie: Stack,
        size: (usize, usize),
        defects: Option<Arc<Defects>>,
    ) -> Self {
        let (camera, asked) = (options.camera.clone(), options.defects.clone());
        Self { movie, frames: frames_for_estimates(size), camera, asked, defects }
    }

    /// Whether these frames are so large that those who search others would wait for whoever looks at them.
    pub(super) fn takes_long(&self, (width, height): (usize, usize)) -> bool {
        self.frames.saturating_mul(width * height) > LONG
    }

    /// How many of the first frames are looked at.
    pub(super) fn frames(&self) -> usize {
        self.frames
    }

    /// Finds out what is to be told while others work on.
    ///
    /// # Errors
    /// There is no thread for that.
    pub(super) fn aside(self) -> io::Result<Aside> {
        let look = move || {
            let kept = Kept::default();
            self.tell(usize::MAX, &kept);
            kept.into_notes()
        };
        Ok(Aside(Some(Builder::new().name("spotfit-doubt".to_owned()).spawn(look)?)))
    }

    /// Tells of what is not known of the camera, and what the first frames, so many at most, say against what is.
    pub(super) fn tell(self, most: usize, hears: &dyn Hears) {
        let Self { movie, camera, asked, defects, .. } = self;
        // What the maps of a camera say is not to be found out.
        let looks = asked.is_none() && camera.maps.is_none();
        let seen = looks.then(|| movie.first_of(most)).flatten();
        defects::tell(asked.as_ref(), defects.as_deref(), seen.as_ref(), hears);
        let first = |many: bool| movie.first_of(if many { most } else { 1 });
        camera.doubt_to(|many| seen.or_else(|| first(many)), hears);
    }
}

/// The files that were read of a movie that was being written, and those that options name, for the record of its table.
///
/// # Errors
/// A file cannot be read.
pub fn inputs_of(
    options: &LocalizeOptions,
    movie: &Path,
    report: &LocalizeReport,
) -> Result<Vec<InputFile>, StepError> {
    record::inputs(movie, &report.movie_files, &options.files()).map_err(StepError::refused)
}
