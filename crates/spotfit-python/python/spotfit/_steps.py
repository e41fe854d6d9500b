"""The operations of an analysis on tables: one function each, with the name, the options and the defaults of the command.

A length is a number of nanometres, or text with a unit: ``"50nm"``, ``"0.5px"``, ``"0.1um"``. Functions that make a table return `Locs`,
whose ``report`` says what was counted; others return their report.
"""

from __future__ import annotations

import json
import math
import os
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from . import _arguments as arguments
from . import _spotfit
from ._locs import Locs
from ._options import Length
from ._warnings import tell

if TYPE_CHECKING:
    from ._options import Measure


class ScoreReport(TypedDict):
    """How well spots were found: see `score`. What nothing was found for is None."""

    jaccard: float | None
    recall: float | None
    precision: float | None
    rmse: float | None
    rmse_z: float | None
    efficiency: float | None
    true_positives: int
    false_positives: int
    false_negatives: int
    frames: int
    near_edge: int
    not_finite: int
    radius: float
    radius_z: float | None
    unit: str


def convert(locs: Locs, *, unit: Literal["nm", "px"] | None = None) -> Locs:
    """Converts lengths to another unit. Heights are in nanometres in either.

    Parameters
    ----------
    locs : Locs
        The localizations.
    unit : {"nm", "px"}, optional
        The unit of lengths in the plane. Default: that of the localizations.

    Returns
    -------
    Locs
        The same. The ``report`` has ``localizations`` and ``unit``.

    Raises
    ------
    ValueError
        If the size of a pixel is needed and not known.

    Examples
    --------
    >>> from spotfit import Movie
    >>> locs = Locs({"frame": [0, 1], "x": [3.0, 3.5], "y": [4.0, 4.0]}, Movie(100))
    >>> convert(locs, unit="nm").x.tolist()
    [300.0, 350.0]
    """
    return _table("convert", {"unit": unit}, locs=locs)


def filter(
    locs: Locs,
    condition: str | None = None,
    *,
    merge: Length | None = None,
    neighbours: int | None = None,
    radius: Length | None = None,
) -> Locs:
    """Keeps the localizations that pass all that is asked for, one after the other.

    Parameters
    ----------
    locs : Locs
        The localizations.
    condition : str, optional
        A condition such as ``"photons > 300 & uncertainty < 20"``. Its lengths are in the unit of the localizations, or in that of
        names such as ``x_nm``.
    merge : float or str, optional
        Of localizations of one frame that are nearer to each other than this, keep the one with the most photons.
    neighbours : int, optional
        Keep localizations with so many others, of all frames, within `radius`.
    radius : float or str, optional
        The radius for `neighbours`, in nanometres or with a unit, as in ``"0.5px"``; so is `merge`.

    Returns
    -------
    Locs
        Those that are kept. The ``report`` has ``localizations``, ``kept``, and how many were dropped and why: ``unfulfilled`` (the
        condition), ``found_twice`` (`merge`), ``few_neighbours``; and ``units``, those of the columns of the condition.

    Raises
    ------
    ValueError
        If the condition means nothing, or a length needs the size of a pixel and it is not known.

    Examples
    --------
    >>> locs = Locs({"frame": [0, 0, 1], "x": [3.0, 3.1, 9.0], "y": [4.0, 4.1, 1.0], "photons": [100.0, 120.0, 90.0]})
    >>> kept = filter(locs, "photons > 95", merge="0.5px")
    >>> kept.photons.tolist()
    [120.0]
    >>> kept.report["unfulfilled"], kept.report["found_twice"]
    (1, 1)
    """
    options = {
        "condition": condition,
        "merge": _length("merge", merge),
        "neighbours": None if neighbours is None else arguments.whole("neighbours", neighbours, 2**32 - 1),
        "radius": _length("radius", radius),
    }
    return _table("filter", options, locs=locs)


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
        the uncertainty, as the root mean square of its own and theirs.
    radius_z : float or str, optional
        The same along z. Default: four times the uncertainty of z, or without that three times the radius.
    gap : int
        For how many frames a molecule may be dark and still be the same.
    label : bool
        Keep all localizations, and only add the column ``molecule``.

    Returns
    -------
    Locs
        One row for each molecule: photons and background are summed, positions weighted by 1/uncertainty². ``molecule``,
        ``detections`` and ``on_time`` are new. The ``report`` has ``localizations``, ``molecules``, ``not_finite`` (those that stand
        alone, for a number is not finite), ``radius`` (the median where ``by_uncertainty`` is true, and each has its own) with its
        ``unit``, and ``gap``.

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
        "label": arguments.flag("label", label),
    }
    return _table("link", options, locs=locs)


