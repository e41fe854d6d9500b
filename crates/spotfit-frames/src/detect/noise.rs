//! The noise of a frame, tile by tile. A frame that is turned or mirrored has the same.

use std::ops::Range;

use super::lines::Lines;
use super::order::{BEYOND, Numbers, Search, narrow};

/// Side of the tiles in which the noise is estimated.
pub(super) const TILE: usize = 32;
/// Tiles have at most TILE + 1 lines, of which a few more than half of the pixels are looked at, or all of them.
type Half = Numbers<{ Numbers::<0>::blocks((TILE + 1) * (TILE / 2 + 2)) }>;
type Whole = Numbers<{ Numbers::<0>::blocks((TILE + 1) * (TILE + 1)) }>;

/// Of a normal distribution of standard deviation 1: the median of absolute values, the mean of them, the density at 0 and at −1, and
/// the share below −1.
const MEDIAN: f32 = 0.674_49;
const MEAN: f32 = 0.797_88;
const DENSITY: f32 = 0.398_94;
const DENSITY_BELOW: f32 = 0.241_97;
const SHARE_BELOW: f32 = 0.158_66;
/// And the density of absolute values at their median.
const DENSITY_OF_MEDIAN: f32 = 0.635_55;

/// The root of the sum of squares of (1 −2 1)ᵀ(1 −2 1), and of (1 −4 6 −4 1)ᵀ(1 −4 6 −4 1).
const COARSE: f32 = 6.0;
const FINE: f32 = 70.0;

/// The tiles of a frame, one below the other, that lie in some of its rows.
#[derive(Clone, Copy, Debug, Default)]
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

    /// How many tiles lie here.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The first row of a tile, counted from the first one here.
    #[inline(always)]
    pub(super) fn start(&self, tile: usize) -> usize {
        span(self.first + tile, self.frame, self.tiles).start - self.top
    }

    /// The row after the last one of a tile.
    #[inline(always)]
    pub(super) fn end(&self, tile: usize) -> usize {
        span(self.first + tile, self.frame, self.tiles).end - self.top
    }

    /// The tiles, counted from the first one here, that begin in some rows of the frame.
    pub(super) fn beginning_in(&self, rows: &Range<usize>) -> Range<usize> {
        let before = |row: usize| {
            (0..self.rows).take_while(|&tile| self.start(tile) + self.top < row).count()
        };
        before(rows.start)..before(rows.end)
    }

    /// Which two tiles a row lies between, and how far from the first to the second.
    #[inline(always)]
    pub(super) fn between(&self, y: usize) -> (usize, usize, f32) {
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

/// Which of both patterns of places a line of a tile has.
#[inline(always)]
fn is_odd(line: usize, lines: usize) -> usize {
    line.min(lines - 1 - line) % 2
}

/// Which places of a line of a tile are looked at, of those of its `length` places that are `inside`: two runs of every other
/// one. With the lines of a square they make a chequered pattern that looks the same turned and mirrored. Half of the pixels are
/// enough for a median, and a pattern with a direction would make the candidates depend on how the camera is turned.
#[inline(always)]
fn chequered(odd: usize, length: usize, inside: &Range<usize>) -> [Range<usize>; 2] {
    let half = length.div_ceil(2);
    let first = if odd < inside.start { odd + 2 } else { odd };
    let other = half + (length / 2 + 1 + odd) % 2;
    [first..half.min(inside.end), other..inside.end]
}

/// A rectangle of pixels.
pub(super) struct Region {
    pub(super) rows: Range<usize>,
    pub(super) columns: Range<usize>,
}

/// The standard deviation of the noise, tile by tile.
#[derive(Clone, Debug, Default)]
pub(super) struct NoiseMap {
    columns: usize,
    column: Column,
    width: usize,
    /// The tiles side by side.
    across: Vec<Across>,
    pub(super) levels: Vec<f32>,
}

/// Where a tile lies across the frame, and the first and last places of each run that is looked at, for both patterns: of all pixels, and
/// of those that have neighbours.
#[derive(Clone, Debug)]
struct Across {
    span: Range<usize>,
    all: [[[usize; 2]; 2]; 2],
    inner: [[[usize; 2]; 2]; 2],
}

impl Across {
    fn new(tile: usize, width: usize, columns: usize) -> Self {
        let span = span(tile, width, columns);
        let inside =
            span.start.max(1) - span.start..span.end.min(width - 1).saturating_sub(span.start);
        let runs = |inside: &Range<usize>| {
            let places = |run: Range<usize>| [span.start + run.start, span.start + run.end];
            [0, 1].map(|odd| chequered(odd, span.len(), inside).map(places))
        };
        Self { all: runs(&(0..span.len())), inner: runs(&inside), span }
    }
}

/// What is looked at in some tiles, and room for it.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// The numbers of tiles side by side.
    tiles: Vec<Half>,
    vertical: Vec<f32>,
    responses: Vec<f32>,
}

