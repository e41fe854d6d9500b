//! `spotfit camera`: darks and flats in, maps of a camera's pixels out.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::words::defects::write_defects;
use crate::words::movie_options::MovieArguments;
use crate::words::output::{Output, complete};
use crate::words::paths::{refuse_ending, refuse_same_file};
use crate::words::plot::{draw_plot, refuse_plot};
use crate::words::record::{RecordArguments, counts};
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::hdf5::H5Error;
use spotfit::record;
use spotfit::steps::Stack;
use spotfit::steps::camera::{self, CameraOptions, MeasuredCamera};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit camera darks.tif flats1.tif flats2.tif flats3.tif -o maps.npz\n  spotfit camera darks.tif -o maps.npz --sensitivity 0.46 --mask defects.npy"
)]
pub(crate) struct CameraArguments {
    /// Frames without light, at the exposure and the temperature of the movies that follow; a hundred or more.
    #[arg(value_name = "DARKS")]
    darks: PathBuf,
    /// Frames of constant light that fills the field: a movie for each of some brightnesses, as bright as spots and brighter. They tell the gain
    /// of each pixel.
    #[arg(value_name = "FLATS")]
    flats: Vec<PathBuf>,
    /// Where to write the maps of offset (ADU), gain (ADU/e-) and variance (ADU²): a .npz file, with their standard errors, and the pixels that are hot or dead; or
    /// a .hdf5 file for Picasso. `spotfit localize --camera` reads both.
    #[arg(short, long, value_name = "MAPS.npz|MAPS.hdf5", help_heading = "Output")]
    output: WrittenFile,
    /// Where to write the mask of hot and dead pixels, an array (height, width) of booleans, which `spotfit localize --defects` reads.
    #[arg(long, value_name = "MASK.npy", help_heading = "Output")]
    mask: Option<WrittenFile>,
    /// Draw maps of offset, noise and gain, and how often each of their values is, with hot pixels by themselves: an .svg or .png file.
    #[arg(long, value_name = "PLOT.svg|PLOT.png", help_heading = "Output")]
    plot: Option<WrittenFile>,
    /// Photo-electrons per count of all pixels, where there are no flats. Without both, the maps have no gain, and are read with
    /// --sensitivity.
    #[arg(long, value_name = "E/ADU", conflicts_with = "flats", help_heading = "Camera")]
    sensitivity: Option<f64>,
    /// A pixel is hot if its offset is so many standard deviations of all offsets above their median, or its noise so many times the median
    /// noise.
    #[arg(long, value_name = "N", default_value_t = CameraOptions::default().hot, help_heading = "Camera")]
    hot: f64,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    record: RecordArguments,
    #[command(flatten)]
    movie_options: MovieArguments,
}

pub(crate) fn run(arguments: &CameraArguments) -> Result<(), CliError> {
    let CameraArguments { darks, flats, output, mask, plot, sensitivity, hot, report, .. } =
        arguments;
    report.check(output)?;
    refuse_ending(output, &["npz", "hdf5", "h5"], "the maps of a camera")?;
    if let Some(mask) = mask {
        refuse_ending(mask, &["npy"], "a mask")?;
    }
    refuse_plot(plot.as_deref())?;
    let options = CameraOptions::default().with_sensitivity(*sensitivity).with_hot(*hot);
    options.check(flats.len())?;
    let mut darks = arguments.open(darks)?;
    let opened: Result<Vec<Stack>, CliError> =
        flats.iter().map(|path| arguments.open(path)).collect();
    let mut flats = opened?;
    let mut recorded = arguments.record.of(output)?;
    for stack in std::iter::once(&darks).chain(&flats) {
        let path = stack.path().unwrap_or(Path::new(stack.name())).to_owned();
        recorded.has_read(|| record::inputs(&path, stack.files(), &[]))?;
    }
    let found = camera::run(&options, &mut darks, &mut flats, &Terminal::default())?;
    let mut files = vec![written(output, &found)?];
    if let Some(mask) = mask {
        files.push(write_defects(mask, &found.defects())?);
    }
    files.extend(draw_plot(plot.as_deref(), || found.drawing())?);
    let counts = counts([("hot", found.report.hot), ("dead", found.report.dead)]);
    complete(recorded.around(files, counts)?)?;
    report.tell(&found.report)
}

impl CameraArguments {
    /// Opens a movie, none of whose files may be written over.
    fn open(&self, path: &Path) -> Result<Stack, CliError> {
        let stack = Stack::open(path, &self.movie_options.options()?)?;
        let beside = ["yaml", "inf"].map(|ending| path.with_extension(ending));
        for input in stack.files().iter().chain(&beside) {
            for output in std::iter::once(&self.output).chain(&self.mask).chain(&self.plot) {
                refuse_same_file(input, output)?;
            }
        }
        Ok(stack)
    }
}

/// The file of the maps, which is to be completed with others.
fn written(path: &Path, found: &MeasuredCamera) -> Result<Output, CliError> {
    let mut output = Output::create(path)?;
    let name = output.name().to_owned();
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npz")) {
        let writer = output
            .seekable()
            .ok_or_else(|| CliError::file(&name, "an NPZ file cannot be written to a pipe"))?;
        found.write_npz(writer).map_err(CliError::write(&name))?;
        return Ok(output);
    }
    found.write_hdf5(output).map_err(|error| match error {
        H5Error::Io(source) => CliError::write(&name)(source),
        error => CliError::file(&name, error.to_string()),
    })
}
