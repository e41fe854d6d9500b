//! Whole frames: what is found in them, how often there is nothing, and what stays in all of them.

mod candidates;
#[cfg(feature = "gpu")]
mod device;
mod medians;
mod plain;
mod rates;
mod sweeps;

/// Whether there is time: what needs many samples has all of them then.
fn is_nightly() -> bool {
    std::env::var_os("SPOTFIT_NIGHTLY").is_some_and(|value| value == "1")
}
