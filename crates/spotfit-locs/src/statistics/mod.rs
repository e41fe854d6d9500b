//! Statistics of tables of localizations: precision and resolution estimated from the data, neighbours and duplicates.
//!
//! Positions are in any one unit of length, and so are the results; frames are counted from 0. Rows need not be in the order of
//! frames.

mod density;
mod duplicates;
mod frc;
mod nena;

pub use crate::near::ColumnsError;
pub use density::density;
pub use duplicates::{Duplicates, duplicates};
pub use frc::{Frc, FrcError, FrcOptions, frc};
pub use nena::{Nena, NenaCurve, NenaError, NenaTerm, nena};
