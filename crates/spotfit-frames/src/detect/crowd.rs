//! Crowds: tiles in which spots stand so close that the usual search sees little of them.
//!
//! Where the light of spots overlaps everywhere, no pixel shows the background. The spread of the filtered frame is then that
//! of the spots, and not noise. Such tiles are searched in another way, if all of this is so:
//!
//! - The spread of the filtered frame exceeds the noise of its pixels by more than half, and a quarter of it is bright; a fifth suffices
//!   where that is so in more than a quarter of all tiles. Only such tiles are searched again.
//! - The noise of the pixels is that of independent ones: a fourth difference shows as much of it as a second difference, of
//!   which smoothed noise has less.
//! - There are at least five spots in the area of 32×32 pixels, 0.5 in a square micrometre for pixels of 100 nm, and more for windows narrower
//!   than 7 pixels. They must stand out by 7 times the noise.
//!
//! The filter is then the curvature of a Gaussian that is narrower than a spot (σ = box/9 pixels, followed by a Laplacian),
//! whose response to a spot is 0.6 times as wide, and to even and sloping backgrounds 0. Its noise is that of the pixels times
//! the gain of the filter; above the background of the usual search, light adds its own. The threshold is three quarters of the
//! usual one: about one false spot in 10 000 pixels, which have fifty true ones at the least density of a crowd.

use std::ops::Range;

use super::filter::Smooth;
use super::method::{Candidate, Method, Strip, Threshold};
use super::noise::{NoiseMap, Region, TilePlaces};
use super::peaks::{EQUAL, of_equals};
use super::sharp::{Sharp, laplacian};
use super::sweep::Room;

use multiversion::multiversion;

/// The spread of the filtered frame must exceed the noise by this factor.
pub(super) const SPREAD: f32 = 1.5;

/// So large a share of the filtered frame must be brighter than the background by so many times the noise: alone, and where that is
/// so in more than a quarter of all tiles.
const BRIGHT: f32 = 0.25;
const BRIGHT_AMONG_OTHERS: f32 = 0.2;
pub(super) const STANDS_OUT: f32 = 3.0;

/// Of the noise, fine differences must show this share.
const INDEPENDENT: f32 = 0.8;

/// The area of so many windows has a spot.
const WINDOWS: usize = 245;

/// So many spots in a tile make a crowd, however wide windows are.
const FEWEST: usize = 5;

/// How far a spot must stand out to make a crowd.
const CERTAIN: f32 = 7.0;

/// The threshold, as a share of the one that holds elsewhere: false spots are more frequent then, but a crowd has many spots for each of
/// them.
const SHARE: f32 = 0.75;

/// The tiles of a frame in which there may be a crowd.
pub(super) struct Dense(pub(super) Vec<bool>);

/// The shares of some tiles that are bright, of those whose filtered frame is uneven; 0 for the others.
pub(super) fn shares(
    method: &Method,
    room: &Room,
    tiles: Range<usize>,
) -> impl Iterator<Item = f32> {
    let Room { noise, filtered, signal, .. } = room;
    tiles.map(move |tile| {
        let (level, spread) = (method.gain * noise.levels[tile], filtered.levels[tile]);
        match level > 0.0 && spread > SPREAD * level {
            true => noise.share_above(tile, signal, STANDS_OUT * level),
            false => 0.0,
        }
    })
}

impl Dense {
    /// The tiles whose filtered frame is uneven because much of it is bright, if there are any, by their [`shares`].
    pub(super) fn among(shares: &[f32]) -> Option<Self> {
        let among_others = shares.iter().filter(|&&share| share > BRIGHT_AMONG_OTHERS).count();
        let least = if 4 * among_others > shares.len() { BRIGHT_AMONG_OTHERS } else { BRIGHT };
        let tiles: Vec<bool> = shares.iter().map(|&share| share > least).collect();
        tiles.contains(&true).then_some(Self(tiles))
    }
}

/// The maxima of the other filter in some tiles of a strip, of which these are the pixels. Tiles whose noise is not that of independent
/// pixels are no longer wanted.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma",))]
pub(super) fn search(
    method: &Method,
    wanted: &mut [bool],
    pixels: &[f32],
    strip: &Strip,
    room: &Room,
) -> Vec<Candidate> {
    let Room { noise, signal, .. } = room;
    let fine = noise.fine(pixels, wanted);
    for (tile, (fine, noise)) in wanted.iter_mut().zip(fine.iter().zip(&noise.levels)) {
        *tile &= *fine >= INDEPENDENT * noise;
    }
    let (mut all, mut sharp) = (Vec::new(), Sharpened::default());
    for region in noise.regions(wanted) {
        let place = sharpen(method, pixels, &region, &mut sharp);
        let sharp = (&sharp.numbers[..], place);
        all.extend(peaks(method, sharp, signal, noise, strip, &region));
    }
    all
}

/// What was found in a frame, with crowds: of `all` maxima in its dense `tiles`, where there are enough of them. Where there is none, what was
/// found remains.
pub(super) fn merge(
    method: &Method,
    found: Vec<Candidate>,
    mut all: Vec<Candidate>,
    mut tiles: Vec<bool>,
) -> Vec<Candidate> {
    let radius = method.sharp.radius;
    // Regions share the pixels between them.
    all.sort_by_key(|candidate| (candidate.y, candidate.x));
    all.dedup_by_key(|candidate| (candidate.y, candidate.x));
    let all = of_equals(&all, radius, method);
    let certain = all.iter().filter(|candidate| candidate.significance > CERTAIN);
    let places = TilePlaces::new(method.width, method.height);
    let counts = places.counts(certain.map(|candidate| (candidate.x, candidate.y)));
    let least = WINDOWS.div_ceil(method.box_size.pow(2)).max(FEWEST);
    for (tile, count) in tiles.iter_mut().zip(counts) {
        *tile &= count >= least;
    }
    if !tiles.contains(&true) {
        return found;
    }
    let is_crowd =
        |candidate: &Candidate| places.holding(candidate.x, candidate.y).any(|tile| tiles[tile]);
    let mut outside = found;
    outside.retain(|candidate| !is_crowd(candidate));
    let inside = all.into_iter().filter(&is_crowd);
    let mut merged = outside.clone();
    merged.extend(inside.filter(|new| !is_near(&outside, new, radius)));
    merged.sort_by_key(|candidate| (candidate.y, candidate.x));
    for i in 0..merged.len() {
        let here = merged[i];
        merged[i].crowded = is_crowd(&here) && is_near(&merged, &here, method.box_size - 1);
    }
    merged
}

