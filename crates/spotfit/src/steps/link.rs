//! Links localizations of one molecule in successive frames.

use std::fmt;

use super::words::{length, symbol, usual};
use super::{Listener, Sink, Source, StepError};
use crate::Length;
use crate::link::{Groups, LinkOptions as Within, Links, link};
use crate::table::{Column, Kind, Meaning, Table, Unit};

/// How localizations are linked.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LinkOptions {
    /// The largest distance of a localization from the mean of those before it; four times the median uncertainty if
    /// not given.
    pub radius: Option<Length>,
    /// The same along z; four times the median uncertainty of z, or three times `radius`, if not given.
    pub radius_z: Option<Length>,
    /// The number of frames for which a molecule may be dark.
    pub gap: u32,
    /// Keep all localizations, and only add the column `molecule`.
    pub label: bool,
}

impl Default for LinkOptions {
    fn default() -> Self {
        Self { radius: None, radius_z: None, gap: 1, label: false }
    }
}

impl LinkOptions {
    fit_core::__setters! {
        const with_radius: radius: Option<Length>,
        const with_radius_z: radius_z: Option<Length>,
        const with_gap: gap: u32,
        const with_label: label: bool,
    }
}

/// The report of linking.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct LinkReport {
    /// The number of localizations in the table.
    pub localizations: usize,
    /// The number of molecules.
    pub molecules: usize,
    /// Localizations that stand alone because a number of them is not finite.
    pub not_finite: usize,
    /// The radius within which they were linked, in `unit`.
    pub radius: f64,
    /// The unit of the table, `px` or `nm`.
    pub unit: &'static str,
    /// The number of frames for which a molecule was allowed to be dark.
    pub gap: u32,
}

impl fmt::Display for LinkReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { localizations, molecules, not_finite, radius, unit, gap } = self;
        let mean = *localizations as f64 / (*molecules).max(1) as f64;
        let unit = if *unit == "nm" { Unit::Nanometre } else { Unit::Pixel };
        write!(
            f,
            "{localizations} localizations of {molecules} molecules, {mean:.2} each; within {}, {gap} dark frames",
            length(*radius, unit)
        )?;
        if *not_finite > 0 {
            write!(f, "\n{not_finite} stand alone: a number is not finite")?;
        }
        Ok(())
    }
}

/// Links the localizations of a table.
///
/// # Errors
/// [`StepError`]; a table without uncertainties needs a radius.
pub fn run(
    options: &LinkOptions,
    source: &Source,
    sink: &mut dyn Sink,
    listener: &dyn Listener,
) -> Result<LinkReport, StepError> {
    // What links depend on; the other columns are read when it is known which rows belong together.
    let table = source.load(Some(&FIRST), listener)?;
    let frames = table.frames().map_err(source.wrong())?;
    let unit = table.length_unit().map_err(source.wrong())?;
    let radius = match options.radius {
        Some(radius) => source.length("radius", radius, unit, &table.info)?,
        None => {
            let usual = usual(&table, Meaning::Uncertainty, unit).ok_or_else(|| {
                StepError::input(source.name(), "the table has no uncertainties; give `radius`")
            })?;
            4.0 * usual
        }
    };
    let radius_z = radius_z(options, source, &table, radius, unit)?;
    let within = Within::new(radius, radius_z).with_gap(options.gap);
    let x = table.values(Meaning::X).map_err(source.wrong())?;
    let y = table.values(Meaning::Y).map_err(source.wrong())?;
    let links =
        link(&frames, x, y, table.values(Meaning::Z).ok(), &within).map_err(source.refused())?;
    let report = LinkReport {
        localizations: table.rows(),
        molecules: links.count,
        not_finite: links.not_finite,
        radius,
        unit: symbol(unit),
        gap: options.gap,
    };
    if options.label {
        drop((table, frames));
        label(source, &links, sink, listener)?;
    } else {
        let groups = Groups::new(&frames, &links).map_err(source.refused())?;
        drop((frames, links));
        let combined = combined(source, table, &groups, listener)?;
        sink.write(combined).map_err(StepError::Write)?;
    }
    Ok(report)
}

