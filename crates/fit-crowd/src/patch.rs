//! The light of one spot on the few pixels around it, with its derivatives.

use crate::gaussian::Gaussian;
use crate::geometry::Geometry;
use crate::spline::{MEAN, SplineImage};

/// The most parameters of a spot: amplitude, x, y, and σ or z. Matrices have so many rows for each.
pub(crate) const PARAMETERS: usize = 4;

/// A point source's image, whose parameters are its place and one more, its width or its height.
///
/// Functions are written one after the other, each [`Geometry::size`] numbers: the image of one photon, its derivatives in x and
/// y, and, if that is asked for, in the third parameter.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Gaussian(Gaussian),
    Spline(SplineImage),
}

impl Shape {
    /// The cell of the frame that a place is in, as far as spots look differently there.
    pub(crate) fn cell_at(&self, place: [f64; 2]) -> usize {
        match self {
            Self::Gaussian(_) => MEAN,
            Self::Spline(spline) => spline.cell_at(place),
        }
    }

    /// `place` is the centre seen from the patch's first pixel.
    pub(crate) fn functions(
        &self,
        cell: usize,
        place: [f64; 2],
        third: f64,
        with_third: bool,
        geometry: Geometry,
        into: &mut [f32],
    ) {
        match self {
            Self::Gaussian(gaussian) => {
                gaussian.functions(place, third, with_third, geometry, into);
            }
            Self::Spline(spline) => {
                spline.in_cell(cell).functions(place, third, with_third, geometry, into);
            }
        }
    }

    /// The second derivatives in x twice, in x and y, and in y twice.
    pub(crate) fn second(
        &self,
        cell: usize,
        place: [f64; 2],
        third: f64,
        geometry: Geometry,
        into: &mut [f32],
    ) {
        match self {
            Self::Gaussian(gaussian) => gaussian.second(place, third, geometry, into),
            Self::Spline(spline) => spline.in_cell(cell).second(place, third, geometry, into),
        }
    }

    /// The widths along x and along y; those of a Gaussian as compact as an image that is none.
    pub(crate) fn widths(&self, cell: usize, third: f64) -> [f64; 2] {
        match self {
            Self::Gaussian(gaussian) => gaussian.widths.of(third).map(|[width, _]| width),
            Self::Spline(spline) => [spline.in_cell(cell).sigma(third); 2],
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Asserts that every derivative of a patch is the slope of what it is the derivative of, by differences, and that the patch has
    /// about one photon.
    pub(crate) fn assert_derivatives(
        shape: &Shape,
        cell: usize,
        third: f64,
        steps: [f64; 2],
        geometry: Geometry,
    ) {
        let size = geometry.size();
        let at = |x: f64, y: f64, third: f64| {
            let mut functions = vec![0.0; 4 * size];
            shape.functions(cell, [x, y], third, true, geometry, &mut functions);
            functions
        };
        let half = geometry.half as f64;
        let (x, y) = (half + 0.2, half - 0.3);
        let here = at(x, y, third);
        let mut second = vec![0.0; 3 * size];
        shape.second(cell, [x, y], third, geometry, &mut second);
        let slope = |plus: &[f32], minus: &[f32], function: usize, step: f64| -> Vec<f32> {
            let range = function * size..(function + 1) * size;
            let both = plus[range.clone()].iter().zip(&minus[range]);
            both.map(|(a, b)| (a - b) / (2.0 * step as f32)).collect()
        };
        let [step, third_step] = steps;
        let along_x = (at(x + step, y, third), at(x - step, y, third));
        let along_y = (at(x, y + step, third), at(x, y - step, third));
        let along_third = (at(x, y, third + third_step), at(x, y, third - third_step));
        let slope_of =
            |pair: &(Vec<f32>, Vec<f32>), function| slope(&pair.0, &pair.1, function, step);
        for (found, expected, name, unit) in [
            (&here[size..2 * size], slope_of(&along_x, 0), "x", 1.0),
            (&here[2 * size..3 * size], slope_of(&along_y, 0), "y", 1.0),
            (
                &here[3 * size..],
                slope(&along_third.0, &along_third.1, 0, third_step),
                "third",
                (step / third_step) as f32,
            ),
            (&second[..size], slope_of(&along_x, 1), "xx", 1.0),
            (&second[size..2 * size], slope_of(&along_x, 2), "xy", 1.0),
            (&second[2 * size..], slope_of(&along_y, 2), "yy", 1.0),
        ] {
            for (row, (found, expected)) in
                found.chunks(geometry.stride()).zip(expected.chunks(geometry.stride())).enumerate()
            {
                for (found, expected) in found.iter().zip(expected).take(geometry.rows) {
                    let off = (found - expected).abs();
                    assert!(off < 2e-4 * unit, "{name}, row {row}: {found}, not {expected}");
                }
            }
            let largest = found.iter().fold(0.0f32, |most, value| most.max(value.abs()));
            assert!(largest > 2e-3 * unit, "{name} vanishes: {largest}");
        }
        let rows = here[..size].chunks(geometry.stride());
        let total: f32 = rows.map(|row| row[..geometry.rows].iter().sum::<f32>()).sum();
        assert!((total - 1.0).abs() < 0.01, "one photon is {total}");
    }
}
