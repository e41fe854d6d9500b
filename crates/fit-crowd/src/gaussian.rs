//! Gaussian spots: circular ones, those of two widths, and those whose widths follow their height.

use crate::geometry::{Geometry, LONGEST};
use crate::heights::WidthCurve;
use crate::lanes::{erf, exp_of_negative};

/// What the widths along x and along y are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Widths {
    /// The third parameter of the spot, both of them.
    Third,
    Fixed([f64; 2]),
    /// The third parameter is the height.
    Curve(WidthCurve),
}

impl Widths {
    /// Each width and its slope in the third parameter.
    pub(crate) fn of(&self, third: f64) -> [[f64; 2]; 2] {
        match self {
            Self::Third => [[third, 1.0]; 2],
            Self::Fixed(widths) => widths.map(|width| [width, 0.0]),
            Self::Curve(curve) => curve.at(third),
        }
    }
}

/// Gaussian spots: g = G(x)·G(y).
///
/// Since ∂G/∂σ = σ·∂²G/∂x², sampled or integrated, the derivative in σ of a circular one is σ·(g_xx + g_yy), and that in z is
/// σx·σx′·g_xx + σy·σy′·g_yy.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gaussian {
    /// Whether pixels integrate it.
    pub(crate) integrated: bool,
    pub(crate) widths: Widths,
}

/// A Gaussian on the pixels of an axis, with two derivatives in its centre: eq. 10 and 11, as `fit_core::spot::axis::GaussianAxis` has
/// them. That is not called, because outside of the packs of `fit-cpu` it computes one exponential or error function after the other: the
/// 9 pixels of an axis take 54 ns with it and 28 here, where they are side by side (AMD EPYC, AVX2, 2026-11-26).
struct Axis {
    value: [f32; LONGEST],
    first: [f32; LONGEST],
    second: [f32; LONGEST],
}

impl Gaussian {
    #[inline(always)]
    fn axis(&self, centre: f64, sigma: f64, pixels: usize) -> Axis {
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
    shape: &Gaussian,
    place: [f64; 2],
    third: f64,
    with_third: bool,
    geometry: Geometry,
    into: &mut [f32],
) {
    // No closure: that would be compiled for any processor.
    let [[sigma_x, slope_x], [sigma_y, slope_y]] = shape.widths.of(third);
    let x = shape.axis(place[0], sigma_x, geometry.rows);
    let y = shape.axis(place[1], sigma_y, geometry.rows);
    let (size, stride) = (geometry.size(), geometry.stride());
    let (value, rest) = into.split_at_mut(size);
    let (in_x, rest) = rest.split_at_mut(size);
    let (in_y, rest) = rest.split_at_mut(size);
    outer(value, stride, &x.value, &y.value);
    outer(in_x, stride, &x.first, &y.value);
    outer(in_y, stride, &x.value, &y.first);
    if !with_third {
        return;
    }
    let lines = rest[..size].chunks_exact_mut(stride).zip(y.value.iter().zip(&y.second));
    if let Widths::Third = shape.widths {
        let sigma = third as f32;
        for (row, (&y0, &y2)) in lines {
            for (value, (&x0, &x2)) in row.iter_mut().zip(x.value.iter().zip(&x.second)) {
                *value = sigma * (x2 * y0 + x0 * y2);
            }
        }
    } else {
        let (by_x, by_y) = ((sigma_x * slope_x) as f32, (sigma_y * slope_y) as f32);
        for (row, (&y0, &y2)) in lines {
            let (y0, y2) = (by_x * y0, by_y * y2);
            for (value, (&x0, &x2)) in row.iter_mut().zip(x.value.iter().zip(&x.second)) {
                *value = x2 * y0 + x0 * y2;
            }
        }
    }
}

#[multiversion::multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn second_of_gaussian(
    shape: &Gaussian,
    place: [f64; 2],
    third: f64,
    geometry: Geometry,
    into: &mut [f32],
) {
    // No closure: that would be compiled for any processor.
    let [[sigma_x, _], [sigma_y, _]] = shape.widths.of(third);
    let x = shape.axis(place[0], sigma_x, geometry.rows);
    let y = shape.axis(place[1], sigma_y, geometry.rows);
    let (size, stride) = (geometry.size(), geometry.stride());
    let (xx, rest) = into.split_at_mut(size);
    let (xy, yy) = rest.split_at_mut(size);
    outer(xx, stride, &x.second, &y.value);
    outer(xy, stride, &x.first, &y.first);
    outer(&mut yy[..size], stride, &x.value, &y.second);
}

