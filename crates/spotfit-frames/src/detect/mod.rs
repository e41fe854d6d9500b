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
//! All of this is done in one sweep down the frame, with rows that are still in the processor's caches: see `sweep.rs`.
//!
//! Cost per pixel: 2·(2·⌈3σ⌉ + 1) multiply-adds for the Gaussian (14 for box 7), about 12 additions for
//! each of the two box means, 9 for the noise, some ten comparisons of whole numbers to find ranks among half of the pixels, and
//! one with the threshold; `docs/localization.md` has the measured time.

mod crowd;
#[cfg(feature = "gpu")]
mod device;
mod false_rate;
mod filter;
mod ground;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;
mod lines;
mod map;
mod mean;
mod method;
mod noise;
mod order;
mod peaks;
mod sharp;
mod sweep;

use std::sync::{Arc, Mutex, PoisonError};

use fit_core::{Camera, Pixel, Size};
use fit_windows::{AnyWindows, CameraMap, Visitor, Windows};
use ndarray::{ArrayView2, Axis};
use rayon::prelude::*;
use spotfit_locs::OutOfRange;

use crowd::Dense;
use false_rate::Thresholds;
use ground::{Ground, Source};
pub use map::typical_variance;
use map::{Converter, Frame};
pub use method::{Candidate, Response};
use method::{Method, Strip, Threshold};
use peaks::of_equals;
pub use sharp::narrow;
use sharp::{Sharp, gaussian};
use sweep::{Room, Rooms, sweep};

