//! The report of tracking.

use std::fmt;

use super::{Lost, Row};
use crate::steps::words::{counted, length};
use crate::table::Unit;
use crate::track::FrameStatus;

/// From a frame in memory to its drift, in microseconds. Quantiles are within 2 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct LatencyReport {
    /// The median.
    pub median: f64,
    /// What 99 % do not exceed.
    pub percent_99: f64,
    /// What 99.9 % do not exceed.
    pub percent_99_9: f64,
    /// The longest.
    pub worst: f64,
}

/// The report of tracking. Lengths in x and y are in `unit`, those in z in nanometres.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
#[non_exhaustive]
pub struct TrackReport {
    /// The frames whose drift was found.
    pub frames: u64,
    /// Those of them without a bead, whose drift is held.
    pub held: u64,
    /// Those of them in which it was not known where the beads are ([`FrameStatus::Lost`]).
    pub lost_frames: u64,
    /// Frames that were lost on the way.
    #[serde(flatten)]
    pub lost: Lost,
    /// The beads of the reference.
    pub beads: usize,
    /// The fewest beads that a drift rests on.
    pub fewest: usize,
    /// The unit of x and y, `px` or `nm`.
    pub unit: &'static str,
    /// From the least to the greatest drift in x.
    pub x: f64,
    /// The same in y.
    pub y: f64,
    /// The same in z, if heights are found.
    pub z: Option<f64>,
    /// The standard error in x, rms.
    pub x_error: f64,
    /// The same in y.
    pub y_error: f64,
    /// The same in z.
    pub z_error: Option<f64>,
    /// Seconds from the first frame to the end.
    pub seconds: f64,
    /// How long answers took.
    pub latency: LatencyReport,
    /// Whether the user has ended it.
    pub interrupted: bool,
    #[serde(skip)]
    sums: Sums,
}

/// What the report is made of while frames come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sums {
    least: [f64; 3],
    greatest: [f64; 3],
    squares: [f64; 3],
}

impl TrackReport {
    /// Counts a frame.
    pub(super) fn add(&mut self, row: &Row) {
        let place = [row.x, row.y, row.z.unwrap_or_default()];
        let error = [row.x_error, row.y_error, row.z_error.unwrap_or_default()];
        let Sums { least, greatest, squares } = &mut self.sums;
        if self.frames == 0 {
            (*least, *greatest, self.fewest) = (place, place, row.beads);
        }
        self.frames += 1;
        let is_lost = row.status == FrameStatus::Lost;
        self.held += u64::from(row.beads == 0 && !is_lost);
        self.lost_frames += u64::from(is_lost);
        self.fewest = self.fewest.min(row.beads);
        for axis in 0..3 {
            least[axis] = least[axis].min(place[axis]);
            greatest[axis] = greatest[axis].max(place[axis]);
            squares[axis] += error[axis] * error[axis];
        }
        let range = |axis: usize| greatest[axis] - least[axis];
        let rms = |axis: usize| (squares[axis] / self.frames as f64).sqrt();
        (self.x, self.y) = (range(0), range(1));
        (self.x_error, self.y_error) = (rms(0), rms(1));
        self.z = row.z.map(|_| range(2));
        self.z_error = row.z_error.map(|_| rms(2));
    }
}

impl fmt::Display for TrackReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.unit == "nm" { Unit::Nanometre } else { Unit::Pixel };
        let Self { frames, held, lost_frames, beads, fewest, .. } = self;
        let Lost { missed, torn, disorder } = self.lost;
        let mut frames =
            vec![format!("{frames} frames, {beads} beads (at least {fewest} of them in a frame)")];
        frames.extend(counted([
            (*held, "without a bead"),
            (*lost_frames, "in which the beads were lost"),
            (missed, "lost on the way"),
            (torn, "overwritten while they were read"),
            (disorder, "with a number that is not above that of the frame before"),
        ]));
        let place = |value: f64, error: f64, unit: Unit, axis: &str| {
            format!("{} in {axis} (±{})", length(value, unit), length(error, unit))
        };
        let mut drift =
            vec![place(self.x, self.x_error, unit, "x"), place(self.y, self.y_error, unit, "y")];
        let z = self.z.zip(self.z_error);
        drift.extend(z.map(|(z, error)| place(z, error, Unit::Nanometre, "z")));
        let LatencyReport { median, percent_99_9, worst, .. } = self.latency;
        write!(
            f,
            "{}\ndrift: {}\nfrom frame to drift: {median:.0} µs (median), {percent_99_9:.0} µs (99.9 %), {worst:.0} µs (worst)",
            frames.join(", "),
            drift.join(", ")
        )
    }
}
