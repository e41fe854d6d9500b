//! Conditioning the pixels of a window in place.

use super::tile::{Line, Store};
use crate::arithmetic::Real;
use crate::spot::conditioning::{Conditioning, Extent};

/// Conditions the pixels of one window in place ([`crate::spot::conditioning`]). Gives how, and the extent of the
/// pixels as they are then.
#[inline(always)]
pub fn condition<R: Real, T: Store<R>>(tile: &mut T) -> (Conditioning<R>, Extent<R>) {
    let (lines, length, zero) = (tile.lines(), tile.length(), R::splat(0.0));
    let first = tile.first(tile.pixel(0, 0));
    let mut extent = Extent::new(first);
    for line in 0..lines {
        let pixels = tile.line(line);
        for place in 0..length {
            extent.add(tile.there(line, pixels.pixel(place), first));
        }
    }
    extent.low = tile.least(extent.low);
    extent.high = -tile.least(-extent.high);
    let (scale, offset) = extent.scaling();
    let (mut sum, mut squares) = (zero, zero);
    for line in 0..lines {
        for place in 0..length {
            let pixel = tile.pixel(line, place).mul_add(scale, -offset);
            let pixel = tile.there(line, pixel, zero);
            tile.set(line, place, pixel);
            sum = sum + pixel;
            squares = pixel.mul_add(pixel, squares);
        }
    }
    tile.publish();
    let (sum, squares) = (tile.sum(sum), tile.sum(squares));
    let data = Conditioning::new(tile.size().pixels(), &extent, sum, squares);
    (data, extent.conditioned())
}
