//! `spotfit drift`: finds drift and takes it out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::{CliError, step};
use crate::say::listener::Terminal;
use crate::words::locs::{LocsArguments, LocsOutput, plain, write_plain};
use crate::words::output::Writing;
use crate::words::paths::refuse_ending;
use crate::words::plot::{draw_plot, refuse_plot};
use crate::words::record::{RecordArguments, counts};
use crate::words::report::ReportArguments;
use crate::words::written::WrittenFile;
use spotfit::steps::drift::{self, Beads, DriftOptions};
use spotfit::table::TableFormat;

#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  spotfit drift locs.csv -o straight.csv --table drift.csv --plot drift.svg\n  spotfit drift locs.hdf5 -o straight.hdf5 --beads auto --bead-radius 100nm"
)]
pub(crate) struct DriftArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// Where to write the localizations without the drift: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard
    /// output.
    #[arg(short, long, value_name = "LOCS", help_heading = "Output")]
    output: WrittenFile,
    /// Where to write the drift: a CSV file frame,x,y (and z), from frame 1, in the unit of the table; what was subtracted.
    /// x_error, y_error (and z_error) are its standard errors, as far as they are known.
    #[arg(long, value_name = "DRIFT.csv", help_heading = "Output")]
    table: Option<WrittenFile>,
    /// Where to draw the drift, with a band of one standard error to either side: an .svg or .png file.
    #[arg(long, value_name = "DRIFT.svg|DRIFT.png", help_heading = "Output")]
    plot: Option<WrittenFile>,
    /// Take out the drift of this table, which --table wrote, instead of looking for it.
    #[arg(long, value_name = "DRIFT.csv", conflicts_with_all = ["beads", "segment", "knots", "range", "anyway"])]
    apply: Option<PathBuf>,
    /// Follow beads: auto finds the spots that are in four of five frames; or a CSV file with their x and y, in the unit of the
    /// table.
    #[arg(long, value_name = "auto|BEADS.csv", conflicts_with_all = ["segment", "knots", "range", "anyway"])]
    beads: Option<String>,
    #[command(flatten)]
    options: DriftOptions,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    overwrite: Writing,
}

pub(crate) fn run(arguments: &DriftArguments) -> Result<(), CliError> {
    let (table, plot) = (arguments.table.as_deref(), arguments.plot.as_deref());
    table.map_or(Ok(()), |table| refuse_ending(table, &["csv"], "a table of drift"))?;
    refuse_plot(plot)?;
    for output in [Some(&*arguments.output), table, plot].into_iter().flatten() {
        arguments.report.check(output)?;
    }
    let source = arguments.locs.source_for(&arguments.output)?;
    let beads = arguments.beads.as_deref().filter(|beads| *beads != "auto").map(Path::new);
    let mut output = LocsOutput::of(&source, &arguments.output, arguments.overwrite)?;
    let beside = |path| RecordArguments::from(arguments.overwrite).of(path);
    let mut of_drift = table.map(beside).transpose()?;
    arguments.read(&mut |role, file| output.reads(role, file))?;
    if let Some(record) = &mut of_drift {
        arguments.read(&mut |role, file| record.reads(role, file))?;
    }
    if let (Some(record), Some(path)) = (&mut of_drift, source.path()) {
        TableFormat::files(path).iter().try_for_each(|file| record.reads("table", file))?;
    }
    let apply = arguments.apply.as_deref().map(plain).transpose()?;
    let beads = match (beads, &arguments.beads) {
        (Some(path), _) => Some(Beads::At(drift::places(&plain(path)?, &source)?)),
        (None, given) => given.as_ref().map(|_| Beads::Auto),
    };
    let options = arguments.options.clone().with_beads(beads);
    let listener = Terminal::default();
    let found = drift::run(&options, &source, apply.as_ref(), &mut output, &listener);
    let found = found.map_err(step(output.name()))?;
    let mut files = Vec::new();
    if let (Some(path), Some(mut record)) = (table, of_drift) {
        let (table, frames) = (found.table(), found.report.frames);
        record.change(|record| record.pixel_size = table.info.pixel_size);
        files
            .extend(record.around(vec![write_plain(path, &table)?], counts([("frames", frames)]))?);
    }
    files.extend(draw_plot(plot, || found.drawing())?);
    output.finish(files, BTreeMap::new())?;
    arguments.report.tell(&found.report)
}

impl DriftArguments {
    /// Visits the files that are read besides the table.
    fn read(
        &self,
        visit: &mut dyn FnMut(&str, &Path) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        let beads = self.beads.as_deref().filter(|beads| *beads != "auto").map(Path::new);
        for (role, file) in [("apply", self.apply.as_deref()), ("beads", beads)] {
            file.map_or(Ok(()), |file| visit(role, file))?;
        }
        Ok(())
    }
}
