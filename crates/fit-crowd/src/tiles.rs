//! Tiles of large frames, and what is one emitter where they meet.
//!
//! The cost of a region grows faster than its area. So a frame is cut into cores, and each core is searched with a margin around, with a
//! background of its own. An emitter is reported by the tile whose core it is in. What two tiles see of the light around differs by little
//! more than rounding of a step, but that may carry an emitter over the line: emitters near a line that are each other's nearest in two
//! tiles are one, and the tile in whose core it is deeper reports it.

use crate::emitter::Emitter;
use crate::rect::Rect;

/// One tile: pixels of which the core is `core`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Tile {
    pub(crate) rect: Rect,
    /// Lines along x and y, between which emitters are this tile's.
    core: [[f64; 2]; 2],
}

/// A region has no more pixels along an axis.
const LARGEST: usize = 96;

/// The tiles of a part of a frame, all of one size.
pub(crate) fn tiles(part: Rect, margin: usize) -> Vec<Tile> {
    let [x, y] = part.size.map(|size| Axis::new(size, margin));
    let mut tiles = Vec::with_capacity(x.count * y.count);
    for row in 0..y.count {
        for column in 0..x.count {
            let (origin_x, core_x) = x.part(column);
            let (origin_y, core_y) = y.part(row);
            let [left, top] = part.origin;
            let moved = |core: [f64; 2], by: usize| core.map(|line| line + by as f64);
            let rect =
                Rect { origin: [left + origin_x, top + origin_y], size: [x.length, y.length] };
            tiles.push(Tile { rect, core: [moved(core_x, left), moved(core_y, top)] });
        }
    }
    tiles
}

/// How an axis is cut.
struct Axis {
    size: usize,
    margin: usize,
    count: usize,
    /// Pixels of a tile.
    length: usize,
}

impl Axis {
    fn new(size: usize, margin: usize) -> Self {
        let largest = LARGEST.max(4 * margin);
        if size <= largest {
            return Self { size, margin, count: 1, length: size };
        }
        let count = size.div_ceil(largest - 2 * margin);
        let length = size.div_ceil(count) + 2 * margin;
        Self { size, margin, count, length: length.min(size) }
    }

    /// Where a tile begins, and the lines of its core: the first and the last reach beyond the frame.
    fn part(&self, number: usize) -> (usize, [f64; 2]) {
        let line = |number: usize| number * self.size / self.count;
        let origin = line(number).saturating_sub(self.margin).min(self.size - self.length);
        let low = if number == 0 { f64::NEG_INFINITY } else { line(number) as f64 - 0.5 };
        let last = number + 1 == self.count;
        let high = if last { f64::INFINITY } else { line(number + 1) as f64 - 0.5 };
        (origin, [low, high])
    }
}

impl Tile {
    /// How far a place is inside of the core; negative outside.
    fn depth(&self, x: f64, y: f64) -> f64 {
        let along = |at: f64, [low, high]: [f64; 2]| (at - low).min(high - at);
        along(x, self.core[0]).min(along(y, self.core[1]))
    }
}

/// An emitter that a tile, or a part of a frame, has found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found {
    pub(crate) tile: usize,
    /// How far inside of the tile's core it is; negative outside.
    pub(crate) depth: f64,
    pub(crate) emitter: Emitter,
}

/// Keeps what a tile has found in its core, or at most `seam` outside.
pub(crate) fn collect(tile: usize, of: &Tile, found: &[Emitter], seam: f64, into: &mut Vec<Found>) {
    for emitter in found {
        let depth = of.depth(emitter.x, emitter.y);
        if depth >= -seam {
            into.push(Found { tile, depth, emitter: *emitter });
        }
    }
}

/// The emitters of a frame: `found` in its tiles.
pub(crate) fn join(found: &mut [Found], seam: f64, into: &mut Vec<Emitter>) {
    found.sort_by(|a, b| {
        let (one, other) = (&a.emitter, &b.emitter);
        one.y.total_cmp(&other.y).then(one.x.total_cmp(&other.x)).then(a.tile.cmp(&b.tile))
    });
    // Only what is near a line can be seen twice.
    let near: Vec<usize> = (0..found.len()).filter(|&at| found[at].depth < seam).collect();
    let nearest: Vec<Vec<(usize, usize)>> =
        (0..near.len()).map(|at| counterparts(found, &near, at, seam)).collect();
    let mut number = 0;
    for (at, one) in found.iter().enumerate() {
        if near.get(number) != Some(&at) {
            into.push(one.emitter);
            continue;
        }
        let (mut alone, mut deepest) = (true, true);
        for &(_, other) in &nearest[number] {
            let mutual =
                nearest[other].iter().any(|&(tile, back)| tile == one.tile && back == number);
            if mutual {
                alone = false;
                let theirs = &found[near[other]];
                deepest &= one.depth > theirs.depth
                    || (one.depth == theirs.depth && one.tile < theirs.tile);
            }
        }
        if if alone { one.depth >= 0.0 } else { deepest } {
            into.push(one.emitter);
        }
        number += 1;
    }
}

/// For each other tile that has found something within `seam` of an emitter near a line, the nearest such.
fn counterparts(found: &[Found], near: &[usize], at: usize, seam: f64) -> Vec<(usize, usize)> {
    let one = &found[near[at]];
    let mut best: Vec<(usize, usize, f64)> = Vec::new();
    let mut consider = |other: usize| {
        let theirs = &found[near[other]];
        let distance = (theirs.emitter.x - one.emitter.x).hypot(theirs.emitter.y - one.emitter.y);
        if theirs.tile == one.tile || distance > seam {
            return;
        }
        match best.iter_mut().find(|best| best.0 == theirs.tile) {
            Some(known) if known.2 <= distance => {}
            Some(known) => *known = (theirs.tile, other, distance),
            None => best.push((theirs.tile, other, distance)),
        }
    };
    let within = |other: usize| (found[near[other]].emitter.y - one.emitter.y).abs() <= seam;
    (0..at).rev().take_while(|&other| within(other)).for_each(&mut consider);
    (at + 1..near.len()).take_while(|&other| within(other)).for_each(&mut consider);
    best.into_iter().map(|(tile, other, _)| (tile, other)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that cores cover every pixel once, that tiles lie in the frame, and that each has its margin where the frame goes on.
    #[test]
    fn cores_cover_frames_once() {
        for size in [1, 5, 96, 97, 128, 200, 511, 2048] {
            let part = Rect { origin: [7, 9], size: [size, 10] };
            let tiles = tiles(part, 8);
            let length = tiles[0].rect.size[0];
            assert!(length <= size && (length <= LARGEST || tiles.len() == 1), "{size}: {length}");
            for x in 0..size {
                let at = 7.0 + x as f64;
                let of = tiles.iter().filter(|tile| tile.depth(at, 14.0) >= 0.0).count();
                assert_eq!(of, 1, "pixel {x} of {size}");
            }
            for tile in &tiles {
                let [low, high] = tile.core[0];
                assert_eq!(tile.rect.within(part), Some(tile.rect));
                assert!(low.is_infinite() || tile.rect.origin[0] as f64 <= low - 7.4);
                assert!(high.is_infinite() || tile.rect.end(0) as f64 >= high + 7.4);
            }
        }
    }
}
