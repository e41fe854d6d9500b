//! Localizing movies, from files and from arrays.

use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use spotfit::localize::{
    self, Flags, FrameDoubts, Localization, Localizations, LocalizeError, Localizer, Sigma,
};
use spotfit::movie::{Block, FollowOptions, GrowingMovie, Movie, MovieError, MovieOptions, Pixels};
use spotfit::steps::localize::{
    self as step, CameraOptions, DefectsOption, Given, LocalizeReport, PsfOption,
};
use spotfit::steps::{Listener, Note, PixelScale, Stack, learn};
use spotfit::table::{self, Layout};
use spotfit::{AsWindows, Background, Length};

use crate::calibrate::{Chosen, to_learn_from};
use crate::camera::CameraMap;
use crate::defects::Defects;
use crate::error;
use crate::fitter::Fitter;
use crate::options;
use crate::pixels::{self, View};
use crate::positions::Positions;
use crate::steps::{self, json, of_step};
use crate::tables::{Info, Made, columns};
use crate::threads::Here;
use crate::work::aside;

/// The exception for a movie that cannot be localized.
fn of_localize(error: LocalizeError) -> PyErr {
    let told = error::keywords(&error.to_string());
    match error {
        LocalizeError::Fit(error) => error::of_fit(error),
        LocalizeError::Movie(error) => of_movie(error),
        LocalizeError::Threads(_) | LocalizeError::Spawn(_) => PyRuntimeError::new_err(told),
        _ => PyValueError::new_err(told),
    }
}

/// The exception for a movie that cannot be read.
fn of_movie(error: MovieError) -> PyErr {
    match error {
        MovieError::Io(error) => error.into(),
        other => PyValueError::new_err(other.to_string()),
    }
}

/// The exception for a file that cannot be read: Python chooses the class, such as `FileNotFoundError`, by the kind.
pub(crate) fn of_io(path: &Path, error: &io::Error) -> PyErr {
    io::Error::new(error.kind(), format!("{}: {error}", path.display())).into()
}

/// Whose width is fitted.
const SIGMAS: [(&str, Sigma); 2] = [("free", Sigma::Free), ("shared", Sigma::Shared)];

/// How to localize a movie.
#[pyclass(frozen, module = "spotfit._spotfit")]
#[derive(Clone)]
pub(crate) struct LocalizeOptions {
    step: step::LocalizeOptions,
    options: localize::LocalizeOptions,
    layout: Layout,
    notes: Vec<String>,
    positions: Option<Arc<localize::Positions>>,
}

