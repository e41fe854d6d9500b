//! `spotfit stats`: what a table of localizations is like, as numbers and as a report with charts.

mod charts;
mod gather;
mod histogram;
mod page;
mod part;
mod spread;
mod values;

use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::CliError;
use crate::say::message::{print, say};
use crate::verbs::drift;
use crate::verbs::filter::parse;
use crate::words::locs::{LocsArguments, frames_of, refuse_same};
use crate::words::output::Output;
use crate::words::paths::{refuse_ending, refuse_same_file};
use gather::{Gathered, QUANTITIES, Quantity};
use histogram::Histogram;
use part::Part;
use spotfit::drift::Drift;
use spotfit::table::{Info, Kind, Unit, sidecar};
use spread::Spread;

#[derive(Debug, Args)]
pub(crate) struct StatsArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// Where to write the report, an .html file that needs no other; - for standard output.
    #[arg(short, long, value_name = "REPORT.html")]
    output: Option<PathBuf>,
    /// Describe the rows for which this holds beside all rows; a condition as that of `spotfit filter`.
    #[arg(long, value_name = "CONDITION")]
    filter: Option<String>,
    /// Draw the drift of this table, which `spotfit drift --table` wrote.
    #[arg(long, value_name = "DRIFT.csv", requires = "output")]
    drift: Option<PathBuf>,
    /// Leave out the precision from nearest neighbours (NeNA).
    #[arg(long)]
    no_nena: bool,
    /// Leave out the resolution by Fourier ring correlation.
    #[arg(long)]
    no_frc: bool,
    /// Print the numbers as one JSON object.
    #[arg(long)]
    json: bool,
}

/// All that is said about a table.
struct Report {
    file: String,
    /// The unit of x and y.
    unit: Unit,
    info: Info,
    /// The columns of the file.
    names: Vec<String>,
    rows: usize,
    /// Rows whose x or y is not finite; nothing else counts them.
    left_out: usize,
    /// The frames of the movie, if there is a column of frames.
    frames: Option<u32>,
    filter: Option<String>,
    /// All rows, and those that are kept if there is a filter.
    parts: Vec<Part>,
    described: Vec<Described>,
    drift: Option<Drift>,
}

/// A column.
struct Described {
    quantity: &'static Quantity,
    unit: Unit,
    /// For each part.
    spreads: Vec<Spread>,
    /// Where the values have a range.
    histogram: Option<Histogram>,
}

pub(crate) fn run(arguments: &StatsArguments) -> Result<(), CliError> {
    let StatsArguments { output, drift, .. } = arguments;
    refuse_same(&[output.as_deref(), drift.as_deref()])?;
    if let Some(output) = output {
        let table = arguments.locs.path();
        for input in [table, &sidecar(table)] {
            refuse_same_file(input, output)?;
        }
        refuse_ending(output, &["html", "htm"], "a report")?;
    }
    let page = output.as_deref().map(Output::create).transpose()?;
    let report = Report::of(arguments)?;
    let values = values::of(&report);
    let standard = Path::new("-");
    if let Some(mut page) = page {
        page.write_all(page::html(&report).as_bytes())?;
        page.finish()?;
    }
    if output.as_deref() == Some(standard) {
        return Ok(());
    }
    for value in &values {
        if let Err(reason) = &value.value {
            say!("spotfit: no {}: {reason}", value.name);
        }
    }
    let text = if arguments.json { values::json(&report, &values) } else { values::lines(&values) };
    print(&text)
}

impl Report {
    fn of(arguments: &StatsArguments) -> Result<Self, CliError> {
        let locs = arguments.locs.open()?;
        let layout = locs.layout()?;
        let unit = layout.length_unit().map_err(locs.wrong())?;
        let filter = arguments.filter.as_deref().map(|text| parse(text, &layout)).transpose()?;
        let drift = match &arguments.drift {
            Some(path) => Some(drift::read(path, unit, &layout.info)?),
            None => None,
        };
        let Gathered { mut table, frames, keep, left_out } = Gathered::of(&locs, filter.as_ref())?;
        let stated = part::stated(&table, keep.as_deref(), unit);
        let linked = part::is_linked(&table);
        let described = QUANTITIES.iter().filter_map(|quantity| {
            let column = table.remove(quantity.name)?;
            let whole = column.kind == Kind::Whole;
            Some(Described::of(quantity, column.unit, whole, column.values, keep.as_deref()))
        });
        let described = described.collect();
        crate::interrupt::check()?;
        let info = layout.info.clone();
        let count = frames.as_ref().map(|frames| frames_of(&info, frames));
        let frames_of_all = frames.as_deref();
        let mut parts = vec![Part::of(&table, frames_of_all, count, stated[0], linked, arguments)?];
        let rows = table.rows() + left_out;
        if let Some(keep) = keep {
            table.retain(&keep);
            let frames = frames.map(|frames| spread::kept(&frames, &keep));
            let frames = frames.as_deref();
            parts.push(Part::of(&table, frames, count, stated[1], linked, arguments)?);
        }
        Ok(Self {
            file: locs.name.clone(),
            unit,
            info,
            names: layout.columns().iter().map(|column| column.name.clone()).collect(),
            rows,
            left_out,
            frames: count,
            filter: filter.map(|filter| filter.text().to_owned()),
            parts,
            described,
            drift,
        })
    }

    /// A length in nanometres, if that is another unit and can be told.
    fn in_nanometres(&self, value: f64, unit: Unit) -> Option<f64> {
        let size = self.info.pixel_size.filter(|_| unit == Unit::Pixel)?;
        Some(value * size)
    }
}

impl Described {
    fn of(
        quantity: &'static Quantity,
        unit: Unit,
        whole: bool,
        mut values: Vec<f64>,
        keep: Option<&[bool]>,
    ) -> Self {
        let mut kept = keep.map(|keep| spread::kept(&values, keep));
        let mut spreads = vec![Spread::of(&mut values)];
        spreads.extend(kept.as_mut().map(Spread::of));
        let ends = spreads[0].quantiles.map(|quantiles| [quantiles[0], quantiles[4]]);
        let parts = std::iter::once(&values).chain(&kept);
        let histogram = ends.and_then(|ends| Histogram::of(ends, whole, parts));
        Self { quantity, unit, spreads, histogram }
    }
}

/// The symbol of a unit.
fn symbol(unit: Unit) -> &'static str {
    match unit {
        Unit::Pixel => "px",
        Unit::Nanometre => "nm",
        Unit::Photon => "photon",
        Unit::Radian => "rad",
        _ => "",
    }
}
