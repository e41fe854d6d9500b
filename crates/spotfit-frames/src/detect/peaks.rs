//! The maxima of the filtered frame, and one of each group of equals.

use std::ops::Range;

use super::method::{Candidate, Method, Response, Strip, Threshold};
use super::noise::NoiseMap;

/// Values of the filtered frame that differ by less than this share are equals: rounding, which is the frame's size times
/// 10⁻⁷ and depends on its direction, decides nothing.
pub(super) const EQUAL: f32 = 1.0 / 65536.0;

/// What was found, and room for lines.
#[derive(Debug, Default)]
pub(super) struct Peaks {
    pub(super) tops: Vec<Candidate>,
    /// Maxima, those below the threshold too, if somebody listens.
    pub(super) heard: Vec<Response>,
    limit: Vec<f32>,
    levels: Vec<f32>,
    bright: Vec<usize>,
}

impl Peaks {
    pub(super) fn start(&mut self, maxima: &Maxima<'_>) {
        self.tops.clear();
        self.heard.clear();
        self.limit.resize(maxima.width, 0.0);
        self.levels.resize(maxima.width, 0.0);
    }
}

/// Within so many pixels a maximum is the highest.
#[inline(always)]
pub(super) fn radius(box_size: usize) -> usize {
    (box_size.saturating_sub(3) / 2).max(1)
}

/// The search for maxima in a filtered strip.
pub(super) struct Maxima<'a> {
    threshold: &'a Threshold,
    heard_from: f32,
    /// The frame's row that comes first here.
    top: usize,
    width: usize,
    height: usize,
    /// A maximum is the highest within so many pixels.
    pub(super) radius: usize,
    /// Where to look.
    pub(super) rows: Range<usize>,
}

impl<'a> Maxima<'a> {
    #[inline(always)]
    pub(super) fn new(method: &'a Method, strip: &Strip) -> Self {
        let Method { width, box_size, ref threshold, heard_from, .. } = *method;
        let (top, height) = (strip.rows.start, strip.rows.len());
        let radius = radius(box_size);
        let rows = strip.own.start - top..strip.own.end - top;
        Self { threshold, heard_from, top, width, height, radius, rows }
    }

    /// Looks at a row, around which the filtered strip and its noise are known. With a threshold for each tile, what a pixel must
    /// exceed is interpolated as a whole: `limits`.
    #[inline(always)]
    pub(super) fn look(
        &self,
        y: usize,
        signal: &[f32],
        noise: &NoiseMap,
        limits: &NoiseMap,
        peaks: &mut Peaks,
    ) {
        let Self { width, height, radius, heard_from, .. } = *self;
        let Peaks { tops, heard, limit, levels, bright } = peaks;
        let (limits, threshold) = match self.threshold {
            Threshold::Fixed(threshold) => (noise, *threshold),
            Threshold::OfNoise(_) => (limits, 1.0),
        };
        limits.row(y, limit);
        let row = &signal[y * width..(y + 1) * width];
        find_bright(row, limit, threshold * heard_from, bright);
        if bright.is_empty() {
            return;
        }
        let mut has_levels = false;
        for &x in &*bright {
            let value = row[x];
            let most = value + EQUAL * value;
            let mut rows = y.saturating_sub(radius)..(y + radius + 1).min(height);
            let columns = x.saturating_sub(radius)..(x + radius + 1).min(width);
            let highest = rows.all(|row| {
                let row = &signal[row * width..(row + 1) * width];
                row[columns.clone()].iter().all(|&other| other <= most)
            });
            if highest {
                if !has_levels {
                    noise.row(y, levels);
                    has_levels = true;
                }
                let significance = value / levels[x];
                if heard_from < 1.0 {
                    let needed = threshold * limit[x] / levels[x];
                    let y = self.top + y;
                    heard.push(Response { x, y, significance, threshold: needed });
                    if !stands_out(value, limit[x], threshold) {
                        continue;
                    }
                }
                tops.push(Candidate { x, y: self.top + y, significance, crowded: false });
            }
        }
    }
}

/// The places along a line that stand out by more than `threshold` times the level.
#[inline(always)]
fn find_bright(values: &[f32], levels: &[f32], threshold: f32, found: &mut Vec<usize>) {
    found.clear();
    // Most blocks have none, which is seen for many places at a time.
    let (blocks, rest) = values.as_chunks::<BLOCK>();
    let (level_blocks, _) = levels.as_chunks::<BLOCK>();
    for (block, (values, levels)) in blocks.iter().zip(level_blocks).enumerate() {
        let mut any = 0u32;
        for (&value, &level) in values.iter().zip(levels) {
            any |= u32::from(stands_out(value, level, threshold));
        }
        if any > 0 {
            for (x, (&value, &level)) in (block * BLOCK..).zip(values.iter().zip(levels)) {
                if stands_out(value, level, threshold) {
                    found.push(x);
                }
            }
        }
    }
    let done = values.len() - rest.len();
    for (x, (&value, &level)) in (done..).zip(rest.iter().zip(&levels[done..])) {
        if stands_out(value, level, threshold) {
            found.push(x);
        }
    }
}

#[inline(always)]
fn stands_out(value: f32, level: f32, threshold: f32) -> bool {
    (value > threshold * level) & (level > 0.0)
}

/// Places that are looked at together.
const BLOCK: usize = 32;

/// One of each group of tops that are within reach of each other, and so are equals: the one that is nearest to the
/// centre of the frame, which is the same one however the frame is turned or mirrored. Where two are equally near,
/// that is where the frame's symmetry makes one of the other, the first in reading order. `tops` are those of the whole frame: a group may
/// go through all of it.
pub(super) fn of_equals(tops: &[Candidate], radius: usize, method: &Method) -> Vec<Candidate> {
    let from_centre = |top: &Candidate| {
        let off = |at: usize, length: usize| (2 * at + 1).abs_diff(length) as u64;
        off(top.x, method.width).pow(2) + off(top.y, method.height).pow(2)
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
