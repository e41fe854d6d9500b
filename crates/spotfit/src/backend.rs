//! The backends, and the choice between them.

use std::fmt;
use std::str::FromStr;

use fit_core::Options;
use fit_cpu::{BatchError, InstructionSet};
use fit_crowd::CrowdError;
use spotfit_locs::OutOfRange;

/// What computes the fits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Backend {
    /// [`Backend::Gpu`] for batches that it fits sooner, with the time to start it ([`Speeds`](crate::speeds::Speeds)), if there is one with
    /// room for such windows; otherwise [`Backend::Cpu`].
    #[default]
    Auto,
    /// The CPU in single precision, one fit per lane of its vector registers.
    Cpu,
    /// NVIDIA GPUs, in single precision.
    Gpu,
    /// The CPU in double precision, one window at a time; the other backends are tested against it.
    Reference,
}

impl Backend {
    /// Every backend.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Cpu, Self::Gpu, Self::Reference];

    /// The name of this backend on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::Reference => "reference",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Backend {
    type Err = FitError;
    fn from_str(word: &str) -> Result<Self, FitError> {
        Self::ALL
            .into_iter()
            .find(|backend| backend.name() == word)
            .ok_or_else(|| FitError::UnknownBackend(word.to_owned()))
    }
}

/// Why a batch could not be fitted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FitError {
    /// The request is invalid, or the machine refused it.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// There is no backend with this name.
    #[error("there is no backend '{0}' (auto, cpu, gpu, reference)")]
    UnknownBackend(String),
    /// An option is out of its range, or cannot go with another.
    #[error(transparent)]
    Option(#[from] OutOfRange),
    /// Windows cannot be searched for emitters.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// The GPU cannot be used.
    #[cfg(feature = "gpu")]
    #[error("the GPU cannot be used: {0}")]
    Gpu(#[source] fit_gpu::GpuError),
    /// This was built without the GPU backend.
    #[error("the GPU cannot be used: this was built without the feature 'gpu'")]
    NoGpuSupport,
}

#[cfg(feature = "gpu")]
impl From<fit_gpu::GpuError> for FitError {
    fn from(error: fit_gpu::GpuError) -> Self {
        match error {
            // It is not the GPU's.
            fit_gpu::GpuError::Argument(error) => Self::Batch(error.into()),
            error => Self::Gpu(error),
        }
    }
}

fit_core::__options! {
    /// The options of a [`crate::Fitter`]: the fit, and the backend that computes it.
    ///
    /// ```
    /// use spotfit::{Backend, Background, Fitter, FitterOptions, Options};
    ///
    /// let fit = Options::default().with_background(Background::NonNegative);
    /// let options = FitterOptions::default().with_fit(fit).with_backend(Backend::Cpu).with_threads(2);
    /// let fitter = Fitter::new(&options)?;
    /// assert_eq!(fitter.threads(), 2);
    /// # Ok::<(), spotfit::FitError>(())
    /// ```
    #[derive(Clone, Debug, PartialEq)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
    #[cfg_attr(feature = "clap", derive(clap::Args))]
    #[non_exhaustive]
    pub struct FitterOptions {
        /// The fit: shape of the spots, when to stop, limits.
        pub fit(const with_fit)[skip]: Options = Options::default(),
        /// The backend: auto (a GPU if it is there and sooner, otherwise cpu: see `spotfit devices`), cpu (single precision, vector
        /// instructions), gpu (NVIDIA, single precision) or reference (double precision, one window at a time).
        pub backend(const with_backend) default_value_t[help_heading = "Fit", long, value_name = "BACKEND"]: Backend = Backend::Auto,
        /// Vector instructions for the backend cpu: avx512, avx2, neon or portable; the fastest by default.
        ///
        /// `None` takes the fastest that the processor has, or the one that the environment variable [`InstructionSet::VARIABLE`] names.
        pub instruction_set(const with_instruction_set)[help_heading = "Fit", long, value_name = "SET"]: Option<InstructionSet> = None,
        /// The GPUs for the backend gpu, by the numbers that `spotfit devices` lists.
        ///
        /// Large batches are spread over all of them.
        pub devices(with_devices) default_values_t[
            help_heading = "Fit", long = "device", value_delimiter = ',', value_name = "N,..."
        ]: Vec<usize> = vec![0],
        /// Number of threads, at most 1024; 0 takes one for each processor.
        ///
        /// See [`fit_cpu::MOST_THREADS`].
        pub threads(const with_threads) default_value_t[help_heading = "Fit", long, value_name = "N"]: usize = 0,
    }
}

impl From<Options> for FitterOptions {
    fn from(fit: Options) -> Self {
        Self::default().with_fit(fit)
    }
}
