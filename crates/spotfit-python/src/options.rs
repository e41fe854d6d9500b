//! Options of a fit by their names.

use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use spotfit::model::CurvePrecision;
use spotfit::steps::localize::usual_background;
use spotfit::{
    Background, Camera, Criteria, Estimator, FixedSigma, FixedSigmas, GivenSigma, PixelProfile,
    Shape,
};

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

/// A camera from baseline, sensitivity, EM gain and read noise.
pub(crate) fn camera(numbers: (f64, f64, Option<f64>, f64)) -> Camera {
    let (baseline, sensitivity, em_gain, read_noise) = numbers;
    Camera::default()
        .with_baseline(baseline)
        .with_sensitivity(sensitivity)
        .with_em_gain(em_gain)
        .with_read_noise(read_noise)
}