#[pymethods]
impl LocalizeOptions {
    /// Without a camera nothing is known of it. `pixel_size` is in nanometres; with `pixels` it is not known, whatever a movie says.
    #[new]
    #[pyo3(signature = (
        fitter, camera_map, *, camera, box_size, false_rate, threshold, roi, drop, keep_all, checks, errors, saturation,
        calibration, psf, learns, learn_frames, pixel_size, emitters, sigma, temporal_background, aperture, pixels, camera_from=None, frame_time=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
    fn new(
        py: Python<'_>,
        fitter: &Bound<'_, Fitter>,
        camera_map: Option<&Bound<'_, CameraMap>>,
        camera: Option<CameraNumbers>,
        box_size: Option<usize>,
        false_rate: f64,
        threshold: Option<f64>,
        roi: Option<(usize, usize, usize, usize)>,
        drop: Vec<String>,
        keep_all: bool,
        checks: bool,
        errors: bool,
        saturation: Option<f64>,
        calibration: Option<PathBuf>,
        psf: Option<PathBuf>,
        learns: bool,
        learn_frames: Option<usize>,
        pixel_size: Option<f64>,
        emitters: &str,
        sigma: &str,
        temporal_background: Option<usize>,
        aperture: Option<f64>,
        pixels: bool,
        camera_from: Option<CameraFromMetadata>,
        frame_time: Option<&str>,
    ) -> PyResult<Self> {
        let fitter = fitter.get().options();
        let fit = fitter.fit;
        let mut flags = Flags::default();
        let known = [
            ("neighbour", Flags::default().with_neighbour(true)),
            ("residual", Flags::default().with_residual(true)),
            ("saturated", Flags::default().with_saturated(true)),
            ("width", Flags::default().with_width(true)),
            ("crowd", Flags::default().with_crowd(true)),
            ("all", Flags::ALL),
        ];
        for word in drop {
            let flag = options::choose("drop", &word, &known)?;
            flags = Flags::from_bits(flags.bits() | flag.bits());
        }
        let localizer = localize::LocalizeOptions::default()
            .with_false_rate(false_rate)
            .with_fitter(fitter.clone().with_fit(fit.with_camera(None)))
            .with_keep_all(keep_all)
            .with_checks(checks)
            .with_errors(errors)
            .with_drop(flags)
            .with_saturation(saturation)
            .with_emitters(emitters.parse().map_err(error::of_option)?)
            .with_sigma(options::choose("sigma", sigma, &SIGMAS)?)
            .with_temporal_background(temporal_background);
        let localizer = match threshold {
            Some(threshold) => localizer.with_threshold(threshold),
            None => localizer,
        };
        let map = camera_map.map(|map| Given::Content(Arc::new(map.get().0.clone())));
        let camera = camera_asked(camera, camera_from)?;
        let frame_time = frame_time.map(str::parse).transpose().map_err(error::of_option)?;
        let scale = match pixel_size {
            _ if pixels => PixelScale::Unknown,
            Some(size) => PixelScale::Nanometres(size),
            None => PixelScale::OfMovie,
        };
        let psf = psf.map(|file| PsfOption::Given(Given::File(file)));
        let psf = if learns { Some(PsfOption::Learn) } else { psf };
        let step = step::LocalizeOptions::default()
            .with_localizer(localizer)
            .with_camera(camera.with_maps(map))
            .with_frame_time(frame_time)
            .with_box_size(box_size.map(|side| Length::pixels(side as f64)))
            .with_roi(roi.map(|(x, y, width, height)| format!("{x},{y},{width},{height}")))
            .with_estimator(Some(fit.estimator))
            // Where nothing was learnt it is that of Gaussians.
            .with_background(
                Some(fit.background)
                    .filter(|background| !learns || *background != Background::Free),
            )
            .with_calibration(calibration.map(Given::File))
            .with_psf(psf)
            .with_learn_frames(learn_frames)
            .with_aperture(aperture.map(Length::pixels))
            .with_pixel_size(scale);
        let resolved = py.detach(|| step.resolved(pixel_size.filter(|_| !pixels)));
        let (options, layout, notes) = resolved.map_err(of_step)?;
        let notes = notes.iter().map(in_words).collect();
        Ok(Self { step, options, layout, notes, positions: None })
    }

    /// The same options with what the metadata of a movie say where that is asked for, and what is to be told of it.
    fn of_movie(
        &self,
        py: Python<'_>,
        movie: &Bound<'_, MovieFile>,
    ) -> PyResult<(Self, Vec<String>)> {
        let file = movie.get();
        let mut same = self.clone();
        let (step, notes) = {
            let movie = file.movie.lock().unwrap_or_else(PoisonError::into_inner);
            let movie =
                movie.as_ref().ok_or_else(|| PyRuntimeError::new_err("the movie is being read"))?;
            self.step.by_metadata(movie, &file.name).map_err(of_step)?
        };
        let known = match step.pixel_size {
            PixelScale::Nanometres(size) => Some(size),
            PixelScale::OfMovie => file.pixel_size,
            _ => None,
        };
        let resolved = py.detach(|| step.resolved(known));
        let (options, layout, _) = resolved.map_err(of_step)?;
        let defects = self.options.defects.clone();
        same.options = options.with_defects(defects);
        (same.step, same.layout) = (step, layout);
        Ok((same, notes.iter().map(in_words).collect()))
    }

    /// Baseline, sensitivity, EM gain and read noise.
    #[getter]
    fn camera(&self) -> CameraNumbers {
        let camera = &self.options.camera;
        (camera.baseline, camera.sensitivity, camera.em_gain, camera.read_noise)
    }

    /// The same options with defective pixels.
    fn with_defects(&self, defects: &Bound<'_, Defects>) -> Self {
        let mut same = self.clone();
        same.options = same.options.with_defects(Some(defects.get().0.clone()));
        same
    }

    /// The same options with places to fit instead of detected spots.
    fn with_positions(&self, positions: &Bound<'_, Positions>) -> Self {
        let (mut same, positions) = (self.clone(), positions.get());
        same.step = same.step.with_positions(Some(positions.given()));
        same.positions = Some(positions.places().clone());
        same
    }

