//! Sums of weights over the pixels that are used.

use super::filter::WIDE;
use crate::kernel::Area;

/// A number for each pixel of a frame.
#[derive(Clone, Debug)]
pub(super) enum Share {
    /// The products of those of columns and rows.
    Lines([Vec<f32>; 2]),
    /// Those of each pixel, in memory.
    Pixels(Vec<f32>),
}

impl Share {
    /// The numbers of a row: these, times that.
    #[inline(always)]
    pub(super) fn row(&self, area: Area, y: usize) -> (&[f32], f32) {
        match self {
            Self::Lines([columns, rows]) => (columns, rows[y]),
            Self::Pixels(pixels) => {
                let at = (area.first[1] + y) * area.stride + area.first[0];
                (&pixels[at..at + area.size[0].next_multiple_of(WIDE)], 1.0)
            }
        }
    }

    pub(super) fn at(&self, area: Area, x: usize, y: usize) -> f32 {
        let (row, factor) = self.row(area, y);
        row[x] * factor
    }

    /// Sums of weights along the axes, as far as they are in the frame.
    pub(super) fn of_lines(lines: [&[f32]; 2], size: [usize; 2]) -> Self {
        let along = |weights: &[f32], length: usize| -> Vec<f32> {
            let half = weights.len() / 2;
            let sum = |at: usize| {
                let first = half.saturating_sub(at);
                let end = weights.len().min((length + half).saturating_sub(at));
                weights.get(first..end).map_or(0.0, |inside| inside.iter().sum())
            };
            (0..length.next_multiple_of(WIDE)).map(sum).collect()
        };
        Self::Lines([along(lines[0], size[0]), along(lines[1], size[1])])
    }

    /// 1 over each number, or over 1.
    pub(super) fn inverse(self) -> Self {
        let inverse = |numbers: Vec<f32>| numbers.iter().map(|&n| 1.0 / n.max(1.0)).collect();
        match self {
            Self::Lines(lines) => Self::Lines(lines.map(inverse)),
            Self::Pixels(pixels) => Self::Pixels(inverse(pixels)),
        }
    }
}
