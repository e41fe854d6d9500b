//! `spotfit drift`: finds drift and takes it out.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::error::CliError;
use crate::say::message::say;
use crate::say::plot::{Axis, Chart, Series};
use crate::words::locs::usual;
use crate::words::locs::{
    Locs, LocsArguments, LocsOutput, frames_of, length, refuse_replacing, refuse_same,
};
use crate::words::output::{Output, Overwrite};
use crate::words::paths::{refuse_ending, refuse_same_file};
use spotfit::drift::{
    BeadOptions, Drift, DriftError, DriftOptions, Positions, beads_at, find_beads,
};
use spotfit::table::{Column, CsvReader, CsvWriter, Info, Kind, Table, TableError, Unit};

/// Drift is looked for up to so many nanometres at least, however small the uncertainties are: a stage does not know them.
const LEAST_RANGE: f64 = 500.0;
/// The side of a pixel in nanometres where it is not known.
const USUAL_PIXEL: f64 = 100.0;

#[derive(Debug, Args)]
pub(crate) struct DriftArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// Where to write the localizations without the drift: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard
    /// output.
    #[arg(short, long, value_name = "LOCS")]
    output: PathBuf,
    /// Where to write the drift: a CSV file frame,x,y (and z), from frame 1, in the unit of the table; what was subtracted.
    /// x_error, y_error (and z_error) are its standard errors, as far as they are known.
    #[arg(long, value_name = "DRIFT.csv")]
    table: Option<PathBuf>,
    /// Where to draw the drift, with a band of one standard error to either side.
    #[arg(long, value_name = "DRIFT.svg")]
    plot: Option<PathBuf>,
    /// Take out the drift of this table, which --table wrote, instead of looking for it.
    #[arg(long, value_name = "DRIFT.csv", conflicts_with_all = ["beads", "segment", "knots", "range", "anyway"])]
    apply: Option<PathBuf>,
    /// Follow beads: auto finds the spots that are in four of five frames; or a CSV file with their x and y, in the unit of the
    /// table.
    #[arg(long, value_name = "auto|BEADS.csv", conflicts_with_all = ["segment", "knots", "range", "anyway"])]
    beads: Option<String>,
    /// How far a bead may move from frame to frame, in the unit of the table; ten times the median uncertainty if not
    /// given.
    #[arg(long, value_name = "LENGTH", requires = "beads")]
    bead_radius: Option<f64>,
    /// Frames of a segment of the first comparison, such that there are 2 to 64 of them; chosen by the number of localizations
    /// if not given.
    #[arg(long, value_name = "FRAMES", value_parser = clap::value_parser!(u32).range(1..))]
    segment: Option<u32>,
    /// Frames between two knots of the curve, such that it has 2 to 2048 intervals; as short as the data ask for if not given.
    #[arg(long, value_name = "FRAMES", value_parser = clap::value_parser!(u32).range(1..))]
    knots: Option<u32>,
    /// The largest drift between two segments that is looked for, in the unit of the table; a hundred times the median
    /// uncertainty and at least 500 nm (5 pixels if their size is not known) if not given.
    #[arg(long, value_name = "LENGTH")]
    range: Option<f64>,
    /// Take the drift although it cannot be told from chance; without this, nothing is written then.
    #[arg(long)]
    anyway: bool,
    /// Add the standard error of the drift to the uncertainties of the localizations, as independent errors add up.
    #[arg(long)]
    with_error: bool,
    #[command(flatten)]
    overwrite: Overwrite,
}

