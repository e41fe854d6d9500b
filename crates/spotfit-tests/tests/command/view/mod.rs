//! The server of the window: whom it answers, what it answers, and what it leaves.

mod jobs;
mod pictures;
mod requests;
mod strangers;
mod window;

/// How often to try: `more` where time does not matter.
fn effort(usual: usize, more: usize) -> usize {
    if crate::common::thorough() { more } else { usual }
}
