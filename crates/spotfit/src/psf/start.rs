//! Where fits begin: of a few planes and half pixels, what is most like the data.

use super::measured::Psf;

/// Places of the templates along x and along y: half a pixel apart, from so far before the middle to as far beyond.
const SHIFTS: usize = 7;
/// Another plane is tried too if the squares that it leaves exceed those of the best one by less than this many times their mean.
const CLOSE: f64 = 30.0;
/// Sums that are added up beside each other.
const SUMS: usize = 16;

/// The PSF at a plane and a shift, less its mean.
struct Template {
    values: Vec<f32>,
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
pub(super) struct Starter {
    size: [usize; 2],
    planes: Vec<f64>,
    /// (plane, shift along y, shift along x).
    templates: Vec<Template>,
    /// Weights of the pixels for the centroid, less what the rim says of the background, and weights times column and row.
    masks: [Vec<f32>; 3],
    ones: Vec<f32>,
    /// Of each plane: the centroid (x, y) of a spot in the middle, and by how much it moves with the spot.
    centroids: Vec<[[f64; 2]; 2]>,
}

impl Starter {
    /// For windows of so many rows and columns, trying so many planes.
    pub(super) fn new(psf: &Psf, size: [usize; 2], planes: usize) -> Self {
        let [height, width] = size;
        let pixels = height * width;
        let most = (psf.shape()[0] - 3) as f64;
        let planes: Vec<f64> =
            (0..planes).map(|at| most * (at as f64 + 0.5) / planes as f64).collect();
        let middle = [0.5 * (width - 1) as f64, 0.5 * (height - 1) as f64];
        let mut rim = vec![0.0; pixels];
        let mut masks = [vec![0.0; pixels], vec![0.0; pixels], vec![0.0; pixels]];
        let count = (2 * (height + width) - 4) as f32;
        for pixel in 0..pixels {
            let (row, column) = (pixel / width, pixel % width);
            if row == 0 || column == 0 || row + 1 == height || column + 1 == width {
                rim[pixel] = 1.0 / count;
            }
            let off = [column as f64 - middle[0], row as f64 - middle[1]];
            let share = |axis: usize| off[axis] / (0.35 * (2.0 * middle[axis] + 1.0));
            let weight = (-0.5 * (share(0) * share(0) + share(1) * share(1))).exp();
            masks[0][pixel] = weight as f32;
            masks[1][pixel] = (weight * off[0]) as f32;
            masks[2][pixel] = (weight * off[1]) as f32;
        }
        let total = masks[0].iter().sum::<f32>();
        for (weight, rim) in masks[0].iter_mut().zip(&rim) {
            *weight -= total * rim;
        }
        let ones = vec![1.0; pixels];
        let mut own =
            Self { size, planes, templates: Vec::new(), masks, ones, centroids: Vec::new() };
        let single = |at: [f64; 3]| -> Vec<f32> {
            psf.window(at, size).iter().map(|&value| value as f32).collect()
        };
        for &plane in &own.planes.clone() {
            let z = psf.z_of(plane);
            let centroid = |x: f64, y: f64| {
                own.centroid(&single([middle[0] + x, middle[1] + y, z])).unwrap_or([0.0; 2])
            };
            let still = centroid(0.0, 0.0);
            let moved = [
                0.5 * (centroid(1.0, 0.0)[0] - centroid(-1.0, 0.0)[0]),
                0.5 * (centroid(0.0, 1.0)[1] - centroid(0.0, -1.0)[1]),
            ];
            own.centroids.push([still, moved.map(|moved| moved.max(0.2))]);
            for place in 0..SHIFTS * SHIFTS {
                let [x, y] = [place % SHIFTS, place / SHIFTS].map(shift);
                let mut values = single([middle[0] + x, middle[1] + y, z]);
                let mean = values.iter().sum::<f32>() / pixels as f32;
                let least = values.iter().copied().fold(f32::INFINITY, f32::min);
                values.iter_mut().for_each(|value| *value -= mean);
                let squares = dot(&values, &values).max(f32::MIN_POSITIVE);
                own.templates.push(Template { values, squares, mean, least });
            }
        }
        own
    }

