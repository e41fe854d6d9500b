//! The input and the options of drift estimation.

use crate::OutOfRange;

/// The most frames.
const MOST_FRAMES: u32 = 1 << 24;

pub(super) fn check_frames(frames: u32) -> Result<(), OutOfRange> {
    OutOfRange::check("frames", frames, frames <= MOST_FRAMES, "up to 2²⁴")
}

/// The localizations from which drift is estimated. All lengths have one unit.
#[derive(Clone, Copy, Debug)]
pub struct DriftInput<'a> {
    /// The frame of each, from 0.
    pub frames: &'a [u32],
    /// Centres.
    pub x: &'a [f64],
    /// Centres.
    pub y: &'a [f64],
    /// Heights, if the drift along z is wanted.
    pub z: Option<&'a [f64]>,
    /// The uncertainty of x and y of each, if it is known; without it, all have the same weight. A value that is not
    /// finite and above 0 counts as the median.
    pub uncertainty: Option<&'a [f64]>,
    /// The same for z; only used for beads.
    pub uncertainty_z: Option<&'a [f64]>,
}

fit_core::__options! {
    /// The options of drift estimation.
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[non_exhaustive]
    pub struct DriftOptions {
        /// The typical uncertainty of x and y. Range: above 0.
        pub precision(): f64,
        /// The typical uncertainty of z. Range: above 0.
        pub precision_z(): f64,
        /// The largest expected drift between two segments, in x and in y. Range: 1 to 10⁴ times the precision.
        pub range(const with_range): f64,
        /// The same in z.
        pub range_z(const with_range_z): f64,
        /// Frames of a segment of the first comparison. Range: such that there are 2 to 64 of them; `None` chooses by the
        /// number of localizations, and also begins with localizations that are close in time.
        pub segment(const with_segment): Option<u32>,
        /// Frames between two knots of the curve. Range: such that there are 2 to 2048 intervals; `None` makes them as
        /// short as the data require. There are at most a quarter as many intervals as molecules. Motion
        /// that is too fast for intervals that were asked for adds to the error. In both cases the data decide how smooth the curve is.
        pub knots(const with_knots): Option<u32>,
        /// Whether to return drift that cannot be told from chance.
        pub anyway(const with_anyway): bool,
    }
}

impl DriftOptions {
    /// Finds drift up to a hundred times the precision in x and y, and up to 20 times in z.
    pub fn new(precision: f64, precision_z: f64) -> Self {
        let (range, range_z) = (100.0 * precision, 20.0 * precision_z);
        Self { precision, precision_z, range, range_z, segment: None, knots: None, anyway: false }
    }

    pub(super) fn check(&self, depth: bool) -> Result<(), OutOfRange> {
        let positive = |name, value: f64| {
            OutOfRange::check(name, value, value > 0.0 && value.is_finite(), "above 0")
        };
        positive("precision", self.precision)?;
        let wide = |name, value: f64, least: f64| {
            let good = value >= least && value <= 1e4 * least;
            OutOfRange::check(name, value, good, "1 to 10000 times the precision")
        };
        wide("range", self.range, self.precision)?;
        if depth {
            positive("precision_z", self.precision_z)?;
            wide("range_z", self.range_z, self.precision_z)?;
        }
        let counts =
            |name, frames: Option<u32>| OutOfRange::check(name, 0, frames != Some(0), "1 or more");
        counts("segment", self.segment)?;
        counts("knots", self.knots)
    }
}
