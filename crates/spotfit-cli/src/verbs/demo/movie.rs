//! A movie in two dimensions.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use fit_sim::MovieSimulation;
use ndarray::Axis;

use super::score::Score;
use super::{DemoArguments, picture, say};
use crate::error::CliError;
use crate::interrupt;
use crate::words::locs::LocsOutput;
use crate::words::output::{Output, Writing};
use spotfit::Camera;
use spotfit::localize::{LocalizeOptions, Localizer};
use spotfit::movie::Movie;
use spotfit::render::Point;
use spotfit::table::{Info, Layout};

/// Frames of the simulated movie, its side in pixels, and the side of a pixel in nanometres.
const FRAMES: usize = 1000;
const SIDE: usize = 96;
const PIXEL_SIZE: f64 = 100.0;

/// Simulates a movie, localizes it, and shows a frame beside the rendering.
pub(super) fn run(arguments: &DemoArguments, folder: &Path) -> Result<(), CliError> {
    interrupt::check()?;
    let mut simulation = MovieSimulation::new(SIDE, SIDE, FRAMES);
    simulation.molecules = simulation.molecules_for(8.0);
    simulation.seed = u64::from(arguments.seed);
    let camera = Camera::default()
        .with_baseline(simulation.camera.baseline)
        .with_sensitivity(1.0 / simulation.camera.gain)
        .with_read_noise(simulation.camera.read_noise);
    let mut plan = simulation.plan()?;
    let path = folder.join("movie.tif");
    let truth = folder.join("movie-truth.csv");
    crate::words::movie_files::write_movie(&mut plan, &path, Some(&truth), Vec::new())?;

    let name = path.display().to_string();
    let movie = Movie::open(&path).map_err(|error| CliError::movie(&name)(error.into()))?;
    let options = LocalizeOptions::default().with_camera(camera).with_checks(true);
    let localizer = Localizer::new(movie.size(), options)?;
    let layout = Layout::default().with_pixel_size(Some(PIXEL_SIZE));
    let mut table = LocsOutput::create(&folder.join("locs.csv"), Writing::default())?;
    let mut points = Vec::new();
    let mut localizations = Vec::new();
    let begin = Instant::now();
    for found in localizer.localize(movie, ..)? {
        interrupt::check()?;
        let found = found.map_err(CliError::movie(&name))?;
        table.write(layout.table(&found, &Info::default()))?;
        points.extend(found.iter().map(|s| Point {
            x: s.x,
            y: s.y,
            uncertainty: s.uncertainty,
            value: 0.0,
        }));
        localizations.extend(found);
    }
    let seconds = begin.elapsed().as_secs_f64();
    table.finish(Vec::new(), BTreeMap::new())?;
    say!(
        "\nA movie of {FRAMES} frames, {SIDE}×{SIDE} pixels: {} localizations, {:.0} frames/s.",
        points.len(),
        FRAMES as f64 / seconds
    );
    say!("{}", Score::of(&mut plan, &localizations)?);

    let middle = FRAMES / 2;
    let frame = plan.piece(middle..middle + 1).frames().index_axis_move(Axis(0), 0);
    let side_by_side = picture::side_by_side(&frame, &points, PIXEL_SIZE)
        .map_err(|error| CliError::file("movie.png", error.to_string()))?;
    let mut bytes = Vec::new();
    side_by_side.write_png(&mut bytes, None).map_err(CliError::write("movie.png"))?;
    let mut image = Output::create(&folder.join("movie.png"))?;
    image.write_all(&bytes)?;
    image.finish()
}
