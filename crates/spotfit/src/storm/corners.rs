//! Reading tables of corners: where windows lie.

use std::io::Read;

use fit_core::Corner;

use super::columns::{Columns, TableError};

/// Reads the corners of windows from a table with columns named `x` and `y`, the first pixel of each window, and
/// `frame`, from 0, which may be left out; one at a time: memory does not grow with the table.
///
/// As an iterator it returns the corners in the order of the table; it ends after an error.
///
/// ```
/// use spotfit::Corner;
/// use spotfit::storm::CornerReader;
///
/// let table = "frame,x,y\n0,17,80\n2,5,0\n";
/// let corners: Result<Vec<Corner>, _> = CornerReader::new(table.as_bytes())?.collect();
/// assert_eq!(corners?, [Corner { frame: 0, x: 17, y: 80 }, Corner { frame: 2, x: 5, y: 0 }]);
/// # Ok::<(), spotfit::storm::TableError>(())
/// ```
pub struct CornerReader<R> {
    columns: Columns<R>,
    frame: Option<usize>,
    x: usize,
    y: usize,
    ended: bool,
}

impl<R: Read> CornerReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`TableError`] if there is no column `x` or `y`.
    pub fn new(reader: R) -> Result<Self, TableError> {
        let columns = Columns::new(reader)?;
        let (frame, x, y) =
            (columns.find(&["frame"]).ok(), columns.find(&["x"])?, columns.find(&["y"])?);
        Ok(Self { columns, frame, x, y, ended: false })
    }

    fn corner(&mut self) -> Result<Option<Corner>, TableError> {
        if !self.columns.advance()? {
            return Ok(None);
        }
        let whole = |column: usize| {
            let value = self.columns.number(column)?;
            let whole = value as u32;
            if f64::from(whole) == value {
                Ok(whole)
            } else {
                Err(self.columns.wrong(column, "a whole number, from 0"))
            }
        };
        let frame = self.frame.map_or(Ok(0), whole)?;
        Ok(Some(Corner { frame, x: whole(self.x)?, y: whole(self.y)? }))
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
