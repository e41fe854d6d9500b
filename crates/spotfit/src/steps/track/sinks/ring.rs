//! A ring back to the program of the camera.

use spotfit_ring::{PixelType, RingError, RingLayout, RingPixels, RingWriter};

use super::{DriftSink, Row};
use crate::steps::{Listener, StepError};

/// The drifts that the ring holds.
const SLOTS: u32 = 1024;
/// The numbers of a drift.
const NUMBERS: u32 = 11;

/// Writes each drift into a [ring](spotfit_ring) in shared memory: frames of 11×1 numbers of 64 bits, those of [`Row::numbers`].
#[derive(Debug)]
pub struct DriftRing {
    name: String,
    writer: RingWriter,
}

impl DriftRing {
    /// Makes a ring of this name.
    ///
    /// # Errors
    /// [`StepError::Input`].
    pub fn new(ring: &str) -> Result<Self, StepError> {
        let name = format!("ring:{ring}");
        let made = RingLayout::new(NUMBERS, 1, PixelType::F64, SLOTS);
        let made = made.and_then(|layout| RingWriter::create(ring, layout));
        let writer = made.map_err(|error| refused(&name, &error))?;
        Ok(Self { name, writer })
    }
}

fn refused(name: &str, error: &RingError) -> StepError {
    StepError::input(name, error.to_string())
}

impl DriftSink for DriftRing {
    fn take(&mut self, row: &Row, _: &dyn Listener) -> Result<(), StepError> {
        let written =
            self.writer.write(row.frame, spotfit_ring::now(), RingPixels::F64(&row.numbers()));
        written.map_err(|error| refused(&self.name, &error))
    }

    fn rest(&mut self) -> Result<(), StepError> {
        self.writer.alive().map_err(|error| refused(&self.name, &error))
    }
}
