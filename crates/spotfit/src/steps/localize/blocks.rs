//! The localizations of a movie, block by block.

use std::ops::Range;
use std::time::{Duration, Instant};

use super::doubts::{Hears, Topic};
use super::following::{Aside, Doubting, Following};
use super::report::LocalizeReport;
use super::{at_full_scale, lengths, uneven_light, unlike_gaussians};
use crate::localize::{Counts, Localization, Localizations, LocalizeError};
use crate::movie::{GrowingMovie, Movie};
use crate::steps::StepError;
use crate::table::{Filter, Info, Layout, Table};

/// After so many large frames it is told what somebody found out meanwhile.
const SOON: usize = 64;

/// The localizations of a movie, block by block: an iterator of tables, made by [`super::Localizing::blocks`].
#[derive(Debug)]
pub struct LocalizedBlocks {
    pub(super) name: String,
    pub(super) found: Localizations,
    pub(super) layout: Layout,
    pub(super) filter: Option<Filter>,
    pub(super) info: Info,
    pub(super) frames_are: Option<String>,
    /// Of the tables so far.
    pub(super) rows: usize,
    pub(super) begin: Instant,
    /// The frames that are localized, and as they were asked for.
    pub(super) frames: Range<usize>,
    pub(super) asked: Option<String>,
    /// Whether it was known from the start how many frames there are.
    pub(super) counted: bool,
    pub(super) following: Option<Following>,
    /// Whether the misfit, the full scale and slopes were told.
    pub(super) told: [bool; 3],
    /// What is still to be looked for in the first frames.
    pub(super) doubting: Option<Doubting>,
    /// Who looks for it meanwhile.
    pub(super) aside: Option<Aside>,
}

impl LocalizedBlocks {
    /// The counts of the blocks so far.
    pub fn counts(&self) -> &Counts {
        self.found.counts()
    }

    /// Tells of the full scale of the camera, of spots unlike Gaussians and of slopes of the light, each once and as soon as it is known.
    pub(super) fn tell(&mut self, hears: &dyn Hears) {
        let doubts = self.found.doubts();
        let notes = [
            (Topic::Misfit, doubts.misfit.as_ref().map(unlike_gaussians)),
            (Topic::FullScale, doubts.full_scale.as_ref().map(at_full_scale)),
            (Topic::Slopes, doubts.slopes.as_ref().map(uneven_light)),
        ];
        for (told, (topic, note)) in self.told.iter_mut().zip(notes) {
            if let Some(note) = note.filter(|_| !*told) {
                *told = true;
                hears.hear(topic, note);
            }
        }
    }

    /// Tells of doubts as soon as the first frames are there.
    pub(super) fn doubt(&mut self, hears: &dyn Hears) {
        let seen = self.frames.start.saturating_add(self.found.counts().frames);
        let has_ended = self.found.movie().is_some();
        let is_due = |doubting: &mut Doubting| match &self.following {
            Some(_) => has_ended || seen >= doubting.frames(),
            None => true,
        };
        if let Some(doubting) = self.doubting.take_if(is_due) {
            // Of a movie that has ended no more are waited for.
            doubting.tell(if has_ended { seen } else { usize::MAX }, hears);
        }
        // By then it has been found out; the clock does not say in which order things are told.
        if has_ended || self.found.counts().frames >= SOON {
            self.hear_aside(hears);
        }
    }

    /// Waits for what somebody looks for meanwhile, and tells it.
    pub(super) fn hear_aside(&mut self, hears: &dyn Hears) {
        let notes = self.aside.take().map(Aside::into_notes).unwrap_or_default();
        notes.into_iter().for_each(|(topic, note)| hears.hear(topic, note));
    }

    /// Tells how a movie has ended of which it was not known when.
    pub(super) fn tell_end(&self, hears: &dyn Hears) -> Result<(), StepError> {
        let Some(movie) = self.found.movie().filter(|_| !self.counted) else { return Ok(()) };
        let count = movie.growing().map_or(movie.frames(), GrowingMovie::frames);
        if let Some(text) = self.asked.as_deref().filter(|_| count <= self.frames.start) {
            return Err(lengths::wrong_frames(text, Some(count)));
        }
        if let (Some(following), Some(growing)) = (&self.following, movie.growing()) {
            following.tell_end(growing, hears);
        }
        Ok(())
    }

    /// The next table within a while; nothing if there is none yet, and nothing in it at the end.
    pub(super) fn next_within(
        &mut self,
        time: Duration,
    ) -> Option<Option<Result<Table, StepError>>> {
        let found = self.found.next_within(time)?;
        Some(found.map(|found| self.table(found)))
    }

    /// The table of the localizations of a block.
    fn table(
        &mut self,
        found: Result<Vec<Localization>, LocalizeError>,
    ) -> Result<Table, StepError> {
        let found = found.map_err(StepError::localize(Some(&self.name)))?;
        if !self.counted {
            self.info.frames = Some(self.frames.start + self.found.counts().frames);
        }
        let mut block = self.layout.table(&found, &self.info);
        if let Some(filter) = &self.filter {
            block.retain(&filter.keep(&block).map_err(StepError::refused)?);
        }
        self.rows += block.rows();
        Ok(block)
    }

    /// The report of the blocks so far.
    pub fn finish(self) -> LocalizeReport {
        let written = self.filter.is_some().then_some(self.rows);
        let growing = self.found.movie().and_then(Movie::growing);
        let files = growing.map(|growing| growing.files().to_vec());
        let localizer = self.found.into_localizer();
        let report = LocalizeReport::of(&localizer, self.frames_are, written, self.begin.elapsed());
        LocalizeReport { movie_files: files.unwrap_or_default(), ..report }
    }
}

impl Iterator for LocalizedBlocks {
    type Item = Result<Table, StepError>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.found.next()?;
        Some(self.table(found))
    }
}
