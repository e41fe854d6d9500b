//! What is told while movies are localized.

use std::path::Path;

use indicatif::ProgressBar;

use crate::error::{step, words_of};
use crate::interrupt;
use crate::say::message::say;
use crate::say::progress::progress;
use spotfit::steps::batch::{BatchListener, BatchProgress};
use spotfit::steps::{Note, StepError};

/// A bar of movies, and lines above it.
pub(super) struct Board {
    bar: ProgressBar,
    overwrite: bool,
}

impl Board {
    pub(super) fn new(overwrite: bool) -> Self {
        Self { bar: progress(0, "movies", true), overwrite }
    }

    /// Says something above the bar.
    fn say(&self, text: &str) {
        self.bar.suspend(|| say!("{text}"));
    }
}

impl BatchListener for Board {
    fn note(&self, movie: Option<&str>, note: &Note) {
        let kind = if let Note::Warning(_) = note { "warning: " } else { "" };
        let movie = movie.map(|movie| format!(" ({movie})")).unwrap_or_default();
        self.say(&format!("spotfit: {kind}{}{movie}", words_of(note.text())));
    }

    fn tell(&self, movie: &str, text: &str) {
        self.say(&format!("spotfit: {movie}: {text}"));
    }

    fn progress(&self, progress: &BatchProgress) {
        let BatchProgress { movies, finished, to_do, done, frames, localizations, .. } = *progress;
        let how = if self.overwrite { "without --overwrite the" } else { "the" };
        interrupt::means(format!(
            "{finished} of {movies} movies are finished; {how} same command goes on with the others"
        ));
        self.bar.set_length(to_do as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(format!("{frames} frames, {localizations} spots"));
        if frames > 0 {
            interrupt::fault_of_tests();
        }
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn words(&self, error: StepError, output: &Path) -> String {
        step(&output.display().to_string())(error).to_string()
    }

    fn warning(&self, note: &Note) -> String {
        words_of(note.text())
    }

    fn is_cancelled(&self) -> bool {
        interrupt::check().is_err()
    }
}
