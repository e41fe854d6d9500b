//! What can go wrong.

use crate::OutOfRange;
use crate::near::ColumnsError;

/// Why no drift was found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DriftError {
    /// The columns do not have the same length, or are too long.
    #[error(transparent)]
    Columns(#[from] ColumnsError),
    /// An option is out of its range.
    #[error(transparent)]
    Option(#[from] OutOfRange),
    /// Parts of this length would be too many, or too few.
    #[error(
        "{name} = {frames} frames: {count} of them in the {span} frames with localizations; {least} to {most} are possible"
    )]
    Count {
        /// The option's name.
        name: &'static str,
        /// Frames of a part.
        frames: u32,
        /// How many there would be.
        count: usize,
        /// The frames.
        span: u32,
        /// The fewest.
        least: usize,
        /// The most.
        most: usize,
    },
    /// There are too few localizations, or all of them are in a few frames.
    #[error(
        "{found} localizations in {frames} frames are too few to find drift (at least {needed} in 2 frames)"
    )]
    Few {
        /// Those with finite coordinates.
        found: usize,
        /// The frames that have some.
        frames: usize,
        /// How many are needed.
        needed: usize,
    },
    /// Hardly any localizations of different times are near each other.
    #[error(
        "segments of the movie share too little: only {pairs} pairs of localizations are near each other within {range}"
    )]
    NoOverlap {
        /// The pairs found.
        pairs: usize,
        /// How far apart they may be.
        range: f64,
    },
    /// The drift cannot be told from chance.
    #[error(
        "the drift cannot be told from chance: pairs of localizations of different times agree with it by {significance:.1} \
        standard deviations ({needed} are needed); is there a structure, or are there molecules that come back?"
    )]
    Chance {
        /// By how many standard deviations pairs are nearer to each other than by chance.
        significance: f64,
        /// How many are needed.
        needed: f64,
    },
    /// No bead was found.
    #[error("no spot is there in {share:.0} % of the {frames} frames; is there a bead?")]
    NoBeads {
        /// The share of the frames in percent.
        share: f64,
        /// The frames of the movie.
        frames: u32,
    },
    /// There is no bead at a given position.
    #[error(
        "bead {number}: the spot at {place:?} is seen in {seen} frames, and must be in {needed} at least"
    )]
    NoBead {
        /// The number of the place, from 1.
        number: usize,
        /// The place.
        place: [f64; 2],
        /// In how many frames a spot there is seen.
        seen: usize,
        /// In how many it must be.
        needed: usize,
    },
}
