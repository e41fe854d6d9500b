//! `spotfit link`: localizations of one molecule in successive frames become one.

use std::path::PathBuf;

use clap::Args;

use crate::error::CliError;
use crate::say::message::say;
use crate::words::locs::{Locs, LocsArguments, LocsOutput, length};
use crate::words::output::Overwrite;
use spotfit::link::{Groups, LinkOptions, Links, link};
use spotfit::table::{Column, Kind, Table, Unit};

#[derive(Debug, Args)]
pub(crate) struct LinkArguments {
    #[command(flatten)]
    locs: LocsArguments,
    /// Where to write the molecules: a .csv file, or a .hdf5 file for Picasso; - for CSV on standard output.
    #[arg(short, long, value_name = "LOCS")]
    output: PathBuf,
    /// How far a localization may be from the mean of those before it, in the unit of the table; four times the median
    /// uncertainty if not given.
    #[arg(long, value_name = "LENGTH")]
    radius: Option<f64>,
    /// The same along z, in nanometres; four times the median uncertainty of z, or three times --radius, if not given.
    #[arg(long, value_name = "NM")]
    radius_z: Option<f64>,
    /// For how many frames a molecule may be dark and still be the same.
    #[arg(long, default_value_t = 1, value_name = "FRAMES")]
    gap: u32,
    /// Keep all localizations, and only add the column molecule.
    #[arg(long)]
    label: bool,
    #[command(flatten)]
    overwrite: Overwrite,
}

pub(crate) fn run(arguments: &LinkArguments) -> Result<(), CliError> {
    let locs = arguments.locs.open_for(&arguments.output)?;
    let mut output = locs.output(&arguments.output, arguments.overwrite)?;
    // What links depend on; the other columns are read when it is known which rows belong together.
    let table = locs.load(Some(&FIRST))?;
    let frames = table.frames().map_err(locs.wrong())?;
    let unit = table.length_unit().map_err(locs.wrong())?;
    let radius = match arguments.radius {
        Some(radius) => radius,
        None => {
            let usual = usual(&table, "uncertainty", unit).ok_or_else(|| {
                let reason = "the table has no uncertainties; give --radius";
                CliError::file(&locs.name, reason)
            })?;
            4.0 * usual
        }
    };
    let in_nanometres = match unit {
        Unit::Pixel => table.info.pixel_size.map(|size| radius * size),
        _ => Some(radius),
    };
    let usual_z = usual(&table, "uncertainty_z", Unit::Nanometre).map(|usual| 4.0 * usual);
    let z = table.values("z").ok();
    let radius_z = arguments.radius_z.or(usual_z).or(in_nanometres.map(|radius| 3.0 * radius));
    let radius_z = match (z, radius_z) {
        (None, _) => 1.0,
        (Some(_), Some(radius)) => radius,
        (Some(_), None) => return Err(CliError::file(&locs.name, "there is z; give --radius-z")),
    };
    let options = LinkOptions { radius, radius_z, gap: arguments.gap };
    let (x, y) =
        (table.values("x").map_err(locs.wrong())?, table.values("y").map_err(locs.wrong())?);
    let links = link(&frames, x, y, z, &options).map_err(locs.wrong())?;
    let (count, not_finite) = (links.count, links.not_finite);
    let rows = table.rows();
    if arguments.label {
        drop((table, frames));
        label(&locs, &links, &mut output)?;
    } else {
        let groups = Groups::new(&frames, &links).map_err(locs.wrong())?;
        drop((frames, links));
        output.write(combined(&locs, table, &groups)?)?;
    }
    output.finish()?;
    let mean = rows as f64 / count.max(1) as f64;
    say!(
        "{rows} localizations of {count} molecules, {mean:.2} each; within {}, {} dark frames",
        length(radius, unit),
        arguments.gap
    );
    if not_finite > 0 {
        say!("{not_finite} stand alone: a number is not finite");
    }
    Ok(())
}

/// What links, weighted means and counts depend on.
const FIRST: [&str; 10] = [
    "frame",
    "x",
    "y",
    "z",
    "uncertainty",
    "uncertainty_x",
    "uncertainty_y",
    "uncertainty_z",
    "detections",
    "on_time",
];
/// So many of the other columns are in memory at a time, and more if they have fewer numbers than [`NUMBERS`]: the file is read for
/// each of these parts.
const AT_A_TIME: usize = 6;
const NUMBERS: usize = 1 << 25;

/// Writes all localizations with the number of their molecule.
fn label(locs: &Locs, links: &Links, output: &mut LocsOutput) -> Result<(), CliError> {
    let mut groups = links.groups.iter();
    locs.blocks(None, |mut block| {
        let molecules: Vec<f64> =
            groups.by_ref().take(block.rows()).map(|&group| group.into()).collect();
        if molecules.len() != block.rows() {
            return Err(changed(locs));
        }
        block.set(Column::new("molecule", Unit::None, Kind::Whole, molecules));
        output.write(block)
    })?;
    if groups.len() > 0 { Err(changed(locs)) } else { Ok(()) }
}

/// One row for each molecule, of a table of which the first columns were read.
fn combined(locs: &Locs, first: Table, groups: &Groups) -> Result<Table, CliError> {
    let rows = first.rows();
    let mut done = first.combined(groups);
    drop(first);
    let layout = locs.layout()?;
    let others: Vec<&str> = layout.columns().iter().map(|column| column.name.as_str()).collect();
    let others: Vec<&str> = others.into_iter().filter(|name| !FIRST.contains(name)).collect();
    let mut rest = Table::default();
    for names in others.chunks(AT_A_TIME.max(NUMBERS / rows.max(1))) {
        let part = locs.load(Some(names))?;
        if part.rows() != rows {
            return Err(changed(locs));
        }
        let mut part = part.combined(groups);
        names.iter().filter_map(|name| part.remove(name)).for_each(|column| rest.set(column));
    }
    // In the order of the file, and then what is new.
    let mut table = Table::new(done.info.clone());
    let names = layout.columns().iter().map(|column| column.name.as_str());
    for name in names.chain(["molecule", "detections", "on_time"]) {
        if let Some(column) = done.remove(name).or_else(|| rest.remove(name)) {
            table.set(column);
        }
    }
    Ok(table)
}

/// The file had other rows when it was read before.
fn changed(locs: &Locs) -> CliError {
    CliError::file(&locs.name, "it changed while it was read")
}

/// The median of a column of lengths, as far as it is finite.
pub(crate) fn usual(table: &Table, name: &str, unit: Unit) -> Option<f64> {
    let values = table.lengths(name, unit).ok()?;
    let mut values: Vec<f64> =
        values.iter().copied().filter(|value| *value > 0.0 && value.is_finite()).collect();
    if values.is_empty() {
        return None;
    }
    let middle = values.len() / 2;
    Some(*values.select_nth_unstable_by(middle, f64::total_cmp).1)
}
