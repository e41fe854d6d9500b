//! How drift is looked for.

use crate::Length;

/// Which spots show the drift.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Beads {
    /// Those that are in four of five frames.
    Auto,
    /// Those at these places (x, y) in the first frame in which they are seen, in the unit of the table: see [`places`](super::places).
    At(Vec<[f64; 2]>),
}

fit_core::__options! {
    /// How drift is looked for.
    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    #[cfg_attr(feature = "clap", derive(clap::Args))]
    #[serde(default, deny_unknown_fields)]
    #[non_exhaustive]
    pub struct DriftOptions {
        /// Follow beads, instead of comparing all localizations with each other.
        pub beads(with_beads)[skip]: Option<Beads> = None,
        /// How far a bead may move from frame to frame, in nanometres or with a unit, as in 0.5px; ten times the median
        /// uncertainty if not given.
        pub bead_radius(const with_bead_radius)[long, value_name = "LENGTH", requires = "beads"]: Option<Length> = None,
        /// The number of frames of the movie. If not given, it is the number that the table states, or that of the frames up to its last
        /// localization. Localizations of later frames are not used.
        pub frames(const with_frames)[skip]: Option<u32> = None,
        /// Frames of a segment of the first comparison, such that there are 2 to 64 of them; chosen by the number of localizations
        /// if not given.
        pub segment(const with_segment)[long, value_name = "FRAMES", value_parser = clap::value_parser!(u32).range(1..)]: Option<u32> = None,
        /// Frames between two knots of the curve, such that it has 2 to 2048 intervals; as short as the data ask for if not given. What is
        /// too fast for them adds to the error.
        pub knots(const with_knots)[long, value_name = "FRAMES", value_parser = clap::value_parser!(u32).range(1..)]: Option<u32> = None,
        /// The largest drift between two segments that is looked for, in nanometres or with a unit, as in 5px; a hundred times the
        /// median uncertainty and at least 500 nm (5 pixels if their size is not known) if not given.
        pub range(const with_range)[long, value_name = "LENGTH"]: Option<Length> = None,
        /// Take the drift although it cannot be told from chance; without this, nothing is written then.
        pub anyway(const with_anyway)[long]: bool = false,
        /// Add the standard error of the drift to the uncertainties of the localizations, as independent errors add up.
        pub with_error(const with_with_error)[long]: bool = false,
    }
}
