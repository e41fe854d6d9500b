//! How long the stages of an operation take.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

use serde::Serializer;

/// How long the stages of an operation took all threads. Where each thread does one stage after the other, that is the mean over the threads,
/// and all together took as long as the operation. Where a GPU fits, and in `localize`, writing goes on meanwhile, and reading where those who search
/// do not read themselves (with one thread, on a GPU, from files that are packed), and all together took longer: there whoever detects and
/// fits waits for frames to be read and for rows to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct StageTimes {
    /// Reading the input.
    #[serde(serialize_with = "seconds")]
    pub read: Duration,
    /// Finding where spots may be, if that is done: with the background over time.
    #[serde(serialize_with = "some_seconds", skip_serializing_if = "Option::is_none")]
    pub detect: Option<Duration>,
    /// Fitting, with errors if they are wanted. Where several emitters are fitted together, they are found by fitting.
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
    pub(crate) fn mean(self, at_once: usize, threads: usize) -> Self {
        let of = |sum: Duration, threads: usize| sum.div_f64(threads.max(1) as f64);
        let Self { read, detect, fit, write, waited } = self;
        let detect = detect.map(|sum| of(sum, at_once));
        let [read, fit, write] = [read, fit, write].map(|sum| of(sum, at_once));
        Self { read, detect, fit, write, waited: of(waited, threads) }
    }
}

impl AddAssign for StageTimes {
    fn add_assign(&mut self, other: Self) {
        self.read += other.read;
        if let Some(detect) = other.detect {
            *self.detect.get_or_insert_default() += detect;
        }
        self.fit += other.fit;
        self.write += other.write;
        self.waited += other.waited;
    }
}

/// As in `read 0.41 s, detect 0.30, fit 0.20, write 0.11, waited 0.00`.
impl fmt::Display for StageTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [read, fit, write, waited] =
            [self.read, self.fit, self.write, self.waited].map(|time| time.as_secs_f64());
        write!(f, "read {read:.2} s")?;
        if let Some(detect) = self.detect {
            write!(f, ", detect {:.2}", detect.as_secs_f64())?;
        }
        write!(f, ", fit {fit:.2}, write {write:.2}, waited {waited:.2}")
    }
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

fn some_seconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    seconds(&time.unwrap_or_default(), serializer)
}
