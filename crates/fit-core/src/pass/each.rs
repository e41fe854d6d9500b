//! What looks at a window pixel by pixel.

use super::tile::Tile;
use crate::arithmetic::Real;

/// Something that is shown the profile pixel by pixel.
pub trait Each<R: Real> {
    /// Takes the place of the pixel that comes next, x and y, where it is of interest.
    #[inline(always)]
    fn at(&mut self, place: [R; 2]) {
        let _ = place;
    }
    /// Takes a pixel. The profile there, times its height, is the product of two factors; `note` is what [`Tile::note`]
    /// says of it. Lanes that are not `in_window` do not count.
    fn pixel<T: Tile<R>>(&mut self, in_window: R::Mask, factors: [R; 2], pixel: R, note: R);
}
