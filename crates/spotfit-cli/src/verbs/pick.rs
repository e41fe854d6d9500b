//! `spotfit pick`: what lies in parts of a table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::{CliError, step};
use crate::say::listener::Terminal;
use crate::words::locs::{LocsArguments, LocsOutput, write_plain};
use crate::words::output::Writing;
use crate::words::paths::{is_standard_output, refuse_ending};
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::steps::Sink;
use spotfit::steps::pick::{self, Pick, PickOptions};

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit pick locs.csv --circle 2100,3300,80 --box 0,0,1um,1um -o picks.csv\n  spotfit pick locs.csv --picks cells.txt --locs inside.csv --json"
)]
pub(crate) struct PickArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// A pick: centre and radius, in the unit of the table or with a unit, as in 2um,3um,80nm. Several may be given.
    #[arg(long, value_name = "X,Y,R", value_parser = shape::<Circle>, allow_hyphen_values = true)]
    circle: Vec<Pick>,
    /// A pick: left, top, right and bottom edge. Several may be given.
    #[arg(long = "box", value_name = "X0,Y0,X1,Y1", value_parser = shape::<Rectangle>, allow_hyphen_values = true)]
    boxes: Vec<Pick>,
    /// A pick: the corners of a polygon. Several may be given.
    #[arg(long, value_name = "X,Y,X,Y,…", value_parser = shape::<Polygon>, allow_hyphen_values = true)]
    polygon: Vec<Pick>,
    /// A file with picks, one in a line: circle:X,Y,R or box:X0,Y0,X1,Y1 or polygon:X,Y,X,Y,…; lines that begin with # do not count. They
    /// come before those above.
    #[arg(long, value_name = "PICKS.txt")]
    picks: Option<PathBuf>,
    #[command(flatten)]
    options: PickOptions,
    /// Where to write a row for each pick: how many localizations it has, their photons, mean and standard deviation of x, y and z, frames,
    /// and the rectangle around them; - for standard output. `spotfit drift --beads` takes it.
    #[arg(help_heading = "Output", short, long, value_name = "PICKS.csv")]
    output: Option<WrittenFile>,
    /// Where to write the localizations that lie in a pick, with its number, from 0, in the column group.
    #[arg(help_heading = "Output", long = "locs", value_name = "LOCS")]
    inside: Option<WrittenFile>,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    overwrite: Writing,
}

/// A kind of pick, as its text begins.
trait Kind {
    const NAME: &str;
}
struct Circle;
struct Rectangle;
struct Polygon;
impl Kind for Circle {
    const NAME: &str = "circle";
}
impl Kind for Rectangle {
    const NAME: &str = "box";
}
impl Kind for Polygon {
    const NAME: &str = "polygon";
}

fn shape<K: Kind>(numbers: &str) -> Result<Pick, String> {
    format!("{}:{numbers}", K::NAME).parse().map_err(|error: pick::PickError| error.to_string())
}

/// The picks of a file.
fn read(path: &Path) -> Result<Vec<Pick>, CliError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|error| CliError::file(&name, error.to_string()))?;
    let lines = text.lines().zip(1..).filter(|(line, _)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let parsed = lines.map(|(line, number)| {
        line.parse().map_err(|error| CliError::file(&name, format!("line {number}: {error}")))
    });
    parsed.collect()
}

pub(crate) fn run(arguments: &PickArguments) -> Result<(), CliError> {
    let PickArguments { locs, output, inside, report, overwrite, .. } = arguments;
    let outputs = [output.as_deref(), inside.as_deref()];
    for path in outputs.into_iter().flatten() {
        report.check(path)?;
    }
    if let Some(output) = output {
        refuse_ending(output, &["csv"], "a table of picks")?;
    }
    let mut picks = arguments.picks.as_deref().map(read).transpose()?.unwrap_or_default();
    for more in [&arguments.circle, &arguments.boxes, &arguments.polygon] {
        picks.extend(more.iter().cloned());
    }
    let options = arguments.options.clone().with_picks(picks);
    let source = match inside {
        Some(inside) => locs.source_for(inside)?,
        None => locs.source()?,
    };
    let mut table =
        inside.as_deref().map(|path| LocsOutput::of(&source, path, *overwrite)).transpose()?;
    let sink = table.as_mut().map(|table| table as &mut dyn Sink);
    let found = pick::run(&options, &source, sink, &Terminal::default());
    let name = inside.as_deref().unwrap_or(Path::new("")).display().to_string();
    let found = found.map_err(step(&name))?;
    let written = output.as_deref().map(|path| write_plain(path, &found.table())).transpose()?;
    match (table, written) {
        (Some(table), written) => table.finish(written.into_iter().collect(), BTreeMap::new())?,
        (None, Some(written)) => written.finish()?,
        (None, None) => {}
    }
    if output.as_deref().is_some_and(is_standard_output) {
        return Ok(());
    }
    report.tell(&found)
}
