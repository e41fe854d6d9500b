//! Measured images of a point source, as cubic B-splines.

use std::sync::Arc;

use multiversion::multiversion;
use multiversion::target::target_cfg_f;

use crate::error::CrowdError;
use crate::geometry::{Geometry, LONGEST};
use crate::lanes::{LANES, fused, load};

/// The fewest pixels that an image covers.
const FEWEST: usize = 5;
/// Heights of an interval between two knots at which its width is known.
const WIDTHS_OF_INTERVAL: usize = 8;
/// Coefficients beside each other in a line, with those before and after the pixels.
const LINE: usize = LONGEST + LANES;
/// The number of no cell: the mean of all.
pub(crate) const MEAN: usize = usize::MAX;
/// Lines are computed beyond the last of them.
const BEYOND: usize = 2 * LANES;

/// The image of a point source by its height: a cubic B-spline whose knots are a pixel apart along x and y, and a step apart along z.
///
/// An axis of n coefficients has n − 3 intervals between knots. The emitter is in the middle of those along x and y. The value is the
/// share of the photons in a pixel.
#[derive(Clone, Debug, PartialEq)]
pub struct SplineImage {
    /// (plane, row, column), and zeros beyond the end.
    coefficients: Arc<[f32]>,
    shape: [usize; 3],
    step: f64,
    zero: f64,
    /// The widths of Gaussians as compact as the pixels at heights from one end of the range to the other.
    sigmas: Arc<[f64]>,
    /// Its images in parts of the frame, if they differ there; it is their mean then.
    cells: Option<Arc<SplineCells>>,
}

/// The images of the parts of a frame, which is cut into equal cells.
#[derive(Clone, Debug, PartialEq)]
struct SplineCells {
    /// The corner of the first cell, seen from the middle of the first pixel.
    corner: [f64; 2],
    /// Columns and rows of a cell.
    side: [f64; 2],
    /// How many there are along x and along y.
    counts: [usize; 2],
    images: Vec<SplineImage>,
}

impl SplineImage {
    /// The spline with these coefficients, of so many planes, rows and columns, its planes `step` apart in z, and z = 0 at `zero`
    /// intervals from the first knot.
    ///
    /// # Errors
    /// [`CrowdError::Option`] if there are fewer than 4 planes, if the image covers fewer than 5 pixels along x or y, if there are not as
    /// many coefficients, or if a number is not finite.
    pub fn new(
        coefficients: &[f64],
        shape: [usize; 3],
        step: f64,
        zero: f64,
    ) -> Result<Self, CrowdError> {
        let check = CrowdError::check;
        let [planes, rows, columns] = shape;
        check("planes", planes as f64, planes >= 4, "4 or more")?;
        for (name, count) in [("rows", rows), ("columns", columns)] {
            check(name, count as f64, count >= FEWEST + 3, "8 or more")?;
        }
        let needed = planes.checked_mul(rows).and_then(|some| some.checked_mul(columns));
        let count = coefficients.len();
        check("coefficients", count as f64, needed == Some(count), "planes × rows × columns")?;
        check("step", step, step > 0.0 && step.is_finite(), "above 0")?;
        check("zero", zero, zero.is_finite(), "finite")?;
        let beyond = [0.0; BEYOND];
        let coefficients: Arc<[f32]> =
            coefficients.iter().map(|&value| value as f32).chain(beyond).collect();
        if let Some(&value) = coefficients.iter().find(|value| !value.is_finite()) {
            check("a coefficient", value.into(), false, "finite")?;
        }
        let mut image =
            Self { coefficients, shape, step, zero, sigmas: Arc::default(), cells: None };
        let [low, high] = image.range();
        let count = WIDTHS_OF_INTERVAL * (planes - 3);
        let height = |number: usize| low + (high - low) * number as f64 / count as f64;
        image.sigmas = (0..=count).map(|number| image.compactness(height(number))).collect();
        Ok(image)
    }

