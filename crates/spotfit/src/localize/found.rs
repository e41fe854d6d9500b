//! Fits become localizations, or are counted as dropped.

use fit_core::{Corner, Errors, Fit, Parameter, Shape};

use super::checks::{Checks, Flags, LARGE_RESIDUALS, ODD_WIDTH};
use super::emitters::Emitters;
use super::options::LocalizeOptions;
use super::outcome::Counts;
use super::places::Place;
use super::reason::DropReason;
use super::residuals::Residuals;
use super::spot::{self, Localization};
use super::temporal::Lit;
use super::typical::Typical;
use super::watch::Watch;

/// How far a fit may go from where its spot was detected, as a share of the box.
const WANDER: f64 = 0.3;

/// The mean of the larger of two normal variates: two tests say by how much residuals of windows exceed the noise.
const OF_NOISE: f64 = 0.56;

/// A fit that may become a localization.
pub(super) struct Found {
    /// In pixels of the window.
    pub(super) spot: Localization,
    /// Whether the fit ended where it should.
    pub(super) converged: bool,
    /// Whether there is light.
    pub(super) bright: bool,
    /// Whether it is at an end of the range of z, and so said.
    pub(super) at_end: bool,
    /// What its window shows of it, if somebody needs to know.
    pub(super) seen: Option<Seen>,
}

/// What a window shows of its fit.
#[derive(Clone, Copy)]
pub(super) struct Seen {
    /// χ² per degree of freedom.
    pub(super) goodness: f64,
    /// By how many standard deviations the residuals are above the noise.
    pub(super) residual: f64,
    pub(super) saturated: bool,
    /// What that is on average where there is nothing but noise.
    pub(super) of_noise: f64,
    /// The standard error of the width.
    pub(super) sigma_error: f64,
    /// Whether there may be more emitters than could be told apart.
    pub(super) crowd: bool,
}

impl Found {
    /// Of a fit of a Gaussian, in photons.
    pub(super) fn of_fit(
        fit: &Fit<f64>,
        errors: &Errors,
        residuals: Option<&Residuals>,
        pixels: usize,
        options: &LocalizeOptions,
    ) -> Self {
        let chi2 = residuals.map_or(fit.chi2, |residuals| residuals.squares);
        let uncertainty = [errors.x().into(), errors.y().into()];
        let count = options.fitter.fit.parameters();
        let mut spot = spot::localization(fit, chi2, [pixels, count], uncertainty);
        spot.depth = options.calibration.as_ref().map(|finder| spot::depth(finder, fit, errors));
        spot.errors = options.errors.then(|| spot::errors(errors));
        let seen = residuals.map(|residuals| Seen {
            goodness: errors.goodness.into(),
            residual: f64::from(errors.excess).max(residuals.structure),
            saturated: residuals.saturated,
            of_noise: OF_NOISE,
            sigma_error: errors.of(Parameter::SigmaX).into(),
            crowd: false,
        });
        // What is not a number is not dark.
        let dark = fit.amplitude <= 0.0;
        let converged = fit.status.is_converged();
        Self { spot, converged, bright: !dark, at_end: false, seen }
    }
}

impl Found {
    /// The same with all light as its background, where some of it is known.
    pub(super) fn lit(mut self, place: &Place, lit: Option<&Lit<'_>>) -> Self {
        if let Some(lit) = lit {
            let Corner { frame, x, y } = place.corner;
            let (x, y) = (self.spot.x + f64::from(x), self.spot.y + f64::from(y));
            self.spot.offset += lit.known().at(frame as usize, x, y);
        }
        self
    }
}

/// A spot in its frame.
fn placed(first: usize, place: &Place, mut spot: Localization) -> Localization {
    let frame = first + place.corner.frame as usize;
    spot.x += f64::from(place.corner.x);
    spot.y += f64::from(place.corner.y);
    Localization { id: place.id, frame, ..spot }
}

/// The first of these flags that a localization is dropped for.
fn first_of(unwanted: Flags) -> Option<DropReason> {
    Some(match unwanted {
        Flags { saturated: true, .. } => DropReason::Saturated,
        Flags { neighbour: true, .. } => DropReason::Neighbour,
        Flags { residual: true, .. } => DropReason::Residual,
        Flags { crowd: true, .. } => DropReason::Crowd,
        Flags { width: true, .. } => DropReason::Width,
        _ => return None,
    })
}

