//! Simulated movies and stacks of beads with their truth.

use fit_core::Size;
use fit_sim::recipes::{
    BeadRecipe, FocusRecipe, FrameRecipe, LookRecipe, MovieRecipe, RecipeError,
};
use fit_sim::{Dipole, Heights, Maps, MovieSimulation, MovieTruth, Objective, SpotShape, Zernike};
use numpy::ndarray::{Array2, Array3};
use numpy::{PyArray2, PyArray3, ToPyArray};
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use spotfit::table::{self, Column, Kind, Meaning, Table, Unit};

use crate::options::choose;
use crate::simulate::{PROFILES, SHAPES, of_recipe, read, simulated};
use crate::tables::{Info, Made, columns};
use crate::work::{Abandoned, aside};
use crate::{error, threads};

/// Width and height, background, unevenness, camera and seed.
type Frame = (usize, usize, f64, f64, (f64, f64, Option<f64>, f64), u64);
/// Shape, profile, range of z, focus and depth.
type Look = (String, String, Option<f64>, Option<f64>, Option<f64>);
/// NA, wavelength, the indices of immersion and sample, depth, Zernike's terms, those in the corners besides, and the angles of a dipole that stands still.
type Behind = (
    f64,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Option<f64>,
    Vec<(u32, i32, f64)>,
    Vec<(u32, i32, f64)>,
    Option<(f64, f64)>,
);
type Map<'py> = Bound<'py, PyArray2<f32>>;
/// The maps of a camera, or that they are to be simulated.
type Given<'py> = (Option<[Bound<'py, PyAny>; 3]>, bool);
/// Frames, the truth with what is known of the movie, and the maps and the mask of hot pixels if there are any.
type Movie<'py> = (
    Bound<'py, PyArray3<u16>>,
    (Vec<Made<'py>>, Info),
    Option<(Map<'py>, Map<'py>, Map<'py>)>,
    Option<Mask<'py>>,
);
/// True where a pixel is hot.
type Mask<'py> = Bound<'py, PyArray2<bool>>;

/// Simulates a movie of blinking molecules.
#[pyfunction]
#[pyo3(signature = (
    *, frame, frames, spots, density, pixel_size, uniform, photons, photons_spread, sigma, sigma_spread, look, objective, on_time, off_time, beads, hot_pixels, haze, drift, drift_z, heights, maps
))]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn simulate_movie<'py>(
    py: Python<'py>,
    frame: Frame,
    frames: usize,
    spots: f64,
    density: Option<f64>,
    pixel_size: f64,
    uniform: bool,
    photons: f64,
    photons_spread: f64,
    sigma: f64,
    sigma_spread: Option<f64>,
    look: Look,
    objective: Option<Behind>,
    on_time: f64,
    off_time: f64,
    beads: usize,
    hot_pixels: usize,
    haze: f64,
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
        .with_density(density)
        .with_pixel_size(pixel_size)
        .with_uniform(uniform)
        .with_photons(photons)
        .with_photons_spread(photons_spread)
        .with_sigma(sigma)
        .with_sigma_spread(sigma_spread)
        .with_look(look_of(&look)?)
        .with_objective(objective.map(objective_of))
        .with_on_time(on_time)
        .with_off_time(off_time)
        .with_beads(beads)
        .with_hot_pixels(hot_pixels)
        .with_haze(haze)
        .with_drift(drift)
        .with_drift_z(drift_z)
        .with_heights(heights);
    movie(py, made(py, move || recipe.simulation())?, maps)
}

/// Simulates a z stack of beads.
#[pyfunction]
#[pyo3(signature = (*, frame, step, range, beads, spread, photons, sigma, focus, depth, profile, objective, pixel_size, maps))]
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
    objective: Option<Behind>,
    pixel_size: f64,
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
        .with_profile(choose("profile", profile, &PROFILES)?)
        .with_objective(objective.map(objective_of))
        .with_pixel_size(pixel_size);
    movie(py, made(py, move || recipe.simulation())?, maps)
}

fn frame_of((width, height, background, unevenness, camera, seed): Frame) -> FrameRecipe {
    FrameRecipe::default()
        .with_width(width)
        .with_height(height)
        .with_background(background)
        .with_unevenness(unevenness)
        .with_camera(simulated(camera))
        .with_seed(seed)
}

