//! Positions to fit instead of detected spots.

use std::ops::Range;

/// Positions to fit instead of detected spots; each takes 32 bytes.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Positions {
    places: Vec<Position>,
    /// Whether frames come in another order than they were pushed.
    unordered: bool,
}

/// One of [`Positions`].
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Position {
    /// The frame, from 0.
    pub frame: usize,
    /// Its number, from 1.
    pub id: u64,
    /// Its coordinate in pixels.
    pub x: f64,
    /// Its coordinate in pixels.
    pub y: f64,
}

impl Positions {
    /// Adds a position: frame from 0, x and y in pixels. Its id is its number, from 1.
    pub fn push(&mut self, frame: usize, x: f64, y: f64) {
        self.unordered |= self.places.last().is_some_and(|last| last.frame > frame);
        self.places.push(Position { frame, id: self.places.len() as u64 + 1, x, y });
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no positions.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// All positions, as they were pushed; once they are sorted, by frame.
    pub fn all(&self) -> &[Position] {
        &self.places
    }

    /// Sorts the positions by frame; within a frame they keep their order.
    pub fn sort(&mut self) {
        if std::mem::take(&mut self.unordered) {
            self.places.sort_unstable_by_key(|place| (place.frame, place.id));
        }
    }

    /// The positions in some frames. They must be sorted by frame: see [`Positions::sort`].
    pub fn within(&self, frames: Range<usize>) -> &[Position] {
        debug_assert!(!self.unordered);
        let before = |end: usize| self.places.partition_point(|place| place.frame < end);
        &self.places[before(frames.start)..before(frames.end)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that places are found by their frame, in the order in which they were pushed, with their number.
    #[test]
    fn places_are_found_by_frame() {
        let mut positions = Positions::default();
        assert!(positions.is_empty());
        for (i, frame) in [3, 0, 3, 9, 0, 4, usize::MAX].into_iter().enumerate() {
            positions.push(frame, i as f64, 0.5);
        }
        positions.sort();
        let ids = |frames| positions.within(frames).iter().map(|p| p.id).collect::<Vec<_>>();
        assert_eq!(ids(0..1), [2, 5]);
        assert_eq!(ids(3..5), [1, 3, 6]);
        assert_eq!(ids(0..usize::MAX), [2, 5, 1, 3, 6, 4]);
        assert_eq!((ids(5..9).len(), ids(5..5).len(), positions.len()), (0, 0, 7));
        assert!(positions.within(0..9).iter().all(|p| p.x == (p.id - 1) as f64));
    }
}
