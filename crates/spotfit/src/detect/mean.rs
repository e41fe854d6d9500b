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
        mut to: impl FnMut(usize, &mut [f32]),
    ) {
        let Self { radius, width, height, .. } = *self;
        let stride = width + 2 * radius;
        for (y, place) in lines.clone().zip(0..) {
            let columns = &mut self.columns[place * stride + radius..][..width];
            sum_columns(y, [radius, height], pixels, &mut self.begun, &mut self.ends, columns);
        }
        let used = lines.len() * stride;
        let sums = self.across.of(&self.columns[..used]);
        for (y, sums) in lines.zip(sums.chunks_exact_mut(stride)) {
            let share = share(y, height, radius);
            let sums = &mut sums[..width];
            for (sum, column_share) in sums.iter_mut().zip(&self.shares) {
                *sum *= share * column_share;
            }
            to(y, sums);
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
    /// Sums of 2, 4, 8, … neighbours, from each place on.
    doubled: Vec<Vec<f32>>,
    sums: Vec<f32>,
}

impl SumsAcross {
    fn start(&mut self, length: usize, reach: usize) {
        let levels = reach.ilog2() as usize;
        self.reach = reach;
        self.doubled.resize_with(levels, Vec::new);
        for level in self.doubled.iter_mut().chain([&mut self.sums]) {
            level.resize(length, 0.0);
        }
    }

    /// For each place the sum of the numbers from there on, as many as asked for; near the end, of those that are there.
    #[inline(always)]
    fn of(&mut self, numbers: &[f32]) -> &mut [f32] {
        let Self { reach, doubled, sums } = self;
        let length = numbers.len();
        let mut size = 1;
        for level in 0..doubled.len() {
            let (smaller, larger) = doubled.split_at_mut(level);
            let parts = smaller.last().map_or(numbers, |parts| &parts[..length]);
            let further = &parts[size.min(length)..];
            for ((sum, a), b) in larger[0].iter_mut().zip(parts).zip(further) {
                *sum = a + b;
            }
            size *= 2;
        }
        // The largest part first, then those that are missing, two at a time.
        let sums = &mut sums[..length];
        let mut largest = Some(doubled.last().map_or(numbers, |parts| &parts[..length]));
        let mut done = size;
        let mut parts = (0..doubled.len()).rev().filter_map(|level| {
            let part = 1 << level;
            let parts = if level == 0 { numbers } else { &doubled[level - 1][..length] };
            let from = done;
            (*reach & part != 0).then(|| {
                done += part;
                parts.get(from..).unwrap_or(&[])
            })
        });
        while let Some(one) = parts.next() {
            match (largest.take(), parts.next()) {
                (Some(largest), Some(two)) => {
                    let all = sums.iter_mut().zip(largest).zip(one).zip(two);
                    all.for_each(|(((sum, a), b), c)| *sum = a + b + c);
                }
                (Some(largest), None) => {
                    let all = sums.iter_mut().zip(largest).zip(one);
                    all.for_each(|((sum, a), b)| *sum = a + b);
                }
                (None, Some(two)) => {
                    let all = sums.iter_mut().zip(one).zip(two);
                    all.for_each(|((sum, b), c)| *sum = *sum + b + c);
                }
                (None, None) => sums.iter_mut().zip(one).for_each(|(sum, b)| *sum += b),
            }
        }
        if let Some(largest) = largest {
            sums.copy_from_slice(largest);
        }
        sums
    }
}
