//! Heights of spots.

/// How the height of a spot was found, or why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum DepthStatus {
    /// z was found.
    Found,
    /// The widths are nearest to the lower end of the range: the spot is there or below.
    Below,
    /// The widths are nearest to the upper end of the range: the spot is there or above.
    Above,
    /// Another z is nearly as likely.
    Ambiguous,
    /// No z has such widths.
    Far,
    /// A width, an error or the correlation is not finite or out of its range.
    Invalid,
}

impl DepthStatus {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Found, Self::Below, Self::Above, Self::Ambiguous, Self::Far, Self::Invalid];

    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Found => "found",
            Self::Below => "below",
            Self::Above => "above",
            Self::Ambiguous => "ambiguous",
            Self::Far => "far",
            Self::Invalid => "invalid",
        }
    }
}
