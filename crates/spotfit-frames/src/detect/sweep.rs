//! One sweep down a frame: what is known of a row is used while it is in the processor's caches.
//!
//! A row of pixels is read, and leads to noise as soon as the rows of its tiles are there; with the noise it is clipped, and
//! with the rows around it filtered; and a filtered row has its maxima when the tiles around it are. Each of these stages is as far
//! behind the one before as it looks ahead, and only the filtered strip is kept as a whole: crowds are searched in it.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use multiversion::multiversion;

use super::filter::Smooth;
use super::ground::{Ground, Source};
use super::lines::Lines;
use super::mean::BoxMean;
use super::method::{Candidate, Method, Response, Strip, Threshold};
use super::noise::{Column, Looks, NoiseMap, TILE};
use super::peaks::{Maxima, Peaks};

/// The memory of a sweep.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// The pixels, and those of them that were clipped.
    pixels: Lines,
    clipped: Lines,
    means: [BoxMean; 2],
    smooth: Smooth,
    /// The filtered strip.
    pub(super) signal: Vec<f32>,
    /// The noise of the pixels and of the filtered strip, and what a candidate must exceed.
    pub(super) noise: NoiseMap,
    pub(super) filtered: NoiseMap,
    limits: NoiseMap,
    looks: Looks,
    levels: Vec<f32>,
    peaks: Peaks,
}

impl Room {
    /// The maxima in the strip's own rows, those of equals all.
    pub(super) fn tops(&self) -> &[Candidate] {
        &self.peaks.tops
    }

    /// The maxima in its own rows that somebody listens to.
    pub(super) fn heard(&self) -> &[Response] {
        &self.peaks.heard
    }
}

/// Rooms that wait for the next frame: memory that is given back to the system costs time again.
#[derive(Debug, Default)]
pub(super) struct Rooms(Mutex<Vec<Room>>);

impl Rooms {
    /// A room that nobody else is in.
    pub(super) fn enter(&self) -> Room {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Leaves it to others.
    pub(super) fn leave(&self, room: Room) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(room);
    }
}

impl Clone for Rooms {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The sweep of a strip, compiled for several instruction sets, of which the processor's best is chosen. All
/// that it calls is inlined, and none of it rounds differently for being compiled differently.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma",))]
pub(super) fn sweep(
    method: &Method,
    source: &dyn Source,
    ground: &Ground,
    strip: &Strip,
    room: &mut Room,
) {
    let Method { width, box_size, ref kernel, gain, .. } = *method;
    let (height, top) = (strip.rows.len(), strip.rows.start);
    let tiles = Column::new(strip.frame, top, strip.rows.end);
    let Room { pixels, clipped, means: [first, second], smooth, signal, levels, .. } = room;
    let Room { noise, filtered, limits, looks, peaks, .. } = room;
    let batch = BoxMean::lines(width, box_size);
    // A mean looks at one row more above than below; and noise is known when two tiles, of which one may be cut by the strip, were
    // read.
    let above = box_size + 1;
    let ahead = (batch + box_size).max(2 * (TILE + 1) + 1);
    pixels.reset(width, (ahead + above).min(height));
    clipped.reset(width, (batch + box_size + above).min(height));
    first.start(width, height, box_size);
    second.start(width, height, box_size);
    smooth.start(width, height, kernel);
    signal.resize(width * height, 0.0);
    levels.resize(width, 0.0);
    noise.start(width, tiles);
    filtered.start(width, tiles);
    limits.start(width, tiles);
    let maxima = Maxima::new(method, strip);
    peaks.start(&maxima);
    let [mut read, mut cut, mut done, mut searched] = [0, 0, 0, maxima.rows.start];
    for tile in 0..tiles.rows() {
        let ahead = (tiles.end(tile) + 1).min(height);
        read_rows(source, ground, top, read..ahead, pixels);
        read = read.max(ahead);
        noise.add_tiles(pixels, height, looks);
        while cut < height && tiles.between(cut).1 <= tile {
            let most = (cut + batch).min(height);
            let end = (cut + 1..most).find(|&y| tiles.between(y).1 > tile).unwrap_or(most);
            let ahead = (end + box_size).min(height);
            read_rows(source, ground, top, read..ahead, pixels);
            read = read.max(ahead);
            first.next(cut..end, pixels, |y, mean| {
                noise.row(y, levels);
                clip(mean, pixels.line(y), levels, clipped.line_mut(y));
            });
            cut = end;
            let ready = if cut == height { height } else { cut.saturating_sub(box_size) };
            while done < ready {
                let end = (done + batch).min(ready);
                second.next(done..end, clipped, |y, mean| {
                    let line = &mut signal[y * width..][..width];
                    smooth.line(y, |y| pixels.line(y), kernel, Some(mean), line);
                });
                done = end;
            }
        }
        while filtered.rows() < tiles.rows() && tiles.end(filtered.rows()) <= done {
            filtered.add_textures(noise, signal, gain, looks);
        }
        if let Threshold::OfNoise(of) = &method.threshold {
            limits.add_of(filtered, |level| level * of.at(level / gain));
        }
        let ready = |y: usize| {
            let seen = (y + maxima.radius + 1).min(height) <= done;
            seen && tiles.between(y).1 < filtered.rows()
        };
        while searched < maxima.rows.end && ready(searched) {
            maxima.look(searched, signal, filtered, limits, peaks);
            searched += 1;
        }
    }
}

/// Reads rows of a strip that begins at row `top` of the frame.
#[inline(always)]
fn read_rows(
    source: &dyn Source,
    ground: &Ground,
    top: usize,
    rows: Range<usize>,
    pixels: &mut Lines,
) {
    for y in rows {
        let line = pixels.line_mut(y);
        source.read(top + y, line);
        ground.subtract(line, source);
    }
}

/// The pixels, cut at twice the noise above their mean.
#[inline(always)]
pub(super) fn clip(mean: &[f32], pixels: &[f32], noise: &[f32], to: &mut [f32]) {
    let lines = mean.iter().zip(pixels).zip(noise);
    for (to, ((&mean, &pixel), &level)) in to.iter_mut().zip(lines) {
        *to = pixel.min(mean + 2.0 * level);
    }
}
