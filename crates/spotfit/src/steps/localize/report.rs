//! What came of localizing a movie.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::localize::{Counts, Localizer};
use crate::steps::fitted::{backend, by_status, psf_backend, rate, seconds};
use crate::{Status, StatusCounts};

/// How many candidates and fits became no localizations, by the reason. Fits that did not converge are counted by their status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Dropped {
    /// The window would cross the frame's edge.
    pub at_edge: usize,
    /// A position is in a frame that was not looked at.
    pub no_frame: usize,
    /// The amplitude is not positive.
    pub not_bright: usize,
    /// The centre moved to a neighbour.
    pub wandered: usize,
    /// A number in photons is not finite.
    pub not_finite: usize,
    /// The errors of x or y are infinite.
    pub undetermined: usize,
    /// A pixel is saturated.
    pub saturated: usize,
    /// There is a neighbour.
    pub neighbour: usize,
    /// The residuals are larger than the noise.
    pub residual: usize,
    /// The spot is wider or narrower than the others.
    pub width: usize,
    /// There may be more emitters than could be told apart.
    pub crowd: usize,
}

impl Dropped {
    fn new(counts: &Counts) -> Self {
        Self {
            at_edge: counts.at_edge,
            no_frame: counts.no_frame,
            not_bright: counts.not_bright,
            wandered: counts.wandered,
            not_finite: counts.not_finite,
            undetermined: counts.undetermined,
            saturated: counts.saturated,
            neighbour: counts.neighbour,
            residual: counts.residual,
            width: counts.width,
            crowd: counts.crowd,
        }
    }

    fn in_words(&self) -> [(&'static str, usize); 11] {
        [
            ("at the frame's edge", self.at_edge),
            ("in frames not looked at", self.no_frame),
            ("amplitude not positive", self.not_bright),
            ("moved to a neighbour", self.wandered),
            ("not finite in photons", self.not_finite),
            ("with infinite errors of x or y", self.undetermined),
            ("saturated", self.saturated),
            ("with a neighbour", self.neighbour),
            ("with residuals larger than the noise", self.residual),
            ("wider or narrower than the others", self.width),
            ("in a crowd", self.crowd),
        ]
    }
}

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
        let counts = localizer.counts();
        Self {
            frames: counts.frames,
            frames_are,
            candidates: counts.candidates,
            fits: counts.by_status.total(),
            statuses: counts.by_status,
            converged: counts.by_status.converged() + counts.at_end,
            at_end: counts.at_end,
            defects: localizer.defects().map_or(0, |defects| defects.pixels().len()),
            background_frames: localizer.background_frames(),
            dropped: Dropped::new(counts),
            localizations: counts.kept,
            fulfilled,
            backend: match localizer.psf_fitter() {
                Some(fitter) => psf_backend(fitter),
                None => backend(localizer.fitter()),
            },
            time,
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
        writeln!(f, "{frames} frames: {candidates} candidates, {localizations} localizations")?;
        if let Some(what) = &self.frames_are {
            writeln!(f, "{what}")?;
        }
        if let Some(frames) = self.background_frames {
            writeln!(
                f,
                "background: the median of each pixel over {frames} frames, and a constant for each fit"
            )?;
        }
        let failed = self.statuses.iter().filter(|(status, _)| !status.is_converged());
        let failed = failed.map(|(status, count)| {
            let kept = if status == Status::AtLimit { *at_end } else { 0 };
            (status.name(), count - kept)
        });
        let all = self.dropped.in_words().into_iter().chain(failed);
        let dropped: Vec<String> = all
            .filter(|&(_, count)| count > 0)
            .map(|(reason, count)| format!("{count} {reason}"))
            .collect();
        let dropped = if dropped.is_empty() { "none".to_owned() } else { dropped.join(", ") };
        writeln!(f, "{converged} of {fits} fits converged; dropped: {dropped}")?;
        if *at_end > 0 {
            writeln!(f, "{at_end} of them at an end of the range of z: they are there or beyond")?;
        }
        let seconds = self.time.as_secs_f64();
        write!(
            f,
            "{seconds:.2} s: {:.0} frames/s, {}; {}",
            *frames as f64 / seconds,
            rate(*fits, self.time),
            self.backend
        )?;
        if let Some(written) = self.fulfilled {
            write!(f, "\n{written} of {localizations} fulfil the condition and were written")?;
        }
        Ok(())
    }
}
