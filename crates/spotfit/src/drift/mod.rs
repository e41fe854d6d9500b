//! Drift: how far everything moved from frame to frame, found from the localizations themselves or from beads.
//!
//! [`Drift::estimate`] needs no beads. It compares segments of the movie with each other, as in redundant cross-correlation
//! (Wang et al. 2014, Optics Express 22:15982), but evaluates the correlation from pairs of localizations instead of
//! pictures, so that it knows no pixels. From there it refines a smooth curve: the drift at which localizations of
//! all times lie as near to each other as their uncertainty allows. [`Drift::from_beads`] follows spots that are always on.

mod beads;
mod chance;
mod guess;
mod jumps;
mod matrix;
mod pairs;
mod points;
mod prior;
mod refine;
mod segments;

use crate::near::ColumnsError;

use points::Points;
use refine::Search;

pub use beads::{Bead, BeadOptions, beads_at, find_beads};

/// Why there is no drift.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DriftError {
    /// The columns do not belong together, or are too long.
    #[error(transparent)]
    Columns(#[from] ColumnsError),
    /// An option is out of its range.
    #[error("{name} = {value} is out of its range ({range})")]
    Option {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The allowed values, in words.
        range: &'static str,
    },
    /// Parts of so many frames are too many, or too few.
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
    /// There are too few localizations, or all are in a few frames.
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
    /// Hardly any two localizations of different times are near each other.
    #[error(
        "segments of the movie share too little: only {pairs} pairs of localizations are near each other within {range}"
    )]
    NoOverlap {
        /// The pairs found.
        pairs: usize,
        /// How far apart they may be.
        range: f64,
    },
    /// The curve that was found makes no more pairs than chance does.
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
    /// There is no bead where one should be.
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

/// Segments and intervals of the curve that can be asked for.
const SEGMENTS: std::ops::RangeInclusive<usize> = 2..=64;
const KNOTS: std::ops::RangeInclusive<usize> = 2..=2048;

/// How many parts of so many frames there are.
fn count_of(
    name: &'static str,
    frames: Option<u32>,
    span: u32,
    range: std::ops::RangeInclusive<usize>,
) -> Result<Option<usize>, DriftError> {
    let Some(frames) = frames else { return Ok(None) };
    let count = (f64::from(span) / f64::from(frames)).round() as usize;
    if range.contains(&count) {
        return Ok(Some(count));
    }
    let (least, most) = (*range.start(), *range.end());
    Err(DriftError::Count { name, frames, count, span, least, most })
}

/// Where successive frames are the same, the rows of each.
fn runs(frames: &[u32]) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    let mut start = 0;
    frames.chunk_by(|a, b| a == b).map(move |rows| {
        start += rows.len();
        start - rows.len()..start
    })
}

/// Fewer pairs of localizations say nothing.
const LEAST_PAIRS: f64 = 12.0;
/// Pairs are nearer to each other than by chance by so many standard deviations, or the drift is not stated.
const NEEDED: f64 = 5.0;

/// The most frames.
const MOST_FRAMES: u32 = 1 << 24;

fn check_frames(frames: u32) -> Result<(), DriftError> {
    if frames <= MOST_FRAMES {
        return Ok(());
    }
    Err(DriftError::Option { name: "frames", value: frames.into(), range: "up to 2²⁴" })
}

/// Localizations of which the drift is looked for. All lengths have one unit.
#[derive(Clone, Copy, Debug)]
pub struct Positions<'a> {
    /// The frame of each, from 0.
    pub frames: &'a [u32],
    /// Centres.
    pub x: &'a [f64],
    /// Centres.
    pub y: &'a [f64],
    /// Heights, if the drift along the axis is wanted.
    pub z: Option<&'a [f64]>,
    /// The uncertainty of x and y of each, if it is known; without it, all count alike. What is not above 0 and finite
    /// counts as the median.
    pub uncertainty: Option<&'a [f64]>,
    /// The same for z; it counts for beads.
    pub uncertainty_z: Option<&'a [f64]>,
}

/// How drift is looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DriftOptions {
    /// The typical uncertainty of x and y. Range: above 0.
    pub precision: f64,
    /// The typical uncertainty of z. Range: above 0.
    pub precision_z: f64,
    /// The largest drift between two segments that is looked for, in x and in y. Range: 1 to 10⁴ times the precision.
    pub range: f64,
    /// The same in z.
    pub range_z: f64,
    /// Frames of a segment of the first comparison. Range: such that there are 2 to 64 of them; `None` chooses by the
    /// number of localizations, and also begins with localizations that are near in time.
    pub segment: Option<u32>,
    /// Frames between two knots of the curve. Range: such that there are 2 to 2048 intervals; `None` makes them as
    /// short as the data ask for. There are no more than a quarter of the molecules. How smooth the curve is the data decide in both cases.
    pub knots: Option<u32>,
    /// Whether drift is stated that cannot be told from chance.
    pub anyway: bool,
}

impl DriftOptions {
    /// Looks for drift up to a hundred times the precision in x and y, and up to 20 times in z.
    pub fn new(precision: f64, precision_z: f64) -> Self {
        let (range, range_z) = (100.0 * precision, 20.0 * precision_z);
        Self { precision, precision_z, range, range_z, segment: None, knots: None, anyway: false }
    }

    fit_core::__setters! {
        const with_range: range: f64,
        const with_range_z: range_z: f64,
        const with_segment: segment: Option<u32>,
        const with_knots: knots: Option<u32>,
        const with_anyway: anyway: bool,
    }

