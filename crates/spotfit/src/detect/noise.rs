//! The noise of a frame, tile by tile. A frame that is turned or mirrored has the same.

use std::ops::Range;

/// Side of the tiles in which the noise is estimated.
pub(super) const TILE: usize = 32;
/// Tiles have at most TILE + 1 lines, of which a few more than half of the pixels are looked at.
const MOST: usize = (TILE + 1) * (TILE / 2 + 2);

/// The tiles of a frame, one below the other, that lie in some of its rows.
#[derive(Clone, Copy)]
pub(super) struct Column {
    /// Rows of the frame.
    frame: usize,
    /// Tiles of the frame.
    tiles: usize,
    /// The frame's row that comes first here.
    top: usize,
    /// The frame's tile that comes first here.
    first: usize,
    /// Tiles that lie here.
    rows: usize,
}

impl Column {
    /// The tiles within rows `top` to `end` of a frame of `frame` rows.
    pub(super) fn new(frame: usize, top: usize, end: usize) -> Self {
        let tiles = frame.div_ceil(TILE).max(1);
        let whole = Self { frame, tiles, top: 0, first: 0, rows: tiles };
        let inside = |tile: &usize| whole.start(*tile) >= top && whole.end(*tile) <= end;
        let first = (0..tiles).find(inside).unwrap_or_default();
        let rows = (first..tiles).take_while(inside).count();
        Self { frame, tiles, top, first, rows }
    }

    /// The first row of a tile, counted from the first one here.
    #[inline(always)]
    fn start(&self, tile: usize) -> usize {
        span(self.first + tile, self.frame, self.tiles).start - self.top
    }

    /// The row after the last one of a tile.
    #[inline(always)]
    fn end(&self, tile: usize) -> usize {
        span(self.first + tile, self.frame, self.tiles).end - self.top
    }

    /// Which two tiles a row lies between, and how far from the first to the second.
    #[inline(always)]
    fn between(&self, y: usize) -> (usize, usize, f32) {
        let height = self.frame as f32 / self.tiles as f32;
        let position = ((self.top + y) as f32 + 0.5) / height - 0.5;
        let position = position.clamp(0.0, (self.tiles - 1) as f32);
        let above = (position as usize).min(self.tiles - 1);
        let here = |tile: usize| tile.saturating_sub(self.first).min(self.rows - 1);
        (here(above), here((above + 1).min(self.tiles - 1)), position - above as f32)
    }
}

/// Where a tile lies on a side of the frame: tiles of equal size cover it, and share the pixel that lies in two. Counted from
/// the other end of the side, they are the same.
#[inline(always)]
fn span(tile: usize, length: usize, tiles: usize) -> Range<usize> {
    tile * length / tiles..((tile + 1) * length).div_ceil(tiles)
}

/// Which places of a line of a tile are looked at, of those of its `length` places that are `inside`: two runs of every other
/// one. With the lines of a square they make a chequered pattern that looks the same turned and mirrored. Half of the pixels are
/// enough for a median, and a pattern with a direction would make the candidates depend on how the camera is turned.
#[inline(always)]
fn chequered(
    (line, lines): (usize, usize),
    length: usize,
    inside: &Range<usize>,
) -> [Range<usize>; 2] {
    let odd = line.min(lines - 1 - line) % 2;
    let half = length.div_ceil(2);
    let first = if odd < inside.start { odd + 2 } else { odd };
    let other = half + (length / 2 + 1 + odd) % 2;
    [first..half.min(inside.end), other..inside.end]
}

/// A whole number in the place of a number, with the same order; and the reverse. Whole numbers are sorted faster.
#[inline(always)]
fn rank(number: f32) -> i32 {
    let bits = number.to_bits() as i32;
    bits ^ (((bits >> 31) as u32) >> 1) as i32
}

#[inline(always)]
fn of_rank(rank: i32) -> f32 {
    f32::from_bits((rank ^ (((rank >> 31) as u32) >> 1) as i32) as u32)
}