    /// The same options with the PSF that a movie tells, if it is to be learnt, and what is to be told of it: a path with the parts that go on
    /// with it, which may be being written, or frames.
    #[pyo3(signature = (given, *, parts, chosen, frames, idle))]
    fn learnt(
        &self,
        py: Python<'_>,
        given: Bound<'_, PyAny>,
        parts: Vec<PathBuf>,
        chosen: Chosen,
        frames: Option<String>,
        idle: Option<f64>,
    ) -> PyResult<(Self, Vec<String>)> {
        let asked = self.whole().with_frames(frames);
        let mut movie = to_learn_from(py, given, parts, chosen, idle)?;
        let (done, notes) = aside(py, move |abandoned| {
            let listener = steps::Heard::new(abandoned);
            let done = learn::learnt(&asked, &mut movie, &listener).map_err(of_step);
            (done, listener.notes())
        })?;
        let (done, mut same) = (done?, self.clone());
        let step = same.step.with_psf(done.psf).with_estimator(done.estimator);
        same.step = step.with_localizer(done.localizer);
        let known = match self.step.pixel_size {
            PixelScale::Nanometres(size) => Some(size),
            _ => None,
        };
        let resolved = py.detach(|| same.step.resolved(known));
        let (options, layout, _) = resolved.map_err(of_step)?;
        same.options = options.with_defects(self.options.defects.clone());
        same.layout = layout;
        Ok((same, notes))
    }

    /// What is odd about the options.
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// What is odd about a movie of so many frames.
    fn notes_of(&self, frames: usize) -> Option<String> {
        let short = step::short_movie(self.options.temporal_background, frames);
        short.map(|text| in_words(&Note::Warning(text)))
    }

    /// The columns without rows.
    fn empty<'py>(&self, py: Python<'py>) -> Vec<Made<'py>> {
        self.columns(py, &[])
    }
}

impl LocalizeOptions {
    pub(crate) fn options(&self) -> &localize::LocalizeOptions {
        &self.options
    }

    /// What localizes frames of this size, as many as are known of.
    fn localizer(&self, size: (usize, usize), frames: usize) -> Result<Localizer, LocalizeError> {
        let positions = self.positions.as_deref().cloned();
        let pixels = size.0.saturating_mul(size.1).saturating_mul(frames);
        let options = self.options.clone().with_positions(positions);
        Localizer::new(size, step::with_sooner_backend(options, pixels))
    }

    /// All of them as the operations take them, with what was found or given besides.
    pub(crate) fn whole(&self) -> step::LocalizeOptions {
        let defects = self.options.defects.clone();
        let defects = defects.map(|found| DefectsOption::Given(Given::Content(found)));
        let defects = defects.unwrap_or(DefectsOption::None);
        self.step.clone().with_defects(Some(defects))
    }

    pub(crate) fn step(&self) -> &step::LocalizeOptions {
        &self.step
    }

    fn columns<'py>(&self, py: Python<'py>, spots: &[Localization]) -> Vec<Made<'py>> {
        columns(py, self.layout.table(spots, &table::Info::default()))
    }
}

/// Localizes frames that Python has.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct ArrayLocalizer {
    options: Py<LocalizeOptions>,
    localizer: Here<Mutex<Localizer>>,
    begin: Instant,
}

#[pymethods]
impl ArrayLocalizer {
    /// For frames of this size, of which those from `first` to before `last` will come.
    #[new]
    fn new(
        py: Python<'_>,
        options: Py<LocalizeOptions>,
        height: usize,
        width: usize,
        first: usize,
        last: usize,
    ) -> PyResult<Self> {
        let known = last.saturating_sub(first);
        let made = options.get().localizer((width, height), known);
        let mut made = made.map_err(of_localize)?;
        made.leave_out_positions(first..last);
        let localizer = Here::new(Mutex::new(made));
        py.check_signals()?;
        Ok(Self { options, localizer, begin: Instant::now() })
    }

    /// The report of the frames so far, as JSON.
    fn report(&self) -> PyResult<String> {
        let localizer = self.localizer.get("localizing")?;
        let localizer = localizer.lock().unwrap_or_else(PoisonError::into_inner);
        json(&LocalizeReport::of(&localizer, None, None, self.begin.elapsed()))
    }

