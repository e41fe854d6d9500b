"""The operations of an analysis on tables: one function each, with the name, the options and the defaults of the command.

A length is a number of nanometres, or text with a unit: ``"50nm"``, ``"0.5px"``, ``"0.1um"``. Functions that make a table return `Locs`,
whose ``report`` says what was counted; others return their report.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit
from ._keywords import takes_former
from ._locs import Locs, Movie
from ._pictures import Drift, Picture
from ._warnings import tell

if TYPE_CHECKING:
    from ._options import Blur, ColourMap

Length = Union[float, str]


def link(
    locs: Locs,
    *,
    radius: Length | None = None,
    radius_z: Length | None = None,
    gap: int = 1,
    label: bool = False,
) -> Locs:
    """Joins localizations of one molecule in successive frames.

    A localization continues the molecule whose mean position is nearest, if it lies within the radius.

    Parameters
    ----------
    locs : Locs
        The localizations.
    radius : float or str, optional
        How far one may be from the mean of those before it, in nanometres or with a unit, as in ``"0.5px"``. Default: four times
        the median uncertainty.
    radius_z : float or str, optional
        The same along z. Default: four times the median uncertainty of z, or three times the radius.
    gap : int
        For how many frames a molecule may be dark and still be the same.
    label : bool
        Keep all localizations, and only add the column ``molecule``.

    Returns
    -------
    Locs
        One row for each molecule: photons and background are summed, positions weighted by 1/uncertainty². ``molecule``,
        ``detections`` and ``on_time`` are new. The ``report`` has ``localizations``, ``molecules``, ``not_finite`` (those that stand
        alone, for a number is not finite), ``radius`` with its ``unit``, and ``gap``.

    Raises
    ------
    ValueError
        If there is no uncertainty and no radius, a length needs the size of a pixel and it is not known, or a frame has too many
        localizations within the radius.

    Examples
    --------
    >>> locs = Locs({"frame": [0, 1, 2], "x": [3.0, 3.1, 9.0], "y": [4.0, 4.1, 1.0], "photons": [100.0, 120.0, 90.0]})
    >>> linked = link(locs, radius="0.5px")
    >>> linked.photons.tolist()
    [220.0, 90.0]
    >>> linked.report["molecules"]
    2
    """
    options = {
        "radius": _length("radius", radius),
        "radius_z": _length("radius_z", radius_z),
        "gap": arguments.whole("gap", gap, 2**32 - 1),
        "label": bool(label),
    }
    return _table("link", options, locs=locs)


def find_drift(
    locs: Locs,
    *,
    beads: Literal["auto"] | npt.ArrayLike | None = None,
    bead_radius: Length | None = None,
    frames: int | None = None,
    segment: int | None = None,
    knots: int | None = None,
    range: Length | None = None,
    anyway: bool = False,
) -> Drift:
    """Finds the drift of localizations, from themselves or from beads.

    Parameters
    ----------
    locs : Locs
        The localizations.
    beads : "auto" or array (n, 2), optional
        Follow beads: those that are in four of five frames, or those at these places (x, y) in the unit of the localizations.
    bead_radius : float or str, optional
        How far a bead may move from frame to frame, in nanometres or with a unit, as in ``"0.5px"``. Default: ten times the median
        uncertainty.
    frames : int, optional
        The number of frames. Default: that of the movie, or of the last localization.
    segment : int, optional
        Frames of a segment of the first comparison, such that there are 2 to 64 of them. Default: chosen by the number
        of localizations.
    knots : int, optional
        Frames between two knots of the curve, such that it has 2 to 2048 intervals. Default: as short as the data ask
        for.
    range : float or str, optional
        The largest drift between two segments that is looked for, in nanometres or with a unit. Default: a hundred times the
        median uncertainty, and at least 500 nm (5 pixels if their size is not known).
    anyway : bool
        Whether drift is taken that cannot be told from chance, which is a ``ValueError`` otherwise.

    Returns
    -------
    Drift
        ``drift.correct(locs)`` takes it out. It has its standard errors, and the unit of the localizations. The ``report`` has the
        whole drift and the median error of each axis, and how many ``beads`` there were.

    Examples
    --------
    >>> import numpy as np
    >>> frame = np.arange(100)
    >>> locs = Locs({"frame": frame, "x": 5 + 0.01 * frame, "y": np.full(100, 7.0)})
    >>> drift = find_drift(locs, beads="auto", bead_radius="0.5px")
    >>> round(float(drift.x[-1]), 3), drift.report["beads"]
    (0.99, 1)
    """
    options = {
        "beads": beads if beads is None or isinstance(beads, str) else {"at": _positions(beads)},
        "bead_radius": _length("bead_radius", bead_radius),
        "frames": None if frames is None else arguments.whole("frames", frames, 2**32 - 1),
        "segment": None if segment is None else arguments.whole("segment", segment, 2**32 - 1),
        "knots": None if knots is None else arguments.whole("knots", knots, 2**32 - 1),
        "range": _length("range", range),
        "anyway": bool(anyway),
    }
    (columns, _), report = _run("drift", options, {"locs": locs})
    found = {name: values for name, _, _, values, _ in columns if name != "frame"}
    unit: Any = locs.unit
    return _with_report(Drift(**found, unit=unit, pixel_size=locs.movie.pixel_size), report)


def _positions(beads: npt.ArrayLike) -> list[list[float]]:
    """Places (x, y)."""
    places = np.asarray(arguments.unmasked("beads", beads), dtype=float)
    if places.ndim != 2 or places.shape[1] != 2 or not np.isfinite(places).all():
        raise ValueError(f"beads must be 'auto' or finite places (n, 2), not of shape {places.shape}")
    listed: list[list[float]] = places.tolist()
    return listed


@takes_former(value="colour_by", limits="colour_range", most_pixels="max_pixels")
def render(
    locs: Locs | Sequence[Locs],
    *,
    pixel: Length | None = None,
    blur: Blur | Length = "uncertainty",
    extent: Sequence[Length] | None = None,
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
    extent : four floats or str, optional
        Left, top, right and bottom edge, in the unit of the localizations, as of `Picture.extent`, or with a unit. Default: the
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
    if isinstance(colours, str):
        tell("colours is called colour_map now", DeprecationWarning)
        colour_map, colours = colours, None  # type: ignore[assignment]
    if blur == "histogram":
        tell("blur='histogram' is called 'none' now", DeprecationWarning)
        blur = "none"
    for name, text in ("colour_by", colour_by), ("filter", filter):
        if not isinstance(text, (str, type(None))):
            raise TypeError(f"{name} must be text, not {type(text).__name__}")
    options = {
        "pixel": _length("pixel", pixel),
        "blur": _length("blur", blur),
        "extent": None if extent is None else [_length("extent", edge) for edge in extent],
        "colour_map": colour_map,
        "colour_by": colour_by,
        "colour_range": None if colour_range is None else list(arguments.pair("colour_range", colour_range)),
        "colours": None if colours is None else list(colours),
        "filter": filter,
        "saturated": None if saturated is None else arguments.number("saturated", saturated),
        "gamma": arguments.number("gamma", gamma),
        "scale_bar": _length("scale_bar", scale_bar),
        "raw": bool(raw),
        "deep_grey": True,
        "max_pixels": arguments.whole("max_pixels", max_pixels),
    }
    given = {"locs" if len(tables) == 1 else f"table {number}": table for number, table in enumerate(tables, 1)}
    given |= {f"drift {number}": _as_locs(of) for number, of in enumerate(drifts, 1)}
    (pixels, grey, density, nanometres), report = _run("render", options, given)
    edges = tuple(report["extent"])
    picture = Picture(pixels, edges, report["pixel"], report["unit"], nanometres, grey, density)
    return _with_report(picture, report)


def _as_locs(drift: Drift) -> Locs:
    """A drift as a table."""
    if not isinstance(drift, Drift):
        raise TypeError(f"drift must be spotfit.Drift, not {type(drift).__name__}")
    table = Locs({"frame": np.arange(len(drift.x))}, Movie(drift.pixel_size))
    for name, values, unit in ("x", drift.x, drift.unit), ("y", drift.y, drift.unit), ("z", drift.z, "nm"):
        if len(values):
            table = table.with_column(name, values, unit)
    return table


def stats(locs: Locs, *, filter: str | None = None, nena: bool = True, frc: bool = True) -> dict[str, Any]:
    """What localizations are like: numbers, quantiles, histograms, precision and resolution.

    Parameters
    ----------
    locs : Locs
        The localizations.
    filter : str, optional
        Describe the rows for which this condition holds beside all rows.
    nena : bool
        Whether the precision is found from nearest neighbours (see `nena`).
    frc : bool
        Whether the resolution is found by Fourier ring correlation (see `frc`).

    Returns
    -------
    dict
        ``numbers`` has all that ``spotfit stats --json`` prints: a dict of ``value`` and ``unit`` for each name, and the ``reason``
        where there is no value. ``parts`` has what is true of all rows, and then of those that the condition keeps: ``rows``,
        ``extent``, ``per_frame``, ``stated`` (the median uncertainty), ``nena`` and ``frc``. ``quantities`` has for each column its
        ``quantiles`` (0.5, 25, 50, 75 and 99.5 %) in each part, and a ``histogram`` (``edges``, and ``counts`` in each part). Lengths
        are in the unit of the localizations, ``unit``.

    Examples
    --------
    >>> locs = Locs({"frame": [0, 1, 1], "x": [3.0, 9.0, 4.0], "y": [4.0, 1.0, 4.0], "photons": [100.0, 300.0, 200.0]})
    >>> numbers = stats(locs)["numbers"]
    >>> numbers["photons_median"]
    {'unit': 'photon', 'value': 200}
    """
    if not isinstance(filter, (str, type(None))):
        raise TypeError(f"filter must be text, not {type(filter).__name__}")
    _, report = _run("stats", {"filter": filter, "nena": bool(nena), "frc": bool(frc)}, {"locs": locs})
    return report


@dataclass(frozen=True)
class Nena:
    """The precision of localizations, and the distances that it was found from.

    Attributes
    ----------
    sigma, standard_error : float
        The standard deviation of positions along x or y, and its standard error, in `unit`.
    unit : str
        The unit of the localizations.
    edges : array (bins + 1,)
        Borders of the histogram of distances to the nearest neighbour in the next frame.
    counts : array (bins,)
        Distances in each bin.
    """

    sigma: float
    standard_error: float
    unit: str
    edges: npt.NDArray[np.float64]
    counts: npt.NDArray[np.int64]


def nena(locs: Locs) -> Nena:
    """The precision from the distances of localizations to their nearest neighbours in the next frame.

    Parameters
    ----------
    locs : Locs
        The localizations, not linked.

    Returns
    -------
    Nena

    Raises
    ------
    ValueError
        If no precision can be read from the distances; it says why.

    References
    ----------
    Endesfelder, Malkusch, Fricke and Heilemann, Histochem. Cell Biol. 141:629 (2014).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x, y = np.repeat(rng.uniform(0, 60, (2, 2000)), 3, axis=1)
    >>> frame = (rng.integers(0, 398, 2000)[:, None] + np.arange(3)).ravel()
    >>> locs = Locs({"frame": frame, "x": x + rng.normal(0, 0.1, 6000), "y": y + rng.normal(0, 0.1, 6000)})
    >>> round(nena(locs).sigma, 2)
    0.1
    """
    found, unit = _found(locs, "nena")
    edges, counts = np.array(found["edges"]), np.array(found["counts"], dtype=np.int64)
    return Nena(found["sigma"], found["standard_error"], unit, edges, counts)


@dataclass(frozen=True)
class Frc:
    """The resolution of localizations, and the curve that it was read from.

    Attributes
    ----------
    resolution, standard_error : float
        The inverse of the frequency at which the smoothed correlation falls to 1/7, and its standard error, in `unit`.
    unit : str
        The unit of the localizations.
    frequencies : array (rings,)
        The radius of each ring, in 1/`unit`.
    correlation, smoothed : array (rings,)
        The correlation of the two halves in each ring, and the same smoothed.
    """

    resolution: float
    standard_error: float
    unit: str
    frequencies: npt.NDArray[np.float64]
    correlation: npt.NDArray[np.float64]
    smoothed: npt.NDArray[np.float64]


def frc(locs: Locs) -> Frc:
    """The resolution by Fourier ring correlation of two halves of the localizations.

    Parameters
    ----------
    locs : Locs
        The localizations.

    Returns
    -------
    Frc

    Raises
    ------
    ValueError
        If the resolution cannot be determined; it says why.

    References
    ----------
    Nieuwenhuizen et al., Nature Methods 10:557 (2013).

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> angle, frame = rng.uniform(0, 2 * np.pi, 20000), rng.integers(0, 1000, 20000)
    >>> x, y = (20 + 15 * f(angle) + rng.normal(0, 0.1, 20000) for f in (np.cos, np.sin))
    >>> 0.2 < frc(Locs({"frame": frame, "x": x, "y": y})).resolution < 1
    True
    """
    found, unit = _found(locs, "frc")
    curve = (np.array(found[name]) for name in ("frequencies", "correlation", "smoothed"))
    return Frc(found["resolution"], found["standard_error"], unit, *curve)


def _found(locs: Locs, name: str) -> tuple[dict[str, Any], str]:
    """What `stats` finds by this name, and the unit of its lengths."""
    report = stats(locs, nena=name == "nena", frc=name == "frc")
    found: dict[str, Any] = report["parts"][0][name]
    if "reason" in found:
        raise ValueError(found["reason"])
    return found, report["unit"]


def _length(name: str, value: Length | None) -> Length | None:
    """A length as Rust reads it."""
    if value is None or isinstance(value, str):
        return value
    number = arguments.number(name, value)
    if not math.isfinite(number):
        raise ValueError(f"{name} = {number} is not a length")
    return number


def _table(name: str, options: dict[str, Any], **tables: Locs) -> Locs:
    """The table that an operation makes of tables, with its report."""
    made, report = _run(name, options, tables)
    if made is None:
        raise RuntimeError(f"{name} makes no table")
    columns, info = made
    locs = Locs._made(columns, info)
    # Localizations do not change for those who have them.
    object.__setattr__(locs, "_report", report)
    return locs


def _run(name: str, options: dict[str, Any], tables: dict[str, Locs]) -> tuple[Any, dict[str, Any]]:
    for word, table in tables.items():
        if not isinstance(table, Locs):
            raise TypeError(f"{word} must be spotfit.Locs, not {type(table).__name__}")
    given = {word: value for word, value in options.items() if value is not None}
    columns = [(word, table._given(), table._info) for word, table in tables.items()]
    made, picture, report, notes = _spotfit.run_step(name, json.dumps(given), columns)
    tell(notes)
    return made or picture, json.loads(report)


R = TypeVar("R", Drift, Picture)


def _with_report(made: R, report: dict[str, Any]) -> R:
    # It does not change for those who have it.
    object.__setattr__(made, "_report", report)
    return made
