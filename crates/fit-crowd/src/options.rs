//! What a caller chooses, and the thresholds that follow.

use crate::error::CrowdError;

/// The standard deviation of the spots, in pixels. Range: 0.4 to 8.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Width {
    /// All spots have this width.
    Fixed(f64),
    /// Every spot has a width of its own, between half and 1.6 times `start`, with which its fit begins.
    Free {
        /// The width of an ordinary spot.
        start: f64,
    },
}

impl Width {
    /// The width of an ordinary spot.
    pub const fn start(self) -> f64 {
        match self {
            Self::Fixed(sigma) | Self::Free { start: sigma } => sigma,
        }
    }

    pub(crate) const fn is_free(self) -> bool {
        matches!(self, Self::Free { .. })
    }
}

/// How spots are found and fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CrowdOptions {
    /// The width of the spots.
    pub width: Width,
    /// Whether pixels integrate the Gaussian, rather than sample it at their centres.
    pub integrated: bool,
    /// How many spots may be found in 10⁶ pixels that have none. Range: 10⁻⁶ to 10⁵.
    pub false_rate: f64,
    /// The probability that one spot is taken for two. Range: 10⁻⁹ to 0.5.
    pub false_splits: f64,
    /// The most spots of a frame. Where there are more, the brightest are fitted, and their status is
    /// [`fit_core::Status::MaxIterations`]. No more than one spot on 8σ² pixels is fitted in any case.
    pub most: usize,
}

impl CrowdOptions {
    fit_core::__setters! {
        const with_width: width: Width,
        const with_integrated: integrated: bool,
        const with_false_rate: false_rate: f64,
        const with_false_splits: false_splits: f64,
        const with_most: most: usize,
    }

    /// Checks every option against its range.
    ///
    /// # Errors
    /// [`CrowdError::Option`] for the first that is out of range.
    pub fn validate(&self) -> Result<(), CrowdError> {
        let check = |name, value: f64, low: f64, high: f64, range| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(CrowdError::Option { name, value, range })
            }
        };
        check("width", self.width.start(), 0.4, 8.0, "0.4 to 8")?;
        check("false_rate", self.false_rate, 1e-6, 1e5, "1e-6 to 1e5")?;
        check("false_splits", self.false_splits, 1e-9, 0.5, "1e-9 to 0.5")?;
        if self.most == 0 {
            return Err(CrowdError::Option { name: "most", value: 0.0, range: "1 or more" });
        }
        Ok(())
    }

    pub(crate) fn thresholds(&self) -> Thresholds {
        Thresholds {
            birth: birth_threshold(self.false_rate, self.width.start()),
            split: -2.0 * libm::log(self.false_splits),
        }
    }
}

impl Default for CrowdOptions {
    fn default() -> Self {
        Self {
            width: Width::Fixed(1.3),
            integrated: false,
            false_rate: 1.0,
            false_splits: 0.0025,
            most: usize::MAX,
        }
    }
}

/// By how much the deviance must fall for a spot to be believed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Thresholds {
    /// For a spot where there was none: T.
    pub(crate) birth: f64,
    /// For two where there was one: T₂.
    pub(crate) split: f64,
}

/// The threshold T at which noise has `rate` maxima in 10⁶ pixels.
///
/// The score of a spot of unknown place is a smooth Gaussian field whose correlation has the curvature 1/(2σ²); the number of its
/// maxima above √T is that of its Euler characteristic (Adler & Taylor 2007, theorem 12.4.1):
/// α = A/(2σ²)·(2π)^(−3/2)·√T·e^(−T/2) on an area A.
fn birth_threshold(rate: f64, sigma: f64) -> f64 {
    let scale = 1e6 / (2.0 * sigma * sigma) * libm::pow(core::f64::consts::TAU, -1.5);
    let births = |t: f64| scale * libm::sqrt(t) * libm::exp(-0.5 * t);
    // The rate falls with T from 1 on.
    let (mut low, mut high) = (1.0, 200.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if births(middle) > rate { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that the thresholds are those at which the formulas give the rates: on 64 × 64 pixels with σ = 1.3, T = 12.25, 16
    /// and 20.25 for 0.589, 0.103 and 0.0139 births.
    #[test]
    fn thresholds_invert_the_rates() {
        for (births, threshold) in [(0.589, 12.25), (0.103, 16.0), (0.0139, 20.25)] {
            let found = birth_threshold(births * 1e6 / 4096.0, 1.3);
            assert!((found - threshold).abs() < 0.01, "{found}, not {threshold}");
        }
        let options = CrowdOptions::default().with_false_splits(libm::exp(-6.0));
        assert!((options.thresholds().split - 12.0).abs() < 1e-9);
        assert!((birth_threshold(25.0, 1.3) - 16.0).abs() < 0.1);
    }

    /// Proves that options out of range are named.
    #[test]
    fn options_out_of_range_are_named() {
        let good = CrowdOptions::default();
        good.validate().unwrap();
        for (bad, name) in [
            (good.with_width(Width::Fixed(f64::NAN)), "width"),
            (good.with_width(Width::Free { start: 9.0 }), "width"),
            (good.with_false_rate(0.0), "false_rate"),
            (good.with_false_splits(1.0), "false_splits"),
            (good.with_most(0), "most"),
        ] {
            match bad.validate() {
                Err(CrowdError::Option { name: found, .. }) => assert_eq!(found, name),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}
