//! Judges the pixels of some frames.

use fit_core::Pixel;
use fit_windows::{CameraMap, Visitor, Windows};
use ndarray::{Array3, ArrayView3, Axis, Slice};
use spotfit_frames::rows::{self, Limits, Padded};
use spotfit_locs::private::median;

use super::{Defect, DefectKind};

/// The fewest frames that tell something, and those that tell that a pixel flickers.
const FEWEST: usize = 4;
const FEWEST_FLICKERING: usize = 16;

/// A pixel is bright in a frame if it exceeds the median of its neighbours by so many standard deviations of the noise.
const BRIGHT: f32 = 4.0;

/// A hot pixel must be bright in so many frames, and one that flickers in so many.
const HOT_FRAMES: usize = 3;
const FLICKERING_FRAMES: usize = 5;

/// The share of the light of its centre that each of the four nearest neighbours of the narrowest spot has: exp(−1/(2σ²)) is 0.044 for
/// σ = 0.4 pixels, sampled at the centres of pixels.
const NARROWEST: f32 = 0.035;

/// By how many standard errors the neighbours must have less.
const CERTAIN: f32 = 3.0;

/// A pixel is dark if it is below all around it by so many standard deviations of the noise.
const DARK: f32 = 3.0;

/// A variance that is so many times those of all neighbours is worth a look.
const UNSTEADY: f32 = 3.0;

/// The error of a mean without the highest and the lowest quarter, and that of a low quantile of such means, as shares of
/// those of the mean of all: (1.1)² and 1.6.
const MIDMEAN: f32 = 1.1;
const QUANTILE: f32 = 1.6;

/// Finds the defective pixels in the first frames, at most so many.
pub(super) struct Find {
    pub(super) most: usize,
}

impl<'w> Visitor<'w> for Find {
    type Output = Vec<Defect>;

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) -> Vec<Defect> {
        let frames = frames.frames();
        let (count, height, width) = frames.dim();
        let count = count.min(self.most);
        if count == 0 || height * width == 0 {
            return Vec::new();
        }
        Judge::new(frames, count).all()
    }
}

/// Finds those of the first frames, at most so many, of which most pixels are not finite; none if they are all of them.
pub(super) struct Blank {
    pub(super) most: usize,
}

impl<'w> Visitor<'w> for Blank {
    type Output = Vec<usize>;

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) -> Vec<usize> {
        let frames = frames.frames();
        let first = || frames.outer_iter().take(self.most).enumerate();
        let blank = first().filter(|(_, frame)| {
            let finite = frame.iter().filter(|pixel| pixel.to_f32().is_finite()).count();
            2 * finite < frame.len()
        });
        let blank: Vec<usize> = blank.map(|(number, _)| number).collect();
        if blank.len() < first().count() { blank } else { Vec::new() }
    }
}

/// The first frames, at most so many, without some.
pub(super) struct Without<'a> {
    pub(super) frames: &'a [usize],
    pub(super) most: usize,
}

impl<'w> Visitor<'w> for Without<'_> {
    type Output = Array3<f32>;

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) -> Array3<f32> {
        let frames = frames.frames();
        let (count, height, width) = frames.dim();
        let kept: Vec<usize> =
            (0..count.min(self.most)).filter(|number| !self.frames.contains(number)).collect();
        Array3::from_shape_fn((kept.len(), height, width), |(frame, y, x)| {
            frames[(kept[frame], y, x)].to_f32()
        })
    }
}

/// Converts the first frames, at most so many, to photo-electrons; what the map masks is not a number.
pub(super) struct Convert<'a> {
    pub(super) map: &'a CameraMap,
    pub(super) most: usize,
}

impl<'w> Visitor<'w> for Convert<'_> {
    type Output = Array3<f32>;

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) -> Array3<f32> {
        let frames = frames.frames();
        let (count, height, width) = frames.dim();
        let (offset, scale) = (self.map.offset(), self.map.scale());
        Array3::from_shape_fn((count.min(self.most), height, width), |(frame, y, x)| {
            let counts = frames[(frame, y, x)].to_f32() - offset[(y, x)];
            if scale[(y, x)] > 0.0 { counts * scale[(y, x)] } else { f32::NAN }
        })
    }
}

/// The neighbours of a pixel that are no defects themselves.
struct Around {
    /// Left, right, above and below.
    sides: Vec<usize>,
    /// All eight.
    near: Vec<usize>,
    /// The sixteen around these.
    ring: Vec<usize>,
}

