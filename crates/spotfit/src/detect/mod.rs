//! Finding spots in a frame: where to cut the windows.
//!
//! 1. The frame is smoothed with a Gaussian as wide as a typical spot (σ = box/7 pixels, the matched
//!    filter), and the local background, the mean over a square of 2·box + 1 pixels, is subtracted.
//!    The background is found in two passes: in the second, pixels that exceed the first background by
//!    more than twice the noise are clipped, so that neighbours do not raise it.
//! 2. The noise is estimated in tiles of 32×32 pixels and interpolated between them. It is the larger of
//!    two estimates. The first is the noise of the pixels, multiplied by the gain of the filter: the median
//!    of the absolute response to the kernel (1 −2 1)ᵀ(1 −2 1), on which the background and its slopes have
//!    no effect and spots hardly any. The second is the spread of the filtered frame below its median; it
//!    matters in movies with a textured background and in smoothed movies, whose pixels are not independent.
//! 3. In tiles that are crowded with spots, candidates are found by another filter, which tells spots apart that are nearer to each other:
//!    see `crowd.rs`. Elsewhere, and with a given threshold, what follows holds.
//! 4. A pixel is a candidate if it is the highest within (box − 3)/2 pixels (at least 1) and stands out by more than
//!    `threshold` times that noise. Of several equal pixels, it is the one nearest to the centre of the frame.
//!
//! A rotated or mirrored frame has the same candidates, rotated or mirrored, up to rounding. Two equal pixels at the
//! same distance from the centre cannot be distinguished if the frame itself is symmetric; then the first in reading
//! order is taken, which is the other one, a pixel or two away, in the rotated frame.
//!
//! The threshold is either given, or follows from a rate of false spots ([`Detector::with_false_rate`]). In white noise
//! a threshold of 7 finds spots whose peak is about 3 times the noise of a pixel.
//!
//! Cost per pixel: 2·(2·⌈3σ⌉ + 1) multiply-adds for the Gaussian (14 for box 7), about 12 additions for
//! each of the two box means, 9 for the noise, partial sorts of half of the pixels, and
//! a comparison; `docs/localization.md` has the measured time.

mod crowd;
mod false_rate;
mod filter;
mod ground;
mod map;
mod noise;

use std::ops::Range;

use fit_core::{Camera, Pixel, Size};
use fit_windows::{AnyWindows, CameraMap, Visitor, Windows};
use multiversion::multiversion;
use ndarray::{ArrayView2, Axis, Slice};
use spotfit_locs::OutOfRange;

pub(crate) use crowd::narrow;
use crowd::{Dense, Searched, Sharp};
use false_rate::Thresholds;
use filter::{box_mean, smooth};
use ground::{Ground, corners, make_finite};
use map::Converter;
pub(crate) use map::typical_variance;
use noise::{Column, NoiseMap};

/// A position where a spot may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Column of the brightest pixel of the filtered frame.
    pub x: usize,
    /// Row of that pixel.
    pub y: usize,
    /// Its height above the background, in units of the local noise.
    pub significance: f32,
    /// Whether it stands in a crowd, and another candidate is nearer than the side of a window.
    pub crowded: bool,
}

/// The detector for frames of one size.
#[derive(Clone, Debug)]
pub struct Detector {
    width: usize,
    height: usize,
    box_size: usize,
    threshold: Threshold,
    /// What makes photo-electrons of pixels that differ.
    converter: Option<Converter>,
    /// Half of the symmetric smoothing kernel, from its centre.
    kernel: Vec<f32>,
    /// Standard deviation of the filtered frame for white noise of 1.
    gain: f32,
    /// What tells spots apart in crowds.
    sharp: Sharp,
    /// The variance that light adds, for each unit of a pixel; 0 if the camera is not known.
    light: f32,
}

/// How far a candidate must stand out, in units of the local noise.
#[derive(Clone, Debug)]
enum Threshold {
    Fixed(f32),
    /// It depends on how the light is distributed.
    OfNoise(Thresholds),
}

/// The default rate of false spots: one in a million pixels.
pub const DEFAULT_FALSE_RATE: f64 = 1.0;

/// The most pixels of a frame; no camera delivers more, and their sums would overflow the range of indices.
const MOST_PIXELS: usize = 1 << 30;

/// Largest side of a window.
const LARGEST_BOX: usize = 1023;

