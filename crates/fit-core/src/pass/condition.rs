//! Conditioning the pixels of a window in place.

use super::group::Group;
use super::tile::{Line, Store, keep};
use crate::arithmetic::Real;
use crate::spot::conditioning::{Conditioning, Extent};

/// Conditions the pixels of one window in place ([`crate::spot::conditioning`]). Returns the conditioning, and the
/// extent of the conditioned pixels.
#[inline(always)]
pub fn condition<R: Real, T: Store<R>>(tile: &mut T) -> (Conditioning<R>, Extent<R>) {
    let (lines, length, zero) = (tile.lines(), tile.length(), R::splat(0.0));
    let lane = tile.group().lane();
    let first = tile.group().first(tile.pixel(0, 0));
    let mut extent = Extent::new(first);
    for line in 0..lines {
        let (pixels, in_window) = (tile.line(lane, line, length), tile.in_window(lane, line));
        for place in 0..length {
            extent.add(keep::<R, T>(in_window, pixels.pixel(place), first));
        }
    }
    extent.low = tile.group().least(extent.low);
    extent.high = -tile.group().least(-extent.high);
    let (scale, offset) = extent.scaling();
    let (mut sum, mut squares) = (zero, zero);
    for line in 0..lines {
        let in_window = tile.in_window(lane, line);
        for place in 0..length {
            let pixel = tile.pixel(line, place).mul_add(scale, -offset);
            let pixel = keep::<R, T>(in_window, pixel, zero);
            tile.set(line, place, in_window, pixel);
            sum = sum + pixel;
            squares = pixel.mul_add(pixel, squares);
        }
    }
    tile.publish();
    let (sum, squares) = (tile.group().sum(sum), tile.group().sum(squares));
    let data = Conditioning::new(tile.size().pixels(), &extent, sum, squares);
    (data, extent.conditioned())
}
