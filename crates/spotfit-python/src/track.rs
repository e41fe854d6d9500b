//! Drift that is followed while frames come.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use numpy::ndarray::ArrayView3;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spotfit::Length;
use spotfit::movie::{FollowOptions, MovieOptions, Pixels as Frames};
use spotfit::output::paths::same;
use spotfit::ring::{RingOptions, path_of};
use spotfit::steps::localize::{CameraOptions, Given};
use spotfit::steps::track::{
    self as step, Callback, Datagrams, DriftRing, DriftSink, FrameSource, LiveFrames, MovieFrames,
    RingFrames, Row, TableRows, places,
};
use spotfit::steps::{Listener, Note, Source, Stack, StepError};
use spotfit::table::{Table, Unit};
use spotfit::track::{FrameView, Smooth, TrackBeads, TrackError};

use crate::calibrate::{Chosen, movie_options};
use crate::camera::CameraMap;
use crate::error;
use crate::fitter::Fitter;
use crate::keywords::{Keywords, assign};
use crate::localize::stored;
use crate::options;
use crate::pixels::{Pixels, View};
use crate::steps::{Heard, json, of_step};
use crate::tables::{Made, columns};
use crate::work::{Abandoned, aside};

/// How drift is followed.
#[pyclass(frozen, module = "spotfit._spotfit")]
#[derive(Clone)]
pub(crate) struct TrackOptions {
    step: step::TrackOptions,
    /// A file with places of beads, which may need the size of a pixel.
    beads: Option<PathBuf>,
}

#[pymethods]
impl TrackOptions {
    #[new]
    fn new(
        fitter: &Bound<'_, Fitter>,
        camera_map: Option<&Bound<'_, CameraMap>>,
        keywords: Keywords<'_>,
    ) -> PyResult<Self> {
        let wander = keywords.get("wander")?;
        let words = [
            ("none", Smooth::None),
            ("exponential", Smooth::Exponential { frames: keywords.get("smooth_frames")? }),
            ("kalman", Smooth::Kalman { wander }),
        ];
        let smooth = options::choose("smooth", &keywords.word("smooth")?, &words)?;
        if wander.is_some() && !matches!(smooth, Smooth::Kalman { .. }) {
            return Err(PyValueError::new_err("wander is for smooth = 'kalman'"));
        }
        let fitter = fitter.get().options();
        let maps = camera_map.map(|map| Given::Content(Arc::new(map.get().0.clone())));
        let camera = options::camera_asked(keywords.get("camera")?, keywords.get("camera_from")?)?;
        let at: Option<Vec<[f64; 2]>> = keywords.get("beads_at")?;
        let (calibration, psf): (Option<PathBuf>, Option<PathBuf>) =
            (keywords.get("calibration")?, keywords.get("psf")?);
        let box_size: Option<usize> = keywords.get("box_size")?;
        let size = options::pixel_scale(keywords.get("pixel_size")?, keywords.get("pixels")?);
        let mut tracker = spotfit::track::TrackOptions::default()
            .with_beads(at.map_or(TrackBeads::Auto(keywords.get("beads")?), TrackBeads::At))
            .with_smooth(smooth)
            .with_fitter(fitter.clone().with_fit(fitter.fit.with_camera(None)));
        assign!(keywords => tracker; false_rate, reach, patience, rotation, scale);
        let mut step = step::TrackOptions::default()
            .with_tracker(tracker)
            .with_box_size(box_size.map(|side| Length::pixels(side as f64)))
            .with_estimator(Some(fitter.fit.estimator))
            .with_camera(camera.with_maps(maps))
            .with_calibration(calibration.map(Given::File))
            .with_psf(psf.map(Given::File))
            .with_pixel_size(size);
        assign!(keywords => step; stop_after);
        Ok(Self { step, beads: keywords.get("beads_file")? })
    }
}

impl TrackOptions {
    /// The options of a source whose pixels have this size, if it knows it.
    fn of(&self, pixel_size: Option<f64>) -> Result<step::TrackOptions, StepError> {
        let Some(beads) = &self.beads else { return Ok(self.step.clone()) };
        let places = places(&Source::file(beads), self.step.pixel_size_of(pixel_size)?)?;
        let mut step = self.step.clone();
        step.tracker.beads = TrackBeads::At(places);
        Ok(step)
    }
}

/// The numbers of a drift: frame (from 0), time, x, y, z, their errors, beads, lost beads, status, and microseconds.
type Numbers = (
    u64,
    Option<f64>,
    f64,
    f64,
    Option<f64>,
    f64,
    f64,
    Option<f64>,
    usize,
    usize,
    &'static str,
    f64,
);

fn numbers(row: &Row) -> Numbers {
    let Row {
        frame, time, x, y, z, x_error, y_error, z_error, beads, lost, status, latency, ..
    } = *row;
    (frame, time, x, y, z, x_error, y_error, z_error, beads, lost, status.name(), latency)
}

