//! What became of every candidate, for those who want to look: previews.

use fit_core::{Corner, Status};

use super::places::Place;
use super::spot::Localization;

/// Why a candidate or a fit became no localization: the first of these that is so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DropReason {
    /// The window would cross the frame's edge.
    AtEdge,
    /// The fit did not converge, and ended so.
    Failed(Status),
    /// The amplitude is not positive.
    NotBright,
    /// The centre moved more than 0.3 of the box away from the detected position.
    Wandered,
    /// A number in photons is not finite.
    NotFinite,
    /// The expected standard deviation of x or y is infinite.
    Undetermined,
    /// A pixel of the window is saturated ([`super::LocalizeOptions::drop`]).
    Saturated,
    /// There is a neighbour.
    Neighbour,
    /// The residuals are larger than the noise.
    Residual,
    /// There may be more emitters than could be told apart.
    Crowd,
    /// The spot is wider or narrower than the others.
    Width,
    /// The condition for localizations does not hold ([`crate::steps::localize::LocalizeOptions::filter`]).
    Filter,
}

impl DropReason {
    /// All of them, in the order in which a spot may be dropped.
    pub fn all() -> impl Iterator<Item = Self> {
        let failed = Status::ALL.into_iter().filter(|status| !status.is_converged());
        [Self::AtEdge].into_iter().chain(failed.map(Self::Failed)).chain([
            Self::NotBright,
            Self::Wandered,
            Self::NotFinite,
            Self::Undetermined,
            Self::Saturated,
            Self::Neighbour,
            Self::Residual,
            Self::Crowd,
            Self::Width,
            Self::Filter,
        ])
    }

    /// Its word, as in `at_edge`; of fits that failed, that of their status.
    pub const fn name(self) -> &'static str {
        match self {
            Self::AtEdge => "at_edge",
            Self::Failed(status) => status.name(),
            Self::NotBright => "not_bright",
            Self::Wandered => "wandered",
            Self::NotFinite => "not_finite",
            Self::Undetermined => "undetermined",
            Self::Saturated => "saturated",
            Self::Neighbour => "neighbour",
            Self::Residual => "residual",
            Self::Crowd => "crowd",
            Self::Width => "width",
            Self::Filter => "filter",
        }
    }

    /// In words, as in `at the frame's edge`.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::AtEdge => "at the frame's edge",
            Self::Failed(status) => status.name(),
            Self::NotBright => "amplitude not positive",
            Self::Wandered => "moved to a neighbour",
            Self::NotFinite => "not finite in photons",
            Self::Undetermined => "with infinite errors of x or y",
            Self::Saturated => "saturated",
            Self::Neighbour => "with a neighbour",
            Self::Residual => "with residuals larger than the noise",
            Self::Crowd => "in a crowd",
            Self::Width => "wider or narrower than the others",
            Self::Filter => "do not fulfil the condition",
        }
    }

    /// Whether localizations are dropped for it only where somebody asked for that, and then even if failed fits are kept.
    pub(super) const fn is_flag(self) -> bool {
        matches!(
            self,
            Self::Saturated | Self::Neighbour | Self::Residual | Self::Crowd | Self::Width
        )
    }
}

/// What became of a candidate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fate {
    /// The spot, in the frame; without a fit only its place is a number.
    pub(crate) spot: Localization,
    /// The window that was fitted: column and row of its first pixel, and its side.
    pub(crate) window: Option<([u32; 2], usize)>,
    /// Where the detector found it.
    pub(crate) detected: [f64; 2],
    /// By how many times the noise it stands out; 0 if no detector has seen it.
    pub(crate) response: f32,
    /// Why it was dropped; those of failed fits that are kept have a reason, too.
    pub(crate) reason: Option<DropReason>,
    /// Whether it is a localization.
    pub(crate) kept: bool,
}

/// What a localizer tells of the frames that it has searched.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Candidates at the edge, and all fits in their order.
    pub(crate) fates: Vec<Fate>,
}

impl Watch {
    /// Candidates without a window.
    pub(super) fn at_edge(&mut self, id: u64, frame: usize, at: [f64; 2], response: f32) {
        self.fates.push(Fate {
            spot: nowhere_but(id, frame, at),
            window: None,
            detected: at,
            response,
            reason: Some(DropReason::AtEdge),
            kept: false,
        });
    }

    /// A fit that was decided about, in the frame.
    pub(super) fn fitted(
        &mut self,
        place: &Place,
        spot: Localization,
        reason: Option<DropReason>,
        kept: bool,
    ) {
        let Place { corner: Corner { x, y, .. }, side, response, .. } = *place;
        let half = (side / 2) as f64;
        let detected = [f64::from(x) + half, f64::from(y) + half];
        let window = Some(([x, y], side));
        self.fates.push(Fate { spot, window, detected, response, reason, kept });
    }
}

/// A spot of which only the place is known.
fn nowhere_but(id: u64, frame: usize, [x, y]: [f64; 2]) -> Localization {
    let unknown = f64::NAN;
    Localization {
        id,
        frame,
        x,
        y,
        sigma: unknown,
        sigma_x: unknown,
        sigma_y: unknown,
        angle: unknown,
        intensity: unknown,
        offset: unknown,
        offset_x: unknown,
        offset_y: unknown,
        background_std: unknown,
        chi2: unknown,
        uncertainty: unknown,
        uncertainty_x: unknown,
        uncertainty_y: unknown,
        depth: None,
        errors: None,
        status: Status::Invalid,
        checks: None,
    }
}
