//! A first look at a whole frame: where a spot could be.
//!
//! The matched filter with the local mean m of N pixels projected out, z = (Σd·g − m·Σg)/√(m·(Σg² − (Σg)²/N)), is computed for every
//! pixel in two passes. It has the maxima with which fits begin. What is found later, in the residuals, has a score there that is about
//! √(1 − ρ²) of its own, ± ρ, where ρ² = (Σg)²/(N·Σg²) is the share of a spot that the mean explains: so everything that is still found
//! lies around a maximum of half the height. Most of those maxima are noise, which a look at more pixels around shows.

mod filter;
mod share;

use filter::{WIDE, along_rows, contrasts, moments};
use share::Share;

use crate::field::LEAST;
use crate::filters::Filters;
use crate::frame::{CrowdFrame, usable};
use crate::kernel::{Area, Kernel};
use crate::lanes::{LANES, total, totals};
use crate::maps::{Peak, higher, maxima, sort};
use crate::rect::Rect;
use crate::setup::Setup;
use crate::spot::Emission;

/// The scores of a frame, with what they need of the shape of spots.
#[derive(Clone, Debug)]
pub(crate) struct Sieve {
    area: Area,
    filters: Filters,
    own_of: Vec<OfFilter>,
    /// Pixels from the centre to the edge of the window of the local mean.
    reach: usize,
    /// 1 over the number of pixels in the window.
    inverse: Share,
    /// Whether the shares are those of the mask.
    shared: bool,
    /// Photo-electrons plus read variance, not below 0; 0 where pixels are masked.
    data: Vec<f32>,
    /// 1 for pixels that are used, otherwise 0.
    mask: Vec<f32>,
    /// Sums along rows, with the image's weights and without.
    across: [Vec<f32>; 2],
    /// Σd·g, if the image is no product of lines.
    sums: Vec<f32>,
    /// z·|z|, of the filter that has the highest.
    score: Vec<f32>,
    /// That of one filter, and which it is, if there is more than one.
    own: Vec<f32>,
    best: Vec<u8>,
    /// The mean of the pixels that are used.
    mean: f64,
}

/// What belongs to a filter.
#[derive(Clone, Debug)]
struct OfFilter {
    squares: Kernel,
    /// Its weights along x and along y, with as many zeros as make the window of the mean; ones if it is no product of lines.
    lines: [Vec<f32>; 2],
    /// Σg and Σg² over the pixels that are used.
    light: Share,
    total: Share,
}

impl OfFilter {
    fn new(image: &Kernel, window: usize) -> Self {
        let padded = |line: &[f32]| {
            let zeros = vec![0.0; (window - line.len()) / 2];
            [&zeros[..], line, &zeros[..]].concat()
        };
        let lines = match image {
            Kernel::Lines([x, y]) => [padded(x), padded(y)],
            Kernel::Patch(..) => [vec![1.0; window], vec![1.0; window]],
        };
        let [light, total] = [(); 2].map(|()| Share::Pixels(Vec::new()));
        Self { squares: image.squared(), lines, light, total }
    }
}

/// A window is looked at only where this share of its pixels shows no spot.
const FREE: f32 = 0.3;

impl Sieve {
    pub(crate) fn new(setup: &Setup, size: [usize; 2]) -> Self {
        let filters = Filters::new(setup);
        let reach = filters.geometry.half + 1;
        let window = 2 * reach + 1;
        let left = reach.next_multiple_of(LANES);
        let stride = left + size[0].next_multiple_of(WIDE) + left;
        let length = stride * (size[1] + 2 * reach + 2);
        let empty = || vec![0.0; length];
        let kernels = &filters.kernels;
        let own_of: Vec<OfFilter> =
            kernels.iter().map(|image| OfFilter::new(image, window)).collect();
        let several = if kernels.len() > 1 { length } else { 0 };
        let lines = kernels.iter().all(|image| matches!(image, Kernel::Lines(_)));
        let whole = if lines { 0 } else { length };
        Self {
            area: Area { stride, first: [left, reach + 1], size },
            filters,
            own_of,
            reach,
            inverse: Share::Pixels(Vec::new()),
            shared: false,
            data: empty(),
            mask: empty(),
            across: [empty(), empty()],
            sums: vec![0.0; whole],
            score: empty(),
            own: vec![0.0; several],
            best: vec![0; several],
            mean: 0.0,
        }
    }

    /// The mean of the frame's pixels, with read variances as light.
    pub(crate) fn mean(&self) -> f64 {
        self.mean
    }

