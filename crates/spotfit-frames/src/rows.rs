//! What is done for every pixel of the frame, along its rows, compiled for several instruction sets. None of it rounds differently for
//! that.

use multiversion::multiversion;

/// Adds what pixels have more than in the first frame, and its square, to their sums.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma",))]
pub fn add(pixels: &[f32], first: &[f32], sums: &mut [f32], squares: &mut [f32]) {
    let all = sums.iter_mut().zip(squares).zip(first.iter().zip(pixels));
    for ((sum, square), (first, pixel)) in all {
        let more = pixel - first;
        *sum += more;
        *square += more * more;
    }
}

/// By how much a pixel differs from its neighbours if it is odd.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// So much its mean is above or below all of theirs,
    pub least: f32,
    /// or its variance is above so many times all of theirs.
    pub unsteady: f32,
}

/// The means and variances of a frame with a pixel around it. Pixels that do not count, and those around the frame, have neither the
/// highest nor the lowest mean, nor the highest variance.
#[derive(Clone, Debug)]
pub struct Padded {
    /// Pixels in a row, with those around it.
    stride: usize,
    high: Vec<f32>,
    low: Vec<f32>,
    variances: Vec<f32>,
}

impl Padded {
    /// The frame with `width` pixels in a row; `counts` says which of its pixels count.
    pub fn new(
        width: usize,
        means: &[f32],
        variances: &[f32],
        counts: impl Fn(usize) -> bool,
    ) -> Self {
        let (stride, height) = (width + 2, means.len() / width);
        let size = stride * (height + 2);
        let (mut high, mut low) = (vec![f32::MIN; size], vec![f32::MAX; size]);
        let mut padded = vec![0.0; size];
        for y in 0..height {
            let (from, to) = (y * width, (y + 1) * stride + 1);
            let (here, there) = (from..from + width, to..to + width);
            high[there.clone()].copy_from_slice(&means[here.clone()]);
            low[there.clone()].copy_from_slice(&means[here.clone()]);
            padded[there].copy_from_slice(&variances[here.clone()]);
            for place in here.filter(|&place| !counts(place)) {
                let at = to + place - from;
                (high[at], low[at], padded[at]) = (f32::MIN, f32::MAX, 0.0);
            }
        }
        Self { stride, high, low, variances: padded }
    }

    /// Which pixels of a row differ from all of their neighbours; what is said of those that do not count means nothing.
    pub fn odd(&self, y: usize, limits: Limits, odd: &mut [bool]) {
        let three = |of| three(of, y * self.stride, self.stride);
        odd_in(three(&self.high), three(&self.low), three(&self.variances), limits, odd);
    }
}

/// Three rows from a place on.
fn three(all: &[f32], from: usize, stride: usize) -> [&[f32]; 3] {
    [0, 1, 2].map(|row| &all[from + row * stride..][..stride])
}

/// The same for three rows each of the means, twice, and of the variances.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma",))]
fn odd_in(
    high: [&[f32]; 3],
    low: [&[f32]; 3],
    variances: [&[f32]; 3],
    limits: Limits,
    odd: &mut [bool],
) {
    let Limits { least, unsteady } = limits;
    // With rows of one length no index is out of range.
    let width = odd.len();
    let [high, low, variances] =
        [high, low, variances].map(|rows| rows.map(|row| &row[..width + 2]));
    for (x, odd) in odd.iter_mut().enumerate() {
        let (mean, variance) = (high[1][x + 1], variances[1][x + 1]);
        let highest = around(high, x, |a, b| if b > a { b } else { a });
        let lowest = around(low, x, |a, b| if b < a { b } else { a });
        let most = around(variances, x, |a, b| if b > a { b } else { a });
        *odd = (mean > highest + least) | (mean < lowest - least) | (variance > unsteady * most);
    }
}