    /// What is to be said of the full scale of the camera and of slopes of the light in the frames so far.
    fn doubts(&self) -> PyResult<Vec<String>> {
        let localizer = self.localizer.get("localizing")?;
        let localizer = localizer.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(seen_in_frames(&localizer.doubts()))
    }

    /// How many of the first frames are to be given to `look_ahead`; 0 if it would find nothing that is needed.
    #[getter]
    fn frames_ahead(&self) -> PyResult<usize> {
        let localizer = self.localizer.get("localizing")?;
        let localizer = localizer.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(localizer.frames_ahead())
    }

    /// Finds the width of spots and the full scale of the camera in some frames.
    fn look_ahead(&self, py: Python<'_>, frames: &Bound<'_, PyAny>) -> PyResult<()> {
        let localizer = self.localizer.get("localizing")?;
        let frames = pixels::Pixels::of("movie", frames)?;
        let view = frames.view();
        let found = py.detach(|| {
            let frames = stored(view);
            let mut localizer = localizer.lock().unwrap_or_else(PoisonError::into_inner);
            localizer.look_ahead(frames.windows(), None)
        });
        py.check_signals()?;
        found.map_err(of_localize)
    }

    /// The columns of the localizations in some frames, of which the first has this number.
    fn process<'py>(
        &self,
        py: Python<'py>,
        first: usize,
        frames: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Made<'py>>> {
        let localizer = self.localizer.get("localizing")?;
        let frames = pixels::Pixels::of("movie", frames)?;
        let view = frames.view();
        let found = py.detach(|| {
            let block = Block { first, pixels: stored(view) };
            let mut localizer = localizer.lock().unwrap_or_else(PoisonError::into_inner);
            localizer.process(&block)
        });
        py.check_signals()?;
        Ok(self.options.get().columns(py, &found.map_err(of_localize)?))
    }

    /// The columns of the localizations in frames that wait for their background, as no others will come; None if none can.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Option<Vec<Made<'py>>>> {
        if self.options.get().options.temporal_background.is_none() {
            return Ok(None);
        }
        let localizer = self.localizer.get("localizing")?;
        let found = py.detach(|| {
            let mut localizer = localizer.lock().unwrap_or_else(PoisonError::into_inner);
            localizer.finish()
        });
        py.check_signals()?;
        Ok(Some(self.options.get().columns(py, &found.map_err(of_localize)?)))
    }
}

/// How many of the first frames the estimates look at.
#[pyfunction]
pub(crate) fn frames_for_estimates(height: usize, width: usize) -> usize {
    localize::frames_for_estimates((width, height))
}

/// Those of a camera that are known.
pub(crate) type PartialNumbers = (Option<f64>, Option<f64>, Option<f64>, Option<f64>);

/// What says the others, and a table of cameras.
pub(crate) type CameraFromMetadata = (String, PartialNumbers, Option<PathBuf>);

/// Baseline, sensitivity, EM gain and read noise.
pub(crate) type CameraNumbers = (f64, f64, Option<f64>, f64);

/// What frames say of the sensitivity of their camera, and of its read noise.
#[pyfunction]
pub(crate) fn estimates(
    py: Python<'_>,
    frames: &Bound<'_, PyAny>,
    camera: CameraNumbers,
) -> PyResult<(Option<f64>, Option<f64>)> {
    of_frames(py, frames, Some(camera), |frames, camera| {
        let sensitivity = localize::estimate_sensitivity(frames.windows(), camera);
        (sensitivity, localize::estimate_read_noise(frames.windows(), camera))
    })
}

/// What frames say against a camera, or against having none.
#[pyfunction]
pub(crate) fn doubts(
    py: Python<'_>,
    frames: &Bound<'_, PyAny>,
    camera: Option<CameraNumbers>,
) -> PyResult<Vec<String>> {
    of_frames(py, frames, camera, |frames, _| told(camera, |_| Some(frames.clone())))
}

fn of_frames<T: Send>(
    py: Python<'_>,
    frames: &Bound<'_, PyAny>,
    camera: Option<CameraNumbers>,
    say: impl Fn(&Pixels, &spotfit::Camera) -> T + Send + Sync,
) -> PyResult<T> {
    let camera = camera.map_or_else(spotfit::Camera::default, options::camera);
    camera.validate().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let frames = pixels::Pixels::of("movie", frames)?;
    let view = frames.view();
    Ok(py.detach(|| say(&stored(view), &camera)))
}

