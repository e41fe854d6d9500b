//! Drift as a table, and what is read of tables for it.

use crate::drift::Drift;
use crate::steps::{Listener, Note, Silent, Source, StepError};
use crate::table::{Column, Info, Kind, Meaning, Table, TableError, Unit};
use crate::track::FrameStatus;

/// The names of the standard errors of x, y and z: those of drift, which no other table has.
pub(super) const ERRORS: [&str; 3] = ["x_error", "y_error", "z_error"];
/// What they are the errors of.
const PLACE: [Meaning; 3] = [Meaning::X, Meaning::Y, Meaning::Z];
/// The most frames of a drift.
const MOST_FRAMES: usize = 1 << 24;

/// Drift as a table: `frame`, `x` and `y` in the given unit, `z` in nanometres, and their standard errors `x_error`, `y_error`,
/// `z_error`, as far as they are known.
pub fn table(drift: &Drift, unit: Unit, info: &Info) -> Table {
    let frames = (0..drift.frames()).map(|frame| frame as f64).collect();
    let mut table = Table::new(info.clone());
    table.set(Column::new(Meaning::Frame, Unit::None, Kind::Whole, frames));
    let [x, y, z] = PLACE.map(Meaning::name);
    let [x_error, y_error, z_error] = ERRORS;
    let columns = [
        (x, unit, &drift.x),
        (y, unit, &drift.y),
        (z, Unit::Nanometre, &drift.z),
        (x_error, unit, &drift.x_error),
        (y_error, unit, &drift.y_error),
        (z_error, Unit::Nanometre, &drift.z_error),
    ];
    for (number, (name, unit, values)) in columns.into_iter().enumerate() {
        if number < 2 || !values.is_empty() {
            let decimals = if unit == Unit::Nanometre { 4 } else { 6 };
            table.set(Column::new(name, unit, Kind::Rounded(decimals), values.clone()));
        }
    }
    table
}

/// Reads a table of drift, as [`table()`] makes it. The result is in `unit`, that of the localizations; `info` is what is known of
/// their movie.
///
/// # Errors
/// [`StepError::Input`] if rows are missing (there must be one for each frame, from the first), if a number is not finite, or if an
/// error is negative.
pub fn read(source: &Source, unit: Unit, info: &Info) -> Result<Drift, StepError> {
    read_and_tell(source, unit, info, &Silent)
}

/// The same; the listener hears of frames in which a tracker was lost.
pub(super) fn read_and_tell(
    source: &Source,
    unit: Unit,
    info: &Info,
    listener: &dyn Listener,
) -> Result<Drift, StepError> {
    let refused = |reason: String| StepError::input(source.name(), reason);
    let wrong = |error: TableError| refused(error.to_string());
    let table = source.clone().of_movie(info).load(None, &Silent).map_err(plain)?;
    if table.rows() > MOST_FRAMES {
        return Err(wrong(TableError::ManyRows { most: MOST_FRAMES }));
    }
    let frames = table.frames().map_err(wrong)?;
    if !frames.iter().copied().eq(0..frames.len() as u32) || frames.is_empty() {
        let reason = "a drift has a row for each frame, in their order, from the first";
        return Err(refused(reason.to_owned()));
    }
    let lost = lost_frames(&table);
    if lost > 0 {
        let name = source.name();
        let text = format!(
            "{name}: in {lost} frames the beads were lost: their drift is that before, and not known"
        );
        listener.note(&Note::Warning(text));
    }
    let finite = |values: &[f64]| match values.iter().position(|value| !value.is_finite()) {
        Some(row) => Err(refused(format!("row {}: a number is not finite", row + 1))),
        None => Ok(values.to_vec()),
    };
    // Tables of other programs have no errors.
    let error = |axis: usize, unit: Unit| -> Result<Vec<f64>, StepError> {
        let Some(own) = table.column(PLACE[axis]) else { return Ok(Vec::new()) };
        let name = ERRORS[axis];
        let Some(column) = error_column(&table, name, own.unit) else { return Ok(Vec::new()) };
        let mut alone = Table::new(table.info.clone());
        alone.set(column);
        let errors = finite(&alone.lengths(name, unit).map_err(wrong)?)?;
        match errors.iter().position(|error| *error < 0.0) {
            Some(row) => Err(wrong(TableError::row(row, name, errors[row], "0 or more"))),
            None => Ok(errors),
        }
    };
    Ok(Drift {
        x: finite(&table.lengths(Meaning::X, unit).map_err(wrong)?)?,
        y: finite(&table.lengths(Meaning::Y, unit).map_err(wrong)?)?,
        z: table.values(Meaning::Z).map_or(Ok(Vec::new()), finite)?,
        x_error: error(0, unit)?,
        y_error: error(1, unit)?,
        z_error: error(2, Unit::Nanometre)?,
    })
}

/// What a tracker's table says of each frame; other tables have no such column.
const STATUS: &str = "status";

/// In how many frames a tracker was lost.
fn lost_frames(table: &Table) -> usize {
    let status = table.column(STATUS);
    let (words, values) = match status.map(|column| (&column.kind, &column.values)) {
        Some((Kind::Words(words), values)) => (words, values),
        _ => return 0,
    };
    let lost = words.iter().position(|word| word == FrameStatus::Lost.name());
    // A cell without a word has no number.
    lost.map_or(0, |lost| values.iter().filter(|value| **value == lost as f64).count())
}

/// A column of errors of a table of drift: its name has a unit in it, which is no other than that of the drift if it has none.
fn error_column(table: &Table, name: &str, usual: Unit) -> Option<Column> {
    let units = [("", usual), (" [nm]", Unit::Nanometre), (" [px]", Unit::Pixel)];
    let (column, unit) = units.into_iter().find_map(|(symbol, unit)| {
        let column = table.column(format!("{name}{symbol}"))?;
        // A table in memory has units apart from names.
        Some((column, if column.unit == Unit::None { unit } else { column.unit }))
    })?;
    // The values of words are no numbers.
    let values = match column.kind {
        Kind::Words(_) => vec![f64::NAN; column.values.len()],
        _ => column.values.clone(),
    };
    Some(Column::new(name, unit, Kind::Double, values))
}

/// Reads the places (x, y) of beads from a table, for [`Beads::At`](super::Beads::At). They are in the unit of the table `of`, from
/// which the drift is to be found.
///
/// # Errors
/// [`StepError`].
pub fn places(beads: &Source, of: &Source) -> Result<Vec<[f64; 2]>, StepError> {
    let layout = of.layout()?;
    let unit = layout.length_unit().map_err(of.wrong())?;
    let table = beads
        .clone()
        .of_movie(&layout.info)
        .load(Some(&Meaning::names([Meaning::X, Meaning::Y])), &Silent)?;
    let wrong = |error: TableError| StepError::input(beads.name(), error.to_string());
    let (x, y) = (
        table.lengths(Meaning::X, unit).map_err(wrong)?,
        table.lengths(Meaning::Y, unit).map_err(wrong)?,
    );
    Ok(x.iter().zip(y.iter()).map(|(&x, &y)| [x, y]).collect())
}

/// An error of reading without advice on options of the table of localizations, which do not count here.
fn plain(error: StepError) -> StepError {
    match error {
        StepError::Table { name, source } => StepError::Input { name, reason: source.to_string() },
        error => error,
    }
}
