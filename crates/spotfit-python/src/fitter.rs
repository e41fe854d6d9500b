//! Fitting windows while Python goes on.

use std::time::{Duration, Instant};

use fit_core::{Corner, Fit, Make, Scalar};
use numpy::ndarray::{Axis, Slice};
use numpy::{Element, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods};
use pyo3::prelude::*;
use spotfit::{
    AUTO_GPU_PIXELS, AnyWindows, Backend, BatchError, Errors, FitterOptions, InstructionSet,
    Limits, MaxError, Options, Size, Start, Weights,
};

use crate::camera::CameraMap;
use crate::numbers::{self, Starts};
use crate::pixels::{Pixels, Place, View};
use crate::rows::{self, Row};
use crate::threads::Own;
use crate::{error, options};

/// Pixels that are fitted at a time, so that Ctrl-C does not wait long: some ten milliseconds, or what a GPU needs to
/// overlap its copies.
const BLOCK: usize = 1 << 22;
const REFERENCE_BLOCK: usize = 1 << 18;
const GPU_BLOCK: usize = AUTO_GPU_PIXELS;
/// How often Python is asked whether Ctrl-C was pressed.
const PATIENCE: Duration = Duration::from_millis(50);

/// Fits windows with the same options.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct Fitter {
    options: FitterOptions,
    fitter: Own<spotfit::Fitter>,
}

#[pymethods]
impl Fitter {
    #[new]
    #[pyo3(signature = (
        *, shape, sigma, profile, estimator, camera, background, criteria, max_iterations, min_delta, min_step,
        max_error, tolerance, centre_margin, sigma_min, sigma_max, backend, instruction_set, devices, threads
    ))]
    #[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
    fn new(
        shape: &str,
        sigma: Option<(f64, f64)>,
        profile: &str,
        estimator: &str,
        camera: Option<(f64, f64, Option<f64>, f64)>,
        background: Option<&str>,
        criteria: &str,
        max_iterations: Option<u32>,
        min_delta: Option<f64>,
        min_step: Option<f64>,
        max_error: Option<f64>,
        tolerance: Option<f64>,
        centre_margin: Option<f64>,
        sigma_min: Option<f64>,
        sigma_max: Option<f64>,
        backend: &str,
        instruction_set: Option<&str>,
        devices: Vec<usize>,
        threads: usize,
    ) -> PyResult<Self> {
        let estimator = options::estimator(estimator)?;
        let preset = options::criteria(criteria)?;
        let max_iterations = max_iterations.unwrap_or(preset.max_iterations);
        // A retry belongs to its iteration: leave room for as many as the preset does.
        let max_evaluations = preset.max_evaluations.max(max_iterations.saturating_mul(5));
        let criteria = preset
            .with_max_iterations(max_iterations)
            .with_max_evaluations(max_evaluations)
            .with_max_error(max_error.map_or(preset.max_error, MaxError::Total))
            .with_min_delta(min_delta.unwrap_or(preset.min_delta))
            .with_min_step(min_step.unwrap_or(preset.min_step))
            .with_tolerance(tolerance.unwrap_or(preset.tolerance));
        let usual = Limits::default();
        let limits = usual
            .with_centre_margin(centre_margin.unwrap_or(usual.centre_margin))
            .with_sigma_min(sigma_min.unwrap_or(usual.sigma_min))
            .with_sigma_max(sigma_max.or(usual.sigma_max));
        let fit = Options::default()
            .with_criteria(criteria)
            .with_limits(limits)
            .with_shape(options::shape(shape, sigma)?)
            .with_profile(options::profile(profile)?)
            .with_estimator(estimator)
            .with_background(options::background(background, estimator)?)
            .with_camera(camera.map(options::camera));
        let set = instruction_set.map(str::parse).transpose();
        let options = FitterOptions::from(fit)
            .with_backend(backend.parse().map_err(error::of_fit)?)
            .with_instruction_set(set.map_err(|wrong: BatchError| error::of_fit(wrong.into()))?)
            .with_devices(devices)
            .with_threads(threads);
        let fitter = Self { options, fitter: Own::new() };
        fitter.own()?;
        Ok(fitter)
    }

    /// The rows of outcomes and, if they are wanted, of errors.
    #[pyo3(signature = (spots, corners, size, start, weights, camera_map, errors, double))]
    #[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
    fn fit<'py>(
        &self,
        py: Python<'py>,
        spots: &Bound<'py, PyAny>,
        corners: Option<&Bound<'py, PyAny>>,
        size: Option<(usize, usize)>,
        start: Option<&Bound<'py, PyAny>>,
        weights: Option<&Bound<'py, PyAny>>,
        camera_map: Option<&Bound<'py, CameraMap>>,
        errors: bool,
        double: Option<bool>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)> {
        let pixels = Pixels::of(if size.is_some() { "frames" } else { "spots" }, spots)?;
        let view = pixels.view();
        let corners = corners.map(|given| numbers::corners(given, size.is_some())).transpose()?;
        let (place, count, known) = match (size, &corners) {
            (Some((height, width)), Some(corners)) => {
                (Place::Cuts(Size::new(width, height), corners), corners.len(), None)
            }
            _ => (Place::Stack, view.dim().0, corners.as_deref()),
        };
        let starts = Starts::of(start, count)?;
        let weights = weights.map(WeightArray::of).transpose()?;
        let fitter = self.own()?;
        let work = Work {
            view,
            place,
            count,
            corners: known,
            start: starts.values()?,
            weights: weights.as_ref().map(WeightArray::values),
            map: camera_map.map(|map| &map.get().0),
            fitter: &fitter,
            auto: self.options.backend == Backend::Auto,
            errors,
        };
        if double.unwrap_or(!fitter.is_single_precision()) {
            work.rows::<f64>(py)
        } else {
            work.rows::<f32>(py)
        }
    }

    /// The backend in use.
    #[getter]
    fn backend(&self) -> PyResult<&'static str> {
        Ok(self.own()?.backend().name())
    }

    /// The vector instructions in use.
    #[getter]
    fn instruction_set(&self) -> PyResult<Option<&'static str>> {
        Ok(self.own()?.instruction_set().map(InstructionSet::name))
    }

    /// The number of threads that fit; 0 if the GPU does.
    #[getter]
    fn threads(&self) -> PyResult<usize> {
        Ok(self.own()?.threads())
    }
}

