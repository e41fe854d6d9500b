//! `spotfit simulate`: windows with their truth.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use fit_core::{Corner, Size};
use fit_sim::{Noise, SimulatedCamera, SpotSimulation};
use serde::Serialize;

use super::camera::{CameraArguments, GainArguments};
use super::refuse_no_csv;
use super::spots::SpotArguments;
use super::window_words::{NoiseChoice, WindowArguments};
use crate::error::CliError;
use crate::words::output::Output;
use crate::words::paths::refuse_same_output;
use crate::words::report::ReportArguments;
use crate::words::truth::{Look, write_truth_header, write_truth_rows};
use spotfit::npy::write_header;

/// Windows made at a time: at most this many, with at most this many bytes, but at least one.
const CHUNK: usize = 1 << 15;
const CHUNK_BYTES: usize = 1 << 26;
/// Bytes written at a time.
const PIECE: usize = 1 << 20;
/// Photo-electrons of the background of a window, if nothing is said.
const BACKGROUND: f64 = 40.0;
/// Endings of files that are no arrays.
const OTHERS: [&str; 15] = [
    "tif", "tiff", "btf", "raw", "dax", "csv", "png", "svg", "hdf5", "h5", "npz", "yaml", "yml",
    "json", "html",
];

/// Words besides those of the windows.
#[derive(Debug, Args)]
pub(super) struct Others {
    #[command(flatten)]
    spots: SpotArguments,
    #[command(flatten)]
    gain: GainArguments,
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

pub(super) fn run(arguments: &WindowArguments, others: &Others) -> Result<(), CliError> {
    let Others { spots, gain, camera, report } = others;
    report.check(&arguments.output)?;
    let side = |side: Option<usize>| side.or(arguments.size).unwrap_or_default();
    let size = Size::new(side(arguments.width), side(arguments.height));
    let noise = match arguments.noise {
        NoiseChoice::Poisson => Noise::Poisson,
        NoiseChoice::Paper => Noise::Paper,
        NoiseChoice::None => Noise::None,
    };
    let reads = SimulatedCamera::default()
        .with_baseline(arguments.baseline)
        .with_gain(gain.gain()?)
        .with_read_noise(arguments.read_noise)
        .with_em_gain(camera.em_gain);
    let look = spots.recipe();
    let shape = look.spots()?;
    let background = match (arguments.pixel_background, arguments.background) {
        (Some(pixel), _) => pixel * size.pixels() as f64,
        (None, window) => window.unwrap_or(BACKGROUND),
    };
    let mut simulation = SpotSimulation::new(size)
        .with_signal(arguments.signal)
        .with_background(background)
        .with_sigma(arguments.sigma_min..arguments.sigma_max)
        .with_shape(shape)
        .with_profile(look.profile)
        .with_noise(noise)
        .with_camera(reads)
        .with_seed(arguments.seed);
    simulation.validate()?;
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
    if OTHERS.contains(&extension) {
        let reason = "windows are written as an NPY array; the name must end in .npy";
        return Err(CliError::file(&arguments.output.display().to_string(), reason));
    }
    let files = [&arguments.truth, &camera.camera, &arguments.corners];
    let files = files.into_iter().flatten().map(PathBuf::as_path);
    let files: Vec<&Path> = std::iter::once(arguments.output.as_path()).chain(files).collect();
    refuse_same_output(&files)?;
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
    let look = Look::of(shape);
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

    let chunk = (CHUNK_BYTES / (size_of::<f32>() * size.pixels())).clamp(1, CHUNK);
    let mut first = 0;
    while first < arguments.count {
        crate::interrupt::check()?;
        let end = arguments.count.min(first.saturating_add(chunk));
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
