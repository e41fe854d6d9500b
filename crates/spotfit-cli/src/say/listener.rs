//! The terminal as the listener of an operation.

use std::cell::RefCell;

use indicatif::ProgressBar;

use super::hearer::hearer;
use super::message::say;
use super::progress::progress;
use crate::error::words_of;
use crate::interrupt;
use spotfit::steps::{Listener, Note};

/// Prints notes on standard error, shows a bar there, and ends the operation when the user asks for it.
#[derive(Default)]
pub(crate) struct Terminal {
    bar: RefCell<Option<ProgressBar>>,
    no_bar: bool,
}

impl Terminal {
    /// Shows no bar: something else is drawn.
    pub(crate) fn without_bar() -> Self {
        Self { no_bar: true, ..Self::default() }
    }
}

impl Listener for Terminal {
    fn begin(&self, total: u64, unit: &'static str) {
        if let Some(hearer) = hearer() {
            return hearer.begin(total, unit);
        }
        if self.no_bar {
            return;
        }
        // Localizing tells how many spots it has found, too.
        self.bar.replace(Some(progress(total, unit, unit == "frames")));
    }

    fn progress(&self, done: u64) {
        interrupt::fault_of_tests();
        if let Some(hearer) = hearer() {
            return hearer.progress(done);
        }
        if let Some(bar) = &*self.bar.borrow() {
            bar.set_position(done);
        }
    }

    fn found(&self, localizations: u64) {
        if let Some(hearer) = hearer() {
            return hearer.found(localizations);
        }
        if let Some(bar) = &*self.bar.borrow() {
            bar.set_message(format!("{localizations} spots"));
        }
    }

    fn end(&self) {
        if let Some(hearer) = hearer() {
            return hearer.end();
        }
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn note(&self, note: &Note) {
        if let Some(hearer) = hearer() {
            return hearer.note(note);
        }
        let text = words_of(note.text());
        let tell = || match note {
            Note::Warning(_) => say!("spotfit: warning: {text}"),
            Note::Part(_) => say!("{text}"),
            _ => say!("spotfit: {text}"),
        };
        match &*self.bar.borrow() {
            Some(bar) => bar.suspend(tell),
            None => tell(),
        }
    }

    fn is_cancelled(&self) -> bool {
        interrupt::check().is_err()
    }
}
