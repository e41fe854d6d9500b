//! `spotfit drift`: finds drift and takes it out.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use super::error::CliError;
use super::link::usual;
use super::locs::{
    Locs, LocsArguments, LocsOutput, frames_of, length, refuse_replacing, refuse_same,
};
use super::message::say;
use super::output::Output;
use super::paths::refuse_same_file;
use super::plot::{Axis, Chart, Series};
use spotfit::drift::{BeadOptions, Drift, DriftOptions, Positions, beads_at, find_beads};
use spotfit::table::{Column, CsvReader, CsvWriter, Info, Kind, Table, Unit};

#[derive(Debug, Args)]
pub(crate) struct DriftArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// Where to write the localizations without the drift: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard
    /// output.
    #[arg(short, long, value_name = "LOCS")]
    output: PathBuf,
    /// Where to write the drift: a CSV file frame,x,y (and z), from frame 1, in the unit of the table; what was subtracted.
    #[arg(long, value_name = "DRIFT.csv")]
    table: Option<PathBuf>,
    /// Where to draw the drift.
    #[arg(long, value_name = "DRIFT.svg")]
    plot: Option<PathBuf>,
    /// Take out the drift of this table, which --table wrote, instead of looking for it.
    #[arg(long, value_name = "DRIFT.csv", conflicts_with_all = ["beads", "segment", "knots", "range"])]
    apply: Option<PathBuf>,
    /// Follow beads: auto finds the spots that are in four of five frames; or a CSV file with their x and y, in the unit of the
    /// table.
    #[arg(long, value_name = "auto|BEADS.csv", conflicts_with_all = ["segment", "knots", "range"])]
    beads: Option<String>,
    /// How far a bead may move from frame to frame, in the unit of the table; ten times the median uncertainty if not
    /// given.
    #[arg(long, value_name = "LENGTH", requires = "beads")]
    bead_radius: Option<f64>,
    /// Frames of a segment of the first comparison, of which there are 2 to 30; chosen by the number of localizations if not
    /// given.
    #[arg(long, value_name = "FRAMES", value_parser = clap::value_parser!(u32).range(1..))]
    segment: Option<u32>,
    /// Frames between two knots of the curve, which has 4 to 150 intervals; chosen by the number of localizations if not given.
    #[arg(long, value_name = "FRAMES", value_parser = clap::value_parser!(u32).range(1..))]
    knots: Option<u32>,
    /// The largest drift between two segments that is looked for, in the unit of the table; a hundred times the median
    /// uncertainty if not given.
    #[arg(long, value_name = "LENGTH")]
    range: Option<f64>,
}

pub(crate) fn run(arguments: &DriftArguments) -> Result<(), CliError> {
    let locs = arguments.locs.open()?;
    let (table, plot) = (arguments.table.as_deref(), arguments.plot.as_deref());
    refuse_same(&[Some(&arguments.output), table, plot])?;
    let beads = arguments.beads.as_deref().filter(|beads| *beads != "auto").map(Path::new);
    for input in [arguments.apply.as_deref(), beads].into_iter().flatten() {
        refuse_replacing(input, &arguments.output)?;
        [table, plot]
            .into_iter()
            .flatten()
            .try_for_each(|output| refuse_same_file(input, output))?;
    }
    for output in [table, plot].into_iter().flatten() {
        locs.files().iter().try_for_each(|input| refuse_same_file(input, output))?;
    }
    let output = locs.output(&arguments.output)?;
    let needed =
        ["frame", "x", "y", "z", "uncertainty", "uncertainty_x", "uncertainty_y", "uncertainty_z"];
    let mut all = locs.load(Some(&needed))?;
    let unit = all.length_unit().map_err(locs.wrong())?;
    let found = match &arguments.apply {
        Some(path) => read(path, unit, &all.info)?,
        None => find(arguments, &locs, &all, unit)?,
    };
    let info = std::mem::take(&mut all.info);
    drop(all);
    correct(&locs, output, &found, arguments, unit, &info)
}

