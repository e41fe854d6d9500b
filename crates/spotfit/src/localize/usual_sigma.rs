//! The width that the spots of a movie share.

use fit_core::{Estimator, Shape};
use fit_windows::AnyWindows;
use ndarray::{Axis, Slice, concatenate};
use spotfit_files::private::sort_by;
use spotfit_locs::private::median;

use super::crowd::{Crowd, ORDINARY};
use super::emitters::{Emitters, Sigma};
use super::options::LocalizeOptions;
use super::{Checks, Flags, FullScale, LocalizeError, Localizer, Roi};
use crate::movie::{Block, Pixels};
use crate::psf::Misfit;

/// The most frames, and their most pixels, that tell the width that spots share.
const MOST_FRAMES: usize = 32;
const MOST_PIXELS: usize = 1 << 22;

/// So many of the first frames of this width and height tell the width that spots share: 32, or fewer if they are large.
pub fn frames_for_sigma((width, height): (usize, usize)) -> usize {
    (MOST_PIXELS / width.saturating_mul(height).max(1)).clamp(1, MOST_FRAMES)
}

/// How often the widths are found at most, each time from those of the time before.
pub(crate) const PASSES: usize = 3;
/// A width that moves by less than this share of it stays: the next time it would move by a small part of that.
const SETTLED: f64 = 5e-3;
/// Of the spots, one of so many is lonely.
const LONELY: usize = 5;
/// But so many are looked at where there are as many.
const LEAST: usize = 20;

/// What else tells how spots differ from Gaussians, and their light within an aperture, than the frames that tell their width.
#[derive(Default)]
pub(crate) struct Besides<'a> {
    pub(crate) frames: Option<AnyWindows<'a>>,
    /// How they differ, if that is known.
    pub(crate) misfit: Option<Misfit>,
}

impl LocalizeOptions {
    /// Whether the width of spots that may overlap is fitted: it is not given, and does not follow from a height.
    pub(super) fn fits_sigma(&self) -> bool {
        let fixed = matches!(self.fitter.fit.shape, Shape::FixedSigma(_) | Shape::FixedSigmas(_));
        !(fixed || self.calibration.is_some() || self.psf.is_some())
    }

    /// Whether the width of spots is known, if it is needed.
    pub(crate) fn knows_sigma(&self) -> bool {
        self.emitters == Emitters::One || !self.fits_sigma() || self.usual_sigma.is_some()
    }

    /// The same with the width that spots of these frames share ([`LocalizeOptions::usual_sigma`]), if it is needed and not given:
    /// the median width of spots that are far from others, each fitted with a width of its own. Take the first
    /// [`frames_for_sigma`] frames of a movie: the more, the better, and the slower.
    ///
    /// # Errors
    /// As [`Localizer::new`] and [`Localizer::process`].
    pub fn with_usual_sigma_of(self, frames: AnyWindows<'_>) -> Result<Self, LocalizeError> {
        if self.knows_sigma() {
            return Ok(self);
        }
        let (_, height, width) = frames.frames();
        // A few frames may be too few for a median.
        let mut masked = self.clone().with_temporal_background(None);
        masked.mask_defects((width, height))?;
        let mut sigma = masked.sigma_of_isolated(frames)?.unwrap_or(ORDINARY);
        // Where bright spots become several, what is left alone has other widths.
        let misfit = match &masked.misfit {
            Some(known) => known.clone(),
            None => masked.misfit_of_windows(frames, sigma)?,
        };
        for _ in 0..PASSES {
            let start = masked
                .clone()
                // What more there is would be taken for width if there were a limit.
                .with_emitters(Emitters::Auto)
                .with_sigma(Sigma::Free)
                .with_misfit(Some(misfit.clone()))
                .with_usual_sigma(Some(sigma.clamp(0.5, 5.0)));
            let Some(found) = start.lonely_sigma(frames)? else { break };
            let settled = (found - sigma).abs() < SETTLED * sigma;
            sigma = found;
            if settled {
                break;
            }
        }
        let sigma = Some(sigma.clamp(0.5, 5.0));
        Ok(self.with_usual_sigma(sigma))
    }

    /// The median width of windows that show one spot each, if there are any.
    fn sigma_of_isolated(&self, frames: AnyWindows<'_>) -> Result<Option<f64>, LocalizeError> {
        let (_, height, width) = frames.frames();
        let fit = self.fitter.fit.with_estimator(Estimator::LeastSquares);
        let one = self
            .clone()
            .with_emitters(Emitters::One)
            .with_sigma(Sigma::Free)
            .with_fitter(self.fitter.clone().with_fit(fit))
            .with_aperture(None)
            .with_aperture_correction(None)
            .with_drop(Flags::default())
            .with_keep_all(false)
            .with_checks(true);
        let spots = Localizer::new((width, height), one)?.process_frames(0, frames)?;
        let widths = |all: bool| {
            let clean = |checks: Checks| checks.flags.is_empty();
            let told = spots.iter().filter(move |spot| all || spot.checks.is_some_and(clean));
            told.map(|spot| spot.sigma)
        };
        let enough = widths(false).count() >= LEAST;
        Ok((!spots.is_empty()).then(|| median(widths(!enough))))
    }

    /// The median width of the loneliest spots, if there are any.
    fn lonely_sigma(&self, frames: AnyWindows<'_>) -> Result<Option<f64>, LocalizeError> {
        let (_, height, width) = frames.frames();
        let roi = self.roi.unwrap_or(Roi { x: 0, y: 0, width, height });
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.fitter.threads).build()?;
        let crowd = Crowd::new((width, height), roi, self)?;
        let found = crowd.find(frames, self.map.as_deref(), None, &pool)?;
        let sound = found.iter().filter(|(_, found)| {
            let clean = found.seen.is_some_and(|seen| !seen.saturated);
            found.converged && found.bright && clean && found.spot.sigma.is_finite()
        });
        let spots = sound.map(|(place, found)| (place.neighbour, found.spot.sigma));
        Ok(loneliest(spots.collect()))
    }
}