    /// Start values for a window; with `positive`, such that the model is above 0 at all pixels.
    pub(super) fn begin(&self, data: &[f32], positive: bool) -> Begin {
        let middle = [0.5 * (self.size[1] - 1) as f64, 0.5 * (self.size[0] - 1) as f64];
        let pixels = data.len() as f32;
        let mean = dot(&self.ones, data) / pixels;
        let squares = f64::from(dot(data, data)) - f64::from(mean) * f64::from(mean * pixels);
        let centroid = self.centroid(data).unwrap_or([0.0; 2]);
        let mut scores = Vec::with_capacity(self.planes.len());
        for (plane, [still, moved]) in self.centroids.iter().enumerate() {
            let place: [f64; 2] = std::array::from_fn(|axis| {
                ((centroid[axis] - still[axis]) / moved[axis]).clamp(-1.5, 1.5)
            });
            let nearest = place.map(|at| (2.0 * at).round() as i32 + SHIFTS as i32 / 2);
            let [x, y] = nearest.map(|at| at.clamp(0, SHIFTS as i32 - 1) as usize);
            let number = (plane * SHIFTS + y) * SHIFTS + x;
            let template = &self.templates[number];
            let along = dot(&template.values, data);
            let score = f64::from(along.max(0.0)) * f64::from(along) / f64::from(template.squares);
            scores.push((score, along / template.squares, number, place));
        }
        let score = |at: usize| scores[at].0;
        let last = scores.len() - 1;
        let peak = |&at: &usize| {
            (at == 0 || score(at) >= score(at - 1)) && (at == last || score(at) > score(at + 1))
        };
        let best = (0..=last).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap_or(0);
        let rival = (0..=last)
            .filter(peak)
            .filter(|at| at.abs_diff(best) > 1)
            .max_by(|&a, &b| score(a).total_cmp(&score(b)));
        let close = CLOSE * (squares - score(best)) / f64::from(pixels);
        let rival = rival.filter(|&at| score(best) - score(at) < close);
        let of = |at: usize| {
            let (_, amplitude, number, place) = scores[at];
            let mut plane = self.planes[at];
            if at > 0 && at < last {
                let (before, own, after) = (score(at - 1), score(at), score(at + 1));
                let bend = before - 2.0 * own + after;
                if bend < 0.0 {
                    let shift = 0.5 * (before - after) / bend;
                    plane += shift.clamp(-0.5, 0.5) * (self.planes[1] - self.planes[0]);
                }
            }
            let template = &self.templates[number];
            let mean = f64::from(mean);
            let mut photons = f64::from(amplitude);
            if positive {
                photons = photons.max(0.1 * mean.max(0.0)).max(1e-3);
            }
            let mut background = mean - photons * f64::from(template.mean);
            if positive {
                let least = photons * f64::from(template.least);
                background = background.max((-least).max(0.0) + 0.05 * mean.max(0.0) + 1e-3);
            }
            let all = [middle[0] + place[0], middle[1] + place[1], plane, photons, background];
            let usual = [middle[0], middle[1], self.planes[last / 2], 1.0, 1.0];
            if all.iter().all(|value| value.is_finite()) { all } else { usual }
        };
        Begin { best: of(best), rival: rival.map(of) }
    }

    /// The weighted centroid (x, y) of what is above the rim, from the middle; `None` if nothing is.
    fn centroid(&self, data: &[f32]) -> Option<[f64; 2]> {
        // The masks times column and row add up to 0.
        let [all, x, y] = &self.masks;
        let light = dot(all, data);
        let centroid = [dot(x, data) / light, dot(y, data) / light].map(f64::from);
        let sound = light > 0.0 && centroid.iter().all(|at| at.is_finite());
        sound.then_some(centroid)
    }
}

/// A shift of templates in px.
fn shift(number: usize) -> f64 {
    0.5 * (number as f64 - (SHIFTS / 2) as f64)
}

/// Σ ab; on processors with wider registers than all have, with those.
#[multiversion::multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; SUMS];
    let (a, b) = (a.chunks_exact(SUMS), b.chunks_exact(SUMS));
    let rest = a.remainder().iter().zip(b.remainder());
    for (sum, (a, b)) in sums.iter_mut().zip(rest) {
        *sum = a * b;
    }
    for (a, b) in a.zip(b) {
        for k in 0..SUMS {
            sums[k] += a[k] * b[k];
        }
    }
    let mut half = SUMS / 2;
    while half > 0 {
        for k in 0..half {
            sums[k] += sums[k + half];
        }
        half /= 2;
    }
    sums[0]
}
