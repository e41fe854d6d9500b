//! The light of one spot on the few pixels around it, with its derivatives.

use crate::lanes::{LANES, erf, exp_of_negative};

/// The pixels of a patch: `rows` rows of `chunks`·[`LANES`] numbers, of which the first `rows` are pixels and the rest 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Geometry {
    /// Pixels from the centre to the edge.
    pub(crate) half: usize,
    pub(crate) rows: usize,
    pub(crate) chunks: usize,
}

impl Geometry {
    /// Patches that reach `half` pixels from their centre.
    pub(crate) fn of(half: usize) -> Self {
        let rows = 2 * half + 1;
        Self { half, rows, chunks: rows.div_ceil(LANES) }
    }

    /// Numbers in a row.
    pub(crate) const fn stride(&self) -> usize {
        self.chunks * LANES
    }

    /// Numbers of one function.
    pub(crate) const fn size(&self) -> usize {
        self.rows * self.stride()
    }
}

/// The most parameters of a spot: amplitude, x, y, σ. Matrices have so many rows for each.
pub(crate) const PARAMETERS: usize = 4;

/// A point source's image, whose parameters are its place and one more, its width or its height.
///
/// Functions are written one after the other, each [`Geometry::size`] numbers: the image of one photon, its derivatives in x and
/// y, and, if `third` is given, in the third parameter.
pub(crate) trait Shape {
    /// `place` is the centre seen from the patch's first pixel.
    fn functions(
        &self,
        place: [f64; 2],
        third: f64,
        with_third: bool,
        geometry: Geometry,
        into: &mut [f32],
    );

    /// The second derivatives in x twice, in x and y, and in y twice.
    fn second(&self, place: [f64; 2], third: f64, geometry: Geometry, into: &mut [f32]);
}

/// Circular Gaussian spots: g = G(x)·G(y), the third parameter is σ.
///
/// Since ∂G/∂σ = σ·∂²G/∂x², sampled or integrated, the derivative in σ is σ·(g_xx + g_yy).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gaussian {
    /// Whether pixels integrate it.
    pub(crate) integrated: bool,
}

/// The longest row of a patch.
pub(crate) const LONGEST: usize = 64;

/// A Gaussian on the pixels of an axis, with two derivatives in its centre.
struct Axis {
    value: [f32; LONGEST],
    first: [f32; LONGEST],
    second: [f32; LONGEST],
}

impl Gaussian {
    #[inline(always)]
    fn axis(self, centre: f64, sigma: f64, pixels: usize) -> Axis {
        let mut axis =
            Axis { value: [0.0; LONGEST], first: [0.0; LONGEST], second: [0.0; LONGEST] };
        let Axis { value, first, second } = &mut axis;
        let precision = (1.0 / (sigma * sigma)) as f32;
        let height = (1.0 / (sigma * libm::sqrt(core::f64::consts::TAU))) as f32;
        let centre = centre as f32;
        if self.integrated {
            // Those at the pixels' left edges.
            let (mut below, mut density) = ([0.0; LONGEST + 1], [0.0; LONGEST + 1]);
            let scale = (core::f64::consts::FRAC_1_SQRT_2 / sigma) as f32;
            for i in 0..=pixels {
                let u = i as f32 - 0.5 - centre;
                below[i] = 0.5 * erf(scale * u);
                density[i] = height * exp_of_negative(-0.5 * precision * u * u);
            }
            for i in 0..pixels {
                let u = i as f32 - 0.5 - centre;
                value[i] = below[i + 1] - below[i];
                first[i] = density[i] - density[i + 1];
                second[i] = precision * (density[i] * u - density[i + 1] * (u + 1.0));
            }
        } else {
            for i in 0..pixels {
                let u = i as f32 - centre;
                let g = height * exp_of_negative(-0.5 * precision * u * u);
                value[i] = g;
                first[i] = g * precision * u;
                second[i] = g * precision * (precision * u * u - 1.0);
            }
        }
        axis
    }
}

