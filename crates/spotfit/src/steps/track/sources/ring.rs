//! Frames of a ring in shared memory.

use std::io;
use std::thread;
use std::time::{Duration, Instant};

use spotfit_ring::{RingError, RingOptions, RingPixels, RingReader, RingStep};

use super::{Arrival, Arrived, FrameSource, Lost};
use crate::steps::StepError;
use crate::track::{FramePixels, FrameView};

/// How long to wait for a frame, and between two looks for a ring that is not there.
const WAIT: Duration = Duration::from_millis(50);
const LOOK: Duration = Duration::from_millis(10);
/// Times that differ from now by more are not of this clock.
const LONGEST: u64 = 3_600_000_000_000;

/// Frames of a [ring](spotfit_ring) that the program of a camera fills. It may be there already, or come.
#[derive(Debug)]
pub struct RingFrames {
    name: String,
    ring: String,
    options: RingOptions,
    reader: Option<RingReader>,
    begun: Instant,
    first: Option<u64>,
}

impl RingFrames {
    /// The ring of this name. Where nothing comes for as long as the timeout of the options, that is an error.
    pub fn new(ring: &str, options: RingOptions) -> Self {
        let (name, ring) = (format!("ring:{ring}"), ring.to_owned());
        Self { name, ring, options, reader: None, begun: Instant::now(), first: None }
    }

    fn refused(&self, error: &RingError) -> StepError {
        StepError::input(&self.name, error.to_string())
    }

    /// Looks for the ring; whether it is there.
    fn open(&mut self) -> Result<bool, StepError> {
        if self.reader.is_some() {
            return Ok(true);
        }
        match RingReader::open(&self.ring, &self.options) {
            Ok(reader) => {
                self.reader = Some(reader);
                Ok(true)
            }
            Err(RingError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                if self.begun.elapsed() > self.options.timeout {
                    let seconds = self.options.timeout.as_secs_f64();
                    let reason = format!("there is no such ring, and none came within {seconds} s");
                    return Err(StepError::input(&self.name, reason));
                }
                thread::sleep(LOOK);
                Ok(false)
            }
            Err(error) => Err(self.refused(&error)),
        }
    }
}

impl FrameSource for RingFrames {
    fn name(&self) -> &str {
        &self.name
    }

    fn next(&mut self) -> Result<Arrived<'_>, StepError> {
        if !self.open()? {
            return Ok(Arrived::Nothing);
        }
        let Some(reader) = &mut self.reader else { return Ok(Arrived::Nothing) };
        let step = reader.wait(WAIT);
        match step.map_err(|error| StepError::input(&self.name, error.to_string()))? {
            RingStep::End => return Ok(Arrived::End),
            RingStep::Nothing => return Ok(Arrived::Nothing),
            RingStep::Frame { .. } => {}
        }
        let (width, height) = (reader.layout().width() as usize, reader.layout().height() as usize);
        let Some(frame) = reader.frame() else { return Ok(Arrived::Nothing) };
        let pixels = match frame.pixels {
            RingPixels::U8(pixels) => FramePixels::U8(pixels),
            RingPixels::U16(pixels) => FramePixels::U16(pixels),
            RingPixels::F32(pixels) => FramePixels::F32(pixels),
            _ => {
                let reason =
                    "it has numbers of 64 bits, as rings of drifts have, and no frames of a camera";
                return Err(StepError::input(&self.name, reason));
            }
        };
        // What a writer says that knows no time, or another clock, is not believed.
        let now = spotfit_ring::now();
        let likely = frame.timestamp <= now && now - frame.timestamp < LONGEST;
        let stamp = if likely { frame.timestamp } else { now };
        let first = *self.first.get_or_insert(stamp);
        let time = if stamp >= first { (stamp - first) as f64 } else { -((first - stamp) as f64) };
        let view = FrameView::new(width, height, pixels);
        let arrival = Arrival::new(view, frame.number).with_time(Some(1e-9 * time));
        Ok(Arrived::Frame(arrival.with_stamp(Some(stamp))))
    }

    fn lost(&self) -> Lost {
        let counts = self.reader.as_ref().map(RingReader::counts).unwrap_or_default();
        Lost { missed: counts.missed, torn: counts.torn, disorder: counts.disorder }
    }
}
