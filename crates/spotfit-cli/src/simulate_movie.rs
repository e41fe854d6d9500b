//! `spotfit simulate movie`: a movie with its truth.

use std::fmt::Write as _;
use std::io::{Seek, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use fit_core::Size;
use fit_sim::{
    Bead, Camera, MOST_BEADS, MOST_MOLECULES, MoviePiece, MoviePlan, MovieSimulation, MovieTruth,
    SpotShape,
};
use tiff::encoder::{TiffEncoder, TiffKind, colortype::Gray16};

use super::error::CliError;
use super::interrupt;
use super::output::Output;
use super::paths::refuse_same_output;
use super::simulate_camera::CameraArguments;
use super::simulate_spots::{Look, SpotArguments};
use spotfit::npy::write_header;

/// How much the two widths vary if nothing is said: with 0 they would be equal.
const ELLIPTICAL_SPREAD: f64 = 0.25;

/// Bytes written at a time.
const PIECE: usize = 1 << 20;

#[derive(Debug, Args)]
pub(crate) struct MovieArguments {
    /// Where to write the movie: a .tif (16 bits, BigTIFF if necessary) or .npy file.
    #[arg(short, long, value_name = "MOVIE.tif|MOVIE.npy")]
    output: PathBuf,
    /// Where to write the truth: a CSV file frame,x,y,sigma,signal,background,molecule, with frames from
    /// 0, in pixels and photo-electrons. Spots that are not circular have sigma_x,sigma_y in place of sigma, then
    /// angle (radians) if rotated and z (nanometres) if defocused.
    #[arg(long, value_name = "TRUTH.csv")]
    truth: Option<PathBuf>,
    /// Number of frames.
    #[arg(long, default_value_t = 500, value_name = "N")]
    frames: usize,
    /// Width of the frames in pixels.
    #[arg(long, default_value_t = 256, value_name = "PX")]
    width: usize,
    /// Height of the frames in pixels.
    #[arg(long, default_value_t = 256, value_name = "PX")]
    height: usize,
    /// Molecules that glow in a frame, on average.
    #[arg(long, default_value_t = 20.0, value_name = "N")]
    spots: f64,
    /// Photo-electrons of a molecule in a frame.
    #[arg(long, default_value_t = 1000.0, value_name = "E")]
    signal: f64,
    /// Standard deviation of the spots in pixels.
    #[arg(long, default_value_t = 1.3, value_name = "PX")]
    sigma: f64,
    // The number comes from where it is set.
    #[arg(long, value_name = "SHARE", help = format!(
        "How much sigma varies from molecule to molecule: it is uniform within this share of --sigma, 0 to 0.9 \
         [default: 0; {ELLIPTICAL_SPREAD} with elliptical and rotated spots]"
    ))]
    sigma_spread: Option<f64>,
    #[command(flatten)]
    looks: SpotArguments,
    /// How long a molecule glows on average, in frames.
    #[arg(long, default_value_t = 3.0, value_name = "FRAMES")]
    on_time: f64,
    /// Mean background of a pixel in photo-electrons.
    #[arg(long, default_value_t = 20.0, value_name = "E")]
    background: f64,
    /// How much the background varies over the frame, as a share of its mean, 0 to 1.
    #[arg(long, default_value_t = 0.5, value_name = "SHARE")]
    unevenness: f64,
    /// Number of fiducial beads, always on, ten times as bright as a molecule.
    #[arg(long, default_value_t = 0, value_name = "N")]
    beads: usize,
    /// Drift from frame to frame in pixels: X,Y.
    #[arg(long, default_value = "0,0", value_name = "X,Y", allow_hyphen_values = true)]
    drift: String,
    /// The value of a dark pixel, in counts.
    #[arg(long, default_value_t = 100.0, value_name = "COUNTS")]
    baseline: f64,
    /// Counts per photo-electron.
    #[arg(long, default_value_t = 1.0, value_name = "G")]
    gain: f64,
    /// Standard deviation of the read noise in photo-electrons.
    #[arg(long, default_value_t = 1.5, value_name = "E")]
    read_noise: f64,
    #[command(flatten)]
    camera: CameraArguments,
    /// The seed: the same seed gives the same bytes on every machine.
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    seed: u64,
}

