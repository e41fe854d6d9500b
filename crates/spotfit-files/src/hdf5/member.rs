//! Columns, and the types of their numbers.

/// The type of a number in a file.
pub use crate::npy::NumberType as NumberKind;

/// A member of the records of a table: a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The column's name.
    pub name: String,
    /// The type of its numbers.
    pub kind: NumberKind,
}