/// The detector for frames of one size.
#[derive(Clone, Debug)]
pub struct Detector {
    method: Method,
    /// What makes photo-electrons of pixels that differ.
    converter: Option<Converter>,
    rooms: Rooms,
    /// Where all maxima go, if somebody listens.
    heard: Option<Arc<Mutex<Vec<Response>>>>,
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
        let kernel = gaussian(box_size as f64 / 7.0);
        // The filter is Gaussian minus box: the sum of its squares.
        let squares = kernel[0].powi(2) + 2.0 * kernel[1..].iter().map(|w| w * w).sum::<f64>();
        let side = (2 * box_size + 1) as f64;
        let gain = (squares * squares - 1.0 / (side * side)).max(1e-6).sqrt();
        let method = Method {
            width,
            height,
            box_size,
            threshold,
            kernel: kernel.iter().map(|&w| w as f32).collect(),
            gain: gain as f32,
            sharp: Sharp::new(box_size),
            light: 0.0,
            heard_from: 1.0,
        };
        Ok(Self { method, converter: None, rooms: Rooms::default(), heard: None })
    }

    /// The same detector with a threshold in units of the local noise.
    ///
    /// # Errors
    /// [`DetectError::Option`] if it is not finite and above 0.
    pub fn with_threshold(mut self, threshold: f64) -> Result<Self, DetectError> {
        self.method.threshold = fixed(threshold)?;
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
        let kernel: Vec<f64> = self.method.kernel.iter().map(|&weight| weight.into()).collect();
        self.method.threshold = Threshold::OfNoise(Thresholds::new(rate, &kernel, camera));
        let excess = if camera.em_gain.is_some() { 2.0 } else { 1.0 };
        self.method.light = (excess / camera.photons_per_adu()) as f32;
        Ok(self)
    }

    /// The same detector for frames of a camera whose pixels differ; it searches photo-electrons.
    ///
    /// # Errors
    /// [`DetectError::Option`] if the map is not of the size of the frames.
    pub fn with_map(mut self, map: &CameraMap) -> Result<Self, DetectError> {
        let (Size { width, height }, size) = (map.size(), (self.method.width, self.method.height));
        let range = format!("the frame's {}×{} pixels", self.method.width, self.method.height);
        OutOfRange::check("map", format!("{width}×{height}"), (width, height) == size, range)?;
        self.converter = Some(Converter::new(map));
        Ok(self)
    }

    /// The same detector, which also tells of maxima below the threshold, from half of it on.
    pub fn heard(mut self) -> Self {
        self.method.heard_from = 0.5;
        self.heard = Some(Arc::default());
        self
    }

    /// The maxima since the last call, if somebody listens.
    pub fn take_heard(&self) -> Vec<Response> {
        let take = |heard: &Arc<Mutex<Vec<Response>>>| {
            std::mem::take(&mut *heard.lock().unwrap_or_else(PoisonError::into_inner))
        };
        self.heard.as_ref().map_or(Vec::new(), take)
    }

    /// The threshold where a pixel has so much noise, in its own unit: how far a candidate must stand out, in units of
    /// the noise of the filtered frame.
    pub fn threshold(&self, noise: f64) -> f64 {
        match &self.method.threshold {
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
        self.detect_with_threads(Windows::stack(frame.insert_axis(Axis(0))).into(), 0, None, 1)
    }

    /// The candidates of one of some frames, by so many threads of the current pool of rayon. They search bands of the frame side by side,
    /// as far as it is high enough for that (two bands from about 650 rows on, for windows of 7 pixels); the candidates are the same. With the
    /// map of a camera, light of its pixels may be known: it is subtracted from the photo-electrons.
    ///
    /// # Errors
    /// [`DetectError::FrameSize`] if the frames do not have the size of the detector.
    pub fn detect_with_threads(
        &self,
        frames: AnyWindows<'_>,
        number: usize,
        known: Option<ArrayView2<'_, f32>>,
        threads: usize,
    ) -> Result<Vec<Candidate>, DetectError> {
        let (_, height, width) = frames.frames();
        let (expected, found) = ((self.method.width, self.method.height), (width, height));
        if found != expected {
            return Err(DetectError::FrameSize { expected, found });
        }
        Ok(frames.visit(Search { detector: self, number, known, threads }))
    }

    /// The candidates of a frame, which is searched in strips of about so many pixels, several at a time.
    fn detect_in_strips<P: Pixel>(
        &self,
        frame: ArrayView2<'_, P>,
        known: Option<ArrayView2<'_, f32>>,
        pixels: usize,
        threads: usize,
    ) -> Vec<Candidate> {
        let source = Frame { pixels: frame, converter: self.converter.as_ref(), known };
        self.search(&source, pixels, threads)
    }

    /// All that is not compiled for every type of pixels.
    fn search(&self, source: &dyn Source, pixels: usize, threads: usize) -> Vec<Candidate> {
        let method = &self.method;
        let ground = Ground::of(source, method.width, method.height);
        let (mut parts, at_a_time) = self.parts(pixels, threads);
        // Crowds are searched in what sweeps leave, if there is memory for all of that.
        let stays = parts.len() <= at_a_time;
        side_by_side(&mut parts, at_a_time, |part| {
            let room = self.swept(source, &ground, &part.strip);
            // A threshold in units of the local noise means what it says.
            if let Threshold::OfNoise(_) = method.threshold {
                let own = room.noise.beginning_in(&part.strip.own);
                part.shares.extend(crowd::shares(method, &room, own));
            }
            part.tops.extend_from_slice(room.tops());
            part.silent = room.noise.is_zero();
            part.heard.extend_from_slice(room.heard());
            part.leave(room, stays, &self.rooms);
        });
        if let Some(heard) = &self.heard {
            let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.extend(parts.iter().flat_map(|part| &part.heard));
        }
        // A frame without noise has no candidates; a strip of another may have none and some.
        let is_silent = parts.iter().all(|part| part.silent);
        let tops = if is_silent { Vec::new() } else { concat(&parts, |part| &part.tops) };
        let mut found = of_equals(&tops, peaks::radius(method.box_size), method);
        if let Some(Dense(mut tiles)) = Dense::among(&concat(&parts, |part| &part.shares)) {
            for part in &mut parts {
                part.dense.extend(tiles.drain(..part.shares.len()));
            }
            side_by_side(&mut parts, at_a_time, |part| {
                part.tops.clear();
                if part.dense.contains(&true) {
                    let kept = part.room.take();
                    let room = kept.unwrap_or_else(|| self.swept(source, &ground, &part.strip));
                    let own = room.noise.beginning_in(&part.strip.own);
                    let mut wanted = vec![false; room.noise.levels.len()];
                    wanted[own.clone()].copy_from_slice(&part.dense);
                    let pixels = ground.pixels(source, part.strip.rows.clone());
                    part.tops = crowd::search(method, &mut wanted, &pixels, &part.strip, &room);
                    part.dense.copy_from_slice(&wanted[own]);
                    part.leave(room, stays, &self.rooms);
                }
            });
            let tops = concat(&parts, |part| &part.tops);
            found = crowd::merge(method, found, tops, concat(&parts, |part| &part.dense));
        }
        parts.into_iter().filter_map(|part| part.room).for_each(|room| self.rooms.leave(room));
        found
    }

    /// What the sweep of a strip leaves.
    fn swept(&self, source: &dyn Source, ground: &Ground, strip: &Strip) -> Room {
        let mut room = self.rooms.enter();
        sweep(&self.method, source, ground, strip, &mut room);
        room
    }

    /// The frame in strips of rows of about so many pixels, and how many of them are searched at a time: memory is for those.
    fn parts(&self, pixels: usize, threads: usize) -> (Vec<Part>, usize) {
        let Method { width, height, box_size, .. } = self.method;
        // What a candidate depends on: two means and a filter, and the noise between two tiles and around.
        let reach = 2 * box_size + 1;
        let halo = 2 * reach + self.method.kernel.len() + 4 * noise::TILE;
        // Less than twice that would cost more than it gains.
        let least = 2 * halo;
        let at_a_time = threads.min(PIXELS_AT_A_TIME / (least * width)).max(1);
        let most = (pixels.min(PIXELS_AT_A_TIME / at_a_time) / width).max(halo);
        let each = if at_a_time > 1 { height.div_ceil(at_a_time).max(least) } else { height };
        let rows = most.min(each);
        let strips = (0..height).step_by(rows).map(|first| {
            let end = (first + rows).min(height);
            // Means are summed in blocks of so many rows from the first: they stay the same blocks.
            let top = first.saturating_sub(halo) / reach * reach;
            Strip { rows: top..(end + halo).min(height), own: first..end, frame: height }
        });
        let part = |strip| Part {
            strip,
            tops: Vec::new(),
            silent: false,
            heard: Vec::new(),
            shares: Vec::new(),
            dense: Vec::new(),
            room: None,
        };
        (strips.map(part).collect(), at_a_time)
    }
}

