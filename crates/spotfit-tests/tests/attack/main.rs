//! The attack: hostile files, options, signals, disks and streams, in short. With the environment variable
//! `SPOTFIT_ATTACK=long` it tries hundreds of times as much:
//!
//! ```sh
//! SPOTFIT_ATTACK=long cargo test --release -p spotfit-tests --test attack -- --nocapture
//! ```
//!
//! Each part says what it tried. All is made from seeds: what fails names its case, and fails again. Hostile windows
//! are in `fit-tests/tests/spots/robustness.rs`, with the same switch.

#[path = "../common/mod.rs"]
mod common;

#[cfg(unix)]
mod disks;
mod files;
mod formats;
mod memory;
mod mutate;
#[cfg(unix)]
mod options;
#[cfg(unix)]
mod process;
mod seeds;
#[cfg(unix)]
mod signals;
#[cfg(unix)]
mod streams;

/// How often to try: `short` in an ordinary test, `long` where time does not matter.
fn effort(short: usize, long: usize) -> usize {
    if is_long() { long } else { short }
}

fn is_long() -> bool {
    std::env::var_os("SPOTFIT_ATTACK").is_some_and(|value| value == "long")
}