    /// The same where emitters look differently in the cells of a frame, row after row, of which there are `counts` along x and y with sides
    /// of `side` pixels; the first begins at `corner`, seen from the middle of the first pixel. Emitters beyond are as in the nearest cell. It should
    /// be the mean of all: with it emitters are looked for.
    ///
    /// # Errors
    /// [`CrowdError::Option`] if there are not as many images as cells, if one has another shape or other heights, or if a number is not finite or
    /// a side not above 0.
    pub fn with_cells(
        self,
        corner: [f64; 2],
        side: [f64; 2],
        counts: [usize; 2],
        images: Vec<Self>,
    ) -> Result<Self, CrowdError> {
        let check = CrowdError::check;
        let count = images.len();
        let needed = counts[0].checked_mul(counts[1]).filter(|&needed| needed > 0);
        check("cells", count as f64, needed == Some(count), "columns × rows")?;
        for axis in 0..2 {
            check("corner", corner[axis], corner[axis].is_finite(), "finite")?;
            let own = side[axis];
            check("side", own, own > 0.0 && own.is_finite(), "above 0")?;
        }
        let like = |other: &Self| {
            (other.shape, other.step, other.zero) == (self.shape, self.step, self.zero)
                && other.cells.is_none()
        };
        let other = images.iter().position(|image| !like(image));
        check("cell", other.unwrap_or(0) as f64, other.is_none(), "of one shape, without cells")?;
        let cells = Some(Arc::new(SplineCells { corner, side, counts, images }));
        Ok(Self { cells, ..self })
    }

    /// The number of the cell that a place in the frame is in; [`MEAN`] where there are none.
    pub(crate) fn cell_at(&self, place: [f64; 2]) -> usize {
        let Some(cells) = &self.cells else { return MEAN };
        let SplineCells { corner, side, counts, .. } = &**cells;
        let [column, row] = [0, 1].map(|axis| {
            let at = (place[axis] - corner[axis]) / side[axis];
            (at.max(0.0) as usize).min(counts[axis] - 1)
        });
        row * counts[0] + column
    }

    /// The image in a cell.
    pub(crate) fn in_cell(&self, cell: usize) -> &Self {
        self.cells.as_ref().and_then(|cells| cells.images.get(cell)).unwrap_or(self)
    }

    /// The least and the greatest z.
    pub fn range(&self) -> [f64; 2] {
        [0.0, (self.shape[0] - 3) as f64].map(|plane| (plane - self.zero) * self.step)
    }

    /// Whether it is the same at all heights.
    pub(crate) fn is_single(&self) -> bool {
        let [planes, rows, columns] = self.shape;
        let mut all = self.coefficients[..planes * rows * columns].chunks_exact(rows * columns);
        let first = all.next();
        all.all(|plane| Some(plane) == first)
    }

    /// The most pixels from the middle of a patch to its edge, of which all are covered.
    pub(crate) fn reach(&self) -> usize {
        (self.shape[1].min(self.shape[2]) - 4) / 2
    }

    /// The width of a Gaussian as compact as the pixels at a height.
    pub(crate) fn sigma(&self, z: f64) -> f64 {
        let last = self.sigmas.len() - 1;
        let at = (z / self.step + self.zero) * WIDTHS_OF_INTERVAL as f64;
        let at = at.clamp(0.0, last as f64);
        let before = (at as usize).min(last - 1);
        let [low, high] = [self.sigmas[before], self.sigmas[before + 1]];
        low + (at - before as f64) * (high - low)
    }

    /// 1/√(4πΣg²) of the pixels at a height.
    fn compactness(&self, z: f64) -> f64 {
        let geometry = Geometry::of(self.reach().min(LONGEST / 2 - 1));
        let mut functions = vec![0.0; 3 * geometry.size()];
        let centre = [geometry.half as f64; 2];
        self.functions(centre, z, false, geometry, &mut functions);
        let rows = functions[..geometry.size()].chunks_exact(geometry.stride());
        let squares = rows.flat_map(|row| &row[..geometry.rows]).map(|g| f64::from(g * g));
        let sum: f64 = squares.sum();
        1.0 / libm::sqrt(4.0 * core::f64::consts::PI * sum)
    }