/// The extreme of the eight neighbours of the pixel in the middle of three columns.
#[inline(always)]
fn around(
    [above, here, below]: [&[f32]; 3],
    left: usize,
    extreme: impl Fn(f32, f32) -> f32,
) -> f32 {
    let of = |column: usize| extreme(above[column], below[column]);
    let side = |column: usize| extreme(of(column), here[column]);
    extreme(extreme(side(left), side(left + 2)), of(left + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fit_sim::Random;

    /// Whether a pixel differs from all of its neighbours that count, one after the other.
    fn is_odd(
        (x, y): (usize, usize),
        width: usize,
        means: &[f32],
        variances: &[f32],
        counts: &[bool],
        limits: Limits,
    ) -> bool {
        let (place, height) = (y * width + x, means.len() / width);
        let (mut high, mut low, mut most) = (f32::MIN, f32::MAX, 0.0f32);
        for j in y.saturating_sub(1)..(y + 2).min(height) {
            for i in x.saturating_sub(1)..(x + 2).min(width) {
                let other = j * width + i;
                if other != place && counts[other] {
                    high = high.max(means[other]);
                    low = low.min(means[other]);
                    most = most.max(variances[other]);
                }
            }
        }
        let (mean, variance) = (means[place], variances[place]);
        mean > high + limits.least || mean < low - limits.least || variance > limits.unsteady * most
    }

    /// Proves that the pixels that differ from all of their neighbours are those that a search pixel by pixel finds, whatever the size
    /// of the frame, where pixels do not count, are equal, or not finite, and with every limit.
    #[test]
    fn odd_pixels_are_those_found_one_by_one() {
        let mut random = Random::new(11, 0);
        let mut found = 0;
        for (width, height) in [(1, 1), (1, 9), (9, 1), (2, 3), (33, 17), (70, 40)] {
            for (holes, unsteady) in
                [(0.0, 3.0), (0.1, 3.0), (0.7, 3.0), (1.0, 3.0), (0.1, f32::INFINITY)]
            {
                let size = width * height;
                let counts: Vec<bool> = (0..size).map(|_| random.uniform() >= holes).collect();
                let mut number = |place: usize| match counts[place] {
                    true => (random.uniform().powi(4) * 8.0).round() as f32,
                    false => [f32::NAN, f32::INFINITY, 9.0][(random.uniform() * 3.0) as usize],
                };
                let means: Vec<f32> = (0..size).map(&mut number).collect();
                let mut variances: Vec<f32> = (0..size).map(&mut number).collect();
                variances[size / 2] = f32::INFINITY;
                let padded = Padded::new(width, &means, &variances, |place| counts[place]);
                for least in [0.0, 0.5, 2.0] {
                    let limits = Limits { least, unsteady };
                    let mut odd = vec![false; width];
                    for y in 0..height {
                        padded.odd(y, limits, &mut odd);
                        for (x, &odd) in
                            odd.iter().enumerate().filter(|(x, _)| counts[y * width + x])
                        {
                            let expected =
                                is_odd((x, y), width, &means, &variances, &counts, limits);
                            assert_eq!(odd, expected, "{width}×{height}, {holes}: {x}, {y}");
                            found += usize::from(odd);
                        }
                    }
                }
            }
        }
        assert!(found > 300, "{found}");
    }

    /// Proves that sums do not depend on how many pixels are added at a time.
    #[test]
    fn sums_are_those_of_single_pixels() {
        let mut random = Random::new(12, 0);
        let mut numbers = |count| (0..count).map(|_| random.normal() as f32).collect::<Vec<_>>();
        let (first, frames) = (numbers(77), [numbers(77), numbers(77)]);
        let (mut sums, mut squares) = (vec![0.0; 77], vec![0.0; 77]);
        frames.iter().for_each(|pixels| add(pixels, &first, &mut sums, &mut squares));
        for place in 0..77 {
            let more = frames.each_ref().map(|pixels| pixels[place] - first[place]);
            assert_eq!(sums[place], more[0] + more[1]);
            assert_eq!(squares[place], more[0] * more[0] + more[1] * more[1]);
        }
    }
}
