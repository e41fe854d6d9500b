//! `spotfit calibrate`: from z stacks of beads to a calibration of z from widths, or to a measured PSF (see
//! [`crate::verbs::calibrate::psf`]).

mod psf;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use crate::error::CliError;
use crate::say::message::say;
use crate::say::plot::{Axis, Chart, Series};
use crate::verbs::fit::FitOptions;
use crate::words::locs::refuse_same;
use crate::words::movie_options::{Lengths, MovieArguments, parse_lengths, pixel_size};
use crate::words::output::Output;
use crate::words::paths::{refuse_ending, refuse_same_file};
use crate::words::spot_options::SpotOptions;
use spotfit::astigmatism::calibrate::{
    Calibration, CalibrationOptions, Fate, Slice, Zero, calibrate,
};
use spotfit::astigmatism::file::{CalibrationFileError, load_with_pixel_size};
use spotfit::astigmatism::find::Finder;
use spotfit::astigmatism::yaml_text::yaml_text;
use spotfit::link::{LinkOptions, link};
use spotfit::localize::{Localization, LocalizeOptions, Localizer};
use spotfit::movie::Movie;
use spotfit::{Elliptical, Shape, camera_maps};

#[derive(Debug, Args)]
pub(crate) struct CalibrateArguments {
    /// Stacks of beads: movies whose frames are slices at equal steps of z.
    #[arg(value_name = "BEADS", required = true)]
    pub(crate) stacks: Vec<PathBuf>,
    /// Where to write the calibration: a .yaml file, or a .hdf5 file with --spline. Picasso reads both.
    #[arg(short, long, value_name = "CALIBRATION.yaml|PSF.hdf5")]
    pub(crate) output: PathBuf,
    /// Make a measured PSF, a cubic spline in x, y and z, for `spotfit localize --psf`, instead of the widths of a
    /// Gaussian. It can have any shape, and needs at least three beads; ten or more make a good one.
    #[arg(long, conflicts_with_all = ["range", "zero"])]
    spline: bool,
    /// With --spline: the distance of the PSF's planes in z, in nanometres [default: 50].
    #[arg(long, value_name = "NM", requires = "spline")]
    pub(crate) planes: Option<f64>,
    /// The step from slice to slice, in nanometres.
    #[arg(long, value_name = "NM")]
    pub(crate) step: f64,
    /// The slice that shows the beads highest.
    #[arg(long, value_enum, default_value = "first-highest", value_name = "ORDER")]
    order: Order,
    /// The number of consecutive frames at each step.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    frames_per_step: u32,
    /// Side of the fitted windows, in pixels; odd. Spots far from the focus are wide. With --spline the PSF is about as
    /// large: choose some pixels more than the windows to be fitted with it [default: 13; 17 with --spline].
    #[arg(long = "box", value_name = "PX")]
    pub(crate) box_size: Option<usize>,
    /// Size of a pixel in nanometres; px if it is unknown.
    #[arg(long, value_name = "NM|px", value_parser = parse_lengths)]
    pub(crate) pixel_size: Option<Lengths>,
    /// The required range of z, from A to B in nanometres; the widest possible range if not given.
    #[arg(long, value_name = "A,B", allow_hyphen_values = true)]
    range: Option<String>,
    /// The position of z = 0: where the widths are equal, or in the middle of the stack.
    #[arg(long, value_enum, default_value = "crossing", value_name = "WHERE")]
    zero: ZeroChoice,
    /// The final factor for z, due to different refractive indices; 0.7 to 0.8 for an oil objective and a watery
    /// sample.
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    pub(crate) magnification: f64,
    /// Where to draw the widths against z, or with --spline the errors of x, y and z for 1000 photons.
    #[arg(long, value_name = "CALIBRATION.svg")]
    pub(crate) plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) movie_options: MovieArguments,
    #[command(flatten)]
    pub(crate) spot: SpotOptions,
    #[command(flatten)]
    pub(crate) fit: FitOptions,
}

/// Which way the stage goes.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Order {
    /// The first slice shows the beads highest, as in Picasso.
    FirstHighest,
    /// The first slice shows the beads lowest.
    FirstLowest,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum ZeroChoice {
    Crossing,
    Stage,
}

/// Reads a calibration.
pub(crate) fn finder(path: &Path, pixel_size: Option<f64>) -> Result<Finder, CliError> {
    let name = path.display().to_string();
    load_with_pixel_size(path, pixel_size).map_err(|error| {
        let advice = match error {
            CalibrationFileError::PixelSize => "; give --pixel-size",
            _ => "",
        };
        CliError::file(&name, format!("{error}{advice}"))
    })
}

