//! The table of what has become of all movies.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::plan::Task;
use super::{COUNTS, Outcome};
use crate::error::CliError;
use crate::words::output::{self, Output};

/// Refuses to replace a table that is no summary.
pub(super) fn refuse_stranger(path: &Path, overwrite: bool) -> Result<(), CliError> {
    output::refuse_stranger(path, is_ours, overwrite)
}

/// Whether a file begins as summaries do, whatever they count.
fn is_ours(path: &Path) -> bool {
    let begin = format!("{},", FIRST.join(","));
    let mut own = vec![0; begin.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut own));
    read.is_ok() && own == begin.as_bytes()
}

/// The columns before the counts.
const FIRST: [&str; 3] = ["movie", "output", "state"];

/// Writes the summary: the same bytes whether movies were localized now or before.
pub(super) fn write(path: &Path, tasks: &[Task], outcomes: &[Outcome]) -> Result<(), CliError> {
    let mut output = Output::create(path)?;
    let name = output.name().to_owned();
    let failed = |error: csv::Error| CliError::write(&name)(error.into());
    let mut writer = csv::Writer::from_writer(output.writer());
    let header = FIRST.into_iter().chain(COUNTS).chain(["error"]);
    writer.write_record(header).map_err(failed)?;
    for (task, outcome) in tasks.iter().zip(outcomes) {
        let (state, counts, error) = match outcome {
            Outcome::Finished(counts) | Outcome::Fitted(counts) => {
                let count = |name: &str| counts.get(name).map(u64::to_string).unwrap_or_default();
                ("done", COUNTS.map(count), "")
            }
            Outcome::Failed(error) => ("failed", Default::default(), error.as_str()),
        };
        let mut row = vec![task.movie.clone(), task.file(), state.to_owned()];
        row.extend(counts);
        row.push(error.to_owned());
        writer.write_record(row).map_err(failed)?;
    }
    writer.flush().map_err(|error| CliError::write(&name)(error))?;
    drop(writer);
    output.finish()
}
