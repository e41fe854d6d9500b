//! Localizing movies, from files and from arrays.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use spotfit::AsWindows;
use spotfit::astigmatism;
use spotfit::astigmatism::file::CalibrationFileError;
use spotfit::astigmatism::find::Finder;
use spotfit::localize::{
    self, CameraDoubt, Flags, Localization, Localizations, LocalizeError, Localizer, Roi,
};
use spotfit::movie::{Block, Movie, MovieError, MovieOptions, Pixels};
use spotfit::psf::{self, Psf};
use spotfit::table::{self, Layout, WidthColumns};
use spotfit::yaml::YamlError;

use crate::camera::CameraMap;
use crate::error;
use crate::fitter::Fitter;
use crate::options;
use crate::pixels::{self, View};
use crate::tables::{Info, Made, columns};
use crate::threads::Here;

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

/// Reads a calibration of astigmatism.
fn finder(path: &Path, pixel_size: Option<f64>) -> PyResult<Finder> {
    astigmatism::file::load_with_pixel_size(path, pixel_size).map_err(|error| match error {
        CalibrationFileError::Yaml(YamlError::Io(error)) => of_io(path, &error),
        other => PyValueError::new_err(format!("{}: {other}", path.display())),
    })
}

/// Reads a PSF.
fn measured(path: &Path) -> PyResult<Psf> {
    let file = File::open(path).map_err(|error| of_io(path, &error))?;
    psf::read(BufReader::new(file))
        .map_err(|error| PyValueError::new_err(format!("{}: {error}", path.display())))
}

/// The exception for a file that cannot be read: Python chooses the class, such as `FileNotFoundError`, by the kind.
fn of_io(path: &Path, error: &io::Error) -> PyErr {
    io::Error::new(error.kind(), format!("{}: {error}", path.display())).into()
}

/// How to localize a movie.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct LocalizeOptions {
    options: localize::LocalizeOptions,
    layout: Layout,
}

#[pymethods]
impl LocalizeOptions {
    #[new]
    #[pyo3(signature = (
        fitter, camera_map, *, box_size, false_rate, threshold, roi, drop, keep_all, checks, errors, saturation,
        calibration, psf, pixel_size
    ))]
    #[expect(clippy::too_many_arguments, reason = "they have names where they are given")]
    fn new(
        fitter: &Bound<'_, Fitter>,
        camera_map: Option<&Bound<'_, CameraMap>>,
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
        pixel_size: Option<f64>,
    ) -> PyResult<Self> {
        let calibration = calibration.map(|path| finder(&path, pixel_size)).transpose()?;
        let psf = psf.map(|path| measured(&path)).transpose()?;
        let has_depth = calibration.is_some() || psf.is_some();
        let widths = psf.as_ref().map(|_| WidthColumns::Measured);
        let fitter = fitter.get().options();
        let fit = fitter.fit;
        let mut flags = Flags::default();
        let known = [
            ("neighbour", Flags::default().with_neighbour(true)),
            ("residual", Flags::default().with_residual(true)),
            ("saturated", Flags::default().with_saturated(true)),
            ("width", Flags::default().with_width(true)),
            ("all", Flags::ALL),
        ];
        for word in drop {
            let flag = options::choose("drop", &word, &known)?;
            flags = Flags::from_bits(flags.bits() | flag.bits());
        }
        let options = localize::LocalizeOptions::default()
            .with_false_rate(false_rate)
            .with_roi(roi.map(|(x, y, width, height)| Roi { x, y, width, height }))
            .with_camera(fit.camera.unwrap_or_default())
            .with_map(camera_map.map(|map| Arc::new(map.get().0.clone())))
            .with_fitter(fitter.clone().with_fit(fit.with_camera(None)))
            .with_keep_all(keep_all)
            .with_checks(checks)
            .with_errors(errors)
            .with_drop(flags)
            .with_saturation(saturation)
            .with_calibration(calibration.map(Arc::new))
            .with_psf(psf.map(Arc::new));
        let box_size = box_size.unwrap_or(options.usual_box());
        let options = options.with_box_size(box_size);
        let options = match threshold {
            Some(threshold) => options.with_threshold(threshold),
            None => options,
        };
        let layout = Layout::default()
            .with_errors(errors)
            .with_depth(has_depth)
            .with_widths(widths.unwrap_or(WidthColumns::of(fit.shape)))
            .with_checks(checks)
            .with_status(keep_all);
        Ok(Self { options, layout })
    }

    /// What is odd about the options.
    fn notes(&self) -> Vec<String> {
        self.options.notes().iter().map(|note| error::keywords(note)).collect()
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

    fn columns<'py>(&self, py: Python<'py>, spots: &[Localization]) -> Vec<Made<'py>> {
        columns(py, self.layout.table(spots, &table::Info::default()))
    }
}

/// Localizes frames that Python has.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct ArrayLocalizer {
    options: Py<LocalizeOptions>,
    localizer: Here<Mutex<Localizer>>,
}

