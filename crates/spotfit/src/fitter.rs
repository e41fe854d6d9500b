//! One way to fit, with any backend.

use std::sync::Arc;
#[cfg(feature = "gpu")]
use std::sync::OnceLock;

use fit_core::{Corner, Errors, Fit, Make, Options, Outcomes, Pixel, Scalar, Size, Start};
use fit_cpu::{BatchError, InstructionSet, Reference, Simd};
#[cfg(feature = "gpu")]
use fit_gpu::{Gpu, GpuError};
use fit_windows::{AnyWindows, Windows};
use ndarray::ArrayView3;
use rayon::ThreadPool;

use crate::backend::{Backend, FitError, FitterOptions};
use crate::speeds::Speeds;

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
pub(crate) enum Work<'a> {
    Reference(&'a Reference<f64>),
    Simd(&'a Simd),
    #[cfg(feature = "gpu")]
    Gpu(&'a Gpu),
}

/// Fits stacks of windows with the backend of your choice. Make it once and use it often: it owns the threads.
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
    /// Batches of at least so many pixels are for a GPU, where there is a choice.
    gpu_from: usize,
    #[cfg(feature = "gpu")]
    threads: usize,
    /// What finds errors where a GPU has no room, once they were asked for.
    #[cfg(feature = "gpu")]
    beside_gpu: OnceLock<Simd>,
}

impl Default for Fitter {
    /// A fitter with the default options, the best backend and all processors. If the system refuses to
    /// start threads, the calling thread does the work.
    fn default() -> Self {
        let options = FitterOptions::default();
        Self::new(&options)
            .or_else(|_| Self::new(&options.with_threads(1)))
            .expect("the default options are valid and one thread needs no other")
    }
}

impl Fitter {
    /// A fitter with these options.
    ///
    /// # Errors
    /// [`FitError`] if an option is out of its range, if threads cannot be started, or if the requested instruction
    /// set or device is not available.
    pub fn new(options: &FitterOptions) -> Result<Self, FitError> {
        Self::in_pool(options, None)
    }

    /// The same with the threads of a pool that others use too, if there is one.
    pub(crate) fn in_pool(
        options: &FitterOptions,
        pool: Option<&Arc<ThreadPool>>,
    ) -> Result<Self, FitError> {
        let FitterOptions { fit, backend, instruction_set, ref devices, threads } = *options;
        fit.validate().map_err(BatchError::from)?;
        let simd = || match pool {
            Some(pool) => Simd::in_pool(pool.clone(), instruction_set),
            None => Simd::new(threads, instruction_set),
        };
        let engine = match backend {
            // Who asks for an instruction set asks for the processor.
            #[cfg(feature = "gpu")]
            Backend::Auto if instruction_set.is_none() => Engine::Auto(simd()?, OnceLock::new()),
            Backend::Auto | Backend::Cpu => Engine::Simd(simd()?),
            #[cfg(feature = "gpu")]
            Backend::Gpu => Engine::Gpu(Gpu::new(devices)?),
            #[cfg(not(feature = "gpu"))]
            Backend::Gpu => {
                let _ = devices;
                return Err(FitError::NoGpuSupport);
            }
            Backend::Reference => Engine::Reference(match pool {
                Some(pool) => Reference::in_pool(pool.clone()),
                None => Reference::new(threads)?,
            }),
        };
        let mut fitter = Self {
            engine,
            options: fit,
            gpu_from: usize::MAX,
            #[cfg(feature = "gpu")]
            threads,
            #[cfg(feature = "gpu")]
            beside_gpu: OnceLock::new(),
        };
        // Elsewhere there is no choice.
        if backend == Backend::Auto && instruction_set.is_none() {
            fitter.gpu_from = Speeds::here().fit_on_gpu_from(fit.estimator, fitter.threads());
        }
        Ok(fitter)
    }

    /// The same fitter for a file with so many pixels in all: with [`Backend::Auto`] all of its batches go to the GPU, whatever their
    /// sizes, if there is one that does the job sooner from the file to the table.
    #[must_use]
    pub fn for_file(mut self, pixels: usize) -> Self {
        if self.gpu_from < usize::MAX {
            let least = Speeds::here().file_on_gpu_from(self.options.estimator, self.threads());
            self.gpu_from = if pixels >= least { 0 } else { usize::MAX };
        }
        self
    }

    /// The engine for the least batch.
    pub(crate) fn usual(&self) -> Work<'_> {
        self.engine(self.gpu_from == 0)
    }

    /// The processor's fitter of a fitter on a GPU.
    #[cfg(feature = "gpu")]
    fn beside_gpu(&self) -> Result<&Simd, BatchError> {
        if let Engine::Auto(simd, _) = &self.engine {
            return Ok(simd);
        }
        if let Some(simd) = self.beside_gpu.get() {
            return Ok(simd);
        }
        let simd = Simd::new(self.threads, None)?;
        Ok(self.beside_gpu.get_or_init(|| simd))
    }

    /// The engine for these windows.
    fn engine_for(&self, windows: &AnyWindows<'_>) -> Work<'_> {
        self.engine(windows.pixels() >= self.gpu_from)
    }

    /// The engine for a batch. `suits` says whether it suits a GPU.
    pub(crate) fn engine(&self, suits: bool) -> Work<'_> {
        let _ = suits;
        match &self.engine {
            Engine::Reference(reference) => Work::Reference(reference),
            Engine::Simd(simd) => Work::Simd(simd),
            #[cfg(feature = "gpu")]
            Engine::Gpu(gpu) => Work::Gpu(gpu),
            #[cfg(feature = "gpu")]
            Engine::Auto(simd, gpu) => {
                let gpu = suits.then(|| gpu.get_or_init(|| Gpu::new(&[0]).ok()).as_ref());
                gpu.flatten().map_or(Work::Simd(simd), Work::Gpu)
            }
        }
    }

    /// The instruction set in use, if the backend is [`Backend::Cpu`].
    pub fn instruction_set(&self) -> Option<InstructionSet> {
        match self.usual() {
            Work::Simd(simd) => Some(simd.instruction_set()),
            _ => None,
        }
    }

    /// The backend in use, never [`Backend::Auto`]. With `Auto`, a batch that is large enough may still go to
    /// the GPU.
    pub fn backend(&self) -> Backend {
        self.backend_for(0)
    }

    /// The backend that fits a batch of so many pixels, never [`Backend::Auto`]. With `Auto`, the first question about
    /// [`Fitter::gpu_from`] or more looks for a GPU.
    pub fn backend_for(&self, pixels: usize) -> Backend {
        match self.engine(pixels >= self.gpu_from) {
            Work::Reference(_) => Backend::Reference,
            Work::Simd(_) => Backend::Cpu,
            #[cfg(feature = "gpu")]
            Work::Gpu(_) => Backend::Gpu,
        }
    }

    /// With [`Backend::Auto`], batches of at least so many pixels go to the GPU, if there is one: those that it fits sooner than these
    /// threads do, with the time to start it, by [`Speeds::here`].
    pub fn gpu_from(&self) -> usize {
        self.gpu_from
    }

    /// The devices in use, if the backend is [`Backend::Gpu`].
    #[cfg(feature = "gpu")]
    pub fn devices(&self) -> Vec<fit_gpu::DeviceInfo> {
        match self.usual() {
            Work::Gpu(gpu) => gpu.devices(),
            _ => Vec::new(),
        }
    }

    /// Whether the backend computes in single precision, so that `Fit<f32>` loses nothing.
    pub fn is_single_precision(&self) -> bool {
        !matches!(self.engine, Engine::Reference(_))
    }

    /// The options of the fit.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The number of threads that fit; 0 if the GPU does.
    pub fn threads(&self) -> usize {
        match self.usual() {
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
        let mut fits = T::make(Invalid(self, spots.dim().0));
        self.fit_into(spots, start, &mut fits)?;
        Ok(fits)
    }

    /// [`Fitter::fit`] into memory of the caller, one element for each window.
    ///
    /// # Errors
    /// As [`Fitter::fit`], and if `fits` does not have one element for each window; then `fits` is
    /// unchanged.
    pub fn fit_into<P: Pixel, T: Scalar>(
        &self,
        spots: ArrayView3<'_, P>,
        start: Start<'_>,
        fits: &mut [Fit<T>],
    ) -> Result<(), FitError> {
        self.fit_windows(Windows::stack(spots).into(), start, fits.into())
    }

    /// Fits windows of `size` pixels that are cut out of a stack of frames (n, height, width), without
    /// copying them first. The outcomes are in the order of the corners; their coordinates count from
    /// the first pixel of each window.
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
        let mut fits = T::make(Invalid(self, corners.len()));
        let windows = Windows::cuts(frames, size, corners);
        self.fit_windows(windows.into(), start, fits.as_mut_slice().into())?;
        Ok(fits)
    }

    /// The errors of fits that this fitter made from these windows: standard errors and covariances of all parameters,
    /// and how well the model fits (see [`Errors`]). With [`Options::camera`], or a camera map, they are correct for
    /// that camera; without either, counts are taken as photo-electrons.
    ///
    /// ```
    /// use ndarray::Array3;
    /// use spotfit::{Camera, Fit, Fitter, FitterOptions, Options, Parameter, Start, Windows};
    ///
    /// let spots = Array3::from_shape_fn((1, 9, 9), |(_, y, x)| {
    ///     let (dx, dy) = (x as f64 - 4.25, y as f64 - 3.5);
    ///     (100.0 * (-(dx * dx + dy * dy) / 4.5).exp() + 110.0).round() as u16
    /// });
    /// // Two ADU for each photo-electron, above 100 ADU.
    /// let camera = Camera::default().with_baseline(100.0).with_sensitivity(0.5);
    /// let options = Options::default().with_camera(Some(camera));
    /// let fitter = Fitter::new(&FitterOptions::from(options))?;
    /// let fits: Vec<Fit<f64>> = fitter.fit(spots.view(), Start::Estimate)?;
    /// let errors = fitter.errors(Windows::stack(spots.view()).into(), &fits)?;
    /// assert!((0.08..0.1).contains(&errors[0].x()));
    /// assert!(errors[0].covariance(Parameter::SigmaX, Parameter::Amplitude) < 0.0);
    /// # Ok::<(), spotfit::FitError>(())
    /// ```
    ///
    /// # Errors
    /// [`FitError`] if there is not one outcome for each window.
    pub fn errors<T: Scalar>(
        &self,
        windows: AnyWindows<'_>,
        fits: &[Fit<T>],
    ) -> Result<Vec<Errors>, FitError> {
        let mut errors = self.filled(Errors::unknown(), windows.count());
        self.errors_into(windows, fits, &mut errors)?;
        Ok(errors)
    }

    /// [`Fitter::errors`] into memory of the caller, one element for each window.
    ///
    /// # Errors
    /// As [`Fitter::errors`], and if `errors` does not have one element for each window; then `errors` is unchanged. If
    /// a GPU fails, part of `errors` may have been written.
    pub fn errors_into<T: Scalar>(
        &self,
        windows: AnyWindows<'_>,
        fits: &[Fit<T>],
        errors: &mut [Errors],
    ) -> Result<(), FitError> {
        let options = &self.options;
        match self.engine_for(&windows) {
            Work::Reference(engine) => engine.errors_into(options, windows, fits, errors)?,
            Work::Simd(engine) => engine.errors_into(options, windows, fits, errors)?,
            #[cfg(feature = "gpu")]
            Work::Gpu(engine) => match engine.errors_into(options, windows, fits, errors) {
                // Errors take more of its memory than fits.
                Err(GpuError::WindowTooLarge { .. }) => {
                    self.beside_gpu()?.errors_into(options, windows, fits, errors)?;
                }
                other => {
                    other?;
                    fit_cpu::widen_errors(options, windows, 0, fits.into(), errors)
                        .map_err(BatchError::from)?;
                }
            },
        }
        Ok(())
    }

    /// Fits windows of any pixel type, stacked or cut from frames, into memory of the caller.
    ///
    /// # Errors
    /// As [`Fitter::fit_into`] and [`Fitter::fit_in_frames`].
    pub fn fit_windows(
        &self,
        windows: AnyWindows<'_>,
        start: Start<'_>,
        #[cfg_attr(not(feature = "gpu"), allow(unused_mut))] mut fits: Outcomes<'_>,
    ) -> Result<(), FitError> {
        let options = &self.options;
        match self.engine_for(&windows) {
            Work::Reference(engine) => engine.fit_windows(options, windows, start, fits)?,
            Work::Simd(engine) => engine.fit_windows(options, windows, start, fits)?,
            #[cfg(feature = "gpu")]
            Work::Gpu(engine) => {
                match engine.fit_windows(options, windows, start, again(&mut fits)) {
                    Err(GpuError::WindowTooLarge { .. })
                        if matches!(self.engine, Engine::Auto(..)) =>
                    {
                        self.beside_gpu()?.fit_windows(options, windows, start, fits)?;
                    }
                    other => other?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(feature = "gpu")]
impl Fitter {
    /// [`Fitter::fit_windows`] of windows cut from frames that were sent to a GPU, which fits them there.
    pub(crate) fn fit_sent(
        &self,
        windows: AnyWindows<'_>,
        start: Start<'_>,
        fits: Outcomes<'_>,
        sent: &fit_gpu::SentFrames,
    ) -> Result<(), FitError> {
        match self.engine_for(&windows) {
            Work::Gpu(engine) => Ok(engine.fit_sent(&self.options, windows, start, fits, sent)?),
            _ => self.fit_windows(windows, start, fits),
        }
    }
}

/// The same room once more.
#[cfg(feature = "gpu")]
fn again<'a>(fits: &'a mut Outcomes<'_>) -> Outcomes<'a> {
    match fits {
        Outcomes::F32(fits) => Outcomes::F32(fits),
        Outcomes::F64(fits) => Outcomes::F64(fits),
    }
}

/// Room for so many outcomes of a fitter.
struct Invalid<'f>(&'f Fitter, usize);

impl Make for Invalid<'_> {
    type Of<T: Scalar> = Vec<Fit<T>>;

    fn f32(self) -> Vec<Fit<f32>> {
        self.0.filled(Fit::invalid(), self.1)
    }

    fn f64(self) -> Vec<Fit<f64>> {
        self.0.filled(Fit::invalid(), self.1)
    }
}
