//! Whole frames: what is found in simulated ones, with any options, and how.

mod equations;
mod heights;
mod hostile;
mod misfit;
mod parts;
mod simulated;
mod support;
mod windows;

/// Whether there is time: what needs many samples has all of them then.
fn is_nightly() -> bool {
    std::env::var_os("SPOTFIT_NIGHTLY").is_some_and(|value| value == "1")
}