struct Judge<'a, P> {
    frames: ArrayView3<'a, P>,
    count: usize,
    width: usize,
    height: usize,
    means: Vec<f32>,
    variances: Vec<f32>,
    /// The usual variance, and one that no pixel is said to be below.
    usual: f32,
    least: f32,
    /// What is known of each pixel.
    found: Vec<Option<DefectKind>>,
}

impl<'a, P: Pixel> Judge<'a, P> {
    fn new(frames: ArrayView3<'a, P>, count: usize) -> Self {
        let (_, height, width) = frames.dim();
        let first: Vec<f32> =
            frames.index_axis(Axis(0), 0).iter().map(|pixel| pixel.to_f32()).collect();
        let (mut means, mut variances) = (vec![0.0f32; first.len()], vec![0.0f32; first.len()]);
        // Some rows of all frames, whose sums stay near to the processor, and then the next ones. They are counted from the first
        // frame, so that a baseline costs no digits.
        let rows = (NEAR / width).max(1);
        let size = rows * width;
        let sums = first.chunks(size).zip(means.chunks_mut(size).zip(variances.chunks_mut(size)));
        let mut pixels = Vec::with_capacity(size);
        for (number, (first, (sums, squares))) in sums.enumerate() {
            let top = number * rows;
            for frame in 1..count {
                let part = frames.index_axis(Axis(0), frame);
                let part = part.slice_axis(Axis(0), Slice::from(top..height.min(top + rows)));
                pixels.clear();
                match part.as_slice() {
                    Some(part) => pixels.extend(part.iter().map(|pixel| pixel.to_f32())),
                    None => pixels.extend(part.iter().map(|pixel| pixel.to_f32())),
                }
                rows::add(&pixels, first, sums, squares);
            }
        }
        let share = 1.0 / count as f32;
        let rest = 1.0 / (count.max(2) - 1) as f32;
        for (first, (mean, variance)) in first.iter().zip(means.iter_mut().zip(&mut variances)) {
            *variance = rest * (*variance - share * *mean * *mean).max(0.0);
            *mean = first + share * *mean;
        }
        let not_finite = |mean: &f32| (!mean.is_finite()).then_some(DefectKind::NotFinite);
        let found = means.iter().map(not_finite).collect();
        let [usual, least] = usual(&variances);
        Self { frames, count, width, height, means, variances, usual, least, found }
    }

    fn all(mut self) -> Vec<Defect> {
        // A defect may hide that its neighbour is one, until it is known itself.
        while self.count >= FEWEST {
            let more: Vec<(usize, DefectKind)> = self
                .suspects()
                .into_iter()
                .filter_map(|place| Some((place, self.judge(place)?)))
                .collect();
            if more.is_empty() {
                break;
            }
            more.into_iter().for_each(|(place, kind)| self.found[place] = Some(kind));
        }
        let all = self.found.iter().enumerate();
        let of = |(place, kind): (usize, &Option<DefectKind>)| {
            Some(Defect { x: place % self.width, y: place / self.width, kind: (*kind)? })
        };
        all.filter_map(of).collect()
    }

    /// Pixels that differ from all of their neighbours: few, and all that [`Judge::judge`] could find.
    fn suspects(&self) -> Vec<usize> {
        let least = self.usual.sqrt() * (4.0 / (self.count as f32).sqrt()).max(0.5);
        let unsteady = if self.count >= FEWEST_FLICKERING { UNSTEADY } else { f32::INFINITY };
        let counts = |place: usize| self.found[place].is_none();
        let padded = Padded::new(self.width, &self.means, &self.variances, counts);
        let mut odd = vec![false; self.width];
        let mut suspects = Vec::new();
        for y in 0..self.height {
            padded.odd(y, Limits { least, unsteady }, &mut odd);
            let all = (y * self.width..).zip(&odd).filter(|(place, odd)| **odd && counts(*place));
            suspects.extend(all.map(|(place, _)| place));
        }
        suspects
    }

