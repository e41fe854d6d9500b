//! Positions that are to be fitted.

use std::fs::File;
use std::io::stdin;
use std::path::Path;

use crate::localize::Positions;
use crate::record::{Origin, Record};
use crate::steps::{Listener, Note, Source, StepError};
use crate::table::{Table, Unit};

/// The most positions: half a gigabyte.
const MOST: usize = 1 << 24;

/// The positions in a file: a table of localizations, or `-` for CSV on standard input. Pixels have this size in nanometres,
/// whatever the table says. Where nothing is recorded of its origin, that of the output counts.
///
/// # Errors
/// [`StepError`].
pub fn read_positions(
    path: &Path,
    pixel_size: Option<f64>,
    output: Origin,
    listener: &dyn Listener,
) -> Result<Positions, StepError> {
    let source = opened(path, pixel_size)?;
    let recorded = Record::beside(path).is_some();
    let source = match Record::origin_of(path) {
        Some(_) if recorded => source,
        _ => source.with_origin(Some(output)),
    };
    positions(&source, recorded, listener)
}

/// The positions in a table: `frame` (from 0), `x` and `y`, in pixels or in nanometres.
///
/// # Errors
/// [`StepError`].
pub fn positions_of(source: &Source, listener: &dyn Listener) -> Result<Positions, StepError> {
    positions(source, true, listener)
}

/// The positions in a table, whose origin is recorded or not.
fn positions(
    source: &Source,
    recorded: bool,
    listener: &dyn Listener,
) -> Result<Positions, StepError> {
    for note in source.notes()? {
        listener.note(&Note::Notice(format!("{}: {note}", source.name())));
    }
    let mut table = Table::default();
    source.blocks(Some(&["frame", "x", "y"]), listener, |block| {
        if table.rows() + block.rows() > MOST {
            let reason =
                format!("there are more than {MOST} positions; fit a part of them at a time");
            return Err(StepError::input(source.name(), reason));
        }
        table.append(&block).map_err(source.wrong())
    })?;
    // Bare positions in pixels are at the centres of pixels, whatever the output.
    let bare = !recorded && table.length_unit().map_err(source.wrong())? == Unit::Pixel;
    let origin = if bare { 0.0 } else { source.origin() };
    table.positions(origin).map_err(source.wrong())
}

/// A table in a file, or one that can be read only once.
fn opened(path: &Path, pixel_size: Option<f64>) -> Result<Source, StepError> {
    let name = path.display().to_string();
    let source = Source::file(path).with_pixel_size(pixel_size)?;
    if path == Path::new("-") {
        return source.once(stdin());
    }
    let failed = |error| StepError::Refused(format!("cannot read {name}: {error}"));
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(StepError::input(&name, "this is a folder, not a file"));
    }
    if metadata.is_file() { Ok(source) } else { source.once(file) }
}