/// Why a frame cannot be searched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DetectError {
    /// An argument is out of its range.
    #[error(transparent)]
    Option(#[from] OutOfRange),
    /// The frame does not have the size of the detector.
    #[error("expected a frame of {expected:?} pixels (width, height), got {found:?}")]
    FrameSize {
        /// Width and height for which the detector was made.
        expected: (usize, usize),
        /// Width and height of the frame.
        found: (usize, usize),
    },
}

impl Detector {
    /// A detector for frames of `width`×`height` pixels, windows of `box_size` pixels and a threshold
    /// in units of the local noise.
    ///
    /// # Errors
    /// [`DetectError::Option`] if a side of the frame is 0 or it has more than 2³⁰ pixels, if `box_size` is
    /// not in 1 to 1023, or if the threshold is not finite and above 0.
    pub fn new(
        width: usize,
        height: usize,
        box_size: usize,
        threshold: f64,
    ) -> Result<Self, DetectError> {
        let pixels = width.saturating_mul(height);
        let good = (1..=MOST_PIXELS).contains(&pixels);
        let range = format!("1 to {MOST_PIXELS} pixels");
        OutOfRange::check("frame", format!("{width}×{height}"), good, range)?;
        let good = (1..=LARGEST_BOX).contains(&box_size);
        OutOfRange::check("box_size", box_size, good, format!("1 to {LARGEST_BOX}"))?;
        let threshold = fixed(threshold)?;
        let sigma = box_size as f64 / 7.0;
        let radius = (3.0 * sigma).ceil() as usize;
        let weights: Vec<f64> =
            (0..=radius).map(|i| (-0.5 * (i as f64 / sigma).powi(2)).exp()).collect();
        let sum = weights[0] + 2.0 * weights[1..].iter().sum::<f64>();
        let kernel: Vec<f64> = weights.iter().map(|w| w / sum).collect();
        // The filter is Gaussian minus box: the sum of its squares.
        let squares = kernel[0].powi(2) + 2.0 * kernel[1..].iter().map(|w| w * w).sum::<f64>();
        let side = (2 * box_size + 1) as f64;
        let gain = (squares * squares - 1.0 / (side * side)).max(1e-6).sqrt();
        Ok(Self {
            width,
            height,
            box_size,
            threshold,
            converter: None,
            kernel: kernel.iter().map(|&w| w as f32).collect(),
            gain: gain as f32,
            sharp: Sharp::new(box_size),
            light: 0.0,
        })
    }

    /// The same detector with a threshold in units of the local noise.
    ///
    /// # Errors
    /// [`DetectError::Option`] if it is not finite and above 0.
    pub fn with_threshold(mut self, threshold: f64) -> Result<Self, DetectError> {
        self.threshold = fixed(threshold)?;
        Ok(self)
    }

    /// The same detector with the threshold that pure noise exceeds `rate` times in a million pixels. It uses the
    /// camera to estimate the number of photons from the noise: the fewer photons, the higher the threshold.
    ///
    /// The rate holds within a factor of 2 for pixels with at least 2 photons or a read noise of at least 1, away from
    /// the edge of the frame, where there is room for a window.
    ///
    /// # Errors
    /// [`DetectError::Option`] if the rate is not in 10⁻⁶ to 10⁴, or the camera's numbers are out of their ranges.
    pub fn with_false_rate(mut self, rate: f64, camera: &Camera) -> Result<Self, DetectError> {
        let good = (1e-6..=1e4).contains(&rate);
        OutOfRange::check("false_rate", rate, good, "1e-6 to 1e4 in a million pixels")?;
        let good = camera.validate().is_ok();
        OutOfRange::check("camera", format!("{camera:?}"), good, "see its fields")?;
        let kernel: Vec<f64> = self.kernel.iter().map(|&weight| weight.into()).collect();
        self.threshold = Threshold::OfNoise(Thresholds::new(rate, &kernel, camera));
        let excess = if camera.em_gain.is_some() { 2.0 } else { 1.0 };
        self.light = (excess / camera.photons_per_adu()) as f32;
        Ok(self)
    }

    /// The same detector for frames of a camera whose pixels differ; it searches photo-electrons.
    ///
    /// # Errors
    /// [`DetectError::Option`] if the map is not of the size of the frames.
    pub fn with_map(mut self, map: &CameraMap) -> Result<Self, DetectError> {
        let (Size { width, height }, size) = (map.size(), (self.width, self.height));
        let range = format!("the frame's {}×{} pixels", self.width, self.height);
        OutOfRange::check("map", format!("{width}×{height}"), (width, height) == size, range)?;
        self.converter = Some(Converter::new(map));
        Ok(self)
    }

