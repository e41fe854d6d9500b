//! Where a frame is bright: around a place, and everywhere.

use fit_core::Pixel;
use ndarray::ArrayView2;

use super::FrameView;
use super::frame::with_frame;

/// A bright place: the middle of nine pixels, and what they add up to. If it was looked for everywhere, the centroid, and by how much
/// they stand out of what is around.
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
    /// Peaks must stand out by so much; if it is not given, light counts as it is.
    least: Option<f32>,
    /// The brightest first; never more than it has room for.
    peaks: &'a mut Vec<Peak>,
    /// Sums of three pixels of each column.
    sums: &'a mut [f32],
}

impl Seek<'_> {
    fn visit<P: Pixel>(self, frame: ArrayView2<'_, P>) {
        let Self { columns: [left, right], rows: [top, bottom], apart, taken, .. } = self;
        let Self { least: floor, peaks, sums, .. } = self;
        let near =
            |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).abs() < apart && (a[1] - b[1]).abs() < apart;
        let Some(pixels) = frame.to_slice() else { return };
        let (height, width) = frame.dim();
        let image = Image { pixels, width, height };
        for y in top..bottom {
            let [above, own, below] =
                [y - 1, y, y + 1].map(|y| &pixels[y * width..(y + 1) * width]);
            for x in left - 1..=right {
                sums[x] = above[x].to_f32() + own[x].to_f32() + below[x].to_f32();
            }
            for x in left..right {
                let mut light = sums[x - 1] + sums[x] + sums[x + 1];
                if let Some(floor) = floor {
                    let pixel = own[x].to_f32();
                    // Of pixels that are the same, the first is the top.
                    let is_top = pixel > own[x - 1].to_f32()
                        && pixel > above[x].to_f32()
                        && pixel >= own[x + 1].to_f32()
                        && pixel >= below[x].to_f32();
                    if !is_top {
                        continue;
                    }
                    light -= 9.0 * image.beside([x, y], apart as usize);
                    if !(light > floor && light < f32::INFINITY) {
                        continue;
                    }
                }
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
        if floor.is_some() {
            for peak in peaks {
                peak.place = image.centroid(peak.place.map(|at| at as usize), apart as usize);
            }
        }
    }
}

/// Pixels, row by row.
struct Image<'a, P> {
    pixels: &'a [P],
    width: usize,
    height: usize,
}

impl<P: Pixel> Image<'_, P> {
    fn at(&self, x: usize, y: usize) -> f32 {
        self.pixels[y * self.width + x].to_f32()
    }

    /// The mean of eight pixels, so far beside and above.
    fn beside(&self, [x, y]: [usize; 2], far: usize) -> f32 {
        let (left, right) = (x.saturating_sub(far), (x + far).min(self.width - 1));
        let (top, bottom) = (y.saturating_sub(far), (y + far).min(self.height - 1));
        let row = |y: usize| self.at(left, y) + self.at(right, y);
        (row(top) + row(y) + row(bottom) + self.at(x, top) + self.at(x, bottom)) / 8.0
    }

    /// Of 25 pixels that stand out of those beside.
    fn centroid(&self, [x, y]: [usize; 2], far: usize) -> [f64; 2] {
        let level = self.beside([x, y], far);
        let (mut sum, mut moments) = (0.0, [0.0; 2]);
        for row in y.saturating_sub(2)..(y + 3).min(self.height) {
            for column in x.saturating_sub(2)..(x + 3).min(self.width) {
                let light = f64::from(self.at(column, row) - level).max(0.0);
                sum += light;
                moments[0] += light * (column as f64 - x as f64);
                moments[1] += light * (row as f64 - y as f64);
            }
        }
        let found = [x as f64 + moments[0] / sum, y as f64 + moments[1] / sum];
        if found.iter().all(|at| at.is_finite()) { found } else { [x as f64, y as f64] }
    }
}

