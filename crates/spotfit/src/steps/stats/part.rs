//! What needs frames and positions: localizations per frame, precision and resolution.

use std::fmt::Display;

use serde::ser::{Serialize, SerializeMap, Serializer};
use spotfit_locs::private::ends;

use super::StatsOptions;
use super::spread::{Spread, between, kept};
use crate::statistics::{Frc, FrcOptions, Nena, duplicates, frc, nena};
use crate::steps::words::go_on;
use crate::steps::{Listener, StepError};
use crate::table::{Meaning, Table, Unit};

/// Why there is no precision by nearest neighbours.
const LINKED_NENA: &str = "rows are molecules of several localizations (column detections), none of which is there again in the next \
    frame; the table from before they were linked tells it";
/// Why nothing is said of localizations per frame.
pub(super) const LINKED_FRAMES: &str =
    "rows are molecules (column detections), each in the frame in which it was first seen";

/// Bars of the chart of localizations per frame.
const MOST_BARS: u32 = 300;

/// Some rows of a table: all, or those that are kept. Lengths are in the unit of x and y.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct Part {
    /// How many there are.
    pub rows: usize,
    /// The least and the greatest x, and the same of y.
    pub extent: Option<[[f64; 2]; 2]>,
    /// Localizations per frame, if there are frames and rows are localizations.
    pub per_frame: Option<PerFrame>,
    /// The median of the uncertainty of x and y, in their unit.
    pub stated: Option<f64>,
    /// Whether rows are molecules, of several localizations each.
    pub linked: bool,
    /// The precision, or why there is none; `None` if nobody asked.
    #[serde(serialize_with = "outcome")]
    pub nena: Option<Result<Nena, String>>,
    /// The resolution, or why there is none; `None` if nobody asked.
    #[serde(serialize_with = "outcome")]
    pub frc: Option<Result<Frc, String>>,
}

/// Localizations per frame, empty frames included.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct PerFrame {
    /// Their mean.
    pub mean: f64,
    /// With the median between them.
    pub quartiles: [f64; 3],
    /// Means over some frames each, as bars. Frames count from 1.
    pub bars: Vec<(f64, f64)>,
    /// How many frames these are.
    pub width: u32,
}

/// A length with its standard error, or why it was not found; `None` if nobody asked.
pub(super) type Found<'a> = Option<Result<[f64; 2], &'a String>>;

impl Part {
    /// The precision by nearest neighbours.
    pub(super) fn precision(&self) -> Found<'_> {
        let found = self.nena.as_ref()?.as_ref();
        Some(found.map(|found| [found.sigma, found.standard_error]))
    }

    /// The resolution by Fourier ring correlation.
    pub(super) fn resolution(&self) -> Found<'_> {
        let found = self.frc.as_ref()?.as_ref();
        Some(found.map(|found| [found.resolution, found.standard_error]))
    }

    /// Describes rows with finite x and y of a movie of so many frames.
    pub(super) fn of(
        table: &Table,
        frames: Option<&[u32]>,
        count: Option<u32>,
        stated: Option<f64>,
        linked: bool,
        options: &StatsOptions,
        listener: &dyn Listener,
    ) -> Result<Self, StepError> {
        let of = |meaning: Meaning| table.values(meaning).unwrap_or_default();
        let (x, y) = (of(Meaning::X), of(Meaning::Y));
        let nena = match linked {
            true => options.nena.then(|| Err(LINKED_NENA.to_owned())),
            false => asked(options.nena, frames, |frames| nena(frames, x, y)),
        };
        go_on(listener)?;
        let within = FrcOptions::default();
        let frc = asked(options.frc, frames, |frames| frc(frames, x, y, &within));
        go_on(listener)?;
        let extent = (table.rows() > 0).then(|| [x, y].map(|of| ends(of.iter().copied())));
        let per_frame = frames.filter(|_| !linked).and_then(|frames| PerFrame::of(frames, count?));
        Ok(Self { rows: table.rows(), extent, per_frame, stated, linked, nena, frc })
    }
}

/// What was found, or why it was not as `reason`.
fn outcome<T: Serialize, S: Serializer>(
    of: &Option<Result<T, String>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match of {
        None => serializer.serialize_none(),
        Some(Ok(found)) => found.serialize(serializer),
        Some(Err(reason)) => {
            let mut map = serializer.serialize_map(Some(1))?;
            map.serialize_entry("reason", reason)?;
            map.end()
        }
    }
}