    /// As [`crate::patch::Shape::functions`], the third parameter being z.
    pub(crate) fn functions(
        &self,
        place: [f64; 2],
        z: f64,
        with_z: bool,
        geometry: Geometry,
        into: &mut [f32],
    ) {
        let at = At::new(self, place, z, geometry);
        let per_z = (1.0 / self.step) as f32;
        // An emitter that moves by one pixel moves the spline's place by one pixel back.
        let kinds = [[0, 0], [0, 1], [1, 0]];
        let wanted = [(0, 0, 1.0), (1, 0, -1.0), (0, 1, -1.0), (2, 0, per_z)];
        evaluate(self, &at, kinds, &wanted[..3 + usize::from(with_z)], geometry, into);
    }

    /// As [`crate::patch::Shape::second`].
    pub(crate) fn second(&self, place: [f64; 2], z: f64, geometry: Geometry, into: &mut [f32]) {
        let at = At::new(self, place, z, geometry);
        let kinds = [[0, 2], [0, 1], [0, 0]];
        evaluate(self, &at, kinds, &[(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0)], geometry, into);
    }
}

/// The four functions that weigh the coefficients around a place between two knots, from 0 to 1, with their first and second
/// derivatives.
#[inline]
pub fn basis(u: f64) -> [[f64; 4]; 3] {
    let v = 1.0 - u;
    let weights = [
        v * v * v / 6.0,
        2.0 / 3.0 - u * u * (1.0 - 0.5 * u),
        2.0 / 3.0 - v * v * (1.0 - 0.5 * v),
        u * u * u / 6.0,
    ];
    let slopes = [-0.5 * v * v, 0.5 * u * (3.0 * u - 4.0), 0.5 * v * (4.0 - 3.0 * v), 0.5 * u * u];
    let bends = [v, 3.0 * u - 2.0, 3.0 * v - 2.0, u];
    [weights, slopes, bends]
}

/// Where the pixels of a patch are in the spline: axes are z, y and x.
struct At {
    first: [usize; 3],
    basis: [[[f32; 4]; 3]; 3],
}

impl At {
    fn new(image: &SplineImage, place: [f64; 2], z: f64, geometry: Geometry) -> Self {
        let [planes, rows, columns] = image.shape;
        let within = |at: f64, most: usize| {
            let at = at.max(0.0);
            let first = (at as usize).min(most);
            let basis = basis((at - first as f64).min(1.0));
            (first, basis.map(|all| all.map(|weight| weight as f32)))
        };
        let (plane, by_z) = within(z / image.step + image.zero, planes - 4);
        let along = |count: usize, place: f64| {
            within(0.5 * (count - 3) as f64 - place, count - 3 - geometry.rows)
        };
        let (row, by_y) = along(rows, place[1]);
        let (column, by_x) = along(columns, place[0]);
        Self { first: [plane, row, column], basis: [by_z, by_y, by_x] }
    }
}

/// Writes functions of which each is one of three kinds of lines, summed along y with a derivative of so many orders, times a factor.
/// A kind is its orders along z and along x. What is written beside a patch's pixels means nothing.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx2+fma", "x86_64+avx2+fma"))]
fn evaluate(
    image: &SplineImage,
    at: &At,
    kinds: [[usize; 2]; 3],
    wanted: &[(usize, usize, f32)],
    geometry: Geometry,
    into: &mut [f32],
) {
    if target_cfg_f!(target_feature = "fma") {
        evaluate_with::<true>(image, at, kinds, wanted, geometry, into);
    } else {
        evaluate_with::<false>(image, at, kinds, wanted, geometry, into);
    }
}

