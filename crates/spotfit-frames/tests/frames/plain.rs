//! What a sweep finds, pixel by pixel as it is defined: every stage for the whole frame, every sum by itself, every rank by sorting.
//! Sums add the same numbers in the same order, so that the bits are the same.

use ndarray::Array2;

use spotfit_frames::detect::internals::{
    TILE, between, box_size, gain, is_fixed, kernel, of_equals,
};
use spotfit_frames::detect::{Candidate, Detector};

/// A filtered frame, and noise by tiles.
pub(crate) struct Plain {
    pub(crate) signal: Vec<f32>,
    pub(crate) noise: Vec<f32>,
    pub(crate) filtered: Vec<f32>,
    pub(crate) candidates: Vec<Candidate>,
}

/// The candidates of pixels as they come, without crowds.
pub(crate) fn search(detector: &Detector, pixels: &Array2<f32>) -> Plain {
    let (height, width) = pixels.dim();
    let (box_size, gain) = (box_size(detector), gain(detector));
    let pixels = finite(pixels);
    let tiles = [width, height].map(|length| length.div_ceil(TILE));
    let noise = tile_by_tile(width, height, |rows, columns| {
        let response = |y: usize, x: usize| {
            let inner = (1..height.max(1) - 1).contains(&y) && (1..width.max(1) - 1).contains(&x);
            let second = |a: f32, b: f32, c: f32| a - 2.0 * b + c;
            let down = |x: usize| second(pixels[(y - 1, x)], pixels[(y, x)], pixels[(y + 1, x)]);
            inner.then(|| second(down(x - 1), down(x), down(x + 1)).abs())
        };
        let mut responses: Vec<f32> =
            chequered(rows, columns).filter_map(|(y, x)| response(y, x)).collect();
        responses.sort_unstable_by(f32::total_cmp);
        let Some(&median) = responses.get(responses.len() / 2) else { return 0.0 };
        if median > 0.0 {
            return median / (0.674_49 * 6.0);
        }
        let squares: f64 = responses.iter().map(|&r| f64::from(r).powi(2)).sum();
        ((squares / responses.len() as f64).sqrt() / 6.0) as f32
    });
    let levels = interpolated(&noise, tiles, width, height);
    let first = mean(&pixels, box_size);
    let clipped =
        Array2::from_shape_fn((height, width), |at| pixels[at].min(first[at] + 2.0 * levels[at]));
    let background = mean(&clipped, box_size);
    let signal = smooth(&pixels, kernel(detector)) - background;
    let mut white = noise.iter();
    let filtered = tile_by_tile(width, height, |rows, columns| {
        let mut values: Vec<f32> = chequered(rows, columns).map(|at| signal[at]).collect();
        values.sort_unstable_by(f32::total_cmp);
        let middle = values.len() / 2;
        let quantile = (middle as f32 * 2.0 * 0.158_66) as usize;
        let spread = if middle > 0 { values[middle] - values[quantile] } else { 0.0 };
        spread.max(white.next().unwrap() * gain)
    });
    let mut candidates = Vec::new();
    if noise.iter().any(|&level| level > 0.0) {
        candidates = tops(detector, &signal, &filtered, tiles);
    }
    let signal = signal.iter().copied().collect();
    Plain { signal, noise, filtered, candidates }
}

fn tops(
    detector: &Detector,
    signal: &Array2<f32>,
    filtered: &[f32],
    tiles: [usize; 2],
) -> Vec<Candidate> {
    let (height, width) = signal.dim();
    let levels = interpolated(filtered, tiles, width, height);
    // As wide as it came.
    let threshold = |noise: f32| detector.threshold(noise.into()) as f32;
    let limits = if is_fixed(detector) {
        levels.mapv(|level| threshold(level) * level)
    } else {
        let limit = |&level: &f32| level * threshold(level / gain(detector));
        let limits: Vec<f32> = filtered.iter().map(limit).collect();
        interpolated(&limits, tiles, width, height)
    };
    let radius = (box_size(detector).saturating_sub(3) / 2).max(1);
    let near = |at: usize, length: usize| at.saturating_sub(radius)..(at + radius + 1).min(length);
    let mut tops = Vec::new();
    for ((y, x), &value) in signal.indexed_iter() {
        let most = value + value / 65536.0;
        let mut around = near(y, height).flat_map(|y| near(x, width).map(move |x| (y, x)));
        // A threshold is compared where there is noise.
        let stands_out = value > limits[(y, x)] && limits[(y, x)] > 0.0;
        if stands_out && around.all(|at| signal[at] <= most) {
            let significance = value / levels[(y, x)];
            tops.push(Candidate { x, y, significance, crowded: false });
        }
    }
    of_equals(&tops, radius, detector)
}

fn usable(pixel: f32) -> bool {
    pixel.abs() < 1e15
}

/// Less the second lowest of the good pixels at the corners; the mean in place of those that are not good.
fn finite(pixels: &Array2<f32>) -> Array2<f32> {
    let (bottom, right) = (pixels.nrows() - 1, pixels.ncols() - 1);
    let mut corners = [(0, 0), (0, right), (bottom, 0), (bottom, right)].map(|at| pixels[at]);
    corners.sort_unstable_by(f32::total_cmp);
    let good: Vec<f32> = corners.into_iter().filter(|&pixel| usable(pixel)).collect();
    let any = pixels.iter().copied().find(|&pixel| usable(pixel));
    let level = good.get(1).or(good.first()).copied().or(any).unwrap_or(0.0);
    let pixels = pixels.mapv(|pixel| pixel - level);
    let good: Vec<f64> = pixels.iter().filter(|p| usable(**p)).map(|&p| f64::from(p)).collect();
    let mean = (good.iter().sum::<f64>() / good.len().max(1) as f64) as f32;
    pixels.mapv(|pixel| if usable(pixel) { pixel } else { mean })
}