/// Looks for the drift.
fn find(
    arguments: &DriftArguments,
    locs: &Locs,
    all: &Table,
    unit: Unit,
) -> Result<Drift, CliError> {
    let frames = all.frames().map_err(locs.wrong())?;
    let count = frames_of(&all.info, &frames);
    let positions = Positions {
        frames: &frames,
        x: all.values("x").map_err(locs.wrong())?,
        y: all.values("y").map_err(locs.wrong())?,
        // A table of spots without height may have the column.
        z: all.values("z").ok().filter(|z| z.iter().any(|z| z.is_finite())),
    };
    let known = usual(all, "uncertainty", unit);
    // Without uncertainties: those of ordinary single-molecule images.
    let precision = known.unwrap_or(if unit == Unit::Nanometre { 15.0 } else { 0.15 });
    if let Some(beads) = &arguments.beads {
        let radius = arguments.bead_radius.unwrap_or(10.0 * precision);
        let options = BeadOptions::new(radius);
        let beads = match beads.as_str() {
            "auto" => find_beads(&positions, count, &options),
            path => {
                beads_at(&positions, count, &places(Path::new(path), unit, &all.info)?, &options)
            }
        };
        let beads = beads.map_err(locs.wrong())?;
        let errors = all.lengths("uncertainty", unit).ok();
        let drift = Drift::from_beads(&positions, &beads, errors.as_deref(), count);
        let mean =
            beads.iter().map(|bead| bead.rows.len()).sum::<usize>() as f64 / beads.len() as f64;
        say!(
            "{} beads, seen in {:.0} % of {count} frames on average",
            beads.len(),
            100.0 * mean / f64::from(count)
        );
        return drift.map_err(locs.wrong());
    }
    let precision_z = usual(all, "uncertainty_z", Unit::Nanometre);
    let in_nanometres = match unit {
        Unit::Nanometre => precision,
        _ => precision * all.info.pixel_size.unwrap_or(100.0),
    };
    let mut options = DriftOptions::new(precision, precision_z.unwrap_or(3.0 * in_nanometres))
        .with_segment(arguments.segment)
        .with_knots(arguments.knots);
    if let Some(range) = arguments.range {
        options = options.with_range(range);
    }
    if known.is_none() {
        say!(
            "spotfit: warning: the table has no uncertainties; {} are assumed",
            length(precision, unit)
        );
    }
    Drift::estimate(&positions, count, &options).map_err(locs.wrong())
}

