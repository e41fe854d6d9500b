//! Fits of windows, with options that Python gives.

use std::sync::Arc;

use fit_core::Corner;
use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::{Backend, FitterOptions, InstructionSet, Limits, MaxError, Options, Size, steps};

use crate::camera::CameraMap;
use crate::device::{Outcomes, There};
use crate::keywords::{Keywords, assign};
use crate::numbers::{self, Starts, WeightArray};
use crate::options::CameraNumbers;
use crate::pixels::{Pixels, Stack};
use crate::threads::Own;
use crate::work::Work;
use crate::{emitters, error, options};

/// Windows as they are given: a stack of them, or frames with their size and their corners.
struct Windows<'py> {
    pixels: Pixels<'py>,
    corners: Option<Vec<Corner>>,
    size: Option<Size>,
}

impl<'py> Windows<'py> {
    fn of(
        pixels: &Bound<'py, PyAny>,
        corners: Option<&Bound<'py, PyAny>>,
        size: Option<(usize, usize)>,
    ) -> PyResult<Self> {
        let pixels = Pixels::of(if size.is_some() { "frames" } else { "spots" }, pixels)?;
        let corners = corners.map(|given| numbers::corners(given, size.is_some())).transpose()?;
        let size = size.map(|(height, width)| Size::new(width, height));
        Ok(Self { pixels, corners, size })
    }

    fn stack<'a>(&'a self, map: Option<&'a Bound<'py, CameraMap>>) -> Stack<'a> {
        let map = map.map(|map| &map.get().0);
        Stack::of(self.pixels.view(), self.size, self.corners.as_deref(), map)
    }
}

/// Fits windows with the same options.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct Fitter {
    options: FitterOptions,
    fitter: Own<spotfit::Fitter>,
}

#[pymethods]
impl Fitter {
    #[new]
    fn new(keywords: Keywords<'_>) -> PyResult<Self> {
        let estimator = options::estimator(&keywords.word("estimator")?)?;
        let mut criteria = options::criteria(&keywords.word("criteria")?)?;
        assign!(keywords => criteria, if given; max_iterations, min_delta, min_step, tolerance);
        // A retry belongs to its iteration: leave room for as many as the preset does.
        let retries = criteria.max_iterations.saturating_mul(5);
        criteria.max_evaluations = criteria.max_evaluations.max(retries);
        if let Some(most) = keywords.get("max_error")? {
            criteria.max_error = MaxError::Total(most);
        }
        let mut limits = Limits::default();
        assign!(keywords => limits, if given; centre_margin, sigma_min, sigma_max);
        let sigma: Option<Vec<f64>> = keywords.get("sigma")?;
        let background: Option<String> = keywords.get("background")?;
        let camera: Option<CameraNumbers> = keywords.get("camera")?;
        let fit = Options::default()
            .with_criteria(criteria)
            .with_limits(limits)
            .with_shape(options::shape(&keywords.word("shape")?, sigma.as_deref())?)
            .with_profile(options::profile(&keywords.word("profile")?)?)
            .with_estimator(estimator)
            .with_background(options::background(background.as_deref(), estimator)?)
            .with_camera(camera.map(options::camera));
        let set: Option<String> = keywords.get("instruction_set")?;
        let (backend, devices) = (keywords.word("backend")?, keywords.get("devices")?);
        let (fit, threads) = (FitterOptions::from(fit), keywords.get("threads")?);
        let options = options::backend(fit, &backend, set.as_deref(), devices, threads)?;
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
        let windows = Windows::of(spots, corners, size)?;
        let stack = windows.stack(camera_map);
        let starts = Starts::of(start, stack.count)?;
        let weights = weights.map(WeightArray::of).transpose()?;
        let fitter = self.own()?;
        let work = Work {
            stack,
            start: starts.values()?,
            weights: weights.as_ref().map(WeightArray::values),
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

    /// All emitters of windows as numbers, and what computed.
    #[pyo3(signature = (spots, corners, size, camera_map, emitters))]
    fn fit_emitters<'py>(
        &self,
        py: Python<'py>,
        spots: &Bound<'py, PyAny>,
        corners: Option<&Bound<'py, PyAny>>,
        size: Option<(usize, usize)>,
        camera_map: Option<&Bound<'py, CameraMap>>,
        emitters: &str,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, String)> {
        let windows = Windows::of(spots, corners, size)?;
        emitters::fit(py, windows.stack(camera_map), &self.options, emitters)
    }

    /// Outcomes of windows that lie in the memory of a GPU; they stay there.
    #[pyo3(signature = (spots, device, corners, size, start, weights, camera_map, errors))]
    #[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
    fn fit_there(
        &self,
        spots: &Bound<'_, PyAny>,
        device: usize,
        corners: Option<&Bound<'_, PyAny>>,
        size: Option<(usize, usize)>,
        start: Option<&Bound<'_, PyAny>>,
        weights: Option<&Bound<'_, PyAny>>,
        camera_map: Option<&Bound<'_, CameraMap>>,
        errors: bool,
    ) -> PyResult<Outcomes> {
        if !matches!(self.options.backend, Backend::Auto | Backend::Gpu) {
            return Err(PyValueError::new_err(format!(
                "backend = '{}' fits what is in the host's memory, and these pixels are in that of GPU {device}",
                self.options.backend.name()
            )));
        }
        let there = There { pixels: spots, corners, size, start, weights, map: camera_map, errors };
        there.fit(&self.options.fit, device)
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

    /// Whether it computes in single precision.
    #[getter]
    fn single(&self) -> PyResult<bool> {
        Ok(self.own()?.is_single_precision())
    }

    /// What computes, in the words of reports.
    #[getter]
    fn about(&self) -> PyResult<String> {
        Ok(steps::fitted::backend(&*self.own()?))
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

    fn own(&self) -> PyResult<Arc<spotfit::Fitter>> {
        self.fitter.get(|| spotfit::Fitter::new(&self.options).map_err(error::of_fit))
    }
}
