//! Maps of scores over a region: how significant a spot at each pixel would be.

use core::ops::Range;

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use crate::geometry::Geometry;
use crate::lanes::{LANES, fused};
use crate::scene::Scene;
use crate::setup::Setup;
use crate::spot::clear_margin;

/// Buffers of the maps, and what they need of the shape of spots. Maps lie in memory as fields do.
#[derive(Clone, Debug)]
pub(crate) struct Maps {
    planes: Vec<Plane>,
    /// Over the window of the local mean.
    ones: Kernel,
    /// The number of pixels of the window.
    count: Vec<f32>,
    mask_is_whole: bool,
    all: Vec<f32>,
    weights: Vec<f32>,
    across: Vec<f32>,
    /// Scores z, of the plane that has the highest.
    pub(crate) score: Vec<f32>,
    /// Those of one plane, and which plane it is, if there is more than one.
    own: Vec<f32>,
    best: Vec<u8>,
}

/// Spots with one third parameter.
#[derive(Clone, Debug)]
struct Plane {
    third: f64,
    /// The image of one photon in the middle of a patch.
    patch: Vec<f32>,
    image: Kernel,
    squares: Kernel,
    /// Of the mask: Σg and Σg². They are kept for frames without masked pixels.
    mask: [Vec<f32>; 2],
    sums: Vec<f32>,
}

/// Weights of the pixels around one.
#[derive(Clone, Debug)]
enum Kernel {
    /// The products of those along x and along y.
    Lines([Vec<f32>; 2]),
    Patch(Vec<f32>, Geometry),
}

/// A pixel where a spot may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Peak {
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) score: f32,
    /// The plane that has the highest score.
    pub(crate) plane: usize,
}

impl Plane {
    fn new(setup: &Setup, third: f64, empty: &impl Fn() -> Vec<f32>) -> Self {
        let geometry = setup.geometry;
        let (size, half, stride) = (geometry.size(), geometry.half, geometry.stride());
        let mut patch = vec![0.0; 3 * size];
        setup.shape.functions([half as f64; 2], third, false, geometry, &mut patch);
        patch.truncate(size);
        clear_margin(&mut patch, geometry);
        let image = if setup.is_separable() {
            let peak = patch[half * stride + half].sqrt();
            let row = &patch[half * stride..][..geometry.rows];
            let column = patch[half..].iter().step_by(stride).take(geometry.rows);
            let lines = [row.iter().collect::<Vec<_>>(), column.collect()];
            Kernel::Lines(lines.map(|line| line.into_iter().map(|value| value / peak).collect()))
        } else {
            Kernel::Patch(patch.clone(), geometry)
        };
        let (squares, mask, sums) = (image.squared(), [empty(), empty()], empty());
        Self { third, patch, image, squares, mask, sums }
    }
}

impl Kernel {
    fn squared(&self) -> Self {
        let squared = |values: &[f32]| values.iter().map(|value| value * value).collect();
        match self {
            Self::Lines(lines) => Self::Lines(lines.each_ref().map(|line| squared(line))),
            Self::Patch(patch, geometry) => Self::Patch(squared(patch), *geometry),
        }
    }

    /// Sums of an area's pixels around each, with these weights.
    fn sums(&self, from: &[f32], area: Area, across: &mut [f32], into: &mut [f32]) {
        match self {
            Self::Lines(lines) => convolve(from, lines, area, across, into),
            Self::Patch(patch, geometry) => correlate(from, patch, *geometry, area, into),
        }
    }
}

impl Maps {
    pub(crate) fn new(scene: &Scene) -> Self {
        let setup = &scene.setup;
        let empty = || vec![0.0; scene.field.data.len()];
        let planes: Vec<Plane> =
            setup.starts.iter().map(|&third| Plane::new(setup, third, &empty)).collect();
        let several = if planes.len() > 1 { scene.field.data.len() } else { 0 };
        let ones = vec![1.0; setup.geometry.rows + 2];
        Self {
            planes,
            ones: Kernel::Lines([ones.clone(), ones]),
            count: empty(),
            mask_is_whole: false,
            all: empty(),
            weights: empty(),
            across: empty(),
            score: empty(),
            own: vec![0.0; several],
            best: vec![0; several],
        }
    }

    /// How many planes there are.
    pub(crate) fn planes(&self) -> usize {
        self.planes.len()
    }

    /// The third parameter of a plane, and the image of one photon in the middle of a patch.
    pub(crate) fn plane(&self, number: usize) -> (f64, &[f32]) {
        let plane = &self.planes[number];
        (plane.third, &plane.patch)
    }

    /// The score of a spot on even light, with the mean of the window around projected out:
    /// z = (Σd·g − m·Σg)/√(m·(Σg² − (Σg)²/N)).
    pub(crate) fn of_data(&mut self, scene: &Scene, whole: bool) {
        let area = Area::new(scene);
        let Self { planes, ones, count, mask_is_whole, all, across, score, own, best, .. } = self;
        let field = &scene.field;
        if !(whole && *mask_is_whole) {
            for Plane { image, squares, mask, .. } in &mut *planes {
                image.sums(&field.mask, area, across, &mut mask[0]);
                squares.sums(&field.mask, area, across, &mut mask[1]);
            }
            ones.sums(&field.mask, area, across, count);
            *mask_is_whole = whole;
        }
        ones.sums(&field.data, area, across, all);
        for (number, Plane { image, mask, sums, .. }) in planes.iter_mut().enumerate() {
            image.sums(&field.data, area, across, sums);
            let to = if number == 0 { &mut *score } else { &mut *own };
            contrast([sums, all], mask, count, area, to);
            higher(number, own, area, score, best);
        }
    }

