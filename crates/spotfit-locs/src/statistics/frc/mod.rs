//! The resolution of a table of localizations by Fourier ring correlation.

mod curve;
mod outcome;
mod tile;

use rayon::prelude::*;
use spotfit_files::private::sort_by_key;

use crate::averages::ends;
use crate::near::{check_radius, check_rows};

use curve::Rings;
use outcome::LEAST;
use tile::Tile;

pub use outcome::{Frc, FrcError};

fit_core::__options! {
    /// How the resolution is determined: by default, pixels are chosen, and there are 20 blocks.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct FrcOptions {
        /// The side of the pixels into which localizations are counted, in the unit of the positions. Without it, pixels
        /// are chosen that are a quarter of the resolution or smaller.
        pub pixel(const with_pixel): Option<f64> = None,
        /// The number of blocks of equal length into which the movie is cut; the localizations of every other block make
        /// one half.
        pub blocks(const with_blocks): u32 = 20,
    }
}

/// The most pixels along a side of a tile: with its transform it takes 130 MB.
const MOST_SIDE: usize = 2048;
/// So many tiles, those with most localizations, stand for the field.
const MOST_TILES: usize = 16;

/// Finds the resolution by Fourier ring correlation (Nieuwenhuizen et al., Nature Methods 10:557, 2013). Positions are
/// in any one unit of length; rows need not be in the order of their frames.
///
/// The frames from the first to the last are cut into blocks. The localizations of the odd blocks and those of the even
/// ones are counted into the pixels of two images, which are multiplied with a Tukey window that falls off over an
/// eighth of the side at each edge. The correlation of their Fourier transforms over rings that are one frequency step
/// wide is smoothed by local linear regression with tricube weights (LOESS) over a tenth of
/// the frequency to each side, three rings at least; where it
/// first falls to 1/7 is the inverse of the resolution.
///
/// A molecule that is localized in both halves correlates them down to its localization precision, whatever the
/// resolution of the structure. Blocks that are longer than the on-time of a molecule keep the localizations of one
/// blink together; a molecule that reappears later still adds to the correlation, and the resolution looks too good.
///
/// A field wider than 2048 pixels is cut into tiles. The 16 with most localizations are used, and their sums over the
/// rings added. Rows whose position is not finite are left out, as are the few that lie far outside the field of
/// 998 in 1000 of the others.
///
/// # Errors
///
/// If the columns differ in length or have 2³² − 1 rows or more; if the size of pixels is not positive and finite; if
/// there are too few frames or localizations; or if the smoothed correlation does not fall to 1/7 from above.
pub fn frc(frames: &[u32], x: &[f64], y: &[f64], options: &FrcOptions) -> Result<Frc, FrcError> {
    check_rows(x, &[("y", y.len()), ("frames", frames.len())])?;
    let first = frames.iter().copied().min().unwrap_or(0);
    let span = u64::from(frames.iter().copied().max().unwrap_or(0) - first) + 1;
    let blocks = options.blocks;
    if blocks < 2 || u64::from(blocks) > span {
        return Err(FrcError::Blocks { blocks, frames: span });
    }
    let half = |row: usize| u64::from(frames[row] - first) * u64::from(blocks) / span % 2 == 1;
    let (Some(along_x), Some(along_y)) = (extent(x), extent(y)) else {
        return Err(FrcError::FewLocalizations(0, 0));
    };
    let side = (along_x.1 - along_x.0).max(along_y.1 - along_y.0);
    let field = Field { x, y, half: &half, corner: (along_x.0, along_y.0), side };
    let inside = (0..x.len()).filter(|&row| field.holds(row));
    let counts = inside.fold((0, 0), |(a, b), row| if half(row) { (a, b + 1) } else { (a + 1, b) });
    if counts.0.min(counts.1) < LEAST || !(side > 0.0 && side.is_finite()) {
        return Err(FrcError::FewLocalizations(counts.0, counts.1));
    }
    if let Some(pixel) = options.pixel {
        check_radius("the side of the pixels", pixel)?;
        return field.correlate(pixel);
    }
    let mut pixel = side / 256.0;
    loop {
        let outcome = field.correlate(pixel);
        let next = match &outcome {
            Ok(found) if found.resolution < 4.0 * pixel => found.resolution / 6.0,
            Err(FrcError::NoCrossing { .. }) if pixel > side / f64::from(1 << 17) => pixel / 4.0,
            _ => return outcome,
        };
        // A resolution that reads worse with smaller pixels would go to and fro.
        if next >= pixel {
            return outcome;
        }
        pixel = next;
    }
}

