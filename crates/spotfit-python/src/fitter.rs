//! Fits of windows, with options that Python gives.

use std::sync::Arc;

use numpy::PyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::{
    Backend, BatchError, FitterOptions, InstructionSet, Limits, MaxError, Options, Size, steps,
};

use crate::camera::CameraMap;
use crate::device::{Outcomes, There};
use crate::emitters::Parts;
use crate::numbers::{self, Starts, WeightArray};
use crate::pixels::{Pixels, Place};
use crate::threads::Own;
use crate::work::Work;
use crate::{error, options};

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
        sigma: Option<Vec<f64>>,
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
            .with_shape(options::shape(shape, sigma.as_deref())?)
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
        let pixels = Pixels::of(if size.is_some() { "frames" } else { "spots" }, spots)?;
        let view = pixels.view();
        let corners = corners.map(|given| numbers::corners(given, size.is_some())).transpose()?;
        let (place, count, known) = match (size, &corners) {
            (Some((height, width)), Some(corners)) => {
                (Place::Cuts(Size::new(width, height), corners), corners.len(), None)
            }
            _ => (Place::Stack, view.dim().0, corners.as_deref()),
        };
        let map = camera_map.map(|map| &map.get().0);
        Parts { view, place, count, corners: known, map }.fit(py, self, emitters)
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
