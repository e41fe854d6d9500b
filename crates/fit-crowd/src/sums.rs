//! Sums over the pixels of patches: what normal equations and scores are made of.
//!
//! With weights w = 1/μ and residuals r = d/μ − 1, the score of a function f of the model is Σ r·f, and the Fisher information of two is
//! Σ w·f·g. The products w·f of one patch are kept in a scratch with zeros around them, where every patch near it finds its own
//! pixels, whether the first reaches them or not.

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use crate::background::Background;
use crate::field::Field;
use crate::geometry::Geometry;
use crate::lanes::{LANES, Lanes, add_product, load, totals};
use crate::patch::PARAMETERS;

/// The most functions of one patch: those of an emitter, or the three second derivatives, or both.
pub(crate) const MOST: usize = 6;

/// Weighted functions of one patch.
#[derive(Clone, Debug)]
pub(crate) struct Weighted {
    geometry: Geometry,
    /// For each function `rows` rows of three times the patch's: zeros, w·f, zeros.
    scratch: Vec<f32>,
    corner: [i32; 2],
    functions: usize,
    sums: Vec<Lanes>,
    totals: Vec<f32>,
}

impl Weighted {
    pub(crate) fn new(geometry: Geometry) -> Self {
        let scratch = vec![0.0; MOST * 3 * geometry.size()];
        Self {
            geometry,
            scratch,
            corner: [0; 2],
            functions: 0,
            sums: vec![[0.0; LANES]; MOST * MOST + MOST],
            totals: vec![0.0; MOST * MOST + MOST],
        }
    }

    /// Numbers of a function in the scratch.
    fn size(&self) -> usize {
        3 * self.geometry.size()
    }

    /// Weights functions of a patch, and returns their scores.
    pub(crate) fn weigh(
        &mut self,
        field: &Field,
        corner: [i32; 2],
        patch: &[f32],
        functions: usize,
    ) -> [f64; MOST] {
        self.corner = corner;
        self.functions = functions;
        let size = self.size();
        let at = field.at(corner[0], corner[1]);
        let patch = &patch[..functions * self.geometry.size()];
        let scratch = &mut self.scratch[..functions * size];
        weigh(field, at, patch, self.geometry, scratch, &mut self.sums);
        totals(&self.sums[..functions], &mut self.totals);
        core::array::from_fn(|i| if i < functions { self.totals[i].into() } else { 0.0 })
    }

    /// Σ w·f·g for each weighted function f and each function g of a patch, `functions` from its `first`.
    pub(crate) fn with(
        &mut self,
        corner: [i32; 2],
        patch: &[f32],
        functions: usize,
    ) -> [[f64; MOST]; MOST] {
        let mut sums = [[0.0; MOST]; MOST];
        let span = 2 * self.geometry.half as i32 + 1;
        let [dx, dy] = [corner[0] - self.corner[0], corner[1] - self.corner[1]];
        if dx.abs() >= span || dy.abs() >= span {
            return sums;
        }
        let rows = [dy.max(0) as usize, (span + dy.min(0)) as usize];
        let mut f = 0;
        while f < self.functions {
            let some = (self.functions - f).min(3);
            let mut g = 0;
            while g < functions {
                let other = (functions - g).min(3);
                let sums_of = match (some, other) {
                    (3, 3) => pairs::<3, 3>,
                    (3, 1) => pairs::<3, 1>,
                    (1, 3) => pairs::<1, 3>,
                    (1, 1) => pairs::<1, 1>,
                    (3, 2) => pairs::<3, 2>,
                    (2, 3) => pairs::<2, 3>,
                    (2, 1) => pairs::<2, 1>,
                    (1, 2) => pairs::<1, 2>,
                    _ => pairs::<2, 2>,
                };
                let scratch = &self.scratch[f * self.size()..];
                let patch = &patch[g * self.geometry.size()..];
                sums_of(scratch, patch, self.geometry, [dx, dy], rows, &mut self.sums);
                totals(&self.sums[..some * other], &mut self.totals);
                for i in 0..some {
                    for j in 0..other {
                        sums[f + i][g + j] = self.totals[i * other + j].into();
                    }
                }
                g += other;
            }
            f += some;
        }
        sums
    }

