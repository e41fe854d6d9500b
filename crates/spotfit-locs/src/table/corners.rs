//! Where windows lie.

use std::io::Read;

use fit_core::Corner;

use super::{CsvReader, Meaning, Table, TableError, Unit};

/// Reads the corners of windows from a CSV table with columns named `x` and `y`, the first pixel of each window, and
/// `frame`, from 0, which may be left out; memory does not grow with the table.
///
/// As an iterator it returns the corners in the order of the table; it ends after an error.
///
/// ```
/// use spotfit_locs::Corner;
/// use spotfit_locs::table::CornerReader;
///
/// let table = "frame,x,y\n0,17,80\n2,5,0\n";
/// let corners: Result<Vec<Corner>, _> = CornerReader::new(table.as_bytes())?.collect();
/// assert_eq!(corners?, [Corner { frame: 0, x: 17, y: 80 }, Corner { frame: 2, x: 5, y: 0 }]);
/// # Ok::<(), spotfit_locs::table::TableError>(())
/// ```
#[derive(Debug)]
pub struct CornerReader<R> {
    reader: CsvReader<R>,
    /// The rows read last, and which of them comes next.
    block: Table,
    next: usize,
    /// Rows before the block.
    before: usize,
    ended: bool,
}

impl<R: Read> CornerReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`TableError`] if there is no column `x` or `y`.
    pub fn new(reader: R) -> Result<Self, TableError> {
        let reader = CsvReader::new(reader)?
            .with_columns(&[Meaning::Frame, Meaning::X, Meaning::Y].map(Meaning::name));
        let block = reader.layout();
        for name in [Meaning::X, Meaning::Y] {
            let column = block.column(name).ok_or_else(|| TableError::Column(name.to_string()))?;
            if column.unit != Unit::Pixel {
                return Err(TableError::no_pixel_size(column, Unit::Pixel));
            }
        }
        Ok(Self { reader, block, next: 0, before: 0, ended: false })
    }

    fn corner(&mut self) -> Result<Option<Corner>, TableError> {
        while self.next == self.block.rows() {
            self.before += self.block.rows();
            let Some(block) = self.reader.read()? else { return Ok(None) };
            (self.block, self.next) = (block, 0);
        }
        let row = self.next;
        self.next += 1;
        let whole = |name: Meaning| {
            let value = self.block.values(name)?[row];
            let whole = value as u32;
            let wrong =
                || TableError::row(self.before + row, name, value, "a whole number, from 0");
            if f64::from(whole) == value { Ok(whole) } else { Err(wrong()) }
        };
        let frame =
            if self.block.column(Meaning::Frame).is_some() { whole(Meaning::Frame)? } else { 0 };
        Ok(Some(Corner { frame, x: whole(Meaning::X)?, y: whole(Meaning::Y)? }))
    }
}

impl<R: Read> Iterator for CornerReader<R> {
    type Item = Result<Corner, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.corner().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}