/// The same for a file. What is wrong with the file is said when it is localized.
#[pyfunction]
#[pyo3(signature = (path, channel, slice, camera, parts=Vec::new(), position=None))]
pub(crate) fn doubts_of_movie(
    py: Python<'_>,
    path: PathBuf,
    channel: Option<usize>,
    slice: Option<usize>,
    camera: Option<CameraNumbers>,
    parts: Vec<PathBuf>,
    position: Option<String>,
) -> Vec<String> {
    let mut chosen = MovieOptions::default().with_parts(parts).with_position(position);
    (chosen.channel, chosen.slice) = (channel, slice);
    py.detach(|| told(camera, |many| Stack::open(&path, &chosen).ok()?.first_frames(many)))
}

/// What is to be said of pixels of this size, if it is unusual.
#[pyfunction]
pub(crate) fn unusual_pixels(pixel_size: f64) -> Option<String> {
    step::unusual_pixels(Some(pixel_size)).as_ref().map(in_words)
}

/// What frames show of the camera and of spots, and what slopes of the light do to them, in words.
fn seen_in_frames(doubts: &FrameDoubts) -> Vec<String> {
    let scale = doubts.full_scale.as_ref().map(step::at_full_scale);
    let doubt = doubts.slopes.as_ref().map(step::uneven_light);
    let misfit = doubts.misfit.as_ref().map(step::unlike_gaussians);
    scale.iter().chain(&misfit).chain(&doubt).map(in_words).collect()
}

/// What is known of a camera that Python gives: whoever says that there is no read noise may not have looked.
pub(crate) fn camera_options(camera: Option<CameraNumbers>) -> CameraOptions {
    let none = CameraOptions::default();
    let Some((baseline, sensitivity, em_gain, read_noise)) = camera else { return none };
    none.with_baseline(Some(baseline))
        .with_sensitivity(Some(sensitivity))
        .with_em_gain(em_gain)
        .with_read_noise(Some(read_noise).filter(|&noise| noise != 0.0))
}

/// A camera of which metadata may say what is not given.
pub(crate) fn camera_asked(
    camera: Option<CameraNumbers>,
    from: Option<CameraFromMetadata>,
) -> PyResult<CameraOptions> {
    let Some((from, (baseline, sensitivity, em_gain, read_noise), cameras)) = from else {
        return Ok(camera_options(camera));
    };
    Ok(CameraOptions::default()
        .with_baseline(baseline)
        .with_sensitivity(sensitivity)
        .with_em_gain(em_gain)
        .with_read_noise(read_noise)
        .with_from(Some(from.parse().map_err(error::of_option)?))
        .with_cameras(cameras))
}

/// What frames say against a camera, or against having none, in words; that none is given, Python says by itself.
fn told(camera: Option<CameraNumbers>, frames: impl FnOnce(bool) -> Option<Pixels>) -> Vec<String> {
    let (heard, options) = (Heard::default(), camera_options(camera));
    match camera {
        Some(_) => options.doubt(frames, &heard),
        None => {
            let note = frames(false).and_then(|first| options.unlike_light(&first));
            note.iter().for_each(|note| heard.note(note));
        }
    }
    heard.into_notes()
}

/// Notes in words, as they come.
#[derive(Default)]
pub(crate) struct Heard(RefCell<Vec<String>>);

impl Heard {
    pub(crate) fn into_notes(self) -> Vec<String> {
        self.0.into_inner()
    }
}

impl Listener for Heard {
    fn note(&self, note: &Note) {
        self.0.borrow_mut().push(in_words(note));
    }
}

/// A note in the words of Python.
fn in_words(note: &Note) -> String {
    error::keywords(note.text())
}

/// Finds out whether a camera makes sense.
#[pyfunction]
pub(crate) fn check_camera(camera: CameraNumbers) -> PyResult<()> {
    options::camera(camera).validate().map_err(error::of_argument)
}

/// Where a slice of so many frames begins or ends, as Python counts: from the end below 0.
fn edge(at: i64, frames: usize) -> usize {
    let all = i64::try_from(frames).unwrap_or(i64::MAX);
    let from_start = if at < 0 { all.saturating_add(at) } else { at };
    usize::try_from(from_start.clamp(0, all)).unwrap_or(frames)
}