#[inline(always)]
fn outer(into: &mut [f32], stride: usize, x: &[f32; LONGEST], y: &[f32; LONGEST]) {
    for (row, &y) in into.chunks_exact_mut(stride).zip(y) {
        for (value, &x) in row.iter_mut().zip(x) {
            *value = x * y;
        }
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn gaussian(
    shape: Gaussian,
    place: [f64; 2],
    sigma: f64,
    with_sigma: bool,
    geometry: Geometry,
    into: &mut [f32],
) {
    // No closure: that would be compiled for any processor.
    let x = shape.axis(place[0], sigma, geometry.rows);
    let y = shape.axis(place[1], sigma, geometry.rows);
    let (size, stride) = (geometry.size(), geometry.stride());
    let (value, rest) = into.split_at_mut(size);
    let (in_x, rest) = rest.split_at_mut(size);
    let (in_y, rest) = rest.split_at_mut(size);
    outer(value, stride, &x.value, &y.value);
    outer(in_x, stride, &x.first, &y.value);
    outer(in_y, stride, &x.value, &y.first);
    if with_sigma {
        let sigma = sigma as f32;
        for (row, (&y0, &y2)) in
            rest[..size].chunks_exact_mut(stride).zip(y.value.iter().zip(&y.second))
        {
            for (value, (&x0, &x2)) in row.iter_mut().zip(x.value.iter().zip(&x.second)) {
                *value = sigma * (x2 * y0 + x0 * y2);
            }
        }
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn second_of_gaussian(
    shape: Gaussian,
    place: [f64; 2],
    sigma: f64,
    geometry: Geometry,
    into: &mut [f32],
) {
    // No closure: that would be compiled for any processor.
    let x = shape.axis(place[0], sigma, geometry.rows);
    let y = shape.axis(place[1], sigma, geometry.rows);
    let (size, stride) = (geometry.size(), geometry.stride());
    let (xx, rest) = into.split_at_mut(size);
    let (xy, yy) = rest.split_at_mut(size);
    outer(xx, stride, &x.second, &y.value);
    outer(xy, stride, &x.first, &y.first);
    outer(&mut yy[..size], stride, &x.value, &y.second);
}

impl Shape for Gaussian {
    fn functions(
        &self,
        place: [f64; 2],
        third: f64,
        with_third: bool,
        geometry: Geometry,
        into: &mut [f32],
    ) {
        gaussian(*self, place, third, with_third, geometry, into);
    }

    fn second(&self, place: [f64; 2], third: f64, geometry: Geometry, into: &mut [f32]) {
        second_of_gaussian(*self, place, third, geometry, into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that every derivative of a patch is the slope of what it is the derivative of, for sampled and integrated
    /// pixels, by differences.
    #[test]
    fn derivatives_are_slopes() {
        let geometry = Geometry::of(4);
        let size = geometry.size();
        for integrated in [false, true] {
            let shape = Gaussian { integrated };
            let at = |x: f64, y: f64, sigma: f64| {
                let mut functions = vec![0.0; 4 * size];
                shape.functions([x, y], sigma, true, geometry, &mut functions);
                functions
            };
            let (x, y, sigma, step) = (4.2, 3.7, 1.3, 2e-2);
            let here = at(x, y, sigma);
            let mut second = vec![0.0; 3 * size];
            shape.second([x, y], sigma, geometry, &mut second);
            let slope = |plus: &[f32], minus: &[f32], function: usize| -> Vec<f32> {
                let range = function * size..(function + 1) * size;
                let both = plus[range.clone()].iter().zip(&minus[range]);
                both.map(|(a, b)| (a - b) / (2.0 * step as f32)).collect()
            };
            let along_x = (at(x + step, y, sigma), at(x - step, y, sigma));
            let along_y = (at(x, y + step, sigma), at(x, y - step, sigma));
            let along_sigma = (at(x, y, sigma + step), at(x, y, sigma - step));
            for (found, expected, name) in [
                (&here[size..2 * size], slope(&along_x.0, &along_x.1, 0), "x"),
                (&here[2 * size..3 * size], slope(&along_y.0, &along_y.1, 0), "y"),
                (&here[3 * size..], slope(&along_sigma.0, &along_sigma.1, 0), "sigma"),
                (&second[..size], slope(&along_x.0, &along_x.1, 1), "xx"),
                (&second[size..2 * size], slope(&along_x.0, &along_x.1, 2), "xy"),
                (&second[2 * size..], slope(&along_y.0, &along_y.1, 2), "yy"),
            ] {
                for (found, expected) in found.iter().zip(&expected) {
                    assert!((found - expected).abs() < 2e-4, "{name}: {found}, not {expected}");
                }
            }
            let total: f32 = here[..size].iter().sum();
            assert!((total - 1.0).abs() < 0.01, "one photon is {total}");
        }
    }
}
