//! What is told while movies are localized.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use indicatif::ProgressBar;

use super::plan::Task;
use crate::say::message::say;
use crate::say::progress::progress;
use crate::words::localize::{Listener, Topic};
use spotfit::localize::Counts;

/// What all movies share: a bar, and what was told already.
pub(super) struct Board {
    bar: ProgressBar,
    told: Mutex<HashSet<(Topic, String)>>,
    frames: AtomicUsize,
    spots: AtomicUsize,
}

impl Board {
    pub(super) fn new(movies: usize) -> Self {
        let bar = progress(movies as u64, "movies", true);
        let (frames, spots) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { bar, told: Mutex::new(HashSet::new()), frames, spots }
    }

    /// Says something above the bar.
    pub(super) fn say(&self, text: String) {
        self.bar.suspend(|| say!("{text}"));
    }

    /// One more movie is done.
    pub(super) fn done(&self) {
        self.bar.inc(1);
    }

    pub(super) fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// Listens to one movie.
pub(super) struct Hearing<'a> {
    task: &'a Task,
    board: &'a Board,
    /// Frames and spots that the board knows of.
    seen: Cell<(usize, usize)>,
}

impl<'a> Hearing<'a> {
    pub(super) fn new(task: &'a Task, board: &'a Board) -> Self {
        Self { task, board, seen: Cell::new((0, 0)) }
    }
}

impl Listener for Hearing<'_> {
    fn wants(&self, topic: Topic) -> bool {
        let told = self.board.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.iter().all(|(other, _)| *other != topic)
    }

    fn hear(&self, topic: Topic, text: String) {
        // What differs from movie to movie by numbers alone is told of one.
        let key = if topic == Topic::Metadata { text.clone() } else { String::new() };
        let mut told = self.board.told.lock().unwrap_or_else(PoisonError::into_inner);
        let new = told.insert((topic, key));
        drop(told);
        match topic {
            _ if !new => {}
            Topic::Baseline => self.board.say(text),
            _ => self.board.say(format!("{text} ({})", self.task.movie)),
        }
    }

    fn begin(&self, _: usize) {}

    fn progress(&self, counts: &Counts) {
        let (frames, spots) = self.seen.replace((counts.frames, counts.kept));
        let add = |to: &AtomicUsize, more: usize| to.fetch_add(more, Ordering::Relaxed) + more;
        let frames = add(&self.board.frames, counts.frames.saturating_sub(frames));
        let spots = add(&self.board.spots, counts.kept.saturating_sub(spots));
        self.board.bar.set_message(format!("{frames} frames, {spots} spots"));
    }

    fn end(&self) {}
}