impl Fitter {
    pub(crate) fn options(&self) -> &FitterOptions {
        &self.options
    }

    fn own(&self) -> PyResult<std::sync::Arc<spotfit::Fitter>> {
        self.fitter.get(|| spotfit::Fitter::new(&self.options).map_err(error::of_fit))
    }
}

/// Weights, borrowed from Python.
enum WeightArray<'py> {
    Windows(PyReadonlyArray3<'py, f32>),
    Frame(PyReadonlyArray2<'py, f32>),
}

impl<'py> WeightArray<'py> {
    fn of(object: &Bound<'py, PyAny>) -> PyResult<Self> {
        if numbers::array("weights", object)?.ndim() == 2 {
            return Ok(Self::Frame(numbers::numbers("weights", object, "(height, width)")?));
        }
        let shape = "(n, height, width) or (height, width)";
        Ok(Self::Windows(numbers::numbers("weights", object, shape)?))
    }

    fn values(&self) -> Weights<'_> {
        match self {
            Self::Windows(weights) => Weights::Windows(weights.as_array()),
            Self::Frame(weights) => Weights::Frame(weights.as_array()),
        }
    }
}

/// Raises what Ctrl-C does.
pub(crate) fn check_signals(py: Python<'_>) -> PyResult<()> {
    py.check_signals()
}

