//! Drift as a chart, in memory that does not grow.

use super::{About, DriftSink, Row};
use crate::report::figure::Drawing;
use crate::steps::drift::chart_of;
use crate::steps::{Listener, StepError};

/// The most points of a line.
const MOST: usize = 4096;

/// The drift of a row along an axis, with its standard error.
type OfRow = fn(&Row) -> Option<[f64; 2]>;

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
        let parts: [OfRow; 3] = [
            |row| Some([row.x, row.x_error]),
            |row| Some([row.y, row.y_error]),
            |row| Some([row.z?, row.z_error?]),
        ];
        let line = |of: OfRow| {
            let known = |row: &Row| of(row).map(|[value, error]| (row.frame, value, Some(error)));
            self.rows.iter().filter_map(known).collect()
        };
        let count = if self.about.has_z { 3 } else { 2 };
        chart_of(self.about.unit, parts.into_iter().take(count).map(line))
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
