//! Links localizations of one molecule in successive frames.

use std::fmt;

use super::words::{length, symbol, usual};
use super::{Listener, Sink, Source, StepError};
use crate::Length;
use crate::link::{FACTOR, Groups, LinkOptions as Within, Links, link};
use crate::table::{Column, Kind, Meaning, Table, Unit};

fit_core::__options! {
    /// How localizations are linked.
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[cfg_attr(feature = "clap", derive(clap::Args))]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct LinkOptions {
        /// How far a localization may be from the mean of those before it, in nanometres or with a unit, as in 0.5px. If not given: four
        /// times the uncertainty, as the root mean square of its own and theirs.
        ///
        /// See [`crate::link::LinkOptions::uncertainties`].
        pub radius(const with_radius)[long, value_name = "LENGTH"]: Option<Length> = None,
        /// The same along z. If not given: four times the uncertainty of z, or without that three times `radius`.
        pub radius_z(const with_radius_z)[long, value_name = "LENGTH"]: Option<Length> = None,
        /// For how many frames a molecule may be dark and still be the same.
        pub gap(const with_gap) default_value_t[long, value_name = "FRAMES"]: u32 = 1,
        /// Keep all localizations, and only add the column molecule.
        pub label(const with_label)[long]: bool = false,
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
    /// The radius within which they were linked, in `unit`; its median where each has its own.
    pub radius: f64,
    /// Whether each localization has a radius of its own, by its uncertainty.
    pub by_uncertainty: bool,
    /// The unit of the table, `px` or `nm`.
    pub unit: &'static str,
    /// The number of frames for which a molecule was allowed to be dark.
    pub gap: u32,
}

impl fmt::Display for LinkReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { localizations, molecules, not_finite, radius, by_uncertainty, unit, gap } = self;
        let mean = *localizations as f64 / (*molecules).max(1) as f64;
        let unit = if *unit == "nm" { Unit::Nanometre } else { Unit::Pixel };
        let own = if *by_uncertainty { "4 times their uncertainties, usually " } else { "" };
        write!(
            f,
            "{localizations} localizations of {molecules} molecules, {mean:.2} each; within {own}{}, {gap} dark frames",
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
            FACTOR * usual
        }
    };
    let by_uncertainty = options.radius.is_none();
    let errors = |of: Meaning, unit: Unit, wanted: bool| match wanted {
        true => table.lengths(of, unit).map(Some).map_err(source.wrong()),
        false => Ok(None),
    };
    let [error_x, error_y] = [
        errors(Meaning::UncertaintyX, unit, by_uncertainty)?,
        errors(Meaning::UncertaintyY, unit, by_uncertainty)?,
    ];
    let (radius_z, own_z) = radius_z(options, source, &table, radius, unit)?;
    let error_z = match own_z {
        true => errors(Meaning::UncertaintyZ, Unit::Nanometre, true)?,
        // Without errors of z as without a radius of z.
        false
            if by_uncertainty
                && options.radius_z.is_none()
                && table.column(Meaning::Z).is_some() =>
        {
            let all = errors(Meaning::Uncertainty, Unit::Nanometre, true)?;
            all.map(|all| all.iter().map(|error| AXIAL * error).collect())
        }
        false => None,
    };
    let within = Within::new(radius, radius_z)
        .with_gap(options.gap)
        .with_uncertainties(error_x.as_deref().zip(error_y.as_deref()).map(|(x, y)| [x, y]))
        .with_uncertainties_z(error_z.as_deref());
    let x = table.values(Meaning::X).map_err(source.wrong())?;
    let y = table.values(Meaning::Y).map_err(source.wrong())?;
    let links =
        link(&frames, x, y, table.values(Meaning::Z).ok(), &within).map_err(source.refused())?;
    let report = LinkReport {
        localizations: table.rows(),
        molecules: links.count,
        not_finite: links.not_finite,
        radius,
        by_uncertainty,
        unit: symbol(unit),
        gap: options.gap,
    };
    drop((error_x, error_y, error_z));
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

/// Uncertainties along z that are not known are so many times those in x and y.
const AXIAL: f64 = 3.0;

/// The radius along z in nanometres, and whether it is that of the median of uncertainties.
fn radius_z(
    options: &LinkOptions,
    source: &Source,
    table: &Table,
    radius: f64,
    unit: Unit,
) -> Result<(f64, bool), StepError> {
    if table.column(Meaning::Z).is_none() {
        return Ok((1.0, false));
    }
    if let Some(radius) = options.radius_z {
        let radius = source.length("radius_z", radius, Unit::Nanometre, &table.info)?;
        return Ok((radius, false));
    }
    if let Some(usual) = usual(table, Meaning::UncertaintyZ, Unit::Nanometre) {
        return Ok((FACTOR * usual, true));
    }
    let in_nanometres = match unit {
        Unit::Pixel => table.info.pixel_size.map(|size| radius * size),
        _ => Some(radius),
    };
    in_nanometres
        .map(|radius| (AXIAL * radius, false))
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