/// Follows the drift of frames that Python has.
#[pyclass(module = "spotfit._spotfit")]
pub(crate) struct Tracker {
    tracker: spotfit::track::Tracker,
    scale: f64,
    notes: Vec<String>,
}

/// Does something with the first frame of a stack.
fn with_frame<T>(pixels: &Pixels<'_>, on: impl FnOnce(FrameView<'_>) -> T) -> T {
    fn in_order<P: Copy>(frames: ArrayView3<'_, P>) -> Cow<'_, [P]> {
        let copy = || Cow::Owned(frames.iter().copied().collect());
        frames.to_slice().map_or_else(copy, Cow::Borrowed)
    }
    let view = pixels.view();
    let (_, height, width) = view.dim();
    match view {
        View::U8(frames) => on(FrameView::u8(width, height, &in_order(frames))),
        View::U16(frames) => on(FrameView::u16(width, height, &in_order(frames))),
        View::F32(frames) => on(FrameView::f32(width, height, &in_order(frames))),
        other => on(FrameView::f32(width, height, &in_order(other.as_f32().view()))),
    }
}

/// The exception for what cannot be followed.
fn of_track(error: TrackError) -> PyErr {
    match error {
        TrackError::Fit(error) => error::of_fit(error),
        TrackError::Option(error) => of_step(StepError::Option(error)),
        other => PyValueError::new_err(error::keywords(&other.to_string())),
    }
}

#[pymethods]
impl Tracker {
    /// `reference` is a stack of one frame.
    #[new]
    fn new(reference: &Bound<'_, PyAny>, options: &Bound<'_, TrackOptions>) -> PyResult<Self> {
        let options = options.get().of(None).map_err(of_step)?;
        let size = options.pixel_size_of(None).map_err(of_step)?;
        let (options, notes) = options.resolved(size).map_err(of_step)?;
        let pixels = Pixels::of("reference", reference)?;
        let tracker = with_frame(&pixels, |frame| spotfit::track::Tracker::new(frame, &options));
        let notes = notes.iter().map(|note| error::keywords(note)).collect();
        Ok(Self { tracker: tracker.map_err(of_track)?, scale: size.unwrap_or(1.0), notes })
    }

    /// What is odd about the options.
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// The drift of the next frame, a stack of one.
    fn update(&mut self, frame: &Bound<'_, PyAny>, time: f64) -> PyResult<Numbers> {
        let pixels = Pixels::of("frame", frame)?;
        let (tracker, scale) = (&mut self.tracker, self.scale);
        let drift = with_frame(&pixels, |frame| *tracker.update(frame, time));
        Ok((
            drift.frame,
            Some(drift.timestamp),
            scale * drift.x,
            scale * drift.y,
            drift.z,
            scale * drift.x_error,
            scale * drift.y_error,
            drift.z_error,
            drift.beads,
            drift.lost,
            drift.status.name(),
            1e6 * drift.latency.unwrap_or_default(),
        ))
    }

    /// Where the beads are in the reference, in pixels.
    fn beads(&self) -> Vec<[f64; 2]> {
        self.tracker.beads().iter().map(|bead| bead.reference).collect()
    }
}

/// Hears notes, and whether anybody still waits or the function that hears of drifts has had enough.
struct Stopped<'a> {
    heard: Heard<'a>,
    enough: Arc<AtomicBool>,
}

impl Listener for Stopped<'_> {
    fn note(&self, note: &Note) {
        self.heard.note(note);
    }

    fn is_cancelled(&self) -> bool {
        self.heard.is_cancelled() || self.enough.load(Ordering::Relaxed)
    }
}

/// Where frames come from, before it is opened.
enum From {
    Array(Frames),
    Name(String),
}

impl From {
    /// The camera, with what the metadata of a movie say where that is asked for, and what is to be told of it.
    fn camera(
        &self,
        options: &TrackOptions,
        movie: &MovieOptions,
    ) -> PyResult<(CameraOptions, Vec<Note>)> {
        let camera = options.step.camera.clone();
        match self {
            _ if camera.from.is_none() => Ok((camera, Vec::new())),
            Self::Name(name) if !["ring:", "follow:"].iter().any(|kind| name.starts_with(kind)) => {
                let mut stack = Stack::open(name, movie).map_err(of_step)?;
                camera.by_stack(&mut stack, options.step.pixel_size).map_err(of_step)
            }
            _ => {
                let reason = "camera_from is for movies; these frames have no metadata";
                Err(PyValueError::new_err(reason))
            }
        }
    }

