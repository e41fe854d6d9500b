"""Drift and pictures of localizations."""

from __future__ import annotations

import os
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit
from ._locs import Locs

if TYPE_CHECKING:
    Doubles = npt.NDArray[np.float64]

Blur = Literal["uncertainty", "average", "histogram"]
Colours = Literal["inferno", "magma", "viridis", "grey", "turbo", "sinebow"]


class Drift(NamedTuple):
    """How far everything had moved in each frame.

    Attributes
    ----------
    x, y : array (frames,)
        In the unit of the localizations.
    z : array (frames,) or (0,)
        In nanometres, if the localizations have heights.
    """

    x: Doubles
    y: Doubles
    z: Doubles

    def correct(self, locs: Locs) -> Locs:
        """The localizations without the drift. After the last frame the drift is that of the last."""
        if not len(self.x):
            return locs
        given = np.asarray(locs["frame"], dtype=float)
        # A negative number would count from the end.
        wrong = np.flatnonzero(~((given >= 0) & (np.trunc(given) == given) & np.isfinite(given)))
        if len(wrong):
            raise ValueError(f"frame must be whole numbers from 0: row {wrong[0]} has {given[wrong[0]]:g}")
        frames = np.minimum(given, len(self.x) - 1).astype(np.int64)
        for name, drift in zip(self._fields, self, strict=True):
            if len(drift) and name in locs.names:
                locs = locs.with_column(name, locs[name] - drift[frames])
        return locs


def find_drift(
    locs: Locs,
    *,
    frames: int | None = None,
    range: float | None = None,
    segment: int | None = None,
    knots: int | None = None,
) -> Drift:
    """Finds the drift of localizations from themselves.

    Parameters
    ----------
    locs : Locs
        The localizations.
    frames : int, optional
        The number of frames. Default: that of the movie, or of the last localization.
    range : float, optional
        The largest drift between two segments that is looked for, in the unit of x. Default: a hundred times the
        uncertainty.
    segment : int, optional
        Frames of a segment of the first comparison.
    knots : int, optional
        Frames between two knots of the curve.

    Returns
    -------
    Drift
        ``drift.correct(locs)`` takes it out.
    """
    _check(locs)
    frame = np.asarray(locs["frame"], dtype=float)
    last = int(np.nanmax(frame, initial=-1)) + 1
    count = max(last, locs.movie.frames or 0) if frames is None else arguments.whole("frames", frames, 2**32 - 1)
    nanometres = locs.units["x"] == "nm"
    # Without uncertainties: those of ordinary single-molecule images.
    precision = _usual(locs, "uncertainty") or (15.0 if nanometres else 0.15)
    height = 3 * (precision if nanometres else precision * (locs.movie.pixel_size or 100.0))
    z = locs["z"] if "z" in locs.names and np.isfinite(locs["z"]).any() else None
    whole = [None if n is None else arguments.whole(name, n, 2**32 - 1) for name, n in (("segment", segment), ("knots", knots))]
    found = _spotfit.find_drift(
        frame, locs["x"], locs["y"], z,
        frames=count,
        precision=(precision, _usual(locs, "uncertainty_z") or height),
        range=range,
        segment=whole[0],
        knots=whole[1],
    )  # fmt: skip
    return Drift(*found)


