//! Simulated windows with their truth.

use fit_core::{Corner, Size};
use fit_sim::recipes::{
    BeadRecipe, FocusRecipe, FrameRecipe, LookRecipe, MovieRecipe, RecipeError, ShapeWord,
};
use fit_sim::{
    Defocus, Heights, Maps, MovieSimulation, MovieTruth, Noise, SpotProfile, SpotShape,
    SpotSimulation, Truth,
};
use numpy::ndarray::Array3;
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2, ToPyArray};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use spotfit::table::{self, Column, Kind, Table, Unit};

use crate::numbers::numbers;
use crate::options::choose;
use crate::tables::{Info, Made, columns};
use crate::work::{Abandoned, aside};
use crate::{error, threads};

/// What pixels see of spots.
const PROFILES: [(&str, SpotProfile); 2] =
    [("sampled", SpotProfile::Sampled), ("integrated", SpotProfile::Integrated)];

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
    let (z_range, focus, depth) = defocus;
    let defocus = Defocus::default().with_z_range(z_range).with_focus(focus).with_depth(depth);
    let shapes = [
        ("circular", SpotShape::Circular),
        ("elliptical", SpotShape::Elliptical),
        ("rotated", SpotShape::Rotated),
        ("defocused", SpotShape::Defocused(defocus)),
    ];
    let noises = [("poisson", Noise::Poisson), ("paper", Noise::Paper), ("none", Noise::None)];
    let (baseline, sensitivity, em_gain, read_noise) = camera;
    let camera = fit_sim::Camera::default()
        .with_baseline(baseline)
        .with_gain(1.0 / sensitivity)
        .with_em_gain(em_gain)
        .with_read_noise(read_noise);
    let simulation = SpotSimulation::new(size)
        .with_signal(photons)
        .with_background(background * size.pixels() as f64)
        .with_sigma(sigma.0..sigma.1)
        .with_shape(choose("shape", shape, &shapes)?)
        .with_profile(choose("profile", profile, &PROFILES)?)
        .with_scatter(scatter)
        .with_reach(reach)
        .with_noise(choose("noise", noise, &noises)?)
        .with_camera(camera)
        .with_maps(
            maps.map(|[offset, gain, variance]| read(&offset, &gain, &variance)).transpose()?,
        )
        .with_seed(seed);
    simulation.validate().map_err(error::of_simulation)?;
    let made = make(py, &simulation, count)?;
    let pixels = Array3::from_shape_vec((count, size.height, size.width), made.pixels)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let truth = PyArray1::from_vec(py, made.truth).reshape([count, TRUTH])?;
    let corners = simulation.maps.is_some().then(|| PyArray1::from_vec(py, made.corners));
    let corners = corners.map(|corners| corners.reshape([count, 2])).transpose()?;
    Ok((PyArray3::from_owned_array(py, pixels), truth, corners))
}

fn read(
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

/// Width and height, background, unevenness, camera and seed.
type Frame = (usize, usize, f64, f64, (f64, f64, Option<f64>, f64), u64);
/// Shape, profile, range of z, focus and depth.
type Look = (String, String, Option<f64>, Option<f64>, Option<f64>);
type Map<'py> = Bound<'py, PyArray2<f32>>;
/// The maps of a camera, or that they are to be simulated.
type Given<'py> = (Option<[Bound<'py, PyAny>; 3]>, bool);
/// Frames, the truth with what is known of the movie, and the maps if there are any.
type Movie<'py> =
    (Bound<'py, PyArray3<u16>>, (Vec<Made<'py>>, Info), Option<(Map<'py>, Map<'py>, Map<'py>)>);

/// Simulates a movie of blinking molecules.
#[pyfunction]
#[pyo3(signature = (
    *, frame, frames, spots, photons, sigma, sigma_spread, look, on_time, off_time, beads, drift, drift_z, heights, maps
))]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn simulate_movie<'py>(
    py: Python<'py>,
    frame: Frame,
    frames: usize,
    spots: f64,
    photons: f64,
    sigma: f64,
    sigma_spread: Option<f64>,
    look: Look,
    on_time: f64,
    off_time: f64,
    beads: usize,
    drift: [f64; 2],
    drift_z: Option<f64>,
    heights: Option<&str>,
    maps: Given<'py>,
) -> PyResult<Movie<'py>> {
    let known = [("random", Heights::Random), ("structure", Heights::Structure)];
    let heights = heights.map(|word| choose("heights", word, &known)).transpose()?;
    let recipe = MovieRecipe::default()
        .with_frame(frame_of(frame))
        .with_frames(frames)
        .with_spots(spots)
        .with_photons(photons)
        .with_sigma(sigma)
        .with_sigma_spread(sigma_spread)
        .with_look(look_of(&look)?)
        .with_on_time(on_time)
        .with_off_time(off_time)
        .with_beads(beads)
        .with_drift(drift)
        .with_drift_z(drift_z)
        .with_heights(heights);
    movie(py, recipe.simulation().map_err(of_recipe)?, maps)
}

/// Simulates a z stack of beads.
#[pyfunction]
#[pyo3(signature = (*, frame, step, range, beads, spread, photons, sigma, focus, depth, profile, maps))]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn simulate_beads<'py>(
    py: Python<'py>,
    frame: Frame,
    step: f64,
    range: f64,
    beads: usize,
    spread: f64,
    photons: f64,
    sigma: f64,
    focus: Option<f64>,
    depth: Option<f64>,
    profile: &str,
    maps: Given<'py>,
) -> PyResult<Movie<'py>> {
    let recipe = BeadRecipe::default()
        .with_frame(frame_of(frame))
        .with_step(step)
        .with_range(range)
        .with_beads(beads)
        .with_spread(spread)
        .with_photons(photons)
        .with_sigma(sigma)
        .with_focus(FocusRecipe::default().with_focus(focus).with_depth(depth))
        .with_profile(choose("profile", profile, &PROFILES)?);
    movie(py, recipe.simulation().map_err(of_recipe)?, maps)
}