/// The median width of the loneliest of spots, of which distances to the nearest other and widths are given; none if there are none.
pub(crate) fn loneliest(mut spots: Vec<(f64, f64)>) -> Option<f64> {
    let count = (spots.len() / LONELY).max(LEAST).min(spots.len());
    sort_by(&mut spots, |a, b| b.0.total_cmp(&a.0));
    (count > 0).then(|| median(spots[..count].iter().map(|&(_, sigma)| sigma)))
}

impl Localizer {
    /// Whether the width of spots is needed and not known.
    pub(super) fn lacks_sigma(&self) -> bool {
        !self.searcher.options.knows_sigma()
    }

    /// Whether something is to be found in the first frames.
    pub(super) fn looks_ahead(&self) -> bool {
        let options = &self.searcher.options;
        self.lacks_sigma()
            || options.lacks_misfit()
            || options.lacks_aperture_correction()
            || self.lacks_full_scale()
    }

    /// Whether the full scale of the camera is needed, and neither given nor looked for so far.
    fn lacks_full_scale(&self) -> bool {
        let options = &self.searcher.options;
        options.saturation.is_none() && self.full_scale.is_none() && options.is_checked()
    }

    /// Finds in the first frames what is needed and not known: the full scale of the camera ([`FullScale::of`]), of whose numbers so many
    /// `bits` are significant, the width that spots share ([`LocalizeOptions::with_usual_sigma_of`]), without which
    /// [`Localizer::process`] fails, how spots differ from Gaussians ([`LocalizeOptions::with_misfit_of`]), and their light within an aperture
    /// ([`LocalizeOptions::with_aperture_correction_of`]).
    /// [`Localizer::localize`] does it itself. Without a frame nothing happens.
    ///
    /// # Errors
    /// As [`Localizer::process`].
    pub fn look_ahead(
        &mut self,
        frames: AnyWindows<'_>,
        bits: Option<u32>,
    ) -> Result<(), LocalizeError> {
        self.look_ahead_at(frames, Besides::default(), bits)
    }

    /// The same, where something else may tell more.
    pub(crate) fn look_ahead_at(
        &mut self,
        frames: AnyWindows<'_>,
        besides: Besides<'_>,
        bits: Option<u32>,
    ) -> Result<(), LocalizeError> {
        if frames.count() == 0 {
            return Ok(());
        }
        if self.lacks_full_scale() {
            self.full_scale = FullScale::of(frames, bits);
            let saturation = self.full_scale.and_then(|found| found.saturation());
            let searcher = self.searcher_mut();
            searcher.options.saturation = saturation;
            if searcher.crowd.is_some() {
                searcher.crowd = Some(Crowd::new(searcher.size, searcher.roi, &searcher.options)?);
            }
        }
        let (many, before) = (besides.frames, self.searcher.options.clone());
        self.learn_crowd(frames, besides)?;
        if self.searcher.options.lacks_aperture_correction() {
            let options = self.searcher.options.clone();
            self.searcher_mut().options = match many {
                // As the movie has it, whatever the width in the frames in view.
                Some(many) => {
                    let known =
                        before.with_usual_sigma_of(many)?.with_misfit(options.misfit.clone());
                    let found = known.with_aperture_correction_of(many)?.aperture_correction;
                    options.with_aperture_correction(found)
                }
                None => options.with_aperture_correction_of(frames)?,
            };
        }
        Ok(())
    }

    /// Finds the width that spots share, and how they differ from Gaussians, if that is needed.
    fn learn_crowd(
        &mut self,
        frames: AnyWindows<'_>,
        besides: Besides<'_>,
    ) -> Result<(), LocalizeError> {
        if !(self.lacks_sigma() || self.searcher.options.lacks_misfit()) {
            return Ok(());
        }
        let before = self.searcher.options.clone();
        let options = before.clone().with_usual_sigma_of(frames)?;
        let options = match (besides.misfit, besides.frames) {
            (Some(misfit), _) => options.with_misfit(Some(misfit)),
            (None, Some(many)) => {
                let told = before.with_usual_sigma_of(many)?.with_misfit_of(many)?;
                options.with_misfit(told.misfit)
            }
            (None, None) => options.with_misfit_of(frames)?,
        };
        let searcher = self.searcher_mut();
        searcher.crowd = Some(Crowd::new(searcher.size, searcher.roi, &options)?);
        searcher.options = options;
        Ok(())
    }
}

/// The first frames of blocks, as many as [`frames_for_sigma`] says, or as there are; nothing if there is none.
pub(super) fn first_frames(blocks: &[&Block]) -> Option<Pixels> {
    macro_rules! joined {
        ($kind:ident) => {{
            let parts = blocks.iter().filter_map(|block| match &block.pixels {
                Pixels::$kind(frames) => Some(frames.view()),
                _ => None,
            });
            let all = concatenate(Axis(0), &parts.collect::<Vec<_>>()).ok()?;
            let (count, height, width) = all.dim();
            let count = count.min(frames_for_sigma((width, height)));
            Pixels::$kind(all.slice_axis(Axis(0), Slice::from(..count)).to_owned())
        }};
    }
    Some(match blocks.first()?.pixels {
        Pixels::U8(_) => joined!(U8),
        Pixels::U16(_) => joined!(U16),
        Pixels::F32(_) => joined!(F32),
    })
}
