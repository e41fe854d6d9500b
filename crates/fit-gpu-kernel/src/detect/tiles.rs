//! The noise of tiles: ranks among half of their pixels.

use core::ops::Range;

use super::job::{Crew, DetectionJob, PLACES, span};
use crate::device;

/// Of a normal distribution of standard deviation 1: the median of absolute values, and the share below −1.
const MEDIAN: f32 = 0.674_49;
const SHARE_BELOW: f32 = 0.158_66;

/// The root of the sum of squares of (1 −2 1)ᵀ(1 −2 1).
const COARSE: f32 = 6.0;

/// What stands for a number that is not there: above all others.
const NONE: u32 = u32::MAX;

/// A whole number in the order of the numbers.
#[inline(always)]
fn key(number: f32) -> u32 {
    let bits = number.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// The number of a key.
#[inline(always)]
fn number(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 0 { !key } else { key & !(1 << 31) })
}

/// A tile of a frame.
struct Tile {
    frame: u32,
    /// Where its levels are.
    index: usize,
    lines: Range<u32>,
    columns: Range<u32>,
}

impl Tile {
    #[inline(always)]
    fn new(job: &DetectionJob, number: u32) -> Self {
        let [columns, rows] = job.tiles();
        let (frame, tile) = (number / (columns * rows), number % (columns * rows));
        let (row, column) = (tile / columns, tile % columns);
        Self {
            frame,
            index: number as usize,
            lines: span(row, job.height),
            columns: span(column, job.width),
        }
    }

    /// The places of lines that have one, half of those that are inside: two runs of every other one, in a pattern that looks the same
    /// turned and mirrored.
    #[inline(always)]
    fn place(&self, item: u32, inside: &Range<u32>) -> Option<(u32, u32)> {
        let (line, place) = (item / PLACES, item % PLACES);
        let (lines, length) =
            (self.lines.end - self.lines.start, self.columns.end - self.columns.start);
        let from_end = lines - 1 - line;
        let odd = if line < from_end { line } else { from_end } % 2;
        let half = length.div_ceil(2);
        let first = if odd < inside.start { odd + 2 } else { odd };
        let end = if half < inside.end { half } else { inside.end };
        let of_first = end.saturating_sub(first).div_ceil(2);
        let x = if place < of_first {
            first + 2 * place
        } else {
            half + (length / 2 + 1 + odd) % 2 + 2 * (place - of_first)
        };
        (x < inside.end).then_some((self.columns.start + x, self.lines.start + line))
    }

    /// The places that there may be.
    #[inline(always)]
    fn items(&self) -> u32 {
        (self.lines.end - self.lines.start) * PLACES
    }

    /// Gathers numbers, in the order of lines. Gives their count.
    #[inline(always)]
    unsafe fn gather(
        &self,
        crew: &impl Crew,
        room: *mut u32,
        inside: &Range<u32>,
        of: impl Fn(u32, u32) -> Option<f32>,
    ) -> u32 {
        let (mut item, mut count) = (crew.thread(), 0);
        while item < self.items() {
            let number = self.place(item, inside).and_then(|(x, y)| of(x, y));
            count += u32::from(number.is_some());
            // SAFETY: there is room for all that there may be, and this one is this thread's.
            unsafe { room.add(item as usize).write(number.map_or(NONE, key)) };
            item += crew.threads();
        }
        crew.wait();
        crew.sum(count)
    }

    /// The number that is above exactly `rank` others of those that were gathered, found two digits of its bits at a time.
    #[inline(always)]
    unsafe fn ranked(&self, crew: &impl Crew, room: *const u32, rank: u32) -> f32 {
        let (mut found, mut shift) = (0, 32);
        while shift > 0 {
            shift -= 2;
            let [one, two, three] = [1, 2, 3].map(|digit: u32| found | digit << shift);
            let (mut item, mut counts) = (crew.thread(), 0);
            while item < self.items() {
                // SAFETY: it was written before all threads waited.
                let key = unsafe { room.add(item as usize).read() };
                // A tile has less than 1024 of them.
                counts += u32::from(key < one)
                    | u32::from(key < two) << 10
                    | u32::from(key < three) << 20;
                item += crew.threads();
            }
            let counts = crew.sum(counts);
            let [one, two, three] = [0, 10, 20].map(|digits| counts >> digits & 1023);
            let digit = u32::from(one <= rank) + u32::from(two <= rank) + u32::from(three <= rank);
            found |= digit << shift;
        }
        number(found)
    }
}