    fn judge(&self, place: usize) -> Option<DefectKind> {
        let around = self.around(place);
        let Around { sides, near, ring } = &around;
        // In a corner of the frame there are two sides and five more around.
        if sides.len() < 2 || ring.len() < 5 {
            return None;
        }
        let noise = self.noise(&around, &[]);
        let mean = self.means[place];
        let low = near.iter().map(|&other| self.means[other]).fold(f32::INFINITY, f32::min);
        let surroundings = low_quantile(ring.iter().map(|&other| self.means[other]).collect());
        if low.min(surroundings) - mean > DARK * noise {
            return Some(DefectKind::Dark);
        }
        let bright: Vec<usize> = (0..self.count)
            .filter(|&frame| {
                let own = self.at(place, frame);
                let others = near.iter().map(|&other| f64::from(self.at(other, frame)));
                own - median(others) as f32 > BRIGHT * noise
            })
            .collect();
        let steady = 2 * bright.len() >= self.count;
        let enough = if steady {
            bright.len() >= HOT_FRAMES
        } else {
            bright.len() >= FLICKERING_FRAMES && self.count >= FEWEST_FLICKERING
        };
        if !enough {
            return None;
        }
        let level =
            |place: usize| midmean(bright.iter().map(|&frame| self.at(place, frame)).collect());
        let surroundings = low_quantile(ring.iter().map(|&other| level(other)).collect());
        let height = level(place) - surroundings;
        let beside = sides.iter().map(|&side| level(side)).sum::<f32>() / sides.len() as f32;
        let parts = 1.0 / sides.len() as f32 + QUANTILE / ring.len() as f32;
        let error = MIDMEAN * self.noise(&around, sides) * (parts / bright.len() as f32).sqrt();
        let alone = beside - surroundings + CERTAIN * error < NARROWEST * height;
        let kind = if steady { DefectKind::Hot } else { DefectKind::Flickering };
        alone.then_some(kind)
    }

    fn at(&self, place: usize, frame: usize) -> f32 {
        self.frames[(frame, place / self.width, place % self.width)].to_f32()
    }

    fn around(&self, place: usize) -> Around {
        let (x, y) = (place % self.width, place / self.width);
        let mut around = Around { sides: Vec::new(), near: Vec::new(), ring: Vec::new() };
        for j in y.saturating_sub(2)..(y + 3).min(self.height) {
            for i in x.saturating_sub(2)..(x + 3).min(self.width) {
                let other = j * self.width + i;
                let (dx, dy) = (i.abs_diff(x), j.abs_diff(y));
                if other == place || self.found[other].is_some() {
                    continue;
                }
                if dx + dy == 1 {
                    around.sides.push(other);
                }
                let to = if dx.max(dy) == 1 { &mut around.near } else { &mut around.ring };
                to.push(other);
            }
        }
        around
    }

    /// The noise around a pixel, and at least that of some: by the median variance, but in very dim light, where most pixels have none,
    /// by the mean.
    fn noise(&self, around: &Around, some: &[usize]) -> f32 {
        let of = |place: &usize| f64::from(self.variances[*place]);
        let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len().max(1) as f64;
        let all: Vec<f64> = around.near.iter().chain(&around.ring).map(of).collect();
        let some: Vec<f64> = some.iter().map(of).collect();
        let least = mean(&some).max(0.5 * mean(&all)).max(self.least.into());
        median(all).max(least).sqrt() as f32
    }
}

/// The median variance, and half of the mean of all but the highest tenth: in very dim light most pixels have none.
fn usual(variances: &[f32]) -> [f32; 2] {
    let step = (variances.len() / SAMPLE).max(1) | 1;
    let sample = variances.iter().step_by(step).copied();
    let mut sample: Vec<f32> = sample.filter(|variance| variance.is_finite()).collect();
    if sample.is_empty() {
        return [0.0; 2];
    }
    sample.sort_unstable_by(f32::total_cmp);
    let low = &sample[..(9 * sample.len()).div_ceil(10)];
    [sample[sample.len() / 2], 0.5 * low.iter().sum::<f32>() / low.len() as f32]
}

/// Pixels whose sums are in the processor's nearest memory.
const NEAR: usize = 1 << 11;

/// So many pixels tell what the noise is.
const SAMPLE: usize = 4096;

/// The mean of all but the highest and the lowest quarter.
fn midmean(mut values: Vec<f32>) -> f32 {
    values.sort_unstable_by(f32::total_cmp);
    let quarter = values.len() / 4;
    let middle = &values[quarter..values.len() - quarter];
    middle.iter().sum::<f32>() / middle.len() as f32
}

/// The value above which three fifths of all are: lower than the median, so that half of them may be of other spots.
fn low_quantile(mut values: Vec<f32>) -> f32 {
    let place = 2 * values.len() / 5;
    *values.select_nth_unstable_by(place, f32::total_cmp).1
}