fn parse_drift(text: &str) -> Result<[f64; 2], CliError> {
    let wrong = || CliError::option("drift", text, "X,Y, two numbers");
    let (x, y) = text.split_once(',').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse().map_err(|_| wrong());
    Ok([number(x)?, number(y)?])
}

pub(crate) fn run(arguments: &MovieArguments) -> Result<(), CliError> {
    let camera = Camera::default()
        .with_baseline(arguments.baseline)
        .with_gain(arguments.gain)
        .with_read_noise(arguments.read_noise)
        .with_em_gain(arguments.camera.em_gain);
    let shape = arguments.looks.shape()?;
    let spread = match shape {
        SpotShape::Elliptical | SpotShape::Rotated => ELLIPTICAL_SPREAD,
        _ => 0.0,
    };
    let (width, height) = (arguments.width, arguments.height);
    let mut simulation = MovieSimulation::new(width, height, arguments.frames)
        .with_signal(arguments.signal)
        .with_sigma(arguments.sigma)
        .with_sigma_spread(arguments.sigma_spread.unwrap_or(spread))
        .with_shape(shape)
        .with_profile(arguments.looks.profile())
        .with_on_time(arguments.on_time)
        .with_drift(parse_drift(&arguments.drift)?)
        .with_background(arguments.background)
        .with_unevenness(arguments.unevenness)
        .with_camera(camera)
        .with_seed(arguments.seed);
    // Before any are made: their places take memory.
    if arguments.beads > MOST_BEADS {
        let range = format!("0 to {MOST_BEADS}");
        return Err(CliError::option("beads", &arguments.beads.to_string(), &range));
    }
    simulation.beads = beads(arguments);
    simulation.molecules = 0;
    simulation.validate()?;
    simulation.molecules = simulation.molecules_for(arguments.spots);
    if !(arguments.spots >= 0.0 && simulation.molecules <= MOST_MOLECULES) {
        let each = simulation.molecules_for(1e6) as f64 / 1e6;
        let most = (MOST_MOLECULES as f64 / each).floor();
        let range = format!("0 to {most} with this on-time, of {MOST_MOLECULES} molecules");
        return Err(CliError::option("spots", &arguments.spots.to_string(), &range));
    }
    let files = [&arguments.truth, &arguments.camera.camera];
    let files = files.into_iter().flatten().map(PathBuf::as_path);
    let files: Vec<&Path> = std::iter::once(arguments.output.as_path()).chain(files).collect();
    refuse_same_output(&files)?;
    simulation.maps = arguments.camera.maps(Size::new(width, height), arguments.seed)?;
    let maps = arguments.camera.write(simulation.maps.as_ref())?;
    let mut plan = simulation.plan()?;
    write_movie(&mut plan, &arguments.output, arguments.truth.as_ref(), maps)
}

/// Beads along the frame's diagonals, well inside.
fn beads(arguments: &MovieArguments) -> Vec<Bead> {
    let place = |i: usize| {
        let along = 0.08 + 0.84 * (i as f64 + 0.5) / arguments.beads as f64;
        let down = if i.is_multiple_of(2) { along } else { 1.0 - along };
        Bead {
            x: arguments.width as f64 * along,
            y: arguments.height as f64 * down,
            signal: 10.0 * arguments.signal,
        }
    };
    (0..arguments.beads).map(place).collect()
}

/// Writes a movie and its truth, and completes the maps of its camera with them.
pub(crate) fn write_movie(
    plan: &mut MoviePlan,
    path: &Path,
    truth: Option<&PathBuf>,
    maps: Option<Output>,
) -> Result<(), CliError> {
    let extension = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let mut output = Output::create(path)?;
    let name = output.name().to_owned();
    let mut truth = truth.map(|path| Output::create(path)).transpose()?;
    if let Some(truth) = &mut truth {
        let look = Look::of(plan.simulation().shape).columns();
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
    output.finish_with([truth, maps].into_iter().flatten())
}

/// Makes a movie piece by piece.
fn for_each_piece(
    plan: &mut MoviePlan,
    truth: &mut Option<Output>,
    mut write: impl FnMut(&ndarray::Array3<u16>) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let (frames, length) = (plan.simulation().frames, plan.piece_length());
    let look = Look::of(plan.simulation().shape);
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
