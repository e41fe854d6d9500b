//! The table of what came of all movies.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::report::MovieOutcome;
use crate::output::{Output, OutputError};
use crate::steps::StepError;

/// The columns before the counts.
const FIRST: [&str; 3] = ["movie", "output", "state"];
/// The counts.
const COUNTS: [&str; 5] = ["frames", "candidates", "fits", "converged", "localizations"];

/// What is said of it.
const LAST: [&str; 2] = ["error", "warnings"];

/// Whether a file begins as summaries do, whatever they count.
pub(super) fn is_ours(path: &Path) -> bool {
    let begin = format!("{},", FIRST.join(","));
    let mut own = vec![0; begin.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut own));
    read.is_ok() && own == begin.as_bytes()
}

/// Writes the summary: the same bytes whether movies were localized now or before.
pub(super) fn write(
    path: &Path,
    movies: &[MovieOutcome],
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(), StepError> {
    let mut output = Output::create(path)?;
    let file = output.name().to_owned();
    let failed =
        |error: csv::Error| OutputError::Write { file: file.clone(), source: error.into() };
    let mut writer = csv::Writer::from_writer(&mut output);
    let header = FIRST.into_iter().chain(COUNTS).chain(LAST);
    writer.write_record(header).map_err(failed)?;
    for movie in movies {
        let count = |name: &str| movie.count(name).map(|count| count.to_string());
        let state = if movie.error.is_none() { "done" } else { "failed" };
        let mut row = vec![movie.movie.clone(), movie.output.clone(), state.to_owned()];
        row.extend(COUNTS.map(|name| count(name).unwrap_or_default()));
        row.push(movie.error.clone().unwrap_or_default());
        row.push(movie.warnings.join("; "));
        writer.write_record(row).map_err(failed)?;
    }
    writer.flush().map_err(|source| OutputError::Write { file: file.clone(), source })?;
    drop(writer);
    Ok(Output::finish_all([output], &mut |_| go_on())?)
}
