//! The memory that reading takes, counted where it is allocated. It counts for the process, so the tests take turns.

#[path = "../common/library/mod.rs"]
mod common;
#[path = "../common/library/memory.rs"]
mod memory;

mod large_frames;
mod mutated_files;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The right to be the only test that runs, as long as it is held.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    // Another test that has failed is no reason to fail.
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
