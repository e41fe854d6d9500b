//! `spotfit score`: how well the spots of a movie were found, beside the truth.

use std::path::PathBuf;

use clap::Args;

use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::words::locs::{LocsArguments, OriginChoice};
use crate::words::report::ReportArguments;
use spotfit::Length;
use spotfit::steps::score::{self, ScoreOptions};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit score locs.csv truth.csv --radius 200nm\n  spotfit score locs.hdf5 truth.csv --radius 2px --border 4px --json"
)]
pub(crate) struct ScoreArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// The spots that were there: a table as `spotfit simulate movie --truth` writes it, or any table with frame, x and y.
    #[arg(value_name = "TRUTH")]
    truth: PathBuf,
    /// How far a localization may be from its spot, in nanometres or with a unit, as in 2px.
    #[arg(long, default_value_t = ScoreOptions::default().radius, value_name = "LENGTH")]
    radius: Length,
    /// The same along z, where both tables have heights; twice --radius if not given.
    #[arg(long, value_name = "LENGTH")]
    radius_z: Option<Length>,
    /// Leave out spots nearer to the edge of the frame than this, and localizations there that are of no spot.
    #[arg(long, default_value_t = ScoreOptions::default().border, value_name = "LENGTH")]
    border: Length,
    /// Width of the frames in pixels, where --border needs it and no table says it.
    #[arg(help_heading = "Tables", long, value_name = "PX")]
    width: Option<usize>,
    /// Height of the frames in pixels.
    #[arg(help_heading = "Tables", long, value_name = "PX")]
    height: Option<usize>,
    /// Where (0, 0) is in the truth, if it is a table in nanometres or a CSV table: at the centre of the first pixel, or at its corner:
    /// see --origin.
    #[arg(help_heading = "Tables", long, value_enum, value_name = "ORIGIN")]
    truth_origin: Option<OriginChoice>,
    /// The number of the first frame in the truth: see --first-frame.
    #[arg(help_heading = "Tables", long, value_name = "0|1", value_parser = clap::value_parser!(u32).range(..=1))]
    truth_first_frame: Option<u32>,
    #[command(flatten)]
    report: ReportArguments,
}

pub(crate) fn run(arguments: &ScoreArguments) -> Result<(), CliError> {
    let localizations = arguments.locs.source()?;
    let truth = arguments.locs.truth(
        &arguments.truth,
        arguments.truth_origin,
        arguments.truth_first_frame,
    )?;
    let options = ScoreOptions::default()
        .with_radius(arguments.radius)
        .with_radius_z(arguments.radius_z)
        .with_border(arguments.border)
        .with_width(arguments.width)
        .with_height(arguments.height);
    let report = score::run(&options, &localizations, &truth, &Terminal::default())?;
    arguments.report.print(&report)
}