#[inline(always)]
fn evaluate_with<const FUSED: bool>(
    image: &SplineImage,
    at: &At,
    kinds: [[usize; 2]; 3],
    wanted: &[(usize, usize, f32)],
    geometry: Geometry,
    into: &mut [f32],
) {
    let [_, rows, columns] = image.shape;
    let Geometry { chunks, .. } = geometry;
    let (size, stride) = (geometry.size(), geometry.stride());
    let [plane, first, column] = at.first;
    let needed = |kind: usize| wanted.iter().any(|&(own, ..)| own == kind);
    let needed = [needed(0), needed(1), needed(2)];
    let orders = (0..3).filter(|&kind| needed[kind]).map(|kind| kinds[kind][0] + 1).max();
    let orders = orders.unwrap_or(1);
    // Of the last four rows of coefficients.
    let mut lines = [[[0.0_f32; LINE]; 4]; 3];
    let mut sums = [[0.0_f32; LINE]; 2];
    for row in 0..geometry.rows + 3 {
        let from = (plane * rows + first + row) * columns + column;
        // Lines need three numbers more than they have pixels.
        for chunk in 0..=chunks {
            let mut all = [[0.0; LANES]; 2];
            for k in 0..4 {
                let values = load(&image.coefficients, from + k * rows * columns + chunk * LANES);
                for order in 0..orders {
                    let weight = at.basis[0][order][k];
                    for lane in 0..LANES {
                        all[order][lane] = fused::<FUSED>(weight, values[lane], all[order][lane]);
                    }
                }
            }
            for order in 0..2 {
                sums[order][chunk * LANES..][..LANES].copy_from_slice(&all[order]);
            }
        }
        for kind in (0..3).filter(|&kind| needed[kind]) {
            let [by_z, by_x] = kinds[kind];
            for chunk in 0..chunks {
                let mut sum = [0.0; LANES];
                for k in 0..4 {
                    let values = load(&sums[by_z], chunk * LANES + k);
                    for lane in 0..LANES {
                        sum[lane] = fused::<FUSED>(at.basis[2][by_x][k], values[lane], sum[lane]);
                    }
                }
                lines[kind][row % 4][chunk * LANES..][..LANES].copy_from_slice(&sum);
            }
        }
        if row < 3 {
            continue;
        }
        let done = row - 3;
        for (function, &(kind, by_y, factor)) in wanted.iter().enumerate() {
            for chunk in 0..chunks {
                let mut sum = [0.0; LANES];
                for k in 0..4 {
                    let values = load(&lines[kind][(done + k) % 4], chunk * LANES);
                    let weight = factor * at.basis[1][by_y][k];
                    for lane in 0..LANES {
                        sum[lane] = fused::<FUSED>(weight, values[lane], sum[lane]);
                    }
                }
                let to = function * size + done * stride + chunk * LANES;
                into[to..to + LANES].copy_from_slice(&sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::Shape;
    use crate::patch::tests::assert_derivatives;

    /// A blurred Gaussian whose widths follow the height; B-splines blur it a little more.
    fn image(side: usize) -> SplineImage {
        let planes = 13;
        let mut coefficients = Vec::new();
        for plane in 0..planes {
            let t = (plane as f64 - 6.0) / 6.0;
            let [wide, high] = [1.3 + 0.3 * t + 0.2 * t * t, 1.3 - 0.3 * t + 0.2 * t * t];
            for row in 0..side + 3 {
                for column in 0..side + 3 {
                    // A coefficient is one and a half intervals behind where it begins.
                    let from = |at: usize| at as f64 - 1.0 - 0.5 * side as f64;
                    let square = (from(column) / wide).powi(2) + (from(row) / high).powi(2);
                    let peak = 1.0 / (core::f64::consts::TAU * wide * high);
                    coefficients.push(peak * libm::exp(-0.5 * square));
                }
            }
        }
        SplineImage::new(&coefficients, [planes, side + 3, side + 3], 100.0, 5.0).unwrap()
    }

    /// Proves that every derivative of a patch is the slope of what it is the derivative of, that the patch is where the emitter is, and that
    /// z is counted from its plane.
    #[test]
    fn derivatives_are_slopes() {
        for side in [17, 18] {
            let image = image(side);
            assert_eq!(image.range(), [-500.0, 500.0]);
            let geometry = Geometry::of(image.reach());
            let shape = Shape::Spline(image.clone());
            assert_derivatives(&shape, MEAN, 137.0, [2e-2, 5.0], geometry);
            let mut functions = vec![0.0; 3 * geometry.size()];
            let half = geometry.half as f64;
            for [x, y] in [[half + 0.5, half - 0.5], [half - 0.5, half + 0.5], [half + 0.3, half]] {
                image.functions([x, y], -150.0, false, geometry, &mut functions);
                let (mut sum, mut mean) = (0.0, [0.0; 2]);
                for row in 0..geometry.rows {
                    for column in 0..geometry.rows {
                        let value = f64::from(functions[row * geometry.stride() + column]);
                        sum += value;
                        mean[0] += value * column as f64;
                        mean[1] += value * row as f64;
                    }
                }
                let [found_x, found_y] = mean.map(|mean| mean / sum);
                assert!((found_x - x).abs() < 1e-3 && (found_y - y).abs() < 1e-3, "{mean:?}");
            }
        }
    }

    /// Proves that what is no image is refused.
    #[test]
    fn bad_images_are_refused() {
        let good = vec![0.1; 4 * 8 * 9];
        SplineImage::new(&good, [4, 8, 9], 50.0, 2.0).unwrap();
        SplineImage::new(&good, [4, 9, 9], 50.0, 2.0).unwrap_err();
        SplineImage::new(&good[..3 * 72], [3, 8, 9], 50.0, 2.0).unwrap_err();
        SplineImage::new(&good, [8, 4, 9], 50.0, 2.0).unwrap_err();
        SplineImage::new(&good, [4, 8, 9], 0.0, 2.0).unwrap_err();
        SplineImage::new(&good, [4, 8, 9], 1.0, f64::NAN).unwrap_err();
        SplineImage::new(&vec![f64::INFINITY; 288], [4, 8, 9], 1.0, 2.0).unwrap_err();
    }

    /// Proves that cells are those of the places in them, that emitters beyond have the nearest, that a cell's derivatives are slopes of its own
    /// image, and that cells of other shapes or numbers are refused.
    #[test]
    fn cells_have_images_of_their_own() {
        let (mean, side) = (image(17), [20.0, 10.0]);
        let scaled = |by: f64| {
            let own = &mean.coefficients[..mean.shape.iter().product()];
            let own = own.iter().enumerate().map(|(at, &value)| {
                let column = at % mean.shape[2];
                f64::from(value) * (1.0 + by * (column as f64 - 9.5))
            });
            SplineImage::new(&own.collect::<Vec<_>>(), mean.shape, 100.0, 5.0).unwrap()
        };
        let all: Vec<_> = (0..6).map(|cell| scaled(0.01 * f64::from(cell))).collect();
        let image = mean.clone().with_cells([-0.5; 2], side, [3, 2], all.clone()).unwrap();
        for (place, cell) in
            [([0.0, 0.0], 0), ([20.0, 9.0], 1), ([-9.0, 99.0], 3), ([99.0, 9.6], 5)]
        {
            assert_eq!(image.cell_at(place), cell);
            assert_eq!(image.in_cell(cell), &all[cell]);
        }
        assert_eq!((mean.cell_at([0.0; 2]), mean.in_cell(4)), (MEAN, &mean));
        let geometry = Geometry::of(mean.reach());
        assert_derivatives(&Shape::Spline(image), 5, 137.0, [2e-2, 5.0], geometry);
        let of = |counts, all: &[SplineImage]| {
            mean.clone().with_cells([-0.5; 2], side, counts, all.to_vec())
        };
        of([2, 2], &all).unwrap_err();
        of([0, 0], &[]).unwrap_err();
        of([1, 1], &[self::image(18)]).unwrap_err();
        mean.clone().with_cells([f64::NAN; 2], side, [3, 2], all.clone()).unwrap_err();
        mean.with_cells([0.0; 2], [0.0; 2], [3, 2], all).unwrap_err();
    }
}
