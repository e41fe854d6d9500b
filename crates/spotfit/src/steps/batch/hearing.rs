//! Progress and notes of one movie become those of its batch.

use std::cell::{Cell, RefCell};
use std::sync::atomic::Ordering;

use super::shared::{Batch, lock};
use super::task::Task;
use crate::steps::localize::{Hears, Topic};
use crate::steps::{Listener, Note};

/// Listens to one movie.
pub(super) struct Hearing<'a> {
    batch: &'a Batch<'a>,
    task: &'a Task,
    /// Frames and localizations that the batch knows of.
    seen: Cell<(u64, u64)>,
    warnings: RefCell<Vec<String>>,
}

impl<'a> Hearing<'a> {
    pub(super) fn new(batch: &'a Batch<'a>, task: &'a Task) -> Self {
        Self { batch, task, seen: Cell::new((0, 0)), warnings: RefCell::default() }
    }

    /// The warnings so far, each in one line.
    pub(super) fn warnings(&self) -> Vec<String> {
        self.warnings.borrow().clone()
    }

    fn keep(&self, note: &Note) {
        if let Note::Warning(_) = note {
            let text = self.batch.listener.warning(note).replace('\n', " ");
            self.warnings.borrow_mut().push(text);
        }
    }
}

impl Listener for Hearing<'_> {
    fn progress(&self, frames: u64) {
        let (before, found) = self.seen.get();
        self.seen.set((frames, found));
        self.batch.frames.fetch_add(frames.saturating_sub(before), Ordering::Relaxed);
    }

    fn found(&self, localizations: u64) {
        let (frames, before) = self.seen.get();
        self.seen.set((frames, localizations));
        let more = localizations.saturating_sub(before);
        self.batch.localizations.fetch_add(more, Ordering::Relaxed);
        self.batch.tell_progress(lock(&self.batch.done).1);
    }

    fn note(&self, note: &Note) {
        self.keep(note);
        self.batch.listener.note(Some(self.task.movie()), note);
    }

    fn is_cancelled(&self) -> bool {
        self.batch.listener.is_cancelled()
    }
}

impl Hears for Hearing<'_> {
    fn hear(&self, topic: Topic, note: Note) {
        self.keep(&note);
        // What is only not known is told of one movie; what is hardly right, of each.
        let differs = !matches!(topic, Topic::Baseline | Topic::Sensitivity | Topic::ReadNoise);
        let key = if differs { note.text().to_owned() } else { String::new() };
        if !lock(&self.batch.told).insert((topic, key)) {
            return;
        }
        let movie = Some(self.task.movie()).filter(|_| topic != Topic::Baseline);
        self.batch.listener.note(movie, &note);
    }
}
