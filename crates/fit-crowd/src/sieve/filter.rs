//! The passes over the pixels of a frame.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use super::share::Share;
use crate::kernel::Area;
use crate::lanes::{LANES, Lanes, fused, load};

/// So many pixels are computed side by side: their sums wait less for each other than those of [`LANES`].
pub(super) const WIDE: usize = 2 * LANES;

/// The numbers that begin at an index.
#[inline(always)]
fn wide(from: &[f32], at: usize) -> [f32; WIDE] {
    let mut numbers = [0.0; WIDE];
    numbers.copy_from_slice(&from[at..at + WIDE]);
    numbers
}

/// Sums along the rows of an area of the pixels around each, with weights and without.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn along_rows(from: &[f32], weights: &[f32], area: Area, into: [&mut [f32]; 2]) {
    if target_cfg_f!(target_feature = "fma") {
        along_rows_with::<true>(from, weights, area, into);
    } else {
        along_rows_with::<false>(from, weights, area, into);
    }
}

#[inline(always)]
fn along_rows_with<const FUSED: bool>(
    from: &[f32],
    weights: &[f32],
    area: Area,
    [image, ones]: [&mut [f32]; 2],
) {
    let half = weights.len() / 2;
    for row in area.rows() {
        for chunk in 0..area.size[0].div_ceil(WIDE) {
            let at = row.start + chunk * WIDE;
            let (mut sum, mut all) = ([0.0; WIDE], [0.0; WIDE]);
            let near = &from[at - half..at + half + WIDE];
            for (i, &weight) in weights.iter().enumerate() {
                let values = wide(near, i);
                for lane in 0..WIDE {
                    sum[lane] = fused::<FUSED>(weight, values[lane], sum[lane]);
                    all[lane] += values[lane];
                }
            }
            image[at..at + WIDE].copy_from_slice(&sum);
            ones[at..at + WIDE].copy_from_slice(&all);
        }
    }
}

/// z·|z| of each pixel of an area, and 0 beside it. `sums` are Σd·g if they are `known`, and otherwise those along rows, which are
/// summed along columns with these weights, as many as the window of the mean has rows.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn contrasts(
    sums: &[f32],
    known: bool,
    ones: &[f32],
    weights: &[f32],
    area: Area,
    shares: [&Share; 3],
    into: &mut [f32],
) {
    if target_cfg_f!(target_feature = "fma") {
        contrasts_with::<true>(sums, known, ones, weights, area, shares, into);
    } else {
        contrasts_with::<false>(sums, known, ones, weights, area, shares, into);
    }
}

#[inline(always)]
fn contrasts_with<const FUSED: bool>(
    sums: &[f32],
    known: bool,
    ones: &[f32],
    weights: &[f32],
    area: Area,
    shares: [&Share; 3],
    into: &mut [f32],
) {
    let Area { stride, size: [width, _], .. } = area;
    for (y, row) in area.rows().enumerate() {
        let (light, light_y) = shares[0].row(area, y);
        let (total, total_y) = shares[1].row(area, y);
        let (inverse, inverse_y) = shares[2].row(area, y);
        for chunk in 0..width.div_ceil(WIDE) {
            let at = row.start + chunk * WIDE;
            let (mut sum, mut all) = ([0.0; WIDE], [0.0; WIDE]);
            let mut from = at - weights.len() / 2 * stride;
            for &weight in weights {
                let (values, others) = (wide(sums, from), wide(ones, from));
                for lane in 0..WIDE {
                    sum[lane] = fused::<FUSED>(weight, values[lane], sum[lane]);
                    all[lane] += others[lane];
                }
                from += stride;
            }
            if known {
                sum = wide(sums, at);
            }
            // No closure: that would be compiled for any processor.
            let (lights, totals) = (wide(light, chunk * WIDE), wide(total, chunk * WIDE));
            let inverses = wide(inverse, chunk * WIDE);
            let into = &mut into[at..at + WIDE];
            for lane in 0..WIDE {
                let (light, total) = (lights[lane] * light_y, totals[lane] * total_y);
                let inverse = inverses[lane] * inverse_y;
                let mean = all[lane] * inverse;
                let rest = total - light * light * inverse;
                // No contrast is left where hardly a pixel is.
                let rest = if rest > 1e-3 * total { rest } else { 1e-3 * total };
                let noise = mean * rest;
                let noise = if noise > 1e-12 { noise } else { 1e-12 };
                let contrast = sum[lane] - mean * light;
                into[lane] = contrast * contrast.abs() / noise;
            }
        }
        into[row.end..row.start + width.next_multiple_of(WIDE)].fill(0.0);
    }
}

/// Sums of w, wx, wy, wx², wxy, wy², wd, wdx and wdy over a window, with weights w and places from its middle.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn moments(
    data: &[f32],
    weights: &[f32],
    stride: usize,
    first: usize,
    size: [usize; 2],
    into: &mut [Lanes; 9],
) {
    let mut sums = [[0.0; LANES]; 9];
    for chunk in 0..size[0].div_ceil(LANES) {
        let (mut inside, mut place) = ([0.0; LANES], [0.0; LANES]);
        for lane in 0..LANES {
            let column = chunk * LANES + lane;
            inside[lane] = if column < size[0] { 1.0 } else { 0.0 };
            place[lane] = column as f32 - (size[0] / 2) as f32;
        }
        for row in 0..size[1] {
            let at = first + row * stride + chunk * LANES;
            let (data, weights) = (load(data, at), load(weights, at));
            let y = row as f32 - (size[1] / 2) as f32;
            for lane in 0..LANES {
                let (x, w) = (place[lane], weights[lane] * inside[lane]);
                let (wx, wd) = (w * x, w * data[lane]);
                sums[0][lane] += w;
                sums[1][lane] += wx;
                sums[2][lane] += w * y;
                sums[3][lane] += wx * x;
                sums[4][lane] += wx * y;
                sums[5][lane] += w * y * y;
                sums[6][lane] += wd;
                sums[7][lane] += wd * x;
                sums[8][lane] += wd * y;
            }
        }
    }
    *into = sums;
}
