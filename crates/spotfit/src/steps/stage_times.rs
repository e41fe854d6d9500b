//! How long the stages of an operation take.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

use super::fitted::seconds;

/// How long the stages of an operation took all threads. Where each thread does one stage after the other, that is the mean over the threads,
/// and all together took as long as the operation. Where a GPU fits, reading and writing go on meanwhile, and all together took longer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct StageTimes {
    /// Reading the input.
    #[serde(serialize_with = "seconds")]
    pub read: Duration,
    /// Fitting, with errors if they are wanted.
    #[serde(serialize_with = "seconds")]
    pub fit: Duration,
    /// Making rows and writing them.
    #[serde(serialize_with = "seconds")]
    pub write: Duration,
    /// Waiting for other threads.
    #[serde(serialize_with = "seconds")]
    pub waited: Duration,
}

impl StageTimes {
    /// How long it took all threads, where these are the sums over threads that worked and waited: `at_once` at the same stage at a time, of
    /// `threads`.
    pub(super) fn mean(self, at_once: usize, threads: usize) -> Self {
        let of = |sum: Duration, threads: usize| sum.div_f64(threads.max(1) as f64);
        let Self { read, fit, write, waited } = self;
        let [read, fit, write] = [read, fit, write].map(|sum| of(sum, at_once));
        Self { read, fit, write, waited: of(waited, threads) }
    }
}

impl AddAssign for StageTimes {
    fn add_assign(&mut self, other: Self) {
        self.read += other.read;
        self.fit += other.fit;
        self.write += other.write;
        self.waited += other.waited;
    }
}

/// As in `read 0.41 s, fit 0.20, write 0.11, waited 0.00`.
impl fmt::Display for StageTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [read, fit, write, waited] =
            [self.read, self.fit, self.write, self.waited].map(|time| time.as_secs_f64());
        write!(f, "read {read:.2} s, fit {fit:.2}, write {write:.2}, waited {waited:.2}")
    }
}
