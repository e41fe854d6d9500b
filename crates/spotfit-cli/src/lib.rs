//! The command `spotfit`: reads arguments and files, calls the library, writes files.
//!
//! It is a library so that the program, and the program that the tests start, compile it once. It promises nothing but [`main`].
#![deny(unsafe_code)]

mod error;
mod interrupt;
mod say;
mod verbs;
#[cfg(feature = "view")]
mod view;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use error::CliError;
use say::message::say;
use verbs::{
    batch, calibrate, camera, convert, curve, demo, devices, drift, filter, fit, info, link,
    localize, model, options, pick, preview, profile, psf, render, score, simulate, stats, track,
    z,
};
use words::options::as_typed;
use words::preset::with_preset;
use words::written::check;

/// Finds the centre, width and brightness of spots of light in camera images.
#[derive(Debug, Parser)]
#[command(name = "spotfit", bin_name = "spotfit", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fit every window of a stack: windows in, positions out.
    Fit(Box<fit::FitArguments>),
    /// Localize the spots of a movie: frames in, a table of localizations out.
    Localize(Box<localize::LocalizeArguments>),
    /// Look before you localize: what would be kept of a frame, what dropped and why, as a picture.
    Preview(Box<preview::PreviewArguments>),
    /// Localize the spots of many movies, from a list: a table for each. Finished movies are skipped.
    Batch(Box<batch::BatchArguments>),
    /// Calibrate with z stacks of beads: the widths of spots as functions of z, or the PSF.
    Calibrate(Box<calibrate::CalibrateArguments>),
    /// Learn the PSF of a movie from its own spots, without beads, for `spotfit localize --psf`.
    Psf(Box<psf::PsfArguments>),
    /// Measure a camera: offset, noise and gain of each pixel, from dark frames and frames of even light.
    Camera(camera::CameraArguments),
    /// Find the height of localizations from their two widths.
    Z(z::ZArguments),
    /// Keep the localizations for which a condition holds.
    Filter(filter::FilterArguments),
    /// Describe a table of localizations: numbers, precision, resolution, and a report with charts.
    Stats(stats::StatsArguments),
    /// Write a table of localizations in another format.
    Convert(convert::ConvertArguments),
    /// Compare a table of localizations with the truth: Jaccard index, recall, precision, errors, efficiency.
    Score(score::ScoreArguments),
    /// Join localizations of one molecule in successive frames.
    Link(link::LinkArguments),
    /// Find drift and take it out of the localizations.
    Drift(Box<drift::DriftArguments>),
    /// Follow the drift of a stage while its camera runs: frames in, the drift of each within microseconds.
    Track(Box<track::TrackArguments>),
    /// Look at what lies in parts of a table: circles, boxes, polygons.
    Pick(pick::PickArguments),
    /// Count localizations along a line, and find how wide what it crosses is.
    Profile(profile::ProfileArguments),
    /// Make the super-resolved picture from a table of localizations.
    Render(render::RenderArguments),
    /// Look at a movie and at tables in the browser: preview, localize, filter, measure.
    #[cfg(feature = "view")]
    View(verbs::view::ViewArguments),
    /// Simulate windows of spots, a movie or a stack of beads, with their truth.
    Simulate(Box<simulate::SimulateArguments>),
    /// Fit any model to curves: data sets in, parameters with errors out.
    Curve(Box<curve::CurveArguments>),
    /// Say what a table, movie, calibration or record is, and how it was made.
    Info(info::InfoArguments),
    /// List models and functions, or show what becomes of a formula.
    Model(model::ModelArguments),
    /// List the processor's instruction sets and the GPUs, and measure how fast they are.
    Devices(devices::DevicesArguments),
    /// Simulate, fit and compare with the papers: a first look at everything.
    Demo(demo::DemoArguments),
    /// The words of all verbs as JSON.
    #[command(hide = true)]
    Options,
}

/// The command, whose help names options as they are typed.
fn all_verbs() -> clap::Command {
    as_typed(Arguments::command())
}

/// What words mean. Only help and errors need all help as it is typed, which takes longer than most of the rest of a start.
fn understood(words: Vec<OsString>) -> Result<ArgMatches, clap::Error> {
    let plain = Arguments::command().try_get_matches_from(&words);
    plain.or_else(|_| all_verbs().try_get_matches_from(words))
}

/// Runs the command with the words of this process, and gives the status to exit with.
pub fn main() -> ExitCode {
    interrupt::end_at_faults();
    let words = with_preset(std::env::args_os().collect());
    let parsed = words.map(|words| understood(words).unwrap_or_else(|error| error.exit()));
    interrupt::watch();
    match parsed.and_then(|matches| run_checked(&matches)) {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output has closed it, which is not an error.
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            say!("spotfit: {error}");
            let interrupted = matches!(error, CliError::Interrupted);
            ExitCode::from(if interrupted { interrupt::STATUS } else { 1 })
        }
    }
}

fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::Fit(arguments) => fit::run(&arguments),
        Command::Localize(arguments) => localize::run(&arguments),
        Command::Preview(arguments) => preview::run(&arguments),
        Command::Batch(arguments) => batch::run(&arguments),
        Command::Calibrate(arguments) => calibrate::run(&arguments),
        Command::Psf(arguments) => psf::run(&arguments),
        Command::Camera(arguments) => camera::run(&arguments),
        Command::Z(arguments) => z::run(&arguments),
        Command::Filter(arguments) => filter::run(&arguments),
        Command::Stats(arguments) => stats::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Score(arguments) => score::run(&arguments),
        Command::Link(arguments) => link::run(&arguments),
        Command::Drift(arguments) => drift::run(&arguments),
        Command::Track(arguments) => track::run(&arguments),
        Command::Pick(arguments) => pick::run(&arguments),
        Command::Profile(arguments) => profile::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        #[cfg(feature = "view")]
        Command::View(arguments) => verbs::view::run(&arguments, all_verbs, run_typed),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Curve(arguments) => curve::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Model(arguments) => model::run(&arguments),
        Command::Devices(arguments) => devices::run(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Options => options::run(all_verbs()),
    }
}

/// Runs a command that is given as it would be typed, without the word `spotfit`.
fn run_typed(words: &[OsString]) -> Result<(), CliError> {
    let name = OsString::from("spotfit");
    let typed = std::iter::once(&name).chain(words).cloned().collect();
    let matches = understood(with_preset(typed)?);
    run_checked(&matches.map_err(|error| CliError::Other(error.to_string()))?)
}

/// Runs a command whose words were understood, unless what it would write is refused.
fn run_checked(matches: &ArgMatches) -> Result<(), CliError> {
    check(&Arguments::command(), matches)?;
    let arguments = Arguments::from_arg_matches(matches);
    run(arguments.map_err(|error| CliError::Other(error.to_string()))?.command)
}
