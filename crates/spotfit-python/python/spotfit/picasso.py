"""Spotfit in place of the Gaussian fits of Picasso (picassosr 0.11 to 1.0).

``install()`` puts `fit_spots` and `fit_spots_async` where Picasso's own stand, so that its windows, its command and
``picasso.localize`` use them; ``uninstall()`` takes them out again. `fit` does it for one call. Results come back as Picasso's own.

Served are the Gaussian methods on the CPU: ``gausslq`` and ``gaussmle``, also ``-spherical`` and ``-rotated``. Picasso goes on to do
itself what these two functions do not: methods that end in ``-gpu``, ``spline``, ``avg``, several channels, and the
modules ``picasso.gausslq`` and ``picasso.gaussmle``.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast, overload

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from ._fit import fit_quietly
from ._fits import Status
from ._spotfit import CameraMap

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["AsyncFit", "fit", "fit_spots", "fit_spots_async", "install", "uninstall"]

#: Parameters, χ², states and iterations.
Results = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int32], npt.NDArray[np.int32]]


class Tracker(Protocol):
    """What follows progress in Picasso 1.0: ``picasso.lib.Progress``."""

    def zero_progress(self, description: str | None = None, unit: str | None = None) -> None:
        """Begins a phase."""

    def setMaximum(self, maximum: int) -> None:
        """Says how many spots there are."""

    def set_value(self, value: int) -> None:
        """Says how many are fitted."""


Progress = Tracker | Callable[[int], object] | Literal["console"] | None

#: So many spots are fitted between two looks at who follows them, and who wants them to end.
_BLOCK = 1 << 15

#: Picasso's models by their numbers: our shape, and where amplitude, x, y, sigma_x, sigma_y, background and angle stand.
_MODELS: dict[int, tuple[Literal["circular", "elliptical", "rotated"], tuple[str, ...]]] = {
    0: ("circular", ("amplitude", "x", "y", "sigma", "background")),
    1: ("elliptical", ("amplitude", "x", "y", "sigma_x", "sigma_y", "background")),
    2: ("rotated", ("amplitude", "x", "y", "sigma_x", "sigma_y", "background", "angle")),
}
#: Picasso's states: converged, out of iterations, and a singular Hessian for what has no answer.
_STATES = np.zeros(len(Status) + 1, np.int32)
_STATES[[Status.at_limit, Status.max_iterations]] = 1
_STATES[[Status.not_converged, Status.invalid]] = 2


@overload
def fit_spots(
    model: int,
    spots: npt.ArrayLike,
    initial_parameters: npt.ArrayLike,
    mle: bool = False,
    tolerance: float | None = None,
    max_iterations: int | None = None,
    progress: Progress = None,
    variance: npt.ArrayLike | None = None,
    abort_callback: None = None,
    *,
    progress_callback: Progress = None,
) -> Results: ...
@overload
def fit_spots(
    model: int,
    spots: npt.ArrayLike,
    initial_parameters: npt.ArrayLike,
    mle: bool = False,
    tolerance: float | None = None,
    max_iterations: int | None = None,
    progress: Progress = None,
    variance: npt.ArrayLike | None = None,
    abort_callback: Callable[[], bool] | None = None,
    *,
    progress_callback: Progress = None,
) -> Results | None: ...
def fit_spots(
    model: int,
    spots: npt.ArrayLike,
    initial_parameters: npt.ArrayLike,
    mle: bool = False,
    tolerance: float | None = None,
    max_iterations: int | None = None,
    progress: Progress = None,
    variance: npt.ArrayLike | None = None,
    abort_callback: Callable[[], bool] | None = None,
    *,
    progress_callback: Progress = None,
) -> Results | None:
    """Fits windows as ``picasso.fitting.gaussfit.fit_spots`` does, with the same arguments and results.

    Parameters
    ----------
    model : int
        0, 1 or 2: spherical, elliptic, rotated.
    spots : array_like (n, box, box)
        Windows in photo-electrons.
    initial_parameters : array_like (n, parameters)
        Where to start: amplitude, x, y, sigma or sigma_x and sigma_y, background, and for rotated spots the angle.
    mle : bool
        Maximum likelihood in place of least squares.
    tolerance, max_iterations : optional
        Picasso's. They are not used: fits end by Spotfit's criteria, nearer to the minimum.
    progress : picasso.lib.Progress, callable or "console", optional
        Told how many spots are fitted, after every 32768 of them and at the end. A callable gets the number.
    variance : array_like (n, box, box), optional
        Variance of the read noise of each pixel in photo-electrons squared, for maximum likelihood.
    abort_callback : callable, optional
        Asked before every 32768 spots whether the fits are to end.
    progress_callback : optional
        What Picasso 0.11 calls `progress`.

    Returns
    -------
    parameters : array (n, parameters)
        In the order of `initial_parameters`; NaN where there is nothing to fit.
    chi_squares : array (n,)
        The sum of squares, or the deviance.
    states : array (n,) of int32
        0: converged; 1: out of iterations, or at a limit; 2: no answer.
    iterations : array (n,) of int32
        Steps taken.
    None
        In place of all these, if `abort_callback` ended the fits.
    """
    work = _Work(model, spots, initial_parameters, mle, variance)
    with closing(_Told(progress if progress_callback is None else progress_callback, work.count)) as told:
        for start in range(0, work.count, _BLOCK):
            if abort_callback is not None and abort_callback():
                return None
            told.say(work.fit(start))
    return work.results


def fit_spots_async(
    model: int,
    spots: npt.ArrayLike,
    initial_parameters: npt.ArrayLike,
    mle: bool = False,
    tolerance: float | None = None,
    max_iterations: int | None = None,
    n_threads: int | None = None,
    variance: npt.ArrayLike | None = None,
) -> AsyncFit:
    """Begins to fit windows as ``picasso.fitting.gaussfit.fit_spots_async`` does, and returns at once.

    Parameters
    ----------
    model, spots, initial_parameters, mle, tolerance, max_iterations, variance
        Those of `fit_spots`.
    n_threads : int, optional
        The threads that fit. Default: one for each processor.

    Returns
    -------
    AsyncFit
        Tells how far the fits are, ends them, and has their results.
    """
    return AsyncFit(_Work(model, spots, initial_parameters, mle, variance, n_threads))


class AsyncFit:
    """Fits that go on in the background, with what ``picasso.fitting.splinefit.AsyncFit`` has.

    Attributes
    ----------
    current, done : list of int
        One number: the spots that are fitted.
    theta, chi_squares, states, iterations : arrays
        What `results` gives.
    futures : list
        The one that stands for the fits.
    stop_flag : array of uint8
        One number: other than 0 it ends the fits.
    """

    def __init__(self, work: _Work) -> None:
        self.done = [0]
        self.current = self.done
        self.theta, self.chi_squares, self.states, self.iterations = work.results
        self.stop_flag = np.zeros(1, np.uint8)
        self.futures: list[Future[None]] = []
        executor = ThreadPoolExecutor(1, thread_name_prefix="spotfit")
        self.futures.append(executor.submit(self._run, work))
        executor.shutdown(wait=False)

    def _run(self, work: _Work) -> None:
        for start in range(0, work.count, _BLOCK):
            if self.stop_flag[0]:
                return
            self.done[0] = work.fit(start)

    @property
    def n_done(self) -> int:
        """How many spots are fitted."""
        return self.done[0]

    def results(self) -> Results:
        """Parameters, χ², states and iterations, as of `fit_spots`. They are whole when `finished` says so."""
        return self.theta, self.chi_squares, self.states, self.iterations

    def stop(self) -> None:
        """Ends the fits after the 32768 spots at which they are."""
        self.stop_flag[0] = 1

    def finished(self) -> bool:
        """Whether nothing is fitted any more."""
        return all(future.done() for future in self.futures)

    def raise_errors(self) -> None:
        """Raises the exception that ended the fits, if one did."""
        for future in self.futures:
            if future.done():
                future.result()


class _Work:
    """Windows that are fitted block by block, and what came of it."""

    def __init__(
        self,
        model: int,
        spots: npt.ArrayLike,
        initial_parameters: npt.ArrayLike,
        mle: bool,
        variance: npt.ArrayLike | None,
        threads: int | None = None,
    ) -> None:
        if model not in _MODELS:
            raise ValueError(f"model = {model} is not 0 (spherical), 1 (elliptic) or 2 (rotated)")
        shape, self.names = _MODELS[model]
        self.windows = np.asarray(arguments.unmasked("spots", spots), dtype=np.float32)
        if self.windows.ndim != 3:
            raise ValueError(f"spots must have the shape (n, box, box), not {self.windows.shape}")
        self.count = len(self.windows)
        start = np.asarray(arguments.unmasked("initial_parameters", initial_parameters), dtype=float)
        expected = (self.count, len(self.names))
        if start.shape != expected:
            raise ValueError(f"initial_parameters must have the shape {expected}, not {start.shape}")
        of = dict(zip(self.names, start.T, strict=True))
        # Picasso turns from x against y.
        angle = -of["angle"] if shape == "rotated" else np.zeros(self.count)
        sides = [of["sigma"]] * 2 if shape == "circular" else [of["sigma_x"], of["sigma_y"]]
        self.outline = np.stack([of["x"], of["y"], *sides, angle], axis=1)
        arguments.unmasked("variance", variance)
        self.variance = None if variance is None or not mle else np.asarray(variance, dtype=np.float32)
        if self.variance is not None and self.variance.shape != self.windows.shape:
            raise ValueError(f"variance must have the shape of spots, {self.windows.shape}, not {self.variance.shape}")
        self.options: dict[str, Any] = {"shape": shape, "estimator": "mle" if mle else "lse"}
        if threads is not None:
            self.options["threads"] = max(1, arguments.whole("n_threads", threads))
        n = self.count
        self.results: Results = np.full(expected, np.nan), np.full(n, np.nan), np.full(n, 2, np.int32), np.zeros(n, np.int32)

    def fit(self, start: int) -> int:
        """Fits a block; the end of it."""
        end = min(start + _BLOCK, self.count)
        part = slice(start, end)
        noise: dict[str, Any] = {}
        if self.variance is not None:
            noise["camera"], noise["corners"] = _noise(self.variance[part])
        fits = fit_quietly(self.windows[part], start=self.outline[part], dtype="float64", **noise, **self.options)
        parameters, chi_squares, states, iterations = self.results
        for column, name in enumerate(self.names):
            values = getattr(fits, name)
            parameters[part, column] = -values if name == "angle" else values
        chi_squares[part], states[part], iterations[part] = fits.chi2, _STATES[fits.status], fits.iterations
        return end


def _noise(variance: npt.NDArray[np.float32]) -> tuple[CameraMap, npt.NDArray[np.int64]]:
    """The variance of each window as a map of a camera in which the windows lie below each other, and where each lies."""
    count, height, width = variance.shape
    flat = variance.reshape(count * height, width)
    corners = np.stack([np.zeros(count, np.int64), np.arange(count) * height], axis=1)
    return CameraMap(np.zeros_like(flat), np.ones_like(flat), flat), corners


class _Told:
    """Tells whoever follows the fits how many are done."""

    def __init__(self, progress: Progress, count: int) -> None:
        self._bar: Any = None
        self.say: Callable[[int], object] = lambda _: None
        if progress == "console":
            # Picasso's own needs it too.
            from tqdm import tqdm

            self._bar = tqdm(total=count, desc="Fitting spots", unit="spot")
            self.say = lambda done: self._bar.update(done - self._bar.n)
        elif hasattr(progress, "set_value"):
            tracker = cast(Tracker, progress)
            tracker.zero_progress("Fitting spots", unit="spot")
            tracker.setMaximum(count)
            tracker.set_value(0)
            self.say = tracker.set_value
        elif callable(progress):
            self.say = progress
        elif progress is not None:
            raise TypeError(f"progress must be a function, a tracker of Picasso or 'console', not {progress!r}")

    def close(self) -> None:
        """Ends what was begun here."""
        if self._bar is not None:
            self._bar.close()


_lock = threading.RLock()
_SERVED: dict[str, Callable[..., Any]] = {"fit_spots": fit_spots, "fit_spots_async": fit_spots_async}
#: Picasso's own.
_own: dict[str, Callable[..., Any]] = {}


def install() -> None:
    """Puts `fit_spots` and `fit_spots_async` in the place of Picasso's own. Once is enough.

    Raises
    ------
    ImportError
        If Picasso is not there, or is a version that cannot be served: it says what is missing, or not known.
    """
    with _lock:
        gaussfit = _gaussfit()
        for name, ours in _SERVED.items():
            own = getattr(gaussfit, name)
            if own is not ours:
                _own[name] = own
                setattr(gaussfit, name, ours)


def uninstall() -> None:
    """Puts Picasso's own functions back. It is no error if they are there."""
    with _lock:
        if _own:
            from picasso.fitting import gaussfit

            for name, own in _own.items():
                setattr(gaussfit, name, own)
            _own.clear()


