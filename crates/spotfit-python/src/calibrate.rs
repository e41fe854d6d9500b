//! Calibrations of stacks of beads.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::astigmatism::yaml_text::yaml_text;
use spotfit::movie::MovieOptions;
use spotfit::psf;
use spotfit::report::figure::Drawing;
use spotfit::steps::Stack;
use spotfit::steps::calibrate::{run, run_psf};

use crate::camera::CameraMap;
use crate::fitter::Fitter;
use crate::localize::stored;
use crate::pixels::Pixels;
use crate::plots::encoded;
use crate::steps::{Heard, json, of_step, options};
use crate::threads;
use crate::work::aside;

/// The bytes of the calibration's file, the report as JSON, its plot as SVG and as PNG, and notes.
type Calibrated = (Vec<u8>, String, [Vec<u8>; 2], Vec<String>);

/// Stacks: paths, or arrays (slice, row, column), with the name of the argument.
pub(crate) fn stacks(
    py: Python<'_>,
    name: &'static str,
    given: &[Bound<'_, PyAny>],
    (channel, slice, strict): (Option<usize>, Option<usize>, bool),
) -> PyResult<Vec<Stack>> {
    let chosen =
        MovieOptions::default().with_channel(channel).with_slice(slice).with_strict(strict);
    let stack = |(number, given): (usize, &Bound<'_, PyAny>)| {
        if let Ok(path) = given.extract::<PathBuf>() {
            return py.detach(|| Stack::open(path, &chosen)).map_err(of_step);
        }
        let frames = Pixels::of(name, given)?;
        let view = frames.view();
        Ok(Stack::of(
            format!("{} {number}", name.trim_end_matches('s')),
            py.detach(|| stored(view)),
        ))
    };
    given.iter().enumerate().map(stack).collect()
}

/// A plot as SVG, and as PNG.
fn plots(drawing: &Drawing) -> PyResult<[Vec<u8>; 2]> {
    Ok([encoded(drawing, "svg")?, encoded(drawing, "png")?])
}

/// Learns how the widths of spots tell z.
#[pyfunction]
#[pyo3(signature = (given, fitter, camera_map, *, options, channel, slice, strict))]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn calibrate(
    py: Python<'_>,
    given: Vec<Bound<'_, PyAny>>,
    fitter: &Bound<'_, Fitter>,
    camera_map: Option<&Bound<'_, CameraMap>>,
    options: &str,
    channel: Option<usize>,
    slice: Option<usize>,
    strict: bool,
) -> PyResult<Calibrated> {
    let options = self::options(options)?;
    let fitter = fitter.get().options().clone();
    let map = camera_map.map(|map| Arc::new(map.get().0.clone()));
    let mut stacks = stacks(py, "stacks", &given, (channel, slice, strict))?;
    let pool = threads::pool()?;
    let (done, notes) = aside(py, move |abandoned| {
        pool.install(|| {
            let listener = Heard::new(abandoned);
            let done = run(&options, &fitter, map.as_ref(), &mut stacks, &listener);
            (done, listener.notes())
        })
    })?;
    let done = done.map_err(of_step)?;
    let plot = plots(&done.drawing())?;
    Ok((yaml_text(&done.calibration).into_bytes(), json(&done.report)?, plot, notes))
}

/// Measures a PSF.
#[pyfunction]
#[pyo3(signature = (given, camera, camera_map, *, options, channel, slice, strict))]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn calibrate_psf(
    py: Python<'_>,
    given: Vec<Bound<'_, PyAny>>,
    camera: Option<(f64, f64, Option<f64>, f64)>,
    camera_map: Option<&Bound<'_, CameraMap>>,
    options: &str,
    channel: Option<usize>,
    slice: Option<usize>,
    strict: bool,
) -> PyResult<Calibrated> {
    let options = self::options(options)?;
    let camera = camera.map(crate::options::camera);
    let map = camera_map.map(|map| map.get().0.clone());
    let mut stacks = stacks(py, "stacks", &given, (channel, slice, strict))?;
    let (done, notes) = aside(py, move |abandoned| {
        let listener = Heard::new(abandoned);
        let done = run_psf(&options, camera.as_ref(), map.as_ref(), &mut stacks, &listener);
        (done, listener.notes())
    })?;
    let done = done.map_err(of_step)?;
    let written = psf::write(Vec::new(), &done.psf, done.pixel_size);
    let bytes = written.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok((bytes, json(&done.report)?, plots(&done.drawing())?, notes))
}
