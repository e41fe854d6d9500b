//! Lines of numbers, of which only the last few are kept.

use std::ops::Range;

/// The lines of a frame that are being looked at: each takes the place of one that nobody needs any more.
#[derive(Debug, Default)]
pub(super) struct Lines {
    numbers: Vec<f32>,
    width: usize,
    kept: u64,
    /// 2⁶⁴ divided by `kept`, rounded up: a product takes the place of a division.
    share: u64,
}

impl Lines {
    /// Room for lines of `width` numbers, of which `kept` are there at a time.
    pub(super) fn reset(&mut self, width: usize, kept: usize) {
        // Each line is written before it is read.
        let kept = kept.max(2);
        self.numbers.resize(width * kept, 0.0);
        (self.width, self.kept) = (width, kept as u64);
        self.share = u64::MAX / self.kept + 1;
    }

    #[inline(always)]
    fn place(&self, y: usize) -> Range<usize> {
        // Exact for all that fit into 32 bits, as rows do.
        let y = y as u64;
        let rounds = ((u128::from(y) * u128::from(self.share)) >> 64) as u64;
        let start = (y - rounds * self.kept) as usize * self.width;
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
