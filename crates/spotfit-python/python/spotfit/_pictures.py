"""Drift and pictures of localizations."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit
from ._frozen import frozen
from ._keywords import takes_former
from ._locs import Locs
from ._warnings import tell

if TYPE_CHECKING:
    from ._options import Blur, ColourMap

Doubles = npt.NDArray[np.float64]

#: The columns of uncertainties of x and y.
_UNCERTAINTIES = ("uncertainty", "uncertainty_x", "uncertainty_y")


def _unknown() -> Doubles:
    """A number of each frame that is not known."""
    return np.empty(0)


@dataclass(frozen=True, eq=False)
class Drift:
    """How far everything had moved in each frame. Arrays cannot be written to; ``dataclasses.replace(drift, x=…)`` makes another one.

    Attributes
    ----------
    x, y : array (frames,)
        In the unit of the drift.
    z : array (frames,) or (0,)
        In nanometres, if the localizations have heights.
    x_error, y_error, z_error : array (frames,) or (0,)
        Standard errors of the drift less its mean: where the whole picture lies is no question of drift. Empty if they
        are not known.
    unit : {"px", "nm", ""}
        The unit of x and y: that of the localizations in which it was found; "" if theirs is not known.
    pixel_size : float or None
        Side of a pixel of these localizations in nanometres, if it is known.

    Examples
    --------
    >>> import numpy as np
    >>> drift = Drift(np.array([0.0, 0.5]), np.array([0.0, -0.2]), unit="px")
    >>> drift.correct(Locs({"frame": [0, 1], "x": [3.0, 3.5], "y": [4.0, 3.8]})).x.tolist()
    [3.0, 3.0]
    """

    x: Doubles
    y: Doubles
    z: Doubles = field(default_factory=_unknown)
    x_error: Doubles = field(default_factory=_unknown)
    y_error: Doubles = field(default_factory=_unknown)
    z_error: Doubles = field(default_factory=_unknown)
    unit: Literal["px", "nm", ""] = "px"
    pixel_size: float | None = None

    def __post_init__(self) -> None:
        for name in ("x", "y", "z", "x_error", "y_error", "z_error"):
            values = np.asarray(arguments.unmasked(name, getattr(self, name)), dtype=float)
            wanted = (len(self.x), 0) if name not in ("x", "y") else (len(self.x),)
            if values.ndim != 1 or len(values) not in wanted:
                raise ValueError(f"{name} must be an array (frames,) with {len(self.x)} frames, not of shape {values.shape}")
            object.__setattr__(self, name, frozen(values))
        if self.unit not in ("px", "nm", ""):
            raise ValueError(f"unit = {self.unit!r} is not one of 'px', 'nm', ''")
        object.__setattr__(self, "pixel_size", arguments.length("pixel_size", self.pixel_size))

    def _in(self, unit: Any, size: float | None) -> Drift:
        """The same in the unit of a table, whose pixels have this side if it is known."""
        if self.unit == unit or not self.unit or not unit:
            return self
        size = self.pixel_size if size is None else size
        if size is None:
            raise ValueError(
                f"the drift is in {self.unit}, the localizations are in {unit}, and the size of a pixel is not known: "
                "with_pixel_size tells it"
            )
        scale = size if unit == "nm" else 1 / size
        lengths = {name: getattr(self, name) * scale for name in ("x", "y", "x_error", "y_error")}
        return replace(self, **lengths, unit=unit)

    def correct(self, locs: Locs, *, with_error: bool = False) -> Locs:
        """The localizations without the drift. After the last frame the drift, and its error, are those of the last.

        Parameters
        ----------
        locs : Locs
            The localizations. Where they have the other unit than the drift, it is converted.
        with_error : bool
            Whether the error of the drift is added to the uncertainties, as independent errors add up.

        Raises
        ------
        ValueError
            If the localizations have the other unit, and neither they nor the drift know the size of a pixel; or if errors are
            to be added that are not known.
        """
        if not isinstance(locs, Locs):
            raise TypeError(f"locs must be spotfit.Locs, not {type(locs).__name__}")
        return self._in(locs.unit, locs.movie.pixel_size)._taken_out(locs, with_error)

    def _taken_out(self, locs: Locs, with_error: bool) -> Locs:
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

    def __repr__(self) -> str:
        told = f"Drift of {len(self.x):,} frames"
        for name, unit in ("x", self.unit), ("y", self.unit), ("z", "nm"):
            values = getattr(self, name)
            if len(values):
                told += f"{':' if name == 'x' else ','} {name} from {values.min():.3g} to {values.max():.3g} {unit}".rstrip()
        return told


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
        ``drift.correct(locs)`` takes it out. It has its standard errors, and the unit of the localizations.
    """
    _check(locs)
    frame = np.asarray(locs["frame"], dtype=float)
    if np.isinf(frame).any():
        raise ValueError("frame must be whole numbers from 0")
    last = int(np.nanmax(frame, initial=-1)) + 1
    count = max(last, locs.movie.frames or 0) if frames is None else arguments.whole("frames", frames, 2**32 - 1)
    nanometres = locs.unit == "nm"
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
    x, y, z, x_error, y_error, z_error = found
    unit: Any = locs.unit
    return Drift(x, y, z, x_error, y_error, z_error, unit=unit, pixel_size=locs.movie.pixel_size)


