//! Records as files that are about to be there.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::Path;

use spotfit_files::output::{Output, OutputError, refuse_stranger};

use super::{Record, State};

impl Record {
    /// This record beside a table, about to be there.
    pub(crate) fn file(&self, table: &Path) -> Result<Output, OutputError> {
        let path = Self::path(table);
        let mut output = Output::create(&path)?;
        let written = output.write_all(self.text().as_bytes());
        written
            .map_err(|source| OutputError::Write { file: path.display().to_string(), source })?;
        Ok(output)
    }

    /// Refuses to replace what somebody else has put in the place of a table's record.
    ///
    /// # Errors
    /// [`OutputError`].
    pub fn refuse_stranger(table: &Path, overwrite: bool) -> Result<(), OutputError> {
        refuse_stranger(&Self::path(table), Self::is_ours, overwrite)
    }

    /// The files of this record that appear before and after those of its table. The first says `begun` and the last says `done`: whoever is
    /// killed between them leaves no table that is taken for what it is not.
    ///
    /// # Errors
    /// [`OutputError`].
    pub fn around(
        self,
        table: &Path,
        overwrite: bool,
        counts: BTreeMap<String, u64>,
    ) -> Result<[Output; 2], OutputError> {
        Self::refuse_stranger(table, overwrite)?;
        let begun = self.begun(Self::beside(table).as_ref(), table.exists());
        let done = Self { state: State::Done { counts }, ..self };
        Ok([begun.file(table)?, done.file(table)?])
    }
}