/// Frames as movies have them.
pub(crate) fn stored(frames: View<'_>) -> Pixels {
    match frames {
        View::U8(frames) => Pixels::U8(frames.to_owned()),
        View::U16(frames) => Pixels::U16(frames.to_owned()),
        View::F32(frames) => Pixels::F32(frames.to_owned()),
        View::U32(frames) => Pixels::F32(frames.mapv(|value| value as f32)),
        View::U64(frames) => Pixels::F32(frames.mapv(|value| value as f32)),
        View::I8(frames) => Pixels::F32(frames.mapv(f32::from)),
        View::I16(frames) => Pixels::F32(frames.mapv(f32::from)),
        View::I32(frames) => Pixels::F32(frames.mapv(|value| value as f32)),
        View::I64(frames) => Pixels::F32(frames.mapv(|value| value as f32)),
        View::F64(frames) => Pixels::F32(frames.mapv(|value| value as f32)),
    }
}

/// A movie in a file, of which nothing but its metadata was read.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct MovieFile {
    name: String,
    movie: Mutex<Option<Movie>>,
    /// What ends the reading of a movie that is being written, and the frames that its metadata promise.
    stop: Option<Stop>,
    promised: Option<usize>,
    info: table::Info,
    pixel_size: Option<f64>,
    notes: Vec<String>,
    frames_are: Option<String>,
}

/// Ends the reading of a movie that is being written when the last of those who wait for it is gone.
#[derive(Clone, Debug)]
struct Stop(Arc<AtomicBool>);

impl Drop for Stop {
    fn drop(&mut self) {
        // The reader has one more.
        if Arc::strong_count(&self.0) <= 2 {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// A movie that is followed, whose writer may be idle for so many seconds; it is waited for, until Ctrl-C is pressed.
pub(crate) fn followed<T: Send + 'static>(
    py: Python<'_>,
    idle: f64,
    open: impl FnOnce(FollowOptions) -> T + Send + 'static,
) -> PyResult<T> {
    let idle = Duration::try_from_secs_f64(idle);
    let idle = idle.map_err(|error| PyValueError::new_err(format!("idle: {error}")))?;
    aside(py, move |abandoned| {
        let options = FollowOptions::default().with_idle(idle);
        open(options.with_stop(Some(abandoned.flag())))
    })
}

#[pymethods]
impl MovieFile {
    /// A movie that is being written, if somebody says for how many seconds its writer may be idle.
    #[new]
    #[pyo3(signature = (path, channel, slice, idle=None, strict=false, parts=Vec::new(), position=None))]
    #[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        channel: Option<usize>,
        slice: Option<usize>,
        idle: Option<f64>,
        strict: bool,
        parts: Vec<PathBuf>,
        position: Option<String>,
    ) -> PyResult<Self> {
        let chosen = MovieOptions::default().with_parts(parts).with_position(position);
        let (mut chosen, name) = (chosen, path.display().to_string());
        (chosen.channel, chosen.slice, chosen.strict) = (channel, slice, strict);
        let (movie, stop) = match idle {
            None => (py.detach(|| Movie::open_with(&path, &chosen)), None),
            Some(idle) => {
                let path = path.clone();
                let opened = followed(py, idle, move |follow| {
                    (Movie::follow(path, &chosen, &follow), follow.stop.map(Stop))
                });
                opened?
            }
        };
        let movie = movie.map_err(|error| match error {
            MovieError::Io(error) => of_io(&path, &error),
            other => PyValueError::new_err(format!("{name}: {other}")),
        })?;
        let (width, height) = movie.size();
        let mut info = table::Info::default().with_movie(None, [width, height], movie.frames());
        let promised = movie.growing().and_then(GrowingMovie::promised);
        if idle.is_some() {
            info.frames = None;
        }
        let pixel_size = movie.axes().pixel_size.map(|size| size.nanometres);
        let notes = movie.notes().to_vec();
        let frames_are = step::frames_are(&movie, slice);
        let movie = Mutex::new(Some(movie));
        Ok(Self { name, movie, stop, promised, info, pixel_size, notes, frames_are })
    }

    /// The frames that the metadata of a movie promise that is being written, if they do.
    #[getter]
    fn promised(&self) -> Option<usize> {
        self.promised
    }

    /// What is known of the movie; of its metadata only sizes and the number of frames.
    #[getter]
    fn info(&self) -> Info {
        Info(self.info.clone())
    }

    /// The side of a pixel in nanometres that the metadata state.
    #[getter]
    fn pixel_size(&self) -> Option<f64> {
        self.pixel_size
    }

    /// What is odd about the file.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }
}

/// How long to wait for localizations before Python is asked whether Ctrl-C was pressed.
const LOOK: Duration = Duration::from_millis(50);

/// Localizes a movie in a file, while it is read.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct MovieLocalizer {
    options: Py<LocalizeOptions>,
    found: Here<Mutex<Option<Localizations>>>,
    frames_are: Option<String>,
    begin: Instant,
    /// What is to be said of the full scale of the camera and of slopes of the light.
    doubts: Mutex<Vec<String>>,
    /// As JSON, at the end.
    report: Mutex<Option<String>>,
    /// How a movie has ended that was being written.
    notes: Mutex<Vec<String>>,
    #[expect(dead_code, reason = "its end ends the reading")]
    stop: Option<Stop>,
}