/// Decides which fits become localizations.
pub(super) struct Judge<'a> {
    pub(super) options: &'a LocalizeOptions,
    pub(super) counts: &'a mut Counts,
    /// The widths so far.
    pub(super) widths: &'a mut Typical,
    /// How much residuals exceeded the noise so far, a photon.
    pub(super) misfits: &'a mut Typical,
    /// The number of the localization before the next one.
    pub(super) next_id: &'a mut u64,
    /// Who wants to know of every decision, if anybody does.
    pub(super) watch: Option<&'a mut Watch>,
}

impl Judge<'_> {
    /// Turns a fit into a localization, or counts why not.
    pub(super) fn judge(
        &mut self,
        first: usize,
        place: &Place,
        found: Found,
    ) -> Option<Localization> {
        let Found { mut spot, converged, bright, at_end, seen } = found;
        if let Some(correction) = &self.options.aperture_correction {
            spot.intensity *= correction.factor;
            spot.errors.iter_mut().for_each(|errors| errors.photons *= correction.factor);
        }
        let half = (place.side / 2) as f64;
        let wander = WANDER * place.side as f64;
        let windows = self.options.emitters == Emitters::One;
        let detected = self.options.positions.is_none() && windows;
        let far = |at: f64| (at - half).abs() > wander;
        let wandered = detected && (far(spot.x) || far(spot.y));
        if self.options.is_checked() {
            let sound = converged && bright && !wandered;
            spot.checks = seen.map(|seen| self.checks(place, &spot, seen, sound));
        }
        let flags = spot.checks.map_or(Flags::default(), |checks| checks.flags);
        let unwanted = flags.and(self.options.drop);
        let counts = &mut *self.counts;
        counts.by_status.count(spot.status);
        counts.at_end += usize::from(at_end);
        let reason = if !converged {
            Some(DropReason::Failed(spot.status))
        } else if !bright {
            Some(DropReason::NotBright)
        } else if wandered {
            Some(DropReason::Wandered)
        } else if !spot.is_finite() {
            Some(DropReason::NotFinite)
        } else if !spot.is_determined() {
            Some(DropReason::Undetermined)
        } else {
            first_of(unwanted)
        };
        if let Some(reason) = reason {
            counts.dropped.count(reason);
        }
        let keeps = reason.is_none_or(|reason| self.options.keep_all && !reason.is_flag());
        let kept = keeps.then(|| self.keep(first, place, spot));
        if let Some(watch) = &mut self.watch {
            let spot = kept.unwrap_or_else(|| placed(first, place, spot));
            watch.fitted(place, spot, reason, keeps);
        }
        kept
    }

    /// Numbers a localization, and places it in the frame.
    fn keep(&mut self, first: usize, place: &Place, spot: Localization) -> Localization {
        self.counts.kept += 1;
        *self.next_id += 1;
        let detected = self.options.positions.is_none();
        let id = if detected { *self.next_id } else { place.id };
        Localization { id, ..placed(first, place, spot) }
    }

    /// What speaks against a localization. The width of a `sound` one is remembered.
    fn checks(&mut self, place: &Place, spot: &Localization, seen: Seen, sound: bool) -> Checks {
        let Seen { goodness, residual, saturated, of_noise, sigma_error, crowd } = seen;
        let circular = matches!(self.options.fitter.fit.shape, Shape::Circular(_));
        let circular = circular && self.options.psf.is_none();
        // Those of a crowd may have a width that is not fitted.
        let circular = circular && (self.options.emitters == Emitters::One || sigma_error > 0.0);
        // What the model lacks of a spot shows the more, the brighter the spot is.
        let error = spot.intensity.recip();
        let unlike = self.misfits.excess(residual * error, error);
        // What is not bright has no light to compare.
        let unlike = unlike.filter(|_| error > 0.0).unwrap_or(residual);
        let odd = self.widths.surprise(spot.sigma, sigma_error).unwrap_or_default();
        let flags = Flags {
            neighbour: place.neighbour < self.options.box_size as f64,
            residual: residual.min(unlike) > LARGE_RESIDUALS,
            saturated,
            width: circular && odd.abs() > ODD_WIDTH,
            crowd,
        };
        let alone = flags.with_width(false).with_residual(false).is_empty();
        if sound && alone {
            self.misfits.add((residual - of_noise) * error, error);
        }
        if sound && circular && alone && !flags.residual {
            self.widths.add(spot.sigma, sigma_error);
        }
        let goodness = if goodness.is_finite() { goodness } else { f64::NAN };
        Checks { neighbour: place.neighbour, goodness, flags }
    }
}