/// The radius along z in nanometres.
fn radius_z(
    options: &LinkOptions,
    source: &Source,
    table: &Table,
    radius: f64,
    unit: Unit,
) -> Result<f64, StepError> {
    if table.column(Meaning::Z).is_none() {
        return Ok(1.0);
    }
    if let Some(radius) = options.radius_z {
        return source.length("radius_z", radius, Unit::Nanometre, &table.info);
    }
    if let Some(usual) = usual(table, Meaning::UncertaintyZ, Unit::Nanometre) {
        return Ok(4.0 * usual);
    }
    let in_nanometres = match unit {
        Unit::Pixel => table.info.pixel_size.map(|size| radius * size),
        _ => Some(radius),
    };
    in_nanometres
        .map(|radius| 3.0 * radius)
        .ok_or_else(|| StepError::input(source.name(), "there is z; give `radius_z`"))
}

/// What links, weighted means and counts depend on.
const FIRST: [&str; 10] = Meaning::names([
    Meaning::Frame,
    Meaning::X,
    Meaning::Y,
    Meaning::Z,
    Meaning::Uncertainty,
    Meaning::UncertaintyX,
    Meaning::UncertaintyY,
    Meaning::UncertaintyZ,
    Meaning::Detections,
    Meaning::OnTime,
]);
/// What linking adds.
const ADDED: [&str; 3] = Meaning::names([Meaning::Molecule, Meaning::Detections, Meaning::OnTime]);
/// So many of the other columns are in memory at a time, and more if they have fewer numbers than [`NUMBERS`]: the file is read for
/// each of these parts.
const AT_A_TIME: usize = 6;
const NUMBERS: usize = 1 << 25;

/// Writes all localizations with the number of their molecule.
fn label(
    source: &Source,
    links: &Links,
    sink: &mut dyn Sink,
    listener: &dyn Listener,
) -> Result<(), StepError> {
    let mut groups = links.groups.iter();
    source.blocks(None, listener, |mut block| {
        let molecules: Vec<f64> =
            groups.by_ref().take(block.rows()).map(|&group| group.into()).collect();
        if molecules.len() != block.rows() {
            return Err(source.changed());
        }
        block.set(Column::new(Meaning::Molecule, Unit::None, Kind::Whole, molecules));
        sink.write(block).map_err(StepError::Write)
    })?;
    if groups.len() > 0 { Err(source.changed()) } else { Ok(()) }
}

/// One row for each molecule, of a table of which the first columns were read.
fn combined(
    source: &Source,
    first: Table,
    groups: &Groups,
    listener: &dyn Listener,
) -> Result<Table, StepError> {
    let rows = first.rows();
    let mut done = first.combined(groups);
    drop(first);
    let layout = source.layout()?;
    let others: Vec<&str> = layout.columns().iter().map(|column| column.name.as_str()).collect();
    let others: Vec<&str> = others.into_iter().filter(|name| !FIRST.contains(name)).collect();
    let mut rest = Table::default();
    for names in others.chunks(AT_A_TIME.max(NUMBERS / rows.max(1))) {
        let part = source.load(Some(names), listener)?;
        if part.rows() != rows {
            return Err(source.changed());
        }
        let mut part = part.combined(groups);
        names.iter().filter_map(|name| part.remove(name)).for_each(|column| rest.set(column));
    }
    // In the order of the file, and then what is new.
    let mut table = Table::new(done.info.clone());
    let names = layout.columns().iter().map(|column| column.name.as_str());
    for name in names.chain(ADDED) {
        if let Some(column) = done.remove(name).or_else(|| rest.remove(name)) {
            table.set(column);
        }
    }
    Ok(table)
}
