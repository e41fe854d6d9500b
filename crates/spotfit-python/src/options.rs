//! Options of a fit by their names.

use std::path::PathBuf;

use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use spotfit::model::CurvePrecision;
use spotfit::steps::PixelScale;
use spotfit::steps::localize::{CameraOptions, usual_background};
use spotfit::{
    Background, BatchError, Camera, Criteria, Estimator, FitterOptions, FixedSigma, FixedSigmas,
    GivenSigma, PixelProfile, Shape,
};

use crate::error;

/// The value that a word stands for.
pub(crate) fn choose<T: Copy>(name: &str, word: &str, values: &[(&str, T)]) -> PyResult<T> {
    let found = values.iter().find(|(own, _)| *own == word);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let words: Vec<_> = values.iter().map(|(own, _)| format!("'{own}'")).collect();
        PyValueError::new_err(format!("{name} = '{word}' is not one of {}", words.join(", ")))
    })
}

/// The shape of the spots: with `sigma`, σ in pixels or σx and σy, they are circles or ellipses of that width.
pub(crate) fn shape(word: &str, sigma: Option<&[f64]>) -> PyResult<Shape> {
    let [circular, elliptical, rotated] = Shape::NAMED;
    let shapes = [circular, elliptical, rotated, ("given", Shape::GivenSigma(GivenSigma))];
    match sigma {
        None => choose("shape", word, &shapes),
        Some(&[sigma_x, sigma_y]) => Ok(Shape::FixedSigmas(FixedSigmas { sigma_x, sigma_y })),
        Some(&[sigma]) => Ok(Shape::FixedSigma(FixedSigma { sigma })),
        Some(_) => Err(PyValueError::new_err("sigma must be one number or two")),
    }
}

/// What a pixel measures of a spot.
pub(crate) fn profile(word: &str) -> PyResult<PixelProfile> {
    let profiles = [("sampled", PixelProfile::Sampled), ("integrated", PixelProfile::Integrated)];
    choose("profile", word, &profiles)
}

/// What is minimized.
pub(crate) fn estimator(word: &str) -> PyResult<Estimator> {
    choose("estimator", word, &Estimator::ALL.map(|estimator| (estimator.name(), estimator)))
}

/// The precision of fits of curves.
pub(crate) fn precision(word: &str) -> PyResult<CurvePrecision> {
    choose("precision", word, &CurvePrecision::ALL.map(|(precision, name)| (name, precision)))
}

/// What is known of the background; if nothing is said, what suits the estimator.
pub(crate) fn background(word: Option<&str>, estimator: Estimator) -> PyResult<Background> {
    match word {
        Some(word) => choose("background", word, &Background::NAMED),
        None => Ok(usual_background(estimator)),
    }
}

/// When fits end.
pub(crate) fn criteria(word: &str) -> PyResult<Criteria> {
    choose("criteria", word, &Criteria::NAMED)
}

/// What computes.
pub(crate) fn backend(
    options: FitterOptions,
    backend: &str,
    instruction_set: Option<&str>,
    devices: Vec<usize>,
    threads: usize,
) -> PyResult<FitterOptions> {
    let set = instruction_set.map(str::parse).transpose();
    Ok(options
        .with_backend(backend.parse().map_err(error::of_fit)?)
        .with_instruction_set(set.map_err(|wrong: BatchError| error::of_fit(wrong.into()))?)
        .with_devices(devices)
        .with_threads(threads))
}

/// Baseline, sensitivity, EM gain and read noise of a camera.
pub(crate) type CameraNumbers = (f64, f64, Option<f64>, f64);

/// Those that are known, where metadata say the others, and a table of cameras.
pub(crate) type CameraFromMetadata =
    (String, (Option<f64>, Option<f64>, Option<f64>, Option<f64>), Option<PathBuf>);

/// A camera of these numbers.
pub(crate) fn camera((baseline, sensitivity, em_gain, read_noise): CameraNumbers) -> Camera {
    Camera::default()
        .with_baseline(baseline)
        .with_sensitivity(sensitivity)
        .with_em_gain(em_gain)
        .with_read_noise(read_noise)
}

/// What is known of a camera, of which metadata may say what is not given. Whoever says that there is no read noise may not have looked.
pub(crate) fn camera_asked(
    camera: Option<CameraNumbers>,
    from: Option<CameraFromMetadata>,
) -> PyResult<CameraOptions> {
    let given = CameraOptions::default();
    let ((baseline, sensitivity, em_gain, read_noise), given) = match (from, camera) {
        (Some((from, known, cameras)), _) => {
            let from = from.parse().map_err(error::of_option)?;
            (known, given.with_from(Some(from)).with_cameras(cameras))
        }
        (None, Some((baseline, sensitivity, em_gain, read_noise))) => {
            let read_noise = Some(read_noise).filter(|&noise| noise != 0.0);
            ((Some(baseline), Some(sensitivity), em_gain, read_noise), given)
        }
        (None, None) => return Ok(given),
    };
    Ok(given
        .with_baseline(baseline)
        .with_sensitivity(sensitivity)
        .with_em_gain(em_gain)
        .with_read_noise(read_noise))
}

/// The size of a pixel: what is said in nanometres, unless it is that of the movie, or not known whatever a movie says.
pub(crate) fn pixel_scale(nanometres: Option<f64>, unknown: bool) -> PixelScale {
    match nanometres {
        _ if unknown => PixelScale::Unknown,
        Some(size) => PixelScale::Nanometres(size),
        None => PixelScale::OfMovie,
    }
}
