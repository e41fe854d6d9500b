//! How a PSF varies across the frame: its coefficients are polynomials of the place.

use std::sync::Arc;

use ndarray::{Array4, ArrayView4};

use super::PsfError;

/// The highest degree.
const MOST_DEGREE: usize = 4;
/// Along each axis the part has so many cells, in each of which the PSF is that of its middle.
pub(super) const CELLS: usize = 12;

/// How the coefficients of a [`Psf`](super::Psf) differ from their mean across a part of the camera's frame.
///
/// A place is (u, v), which are −1 to 1 along x and y from one end of that part to the other; what is beyond is as at its edge. The terms are products of Legendre's polynomials of u and v up to
/// a total degree, each with coefficients of its own; none has a mean. They are in the order of their degrees, and of one degree in that of the orders
/// along y: u, v, (3u² − 1)/2, uv, (3v² − 1)/2, and so on. The terms have no light, so that all local PSFs have as much.
#[derive(Clone, Debug, PartialEq)]
pub struct PsfField {
    /// (term, plane, row, column).
    terms: Arc<Array4<f64>>,
    /// Along x and along y.
    part: [[f64; 2]; 2],
}

impl PsfField {
    /// The field from the first to the last place along x and along y of `part`, in pixels of the camera's frame from the middle of the first one, with
    /// the coefficients (term, z, y, x) of 2, 5, 9 or 14 terms.
    ///
    /// # Errors
    /// If there are as many terms for no degree, if a coefficient is not finite, or if the part is not 1 to 2²⁴ pixels wide and high, and as
    /// near to the first pixel.
    pub fn new(terms: Array4<f64>, part: [[f64; 2]; 2]) -> Result<Self, PsfError> {
        let found = terms.dim().0;
        let known = (1..=MOST_DEGREE).any(|degree| count(degree) == found);
        PsfError::check("the number of field terms", found as f64, known, "2, 5, 9 or 14")?;
        let most = f64::from(1 << 24);
        for [first, last] in part {
            let good = first.abs() <= most && (1.0..=most).contains(&(last - first));
            PsfError::check("a side of the field", last - first, good, "1 to 2^24 pixels")?;
        }
        let bad = terms.iter().find(|value| !(-1e15..1e15).contains(*value));
        let value = bad.copied().unwrap_or_default();
        PsfError::check("a coefficient of the field", value, bad.is_none(), "finite")?;
        Ok(Self { terms: Arc::new(terms.as_standard_layout().into_owned()), part })
    }

    /// The coefficients (term, z, y, x).
    pub fn terms(&self) -> ArrayView4<'_, f64> {
        self.terms.view()
    }

    /// The first and the last place along x and along y, in pixels from the middle of the first one.
    pub fn part(&self) -> [[f64; 2]; 2] {
        self.part
    }

    /// The coefficients one after the other.
    pub(super) fn numbers(&self) -> &[f64] {
        self.terms.as_slice().unwrap_or_default()
    }

    /// Where pixels of the frame are, from −1 to 1.
    pub(super) fn place(&self, at: [f64; 2]) -> [f64; 2] {
        within(self.part, at)
    }

    /// The columns and rows of a cell.
    pub(super) fn side(&self) -> [f64; 2] {
        self.part.map(|[first, last]| (last - first) / CELLS as f64)
    }

    /// What the mean coefficients are at a place from −1 to 1.
    pub(super) fn at(&self, mean: &[f64], place: [f64; 2]) -> Vec<f64> {
        let mut all = mean.to_vec();
        add(&mut all, self.numbers(), &values(degree_of(self.terms.dim().0), place));
        all
    }
}

/// Where places of a part are, from −1 to 1: beyond it as at its edge.
pub(super) fn within(part: [[f64; 2]; 2], at: [f64; 2]) -> [f64; 2] {
    [0, 1].map(|axis| {
        let [first, last] = part[axis];
        let place = 2.0 * (at[axis] - first) / (last - first) - 1.0;
        if place.is_nan() { 0.0 } else { place.clamp(-1.0, 1.0) }
    })
}

/// The middle of a cell, from −1 to 1; row after row.
pub(super) fn middle(cell: usize) -> [f64; 2] {
    [cell % CELLS, cell / CELLS].map(|at| (2 * at + 1) as f64 / CELLS as f64 - 1.0)
}

