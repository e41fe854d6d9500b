//! How a fit ended.

use core::fmt;
use core::str::FromStr;

/// How a fit ended.
///
/// The names are the same in types, files and documents: [`Status::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "snake_case"))]
#[repr(u8)]
#[non_exhaustive]
pub enum Status {
    /// χ² fell below the bound in the criteria.
    MaxError = 1,
    /// The last step reduced χ² by less than the share in the criteria.
    MinDelta = 2,
    /// The last step was shorter than the limit in the criteria.
    MinStep = 3,
    /// No step finds a smaller χ², and the decrease that the gradient predicts is below rounding:
    /// this is the minimum.
    Stalled = 4,
    /// The fit ended with a parameter at a limit (see [`crate::Limits`]), whichever criterion it met.
    AtLimit = 5,
    /// The allowed iterations or evaluations were used up.
    MaxIterations = 6,
    /// No step reduced χ², however strongly damped, though the gradient says that one should; or no pixel
    /// depends on a spot at the start values.
    NotConverged = 7,
    /// There is nothing to fit: a pixel or a start value is not finite, or all pixels are the same.
    Invalid = 8,
}

impl Status {
    /// Every status, in the order of their codes.
    pub const ALL: [Self; 8] = [
        Self::MaxError,
        Self::MinDelta,
        Self::MinStep,
        Self::Stalled,
        Self::AtLimit,
        Self::MaxIterations,
        Self::NotConverged,
        Self::Invalid,
    ];

    /// Whether the fit met one of its criteria, or cannot be improved.
    pub const fn is_converged(self) -> bool {
        matches!(self, Self::MaxError | Self::MinDelta | Self::MinStep | Self::Stalled)
    }

    /// The word used for this status in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::MaxError => "max_error",
            Self::MinDelta => "min_delta",
            Self::MinStep => "min_step",
            Self::Stalled => "stalled",
            Self::AtLimit => "at_limit",
            Self::MaxIterations => "max_iterations",
            Self::NotConverged => "not_converged",
            Self::Invalid => "invalid",
        }
    }

    /// The code as a number, for arithmetic that keeps the status in a lane.
    #[doc(hidden)]
    pub const fn code(self) -> f64 {
        self as u8 as f64
    }

    /// The status with the given code, 1 to 8.
    pub const fn from_code(code: u8) -> Option<Self> {
        if code >= 1 && code <= 8 { Some(Self::ALL[code as usize - 1]) } else { None }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error of parsing a word that is not a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnknownStatus;

impl fmt::Display for UnknownStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no such status")
    }
}

impl core::error::Error for UnknownStatus {}

impl FromStr for Status {
    type Err = UnknownStatus;
    fn from_str(word: &str) -> Result<Self, UnknownStatus> {
        Self::ALL.into_iter().find(|status| status.name() == word).ok_or(UnknownStatus)
    }
}