/// A strip, and what was found in it.
struct Part {
    strip: Strip,
    /// The maxima in its own rows, of equals all: by the usual filter, then those in crowds by the other one.
    tops: Vec<Candidate>,
    /// Whether its pixels have no noise.
    silent: bool,
    /// Those that somebody listens to.
    heard: Vec<Response>,
    /// How much of each tile that begins in its own rows is bright, and whether there may be a crowd in it.
    shares: Vec<f32>,
    dense: Vec<bool>,
    /// What the sweep left, if that stays.
    room: Option<Room>,
}

impl Part {
    fn leave(&mut self, room: Room, stays: bool, rooms: &Rooms) {
        if stays {
            self.room = Some(room);
        } else {
            rooms.leave(room);
        }
    }
}

/// What parts have, one after the other.
fn concat<T: Copy>(parts: &[Part], of: impl Fn(&Part) -> &Vec<T>) -> Vec<T> {
    parts.iter().flat_map(of).copied().collect()
}

/// Works on all parts, on so many at a time.
fn side_by_side(parts: &mut [Part], at_a_time: usize, work: impl Fn(&mut Part) + Sync) {
    if parts.len().min(at_a_time) == 1 {
        parts.iter_mut().for_each(work);
    } else {
        for parts in parts.chunks_mut(at_a_time) {
            parts.par_iter_mut().for_each(&work);
        }
    }
}

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
    threads: usize,
}

impl<'w> Visitor<'w> for Search<'_> {
    type Output = Vec<Candidate>;

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) -> Vec<Candidate> {
        let frame = frames.frames().index_axis_move(Axis(0), self.number);
        self.detector.detect_in_strips(frame, self.known, STRIP_PIXELS, self.threads)
    }
}

/// Frames with more pixels than this are searched in strips of about this size: 200 MB of numbers.
const STRIP_PIXELS: usize = 1 << 24;

/// The most pixels of strips that are searched at a time, if they are several.
const PIXELS_AT_A_TIME: usize = 1 << 26;

#[cfg(test)]
mod tests;
