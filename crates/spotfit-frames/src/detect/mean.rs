//! The mean over a square, line by line.

use std::ops::Range;

use super::lines::Lines;

/// The mean over a square of 2·radius + 1 pixels on its way down a frame, cut at the edges. Nothing is ever subtracted
/// from a sum, so a pixel affects only the squares that contain it, however bright it is.
#[derive(Debug, Default)]
pub(super) struct BoxMean {
    radius: usize,
    width: usize,
    height: usize,
    /// Blocks of as many rows as a square has. The rows of a square are the first ones of one block and the last ones of the
    /// block before; `ends` holds for each row of that the sum from it to the block's last.
    begun: Vec<f32>,
    ends: Vec<f32>,
    /// Sums over the rows in reach, with zeros on either side for the sums across: of several lines, so that loops are long.
    columns: Vec<f32>,
    across: SumsAcross,
    shares: Vec<f32>,
    line: Vec<f32>,
}

/// As many numbers are summed across at a time, if lines are short: the sums of all sizes stay in the nearest cache.
const AT_A_TIME: usize = 2048;

impl BoxMean {
    /// How many lines are best done at a time.
    pub(super) fn lines(width: usize, radius: usize) -> usize {
        (AT_A_TIME / (width + 2 * radius)).clamp(1, 16)
    }

    /// Begins a frame.
    pub(super) fn start(&mut self, width: usize, height: usize, radius: usize) {
        let reach = 2 * radius + 1;
        (self.radius, self.width, self.height) = (radius, width, height);
        self.begun.clear();
        self.begun.resize(width, 0.0);
        self.ends.resize(reach.min(height) * width, 0.0);
        let length = (width + 2 * radius) * Self::lines(width, radius);
        self.columns.clear();
        self.columns.resize(length, 0.0);
        self.across.start(length, reach);
        self.line.resize(width, 0.0);
        self.shares.clear();
        self.shares.extend((0..width).map(|x| share(x, width, radius)));
    }

    /// The means of the next lines, no more than [`BoxMean::lines`], of which `pixels` has those in reach and one more above:
    /// each with its number is given to `to`.
    #[inline(always)]
    pub(super) fn next(
        &mut self,
        lines: Range<usize>,
        pixels: &Lines,
        mut to: impl FnMut(usize, &[f32]),
    ) {
        let Self { radius, width, height, .. } = *self;
        let stride = width + 2 * radius;
        for (y, place) in lines.clone().zip(0..) {
            let columns = &mut self.columns[place * stride + radius..][..width];
            sum_columns(y, [radius, height], pixels, &mut self.begun, &mut self.ends, columns);
        }
        let used = lines.len() * stride;
        self.across.double(&self.columns[..used]);
        for (y, place) in lines.zip(0..) {
            let share = share(y, height, radius);
            let columns = &self.columns[place * stride..used];
            self.across.means(columns, place * stride, (share, &self.shares), &mut self.line);
            to(y, &self.line);
        }
    }
}

/// 1 by the number of places around one, cut at the ends.
#[inline(always)]
pub(super) fn share(at: usize, length: usize, radius: usize) -> f32 {
    1.0 / ((at + radius + 1).min(length) - at.saturating_sub(radius)) as f32
}

/// Sums over the rows of a square.
#[inline(always)]
fn sum_columns(
    y: usize,
    [radius, height]: [usize; 2],
    pixels: &Lines,
    begun: &mut [f32],
    ends: &mut [f32],
    sums: &mut [f32],
) {
    let (width, reach) = (sums.len(), 2 * radius + 1);
    if y == 0 {
        for y in 0..radius.min(height) {
            begun.iter_mut().zip(pixels.line(y)).for_each(|(sum, pixel)| *sum += pixel);
        }
    }
    let newest = y + radius;
    let place = newest % reach;
    if place == 0 && newest > 0 {
        sums_to_the_end(newest - reach..newest.min(height), pixels, width, ends);
        begun.fill(0.0);
    }
    let end = ends.get((place + 1) * width..(place + 2) * width);
    match (end.filter(|_| newest >= reach), newest < height) {
        (Some(end), true) => {
            let lines = begun.iter_mut().zip(pixels.line(newest));
            for ((sum, end), (begun, pixel)) in sums.iter_mut().zip(end).zip(lines) {
                *begun += pixel;
                *sum = *begun + end;
            }
        }
        (None, true) => {
            let lines = begun.iter_mut().zip(pixels.line(newest));
            for (sum, (begun, pixel)) in sums.iter_mut().zip(lines) {
                *begun += pixel;
                *sum = *begun;
            }
        }
        (Some(end), false) => {
            for ((sum, begun), end) in sums.iter_mut().zip(&*begun).zip(end) {
                *sum = begun + end;
            }
        }
        (None, false) => sums.copy_from_slice(begun),
    }
}

