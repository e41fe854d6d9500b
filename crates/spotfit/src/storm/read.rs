//! Reading tables of positions to fit.

use std::io::Read;

use super::columns::{Columns, TableError};
use crate::localize::Positions;

/// The most positions that [`read_positions`] takes: 2²⁴, half a gigabyte.
pub const MOST_POSITIONS: usize = 1 << 24;

/// Reads at most [`MOST_POSITIONS`] positions to fit: columns named `frame` (from 0), `x` and `y` (pixels). Other
/// columns are ignored.
///
/// # Errors
/// [`TableError`] with the line and the column.
pub fn read_positions(reader: impl Read) -> Result<Positions, TableError> {
    read_some_positions(reader, MOST_POSITIONS)
}

fn read_some_positions(reader: impl Read, most: usize) -> Result<Positions, TableError> {
    let mut columns = Columns::new(reader)?;
    let (frame, x, y) = (columns.find(&["frame"])?, columns.find(&["x"])?, columns.find(&["y"])?);
    let mut positions = Positions::default();
    while columns.advance()? {
        let at = columns.number(frame)?;
        if at < 0.0 || at.fract() != 0.0 || at > 2f64.powi(52) {
            return Err(columns.wrong(frame, "the number of a frame, from 0"));
        }
        if positions.len() == most {
            return Err(TableError::ManyPositions { line: columns.line(), most });
        }
        positions.push(at as usize, columns.number(x)?, columns.number(y)?);
    }
    Ok(positions)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that as many positions as are allowed are read, and that one more is an error with its line.
    #[test]
    fn positions_have_a_limit() {
        let text = "frame,x,y\n".to_owned() + &"3,1.5,2\n".repeat(10);
        let read = |most| read_some_positions(text.as_bytes(), most);
        assert_eq!(read(10).expect("all of them").len(), 10);
        let said = read(9).expect_err("one too many").to_string();
        assert!(said.starts_with("line 11: there are more than 9 positions"), "{said}");
    }
}
