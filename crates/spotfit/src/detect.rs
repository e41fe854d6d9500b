//! Finding spots in a frame: where to cut the windows.
//!
//! 1. The frame is smoothed with a Gaussian as wide as a typical spot (σ = box/7 pixels, the matched
//!    filter), and the local background, the mean over a square of 2·box + 1 pixels, is subtracted.
//!    The background is found in two passes: in the second, pixels that stand out of the first by more
//!    than twice the noise are cut, so that neighbours do not pull it up.
//! 2. The noise is estimated in tiles of 32×32 pixels and interpolated between them: that of the
//!    pixels, from the median of the absolute response to the kernel (1 −2 1)ᵀ(1 −2 1), which sees
//!    neither background nor its slopes and hardly the spots, as the filter passes it on; or, where that
//!    is more, the spread of the filtered frame below its median. The latter counts in movies with a
//!    textured background and in those that were smoothed, whose pixels are not independent.
//! 3. A pixel is a candidate if it is the highest within (box − 3)/2 pixels (at least 1) and stands out
//!    by more than `threshold` times that noise.
//!
//! In white noise the default of 7 finds spots whose peak is about 3 times the noise of a pixel. Dense
//! movies want less (5), clean ones may take more.
//!
//! Cost per pixel: 2·(2·⌈3σ⌉ + 1) multiply-adds for the Gaussian (14 for box 7), about 12 additions for
//! each of the two box means, 9 on every other row for the noise, partial sorts of half of the pixels, and
//! a comparison; the time it takes is in `docs/localization.md`.

use fit_core::Pixel;
use multiversion::multiversion;
use ndarray::ArrayView2;

/// A place where a spot may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// Column of the brightest pixel of the filtered frame.
    pub x: usize,
    /// Row of that pixel.
    pub y: usize,
    /// By how many times the noise it stands out.
    pub significance: f32,
}

/// The detector for frames of one size.
#[derive(Clone, Debug)]
pub struct Detector {
    width: usize,
    height: usize,
    box_size: usize,
    threshold: f32,
    /// Half of the symmetric smoothing kernel, from its centre.
    kernel: Vec<f32>,
    /// Standard deviation of the filtered frame for white noise of 1.
    gain: f32,
}

/// The threshold that suits an ordinary movie, in units of the local noise.
pub const DEFAULT_THRESHOLD: f64 = 7.0;

/// Side of the tiles in which the noise is estimated.
const TILE: usize = 32;

impl Detector {
    /// A detector for frames of `width`×`height` pixels, windows of `box_size` pixels and a threshold
    /// in units of the local noise.
    pub fn new(width: usize, height: usize, box_size: usize, threshold: f64) -> Self {
        let sigma = box_size as f64 / 7.0;
        let radius = (3.0 * sigma).ceil() as usize;
        let weights: Vec<f64> =
            (0..=radius).map(|i| (-0.5 * (i as f64 / sigma).powi(2)).exp()).collect();
        let sum = weights[0] + 2.0 * weights[1..].iter().sum::<f64>();
        let kernel: Vec<f64> = weights.iter().map(|w| w / sum).collect();
        // The filter is Gaussian minus box: the sum of its squares.
        let squares = kernel[0].powi(2) + 2.0 * kernel[1..].iter().map(|w| w * w).sum::<f64>();
        let side = (2 * box_size + 1) as f64;
        let gain = (squares * squares - 1.0 / (side * side)).max(1e-6).sqrt();
        Self {
            width,
            height,
            box_size,
            threshold: threshold as f32,
            kernel: kernel.iter().map(|&w| w as f32).collect(),
            gain: gain as f32,
        }
    }

    /// The candidates of a frame, from top to bottom. Pixels that are not finite count as background.
    ///
    /// # Panics
    /// If the frame is not of the size that the detector is for.
    pub fn detect<P: Pixel>(&self, frame: ArrayView2<'_, P>) -> Vec<Candidate> {
        assert_eq!(frame.dim(), (self.height, self.width), "the frame has another size");
        match frame.as_slice() {
            Some(frame) => detect(self, frame),
            None => detect(self, &frame.iter().copied().collect::<Vec<P>>()),
        }
    }

