//! The words that all operations that fit have in common: how fits ended, how fast they were, and where they ran.

use std::time::Duration;

use serde::ser::{SerializeMap, Serializer};

use super::{Listener, Note};
use crate::psf::PsfFitter;
use crate::stage_times::StageTimes;
use crate::{Backend, Estimator, Fitter, InstructionSet, StatusCounts};

/// What a thread that fits has done, or all of them.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) counts: StatusCounts,
    pub(super) at_limit: usize,
    pub(super) stages: StageTimes,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        self.counts.join(&other.counts);
        self.at_limit += other.at_limit;
        self.stages += other.stages;
    }
}

/// The backend of a fitter in words.
pub fn backend(fitter: &Fitter) -> String {
    let devices = devices(fitter);
    if devices.is_empty() {
        return on_cpu(fitter.backend(), fitter.instruction_set(), fitter.threads());
    }
    format!("gpu backend ({})", devices.join(", "))
}

/// A backend that has no devices, in words.
fn on_cpu(backend: Backend, set: Option<InstructionSet>, threads: usize) -> String {
    let set = set.map(|set| format!(" ({set})")).unwrap_or_default();
    format!("{backend} backend{set}, {threads} threads")
}

/// The names of the GPUs in use.
#[cfg(feature = "gpu")]
fn devices(fitter: &Fitter) -> Vec<String> {
    fitter.devices().into_iter().map(|info| info.name).collect()
}

#[cfg(not(feature = "gpu"))]
fn devices(_: &Fitter) -> Vec<String> {
    Vec::new()
}

/// The backend that fits with a measured PSF, in words.
pub fn psf_backend(fitter: &PsfFitter) -> String {
    on_cpu(fitter.backend(), fitter.instruction_set(), fitter.threads())
}

/// Fits per second in words.
pub fn rate(fits: usize, time: Duration) -> String {
    match fits as f64 / time.as_secs_f64() {
        rate if !rate.is_finite() || fits == 0 => "- fits/s".to_owned(),
        rate if rate >= 1e6 => format!("{:.2} million fits/s", rate / 1e6),
        rate => format!("{rate:.0} fits/s"),
    }
}

/// How many fits were found, in words: within the limits, and at one that the user has set.
pub(crate) fn found(converged: usize, at_limit: usize) -> String {
    match at_limit {
        0 => format!("{converged} converged"),
        _ => format!("{converged} converged, {at_limit} found at a limit"),
    }
}

/// Warns that counts are taken for photo-electrons because no camera is known, where that matters.
pub(crate) fn warn_of_camera(
    is_known: bool,
    estimator: Estimator,
    errors: bool,
    listener: &dyn Listener,
) {
    let who = match estimator {
        _ if is_known => return,
        Estimator::MaximumLikelihood if errors => "maximum likelihood and errors take",
        Estimator::MaximumLikelihood => "maximum likelihood takes",
        _ if errors => "errors take",
        _ => return,
    };
    let without = "no `baseline`, `sensitivity`, `em_gain`, `read_noise` or `camera` given";
    listener.note(&Note::Warning(format!("{without}; {who} counts for photo-electrons")));
}

/// How fits ended, in words.
pub(crate) fn counts(counts: &StatusCounts) -> String {
    if counts.total() > 0 { counts.to_string() } else { "nothing to do".to_owned() }
}

/// Writes counts with the names of all statuses.
pub(crate) fn by_status<S: Serializer>(
    counts: &StatusCounts,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (status, count) in counts.iter() {
        map.serialize_entry(status.name(), &count)?;
    }
    map.end()
}

/// Writes a time in seconds.
pub(crate) fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}
