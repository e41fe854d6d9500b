//! How the number of emitters changes: each move is tried, and kept if it pays.

pub(crate) mod add;
pub(crate) mod merge;
pub(crate) mod room;
pub(crate) mod split;

/// A trial is made where the score expects this share of the significance that is needed, in standard deviations.
pub(crate) const HOPE: f64 = 0.85;