/// Writes the ranks of every other number of some runs into `all`, from `count` on; how many are there then.
#[inline(always)]
fn gather(all: &mut [i32], count: usize, line: &[f32], runs: [Range<usize>; 2]) -> usize {
    let mut count = count;
    for run in runs {
        let run = &line[run.start.min(run.end)..run.end];
        let to = &mut all[count..count + run.len().div_ceil(2)];
        count += to.len();
        for (to, pair) in to.iter_mut().zip(run.chunks(2)) {
            *to = rank(pair[0]);
        }
    }
    count
}

/// A rectangle of pixels.
pub(super) struct Region {
    pub(super) rows: Range<usize>,
    pub(super) columns: Range<usize>,
}

/// The standard deviation of the noise, tile by tile.
pub(super) struct NoiseMap {
    columns: usize,
    column: Column,
    width: usize,
    pub(super) levels: Vec<f32>,
}

impl NoiseMap {
    #[inline(always)]
    pub(super) fn new(pixels: &[f32], width: usize, column: Column) -> Self {
        let (columns, rows) = (width.div_ceil(TILE).max(1), column.rows);
        let (height, tiles) = (pixels.len() / width, column);
        let mut levels = Vec::with_capacity(columns * rows);
        let mut responses = [0; MOST];
        // Tiles have at most TILE + 1 columns.
        let mut vertical = [0.0; TILE + 3];
        let mut horizontal = [0.0; TILE + 1];
        for row in 0..rows {
            for column in 0..columns {
                let (lines, x) = (tiles.start(row)..tiles.end(row), span(column, width, columns));
                let mut count = 0;
                // The outermost pixels have no response.
                let across = x.start.max(1)..x.end.min(width - 1);
                let down = lines.start.max(1)..lines.end.min(height - 1);
                let down = if across.is_empty() { 0..0 } else { down };
                let inside = across.start - x.start..across.end.saturating_sub(x.start);
                for y in down {
                    let at = |y: usize| &pixels[y * width..(y + 1) * width];
                    let (above, here, below) = (at(y - 1), at(y), at(y + 1));
                    for (down, i) in vertical.iter_mut().zip(across.start - 1..across.end + 1) {
                        *down = above[i] - 2.0 * here[i] + below[i];
                    }
                    let (left, middle, right) = (&vertical, &vertical[1..], &vertical[2..]);
                    for (i, response) in horizontal[inside.clone()].iter_mut().enumerate() {
                        *response = (left[i] - 2.0 * middle[i] + right[i]).abs();
                    }
                    let places = chequered((y - lines.start, lines.len()), x.len(), &inside);
                    count = gather(&mut responses, count, &horizontal, places);
                }
                levels.push(level(&mut responses[..count], 6.0));
            }
        }
        Self { columns, column: tiles, width, levels }
    }

    /// The noise of the filtered frame: that of the pixels as the filter passes it on, or what the
    /// filtered frame shows by itself where that is more.
    #[inline(always)]
    pub(super) fn with_texture(&self, signal: &[f32], gain: f32) -> Self {
        let Self { columns, column: tiles, width, .. } = *self;
        let rows = tiles.rows;
        let mut levels = Vec::with_capacity(columns * rows);
        let mut values = [0; MOST];
        for row in 0..rows {
            for column in 0..columns {
                let (y, x) = (tiles.start(row)..tiles.end(row), span(column, width, columns));
                let (lines, mut count) = (y.len(), 0);
                for (line, y) in y.enumerate() {
                    let here = &signal[y * width..][x.clone()];
                    let places = chequered((line, lines), here.len(), &(0..here.len()));
                    count = gather(&mut values, count, here, places);
                }
                let white = self.levels[row * columns + column] * gain;
                levels.push(texture(&mut values[..count]).max(white));
            }
        }
        Self { levels, ..*self }
    }

