//! One way to fit, whatever does the work.

use std::fmt;
use std::str::FromStr;
#[cfg(feature = "gpu")]
use std::sync::OnceLock;

use fit_core::{Corner, Fit, Options, Outcomes, Pixel, Scalar, Size, Start};
use fit_cpu::{BatchError, InstructionSet, Reference, Simd};
#[cfg(feature = "gpu")]
use fit_gpu::Gpu;
use fit_windows::{AnyWindows, Windows};
use ndarray::ArrayView3;

/// What does the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Backend {
    /// [`Backend::Cpu`]; but [`Backend::Gpu`] for batches of at least [`AUTO_GPU_PIXELS`] pixels where there
    /// is a GPU.
    #[default]
    Auto,
    /// The CPU in single precision, one fit a lane of its vector registers.
    Cpu,
    /// NVIDIA GPUs, in single precision.
    Gpu,
    /// The CPU in double precision, one window at a time: the judge of the others.
    Reference,
}

/// A batch of at least so many pixels goes to the GPU, where there is one and the backend is
/// [`Backend::Auto`]: about four million windows of 9×9, for which the driver's start pays. Measured in
/// `docs/performance.md`.
pub const AUTO_GPU_PIXELS: usize = 300_000_000;

impl Backend {
    /// Every backend there is to choose.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Cpu, Self::Gpu, Self::Reference];

