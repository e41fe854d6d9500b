//! Maps of scores over a region: how significant a spot at each pixel would be.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use crate::lanes::{LANES, fused};
use crate::patch::{LONGEST, Shape};
use crate::scene::Scene;

/// Buffers of the maps, and what they need of the shape of spots. Maps lie in memory as fields do.
#[derive(Clone, Debug)]
pub(crate) struct Maps {
    /// G at the pixels of an axis, its squares, and ones over the window of the local mean.
    line: Vec<f32>,
    squares: Vec<f32>,
    ones: Vec<f32>,
    /// Of the mask: Σg, Σg² and the number of pixels of the window. They are kept for frames without masked pixels.
    mask: [Vec<f32>; 3],
    mask_is_whole: bool,
    sums: [Vec<f32>; 2],
    across: Vec<f32>,
    /// Scores z.
    pub(crate) score: Vec<f32>,
}

/// A pixel where a spot may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Peak {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) score: f32,
}

impl Maps {
    pub(crate) fn new(scene: &Scene) -> Self {
        let geometry = scene.setup.geometry;
        let (size, half) = (geometry.size(), geometry.half as f64);
        let mut patch = vec![0.0; 3 * size];
        scene.setup.shape.functions([half; 2], scene.setup.sigma, false, geometry, &mut patch);
        debug_assert!(geometry.rows <= LONGEST);
        // The patch is a product of two alike lines.
        let row = &patch[geometry.half * geometry.stride()..][..geometry.rows];
        let peak = row[geometry.half].sqrt();
        let line: Vec<f32> = row.iter().map(|value| value / peak).collect();
        let squares = line.iter().map(|value| value * value).collect();
        let empty = || vec![0.0; scene.field.data.len()];
        Self {
            squares,
            ones: vec![1.0; line.len() + 2],
            line,
            mask: [empty(), empty(), empty()],
            mask_is_whole: false,
            sums: [empty(), empty()],
            across: empty(),
            score: empty(),
        }
    }

    /// The score of a spot on even light, with the mean of the window around projected out:
    /// z = (Σd·g − m·Σg)/√(m·(Σg² − (Σg)²/N)).
    pub(crate) fn of_data(&mut self, scene: &Scene, whole: bool) {
        let area = Area::new(scene);
        let Self { line, squares, ones, mask, mask_is_whole, sums, across, score } = self;
        if !(whole && *mask_is_whole) {
            convolve(&scene.field.mask, line, area, across, &mut mask[0]);
            convolve(&scene.field.mask, squares, area, across, &mut mask[1]);
            convolve(&scene.field.mask, ones, area, across, &mut mask[2]);
            *mask_is_whole = whole;
        }
        convolve(&scene.field.data, line, area, across, &mut sums[0]);
        convolve(&scene.field.data, ones, area, across, &mut sums[1]);
        contrast(sums, mask, area, score);
    }

    /// The amplitude that the score of [`Maps::of_data`] at a pixel is of.
    pub(crate) fn amplitude(&self, at: usize) -> f64 {
        let [light, total, count] = [0, 1, 2].map(|i| f64::from(self.mask[i][at]));
        let [sum, all] = [0, 1].map(|i| f64::from(self.sums[i][at]));
        (sum - all / count * light) / (total - light * light / count)
    }

    /// The score of one spot more: z = Σ g·r/√(Σ g²·w).
    pub(crate) fn of_residuals(&mut self, scene: &Scene) {
        let area = Area::new(scene);
        let Self { line, squares, sums, across, score, .. } = self;
        convolve(&scene.field.residual, line, area, across, &mut sums[0]);
        convolve(&scene.field.weight, squares, area, across, &mut sums[1]);
        significance(sums, area, score);
    }

