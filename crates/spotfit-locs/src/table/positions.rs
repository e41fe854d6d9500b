//! Positions in tables.

use super::{Meaning, Table, TableError, Unit};
use crate::positions::Positions;

impl Table {
    /// Moves x and y by so many pixels, as far as they are there.
    ///
    /// # Errors
    /// [`TableError::PixelSize`] for a column in nanometres where the size of a pixel is not known. Other columns may have moved.
    pub fn shift(&mut self, pixels: f64) -> Result<(), TableError> {
        for meaning in [Meaning::X, Meaning::Y] {
            let Some(mut column) = self.column(meaning).cloned() else { continue };
            let size = self.info.pixel_in(column.unit);
            let size = size.ok_or_else(|| TableError::no_pixel_size(&column, Unit::Pixel))?;
            column.values.iter_mut().for_each(|value| *value += pixels * size);
            self.set(column);
        }
        Ok(())
    }

    /// The positions of a table, to be fitted: `frame`, `x` and `y`, in pixels. The centre of the first pixel is at (`origin`, `origin`) in
    /// the table, also in pixels: 0, or 0.5 where (0, 0) is its corner.
    ///
    /// # Errors
    /// [`TableError::Column`], [`TableError::PixelSize`], and [`TableError::Row`] for what is no position.
    pub fn positions(&self, origin: f64) -> Result<Positions, TableError> {
        let (x, y) =
            (self.lengths(Meaning::X, Unit::Pixel)?, self.lengths(Meaning::Y, Unit::Pixel)?);
        let mut positions = Positions::default();
        for (row, &frame) in self.values(Meaning::Frame)?.iter().enumerate() {
            if !(0.0..=2f64.powi(52)).contains(&frame) || frame.fract() != 0.0 {
                return Err(TableError::row(row, Meaning::Frame, frame, "the number of a frame"));
            }
            for (name, value) in [(Meaning::X, x[row]), (Meaning::Y, y[row])] {
                if !value.is_finite() {
                    return Err(TableError::row(row, name, value, "a finite number"));
                }
            }
            positions.push(frame as usize, x[row] - origin, y[row] - origin);
        }
        Ok(positions)
    }
}