    /// The Gaussian filter, with the frame mirrored at its edges.
    #[inline(always)]
    fn smooth(&self, pixels: &[f32]) -> Vec<f32> {
        let Self { width, height, kernel, .. } = self;
        let (width, height) = (*width, *height);
        let radius = kernel.len() - 1;
        let mut rows = vec![0.0; pixels.len()];
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
        let mut smooth = vec![0.0; pixels.len()];
        for (y, out) in smooth.chunks_exact_mut(width).enumerate() {
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
        smooth
    }

    #[inline(always)]
    fn background(&self, pixels: &[f32], noise: &NoiseMap) -> Vec<f32> {
        let mut background = box_mean(pixels, self.width, self.height, self.box_size);
        let mut cut = background.clone();
        let mut levels = vec![0.0; self.width];
        for (y, row) in cut.chunks_exact_mut(self.width).enumerate() {
            noise.row(y, &mut levels);
            let pixels = &pixels[y * self.width..];
            for ((value, &pixel), &level) in row.iter_mut().zip(pixels).zip(&levels) {
                *value = pixel.min(*value + 2.0 * level);
            }
        }
        background.copy_from_slice(&box_mean(&cut, self.width, self.height, self.box_size));
        background
    }

    #[inline(always)]
    fn peaks(&self, signal: &[f32], noise: &NoiseMap) -> Vec<Candidate> {
        let Self { width, height, .. } = *self;
        let radius = (self.box_size.saturating_sub(3) / 2).max(1);
        let mut found = Vec::new();
        let mut levels = vec![0.0; width];
        for y in 0..height {
            noise.row(y, &mut levels);
            let row = &signal[y * width..(y + 1) * width];
            for x in bright(row, &levels, self.threshold) {
                let (value, level) = (row[x], levels[x]);
                let rows = y.saturating_sub(radius)..(y + radius + 1).min(height);
                let columns = x.saturating_sub(radius)..(x + radius + 1).min(width);
                let highest = rows.clone().all(|other_y| {
                    columns.clone().all(|other_x| {
                        let other = signal[other_y * width + other_x];
                        // Of equals the first in reading order is the peak.
                        let before = (other_y, other_x) < (y, x);
                        if before { other < value } else { other <= value }
                    })
                });
                if highest {
                    found.push(Candidate { x, y, significance: value / level });
                }
            }
        }
        found
    }
}

/// [`Detector::detect`], compiled for several instruction sets, of which the processor's best is chosen. All
/// that it calls is inlined, and none of it rounds differently for being compiled differently.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma",))]
fn detect<P: Pixel>(detector: &Detector, frame: &[P]) -> Vec<Candidate> {
    let pixels = finite_pixels(frame);
    let noise = NoiseMap::new(&pixels, detector.width, detector.height);
    if noise.is_zero() {
        return Vec::new();
    }
    let smooth = detector.smooth(&pixels);
    let background = detector.background(&pixels, &noise);
    let signal: Vec<f32> = smooth.iter().zip(&background).map(|(s, b)| s - b).collect();
    let noise = noise.with_texture(&signal, detector.gain);
    detector.peaks(&signal, &noise)
}

/// The frame as numbers, less its first good pixel, so that a baseline costs no digits; those that are
/// not finite are the mean of the others.
#[inline(always)]
fn finite_pixels<P: Pixel>(frame: &[P]) -> Vec<f32> {
    // Sums of squares must not overflow either.
    let usable = |pixel: f32| pixel.abs() < 1e15;
    let level = frame.iter().map(|pixel| pixel.to_f32()).find(|&pixel| usable(pixel));
    let level = level.unwrap_or(0.0);
    let mut pixels: Vec<f32> = frame.iter().map(|pixel| pixel.to_f32() - level).collect();
    if !pixels.iter().fold(true, |all, &pixel| all & usable(pixel)) {
        let good = pixels.iter().filter(|&&pixel| usable(pixel));
        let (sum, count) = good.fold((0.0f64, 0u32), |(s, n), &p| (s + f64::from(p), n + 1));
        let mean = (sum / f64::from(count.max(1))) as f32;
        for pixel in pixels.iter_mut().filter(|pixel| !usable(**pixel)) {
            *pixel = mean;
        }
    }
    pixels
}

/// The places along a line that stand out by more than `threshold` times the level.
#[inline(always)]
fn bright(values: &[f32], levels: &[f32], threshold: f32) -> Vec<usize> {
    let stands_out = |value: f32, level: f32| (value > threshold * level) & (level > 0.0);
    let mut found = Vec::new();
    let mut first = 0;
    // Most blocks have none, which is seen for many places at a time.
    for (values, levels) in values.chunks(BLOCK).zip(levels.chunks(BLOCK)) {
        let mut any = false;
        for (&value, &level) in values.iter().zip(levels) {
            any |= stands_out(value, level);
        }
        if any {
            let places = (first..).zip(values.iter().zip(levels));
            found.extend(places.filter(|(_, (v, l))| stands_out(**v, **l)).map(|(x, _)| x));
        }
        first += BLOCK;
    }
    found
}

/// Places that are looked at together.
const BLOCK: usize = 32;

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

/// The mean over a square of 2·radius + 1 pixels, cut at the edges of the frame.
#[inline(always)]
fn box_mean(pixels: &[f32], width: usize, height: usize, radius: usize) -> Vec<f32> {
    let row = |y: usize| &pixels[y * width..(y + 1) * width];
    // Sums over the rows in reach, with zeros on either side for the sums across.
    let reach = 2 * radius + 1;
    let mut columns = vec![0.0f32; width + 2 * radius];
    let mut across = SumsAcross::new(columns.len(), reach);
    let shares: Vec<f32> = (0..width)
        .map(|x| 1.0 / ((x + radius + 1).min(width) - x.saturating_sub(radius)) as f32)
        .collect();
    for y in 0..radius.min(height) {
        columns[radius..][..width].iter_mut().zip(row(y)).for_each(|(sum, p)| *sum += p);
    }
    let mut mean = vec![0.0f32; pixels.len()];
    for (y, out) in mean.chunks_exact_mut(width).enumerate() {
        let inner = &mut columns[radius..][..width];
        if y + radius < height {
            inner.iter_mut().zip(row(y + radius)).for_each(|(sum, p)| *sum += p);
        }
        if y > radius {
            inner.iter_mut().zip(row(y - radius - 1)).for_each(|(sum, p)| *sum -= p);
        }
        let rows = (y + radius + 1).min(height) - y.saturating_sub(radius);
        let share = 1.0 / rows as f32;
        let sums = across.of(&columns);
        for ((value, sum), column_share) in out.iter_mut().zip(sums).zip(&shares) {
            *value = sum * (share * column_share);
        }
    }
    mean
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

/// The standard deviation of the noise, tile by tile.
struct NoiseMap {
    columns: usize,
    rows: usize,
    width: usize,
    height: usize,
    levels: Vec<f32>,
}

impl NoiseMap {
    #[inline(always)]
    fn new(pixels: &[f32], width: usize, height: usize) -> Self {
        let (columns, rows) = (width.div_ceil(TILE).max(1), height.div_ceil(TILE).max(1));
        let mut levels = Vec::with_capacity(columns * rows);
        let mut responses = Vec::with_capacity(TILE * TILE);
        // Tiles have at most TILE columns.
        let mut vertical = [0.0; TILE + 2];
        for row in 0..rows {
            for column in 0..columns {
                // Tiles of equal size that cover the frame; the outermost pixels have no response.
                let y = (row * height / rows).max(1)..((row + 1) * height / rows).min(height - 1);
                let x = (column * width / columns).max(1)
                    ..((column + 1) * width / columns).min(width - 1);
                responses.clear();
                let columns = x.len();
                // Every other row is enough for a median.
                for y in y.step_by(2) {
                    let at = |y: usize| &pixels[y * width..(y + 1) * width];
                    let (above, here, below) = (at(y - 1), at(y), at(y + 1));
                    for (down, i) in vertical.iter_mut().zip(x.start - 1..x.end + 1) {
                        *down = above[i] - 2.0 * here[i] + below[i];
                    }
                    let start = responses.len();
                    responses.resize(start + columns, 0.0);
                    let (left, middle, right) = (&vertical, &vertical[1..], &vertical[2..]);
                    for (i, response) in responses[start..].iter_mut().enumerate() {
                        *response = (left[i] - 2.0 * middle[i] + right[i]).abs();
                    }
                }
                levels.push(level(&mut responses));
            }
        }
        Self { columns, rows, width, height, levels }
    }

    /// The noise of the filtered frame: that of the pixels as the filter passes it on, or what the
    /// filtered frame shows by itself where that is more.
    #[inline(always)]
    fn with_texture(&self, signal: &[f32], gain: f32) -> Self {
        let Self { columns, rows, width, height, .. } = *self;
        let mut levels = Vec::with_capacity(columns * rows);
        let mut values = Vec::with_capacity(TILE * TILE);
        for row in 0..rows {
            for column in 0..columns {
                let y = row * height / rows..(row + 1) * height / rows;
                let x = column * width / columns..(column + 1) * width / columns;
                values.clear();
                y.step_by(2)
                    .for_each(|y| values.extend_from_slice(&signal[y * width..][x.clone()]));
                let white = self.levels[row * columns + column] * gain;
                levels.push(texture(&mut values).max(white));
            }
        }
        Self { levels, ..*self }
    }

    fn is_zero(&self) -> bool {
        self.levels.iter().all(|&level| level <= 0.0)
    }

    /// The noise along a row, between the tiles' centres by linear interpolation.
    #[inline(always)]
    fn row(&self, y: usize, levels: &mut [f32]) {
        let tile_height = self.height as f32 / self.rows as f32;
        let position = (y as f32 + 0.5) / tile_height - 0.5;
        let position = position.clamp(0.0, (self.rows - 1) as f32);
        let above = (position as usize).min(self.rows - 1);
        let below = (above + 1).min(self.rows - 1);
        let down = position - above as f32;
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

/// The noise from absolute responses to the kernel, the sum of whose squares is 36.
#[inline(always)]
fn level(responses: &mut [f32]) -> f32 {
    if responses.is_empty() {
        return 0.0;
    }
    let middle = responses.len() / 2;
    let (_, median, _) = responses.select_nth_unstable_by(middle, f32::total_cmp);
    let median = *median;
    if median > 0.0 {
        return median / (0.674_49 * 6.0);
    }
    // Most pixels are equal, as in dim frames of whole counts: the root mean square is what is left.
    let squares: f64 = responses.iter().map(|&r| f64::from(r).powi(2)).sum();
    ((squares / responses.len() as f64).sqrt() / 6.0) as f32
}

/// The spread of a filtered tile below its median: spots are above, and hardly change it.
#[inline(always)]
fn texture(values: &mut [f32]) -> f32 {
    if values.is_empty() {
        return 0.0;
    }
    let middle = values.len() / 2;
    let (below, median, _) = values.select_nth_unstable_by(middle, f32::total_cmp);
    let median = *median;
    if below.is_empty() {
        return 0.0;
    }
    // The quantile that lies one standard deviation below the median of a normal distribution.
    let quantile = (below.len() as f32 * 2.0 * 0.158_66) as usize;
    let (_, lower, _) = below.select_nth_unstable_by(quantile, f32::total_cmp);
    median - *lower
}

#[cfg(test)]
mod tests {
    use super::*;
    use fit_sim::Random;
    use ndarray::Array2;

    /// Proves that the noise is estimated right, and that the filter's gain is what white noise shows.
    #[test]
    fn noise_and_gain_are_those_of_white_noise() {
        let mut random = Random::new(1, 0);
        let frame: Vec<f32> = (0..256 * 192)
            .map(|i| 100.0 + (i % 256) as f32 * 0.7 + 5.0 * random.normal() as f32)
            .collect();
        let noise = NoiseMap::new(&frame, 256, 192);
        for level in &noise.levels {
            assert!((level - 5.0).abs() < 0.8, "{level}");
        }
        let mean = noise.levels.iter().sum::<f32>() / noise.levels.len() as f32;
        assert!((mean - 5.0).abs() < 0.1, "{mean}");

        let detector = Detector::new(256, 192, 7, 5.0);
        let smooth = detector.smooth(&frame);
        let background = detector.background(&frame, &noise);
        let inner: Vec<f32> = (0..192 * 256)
            .filter(|i| (16..240).contains(&(i % 256)) && (16..176).contains(&(i / 256)))
            .map(|i| smooth[i] - background[i])
            .collect();
        let n = inner.len() as f32;
        let mean = inner.iter().sum::<f32>() / n;
        let sd = (inner.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / n).sqrt();
        assert!((sd / (5.0 * detector.gain) - 1.0).abs() < 0.03, "{sd} {}", detector.gain);
    }

    /// Proves that a spot is found at its pixel, once, on a slope, and that noise alone gives nothing.
    #[test]
    fn a_spot_is_found_where_it_is() {
        let mut random = Random::new(2, 0);
        let mut frame = Array2::from_shape_fn((80, 100), |(y, x)| {
            random.poisson(50.0 + x as f64 + 0.5 * y as f64) as f32
        });
        let detector = Detector::new(100, 80, 7, DEFAULT_THRESHOLD);
        assert_eq!(detector.detect(frame.view()), []);
        for ((y, x), pixel) in frame.indexed_iter_mut() {
            let (dx, dy) = (x as f32 - 41.2, y as f32 - 29.7);
            *pixel += 120.0 * (-(dx * dx + dy * dy) / 3.0).exp();
        }
        let found = detector.detect(frame.view());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!((found[0].x, found[0].y), (41, 30));
        frame[(70, 90)] = f32::NAN;
        frame[(10, 10)] = f32::INFINITY;
        assert_eq!(detector.detect(frame.view()).len(), 1);
    }

    /// Proves that frames with nothing in them, of any size, give nothing.
    #[test]
    fn empty_frames_give_nothing() {
        for (height, width) in [(1, 1), (1, 9), (2, 2), (3, 3), (5, 64), (33, 31)] {
            let detector = Detector::new(width, height, 7, 5.0);
            for value in [0.0f32, 100.0, 65535.0, f32::NAN] {
                let frame = Array2::from_elem((height, width), value);
                assert_eq!(detector.detect(frame.view()), []);
            }
        }
    }

    /// Proves that the box mean is the mean over the square that is there.
    #[test]
    fn the_box_mean_is_a_mean() {
        let (width, height, radius) = (11, 7, 3);
        let pixels: Vec<f32> = (0..width * height).map(|i| ((i * 31) % 17) as f32).collect();
        let mean = box_mean(&pixels, width, height, radius);
        for y in 0..height {
            for x in 0..width {
                let mut values = Vec::new();
                for j in y.saturating_sub(radius)..(y + radius + 1).min(height) {
                    for i in x.saturating_sub(radius)..(x + radius + 1).min(width) {
                        values.push(pixels[j * width + i]);
                    }
                }
                let expected = values.iter().sum::<f32>() / values.len() as f32;
                assert!((mean[y * width + x] - expected).abs() < 1e-4);
            }
        }
    }
}
