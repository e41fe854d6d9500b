//! `spotfit simulate`: windows with their truth.

use std::fmt::Write as _;

use clap::Args;
use fit_core::{Corner, Size};
use fit_sim::{SimulatedCamera, SpotSimulation};
use serde::Serialize;

use super::camera::{CameraArguments, SensitivityArguments};
use super::spots::SpotArguments;
use super::window_words::WindowArguments;
use super::{refuse_no_csv, said};
use crate::error::CliError;
use crate::words::output::Output;
use crate::words::report::ReportArguments;
use crate::words::truth::{Look, write_truth_header, write_truth_rows};
use spotfit::movie::endings;
use spotfit::npy::write_header;

/// Bytes written at a time.
const PIECE: usize = 1 << 20;
/// Endings of files that are no arrays, besides those of movies.
const OTHERS: [&str; 10] =
    ["csv", "png", "svg", "hdf5", "h5", "npz", "yaml", "yml", "json", "html"];

/// Words besides those of the windows.
#[derive(Debug, Args)]
pub(super) struct Others {
    #[command(flatten)]
    spots: SpotArguments,
    #[command(flatten)]
    sensitivity: SensitivityArguments,
    #[command(flatten)]
    camera: CameraArguments,
    #[command(flatten)]
    report: ReportArguments,
}

/// What was written.
#[derive(Debug, Serialize)]
struct Windows {
    windows: usize,
    width: usize,
    height: usize,
}

fn write_corners(output: &mut Output, corners: &[Corner]) -> Result<(), CliError> {
    let mut text = String::new();
    for Corner { frame, x, y } in corners {
        let written = writeln!(text, "{frame},{x},{y}");
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    output.write_all(text.as_bytes())
}

/// What the words ask for.
fn simulation(arguments: &WindowArguments, others: &Others) -> Result<SpotSimulation, CliError> {
    let Others { spots, sensitivity, camera, .. } = others;
    let side = |side: Option<usize>| side.or(arguments.size).unwrap_or_default();
    let size = Size::new(side(arguments.width), side(arguments.height));
    let simulation = said!(SpotSimulation, arguments: noise, seed);
    let all = |background| background * size.pixels() as f64;
    let background = arguments.pixel_background.map_or(simulation.background, all);
    let camera = said!(SimulatedCamera, arguments: baseline, read_noise)
        .with_gain(sensitivity.gain()?)
        .with_em_gain(camera.em_gain);
    let look = spots.recipe();
    Ok(simulation
        .with_size(size)
        .with_signal(arguments.photons)
        .with_background(background)
        .with_sigma(arguments.sigma_min..arguments.sigma_max)
        .with_shape(look.spots()?)
        .with_profile(look.profile)
        .with_camera(camera))
}

pub(super) fn run(arguments: &WindowArguments, others: &Others) -> Result<(), CliError> {
    let Others { camera, report, .. } = others;
    report.check(&arguments.output)?;
    let mut simulation = simulation(arguments, others)?;
    simulation.validate()?;
    let size = simulation.size;
    // The number of bytes must not overflow, here or in the programs that read the array.
    let most = isize::MAX as usize / (size.pixels() * arguments.dtype.bytes());
    if arguments.count > most {
        let range = format!("0 to {most} with windows of {}×{} pixels", size.width, size.height);
        return Err(CliError::option("count", &arguments.count.to_string(), &range));
    }
    if camera.camera.is_some() && arguments.corners.is_none() {
        let reason =
            "give --corners, too: without it nobody knows where in the camera a window lies";
        return Err(CliError::file("--camera", reason));
    }
    let extension = arguments.output.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let extension = extension.as_ref().and_then(|extension| extension.to_str()).unwrap_or("");
    let is_movie = extension != "npy" && endings().any(|own| own == extension);
    if is_movie || OTHERS.contains(&extension) {
        let reason = "windows are written as an NPY array; the name must end in .npy";
        return Err(CliError::file(&arguments.output.display().to_string(), reason));
    }
    for (file, what) in [(&arguments.truth, "the truth"), (&arguments.corners, "corners")] {
        refuse_no_csv(file.as_deref(), what)?;
    }
    let side = arguments.camera_size;
    simulation.maps = camera.maps(Size::new(side, side), arguments.seed)?;
    simulation.validate()?;

    let mut output = Output::create(&arguments.output)?;
    let mut truth = arguments.truth.as_ref().map(|path| Output::create(path)).transpose()?;
    let mut corners = arguments.corners.as_ref().map(|path| Output::create(path)).transpose()?;
    let maps = camera.write(simulation.maps.as_ref())?;
    let look = Look::of(simulation.shape);
    let mut bytes = Vec::new();
    let shape = [arguments.count, size.height, size.width];
    let name = output.name().to_owned();
    write_header(&mut bytes, arguments.dtype.descr(), &shape).map_err(CliError::write(&name))?;
    output.write_all(&bytes)?;
    if let Some(truth) = &mut truth {
        write_truth_header(truth, look)?;
    }
    if let Some(corners) = &mut corners {
        corners.write_all(b"frame,x,y\n")?;
    }

    let piece = simulation.piece_length();
    let mut first = 0;
    while first < arguments.count {
        crate::interrupt::check()?;
        let end = arguments.count.min(first.saturating_add(piece));
        let spots = simulation.generate(first..end)?;
        bytes.clear();
        for &pixel in &spots.pixels {
            arguments.dtype.push(pixel, &mut bytes).map_err(|pixel| {
                let kind = arguments.dtype.descr();
                CliError::file(&name, format!("a pixel of {pixel} does not fit the type {kind}"))
            })?;
            if bytes.len() >= PIECE {
                output.write_all(&bytes)?;
                bytes.clear();
            }
        }
        output.write_all(&bytes)?;
        if let Some(truth) = &mut truth {
            write_truth_rows(truth, look, first, &spots.truth)?;
        }
        if let (Some(file), Some(corners)) = (&mut corners, &spots.corners) {
            write_corners(file, corners)?;
        }
        first = end;
    }
    crate::interrupt::check()?;
    output.finish_with([truth, corners, maps].into_iter().flatten())?;
    let Size { width, height } = size;
    report.tell_json(&Windows { windows: arguments.count, width, height })
}
