//! Reading tables: positions to fit, and localizations to show.

use std::io::Read;

use super::columns::{Columns, TableError};
use crate::localize::Positions;
use crate::localize::spot::root_mean_square;

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

/// What a picture needs of a localization, in the unit of its table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Centre.
    pub x: f64,
    /// Centre.
    pub y: f64,
    /// Uncertainty of x and y, the root mean square if they differ; 0 where it is not known.
    pub uncertainty: f64,
}

/// Reads localizations from a table such as [`super::StormFormat`] writes, one at a time: memory does
/// not grow with the table.
///
/// As an iterator it returns the points in the order of the table; it ends after an error.
pub struct PointReader<R> {
    columns: Columns<R>,
    nanometres: bool,
    x: usize,
    y: usize,
    /// Of x and of y.
    uncertainty: Option<[usize; 2]>,
    left_out: usize,
    ended: bool,
}

impl<R: Read> PointReader<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// [`TableError`] if there is no column `x` or `y`, with or without its unit.
    pub fn new(reader: R) -> Result<Self, TableError> {
        let columns = Columns::new(reader)?;
        let nanometres = columns.find(&["x [nm]"]).is_ok();
        let unit = if nanometres { "nm" } else { "px" };
        let with_unit = |name: &str| format!("{name} [{unit}]");
        let centre = |name: &str| match nanometres {
            true => columns.find(&[&with_unit(name)]),
            false => columns.find(&[&with_unit(name), name]),
        };
        let (x, y) = (centre("x")?, centre("y")?);
        let length = |name: &str| columns.find(&[&with_unit(name)]).ok();
        // ThunderSTORM's older versions say `uncertainty`.
        let both = length("uncertainty_xy").or(length("uncertainty")).map(|both| [both, both]);
        let each = || Some([length("uncertainty_x")?, length("uncertainty_y")?]);
        let uncertainty = both.or_else(each);
        Ok(Self { columns, nanometres, x, y, uncertainty, left_out: 0, ended: false })
    }

    /// Whether lengths are in nanometres rather than pixels.
    pub fn nanometres(&self) -> bool {
        self.nanometres
    }

    /// Lines left out so far because a number in them is not finite (fits that failed).
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    fn point(&mut self) -> Result<Option<Point>, TableError> {
        while self.columns.advance()? {
            let number = |column: usize| self.columns.any_number(column);
            let point = Point {
                x: number(self.x)?,
                y: number(self.y)?,
                uncertainty: match self.uncertainty {
                    Some([x, y]) => root_mean_square(number(x)?, number(y)?),
                    None => 0.0,
                },
            };
            if point.x.is_finite() && point.y.is_finite() && point.uncertainty.is_finite() {
                return Ok(Some(point));
            }
            self.left_out += 1;
        }
        Ok(None)
    }
}

impl<R: Read> Iterator for PointReader<R> {
    type Item = Result<Point, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.point().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
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
