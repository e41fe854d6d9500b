//! The matched filters with which spots are looked for.
//!
//! A Gaussian's is the product of two lines. For a measured image the products of lines that are most like it, or like several heights of it, have nearly
//! all of its score; what they find is looked at with the images themselves.

use crate::geometry::Geometry;
use crate::kernel::{Area, Kernel, Products, products};
use crate::setup::Setup;

/// The least correlation of an image with the filter that finds it, each with its mean over the window taken out.
pub(crate) const ALIKE: f64 = 0.93;
/// Steps of the power iteration.
const STEPS: usize = 40;

/// Spots with one third parameter.
#[derive(Clone, Debug)]
pub(crate) struct Plane {
    pub(crate) third: f64,
    /// The image of one photon in the middle of a patch.
    pub(crate) patch: Vec<f32>,
}

/// The filters of spots with all third parameters that are looked for.
#[derive(Clone, Debug)]
pub(crate) struct Filters {
    pub(crate) geometry: Geometry,
    pub(crate) planes: Vec<Plane>,
    pub(crate) kernels: Vec<Kernel>,
    /// Whether each filter is the image of the plane with its number.
    pub(crate) exact: bool,
}

impl Filters {
    pub(crate) fn new(setup: &Setup) -> Self {
        let (geometry, exact) = (setup.filter, setup.is_separable());
        let images = setup.starts.iter().map(|&third| {
            let (patch, image) = Kernel::image(setup, third, geometry);
            (Plane { third, patch }, image)
        });
        let (planes, own): (Vec<Plane>, Vec<Kernel>) = images.unzip();
        let kernels = if exact { own } else { like(&planes, &own, geometry) };
        Self { geometry, planes, kernels, exact }
    }

    /// Which share of a score its filter shows at least, but for noise.
    pub(crate) fn share(&self) -> f64 {
        if self.exact { 1.0 } else { ALIKE }
    }

    /// The sums around a pixel for the image of a plane; with `masked`, the first numbers count by the second.
    pub(crate) fn at(
        &self,
        plane: usize,
        (from, masked): ([&[f32]; 2], bool),
        area: Area,
        at: usize,
    ) -> Products {
        let first = at - self.geometry.half * (area.stride + 1);
        products(from, masked, &self.planes[plane].patch, self.geometry, area.stride, first)
    }
}

/// Products of lines like these images, a few by halving the heights, and images that no such product is like.
fn like(planes: &[Plane], own: &[Kernel], geometry: Geometry) -> Vec<Kernel> {
    let lines = most_like(planes, geometry);
    let least = planes.iter().map(|plane| likeness(&plane.patch, &lines, geometry));
    match planes {
        _ if least.fold(f64::INFINITY, f64::min) >= ALIKE => {
            vec![Kernel::Lines(lines.map(|line| line.iter().map(|&value| value as f32).collect()))]
        }
        [_] => own.to_vec(),
        _ => {
            let half = planes.len() / 2;
            let mut all = like(&planes[..half], &own[..half], geometry);
            all.extend(like(&planes[half..], &own[half..], geometry));
            all
        }
    }
}

/// The pixels of a patch: column, row and value.
fn pixels(patch: &[f32], geometry: Geometry) -> impl Iterator<Item = (usize, usize, f64)> {
    patch.chunks_exact(geometry.stride()).enumerate().flat_map(move |(y, line)| {
        line[..geometry.rows].iter().enumerate().map(move |(x, &value)| (x, y, value.into()))
    })
}

fn norm(values: &[f64]) -> f64 {
    libm::sqrt(values.iter().map(|value| value * value).sum::<f64>()).max(f64::MIN_POSITIVE)
}

/// Lines along x and y whose product is most like the mean of images that are scaled to Σg² = 1: its first singular vectors.
fn most_like(planes: &[Plane], geometry: Geometry) -> [Vec<f64>; 2] {
    let rows = geometry.rows;
    let mut mean = vec![0.0; rows * rows];
    for Plane { patch, .. } in planes {
        let squares: f64 = pixels(patch, geometry).map(|(.., value)| value * value).sum();
        let scale = 1.0 / libm::sqrt(squares).max(f64::MIN_POSITIVE);
        pixels(patch, geometry).for_each(|(x, y, value)| mean[y * rows + x] += scale * value);
    }
    let mut lines = [vec![1.0; rows], vec![1.0; rows]];
    for step in 0..2 * STEPS {
        let along = step % 2;
        let other = core::mem::take(&mut lines[1 - along]);
        let line = &mut lines[along];
        line.fill(0.0);
        for (number, value) in mean.iter().enumerate() {
            let at = [number % rows, number / rows];
            line[at[along]] += value * other[at[1 - along]];
        }
        let length = norm(line);
        line.iter_mut().for_each(|value| *value /= length);
        lines[1 - along] = other;
    }
    lines
}

