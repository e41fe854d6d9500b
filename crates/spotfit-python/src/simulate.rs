//! Simulated windows with their truth.

use fit_core::{Corner, Size};
use fit_sim::recipes::{FocusRecipe, LookRecipe, RecipeError, ShapeWord};
use fit_sim::{Maps, Noise, SimulatedCamera, SpotProfile, SpotSimulation, Truth};
use numpy::ndarray::Array3;
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::numbers::numbers;
use crate::options::choose;
use crate::{error, threads};

/// What pixels see of spots.
pub(crate) const PROFILES: [(&str, SpotProfile); 2] =
    [("sampled", SpotProfile::Sampled), ("integrated", SpotProfile::Integrated)];

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
#[pyo3(signature = (
    count, *, size, photons, background, sigma, shape, defocus, profile, scatter, reach, noise, camera, maps, seed
))]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn simulate<'py>(
    py: Python<'py>,
    count: usize,
    size: (usize, usize),
    photons: f64,
    background: f64,
    sigma: (f64, f64),
    shape: &str,
    defocus: (f64, f64, f64),
    profile: &str,
    scatter: f64,
    reach: Option<f64>,
    noise: &str,
    camera: (f64, f64, Option<f64>, f64),
    maps: Option<[Bound<'py, PyAny>; 3]>,
    seed: u64,
) -> PyResult<Simulated<'py>> {
    let size = Size::new(size.1, size.0);
    size.validate().map_err(error::of_argument)?;
    let noises = [("poisson", Noise::Poisson), ("paper", Noise::Paper), ("none", Noise::None)];
    let shape = choose("shape", shape, &SHAPES)?;
    let mut look = LookRecipe::default()
        .with_shape(shape)
        .with_profile(choose("profile", profile, &PROFILES)?);
    if shape == ShapeWord::Defocused {
        let (z_range, focus, depth) = defocus;
        let focus = FocusRecipe::default().with_focus(Some(focus)).with_depth(Some(depth));
        look = look.with_z_range(Some(z_range)).with_focus(focus);
    }
    let maps = maps.map(|[offset, gain, variance]| read(&offset, &gain, &variance)).transpose()?;
    let simulation = SpotSimulation::new(size)
        .with_signal(photons)
        .with_background(background * size.pixels() as f64)
        .with_sigma(sigma.0..sigma.1)
        .with_shape(look.spots().map_err(of_recipe)?)
        .with_profile(look.profile)
        .with_scatter(scatter)
        .with_reach(reach)
        .with_noise(choose("noise", noise, &noises)?)
        .with_camera(simulated(camera))
        .with_seed(seed)
        .with_maps(maps);
    simulation.validate().map_err(error::of_simulation)?;
    let made = make(py, &simulation, count)?;
    let pixels = Array3::from_shape_vec((count, size.height, size.width), made.pixels)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let truth = PyArray1::from_vec(py, made.truth).reshape([count, TRUTH])?;
    let corners = simulation.maps.is_some().then(|| PyArray1::from_vec(py, made.corners));
    let corners = corners.map(|corners| corners.reshape([count, 2])).transpose()?;
    Ok((PyArray3::from_owned_array(py, pixels), truth, corners))
}

/// A camera by its baseline, sensitivity, EM gain and read noise.
pub(crate) fn simulated(
    (baseline, sensitivity, em_gain, read_noise): (f64, f64, Option<f64>, f64),
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

/// The maps of a camera that Python gives.
pub(crate) fn read(
    offset: &Bound<'_, PyAny>,
    gain: &Bound<'_, PyAny>,
    variance: &Bound<'_, PyAny>,
) -> PyResult<Maps> {
    let map = |name, object| -> PyResult<_> {
        let map: PyReadonlyArray2<'_, f32> = numbers(name, object, "(height, width)")?;
        Ok(map.as_array().to_owned())
    };
    let maps = Maps::new(map("offset", offset)?, map("gain", gain)?, map("variance", variance)?);
    maps.map_err(error::of_simulation)
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
        let part = part.map_err(error::of_simulation)?;
        made.pixels.extend(part.pixels);
        made.truth.extend(part.truth.iter().flat_map(|truth| numbers_of(truth, pixels as f64)));
        let corners = part.corners.unwrap_or_default();
        made.corners.extend(corners.iter().flat_map(|&Corner { x, y, .. }| [x, y]));
    }
    Ok(made)
}
