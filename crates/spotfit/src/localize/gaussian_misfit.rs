//! How the spots of a movie differ from Gaussians.

use std::fmt;

use fit_core::Shape;
use fit_core::spot::shape::Elliptical;
use fit_crowd::EmitterImage;
use fit_windows::AnyWindows;

use super::crowd::shape_of;
use super::emitters::{Emitters, Sigma};
use super::options::LocalizeOptions;
use super::{Flags, FullScale, Localization, LocalizeError, Localizer};
use crate::backend::Backend;
use crate::psf::{Gaussian, Misfit, MisfitShares, misfit_of_gaussians};

/// Spots that are so unlike Gaussians, or their PSF, that dimmer ones beside them are not told apart.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct MisfitDoubt {
    /// The share of the light of a spot that another must have, [`MisfitDoubt::DISTANCE`] pixels away, to be told apart from what spots show
    /// that are alone.
    pub share: f64,
    /// Whether the movie may tell its PSF; it does not where that was tried.
    pub is_learnable: bool,
    /// Whether this is of a measured PSF, and the spots that told it.
    pub is_of_psf: bool,
}

impl MisfitDoubt {
    /// In pixels.
    pub const DISTANCE: f64 = 1.6;

    /// The share of the light of a spot that another one at [`MisfitDoubt::DISTANCE`] must have.
    pub(crate) fn share_of(misfit: &Misfit) -> f64 {
        let at = Misfit::DISTANCES.iter().position(|&distance| distance == Self::DISTANCE);
        let shares = misfit.nodes().iter().filter_map(|node| Some(node.shares[at?]));
        shares.fold(0.0, f64::max) * NEEDED.sqrt()
    }

    /// If a misfit is large enough to matter.
    fn of(misfit: &Misfit, is_learnable: bool, is_of_psf: bool) -> Option<Self> {
        let share = Self::share_of(misfit);
        let matters = if is_of_psf { MATTERS_OF_PSF } else { MATTERS };
        (share >= matters).then_some(Self { share, is_learnable, is_of_psf })
    }
}

impl fmt::Display for MisfitDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let differ = match self.is_of_psf {
            true => "the PSF differs from the spots that told it",
            false => "the spots of the first frames differ from Gaussians",
        };
        write!(
            f,
            "{differ}: another one {} pixels away is told apart only if it has more than {:.0} % of their light",
            Self::DISTANCE,
            100.0 * self.share
        )
    }
}

/// The square of the score that a split needs, in units of its variance.
const NEEDED: f64 = 12.0;
/// A share that matters, and that of a measured PSF, which has no better one beside it.
const MATTERS: f64 = 0.1;
const MATTERS_OF_PSF: f64 = 0.2;
/// About half of what spots in focus show behind an objective of NA 1.4, by distance, and their second moment.
const USUAL: MisfitShares = MisfitShares::new([0.07, 0.026, 0.018, 0.015, 0.01, 0.01], 0.05);
/// Widths that are fitted are from the first to the second of these shares of the usual one.
const WIDTHS: [f64; 2] = [0.5, 1.6];
/// Searches, each with what was found in the one before.
const PASSES: usize = 3;
/// Heights at which widths are compared with those of a spot.
const HEIGHTS: usize = 33;
/// The side of windows that show one spot each.
const BOX: usize = 9;

impl LocalizeOptions {
    /// Whether it matters how spots differ from Gaussians, and nothing is known of it.
    pub(crate) fn lacks_misfit(&self) -> bool {
        self.emitters.are_together() && self.psf.is_none() && self.misfit.is_none()
    }

    /// The same with how the spots of these frames that are alone differ from Gaussians ([`LocalizeOptions::misfit`]), if it matters and is not
    /// given: nothing, where they are too few to tell. The width of spots must be known. Take the first
    /// [`frames_for_sigma`](super::frames_for_sigma) frames of a movie.
    ///
    /// Spots that are far from others are looked at first, as windows show them; then those that are told apart with what was found so.
    ///
    /// # Errors
    /// As [`Localizer::new`](super::Localizer::new) and [`Localizer::process`](super::Localizer::process).
    pub fn with_misfit_of(self, frames: AnyWindows<'_>) -> Result<Self, LocalizeError> {
        if !self.lacks_misfit() {
            return Ok(self);
        }
        let mut search = self.searching(frames)?;
        let mut found = search.of_windows(frames)?;
        for _ in 0..PASSES {
            let heeded = Some(more_than_usual(found.as_ref()));
            // The same search finds the same.
            if search.misfit == heeded {
                break;
            }
            search.misfit = heeded;
            found = search.misfit_with(frames, &search)?.or(found);
        }
        Ok(self.with_misfit(Some(found.unwrap_or_default())))
    }