#[pymethods]
impl MovieLocalizer {
    /// For a movie whose frames nobody took so far.
    #[new]
    fn new(
        options: Py<LocalizeOptions>,
        movie: &Bound<'_, MovieFile>,
        first: Option<i64>,
        last: Option<i64>,
    ) -> PyResult<Self> {
        let (frames_are, stop) = (movie.get().frames_are.clone(), movie.get().stop.clone());
        let movie = movie.get().movie.lock().unwrap_or_else(PoisonError::into_inner).take();
        let movie = movie.ok_or_else(|| PyRuntimeError::new_err("the movie is being read"))?;
        let first = edge(first.unwrap_or(0), movie.frames());
        let last = edge(last.unwrap_or(i64::MAX), movie.frames()).max(first);
        let known = if movie.is_counted() { last - first } else { 0 };
        let localizer = options.get().localizer(movie.size(), known);
        let found = localizer.and_then(|localizer| localizer.localize(movie, first..last));
        let found = Here::new(Mutex::new(Some(found.map_err(of_localize)?)));
        let (begin, doubts, report) = (Instant::now(), Mutex::default(), Mutex::default());
        let notes = Mutex::default();
        Ok(Self { options, found, frames_are, begin, doubts, report, notes, stop })
    }

    /// How a movie has ended that was being written, and what it is not that it was.
    fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What is to be said of the full scale of the camera and of slopes of the light, as soon as it is known.
    fn doubts(&self) -> Vec<String> {
        self.doubts.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The report of all frames as JSON, at the end.
    fn report(&self) -> Option<String> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The columns of the next localizations, and how many frames were processed so far; `None` at the end.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<(Vec<Made<'py>>, usize)>> {
        let held = self.found.get("localizing")?;
        let found = loop {
            let found = py.detach(|| {
                let mut found = held.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(localizations) = found.as_mut() else { return Some(None) };
                let next = localizations.next_within(LOOK)?;
                *self.doubts.lock().unwrap_or_else(PoisonError::into_inner) =
                    seen_in_frames(&localizations.doubts());
                if next.is_none()
                    && let Some(ended) = found.take()
                {
                    self.end(ended);
                }
                let frames = found.as_ref().map_or(0, |found| found.counts().frames);
                Some(next.map(|block| (block, frames)))
            });
            match found {
                Some(found) => break found,
                // A movie that is being written lets wait.
                None => py.check_signals()?,
            }
        };
        py.check_signals()?;
        let Some((block, frames)) = found else { return Ok(None) };
        Ok(Some((self.options.get().columns(py, &block.map_err(of_localize)?), frames)))
    }
}

impl MovieLocalizer {
    /// Keeps what is known at the end.
    fn end(&self, ended: Localizations) {
        let growing = ended.movie().and_then(Movie::growing);
        let notes = growing.map_or(Vec::new(), |movie| {
            let contradiction = movie.contradiction().filter(|_| movie.has_ended());
            movie.notes().iter().cloned().chain(contradiction).collect()
        });
        *self.notes.lock().unwrap_or_else(PoisonError::into_inner) = notes;
        let localizer = ended.into_localizer();
        let (frames_are, time) = (self.frames_are.clone(), self.begin.elapsed());
        let report = json(&LocalizeReport::of(&localizer, frames_are, None, time)).ok();
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = report;
    }
}