/// Whether another candidate, of some in the order of rows, lies within so many columns and rows.
fn is_near(candidates: &[Candidate], of: &Candidate, reach: usize) -> bool {
    let first = candidates.partition_point(|other| other.y + reach < of.y);
    let rows = candidates[first..].iter().take_while(|other| other.y <= of.y + reach);
    rows.into_iter().any(|other| {
        let itself = (other.x, other.y) == (of.x, of.y);
        !itself && other.x.abs_diff(of.x) <= reach
    })
}

/// Minus the Laplacian of a frame; 0 along its edges.
#[inline(always)]
fn curvature(pixels: &[f32], to: &mut [f32], width: usize) {
    to.fill(0.0);
    let height = pixels.len() / width;
    if width < 3 {
        return;
    }
    let [centre, side, corner] = [(0, 0), (0, 1), (1, 1)].map(|(y, x)| laplacian(y, x) as f32);
    for y in 1..height.saturating_sub(1) {
        let row = |y: usize| &pixels[y * width..(y + 1) * width];
        let (above, here, below) = (row(y - 1), row(y), row(y + 1));
        let to = &mut to[y * width + 1..(y + 1) * width - 1];
        for (i, value) in to.iter_mut().enumerate() {
            // Sums of two that lie opposite are the same however the frame is turned.
            let sides = (above[i + 1] + below[i + 1]) + (here[i] + here[i + 2]);
            let corners = (above[i] + below[i + 2]) + (above[i + 2] + below[i]);
            *value = centre * here[i + 1] + side * sides + corner * corners;
        }
    }
}

/// A filtered region, and room.
#[derive(Default)]
struct Sharpened {
    smooth: Smooth,
    smoothed: Vec<f32>,
    numbers: Vec<f32>,
}

/// Filters a region, and as much around it as its maxima depend on: where that is.
#[inline(always)]
fn sharpen(method: &Method, pixels: &[f32], region: &Region, sharp: &mut Sharpened) -> Region {
    let (width, height) = (method.width, pixels.len() / method.width);
    let Sharp { kernel, radius, .. } = &method.sharp;
    let around = |range: &Range<usize>, length: usize| {
        let reach = kernel.len() + radius;
        range.start.saturating_sub(reach)..(range.end + reach).min(length)
    };
    let place =
        Region { rows: around(&region.rows, height), columns: around(&region.columns, width) };
    let (columns, rows) = (place.columns.len(), place.rows.len());
    let Sharpened { smooth, smoothed, numbers } = sharp;
    smooth.start(columns, rows, kernel);
    smoothed.resize(columns * rows, 0.0);
    numbers.resize(columns * rows, 0.0);
    let line = |y: usize| &pixels[(place.rows.start + y) * width..][place.columns.clone()];
    for (y, to) in smoothed.chunks_exact_mut(columns).enumerate() {
        smooth.line(y, line, kernel, None, to);
    }
    curvature(smoothed, numbers, columns);
    place
}

/// The maxima of the curvature in a region that stand out from the noise. The filtered pixels are those of another one around it.
#[inline(always)]
fn peaks(
    method: &Method,
    (sharp, place): (&[f32], Region),
    signal: &[f32],
    noise: &NoiseMap,
    strip: &Strip,
    region: &Region,
) -> Vec<Candidate> {
    let Method { width, light, .. } = *method;
    let Threshold::OfNoise(threshold) = &method.threshold else { return Vec::new() };
    let Sharp { gain, radius, .. } = method.sharp;
    let least = SHARE * threshold.least();
    let stride = place.columns.len();
    let mut levels = vec![0.0; width];
    let mut tops = Vec::new();
    for y in region.rows.clone() {
        noise.row(y, &mut levels);
        let line = &sharp[(y - place.rows.start) * stride..][..stride];
        for x in region.columns.clone() {
            let (value, level) = (line[x - place.columns.start], levels[x]);
            // What is no more than noise is no spot, whatever the threshold.
            if level <= 0.0 || value < least.max(1.0) * gain * level {
                continue;
            }
            let level = (level * level + light * signal[y * width + x].max(0.0)).sqrt();
            if value <= SHARE * threshold.at(level) * gain * level {
                continue;
            }
            let most = value + EQUAL * value;
            let rows = y.saturating_sub(radius).max(place.rows.start)
                ..(y + radius + 1).min(place.rows.end);
            let columns = x.saturating_sub(radius).max(place.columns.start)
                ..(x + radius + 1).min(place.columns.end);
            let highest = rows.into_iter().all(|row| {
                let row = &sharp[(row - place.rows.start) * stride..][..stride];
                let from = place.columns.start;
                row[columns.start - from..columns.end - from].iter().all(|&other| other <= most)
            });
            if highest {
                let significance = value / (gain * level);
                tops.push(Candidate { x, y: strip.rows.start + y, significance, crowded: false });
            }
        }
    }
    tops
}
