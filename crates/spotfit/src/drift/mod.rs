//! Drift: how far everything moved from frame to frame, found from the localizations themselves or from beads.
//!
//! [`Drift::estimate`] needs no beads. It compares segments of the movie with each other, as in redundant cross-correlation
//! (Wang et al. 2014, Optics Express 22:15982), but evaluates the correlation from pairs of localizations instead of
//! pictures, so that it knows no pixels. From there it refines a smooth curve: the drift at which localizations of
//! all times lie as near to each other as their uncertainty allows. [`Drift::from_beads`] follows spots that are always on.

mod beads;
mod refine;
mod segments;
mod spline;

use crate::near::ColumnsError;

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
}

/// How drift is looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct DriftOptions {
    /// The typical uncertainty of x and y. Range: above 0.
    pub precision: f64,
    /// The typical uncertainty of z. Range: above 0.
    pub precision_z: f64,
    /// The largest drift between two segments that is looked for, in x and in y. Range: above the precision.
    pub range: f64,
    /// The same in z.
    pub range_z: f64,
    /// Frames of a segment of the first comparison, as far as that gives 2 to 30 of them; `None` chooses by the number of
    /// localizations.
    pub segment: Option<u32>,
    /// Frames between two knots of the curve, as far as that gives 4 to 150 intervals; `None` chooses by the number of
    /// localizations.
    pub knots: Option<u32>,
}

impl DriftOptions {
    /// Looks for drift up to a hundred times the precision in x and y, and up to 20 times in z.
    pub fn new(precision: f64, precision_z: f64) -> Self {
        let (range, range_z) = (100.0 * precision, 20.0 * precision_z);
        Self { precision, precision_z, range, range_z, segment: None, knots: None }
    }

    fit_core::__setters! {
        const with_range: range: f64,
        const with_range_z: range_z: f64,
        const with_segment: segment: Option<u32>,
        const with_knots: knots: Option<u32>,
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drift {
    /// For each frame.
    pub x: Vec<f64>,
    /// For each frame.
    pub y: Vec<f64>,
    /// For each frame; empty if it was not looked for.
    pub z: Vec<f64>,
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
        let mut points = Points::new(positions, frames)?;
        // Before the first localization and after the last nothing is known: the drift stays as it is there.
        let (first, last) = (points.frames[0], points.frames[points.len() - 1]);
        points.frames.iter_mut().for_each(|frame| *frame -= first);
        let span = last - first + 1;
        let rough = segments::compare(&points, span, options)?;
        let mut drift = refine::refine(&points, span, &rough, options)?;
        drift.begin_at_zero();
        for values in [&mut drift.x, &mut drift.y, &mut drift.z] {
            if let Some(&end) = values.last() {
                values.splice(0..0, std::iter::repeat_n(0.0, first as usize));
                values.resize(frames as usize, end);
            }
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

    /// Measures from the first frame.
    fn begin_at_zero(&mut self) {
        for values in [&mut self.x, &mut self.y, &mut self.z] {
            let first = values.first().copied().unwrap_or_default();
            values.iter_mut().for_each(|value| *value -= first);
        }
    }
}

/// The localizations that are compared.
#[derive(Clone, Debug)]
struct Points {
    frames: Vec<u32>,
    x: Vec<f64>,
    y: Vec<f64>,
    /// Empty if there is none.
    z: Vec<f64>,
}

/// Fewer localizations say nothing.
const LEAST: usize = 100;

impl Points {
    /// Those that are finite, in the order of their frames.
    fn new(positions: &Positions<'_>, frames: u32) -> Result<Self, DriftError> {
        let Positions { frames: of, x, y, z } = *positions;
        let rows = z.map_or(x.len(), <[f64]>::len);
        crate::near::check_rows(x, &[("frame", of.len()), ("y", y.len()), ("z", rows)])?;
        let mut order = crate::near::by_frame(of);
        order.retain(|&row| {
            let row = row as usize;
            let finite = x[row].is_finite() && y[row].is_finite();
            finite && z.is_none_or(|z| z[row].is_finite()) && of[row] < frames
        });
        let gather = |from: &[f64]| order.iter().map(|&row| from[row as usize]).collect::<Vec<_>>();
        let points = Self {
            frames: order.iter().map(|&row| of[row as usize]).collect(),
            x: gather(x),
            y: gather(y),
            z: z.map(gather).unwrap_or_default(),
        };
        let seen = points.frames.chunk_by(|a, b| a == b).count();
        if points.len() < LEAST || seen < 2 {
            return Err(DriftError::Few { found: points.len(), frames: seen, needed: LEAST });
        }
        Ok(points)
    }

    fn len(&self) -> usize {
        self.x.len()
    }

    fn has_depth(&self) -> bool {
        !self.z.is_empty()
    }

    /// A share of them, the same in every run.
    fn thinned(&self, share: f64) -> Self {
        if share >= 1.0 {
            return self.clone();
        }
        // The golden ratio spreads whole numbers evenly over 2⁶⁴, whatever share is taken.
        let limit = (share * 2f64.powi(64)) as u64;
        let kept = |row: &usize| (*row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) < limit;
        let rows: Vec<usize> = (0..self.len()).filter(kept).collect();
        let gather = |from: &[f64]| match from.is_empty() {
            true => Vec::new(),
            false => rows.iter().map(|&row| from[row]).collect(),
        };
        Self {
            frames: rows.iter().map(|&row| self.frames[row]).collect(),
            x: gather(&self.x),
            y: gather(&self.y),
            z: gather(&self.z),
        }
    }

    /// About how many pairs are within a radius of each other, from a sample.
    fn pairs_within(&self, radius: f64) -> f64 {
        let sample = self.thinned(2e4 / self.len() as f64);
        let share = sample.len() as f64 / self.len() as f64;
        let cells = sample.cells(radius);
        let mut count = 0usize;
        for row in 0..sample.len() {
            count += cells.within(sample.x[row], sample.y[row], radius).count() - 1;
        }
        0.5 * count as f64 / (share * share)
    }

    fn cells(&self, side: f64) -> crate::near::Cells {
        let grid = crate::near::Grid::new(&self.x, &self.y, side);
        crate::near::Cells::new(grid, &self.x, &self.y, 0..self.len() as u32)
    }
}
