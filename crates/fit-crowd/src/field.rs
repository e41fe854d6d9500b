//! Pixels with their model: those of a frame, or of a part of it.

use core::ops::Range;

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use crate::frame::CrowdFrame;
use crate::geometry::Geometry;
use crate::lanes::{LANES, excess, fused};
use crate::rect::Rect;

/// A model is nowhere smaller, in photo-electrons: it would give one electron without end a weight without end.
pub(crate) const LEAST: f32 = 1e-3;

/// Pixels of a rectangle, row by row, with room for patches beyond its edges.
///
/// Places are those of the frame: x of column 0 of memory is `left`, y of row 0 is `top`. Pixels outside of the frame and masked
/// pixels have mask 0, thus no weight and no residual.
#[derive(Clone, Debug, Default)]
pub(crate) struct Field {
    pub(crate) left: i32,
    pub(crate) top: i32,
    /// Columns of memory.
    pub(crate) stride: usize,
    /// Columns that patches may begin in, a multiple of [`LANES`]; what is beyond belongs to no pixel.
    pub(crate) columns: usize,
    pub(crate) rows: usize,
    /// The columns and rows that are summed, the columns by whole [`LANES`]: elsewhere weights and residuals stay 0.
    pub(crate) summed: [Range<usize>; 2],
    /// Whether anything but 0 may be in the model of what is not summed.
    pub(crate) beyond: bool,
    /// Photo-electrons plus read variance, not below 0.
    pub(crate) data: Vec<f32>,
    pub(crate) mask: Vec<f32>,
    /// What is under the spots.
    pub(crate) ground: Vec<f32>,
    /// μ: ground and spots.
    pub(crate) model: Vec<f32>,
    /// 1/μ.
    pub(crate) weight: Vec<f32>,
    /// data/μ − 1.
    pub(crate) residual: Vec<f32>,
    /// The deviance of the pixels of a row.
    terms: Vec<f32>,
}

impl Field {
    /// Numbers that are in use.
    pub(crate) fn len(&self) -> usize {
        self.stride * self.rows
    }

    /// Gives the field a place and a size; its contents are undefined.
    pub(crate) fn resize(
        &mut self,
        left: i32,
        top: i32,
        columns: usize,
        rows: usize,
        geometry: Geometry,
    ) {
        let columns = columns.next_multiple_of(LANES);
        let stride = columns + geometry.stride();
        *self = Self {
            left,
            top,
            stride,
            columns,
            rows,
            summed: [0..columns, 0..rows],
            beyond: true,
            data: resized(&mut self.data, stride * rows),
            mask: resized(&mut self.mask, stride * rows),
            ground: resized(&mut self.ground, stride * rows),
            model: resized(&mut self.model, stride * rows),
            weight: resized(&mut self.weight, stride * rows),
            residual: resized(&mut self.residual, stride * rows),
            terms: core::mem::take(&mut self.terms),
        };
    }

    /// Where a pixel is in memory.
    #[inline]
    pub(crate) fn at(&self, x: i32, y: i32) -> usize {
        (y - self.top) as usize * self.stride + (x - self.left) as usize
    }

    /// Takes the pixels of a part of a frame; `variance` gets the read variances. Returns the least of these, infinite if all
    /// pixels are masked.
    pub(crate) fn take(&mut self, frame: &CrowdFrame<'_>, rect: Rect, variance: &mut [f32]) -> f32 {
        let mut least = f32::INFINITY;
        let [width, height] = rect.size;
        for y in 0..height {
            let at = self.at(0, y as i32);
            let range = at..at + width;
            let row = frame.row(rect.origin[1] + y, rect.origin[0]..rect.end(0));
            let mask = &mut self.mask[range.clone()];
            row.light(&mut self.data[range.clone()], mask);
            let variance = &mut variance[range];
            match row.variances {
                Ok(each) => variance.copy_from_slice(each),
                Err(same) => variance.fill(same),
            }
            for (variance, &mask) in variance.iter_mut().zip(&*mask) {
                let used = mask > 0.0;
                least = if used && *variance < least { *variance } else { least };
                *variance = if used { *variance } else { 0.0 };
            }
        }
        least
    }

