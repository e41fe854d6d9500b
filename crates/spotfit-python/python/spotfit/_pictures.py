"""Drift and pictures of localizations."""

from __future__ import annotations

import os
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit
from ._locs import Locs

if TYPE_CHECKING:
    Doubles = npt.NDArray[np.float64]

Blur = Literal["uncertainty", "average", "histogram"]
Colours = Literal["inferno", "magma", "viridis", "grey", "turbo", "sinebow"]

#: The columns of uncertainties of x and y.
_UNCERTAINTIES = ("uncertainty", "uncertainty_x", "uncertainty_y")
#: An error that is not known.
_UNKNOWN: Doubles = np.empty(0)


class Drift(NamedTuple):
    """How far everything had moved in each frame.

    Attributes
    ----------
    x, y : array (frames,)
        In the unit of the localizations.
    z : array (frames,) or (0,)
        In nanometres, if the localizations have heights.
    x_error, y_error, z_error : array (frames,) or (0,)
        Standard errors of the drift less its mean: where the whole picture lies is no question of drift. Empty if they
        are not known.
    """

    x: Doubles
    y: Doubles
    z: Doubles
    x_error: Doubles = _UNKNOWN
    y_error: Doubles = _UNKNOWN
    z_error: Doubles = _UNKNOWN

    def correct(self, locs: Locs, *, with_error: bool = False) -> Locs:
        """The localizations without the drift. After the last frame the drift, and its error, are those of the last.

        Parameters
        ----------
        locs : Locs
            The localizations, in the unit of the drift.
        with_error : bool
            Whether the error of the drift is added to the uncertainties, as independent errors add up.
        """
        parts = {"x": (self.x, self.x_error), "y": (self.y, self.y_error), "z": (self.z, self.z_error)}
        if with_error:
            if not set(_UNCERTAINTIES) & set(locs.names):
                raise ValueError("there is no column 'uncertainty' to which an error can be added")
            for name, (drift, error) in parts.items():
                if len(drift) and not len(error):
                    raise ValueError(f"the errors of the drift are not known: {name}_error is empty")
        if not len(self.x):
            return locs
        given = np.asarray(locs["frame"], dtype=float)
        # A negative number would count from the end.
        wrong = np.flatnonzero(~((given >= 0) & (np.trunc(given) == given) & np.isfinite(given)))
        if len(wrong):
            raise ValueError(f"frame must be whole numbers from 0: row {wrong[0]} has {given[wrong[0]]:g}")
        frames = np.minimum(given, len(self.x) - 1).astype(np.int64)
        for name, (drift, _) in parts.items():
            if len(drift) and name in locs.names:
                locs = locs.with_column(name, locs[name] - drift[frames])
        if not with_error:
            return locs
        both = np.sqrt((self.x_error**2 + self.y_error**2) / 2)
        for name, error in zip(_UNCERTAINTIES, (both, self.x_error, self.y_error), strict=True):
            if name in locs.names:
                scale = _scale(locs, locs.units.get("x", ""), locs.units[name])
                locs = locs.with_column(name, np.hypot(locs[name], scale * error[frames]))
        if len(self.z_error) and "uncertainty_z" in locs.names:
            locs = locs.with_column("uncertainty_z", np.hypot(locs["uncertainty_z"], self.z_error[frames]))
        return locs


def find_drift(
    locs: Locs,
    *,
    frames: int | None = None,
    range: float | None = None,
    segment: int | None = None,
    knots: int | None = None,
    anyway: bool = False,
) -> Drift:
    """Finds the drift of localizations from themselves.

    Parameters
    ----------
    locs : Locs
        The localizations.
    frames : int, optional
        The number of frames. Default: that of the movie, or of the last localization.
    range : float, optional
        The largest drift between two segments that is looked for, in the unit of x. Default: a hundred times the median
        uncertainty, and at least 500 nm (5 pixels if their size is not known).
    segment : int, optional
        Frames of a segment of the first comparison, such that there are 2 to 64 of them. Default: chosen by the number
        of localizations.
    knots : int, optional
        Frames between two knots of the curve, such that it has 2 to 2048 intervals. Default: as short as the data ask
        for.
    anyway : bool
        Whether drift is taken that cannot be told from chance, which is a ``ValueError`` otherwise.

    Returns
    -------
    Drift
        ``drift.correct(locs)`` takes it out. It has its standard errors.
    """
    _check(locs)
    frame = np.asarray(locs["frame"], dtype=float)
    if np.isinf(frame).any():
        raise ValueError("frame must be whole numbers from 0")
    last = int(np.nanmax(frame, initial=-1)) + 1
    count = max(last, locs.movie.frames or 0) if frames is None else arguments.whole("frames", frames, 2**32 - 1)
    nanometres = locs.units["x"] == "nm"
    # Without uncertainties: those of ordinary single-molecule images.
    precision = _usual(locs, "uncertainty") or (15.0 if nanometres else 0.15)
    pixel = 1.0 if nanometres else locs.movie.pixel_size or 100.0
    if range is None:
        # However small the uncertainties are, a stage does not know them; no wider than Rust takes it.
        range = min(max(100 * precision, 500 / pixel), 1e4 * precision)
    z = locs["z"] if "z" in locs.names and np.isfinite(locs["z"]).any() else None
    whole = [None if n is None else arguments.whole(name, n, 2**32 - 1) for name, n in (("segment", segment), ("knots", knots))]
    found = _spotfit.find_drift(
        frame, locs["x"], locs["y"], z, _uncertainty(locs), locs["uncertainty_z"] if "uncertainty_z" in locs.names else None,
        frames=count,
        precision=(precision, _usual(locs, "uncertainty_z") or 3 * precision * pixel),
        range=range,
        segment=whole[0],
        knots=whole[1],
        anyway=anyway,
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
    """That of x and y, in their unit."""

    def of(name: str) -> npt.NDArray[Any]:
        scale = _scale(locs, locs.units[name], locs.units.get("x", ""))
        values: npt.NDArray[Any] = locs[name] if scale == 1 else scale * locs[name]
        return values

    if "uncertainty" in locs.names:
        return of("uncertainty")
    if {"uncertainty_x", "uncertainty_y"} <= set(locs.names):
        both: npt.NDArray[Any] = np.sqrt((of("uncertainty_x") ** 2 + of("uncertainty_y") ** 2) / 2)
        return both
    return None


def _scale(locs: Locs, found: str, needed: str) -> float:
    """What a length in one unit is multiplied by to be in the other."""
    # A column that was set without a unit has that of the others.
    if {found, needed} != {"px", "nm"}:
        return 1.0
    size = locs.movie.pixel_size
    if size is None:
        raise ValueError("the size of a pixel is not known: with_pixel_size tells it")
    return size if needed == "nm" else 1 / size


def _usual(locs: Locs, name: str) -> float | None:
    """The median of what is positive."""
    values = _uncertainty(locs) if name == "uncertainty" else locs[name] if name in locs.names else None
    if values is None:
        return None
    good = values[np.isfinite(values) & (values > 0)]
    return float(np.median(good)) if len(good) else None