    /// The threshold where a pixel has so much noise, in its own unit: how far a candidate must stand out, in units of
    /// the noise of the filtered frame.
    pub fn threshold(&self, noise: f64) -> f64 {
        match &self.threshold {
            Threshold::Fixed(threshold) => f64::from(*threshold),
            Threshold::OfNoise(thresholds) => f64::from(thresholds.at(noise as f32)),
        }
    }

    /// The candidates of a frame (height, width), from top to bottom. Pixels that are not finite count as background.
    ///
    /// # Errors
    /// [`DetectError::FrameSize`] if the frame does not have the size of the detector.
    pub fn detect<P: Pixel>(
        &self,
        frame: ArrayView2<'_, P>,
    ) -> Result<Vec<Candidate>, DetectError> {
        self.detect_window(Windows::stack(frame.insert_axis(Axis(0))).into(), 0, None)
    }

    /// The candidates of one of some frames. With the map of a camera, light of its pixels may be known: it is subtracted from the
    /// photo-electrons.
    pub(crate) fn detect_window(
        &self,
        frames: AnyWindows<'_>,
        number: usize,
        known: Option<ArrayView2<'_, f32>>,
    ) -> Result<Vec<Candidate>, DetectError> {
        let (_, height, width) = frames.frames();
        let (expected, found) = ((self.width, self.height), (width, height));
        if found != expected {
            return Err(DetectError::FrameSize { expected, found });
        }
        Ok(frames.visit(Search { detector: self, number, known }))
    }

    /// The candidates of a frame, which is searched in strips of about so many pixels.
    fn detect_in_strips<P: Pixel>(
        &self,
        frame: ArrayView2<'_, P>,
        known: Option<ArrayView2<'_, f32>>,
        pixels: usize,
    ) -> Vec<Candidate> {
        let strips: Vec<Strip> = self.strips(pixels).collect();
        let ground = match (&self.converter, &strips[..]) {
            // Photo-electrons have no baseline.
            (Some(_), _) => Some(Ground { level: 0.0, mean: 0.0 }),
            (None, [_]) => None,
            (None, _) => {
                let corners = corners(self.width, self.height, |y, x| frame[(y, x)].to_f32());
                Some(Ground::of(corners, frame.iter().map(|pixel| pixel.to_f32())))
            }
        };
        let search = |strip: &Strip| {
            let rows = frame.slice_axis(Axis(0), Slice::from(strip.rows.clone()));
            let Searched { candidates, dense } =
                detect(self, self.numbers(rows, known, strip), strip, ground.as_ref());
            match dense {
                None => candidates,
                Some(dense) => {
                    let mut pixels = self.numbers(rows, known, strip);
                    make_finite(&mut pixels, self.width, ground.as_ref());
                    crowd::search(self, candidates, dense, &pixels, strip)
                }
            }
        };
        strips.iter().flat_map(search).collect()
    }

    /// Rows as `f32`, in memory with room for as many more as [`detect`] needs: all that is compiled for every type of
    /// pixels.
    fn numbers<P: Pixel>(
        &self,
        rows: ArrayView2<'_, P>,
        known: Option<ArrayView2<'_, f32>>,
        strip: &Strip,
    ) -> Vec<f32> {
        let mut memory = Vec::with_capacity(FRAMES * rows.len());
        match (&self.converter, rows.as_slice()) {
            (Some(converter), _) => converter.convert(rows, strip.rows.start, known, &mut memory),
            (None, Some(rows)) => memory.extend(rows.iter().map(|pixel| pixel.to_f32())),
            (None, None) => memory.extend(rows.iter().map(|pixel| pixel.to_f32())),
        }
        memory
    }

    /// The frame in strips of rows that are searched one after the other: memory is for one of them.
    fn strips(&self, pixels: usize) -> impl Iterator<Item = Strip> {
        let Self { width, height, box_size, .. } = *self;
        // What a candidate depends on: two means and a filter, and the noise between two tiles and around.
        let reach = 2 * box_size + 1;
        let halo = 2 * reach + self.kernel.len() + 4 * noise::TILE;
        let most = (pixels / width).max(halo);
        let rows = if height <= most { height } else { most };
        (0..height).step_by(rows).map(move |first| {
            let end = (first + rows).min(height);
            // Means are summed in blocks of so many rows from the first: they stay the same blocks.
            let top = first.saturating_sub(halo) / reach * reach;
            Strip { rows: top..(end + halo).min(height), own: first..end, frame: height }
        })
    }