/// The correlation of an image with a product of lines, their means over the window of the local mean taken out.
fn likeness(patch: &[f32], [along_x, along_y]: &[Vec<f64>; 2], geometry: Geometry) -> f64 {
    let window = (geometry.rows + 2).pow(2) as f64;
    let mut sums = [0.0; 5];
    for (x, y, g) in pixels(patch, geometry) {
        let t = along_x[x] * along_y[y];
        for (sum, value) in sums.iter_mut().zip([g, t, g * g, t * t, g * t]) {
            *sum += value;
        }
    }
    let [g, t, gg, tt, gt] = sums;
    let root = libm::sqrt((gg - g * g / window) * (tt - t * t / window));
    (gt - g * t / window) / root.max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaussian(patch: &mut [f32], geometry: Geometry, at: [f64; 2], sigmas: [f64; 2]) {
        for y in 0..geometry.rows {
            for x in 0..geometry.rows {
                let off = [x, y].map(|at| at as f64 - geometry.half as f64);
                let square = |axis: usize| ((off[axis] - at[axis]) / sigmas[axis]).powi(2);
                let value = libm::exp(-0.5 * (square(0) + square(1)));
                patch[y * geometry.stride() + x] += value as f32;
            }
        }
    }

    fn plane(geometry: Geometry, parts: &[([f64; 2], [f64; 2])]) -> (Plane, Kernel) {
        let mut patch = vec![0.0; geometry.size()];
        parts.iter().for_each(|&(at, sigmas)| gaussian(&mut patch, geometry, at, sigmas));
        (Plane { third: 0.0, patch: patch.clone() }, Kernel::Patch(patch, geometry))
    }

    /// Proves that images that are alike have one filter, that those that are not have more, each like one of them, and that an image like no
    /// product of lines is its own.
    #[test]
    fn filters_are_like_images() {
        let geometry = Geometry::of(6);
        let of = |parts: &[Vec<([f64; 2], [f64; 2])>]| {
            let all = parts.iter().map(|parts| plane(geometry, parts));
            let (planes, own): (Vec<Plane>, Vec<Kernel>) = all.unzip();
            like(&planes, &own, geometry)
        };
        let at = |sigmas: [f64; 2]| vec![([0.0; 2], sigmas)];
        let alike = of(&[at([1.2, 1.4]), at([1.3, 1.3]), at([1.4, 1.2])]);
        assert!(matches!(&alike[..], [Kernel::Lines(_)]));
        let widths = (0..8).map(|step| [1.0 + 0.3 * f64::from(step), 3.1 - 0.3 * f64::from(step)]);
        let others = of(&widths.map(at).collect::<Vec<_>>());
        assert!((2..8).contains(&others.len()), "{}", others.len());
        assert!(others.iter().all(|kernel| matches!(kernel, Kernel::Lines(_))));
        let round = [1.0; 2];
        let two = of(&[vec![([-2.5, -2.5], round), ([2.5, 2.5], round)]]);
        assert!(matches!(&two[..], [Kernel::Patch(..)]));
    }

    /// Proves that sums over the pixels under an image are those pixel by pixel.
    #[test]
    fn products_are_sums() {
        let geometry = Geometry::of(4);
        let (Plane { patch, .. }, _) = plane(geometry, &[([0.3, -0.2], [1.1, 1.6])]);
        let (stride, first) = (40, 83);
        let numbers = |step: usize| -> Vec<f32> {
            (0..40 * 30).map(|at| ((at * step) % 17) as f32 * 0.1).collect()
        };
        let (a, b) = (numbers(7), numbers(5));
        let found = products([&a, &b], false, &patch, geometry, stride, first);
        let mut expected = [0.0; 3];
        for (x, y, g) in pixels(&patch, geometry) {
            let at = first + y * stride + x;
            let own = [f64::from(a[at]) * g, f64::from(b[at]) * g, f64::from(b[at]) * g * g];
            expected.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
        }
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5 * expected, "{found}, not {expected}");
        }
        let product: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
        let [masked, ..] = products([&a, &b], true, &patch, geometry, stride, first);
        let [expected, ..] = products([&product, &b], false, &patch, geometry, stride, first);
        assert!((masked - expected).abs() < 1e-5 * expected, "{masked}, not {expected}");
    }
}
