//! Ctrl-C and a request to terminate end the work between two chunks, so that nothing is left
//! behind.

use std::sync::atomic::{AtomicBool, Ordering};

use super::error::CliError;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Starts to watch for signals. A second one ends the process at once.
pub(crate) fn watch() {
    // Where signals cannot be caught they end the process, as they would without this.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
}

/// An error if the user wants the work to end.
pub(crate) fn check() -> Result<(), CliError> {
    if INTERRUPTED.load(Ordering::Relaxed) { Err(CliError::Interrupted) } else { Ok(()) }
}
