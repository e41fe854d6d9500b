//! What a part of the attack takes of memory.

use std::fs;

/// The peak of this process in kilobytes, where the system tells it.
pub(crate) fn peak() -> Option<u64> {
    of(&fs::read_to_string("/proc/self/status").ok()?)
}

/// The peak that a process's status tells.
pub(crate) fn of(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Fails if the peak rises by more than so many megabytes while something is done.
pub(crate) fn bounded<T>(megabytes: u64, what: &str, does: impl FnOnce() -> T) -> T {
    let before = peak();
    let done = does();
    if let (Some(before), Some(after)) = (before, peak()) {
        let grown = after.saturating_sub(before) / 1024;
        println!("{what}: the peak of memory rose by {grown} MB");
        assert!(grown <= megabytes, "{what} took {grown} MB, {megabytes} MB are allowed");
    }
    done
}