    /// Another number for each tile, of its noise.
    #[inline(always)]
    pub(super) fn map(&self, of: impl Fn(f32) -> f32) -> Self {
        Self { levels: self.levels.iter().map(|&level| of(level)).collect(), ..*self }
    }

    /// The noise of some tiles by the kernel (1 −4 6 −4 1)ᵀ(1 −4 6 −4 1), which sees finer differences still; 0 for the others.
    #[inline(always)]
    pub(super) fn fine(&self, pixels: &[f32], wanted: &[bool]) -> Vec<f32> {
        let Self { columns, column: tiles, width, .. } = *self;
        let height = pixels.len() / width;
        let mut responses = Vec::with_capacity((TILE + 1) * (TILE + 1));
        let mut vertical = [0.0; TILE + 5];
        let mut levels = vec![0.0; wanted.len()];
        for (tile, level_of) in levels.iter_mut().enumerate().filter(|(tile, _)| wanted[*tile]) {
            let (row, column) = (tile / columns, tile % columns);
            let (lines, x) = (tiles.start(row)..tiles.end(row), span(column, width, columns));
            let across = x.start.max(2)..x.end.min(width.saturating_sub(2));
            responses.clear();
            for y in lines.start.max(2)..lines.end.min(height.saturating_sub(2)) {
                let at = |y: usize, x: usize| pixels[y * width + x];
                if across.is_empty() {
                    break;
                }
                for (down, x) in vertical.iter_mut().zip(across.start - 2..across.end + 2) {
                    let far = at(y - 2, x) + at(y + 2, x);
                    *down = far - 4.0 * (at(y - 1, x) + at(y + 1, x)) + 6.0 * at(y, x);
                }
                for line in vertical[..across.len() + 4].windows(5) {
                    let far = line[0] + line[4];
                    let response = far - 4.0 * (line[1] + line[3]) + 6.0 * line[2];
                    responses.push(rank(response.abs()));
                }
            }
            *level_of = level(&mut responses, 70.0);
        }
        levels
    }

    /// Which share of a tile of a filtered frame is above some level.
    #[inline(always)]
    pub(super) fn share_above(&self, tile: usize, signal: &[f32], level: f32) -> f32 {
        let Self { columns, column: tiles, width, .. } = *self;
        let (row, x) = (tile / columns, span(tile % columns, width, columns));
        let (mut above, mut all) = (0u32, 0);
        for y in tiles.start(row)..tiles.end(row) {
            let here = &signal[y * width..][x.clone()];
            above += here.iter().map(|&value| u32::from(value > level)).sum::<u32>();
            all += here.len();
        }
        above as f32 / all.max(1) as f32
    }

    /// How many of some places, (x, y) in the frame, each tile has.
    pub(super) fn counts(&self, places: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
        let mut counts = vec![0; self.levels.len()];
        for (x, y) in places {
            self.holding(x, y).for_each(|tile| counts[tile] += 1);
        }
        counts
    }

    /// The tiles that have a place of the frame: several where they share it.
    pub(super) fn holding(&self, x: usize, y: usize) -> impl Iterator<Item = usize> {
        let Self { columns, column: tiles, width, .. } = *self;
        let y = y - tiles.top;
        let row = y * tiles.rows / tiles.end(tiles.rows - 1).max(1);
        let rows = row.saturating_sub(1)..(row + 2).min(tiles.rows);
        let rows = rows.filter(move |&row| (tiles.start(row)..tiles.end(row)).contains(&y));
        let column = x * columns / width;
        rows.flat_map(move |row| {
            let near = column.saturating_sub(1)..(column + 2).min(columns);
            let near = near.filter(move |&column| span(column, width, columns).contains(&x));
            near.map(move |column| row * columns + column)
        })
    }