/// By how much nine pixels stand out.
fn light<P: Pixel>(frame: ArrayView2<'_, P>, at: [usize; 2], far: usize) -> f64 {
    let (height, width) = frame.dim();
    let [x, y] = at;
    let inside =
        (1..width.saturating_sub(1)).contains(&x) && (1..height.saturating_sub(1)).contains(&y);
    let Some(pixels) = frame.to_slice().filter(|_| inside) else { return f64::NAN };
    let image = Image { pixels, width, height };
    let nine = (y - 1..y + 2).flat_map(|y| (x - 1..x + 2).map(move |x| (x, y)));
    let light: f32 = nine.map(|(x, y)| image.at(x, y)).sum();
    f64::from(light - 9.0 * image.beside(at, far))
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

impl Search {
    /// For frames of so many columns, and so many beads.
    pub(super) fn new(columns: usize, beads: usize, side: usize) -> Self {
        Self {
            sums: vec![0.0; columns],
            one: Vec::with_capacity(1),
            all: Vec::with_capacity((4 * beads).clamp(32, 256)),
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
        let apart = *apart;
        let seek = Seek { columns, rows, apart, taken, least: None, peaks: one, sums };
        with_frame!(frame, view => seek.visit(view))?;
        self.one.first().map(|peak| peak.place)
    }

    /// By how much the nine pixels at a place stand out of what is around; NaN at the edge.
    pub(super) fn light(&self, frame: FrameView<'_>, place: [f64; 2]) -> f64 {
        let at = place.map(|at| at.round().max(0.0) as usize);
        with_frame!(frame, view => light(view, at, self.apart as usize)).unwrap_or(f64::NAN)
    }

    /// The places of the frame that stand out of what is around by more than `least`, or the brightest of them, from top to bottom.
    pub(super) fn everywhere(&mut self, frame: FrameView<'_>, least: f32) -> &[Peak] {
        let Self { sums, all, apart, .. } = self;
        all.clear();
        let (columns, rows) =
            ([1, frame.width.saturating_sub(1)], [1, frame.height.saturating_sub(1)]);
        if columns[1] > 1 && rows[1] > 1 {
            let (apart, least) = (*apart, Some(least));
            let seek = Seek { columns, rows, apart, taken: &[], least, peaks: all, sums };
            with_frame!(frame, view => seek.visit(view));
        }
        all.sort_unstable_by(|one, other| one.place[1].total_cmp(&other.place[1]));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the brightest place is found around a place, that what is taken is left out, that places at the edge, beyond
    /// it and nowhere are no panic, and that everywhere what stands out is found from top to bottom, on a slope too.
    #[test]
    fn bright_places_are_found() {
        let mut pixels: Vec<u16> = (0..40 * 30).map(|at| 10 + 20 * (at % 40) as u16).collect();
        for (x, y, light) in [(12, 9, 500), (15, 20, 900), (30, 5, 700)] {
            pixels[y * 40 + x] += light;
        }
        let frame = FrameView::u16(40, 30, &pixels);
        let mut search = Search::new(40, 3, 7);
        let near = |place: [f64; 2], x: f64, y: f64| {
            (place[0] - x).abs() <= 1.0 && (place[1] - y).abs() <= 1.0
        };
        assert!(near(search.around(frame, [10.0, 10.0], 5, &[]).unwrap(), 12.0, 9.0));
        assert!(near(search.around(frame, [12.0, 14.0], 8, &[]).unwrap(), 15.0, 20.0));
        // The slope is brighter than this one farther on.
        let other = search.around(frame, [9.0, 14.0], 6, &[[15.0, 20.0]]).unwrap();
        assert!(near(other, 12.0, 9.0));
        for place in [[0.0, 0.0], [39.0, 29.0], [-3.0, 40.0], [1e9, -1e9], [f64::NAN, 3.0]] {
            let _ = search.around(frame, place, 8, &[]);
            let _ = search.light(frame, place);
        }
        assert!((search.light(frame, [15.0, 20.0]) - 900.0).abs() < 1.0);
        let found: Vec<[f64; 2]> =
            search.everywhere(frame, 100.0).iter().map(|peak| peak.place).collect();
        assert_eq!(found.len(), 3, "{found:?}");
        for (found, (x, y)) in found.into_iter().zip([(30.0, 5.0), (12.0, 9.0), (15.0, 20.0)]) {
            assert!(near(found, x, y), "{found:?}");
        }
        for value in [f32::NAN, f32::INFINITY, 0.0] {
            let pixels = vec![value; 40 * 30];
            assert!(search.everywhere(FrameView::f32(40, 30, &pixels), 1.0).is_empty());
        }
    }
}