pub(crate) fn run(arguments: &DriftArguments) -> Result<(), CliError> {
    let (table, plot) = (arguments.table.as_deref(), arguments.plot.as_deref());
    table.map_or(Ok(()), |table| refuse_ending(table, &["csv"], "a table of drift"))?;
    plot.map_or(Ok(()), |plot| refuse_ending(plot, &["svg"], "a plot"))?;
    let locs = arguments.locs.open_for(&arguments.output)?;
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
    let output = locs.output(&arguments.output, arguments.overwrite)?;
    let needed =
        ["frame", "x", "y", "z", "uncertainty", "uncertainty_x", "uncertainty_y", "uncertainty_z"];
    let mut all = locs.load(Some(&needed))?;
    let unit = all.length_unit().map_err(locs.wrong())?;
    // Before the drift is looked for, which may take long.
    let uncertain = |name: &str| all.column(name).is_some();
    if arguments.with_error && !UNCERTAINTIES.into_iter().any(uncertain) {
        let reason = "the table has no uncertainties to which --with-error can add";
        return Err(CliError::file(&locs.name, reason));
    }
    let found = match &arguments.apply {
        Some(path) => read(path, unit, &all.info)?,
        None => find(arguments, &locs, &all, unit)?,
    };
    let mut added = Vec::new();
    if arguments.with_error {
        refuse_unknown_errors(&found, arguments.apply.as_deref(), &locs)?;
        added = added_errors(&found, &all, unit).map_err(locs.wrong())?;
    }
    let info = std::mem::take(&mut all.info);
    drop(all);
    correct(&locs, output, &found, &added, arguments, unit, &info)
}

/// The uncertainties of x and y that a table may have.
const UNCERTAINTIES: [&str; 3] = ["uncertainty", "uncertainty_x", "uncertainty_y"];

/// Errors of drift that are not known cannot be added.
fn refuse_unknown_errors(
    drift: &Drift,
    applied: Option<&Path>,
    locs: &Locs,
) -> Result<(), CliError> {
    let Drift { x, y, z, x_error, y_error, z_error } = drift;
    let parts = [("x_error", x, x_error), ("y_error", y, y_error), ("z_error", z, z_error)];
    let missing = parts.iter().filter(|(_, of, error)| !of.is_empty() && error.is_empty());
    let missing: Vec<&str> = missing.map(|(name, ..)| *name).collect();
    match (missing.is_empty(), applied) {
        (true, _) => Ok(()),
        (false, Some(path)) => {
            let names = missing.join(", ");
            let reason = format!("--with-error needs {names} of this drift, and it has none");
            Err(CliError::file(&path.display().to_string(), reason))
        }
        (false, None) => {
            let reason = "the errors of this drift are not known, which --with-error needs";
            Err(CliError::file(&locs.name, reason))
        }
    }
}