    /// Σ w·f·h for each weighted function and each node near the patch.
    pub(crate) fn with_nodes(
        &mut self,
        field: &Field,
        background: &Background,
        mut into: impl FnMut(usize, [f64; PARAMETERS]),
    ) {
        let Geometry { rows, chunks, .. } = self.geometry;
        let row = (self.corner[1] - field.top) as usize;
        let column = (self.corner[0] - field.left) as usize;
        let near = background.columns_near(&(column..column + rows));
        let [across, _] = background.grid();
        for b in background.rows_near(&(row..row + rows)) {
            let shares = &background.hat_y(b)[row..row + rows];
            for f in 0..self.functions {
                let scratch = &self.scratch[f * self.size()..(f + 1) * self.size()];
                let sums = &mut self.sums[f * chunks..(f + 1) * chunks];
                columns(scratch, shares, self.geometry, sums);
            }
            for a in near.clone() {
                let hat = &background.hat_x(a)[column..column + rows];
                let mut found = [0.0; PARAMETERS];
                for f in 0..self.functions {
                    let sums = self.sums[f * chunks..(f + 1) * chunks].as_flattened();
                    found[f] = hat.iter().zip(sums).map(|(&h, &s)| h * s).sum::<f32>().into();
                }
                into(b * across + a, found);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn weigh(
    field: &Field,
    at: usize,
    patch: &[f32],
    geometry: Geometry,
    scratch: &mut [f32],
    scores: &mut [Lanes],
) {
    let (size, stride) = (geometry.size(), geometry.stride());
    let functions = patch.chunks_exact(size).zip(scratch.chunks_exact_mut(3 * size));
    for ((patch, scratch), score) in functions.zip(scores) {
        let mut sum = [0.0; LANES];
        let lines = patch.chunks_exact(stride).zip(scratch.chunks_exact_mut(3 * stride));
        for (row, (patch, scratch)) in lines.enumerate() {
            let from = at + row * field.stride;
            let weight = field.weight[from..from + stride].chunks_exact(LANES);
            let residual = field.residual[from..from + stride].chunks_exact(LANES);
            let into = scratch[stride..2 * stride].chunks_exact_mut(LANES);
            let patch = patch.chunks_exact(LANES);
            for (((patch, weight), residual), into) in patch.zip(weight).zip(residual).zip(into) {
                for i in 0..LANES {
                    into[i] = weight[i] * patch[i];
                    sum[i] += residual[i] * patch[i];
                }
            }
        }
        *score = sum;
    }
}

/// Σ over some rows of the scratch's functions times those of a patch that is moved by `[dx, dy]`.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn pairs<const I: usize, const J: usize>(
    scratch: &[f32],
    patch: &[f32],
    geometry: Geometry,
    [dx, dy]: [i32; 2],
    rows: [usize; 2],
    into: &mut [Lanes],
) {
    if target_cfg_f!(target_feature = "fma") {
        pairs_of::<I, J, true>(scratch, patch, geometry, [dx, dy], rows, into);
    } else {
        pairs_of::<I, J, false>(scratch, patch, geometry, [dx, dy], rows, into);
    }
}

#[inline(always)]
fn pairs_of<const I: usize, const J: usize, const FUSED: bool>(
    scratch: &[f32],
    patch: &[f32],
    geometry: Geometry,
    [dx, dy]: [i32; 2],
    rows: [usize; 2],
    into: &mut [Lanes],
) {
    let (size, stride) = (geometry.size(), geometry.stride());
    let mut sums = [[[0.0; LANES]; J]; I];
    for row in rows[0]..rows[1] {
        let ours = ((3 * row + 1) * stride) as isize + dx as isize;
        let theirs = (row as i32 - dy) as usize * stride;
        for chunk in 0..geometry.chunks {
            let at = (ours + (chunk * LANES) as isize) as usize;
            let theirs = theirs + chunk * LANES;
            // What of the other patch lies beside this one's pixels.
            let begin = dx + (chunk * LANES) as i32;
            if begin >= geometry.rows as i32 || begin + (LANES as i32) <= 0 {
                continue;
            }
            let mut f = [[0.0; LANES]; I];
            let mut g = [[0.0; LANES]; J];
            for i in 0..I {
                f[i] = load(scratch, 3 * size * i + at);
            }
            for j in 0..J {
                g[j] = load(patch, size * j + theirs);
            }
            for i in 0..I {
                for j in 0..J {
                    add_product::<FUSED>(&mut sums[i][j], &f[i], &g[j]);
                }
            }
        }
    }
    for i in 0..I {
        for j in 0..J {
            into[i * J + j] = sums[i][j];
        }
    }
}

/// Sums along the columns of the scratch, each row times its share.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn columns(scratch: &[f32], shares: &[f32], geometry: Geometry, into: &mut [Lanes]) {
    let stride = geometry.stride();
    for chunk in 0..geometry.chunks {
        let mut sum = [0.0; LANES];
        for (row, &share) in shares.iter().enumerate() {
            let values = load(scratch, (3 * row + 1) * stride + chunk * LANES);
            for i in 0..LANES {
                sum[i] += share * values[i];
            }
        }
        into[chunk] = sum;
    }
}
