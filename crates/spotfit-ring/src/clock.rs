//! The clock that the programs of one machine share.

/// Nanoseconds of the system's monotonic clock, which all programs of a machine share: `CLOCK_MONOTONIC` of C and
/// `time.monotonic_ns()` of Python. On systems that are not like Unix it is a clock of this program.
pub fn now() -> u64 {
    clock()
}

#[cfg(unix)]
fn clock() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let rest = u64::try_from(time.tv_nsec).unwrap_or_default();
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

#[cfg(not(unix))]
fn clock() -> u64 {
    use std::sync::OnceLock;
    use std::time::Instant;
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos().try_into().unwrap_or(u64::MAX)
}