    /// The pixels whose score is above `least` and not below any of the eight around, highest first.
    pub(crate) fn peaks(&self, scene: &Scene, least: f64, peaks: &mut Vec<Peak>) {
        peaks.clear();
        let [width, height] = scene.size;
        let stride = scene.field.stride;
        let least = least as f32;
        for y in 0..height {
            let first = scene.field.at(0, y as i32);
            let row = &self.score[first..first + width];
            for (x, &score) in row.iter().enumerate().filter(|&(_, &score)| score > least) {
                let at = first + x;
                let before = [at - 1, at - stride - 1, at - stride, at - stride + 1];
                let after = [at + 1, at + stride - 1, at + stride, at + stride + 1];
                if before.iter().all(|&other| score > self.score[other])
                    && after.iter().all(|&other| score >= self.score[other])
                {
                    peaks.push(Peak { x: x as i32, y: y as i32, score });
                }
            }
        }
        peaks.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.y, a.x).cmp(&(b.y, b.x))));
    }
}

/// The part of memory that is a region's pixels.
#[derive(Clone, Copy)]
struct Area {
    stride: usize,
    first: [usize; 2],
    size: [usize; 2],
}

impl Area {
    fn new(scene: &Scene) -> Self {
        let pad = Scene::pad(&scene.setup);
        Self { stride: scene.field.stride, first: [pad, pad], size: scene.size }
    }
}

/// Sums of an area's pixels around each, with a weight for each distance along x and along y.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn convolve(from: &[f32], line: &[f32], area: Area, across: &mut [f32], into: &mut [f32]) {
    if target_cfg_f!(target_feature = "fma") {
        convolve_with::<true>(from, line, area, across, into);
    } else {
        convolve_with::<false>(from, line, area, across, into);
    }
}

#[inline(always)]
fn convolve_with<const FUSED: bool>(
    from: &[f32],
    line: &[f32],
    area: Area,
    across: &mut [f32],
    into: &mut [f32],
) {
    let Area { stride, first: [left, top], size: [width, height] } = area;
    let half = line.len() / 2;
    let chunks = width.div_ceil(LANES);
    for y in top - half..top + height + half {
        for chunk in 0..chunks {
            let at = y * stride + left + chunk * LANES;
            let mut sum = [0.0; LANES];
            if (top..top + height).contains(&y) {
                for (i, &weight) in line.iter().enumerate() {
                    let values = &from[at + i - half..at + i - half + LANES];
                    for lane in 0..LANES {
                        sum[lane] = fused::<FUSED>(weight, values[lane], sum[lane]);
                    }
                }
            }
            across[at..at + LANES].copy_from_slice(&sum);
        }
    }
    for y in top..top + height {
        for chunk in 0..chunks {
            let at = y * stride + left + chunk * LANES;
            let mut sum = [0.0; LANES];
            for (i, &weight) in line.iter().enumerate() {
                let from = at + i * stride - half * stride;
                let values = &across[from..from + LANES];
                for lane in 0..LANES {
                    sum[lane] = fused::<FUSED>(weight, values[lane], sum[lane]);
                }
            }
            into[at..at + LANES].copy_from_slice(&sum);
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn contrast(sums: &[Vec<f32>; 2], mask: &[Vec<f32>; 3], area: Area, score: &mut [f32]) {
    for y in area.first[1]..area.first[1] + area.size[1] {
        let first = y * area.stride + area.first[0];
        let range = first..first + area.size[0];
        let [data, all] = [&sums[0][range.clone()], &sums[1][range.clone()]];
        let [light, total, count] =
            [&mask[0][range.clone()], &mask[1][range.clone()], &mask[2][range.clone()]];
        for (i, score) in score[range].iter_mut().enumerate() {
            let count = count[i].max(1.0);
            let mean = all[i] / count;
            // No contrast is left where hardly a pixel is.
            let rest = (total[i] - light[i] * light[i] / count).max(1e-3 * total[i]);
            *score = (data[i] - mean * light[i]) / (mean * rest).max(1e-12).sqrt();
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn significance(sums: &[Vec<f32>; 2], area: Area, score: &mut [f32]) {
    for y in area.first[1]..area.first[1] + area.size[1] {
        let first = y * area.stride + area.first[0];
        let range = first..first + area.size[0];
        let [residual, weight] = [&sums[0][range.clone()], &sums[1][range.clone()]];
        for (i, score) in score[range].iter_mut().enumerate() {
            *score = residual[i] / weight[i].max(1e-30).sqrt();
        }
    }
}
