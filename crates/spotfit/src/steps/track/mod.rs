//! Follows the drift of frames while they come: a source of frames, a [`Tracker`], and those who hear of the drift.
//!
//! A [`FrameSource`] has frames: a movie ([`MovieFrames`]), one that is being written or raw pixels of a stream ([`LiveFrames`]), a ring in shared memory
//! ([`RingFrames`]), or one of the caller's own. A [`DriftSink`] takes the drift of each frame: a table ([`TableRows`]), lines of JSON
//! ([`JsonLines`]), datagrams ([`Datagrams`]), a ring back to the program of the camera ([`DriftRing`]), or a function ([`Callback`]).
//! [`run`] connects them. Frames that were lost are counted, and told.
//!
//! ```
//! use spotfit::movie::Pixels;
//! use spotfit::ndarray::Array3;
//! use spotfit::steps::track::{MovieFrames, TableRows, TrackOptions, run};
//! use spotfit::steps::{Silent, Stack};
//! use spotfit::table::Table;
//!
//! // A spot that moves by a tenth of a pixel a frame.
//! let light = |t: usize, y: usize, x: usize| {
//!     let (x, y) = (x as f32 - 15.0 - 0.1 * t as f32, y as f32 - 16.0);
//!     100.0 + 5000.0 * (-(x * x + y * y) / 3.4).exp() + ((7 * x as i32 + 3 * y as i32) % 5) as f32
//! };
//! let frames = Array3::from_shape_fn((10, 32, 32), |(t, y, x)| light(t, y, x));
//! let mut source = MovieFrames::new(Stack::of("frames", Pixels::F32(frames)), None)?;
//! let mut drift = Table::default();
//! let report = run(&TrackOptions::default(), &mut source, &mut [&mut TableRows::new(&mut drift)], &Silent)?;
//! assert_eq!(report.frames, 10);
//! let x = drift.values("x").expect("a column");
//! assert!((x[9] - 0.9).abs() < 0.02);
//! # Ok::<(), spotfit::steps::StepError>(())
//! ```

mod latency;
mod options;
mod realtime;
mod report;
mod row;
mod sinks;
mod sources;

use std::time::{Duration, Instant};

use super::words::symbol;
use super::{Listener, Note, StepError};
use crate::track::{TrackError, Tracker};
use latency::Latencies;

pub use options::{TrackOptions, places};
pub use realtime::realtime;
pub use report::{LatencyReport, TrackReport};
pub use row::{About, Row};
pub use sinks::{
    Callback, DATAGRAM_BYTES, Datagrams, DriftChart, DriftRing, DriftSink, JsonLines, NpyRows,
    TableRows,
};
pub use sources::{
    Arrival, Arrived, FrameFormat, FrameSource, FrameType, LiveFrames, Lost, MovieFrames,
    RingFrames,
};

/// How often sinks that gather rows are asked to pass them on.
const REST: Duration = Duration::from_millis(50);
/// The listener is told after so many frames.
const TELL: u64 = 64;

/// Follows the drift of all frames of a source. The first frame is the reference, and its drift is 0.
///
/// A source that is live ends when the listener says so, with a report. What sinks have taken until an error they keep.
///
/// # Errors
/// [`StepError`]: of the source, for options that are out of their range, without any bead, and where a sink cannot take a drift.
pub fn run(
    options: &TrackOptions,
    source: &mut dyn FrameSource,
    sinks: &mut [&mut dyn DriftSink],
    listener: &dyn Listener,
) -> Result<TrackReport, StepError> {
    if let Some(frames) = source.frames() {
        listener.begin(frames, "frames");
    }
    let mut tracking = Tracking::new(options, source);
    let tracked = tracking.all(source, sinks, listener);
    listener.end();
    // What was found is kept, whatever ended it.
    let ended = sinks.iter_mut().map(|sink| sink.end(listener)).fold(Ok(()), Result::and);
    let interrupted = tracked?;
    ended?;
    tracking.report(source, interrupted)
}

/// What is known while frames come.
struct Tracking<'a> {
    options: &'a TrackOptions,
    name: String,
    tracker: Option<Tracker>,
    about: About,
    latencies: Latencies,
    report: TrackReport,
    begun: Instant,
}