    #[inline(always)]
    fn peaks(&self, signal: &[f32], noise: &NoiseMap, strip: &Strip) -> Vec<Candidate> {
        let (width, height, top) = (self.width, strip.rows.len(), strip.rows.start);
        let radius = (self.box_size.saturating_sub(3) / 2).max(1);
        let mut tops = Vec::new();
        // With a threshold for each tile, what a pixel must exceed is interpolated as a whole.
        let (limits, threshold) = match &self.threshold {
            Threshold::Fixed(threshold) => (None, *threshold),
            Threshold::OfNoise(of) => {
                (Some(noise.map(|level| level * of.at(level / self.gain))), 1.0)
            }
        };
        let (mut limit, mut levels) = (vec![0.0; width], vec![0.0; width]);
        // Of equals one may lie in the next strip.
        let beyond = 2 * radius;
        let first = (strip.own.start - top).saturating_sub(beyond);
        let own = strip.own.start - top..strip.own.end - top;
        for y in first..(own.end + beyond).min(height) {
            limits.as_ref().unwrap_or(noise).row(y, &mut limit);
            let row = &signal[y * width..(y + 1) * width];
            let bright = bright(row, &limit, threshold);
            if !bright.is_empty() {
                noise.row(y, &mut levels);
            }
            for x in bright {
                let (value, level) = (row[x], levels[x]);
                let most = value + EQUAL * value;
                let rows = y.saturating_sub(radius)..(y + radius + 1).min(height);
                let columns = x.saturating_sub(radius)..(x + radius + 1).min(width);
                let highest = rows.clone().all(|row| {
                    let row = &signal[row * width..(row + 1) * width];
                    row[columns.clone()].iter().all(|&other| other <= most)
                });
                if highest {
                    let significance = value / level;
                    tops.push(Candidate { x, y: top + y, significance, crowded: false });
                }
            }
        }
        let mut found = self.of_equals(tops, radius);
        found.retain(|candidate| strip.own.contains(&candidate.y));
        found
    }

    /// One of each group of tops that are within reach of each other, and so are equals: the one that is nearest to the
    /// centre of the frame, which is the same one however the frame is turned or mirrored. Where two are equally near,
    /// that is where the frame's symmetry makes one of the other, the first in reading order.
    fn of_equals(&self, tops: Vec<Candidate>, radius: usize) -> Vec<Candidate> {
        let from_centre = |top: &Candidate| {
            let off = |at: usize, length: usize| (2 * at + 1).abs_diff(length) as u64;
            off(top.x, self.width).pow(2) + off(top.y, self.height).pow(2)
        };
        // Every top leads to another of its group, and the last of them to itself.
        let mut leads: Vec<usize> = (0..tops.len()).collect();
        let last = |leads: &[usize], mut top: usize| {
            while leads[top] != top {
                top = leads[top];
            }
            top
        };
        for (i, top) in tops.iter().enumerate() {
            let near = |other: &Candidate| other.x.abs_diff(top.x) <= radius;
            for j in (0..i).rev().take_while(|&j| tops[j].y + radius >= top.y) {
                if near(&tops[j]) {
                    let (one, other) = (last(&leads, i), last(&leads, j));
                    leads[one.max(other)] = one.min(other);
                }
            }
        }
        let mut best: Vec<usize> = (0..tops.len()).collect();
        for (i, top) in tops.iter().enumerate() {
            let group = last(&leads, i);
            if from_centre(top) < from_centre(&tops[best[group]]) {
                best[group] = i;
            }
        }
        let chosen = |i: usize| best[last(&leads, i)] == i;
        let all = tops.iter().enumerate();
        all.filter(|&(i, _)| chosen(i)).map(|(_, top)| *top).collect()
    }
}

/// Values of the filtered frame that differ by less than this share are equals: rounding, which is the frame's size times
/// 10⁻⁷ and depends on its direction, decides nothing.
const EQUAL: f32 = 1.0 / 65536.0;

