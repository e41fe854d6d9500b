"""Localizations become a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import _arguments as arguments
from ._locs import Locs, Movie
from ._options import Length
from ._pictures import Drift, Picture, reported
from ._steps import _length, _run

if TYPE_CHECKING:
    from ._options import Blur, ColourMap


def render(
    locs: Locs | Sequence[Locs],
    *,
    pixel: Length | None = None,
    blur: Blur | Length = "uncertainty",
    extent: str | Sequence[Length] | None = None,
    colour_map: ColourMap | None = None,
    colour_by: str | None = None,
    colour_range: tuple[float, float] | None = None,
    colours: Sequence[str] | None = None,
    drift: Drift | Sequence[Drift] | None = None,
    filter: str | None = None,
    saturated: float | None = None,
    gamma: float = 1.0,
    scale_bar: Length | None = None,
    raw: bool = False,
    max_pixels: int = 1 << 26,
) -> Picture:
    """Draws every localization as a Gaussian as wide as its uncertainty.

    Parameters
    ----------
    locs : Locs, or several of them
        The localizations. Several tables are shown in one picture, each in its colour.
    pixel : float or str, optional
        Side of a pixel of the picture, in nanometres or with a unit, as in ``"0.1px"``. Default: a round length that suits the
        localizations.
    blur : {"uncertainty", "average", "none"} or float or str
        How wide the Gaussians are: each as its uncertainty, all as the median, none (localizations in each pixel are counted), or
        all of this width, in nanometres or with a unit.
    extent : four of float or str, or str, optional
        Left, top, right and bottom edge, in the unit of the localizations, as of `Picture.extent`, or with units, as in
        ``"0um,0um,5um,5um"``. Default: the
        frames of the movie, if their size is known, or else all localizations but those far from all others.
    colour_map : {"inferno", "magma", "viridis", "grey", "turbo", "sinebow"}, optional
        The colours of density, by default "inferno"; or of `colour_by`, by default "turbo".
    colour_by : str, optional
        The column that the colours show, such as "z"; the brightness is the density then. Default: z, if there are heights that
        differ and no `colour_map` is given. "density" shows density only.
    colour_range : (float, float), optional
        The values with the first and the last colour. Default: the first and the last percent.
    colours : sequence of str, optional
        A colour for each table: a name such as "magenta", or "#ff8000".
    drift : Drift, or several of them, optional
        What is taken out before: one for all tables, or one for each.
    filter : str, optional
        Only the localizations for which this condition holds.
    saturated : float, optional
        The share of the lit pixels that is as bright as can be.
    gamma : float
        Below 1 what is faint becomes brighter.
    scale_bar : float or str, optional
        The length of the scale bar, in the unit of the localizations or with a unit; 0 for no bar and no legend. Default: a
        round length.
    raw : bool
        Whether the picture has the `density` too; it is drawn without scale bar.
    max_pixels : int
        The most pixels that the picture may have.

    Returns
    -------
    Picture
        The ``report`` has how many localizations are shown, and how many are left out for which reason.

    Examples
    --------
    >>> locs = Locs({"frame": [0, 0], "x": [3.0, 9.0], "y": [4.0, 1.0], "uncertainty": [0.5, 0.5]})
    >>> picture = render(locs, pixel="0.5px")
    >>> again = render(locs, pixel="0.5px", extent=picture.extent)
    >>> bool((again.pixels == picture.pixels).all()), picture.report["localizations"]
    (True, 2)
    """
    tables = [locs] if isinstance(locs, Locs) else list(locs)
    drifts = [] if drift is None else [drift] if isinstance(drift, Drift) else list(drift)
    edges = None if extent is None else [_length("extent", edge) for edge in arguments.parts(extent)]
    if edges is not None and len(edges) != 4:
        raise ValueError(f"extent must be four lengths: left, top, right and bottom edge, not {len(edges)}")
    for name, text in ("colour_by", colour_by), ("filter", filter):
        if not isinstance(text, (str, type(None))):
            raise TypeError(f"{name} must be text, not {type(text).__name__}")
    options = {
        "pixel": _length("pixel", pixel),
        "blur": _length("blur", blur),
        "extent": edges,
        "colour_map": colour_map,
        "colour_by": colour_by,
        "colour_range": None if colour_range is None else list(arguments.pair("colour_range", colour_range)),
        "colours": None if colours is None else list(colours),
        "filter": filter,
        "saturated": None if saturated is None else arguments.number("saturated", saturated),
        "gamma": arguments.number("gamma", gamma),
        "scale_bar": _length("scale_bar", scale_bar),
        "raw": arguments.flag("raw", raw),
        "deep_grey": True,
        "max_pixels": arguments.whole("max_pixels", max_pixels),
    }
    given = {"locs" if len(tables) == 1 else f"table {number}": table for number, table in enumerate(tables, 1)}
    given |= {f"drift {number}": _as_locs(of) for number, of in enumerate(drifts, 1)}
    (pixels, grey, density, nanometres), report = _run("render", options, given)
    picture = Picture(pixels, tuple(report["extent"]), report["pixel"], report["unit"], nanometres, grey, density)
    return reported(picture, report)


def _as_locs(drift: Drift) -> Locs:
    """A drift as a table."""
    if not isinstance(drift, Drift):
        raise TypeError(f"drift must be spotfit.Drift, not {type(drift).__name__}")
    table = Locs({"frame": np.arange(len(drift.x))}, Movie(drift.pixel_size))
    for name, values, unit in ("x", drift.x, drift.unit), ("y", drift.y, drift.unit), ("z", drift.z, "nm"):
        if len(values):
            table = table.with_column(name, values, unit)
    return table
