//! The rows of a table, group by group.

use super::Links;
use crate::near::{ColumnsError, by_frame};

/// The rows of each group in the order of their frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    rows: Vec<u32>,
    starts: Vec<u32>,
}

impl Groups {
    /// Sorts the rows of a table with these frames by their groups, which [`link`](super::link) finds.
    ///
    /// # Errors
    ///
    /// If the numbers of frames and rows differ, if there are too many rows, or if the number of a group is not below
    /// `count`.
    pub fn new(frames: &[u32], links: &Links) -> Result<Self, ColumnsError> {
        let Links { groups, count, .. } = links;
        if groups.len() != frames.len() {
            let (rows, expected) = (groups.len(), frames.len());
            return Err(ColumnsError::Rows { column: "groups", rows, expected });
        }
        let mut starts = vec![0; count + 1];
        for (row, &group) in groups.iter().enumerate() {
            if group as usize >= *count {
                return Err(ColumnsError::Group { row, group, count: *count });
            }
            starts[group as usize + 1] += 1;
        }
        for group in 0..*count {
            starts[group + 1] += starts[group];
        }
        let mut rows = vec![0; groups.len()];
        for row in by_frame(frames) {
            let next = &mut starts[groups[row as usize] as usize];
            rows[*next as usize] = row;
            *next += 1;
        }
        // Each start is now its group's end.
        starts.rotate_right(1);
        starts[0] = 0;
        Ok(Self { rows, starts })
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows of a group in the order of their frames; none if there is no such group.
    pub fn rows(&self, group: usize) -> &[u32] {
        match self.starts.get(group..group.saturating_add(2)) {
            Some(&[start, end]) => &self.rows[start as usize..end as usize],
            _ => &[],
        }
    }

    /// The rows of each group, in the order of the groups.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|group| self.rows(group))
    }
}