#: The formats of pictures by the endings of their names.
_FORMATS = {".png": "png", ".tif": "tiff", ".tiff": "tiff"}


@dataclass(frozen=True, eq=False, repr=False)
class Picture:
    """A picture of localizations.

    Attributes
    ----------
    pixels : array (height, width, 3) of uint8
        Red, green and blue; it cannot be written to.
    extent : (float, float, float, float)
        Left, top, right and bottom edge in the unit of the localizations, as `render` takes them.
    pixel : float
        Side of a pixel in the unit of the localizations.
    unit : str
        The unit of the localizations: "px", "nm", or "" if it is not known.
    nanometres : float or None
        Side of a pixel in nanometres, if it is known.
    grey : array (height, width) of uint16 or None
        The shades of a grey picture, finer than those of `pixels`.

    Examples
    --------
    >>> picture = render(Locs({"frame": [0, 0], "x": [3.0, 9.0], "y": [4.0, 1.0]}), pixel=1, blur=0.5, extent=(0, 0, 12, 6))
    >>> picture
    Picture of 6×12 pixels of 1 px: x from 0 to 12, y from 0 to 6
    >>> picture.matplotlib_extent
    (0.0, 12.0, 6.0, 0.0)
    """

    pixels: npt.NDArray[np.uint8]
    extent: tuple[float, float, float, float]
    pixel: float
    unit: str = ""
    nanometres: float | None = None
    grey: npt.NDArray[np.uint16] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pixels", frozen(self.pixels))
        if self.grey is not None:
            object.__setattr__(self, "grey", frozen(self.grey))

    def __reduce__(self) -> Any:
        return Picture, (self.pixels, self.extent, self.pixel, self.unit, self.nanometres, self.grey)

    @property
    def matplotlib_extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top edge: ``matplotlib.pyplot.imshow(picture.pixels, extent=picture.matplotlib_extent)``."""
        left, top, right, bottom = self.extent
        return left, right, bottom, top

    @cached_property
    def file(self) -> bytes:
        """The picture as a PNG file."""
        return self._encoded("png")

    def _encoded(self, format: str) -> bytes:
        return _spotfit.encode_picture(self.pixels, self.grey, format=format, nanometres=self.nanometres)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the picture as a PNG or TIFF file, as the name ends: .png, .tif or .tiff. It is there under its name only when
        it is complete.

        Raises
        ------
        ValueError
            If the name ends in something else.
        OSError
            If the file cannot be written.
        """
        name = fspath(path)
        format = _FORMATS.get(os.path.splitext(name)[1].lower())
        if format is None:
            raise ValueError(f"{name}: the name of a picture ends in .png, .tif or .tiff")
        encoded = self.file if format == "png" else self._encoded(format)
        part = f"{name}.{os.getpid()}.part"
        try:
            with open(part, "wb") as file:
                file.write(encoded)
            os.replace(part, path)
        except OSError:
            if os.path.exists(part):
                os.remove(part)
            raise

    def __repr__(self) -> str:
        height, width, _ = self.pixels.shape
        left, top, right, bottom = self.extent
        size = f"{self.pixel:.4g} {self.unit}".rstrip()
        return f"Picture of {height}×{width} pixels of {size}: x from {left:.6g} to {right:.6g}, y from {top:.6g} to {bottom:.6g}"


