//! The drift of a frame, as it is written.

use serde_json::{Map, Value, json};

use super::Arrival;
use crate::steps::words::symbol;
use crate::table::{Column, Info, Kind, Meaning, Table, Unit};
use crate::track::{FrameDrift, FrameStatus, FrameView};

/// What all rows have in common.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct About {
    /// The unit of x and y: nanometres if the size of a pixel is known, otherwise pixels. z is in nanometres.
    pub unit: Unit,
    /// The side of a pixel in nanometres, if it is known.
    pub pixel_size: Option<f64>,
    /// Whether heights are found.
    pub has_z: bool,
    /// Whether the times of frames are known.
    pub has_time: bool,
    /// Whether frames come as they are taken, so that it matters how soon their drifts are known. The table of a movie is the same
    /// each time.
    pub has_latency: bool,
    /// Width and height of the frames in pixels.
    pub size: [usize; 2],
}

impl About {
    pub(super) fn new(arrival: &Arrival<'_>, pixel_size: Option<f64>, has_z: bool) -> Self {
        let unit = if pixel_size.is_some() { Unit::Nanometre } else { Unit::Pixel };
        let FrameView { width, height, .. } = arrival.frame;
        let (has_time, has_latency) = (arrival.time.is_some(), arrival.stamp.is_some());
        Self { unit, pixel_size, has_z, has_time, has_latency, size: [width, height] }
    }

    /// The names of the numbers that rows have, each with its unit, in their order.
    pub fn columns(&self) -> impl Iterator<Item = (&'static str, Unit)> + use<> {
        let all = [
            ("frame", Unit::None, true),
            ("time", Unit::None, self.has_time),
            ("x", self.unit, true),
            ("y", self.unit, true),
            ("z", Unit::Nanometre, self.has_z),
            ("x_error", self.unit, true),
            ("y_error", self.unit, true),
            ("z_error", Unit::Nanometre, self.has_z),
            ("beads", Unit::None, true),
            ("status", Unit::None, true),
            ("latency_us", Unit::None, self.has_latency),
        ];
        all.into_iter().filter(|(.., has)| *has).map(|(name, unit, _)| (name, unit))
    }

    /// Rows as a table: `frame`, `time` in seconds, `x`, `y`, `z`, their standard errors, `beads`, `status` in words and `latency_us`.
    pub fn table(&self, rows: &[Row]) -> Table {
        let [width, height] = self.size;
        let mut info = Info::default();
        (info.pixel_size, info.width, info.height) = (self.pixel_size, Some(width), Some(height));
        let mut table = Table::new(info);
        for (name, unit) in self.columns() {
            let kind = match name {
                "frame" | "beads" => Kind::Whole,
                "status" => Kind::Words(FrameStatus::ALL.map(|status| status.name().into()).into()),
                "time" => Kind::Rounded(6),
                "latency_us" => Kind::Rounded(1),
                _ => Kind::Rounded(unit.decimals()),
            };
            let values = rows.iter();
            let (name, values) = match name {
                "frame" => (Meaning::Frame.name(), values.map(|row| row.frame as f64).collect()),
                name => (name, values.map(|row| row.number(name)).collect()),
            };
            table.set(Column::new(name, unit, kind, values));
        }
        table
    }
}

/// The names of [`Row::numbers`].
const NUMBERS: [&str; 11] = [
    "frame",
    "time",
    "x",
    "y",
    "z",
    "x_error",
    "y_error",
    "z_error",
    "beads",
    "latency_us",
    "status",
];

/// The drift of a frame. Lengths are in the unit of [`About`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// The number of the frame, from 0, by which the source counts.
    pub frame: u64,
    /// When it was there, in seconds since the first frame, if it is known.
    pub time: Option<f64>,
    /// The displacement along x: to be subtracted, as that of `drift`.
    pub x: f64,
    /// The same along y.
    pub y: f64,
    /// The same along z in nanometres, if heights are found.
    pub z: Option<f64>,
    /// The standard error of x.
    pub x_error: f64,
    /// The standard error of y.
    pub y_error: f64,
    /// The standard error of z.
    pub z_error: Option<f64>,
    /// The beads that it rests on; 0 if it is none that was measured.
    pub beads: usize,
    /// The beads that are lost.
    pub lost: usize,
    /// What became of the frame.
    pub status: FrameStatus,
    /// Microseconds from the frame in memory to this drift.
    pub latency: f64,
}

impl Row {
    pub(super) fn new(
        arrival: &Arrival<'_>,
        drift: &FrameDrift,
        about: &About,
        latency: u64,
    ) -> Self {
        let scale = about.pixel_size.unwrap_or(1.0);
        Self {
            frame: arrival.number,
            time: arrival.time,
            x: scale * drift.x,
            y: scale * drift.y,
            z: drift.z,
            x_error: scale * drift.x_error,
            y_error: scale * drift.y_error,
            z_error: drift.z_error,
            beads: drift.beads,
            lost: drift.lost,
            status: drift.status,
            latency: latency as f64 / 1e3,
        }
    }

    /// One of its [numbers](Self::numbers) by its name; NaN if it is not known.
    pub(super) fn number(&self, name: &str) -> f64 {
        let at = NUMBERS.iter().position(|own| *own == name);
        at.map_or(f64::NAN, |at| self.numbers()[at])
    }

    /// All eleven numbers, frames counted from 1; NaN where one is not known: those of the columns in their order, then that of the status.
    pub fn numbers(&self) -> [f64; 11] {
        let or = |value: Option<f64>| value.unwrap_or(f64::NAN);
        [
            self.frame as f64 + 1.0,
            or(self.time),
            self.x,
            self.y,
            or(self.z),
            self.x_error,
            self.y_error,
            or(self.z_error),
            self.beads as f64,
            self.latency,
            f64::from(self.status.number()),
        ]
    }

    /// The row as JSON: its columns by their names, frames counted from 1, with `unit`.
    pub fn json(&self, about: &About) -> Value {
        let mut told = Map::new();
        for (name, _) in about.columns() {
            let value = match name {
                "frame" => json!(self.frame.saturating_add(1)),
                "beads" => json!(self.beads),
                "status" => json!(self.status.name()),
                name => json!(self.number(name)),
            };
            told.insert(name.to_owned(), value);
        }
        told.insert("unit".to_owned(), json!(symbol(about.unit)));
        Value::Object(told)
    }
}
