//! Ctrl-C, a request to terminate and a fault of the program end the process, and leave nothing behind.
//!
//! After a signal the work ends between two chunks if that is soon enough. Otherwise, in a read that blocks or a chunk that takes
//! long, the process ends without it. A panic ends it at once, on whatever thread: what is published cannot unwind.

use std::io::{Write as _, stderr};
use std::process::exit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use std::{panic, thread};

use super::error::CliError;
use crate::say::hearer::hearer;
use crate::say::message::say;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What an interruption means for the outputs, where it is more than that there are none.
static MEANING: Mutex<Option<String>> = Mutex::new(None);

/// How long the work may take to end by itself.
const GRACE: Duration = Duration::from_millis(400);
/// How long the process may take to end after that: libraries clean up too.
const END: Duration = Duration::from_millis(400);
/// The same after a fault, of which pages hear first.
const FAULT_END: Duration = Duration::from_secs(10);

/// The exit status of a process that was interrupted.
pub(crate) const STATUS: u8 = 130;

/// What is said of a fault after what and where it was, and its exit status, which is that of Rust.
const FAULT: (&str, i32) = ("this is a fault of Spotfit, which ends; please report it", 101);

/// Who else hears of a fault.
type Hears = Box<dyn Fn(&str) + Send + Sync>;
static HEARS: OnceLock<Hears> = OnceLock::new();

fn meaning() -> MutexGuard<'static, Option<String>> {
    MEANING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says what an interruption from now on means for the outputs.
pub(crate) fn means(what: String) {
    *meaning() = Some(what);
}

/// What to say of an interruption.
pub(crate) fn words() -> String {
    let meaning = meaning();
    format!("interrupted; {}", meaning.as_deref().unwrap_or("no output was written"))
}

/// Starts to watch for signals. A second one does not wait for the work.
pub(crate) fn watch() {
    // Where signals cannot be caught they end the process, as they would without this.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) || !later(GRACE, end) {
            end();
        }
    });
    #[cfg(unix)]
    {
        // A file that may not grow further is an error to report, and must not end the process.
        let seen = std::sync::Arc::new(AtomicBool::new(false));
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, seen);
    }
}

/// A panic from now on ends the process.
pub(crate) fn end_at_faults() {
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |fault| {
        tell(fault);
        later(FAULT_END, || std::process::abort());
        let _abandoned = spotfit::output::abandon();
        let (words, status) = FAULT;
        let _ = writeln!(stderr(), "spotfit: {words}");
        if let Some(hears) = HEARS.get() {
            hears(words);
        }
        exit(status);
    }));
}

/// Somebody hears of a fault, too, on the thread that has it.
#[cfg(feature = "view")]
pub(crate) fn hears_faults(hears: impl Fn(&str) + Send + Sync + 'static) {
    let _ = HEARS.set(Box::new(hears));
}

/// A fault, if a test of a debug build asks for one.
pub(crate) fn fault_of_tests() {
    let asked = cfg!(debug_assertions) && std::env::var_os("SPOTFIT_FAULT").is_some();
    assert!(!asked, "a test asks for it");
}

/// Does something after a while; false if there can be no thread for it.
fn later(after: Duration, what: fn()) -> bool {
    let wait = move || {
        thread::sleep(after);
        what();
    };
    thread::Builder::new().spawn(wait).is_ok()
}

/// Removes what is not complete, and ends the process.
fn end() {
    later(END, || std::process::abort());
    let _abandoned = spotfit::output::abandon();
    say!("spotfit: {}", CliError::Interrupted);
    exit(STATUS.into());
}

/// An error if the user wants the work to end.
pub(crate) fn check() -> Result<(), CliError> {
    let ends = INTERRUPTED.load(Ordering::Relaxed);
    if ends || hearer().is_some_and(|hearer| hearer.is_cancelled()) {
        return Err(CliError::Interrupted);
    }
    Ok(())
}

/// Removes what is not complete, and ends the process as it should end.
#[cfg(feature = "view")]
pub(crate) fn close() -> ! {
    let _abandoned = spotfit::output::abandon();
    exit(0);
}