/// What was found of the frames, or why it was not, if it was asked for.
fn asked<T, E: Display>(
    asked: bool,
    frames: Option<&[u32]>,
    find: impl Fn(&[u32]) -> Result<T, E>,
) -> Option<Result<T, String>> {
    asked.then(|| match frames {
        None => Err(format!("there is no column '{}'", Meaning::Frame)),
        Some([]) => Err("there are no localizations".to_owned()),
        Some(frames) => find(frames).map_err(|error| error.to_string()),
    })
}

/// Whether rows are molecules that were linked of several localizations.
pub(super) fn is_linked(table: &Table) -> bool {
    let counts = table.values(Meaning::Detections).unwrap_or_default();
    counts.iter().any(|&count| count > 1.0)
}

/// The median of the uncertainty of x and y, of all rows and of those that are kept.
pub(super) fn stated(table: &Table, keep: Option<&[bool]>, unit: Unit) -> [Option<f64>; 2] {
    let Ok(values) = table.lengths(Meaning::Uncertainty, unit) else { return [None; 2] };
    let median = |mut values: Vec<f64>| {
        values.retain(|value| *value > 0.0);
        Spread::of(&mut values).quartiles().map(|quartiles| quartiles[1])
    };
    let of_kept = keep.and_then(|keep| median(kept(&values, keep)));
    [median(values.into_owned()), of_kept]
}

/// How many rows lie within three times the stated uncertainty of a brighter one of their frame, if all of this is known.
pub(super) fn repeated(
    table: &Table,
    frames: Option<&[u32]>,
    keep: Option<&[bool]>,
    stated: Option<f64>,
) -> Option<usize> {
    let of = |meaning: Meaning| {
        let values = table.values(meaning).ok()?;
        Some(keep.map_or_else(|| values.to_vec(), |keep| kept(values, keep)))
    };
    let frames = frames?;
    let frames = keep.map_or_else(|| frames.to_vec(), |keep| kept(frames, keep));
    let (x, y, photons) = (of(Meaning::X)?, of(Meaning::Y)?, of(Meaning::Photons)?);
    Some(duplicates(&frames, &x, &y, &photons, 3.0 * stated?).ok()?.count)
}

impl PerFrame {
    /// Counts the rows of each of so many frames.
    fn of(frames: &[u32], count: u32) -> Option<Self> {
        let last = count.checked_sub(1)?;
        let width = count.div_ceil(MOST_BARS);
        let mut counts = vec![0u64; count.div_ceil(width) as usize];
        for frame in frames {
            counts[(frame / width) as usize] += 1;
        }
        let bar = |(bar, &rows): (usize, &u64)| {
            let first = bar as u32 * width;
            (f64::from(first) + 0.5, rows as f64 / f64::from(width.min(count - first)))
        };
        let mut bars: Vec<(f64, f64)> = counts.iter().enumerate().map(bar).collect();
        bars.push((f64::from(count) + 0.5, 0.0));
        // A movie may have far more frames than rows.
        let mut sorted = frames.to_vec();
        sorted.sort_unstable();
        let mut counts: Vec<u32> =
            sorted.chunk_by(|a, b| a == b).map(|rows| rows.len() as u32).collect();
        counts.sort_unstable();
        let empty = count as usize - counts.len();
        let of_rank =
            |rank: usize| f64::from(rank.checked_sub(empty).map_or(0, |seen| counts[seen]));
        let quartiles = [0.25, 0.5, 0.75].map(|share| between(share, last as usize, of_rank));
        let mean = frames.len() as f64 / f64::from(count);
        Some(Self { mean, quartiles, bars, width })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves that empty frames count, and that a movie of very many frames takes no more memory than its rows.
    #[test]
    fn localizations_per_frame_are_counted() {
        let few = PerFrame::of(&[0, 3, 3, 3, 1, 1], 5).unwrap();
        assert_eq!((few.mean, few.quartiles, few.width), (1.2, [0.0, 1.0, 2.0], 1));
        let bars = [(0.5, 1.0), (1.5, 2.0), (2.5, 0.0), (3.5, 3.0), (4.5, 0.0), (5.5, 0.0)];
        assert_eq!(few.bars, bars);
        let many = PerFrame::of(&[7, u32::MAX - 1], u32::MAX).unwrap();
        assert_eq!(many.quartiles, [0.0; 3]);
        assert_eq!(many.bars.len(), 301);
        assert_eq!(PerFrame::of(&[0], 1).unwrap().quartiles, [1.0; 3]);
        assert_eq!(PerFrame::of(&[], 0), None);
        let whole = PerFrame::of(&[0, 299, 300, 300], 301).unwrap();
        assert_eq!((whole.width, whole.bars.last()), (2, Some(&(301.5, 0.0))));
        assert_eq!(whole.bars[150], (300.5, 2.0));
    }
}
