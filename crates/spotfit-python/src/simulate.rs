//! Simulated windows with their truth.

use fit_core::{Corner, Size};
use fit_sim::recipes::{FocusRecipe, LookRecipe, RecipeError, ShapeWord};
use fit_sim::{Maps, Noise, SimulatedCamera, SpotProfile, SpotSimulation, Truth};
use numpy::ndarray::Array3;
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::keywords::{Keywords, assign};
use crate::numbers::numbers;
use crate::options::{CameraNumbers, choose};
use crate::{error, threads};

/// The shapes of spots.
pub(crate) const SHAPES: [(&str, ShapeWord); 4] = [
    ("circular", ShapeWord::Circular),
    ("elliptical", ShapeWord::Elliptical),
    ("rotated", ShapeWord::Rotated),
    ("defocused", ShapeWord::Defocused),
];

/// Pixels that are made at a time, so that Ctrl-C does not wait long.
const BLOCK: usize = 1 << 20;

/// Pixels (n, height, width), truth (n, 9), and corners (n, 2) if there are maps.
type Simulated<'py> =
    (Bound<'py, PyArray3<f32>>, Bound<'py, PyArray2<f64>>, Option<Bound<'py, PyArray2<u32>>>);

/// Simulates windows.
#[pyfunction]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    count: usize,
    keywords: Keywords<'py>,
) -> PyResult<Simulated<'py>> {
    let (height, width) = keywords.get("size")?;
    let size = Size::new(width, height);
    size.validate().map_err(error::wrong)?;
    let noises = [("poisson", Noise::Poisson), ("paper", Noise::Paper), ("none", Noise::None)];
    let maps: Option<GivenMaps<'_>> = keywords.get("maps")?;
    let maps = maps.as_ref().map(read).transpose()?;
    let look = look(&keywords)?;
    // Others have no heights.
    let plain = look.with_z_range(None).with_focus(FocusRecipe::default());
    let shaped = if look.shape == ShapeWord::Defocused { look } else { plain };
    let (least, most): (f64, f64) = keywords.get("sigma")?;
    let background: f64 = keywords.get("background")?;
    let mut simulation = SpotSimulation::new(size)
        .with_signal(keywords.get("photons")?)
        .with_background(background * size.pixels() as f64)
        .with_sigma(least..most)
        .with_shape(shaped.spots().map_err(of_recipe)?)
        .with_profile(look.profile)
        .with_noise(choose("noise", &keywords.word("noise")?, &noises)?)
        .with_camera(simulated(keywords.get("camera")?))
        .with_maps(maps);
    assign!(keywords => simulation; scatter, reach, seed);
    simulation.validate().map_err(error::wrong)?;
    let made = make(py, &simulation, count)?;
    let pixels = Array3::from_shape_vec((count, size.height, size.width), made.pixels)
        .map_err(error::wrong)?;
    let truth = PyArray1::from_vec(py, made.truth).reshape([count, TRUTH])?;
    let corners = simulation.maps.is_some().then(|| PyArray1::from_vec(py, made.corners));
    let corners = corners.map(|corners| corners.reshape([count, 2])).transpose()?;
    Ok((PyArray3::from_owned_array(py, pixels), truth, corners))
}

/// How spots look.
pub(crate) fn look(keywords: &Keywords<'_>) -> PyResult<LookRecipe> {
    Ok(LookRecipe::default()
        .with_shape(choose("shape", &keywords.word("shape")?, &SHAPES)?)
        .with_profile(profile(keywords)?)
        .with_z_range(keywords.get("z_range")?)
        .with_focus(focus(keywords)?))
}

/// What pixels see of spots.
pub(crate) fn profile(keywords: &Keywords<'_>) -> PyResult<SpotProfile> {
    let known = [("sampled", SpotProfile::Sampled), ("integrated", SpotProfile::Integrated)];
    choose("profile", &keywords.word("profile")?, &known)
}

/// How widths follow from the height.
pub(crate) fn focus(keywords: &Keywords<'_>) -> PyResult<FocusRecipe> {
    let recipe = FocusRecipe::default().with_focus(keywords.get("focus")?);
    Ok(recipe.with_depth(keywords.get("depth")?))
}

/// A camera by its baseline, sensitivity, EM gain and read noise.
pub(crate) fn simulated(
    (baseline, sensitivity, em_gain, read_noise): CameraNumbers,
) -> SimulatedCamera {
    SimulatedCamera::default()
        .with_baseline(baseline)
        .with_sensitivity(sensitivity)
        .with_em_gain(em_gain)
        .with_read_noise(read_noise)
}

/// The exception for a simulation that makes no sense; names are keywords here.
pub(crate) fn of_recipe(error: RecipeError) -> PyErr {
    PyValueError::new_err(error.to_string().replace('`', ""))
}

/// Offset, gain and variance of each pixel.
pub(crate) type GivenMaps<'py> = [Bound<'py, PyAny>; 3];

/// The maps of a camera that Python gives.
pub(crate) fn read([offset, gain, variance]: &GivenMaps<'_>) -> PyResult<Maps> {
    let map = |name, object| -> PyResult<_> {
        let map: PyReadonlyArray2<'_, f32> = numbers(name, object, "(height, width)")?;
        Ok(map.as_array().to_owned())
    };
    let maps = Maps::new(map("offset", offset)?, map("gain", gain)?, map("variance", variance)?);
    maps.map_err(error::wrong)
}

/// The numbers of one truth.
const TRUTH: usize = 9;

fn numbers_of(truth: &Truth, pixels: f64) -> [f64; TRUTH] {
    let Truth { shape, sigma_x, sigma_y, angle, z, signal, background } = *truth;
    [shape.x, shape.y, shape.sigma, sigma_x, sigma_y, angle, z, signal, background / pixels]
}

struct Made {
    pixels: Vec<f32>,
    truth: Vec<f64>,
    corners: Vec<u32>,
}

fn make(py: Python<'_>, simulation: &SpotSimulation, count: usize) -> PyResult<Made> {
    let pixels = simulation.size.pixels();
    let mut made = Made {
        pixels: error::room(count.saturating_mul(pixels), "pixels")?,
        truth: error::room(count.saturating_mul(TRUTH), "numbers of the truth")?,
        corners: Vec::new(),
    };
    let pool = threads::pool()?;
    let block = (BLOCK / pixels).max(1);
    for start in (0..count).step_by(block) {
        py.check_signals()?;
        let numbers = start..count.min(start + block);
        let part = py.detach(|| pool.install(|| simulation.generate(numbers)));
        let part = part.map_err(error::wrong)?;
        made.pixels.extend(part.pixels);
        made.truth.extend(part.truth.iter().flat_map(|truth| numbers_of(truth, pixels as f64)));
        let corners = part.corners.unwrap_or_default();
        made.corners.extend(corners.iter().flat_map(|&Corner { x, y, .. }| [x, y]));
    }
    Ok(made)
}
