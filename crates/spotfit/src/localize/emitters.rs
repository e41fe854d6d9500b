//! How many spots a window may show, and what goes with that.

use std::fmt;
use std::str::FromStr;

use fit_core::{Background, Criteria, Estimator, Limits, Shape};
use spotfit_locs::OutOfRange;

use super::options::LocalizeOptions;
use crate::backend::{Backend, FitterOptions};

/// How many emitters light may come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Emitters {
    /// Every candidate is one emitter, and is fitted in a window of its own.
    #[default]
    One,
    /// As many as the frame shows: all emitters of a frame are fitted together, with a background that varies over it, and their number
    /// follows from what light is left ([`fit_crowd`]). Maximum likelihood; circular spots, those of known widths, and those whose widths or image
    /// follow from their height, which is fitted ([`LocalizeOptions::calibration`], [`LocalizeOptions::psf`]).
    Auto,
    /// The same, but at most so many in a window: with those that are less than half a [box](LocalizeOptions::box_size) away along x and along y,
    /// no emitter is one of more. Where the light asks for one more, the status of all in that window is
    /// [`MaxIterations`](fit_core::Status::MaxIterations). Range: 2 to [`Emitters::MOST`].
    UpTo(usize),
}

impl Emitters {
    /// The most that [`Emitters::UpTo`] may say.
    pub const MOST: usize = 100;

    /// Whether those of one frame or window are fitted together.
    pub const fn are_together(self) -> bool {
        !matches!(self, Self::One)
    }

    /// The most in a window, if their number is limited.
    pub(crate) const fn most(self) -> Option<usize> {
        match self {
            Self::UpTo(most) => Some(most),
            _ => None,
        }
    }

    /// Refuses numbers out of their range.
    pub(crate) fn check(self) -> Result<(), OutOfRange> {
        let good = self.most().is_none_or(|most| (2..=Self::MOST).contains(&most));
        OutOfRange::check("emitters", self, good, format!("1, 2 to {}, or auto", Self::MOST))
    }
}

/// `1`, `auto`, or the most in a window.
impl fmt::Display for Emitters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One => f.write_str("1"),
            Self::Auto => f.write_str("auto"),
            Self::UpTo(most) => write!(f, "{most}"),
        }
    }
}

impl FromStr for Emitters {
    type Err = OutOfRange;

    fn from_str(word: &str) -> Result<Self, OutOfRange> {
        let emitters = match word {
            "1" => Self::One,
            "auto" => Self::Auto,
            // What is no number is out of the range as 0 is.
            _ => Self::UpTo(word.parse().unwrap_or(0)),
        };
        emitters.check().map_err(|error| OutOfRange { value: word.to_owned(), ..error })?;
        Ok(emitters)
    }
}

/// Whose width is fitted, with [`Emitters::Auto`]. A shape with a fixed width has that one.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Sigma {
    /// Every spot has a width of its own.
    #[default]
    Free,
    /// All spots have the width that is found in the first frames ([`LocalizeOptions::with_usual_sigma_of`]).
    Shared,
}

/// Refuses what cannot go with the number of emitters; each error names both options.
pub(super) fn check(options: &LocalizeOptions) -> Result<(), OutOfRange> {
    let LocalizeOptions { emitters, sigma, usual_sigma, fitter, .. } = options;
    emitters.check()?;
    if *emitters == Emitters::One {
        let with_one = |name, value: &str, good| {
            OutOfRange::check(name, value, good, "only with `emitters` auto, or of 2 and more")
        };
        with_one("sigma", "shared", *sigma == Sigma::Free)?;
        return with_one("usual_sigma", "given", usual_sigma.is_none());
    }
    let together = Together { emitters: *emitters };
    let (known, shared) = (options.calibration.is_some(), *sigma == Sigma::Shared);
    together.check_shape(fitter, known)?;
    let needless = shared && !options.fits_sigma();
    together.check("sigma", "shared", !needless, "free, as the widths are known,")?;
    together.check_fitter(fitter)?;
    let (threshold, positions) = (options.threshold.is_none(), options.positions.is_none());
    together.check("threshold", "given", threshold, "not given: `false_rate` decides")?;
    together.check("positions", "given", positions, "not given")?;
    let curve = options.calibration.as_ref().map(|finder| finder.curve().by_height());
    let sound = !matches!(curve, Some(Err(_)));
    let range = "one of widths of 0.4 to 8 pixels at all its heights";
    together.check("calibration", "given", sound, range)?;
    usual_sigma.map_or(Ok(()), |sigma| together.check_width("usual_sigma", sigma))
}

/// Refuses what cannot go with emitters that are fitted together.
pub(crate) struct Together {
    pub(crate) emitters: Emitters,
}

impl Together {
    pub(crate) fn check(
        &self,
        name: &'static str,
        value: &str,
        good: bool,
        range: &str,
    ) -> Result<(), OutOfRange> {
        OutOfRange::check(name, value, good, format!("{range} with `emitters` {}", self.emitters))
    }

    fn check_width(&self, name: &'static str, sigma: f64) -> Result<(), OutOfRange> {
        let good = (0.4..=8.0).contains(&sigma);
        self.check(name, &sigma.to_string(), good, "0.4 to 8 pixels")
    }

    /// Elliptical spots need widths that are `known` by their height.
    pub(crate) fn check_shape(
        &self,
        fitter: &FitterOptions,
        known: bool,
    ) -> Result<(), OutOfRange> {
        match fitter.fit.shape {
            Shape::Circular(_) => Ok(()),
            Shape::FixedSigma(shape) => self.check_width("fixed_sigma", shape.sigma),
            Shape::FixedSigmas(shape) => {
                self.check_width("fixed_sigma", shape.sigma_x)?;
                self.check_width("fixed_sigma", shape.sigma_y)
            }
            Shape::Elliptical(_) => {
                self.check("shape", "elliptical", known, "circular, or with a calibration,")
            }
            Shape::Rotated(_) => self.check("shape", "rotated", false, "circular"),
            _ => self.check("shape", "given", false, "circular"),
        }
    }

    pub(crate) fn check_fitter(&self, fitter: &FitterOptions) -> Result<(), OutOfRange> {
        let fit = &fitter.fit;
        let likely = fit.estimator == Estimator::MaximumLikelihood;
        self.check("estimator", "lse", likely, "mle")?;
        let background = format!("{:?}", fit.background).to_lowercase();
        self.check("background", &background, fit.background == Background::Free, "free")?;
        self.check("criteria", "given", fit.criteria == Criteria::DEFAULT, "not given")?;
        self.check("limits", "given", fit.limits == Limits::default(), "not given")?;
        let cpu = matches!(fitter.backend, Backend::Auto | Backend::Cpu);
        self.check("backend", &fitter.backend.to_string(), cpu, "cpu")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that words for numbers of emitters mean what they say, and that others are refused with what they may be.
    #[test]
    fn words_are_numbers() {
        for (word, emitters) in [
            ("1", Emitters::One),
            ("auto", Emitters::Auto),
            ("2", Emitters::UpTo(2)),
            ("100", Emitters::UpTo(100)),
        ] {
            assert_eq!(word.parse::<Emitters>().as_ref(), Ok(&emitters));
            assert_eq!(emitters.to_string(), word);
        }
        for word in ["0", "-1", "1.5", "many", "", "101", "99999999999999999999", "Auto"] {
            let said = word.parse::<Emitters>().expect_err(word).to_string();
            let expected = format!("emitters = {word} is out of its range (1, 2 to 100, or auto)");
            assert_eq!(said, expected);
        }
    }
}