/// All that a call needs without the interpreter.
#[derive(Clone, Copy)]
struct Work<'a> {
    view: View<'a>,
    place: Place<'a>,
    count: usize,
    /// Where the windows of a stack lie in the maps.
    corners: Option<&'a [Corner]>,
    start: Start<'a>,
    weights: Option<Weights<'a>>,
    map: Option<&'a spotfit::CameraMap>,
    fitter: &'a spotfit::Fitter,
    /// Whether a batch may go to the GPU if it is large enough.
    auto: bool,
    errors: bool,
}

/// An outcome where there is none so far.
struct Unfitted;

impl Make for Unfitted {
    type Of<T: Scalar> = Fit<T>;

    fn f32(self) -> Fit<f32> {
        Fit::invalid()
    }

    fn f64(self) -> Fit<f64> {
        Fit::invalid()
    }
}

impl<'a> Work<'a> {
    fn rows<'py, T: Scalar>(
        self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, Option<Bound<'py, PyAny>>)>
    where
        Row<Fit<T>>: Element,
    {
        self.check()?;
        let mut fits = error::room(self.count, "outcomes")?;
        let mut errors = error::room(if self.errors { self.count } else { 0 }, "errors")?;
        py.detach(|| {
            fits.resize(self.count, Row(T::make(Unfitted)));
            errors.resize(errors.capacity().min(self.count), Row(Errors::unknown()));
            self.fit(rows::values(&mut fits), rows::values(&mut errors))
        })?;
        let errors = self.errors.then(|| rows::array::<Errors>(py, errors));
        Ok((rows::array(py, fits), errors))
    }

    /// What is wrong with the whole call, before anything is made for it.
    fn check(&self) -> PyResult<()> {
        let windows = self.windows(0, self.count);
        let wrong = windows.validate(self.fitter.options(), self.start, self.count);
        wrong.map_err(error::of_argument)
    }

    /// The windows from `start` to before `end`, with all that is known of them.
    fn windows(&self, start: usize, end: usize) -> AnyWindows<'a> {
        let mut windows = self.view.windows(self.place, start, end);
        if let Some(corners) = self.corners {
            windows = windows.with_corners(corners.get(start..end).unwrap_or(corners));
        }
        if let Some(map) = self.map {
            windows = windows.with_map(map);
        }
        match self.weights {
            Some(Weights::Windows(mut weights)) => {
                if weights.dim().0 >= end {
                    weights.slice_axis_inplace(Axis(0), Slice::from(start..end));
                }
                windows.with_weights(Weights::Windows(weights))
            }
            Some(frame) => windows.with_weights(frame),
            None => windows,
        }
    }

    fn fit<T: Scalar>(&self, fits: &mut [Fit<T>], errors: &mut [Errors]) -> PyResult<()> {
        let block = self.block();
        let mut asked = Instant::now();
        for start in (0..self.count).step_by(block) {
            if asked.elapsed() > PATIENCE {
                Python::attach(check_signals)?;
                asked = Instant::now();
            }
            let end = self.count.min(start + block);
            let windows = self.windows(start, end);
            let part = numbers::part(self.start, start, end);
            let found = &mut fits[start..end];
            let fitted = self.fitter.fit_windows(windows, part, (&mut *found).into());
            fitted.map_err(error::of_fit)?;
            if self.errors {
                let judged = self.fitter.errors_into(windows, found, &mut errors[start..end]);
                judged.map_err(error::of_fit)?;
            }
        }
        Ok(())
    }

    /// How many windows are fitted at a time.
    fn block(&self) -> usize {
        let windows = self.windows(0, self.count);
        let each = windows.size().pixels().max(1);
        let pixels = match self.fitter.backend() {
            Backend::Gpu => GPU_BLOCK,
            Backend::Reference => REFERENCE_BLOCK,
            // Less would never be given to the GPU.
            _ if self.auto && windows.pixels() >= AUTO_GPU_PIXELS => {
                windows.pixels().div_ceil(windows.pixels() / AUTO_GPU_PIXELS)
            }
            _ => BLOCK,
        };
        pixels.div_ceil(each).max(1)
    }
}
