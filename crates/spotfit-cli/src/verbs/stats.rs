//! `spotfit stats`: what a table of localizations is like, as numbers and as a report with charts.

use std::path::PathBuf;

use clap::Args;

use crate::error::CliError;
use crate::say::listener::Terminal;
use crate::say::message::{print, say};
use crate::words::locs::{LocsArguments, plain};
use crate::words::output::Output;
use crate::words::paths::{is_standard_output, refuse_ending};
use crate::words::plot::write_drawing;
use crate::words::report::json;
use crate::words::written::WrittenFile;
use spotfit::report::figure::FigureFormat;
use spotfit::steps::stats::{self, StatsOptions};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit stats locs.csv -o report.html\n  spotfit stats locs.csv --filter 'photons > 500' --json"
)]
pub(crate) struct StatsArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// Where to write the report, an .html file that needs no other, or its charts alone, an .svg or .png file; - for HTML on standard
    /// output.
    #[arg(short, long, value_name = "REPORT.html|CHARTS.svg|CHARTS.png", help_heading = "Output")]
    output: Option<WrittenFile>,
    /// Draw the drift of this table, which `spotfit drift --table` wrote.
    #[arg(long, value_name = "DRIFT.csv", requires = "output")]
    drift: Option<PathBuf>,
    #[command(flatten)]
    options: StatsOptions,
    /// Print the numbers as one JSON object.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

pub(crate) fn run(arguments: &StatsArguments) -> Result<(), CliError> {
    let StatsArguments { output, drift, .. } = arguments;
    if let Some(output) = output {
        let endings = [&["html", "htm"], FigureFormat::ENDINGS].concat();
        refuse_ending(output, &endings, "a report")?;
        if arguments.json && is_standard_output(output) {
            let reason = "--json prints the numbers on standard output; write the report to a file";
            return Err(CliError::Other(reason.to_owned()));
        }
    }
    let page = output.as_deref().map(Output::create).transpose()?;
    let source = arguments.locs.source()?;
    let drift = drift.as_deref().map(plain).transpose()?;
    let options = arguments.options.clone().with_page(output.is_some());
    let report = stats::run(&options, &source, drift.as_ref(), &Terminal::default())?;
    if let (Some(mut page), Some(path)) = (page, output) {
        match FigureFormat::of(path) {
            Some(format) => write_drawing(&mut page, path, &report.drawing(), format)?,
            None => page.write_all(report.html().as_bytes())?,
        }
        page.finish()?;
    }
    if output.as_deref().is_some_and(is_standard_output) {
        return Ok(());
    }
    for number in report.numbers().iter().filter(|number| number.value.is_err()) {
        say!("spotfit: {number}");
    }
    let text = match arguments.json {
        true => format!("{}\n", json(&report.as_numbers())?),
        false => report.to_string(),
    };
    print(&text)
}
