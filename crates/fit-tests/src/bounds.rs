//! The Cramér–Rao bound of the simulated spots.

use fit_core::Size;
use fit_core::spot::axis::{CENTRE_UNIT, WIDTH_UNIT};
use fit_core::spot::sums::Profile;
use fit_sim::Truth;
use nalgebra::{DMatrix, Matrix5, Vector5};

/// The smallest standard deviation that any unbiased estimate of x, y and σ can have, in pixels, for
/// Poisson distributed pixels with all five parameters unknown; `None` where the information matrix
/// is singular.
pub fn cramer_rao(size: Size, truth: &Truth) -> Option<[f64; 3]> {
    cramer_rao_with(size, truth, |expected| expected.max(1e-3))
}

/// [`cramer_rao`] for Gaussian noise whose variance follows from the expected counts of a pixel. That the
/// variance itself tells something of the parameters is left out, as it is for Poisson noise of many counts.
pub fn cramer_rao_with(
    size: Size,
    truth: &Truth,
    variance: impl Fn(f64) -> f64,
) -> Option<[f64; 3]> {
    let sigma = truth.shape.sigma;
    let amplitude = truth.signal / (std::f64::consts::TAU * sigma * sigma);
    let background = truth.background / size.pixels() as f64;
    let mut information = Matrix5::zeros();
    for i in 0..size.pixels() {
        let (x, y) = ((i % size.width) as f64, (i / size.width) as f64);
        let profile = Profile::at(x, y, truth.shape);
        let [dx, dy, ds] = profile.derivatives.map(|d| amplitude * d / sigma);
        let (dx, dy, ds) = (dx / CENTRE_UNIT, dy / CENTRE_UNIT, ds / WIDTH_UNIT);
        let slope = Vector5::new(dx, dy, ds, profile.value, 1.0);
        let expected = amplitude * profile.value + background;
        information += slope * slope.transpose() / variance(expected);
    }
    let covariance = information.try_inverse()?;
    Some([0, 1, 2].map(|j| covariance[(j, j)].sqrt()))
}

/// A spot of a frame: its centre in pixels and its photo-electrons.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// Centre along x.
    pub x: f64,
    /// Centre along y.
    pub y: f64,
    /// Photo-electrons.
    pub photons: f64,
}

/// Where a spot ends, in units of σ.
const REACH: f64 = 6.0;

/// The smallest standard deviations of x and y, in pixels, with which the spots of a frame can be located together:
/// places, photons and an even background are unknown, σ and the variance of the read noise are known; pixels are
/// Poisson distributed but for that noise. `None` where spots coincide.
pub fn joint_cramer_rao(
    size: Size,
    spots: &[Spot],
    sigma: f64,
    background: f64,
    read_variance: f64,
) -> Option<Vec<[f64; 2]>> {
    let unknown = 3 * spots.len() + 1;
    let mut information = DMatrix::<f64>::zeros(unknown, unknown);
    for pixel in 0..size.pixels() {
        let (x, y) = ((pixel % size.width) as f64, (pixel / size.width) as f64);
        let mut expected = background + read_variance;
        let mut slopes = vec![(unknown - 1, 1.0)];
        for (number, spot) in spots.iter().enumerate() {
            let (dx, dy) = ((x - spot.x) / sigma, (y - spot.y) / sigma);
            let far = dx * dx + dy * dy;
            if far < REACH * REACH {
                let light =
                    spot.photons * (-0.5 * far).exp() / (std::f64::consts::TAU * sigma * sigma);
                expected += light;
                // By x and y in units of σ, and by the logarithm of the photons.
                let by = [light * dx, light * dy, light];
                slopes.extend(by.into_iter().enumerate().map(|(i, by)| (3 * number + i, by)));
            }
        }
        for &(i, by_i) in &slopes {
            for &(j, by_j) in &slopes {
                information[(i, j)] += by_i * by_j / expected;
            }
        }
    }
    // With ones on the diagonal, faint spots beside bright ones cost no digits.
    let scale: Vec<f64> = (0..unknown).map(|i| information[(i, i)].sqrt()).collect();
    for i in 0..unknown {
        for j in 0..unknown {
            information[(i, j)] /= scale[i] * scale[j];
        }
    }
    let covariance = information.cholesky()?.inverse();
    let error = |i: usize| sigma * covariance[(i, i)].sqrt() / scale[i];
    Some((0..spots.len()).map(|spot| [error(3 * spot), error(3 * spot + 1)]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: Size = Size::new(41, 41);

    fn bound(spots: &[Spot]) -> Vec<[f64; 2]> {
        joint_cramer_rao(SIZE, spots, 1.3, 20.0, 2.25).expect("spots apart")
    }

    /// Proves that a spot alone has the bound σ/√N of bright light on a dark ground, that spots far from each other do not know of
    /// each other, and that what two near each other lose is along the line between them.
    #[test]
    fn the_joint_bound_is_that_of_one_for_spots_apart() {
        let spot = |x: f64, y: f64, photons: f64| Spot { x, y, photons };
        let bright = joint_cramer_rao(SIZE, &[spot(20.2, 19.7, 1e4)], 1.3, 1e-6, 0.0);
        let [x, y] = bright.expect("one spot")[0];
        assert!((x / 0.013 - 1.0).abs() < 1e-3 && (y / 0.013 - 1.0).abs() < 1e-3, "{x} {y}");
        let [one] = bound(&[spot(10.3, 20.0, 1000.0)])[..] else { panic!("one") };
        let far = bound(&[spot(10.3, 20.0, 1000.0), spot(30.0, 20.4, 1000.0)]);
        assert!((far[0][0] / one[0] - 1.0).abs() < 1e-3, "{far:?} {one:?}");
        let near = bound(&[spot(19.0, 20.0, 1000.0), spot(21.0, 20.0, 1000.0)]);
        assert!(near[0][0] > 1.5 * one[0] && near[0][1] < 1.5 * one[1], "{near:?} {one:?}");
        assert_eq!(joint_cramer_rao(SIZE, &[spot(20.0, 20.0, 1.0); 2], 1.3, 20.0, 0.0), None);
    }
}
