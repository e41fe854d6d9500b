//! `spotfit link`: localizations of one molecule in successive frames become one.

use clap::Args;

use crate::error::CliError;
use crate::words::locs::{LocsArguments, LocsOutput};
use crate::words::output::Writing;
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::Length;
use spotfit::steps::link::{self, LinkOptions};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit link locs.csv -o molecules.csv\n  spotfit link locs.hdf5 -o labelled.hdf5 --radius 50nm --gap 3 --label"
)]
pub(crate) struct LinkArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// Where to write the molecules: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard output.
    #[arg(short, long, value_name = "LOCS", help_heading = "Output")]
    output: WrittenFile,
    /// How far a localization may be from the mean of those before it, in nanometres or with a unit, as in 0.5px. If not given: four
    /// times the uncertainty, as the root mean square of its own and theirs.
    #[arg(long, value_name = "LENGTH")]
    radius: Option<Length>,
    /// The same along z. If not given: four times the uncertainty of z, or without that three times --radius.
    #[arg(long, value_name = "LENGTH")]
    radius_z: Option<Length>,
    /// For how many frames a molecule may be dark and still be the same.
    #[arg(long, default_value_t = LinkOptions::default().gap, value_name = "FRAMES")]
    gap: u32,
    /// Keep all localizations, and only add the column molecule.
    #[arg(long)]
    label: bool,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    overwrite: Writing,
}

pub(crate) fn run(arguments: &LinkArguments) -> Result<(), CliError> {
    arguments.report.check(&arguments.output)?;
    let source = arguments.locs.source_for(&arguments.output)?;
    let output = LocsOutput::of(&source, &arguments.output, arguments.overwrite)?;
    let options = LinkOptions::default()
        .with_radius(arguments.radius)
        .with_radius_z(arguments.radius_z)
        .with_gap(arguments.gap)
        .with_label(arguments.label);
    let report = output.made(|output, listener| link::run(&options, &source, output, listener))?;
    arguments.report.tell(&report)
}
