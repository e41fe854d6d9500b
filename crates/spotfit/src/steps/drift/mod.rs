//! Finds drift, or reads it from a table, and takes it out.

mod chart;
mod options;
mod report;
mod table;

use super::words::{frames_of, length, usual};
use super::{Listener, Note, Sink, Source, StepError};
use crate::drift::{Drift, DriftError, DriftInput, DriftOptions as Within, beads_at, track_beads};
use crate::report::figure::Drawing;
use crate::table::{Column, Info, Kind, Meaning, Table, TableError, Unit};

pub(super) use chart::chart_of;
pub use chart::drawing;
pub use options::{Beads, DriftOptions};
pub use report::DriftReport;
use table::ERRORS;
pub use table::{places, read, table};

/// Drift is looked for up to so many nanometres at least, however small the uncertainties are: a stage does not know them.
const LEAST_RANGE: f64 = 500.0;
/// The side of a pixel in nanometres where it is not known.
const USUAL_PIXEL: f64 = 100.0;

/// The drift of a table with its report.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Found {
    /// The drift: x and y in `unit`, z in nanometres.
    pub drift: Drift,
    /// The unit of the table.
    pub unit: Unit,
    /// What is known of the movie.
    pub info: Info,
    /// The report.
    pub report: DriftReport,
}

impl Found {
    /// The drift as a table: see [`table()`].
    pub fn table(&self) -> Table {
        table(&self.drift, self.unit, &self.info)
    }

    /// The drift as a chart: see [`drawing()`].
    pub fn drawing(&self) -> Drawing {
        drawing(&self.drift, self.unit)
    }
}

/// What drift depends on.
const NEEDED: [&str; 8] = Meaning::names([
    Meaning::Frame,
    Meaning::X,
    Meaning::Y,
    Meaning::Z,
    Meaning::Uncertainty,
    Meaning::UncertaintyX,
    Meaning::UncertaintyY,
    Meaning::UncertaintyZ,
]);
/// The uncertainties of x and y that a table may have.
const UNCERTAINTIES: [Meaning; 3] =
    [Meaning::Uncertainty, Meaning::UncertaintyX, Meaning::UncertaintyY];

/// Finds the drift of a table, and takes nothing out.
///
/// # Errors
/// [`StepError`], also for drift that is not found, or cannot be told from chance.
pub fn find(
    options: &DriftOptions,
    source: &Source,
    listener: &dyn Listener,
) -> Result<Found, StepError> {
    let all = source.load(Some(&NEEDED), listener)?;
    let unit = all.length_unit().map_err(source.wrong())?;
    find_in(options, source, all, unit, listener)
}

/// Takes the drift out of a table: the drift that is found in it, or that in the table `apply`. With `apply`, only
/// [`DriftOptions::with_error`] of the options counts.
///
/// # Errors
/// [`StepError`], also for drift that is not found, or cannot be told from chance.
pub fn run(
    options: &DriftOptions,
    source: &Source,
    apply: Option<&Source>,
    sink: &mut dyn Sink,
    listener: &dyn Listener,
) -> Result<Found, StepError> {
    let all = source.load(Some(&NEEDED), listener)?;
    let unit = all.length_unit().map_err(source.wrong())?;
    // Before the drift is looked for, which may take long.
    let uncertain: Vec<Column> = UNCERTAINTIES
        .into_iter()
        .chain([Meaning::UncertaintyZ])
        .filter_map(|meaning| all.column(meaning))
        .map(|column| Column::new(&column.name, column.unit, Kind::Double, Vec::new()))
        .collect();
    let of_plane =
        |column: &Column| column.meaning().is_some_and(|meaning| UNCERTAINTIES.contains(&meaning));
    if options.with_error && !uncertain.iter().any(of_plane) {
        let reason = "the table has no uncertainties to which `with_error` can add";
        return Err(StepError::input(source.name(), reason));
    }
    let mut found = match apply {
        Some(table) => {
            let drift = table::read_and_tell(table, unit, &all.info, listener)?;
            let report = DriftReport::of(&drift, unit, all.rows());
            Found { drift, unit, info: all.info.clone(), report }
        }
        None => find_in(options, source, all, unit, listener)?,
    };
    let mut added = Vec::new();
    if options.with_error {
        refuse_unknown_errors(&found.drift, source, apply)?;
        added = added_errors(&found, &uncertain).map_err(source.wrong())?;
    }
    found.report.localizations = correct(&found.drift, &added, source, sink, listener)?;
    Ok(found)
}

