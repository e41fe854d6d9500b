//! Windows become emitters, where several may be in one.

use std::time::{Duration, Instant};

use super::Listener;
use super::fit::{Chunk, FitReport, Masked};
use super::fitted::warn_of_camera;
use crate::{AnyWindows, EmitterFit, EmitterFitter, Estimator, FitError, StatusCounts};

pub use super::emitter_table::EmitterTable;

/// Less than for one emitter a window, as a window takes longer; but the first ones tell how wide spots are.
const CHUNK: Chunk = Chunk { windows: 1 << 12, bytes: 1 << 25 };

/// What became of windows in which several emitters may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct EmitterCounts {
    /// Emitters.
    pub emitters: usize,
    /// Windows without any.
    pub empty: usize,
    /// Emitters that may be more than could be told apart.
    pub crowd: usize,
}

impl EmitterCounts {
    /// Counts those of more windows.
    pub fn add(&mut self, fits: &[EmitterFit]) {
        self.emitters += fits.iter().filter(|fit| fit.emitter > 0).count();
        self.empty += fits.iter().filter(|fit| fit.emitter == 0).count();
        self.crowd += fits.iter().filter(|fit| fit.crowd).count();
    }
}

/// Finds and fits the emitters of the windows of a stack part by part, as they are read.
///
/// ```
/// use spotfit::localize::Emitters;
/// use spotfit::steps::Silent;
/// use spotfit::steps::fit_emitters::FittingEmitters;
/// use spotfit::{EmitterFitter, Estimator, FitterOptions, Options, Windows};
///
/// let fit = Options::default().with_estimator(Estimator::MaximumLikelihood);
/// let fitter = EmitterFitter::new(&FitterOptions::from(fit), Emitters::UpTo(2))?;
/// let pixels = [10_u16; 162];
/// let windows = Windows::stack(ndarray::ArrayView3::from_shape((2, 9, 9), &pixels[..])?);
/// let mut fitting = FittingEmitters::begin(fitter, false, &Silent);
/// // Nothing is in these windows, and each has a row that says so.
/// assert!(fitting.fit(windows.into())?.iter().all(|fit| fit.emitter == 0));
/// let report = fitting.finish(Vec::new());
/// assert_eq!((report.spots, report.emitters.map(|counts| counts.empty)), (2, Some(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FittingEmitters {
    fitter: EmitterFitter,
    fits: Vec<EmitterFit>,
    spots: usize,
    statuses: StatusCounts,
    counts: EmitterCounts,
    begin: Instant,
    fitting: Duration,
}

impl FittingEmitters {
    /// Begins, with no window fitted yet. If neither the fitter has a camera nor the windows have a map (`has_map`), the listener gets a warning.
    pub fn begin(fitter: EmitterFitter, has_map: bool, listener: &dyn Listener) -> Self {
        let is_known = fitter.options().fit.camera.is_some() || has_map;
        warn_of_camera(is_known, Estimator::MaximumLikelihood, true, listener);
        Self {
            fitter,
            fits: Vec::new(),
            spots: 0,
            statuses: StatusCounts::default(),
            counts: EmitterCounts::default(),
            begin: Instant::now(),
            fitting: Duration::ZERO,
        }
    }

    /// How much [`FittingEmitters::fit`] should best get at a time. The first time it needs [`EmitterFitter::windows_for_sigma`] windows, or all, for
    /// outcomes that do not depend on how a stack is cut.
    pub fn chunk(&self) -> Chunk {
        CHUNK
    }

    /// The emitters of the next windows, numbered on.
    ///
    /// # Errors
    /// [`FitError`].
    pub fn fit(&mut self, windows: AnyWindows<'_>) -> Result<&[EmitterFit], FitError> {
        let begin = Instant::now();
        self.fitter.find_sigma(windows)?;
        self.fits = self.fitter.fit(windows)?;
        self.fitting += begin.elapsed();
        for fit in &mut self.fits {
            fit.spot += self.spots;
            self.statuses.count(fit.status);
        }
        self.spots += windows.count();
        self.counts.add(&self.fits);
        Ok(&self.fits)
    }

    /// The report of all windows.
    pub fn finish(self, masked: Vec<Masked>) -> FitReport {
        let backend = backend(&self.fitter);
        let report = FitReport::of_emitters(self.spots, self.counts, self.statuses, backend);
        FitReport { fitting: self.fitting, time: self.begin.elapsed(), masked, ..report }
    }
}

/// What computes, in words.
pub fn backend(fitter: &EmitterFitter) -> String {
    format!("cpu backend, {} threads", fitter.threads())
}
