from os import PathLike
from typing import Any, Literal, final

import numpy as np
import numpy.typing as npt

__all__ = [
    "ArrayLocalizer",
    "CameraMap",
    "Defects",
    "DeviceArray",
    "DeviceOutcomes",
    "FileLock",
    "Fitter",
    "Info",
    "LocalizeOptions",
    "Model",
    "ModelFitter",
    "MovieFile",
    "MeasuredCamera",
    "MovieLocalizer",
    "Positions",
    "Preview",
    "RingReader",
    "RingWriter",
    "TableFile",
    "TrackOptions",
    "Tracker",
    "MOVIE_ENDINGS",
    "__version__",
    "bands_table",
    "calibrate",
    "calibrate_psf",
    "camera",
    "check_camera",
    "device_of",
    "devices",
    "doubts",
    "doubts_of_movie",
    "draw_curves",
    "draw_drift",
    "encode_picture",
    "estimates",
    "filter_table",
    "fit_shared",
    "frames_for_estimates",
    "frames_to_learn",
    "in_pixels",
    "info",
    "learn_psf",
    "method",
    "operations",
    "plot_format",
    "read_columns",
    "read_preset",
    "read_record",
    "read_table",
    "record_inputs",
    "recorded_length",
    "region",
    "report_curves",
    "report_emitters",
    "report_fits",
    "ring_now",
    "run_step",
    "save_curves",
    "save_emitters",
    "save_fits",
    "simulate",
    "simulate_beads",
    "simulate_movie",
    "track",
    "unlike",
    "unusual_pixels",
    "window_side",
    "write_file",
    "write_table",
]

_Columns = list[tuple[str, str, str, npt.NDArray[Any], list[str]]]
_Maps = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]

MOVIE_ENDINGS: tuple[str, ...]
__version__: str

@final
class CameraMap:
    """Offset, gain and variance of each pixel of a camera whose pixels differ."""

    def __new__(cls, offset: npt.ArrayLike, gain: npt.ArrayLike, variance: npt.ArrayLike) -> CameraMap: ...
    @staticmethod
    def read(path: str | PathLike[str], sensitivity: float | None = None) -> CameraMap: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def masked(self) -> int: ...
    @staticmethod
    def _in_electrons(
        offset: npt.NDArray[np.float32], scale: npt.NDArray[np.float32], variance: npt.NDArray[np.float32]
    ) -> CameraMap: ...

