//! `spotfit simulate`: windows with their truth.

mod beads;
mod camera;
mod frames;
mod movie;
mod spots;
pub(crate) mod write;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use fit_core::{Corner, Size};
use fit_sim::{Camera, Noise, SpotShape, SpotSimulation, Truth};

use crate::error::CliError;
use crate::verbs::simulate::camera::CameraArguments;
use crate::verbs::simulate::spots::{Look, SpotArguments};
use crate::words::output::Output;
use crate::words::paths::{refuse_ending, refuse_same_output};
use spotfit::npy::write_header;

/// Windows made at a time: at most this many, with at most this many bytes, but at least one.
const CHUNK: usize = 1 << 15;
const CHUNK_BYTES: usize = 1 << 26;

/// Bytes written at a time.
const PIECE: usize = 1 << 20;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct SimulateArguments {
    #[command(subcommand)]
    what: Option<What>,
    #[command(flatten)]
    windows: Option<WindowArguments>,
    // Not among those of the windows: clap would no longer see whether any of them is given.
    #[command(flatten)]
    spots: SpotArguments,
    #[command(flatten)]
    camera: CameraArguments,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Simulate a movie: blinking molecules on lines and rings, beads, an uneven background.
    Movie(movie::MovieArguments),
    /// Simulate a z stack of beads behind an astigmatic lens, for `spotfit calibrate`.
    Beads(beads::BeadArguments),
}

