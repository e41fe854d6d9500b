//! Pixels that cannot be photons above the camera's offset, in frames and windows whose spots are fitted together or with a measured PSF.
//!
//! Where too much was subtracted from an image, or a background, a pixel of the mean μ has the variance ε(μ + Δ) + v of an offset
//! that is lower by Δ. What neighbouring pixels differ by (Immerkær 1996) says how much that is, and such a fit is one of pixels with Δ more. Fits of
//! windows by Gaussians have [`fit_cpu::widen_errors`].

use spotfit_locs::private::median;

/// A pixel that is so many standard deviations of the read noise below the offset is not one of photons.
const BELOW: f64 = 5.0;
/// No more than this share of pixels may be so by chance.
const CHANCE: f64 = 1e-4;
/// The median of the square of a standard normal variate.
const MEDIAN: f64 = 0.4549;

/// Whether a value is too far below the offset for this variance of the read noise. Without any, `unit` is too far: counts are whole, and
/// a baseline may be off by as much.
pub(crate) fn is_below(value: f64, read: f64, unit: f64) -> bool {
    value < -(BELOW * read.sqrt() + unit)
}

/// What must be added to rows of `width` values so that their background has the noise of light; 0 where they may be photons. `read` is
/// the variance of the read noise of each, `None` if it is masked.
pub(crate) fn raise(
    values: &[f32],
    width: usize,
    read: impl Fn(usize) -> Option<f64>,
    excess: f64,
    unit: f64,
) -> f64 {
    let seen = |at: usize| read(at).filter(|_| values[at].is_finite());
    let below = |at: usize| seen(at).is_some_and(|read| is_below(values[at].into(), read, unit));
    let count = (0..values.len()).filter(|&at| below(at)).count();
    if count as f64 <= CHANCE * values.len() as f64 {
        return 0.0;
    }
    // Differences of differences along both axes, of 3×3 pixels: a spot is nearly as straight as a plane to them.
    let corners = (0..values.len().saturating_sub(2 * width)).filter(|at| at % width + 2 < width);
    let squares = corners.filter_map(|corner| {
        let mut sum = 0.0;
        for (row, by) in [1.0, -2.0, 1.0].into_iter().enumerate() {
            let at = corner + row * width;
            for (at, along) in (at..at + 3).zip([1.0, -2.0, 1.0]) {
                seen(at)?;
                sum += by * along * f64::from(values[at]);
            }
        }
        Some(sum * sum / 36.0)
    });
    let noise = median(squares) / MEDIAN;
    let all = (0..values.len()).filter_map(|at| Some([values[at].into(), seen(at)?]));
    let (levels, reads): (Vec<f64>, Vec<f64>) = all.map(|[level, read]| (level, read)).unzip();
    let raise = (noise - median(reads)) / excess - median(levels);
    if raise.is_finite() { raise.max(0.0) } else { 0.0 }
}
