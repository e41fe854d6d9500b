//! `spotfit profile`: how many localizations lie along a line, and how wide what it crosses is.

use clap::Args;

use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::words::locs::{LocsArguments, write_plain};
use crate::words::output::complete;
use crate::words::paths::refuse_ending;
use crate::words::plot::draw_plot;
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::steps::profile::{self, ProfileOptions};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit profile locs.csv --line 1000,2000,1400,2000 --width 200\n  spotfit profile locs.csv --line 1um,2um,1.4um,2um --width 200nm -o profile.csv --plot profile.svg"
)]
pub(crate) struct ProfileArguments {
    #[command(flatten)]
    locs: LocsArguments,
    #[command(flatten)]
    options: ProfileOptions,
    /// Where to write the counts along the line, and the Gaussian that was fitted to them; - for standard output.
    #[arg(help_heading = "Output", short, long, value_name = "PROFILE.csv")]
    output: Option<WrittenFile>,
    /// Where to draw them.
    #[arg(help_heading = "Output", long, value_name = "PROFILE.svg")]
    plot: Option<WrittenFile>,
    #[command(flatten)]
    report: ReportArguments,
}

pub(crate) fn run(arguments: &ProfileArguments) -> Result<(), CliError> {
    let ProfileArguments { locs, output, plot, report, .. } = arguments;
    for (path, ending, what) in [(output, "csv", "a profile"), (plot, "svg", "a plot")] {
        let Some(path) = path else { continue };
        report.check(path)?;
        refuse_ending(path, &[ending], what)?;
    }
    let source = locs.source()?;
    let found = profile::run(&arguments.options, &source, &Terminal::default())?;
    let mut files = Vec::new();
    if let Some(path) = output {
        files.push(write_plain(path, &found.table())?);
    }
    files.extend(draw_plot(plot.as_deref(), || found.chart().drawing())?);
    complete(files)?;
    report.tell(&found)
}