    /// Opens it; as the command does, by its name.
    fn open(
        self,
        movie: &MovieOptions,
        rate: Option<f64>,
        idle: f64,
    ) -> Result<Box<dyn FrameSource>, StepError> {
        let good = (1e-3..=1e9).contains(&idle);
        spotfit::OutOfRange::check("idle", idle, good, "0.001 to 1e9 seconds")?;
        let idle = Duration::from_secs_f64(idle);
        let name = match self {
            Self::Array(frames) => {
                return Ok(Box::new(MovieFrames::new(Stack::of("frames", frames), rate)?));
            }
            Self::Name(name) => name,
        };
        if let Some(ring) = name.strip_prefix("ring:") {
            return Ok(Box::new(RingFrames::new(ring, RingOptions::default().with_timeout(idle))));
        }
        if let Some(path) = name.strip_prefix("follow:") {
            let options = FollowOptions::default().with_idle(idle);
            return Ok(Box::new(LiveFrames::follow(path.as_ref(), movie, &options)?));
        }
        Ok(Box::new(MovieFrames::new(Stack::open(&name, movie)?, rate)?))
    }
}

/// Columns, the unit of x and y, the side of a pixel, the report as JSON, and notes.
type Tracked<'py> = (Vec<Made<'py>>, &'static str, Option<f64>, String, Vec<String>);

/// Follows the drift of a source: a name as the command takes it, or frames.
#[pyfunction]
#[pyo3(signature = (name, frames, options, *, chosen, rate, idle, udp, ring_out, callback))]
#[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
pub(crate) fn track<'py>(
    py: Python<'py>,
    name: Option<String>,
    frames: Option<&Bound<'py, PyAny>>,
    options: &Bound<'py, TrackOptions>,
    chosen: Chosen,
    rate: Option<f64>,
    idle: f64,
    udp: Option<String>,
    ring_out: Option<String>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Tracked<'py>> {
    let from = match (name, frames) {
        (Some(name), _) => From::Name(name),
        (None, Some(frames)) => From::Array(stored(Pixels::of("frames", frames)?.view())),
        (None, None) => return Err(PyValueError::new_err("there are no frames")),
    };
    if let (From::Name(name), Some(out)) = (&from, &ring_out)
        && let (Some(Ok(read)), Ok(written)) =
            (name.strip_prefix("ring:").map(path_of), path_of(out))
        && same(&read, &written)
    {
        return Err(PyValueError::new_err("ring_out is the ring that is read"));
    }
    let options = options.get().clone();
    let movie = movie_options(chosen);
    let work = move |abandoned: &Abandoned| -> PyResult<(Table, String, Vec<String>)> {
        let (camera, notes) = from.camera(&options, &movie)?;
        let mut source = from.open(&movie, rate, idle).map_err(of_step)?;
        let options = options.of(source.pixel_size()).map_err(of_step)?.with_camera(camera);
        let enough = Arc::new(AtomicBool::new(false));
        let mut raised = None;
        let (mut table, told) = (Table::default(), enough.clone());
        let mut heard = callback.map(|callback| {
            let raised = &mut raised;
            Callback(move |row: &Row| {
                let answer = Python::attach(|py| -> PyResult<bool> {
                    let answer = callback.call1(py, (numbers(row),))?;
                    Ok(answer.bind(py).extract::<bool>().unwrap_or(true))
                });
                match answer {
                    Ok(true) => Ok(()),
                    Ok(false) => {
                        told.store(true, Ordering::Relaxed);
                        Ok(())
                    }
                    Err(error) => {
                        *raised = Some(error);
                        Err(StepError::Cancelled)
                    }
                }
            })
        });
        let mut datagrams = udp.as_deref().map(Datagrams::new).transpose().map_err(of_step)?;
        let mut ring = ring_out.as_deref().map(DriftRing::new).transpose().map_err(of_step)?;
        let listener = Stopped { heard: Heard::new(abandoned), enough };
        notes.iter().for_each(|note| listener.note(note));
        let tracked = {
            let mut rows = TableRows::new(&mut table);
            let mut sinks: Vec<&mut dyn DriftSink> = Vec::new();
            if let Some(sink) = &mut ring {
                sinks.push(sink);
            }
            if let Some(sink) = &mut datagrams {
                sinks.push(sink);
            }
            if let Some(sink) = &mut heard {
                sinks.push(sink);
            }
            sinks.push(&mut rows);
            step::run(&options, &mut *source, &mut sinks, &listener)
        };
        drop(heard);
        let report = match (tracked, raised) {
            (_, Some(error)) => return Err(error),
            (tracked, None) => json(&tracked.map_err(of_step)?)?,
        };
        Ok((table, report, listener.heard.notes()))
    };
    let (table, report, notes) = aside(py, work)??;
    let size = table.info.pixel_size;
    let unit =
        table.columns().iter().any(|column| column.name == "x" && column.unit == Unit::Nanometre);
    Ok((columns(py, table), if unit { "nm" } else { "px" }, size, report, notes))
}
