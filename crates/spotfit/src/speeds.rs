//! How fast a machine works, and from which size of a job on [`Backend::Auto`](crate::Backend::Auto) takes its GPU.
//!
//! A job on the CPU takes its pixels through the rate of a thread and the number of threads; on the GPU it takes the start of the driver and
//! a context, and the pixels through the GPU's rate, from memory to memory. The GPU is taken where that is less. The rates are those of
//! [`Speeds::default`], unless [`devices::measure`](crate::steps::devices::measure) has measured this machine.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use fit_core::Estimator;
use serde::{Deserialize, Serialize};

use crate::output::{Output, OutputError};

/// How fast a machine works.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Speeds {
    /// Seconds until a GPU is ready for the first fit.
    pub context: f64,
    /// Pixels of windows, by least squares.
    pub least_squares: Rates,
    /// Pixels of windows, by maximum likelihood.
    pub likelihood: Rates,
    /// Pixels of frames that are localized.
    pub localize: Rates,
    /// Numbers of data sets, to which a model is fitted.
    pub curve: Rates,
}

/// The most pixels of windows that go from files through a GPU into tables in a second, on the host of an H100
/// (`docs/performance.md`).
const FROM_FILES: f64 = 1.2e9;

/// How much of a job is done in a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Rates {
    /// By each thread of the CPU, where all of them work.
    pub thread: f64,
    /// By the GPU, from memory to memory; none where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu: Option<f64>,
}

impl Rates {
    /// Rates of a thread and of a GPU.
    pub const fn new(thread: f64, gpu: Option<f64>) -> Self {
        Self { thread, gpu }
    }

    /// The least job that is done sooner by a GPU that starts within so many seconds than by so many threads; none if no job is.
    pub fn gpu_from(&self, context: f64, threads: usize) -> Option<f64> {
        let saved = 1.0 / (self.thread * threads.max(1) as f64) - 1.0 / self.gpu?;
        (saved > 0.0).then(|| context / saved)
    }
}

impl Default for Speeds {
    /// Those of an NVIDIA H100 and the sixteen processors of its host, an Intel Xeon with AVX-512 (`docs/performance.md`).
    fn default() -> Self {
        Self {
            context: 0.35,
            least_squares: Rates::new(2.3e8, Some(1.5e10)),
            likelihood: Rates::new(9.9e7, Some(1.4e10)),
            localize: Rates::new(8.5e7, Some(3.5e9)),
            curve: Rates::new(4.0e6, Some(7.3e8)),
        }
    }
}

/// Why measured speeds cannot be read or kept.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct SpeedsError(String);

impl SpeedsError {
    pub(crate) fn no_folder() -> Self {
        let variable = Speeds::VARIABLE;
        Self(format!("there is no folder for settings: {variable} names a file for speeds"))
    }

    fn of(path: &Path) -> impl Fn(io::Error) -> Self {
        move |source| Self(format!("{}: {source}", path.display()))
    }
}

impl Speeds {
    /// The environment variable that names another file of speeds; `none` takes the default speeds.
    pub const VARIABLE: &'static str = "SPOTFIT_SPEEDS";

    /// The least job by an estimator, in pixels of windows, that is done sooner on a GPU than by so many threads. It is
    /// `usize::MAX` if no job is.
    pub fn fit_on_gpu_from(&self, estimator: Estimator, threads: usize) -> usize {
        self.pixels(self.fits(estimator), threads)
    }

    /// The same for windows of a file whose outcomes become a table, which the way there and back limits.
    pub fn file_on_gpu_from(&self, estimator: Estimator, threads: usize) -> usize {
        let Rates { thread, gpu } = self.fits(estimator);
        self.pixels(Rates::new(thread, gpu.map(|gpu| gpu.min(FROM_FILES))), threads)
    }