    fn check(&self, depth: bool) -> Result<(), DriftError> {
        let positive = |name, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(DriftError::Option { name, value, range: "above 0" }),
        };
        positive("precision", self.precision)?;
        let wide = |name, value: f64, least: f64| match value >= least && value <= 1e4 * least {
            true => Ok(()),
            false => {
                Err(DriftError::Option { name, value, range: "1 to 10000 times the precision" })
            }
        };
        wide("range", self.range, self.precision)?;
        if depth {
            positive("precision_z", self.precision_z)?;
            wide("range_z", self.range_z, self.precision_z)?;
        }
        let counts = |name, frames: Option<u32>| match frames {
            Some(0) => Err(DriftError::Option { name, value: 0.0, range: "1 or more" }),
            _ => Ok(()),
        };
        counts("segment", self.segment)?;
        counts("knots", self.knots)
    }
}

/// How far everything had moved in each frame, relative to the first that has a localization: what is subtracted from the positions.
///
/// Errors are standard errors of the drift in that frame relative to the mean drift of all frames: where the whole picture lies
/// is no question of drift. They are empty if they are not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drift {
    /// For each frame.
    pub x: Vec<f64>,
    /// For each frame.
    pub y: Vec<f64>,
    /// For each frame; empty if it was not looked for.
    pub z: Vec<f64>,
    /// The standard error of [`Drift::x`].
    pub x_error: Vec<f64>,
    /// The standard error of [`Drift::y`].
    pub y_error: Vec<f64>,
    /// The standard error of [`Drift::z`].
    pub z_error: Vec<f64>,
}

impl Drift {
    /// Finds the drift of localizations in a movie of so many frames; localizations of later frames are left out, as are
    /// those that are not finite. Their order does not matter.
    ///
    /// # Errors
    /// [`DriftError`].
    pub fn estimate(
        positions: &Positions<'_>,
        frames: u32,
        options: &DriftOptions,
    ) -> Result<Self, DriftError> {
        options.check(positions.z.is_some())?;
        check_frames(frames)?;
        let mut points = Points::new(positions, frames, options)?;
        // Before the first localization and after the last nothing is known: the drift stays as it is there.
        let (first, last) = (points.frames[0], points.frames[points.len() - 1]);
        points.frames.iter_mut().for_each(|frame| *frame -= first);
        let span = last - first + 1;
        let segment = count_of("segment", options.segment, span, SEGMENTS)?;
        let knots = count_of("knots", options.knots, span, KNOTS)?;
        let whole = points;
        let points = whole.merged(span);
        let range = [options.range / options.precision, options.range_z / options.precision_z];
        let pairs = points.pairs_within(range[0]);
        if pairs < LEAST_PAIRS {
            return Err(DriftError::NoOverlap { pairs: pairs as usize, range: options.range });
        }
        let search = Search { points: &points, span, range: range[0], knots };
        let curve = guess::first(&search, segment, range);
        let (values, errors) = search.fine(curve, &whole);
        if !options.anyway {
            let significance = chance::significance(&search, &values, segment, range);
            if significance.is_nan() || significance < NEEDED {
                return Err(DriftError::Chance { significance, needed: NEEDED });
            }
        }
        let mut drift = Self::default();
        let [x, y, z] = [&mut drift.x, &mut drift.y, &mut drift.z];
        let [x_error, y_error, z_error] =
            [&mut drift.x_error, &mut drift.y_error, &mut drift.z_error];
        let to = [(x, x_error), (y, y_error), (z, z_error)];
        for (axis, ((to, to_error), (of, error))) in
            to.into_iter().zip(values.into_iter().zip(errors)).enumerate()
        {
            let unit = if axis < 2 { options.precision } else { options.precision_z };
            let widened = |of: Vec<f64>, zero: f64| -> Vec<f64> {
                let (Some(&begin), Some(&end)) = (of.first(), of.last()) else { return of };
                let before = std::iter::repeat_n(begin, first as usize);
                let after = std::iter::repeat_n(end, (frames - last - 1) as usize);
                before.chain(of).chain(after).map(|value| unit * (value - zero)).collect()
            };
            let begin = of.first().copied().unwrap_or_default();
            *to = widened(of, begin);
            *to_error = widened(error, 0.0);
        }
        Ok(drift)
    }

    /// The number of frames.
    pub fn frames(&self) -> usize {
        self.x.len()
    }

    /// Whether it has no frame.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Takes the drift out of one coordinate: `of` is [`Drift::x`], [`Drift::y`] or [`Drift::z`]. After the last frame the
    /// drift is that of the last.
    pub fn correct(of: &[f64], frames: &[u32], coordinates: &mut [f64]) {
        let Some(last) = of.len().checked_sub(1) else { return };
        for (coordinate, &frame) in coordinates.iter_mut().zip(frames) {
            *coordinate -= of[(frame as usize).min(last)];
        }
    }

    /// Adds the error of the drift to uncertainties of positions, as independent errors add up: `of` is [`Drift::x_error`],
    /// [`Drift::y_error`] or [`Drift::z_error`]. After the last frame it is that of the last; if it is empty, nothing changes.
    pub fn add_error(of: &[f64], frames: &[u32], uncertainties: &mut [f64]) {
        let Some(last) = of.len().checked_sub(1) else { return };
        for (uncertainty, &frame) in uncertainties.iter_mut().zip(frames) {
            *uncertainty = uncertainty.hypot(of[(frame as usize).min(last)]);
        }
    }

    /// Measures from the first frame.
    fn begin_at_zero(&mut self) {
        for values in [&mut self.x, &mut self.y, &mut self.z] {
            let first = values.first().copied().unwrap_or_default();
            values.iter_mut().for_each(|value| *value -= first);
        }
    }
}
