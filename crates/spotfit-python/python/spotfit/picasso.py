"""Spotfit in place of the Gaussian fits of Picasso (picassosr 0.11).

``install()`` puts `fit_spots` where Picasso's own stands, so that its windows, its command and ``picasso.localize`` use it;
``uninstall()`` takes it out again. `fit` does it for one call. Results come back as Picasso's own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from ._fit import fit as _fit
from ._fits import Status
from ._spotfit import CameraMap

__all__ = ["fit", "fit_spots", "install", "uninstall"]

Progress = Callable[[int], object] | Literal["console"] | None

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


def fit_spots(
    model: int,
    spots: npt.ArrayLike,
    initial_parameters: npt.ArrayLike,
    mle: bool = False,
    tolerance: float | None = None,
    max_iterations: int | None = None,
    progress_callback: Progress = None,
    variance: npt.ArrayLike | None = None,
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
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
    progress_callback : callable or "console", optional
        Called once, with the number of spots, when all are fitted.
    variance : array_like (n, box, box), optional
        Variance of the read noise of each pixel in photo-electrons squared, for maximum likelihood.

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
    """
    if model not in _MODELS:
        raise ValueError(f"model = {model} is not 0 (spherical), 1 (elliptic) or 2 (rotated)")
    shape, names = _MODELS[model]
    windows = np.asarray(arguments.unmasked("spots", spots), dtype=np.float32)
    if windows.ndim != 3:
        raise ValueError(f"spots must have the shape (n, box, box), not {windows.shape}")
    start = np.asarray(arguments.unmasked("initial_parameters", initial_parameters), dtype=float)
    if start.shape != (len(windows), len(names)):
        raise ValueError(f"initial_parameters must have the shape {(len(windows), len(names))}, not {start.shape}")
    of = dict(zip(names, start.T, strict=True))
    # Picasso turns from x against y.
    angle = -of["angle"] if shape == "rotated" else np.zeros(len(windows))
    sides = [of["sigma"]] * 2 if shape == "circular" else [of["sigma_x"], of["sigma_y"]]
    outline = np.stack([of["x"], of["y"], *sides, angle], axis=1)
    arguments.unmasked("variance", variance)
    noise = None if variance is None or not mle else _noise(np.asarray(variance, dtype=np.float32), windows.shape)
    fits = _fit(
        windows,
        start=outline,
        corners=None if noise is None else noise[1],
        camera=None if noise is None else noise[0],
        shape=shape,
        estimator="mle" if mle else "lse",
        dtype="float64",
    )
    found = np.stack([getattr(fits, name) for name in names], axis=1).astype(float)
    if shape == "rotated":
        found[:, -1] *= -1
    if callable(progress_callback):
        progress_callback(len(windows))
    return found, fits.chi2.astype(float), _STATES[fits.status], fits.iterations.astype(np.int32)


def _noise(variance: npt.NDArray[np.float32], shape: tuple[int, ...]) -> tuple[CameraMap, Any] | None:
    """The variance of each window as a map of a camera in which the windows lie below each other."""
    if variance.shape != shape:
        raise ValueError(f"variance must have the shape of spots, {shape}, not {variance.shape}")
    if not len(variance):
        return None
    count, height, width = shape
    flat = variance.reshape(count * height, width)
    corners = np.stack([np.zeros(count, np.int64), np.arange(count) * height], axis=1)
    return CameraMap(np.zeros_like(flat), np.ones_like(flat), flat), corners


_lock = threading.RLock()
_own: list[Any] = []


def install() -> None:
    """Puts `fit_spots` in the place of Picasso's own. Once is enough.

    Raises
    ------
    ImportError
        If Picasso is not there, or has no such function.
    """
    from picasso.fitting import gaussfit

    with _lock:
        if gaussfit.fit_spots is not fit_spots:
            _own.append(gaussfit.fit_spots)
            gaussfit.fit_spots = fit_spots


def uninstall() -> None:
    """Puts Picasso's own function back. It is no error if it is there."""
    with _lock:
        if _own:
            from picasso.fitting import gaussfit

            gaussfit.fit_spots = _own.pop()


def fit(movie: Any, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Fits the spots of a movie as ``picasso.localize.fit`` does, with Spotfit's fits.

    Parameters
    ----------
    movie
        A movie of ``picasso.io.load_movie``.
    **options
        Those of ``picasso.localize.fit``: `camera_info`, `identifications`, `box`, `fitting_method`, `eps`, `max_it`,
        `camera_calibration`, `progress_callback` and others.

    Returns
    -------
    locs : pandas.DataFrame
        As Picasso makes it.
    info : dict
        As Picasso makes it.
    """
    from picasso import localize
    from picasso.fitting import gaussfit

    with _lock:
        was = gaussfit.fit_spots is fit_spots
        install()
        try:
            locs, info = localize.fit(movie, **options)
        finally:
            if not was:
                uninstall()
    return locs, info
