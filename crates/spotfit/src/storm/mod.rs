//! Small tables read row by row: points to show, positions to fit, and where windows lie.

mod columns;
mod corners;
mod read;

pub use columns::TableError;
pub use corners::CornerReader;
pub use read::{MOST_POSITIONS, Point, PointReader, read_positions};
