//! What stands beside an output and says how it was made.

use std::path::{Path, PathBuf};

use clap::Args;
use spotfit::record::{InputFile, Record, RecordError};

use crate::error::CliError;
use crate::say::hearer::hearer;
use crate::words::output::{Output, Writing};
use crate::words::paths::is_stream;

/// Whether a record stands beside an output.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct RecordArguments {
    /// Replace files that Spotfit did not write: the output itself, and OUTPUT.spotfit.json beside it. Without this option such a file is
    /// not changed, and nothing is written.
    #[arg(help_heading = "Output", long)]
    pub(crate) overwrite: bool,
    /// Write no record beside the output; that of a file that is replaced goes with it. Otherwise OUTPUT.spotfit.json says how it
    /// was made: version, options, the files that were read, and the camera.
    #[arg(help_heading = "Output", long)]
    no_record: bool,
}

impl From<Writing> for RecordArguments {
    fn from(Writing { overwrite, no_record, .. }: Writing) -> Self {
        Self { overwrite, no_record }
    }
}

impl RecordArguments {
    /// The record of an output that the running verb makes, with its words as they were typed. A stream has none.
    pub(crate) fn of(self, output: &Path) -> Result<Recorded, CliError> {
        let Self { overwrite, no_record } = self;
        let record = (!no_record && !is_stream(output)).then(|| typed(output));
        let recorded = Recorded { record, output: output.to_owned(), overwrite };
        if recorded.record.is_some() {
            // Before any work is done for it.
            Record::refuse_stranger(output, overwrite)?;
        }
        Ok(recorded)
    }
}

/// The record of an output, if it has one. It appears with its output.
#[derive(Debug)]
pub(crate) struct Recorded {
    record: Option<Record>,
    output: PathBuf,
    overwrite: bool,
}

impl Recorded {
    /// Changes it, if there is one.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut Record)) {
        if let Some(record) = &mut self.record {
            change(record);
        }
    }

    /// A file was read, for a purpose; nothing is recorded of standard input.
    pub(crate) fn reads(&mut self, role: &str, file: &Path) -> Result<(), CliError> {
        self.record.as_mut().map_or(Ok(()), |record| reads(record, role, file))
    }

    /// Files were read, which are described already.
    pub(crate) fn has_read(
        &mut self,
        files: impl FnOnce() -> Result<Vec<InputFile>, RecordError>,
    ) -> Result<(), CliError> {
        let Some(record) = &mut self.record else { return Ok(()) };
        let files = files().map_err(|error| CliError::Other(error.to_string()))?;
        record.inputs.extend(files);
        Ok(())
    }

    /// The record itself, for an output that keeps it while it grows.
    pub(crate) fn into_record(self) -> Option<Record> {
        self.record
    }

    /// The files of the output with the record around them, in the order in which they are to appear.
    pub(crate) fn around(
        self,
        files: Vec<Output>,
        counts: impl IntoIterator<Item = (String, u64)>,
    ) -> Result<Vec<Output>, CliError> {
        let Some(record) = self.record else { return Ok(files) };
        let counts = counts.into_iter().collect();
        let [first, last] = record.around(&self.output, self.overwrite, counts)?.map(Output::from);
        Ok(std::iter::once(first).chain(files).chain([last]).collect())
    }
}

/// The words of the running verb as they were typed.
pub(crate) fn words() -> Vec<String> {
    let typed = match hearer() {
        Some(hearer) => hearer.words().to_vec(),
        None => std::env::args_os().skip(1).collect(),
    };
    typed.into_iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The record of an output that the running verb makes, with its words as they were typed.
pub(crate) fn typed(output: &Path) -> Record {
    let mut words = words().into_iter();
    let mut record = Record::new(&words.next().unwrap_or_default(), output);
    record.options.insert("words".to_owned(), words.collect());
    record
}

/// A file was read, for a purpose; nothing is recorded of standard input.
pub(crate) fn reads(record: &mut Record, role: &str, file: &Path) -> Result<(), CliError> {
    if file == Path::new("-") || !file.exists() {
        return Ok(());
    }
    let failed =
        |error: std::io::Error| CliError::file(&file.display().to_string(), error.to_string());
    record.inputs.push(InputFile::new(role, file).map_err(failed)?);
    Ok(())
}

/// Counts of a record by their names.
pub(crate) fn counts<const N: usize>(counts: [(&str, usize); N]) -> [(String, u64); N] {
    counts.map(|(name, count)| (name.to_owned(), count as u64))
}
