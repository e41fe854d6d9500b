//! Simulated movies and stacks of beads with their truth.

use fit_core::Size;
use fit_sim::recipes::{BeadRecipe, FrameRecipe, MovieRecipe, RecipeError};
use fit_sim::{Dipole, Heights, Maps, MovieSimulation, MovieTruth, Objective, SpotShape, Zernike};
use numpy::ndarray::{Array2, Array3};
use numpy::{PyArray2, PyArray3, ToPyArray};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use spotfit::table::{self, Column, Kind, Meaning, Table, Unit};

use crate::keywords::{Keywords, assign};
use crate::options::choose;
use crate::simulate::{GivenMaps, focus, look, of_recipe, profile, read, simulated};
use crate::tables::{Info, Made, columns};
use crate::work::{Abandoned, aside};
use crate::{error, threads};

type Map<'py> = Bound<'py, PyArray2<f32>>;
/// The maps of a camera, or that they are to be simulated.
type Given<'py> = (Option<GivenMaps<'py>>, bool);
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
pub(crate) fn simulate_movie<'py>(
    py: Python<'py>,
    keywords: Keywords<'py>,
) -> PyResult<Movie<'py>> {
    let known = [("random", Heights::Random), ("structure", Heights::Structure)];
    let heights: Option<String> = keywords.get("heights")?;
    let mut recipe = MovieRecipe::default()
        .with_frame(frame(&keywords)?)
        .with_look(look(&keywords)?)
        .with_objective(objective(&keywords)?)
        .with_heights(heights.map(|word| choose("heights", &word, &known)).transpose()?);
    assign!(keywords => recipe; frames, spots, density, pixel_size, uniform, photons, photons_spread, sigma, sigma_spread);
    assign!(keywords => recipe; on_time, off_time, beads, hot_pixels, haze, drift, drift_z);
    movie(py, made(py, move || recipe.simulation())?, keywords.get("maps")?)
}

/// Simulates a z stack of beads.
#[pyfunction]
pub(crate) fn simulate_beads<'py>(
    py: Python<'py>,
    keywords: Keywords<'py>,
) -> PyResult<Movie<'py>> {
    let mut recipe = BeadRecipe::default()
        .with_frame(frame(&keywords)?)
        .with_focus(focus(&keywords)?)
        .with_profile(profile(&keywords)?)
        .with_objective(objective(&keywords)?);
    assign!(keywords => recipe; step, range, beads, spread, photons, sigma, pixel_size);
    movie(py, made(py, move || recipe.simulation())?, keywords.get("maps")?)
}

fn frame(keywords: &Keywords<'_>) -> PyResult<FrameRecipe> {
    let mut recipe = FrameRecipe::default().with_camera(simulated(keywords.get("camera")?));
    assign!(keywords => recipe; width, height, background, unevenness, seed);
    Ok(recipe)
}

/// The objective, if there is one.
fn objective(keywords: &Keywords<'_>) -> PyResult<Option<Objective>> {
    let Some(keywords) = keywords.get::<Option<Keywords<'_>>>("objective")? else {
        return Ok(None);
    };
    let mut objective = Objective::default();
    assign!(keywords => objective, if given; na, wavelength, index);
    objective.sample_index = objective.index;
    assign!(keywords => objective, if given; sample_index, sample_depth);
    let terms = |name| -> PyResult<_> {
        let all: Vec<(u32, i32, f64)> = keywords.get(name)?;
        Ok(all.into_iter().map(|(n, m, waves)| Zernike::new(n, m, waves)).collect())
    };
    (objective.zernike, objective.zernike_corner) = (terms("zernike")?, terms("zernike_corner")?);
    if let Some((polar, azimuth)) = keywords.get("dipole")? {
        objective.dipole = Dipole::Fixed { polar, azimuth };
    }
    Ok(Some(objective))
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
        Some(maps) => Some(read(&maps)?),
        None if simulated => Some(Maps::simulated(size, simulation.seed).map_err(error::wrong)?),
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
    let pixels = pixels.map_err(error::wrong)?;
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
    let mut plan = simulation.plan().map_err(error::wrong)?;
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
