//! Calibrations of stacks of beads.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::Camera;
use spotfit::astigmatism::yaml_text::yaml_text;
use spotfit::movie::MovieOptions;
use spotfit::psf::{self, Psf};
use spotfit::report::figure::Drawing;
use spotfit::steps::calibrate::{CalibrateOptions, PsfOptions, run, run_psf};
use spotfit::steps::learn;
use spotfit::steps::localize::Given;
use spotfit::steps::{Listener, PixelScale, Stack};

use crate::camera::CameraMap;
use crate::error;
use crate::fitter::Fitter;
use crate::localize::{LocalizeOptions, followed, stored};
use crate::options::{CameraFromMetadata, CameraNumbers, camera_asked};
use crate::pixels::Pixels;
use crate::plots::encoded;
use crate::steps::{Heard, heard, json, of_step, options};

/// The bytes of the calibration's file, the report as JSON, its plot as SVG and as PNG, and notes.
type Calibrated = (Vec<u8>, String, [Vec<u8>; 2], Vec<String>);

/// Channel, slice and position of a movie, whether one that is cut off is refused, and the parts that go on with it.
pub(crate) type Chosen = (Option<usize>, Option<usize>, Option<String>, bool, Vec<PathBuf>);

/// How a movie is opened, of which this is chosen.
pub(crate) fn movie_options((channel, slice, position, strict, parts): Chosen) -> MovieOptions {
    let movie = MovieOptions::default().with_channel(channel).with_slice(slice);
    movie.with_position(position).with_strict(strict).with_parts(parts)
}

/// The camera of stacks, with what the metadata of the first say where that is asked for, which is told.
fn camera_of(
    (from, map): (Option<CameraFromMetadata>, Option<Arc<spotfit::CameraMap>>),
    stacks: &mut [Stack],
    scale: PixelScale,
    listener: &Heard<'_>,
) -> Result<Option<Camera>, PyErr> {
    let (Some(from), Some(first)) = (from, stacks.first_mut()) else { return Ok(None) };
    let asked = camera_asked(None, Some(from))?.with_maps(map.map(Given::Content));
    let (camera, notes) = asked.by_stack(first, scale).map_err(of_step)?;
    notes.iter().for_each(|note| listener.note(note));
    Ok(camera.camera())
}