/// Looks for the drift of localizations.
fn find_in(
    options: &DriftOptions,
    source: &Source,
    all: Table,
    unit: Unit,
    listener: &dyn Listener,
) -> Result<Found, StepError> {
    let frames = all.frames().map_err(source.wrong())?;
    let count = options.frames.unwrap_or_else(|| frames_of(&all.info, &frames));
    let uncertainty = all.lengths(Meaning::Uncertainty, unit).ok();
    let uncertainty_z = all.lengths(Meaning::UncertaintyZ, Unit::Nanometre).ok();
    let positions = DriftInput {
        frames: &frames,
        x: all.values(Meaning::X).map_err(source.wrong())?,
        y: all.values(Meaning::Y).map_err(source.wrong())?,
        // A table of spots without height may have the column.
        z: all.values(Meaning::Z).ok().filter(|z| z.iter().any(|z| z.is_finite())),
        uncertainty: uncertainty.as_deref(),
        uncertainty_z: uncertainty_z.as_deref(),
    };
    let known = usual(&all, Meaning::Uncertainty, unit);
    // Without uncertainties: those of ordinary single-molecule images.
    let precision = known.unwrap_or(if unit == Unit::Nanometre { 15.0 } else { 0.15 });
    let given = |name, given: Option<crate::Length>| {
        given.map(|given| source.length(name, given, unit, &all.info)).transpose()
    };
    if let Some(beads) = &options.beads {
        let radius = given("bead_radius", options.bead_radius)?.unwrap_or(10.0 * precision);
        let beads = match beads {
            Beads::Auto => track_beads(&positions, count, radius),
            Beads::At(places) => beads_at(&positions, count, places, radius),
        };
        let beads = beads.map_err(source.refused())?;
        let drift = Drift::from_beads(&positions, &beads, count).map_err(source.refused())?;
        let seen = beads.iter().map(|bead| bead.rows.len()).sum::<usize>() as f64;
        let mut report = DriftReport::of(&drift, unit, all.rows());
        report.beads = Some(beads.len());
        report.bead_share = Some(seen / beads.len() as f64 / f64::from(count));
        return Ok(Found { drift, unit, info: all.info, report });
    }
    let precision_z = usual(&all, Meaning::UncertaintyZ, Unit::Nanometre);
    let pixel = all.info.nanometres_in(unit).unwrap_or(USUAL_PIXEL);
    // No wider than the library takes it, for uncertainties of data without noise.
    let usual_range = (100.0 * precision).max(LEAST_RANGE / pixel).min(1e4 * precision);
    let within = Within::new(precision, precision_z.unwrap_or(3.0 * precision * pixel))
        .with_range(given("range", options.range)?.unwrap_or(usual_range))
        .with_segment(options.segment)
        .with_knots(options.knots)
        .with_anyway(options.anyway);
    if known.is_none() {
        let assumed = length(precision, unit);
        let text = format!("the table has no uncertainties; {assumed} are assumed");
        listener.note(&Note::Warning(text));
    }
    let drift = Drift::estimate(&positions, count, &within).map_err(|error| match error {
        DriftError::Chance { .. } => {
            source.refused()(format!("{error} (`anyway` takes the drift all the same)"))
        }
        error => source.refused()(error.to_string()),
    })?;
    let report = DriftReport::of(&drift, unit, all.rows());
    Ok(Found { drift, unit, info: all.info, report })
}

/// Errors of drift that are not known cannot be added.
fn refuse_unknown_errors(
    drift: &Drift,
    source: &Source,
    applied: Option<&Source>,
) -> Result<(), StepError> {
    let Drift { x, y, z, x_error, y_error, z_error } = drift;
    let [of_x, of_y, of_z] = ERRORS;
    let parts = [(of_x, x, x_error), (of_y, y, y_error), (of_z, z, z_error)];
    let missing = parts.iter().filter(|(_, of, error)| !of.is_empty() && error.is_empty());
    let missing: Vec<&str> = missing.map(|(name, ..)| *name).collect();
    match (missing.is_empty(), applied) {
        (true, _) => Ok(()),
        (false, Some(table)) => {
            let names = missing.join(", ");
            let reason = format!("`with_error` needs {names} of this drift, and it has none");
            Err(StepError::input(table.name(), reason))
        }
        (false, None) => {
            let reason = "the errors of this drift are not known, which `with_error` needs";
            Err(StepError::input(source.name(), reason))
        }
    }
}

/// What is added to uncertainties frame by frame: a column's name, and errors in its unit.
fn added_errors(
    found: &Found,
    uncertain: &[Column],
) -> Result<Vec<(Meaning, Vec<f64>)>, TableError> {
    let Found { drift, unit, info, .. } = found;
    let pairs = drift.x_error.iter().zip(&drift.y_error);
    let both = pairs.map(|(x, y)| (0.5 * (x * x + y * y)).sqrt()).collect();
    let [of_both, of_x, of_y] = UNCERTAINTIES;
    let errors = [
        (of_both, *unit, both),
        (of_x, *unit, drift.x_error.clone()),
        (of_y, *unit, drift.y_error.clone()),
        (Meaning::UncertaintyZ, Unit::Nanometre, drift.z_error.clone()),
    ];
    let mut added = Vec::new();
    for (meaning, unit, errors) in errors.into_iter().filter(|(.., errors)| !errors.is_empty()) {
        let is_it = |column: &&Column| column.meaning() == Some(meaning);
        let Some(column) = uncertain.iter().find(is_it) else { continue };
        let mut own = Table::new(info.clone());
        own.set(Column::new(meaning, unit, Kind::Double, errors));
        added.push((meaning, own.lengths(meaning, column.unit)?.into_owned()));
    }
    Ok(added)
}

/// Writes the localizations without the drift; the result is their number.
fn correct(
    drift: &Drift,
    added: &[(Meaning, Vec<f64>)],
    source: &Source,
    sink: &mut dyn Sink,
    listener: &dyn Listener,
) -> Result<usize, StepError> {
    let mut rows = 0;
    source.blocks(None, listener, |mut block| {
        let frames = block.frames().map_err(source.wrong())?;
        let mut change = |meaning: Meaning, of: &[f64], how: fn(&[f64], &[u32], &mut [f64])| {
            let Some(column) = block.column(meaning).filter(|_| !of.is_empty()) else { return };
            let mut values = column.values.clone();
            how(of, &frames, &mut values);
            let decimals = if column.unit == Unit::Nanometre { 4 } else { 6 };
            block.set(Column::new(meaning, column.unit, Kind::Rounded(decimals), values));
        };
        for (meaning, of) in
            [(Meaning::X, &drift.x), (Meaning::Y, &drift.y), (Meaning::Z, &drift.z)]
        {
            change(meaning, of, Drift::correct);
        }
        added.iter().for_each(|(meaning, of)| change(*meaning, of, Drift::add_error));
        rows += block.rows();
        sink.write(block).map_err(StepError::Write)
    })?;
    Ok(rows)
}
