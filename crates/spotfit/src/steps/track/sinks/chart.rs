//! Drift as a chart, in memory that does not grow.

use super::{About, DriftSink, Row};
use crate::report::figure::Drawing;
use crate::report::svg::{Axis, Chart, Series};
use crate::steps::words::symbol;
use crate::steps::{Listener, StepError};

/// The most points of a line.
const MOST: usize = 4096;

/// Gathers a chart of the drift over the frames, with a band of one standard error to either side. Of many frames it has some,
/// evenly spaced.
#[derive(Clone, Debug, Default)]
pub struct DriftChart {
    about: About,
    rows: Vec<Row>,
    /// Every so many rows one is kept, as a power of two.
    stride: u64,
    seen: u64,
}

impl DriftChart {
    /// The chart.
    pub fn drawing(&self) -> Drawing {
        let symbol = symbol(self.about.unit);
        let line = |name: &str, of: fn(&Row) -> Option<[f64; 2]>| {
            let known =
                || self.rows.iter().filter_map(|row| Some((row.frame as f64 + 1.0, of(row)?)));
            let points = known().map(|(frame, [value, _])| (frame, value)).collect();
            let band = known().map(|(frame, [value, error])| (frame, value - error, value + error));
            Series::line(name, points).with_band(band.collect())
        };
        let mut series = vec![
            line("x", |row| Some([row.x, row.x_error])),
            line("y", |row| Some([row.y, row.y_error])),
        ];
        if self.about.has_z {
            series.push(line("z (nm)", |row| Some([row.z?, row.z_error?])));
        }
        Chart::new("Drift", Axis::new("frame"), Axis::new(&format!("drift ({symbol})")), series)
            .drawing()
    }
}

impl DriftSink for DriftChart {
    fn begin(&mut self, about: &About) -> Result<(), StepError> {
        *self = Self { about: about.clone(), stride: 1, ..Self::default() };
        Ok(())
    }

    fn take(&mut self, row: &Row, _: &dyn Listener) -> Result<(), StepError> {
        if self.seen.is_multiple_of(self.stride) {
            if self.rows.len() == MOST {
                let mut number = 0;
                self.rows.retain(|_| {
                    number += 1;
                    number % 2 == 1
                });
                self.stride *= 2;
            }
            if self.seen.is_multiple_of(self.stride) {
                self.rows.push(*row);
            }
        }
        self.seen += 1;
        Ok(())
    }
}