#[derive(Debug, Args)]
struct WindowArguments {
    /// Number of windows.
    #[arg(long, value_name = "N")]
    count: usize,
    /// Width and height of the windows in pixels.
    #[arg(long, value_name = "PX", required_unless_present_all = ["width", "height"])]
    size: Option<usize>,
    /// Width of the windows in pixels; overrides --size.
    #[arg(long, value_name = "PX")]
    width: Option<usize>,
    /// Height of the windows in pixels; overrides --size.
    #[arg(long, value_name = "PX")]
    height: Option<usize>,
    /// Integrated signal of a spot in photo-electrons.
    #[arg(long, default_value_t = 400.0, value_name = "COUNTS")]
    signal: f64,
    /// Background in photo-electrons, summed over the window's pixels.
    #[arg(long, default_value_t = 40.0, value_name = "COUNTS")]
    background: f64,
    /// The noise: poisson (photon statistics), paper (Gaussian of the same variance, rounded and
    /// clipped at zero, as published) or none.
    #[arg(long, value_enum, default_value = "poisson", value_name = "NOISE")]
    noise: NoiseChoice,
    /// The smallest sigma in pixels.
    #[arg(long, default_value_t = 1.0, value_name = "PX")]
    sigma_min: f64,
    /// The largest sigma in pixels.
    #[arg(long, default_value_t = 2.0, value_name = "PX")]
    sigma_max: f64,
    /// The value of a dark pixel, in counts.
    #[arg(long, default_value_t = 0.0, value_name = "COUNTS")]
    baseline: f64,
    /// Counts per photo-electron.
    #[arg(long, default_value_t = 1.0, value_name = "G")]
    gain: f64,
    /// Standard deviation of the read noise in photo-electrons.
    #[arg(long, default_value_t = 0.0, value_name = "E")]
    read_noise: f64,
    /// Width and height of the sCMOS camera in pixels. Each window lies at a random position in it.
    #[arg(long, default_value_t = 256, value_name = "PX", requires = "camera")]
    camera_size: usize,
    /// Where to write the positions of the windows in the sCMOS camera: a CSV file frame,x,y with the first pixel of
    /// each window; the frame is always 0.
    #[arg(long, value_name = "CORNERS.csv", requires = "camera")]
    corners: Option<PathBuf>,
    /// The seed: the same seed gives the same bytes on every machine.
    #[arg(long, default_value_t = 1, value_name = "SEED")]
    seed: u64,
    /// The type of the pixels.
    #[arg(long, value_enum, default_value = "f32", value_name = "TYPE")]
    dtype: DtypeChoice,
    /// Where to write the windows: an NPY file (n, height, width), or - for standard output.
    #[arg(short, long, value_name = "SPOTS.npy")]
    output: PathBuf,
    /// Where to write the truth: a CSV file spot,x,y,sigma,signal,background, with signal and background as given
    /// above. Spots that are not circular have sigma_x,sigma_y instead of sigma, then angle (radians) if rotated and z
    /// (nanometres) if defocused.
    #[arg(long, value_name = "TRUTH.csv")]
    truth: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum NoiseChoice {
    Poisson,
    Paper,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum DtypeChoice {
    U8,
    U16,
    F32,
}

impl DtypeChoice {
    fn bytes(self) -> usize {
        match self {
            Self::U8 => 1,
            Self::U16 => 2,
            Self::F32 => 4,
        }
    }

    fn descr(self) -> &'static str {
        match self {
            Self::U8 => "'|u1'",
            Self::U16 => "'<u2'",
            Self::F32 => "'<f4'",
        }
    }

    /// Appends the bytes of a pixel, or gives it back if it is beyond the range of the type.
    fn push(self, pixel: f32, bytes: &mut Vec<u8>) -> Result<(), f32> {
        match self {
            Self::U8 if pixel <= f32::from(u8::MAX) => bytes.push(pixel.round() as u8),
            Self::U16 if pixel <= f32::from(u16::MAX) => {
                bytes.extend_from_slice(&(pixel.round() as u16).to_le_bytes());
            }
            Self::F32 => bytes.extend_from_slice(&pixel.to_le_bytes()),
            _ => return Err(pixel),
        }
        Ok(())
    }
}

/// Writes the whole truth of circular spots.
pub(crate) fn write_truth(output: &mut Output, truth: &[Truth]) -> Result<(), CliError> {
    let look = Look::of(SpotShape::Circular);
    write_truth_header(output, look)?;
    write_truth_rows(output, look, 0, truth)
}

fn write_truth_header(output: &mut Output, look: Look) -> Result<(), CliError> {
    output.write_all(format!("spot,x,y,{},signal,background\n", look.columns()).as_bytes())
}

fn write_truth_rows(
    output: &mut Output,
    look: Look,
    first: usize,
    truth: &[Truth],
) -> Result<(), CliError> {
    let mut text = String::new();
    for (spot, truth) in (first..).zip(truth) {
        let Truth { shape, sigma_x, sigma_y, angle, z, signal, background } = truth;
        let written = write!(text, "{spot},{:?},{:?},", shape.x, shape.y);
        look.write(&mut text, [*sigma_x, *sigma_y], *angle, *z);
        let written = written.and_then(|()| writeln!(text, ",{signal:?},{background:?}"));
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    output.write_all(text.as_bytes())
}

fn write_corners(output: &mut Output, corners: &[Corner]) -> Result<(), CliError> {
    let mut text = String::new();
    for Corner { frame, x, y } in corners {
        let written = writeln!(text, "{frame},{x},{y}");
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    output.write_all(text.as_bytes())
}

/// Refuses a name for a CSV file that has another ending; it may have none.
pub(crate) fn refuse_no_csv(path: Option<&Path>, what: &str) -> Result<(), CliError> {
    let named = path.filter(|path| path.extension().is_some());
    named.map_or(Ok(()), |path| refuse_ending(path, &["csv"], what))
}

pub(crate) fn run(arguments: &SimulateArguments) -> Result<(), CliError> {
    match (&arguments.what, &arguments.windows) {
        (Some(What::Movie(movie)), _) => movie::run(movie),
        (Some(What::Beads(beads)), _) => beads::run(beads),
        (None, Some(windows)) => run_windows(windows, &arguments.spots, &arguments.camera),
        (None, None) => {
            Err(CliError::file("simulate", "give --count, or the command 'movie' or 'beads'"))
        }
    }
}

fn run_windows(
    arguments: &WindowArguments,
    spots: &SpotArguments,
    camera: &CameraArguments,
) -> Result<(), CliError> {
    let side = |side: Option<usize>| side.or(arguments.size).unwrap_or_default();
    let size = Size::new(side(arguments.width), side(arguments.height));
    let noise = match arguments.noise {
        NoiseChoice::Poisson => Noise::Poisson,
        NoiseChoice::Paper => Noise::Paper,
        NoiseChoice::None => Noise::None,
    };
    let reads = Camera::default()
        .with_baseline(arguments.baseline)
        .with_gain(arguments.gain)
        .with_read_noise(arguments.read_noise)
        .with_em_gain(camera.em_gain);
    let shape = spots.shape()?;
    let mut simulation = SpotSimulation::new(size)
        .with_signal(arguments.signal)
        .with_background(arguments.background)
        .with_sigma(arguments.sigma_min..arguments.sigma_max)
        .with_shape(shape)
        .with_profile(spots.profile())
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
    const OTHERS: [&str; 15] = [
        "tif", "tiff", "btf", "raw", "dax", "csv", "png", "svg", "hdf5", "h5", "npz", "yaml",
        "yml", "json", "html",
    ];
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
    output.finish_with([truth, corners, maps].into_iter().flatten())
}
