//! `spotfit calibrate`: from z stacks of beads to a calibration of z from widths, or to a measured PSF.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::PossibleValue;

use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::words::camera_from::{CameraFromArguments, of_movie};
use crate::words::choice::choice;
use crate::words::fit_options::FitOptions;
use crate::words::movie_options::{MovieArguments, asked_size};
use crate::words::output::{Output, complete};
use crate::words::paths::{refuse_ending, refuse_same_file};
use crate::words::plot::{draw_plot, refuse_plot};
use crate::words::psf_file::write_psf;
use crate::words::record::{RecordArguments, Recorded, counts};
use crate::words::report::ReportArguments;
use crate::words::spot_options::SpotOptions;
use crate::words::written::WrittenFile;
use spotfit::astigmatism::calibrate::Zero;
use spotfit::astigmatism::yaml_text::yaml_text;
use spotfit::steps::calibrate::{self, CalibrateOptions, Order, PsfOptions, StackOptions};
use spotfit::steps::localize::CameraOptions;
use spotfit::steps::{PixelScale, Stack, side};
use spotfit::{Camera, CameraMap, Length, camera_maps, record};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit calibrate beads.tif --step 20 -o calibration.yaml --plot calibration.svg --baseline 100 --sensitivity 0.46\n  spotfit calibrate beads1.tif beads2.tif --spline --step 50 -o psf.hdf5 --pixel-size 100"
)]
pub(crate) struct CalibrateArguments {
    /// Stacks of beads: movies whose frames are slices at equal steps of z.
    #[arg(value_name = "BEADS", required = true)]
    stacks: Vec<PathBuf>,
    /// Where to write the calibration: a .yaml file, or a .hdf5 file with --spline. Picasso reads both.
    #[arg(short, long, value_name = "CALIBRATION.yaml|PSF.hdf5", help_heading = "Output")]
    output: WrittenFile,
    /// Make a measured PSF, a cubic spline in x, y and z, for `spotfit localize --psf`, instead of the widths of a
    /// Gaussian. It can have any shape, and needs at least three beads; ten or more make a good one.
    #[arg(long, conflicts_with_all = ["range", "zero"])]
    spline: bool,
    /// With --spline: the distance of the PSF's planes in z, in nanometres [default: 50].
    #[arg(long, value_name = "NM", requires = "spline", help_heading = "Fit")]
    planes: Option<f64>,
    /// The step from slice to slice, in nanometres.
    #[arg(long, value_name = "NM", help_heading = "Movie")]
    step: f64,
    /// The slice that shows the beads highest.
    #[arg(
        long,
        default_value = "first-highest",
        value_name = "ORDER",
        help_heading = "Movie",
        value_parser = choice([
            (PossibleValue::new("first-highest").help("The first slice shows the beads highest, as in Picasso"), Order::FirstHighest),
            (PossibleValue::new("first-lowest").help("The first slice shows the beads lowest"), Order::FirstLowest),
        ])
    )]
    order: Order,
    /// The number of consecutive frames at each step.
    #[arg(
        long,
        default_value_t = 1,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = "Movie"
    )]
    frames_per_step: u32,
    /// Side of the fitted windows, in pixels or with a unit; odd. Spots far from the focus are wide. With --spline the PSF is about as
    /// large: some pixels more than the windows that are to be fitted with it [default: 13; 17 with --spline].
    #[arg(long = "box", value_name = "LENGTH", help_heading = "Fit")]
    box_size: Option<Length>,
    /// Size of a pixel in nanometres; px if it is unknown.
    #[arg(long, value_name = "NM|px", help_heading = "Movie")]
    pixel_size: Option<PixelScale>,
    /// The required range of z, from A to B in nanometres; the widest possible range if not given.
    #[arg(long, value_name = "A,B", allow_hyphen_values = true, help_heading = "Fit")]
    range: Option<String>,
    /// The position of z = 0: where the widths are equal, or in the middle of the stack.
    #[arg(
        long,
        default_value = "crossing",
        value_name = "WHERE",
        help_heading = "Fit",
        value_parser = choice([("crossing", Zero::Crossing), ("stage", Zero::Stage)])
    )]
    zero: Zero,
    /// The final factor for z, due to different refractive indices; 0.7 to 0.8 for an oil objective and a watery
    /// sample.
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR", help_heading = "Fit")]
    magnification: f64,
    /// Where to draw the widths against z, or with --spline the errors of x, y and z for 1000 photons: an .svg or .png file.
    #[arg(long, value_name = "CALIBRATION.svg|CALIBRATION.png", help_heading = "Output")]
    plot: Option<WrittenFile>,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    record: RecordArguments,
    #[command(flatten)]
    movie_options: MovieArguments,
    #[command(flatten)]
    camera_from: CameraFromArguments,
    #[command(flatten)]
    spot: SpotOptions,
    #[command(flatten)]
    fit: FitOptions,
}

pub(crate) fn run(arguments: &CalibrateArguments) -> Result<(), CliError> {
    arguments.report.check(&arguments.output)?;
    refuse_plot(arguments.plot.as_deref())?;
    if arguments.spline { arguments.measure_psf() } else { arguments.widths() }
}

impl CalibrateArguments {
    /// How the stacks were taken.
    fn taken(&self) -> Result<StackOptions, CliError> {
        let taken = StackOptions::default()
            .with_step(self.step)
            .with_order(self.order)
            .with_frames_per_step(self.frames_per_step)
            .with_pixel_size(self.pixel_size.unwrap_or_default())
            .with_magnification(self.magnification);
        taken.check()?;
        Ok(taken)
    }