/// Stacks: paths, or arrays (slice, row, column), with the name of the argument.
pub(crate) fn stacks(
    py: Python<'_>,
    name: &'static str,
    given: &[Bound<'_, PyAny>],
    chosen: Chosen,
) -> PyResult<Vec<Stack>> {
    let chosen = movie_options(chosen);
    let stack = |(number, given): (usize, &Bound<'_, PyAny>)| {
        if let Ok(path) = given.extract::<PathBuf>() {
            return py.detach(|| Stack::open(path, &chosen)).map_err(of_step);
        }
        let (channel, slice, position) = (chosen.channel, chosen.slice, &chosen.position);
        if channel.is_some() || slice.is_some() || position.is_some() {
            let of = "channel, slice and position are of files, not of arrays";
            return Err(PyValueError::new_err(of));
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

/// The file of a PSF.
fn written(of: &Psf, pixel_size: Option<f64>) -> PyResult<Vec<u8>> {
    let written = psf::write(Vec::new(), of, pixel_size);
    written.map_err(error::wrong)
}

/// Learns how the widths of spots tell z.
#[pyfunction]
#[pyo3(signature = (given, fitter, camera_map, *, options, chosen, camera_from))]
pub(crate) fn calibrate(
    py: Python<'_>,
    given: Vec<Bound<'_, PyAny>>,
    fitter: &Bound<'_, Fitter>,
    camera_map: Option<&Bound<'_, CameraMap>>,
    options: &str,
    chosen: Chosen,
    camera_from: Option<CameraFromMetadata>,
) -> PyResult<Calibrated> {
    let options: CalibrateOptions = self::options(options)?;
    let fitter = fitter.get().options().clone();
    let map = camera_map.map(|map| Arc::new(map.get().0.clone()));
    let mut stacks = stacks(py, "stacks", &given, chosen)?;
    let (done, notes) = heard(py, move |listener| {
        let scale = options.stack.pixel_size;
        let camera = camera_of((camera_from, map.clone()), &mut stacks, scale, listener)?;
        let fit = fitter.fit.with_camera(camera.or(fitter.fit.camera));
        let fitter = fitter.with_fit(fit);
        run(&options, &fitter, map.as_ref(), &mut stacks, listener).map_err(of_step)
    })?;
    let plot = plots(&done.drawing())?;
    Ok((yaml_text(&done.calibration).into_bytes(), json(&done.report)?, plot, notes))
}

/// Measures a PSF.
#[pyfunction]
#[pyo3(signature = (given, camera, camera_map, *, options, chosen, camera_from))]
pub(crate) fn calibrate_psf(
    py: Python<'_>,
    given: Vec<Bound<'_, PyAny>>,
    camera: Option<CameraNumbers>,
    camera_map: Option<&Bound<'_, CameraMap>>,
    options: &str,
    chosen: Chosen,
    camera_from: Option<CameraFromMetadata>,
) -> PyResult<Calibrated> {
    let options: PsfOptions = self::options(options)?;
    let camera = camera.map(crate::options::camera);
    let map = camera_map.map(|map| Arc::new(map.get().0.clone()));
    let mut stacks = stacks(py, "stacks", &given, chosen)?;
    let (done, notes) = heard(py, move |listener| {
        let scale = options.stack.pixel_size;
        let found = camera_of((camera_from, map.clone()), &mut stacks, scale, listener)?;
        let camera = found.or(camera);
        run_psf(&options, camera.as_ref(), map.as_deref(), &mut stacks, listener).map_err(of_step)
    })?;
    Ok((written(&done.psf, done.pixel_size)?, json(&done.report)?, plots(&done.drawing())?, notes))
}

/// A movie that a PSF is learnt from: a path, whose writer may be idle for so long, or frames.
pub(crate) fn to_learn_from(
    py: Python<'_>,
    given: Bound<'_, PyAny>,
    chosen: Chosen,
    idle: Option<f64>,
) -> PyResult<Stack> {
    let Ok(path) = given.extract::<PathBuf>() else {
        return Ok(stacks(py, "movie", &[given], chosen)?.remove(0));
    };
    let chosen = movie_options(chosen);
    let opened = match idle {
        None => py.detach(|| Stack::open(path, &chosen)),
        Some(idle) => followed(py, idle, move |follow| Stack::follow(path, &chosen, &follow))?,
    };
    opened.map_err(of_step)
}

/// Which frames of those from `first` to before `last` a PSF is learnt from.
#[pyfunction]
pub(crate) fn frames_to_learn(
    first: usize,
    last: usize,
    height: usize,
    width: usize,
    learn_frames: Option<usize>,
) -> Vec<(usize, usize)> {
    let most = learn_frames.unwrap_or(learn::LEARN_FRAMES);
    let parts = learn::frames_to_learn(first..last, (width, height), most);
    parts.map(|part| (part.start, part.end)).collect()
}

/// Learns the PSF of a movie: a path, or frames.
#[pyfunction]
#[pyo3(signature = (given, options, *, chosen, frames, learn_frames))]
pub(crate) fn learn_psf(
    py: Python<'_>,
    given: Bound<'_, PyAny>,
    options: &Bound<'_, LocalizeOptions>,
    chosen: Chosen,
    frames: Option<String>,
    learn_frames: Option<usize>,
) -> PyResult<Calibrated> {
    let options = options.get().whole().with_frames(frames).with_learn_frames(learn_frames);
    let movie = to_learn_from(py, given, chosen, None)?;
    let (done, notes) =
        heard(py, move |listener| learn::run(&options, movie, listener).map_err(of_step))?;
    Ok((written(&done.psf, done.pixel_size)?, json(&done.report)?, plots(&done.drawing())?, notes))
}