fn fixed(threshold: f64) -> Result<Threshold, OutOfRange> {
    let good = threshold > 0.0 && threshold.is_finite();
    OutOfRange::check("threshold", threshold, good, "above 0")?;
    Ok(Threshold::Fixed(threshold as f32))
}

/// A search that waits for the type of the pixels.
struct Search<'a> {
    detector: &'a Detector,
    number: usize,
    known: Option<ArrayView2<'a, f32>>,
}

impl<'w> Visitor<'w> for Search<'_> {
    type Output = Vec<Candidate>;

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) -> Vec<Candidate> {
        let frame = frames.frames().index_axis_move(Axis(0), self.number);
        self.detector.detect_in_strips(frame, self.known, STRIP_PIXELS)
    }
}

/// How many frames of numbers [`detect`] holds at a time. They share one allocation: an allocator returns that
/// to the system less eagerly than several, and every page that was returned costs time again.
const FRAMES: usize = 3;

/// [`Detector::detect`], compiled for several instruction sets, of which the processor's best is chosen. All
/// that it calls is inlined, and none of it rounds differently for being compiled differently.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma",))]
fn detect(
    detector: &Detector,
    mut memory: Vec<f32>,
    strip: &Strip,
    ground: Option<&Ground>,
) -> Searched {
    let Detector { width, box_size, ref kernel, gain, .. } = *detector;
    let size = memory.len();
    memory.resize(FRAMES * size, 0.0);
    let (pixels, rest) = memory.split_at_mut(size);
    let (other, background) = rest.split_at_mut(size);
    make_finite(pixels, width, ground);
    let column = Column::new(strip.frame, strip.rows.start, strip.rows.end);
    let noise = NoiseMap::new(pixels, width, column);
    if noise.is_zero() {
        return Searched { candidates: Vec::new(), dense: None };
    }
    box_mean(pixels, other, width, box_size);
    cut(other, pixels, width, &noise);
    box_mean(other, background, width, box_size);
    smooth(pixels, other, width, kernel);
    for (value, level) in pixels.iter_mut().zip(background) {
        *value -= *level;
    }
    let filtered = noise.with_texture(pixels, gain);
    let candidates = detector.peaks(pixels, &filtered, strip);
    // A threshold in units of the local noise means what it says.
    let dense = match detector.threshold {
        Threshold::Fixed(_) => None,
        Threshold::OfNoise(_) => Dense::of(memory, noise, &filtered, gain),
    };
    Searched { candidates, dense }
}

/// Puts the pixels, cut at twice the noise above their mean, in the place of the mean.
#[inline(always)]
fn cut(mean: &mut [f32], pixels: &[f32], width: usize, noise: &NoiseMap) {
    let mut levels = vec![0.0; width];
    let rows = mean.chunks_exact_mut(width).zip(pixels.chunks_exact(width));
    for (y, (mean, pixels)) in rows.enumerate() {
        noise.row(y, &mut levels);
        for ((value, &pixel), &level) in mean.iter_mut().zip(pixels).zip(&levels) {
            *value = pixel.min(*value + 2.0 * level);
        }
    }
}

/// Rows of a frame that are searched together.
struct Strip {
    /// All that is looked at.
    rows: Range<usize>,
    /// The rows whose candidates are wanted.
    own: Range<usize>,
    /// Rows of the frame.
    frame: usize,
}

/// Frames with more pixels than this are searched in strips of about this size: 200 MB of numbers.
const STRIP_PIXELS: usize = 1 << 24;

/// The places along a line that stand out by more than `threshold` times the level.
#[inline(always)]
fn bright(values: &[f32], levels: &[f32], threshold: f32) -> Vec<usize> {
    let stands_out = |value: f32, level: f32| (value > threshold * level) & (level > 0.0);
    let mut found = Vec::new();
    let mut first = 0;
    // Most blocks have none, which is seen for many places at a time.
    for (values, levels) in values.chunks(BLOCK).zip(levels.chunks(BLOCK)) {
        let mut any = false;
        for (&value, &level) in values.iter().zip(levels) {
            any |= stands_out(value, level);
        }
        if any {
            let places = (first..).zip(values.iter().zip(levels));
            found.extend(places.filter(|(_, (v, l))| stands_out(**v, **l)).map(|(x, _)| x));
        }
        first += BLOCK;
    }
    found
}

/// Places that are looked at together.
const BLOCK: usize = 32;

#[cfg(test)]
mod tests;
