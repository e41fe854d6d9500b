//! Where fits begin: at the plane that is most like the data, beside the centroid.

use super::measured::Psf;

/// Centroids for which there are templates, along x and along y, and how far they are apart in px: the middle one is 0.
const SHIFTS: usize = 9;
const APART: f64 = 0.4;
/// Spots are looked for so far from the middle, in px.
const FARTHEST: f64 = 1.5;
/// Another plane is tried too if the squares that it leaves exceed those of the best one by less than this many times their mean.
const CLOSE: f64 = 30.0;
/// Sums that are added up beside each other.
const SUMS: usize = 16;

/// The PSF at a plane and a shift, less its mean.
#[derive(Clone, Copy, Debug)]
struct Template {
    /// Σ of the squares of the values.
    squares: f32,
    mean: f32,
    least: f32,
}

/// Where a fit may begin: x, y (px), z (planes), photons, background.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Begin {
    pub(super) best: [f64; 5],
    /// Another plane that is nearly as good.
    pub(super) rival: Option<[f64; 5]>,
}

/// Finds start values in windows of one size.
#[derive(Debug)]
pub(super) struct Starter {
    size: [usize; 2],
    planes: Vec<f64>,
    /// (shift along y, shift along x, plane).
    templates: Vec<Template>,
    /// Their values: (shift along y, shift along x, sixteen planes, pixel, plane of these).
    values: Vec<f32>,
    /// (pixel, sum): 1; weights for the centroid, less what the rim says of the background; weights times column and row.
    masks: Vec<f32>,
    /// Of each plane: the centroid (x, y) of a spot in the middle, and by how much it moves with the spot.
    centroids: Vec<[[f64; 2]; 2]>,
}

impl Starter {
    /// For windows of so many rows and columns, trying so many planes.
    pub(super) fn new(psf: &Psf, size: [usize; 2], planes: usize) -> Self {
        let pixels = size[0] * size[1];
        let middle = middle(size);
        let most = (psf.shape()[0] - 3) as f64;
        let planes: Vec<f64> =
            (0..planes).map(|at| most * (at as f64 + 0.5) / planes as f64).collect();
        let single = |[x, y]: [f64; 2], plane: f64| -> Vec<f32> {
            let at = [middle[0] + x, middle[1] + y, psf.z_of(plane)];
            psf.window(at, size).iter().map(|&value| value as f32).collect()
        };
        let masks = masks(size);
        let centroids: Vec<[[f64; 2]; 2]> = planes
            .iter()
            .map(|&plane| {
                let of = |x, y| centroid(&sums(&masks, &single([x, y], plane)));
                let moved = [
                    0.5 * (of(1.0, 0.0)[0] - of(-1.0, 0.0)[0]),
                    0.5 * (of(0.0, 1.0)[1] - of(0.0, -1.0)[1]),
                ];
                [of(0.0, 0.0), moved.map(|moved| moved.max(0.2))]
            })
            .collect();
        let groups = planes.len().div_ceil(SUMS);
        let mut templates = Vec::with_capacity(SHIFTS * SHIFTS * planes.len());
        let mut all = vec![0.0; SHIFTS * SHIFTS * groups * pixels * SUMS];
        for shift in 0..SHIFTS * SHIFTS {
            let found = [shift % SHIFTS, shift / SHIFTS]
                .map(|at| APART * (at as f64 - (SHIFTS / 2) as f64));
            for (number, (&plane, known)) in planes.iter().zip(&centroids).enumerate() {
                let values = single(place(found, known), plane);
                let mean = values.iter().sum::<f32>() / pixels as f32;
                let least = values.iter().copied().fold(f32::INFINITY, f32::min);
                let mut squares = f32::MIN_POSITIVE;
                let group = shift * groups + number / SUMS;
                for (pixel, value) in values.iter().enumerate() {
                    let value = value - mean;
                    all[(group * pixels + pixel) * SUMS + number % SUMS] = value;
                    squares += value * value;
                }
                templates.push(Template { squares, mean, least });
            }
        }
        Self { size, planes, templates, values: all, masks, centroids }
    }

    /// Rows and columns of the windows.
    pub(super) fn size(&self) -> [usize; 2] {
        self.size
    }