    /// Finds the pixels whose score is above `least` and not below any of the eight around, highest first.
    pub(crate) fn scan(&mut self, frame: &CrowdFrame<'_>, least: f64, peaks: &mut Vec<Peak>) {
        peaks.clear();
        self.take(frame);
        if !self.shared {
            self.share();
        }
        let Self { area, filters, own_of, inverse, data, across, sums, score, own, best, .. } =
            self;
        let area = *area;
        let [along, ones] = across;
        let all = filters.kernels.iter().zip(own_of).enumerate();
        for (number, (image, OfFilter { lines, light, total, .. })) in all {
            along_rows(data, &lines[0], area, [&mut along[..], &mut ones[..]]);
            let known = matches!(image, Kernel::Patch(..));
            if known {
                image.sums(data, area, &mut [], sums);
            }
            let of = if known { &*sums } else { &*along };
            let to = if number == 0 { &mut *score } else { &mut *own };
            contrasts(of, known, ones, &lines[1], area, [light, total, inverse], to);
            if !best.is_empty() {
                higher(number, own, area, score, best);
            }
        }
        let least = least.max(0.0);
        let seen = self.filters.share() * least;
        maxima(&self.score, area, (seen * seen) as f32, |x, y, score| {
            if self.filters.exact {
                let plane = self.best.get(self.at(x as usize, y as usize));
                let plane = plane.map_or(0, |&plane| plane.into());
                peaks.push(Peak { x, y, score: score.sqrt(), plane });
                return;
            }
            let at = [x as usize, y as usize];
            let around = self.mean_around(at);
            let contrast = |plane: usize| {
                let [contrast, rest] = self.contrast(at, plane, around);
                contrast / libm::sqrt((around[0] * rest).max(1e-12))
            };
            peaks.extend(Peak::highest([x, y], self.filters.planes.len(), least, contrast));
        });
        sort(peaks);
    }

    /// Takes the pixels of a frame.
    fn take(&mut self, frame: &CrowdFrame<'_>) {
        let Area { size: [width, height], .. } = self.area;
        let (mut sum, mut count) = (0.0, 0.0);
        let mut same = true;
        for y in 0..height {
            let at = self.at(0, y);
            let row = frame.row(y, 0..width);
            let data = &mut self.data[at..at + width];
            let mask = &mut self.mask[at..at + width];
            same &= row.light(data, mask);
            let padded = at..at + width.next_multiple_of(LANES);
            sum += f64::from(total(&self.data[padded.clone()]));
            count += f64::from(total(&self.mask[padded]));
        }
        self.mean = if count > 0.0 { sum / count } else { 0.0 };
        self.shared &= same;
    }

    /// Sums the weights over the pixels that are used.
    fn share(&mut self) {
        let area = self.area;
        let [width, height] = area.size;
        let whole = (0..height).all(|y| {
            let at = self.at(0, y);
            self.mask[at..at + width].iter().all(|&mask| mask > 0.0)
        });
        let Self { filters, own_of, mask, across: [across, _], inverse, reach, shared, .. } = self;
        let ones = vec![1.0; 2 * *reach + 1];
        let mut of = |kernel: &Kernel| match kernel {
            Kernel::Lines([x, y]) if whole => Share::of_lines([x, y], area.size),
            kernel => {
                let mut sums = vec![0.0; mask.len()];
                kernel.sums(mask, area, across, &mut sums);
                Share::Pixels(sums)
            }
        };
        for (image, OfFilter { squares, light, total, .. }) in filters.kernels.iter().zip(own_of) {
            (*light, *total) = (of(image), of(squares));
        }
        *inverse = of(&Kernel::Lines([ones.clone(), ones])).inverse();
        // Where sums went that are no sums of this frame.
        across.fill(0.0);
        *shared = true;
    }

    /// Where a pixel is in memory.
    fn at(&self, x: usize, y: usize) -> usize {
        let Area { stride, first: [left, top], .. } = self.area;
        (top + y) * stride + left + x
    }

    /// The pixels of a window around a place, as far as they are in the frame.
    fn around(&self, [x, y]: [usize; 2], reach: usize) -> Rect {
        Rect::around([x as i32, y as i32], reach, self.area.size)
    }

    /// The brightest of the pixels around a peak.
    pub(crate) fn brightest(&self, peak: &Peak) -> f64 {
        let rect = self.around([peak.x as usize, peak.y as usize], 1);
        let rows = rect.rows().map(|y| self.at(rect.origin[0], y));
        let rows = rows.map(|at| self.data[at..at + rect.size[0]].iter().copied());
        rows.map(|row| row.fold(0.0, f32::max)).fold(0.0, f32::max).into()
    }

    /// Σd·g around a pixel for the image of a plane, and Σg and Σg² over the pixels that are used.
    fn sums_at(&self, [x, y]: [usize; 2], plane: usize) -> [f64; 3] {
        let (area, at) = (self.area, self.at(x, y));
        // The light of pixels that are hidden counts only where the shares are those of all.
        let exact = self.filters.exact;
        let sums = self.filters.at(plane, ([&self.data, &self.mask], !exact), area, at);
        if exact {
            let OfFilter { light, total, .. } = &self.own_of[plane];
            let [light, total] = [light, total].map(|share| share.at(area, x, y).into());
            return [sums[0], light, total];
        }
        sums
    }

