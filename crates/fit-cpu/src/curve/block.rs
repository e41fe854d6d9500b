//! Blocks of points, and where results lie.

use std::ops::Range;

/// Where results lie: the first, and how far the next column and the next row are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place {
    pub(super) at: usize,
    pub(super) column: usize,
    pub(super) row: usize,
    /// Whether there is room for all points, not only for those of a block.
    pub(super) whole: bool,
}

impl Place {
    /// Where those of a block begin.
    #[inline(always)]
    pub(super) fn of(&self, block: &Block) -> usize {
        if self.whole {
            self.at + block.column * self.column + block.row * self.row
        } else {
            self.at
        }
    }
}

/// Points that are evaluated together: so many columns and rows from the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(super) column: usize,
    pub(super) row: usize,
    pub(super) columns: usize,
    pub(super) rows: usize,
    /// The number of the first point.
    pub(super) first: usize,
}

impl Block {
    /// All of so many points.
    #[inline(always)]
    pub(super) fn whole(points: usize) -> Self {
        Self { column: 0, row: 0, columns: points, rows: 1, first: 0 }
    }

    /// The numbers of its columns.
    #[inline(always)]
    pub(crate) fn columns(&self) -> Range<usize> {
        self.column..self.column + self.columns
    }

    /// The numbers of its rows.
    #[inline(always)]
    pub(crate) fn rows(&self) -> Range<usize> {
        self.row..self.row + self.rows
    }

    /// The numbers of its points.
    #[inline(always)]
    pub(crate) fn points(&self) -> Range<usize> {
        self.first..self.first + self.columns * self.rows
    }
}