/// A number of each tile, from its rows and columns.
fn tile_by_tile(
    width: usize,
    height: usize,
    mut of: impl FnMut(std::ops::Range<usize>, std::ops::Range<usize>) -> f32,
) -> Vec<f32> {
    let [columns, rows] = [width, height].map(|length| length.div_ceil(TILE));
    let span = |tile: usize, length: usize, tiles: usize| {
        tile * length / tiles..((tile + 1) * length).div_ceil(tiles)
    };
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    places.map(|(row, column)| of(span(row, height, rows), span(column, width, columns))).collect()
}

/// The pixels of a tile that are looked at: where the distances to the nearest sides are both even or both odd, and in the second
/// half of a row one or two further from the middle on.
fn chequered(
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
) -> impl Iterator<Item = (usize, usize)> {
    let (height, width) = (rows.len(), columns.len());
    let all =
        rows.clone().flat_map(move |y| columns.clone().map(move |x| (y, x, x - columns.start)));
    all.filter_map(move |(y, x, column)| {
        let line = y - rows.start;
        let odd = line.min(height - 1 - line) % 2;
        let side = column.min(width - 1 - column);
        (side % 2 == odd).then_some((y, x))
    })
}

/// The noise between the centres of tiles.
fn interpolated(
    levels: &[f32],
    [columns, rows]: [usize; 2],
    width: usize,
    height: usize,
) -> Array2<f32> {
    let tile_width = width as f32 / columns as f32;
    let centre = |column: usize| (column as f32 + 0.5) * tile_width - 0.5;
    assert_eq!(levels.len(), columns * rows);
    Array2::from_shape_fn((height, width), |(y, x)| {
        let (above, below, down) = between(height, y);
        let at = |column: usize| {
            let level = |row: usize| levels[row * columns + column];
            level(above) + down * (level(below) - level(above))
        };
        let right = (0..columns).find(|&tile| centre(tile).max(0.0).ceil() as usize > x);
        let right = right.unwrap_or(columns);
        let (left, right) = (right.saturating_sub(1), right.min(columns - 1));
        let slope = (at(right) - at(left)) / tile_width;
        let start = at(left) - slope * centre(left);
        start + slope * x as f32
    })
}

/// The mean over the square around each pixel. Rows are summed in blocks of as many as a square has, from the top of one and from
/// the bottom of the one before; columns in runs of 1, 2, 4, … of which each is the sum of its halves, the longest first.
fn mean(pixels: &Array2<f32>, radius: usize) -> Array2<f32> {
    let (height, width) = pixels.dim();
    let reach = 2 * radius + 1;
    let down = |y: usize, x: usize| {
        let newest = y + radius;
        let block = newest - newest % reach;
        let begun = (block..(newest + 1).min(height)).fold(0.0, |sum, y| sum + pixels[(y, x)]);
        let first = (newest + 1).saturating_sub(reach);
        let end = (first..block.min(height)).rev().map(|y| pixels[(y, x)]);
        end.reduce(|sum, pixel| pixel + sum).map_or(begun, |end| begun + end)
    };
    let columns = Array2::from_shape_fn((height, width + 2 * radius), |(y, x)| {
        let inside = x >= radius && x - radius < width;
        if inside { down(y, x - radius) } else { 0.0 }
    });
    fn run(line: &dyn Fn(usize) -> f32, first: usize, size: usize) -> f32 {
        match size {
            1 => line(first),
            _ => run(line, first, size / 2) + run(line, first + size / 2, size / 2),
        }
    }
    Array2::from_shape_fn((height, width), |(y, x)| {
        let line = |x: usize| columns[(y, x)];
        let mut size = 1 << reach.ilog2();
        let (mut sum, mut done) = (run(&line, x, size), size);
        while size > 1 {
            size /= 2;
            if reach & size != 0 {
                sum += run(&line, x + done, size);
                done += size;
            }
        }
        let share = |at: usize, length: usize| {
            1.0 / ((at + radius + 1).min(length) - at.saturating_sub(radius)) as f32
        };
        sum * (share(y, height) * share(x, width))
    })
}

/// The Gaussian filter of a frame that is mirrored at its edges: along rows, then along columns.
fn smooth(pixels: &Array2<f32>, kernel: &[f32]) -> Array2<f32> {
    let mirror = |index: isize, length: usize| {
        let period = (2 * (length as isize - 1)).max(1);
        let index = index.rem_euclid(period);
        index.min(period - index) as usize
    };
    let filter = |at: &dyn Fn(isize) -> f32| {
        let pairs = kernel.iter().zip(0isize..).skip(1);
        pairs.fold(kernel[0] * at(0), |sum, (weight, k)| sum + weight * (at(-k) + at(k)))
    };
    let (height, width) = pixels.dim();
    let across = Array2::from_shape_fn((height, width), |(y, x)| {
        filter(&|k| pixels[(y, mirror(x as isize + k, width))])
    });
    Array2::from_shape_fn((height, width), |(y, x)| {
        filter(&|k| across[(mirror(y as isize + k, height), x)])
    })
}
