//! The server of the window: whom it answers, what it answers, and what it leaves.

mod jobs;
mod pictures;
mod requests;
mod strangers;
mod window;

/// How often to try: `more` where time does not matter.
fn effort(usual: usize, more: usize) -> usize {
    if std::env::var_os("SPOTFIT_TESTS").is_some_and(|tests| tests == "all")
        || crate::common::nightly()
    {
        more
    } else {
        usual
    }
}