/// For each row of a block the sum of the rows from it on; rows that the frame lacks are zero. The block is as
/// many rows as there are sums.
#[inline(always)]
fn sums_to_the_end(rows: Range<usize>, pixels: &Lines, width: usize, sums: &mut [f32]) {
    let there = (rows.len() * width).min(sums.len());
    let (sums, missing) = sums.split_at_mut(there);
    missing.fill(0.0);
    let mut below: &[f32] = &[];
    for (sums, y) in sums.chunks_exact_mut(width).zip(rows).rev() {
        if below.is_empty() {
            sums.copy_from_slice(pixels.line(y));
        } else {
            for ((sum, pixel), below) in sums.iter_mut().zip(pixels.line(y)).zip(below) {
                *sum = pixel + below;
            }
        }
        below = sums;
    }
}

/// Sums of a number of neighbours, by doubling: of 2, 4, 8, … of them, and of those that make up the
/// number. All of it runs along the line, several places at a time.
#[derive(Debug, Default)]
struct SumsAcross {
    reach: usize,
    /// Sums of 2, 4, 8, … neighbours, from each place on, to half of the most that the number has.
    doubled: Vec<Vec<f32>>,
}

/// The bits of a number of neighbours but the highest one.
const MOST_PARTS: usize = usize::BITS as usize - 1;

impl SumsAcross {
    /// For sums of so many neighbours, at least 3 and an odd number.
    fn start(&mut self, length: usize, reach: usize) {
        self.reach = reach;
        self.doubled.resize_with(reach.ilog2() as usize - 1, Vec::new);
        self.doubled.iter_mut().for_each(|level| level.resize(length, 0.0));
    }

    /// Sums as few of these numbers as are summed together again.
    #[inline(always)]
    fn double(&mut self, numbers: &[f32]) {
        let length = numbers.len();
        for level in 0..self.doubled.len() {
            let (smaller, larger) = self.doubled.split_at_mut(level);
            let parts = smaller.last().map_or(numbers, |parts| &parts[..length]);
            add(parts, &parts[(1 << level).min(length)..], &mut larger[0]);
        }
    }

    /// The sums from each place of a line on, which begins at a place of the numbers that were doubled, times two shares.
    #[inline(always)]
    fn means(&self, line: &[f32], begin: usize, shares: (f32, &[f32]), means: &mut [f32]) {
        let Self { reach, ref doubled } = *self;
        let of = |level: u32, from: usize| match level {
            0 => &line[from..],
            level => &doubled[level as usize - 1][begin + from..],
        };
        // The largest part is the sum of two halves, then come those that are missing.
        let top = reach.ilog2();
        let half = 1 << (top - 1);
        let [one, two] = [of(top - 1, 0), of(top - 1, half)];
        let mut parts: [&[f32]; MOST_PARTS] = [&[]; MOST_PARTS];
        let (mut count, mut done) = (0, 2 * half);
        for level in (0..top).rev() {
            if reach >> level & 1 == 1 {
                parts[count] = of(level, done);
                count += 1;
                done += 1 << level;
            }
        }
        let (share, shares) = shares;
        let [a, b, c, ..] = parts;
        match count {
            1 => {
                let lines = one.iter().zip(two).zip(a).zip(shares);
                for (mean, (((one, two), a), of_column)) in means.iter_mut().zip(lines) {
                    *mean = (one + two + a) * (share * of_column);
                }
                return;
            }
            2 => {
                let lines = one.iter().zip(two).zip(a).zip(b).zip(shares);
                for (mean, ((((one, two), a), b), of_column)) in means.iter_mut().zip(lines) {
                    *mean = (one + two + a + b) * (share * of_column);
                }
                return;
            }
            3 => {
                let lines = one.iter().zip(two).zip(a).zip(b).zip(c).zip(shares);
                for (mean, (((((one, two), a), b), c), of_column)) in means.iter_mut().zip(lines) {
                    *mean = (one + two + a + b + c) * (share * of_column);
                }
                return;
            }
            _ => {
                let lines = one.iter().zip(two).zip(a).zip(b).zip(c);
                for (mean, ((((one, two), a), b), c)) in means.iter_mut().zip(lines) {
                    *mean = one + two + a + b + c;
                }
            }
        }
        for part in &parts[3..count] {
            for (mean, part) in means.iter_mut().zip(*part) {
                *mean += part;
            }
        }
        for (mean, of_column) in means.iter_mut().zip(shares) {
            *mean *= share * of_column;
        }
    }
}

/// Adds two lines.
#[inline(always)]
fn add(one: &[f32], two: &[f32], sums: &mut [f32]) {
    for ((sum, a), b) in sums.iter_mut().zip(one).zip(two) {
        *sum = a + b;
    }
}