/// Tiles side by side that are looked at together: what they need stays in the nearest cache.
const TOGETHER: usize = 8;

impl NoiseMap {
    /// Begins the map of a frame: there are no tiles yet.
    pub(super) fn start(&mut self, width: usize, column: Column) {
        self.levels.clear();
        let columns = width.div_ceil(TILE).max(1);
        if self.width != width {
            self.across.clear();
            self.across.extend((0..columns).map(|tile| Across::new(tile, width, columns)));
        }
        (self.columns, self.column, self.width) = (columns, column, width);
    }

    /// The noise of the next row of tiles, from what their pixels respond to a kernel. Pixels are there up to the row after
    /// their last one.
    #[inline(always)]
    pub(super) fn add_tiles(&mut self, pixels: &Lines, height: usize, looks: &mut Looks) {
        let Self { columns, column, width, ref across, .. } = *self;
        let row = self.levels.len() / columns;
        let lines = column.start(row)..column.end(row);
        // The outermost pixels have no response.
        let down = lines.start.max(1)..lines.end.min(height - 1);
        let Looks { tiles, vertical, responses } = looks;
        tiles.resize_with(TOGETHER.min(columns), Numbers::new);
        for first in (0..columns).step_by(TOGETHER) {
            let group = first..(first + TOGETHER).min(columns);
            let start = across[group.start].span.start.max(1);
            let end = across[group.end - 1].span.end.min(width - 1).max(start);
            let around = start - 1..if end > start { end + 1 } else { start - 1 };
            tiles.iter_mut().for_each(Numbers::clear);
            vertical.resize(around.len(), 0.0);
            // With what may be read beyond the last ones.
            responses.resize(end - start + BEYOND, 0.0);
            let down = if around.is_empty() { 0..0 } else { down.clone() };
            for y in down {
                let at = |y: usize| &pixels.line(y)[around.clone()];
                let (above, here, below) = (at(y - 1), at(y), at(y + 1));
                for (((down, a), b), c) in vertical.iter_mut().zip(above).zip(here).zip(below) {
                    *down = a - 2.0 * b + c;
                }
                let (left, middle, right) = (&vertical[..], &vertical[1..], &vertical[2..]);
                for (((response, a), b), c) in responses.iter_mut().zip(left).zip(middle).zip(right)
                {
                    *response = (a - 2.0 * b + c).abs();
                }
                let odd = is_odd(y - lines.start, lines.len());
                for (across, numbers) in across[group.clone()].iter().zip(tiles.iter_mut()) {
                    for [first, last] in across.inner[odd] {
                        if first < last {
                            numbers.add_every_other(responses, [first - start, last - start]);
                        }
                    }
                }
            }
            tiles.iter_mut().for_each(Numbers::seal);
            // Noise is much the same everywhere.
            let usual = self.levels.last().copied().unwrap_or_default();
            let levels = &mut self.levels;
            level(&mut tiles[..group.len()], COARSE, usual, |level| levels.push(level));
        }
    }

    /// The noise of the next row of tiles of the filtered frame: that of the pixels as the filter passes it on, or what the
    /// filtered frame shows by itself where that is more.
    #[inline(always)]
    pub(super) fn add_textures(
        &mut self,
        noise: &Self,
        signal: &[f32],
        gain: f32,
        looks: &mut Looks,
    ) {
        let Self { columns, column: tiles, width, ref across, .. } = *self;
        let row = self.levels.len() / columns;
        let lines = tiles.start(row)..tiles.end(row);
        looks.tiles.resize_with(TOGETHER.min(columns), Numbers::new);
        for first in (0..columns).step_by(TOGETHER) {
            let group = first..(first + TOGETHER).min(columns);
            for (across, numbers) in across[group.clone()].iter().zip(&mut looks.tiles) {
                numbers.clear();
                for (line, y) in lines.clone().enumerate() {
                    let here = &signal[y * width..];
                    for run in across.all[is_odd(line, lines.len())] {
                        numbers.add_every_other(here, run);
                    }
                }
                numbers.seal();
            }
            let white = &noise.levels[row * columns..][group.clone()];
            let levels = &mut self.levels;
            texture(&mut looks.tiles[..group.len()], white, gain, |level| levels.push(level));
        }
    }

