//! Listeners: progress and notes during a batch.

use std::path::Path;

use crate::steps::{Note, Silent, StepError};

/// How far a batch is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BatchProgress {
    /// The movies of the batch.
    pub movies: usize,
    /// Those whose table is there.
    pub finished: usize,
    /// Those that this run has to look at.
    pub to_do: usize,
    /// Those of them that ended, well or not.
    pub done: usize,
    /// Frames that were localized.
    pub frames: u64,
    /// Localizations in them.
    pub localizations: u64,
}

/// Receives the progress of a batch and notes about its movies, and can end it. Several threads call it.
pub trait BatchListener: Sync {
    /// A note about a movie; about all of them if none is named.
    fn note(&self, movie: Option<&str>, note: &Note) {
        let _ = (movie, note);
    }

    /// Something happened with a movie: why it failed, for instance.
    fn tell(&self, movie: &str, text: &str) {
        let _ = (movie, text);
    }

    /// How far the batch is. It is called before the first movie, too.
    fn progress(&self, progress: &BatchProgress) {
        let _ = progress;
    }

    /// All movies have ended.
    fn end(&self) {}

    /// An error in words, as it stands in records and summaries. `output` is the table.
    fn words(&self, error: StepError, output: &Path) -> String {
        let _ = output;
        error.to_string()
    }

    /// A warning in words, as it stands in records and summaries.
    fn warning(&self, note: &Note) -> String {
        note.text().to_owned()
    }

    /// Whether the batch should end. Movies that were localized stay.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Ignores everything.
impl BatchListener for Silent {}
