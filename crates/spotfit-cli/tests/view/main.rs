//! The server of the window: whom it answers, what it answers, and what it leaves.
#![cfg(feature = "view")]

#[path = "../common/mod.rs"]
mod common;

mod jobs;
mod pictures;
mod requests;
mod strangers;
mod window;

/// How often to try: ten times as much where time does not matter.
fn effort(usual: usize) -> usize {
    if std::env::var_os("SPOTFIT_TESTS").is_some_and(|tests| tests == "all") {
        10 * usual
    } else {
        usual
    }
}