    /// The amplitude that the score of [`Maps::of_data`] at a pixel is of, in a plane.
    pub(crate) fn amplitude(&self, at: usize, plane: usize) -> f64 {
        let Plane { mask, sums, .. } = &self.planes[plane];
        let [light, total, count] = [mask[0][at], mask[1][at], self.count[at]].map(f64::from);
        let [sum, all] = [sums[at], self.all[at]].map(f64::from);
        (sum - all / count * light) / (total - light * light / count)
    }

    /// The score of one spot more: z = Σ g·r/√(Σ g²·w).
    pub(crate) fn of_residuals(&mut self, scene: &Scene) {
        let area = Area::new(scene);
        let Self { planes, weights, across, score, own, best, .. } = self;
        for (number, Plane { image, squares, sums, .. }) in planes.iter_mut().enumerate() {
            image.sums(&scene.field.residual, area, across, sums);
            squares.sums(&scene.field.weight, area, across, weights);
            let to = if number == 0 { &mut *score } else { &mut *own };
            significance([sums, weights], area, to);
            higher(number, own, area, score, best);
        }
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
                    let plane = self.best.get(at).map_or(0, |&plane| plane.into());
                    peaks.push(Peak { x: x as i32, y: y as i32, score, plane });
                }
            }
        }
        peaks.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.y, a.x).cmp(&(b.y, b.x))));
    }
}

/// Takes the scores of a plane where they are the highest so far; those of the first are there already.
fn higher(plane: usize, own: &[f32], area: Area, score: &mut [f32], best: &mut [u8]) {
    if plane == 0 {
        best.fill(0);
        return;
    }
    for range in area.rows() {
        let scores = score[range.clone()].iter_mut().zip(&own[range.clone()]);
        for ((score, &own), best) in scores.zip(&mut best[range]) {
            if own > *score {
                (*score, *best) = (own, plane as u8);
            }
        }
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

    /// Where the pixels of each row are in memory.
    fn rows(self) -> impl Iterator<Item = Range<usize>> {
        let Self { stride, first: [left, top], size: [width, height] } = self;
        (top..top + height).map(move |y| y * stride + left..y * stride + left + width)
    }
}

/// Sums of an area's pixels around each, with a weight for each distance along x and along y.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn convolve(from: &[f32], lines: &[Vec<f32>; 2], area: Area, across: &mut [f32], into: &mut [f32]) {
    if target_cfg_f!(target_feature = "fma") {
        convolve_with::<true>(from, lines, area, across, into);
    } else {
        convolve_with::<false>(from, lines, area, across, into);
    }
}

#[inline(always)]
fn convolve_with<const FUSED: bool>(
    from: &[f32],
    [along_x, along_y]: &[Vec<f32>; 2],
    area: Area,
    across: &mut [f32],
    into: &mut [f32],
) {
    let Area { stride, first: [left, top], size: [width, height] } = area;
    let half = along_x.len() / 2;
    let chunks = width.div_ceil(LANES);
    for y in top - half..top + height + half {
        for chunk in 0..chunks {
            let at = y * stride + left + chunk * LANES;
            let mut sum = [0.0; LANES];
            if (top..top + height).contains(&y) {
                for (i, &weight) in along_x.iter().enumerate() {
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
            for (i, &weight) in along_y.iter().enumerate() {
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

/// The same with a weight for each pixel of a patch.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn correlate(from: &[f32], patch: &[f32], geometry: Geometry, area: Area, into: &mut [f32]) {
    if target_cfg_f!(target_feature = "fma") {
        correlate_with::<true>(from, patch, geometry, area, into);
    } else {
        correlate_with::<false>(from, patch, geometry, area, into);
    }
}

#[inline(always)]
fn correlate_with<const FUSED: bool>(
    from: &[f32],
    patch: &[f32],
    geometry: Geometry,
    area: Area,
    into: &mut [f32],
) {
    let Area { stride, first: [left, top], size: [width, height] } = area;
    let Geometry { half, rows, .. } = geometry;
    for y in top..top + height {
        for chunk in 0..width.div_ceil(LANES) {
            let at = y * stride + left + chunk * LANES;
            let mut sum = [0.0; LANES];
            for (row, weights) in patch.chunks_exact(geometry.stride()).enumerate() {
                let first = at + row * stride - half * stride - half;
                let values = &from[first..first + rows + LANES];
                for (i, &weight) in weights[..rows].iter().enumerate() {
                    for lane in 0..LANES {
                        sum[lane] = fused::<FUSED>(weight, values[i + lane], sum[lane]);
                    }
                }
            }
            into[at..at + LANES].copy_from_slice(&sum);
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn contrast(sums: [&[f32]; 2], mask: &[Vec<f32>; 2], count: &[f32], area: Area, score: &mut [f32]) {
    for range in area.rows() {
        let [data, all] = [&sums[0][range.clone()], &sums[1][range.clone()]];
        let [light, total, count] =
            [&mask[0][range.clone()], &mask[1][range.clone()], &count[range.clone()]];
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
fn significance(sums: [&[f32]; 2], area: Area, score: &mut [f32]) {
    for range in area.rows() {
        let [residual, weight] = [&sums[0][range.clone()], &sums[1][range.clone()]];
        for (i, score) in score[range].iter_mut().enumerate() {
            *score = residual[i] / weight[i].max(1e-30).sqrt();
        }
    }
}