    /// Another number for each of the tiles of another map that are not there yet, of its noise.
    #[inline(always)]
    pub(super) fn add_of(&mut self, noise: &Self, of: impl Fn(f32) -> f32) {
        let there = self.levels.len();
        self.levels.extend(noise.levels[there..].iter().map(|&level| of(level)));
    }

    /// How many rows of tiles are there.
    pub(super) fn rows(&self) -> usize {
        self.levels.len() / self.columns
    }

    /// The noise of some tiles by the kernel (1 −4 6 −4 1)ᵀ(1 −4 6 −4 1), which sees finer differences still; 0 for the others.
    #[inline(always)]
    pub(super) fn fine(&self, pixels: &[f32], wanted: &[bool]) -> Vec<f32> {
        let Self { columns, column: tiles, width, .. } = *self;
        let height = pixels.len() / width;
        let mut responses = Whole::new();
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
                    responses.add(response.abs());
                }
            }
            responses.seal();
            let responses = std::slice::from_mut(&mut responses);
            level(responses, FINE, self.levels[tile], |level| *level_of = level);
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

    /// The places among the tiles of those that begin in some rows of the frame.
    pub(super) fn beginning_in(&self, rows: &Range<usize>) -> Range<usize> {
        let Range { start, end } = self.column.beginning_in(rows);
        start * self.columns..end * self.columns
    }

    pub(super) fn is_zero(&self) -> bool {
        self.levels.iter().all(|&level| level <= 0.0)
    }

    /// The noise along a row, between the tiles' centres by linear interpolation.
    #[inline(always)]
    pub(super) fn row(&self, y: usize, levels: &mut [f32]) {
        let Self { columns, column, width, .. } = *self;
        let (above, below, down) = column.between(y);
        let above = &self.levels[above * columns..][..columns];
        let below = &self.levels[below * columns..][..columns];
        let at = |tile: usize| above[tile] + down * (below[tile] - above[tile]);
        let tile_width = width as f32 / columns as f32;
        let mut x = 0;
        for place in 0..=columns {
            let Ramp { left, right, centre, end } = Ramp::new(place, width, columns);
            let slope = (at(right) - at(left)) / tile_width;
            let start = at(left) - slope * centre;
            // As many at a time as a register has; the next ramp replaces what is beyond the end of this one.
            while x < end {
                match levels[x..].first_chunk_mut::<16>() {
                    Some(chunk) => {
                        for i in 0..16 {
                            chunk[i] = start + slope * (x + i) as i32 as f32;
                        }
                        x += 16;
                    }
                    None => {
                        levels[x] = start + slope * x as i32 as f32;
                        x += 1;
                    }
                }
            }
            x = end;
        }
    }
}

/// Where the tiles of a frame lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct TilePlaces {
    columns: usize,
    rows: Column,
    width: usize,
}

impl TilePlaces {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let (columns, rows) = (width.div_ceil(TILE).max(1), Column::new(height, 0, height));
        Self { columns, rows, width }
    }

    /// How many of some places, (x, y) in the frame, each tile has.
    pub(super) fn counts(&self, places: impl Iterator<Item = (usize, usize)>) -> Vec<usize> {
        let mut counts = vec![0; self.rows.rows() * self.columns];
        for (x, y) in places {
            self.holding(x, y).for_each(|tile| counts[tile] += 1);
        }
        counts
    }

    /// The tiles that have a place of the frame: several where they share it.
    pub(super) fn holding(&self, x: usize, y: usize) -> impl Iterator<Item = usize> {
        let Self { columns, rows: tiles, width } = *self;
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
}