/// What is added to the uncertainties of a table frame by frame: a column's name, and errors in its unit.
fn added_errors(
    drift: &Drift,
    table: &Table,
    unit: Unit,
) -> Result<Vec<(&'static str, Vec<f64>)>, TableError> {
    let pairs = drift.x_error.iter().zip(&drift.y_error);
    let both = pairs.map(|(x, y)| (0.5 * (x * x + y * y)).sqrt()).collect();
    let [of_both, of_x, of_y] = UNCERTAINTIES;
    let errors = [
        (of_both, unit, both),
        (of_x, unit, drift.x_error.clone()),
        (of_y, unit, drift.y_error.clone()),
        ("uncertainty_z", Unit::Nanometre, drift.z_error.clone()),
    ];
    let mut added = Vec::new();
    for (name, unit, errors) in errors {
        let Some(column) = table.column(name).filter(|_| !errors.is_empty()) else { continue };
        let mut own = Table::new(table.info.clone());
        own.set(Column::new(name, unit, Kind::Double, errors));
        added.push((name, own.lengths(name, column.unit)?.into_owned()));
    }
    Ok(added)
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
    let uncertainty = all.lengths("uncertainty", unit).ok();
    let uncertainty_z = all.lengths("uncertainty_z", Unit::Nanometre).ok();
    let positions = Positions {
        frames: &frames,
        x: all.values("x").map_err(locs.wrong())?,
        y: all.values("y").map_err(locs.wrong())?,
        // A table of spots without height may have the column.
        z: all.values("z").ok().filter(|z| z.iter().any(|z| z.is_finite())),
        uncertainty: uncertainty.as_deref(),
        uncertainty_z: uncertainty_z.as_deref(),
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
        let drift = Drift::from_beads(&positions, &beads, count);
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
    let pixel = match unit {
        Unit::Nanometre => 1.0,
        _ => all.info.pixel_size.unwrap_or(USUAL_PIXEL),
    };
    // No wider than the library takes it, for uncertainties of data without noise.
    let usual_range = (100.0 * precision).max(LEAST_RANGE / pixel).min(1e4 * precision);
    let options = DriftOptions::new(precision, precision_z.unwrap_or(3.0 * precision * pixel))
        .with_range(arguments.range.unwrap_or(usual_range))
        .with_segment(arguments.segment)
        .with_knots(arguments.knots)
        .with_anyway(arguments.anyway);
    if known.is_none() {
        say!(
            "spotfit: warning: the table has no uncertainties; {} are assumed",
            length(precision, unit)
        );
    }
    Drift::estimate(&positions, count, &options).map_err(|error| match error {
        DriftError::Chance { .. } => {
            locs.wrong()(format!("{error} (--anyway takes the drift all the same)"))
        }
        error => locs.wrong()(error),
    })
}

/// Writes the localizations without the drift, the drift, and its picture.
fn correct(
    locs: &Locs,
    mut output: LocsOutput,
    drift: &Drift,
    added: &[(&'static str, Vec<f64>)],
    arguments: &DriftArguments,
    unit: Unit,
    info: &Info,
) -> Result<(), CliError> {
    locs.blocks(None, |mut block| {
        let frames = block.frames().map_err(locs.wrong())?;
        let mut change = |name: &str, of: &[f64], how: fn(&[f64], &[u32], &mut [f64])| {
            let Some(column) = block.column(name).filter(|_| !of.is_empty()) else { return };
            let mut values = column.values.clone();
            how(of, &frames, &mut values);
            let decimals = if column.unit == Unit::Nanometre { 4 } else { 6 };
            block.set(Column::new(name, column.unit, Kind::Rounded(decimals), values));
        };
        for (name, of) in [("x", &drift.x), ("y", &drift.y), ("z", &drift.z)] {
            change(name, of, Drift::correct);
        }
        added.iter().for_each(|(name, of)| change(name, of, Drift::add_error));
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
    say!("{text}{}; {rows} localizations corrected", standard_errors(drift, unit));
    Ok(())
}

/// The median errors in words, as far as they are known.
fn standard_errors(drift: &Drift, unit: Unit) -> String {
    let errors =
        [(&drift.x_error, unit), (&drift.y_error, unit), (&drift.z_error, Unit::Nanometre)];
    let known: Vec<(&Vec<f64>, Unit)> =
        errors.into_iter().filter(|(of, _)| !of.is_empty()).collect();
    let median = |of: &[f64]| {
        let mut of = of.to_vec();
        let middle = of.len() / 2;
        *of.select_nth_unstable_by(middle, f64::total_cmp).1
    };
    let texts = known.iter().enumerate().map(|(k, &(of, unit))| {
        let text = length(median(of), unit);
        // A unit is said once where it is the same for several.
        let same = known.get(k + 1).is_some_and(|next| next.1 == unit);
        match text.split_once(' ') {
            Some((number, _)) if same => number.to_owned(),
            _ => text,
        }
    });
    let texts: Vec<String> = texts.collect();
    match texts.split_last() {
        Some((last, [])) => format!(" (standard error {last})"),
        Some((last, rest)) => format!(" (standard errors {} and {last})", rest.join(", ")),
        None => String::new(),
    }
}

/// The drift as a table.
fn as_table(drift: &Drift, unit: Unit, info: &Info) -> Table {
    let decimals = Kind::Rounded(if unit == Unit::Nanometre { 4 } else { 6 });
    let mut table = Table::new(info.clone());
    let frames = (0..drift.frames()).map(|frame| frame as f64).collect();
    table.set(Column::new("frame", Unit::None, Kind::Whole, frames));
    table.set(Column::new("x", unit, decimals.clone(), drift.x.clone()));
    table.set(Column::new("y", unit, decimals.clone(), drift.y.clone()));
    if !drift.z.is_empty() {
        table.set(Column::new("z", Unit::Nanometre, Kind::Rounded(4), drift.z.clone()));
    }
    let errors = [
        ("x_error", unit, decimals.clone(), &drift.x_error),
        ("y_error", unit, decimals, &drift.y_error),
        ("z_error", Unit::Nanometre, Kind::Rounded(4), &drift.z_error),
    ];
    for (name, unit, decimals, values) in errors.into_iter().filter(|error| !error.3.is_empty()) {
        table.set(Column::new(name, unit, decimals, values.clone()));
    }
    table
}

/// Reads a drift, in the given unit.
pub(crate) fn read(path: &Path, unit: Unit, info: &Info) -> Result<Drift, CliError> {
    let name = path.display().to_string();
    let wrong = |error: TableError| CliError::file(&name, error.to_string());
    let (input, _) = crate::words::input::Input::open(path)?;
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
    // Tables of other programs, and older ones, have no errors.
    let error = |of: &str, unit: Unit| -> Result<Vec<f64>, CliError> {
        let Some(own) = table.column(of) else { return Ok(Vec::new()) };
        let name = format!("{of}_error");
        let Some(column) = error_column(&table, &name, own.unit) else { return Ok(Vec::new()) };
        let mut alone = Table::new(table.info.clone());
        alone.set(column);
        let errors = finite(&alone.lengths(&name, unit).map_err(wrong)?)?;
        match errors.iter().position(|error| *error < 0.0) {
            Some(row) => Err(wrong(TableError::Row {
                row: row as u64 + 1,
                column: name,
                value: errors[row],
                needed: "0 or more",
            })),
            None => Ok(errors),
        }
    };
    Ok(Drift {
        x: finite(&table.lengths("x", unit).map_err(wrong)?)?,
        y: finite(&table.lengths("y", unit).map_err(wrong)?)?,
        z: table.values("z").map_or(Ok(Vec::new()), finite)?,
        x_error: error("x", unit)?,
        y_error: error("y", unit)?,
        z_error: error("z", Unit::Nanometre)?,
    })
}

/// A column of errors of a table of drift: its name has a unit in it, which is no other than that of the drift if it has none.
fn error_column(table: &Table, name: &str, usual: Unit) -> Option<Column> {
    let units = [("", usual), (" [nm]", Unit::Nanometre), (" [px]", Unit::Pixel)];
    let (column, unit) = units
        .into_iter()
        .find_map(|(symbol, unit)| Some((table.column(&format!("{name}{symbol}"))?, unit)))?;
    // The values of words are no numbers.
    let values = match column.kind {
        Kind::Words(_) => vec![f64::NAN; column.values.len()],
        _ => column.values.clone(),
    };
    Some(Column::new(name, unit, Kind::Double, values))
}

/// The places of beads.
fn places(path: &Path, unit: Unit, info: &Info) -> Result<Vec<[f64; 2]>, CliError> {
    let beads = Locs::open(path, info.pixel_size, false)?.load(Some(&["x", "y"]))?;
    let name = path.display().to_string();
    let wrong = |error: TableError| CliError::file(&name, error.to_string());
    let (x, y) =
        (beads.lengths("x", unit).map_err(wrong)?, beads.lengths("y", unit).map_err(wrong)?);
    Ok(x.iter().zip(y.iter()).map(|(&x, &y)| [x, y]).collect())
}

/// The drift as a picture.
pub(crate) fn draw(drift: &Drift, unit: Unit) -> String {
    let symbol = if unit == Unit::Nanometre { "nm" } else { "px" };
    let line = |name: &str, of: &[f64], errors: &[f64]| {
        let step = of.len().div_ceil(2000).max(1);
        let shown = || of.iter().enumerate().step_by(step);
        let points = shown().map(|(frame, &value)| (frame as f64 + 1.0, value)).collect();
        let band = shown().zip(errors.iter().step_by(step));
        let band =
            band.map(|((frame, value), error)| (frame as f64 + 1.0, value - error, value + error));
        Series::line(name, points).with_band(band.collect())
    };
    let mut series = vec![line("x", &drift.x, &drift.x_error), line("y", &drift.y, &drift.y_error)];
    if !drift.z.is_empty() {
        series.push(line("z (nm)", &drift.z, &drift.z_error));
    }
    Chart::new("Drift", Axis::new("frame"), Axis::new(&format!("drift ({symbol})")), series).svg()
}