    /// Side of the windows, if it is given.
    fn side(&self) -> Result<Option<usize>, CliError> {
        let size = asked_size(self.pixel_size)?;
        Ok(self.box_size.map(|length| side(length, size)).transpose()?)
    }

    fn widths(&self) -> Result<(), CliError> {
        let default = CalibrateOptions::default();
        let options = default.with_stack(self.taken()?);
        refuse_ending(&self.output, &["yaml", "yml"], "a calibration of widths")?;
        let options = options
            .with_box_size(self.side()?.unwrap_or(default.box_size))
            .with_range(self.range.as_deref().map(range).transpose()?)
            .with_zero(self.zero);
        let size = asked_size(self.pixel_size)?;
        let mut stacks = self.stacks()?;
        let known = self.camera(&mut stacks)?;
        let (camera, map) = (known.camera(), known.map()?);
        let fit = self.spot.apply(self.fit.options(size)?, self.fit.background, size)?;
        let fitter = self.fit.fitter(fit.with_camera(camera));
        let record = self.recorded((camera, map.as_deref()), &stacks)?;
        let done =
            calibrate::run(&options, &fitter, map.as_ref(), &mut stacks, &Terminal::default())?;
        let mut output = Output::create(&self.output)?;
        output.write_all(yaml_text(&done.calibration).as_bytes())?;
        let counts = counts([("beads", done.report.beads as usize), ("used", done.report.used)]);
        let plot = draw_plot(self.plot.as_deref(), || done.drawing())?;
        let files = std::iter::once(output).chain(plot).collect();
        complete(record.around(files, counts)?)?;
        self.report.tell(&done.report)
    }

    fn measure_psf(&self) -> Result<(), CliError> {
        let default = PsfOptions::default();
        let options = default.with_stack(self.taken()?);
        refuse_ending(&self.output, &["hdf5", "h5"], "a measured PSF")?;
        // Shape and estimator are those of the PSF.
        self.spot.refuse_gaussians()?;
        if self.spot.estimator.is_some() {
            return Err(CliError::file("--estimator", "a measured PSF is made by one of its own"));
        }
        self.fit.refuse_all("a measured PSF")?;
        let options = options
            .with_box_size(self.side()?.unwrap_or(default.box_size))
            .with_planes(self.planes.unwrap_or(default.planes))
            .with_threads(self.fit.fitter.threads);
        let mut stacks = self.stacks()?;
        let known = self.camera(&mut stacks)?;
        let (camera, map) = (known.camera(), known.map()?);
        let mut record = self.recorded((camera, map.as_deref()), &stacks)?;
        let listener = Terminal::default();
        let done =
            calibrate::run_psf(&options, camera.as_ref(), map.as_deref(), &mut stacks, &listener)?;
        let output = write_psf(&self.output, &done.psf, done.pixel_size)?;
        record.change(|record| record.pixel_size = done.pixel_size);
        let counts = counts([("beads", done.report.beads), ("used", done.report.used)]);
        let plot = draw_plot(self.plot.as_deref(), || done.drawing())?;
        let files = std::iter::once(output).chain(plot).collect();
        complete(record.around(files, counts)?)?;
        self.report.tell(&done.report)
    }

    /// What is to stand beside the calibration.
    fn recorded(
        &self,
        (camera, map): (Option<Camera>, Option<&CameraMap>),
        stacks: &[Stack],
    ) -> Result<Recorded, CliError> {
        let mut record = self.record.of(&self.output)?;
        for (path, stack) in self.stacks.iter().zip(stacks) {
            record.has_read(|| record::inputs(path, stack.files(), &[]))?;
        }
        if let Some(file) = self.camera_from.cameras.as_deref() {
            record.reads("cameras", file)?;
        }
        self.spot.recorded((camera, map), &mut record)?;
        Ok(record)
    }

    /// What is known of the camera.
    fn camera(&self, stacks: &mut [Stack]) -> Result<CameraOptions, CliError> {
        let camera = self.camera_from.with(self.spot.camera.clone());
        // All stacks are of one camera.
        let Some(first) = stacks.first_mut() else { return Ok(camera) };
        let scale = self.pixel_size.unwrap_or_default();
        Ok(of_movie(&camera, first, scale, &Terminal::default())?)
    }

    /// Opens the stacks, none of whose files may be written over, nor what is beside them.
    fn stacks(&self) -> Result<Vec<Stack>, CliError> {
        let options = self.movie_options.options()?;
        let mut maps = self.spot.camera_path().map(camera_maps::files).unwrap_or_default();
        maps.extend(self.camera_from.cameras.as_deref().map(Path::to_owned));
        let open = |path: &PathBuf| {
            let beside = ["yaml", "inf"].map(|extension| path.with_extension(extension));
            self.refuse([path].into_iter().chain(&beside).chain(&maps))?;
            let stack = Stack::open(path, &options)?;
            self.refuse(stack.files())?;
            Ok(stack)
        };
        self.stacks.iter().map(open).collect()
    }

    /// Refuses outputs that would replace an input.
    fn refuse<'a>(&self, inputs: impl IntoIterator<Item = &'a PathBuf>) -> Result<(), CliError> {
        let outputs = || [Some(&self.output), self.plot.as_ref()].into_iter().flatten();
        let refuse = |input| outputs().try_for_each(|output| refuse_same_file(input, output));
        inputs.into_iter().try_for_each(|input: &PathBuf| refuse(input))
    }
}

/// Two ends.
fn range(text: &str) -> Result<[f64; 2], CliError> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[low, high]) if low < high => Ok([low, high]),
        _ => Err(CliError::option("range", text, "A,B: two numbers, the first the smaller, in nm")),
    }
}
