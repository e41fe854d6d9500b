//! `spotfit convert`: a table in another format or another unit, or several tables as one.

use std::path::PathBuf;

use clap::Args;

use crate::error::CliError;
use crate::words::locs::{LocsArguments, LocsOutput};
use crate::words::output::Writing;
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::arguments::choice;
use spotfit::steps::convert::{self, ConvertOptions};
use spotfit::steps::join::{self, Frames, JoinOptions};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit convert locs.csv -o locs.hdf5 --pixel-size 107\n  spotfit convert locs.csv -o pixels.csv --unit px --pixel-size 107\n  spotfit convert one.csv two.csv -o all.csv"
)]
pub(crate) struct ConvertArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// More tables with the same columns: all become one, in this order, with the unit and the origin of the first. A column
    /// `file` says which of them a localization is from, counted from 0; `id`, `molecule` and `group` go on counting.
    #[arg(value_name = "MORE")]
    more: Vec<PathBuf>,
    /// Where to write the table: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard output.
    #[arg(help_heading = "Output", short, long, value_name = "LOCS")]
    output: WrittenFile,
    #[command(flatten)]
    options: ConvertOptions,
    /// The numbers of the frames of several tables: continue, as if their movies were one (a movie has as many frames as its
    /// table says, or else as the last localization tells), or keep, for tables of one movie [default: continue].
    #[arg(long, value_parser = choice::<Frames>(), value_name = "HOW")]
    frames: Option<Frames>,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    overwrite: Writing,
}

pub(crate) fn run(arguments: &ConvertArguments) -> Result<(), CliError> {
    arguments.report.check(&arguments.output)?;
    if arguments.more.is_empty() {
        return one(arguments);
    }
    let sources = arguments.locs.sources_for(&arguments.more, &arguments.output)?;
    let output = LocsOutput::of_all(&sources, &arguments.output, arguments.overwrite)?;
    let frames = arguments.frames.unwrap_or_default();
    let options = JoinOptions::default().with_unit(arguments.options.unit).with_frames(frames);
    let report = output.made(|output, listener| join::run(&options, &sources, output, listener))?;
    arguments.report.tell(&report)
}

fn one(arguments: &ConvertArguments) -> Result<(), CliError> {
    if arguments.frames.is_some() {
        let reason =
            "--frames says how the frames of several tables are numbered, and there is one";
        return Err(CliError::Other(reason.into()));
    }
    let source = arguments.locs.source_for(&arguments.output)?;
    let output = LocsOutput::of(&source, &arguments.output, arguments.overwrite)?;
    let report = output
        .made(|output, listener| convert::run(&arguments.options, &source, output, listener))?;
    arguments.report.tell(&report)
}
