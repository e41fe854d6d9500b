//! Where a frame is bright: around a place, and everywhere.

use fit_core::Pixel;
use ndarray::ArrayView2;

use super::FrameView;
use super::frame::FrameVisitor;

/// A bright place: the middle of nine pixels, and what they add up to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Peak {
    pub(super) place: [f64; 2],
    pub(super) light: f32,
}

/// What is looked for.
struct Seek<'a> {
    /// Columns and rows of the middles: from, and before.
    columns: [usize; 2],
    rows: [usize; 2],
    /// Peaks are so far from each other, and from what is taken.
    apart: f64,
    taken: &'a [[f64; 2]],
    /// The brightest first; never more than it has room for.
    peaks: &'a mut Vec<Peak>,
    /// Sums of three pixels of each column.
    sums: &'a mut [f32],
}

impl FrameVisitor for Seek<'_> {
    type Output = ();

    fn visit<P: Pixel>(self, frame: ArrayView2<'_, P>) {
        let Self { columns: [left, right], rows: [top, bottom], apart, taken, peaks, sums } = self;
        let near =
            |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).abs() < apart && (a[1] - b[1]).abs() < apart;
        let Some(pixels) = frame.to_slice() else { return };
        let width = frame.dim().1;
        for y in top..bottom {
            let [above, own, below] =
                [y - 1, y, y + 1].map(|y| &pixels[y * width..(y + 1) * width]);
            for x in left - 1..=right {
                sums[x] = above[x].to_f32() + own[x].to_f32() + below[x].to_f32();
            }
            for x in left..right {
                let light = sums[x - 1] + sums[x] + sums[x + 1];
                let full = peaks.len() == peaks.capacity();
                let least = peaks.last().map_or(f32::NEG_INFINITY, |peak| peak.light);
                // Also for light that is no number.
                if !(light > least || (!full && light > f32::NEG_INFINITY)) {
                    continue;
                }
                let place = [x as f64, y as f64];
                if taken.iter().any(|&other| near(other, place))
                    || peaks.iter().any(|peak| peak.light >= light && near(peak.place, place))
                {
                    continue;
                }
                peaks.retain(|peak| !near(peak.place, place));
                if peaks.len() == peaks.capacity() {
                    peaks.pop();
                }
                let at = peaks.partition_point(|peak| peak.light >= light);
                peaks.insert(at, Peak { place, light });
            }
        }
    }
}

/// Room for a search.
#[derive(Debug)]
pub(super) struct Search {
    sums: Vec<f32>,
    one: Vec<Peak>,
    all: Vec<Peak>,
    /// Peaks are so far from each other.
    apart: f64,
}

/// Beads that are tried in turn when all were lost.
const TRIED: usize = 8;
/// A bead is at a peak if it is so near, in pixels.
const NEAR: f64 = 2.5;

impl Search {
    /// For frames of so many columns, and so many beads.
    pub(super) fn new(columns: usize, beads: usize, side: usize) -> Self {
        Self {
            sums: vec![0.0; columns],
            one: Vec::with_capacity(1),
            all: Vec::with_capacity((2 * beads).clamp(8, 256)),
            apart: side as f64 / 2.0,
        }
    }

    /// How far beads are from each other at least.
    pub(super) fn apart(&self) -> f64 {
        self.apart
    }

    /// The brightest place within `reach` of a place, away from what is taken.
    pub(super) fn around(
        &mut self,
        frame: FrameView<'_>,
        place: [f64; 2],
        reach: usize,
        taken: &[[f64; 2]],
    ) -> Option<[f64; 2]> {
        let along = |at: f64, length: usize| {
            let (low, high) = (at.round() - reach as f64, at.round() + reach as f64);
            let first = low.max(1.0) as usize;
            let end = ((high + 1.0).max(0.0) as usize).min(length.saturating_sub(1));
            (at.is_finite() && first < end).then_some([first, end])
        };
        let (columns, rows) = (along(place[0], frame.width)?, along(place[1], frame.height)?);
        let Self { sums, one, apart, .. } = self;
        one.clear();
        frame.visit(Seek { columns, rows, apart: *apart, taken, peaks: one, sums })?;
        self.one.first().map(|peak| peak.place)
    }

    /// The shift at which most of the beads, the brightest first, are at bright places of the frame.
    pub(super) fn everywhere(
        &mut self,
        frame: FrameView<'_>,
        beads: impl Iterator<Item = [f64; 2]> + Clone,
    ) -> Option<[f64; 2]> {
        let Self { sums, all, apart, .. } = self;
        all.clear();
        let (columns, rows) =
            ([1, frame.width.saturating_sub(1)], [1, frame.height.saturating_sub(1)]);
        if columns[1] < 2 || rows[1] < 2 {
            return None;
        }
        frame.visit(Seek { columns, rows, apart: *apart, taken: &[], peaks: all, sums })?;
        let peaks = &self.all;
        let count = beads.clone().count();
        let mut best: Option<([f64; 2], usize)> = None;
        for bead in beads.clone().take(TRIED) {
            for peak in peaks {
                let shift = [peak.place[0] - bead[0], peak.place[1] - bead[1]];
                let there = |bead: &[f64; 2]| {
                    peaks.iter().any(|peak| {
                        (bead[0] + shift[0] - peak.place[0]).abs() < NEAR
                            && (bead[1] + shift[1] - peak.place[1]).abs() < NEAR
                    })
                };
                let found = beads.clone().filter(there).count();
                if best.is_none_or(|(_, most)| found > most) {
                    best = Some((shift, found));
                }
            }
        }
        // Fewer are there by chance.
        let enough = (count.div_ceil(3)).max(count.min(2));
        best.filter(|&(_, found)| found >= enough).map(|(shift, _)| shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the brightest place is found around a place, that what is taken is left out, and that places at the edge, beyond
    /// it and nowhere are no panic.
    #[test]
    fn bright_places_are_found() {
        let mut pixels = vec![10u16; 40 * 30];
        for (x, y, light) in [(12, 9, 500), (15, 20, 900), (30, 5, 700)] {
            pixels[y * 40 + x] = light;
        }
        let frame = FrameView::u16(40, 30, &pixels);
        let mut search = Search::new(40, 3, 7);
        let near = |place: [f64; 2], x: f64, y: f64| {
            (place[0] - x).abs() <= 1.0 && (place[1] - y).abs() <= 1.0
        };
        assert!(near(search.around(frame, [10.0, 10.0], 5, &[]).unwrap(), 12.0, 9.0));
        assert!(near(search.around(frame, [12.0, 14.0], 8, &[]).unwrap(), 15.0, 20.0));
        let other = search.around(frame, [12.0, 14.0], 8, &[[15.0, 20.0]]).unwrap();
        assert!(near(other, 12.0, 9.0));
        for place in [[0.0, 0.0], [39.0, 29.0], [-3.0, 40.0], [1e9, -1e9], [f64::NAN, 3.0]] {
            let _ = search.around(frame, place, 8, &[]);
        }
        // All moved by (−4, 3), and one is gone.
        let beads = [[16.0, 6.0], [19.0, 17.0], [34.0, 2.0], [20.0, 25.0]];
        let shift = search.everywhere(frame, beads.into_iter()).unwrap();
        assert!((shift[0] + 4.0).abs() < 2.5 && (shift[1] - 3.0).abs() < 2.5, "{shift:?}");
    }
}
