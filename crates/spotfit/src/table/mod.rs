//! Tables of localizations: columns of numbers with names and units, read and written in blocks.
//!
//! [`spotfit_locs::table`] says what columns are called, here and in the files of other programs. A [`Layout`] makes a table
//! of localizations, and localizations of a table; a [`Filter`] finds the rows for which a condition holds.

mod filter;
mod layout;

pub use filter::Filter;
pub use layout::{FrameTimes, Layout, WidthColumns};
pub use spotfit_locs::table::{
    Column, ColumnNames, ColumnNamesError, CornerReader, CsvReader, CsvWriter, DecimalMark,
    Dimension, Info, Kind, LeftOut, Meaning, PicassoReader, PicassoVersion, PicassoWriter,
    SaveOptions, Table, TableError, TableFormat, TableOutput, TableReader, TextOptions, Unit,
    is_our_sidecar, sidecar,
};