    /// The word for this backend on the command line.
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
    /// The request makes no sense, or the machine refused it.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// There is no backend of that name.
    #[error("there is no backend '{0}' (auto, cpu, gpu, reference)")]
    UnknownBackend(String),
    /// The GPU cannot be used.
    #[cfg(feature = "gpu")]
    #[error("the GPU cannot be used: {0}")]
    Gpu(#[from] fit_gpu::GpuError),
    /// This was built without the GPU backend.
    #[error("the GPU cannot be used: this was built without the feature 'gpu'")]
    NoGpuSupport,
}

#[derive(Debug)]
enum Engine {
    Reference(Reference<f64>),
    Simd(Simd),
    #[cfg(feature = "gpu")]
    Gpu(Gpu),
    /// The GPU, or why not, is found when a batch is first large enough for it.
    #[cfg(feature = "gpu")]
    Auto(Simd, OnceLock<Option<Gpu>>),
}

/// What fits a batch.
enum Work<'a> {
    Reference(&'a Reference<f64>),
    Simd(&'a Simd),
    #[cfg(feature = "gpu")]
    Gpu(&'a Gpu),
}

/// Fits stacks of windows with the backend of your choice. Make it once and use it often: it holds
/// the threads.
///
/// ```
/// use ndarray::Array3;
/// use spotfit::{Fit, Fitter, Start};
///
/// // Two windows of 9×9 pixels with a spot of σ = 1.5 pixels at (4.25, 3.5), 100 counts high.
/// let spots = Array3::from_shape_fn((2, 9, 9), |(_, y, x)| {
///     let (dx, dy) = (x as f64 - 4.25, y as f64 - 3.5);
///     (100.0 * (-(dx * dx + dy * dy) / 4.5).exp() + 10.0).round() as u16
/// });
/// let fits: Vec<Fit<f64>> = Fitter::default().fit(spots.view(), Start::Estimate)?;
/// assert!(fits[0].status.is_converged());
/// assert!((fits[0].x - 4.25).abs() < 0.01 && (fits[0].y - 3.5).abs() < 0.01);
/// assert!((fits[0].sigma - 1.5).abs() < 0.02 && (fits[0].amplitude - 100.0).abs() < 2.0);
/// # Ok::<(), spotfit::FitError>(())
/// ```
#[derive(Debug)]
pub struct Fitter {
    engine: Engine,
    options: Options,
}

impl Default for Fitter {
    /// The default options, the best backend and all processors. If the system refuses to start
    /// threads, the calling thread does the work.
    fn default() -> Self {
        Self::new(Backend::Auto, Options::default(), 0)
            .or_else(|_| Self::new(Backend::Auto, Options::default(), 1))
            .expect("the default options are valid and one thread needs no other")
    }
}

impl Fitter {
    /// A fitter with the given backend and options, on `threads` threads; 0 takes one for each
    /// processor.
    ///
    /// # Errors
    /// [`FitError`] if an option is out of its range or threads cannot be started.
    pub fn new(backend: Backend, options: Options, threads: usize) -> Result<Self, FitError> {
        options.validate().map_err(BatchError::from)?;
        let engine = match backend {
            #[cfg(feature = "gpu")]
            Backend::Auto => Engine::Auto(Simd::new(threads, None)?, OnceLock::new()),
            #[cfg(not(feature = "gpu"))]
            Backend::Auto => Engine::Simd(Simd::new(threads, None)?),
            Backend::Cpu => Engine::Simd(Simd::new(threads, None)?),
            Backend::Gpu => return Self::on_devices(&[0], options),
            Backend::Reference => Engine::Reference(Reference::new(threads)?),
        };
        Ok(Self { engine, options })
    }

    /// A fitter on the GPUs of these numbers, counted from 0; large batches are spread over all of them.
    ///
    /// # Errors
    /// As [`Fitter::new`], and if there is no driver, or not such a device.
    pub fn on_devices(devices: &[usize], options: Options) -> Result<Self, FitError> {
        options.validate().map_err(BatchError::from)?;
        #[cfg(feature = "gpu")]
        return Ok(Self { engine: Engine::Gpu(Gpu::new(devices)?), options });
        #[cfg(not(feature = "gpu"))]
        {
            let _ = devices;
            Err(FitError::NoGpuSupport)
        }
    }

    /// A fitter by all that a user may choose; what the backend has no use for is ignored.
    pub(crate) fn choose(
        backend: Backend,
        set: Option<InstructionSet>,
        devices: &[usize],
        options: Options,
        threads: usize,
    ) -> Result<Self, FitError> {
        match (backend, set) {
            (Backend::Auto | Backend::Cpu, Some(set)) => {
                Self::with_instruction_set(set, options, threads)
            }
            (Backend::Gpu, _) => Self::on_devices(devices, options),
            (backend, _) => Self::new(backend, options, threads),
        }
    }

    /// What is to fit a batch of so many pixels.
    fn engine(&self, pixels: usize) -> Work<'_> {
        let _ = pixels;
        match &self.engine {
            Engine::Reference(reference) => Work::Reference(reference),
            Engine::Simd(simd) => Work::Simd(simd),
            #[cfg(feature = "gpu")]
            Engine::Gpu(gpu) => Work::Gpu(gpu),
            #[cfg(feature = "gpu")]
            Engine::Auto(simd, gpu) => {
                let enough = pixels >= AUTO_GPU_PIXELS;
                let gpu = enough.then(|| gpu.get_or_init(|| Gpu::new(&[0]).ok()).as_ref());
                gpu.flatten().map_or(Work::Simd(simd), Work::Gpu)
            }
        }
    }

    /// A fitter on the CPU with a certain instruction set, for comparing them. [`Fitter::new`] takes the
    /// fastest that the processor has, or the one that the environment variable
    /// [`InstructionSet::VARIABLE`] names.
    ///
    /// # Errors
    /// As [`Fitter::new`], and if the processor does not have the instruction set.
    pub fn with_instruction_set(
        set: InstructionSet,
        options: Options,
        threads: usize,
    ) -> Result<Self, FitError> {
        options.validate().map_err(BatchError::from)?;
        Ok(Self { engine: Engine::Simd(Simd::new(threads, Some(set))?), options })
    }

    /// The instruction set in use, if the backend is [`Backend::Cpu`].
    pub fn instruction_set(&self) -> Option<InstructionSet> {
        match self.engine(0) {
            Work::Simd(simd) => Some(simd.instruction_set()),
            _ => None,
        }
    }

    /// The backend that does the work, unless a batch is large enough for another: never
    /// [`Backend::Auto`].
    pub fn backend(&self) -> Backend {
        match self.engine(0) {
            Work::Reference(_) => Backend::Reference,
            Work::Simd(_) => Backend::Cpu,
            #[cfg(feature = "gpu")]
            Work::Gpu(_) => Backend::Gpu,
        }
    }

    /// The devices in use, if the backend is [`Backend::Gpu`].
    #[cfg(feature = "gpu")]
    pub fn devices(&self) -> Vec<fit_gpu::DeviceInfo> {
        match self.engine(0) {
            Work::Gpu(gpu) => gpu.devices(),
            _ => Vec::new(),
        }
    }

    /// Whether the backend computes in single precision, so that `Fit<f32>` holds all it knows.
    pub fn is_single_precision(&self) -> bool {
        !matches!(self.engine, Engine::Reference(_))
    }

    /// The options given.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The number of threads that fit; 0 if the GPU does.
    pub fn threads(&self) -> usize {
        match self.engine(0) {
            Work::Reference(reference) => reference.threads(),
            Work::Simd(simd) => simd.threads(),
            #[cfg(feature = "gpu")]
            Work::Gpu(_) => 0,
        }
    }

    /// Fits every window of a stack (n, height, width), of any pixel type and memory layout. The
    /// outcomes are in the order of the windows, in pixels and counts of the input (see [`Fit`]).
    ///
    /// # Errors
    /// [`FitError`] if the windows are too small to fit, or the number of start values is wrong.
    pub fn fit<P: Pixel, T: Scalar>(
        &self,
        spots: ArrayView3<'_, P>,
        start: Start<'_>,
    ) -> Result<Vec<Fit<T>>, FitError> {
        let mut fits = vec![Fit::invalid(); spots.dim().0];
        self.fit_into(spots, start, &mut fits)?;
        Ok(fits)
    }

    /// [`Fitter::fit`] into memory of the caller, one element for each window.
    ///
    /// # Errors
    /// As [`Fitter::fit`], and if there is not one outcome for each window; then `fits` is
    /// unchanged.
    pub fn fit_into<P: Pixel, T: Scalar>(
        &self,
        spots: ArrayView3<'_, P>,
        start: Start<'_>,
        fits: &mut [Fit<T>],
    ) -> Result<(), FitError> {
        self.run(Windows::stack(spots).into(), start, fits.into())
    }

    /// Fits windows of `size` pixels that are cut out of a stack of frames (n, height, width), without
    /// a copy of them in between. The outcomes are in the order of the corners, and count from each
    /// window's first pixel.
    ///
    /// ```
    /// use ndarray::Array3;
    /// use spotfit::{Corner, Fit, Fitter, Size, Start};
    ///
    /// let frames = Array3::from_shape_fn((1, 64, 80), |(_, y, x)| {
    ///     let (dx, dy) = (x as f64 - 40.25, y as f64 - 30.5);
    ///     (100.0 * (-(dx * dx + dy * dy) / 4.5).exp() + 10.0).round() as u16
    /// });
    /// let corners = [Corner { frame: 0, x: 36, y: 26 }];
    /// let size = Size::new(9, 9);
    /// let fits: Vec<Fit<f64>> =
    ///     Fitter::default().fit_in_frames(frames.view(), size, &corners, Start::Estimate)?;
    /// assert!((fits[0].x - 4.25).abs() < 0.01 && (fits[0].y - 4.5).abs() < 0.01);
    /// # Ok::<(), spotfit::FitError>(())
    /// ```
    ///
    /// # Errors
    /// [`FitError`] if a window is not within its frame, or the number of start values is wrong.
    pub fn fit_in_frames<P: Pixel, T: Scalar>(
        &self,
        frames: ArrayView3<'_, P>,
        size: Size,
        corners: &[Corner],
        start: Start<'_>,
    ) -> Result<Vec<Fit<T>>, FitError> {
        let mut fits = vec![Fit::invalid(); corners.len()];
        let windows = Windows::cuts(frames, size, corners);
        self.run(windows.into(), start, fits.as_mut_slice().into())?;
        Ok(fits)
    }

    /// Hands the work to whatever does it.
    fn run(
        &self,
        windows: AnyWindows<'_>,
        start: Start<'_>,
        fits: Outcomes<'_>,
    ) -> Result<(), FitError> {
        let options = &self.options;
        match self.engine(windows.pixels()) {
            Work::Reference(engine) => engine.fit_windows(options, windows, start, fits)?,
            Work::Simd(engine) => engine.fit_windows(options, windows, start, fits)?,
            #[cfg(feature = "gpu")]
            Work::Gpu(engine) => engine.fit_windows(options, windows, start, fits)?,
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array3;

    /// Proves that windows whose pixels cannot be counted are an argument error, on whatever backend.
    #[test]
    fn absurd_windows_are_refused() {
        let frames = Array3::<u16>::zeros((1, 16, 16));
        for backend in [Backend::Auto, Backend::Cpu, Backend::Reference] {
            let fitter = Fitter::new(backend, Options::default(), 1).unwrap();
            for size in [Size::new(usize::MAX, 3), Size::new(1 << 62, 1 << 62)] {
                for corners in [&[][..], &[Corner::default()]] {
                    let fits: Result<Vec<Fit<f64>>, _> =
                        fitter.fit_in_frames(frames.view(), size, corners, Start::Estimate);
                    match fits {
                        Err(FitError::Batch(BatchError::Argument(_))) => {}
                        other => panic!("{backend}, {size:?}: {other:?}"),
                    }
                }
            }
        }
    }
}
