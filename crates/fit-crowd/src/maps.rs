//! Maps of scores over a region: how significant one spot more at each pixel would be.

use multiversion::multiversion;

use crate::filters::{Filters, Plane};
use crate::kernel::{Area, Kernel};
use crate::scene::Scene;
use crate::setup::Setup;

/// Buffers of the maps, and what they need of the shape of spots. Maps lie in memory as fields do.
#[derive(Clone, Debug)]
pub(crate) struct Maps {
    /// Of the region that there is room for.
    area: Area,
    /// Spots with each third parameter, on patches as emitters have.
    planes: Vec<Plane>,
    filters: Filters,
    squares: Vec<Kernel>,
    sums: Vec<f32>,
    weights: Vec<f32>,
    across: Vec<f32>,
    /// Scores z, of the filter that has the highest.
    score: Vec<f32>,
    /// Those of one filter, and which it is, if there is more than one.
    own: Vec<f32>,
    best: Vec<u8>,
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

impl Peak {
    /// The plane that has the highest score at a pixel, if that is above `least`.
    pub(crate) fn highest(
        [x, y]: [i32; 2],
        planes: usize,
        least: f64,
        score: impl Fn(usize) -> f64,
    ) -> Option<Self> {
        let all = (0..planes).map(|plane| (plane, score(plane)));
        let (plane, score) = all.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (score > least).then_some(Self { x, y, score: score as f32, plane })
    }
}

impl Maps {
    pub(crate) fn new(setup: &Setup) -> Self {
        let filters = Filters::new(setup);
        let plane = |&third: &f64| {
            let (patch, _) = Kernel::image(setup, third, setup.geometry);
            Plane { third, patch }
        };
        Self {
            area: Area::default(),
            planes: setup.starts.iter().map(plane).collect(),
            squares: filters.kernels.iter().map(Kernel::squared).collect(),
            filters,
            sums: Vec::new(),
            weights: Vec::new(),
            across: Vec::new(),
            score: Vec::new(),
            own: Vec::new(),
            best: Vec::new(),
        }
    }

    /// Makes room for maps of a region.
    fn resize(&mut self, scene: &Scene) {
        if self.area == scene.area() {
            return;
        }
        self.area = scene.area();
        let length = scene.field.len();
        for numbers in [&mut self.sums, &mut self.weights, &mut self.across, &mut self.score] {
            // Around the area there are no scores.
            numbers.clear();
            numbers.resize(length, 0.0);
        }
        if self.squares.len() > 1 {
            self.own.resize(length, 0.0);
            self.best.resize(length, 0);
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

    /// The score of one spot more: z = Σ g·r/√(Σ g²·w).
    pub(crate) fn of_residuals(&mut self, scene: &Scene) {
        self.resize(scene);
        let Self { area, filters, squares, sums, weights, across, score, own, best, .. } = self;
        let area = *area;
        for (number, (image, squares)) in filters.kernels.iter().zip(squares).enumerate() {
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
        let (filters, field) = (&self.filters, &scene.field);
        let from = ([&field.residual[..], &field.weight[..]], false);
        let seen = (filters.share() * least) as f32;
        maxima(&self.score, scene.area(), seen, |x, y, score| {
            let at = field.at(x, y);
            if filters.exact {
                let plane = self.best.get(at).map_or(0, |&plane| plane.into());
                peaks.push(Peak { x, y, score, plane });
                return;
            }
            let score = |plane: usize| {
                let [residual, _, weight] = filters.at(plane, from, scene.area(), at);
                residual / libm::sqrt(weight.max(1e-30))
            };
            peaks.extend(Peak::highest([x, y], self.planes.len(), least, score));
        });
        sort(peaks);
    }
}

/// Sorts peaks, the highest first.
pub(crate) fn sort(peaks: &mut [Peak]) {
    peaks.sort_by(|a, b| b.score.total_cmp(&a.score).then((a.y, a.x).cmp(&(b.y, b.x))));
}

/// Tells of every number of an area that is above `least` and not below any of the eight around it: column, row, and the number.
pub(crate) fn maxima(numbers: &[f32], area: Area, least: f32, mut tell: impl FnMut(i32, i32, f32)) {
    /// So many numbers are looked at at once: few are that high.
    const MANY: usize = 16;
    let stride = area.stride;
    for (y, range) in area.rows().enumerate() {
        let (start, row) = (range.start, &numbers[range]);
        for (part, chunk) in row.chunks(MANY).enumerate() {
            if !chunk.iter().fold(false, |any, &number| any | (number > least)) {
                continue;
            }
            for (i, &number) in chunk.iter().enumerate().filter(|&(_, &number)| number > least) {
                let at = start + part * MANY + i;
                let before = [at - 1, at - stride - 1, at - stride, at - stride + 1];
                let after = [at + 1, at + stride - 1, at + stride, at + stride + 1];
                if before.iter().all(|&other| number > numbers[other])
                    && after.iter().all(|&other| number >= numbers[other])
                {
                    tell((part * MANY + i) as i32, y as i32, number);
                }
            }
        }
    }
}

/// Takes the scores of a plane where they are the highest so far; those of the first are there already.
pub(crate) fn higher(plane: usize, own: &[f32], area: Area, score: &mut [f32], best: &mut [u8]) {
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

#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn significance(sums: [&[f32]; 2], area: Area, score: &mut [f32]) {
    for range in area.rows() {
        let [residual, weight] = [&sums[0][range.clone()], &sums[1][range.clone()]];
        for (i, score) in score[range].iter_mut().enumerate() {
            *score = residual[i] / weight[i].max(1e-30).sqrt();
        }
    }
}