@takes_former(colours="colour_map", value="colour_by", limits="colour_range", most_pixels="max_pixels")
def render(
    locs: Locs,
    *,
    pixel: float | None = None,
    blur: Blur | float = "uncertainty",
    colour_map: ColourMap | None = None,
    colour_by: str | None = None,
    colour_range: tuple[float, float] | None = None,
    extent: tuple[float, float, float, float] | None = None,
    saturated: float | None = None,
    gamma: float = 1.0,
    max_pixels: int = 1 << 26,
) -> Picture:
    """Draws every localization as a Gaussian as wide as its uncertainty.

    Parameters
    ----------
    locs : Locs
        The localizations.
    pixel : float, optional
        Side of a pixel of the picture in the unit of the localizations. Default: a round length that suits them.
    blur : {"uncertainty", "average", "none"} or float
        How wide the Gaussians are: each as its uncertainty, all as the median, none, or all of this width.
    colour_map : {"inferno", "magma", "viridis", "grey", "turbo", "sinebow"}, optional
        The colours of density, by default "inferno"; or of `colour_by`, by default "turbo".
    colour_by : str, optional
        The column that the colours show, such as "z"; the brightness is the density then. Default: z, if there are heights that
        differ and no `colour_map` is given. "density" shows density only.
    colour_range : (float, float), optional
        The values with the first and the last colour. Default: the first and the last percent.
    extent : (float, float, float, float), optional
        Left, top, right and bottom edge in the unit of the localizations, as of `Picture.extent`. Default: the frames of the
        movie, if their size is known, or else all localizations but those far from all others.
    saturated : float, optional
        The share of the lit pixels that is as bright as can be.
    gamma : float
        Below 1 what is faint becomes brighter.
    max_pixels : int
        The most pixels that the picture may have.

    Returns
    -------
    Picture

    Examples
    --------
    >>> locs = Locs({"frame": [0, 0], "x": [3.0, 9.0], "y": [4.0, 1.0], "uncertainty": [0.5, 0.5]})
    >>> picture = render(locs, pixel=0.5)
    >>> again = render(locs, pixel=0.5, extent=picture.extent)
    >>> bool((again.pixels == picture.pixels).all())
    True
    """
    _check(locs)
    if isinstance(blur, str):
        kind, width = {"none": "histogram"}.get(blur, blur), 0.0
        if blur not in ("uncertainty", "average", "none") and kind == "histogram":
            tell("blur='histogram' is called 'none' now", DeprecationWarning)
    else:
        kind, width = "fixed", arguments.number("blur", blur)
    if not isinstance(colour_by, (str, type(None))):
        raise TypeError(f"colour_by must be the name of a column, not {type(colour_by).__name__}")
    shown = _shown(locs, colour_by, colour_map is None)
    if shown is not None and colour_range is None:
        finite = shown[np.isfinite(shown)]
        colour_range = (0.0, 1.0) if not len(finite) else tuple(np.percentile(finite, (1, 99)).tolist())
    low, high = arguments.pair("colour_range", colour_range) if colour_range is not None else (0.0, 1.0)
    if extent is None:
        extent = _field(locs)
    pixels, grey, (left, top, side) = _spotfit.render(
        locs["x"], locs["y"], _uncertainty(locs), shown,
        pixel=pixel,
        blur=kind,
        width=width,
        colours=colour_map or ("inferno" if shown is None else "turbo"),
        low=low,
        high=high,
        extent=None if extent is None else list(extent),
        saturated=saturated,
        gamma=gamma,
        most_pixels=arguments.whole("max_pixels", max_pixels),
    )  # fmt: skip
    height, columns, _ = pixels.shape
    unit = {"nm": 1.0, "px": locs.movie.pixel_size}.get(locs.unit)
    edges = (left, top, left + columns * side, top + height * side)
    return Picture(pixels, edges, side, locs.unit, None if unit is None else unit * side, grey)


def _shown(locs: Locs, column: str | None, chooses: bool) -> npt.NDArray[Any] | None:
    """The values that colours show, if they show any."""
    if column is not None:
        return None if column == "density" and column not in locs.names else locs[column]
    if not chooses or "z" not in locs.names:
        return None
    finite = locs["z"][np.isfinite(locs["z"])]
    low, high = np.percentile(finite, (1, 99)) if len(finite) else (0.0, 0.0)
    values: npt.NDArray[Any] = locs["z"]
    return values if low < high else None


def _field(locs: Locs) -> tuple[float, float, float, float] | None:
    """The frames of the movie, in the unit of the localizations, if their size is known."""
    movie = locs.movie
    size = movie.pixel_size if locs.unit == "nm" else 1.0
    if size is None or movie.width is None or movie.height is None:
        return None
    low = -0.5 * size
    return low, low, low + movie.width * size, low + movie.height * size


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