#[pymethods]
impl ArrayLocalizer {
    #[new]
    fn new(
        py: Python<'_>,
        options: Py<LocalizeOptions>,
        height: usize,
        width: usize,
    ) -> PyResult<Self> {
        let made = Localizer::new((width, height), options.get().options.clone());
        let localizer = Here::new(Mutex::new(made.map_err(of_localize)?));
        py.check_signals()?;
        Ok(Self { options, localizer })
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
}

/// How many of the first frames the estimates look at.
#[pyfunction]
pub(crate) fn frames_for_estimates(height: usize, width: usize) -> usize {
    localize::frames_for_estimates((width, height))
}

/// Baseline, sensitivity, EM gain and read noise.
type CameraNumbers = (f64, f64, Option<f64>, f64);

/// What frames say of the sensitivity of their camera, and of its read noise.
#[pyfunction]
pub(crate) fn estimates(
    py: Python<'_>,
    frames: &Bound<'_, PyAny>,
    camera: CameraNumbers,
) -> PyResult<(Option<f64>, Option<f64>)> {
    of_frames(py, frames, camera, |frames, camera| {
        let sensitivity = localize::estimate_sensitivity(frames.windows(), camera);
        (sensitivity, localize::estimate_read_noise(frames.windows(), camera))
    })
}

/// What frames say against a camera.
#[pyfunction]
pub(crate) fn doubts(
    py: Python<'_>,
    frames: &Bound<'_, PyAny>,
    camera: CameraNumbers,
) -> PyResult<Vec<String>> {
    of_frames(py, frames, camera, against)
}

fn of_frames<T: Send>(
    py: Python<'_>,
    frames: &Bound<'_, PyAny>,
    camera: CameraNumbers,
    say: impl Fn(&Pixels, &spotfit::Camera) -> T + Send + Sync,
) -> PyResult<T> {
    let camera = options::camera(camera);
    camera.validate().map_err(|error| PyValueError::new_err(error.to_string()))?;
    let frames = pixels::Pixels::of("movie", frames)?;
    let view = frames.view();
    Ok(py.detach(|| say(&stored(view), &camera)))
}

/// The same for a file: what its first frames say against a camera. What is wrong with the file is said when it is localized.
#[pyfunction]
pub(crate) fn doubts_of_movie(
    py: Python<'_>,
    path: PathBuf,
    channel: Option<usize>,
    slice: Option<usize>,
    camera: CameraNumbers,
) -> Vec<String> {
    let camera = options::camera(camera);
    let mut chosen = MovieOptions::default();
    (chosen.channel, chosen.slice) = (channel, slice);
    py.detach(|| {
        // A pipe has its frames only once.
        let metadata = path.metadata().ok()?;
        let mut movie = Movie::open_with(&path, &chosen)
            .ok()
            .filter(|_| metadata.is_file() || metadata.is_dir())?;
        let block = movie.read(localize::frames_for_estimates(movie.size())).ok()??;
        Some(against(&block.pixels, &camera))
    })
    .unwrap_or_default()
}

/// Finds out whether a camera makes sense.
#[pyfunction]
pub(crate) fn check_camera(camera: CameraNumbers) -> PyResult<()> {
    options::camera(camera).validate().map_err(error::of_argument)
}

/// What frames say against a camera, in words.
fn against(frames: &Pixels, camera: &spotfit::Camera) -> Vec<String> {
    let baseline = camera.baseline;
    let above = localize::median_of_first(frames).filter(|&median| baseline > median).map(|median| {
        format!(
            "baseline {baseline} is above the median of the first frame, {median} ADU; most pixels would have less than no light"
        )
    });
    let doubts = localize::camera_doubts(frames.windows(), camera).into_iter();
    let told = doubts.map(|doubt| match doubt {
        CameraDoubt::ReadNoise { found } => {
            format!("{doubt}: read_noise={}", localize::two_digits(found))
        }
        doubt => doubt.to_string(),
    });
    above.into_iter().chain(told).collect()
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
    movie: Mutex<Option<Movie>>,
    info: table::Info,
    pixel_size: Option<f64>,
    notes: Vec<String>,
}

#[pymethods]
impl MovieFile {
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        channel: Option<usize>,
        slice: Option<usize>,
    ) -> PyResult<Self> {
        let (mut chosen, name) = (MovieOptions::default(), path.display().to_string());
        (chosen.channel, chosen.slice) = (channel, slice);
        let movie = py.detach(|| Movie::open_with(&path, &chosen));
        let movie = movie.map_err(|error| match error {
            MovieError::Io(error) => of_io(&path, &error),
            other => PyValueError::new_err(format!("{name}: {other}")),
        })?;
        let (width, height) = movie.size();
        let info = table::Info::default().with_movie(None, [width, height], movie.frames());
        let pixel_size = movie.axes().pixel_size.map(|size| size.nanometres);
        let notes = movie.notes().to_vec();
        Ok(Self { movie: Mutex::new(Some(movie)), info, pixel_size, notes })
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

/// Localizes a movie in a file, while it is read.
#[pyclass(frozen, module = "spotfit._spotfit")]
pub(crate) struct MovieLocalizer {
    options: Py<LocalizeOptions>,
    found: Here<Mutex<Option<Localizations>>>,
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
        let movie = movie.get().movie.lock().unwrap_or_else(PoisonError::into_inner).take();
        let movie = movie.ok_or_else(|| PyRuntimeError::new_err("the movie is being read"))?;
        let first = edge(first.unwrap_or(0), movie.frames());
        let last = edge(last.unwrap_or(i64::MAX), movie.frames()).max(first);
        let localizer = Localizer::new(movie.size(), options.get().options.clone());
        let found = localizer.and_then(|localizer| localizer.localize(movie, first..last));
        let found = Here::new(Mutex::new(Some(found.map_err(of_localize)?)));
        Ok(Self { options, found })
    }

    /// The columns of the next localizations, and how many frames were processed so far; `None` at the end.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<(Vec<Made<'py>>, usize)>> {
        let held = self.found.get("localizing")?;
        let found = py.detach(|| {
            let mut found = held.lock().unwrap_or_else(PoisonError::into_inner);
            let next = found.as_mut()?.next();
            if next.is_none() {
                *found = None;
            }
            let frames = found.as_ref().map_or(0, |found| found.counts().frames);
            next.map(|block| (block, frames))
        });
        py.check_signals()?;
        let Some((block, frames)) = found else { return Ok(None) };
        Ok(Some((self.options.get().columns(py, &block.map_err(of_localize)?), frames)))
    }
}