    /// Rectangles of pixels, rows counted from the first one here, that cover some tiles and no others: of tiles side by side, and of
    /// such rows one below the other.
    pub(super) fn regions(&self, wanted: &[bool]) -> Vec<Region> {
        let Self { columns, column: tiles, width, .. } = *self;
        let mut regions: Vec<Region> = Vec::new();
        for (row, wanted) in wanted.chunks(columns).enumerate() {
            let places: Vec<usize> = (0..columns).filter(|&column| wanted[column]).collect();
            for run in places.chunk_by(|one, next| one + 1 == *next) {
                let rows = tiles.start(row)..tiles.end(row);
                let [first, last] = [run[0], run[run.len() - 1]];
                let columns = span(first, width, columns).start..span(last, width, columns).end;
                let continued = |region: &&mut Region| {
                    region.columns == columns && region.rows.end >= rows.start
                };
                match regions.iter_mut().find(continued) {
                    Some(region) => region.rows.end = rows.end,
                    None => regions.push(Region { rows, columns }),
                }
            }
        }
        regions
    }

    pub(super) fn is_zero(&self) -> bool {
        self.levels.iter().all(|&level| level <= 0.0)
    }

    /// The noise along a row, between the tiles' centres by linear interpolation.
    #[inline(always)]
    pub(super) fn row(&self, y: usize, levels: &mut [f32]) {
        let (above, below, down) = self.column.between(y);
        let at = |column: usize| {
            let level = |row: usize| self.levels[row * self.columns + column];
            level(above) + down * (level(below) - level(above))
        };
        // Flat up to the first centre and from the last, and a ramp between any two.
        let tile_width = self.width as f32 / self.columns as f32;
        let centre = |column: usize| (column as f32 + 0.5) * tile_width - 0.5;
        let mut x = 0;
        for column in 0..=self.columns {
            let (left, right) = (column.saturating_sub(1), column.min(self.columns - 1));
            let end = if column == self.columns {
                self.width
            } else {
                (centre(column).max(0.0).ceil() as usize).min(self.width)
            };
            let slope = (at(right) - at(left)) / tile_width;
            let start = at(left) - slope * centre(left);
            if x < end {
                for (level, i) in levels[x..end].iter_mut().zip(x as u32..) {
                    *level = start + slope * i as f32;
                }
                x = end;
            }
        }
    }
}

/// The noise from the ranks of absolute responses to a kernel, the root of the sum of whose squares is `gain`.
#[inline(always)]
fn level(responses: &mut [i32], gain: f32) -> f32 {
    if responses.is_empty() {
        return 0.0;
    }
    let middle = responses.len() / 2;
    let median = of_rank(*responses.select_nth_unstable(middle).1);
    if median > 0.0 {
        return median / (0.674_49 * gain);
    }
    // Most pixels are equal, as in dim frames of whole counts: use the root mean square instead.
    let squares: f64 = responses.iter().map(|&r| f64::from(of_rank(r)).powi(2)).sum();
    ((squares / responses.len() as f64).sqrt() / f64::from(gain)) as f32
}

/// The spread of a filtered tile below its median, from ranks: spots are above, and hardly change it.
#[inline(always)]
fn texture(values: &mut [i32]) -> f32 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    let (below, median, _) = values.select_nth_unstable(middle);
    let median = of_rank(*median);
    if below.is_empty() {
        return 0.0;
    }
    // The quantile that lies one standard deviation below the median of a normal distribution.
    let quantile = (below.len() as f32 * 2.0 * 0.158_66) as usize;
    median - of_rank(*below.select_nth_unstable(quantile).1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that whole numbers have the order of the numbers that they stand for, and lead back to them.
    #[test]
    fn ranks_have_the_same_order() {
        let numbers =
            [f32::MIN, -3.5, -1e-30, -0.0, 0.0, 1e-40, 0.25, 7.0, f32::MAX, f32::INFINITY];
        for pair in numbers.windows(2) {
            assert!(rank(pair[0]) < rank(pair[1]), "{pair:?}");
        }
        assert!(numbers.iter().all(|&number| of_rank(rank(number)).to_bits() == number.to_bits()));
    }
}