def _gaussfit() -> ModuleType:
    """Picasso's module with the Gaussian fits, if it is one that can be served."""
    try:
        import picasso
    except ModuleNotFoundError as error:
        if error.name != "picasso":
            raise
        raise ImportError("Picasso is not installed: pip install picassosr") from None
    version = f"Picasso {getattr(picasso, '__version__', '(version unknown)')} is not served:"
    try:
        gaussfit = import_module("picasso.fitting.gaussfit")
    except ModuleNotFoundError as error:
        if error.name not in ("picasso.fitting", "picasso.fitting.gaussfit"):
            raise
        raise ImportError(f"{version} it has no picasso.fitting.gaussfit, as those from 0.11 on") from None
    for name, ours in _SERVED.items():
        theirs = getattr(gaussfit, name, None)
        if theirs is None:
            raise ImportError(f"{version} its picasso.fitting.gaussfit has no {name}")
        known, asked = inspect.signature(ours).parameters, inspect.signature(theirs).parameters
        others = [parameter for parameter in asked if parameter not in known]
        if others:
            raise ImportError(f"{version} its {name} has arguments that are not known here: {', '.join(others)}")
    return gaussfit


def fit(movie: Any, **options: Any) -> tuple[Any, Any]:
    """Fits the spots of a movie as ``picasso.localize.fit`` does, with Spotfit's fits.

    Parameters
    ----------
    movie
        A movie of ``picasso.io.load_movie``.
    **options
        Those of ``picasso.localize.fit``: `camera_info`, `identifications`, `box`, `fitting_method`, `eps`, `max_it`,
        `camera_calibration` and others; `progress_callback` of Picasso 0.11, `progress` and `abort_callback` of 1.0.

    Returns
    -------
    locs : pandas.DataFrame
        As Picasso makes it: in pixels before 1.0, and in nanometres from then on.
    info : dict or list
        As Picasso makes it.

    Raises
    ------
    ImportError
        As `install`.
    ValueError
        If `fitting_method` is not served: it names those that are.
    """
    method = options.get("fitting_method", "gausslq")
    first, *others = str(method).split("-")
    if first not in ("gausslq", "gaussmle") or "gpu" in others:
        raise ValueError(
            f"fitting_method = {method!r} is not one that Spotfit serves: gausslq or gaussmle, alone or with -spherical or "
            "-rotated; picasso.localize.fit has the others"
        )
    with _lock:
        gaussfit = _gaussfit()
        was = gaussfit.fit_spots is fit_spots
        install()
        try:
            from picasso import localize

            locs, info = localize.fit(movie, **options)
        finally:
            if not was:
                uninstall()
    return locs, info