    /// What is usual, or more where spots in windows show that, which have about this width.
    pub(super) fn misfit_of_windows(
        &self,
        frames: AnyWindows<'_>,
        sigma: f64,
    ) -> Result<Misfit, LocalizeError> {
        let free = self.searching(frames)?.with_sigma(Sigma::Free).with_usual_sigma(Some(sigma));
        Ok(more_than_usual(free.of_windows(frames)?.as_ref()))
    }

    /// Options to search for spots with.
    fn searching(&self, frames: AnyWindows<'_>) -> Result<Self, LocalizeError> {
        let (_, height, width) = frames.frames();
        let mut search = self
            .clone()
            .with_emitters(Emitters::Auto)
            .with_temporal_background(None)
            .with_aperture(None)
            .with_aperture_correction(None)
            .with_drop(Flags::default())
            .with_keep_all(false)
            .with_checks(true);
        search.mask_defects((width, height))?;
        if search.saturation.is_none() {
            search.saturation = FullScale::of(frames, None).and_then(|found| found.saturation());
        }
        Ok(search)
    }

    /// How spots differ that have a window each.
    fn of_windows(&self, frames: AnyWindows<'_>) -> Result<Option<Misfit>, LocalizeError> {
        let fit = self.fitter.fit.with_shape(Shape::Elliptical(Elliptical));
        let mut search = self
            .clone()
            .with_emitters(Emitters::One)
            .with_sigma(Sigma::Free)
            .with_usual_sigma(None)
            .with_calibration(None)
            .with_fitter(self.fitter.clone().with_fit(fit).with_backend(Backend::Cpu));
        search.box_size = BOX;
        self.misfit_with(frames, &search)
    }

    /// How spots differ that are found by a search.
    fn misfit_with(
        &self,
        frames: AnyWindows<'_>,
        search: &Self,
    ) -> Result<Option<Misfit>, LocalizeError> {
        let image = shape_of(self, [0, 0])?;
        let range = match &image {
            EmitterImage::Free { start } => WIDTHS.map(|share| share * start),
            EmitterImage::Astigmatic(curve) => curve.range(),
            _ => [0.0; 2],
        };
        let widths = |third: f64| match &image {
            EmitterImage::Fixed(sigma) => [[*sigma, 0.0]; 2],
            EmitterImage::FixedAxes(both) => both.map(|sigma| [sigma, 0.0]),
            EmitterImage::Astigmatic(curve) => curve.at(third),
            _ => [[third, 1.0]; 2],
        };
        let third = |spot: &Localization| match &image {
            EmitterImage::Astigmatic(curve) => {
                let height = |at: usize| {
                    let share = at as f64 / (HEIGHTS - 1) as f64;
                    range[0] + (range[1] - range[0]) * share
                };
                let off = |z: f64| {
                    let [[x, _], [y, _]] = curve.at(z);
                    (x - spot.sigma_x).hypot(y - spot.sigma_y)
                };
                let nearest = (0..HEIGHTS).map(height).min_by(|a, b| off(*a).total_cmp(&off(*b)));
                nearest.unwrap_or(range[0])
            }
            EmitterImage::Free { .. } => spot.sigma,
            _ => 0.0,
        };
        let height = matches!(image, EmitterImage::Astigmatic(_));
        let profile = self.fitter.fit.profile;
        let gaussian = Gaussian { profile, range, height, widths: &widths };
        misfit_of_gaussians(frames, search, &gaussian, &third)
    }
}

impl Localizer {
    /// Whether spots are so unlike Gaussians, or the PSF, that dim ones beside them are not told apart; `None` if they are not, or it is not known.
    pub fn misfit_doubt(&self) -> Option<MisfitDoubt> {
        let options = &self.searcher.options;
        let misfit = match &options.psf {
            Some(psf) => psf.misfit(),
            None => options.misfit.as_ref(),
        };
        let misfit = misfit.filter(|_| options.emitters.are_together())?;
        let of_psf = options.psf.is_some();
        MisfitDoubt::of(misfit, !(of_psf || options.tells_no_psf), of_psf)
    }
}

/// At each distance the greater of what is usual and what was found.
fn more_than_usual(found: Option<&Misfit>) -> Misfit {
    let usual = Misfit::new(&[USUAL]).unwrap_or_default();
    found.map_or(usual.clone(), |found| usual.or_more(found))
}