/// A part of a row between the centres of two tiles: the noise is flat up to the first centre and from the last, and a ramp between any
/// two.
pub(super) struct Ramp {
    pub(super) left: usize,
    pub(super) right: usize,
    /// Where the centre of the left tile is.
    pub(super) centre: f32,
    /// The place after the last one.
    pub(super) end: usize,
}

impl Ramp {
    /// The one that ends at the centre of a tile, or at the end of the row.
    #[inline(always)]
    pub(super) fn new(column: usize, width: usize, columns: usize) -> Self {
        let tile_width = width as f32 / columns as f32;
        let centre = |column: usize| (column as f32 + 0.5) * tile_width - 0.5;
        let (left, right) = (column.saturating_sub(1), column.min(columns - 1));
        let end = if column == columns {
            width
        } else {
            (centre(column).max(0.0).ceil() as usize).min(width)
        };
        Self { left, right, centre: centre(left), end }
    }
}

/// The noise of tiles from their absolute responses to a kernel, the root of the sum of whose squares is `gain`, where about so much
/// is expected.
#[inline(always)]
fn level<const MOST: usize>(
    responses: &mut [Numbers<MOST>],
    gain: f32,
    expected: f32,
    mut to: impl FnMut(f32),
) {
    let mut searches = [Search::default(); TOGETHER];
    for (search, responses) in searches.iter_mut().zip(&*responses) {
        let count = responses.count();
        let spread = if expected > 0.0 {
            gain * expected
        } else {
            responses.all().sum::<f32>() / (MEAN * count as f32)
        };
        let step = spread / (DENSITY_OF_MEDIAN * count as f32);
        *search = Search::new(count / 2, count, MEDIAN * spread, step);
    }
    narrow(responses, &mut searches, |_| true);
    for (responses, search) in responses.iter_mut().zip(searches) {
        let count = responses.count();
        if count == 0 {
            to(0.0);
            continue;
        }
        let median = responses.end(search);
        if median > 0.0 {
            to(median / (MEDIAN * gain));
            continue;
        }
        // Most pixels are equal, as in dim frames of whole counts: use the root mean square instead.
        let squares: f64 = responses.all().map(|r| f64::from(r).powi(2)).sum();
        to(((squares / count as f64).sqrt() / f64::from(gain)) as f32);
    }
}

/// The noise of filtered tiles: that of their pixels, `noise`, times the gain of the filter, or the spread below the median where that
/// is more. Spots are above, and hardly change it.
#[inline(always)]
fn texture<const MOST: usize>(
    values: &mut [Numbers<MOST>],
    noise: &[f32],
    gain: f32,
    mut to: impl FnMut(f32),
) {
    // The quantile that lies one standard deviation below the median of a normal distribution.
    let quantile = |middle: usize| (middle as f32 * 2.0 * SHARE_BELOW) as usize;
    let mut searches = [Search::default(); TOGETHER];
    for (search, (values, noise)) in searches.iter_mut().zip(values.iter().zip(noise)) {
        let count = values.count();
        let step = noise * gain / (DENSITY * count as f32);
        *search = Search::new(count / 2, count, 0.0, step);
    }
    narrow(values, &mut searches, |_| true);
    let (mut wide, mut medians) = ([false; TOGETHER], [0.0; TOGETHER]);
    for (wide, (search, (values, noise))) in
        wide.iter_mut().zip(searches.iter().zip(values.iter().zip(noise)))
    {
        // About half of the tiles spread less than their pixels: then all is known.
        let count = values.count();
        *wide = count > 1 && values.up_to(search.highest() - noise * gain) > quantile(count / 2);
    }
    for (i, (values, noise)) in values.iter_mut().zip(noise).enumerate() {
        if wide[i] {
            let (count, white) = (values.count(), noise * gain);
            medians[i] = values.end(searches[i]);
            let step = white / (DENSITY_BELOW * count as f32);
            searches[i] = Search::new(quantile(count / 2), count, medians[i] - white, step);
        }
    }
    narrow(values, &mut searches, |i| wide[i]);
    for (i, (values, noise)) in values.iter_mut().zip(noise).enumerate() {
        let white = noise * gain;
        let wide = wide[i] && !searches[i].is_above(medians[i] - white);
        to(if wide { (medians[i] - values.end(searches[i])).max(white) } else { white });
    }
}
