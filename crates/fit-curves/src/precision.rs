//! The arithmetic of a search.

/// The precision that curves are fitted in.
///
/// The reference ([`crate::CurveBatch`] says for whom batches are made) computes in double precision whatever is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CurvePrecision {
    /// Single precision where that is enough for the data and the tolerance, and double precision for the others.
    #[default]
    Auto,
    /// Double precision: each fit ends as if all of it had been computed so.
    F64,
}

impl CurvePrecision {
    /// Each, and its name for users.
    pub const ALL: [(Self, &'static str); 2] = [(Self::Auto, "auto"), (Self::F64, "f64")];
}
