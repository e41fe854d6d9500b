//! Pixels that nobody is to see.

use super::group::Group;
use super::tile::Store;
use crate::arithmetic::{Mask, Real};

/// Puts the lowest of the other pixels in the place of those that are `hidden`, so that nothing is seen there.
#[inline(always)]
pub(super) fn hide<R: Real, T: Store<R>, const ABOVE: bool>(tile: &mut T, bound: R) {
    let (lane, length) = (tile.group().lane(), tile.length());
    let far = R::splat(f64::MAX);
    let (mut low, mut any) = (far, R::Mask::splat(false));
    for line in 0..tile.lines() {
        let in_window = tile.in_window(lane, line);
        for place in 0..length {
            let hidden = is_hidden::<R, ABOVE>(tile.note(lane, line, place), bound);
            let seen = tile.pixel(line, place).min(low);
            low = R::select(in_window & !hidden, seen, low);
            any = any | (in_window & hidden);
        }
    }
    low = tile.group().least(low);
    if !any.any() {
        tile.publish();
        return;
    }
    for line in 0..tile.lines() {
        let in_window = tile.in_window(lane, line);
        for place in 0..length {
            let hidden = is_hidden::<R, ABOVE>(tile.note(lane, line, place), bound);
            tile.set(
                line,
                place,
                in_window & hidden,
                R::select(hidden, low, tile.pixel(line, place)),
            );
        }
    }
    tile.publish();
}

/// Whether a note is above a bound, or else not above it.
#[inline(always)]
fn is_hidden<R: Real, const ABOVE: bool>(note: R, bound: R) -> R::Mask {
    if ABOVE { bound.lt(note) } else { note.le(bound) }
}
