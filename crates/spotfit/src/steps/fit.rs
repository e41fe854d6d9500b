//! Windows become fits.

use std::fmt;
use std::time::{Duration, Instant};

use super::Listener;
use super::fit_emitters::EmitterCounts;
use super::fitted::{Tally, backend, by_status, counts, found, rate, seconds, warn_of_camera};
use crate::{Fit, Fitter, Size, Status, StatusCounts};

pub use super::fit_beside::{Beside, FitStackError};
pub use super::fit_table::{FitTable, StandardErrors};
pub use crate::stage_times::StageTimes;

fit_core::__options! {
    /// The limits that the user has set, in pixels. Fits that end on one of them are counted apart.
    #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct SetLimits {
        /// How far outside the outermost pixel centres the centre may lie.
        pub centre_margin(const with_centre_margin): Option<f64> = None,
        /// The smallest sigma.
        pub sigma_min(const with_sigma_min): Option<f64> = None,
        /// The largest sigma.
        pub sigma_max(const with_sigma_max): Option<f64> = None,
    }
}

impl SetLimits {
    /// How many fits ended on one of them.
    pub(super) fn count(&self, fits: &[Fit<f64>], size: Size) -> usize {
        fits.iter().filter(|fit| self.has_ended(fit, size)).count()
    }

    /// Whether a fit ended on one of them, as far as its outcome tells, which may be in single precision.
    fn has_ended(&self, fit: &Fit<f64>, size: Size) -> bool {
        const NEAR: f64 = 1e-5;
        if fit.status != Status::AtLimit {
            return false;
        }
        let outside = |at: f64, side: usize, margin: f64| {
            let most = (side - 1) as f64 + margin;
            at <= NEAR - margin || at >= most - NEAR * (1.0 + most.abs())
        };
        let centre = self.centre_margin.is_some_and(|margin| {
            outside(fit.x, size.width, margin) || outside(fit.y, size.height, margin)
        });
        let sigmas = [fit.sigma_x, fit.sigma_y];
        let narrow = |least: f64| sigmas.iter().any(|&sigma| sigma <= least * (1.0 + NEAR));
        let wide = |most: f64| sigmas.iter().any(|&sigma| sigma >= most * (1.0 - NEAR));
        centre || self.sigma_min.is_some_and(narrow) || self.sigma_max.is_some_and(wide)
    }
}

fit_core::__options! {
    /// What is asked of fits besides the options of the [`Fitter`].
    #[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct FitOptions {
        /// Find the standard errors of all parameters.
        pub errors(const with_errors): bool = false,
        /// The limits that the user has set.
        pub limits(const with_limits): SetLimits = SetLimits::default(),
    }
}

/// How much of a stack is fitted at a time: at most so many windows, and at most so many bytes as they are stored, but at least one
/// window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chunk {
    /// Windows.
    pub windows: usize,
    /// Their bytes.
    pub bytes: usize,
}

/// Pixels that no fit looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct Masked {
    /// What masks them: `camera map` or `weights`.
    pub by: &'static str,
    /// How many they are.
    pub masked: usize,
    /// Of how many.
    pub pixels: usize,
}

impl Masked {
    /// So many of so many pixels.
    pub const fn new(by: &'static str, masked: usize, pixels: usize) -> Self {
        Self { by, masked, pixels }
    }
}

/// The report of fitting windows.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct FitReport {
    /// The windows.
    pub spots: usize,
    /// The emitters in them, if several may be in one.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub emitters: Option<EmitterCounts>,
    /// How many ended in which way.
    #[serde(serialize_with = "by_status")]
    pub statuses: StatusCounts,
    /// How many converged.
    pub converged: usize,
    /// How many ended on a limit that the user has set.
    pub at_limit: usize,
    /// Where they were fitted.
    pub backend: String,
    /// How long fitting took, in seconds when serialized.
    #[serde(serialize_with = "seconds")]
    pub fitting: Duration,
    /// How long all took, with reading and writing.
    #[serde(serialize_with = "seconds")]
    pub time: Duration,
    /// How long the stages took, where reading, fitting and writing overlapped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stages: Option<StageTimes>,
    /// Pixels that no fit looked at.
    pub masked: Vec<Masked>,
}