pub(crate) fn run(arguments: &CalibrateArguments) -> Result<(), CliError> {
    let good = arguments.step > 0.0 && arguments.step <= 1e5;
    if !good {
        return Err(CliError::option("step", &arguments.step.to_string(), "above 0, to 100000 nm"));
    }
    refuse_same(&[Some(&arguments.output), arguments.plot.as_deref()])?;
    if let Some(plot) = &arguments.plot {
        refuse_ending(plot, &["svg"], "a plot")?;
    }
    if !(arguments.magnification > 0.0 && arguments.magnification <= 100.0) {
        let value = arguments.magnification.to_string();
        return Err(CliError::option("magnification", &value, "above 0, to 100"));
    }
    if arguments.spline {
        return psf::run(arguments);
    }
    refuse_ending(&arguments.output, &["yaml", "yml"], "a calibration of widths")?;
    let mut slices = Vec::new();
    let mut size = None;
    for path in &arguments.stacks {
        refuse_stack(arguments, path)?;
        let found = stack(
            arguments,
            path,
            slices.last().map_or(0, |last: &Slice| last.bead + 1),
            &mut size,
        )?;
        slices.extend(found);
    }
    let mut options = CalibrationOptions::new(size.unwrap_or(100.0));
    options.range = arguments.range.as_deref().map(range).transpose()?;
    options.magnification = arguments.magnification;
    options.box_size = Some(box_size(arguments));
    options.zero = match arguments.zero {
        ZeroChoice::Crossing => Zero::Crossing,
        ZeroChoice::Stage => Zero::Stage,
    };
    let beads = slices.last().map_or(0, |last| last.bead + 1);
    // A single bead is better than none.
    options.least_beads = options.least_beads.min(beads.max(1) as usize);
    let calibration = calibrate(&slices, &options);
    let calibration = calibration.map_err(|error| CliError::Other(error.to_string()))?;
    let mut output = Output::create(&arguments.output)?;
    output.write_all(yaml_text(&calibration).as_bytes())?;
    let mut others = Vec::new();
    if let Some(path) = &arguments.plot {
        let mut picture = Output::create(path)?;
        picture.write_all(draw(&calibration).as_bytes())?;
        others.push(picture);
    }
    output.finish_with(others)?;
    summarize(&calibration, beads, size.is_some());
    Ok(())
}

/// Side of the windows of beads.
fn box_size(arguments: &CalibrateArguments) -> usize {
    arguments.box_size.unwrap_or(13)
}

/// Refuses outputs that would replace a stack or what is beside it.
pub(crate) fn refuse_stack(arguments: &CalibrateArguments, path: &Path) -> Result<(), CliError> {
    let beside = ["yaml", "inf"].map(|extension| path.with_extension(extension));
    for output in outputs(arguments) {
        refuse_same_file(path, output)?;
        beside.iter().try_for_each(|beside| refuse_same_file(beside, output))?;
    }
    let map = arguments.spot.camera_path();
    for map in map.into_iter().flat_map(camera_maps::files) {
        outputs(arguments).try_for_each(|output| refuse_same_file(&map, output))?;
    }
    Ok(())
}

/// Opens a stack, none of whose files may be written over.
pub(crate) fn open(arguments: &CalibrateArguments, path: &Path) -> Result<Movie, CliError> {
    let failed = |source| CliError::Movie { file: path.display().to_string(), source };
    let movie = Movie::open_with(path, &arguments.movie_options.options()?).map_err(failed)?;
    for file in movie.files() {
        outputs(arguments).try_for_each(|output| refuse_same_file(file, output))?;
    }
    Ok(movie)
}

/// The files that are written.
fn outputs(arguments: &CalibrateArguments) -> impl Iterator<Item = &Path> {
    [Some(&arguments.output), arguments.plot.as_ref()].into_iter().flatten().map(PathBuf::as_path)
}

/// How high beads are seen in each frame of a stack, in nm from its middle.
pub(crate) fn heights(arguments: &CalibrateArguments, frames: usize) -> Vec<f64> {
    let each = arguments.frames_per_step as usize;
    let middle = 0.5 * (frames.div_ceil(each).max(1) as f64 - 1.0);
    let sign = if arguments.order == Order::FirstHighest { -1.0 } else { 1.0 };
    (0..frames).map(|frame| sign * ((frame / each) as f64 - middle) * arguments.step).collect()
}

