//! The median of each pixel over some frames.

use fit_core::Pixel;
use fit_windows::{AnyWindows, Visitor, Windows};
use multiversion::multiversion;
use ndarray::{Axis, Slice};
use rayon::prelude::*;

/// Pixels whose medians are found side by side.
const LANES: usize = 32;

/// The key of what is not a number.
const NONE: i32 = i32::MAX;

/// Whole numbers up to this one are exact as `f32`.
const MOST_WHOLE: f32 = 8_388_608.0;

/// The median of each pixel over frames, row by row, found by the threads of a pool; NaN for a pixel that is finite in no frame.
///
/// The counts of a camera are whole, and in dim light few of them differ: where all are whole, a count of k stands for all numbers from
/// k − ½ to k + ½, evenly (the median of grouped data), so that the median follows light in steps smaller than a count.
pub fn medians(frames: AnyWindows<'_>, pool: &rayon::ThreadPool) -> Vec<f32> {
    frames.visit(Medians { pool })
}

struct Medians<'a> {
    pool: &'a rayon::ThreadPool,
}

impl<'w> Visitor<'w> for Medians<'_> {
    type Output = Vec<f32>;

    fn visit<P: Pixel>(self, frames: Windows<'w, P>) -> Vec<f32> {
        let frames = frames.frames();
        let (count, height, width) = frames.dim();
        let mut medians = vec![f32::NAN; height * width];
        let row = |(y, medians): (usize, &mut [f32])| {
            let mut values = vec![0.0; count * LANES];
            for (tile, medians) in medians.chunks_mut(LANES).enumerate() {
                let columns = tile * LANES..tile * LANES + medians.len();
                for (frame, to) in frames.outer_iter().zip(values.chunks_exact_mut(LANES)) {
                    let (to, unused) = to.split_at_mut(medians.len());
                    unused.fill(0.0);
                    let row = frame.index_axis_move(Axis(0), y);
                    match row.to_slice() {
                        Some(row) => put(to, &row[columns.clone()]),
                        None => put(to, row.slice_axis(Axis(0), Slice::from(columns.clone()))),
                    }
                }
                let found = median(&values);
                medians.copy_from_slice(&found[..medians.len()]);
            }
        };
        rows(self.pool, width, &mut medians, &row);
        medians
    }
}

/// What is done with a row and its number.
type OfRow<'a> = dyn Fn((usize, &mut [f32])) + Sync + 'a;

/// Calls a function with each row and its number. Knows no type of pixels: threads are shared out once for all of them.
fn rows(pool: &rayon::ThreadPool, width: usize, all: &mut [f32], row: &OfRow<'_>) {
    pool.install(|| all.par_chunks_mut(width).enumerate().for_each(row));
}

/// Puts pixels where they belong.
fn put<'p, P: Pixel>(to: &mut [f32], pixels: impl IntoIterator<Item = &'p P>) {
    to.iter_mut().zip(pixels).for_each(|(to, pixel)| *to = pixel.to_f32());
}

/// The median of each lane.
fn median(values: &[f32]) -> [f32; LANES] {
    let is_whole =
        |value: f32| !value.is_finite() || value.abs() < MOST_WHOLE && value.trunc() == value;
    let whole = values.iter().all(|&value| is_whole(value));
    let key = |&value: &f32| match (value.is_finite(), whole) {
        (false, _) => NONE,
        (true, true) => value as i32,
        (true, false) => rank(value),
    };
    let keys: Vec<i32> = values.iter().map(key).collect();
    let Middle { there, below, equal, low, high } = middle(&keys);
    core::array::from_fn(|lane| {
        let half = 0.5 * there[lane] as f32;
        let (at_or_below, equal) = ((below[lane] + equal[lane]) as f32, equal[lane] as f32);
        let number = |key: i32| if whole { key as f32 } else { of_rank(key) };
        if there[lane] == 0 {
            f32::NAN
        } else if at_or_below == half {
            // Of an even number, the middle ones differ.
            0.5 * (number(low[lane]) + number(high[lane]))
        } else if whole {
            number(low[lane]) - 0.5 + (half - below[lane] as f32) / equal
        } else {
            number(low[lane])
        }
    })
}

/// What there is in the middle of each lane.
struct Middle {
    /// How many keys.
    there: [i32; LANES],
    /// How many of them are below the lower one in the middle, and how many equal it.
    below: [i32; LANES],
    equal: [i32; LANES],
    /// The lower one in the middle, and the next key above it.
    low: [i32; LANES],
    high: [i32; LANES],
}

/// Finds the middle of each lane by bisection: all lanes step together, whatever their keys are.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+avx2+fma", "x86_64+avx2+fma",))]
fn middle(keys: &[i32]) -> Middle {
    let (mut there, mut low, mut high) = ([0; LANES], [NONE; LANES], [i32::MIN; LANES]);
    for row in keys.chunks_exact(LANES) {
        for lane in 0..LANES {
            let good = row[lane] != NONE;
            there[lane] += i32::from(good);
            low[lane] = low[lane].min(row[lane]);
            high[lane] = high[lane].max(if good { row[lane] } else { i32::MIN });
        }
    }
    // The least key with more than so many at or below it.
    let wanted = there.map(|there| (there - 1) / 2);
    while (0..LANES).any(|lane| low[lane] < high[lane]) {
        let mut middle = [0; LANES];
        for lane in 0..LANES {
            // The mean, rounded down, which does not overflow.
            middle[lane] = (low[lane] & high[lane]) + ((low[lane] ^ high[lane]) >> 1);
        }
        let mut count = [0; LANES];
        for row in keys.chunks_exact(LANES) {
            for lane in 0..LANES {
                count[lane] += i32::from(row[lane] <= middle[lane]);
            }
        }
        for lane in 0..LANES {
            // Lanes that are done, or empty, stay as they are.
            let open = low[lane] < high[lane];
            let enough = count[lane] > wanted[lane];
            high[lane] = if open && enough { middle[lane] } else { high[lane] };
            low[lane] = if open && !enough { middle[lane] + 1 } else { low[lane] };
        }
    }
    let (mut below, mut equal, mut next) = ([0; LANES], [0; LANES], [NONE; LANES]);
    for row in keys.chunks_exact(LANES) {
        for lane in 0..LANES {
            below[lane] += i32::from(row[lane] < low[lane]);
            equal[lane] += i32::from(row[lane] == low[lane]);
            next[lane] = next[lane].min(if row[lane] > low[lane] { row[lane] } else { NONE });
        }
    }
    Middle { there, below, equal, low, high: next }
}

/// A whole number with the order of a finite number.
fn rank(number: f32) -> i32 {
    let bits = number.to_bits() as i32;
    bits ^ (((bits >> 31) as u32) >> 1) as i32
}

fn of_rank(rank: i32) -> f32 {
    f32::from_bits((rank ^ (((rank >> 31) as u32) >> 1) as i32) as u32)
}