/// The noise of the pixels of a tile: the median of their absolute responses to (1 −2 1)ᵀ(1 −2 1).
#[inline(always)]
pub(super) unsafe fn noise(job: &DetectionJob, crew: &impl Crew, piece: u32, room: *mut u32) {
    let tile = Tile::new(job, piece);
    let Tile { frame, ref lines, ref columns, .. } = tile;
    // The outermost pixels have no response.
    let (right, bottom) = (job.width - 1, job.height - 1);
    let start = if columns.start == 0 { 1 } else { 0 };
    let end = if columns.end < right { columns.end } else { right };
    let inside = start..end.saturating_sub(columns.start);
    // SAFETY: the caller's promise: the pixels around one that is not outermost are there.
    unsafe {
        let ground = job.ground(frame);
        let at = |x: u32, y: u32| job.pixel(frame, x, y) - ground;
        let down = |x: u32, y: u32| at(x, y - 1) - 2.0 * at(x, y) + at(x, y + 1);
        let response = |x: u32, y: u32| {
            let there = y > 0 && y < bottom && x > 0 && x < right && lines.contains(&y);
            there.then(|| (down(x - 1, y) - 2.0 * down(x, y) + down(x + 1, y)).abs())
        };
        let count = tile.gather(crew, room, &inside, response);
        let mut level = 0.0;
        if count > 0 {
            let median = tile.ranked(crew, room, count / 2);
            level = median / (MEDIAN * COARSE);
            if median <= 0.0 {
                // Most pixels are equal, as in dim frames of whole counts: use the root mean square instead.
                let (mut item, mut squares) = (crew.thread(), 0.0);
                while item < tile.items() {
                    let key = room.add(item as usize).read();
                    if key != NONE {
                        let response = f64::from(number(key));
                        squares += response * response;
                    }
                    item += crew.threads();
                }
                let mean = crew.sum_f64(squares) / f64::from(count);
                level = (device::sqrt_f64(mean) / f64::from(COARSE)) as f32;
            }
        }
        if crew.thread() == 0 {
            job.noise.add(tile.index).write(level);
            // What later steps count.
            if lines.start + columns.start == 0 {
                job.odd.add(frame as usize).write(0);
                job.found.add(frame as usize).write(0);
            }
        }
    }
}

/// The noise of the filtered pixels of a tile: that of its pixels times the gain of the filter, or the spread below the median where that
/// is more; and what a spot must exceed.
#[inline(always)]
pub(super) unsafe fn texture(job: &DetectionJob, crew: &impl Crew, piece: u32, room: *mut u32) {
    let tile = Tile::new(job, piece);
    let Tile { frame, ref lines, ref columns, .. } = tile;
    // SAFETY: the caller's promise.
    unsafe {
        let at = |x: u32, y: u32| job.signal.add(job.index(frame, x, y)).read();
        let inside = 0..columns.end - columns.start;
        let count = tile.gather(crew, room, &inside, |x, y| Some(at(x, y)));
        let noise = job.noise.add(tile.index).read();
        let white = noise * job.gain;
        let mut level = white;
        if count > 1 {
            let middle = count / 2;
            let median = tile.ranked(crew, room, middle);
            // The quantile that lies one standard deviation below the median of a normal distribution.
            let below = (middle as f32 * 2.0 * SHARE_BELOW) as u32;
            let spread = median - tile.ranked(crew, room, below);
            if spread > white {
                level = spread;
            }
        }
        let mut share = if noise > 0.0 { 0.0 } else { -1.0 };
        if white > 0.0 && level > job.uneven * white {
            let width = columns.end - columns.start;
            let all = (lines.end - lines.start) * width;
            let (mut item, mut bright) = (crew.thread(), 0);
            while item < all {
                let (x, y) = (columns.start + item % width, lines.start + item / width);
                bright += u32::from(at(x, y) > job.bright * white);
                item += crew.threads();
            }
            share = crew.sum(bright) as f32 / all as f32;
        }
        if crew.thread() > 0 {
            return;
        }
        job.filtered.add(tile.index).write(level);
        job.shares.add(tile.index).write(share);
        if !job.thresholds.is_null() {
            job.limits.add(tile.index).write(level * threshold(job, level / job.gain));
        }
    }
}

/// The threshold where the noise of a pixel is so large.
#[inline(always)]
unsafe fn threshold(job: &DetectionJob, noise: f32) -> f32 {
    let last = (DetectionJob::THRESHOLDS - 1) as f64;
    let place = (libm::log(f64::from(noise)) - job.first) / job.step;
    let place = if place < 0.0 { 0.0 } else { place };
    let place = (if place > last { last } else { place }) as f32;
    let before = place as u32;
    let before =
        if before < DetectionJob::THRESHOLDS - 2 { before } else { DetectionJob::THRESHOLDS - 2 };
    // SAFETY: the caller's promise: there are so many.
    let [low, high] =
        unsafe { [0, 1].map(|next| job.thresholds.add((before + next) as usize).read()) };
    low + (place - before as f32) * (high - low)
}