impl<'a> Tracking<'a> {
    fn new(options: &'a TrackOptions, source: &dyn FrameSource) -> Self {
        Self {
            options,
            name: source.name().to_owned(),
            tracker: None,
            about: About::default(),
            latencies: Latencies::default(),
            report: TrackReport::default(),
            begun: Instant::now(),
        }
    }

    /// Follows all frames; whether the listener ended it.
    fn all(
        &mut self,
        source: &mut dyn FrameSource,
        sinks: &mut [&mut dyn DriftSink],
        listener: &dyn Listener,
    ) -> Result<bool, StepError> {
        let live = source.is_live();
        let mut rested = Instant::now();
        loop {
            if self.options.stop_after.is_some_and(|most| self.report.frames >= most) {
                return Ok(false);
            }
            if listener.is_cancelled() {
                return if live { Ok(true) } else { Err(StepError::Cancelled) };
            }
            let pixel_size = source.pixel_size();
            let arrived = source.next()?;
            let waits = matches!(arrived, Arrived::Nothing);
            match arrived {
                Arrived::End => return Ok(false),
                Arrived::Nothing => {}
                Arrived::Frame(arrival) => {
                    if self.tracker.is_none() {
                        self.begin(&arrival, pixel_size, sinks, listener)?;
                    }
                    if let Some(row) = self.follow(&arrival)? {
                        sinks.iter_mut().try_for_each(|sink| sink.take(&row, listener))?;
                    }
                    if self.report.frames.is_multiple_of(TELL) {
                        listener.progress(self.report.frames);
                    }
                }
            }
            if live && (waits || self.report.frames.is_multiple_of(TELL)) && rested.elapsed() > REST
            {
                rested = Instant::now();
                sinks.iter_mut().try_for_each(|sink| sink.rest())?;
            }
        }
    }

    /// The first frame is there.
    fn begin(
        &mut self,
        arrival: &Arrival<'_>,
        known: Option<f64>,
        sinks: &mut [&mut dyn DriftSink],
        listener: &dyn Listener,
    ) -> Result<(), StepError> {
        let pixel_size = self.options.pixel_size_of(known)?;
        let (options, notes) = self.options.resolved(pixel_size)?;
        notes.into_iter().for_each(|note| listener.note(&Note::Warning(note)));
        let tracker = Tracker::new(arrival.frame, &options).map_err(|error| self.refused(error))?;
        self.about = About::new(arrival, pixel_size, tracker.finds_heights());
        self.report.beads = tracker.beads().len();
        self.report.unit = symbol(self.about.unit);
        self.tracker = Some(tracker);
        self.begun = Instant::now();
        sinks.iter_mut().try_for_each(|sink| sink.begin(&self.about))
    }

    /// Finds the drift of a frame.
    fn follow(&mut self, arrival: &Arrival<'_>) -> Result<Option<Row>, StepError> {
        let Some(tracker) = &mut self.tracker else { return Ok(None) };
        // Only how many frames were missed matters, which numbers tell and times that jitter do not.
        let drift = tracker.update(arrival.frame, arrival.number as f64);
        let latency = match arrival.stamp {
            Some(stamp) => spotfit_ring::now().saturating_sub(stamp),
            None => drift.latency.map_or(0, |seconds| (1e9 * seconds) as u64),
        };
        let row = Row::new(arrival, drift, &self.about, latency);
        self.latencies.add(latency);
        self.report.add(&row);
        Ok(Some(row))
    }

    /// Why there is no tracker.
    fn refused(&self, error: TrackError) -> StepError {
        match error {
            TrackError::Option(error) => StepError::Option(error),
            error => StepError::input(&self.name, error.to_string()),
        }
    }

    fn report(
        mut self,
        source: &dyn FrameSource,
        interrupted: bool,
    ) -> Result<TrackReport, StepError> {
        if self.report.frames == 0 {
            let reason = if interrupted {
                "it was ended before there was a frame"
            } else {
                "it has no frame"
            };
            return Err(StepError::input(&self.name, reason));
        }
        self.report.lost = source.lost();
        self.report.interrupted = interrupted;
        self.report.seconds = self.begun.elapsed().as_secs_f64();
        self.report.latency = self.latencies.report();
        Ok(self.report)
    }
}
