//! Weights of pixels, for weighted least squares: Σw(αf + β − g)².

use super::Group;
use super::tile::{Tile, keep};
use super::weigh::Noise;
use crate::arithmetic::Real;
use crate::spot::conditioning::Conditioning;

/// The largest weight of the window.
#[inline(always)]
pub(super) fn heaviest<R: Real, T: Tile<R>>(tile: &T) -> R {
    let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
    let mut heaviest = zero;
    for line in 0..tile.lines() {
        let in_window = tile.in_window(lane, line);
        for place in 0..length {
            let weight = keep::<R, T>(in_window, tile.note(lane, line, place), zero);
            heaviest = heaviest.max(weight);
        }
    }
    -tile.group().least(-heaviest)
}

/// Makes the sums over conditioned pixels those with their weights, multiplied by `scale`. Returns the lanes in which they are
/// of use.
#[inline(always)]
pub(super) fn scaled<R: Real, T: Tile<R>>(
    tile: &T,
    data: &mut Conditioning<R>,
    scale: R,
) -> R::Mask {
    let (lane, length, zero) = (tile.group().lane(), tile.length(), R::splat(0.0));
    let (mut n, mut sum, mut squares) = (zero, zero, zero);
    for line in 0..tile.lines() {
        let in_window = tile.in_window(lane, line);
        for place in 0..length {
            let weight = keep::<R, T>(in_window, tile.note(lane, line, place), zero);
            let pixel = tile.pixel(line, place);
            let weighted = weight * pixel;
            n = n + weight;
            sum = keep::<R, T>(in_window, sum + weighted, sum);
            squares = keep::<R, T>(in_window, weighted.mul_add(pixel, squares), squares);
        }
    }
    let group = tile.group();
    let (n, sum, squares) = (group.sum(n), group.sum(sum), group.sum(squares));
    data.n = n * scale;
    data.inverse_n = data.n.reciprocal();
    data.mean = sum * scale * data.inverse_n;
    data.spread = (sum * scale).neg_mul_add(data.mean, squares * scale).max(zero);
    zero.lt(data.spread) & data.spread.is_finite()
}

/// A pixel's weight, and its weighted value; where the background is a plane (L > 2) with sums times the place, counted from a point.
pub(super) struct Weights<R, const L: usize>(pub(super) [R; 2]);

impl<R: Real, const L: usize> Noise<R> for Weights<R, L> {
    const TILTED: bool = L > 2;
    #[inline(always)]
    fn origin(&self) -> [R; 2] {
        self.0
    }
    #[inline(always)]
    fn pixel<T: Tile<R>>(&mut self, _: R::Mask, _: [R; 2], pixel: R, weight: R, _: R) -> [R; 2] {
        [weight, weight * pixel]
    }
}