    /// Start values for a window; with `positive`, such that the model is above 0 at all pixels.
    pub(super) fn begin(&self, data: &[f32], positive: bool) -> Begin {
        let middle = middle(self.size);
        let pixels = data.len();
        let sums = sums(&self.masks, data);
        let mean = f64::from(sums[0]) / pixels as f64;
        let squares = f64::from(square(data)) - mean * f64::from(sums[0]);
        let found = centroid(&sums);
        let [x, y] = found.map(|at| {
            let nearest = (at / APART).round() + (SHIFTS / 2) as f64;
            // A conversion makes 0 of what is below it.
            (nearest as usize).min(SHIFTS - 1)
        });
        let count = self.planes.len();
        let shift = y * SHIFTS + x;
        let templates = &self.templates[shift * count..][..count];
        let groups = count.div_ceil(SUMS);
        let values = &self.values[shift * groups * pixels * SUMS..][..groups * pixels * SUMS];
        // Of each plane: the squares that it accounts for, and its amplitude.
        let mut scores = Vec::with_capacity(count);
        for (values, templates) in values.chunks_exact(pixels * SUMS).zip(templates.chunks(SUMS)) {
            for (along, template) in self::sums(values, data).into_iter().zip(templates) {
                let amplitude = along / template.squares;
                scores.push((f64::from(along.max(0.0)) * f64::from(amplitude), amplitude));
            }
        }
        let score = |at: usize| scores[at].0;
        let last = count - 1;
        let peak = |&at: &usize| {
            (at == 0 || score(at) >= score(at - 1)) && (at == last || score(at) > score(at + 1))
        };
        let best = (0..=last).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or(0);
        let rival = (0..=last)
            .filter(peak)
            .filter(|at| at.abs_diff(best) > 1)
            .max_by(|&a, &b| score(a).total_cmp(&score(b)));
        let close = CLOSE * (squares - score(best)) / pixels as f64;
        let rival = rival.filter(|&at| score(best) - score(at) < close);
        let of = |at: usize| {
            let mut plane = self.planes[at];
            if at > 0 && at < last {
                let (before, own, after) = (score(at - 1), score(at), score(at + 1));
                let bend = before - 2.0 * own + after;
                if bend < 0.0 {
                    let shift = 0.5 * (before - after) / bend;
                    plane += shift.clamp(-0.5, 0.5) * (self.planes[1] - self.planes[0]);
                }
            }
            let template = &templates[at];
            let mut photons = f64::from(scores[at].1);
            if positive {
                photons = photons.max(0.1 * mean.max(0.0)).max(1e-3);
            }
            let mut background = mean - photons * f64::from(template.mean);
            if positive {
                let least = photons * f64::from(template.least);
                background = background.max((-least).max(0.0) + 0.05 * mean.max(0.0) + 1e-3);
            }
            let [x, y] = place(found, &self.centroids[at]);
            let all = [middle[0] + x, middle[1] + y, plane, photons, background];
            let usual = [middle[0], middle[1], self.planes[last / 2], 1.0, 1.0];
            if all.iter().all(|value| value.is_finite()) { all } else { usual }
        };
        Begin { best: of(best), rival: rival.map(of) }
    }
}

/// The middle (x, y) of a window.
fn middle([height, width]: [usize; 2]) -> [f64; 2] {
    [0.5 * (width - 1) as f64, 0.5 * (height - 1) as f64]
}

/// Where a spot is whose centroid is found there, by what is known of its plane.
fn place(found: [f64; 2], [still, moved]: &[[f64; 2]; 2]) -> [f64; 2] {
    std::array::from_fn(|axis| {
        ((found[axis] - still[axis]) / moved[axis]).clamp(-FARTHEST, FARTHEST)
    })
}

/// The weighted centroid (x, y) of what is above the rim, from the middle, by the sums with the masks; 0 if nothing is.
fn centroid(sums: &[f32; SUMS]) -> [f64; 2] {
    let [_, light, x, y, ..] = sums.map(f64::from);
    let found = [x / light, y / light];
    if light > 0.0 && found.iter().all(|at| at.is_finite()) { found } else { [0.0; 2] }
}

/// What [`Starter`] has as masks.
fn masks(size: [usize; 2]) -> Vec<f32> {
    let [height, width] = size;
    let middle = middle(size);
    let mut masks = vec![0.0; height * width * SUMS];
    let rim = |pixel: usize| {
        let (row, column) = (pixel / width, pixel % width);
        row == 0 || column == 0 || row + 1 == height || column + 1 == width
    };
    let mut total = 0.0;
    for (pixel, mask) in masks.chunks_exact_mut(SUMS).enumerate() {
        let off = [(pixel % width) as f64 - middle[0], (pixel / width) as f64 - middle[1]];
        let share = |axis: usize| off[axis] / (0.35 * (2.0 * middle[axis] + 1.0));
        let weight = (-0.5 * (share(0) * share(0) + share(1) * share(1))).exp();
        let all = [1.0, weight, weight * off[0], weight * off[1]];
        mask.iter_mut().zip(all).for_each(|(to, value)| *to = value as f32);
        total += weight;
    }
    let background = (total / (2 * (height + width) - 4) as f64) as f32;
    for (_, mask) in masks.chunks_exact_mut(SUMS).enumerate().filter(|&(pixel, _)| rim(pixel)) {
        mask[1] -= background;
    }
    masks
}

/// Σ of each of sixteen numbers of a pixel times its datum; on processors with wider registers than all have, with those.
#[multiversion::multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn sums(rows: &[f32], data: &[f32]) -> [f32; SUMS] {
    // Two sums of each: one waits for itself. Each has loops of its own, which become registers.
    let (mut even, mut odd) = ([0.0_f32; SUMS], [0.0_f32; SUMS]);
    let (rows, single_row) = rows.as_chunks::<SUMS>().0.as_chunks::<2>();
    let (data, single) = data.as_chunks::<2>();
    for ([first, second], [one, two]) in rows.iter().zip(data) {
        for k in 0..SUMS {
            even[k] += first[k] * one;
        }
        for k in 0..SUMS {
            odd[k] += second[k] * two;
        }
    }
    for (row, datum) in single_row.iter().zip(single) {
        for k in 0..SUMS {
            even[k] += row[k] * datum;
        }
    }
    for k in 0..SUMS {
        even[k] += odd[k];
    }
    even
}

/// Σ of the squares.
#[multiversion::multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn square(data: &[f32]) -> f32 {
    let mut sums = [0.0_f32; SUMS];
    let data = data.chunks_exact(SUMS);
    for (sum, value) in sums.iter_mut().zip(data.remainder()) {
        *sum = value * value;
    }
    for data in data {
        for k in 0..SUMS {
            sums[k] += data[k] * data[k];
        }
    }
    sums.iter().sum()
}
