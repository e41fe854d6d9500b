//! Sinks: the destination of the resulting table.

use crate::table::{Table, TableError};

/// Takes a table block by block. All blocks have the same columns; the first is there even if it has no rows.
pub trait Sink {
    /// Takes the next rows.
    ///
    /// # Errors
    /// [`TableError`] if they cannot be kept.
    fn write(&mut self, block: Table) -> Result<(), TableError>;
}

/// Collects the rows.
impl Sink for Table {
    fn write(&mut self, block: Table) -> Result<(), TableError> {
        if self.columns().is_empty() {
            *self = block;
            return Ok(());
        }
        self.append(&block)
    }
}