/// The exception for a simulation that makes no sense; names are keywords here.
fn of_recipe(error: RecipeError) -> PyErr {
    PyValueError::new_err(error.to_string().replace('`', ""))
}

fn frame_of((width, height, background, unevenness, camera, seed): Frame) -> FrameRecipe {
    let (baseline, sensitivity, em_gain, read_noise) = camera;
    FrameRecipe::default()
        .with_width(width)
        .with_height(height)
        .with_background(background)
        .with_unevenness(unevenness)
        .with_baseline(baseline)
        .with_sensitivity(sensitivity)
        .with_em_gain(em_gain)
        .with_read_noise(read_noise)
        .with_seed(seed)
}

fn look_of((shape, profile, z_range, focus, depth): &Look) -> PyResult<LookRecipe> {
    let shapes = [
        ("circular", ShapeWord::Circular),
        ("elliptical", ShapeWord::Elliptical),
        ("rotated", ShapeWord::Rotated),
        ("defocused", ShapeWord::Defocused),
    ];
    Ok(LookRecipe::default()
        .with_shape(choose("shape", shape, &shapes)?)
        .with_profile(choose("profile", profile, &PROFILES)?)
        .with_z_range(*z_range)
        .with_focus(FocusRecipe::default().with_focus(*focus).with_depth(*depth)))
}

/// Makes the frames of a movie and its truth, while Python may end it.
fn movie<'py>(
    py: Python<'py>,
    simulation: MovieSimulation,
    (given, simulated): Given<'py>,
) -> PyResult<Movie<'py>> {
    let size = Size::new(simulation.width, simulation.height);
    let maps = match given {
        Some([offset, gain, variance]) => Some(read(&offset, &gain, &variance)?),
        None if simulated => {
            Some(Maps::simulated(size, simulation.seed).map_err(error::of_simulation)?)
        }
        None => None,
    };
    let used = maps.as_ref().map(|maps| {
        (maps.offset().to_pyarray(py), maps.gain().to_pyarray(py), maps.variance().to_pyarray(py))
    });
    let simulation = simulation.with_maps(maps);
    let shape = (simulation.frames, simulation.height, simulation.width);
    let pixels = shape.0.saturating_mul(shape.1).saturating_mul(shape.2);
    let room = error::room(pixels, "pixels")?;
    let pool = threads::pool()?;
    let made = aside(py, move |abandoned| pool.install(|| frames(simulation, room, abandoned)))?;
    let (pixels, truth) = made?;
    let pixels = Array3::from_shape_vec(shape, pixels);
    let pixels = pixels.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let info = Info(truth.info.clone());
    Ok((PyArray3::from_owned_array(py, pixels), (columns(py, truth), info), used))
}

/// The pixels of all frames, and the truth.
fn frames(
    simulation: MovieSimulation,
    mut pixels: Vec<u16>,
    abandoned: &Abandoned,
) -> PyResult<(Vec<u16>, Table)> {
    let MovieSimulation { frames, width, height, shape, .. } = simulation;
    let mut plan = simulation.plan().map_err(error::of_simulation)?;
    let mut spots: Vec<MovieTruth> = Vec::new();
    let length = plan.piece_length();
    for first in (0..frames).step_by(length) {
        if abandoned.is() {
            return Err(PyKeyboardInterrupt::new_err(()));
        }
        let end = frames.min(first + length);
        let piece = plan.piece(first..end);
        pixels.extend(piece.frames().iter());
        spots.extend((first..end).flat_map(|frame| piece.truth(frame)));
    }
    let info = table::Info::default().with_movie(None, [width, height], frames);
    Ok((pixels, truth(&spots, shape, info)))
}

/// The truth of a movie: the columns of the command's, with `photons` for `signal`.
fn truth(spots: &[MovieTruth], shape: SpotShape, info: table::Info) -> Table {
    let mut table = Table::new(info);
    let mut add = |name: &str, unit: Unit, kind: Kind, of: fn(&MovieTruth) -> f64| {
        table.set(Column::new(name, unit, kind, spots.iter().map(of).collect()));
    };
    add("frame", Unit::None, Kind::Whole, |spot| spot.frame as f64);
    add("x", Unit::Pixel, Kind::Double, |spot| spot.shape.x);
    add("y", Unit::Pixel, Kind::Double, |spot| spot.shape.y);
    if shape == SpotShape::Circular {
        add("sigma", Unit::Pixel, Kind::Double, |spot| spot.sigma_x);
    } else {
        add("sigma_x", Unit::Pixel, Kind::Double, |spot| spot.sigma_x);
        add("sigma_y", Unit::Pixel, Kind::Double, |spot| spot.sigma_y);
    }
    match shape {
        SpotShape::Rotated => add("angle", Unit::Radian, Kind::Double, |spot| spot.angle),
        SpotShape::Defocused(_) => add("z", Unit::Nanometre, Kind::Double, |spot| spot.z),
        _ => {}
    }
    add("photons", Unit::Photon, Kind::Double, |spot| spot.signal);
    add("background", Unit::Photon, Kind::Double, |spot| spot.background);
    add("molecule", Unit::None, Kind::Whole, |spot| spot.molecule as f64);
    table
}
