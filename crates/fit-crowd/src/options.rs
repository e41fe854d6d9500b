//! What a caller chooses.

use crate::error::CrowdError;
use crate::heights::{WIDTHS, WIDTHS_SAID, WidthCurve};
use crate::limit::WindowLimit;
use crate::misfit::Misfit;
use crate::spline::SplineImage;

/// The shape of the spots. Widths are standard deviations of Gaussians, in pixels. Range: 0.4 to 8.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EmitterImage {
    /// All spots are circular and have this width.
    Fixed(f64),
    /// All spots have these widths along x and along y.
    FixedAxes([f64; 2]),
    /// Every spot is circular and has a width of its own, between half and 1.6 times `start`, with which its fit begins.
    Free {
        /// The width of an ordinary spot.
        start: f64,
    },
    /// Every spot has a height of its own, from which its widths follow.
    Astigmatic(WidthCurve),
    /// Every spot has a height of its own, from which its image follows.
    Measured(SplineImage),
}

fit_core::__options! {
    /// How spots are found and fitted.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct CrowdOptions {
        /// The shape of the spots.
        pub shape(with_shape): EmitterImage = EmitterImage::Fixed(1.3),
        /// Whether pixels integrate the Gaussian, rather than sample it at their centres. A measured image is that of pixels.
        pub integrated(with_integrated): bool = false,
        /// How many spots may be found in 10⁶ pixels that have none. Range: 10⁻⁶ to 10⁵.
        pub false_rate(with_false_rate): f64 = 1.0,
        /// The probability that one spot is taken for two. Range: 10⁻⁹ to 0.5.
        pub false_splits(with_false_splits): f64 = 0.0025,
        /// How spots differ from that shape, so that those that are bright are not taken for several; none if they do not.
        pub misfit(with_misfit): Option<Misfit> = None,
        /// The most spots in one window; none if only their light tells how many they are.
        pub window(with_window): Option<WindowLimit> = None,
        /// Whether the background is the same everywhere, as is right for small frames, and does not vary from node to node.
        pub even(with_even): bool = false,
        /// The most spots of a frame. Where there are more, the brightest are fitted, and their status is
        /// [`fit_core::Status::MaxIterations`]. No more than one spot on 8σ² pixels, with the σ in focus, is fitted in any case.
        pub most(with_most): usize = usize::MAX,
    }
}

impl CrowdOptions {
    /// Checks every option against its range.
    ///
    /// # Errors
    /// [`CrowdError::Option`] for the first that is out of range.
    pub fn validate(&self) -> Result<(), CrowdError> {
        let check = |name, value: f64, low: f64, high: f64, range| {
            CrowdError::check(name, value, (low..=high).contains(&value), range)
        };
        let [least, most] = WIDTHS;
        let width = |width| check("width", width, least, most, WIDTHS_SAID);
        match self.shape {
            EmitterImage::Fixed(sigma) | EmitterImage::Free { start: sigma } => width(sigma)?,
            EmitterImage::FixedAxes(both) => both.into_iter().try_for_each(width)?,
            EmitterImage::Astigmatic(_) | EmitterImage::Measured(_) => {}
        }
        check("false_rate", self.false_rate, 1e-6, 1e5, "1e-6 to 1e5")?;
        check("false_splits", self.false_splits, 1e-9, 0.5, "1e-9 to 0.5")?;
        CrowdError::check("most", self.most as f64, self.most > 0, "1 or more")?;
        if let Some(WindowLimit { most, side }) = self.window {
            check("window.most", most as f64, 1.0, f64::MAX, "1 or more")?;
            check("window.side", side, f64::MIN_POSITIVE, f64::INFINITY, "above 0")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that options out of range are named.
    #[test]
    fn options_out_of_range_are_named() {
        let good = CrowdOptions::default();
        good.validate().unwrap();
        for (bad, name) in [
            (good.clone().with_shape(EmitterImage::Fixed(f64::NAN)), "width"),
            (good.clone().with_shape(EmitterImage::Free { start: 9.0 }), "width"),
            (good.clone().with_shape(EmitterImage::FixedAxes([1.0, 0.1])), "width"),
            (good.clone().with_false_rate(0.0), "false_rate"),
            (good.clone().with_false_splits(1.0), "false_splits"),
            (good.clone().with_window(Some(WindowLimit { most: 0, side: 7.0 })), "window.most"),
            (good.clone().with_window(Some(WindowLimit { most: 2, side: -1.0 })), "window.side"),
            (good.with_most(0), "most"),
        ] {
            match bad.validate() {
                Err(CrowdError::Option { name: found, .. }) => assert_eq!(found, name),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}
