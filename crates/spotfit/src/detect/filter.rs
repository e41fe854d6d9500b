//! The filters: a Gaussian, and the mean over a square. All of it is inlined into the instruction set that it
//! is compiled for.

/// The Gaussian filter in place, with the frame mirrored at its edges. `kernel` is its half, from the centre;
/// `rows` is room for another frame.
#[inline(always)]
pub(super) fn smooth(pixels: &mut [f32], rows: &mut [f32], width: usize, kernel: &[f32]) {
    let (radius, height) = (kernel.len() - 1, pixels.len() / width);
    let mut padded = vec![0.0; width + 2 * radius];
    for (row, out) in pixels.chunks_exact(width).zip(rows.chunks_exact_mut(width)) {
        padded[radius..][..width].copy_from_slice(row);
        for i in 0..radius {
            padded[i] = row[mirror(i as isize - radius as isize, width)];
            padded[radius + width + i] = row[mirror((width + i) as isize, width)];
        }
        for (value, &pixel) in out.iter_mut().zip(row) {
            *value = kernel[0] * pixel;
        }
        for (k, &weight) in kernel.iter().enumerate().skip(1) {
            let left = &padded[radius - k..radius - k + width];
            let right = &padded[radius + k..radius + k + width];
            for ((value, a), b) in out.iter_mut().zip(left).zip(right) {
                *value += weight * (a + b);
            }
        }
    }
    for (y, out) in pixels.chunks_exact_mut(width).enumerate() {
        let row = |y: isize| {
            let start = mirror(y, height) * width;
            &rows[start..start + width]
        };
        for (value, a) in out.iter_mut().zip(row(y as isize)) {
            *value = kernel[0] * a;
        }
        for (k, &weight) in kernel.iter().enumerate().skip(1) {
            let (above, below) = (row(y as isize - k as isize), row(y as isize + k as isize));
            for ((value, a), b) in out.iter_mut().zip(above).zip(below) {
                *value += weight * (a + b);
            }
        }
    }
}

/// An index mirrored at both ends of 0..length.
#[inline(always)]
fn mirror(index: isize, length: usize) -> usize {
    let last = length as isize - 1;
    if last == 0 {
        return 0;
    }
    let period = 2 * last;
    let index = index.rem_euclid(period);
    index.min(period - index) as usize
}

/// The mean over a square of 2·radius + 1 pixels, cut at the edges of the frame. Nothing is ever subtracted
/// from a sum, so a pixel affects only the squares that contain it, however bright it is.
#[inline(always)]
pub(super) fn box_mean(pixels: &[f32], mean: &mut [f32], width: usize, radius: usize) {
    let height = pixels.len() / width;
    let row = |y: usize| &pixels[y * width..(y + 1) * width];
    let reach = 2 * radius + 1;
    // Blocks of `reach` rows. The rows of a square are the first ones of one block and the last ones of the
    // block before; `ends` holds for each row of that the sum from it to the block's last.
    let mut begun = vec![0.0f32; width];
    let mut ends = vec![0.0f32; reach.min(height) * width];
    // Sums over the rows in reach, with zeros on either side for the sums across.
    let mut columns = vec![0.0f32; width + 2 * radius];
    let mut across = SumsAcross::new(columns.len(), reach);
    let shares: Vec<f32> = (0..width)
        .map(|x| 1.0 / ((x + radius + 1).min(width) - x.saturating_sub(radius)) as f32)
        .collect();
    for y in 0..radius.min(height) {
        begun.iter_mut().zip(row(y)).for_each(|(sum, pixel)| *sum += pixel);
    }
    for (y, out) in mean.chunks_exact_mut(width).enumerate() {
        let newest = y + radius;
        let place = newest % reach;
        if place == 0 && newest > 0 {
            sums_to_the_end(&pixels[(newest - reach) * width..], width, &mut ends);
            begun.fill(0.0);
        }
        if newest < height {
            begun.iter_mut().zip(row(newest)).for_each(|(sum, pixel)| *sum += pixel);
        }
        let inner = &mut columns[radius..][..width];
        match ends.get((place + 1) * width..(place + 2) * width) {
            Some(end) if newest >= reach => {
                for ((sum, a), b) in inner.iter_mut().zip(&begun).zip(end) {
                    *sum = a + b;
                }
            }
            _ => inner.copy_from_slice(&begun),
        }
        let rows = (newest + 1).min(height) - y.saturating_sub(radius);
        let share = 1.0 / rows as f32;
        let sums = across.of(&columns);
        for ((value, sum), column_share) in out.iter_mut().zip(sums).zip(&shares) {
            *value = sum * (share * column_share);
        }
    }
}

/// For each row of a block the sum of the rows from it on; rows that the frame lacks are zero. The block is as
/// many rows as there are sums.
#[inline(always)]
fn sums_to_the_end(rows: &[f32], width: usize, sums: &mut [f32]) {
    let there = rows.len().min(sums.len());
    let (sums, missing) = sums.split_at_mut(there);
    missing.fill(0.0);
    let mut below: &[f32] = &[];
    for (sums, row) in sums.chunks_exact_mut(width).zip(rows[..there].chunks_exact(width)).rev() {
        sums.copy_from_slice(row);
        sums.iter_mut().zip(below).for_each(|(sum, pixel)| *sum += pixel);
        below = sums;
    }
}

/// Sums of a number of neighbours, by doubling: of 2, 4, 8, … of them, and of those that make up the
/// number. All of it runs along the line, several places at a time.
struct SumsAcross {
    reach: usize,
    /// Sums of 2, 4, 8, … neighbours, from each place on.
    doubled: Vec<Vec<f32>>,
    sums: Vec<f32>,
}

impl SumsAcross {
    #[inline(always)]
    fn new(length: usize, reach: usize) -> Self {
        let levels = reach.ilog2() as usize;
        Self { reach, doubled: vec![vec![0.0; length]; levels], sums: vec![0.0; length] }
    }

    /// For each place the sum of the numbers from there on, as many as asked for.
    #[inline(always)]
    fn of(&mut self, numbers: &[f32]) -> &[f32] {
        let Self { reach, doubled, sums } = self;
        let mut size = 1;
        for level in 0..doubled.len() {
            let (smaller, larger) = doubled.split_at_mut(level);
            let parts = smaller.last().map_or(numbers, |parts| &parts[..]);
            let further = &parts[size.min(parts.len())..];
            for ((sum, a), b) in larger[0].iter_mut().zip(parts).zip(further) {
                *sum = a + b;
            }
            size *= 2;
        }
        // The largest part first, then those that are missing.
        let mut done = size;
        sums.copy_from_slice(doubled.last().map_or(numbers, |parts| &parts[..]));
        for level in (0..doubled.len()).rev() {
            size /= 2;
            if *reach & size != 0 {
                let parts = if level == 0 { numbers } else { &doubled[level - 1] };
                let parts = parts.get(done..).unwrap_or(&[]);
                sums.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
                done += size;
            }
        }
        sums
    }
}
