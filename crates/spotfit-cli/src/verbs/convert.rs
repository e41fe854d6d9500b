//! `spotfit convert`: a table in another format or another unit, or several tables as one.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::error::CliError;
use crate::words::locs::{LocsArguments, LocsOutput};
use crate::words::output::Writing;
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::steps::convert::{self, ConvertOptions, LengthUnit};
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
    /// The unit of lengths in a CSV table: nm or px; that of LOCS if not given. Heights are in nanometres in either.
    #[arg(long, value_name = "nm|px")]
    unit: Option<LengthUnit>,
    /// The numbers of the frames of several tables: continue, as if their movies were one (a movie has as many frames as its
    /// table says, or else as the last localization tells), or keep, for tables of one movie [default: continue].
    #[arg(long, value_enum, value_name = "HOW")]
    frames: Option<FramesChoice>,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    overwrite: Writing,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FramesChoice {
    Continue,
    Keep,
}

impl From<FramesChoice> for Frames {
    fn from(choice: FramesChoice) -> Self {
        match choice {
            FramesChoice::Continue => Self::Continue,
            FramesChoice::Keep => Self::Keep,
        }
    }
}

pub(crate) fn run(arguments: &ConvertArguments) -> Result<(), CliError> {
    arguments.report.check(&arguments.output)?;
    if arguments.more.is_empty() {
        return one(arguments);
    }
    let sources = arguments.locs.sources_for(&arguments.more, &arguments.output)?;
    let output = LocsOutput::of_all(&sources, &arguments.output, arguments.overwrite)?;
    let frames = arguments.frames.map(Frames::from).unwrap_or_default();
    let options = JoinOptions::default().with_unit(arguments.unit).with_frames(frames);
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
    let options = ConvertOptions::default().with_unit(arguments.unit);
    let report =
        output.made(|output, listener| convert::run(&options, &source, output, listener))?;
    arguments.report.tell(&report)
}
