//! Why something is no localization.

use fit_core::Status;

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
