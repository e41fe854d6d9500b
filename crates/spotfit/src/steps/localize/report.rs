//! What came of localizing a movie.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::localize::{ApertureCorrection, DropReason, Dropped, Emitters, Localizer};
use crate::stage_times::StageTimes;
use crate::steps::fitted::{backend, by_status, psf_backend, rate, seconds};
use crate::steps::words::{counted, counted_or_none};
use crate::{Status, StatusCounts};

/// Why spots are missing, in words.
fn in_words(dropped: &Dropped) -> [(usize, &'static str); 11] {
    [
        (dropped.at_edge, DropReason::AtEdge.in_words()),
        (dropped.no_frame, "in frames not looked at"),
        (dropped.not_bright, DropReason::NotBright.in_words()),
        (dropped.wandered, DropReason::Wandered.in_words()),
        (dropped.not_finite, DropReason::NotFinite.in_words()),
        (dropped.undetermined, DropReason::Undetermined.in_words()),
        (dropped.saturated, DropReason::Saturated.in_words()),
        (dropped.neighbour, DropReason::Neighbour.in_words()),
        (dropped.residual, DropReason::Residual.in_words()),
        (dropped.width, DropReason::Width.in_words()),
        (dropped.crowd, DropReason::Crowd.in_words()),
    ]
}

/// If a larger share of spots has another one within a box, windows are not what to fit.
const CROWDED: f64 = 0.25;

/// What came of localizing a movie.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct LocalizeReport {
    /// The frames that were localized.
    pub frames: usize,
    /// What they are, where it is not plain.
    pub frames_are: Option<String>,
    /// Candidates found, or positions given.
    pub candidates: usize,
    /// Fits made.
    pub fits: usize,
    /// The share of spots that have another one within a box, if it is known: with flags or emitters that are fitted together of all, otherwise of those
    /// in every 32nd frame.
    pub neighbours: Option<f64>,
    /// Whether it would help to fit them together.
    #[serde(skip)]
    pub(super) crowded: bool,
    /// How many ended in which way.
    #[serde(serialize_with = "by_status")]
    pub statuses: StatusCounts,
    /// How many converged, with those at an end of the range of z.
    pub converged: usize,
    /// Fits with a measured PSF that ended at an end of the range of z: the spots are there or beyond.
    pub at_end: usize,
    /// The defective pixels that were masked.
    pub defects: usize,
    /// How many frames told the background of a frame, if it is that over time; as many as the movie has, if those are fewer.
    pub background_frames: Option<usize>,
    /// By how much photons were multiplied, where that was asked for.
    pub aperture: Option<ApertureCorrection>,
    /// Those that are no localizations.
    pub dropped: Dropped,
    /// The localizations.
    pub localizations: usize,
    /// Those that fulfil the condition, if there is one.
    pub fulfilled: Option<usize>,
    /// Where they were fitted.
    pub backend: String,
    /// How long it took, in seconds when serialized.
    #[serde(serialize_with = "seconds")]
    pub time: Duration,
    /// How long the stages took. Reading and writing go on while spots are found and fitted.
    pub stages: StageTimes,
    /// The files of a movie that was being written, by now.
    #[serde(skip)]
    pub movie_files: Vec<PathBuf>,
}

impl LocalizeReport {
    /// The report of what a localizer has done in this time. `fulfilled` are the localizations for which a condition holds, if there is
    /// one.
    pub fn of(
        localizer: &Localizer,
        frames_are: Option<String>,
        fulfilled: Option<usize>,
        time: Duration,
    ) -> Self {
        let (counts, options) = (localizer.counts(), localizer.options());
        let alone = options.emitters == Emitters::One && options.positions.is_none();
        let share = counts.neighbours as f64 / counts.beside_others as f64;
        let neighbours = (counts.beside_others > 0).then_some(share);
        Self {
            frames: counts.frames,
            frames_are,
            candidates: counts.candidates,
            fits: counts.by_status.total(),
            neighbours,
            crowded: alone && neighbours.is_some_and(|share| share > CROWDED),
            statuses: counts.by_status,
            converged: counts.by_status.converged() + counts.at_end,
            at_end: counts.at_end,
            defects: localizer.defects().map_or(0, |defects| defects.pixels().len()),
            background_frames: localizer.background_frames(),
            aperture: localizer.aperture_correction(),
            dropped: counts.dropped,
            localizations: counts.kept,
            fulfilled,
            backend: match localizer.psf_fitter() {
                Some(fitter) => psf_backend(fitter),
                None => backend(localizer.fitter()),
            },
            time,
            stages: *localizer.stages(),
            movie_files: Vec::new(),
        }
    }

    /// What records count.
    pub fn counts(&self) -> BTreeMap<String, u64> {
        let all = [
            ("frames", self.frames),
            ("candidates", self.candidates),
            ("fits", self.fits),
            ("converged", self.converged),
        ];
        all.map(|(name, count)| (name.to_owned(), count as u64)).into()
    }
}

impl fmt::Display for LocalizeReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { frames, candidates, localizations, at_end, fits, converged, .. } = self;
        let mut lines = vec![format!(
            "{frames} frames: {candidates} candidates, {localizations} localizations"
        )];
        lines.extend(self.frames_are.clone());
        lines.extend(self.background_frames.map(|frames| {
            format!("background: the median of each pixel over {frames} frames, and a constant for each fit")
        }));
        lines.extend(self.neighbours.filter(|_| self.crowded).map(|share| {
            let share = 100.0 * share;
            format!("{share:.0} % of the spots have another one within a box: emitters auto would fit them together")
        }));
        lines.extend(self.aperture.as_ref().map(ToString::to_string));
        let failed = self.statuses.iter().filter(|(status, _)| !status.is_converged());
        let failed = failed.map(|(status, count)| {
            let kept = if status == Status::AtLimit { *at_end } else { 0 };
            (count - kept, status.name())
        });
        let dropped = counted_or_none(in_words(&self.dropped).into_iter().chain(failed));
        lines.push(format!("{converged} of {fits} fits converged; dropped: {dropped}"));
        lines.extend(counted([(
            *at_end,
            "of them at an end of the PSF's range or family: they are there or beyond",
        )]));
        let seconds = self.time.as_secs_f64();
        let (speed, rate) = (*frames as f64 / seconds, rate(*fits, self.time));
        lines.push(format!("{seconds:.2} s: {speed:.0} frames/s, {rate}; {}", self.backend));
        lines.push(self.stages.to_string());
        lines.extend(self.fulfilled.map(|written| {
            format!("{written} of {localizations} fulfil the condition and were written")
        }));
        f.write_str(&lines.join("\n"))
    }
}
