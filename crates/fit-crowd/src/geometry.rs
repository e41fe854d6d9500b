//! How patches lie in memory.

use crate::lanes::LANES;

/// The longest row of a patch.
pub(crate) const LONGEST: usize = 64;

/// The pixels of a patch: `rows` rows of `chunks`·[`LANES`] numbers, of which the first `rows` are pixels and the rest 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Geometry {
    /// Pixels from the centre to the edge.
    pub(crate) half: usize,
    pub(crate) rows: usize,
    pub(crate) chunks: usize,
}

impl Geometry {
    /// Patches that reach `half` pixels from their centre.
    pub(crate) fn of(half: usize) -> Self {
        let rows = 2 * half + 1;
        Self { half, rows, chunks: rows.div_ceil(LANES) }
    }

    /// Numbers in a row.
    pub(crate) const fn stride(&self) -> usize {
        self.chunks * LANES
    }

    /// Numbers of one function.
    pub(crate) const fn size(&self) -> usize {
        self.rows * self.stride()
    }
}