class Picture(NamedTuple):
    """A picture of localizations.

    Attributes
    ----------
    pixels : array (height, width, 3) of uint8
        Red, green and blue.
    extent : (float, float, float, float)
        Left, right, bottom and top edge in the unit of the localizations, as ``matplotlib.pyplot.imshow`` takes them.
    pixel : float
        Side of a pixel in the unit of the localizations.
    file : bytes
        The picture as a PNG file.
    """

    pixels: npt.NDArray[np.uint8]
    extent: tuple[float, float, float, float]
    pixel: float
    file: bytes

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the picture as a PNG file. It is there under its name only when it is complete."""
        part = f"{fspath(path)}.{os.getpid()}.part"
        try:
            with open(part, "wb") as file:
                file.write(self.file)
            os.replace(part, path)
        except OSError:
            if os.path.exists(part):
                os.remove(part)
            raise


def render(
    locs: Locs,
    *,
    pixel: float | None = None,
    blur: Blur | float = "uncertainty",
    colours: Colours | None = None,
    value: str | None = None,
    limits: tuple[float, float] | None = None,
    extent: tuple[float, float, float, float] | None = None,
    saturated: float | None = None,
    gamma: float = 1.0,
    most_pixels: int = 1 << 26,
) -> Picture:
    """Draws every localization as a Gaussian as wide as its uncertainty.

    Parameters
    ----------
    locs : Locs
        The localizations.
    pixel : float, optional
        Side of a pixel of the picture in the unit of the localizations. Default: a round length that suits them.
    blur : {"uncertainty", "average", "histogram"} or float
        How wide the Gaussians are: each as its uncertainty, all as the median, none, or all of this width.
    colours : {"inferno", "magma", "viridis", "grey", "turbo", "sinebow"}, optional
        The colours of density, by default "inferno"; or of `value`, by default "turbo".
    value : str, optional
        The column that the colours show, such as "z"; the brightness is the density then.
    limits : (float, float), optional
        The values with the first and the last colour. Default: the first and the last percent.
    extent : (float, float, float, float), optional
        Left, top, right and bottom edge in the unit of the localizations.
    saturated : float, optional
        The share of the lit pixels that is as bright as can be.
    gamma : float
        Below 1 what is faint becomes brighter.
    most_pixels : int
        The most pixels that the picture may have.

    Returns
    -------
    Picture
    """
    _check(locs)
    kind, width = (blur, 0.0) if isinstance(blur, str) else ("fixed", arguments.number("blur", blur))
    if not isinstance(value, (str, type(None))):
        raise TypeError(f"value must be the name of a column, not {type(value).__name__}")
    shown = None if value is None else locs[value]
    if shown is not None and limits is None:
        finite = shown[np.isfinite(shown)]
        limits = (0.0, 1.0) if not len(finite) else tuple(np.percentile(finite, (1, 99)).tolist())
    low, high = arguments.pair("limits", limits) if limits is not None else (0.0, 1.0)
    unit = {"nm": 1.0, "px": locs.movie.pixel_size}.get(locs.units["x"])
    pixels, (left, top, side), file = _spotfit.render(
        locs["x"], locs["y"], _uncertainty(locs), shown,
        pixel=pixel,
        blur=kind,
        width=width,
        colours=colours or ("inferno" if shown is None else "turbo"),
        low=low,
        high=high,
        extent=None if extent is None else list(extent),
        saturated=saturated,
        gamma=gamma,
        most_pixels=arguments.whole("most_pixels", most_pixels),
        png=True,
        nanometres=unit,
    )  # fmt: skip
    height, columns, _ = pixels.shape
    return Picture(pixels, (left, left + columns * side, top + height * side, top), side, file)


def _check(locs: Locs) -> None:
    if not isinstance(locs, Locs):
        raise TypeError(f"locs must be spotfit.Locs, not {type(locs).__name__}")


def _uncertainty(locs: Locs) -> npt.NDArray[Any] | None:
    if "uncertainty" in locs.names:
        return cast("npt.NDArray[Any]", locs["uncertainty"])
    if {"uncertainty_x", "uncertainty_y"} <= set(locs.names):
        return cast("npt.NDArray[Any]", np.sqrt((locs["uncertainty_x"] ** 2 + locs["uncertainty_y"] ** 2) / 2))
    return None


def _usual(locs: Locs, name: str) -> float | None:
    """The median of what is positive."""
    values = _uncertainty(locs) if name == "uncertainty" else locs[name] if name in locs.names else None
    if values is None:
        return None
    good = values[np.isfinite(values) & (values > 0)]
    return float(np.median(good)) if len(good) else None