fn look_of((shape, profile, z_range, focus, depth): &Look) -> PyResult<LookRecipe> {
    Ok(LookRecipe::default()
        .with_shape(choose("shape", shape, &SHAPES)?)
        .with_profile(choose("profile", profile, &PROFILES)?)
        .with_z_range(*z_range)
        .with_focus(FocusRecipe::default().with_focus(*focus).with_depth(*depth)))
}

fn objective_of(
    (na, wavelength, index, sample_index, depth, zernike, corner, dipole): Behind,
) -> Objective {
    let default = Objective::default();
    let index = index.unwrap_or(default.index);
    let wavelength = wavelength.unwrap_or(default.wavelength);
    let terms = |all: Vec<(u32, i32, f64)>| {
        all.into_iter().map(|(n, m, waves)| Zernike::new(n, m, waves)).collect()
    };
    default
        .with_na(na)
        .with_wavelength(wavelength)
        .with_index(index)
        .with_sample_index(sample_index.unwrap_or(index))
        .with_sample_depth(depth.unwrap_or(0.0))
        .with_zernike(terms(zernike))
        .with_zernike_corner(terms(corner))
        .with_dipole(
            dipole.map_or(Dipole::Free, |(polar, azimuth)| Dipole::Fixed { polar, azimuth }),
        )
}

/// A simulation, whose light may take a while, in the threads of this process.
fn made(
    py: Python<'_>,
    simulation: impl FnOnce() -> Result<MovieSimulation, RecipeError> + Send + 'static,
) -> PyResult<MovieSimulation> {
    let pool = threads::pool()?;
    aside(py, move |_| pool.install(simulation))?.map_err(of_recipe)
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
    let hot = &simulation.hot_pixels;
    let mask = (!hot.is_empty()).then(|| {
        let mut mask = Array2::from_elem((size.height, size.width), false);
        hot.iter().for_each(|pixel| mask[(pixel.y, pixel.x)] = true);
        mask.to_pyarray(py)
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
    Ok((PyArray3::from_owned_array(py, pixels), (columns(py, truth), info), used, mask))
}

/// The pixels of all frames, and the truth.
fn frames(
    simulation: MovieSimulation,
    mut pixels: Vec<u16>,
    abandoned: &Abandoned,
) -> PyResult<(Vec<u16>, Table)> {
    let MovieSimulation { frames, width, height, shape, .. } = simulation;
    let behind = simulation.psf.is_some();
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
    Ok((pixels, truth(&spots, (shape, behind), info)))
}

/// The truth of a movie: the columns of the command's, with `photons` for `signal`.
fn truth(spots: &[MovieTruth], (shape, behind): (SpotShape, bool), info: table::Info) -> Table {
    let mut table = Table::new(info);
    let mut add = |meaning: Meaning, unit: Unit, kind: Kind, of: fn(&MovieTruth) -> f64| {
        table.set(Column::new(meaning, unit, kind, spots.iter().map(of).collect()));
    };
    add(Meaning::Frame, Unit::None, Kind::Whole, |spot| spot.frame as f64);
    add(Meaning::X, Unit::Pixel, Kind::Double, |spot| spot.shape.x);
    add(Meaning::Y, Unit::Pixel, Kind::Double, |spot| spot.shape.y);
    if shape == SpotShape::Circular {
        add(Meaning::Sigma, Unit::Pixel, Kind::Double, |spot| spot.sigma_x);
    } else {
        add(Meaning::SigmaX, Unit::Pixel, Kind::Double, |spot| spot.sigma_x);
        add(Meaning::SigmaY, Unit::Pixel, Kind::Double, |spot| spot.sigma_y);
    }
    match shape {
        SpotShape::Rotated => add(Meaning::Angle, Unit::Radian, Kind::Double, |spot| spot.angle),
        SpotShape::Defocused(_) => add(Meaning::Z, Unit::Nanometre, Kind::Double, |spot| spot.z),
        _ if behind => add(Meaning::Z, Unit::Nanometre, Kind::Double, |spot| spot.z),
        _ => {}
    }
    add(Meaning::Photons, Unit::Photon, Kind::Double, |spot| spot.signal);
    add(Meaning::Background, Unit::Photon, Kind::Double, |spot| spot.background);
    add(Meaning::Molecule, Unit::None, Kind::Whole, |spot| spot.molecule as f64);
    table
}