impl Gaussian {
    /// As [`crate::patch::Shape::functions`].
    pub(crate) fn functions(
        &self,
        place: [f64; 2],
        third: f64,
        with_third: bool,
        geometry: Geometry,
        into: &mut [f32],
    ) {
        gaussian(self, place, third, with_third, geometry, into);
    }

    /// As [`crate::patch::Shape::second`].
    pub(crate) fn second(&self, place: [f64; 2], third: f64, geometry: Geometry, into: &mut [f32]) {
        second_of_gaussian(self, place, third, geometry, into);
    }
}

#[cfg(test)]
mod tests {
    use fit_core::PixelProfile;
    use fit_core::spot::axis::{CENTRE_UNIT, GaussianAxis, WIDTH_UNIT};

    use super::*;
    use crate::patch::Shape;
    use crate::patch::tests::assert_derivatives;
    use crate::spline::MEAN;

    /// Proves that every derivative of a patch is the slope of what it is the derivative of, for sampled and integrated
    /// pixels, for a width of its own and for widths that follow the height, by differences.
    #[test]
    fn derivatives_are_slopes() {
        let curve = WidthCurve::through([-600.0, 600.0], |z| {
            [1.2 + 1e-6 * (z - 200.0) * (z - 200.0), 1.3 + 1e-6 * (z + 250.0) * (z + 250.0)]
        });
        for integrated in [false, true] {
            for (widths, third, step) in
                [(Widths::Third, 1.3, 2e-2), (Widths::Curve(curve.unwrap()), 123.0, 10.0)]
            {
                let shape = Shape::Gaussian(Gaussian { integrated, widths });
                assert_derivatives(&shape, MEAN, third, [2e-2, step], Geometry::of(5));
            }
        }
    }

    /// Proves that an axis has the numbers of fit-core's, in pixels and scaled to one photon.
    #[test]
    fn axes_are_those_of_fit_core() {
        for (integrated, profile) in
            [(false, PixelProfile::Sampled), (true, PixelProfile::Integrated)]
        {
            for sigma in [0.6, 1.3, 3.1] {
                let gaussian = Gaussian { integrated, widths: Widths::Third };
                let axis = gaussian.axis(6.3, sigma, 13);
                let other = GaussianAxis::with_profile(profile, 6.3, 1.0 / sigma);
                let photon = 1.0 / (sigma * core::f64::consts::TAU.sqrt());
                for i in 0..13 {
                    let sample = other.sample::<false>(i as f64);
                    let value = photon * sample.value;
                    let first = photon * sample.by_centre / (CENTRE_UNIT * sigma);
                    let second = photon * (sample.by_width - WIDTH_UNIT * sample.value)
                        / (WIDTH_UNIT * sigma * sigma);
                    for (found, expected, scale) in [
                        (axis.value[i], value, photon),
                        (axis.first[i], first, photon / sigma),
                        (axis.second[i], second, photon / (sigma * sigma)),
                    ] {
                        let off = (f64::from(found) - expected).abs();
                        assert!(off < 3e-6 * scale, "{profile:?} {sigma} {i}: {found}, {expected}");
                    }
                }
            }
        }
    }

    /// Proves that a spot of two widths that are one is the circular one, and that x and y are not confused where they are two.
    #[test]
    fn two_widths_are_along_their_axes() {
        let geometry = Geometry::of(5);
        let of = |widths, third| {
            let mut functions = vec![0.0; 3 * geometry.size()];
            let shape = Gaussian { integrated: false, widths };
            shape.functions([5.1, 4.8], third, false, geometry, &mut functions);
            functions
        };
        assert_eq!(of(Widths::Fixed([1.3; 2]), 0.0), of(Widths::Third, 1.3));
        let wide = of(Widths::Fixed([2.0, 1.0]), 0.0);
        let at = |x: usize, y: usize| wide[y * geometry.stride() + x];
        assert!(at(8, 5) > 4.0 * at(5, 8), "{} {}", at(8, 5), at(5, 8));
    }
}