/// How many terms there are up to a degree.
pub(super) const fn count(degree: usize) -> usize {
    (degree + 1) * (degree + 2) / 2 - 1
}

fn degree_of(terms: usize) -> usize {
    (1..=MOST_DEGREE).find(|&degree| count(degree) >= terms).unwrap_or(MOST_DEGREE)
}

/// The orders of each term along x and y.
fn orders(degree: usize) -> impl Iterator<Item = [usize; 2]> {
    (1..=degree).flat_map(|all| (0..=all).map(move |of_y| [all - of_y, of_y]))
}

/// The terms at a place.
pub(super) fn values(degree: usize, [u, v]: [f64; 2]) -> Vec<f64> {
    orders(degree).map(|[x, y]| legendre(x, u) * legendre(y, v)).collect()
}

fn legendre(order: usize, at: f64) -> f64 {
    let (mut before, mut own) = (0.0, 1.0);
    for k in 0..order {
        let k = k as f64;
        (before, own) = (own, ((2.0 * k + 1.0) * at * own - k * before) / (k + 1.0));
    }
    own
}

/// Adds blocks of numbers, one after the other, each times its weight.
pub(super) fn add(to: &mut [f64], blocks: &[f64], weights: &[f64]) {
    for (block, weight) in blocks.chunks_exact(to.len()).zip(weights) {
        to.iter_mut().zip(block).for_each(|(to, value)| *to += weight * value);
    }
}

/// Gauss's places from −1 to 1, and their weights with a sum of 1: polynomials up to a degree of 9 are integrated.
const GAUSS: [[f64; 2]; 5] = [
    [-0.906_179_845_938_664, 0.118_463_442_528_094_54],
    [-0.538_469_310_105_683_1, 0.239_314_335_249_683_23],
    [0.0, 0.284_444_444_444_444_44],
    [0.538_469_310_105_683_1, 0.239_314_335_249_683_23],
    [0.906_179_845_938_664, 0.118_463_442_528_094_54],
];

/// The places of the frame that tell polynomials.
pub(super) fn places() -> impl Iterator<Item = [f64; 2]> {
    (0..GAUSS.len().pow(2)).map(|at| [at % GAUSS.len(), at / GAUSS.len()].map(|at| GAUSS[at][0]))
}

/// The mean of functions of the place, and then their terms, of which each [place](places()) has the numbers. What sums of numbers are
/// everywhere, they are for the mean, and 0 for all terms.
pub(super) fn projected(degree: usize, numbers: &[Vec<f64>]) -> Vec<f64> {
    let length = numbers.first().map_or(0, Vec::len);
    let mut all = vec![0.0; (1 + count(degree)) * length];
    for (number, (own, place)) in numbers.iter().zip(places()).enumerate() {
        let weight = GAUSS[number % GAUSS.len()][1] * GAUSS[number / GAUSS.len()][1];
        let terms = std::iter::once([0, 0]).chain(orders(degree));
        for (to, [x, y]) in all.chunks_exact_mut(length.max(1)).zip(terms) {
            // The mean square of Legendre's polynomial of order n is 1/(2n + 1).
            let unit = ((2 * x + 1) * (2 * y + 1)) as f64;
            let share = weight * unit * legendre(x, place[0]) * legendre(y, place[1]);
            to.iter_mut().zip(own).for_each(|(to, own)| *to += share * own);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that polynomials of the place are found from Gauss's places, with their mean, and that what is the same everywhere has no terms.
    #[test]
    fn polynomials_are_found() {
        let of = |[u, v]: [f64; 2]| vec![1.0 + u - 2.0 * u * v + 3.0 * v * v * v, 5.0];
        let numbers: Vec<Vec<f64>> = places().map(of).collect();
        let found = projected(3, &numbers);
        assert_eq!(found.len(), 2 * (1 + count(3)));
        assert!((found[0] - 1.0).abs() < 1e-12);
        for place in [[-1.0, 1.0], [0.3, -0.7], [1.0, 0.0]] {
            let mut own = found[..2].to_vec();
            add(&mut own, &found[2..], &values(3, place));
            let expected = of(place);
            assert!((own[0] - expected[0]).abs() < 1e-12 && (own[1] - 5.0).abs() < 1e-12);
        }
        assert_eq!(values(2, [0.5, -0.5]), [0.5, -0.5, -0.125, -0.25, -0.125]);
    }
}
