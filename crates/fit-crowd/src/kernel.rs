//! Sums of the pixels around each pixel, with weights.

use core::ops::Range;

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use crate::geometry::Geometry;
use crate::lanes::{LANES, Lanes, fused, load, totals};
use crate::setup::Setup;
use crate::spline::MEAN;
use crate::spot::clear_margin;

/// Weights of the pixels around one.
#[derive(Clone, Debug)]
pub(crate) enum Kernel {
    /// The products of those along x and along y.
    Lines([Vec<f32>; 2]),
    Patch(Vec<f32>, Geometry),
}

impl Kernel {
    /// The image of one photon in the middle of a patch, as numbers and as weights.
    pub(crate) fn image(setup: &Setup, third: f64, geometry: Geometry) -> (Vec<f32>, Self) {
        let (size, half, stride) = (geometry.size(), geometry.half, geometry.stride());
        let mut patch = vec![0.0; 3 * size];
        setup.shape.functions(MEAN, [half as f64; 2], third, false, geometry, &mut patch);
        patch.truncate(size);
        clear_margin(&mut patch, geometry);
        let image = if setup.is_separable() {
            let peak = patch[half * stride + half].sqrt();
            let row = &patch[half * stride..][..geometry.rows];
            let column = patch[half..].iter().step_by(stride).take(geometry.rows);
            let lines = [row.iter().collect::<Vec<_>>(), column.collect()];
            Self::Lines(lines.map(|line| line.into_iter().map(|value| value / peak).collect()))
        } else {
            Self::Patch(patch.clone(), geometry)
        };
        (patch, image)
    }

    pub(crate) fn squared(&self) -> Self {
        let squared = |values: &[f32]| values.iter().map(|value| value * value).collect();
        match self {
            Self::Lines(lines) => Self::Lines(lines.each_ref().map(|line| squared(line))),
            Self::Patch(patch, geometry) => Self::Patch(squared(patch), *geometry),
        }
    }

    /// Sums of an area's pixels around each, with these weights.
    pub(crate) fn sums(&self, from: &[f32], area: Area, across: &mut [f32], into: &mut [f32]) {
        match self {
            Self::Lines(lines) => convolve(from, lines, area, across, into),
            Self::Patch(patch, geometry) => correlate(from, patch, *geometry, area, into),
        }
    }
}

/// The part of memory that is pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Area {
    pub(crate) stride: usize,
    pub(crate) first: [usize; 2],
    pub(crate) size: [usize; 2],
}

impl Area {
    /// Where the pixels of each row are in memory.
    pub(crate) fn rows(self) -> impl Iterator<Item = Range<usize>> {
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

/// Sums over the pixels under an image g: of a·g, b·g and b·g² for two numbers a and b of each pixel.
pub(crate) type Products = [f64; 3];

/// Those of a patch whose first pixel is at `first` in memory; with `masked`, of a·b·g, b·g and b·g².
pub(crate) fn products(
    from: [&[f32]; 2],
    masked: bool,
    patch: &[f32],
    geometry: Geometry,
    stride: usize,
    first: usize,
) -> Products {
    let (mut sums, mut all) = ([[0.0; LANES]; 3], [0.0; 3]);
    multiply(from, masked, patch, geometry, [stride, first], &mut sums);
    totals(&sums, &mut all);
    all.map(f64::from)
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn multiply(
    [a, b]: [&[f32]; 2],
    masked: bool,
    patch: &[f32],
    geometry: Geometry,
    [stride, first]: [usize; 2],
    into: &mut [Lanes; 3],
) {
    let mut sums = [[0.0; LANES]; 3];
    for (row, weights) in patch.chunks_exact(geometry.stride()).enumerate() {
        for (chunk, weights) in weights.chunks_exact(LANES).enumerate() {
            // Beyond the patch weights are 0.
            let at = first + row * stride + chunk * LANES;
            let (a, b) = (load(a, at), load(b, at));
            for lane in 0..LANES {
                let lit = b[lane] * weights[lane];
                sums[0][lane] += a[lane] * if masked { lit } else { weights[lane] };
                sums[1][lane] += lit;
                sums[2][lane] += lit * weights[lane];
            }
        }
    }
    *into = sums;
}
