//! The files of simulated movies: frames, their truth, and the maps of the camera.

use std::fmt::Write as _;
use std::io::{Seek, Write};
use std::ops::Range;
use std::path::Path;

use fit_sim::{MoviePiece, MoviePlan, MovieTruth};
use tiff::encoder::{TiffEncoder, TiffKind, colortype::Gray16};

use crate::error::CliError;
use crate::interrupt;
use crate::words::output::Output;
use crate::words::truth::Look;
use spotfit::npy::write_header;

/// Bytes written at a time.
const PIECE: usize = 1 << 20;

/// Writes a movie and its truth, and completes other files with them.
pub(crate) fn write_movie(
    plan: &mut MoviePlan,
    path: &Path,
    truth: Option<&Path>,
    others: Vec<Output>,
) -> Result<(), CliError> {
    let extension = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let mut output = Output::create(path)?;
    let name = output.name().to_owned();
    let mut truth = truth.map(Output::create).transpose()?;
    if let Some(truth) = &mut truth {
        let look = Look::of_movie(plan.simulation()).columns();
        let header = format!("frame,x,y,{look},signal,background,molecule\n");
        truth.write_all(header.as_bytes())?;
    }
    match extension.as_ref().and_then(|extension| extension.to_str()) {
        Some("npy") => write_npy(plan, &mut output, &mut truth)?,
        Some("tif" | "tiff") => {
            let simulation = plan.simulation();
            let frame = 2 * simulation.width as u64 * simulation.height as u64 + 512;
            let bytes = frame.saturating_mul(simulation.frames as u64);
            let writer = output.seekable().ok_or_else(|| {
                CliError::file(&name, "a TIFF file cannot be written to a pipe; use .npy")
            })?;
            let tiff =
                |error: tiff::TiffError| CliError::write(&name)(std::io::Error::other(error));
            if bytes > u64::from(u32::MAX) {
                let encoder = TiffEncoder::new_big(writer).map_err(tiff)?;
                write_tiff(plan, encoder, &name, &mut truth)?;
            } else {
                let encoder = TiffEncoder::new(writer).map_err(tiff)?;
                write_tiff(plan, encoder, &name, &mut truth)?;
            }
        }
        _ => return Err(CliError::file(&name, "the movie's name must end in .tif or .npy")),
    }
    interrupt::check()?;
    output.finish_with(truth.into_iter().chain(others))
}

/// Makes a movie piece by piece.
fn for_each_piece(
    plan: &mut MoviePlan,
    truth: &mut Option<Output>,
    mut write: impl FnMut(&ndarray::Array3<u16>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let (frames, length) = (plan.simulation().frames, plan.piece_length());
    let look = Look::of_movie(plan.simulation());
    let mut first = 0;
    while first < frames {
        interrupt::check()?;
        let end = frames.min(first + length);
        let piece = plan.piece(first..end);
        write(&piece.frames())?;
        if let Some(truth) = truth {
            write_truth(&piece, first..end, look, truth)?;
        }
        first = end;
    }
    Ok(())
}

fn write_truth(
    piece: &MoviePiece<'_>,
    frames: Range<usize>,
    look: Look,
    truth: &mut Output,
) -> Result<(), CliError> {
    let mut text = String::new();
    for spot in frames.flat_map(|frame| piece.truth(frame)) {
        let MovieTruth { frame, shape, signal, background, molecule, .. } = spot;
        let written = write!(text, "{frame},{:?},{:?},", shape.x, shape.y);
        look.write(&mut text, [spot.sigma_x, spot.sigma_y], spot.angle, spot.z);
        let written =
            written.and_then(|()| writeln!(text, ",{signal:?},{background:?},{molecule}"));
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
        if text.len() >= PIECE {
            truth.write_all(text.as_bytes())?;
            text.clear();
        }
    }
    truth.write_all(text.as_bytes())
}

fn write_npy(
    plan: &mut MoviePlan,
    output: &mut Output,
    truth: &mut Option<Output>,
) -> Result<(), CliError> {
    let simulation = plan.simulation();
    let shape = [simulation.frames, simulation.height, simulation.width];
    let mut bytes = Vec::new();
    let name = output.name().to_owned();
    write_header(&mut bytes, "'<u2'", &shape).map_err(CliError::write(&name))?;
    output.write_all(&bytes)?;
    for_each_piece(plan, truth, |frames| {
        for row in frames.rows() {
            bytes.clear();
            bytes.extend(row.iter().flat_map(|pixel| pixel.to_le_bytes()));
            output.write_all(&bytes)?;
        }
        Ok(())
    })
}

fn write_tiff<W: Write + Seek, K: TiffKind>(
    plan: &mut MoviePlan,
    mut encoder: TiffEncoder<W, K>,
    name: &str,
    truth: &mut Option<Output>,
) -> Result<(), CliError> {
    let simulation = plan.simulation();
    let (width, height) = (simulation.width as u32, simulation.height as u32);
    for_each_piece(plan, truth, |frames| {
        for frame in frames.outer_iter() {
            let pixels: Vec<u16> = frame.iter().copied().collect();
            let written = encoder.write_image::<Gray16>(width, height, &pixels);
            written.map_err(|error| CliError::write(name)(std::io::Error::other(error)))?;
        }
        Ok(())
    })
}
