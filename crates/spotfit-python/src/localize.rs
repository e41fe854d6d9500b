//! Localizing movies, from files and from arrays.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use spotfit::localize::{
    self, Flags, FrameDoubts, Localization, Localizations, LocalizeError, Localizer, Sigma,
};
use spotfit::movie::{Block, FollowOptions, GrowingMovie, Movie, MovieError, Pixels};
use spotfit::steps::localize::{self as step, DefectsOption, Given, LocalizeReport, PsfOption};
use spotfit::steps::{Listener, Note, PixelScale, Stack, learn};
use spotfit::table::{self, Layout};
use spotfit::{AsWindows, Background, Length};

use crate::calibrate::{Chosen, movie_options, to_learn_from};
use crate::camera::CameraMap;
use crate::defects::Defects;
use crate::error;
use crate::fitter::Fitter;
use crate::keywords::{Keywords, assign};
use crate::options::{self, CameraNumbers};
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

/// What is behind a lock, whoever panicked with it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn new(
        py: Python<'_>,
        fitter: &Bound<'_, Fitter>,
        camera_map: Option<&Bound<'_, CameraMap>>,
        keywords: Keywords<'_>,
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
        for word in keywords.get::<Vec<String>>("drop")? {
            let flag = options::choose("drop", &word, &known)?;
            flags = Flags::from_bits(flags.bits() | flag.bits());
        }
        let mut localizer = localize::LocalizeOptions::default()
            .with_fitter(fitter.clone().with_fit(fit.with_camera(None)))
            .with_drop(flags)
            .with_emitters(keywords.word("emitters")?.parse().map_err(error::of_option)?)
            .with_sigma(options::choose("sigma", &keywords.word("sigma")?, &SIGMAS)?);
        assign!(keywords => localizer; false_rate, keep_all, checks, errors, saturation, temporal_background);
        if let Some(threshold) = keywords.get("threshold")? {
            localizer = localizer.with_threshold(threshold);
        }
        let maps = camera_map.map(|map| Given::Content(Arc::new(map.get().0.clone())));
        let camera = options::camera_asked(keywords.get("camera")?, keywords.get("camera_from")?)?;
        let frame_time: Option<String> = keywords.get("frame_time")?;
        let (box_size, aperture): (Option<usize>, Option<f64>) =
            (keywords.get("box_size")?, keywords.get("aperture")?);
        let roi: Option<(usize, usize, usize, usize)> = keywords.get("roi")?;
        let (calibration, psf): (Option<PathBuf>, Option<PathBuf>) =
            (keywords.get("calibration")?, keywords.get("psf")?);
        let (learns, size): (bool, Option<f64>) =
            (keywords.get("learns")?, keywords.get("pixel_size")?);
        let unknown = keywords.get("pixels")?;
        let psf = psf.map(|file| PsfOption::Given(Given::File(file)));
        // Where nothing was learnt it is that of Gaussians.
        let background = Some(fit.background).filter(|of| !learns || *of != Background::Free);
        let step = step::LocalizeOptions::default()
            .with_localizer(localizer)
            .with_camera(camera.with_maps(maps))
            .with_frame_time(
                frame_time.map(|text| text.parse()).transpose().map_err(error::of_option)?,
            )
            .with_box_size(box_size.map(|side| Length::pixels(side as f64)))
            .with_roi(roi.map(|(x, y, width, height)| format!("{x},{y},{width},{height}")))
            .with_estimator(Some(fit.estimator))
            .with_background(background)
            .with_calibration(calibration.map(Given::File))
            .with_psf(if learns { Some(PsfOption::Learn) } else { psf })
            .with_learn_frames(keywords.get("learn_frames")?)
            .with_aperture(aperture.map(Length::pixels))
            .with_pixel_size(options::pixel_scale(size, unknown));
        let resolved = py.detach(|| step.resolved(size.filter(|_| !unknown)));
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
        let (step, notes) = {
            let movie = locked(&file.movie);
            let movie =
                movie.as_ref().ok_or_else(|| PyRuntimeError::new_err("the movie is being read"))?;
            self.step.by_metadata(movie, &file.name).map_err(of_step)?
        };
        Ok((self.again(py, step, file.pixel_size)?, notes.iter().map(in_words).collect()))
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
    #[pyo3(signature = (given, *, chosen, frames, idle))]
    fn learnt(
        &self,
        py: Python<'_>,
        given: Bound<'_, PyAny>,
        chosen: Chosen,
        frames: Option<String>,
        idle: Option<f64>,
    ) -> PyResult<(Self, Vec<String>)> {
        let asked = self.whole().with_frames(frames);
        let mut movie = to_learn_from(py, given, chosen, idle)?;
        let (done, notes) = steps::heard(py, move |listener| {
            learn::learnt(&asked, &mut movie, listener).map_err(of_step)
        })?;
        let step = self.step.clone().with_psf(done.psf).with_estimator(done.estimator);
        Ok((self.again(py, step.with_localizer(done.localizer), None)?, notes))
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
    /// The same with what is known besides; a movie states the size of its pixels, or not.
    fn again(
        &self,
        py: Python<'_>,
        step: step::LocalizeOptions,
        of_movie: Option<f64>,
    ) -> PyResult<Self> {
        let known = match step.pixel_size {
            PixelScale::Nanometres(size) => Some(size),
            PixelScale::OfMovie => of_movie,
            _ => None,
        };
        let resolved = py.detach(|| step.resolved(known));
        let (options, layout, _) = resolved.map_err(of_step)?;
        let options = options.with_defects(self.options.defects.clone());
        Ok(Self { step, options, layout, ..self.clone() })
    }

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
        let localizer = locked(self.localizer.get("localizing")?);
        json(&LocalizeReport::of(&localizer, None, None, self.begin.elapsed()))
    }

    /// What is to be said of the full scale of the camera and of slopes of the light in the frames so far.
    fn doubts(&self) -> PyResult<Vec<String>> {
        let localizer = locked(self.localizer.get("localizing")?);
        Ok(seen_in_frames(&localizer.doubts()))
    }

    /// How many of the first frames are to be given to `look_ahead`; 0 if it would find nothing that is needed.
    #[getter]
    fn frames_ahead(&self) -> PyResult<usize> {
        let localizer = locked(self.localizer.get("localizing")?);
        Ok(localizer.frames_ahead())
    }

    /// Finds the width of spots and the full scale of the camera in some frames.
    fn look_ahead(&self, py: Python<'_>, frames: &Bound<'_, PyAny>) -> PyResult<()> {
        let localizer = self.localizer.get("localizing")?;
        let frames = pixels::Pixels::of("movie", frames)?;
        let view = frames.view();
        let found = py.detach(|| {
            let frames = stored(view);
            let mut localizer = locked(localizer);
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
            let mut localizer = locked(localizer);
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
            let mut localizer = locked(localizer);
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
    camera.validate().map_err(error::wrong)?;
    let frames = pixels::Pixels::of("movie", frames)?;
    let view = frames.view();
    Ok(py.detach(|| say(&stored(view), &camera)))
}

/// The same for a file. What is wrong with the file is said when it is localized.
#[pyfunction]
pub(crate) fn doubts_of_movie(
    py: Python<'_>,
    path: PathBuf,
    chosen: Chosen,
    camera: Option<CameraNumbers>,
) -> Vec<String> {
    let chosen = movie_options(chosen);
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

/// What frames say against a camera, or against having none, in words; that none is given, Python says by itself.
fn told(camera: Option<CameraNumbers>, frames: impl FnOnce(bool) -> Option<Pixels>) -> Vec<String> {
    let heard = Heard::default();
    let Ok(options) = options::camera_asked(camera, None) else { return Vec::new() };
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
    options::camera(camera).validate().map_err(error::wrong)
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
        other => Pixels::F32(other.as_f32()),
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
    fn new(py: Python<'_>, path: PathBuf, chosen: Chosen, idle: Option<f64>) -> PyResult<Self> {
        let (chosen, name) = (movie_options(chosen), path.display().to_string());
        let slice = chosen.slice;
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
            MovieError::Io(error) => error::of_io(&path)(error),
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
        let movie = locked(&movie.get().movie).take();
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
        locked(&self.notes).clone()
    }

    /// What is to be said of the full scale of the camera and of slopes of the light, as soon as it is known.
    fn doubts(&self) -> Vec<String> {
        locked(&self.doubts).clone()
    }

    /// The report of all frames as JSON, at the end.
    fn report(&self) -> Option<String> {
        locked(&self.report).clone()
    }

    /// The columns of the next localizations, and how many frames were processed so far; `None` at the end.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<(Vec<Made<'py>>, usize)>> {
        let held = self.found.get("localizing")?;
        let found = loop {
            let found = py.detach(|| {
                let mut found = locked(held);
                let Some(localizations) = found.as_mut() else { return Some(None) };
                let next = localizations.next_within(LOOK)?;
                *locked(&self.doubts) = seen_in_frames(&localizations.doubts());
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
        *locked(&self.notes) = notes;
        let localizer = ended.into_localizer();
        let (frames_are, time) = (self.frames_are.clone(), self.begin.elapsed());
        let report = json(&LocalizeReport::of(&localizer, frames_are, None, time)).ok();
        *locked(&self.report) = report;
    }
}
