"""Drift and pictures of localizations."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cached_property
from os import PathLike, fspath
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit
from ._frozen import frozen
from ._locs import NANOMETRE, Column, Locs
from ._plots import Format, Plotted

Doubles = npt.NDArray[np.float64]

#: The columns of uncertainties of x and y.
_UNCERTAINTIES = ("uncertainty", "uncertainty_x", "uncertainty_y")


def _unknown() -> Doubles:
    """A number of each frame that is not known."""
    return np.empty(0)


class _Reported:
    """What an operation made that also says something."""

    @property
    def report(self) -> dict[str, Any]:
        """What was said when it was made, such as counts; empty if it was made otherwise."""
        return dict(getattr(self, "_report", {}))


R = TypeVar("R", bound=_Reported)


def reported(made: R, report: dict[str, Any]) -> R:
    """The same with its report, which does not change for those who have it."""
    object.__setattr__(made, "_report", report)
    return made


@dataclass(frozen=True, eq=False, repr=False)
class Drift(_Reported, Plotted):
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
            values = np.array(arguments.unmasked(name, getattr(self, name)), dtype=float)
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
        return self._in(locs.unit, locs.movie.pixel_size)._taken_out(locs, arguments.flag("with_error", with_error))

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
                locs = _changed(locs, name, locs[name] - drift[frames])
        if not with_error:
            return locs
        both = np.sqrt((self.x_error**2 + self.y_error**2) / 2)
        for name, error in zip(_UNCERTAINTIES, (both, self.x_error, self.y_error), strict=True):
            if name in locs.names:
                scale = _scale(locs, locs.units.get("x", ""), locs.units[name])
                locs = _changed(locs, name, np.hypot(locs[name], scale * error[frames]))
        if len(self.z_error) and "uncertainty_z" in locs.names:
            locs = _changed(locs, "uncertainty_z", np.hypot(locs["uncertainty_z"], self.z_error[frames]))
        return locs

    def _drawn(self, format: Format) -> bytes:
        parts = [self.x, self.y, self.z, self.x_error, self.y_error, self.z_error]
        return _spotfit.draw_drift([part.tolist() for part in parts], self.unit, format)

    def __repr__(self) -> str:
        told = f"Drift of {len(self.x):,} frames"
        for name, unit in ("x", self.unit), ("y", self.unit), ("z", "nm"):
            values = getattr(self, name)
            if len(values):
                told += f"{':' if name == 'x' else ','} {name} from {values.min():.3g} to {values.max():.3g} {unit}".rstrip()
        return told


#: The formats of pictures by the endings of their names.
_FORMATS = {".png": "png", ".tif": "tiff", ".tiff": "tiff"}


@dataclass(frozen=True, eq=False, repr=False)
class Picture(_Reported):
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
    density : array (height, width) of float32 or None
        Localizations per pixel, where `render` was asked for them (`raw`).

    Examples
    --------
    >>> from spotfit import render
    >>> locs = Locs({"frame": [0, 0], "x": [3.0, 9.0], "y": [4.0, 1.0]})
    >>> picture = render(locs, pixel="1px", blur="0.5px", extent=(0, 0, 12, 6))
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
    density: npt.NDArray[np.float32] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pixels", frozen(self.pixels))
        if self.grey is not None:
            object.__setattr__(self, "grey", frozen(self.grey))
        if self.density is not None:
            object.__setattr__(self, "density", frozen(self.density))

    def __reduce__(self) -> Any:
        return Picture, (self.pixels, self.extent, self.pixel, self.unit, self.nanometres, self.grey, self.density)

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
        _spotfit.write_file(name, encoded)

    def _repr_png_(self) -> bytes:
        from ._notebook import png_of

        return png_of(self.pixels)

    def __repr__(self) -> str:
        height, width, _ = self.pixels.shape
        left, top, right, bottom = self.extent
        size = f"{self.pixel:.4g} {self.unit}".rstrip()
        return f"Picture of {height}×{width} pixels of {size}: x from {left:.6g} to {right:.6g}, y from {top:.6g} to {bottom:.6g}"


def _changed(locs: Locs, name: str, values: npt.NDArray[Any]) -> Locs:
    """The localizations with a length changed, which is written with as many decimals as by the command."""
    unit = locs.units[name]
    kind = "rounded 4" if unit == NANOMETRE else "rounded 6"
    return Locs._of(locs._columns | {name: Column(values, unit, kind)}, locs._info)


def _scale(locs: Locs, found: str, needed: str) -> float:
    """What a length in one unit is multiplied by to be in the other."""
    # A column that was set without a unit has that of the others.
    if {found, needed} != {"px", "nm"}:
        return 1.0
    size = locs.movie.pixel_size
    if size is None:
        raise ValueError("the size of a pixel is not known: with_pixel_size tells it")
    return size if needed == "nm" else 1 / size
