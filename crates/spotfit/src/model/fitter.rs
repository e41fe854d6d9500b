//! What computes the fits of models.

use std::sync::Arc;

use fit_cpu::{CurveReference, CurveSimd, InstructionSet};
use fit_curves::{CompiledModel, CurveFits, CurveOptions, CurveStart, Curves};
use fit_formula::Formula;
#[cfg(feature = "gpu")]
use fit_gpu::CurveGpu;
use rayon::ThreadPool;

use super::ModelError;
use crate::backend::{Backend, FitterOptions};

/// Fits models on a backend, with threads of its own.
///
/// ```
/// use spotfit::Backend;
/// use spotfit::model::CurveFitter;
///
/// let fitter = CurveFitter::new(Backend::Cpu, 1)?;
/// assert_eq!(fitter.threads(), 1);
/// # Ok::<(), spotfit::model::ModelError>(())
/// ```
#[derive(Debug)]
pub struct CurveFitter(Kind);

#[derive(Debug)]
enum Kind {
    Double(CurveReference),
    Single(CurveSimd),
    /// The GPU, and what fits the rest.
    #[cfg(feature = "gpu")]
    Gpu(Box<CurveGpu>, CurveSimd),
}

impl CurveFitter {
    /// A fitter on a backend, with so many threads; 0 takes one for each processor.
    ///
    /// [`Backend::Reference`], and [`Backend::Auto`], is the CPU in double precision; [`Backend::Cpu`] is the CPU in
    /// single precision, one data set per lane of its vector registers, several times as fast. [`Backend::Gpu`] is the
    /// first NVIDIA GPU, in single precision; the CPU fits the data sets that the GPU cannot fit or decide.
    ///
    /// # Errors
    /// If threads cannot be started, or there is no GPU.
    pub fn new(backend: Backend, threads: usize) -> Result<Self, ModelError> {
        let options = FitterOptions::default().with_backend(backend).with_threads(threads);
        Self::with_options(&options)
    }

    /// A fitter with these vector instructions, or on the first of these devices; options about spots have no effect.
    ///
    /// # Errors
    /// As [`CurveFitter::new`], and if the processor has no such instructions.
    pub fn with_options(options: &FitterOptions) -> Result<Self, ModelError> {
        Self::in_pool(options, None)
    }

    /// The same with the threads of a pool that others use too, if there is one.
    pub(crate) fn in_pool(
        options: &FitterOptions,
        pool: Option<&Arc<ThreadPool>>,
    ) -> Result<Self, ModelError> {
        let FitterOptions { backend, threads, instruction_set, .. } = *options;
        let simd = || match pool {
            Some(pool) => CurveSimd::in_pool(pool.clone(), instruction_set),
            None => CurveSimd::new(threads, instruction_set),
        };
        Ok(Self(match backend {
            Backend::Auto | Backend::Reference => Kind::Double(match pool {
                Some(pool) => CurveReference::in_pool(pool.clone()),
                None => CurveReference::new(threads)?,
            }),
            Backend::Cpu => Kind::Single(simd()?),
            #[cfg(feature = "gpu")]
            Backend::Gpu => {
                let device = options.devices.first().copied().unwrap_or(0);
                Kind::Gpu(Box::new(CurveGpu::new(device)?), simd()?)
            }
            #[cfg(not(feature = "gpu"))]
            Backend::Gpu => return Err(ModelError::NoGpuSupport),
        }))
    }

    /// The backend in use.
    pub fn backend(&self) -> Backend {
        match &self.0 {
            Kind::Double(_) => Backend::Reference,
            Kind::Single(_) => Backend::Cpu,
            #[cfg(feature = "gpu")]
            Kind::Gpu(..) => Backend::Gpu,
        }
    }

    /// The vector instructions in use, if there are any.
    pub fn instruction_set(&self) -> Option<InstructionSet> {
        match &self.0 {
            Kind::Single(fitter) => Some(fitter.instruction_set()),
            _ => None,
        }
    }

    /// The number of threads on the CPU.
    pub fn threads(&self) -> usize {
        self.double().threads()
    }

    /// What fits in double precision from the start, on the CPU: number by number, or with points of a data set in lanes.
    pub(crate) fn double(&self) -> &CurveReference {
        match &self.0 {
            Kind::Double(fitter) => fitter,
            Kind::Single(fitter) => fitter.double(),
            #[cfg(feature = "gpu")]
            Kind::Gpu(_, fitter) => fitter.double(),
        }
    }

    /// Fits a model written in Rust. A GPU leaves it to the CPU, in single precision.
    ///
    /// ```
    /// use ndarray::Array2;
    /// use spotfit::Backend;
    /// use spotfit::model::{At, CompiledModel, CurveFitter, CurveNumber, CurveOptions, Curves, Points};
    ///
    /// /// a·exp(−x/t).
    /// struct Decay;
    ///
    /// impl CompiledModel<2, 1> for Decay {
    ///     #[inline]
    ///     fn at<R: CurveNumber>(&self, [a, t]: [R; 2], [x]: [R; 1]) -> At<R, 2> {
    ///         let rate = t.reciprocal();
    ///         let decay = (-x * rate).exp();
    ///         At { value: a * decay, by: [decay, a * decay * x * rate * rate] }
    ///     }
    /// }
    ///
    /// let data = Array2::from_shape_fn((100, 20), |(_, x)| 5.0 * (-(x as f64) / 3.0).exp());
    /// let curves = Curves::new(data.view(), Points::Index);
    /// let fitter = CurveFitter::new(Backend::Cpu, 0)?;
    /// let fits = fitter.fit_compiled(&Decay, &curves, (&[4.0, 2.0]).into(), &CurveOptions::new(2))?;
    /// assert!((fits.parameters[[99, 1]] - 3.0).abs() < 1e-6);
    /// # Ok::<(), spotfit::model::ModelError>(())
    /// ```
    ///
    /// # Errors
    /// If the request is invalid. A fit that fails is not an error; its status says how it ended.
    pub fn fit_compiled<M, const P: usize, const V: usize>(
        &self,
        model: &M,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<CurveFits, ModelError>
    where
        M: CompiledModel<P, V>,
    {
        Ok(match &self.0 {
            Kind::Double(fitter) => fitter.fit_compiled(model, curves, start, options)?,
            Kind::Single(fitter) => fitter.fit_compiled(model, curves, start, options)?,
            #[cfg(feature = "gpu")]
            Kind::Gpu(_, fitter) => fitter.fit_compiled(model, curves, start, options)?,
        })
    }

    pub(super) fn fit(
        &self,
        formula: &Formula,
        curves: &Curves<'_>,
        start: CurveStart<'_>,
        options: &CurveOptions,
    ) -> Result<CurveFits, ModelError> {
        Ok(match &self.0 {
            Kind::Double(fitter) => fitter.fit(formula, curves, start, options)?,
            Kind::Single(fitter) => fitter.fit(formula, curves, start, options)?,
            #[cfg(feature = "gpu")]
            Kind::Gpu(gpu, rest) => {
                let (mut fits, left) = gpu.fit(formula, curves, start, options)?;
                if left.len() == fits.len() {
                    return Ok(rest.fit(formula, curves, start, options)?);
                }
                if !left.is_empty() {
                    rest.double().fit_left(formula, curves, start, options, &left, &mut fits)?;
                }
                fits
            }
        })
    }
}