    /// Masks pixels.
    pub(crate) fn hide(&mut self, rect: Rect, variance: &mut [f32]) {
        for y in rect.rows() {
            let at = self.at(rect.origin[0] as i32, y as i32);
            for numbers in [&mut self.data[..], &mut self.mask[..], &mut variance[..]] {
                numbers[at..at + rect.size[0]].fill(0.0);
            }
        }
    }

    /// Copies part of another field, which this one has the place and size of, all but residuals and weights.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        for row in 0..self.rows {
            let to = row * self.stride;
            let from = other.at(self.left, self.top + row as i32);
            let width = self.stride.min(other.stride - (self.left - other.left) as usize);
            self.data[to..to + width].copy_from_slice(&other.data[from..from + width]);
            self.mask[to..to + width].copy_from_slice(&other.mask[from..from + width]);
            self.model[to..to + width].copy_from_slice(&other.model[from..from + width]);
            self.mask[to + self.columns..to + self.stride].fill(0.0);
        }
    }

    /// Copies model, weights and residuals into the field that this one is a part of.
    pub(crate) fn copy_back(&self, into: &mut Self) {
        into.beyond = true;
        let width = self.columns.min(into.stride - (self.left - into.left) as usize);
        for row in 0..self.rows {
            let from = row * self.stride;
            let to = into.at(self.left, self.top + row as i32);
            into.model[to..to + width].copy_from_slice(&self.model[from..from + width]);
            into.weight[to..to + width].copy_from_slice(&self.weight[from..from + width]);
            into.residual[to..to + width].copy_from_slice(&self.residual[from..from + width]);
        }
    }

    /// Adds a multiple of a patch to the model.
    pub(crate) fn add(&mut self, corner: [i32; 2], geometry: Geometry, patch: &[f32], factor: f64) {
        let first = [corner[0] - self.left, corner[1] - self.top].map(|at| at as usize);
        for (summed, first) in self.summed.iter().zip(first) {
            self.beyond |= first < summed.start || first + geometry.rows > summed.end;
        }
        let at = self.at(corner[0], corner[1]);
        add(&mut self.model, self.stride, at, &patch[..geometry.size()], geometry, factor as f32);
    }

    /// Weights and residuals of the model, and its deviance 2·Σ(μ − d + d·ln(d/μ)), the sum that the likelihood of Poisson
    /// counts d gives.
    pub(crate) fn evaluate(&mut self) -> f64 {
        evaluate(self)
    }
}

fn resized(numbers: &mut Vec<f32>, length: usize) -> Vec<f32> {
    let mut numbers = core::mem::take(numbers);
    if numbers.len() < length {
        numbers.resize(length, 0.0);
    }
    numbers
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn add(
    model: &mut [f32],
    stride: usize,
    at: usize,
    patch: &[f32],
    geometry: Geometry,
    factor: f32,
) {
    for (row, values) in patch.chunks_exact(geometry.stride()).enumerate() {
        let from = at + row * stride;
        let model = &mut model[from..from + values.len()];
        for (model, &value) in model.iter_mut().zip(values) {
            *model = if target_cfg_f!(target_feature = "fma") {
                fused::<true>(factor, value, *model)
            } else {
                fused::<false>(factor, value, *model)
            };
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn evaluate(field: &mut Field) -> f64 {
    let [columns, rows] = field.summed.clone();
    let Field { data, mask, model, weight, residual, terms, stride, .. } = field;
    let count = columns.len();
    terms.resize(count, 0.0);
    let terms = &mut terms[..count];
    let mut total = 0.0;
    for row in rows {
        let at = row * *stride + columns.start;
        let (data, mask) = (&data[at..at + count], &mask[at..at + count]);
        let model = &mut model[at..at + count];
        let weight = &mut weight[at..at + count];
        let residual = &mut residual[at..at + count];
        for i in 0..count {
            let mu = if model[i] < LEAST { LEAST } else { model[i] };
            let inverse = 1.0 / mu;
            model[i] = mu;
            weight[i] = inverse * mask[i];
            residual[i] = (data[i] - mu) * (inverse * mask[i]);
            terms[i] = mask[i] * mu * excess(data[i] * inverse);
        }
        // Summed by itself: a sum would keep the loop above from being vectorized.
        let mut sums = [0.0; LANES];
        for terms in terms.chunks_exact(LANES) {
            for i in 0..LANES {
                sums[i] += terms[i];
            }
        }
        total += sums.iter().map(|&sum| f64::from(sum)).sum::<f64>();
    }
    2.0 * total
}
