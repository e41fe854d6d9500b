//! What single precision can decide; the rest is left to double precision.

use fit_core::Status;
use fit_core::arithmetic::{Mask, Real};
use fit_core::curve::ROUNDING;
use fit_core::search::solve::Symmetric;
use fit_core::search::{Count, MOST_BENT};

/// The largest number of a data set, and of its weights, is no smaller than this.
pub const LEAST: f64 = 1e-30;
/// Where residuals are a smaller share of the largest of the data, rounding shifts parameters by more than 1 % of a
/// standard error.
pub const LEAST_RESIDUAL: f64 = 2e-5;
/// Counts, whose errors are their roots, are no larger than this, for the same reason.
pub const MOST_COUNTS: f64 = 1e9;
/// A search may end because its gradient is only rounding: four rounding units of ‖f‖ ≤ √2·‖d‖. If its residuals are a
/// smaller share of ‖d‖ than this, it may be more than 1 % of a standard error from the minimum.
pub const MOST_ROUNDED: f64 = 100.0 * ROUNDING * core::f64::consts::SQRT_2 * f32::EPSILON as f64;
/// The largest 1/(1 − R²) of a parameter and the others with which its error is known well enough.
pub const MOST_ALIKE: f64 = 2e4;
/// Numbers of single precision are no farther from each other than this share of a standard error.
pub const MOST_SPACED: f64 = 0.02;

/// What data are conditioned by, and what is known of them then.
#[derive(Clone, Copy, Debug)]
pub struct DataScale<R> {
    /// They are multiplied by this power of two.
    pub scale: R,
    /// And weights of their own by this.
    pub weight_scale: R,
    /// The cost is multiplied by two to this power.
    pub unit: R,
    /// Σwd², or Σd of counts; 0 at first.
    pub size: R,
    /// Points less parameters that are not held.
    pub degrees: R,
    /// Whether single precision can fit them.
    pub sound: bool,
}

impl<R: Real> DataScale<R> {
    /// Of data that are `finite`, as large as `most` in size and `below` zero; with `own` weights as large as the `heaviest`, or those
    /// of all data sets, which were multiplied by two to the power `weight_unit`. `free` parameters are not held.
    #[inline(always)]
    pub fn new(
        poisson: bool,
        [degrees, free]: [R; 2],
        finite: R::Mask,
        [most, below]: [R; 2],
        (own, heaviest, weight_unit): (bool, R, R),
    ) -> Self {
        let (zero, one, least) = (R::splat(0.0), R::splat(1.0), R::splat(LEAST));
        // Smaller numbers have fewer digits, or none.
        let mut sound = finite & one.le(degrees) & one.le(free) & least.le(most);
        let mut survey =
            Self { scale: one, weight_scale: one, unit: zero, size: zero, degrees, sound: false };
        if poisson {
            sound = sound & below.le(zero) & most.le(R::splat(MOST_COUNTS));
        } else {
            survey.scale = most.normalizer();
            let mut weight_unit = weight_unit;
            if own {
                survey.weight_scale = heaviest.normalizer();
                weight_unit = survey.weight_scale.exponent();
                sound = sound & heaviest.is_finite() & least.le(heaviest);
            }
            let exponent = survey.scale.exponent();
            survey.unit = exponent + exponent + weight_unit;
        }
        survey.sound = sound.all();
        survey
    }
}

/// The status of a search: invalid where the gradient is rounding for each parameter alone, but a step of all together would still gain more
/// than it may leave. `inverse` is that of the Hessian, and `little` what the tolerance allows.
#[inline(always)]
pub fn status<R: Real, const P: usize>(
    count: Count<P>,
    status: R,
    gradient: &[R; P],
    inverse: &Symmetric<R, P>,
    little: R,
) -> R {
    let mut gain = R::splat(0.0);
    for j in count.all::<R>() {
        for k in count.all::<R>() {
            gain = (gradient[j] * gradient[k]).mul_add(inverse.at(j, k), gain);
        }
    }
    let stalled = R::splat(Status::Stalled.code());
    let left = stalled.le(status) & status.le(stalled) & (R::splat(MOST_BENT) * little).lt(gain);
    R::select(left, R::splat(Status::Invalid.code()), status)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fit_core::curve::Units;
    use fit_core::curve::covariance;

    /// Proves that a search does not count as ended where rounding hides a step of two parameters that are hard to tell from each other,
    /// and does where it hides that of each alone.
    #[test]
    fn a_step_of_all_together_counts() {
        let of = |correlation: f32, gradient: [f32; 2], ended: Status| {
            let hessian = Symmetric([[1.0, correlation], [0.0, 1.0]]);
            let units = Units::at(&[1.0; 2]);
            let inverse = covariance(Count::ALL, &hessian, &units, &[false; 2], 1.0);
            let found = status(Count::ALL, ended.code() as f32, &gradient, &inverse, 1e-6_f32);
            Status::from_code(found as u8)
        };
        let small = [1e-3, -1e-3];
        assert_eq!(of(0.0, small, Status::Stalled), Some(Status::Stalled));
        // 1/(1 − R²) is 500.
        assert_eq!(of(0.999, small, Status::Stalled), Some(Status::Invalid));
        // Along the other direction there is nothing to gain.
        assert_eq!(of(0.999, [1e-3, 1e-3], Status::Stalled), Some(Status::Stalled));
        assert_eq!(of(0.999, small, Status::MinStep), Some(Status::MinStep));
    }
}