    fn fits(&self, estimator: Estimator) -> Rates {
        match estimator {
            Estimator::MaximumLikelihood => self.likelihood,
            _ => self.least_squares,
        }
    }

    /// The same in pixels of frames that are localized.
    pub fn localize_on_gpu_from(&self, threads: usize) -> usize {
        self.pixels(self.localize, threads)
    }

    fn pixels(&self, rates: Rates, threads: usize) -> usize {
        // What is too large for the type becomes its maximum.
        rates.gpu_from(self.context, threads).map_or(usize::MAX, |least| least.ceil() as usize)
    }

    /// The file of this user: what [`Speeds::VARIABLE`] names, or `spotfit/speeds.json` in the folder of settings (`XDG_CONFIG_HOME`,
    /// `~/.config` or `APPDATA`). None if the default speeds are wanted, or there is no such folder.
    pub fn path() -> Option<PathBuf> {
        let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        if let Some(path) = named(Self::VARIABLE) {
            return (path != "none").then(|| path.into());
        }
        let home = || named("HOME").map(|home| Path::new(&home).join(".config"));
        let settings = named("XDG_CONFIG_HOME").or_else(|| named("APPDATA")).map(PathBuf::from);
        // Relative folders are to be ignored, by the specification of XDG.
        let settings = settings.filter(|folder| folder.is_absolute()).or_else(home)?;
        Some(settings.join("spotfit").join("speeds.json"))
    }

    /// Reads a file; nothing if it is not there.
    ///
    /// # Errors
    /// [`SpeedsError`].
    pub fn read(path: &Path) -> Result<Option<Self>, SpeedsError> {
        let text = match fs::read_to_string(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(SpeedsError::of(path))?,
        };
        let wrong = |reason: String| {
            let file = path.display();
            SpeedsError(format!(
                "{file} has no speeds as `spotfit devices --measure` writes them: {reason}"
            ))
        };
        let speeds: Self = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        let Self { context, least_squares, likelihood, localize, curve } = &speeds;
        let rates = [least_squares, likelihood, localize, curve];
        let rates = rates.into_iter().flat_map(|of| [Some(of.thread), of.gpu]).flatten();
        match rates.chain([*context]).find(|number| !(1e-6..=1e18).contains(number)) {
            None => Ok(Some(speeds)),
            Some(number) => Err(wrong(format!("{number} is out of its range (1e-6 to 1e18)"))),
        }
    }

    /// Writes a file, and the folder that it is in.
    ///
    /// # Errors
    /// [`SpeedsError`].
    pub fn save(&self, path: &Path) -> Result<(), SpeedsError> {
        Self::make_room(path)?;
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        let refused = |error: OutputError| SpeedsError(error.to_string());
        let mut output = Output::create(path).map_err(refused)?;
        output.write_all(text.as_bytes()).map_err(SpeedsError::of(path))?;
        output.finish().map_err(refused)
    }

    /// Makes the folder of a file.
    pub(crate) fn make_room(path: &Path) -> Result<(), SpeedsError> {
        path.parent()
            .map_or(Ok(()), |folder| fs::create_dir_all(folder).map_err(SpeedsError::of(folder)))
    }

    /// The speeds of this machine: those of the user's file, or the default ones where there is none or it is wrong. It is read once.
    pub fn here() -> &'static Self {
        &Self::known().0
    }

    /// What is wrong with the user's file, so that the default speeds count.
    pub fn doubt() -> Option<&'static str> {
        Self::known().1.as_deref()
    }

    fn known() -> &'static (Self, Option<String>) {
        static KNOWN: OnceLock<(Speeds, Option<String>)> = OnceLock::new();
        KNOWN.get_or_init(|| match Self::path().map(|path| Self::read(&path)) {
            Some(Ok(Some(speeds))) => (speeds, None),
            Some(Err(error)) => (Self::default(), Some(error.to_string())),
            _ => (Self::default(), None),
        })
    }
}

#[cfg(test)]
mod tests;