impl FitReport {
    /// What came of so many windows, as far as these tell it.
    fn new(spots: usize, statuses: StatusCounts, backend: String) -> Self {
        Self {
            spots,
            emitters: None,
            converged: statuses.converged(),
            statuses,
            at_limit: 0,
            backend,
            fitting: Duration::ZERO,
            time: Duration::ZERO,
            stages: None,
            masked: Vec::new(),
        }
    }

    /// What came of emitters that were found by an [`EmitterFitter`](crate::EmitterFitter) in so many windows. How long it took is not known, nor which
    /// pixels were masked.
    pub fn of_emitters(
        spots: usize,
        emitters: EmitterCounts,
        statuses: StatusCounts,
        backend: String,
    ) -> Self {
        Self { emitters: Some(emitters), ..Self::new(spots, statuses, backend) }
    }

    /// What came of fits that were found by the [`Fitter`] itself, in windows of this size. How long it took is not known, nor
    /// which pixels were masked.
    pub fn of(fits: &[Fit<f64>], size: Size, limits: &SetLimits, backend: String) -> Self {
        let mut counts = StatusCounts::default();
        counts.add(fits);
        let at_limit = limits.count(fits, size);
        Self { at_limit, ..Self::new(counts.total(), counts, backend) }
    }
}

impl fmt::Display for FitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { spots, emitters, statuses, converged, at_limit, backend, fitting, time, .. } =
            self;
        write!(f, "{spots} spots")?;
        if let Some(EmitterCounts { emitters, empty, crowd, .. }) = emitters {
            write!(f, ", {empty} without an emitter; {emitters} emitters, {crowd} maybe more")?;
        }
        writeln!(f, ": {}", counts(statuses))?;
        write!(
            f,
            "{}; {backend}; fitting {:.2} s ({}), in all {:.2} s",
            found(*converged, *at_limit),
            fitting.as_secs_f64(),
            rate(*spots, *fitting),
            time.as_secs_f64(),
        )?;
        if let Some(stages) = &self.stages {
            write!(f, ": {stages}")?;
        }
        for Masked { by, masked, pixels } in self.masked.iter().filter(|told| told.masked > 0) {
            write!(f, "\nmasked by the {by}: {masked} of {pixels} pixels")?;
        }
        Ok(())
    }
}

/// Fits the windows of a stack, from file to table: [`Fitting::fit_stack`].
#[derive(Debug)]
pub struct Fitting<'a> {
    pub(super) fitter: &'a Fitter,
    pub(super) options: FitOptions,
    pub(super) tally: Tally,
    begin: Instant,
}

impl<'a> Fitting<'a> {
    /// Begins, with no window fitted yet. If neither the fitter has a camera nor the windows have a map (`has_map`), and that matters
    /// for what is asked, the listener gets a warning.
    pub fn begin(
        fitter: &'a Fitter,
        options: &FitOptions,
        has_map: bool,
        listener: &dyn Listener,
    ) -> Self {
        let fit = fitter.options();
        let is_known = fit.camera.is_some() || has_map;
        warn_of_camera(is_known, fit.estimator, options.errors, listener);
        Self { fitter, options: *options, tally: Tally::default(), begin: Instant::now() }
    }

    /// The report of all windows.
    pub fn finish(self, masked: Vec<Masked>) -> FitReport {
        let Tally { counts, at_limit, stages } = self.tally;
        let report = FitReport::new(counts.total(), counts, backend(self.fitter));
        let (fitting, time) = (stages.fit, self.begin.elapsed());
        FitReport { at_limit, fitting, time, stages: Some(stages), masked, ..report }
    }
}