@final
class DeviceArray:
    """A column of outcomes on a GPU."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def device(self) -> int: ...
    def __len__(self) -> int: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def numpy(self) -> npt.NDArray[Any]: ...
    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]: ...

@final
class DeviceOutcomes:
    def __len__(self) -> int: ...
    @property
    def device(self) -> int: ...
    @property
    def has_errors(self) -> bool: ...
    def fetch(self) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void] | None]: ...
    def column(self, name: str, of_errors: bool) -> DeviceArray: ...

def device_of(name: str, object: object) -> int | None: ...
@final
class Fitter:
    def __new__(
        cls,
        *,
        shape: str,
        sigma: list[float] | None,
        profile: str,
        estimator: str,
        camera: tuple[float, float, float | None, float] | None,
        background: str | None,
        criteria: str,
        max_iterations: int | None,
        min_delta: float | None,
        min_step: float | None,
        max_error: float | None,
        tolerance: float | None,
        centre_margin: float | None,
        sigma_min: float | None,
        sigma_max: float | None,
        backend: str,
        instruction_set: str | None,
        devices: list[int],
        threads: int,
    ) -> Fitter: ...
    def fit(
        self,
        spots: npt.ArrayLike,
        corners: npt.ArrayLike | None,
        size: tuple[int, int] | None,
        start: npt.ArrayLike | None,
        weights: npt.ArrayLike | None,
        camera_map: CameraMap | None,
        errors: bool,
        double: bool | None,
    ) -> tuple[npt.NDArray[np.void], npt.NDArray[np.void] | None]: ...
    def fit_emitters(
        self,
        spots: npt.ArrayLike,
        corners: npt.ArrayLike | None,
        size: tuple[int, int] | None,
        camera_map: CameraMap | None,
        emitters: str,
    ) -> tuple[npt.NDArray[np.float64], str]: ...
    def fit_there(
        self,
        spots: Any,
        device: int,
        corners: npt.ArrayLike | None,
        size: tuple[int, int] | None,
        start: Any,
        weights: Any,
        camera_map: CameraMap | None,
        errors: bool,
    ) -> DeviceOutcomes: ...
    @property
    def backend(self) -> str: ...
    @property
    def instruction_set(self) -> str | None: ...
    @property
    def threads(self) -> int: ...
    @property
    def single(self) -> bool: ...
    @property
    def about(self) -> str: ...

@final
class ModelFitter:
    def __new__(cls, backend: str, instruction_set: str | None, device: int, threads: int) -> ModelFitter: ...
    @property
    def threads(self) -> int: ...

_Splines = list[tuple[str, npt.NDArray[Any], list[int]]]

@final
class Model:
    def __new__(cls, text: str, variables: list[str], parameters: list[str] | None, splines: _Splines) -> Model: ...
    @staticmethod
    def named(name: str, splines: _Splines) -> Model: ...
    @staticmethod
    def all() -> dict[str, tuple[str, str]]: ...
    @staticmethod
    def with_splines() -> list[str]: ...
    def with_ties(self, ties: list[str]) -> Model: ...
    def tie_formulas(self) -> list[str]: ...
    @property
    def text(self) -> str: ...
    @property
    def variables(self) -> list[str]: ...
    @property
    def parameters(self) -> list[str]: ...
    @property
    def finds_its_start(self) -> bool: ...
    def predict(
        self, parameters: npt.ArrayLike, *, grid: tuple[int, int] | None, points: npt.ArrayLike | None, length: int
    ) -> npt.NDArray[np.float64]: ...
    def fit(
        self,
        fitter: ModelFitter,
        data: npt.ArrayLike,
        *,
        grid: tuple[int, int] | None,
        points: npt.ArrayLike | None,
        start: npt.ArrayLike | None,
        bounds: npt.ArrayLike,
        fixed: list[bool],
        weights: npt.ArrayLike | None,
        estimator: str,
        absolute: bool,
        linear: str,
        precision: str,
        max_iterations: int,
        tolerance: float,
        covariance: bool,
        noise: tuple[
            str | None, float | None, float | None, str | None, npt.NDArray[np.float64] | None, float | npt.NDArray[np.float64] | None
        ],
        answers: tuple[bool, list[str], float | None, Model | None, list[float] | None] | None = ...,
    ) -> tuple[
        npt.NDArray[np.float64],
        npt.NDArray[np.float64],
        npt.NDArray[np.float64] | None,
        npt.NDArray[np.float64],
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint32],
        npt.NDArray[np.uint8],
        tuple[npt.NDArray[np.float64] | None, npt.NDArray[np.bool_] | None, str | None],
        dict[str, Any] | None,
    ]: ...

def fit_shared(
    model: Model,
    fitter: ModelFitter,
    data: npt.ArrayLike,
    *,
    grid: tuple[int, int] | None,
    points: npt.ArrayLike | None,
    start: npt.ArrayLike | None,
    bounds: npt.ArrayLike,
    fixed: list[bool],
    weights: npt.ArrayLike | None,
    estimator: str,
    absolute: bool,
    linear: str,
    precision: str,
    max_iterations: int,
    tolerance: float,
    covariance: bool,
    noise: tuple[
            str | None, float | None, float | None, str | None, npt.NDArray[np.float64] | None, float | npt.NDArray[np.float64] | None
        ],
    answers: tuple[bool, list[str], float | None, Model | None, list[float] | None] | None,
    shared: list[tuple[int, list[int] | None]],
    priors: list[tuple[int, float, float]],
) -> tuple[tuple[Any, ...], tuple[list[tuple[int, int, float, float, int]], float, int, int]]: ...
@final
class Info:
    def __new__(
        cls, pixel_size: float | None, width: int | None, height: int | None, frames: int | None
    ) -> Info: ...
    def with_pixel_size(self, pixel_size: float | None) -> Info: ...
    @property
    def numbers(self) -> tuple[float | None, int | None, int | None, int | None]: ...

def in_pixels(name: str, text: str, pixel_size: float | None) -> float: ...
def region(text: str, pixel_size: float | None) -> list[int]: ...
def window_side(text: str, pixel_size: float | None) -> int: ...
def recorded_length(name: str, text: str) -> str | None: ...

#: Nine columns, iterations and evaluations, and statuses.
_Fits = tuple[list[npt.NDArray[Any]], list[npt.NDArray[np.uint32]], npt.NDArray[np.uint8]]

def save_fits(
    path: str | PathLike[str],
    given: _Fits,
    errors: list[npt.NDArray[Any]] | None,
    *,
    shape: str,
    sigma: list[float] | None,
    estimator: str,
    background: str | None,
    single: bool,
) -> None: ...
def report_fits(given: _Fits, size: tuple[int, int], limits: list[float | None], backend: str) -> str: ...
def save_emitters(
    path: str | PathLike[str], given: npt.NDArray[np.float64], errors: bool, *, shape: str, sigma: list[float] | None
) -> None: ...
def report_emitters(given: npt.NDArray[np.float64], spots: int, backend: str) -> str: ...
def save_curves(
    path: str | PathLike[str],
    names: list[str],
    parameters: npt.NDArray[np.float64],
    errors: npt.NDArray[np.float64],
    chi2: npt.NDArray[np.float64],
    counts: list[npt.NDArray[np.uint32]],
    status: npt.NDArray[np.uint8],
    *,
    estimator: str,
    answers: list[tuple[str, Any]] = ...,
) -> None: ...
def report_curves(status: npt.NDArray[np.uint8], threads: int) -> str: ...

@final
class Defects:
    def __new__(cls, mask: npt.NDArray[np.bool_]) -> Defects: ...
    @staticmethod
    def read(path: str | PathLike[str]) -> Defects: ...
    @staticmethod
    def find(frames: npt.ArrayLike, camera_map: CameraMap | None = None, first: int = 0) -> Defects: ...
    @staticmethod
    def find_in(
        path: str | PathLike[str],
        channel: int | None,
        slice: int | None,
        camera_map: CameraMap | None = None,
        idle: float | None = None,
        parts: list[str] = ...,
        position: str | None = None,
    ) -> Defects | None: ...
    def with_not_finite(self, others: Defects) -> Defects: ...
    @property
    def notes(self) -> list[str]: ...
    @property
    def frames_left_out(self) -> str | None: ...
    def __len__(self) -> int: ...
    @property
    def mask(self) -> npt.NDArray[np.bool_]: ...

@final
class Positions:
    @staticmethod
    def read(path: str | PathLike[str], pixel_size: float | None) -> Positions: ...
    @staticmethod
    def of(columns: _Columns, info: Info, pixel_size: float | None) -> Positions: ...
    @property
    def notes(self) -> list[str]: ...
    def __len__(self) -> int: ...

@final
class LocalizeOptions:
    def __new__(
        cls,
        fitter: Fitter,
        camera_map: CameraMap | None,
        *,
        camera: tuple[float, float, float | None, float] | None,
        box_size: int | None,
        false_rate: float,
        threshold: float | None,
        roi: tuple[int, int, int, int] | None,
        drop: list[str],
        keep_all: bool,
        checks: bool,
        errors: bool,
        saturation: float | None,
        calibration: str | PathLike[str] | None,
        psf: str | PathLike[str] | None,
        learns: bool,
        learn_frames: int | None,
        pixel_size: float | None,
        emitters: str,
        sigma: str,
        temporal_background: int | None,
        aperture: float | None,
        pixels: bool,
        camera_from: tuple[str, tuple[float | None, ...], str | None] | None = None,
        frame_time: str | None = None,
    ) -> LocalizeOptions: ...
    @property
    def camera(self) -> tuple[float, float, float | None, float]: ...
    def of_movie(self, movie: MovieFile) -> tuple[LocalizeOptions, list[str]]: ...
    def with_defects(self, defects: Defects) -> LocalizeOptions: ...
    def with_positions(self, positions: Positions) -> LocalizeOptions: ...
    def learnt(
        self, given: Any, *, parts: list[str], chosen: tuple[int | None, int | None, str | None, bool], frames: str | None, idle: float | None
    ) -> tuple[LocalizeOptions, list[str]]: ...
    def notes(self) -> list[str]: ...
    def notes_of(self, frames: int) -> str | None: ...
    def empty(self) -> _Columns: ...

def check_camera(camera: tuple[float, float, float | None, float]) -> None: ...
def frames_for_estimates(height: int, width: int) -> int: ...
def estimates(
    frames: npt.ArrayLike, camera: tuple[float, float, float | None, float]
) -> tuple[float | None, float | None]: ...
def doubts(frames: npt.ArrayLike, camera: tuple[float, float, float | None, float] | None) -> list[str]: ...
def doubts_of_movie(
    path: str | PathLike[str],
    channel: int | None,
    slice: int | None,
    camera: tuple[float, float, float | None, float] | None,
    parts: list[str] = ...,
    position: str | None = None,
) -> list[str]: ...
def unusual_pixels(pixel_size: float) -> str | None: ...

@final
class ArrayLocalizer:
    def __new__(cls, options: LocalizeOptions, height: int, width: int, first: int, last: int) -> ArrayLocalizer: ...
    @property
    def frames_ahead(self) -> int: ...
    def look_ahead(self, frames: npt.ArrayLike) -> None: ...
    def finish(self) -> _Columns | None: ...
    def process(self, first: int, frames: npt.ArrayLike) -> _Columns: ...
    def report(self) -> str: ...
    def doubts(self) -> list[str]: ...

@final
class MovieFile:
    def __new__(
        cls,
        path: str | PathLike[str],
        channel: int | None,
        slice: int | None,
        idle: float | None = None,
        strict: bool = False,
        parts: list[str] = ...,
        position: str | None = None,
    ) -> MovieFile: ...
    @property
    def promised(self) -> int | None: ...
    @property
    def info(self) -> Info: ...
    @property
    def pixel_size(self) -> float | None: ...
    @property
    def notes(self) -> list[str]: ...

@final
class MovieLocalizer:
    def __new__(
        cls, options: LocalizeOptions, movie: MovieFile, first: int | None, last: int | None
    ) -> MovieLocalizer: ...
    def next(self) -> tuple[_Columns, int] | None: ...
    def notes(self) -> list[str]: ...
    def report(self) -> str | None: ...
    def doubts(self) -> list[str]: ...

@final
class Preview:
    @staticmethod
    def of_movie(
        options: LocalizeOptions,
        path: str,
        channel: int | None,
        slice: int | None,
        strict: bool,
        parts: list[str],
        frame: int,
        colour_by: str,
        filter: str | None,
        position: str | None = None,
    ) -> Preview: ...
    @staticmethod
    def of_frames(options: LocalizeOptions, frames: Any, frame: int, colour_by: str, filter: str | None) -> Preview: ...
    def kept(self) -> _Columns: ...
    def dropped(self) -> _Columns: ...
    def info(self) -> Info: ...
    def told(self) -> str: ...
    def words(self) -> str: ...
    def svg(self) -> str: ...
    def png(self, scale: float) -> bytes: ...

def read_preset(path: str, known: list[str]) -> list[tuple[str, Any, bool]]: ...
def devices(measure: bool) -> tuple[list[str], list[str], str | None, str]: ...
def info(path: str | PathLike[str]) -> tuple[str, str]: ...
def method(
    options: LocalizeOptions, channel: int | None, slice: int | None, position: str | None = None
) -> tuple[str, str, str]: ...
def record_inputs(
    movie: str | PathLike[str],
    channel: int | None,
    slice: int | None,
    files: list[tuple[str, str]],
    position: str | None = None,
) -> str: ...
def read_record(table: str | PathLike[str]) -> str | None: ...
def unlike(then: str, now: str, movie: str | PathLike[str], files: list[tuple[str, str]]) -> str | None: ...

def write_file(path: str | PathLike[str], content: bytes) -> None: ...

@final
class FileLock:
    @staticmethod
    def take(path: str | PathLike[str]) -> FileLock | None: ...
    def release(self) -> None: ...

@final
class TableFile:
    def __new__(cls, path: str | PathLike[str], record: str, overwrite: bool, picasso: str) -> TableFile: ...
    def write(self, columns: list[Any], info: Info) -> None: ...
    def finish(self, counts: dict[str, int]) -> tuple[int, int]: ...

def read_columns(
    path: str | PathLike[str], columns: list[str], skip: int, by: list[str], error_columns: list[str], x_columns: list[str],
    sheet: str | None, decimal: str | None,
) -> tuple[
    tuple[list[str], list[str]],
    list[str],
    npt.NDArray[np.float64],
    npt.NDArray[np.float64],
    npt.NDArray[np.float64] | None,
    npt.NDArray[np.float64],
    list[str],
]: ...
def read_table(
    path: str | PathLike[str], pixel_size: float | None, first_frame: int | None, origin: str | None, column_names: str | None,
    skip_lines: int, decimal: str | None,
) -> tuple[_Columns, Info, list[str]]: ...
def write_table(path: str | PathLike[str], columns: _Columns, info: Info, overwrite: bool, picasso: int) -> int: ...
def filter_table(condition: str, columns: _Columns, info: Info) -> npt.NDArray[np.bool_]: ...
#: The picture, its shades of grey, its density, and the side of a pixel in nanometres.
_Picture = tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint16] | None, npt.NDArray[np.float32] | None, float | None]

def encode_picture(
    pixels: npt.NDArray[np.uint8], grey: npt.NDArray[np.uint16] | None, *, format: str, nanometres: float | None
) -> bytes: ...
def bands_table(
    model: Model,
    fits: tuple[npt.NDArray[Any], npt.NDArray[Any], list[float], list[int], npt.NDArray[Any]],
    *,
    points: npt.NDArray[Any],
    weights: npt.NDArray[Any] | None,
    rule: str | None,
    level: float,
    absolute: bool,
    estimator: str,
) -> list[npt.NDArray[np.float64]]: ...
def plot_format(path: str | PathLike[str]) -> Literal["svg", "png"]: ...
def draw_drift(drift: list[list[float]], unit: str, format: str) -> bytes: ...
def draw_curves(
    model: Model,
    fits: tuple[list[str], npt.NDArray[Any], npt.NDArray[Any], list[float], list[int], npt.NDArray[Any]],
    data: npt.NDArray[Any],
    *,
    points: npt.NDArray[Any],
    weights: npt.NDArray[Any] | None,
    image: int | None,
    absolute: bool,
    log_x: str,
    log_y: bool,
    format: str,
    bands: tuple[float, npt.NDArray[np.float64] | None] | None = ...,
    rule: str | None = ...,
    estimator: str = ...,
) -> bytes: ...
def simulate(
    count: int,
    *,
    size: tuple[int, int],
    photons: float,
    background: float,
    sigma: tuple[float, float],
    shape: str,
    defocus: tuple[float, float, float],
    profile: str,
    scatter: float,
    reach: float | None,
    noise: str,
    camera: tuple[float, float, float | None, float],
    maps: list[Any] | None,
    seed: int,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float64], npt.NDArray[np.uint32] | None]: ...
def simulate_movie(
    *,
    frame: tuple[int, int, float, float, tuple[float, float, float | None, float], int],
    frames: int,
    spots: float,
    density: float | None,
    pixel_size: float,
    uniform: bool,
    photons: float,
    photons_spread: float,
    sigma: float,
    sigma_spread: float | None,
    look: tuple[str, str, float | None, float | None, float | None],
    objective: tuple[Any, ...] | None,
    on_time: float,
    off_time: float,
    beads: int,
    hot_pixels: int,
    haze: float,
    drift: tuple[float, float],
    drift_z: float | None,
    heights: str | None,
    maps: tuple[list[Any] | None, bool],
) -> tuple[npt.NDArray[np.uint16], tuple[_Columns, Info], _Maps | None, npt.NDArray[np.bool_] | None]: ...
def simulate_beads(
    *,
    frame: tuple[int, int, float, float, tuple[float, float, float | None, float], int],
    step: float,
    range: float,
    beads: int,
    spread: float,
    photons: float,
    sigma: float,
    focus: float | None,
    depth: float | None,
    profile: str,
    objective: tuple[Any, ...] | None,
    pixel_size: float,
    maps: tuple[list[Any] | None, bool],
) -> tuple[npt.NDArray[np.uint16], tuple[_Columns, Info], _Maps | None, npt.NDArray[np.bool_] | None]: ...
def calibrate(
    given: list[Any],
    fitter: Fitter,
    camera_map: CameraMap | None,
    *,
    options: str,
    chosen: tuple[int | None, int | None, str | None, bool],
    camera_from: tuple[str, tuple[float | None, ...], str | None] | None,
) -> tuple[bytes, str, list[bytes], list[str]]: ...
def calibrate_psf(
    given: list[Any],
    camera: tuple[float, float, float | None, float] | None,
    camera_map: CameraMap | None,
    *,
    options: str,
    chosen: tuple[int | None, int | None, str | None, bool],
    camera_from: tuple[str, tuple[float | None, ...], str | None] | None,
) -> tuple[bytes, str, list[bytes], list[str]]: ...
def frames_to_learn(first: int, last: int, height: int, width: int, learn_frames: int | None) -> list[tuple[int, int]]: ...
def learn_psf(
    given: Any,
    options: LocalizeOptions,
    *,
    parts: list[str],
    chosen: tuple[int | None, int | None, str | None, bool],
    frames: str | None,
    learn_frames: int | None,
) -> tuple[bytes, str, list[bytes], list[str]]: ...

@final
class MeasuredCamera:
    """What was measured of each pixel of a camera."""

    def array(self, name: str) -> npt.NDArray[np.float64] | None: ...
    @property
    def hot(self) -> npt.NDArray[np.bool_]: ...
    @property
    def dead(self) -> npt.NDArray[np.bool_]: ...
    @property
    def map(self) -> CameraMap | None: ...
    def drawn(self, format: str) -> bytes: ...
    def file(self, npz: bool) -> bytes: ...

def camera(
    darks: Any, flats: list[Any], *, options: str, chosen: tuple[int | None, int | None, str | None, bool]
) -> tuple[MeasuredCamera, str, list[str]]: ...
def run_step(
    name: str, options: str, tables: list[tuple[str, _Columns, Info]]
) -> tuple[tuple[_Columns, Info] | None, _Picture | None, str, list[str]]: ...
def operations() -> dict[str, str]: ...

@final
class RingWriter:
    """Writes frames into a ring."""

    def __new__(cls, name: str, width: int, height: int, dtype: str, slots: int) -> RingWriter: ...
    def write(self, pixels: npt.NDArray[Any], number: int | None, timestamp: int | None) -> None: ...
    @property
    def written(self) -> int: ...
    def alive(self) -> None: ...
    def close(self) -> None: ...

@final
class RingReader:
    """Reads frames from a ring."""

    def __new__(cls, name: str, timeout: float) -> RingReader: ...
    @property
    def layout(self) -> tuple[int, int, str, int]: ...
    @property
    def counts(self) -> tuple[int, int, int, int]: ...
    def read(self) -> tuple[int, int, npt.NDArray[Any]] | None: ...

def ring_now() -> int: ...

_Drift = tuple[
    int, float | None, float, float, float | None, float, float, float | None, int, int, str, float
]

@final
class TrackOptions:
    """How drift is followed."""

    def __new__(
        cls,
        fitter: Fitter,
        camera_map: CameraMap | None,
        *,
        camera: tuple[float, float, float | None, float] | None,
        camera_from: tuple[str, tuple[float | None, ...], str | None] | None,
        beads: int,
        beads_at: list[list[float]] | None,
        beads_file: str | None,
        false_rate: float,
        reach: int,
        patience: int,
        smooth: str,
        smooth_frames: float,
        wander: float | None,
        rotation: bool,
        scale: bool,
        pixel_size: float | None,
        pixels: bool,
        calibration: str | PathLike[str] | None,
        psf: str | PathLike[str] | None,
        box_size: int | None,
        stop_after: int | None,
    ) -> TrackOptions: ...

@final
class Tracker:
    """Follows the drift of frames that Python has."""

    def __new__(cls, reference: npt.NDArray[Any], options: TrackOptions) -> Tracker: ...
    def notes(self) -> list[str]: ...
    def update(self, frame: npt.NDArray[Any], time: float) -> _Drift: ...
    def beads(self) -> list[list[float]]: ...

def track(
    name: str | None,
    frames: npt.NDArray[Any] | None,
    options: TrackOptions,
    *,
    chosen: tuple[int | None, int | None, str | None, bool],
    rate: float | None,
    idle: float,
    udp: str | None,
    ring_out: str | None,
    callback: Any,
) -> tuple[_Columns, str, float | None, str, list[str]]: ...
