//! Columns that lie in datasets of their own, or some of them together.

use std::io::{Read, Seek};

use spotfit_files::hdf5::{H5Error, H5Reader, Rows};

use super::BLOCK;
use crate::table::read::{RowSource, TableHead};
use crate::table::{Table, TableError};

/// Datasets with the same number of rows, the columns of each after those of the one before.
pub(super) struct Parts<R> {
    file: H5Reader<R>,
    parts: Vec<Rows>,
}

impl<R: Read + Seek> Parts<R> {
    pub(super) fn new(file: H5Reader<R>, parts: Vec<Rows>) -> Self {
        Self { file, parts }
    }
}

impl<R: Read + Seek> RowSource for Parts<R> {
    fn read(&mut self, head: &mut TableHead) -> Result<Option<Table>, TableError> {
        head.rows(|wanted, values| {
            let (mut begin, mut count) = (0, 0);
            for part in &mut self.parts {
                let end = begin + part.members().len();
                // Whoever wants none reads no rows.
                if wanted[begin..end].contains(&true) {
                    count = part.read(&mut self.file, BLOCK, &mut values[begin..end])?;
                }
                begin = end;
            }
            Ok(count)
        })
    }
}

/// Whether a dataset is only no column of numbers, so that the others can be read all the same.
pub(super) fn is_no_column(error: &H5Error) -> bool {
    matches!(error, H5Error::Sort { .. } | H5Error::Unsupported { .. })
}
