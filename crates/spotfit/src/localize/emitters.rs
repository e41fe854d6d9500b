//! How many spots a window may show, and what goes with that.

use fit_core::{Background, Criteria, Estimator, Limits, Shape};
use spotfit_locs::OutOfRange;

use super::options::LocalizeOptions;
use crate::backend::Backend;

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
}

/// Whose width is fitted, with [`Emitters::Auto`]. A shape with a fixed width has that one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
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
    let with_one =
        |name, value: &str, good| OutOfRange::check(name, value, good, "only with `emitters` auto");
    let LocalizeOptions { emitters, sigma, usual_sigma, fitter, .. } = options;
    if *emitters == Emitters::One {
        with_one("sigma", "shared", *sigma == Sigma::Free)?;
        return with_one("usual_sigma", "given", usual_sigma.is_none());
    }
    let fit = &fitter.fit;
    let check = |name, value: &str, good, range: &str| {
        OutOfRange::check(name, value, good, format!("{range} with `emitters` auto"))
    };
    let width = |name, sigma: f64| {
        let good = (0.4..=8.0).contains(&sigma);
        check(name, &sigma.to_string(), good, "0.4 to 8 pixels")
    };
    match fit.shape {
        Shape::Circular(_) => {}
        Shape::FixedSigma(shape) => width("fixed_sigma", shape.sigma)?,
        Shape::FixedSigmas(shape) => {
            width("fixed_sigma", shape.sigma_x)?;
            width("fixed_sigma", shape.sigma_y)?;
        }
        Shape::Elliptical(_) => {
            let known = options.calibration.is_some();
            check("shape", "elliptical", known, "circular, or with a calibration,")?;
        }
        Shape::Rotated(_) => check("shape", "rotated", false, "circular")?,
        _ => check("shape", "given", false, "circular")?,
    }
    let shared = *sigma == Sigma::Shared && !options.fits_sigma();
    check("sigma", "shared", !shared, "free, as the widths are known,")?;
    let likely = fit.estimator == Estimator::MaximumLikelihood;
    check("estimator", "lse", likely, "mle")?;
    let background = format!("{:?}", fit.background).to_lowercase();
    check("background", &background, fit.background == Background::Free, "free")?;
    check("criteria", "given", fit.criteria == Criteria::DEFAULT, "not given")?;
    check("limits", "given", fit.limits == Limits::default(), "not given")?;
    let backend = fitter.backend;
    let cpu = matches!(backend, Backend::Auto | Backend::Cpu);
    check("backend", &backend.to_string(), cpu, "cpu")?;
    check("threshold", "given", options.threshold.is_none(), "not given: `false_rate` decides")?;
    check("positions", "given", options.positions.is_none(), "not given")?;
    let curve = options.calibration.as_ref().map(|finder| finder.curve().by_height());
    let sound = !matches!(curve, Some(Err(_)));
    check("calibration", "given", sound, "one of widths of 0.4 to 8 pixels at all its heights")?;
    usual_sigma.map_or(Ok(()), |sigma| width("usual_sigma", sigma))
}
