//! Lines of numbers, of which only the last few are kept.

use std::ops::Range;

/// The lines of a frame that are being looked at: each takes the place of one that nobody needs any more.
#[derive(Debug, Default)]
pub(super) struct Lines {
    numbers: Vec<f32>,
    width: usize,
    kept: usize,
}

impl Lines {
    /// Room for lines of `width` numbers, of which `kept` are there at a time.
    pub(super) fn reset(&mut self, width: usize, kept: usize) {
        // Each line is written before it is read.
        self.numbers.resize(width * kept, 0.0);
        (self.width, self.kept) = (width, kept);
    }

    #[inline(always)]
    fn place(&self, y: usize) -> Range<usize> {
        let start = y % self.kept * self.width;
        start..start + self.width
    }

    #[inline(always)]
    pub(super) fn line(&self, y: usize) -> &[f32] {
        &self.numbers[self.place(y)]
    }

    #[inline(always)]
    pub(super) fn line_mut(&mut self, y: usize) -> &mut [f32] {
        let place = self.place(y);
        &mut self.numbers[place]
    }
}