    /// The mean of the window around a pixel, and 1 over the number of its pixels.
    fn mean_around(&self, [x, y]: [usize; 2]) -> [f64; 2] {
        let rect = self.around([x, y], self.reach);
        let rows = rect.rows().map(|y| self.at(rect.origin[0], y));
        let all: f32 = rows.map(|at| self.data[at..at + rect.size[0]].iter().sum::<f32>()).sum();
        let share = f64::from(self.inverse.at(self.area, x, y));
        [f64::from(all) * share, share]
    }

    /// How much more light there is around a pixel in the image of a plane than in its surroundings, and Σg² there, the mean projected out.
    fn contrast(&self, at: [usize; 2], plane: usize, [mean, share]: [f64; 2]) -> [f64; 2] {
        let [sum, light, total] = self.sums_at(at, plane);
        let rest = (total - light * light * share).max(1e-3 * total).max(1e-12);
        [sum - mean * light, rest]
    }

    /// The emitter with which a fit begins at a peak: where a parabola through the logarithms of the scores has its maximum, with the
    /// amplitude that the score is of.
    pub(crate) fn emission(&self, peak: &Peak) -> Emission {
        let (x, y) = (peak.x as usize, peak.y as usize);
        let [contrast, rest] = self.contrast([x, y], peak.plane, self.mean_around([x, y]));
        let photons = contrast / rest;
        let at = self.at(x, y);
        let vertex = |step: usize| {
            let [before, here, after] =
                [at - step, at, at + step].map(|at| f64::from(self.score[at]).max(0.0));
            // Scores of several planes are of no parabola.
            if before <= 0.0 || after <= 0.0 || self.filters.planes.len() > 1 {
                return 0.0;
            }
            let (low, high) = (libm::log(here / before), libm::log(here / after));
            if low + high > 0.0 { 0.5 * (low - high) / (low + high) } else { 0.0 }
        };
        let [dx, dy] = [1, self.area.stride].map(|step| vertex(step).clamp(-0.5, 0.5));
        let third = self.filters.planes[peak.plane].third;
        Emission { photons, x: f64::from(peak.x) + dx, y: f64::from(peak.y) + dy, third }
    }

    /// Hides the pixels of a part of the frame, so that [`Sieve::significance`] does not see them. Returns how many were seen before.
    pub(crate) fn hide(&mut self, rect: Rect) -> usize {
        let mut seen = 0.0;
        for y in rect.rows() {
            let at = self.at(rect.origin[0], y);
            let mask = &mut self.mask[at..at + rect.size[0]];
            seen += mask.iter().sum::<f32>();
            mask.fill(0.0);
        }
        seen as usize
    }

    /// Shows again what was hidden.
    pub(crate) fn show(&mut self, rect: Rect, frame: &CrowdFrame<'_>) {
        for y in rect.rows() {
            let at = self.at(rect.origin[0], y);
            let [first, width] = [rect.origin[0], rect.size[0]];
            let pixels = frame.row(y, first..first + width).electrons;
            for (mask, &pixel) in self.mask[at..at + width].iter_mut().zip(pixels) {
                *mask = f32::from(u8::from(usable(pixel)));
            }
        }
    }

    /// The highest score of a peak beside a plane through the pixels of a window that are not hidden; nothing if those are too few to tell.
    pub(crate) fn significance(&self, peak: &Peak, window: Rect) -> Option<f64> {
        let mut sums = [[0.0; LANES]; 9];
        let first = self.at(window.origin[0], window.origin[1]);
        moments(&self.data, &self.mask, self.area.stride, first, window.size, &mut sums);
        let mut found = [0.0; 9];
        totals(&sums, &mut found);
        let [n, x, y, xx, xy, yy, d, dx, dy] = found.map(f64::from);
        if found[0] < FREE * (window.size[0] * window.size[1]) as f32 {
            return None;
        }
        // About the means of the pixels that are there.
        let (mean_x, mean_y, mean) = (x / n, y / n, d / n);
        let (xx, xy, yy) = (xx - x * mean_x, xy - x * mean_y, yy - y * mean_y);
        let (dx, dy) = (dx - d * mean_x, dy - d * mean_y);
        let determinant = xx * yy - xy * xy;
        if determinant.is_nan() || determinant <= 0.1 * xx * yy {
            return None;
        }
        let slope_x = (dx * yy - dy * xy) / determinant;
        let slope_y = (dy * xx - dx * xy) / determinant;
        let [at_x, at_y] = [(peak.x, 0), (peak.y, 1)]
            .map(|(at, axis)| f64::from(at) - (window.origin[axis] + window.size[axis] / 2) as f64);
        let level = mean + slope_x * (at_x - mean_x) + slope_y * (at_y - mean_y);
        let level = level.max(f64::from(LEAST));
        let place = [peak.x as usize, peak.y as usize];
        let scores = (0..self.filters.planes.len()).map(|plane| {
            let [sum, light, total] = self.sums_at(place, plane);
            (sum - level * light) / libm::sqrt((level * total).max(1e-12))
        });
        Some(scores.fold(f64::NEG_INFINITY, f64::max))
    }
}