/// Writes the localizations without the drift, the drift, and its picture.
fn correct(
    locs: &Locs,
    mut output: LocsOutput,
    drift: &Drift,
    arguments: &DriftArguments,
    unit: Unit,
    info: &Info,
) -> Result<(), CliError> {
    locs.blocks(None, |mut block| {
        let frames = block.frames().map_err(locs.wrong())?;
        for (name, of) in [("x", &drift.x), ("y", &drift.y), ("z", &drift.z)] {
            let Some(column) = block.column(name).filter(|_| !of.is_empty()) else { continue };
            let mut values = column.values.clone();
            Drift::correct(of, &frames, &mut values);
            let decimals = if column.unit == Unit::Nanometre { 4 } else { 6 };
            block.set(Column::new(name, column.unit, Kind::Rounded(decimals), values));
        }
        output.write(block)
    })?;
    let rows = output.rows;
    let mut others = Vec::new();
    if let Some(path) = &arguments.table {
        let mut table = Output::create(path)?;
        let name = table.name().to_owned();
        let mut writer = CsvWriter::new(&mut table);
        let written =
            writer.write(&as_table(drift, unit, info)).and_then(|()| writer.finish().map(drop));
        written.map_err(CliError::write(&name))?;
        others.push(table);
    }
    if let Some(path) = &arguments.plot {
        let mut picture = Output::create(path)?;
        picture.write_all(draw(drift, unit).as_bytes())?;
        others.push(picture);
    }
    output.finish_with(others)?;
    let most = |of: &[f64]| {
        let (low, high) = of
            .iter()
            .fold((f64::MAX, f64::MIN), |(low, high), &value| (low.min(value), high.max(value)));
        high - low
    };
    let mut text = format!(
        "drift over {} frames: {} in x, {} in y",
        drift.frames(),
        length(most(&drift.x), unit),
        length(most(&drift.y), unit)
    );
    if !drift.z.is_empty() {
        let written = write!(text, ", {} in z", length(most(&drift.z), Unit::Nanometre));
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    say!("{text}; {rows} localizations corrected");
    Ok(())
}

/// The drift as a table.
fn as_table(drift: &Drift, unit: Unit, info: &Info) -> Table {
    let decimals = Kind::Rounded(if unit == Unit::Nanometre { 4 } else { 6 });
    let mut table = Table::new(info.clone());
    let frames = (0..drift.frames()).map(|frame| frame as f64).collect();
    table.set(Column::new("frame", Unit::None, Kind::Whole, frames));
    table.set(Column::new("x", unit, decimals.clone(), drift.x.clone()));
    table.set(Column::new("y", unit, decimals, drift.y.clone()));
    if !drift.z.is_empty() {
        table.set(Column::new("z", Unit::Nanometre, Kind::Rounded(4), drift.z.clone()));
    }
    table
}

/// Reads a drift, in the given unit.
pub(crate) fn read(path: &Path, unit: Unit, info: &Info) -> Result<Drift, CliError> {
    let name = path.display().to_string();
    let wrong = |error: spotfit::table::TableError| CliError::file(&name, error.to_string());
    let (input, _) = super::input::Input::open(path)?;
    let reader = CsvReader::new(input).map_err(wrong)?.with_info(|own| *own = info.clone());
    let table = { reader }.read_all(1 << 24).map_err(wrong)?;
    let frames = table.frames().map_err(wrong)?;
    if !frames.iter().copied().eq(0..frames.len() as u32) || frames.is_empty() {
        let reason = "a drift has a row for each frame, in their order, from the first";
        return Err(CliError::file(&name, reason));
    }
    let finite = |values: &[f64]| match values.iter().position(|value| !value.is_finite()) {
        Some(row) => Err(CliError::file(&name, format!("row {}: a number is not finite", row + 1))),
        None => Ok(values.to_vec()),
    };
    Ok(Drift {
        x: finite(&table.lengths("x", unit).map_err(wrong)?)?,
        y: finite(&table.lengths("y", unit).map_err(wrong)?)?,
        z: table.values("z").map_or(Ok(Vec::new()), finite)?,
    })
}

/// The places of beads.
fn places(path: &Path, unit: Unit, info: &Info) -> Result<Vec<[f64; 2]>, CliError> {
    let beads = Locs::open(path, info.pixel_size, false)?.load(Some(&["x", "y"]))?;
    let name = path.display().to_string();
    let wrong = |error: spotfit::table::TableError| CliError::file(&name, error.to_string());
    let (x, y) =
        (beads.lengths("x", unit).map_err(wrong)?, beads.lengths("y", unit).map_err(wrong)?);
    Ok(x.iter().zip(y.iter()).map(|(&x, &y)| [x, y]).collect())
}

/// The drift as a picture.
pub(crate) fn draw(drift: &Drift, unit: Unit) -> String {
    let symbol = if unit == Unit::Nanometre { "nm" } else { "px" };
    let points = |of: &[f64]| -> Vec<(f64, f64)> {
        let step = of.len().div_ceil(2000).max(1);
        of.iter()
            .enumerate()
            .step_by(step)
            .map(|(frame, &value)| (frame as f64 + 1.0, value))
            .collect()
    };
    let mut series = vec![Series::line("x", points(&drift.x)), Series::line("y", points(&drift.y))];
    if !drift.z.is_empty() {
        series.push(Series::line("z (nm)", points(&drift.z)));
    }
    Chart::new("Drift", Axis::new("frame"), Axis::new(&format!("drift ({symbol})")), series).svg()
}