/// The next even number, up to [`MOST_SIDE`], without prime factors above 5: its Fourier transform is quick.
fn quick(number: usize) -> usize {
    let without = |number: usize, factor: usize| {
        std::iter::successors(Some(number), |n| (n % factor == 0).then(|| n / factor)).last()
    };
    let is_quick = |&number: &usize| {
        let rest = [2, 3, 5].into_iter().try_fold(number, without);
        number % 2 == 0 && rest == Some(1)
    };
    (number..).find(is_quick).unwrap_or(MOST_SIDE)
}

/// Between which values nearly all lie: from the smallest to the largest, unless a few lie far away.
fn extent(values: &[f64]) -> Option<(f64, f64)> {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let mut sample: Vec<f64> = finite().step_by(values.len().div_ceil(100_000).max(1)).collect();
    sample.sort_unstable_by(f64::total_cmp);
    let last = sample.len().checked_sub(1)?;
    let (low, high) = (sample[last / 1000], sample[last - last / 1000]);
    let margin = 0.1 * (high - low);
    let [smallest, largest] = ends(finite());
    Some((smallest.max(low - margin), largest.min(high + margin)))
}

/// Localizations in a square.
struct Field<'a, H> {
    x: &'a [f64],
    y: &'a [f64],
    /// Whether a row belongs to the second half.
    half: &'a H,
    corner: (f64, f64),
    side: f64,
}

impl<H: Fn(usize) -> bool> Field<'_, H> {
    fn place(&self, row: usize) -> (f64, f64) {
        (self.x[row] - self.corner.0, self.y[row] - self.corner.1)
    }

    fn holds(&self, row: usize) -> bool {
        let (x, y) = self.place(row);
        let inside = 0.0..=self.side;
        inside.contains(&x) && inside.contains(&y)
    }

    /// The resolution with pixels of this size.
    fn correlate(&self, pixel: f64) -> Result<Frc, FrcError> {
        let along = (self.side / pixel / MOST_SIDE as f64).ceil().clamp(1.0, f64::from(u32::MAX));
        // Nothing lies on the far edge of the last pixel.
        let side = (self.side / along / pixel).floor().min((MOST_SIDE - 1) as f64) as usize + 1;
        let side = quick(side);
        if side < 32 {
            return Err(FrcError::LargePixel { pixel, field: self.side });
        }
        let width = side as f64 * pixel;
        let last = along as u32 - 1;
        let number = |distance: f64| u64::from(((distance / width) as u32).min(last));
        let mut rows: Vec<(u64, u32)> = Vec::with_capacity(self.x.len());
        for row in (0..self.x.len()).filter(|&row| self.holds(row)) {
            let (x, y) = self.place(row);
            rows.push(((number(y) << 32) | number(x), row as u32));
        }
        rows.par_sort_unstable();
        let mut tiles: Vec<&[(u64, u32)]> = rows.chunk_by(|a, b| a.0 == b.0).collect();
        sort_by_key(&mut tiles, |rows| std::cmp::Reverse(rows.len()));
        tiles.truncate(MOST_TILES);
        let mut rings = Rings::new(side, pixel);
        let mut tile = Tile::new(side);
        for rows in &tiles {
            let (column, row) = (rows[0].0 as u32, (rows[0].0 >> 32) as u32);
            let corner = (f64::from(column) * width, f64::from(row) * width);
            let points = rows.iter().map(|&(_, row)| {
                let (x, y) = self.place(row as usize);
                let place = ((x - corner.0) / pixel, (y - corner.1) / pixel);
                (place, (self.half)(row as usize))
            });
            tile.fill(points);
            tile.add_to(&mut rings);
        }
        let localizations = tiles.iter().map(|rows| rows.len()).sum();
        rings.resolution(pixel, tiles.len(), localizations)
    }
}
