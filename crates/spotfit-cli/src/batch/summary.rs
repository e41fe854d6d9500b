//! The table of what has become of all movies.

use std::path::Path;

use super::Outcome;
use super::plan::Task;
use super::record::Tally;
use crate::error::CliError;
use crate::output::Output;

/// Writes the summary: the same bytes whether movies were localized now or before.
pub(super) fn write(path: &Path, tasks: &[Task], outcomes: &[Outcome]) -> Result<(), CliError> {
    let mut output = Output::create(path)?;
    let name = output.name().to_owned();
    let failed = |error: csv::Error| CliError::write(&name)(error.into());
    let mut writer = csv::Writer::from_writer(output.writer());
    let counts = Tally::default().named().map(|(name, _)| name);
    let header = ["movie", "output", "state"].into_iter().chain(counts).chain(["error"]);
    writer.write_record(header).map_err(failed)?;
    for (task, outcome) in tasks.iter().zip(outcomes) {
        let (state, counts, error) = match outcome {
            Outcome::Finished(tally) | Outcome::Fitted(tally) => {
                ("done", tally.named().map(|(_, count)| count.to_string()), "")
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
