//! The attack: hostile files, options, signals, disks and streams, in short. With the environment variable
//! `SPOTFIT_ATTACK=long` it tries a thousand times as much:
//!
//! ```sh
//! SPOTFIT_ATTACK=long cargo test --release -p spotfit-cli --test attack -- --nocapture
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

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How often to try: `short` in an ordinary test, `long` where time does not matter.
fn effort(short: usize, long: usize) -> usize {
    if is_long() { long } else { short }
}

fn is_long() -> bool {
    std::env::var_os("SPOTFIT_ATTACK").is_some_and(|value| value == "long")
}

/// Does something for every number below `count`, on all processors, and gives what was said, in no order. These are
/// plain threads: a worker of rayon that waits for another pool, as a fit does, takes up the next case meanwhile, and in
/// it the next, until its stack is full.
fn in_parallel(count: usize, does: impl Fn(usize) -> Option<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let said = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    if let Some(words) = does(number) {
                        said.lock().expect("no panic").push(words);
                    }
                }
            });
        }
    });
    said.into_inner().expect("no panic")
}
