"""Pictures of localizations."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _lengths as lengths
from . import _spotfit
from ._frozen import frozen
from ._keywords import takes_former
from ._locs import Locs
from ._warnings import tell

if TYPE_CHECKING:
    from ._options import Blur, ColourMap

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
    lengths.check(locs)
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
        locs["x"], locs["y"], lengths.uncertainty(locs), shown,
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