/// The slices of the beads of a stack, whose numbers begin at `first`.
fn stack(
    arguments: &CalibrateArguments,
    path: &Path,
    first: u32,
    size: &mut Option<f64>,
) -> Result<Vec<Slice>, CliError> {
    let name = path.display().to_string();
    let movie = open(arguments, path)?;
    *size = size.or(pixel_size(arguments.pixel_size, &movie)?);
    let frames = movie.frames();
    let fit = arguments.spot.apply(arguments.fit.options(), arguments.fit.background())?;
    let fit = fit.with_shape(Shape::Elliptical(Elliptical));
    let options = LocalizeOptions::default()
        .with_box_size(box_size(arguments))
        .with_camera(fit.camera.unwrap_or_default())
        .with_map(arguments.spot.camera_map()?.map(|(map, _)| Arc::new(map)))
        .with_fitter(arguments.fit.fitter().with_fit(fit.with_camera(None)))
        .with_errors(true);
    let localizer = Localizer::new(movie.size(), options)?;
    let mut found: Vec<Localization> = Vec::new();
    for block in localizer.localize(movie, ..)? {
        crate::interrupt::check()?;
        found.extend(block.map_err(CliError::movie(&name))?);
    }
    let z = heights(arguments, frames);
    let of = |number: fn(&Localization) -> f64| found.iter().map(number).collect::<Vec<f64>>();
    let numbers: Vec<u32> = found.iter().map(|spot| spot.frame as u32).collect();
    let options = LinkOptions { radius: NEAR, radius_z: 1.0, gap: GAP };
    let links = link(&numbers, &of(|spot| spot.x), &of(|spot| spot.y), None, &options);
    let links = links.map_err(|error| CliError::file(&name, error.to_string()))?;
    let mut slices: Vec<Slice> = found
        .iter()
        .zip(&links.groups)
        .filter_map(|(spot, &group)| {
            let errors = spot.errors?;
            Some(Slice {
                bead: first + group,
                z: z[spot.frame],
                x: spot.x,
                y: spot.y,
                sigma_x: spot.sigma_x,
                sigma_y: spot.sigma_y,
                error_x: errors.sigma_x,
                error_y: errors.sigma_y,
            })
        })
        .collect();
    slices.sort_by_key(|slice| slice.bead);
    say!("{name}: {frames} frames, {} spots", slices.len());
    Ok(slices)
}

/// How far a bead may seem to move from slice to slice, in pixels, and for how many frames it may be missed.
const NEAR: f64 = 1.5;
const GAP: u32 = 3;

/// Two ends.
fn range(text: &str) -> Result<[f64; 2], CliError> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[low, high]) if low < high => Ok([low, high]),
        _ => Err(CliError::option("range", text, "A,B: two numbers, the first the smaller, in nm")),
    }
}

fn summarize(calibration: &Calibration, beads: u32, in_nanometres: bool) {
    let Calibration { rejected, residual, lateral, .. } = calibration;
    let used = calibration.beads.iter().filter(|bead| bead.fate == Fate::Used).count();
    let [low, high] = calibration.curve.range();
    say!(
        "{used} of {beads} beads used, {} slices; z from {low:.0} to {high:.0} nm",
        calibration.used
    );
    let reasons = [
        (rejected.short_beads, "beads with too few slices"),
        (rejected.beads_without_crossing, "beads without a focus in their stack"),
        (rejected.beads_off, "beads unlike the others"),
        (rejected.slices_off, "slices off the curve"),
        (rejected.slices_beyond, "slices beyond the range"),
        (rejected.invalid_slices, "slices with a number out of range"),
    ];
    let left_out: Vec<String> = reasons
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, reason)| format!("{count} {reason}"))
        .collect();
    say!("left out: {}", if left_out.is_empty() { "none".to_owned() } else { left_out.join(", ") });
    say!(
        "residuals {:.4} and {:.4} px; error of z {:.1} nm rms, {:.1} nm at most on average",
        residual[0],
        residual[1],
        calibration.z_error,
        calibration.z_bias
    );
    if in_nanometres {
        say!(
            "beads move by {:.0} and {:.0} nm in x and y for each µm of z",
            lateral[0],
            lateral[1]
        );
    }
}

/// The widths against z.
fn draw(calibration: &Calibration) -> String {
    let [low, high] = calibration.curve.range();
    let line = |axis: usize| -> Vec<(f64, f64)> {
        let at = |step: u32| low + (high - low) * f64::from(step) / 200.0;
        (0..=200).map(|step| (at(step), calibration.curve.widths(at(step))[axis])).collect()
    };
    let points =
        |axis: usize| calibration.table.iter().map(|row| (row.z, row.sigma[axis])).collect();
    let series = vec![
        Series::line("σx", line(0)),
        Series::line("σy", line(1)),
        Series::points("", points(0)),
        Series::points("", points(1)),
    ];
    let title = format!("Widths of {} slices", calibration.used);
    Chart::new(&title, Axis::new("z (nm)"), Axis::new("σ (px)"), series).svg()
}
