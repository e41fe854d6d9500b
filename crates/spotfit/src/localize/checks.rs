//! Whether a localization can be trusted: neighbours, residuals and saturated pixels.

/// Residuals that exceed the noise by more than this number of standard deviations are flagged, if they exceed as well what spots of the same light
/// have in this movie: no spot is quite like the model, and bright ones show it.
pub const LARGE_RESIDUALS: f64 = 2.5;

/// Widths that differ from the usual one by more than this number of standard deviations are flagged.
pub const ODD_WIDTH: f64 = 2.5;

fit_core::__options! {
    /// Reasons not to trust a localization.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
    #[non_exhaustive]
    pub struct Flags {
        /// Another candidate lies within a box of this spot, so that its light is in the window. With
        /// [`Emitters::Auto`](super::Emitters::Auto) both were told apart, and neither disturbs the other more than its errors say.
        pub neighbour(const with_neighbour): bool = false,
        /// The residuals are too large for the noise, and for what other spots show ([`LARGE_RESIDUALS`]): the window shows something other than one
        /// spot of this shape on a flat background.
        pub residual(const with_residual): bool = false,
        /// A pixel of the window is saturated.
        pub saturated(const with_saturated): bool = false,
        /// The spot is wider or narrower than those before it in the movie ([`ODD_WIDTH`]): it may be two spots, or none.
        /// Only where the width of circular spots is fitted.
        pub width(const with_width): bool = false,
        /// There may be more emitters here than could be told apart. Only with [`Emitters::Auto`](super::Emitters::Auto).
        pub crowd(const with_crowd): bool = false,
    }
}

impl Flags {
    /// All of them.
    pub const ALL: Self =
        Self { neighbour: true, residual: true, saturated: true, width: true, crowd: true };

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.bits() == 0
    }

    /// The flags that are also in `others`.
    #[must_use]
    pub const fn and(self, others: Self) -> Self {
        Self::from_bits(self.bits() & others.bits())
    }

    /// The number for tables: 1 for a neighbour, 2 for residuals, 4 for a saturated pixel, 8 for the width, 16 for a crowd, and
    /// their sums.
    pub const fn bits(self) -> u8 {
        self.neighbour as u8
            | (self.residual as u8) << 1
            | (self.saturated as u8) << 2
            | (self.width as u8) << 3
            | (self.crowd as u8) << 4
    }

    /// From that number; other bits are ignored.
    pub const fn from_bits(bits: u8) -> Self {
        Self {
            neighbour: bits & 1 != 0,
            residual: bits & 2 != 0,
            saturated: bits & 4 != 0,
            width: bits & 8 != 0,
            crowd: bits & 16 != 0,
        }
    }
}

/// The checks of a localization.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Checks {
    /// The distance, in pixels, to the nearest other candidate of the frame, or to the nearest other given position,
    /// even if its fit was dropped; infinite if there is none. With [`Emitters::Auto`](super::Emitters::Auto), to the nearest other
    /// spot of the frame.
    pub neighbour: f64,
    /// Pearson's χ² per degree of freedom, Σ(h − g)²/variance/(N − parameters): about 1 if the model and the camera are
    /// correct. NaN for fits that failed.
    pub goodness: f64,
    /// Reasons not to trust it.
    pub flags: Flags,
}