def score(
    locs: Locs,
    truth: Locs,
    *,
    radius: Length = 250.0,
    radius_z: Length | None = None,
    border: Length = 0.0,
    width: int | None = None,
    height: int | None = None,
) -> ScoreReport:
    """Compares localizations with the spots that were there, as the SMLM challenge does (Sage et al., Nature Methods 2019).

    In each frame as many localizations and spots as possible are paired within the radius, such that the sum of their distances is the
    least.

    Parameters
    ----------
    locs : Locs
        The localizations.
    truth : Locs
        The spots, as ``spotfit simulate movie --truth`` writes them, or any table with ``frame``, ``x`` and ``y``.
    radius : float or str
        How far a localization may be from its spot, in nanometres or with a unit, as in ``"2px"``.
    radius_z : float or str, optional
        The same along z, where both tables have it. Default: twice the radius.
    border : float or str
        Spots nearer to the edge of the frame than this do not count, nor do localizations there that are of no spot.
    width, height : int, optional
        Sides of the frames in pixels, where `border` needs them and neither table knows them.

    Returns
    -------
    ScoreReport
        A dictionary: ``jaccard`` = TP / (TP + FP + FN), ``recall`` = TP / (TP + FN) and ``precision`` = TP / (TP + FP) in percent,
        ``rmse`` in the plane, ``rmse_z`` in nanometres, and ``efficiency`` = 100 − √((100 − jaccard)² + (α rmse)²), with α = 1 for
        nanometres in the plane and 0.5 along z, of which the mean is taken; ``true_positives`` and the like, ``frames``, and what was not
        counted: ``near_edge`` and ``not_finite``. What nothing was found for is None, and so is the efficiency if the size of a pixel
        is not known.

    Raises
    ------
    ValueError
        If a length is out of its range, or the size of a pixel is needed and not known.

    Examples
    --------
    >>> from spotfit import Movie
    >>> truth = Locs({"frame": [0, 0, 1], "x": [3.0, 9.0, 5.0], "y": [4.0, 1.0, 5.0]}, Movie(100))
    >>> found = Locs({"frame": [0, 1], "x": [3.1, 5.1], "y": [4.0, 5.0]}, Movie(100))
    >>> report = score(found, truth, radius=200)
    >>> report["true_positives"], report["recall"], report["precision"], round(report["rmse"] or 0, 6)
    (2, 66.66666666666667, 100.0, 10.0)
    """
    options = {
        "radius": _length("radius", radius),
        "radius_z": _length("radius_z", radius_z),
        "border": _length("border", border),
        "width": None if width is None else arguments.whole("width", width),
        "height": None if height is None else arguments.whole("height", height),
    }
    _, report = _run("score", options, {"locs": locs, "truth": truth})
    found: Any = report
    return found  # type: ignore[no-any-return]


def z(
    locs: Locs,
    calibration: str | PathLike[str],
    *,
    measure: Measure = "mahalanobis",
    box: Length | None = None,
    found: bool = False,
) -> Locs:
    """Finds z of localizations from their two widths.

    Parameters
    ----------
    locs : Locs
        Localizations with ``sigma_x`` and ``sigma_y``. If they have no errors of these, these are estimated from ``photons``,
        ``background``, and the uncertainties.
    calibration : path
        A calibration of ``spotfit calibrate`` or Picasso.
    measure : {"mahalanobis", "roots"}
        What is least at the z that is found: the distance of the widths in standard deviations, or that of their square roots, as
        in Picasso.
    box : int or str, optional
        Side of the windows in which the spots were fitted, in pixels or with a unit, as in ``"1.3um"``: odd, 5 to 63. How much of a spot they hold says how well its
        widths are known. Default: what ``chi2`` and ``background_std`` tell, or else that of the calibration, or 13.
    found : bool
        Leave out localizations whose z was not found: beyond the range, ambiguous, or far from the calibration.

    Returns
    -------
    Locs
        The same with ``z`` and ``uncertainty_z`` in nanometres, ``z_distance`` and ``z_status``. The ``report`` has ``localizations``,
        how many have each status (``found``, ``below``, ``above``, ``ambiguous``, ``far``, ``invalid``), and ``estimated_for``, the
        side of the windows for which errors of the widths were estimated, if the localizations have none.

    Raises
    ------
    FileNotFoundError, OSError
        If the calibration is not there, or cannot be read.
    ValueError
        If it is none, or a column or the size of a pixel is missing.

    Examples
    --------
    >>> import tempfile
    >>> file = tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False)
    >>> with file:
    ...     lines = file.writelines([
    ...         "X Coefficients: [0, 0, 0, 0, 1.0e-6, -1.0e-3, 1.3]\\n",
    ...         "Y Coefficients: [0, 0, 0, 0, 1.0e-6, 1.0e-3, 1.3]\\n",
    ...         "Number of frames: 61\\nStep size in nm: 10\\nMagnification factor: 1\\n",
    ...     ])
    >>> widths = {"sigma_x": [1.21], "sigma_y": [1.41], "photons": [1000.0], "background": [10.0]}
    >>> z(Locs({"frame": [0], "x": [9.0], "y": [9.0], **widths}), file.name).z.round(3).tolist()
    [100.0]
    """
    if not isinstance(locs, Locs):
        raise TypeError(f"locs must be spotfit.Locs, not {type(locs).__name__}")
    options = {
        "calibration": os.fsdecode(calibration),
        "measure": measure,
        "box": arguments.box(box, locs.movie.pixel_size),
        "found": arguments.flag("found", found),
    }
    return _table("z", options, locs=locs)


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
