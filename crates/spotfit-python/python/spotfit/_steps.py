"""The operations of an analysis on tables: one function each, with the name, the options and the defaults of the command.

A length is a number of nanometres, or text with a unit: ``"50nm"``, ``"0.5px"``, ``"0.1um"``. Functions that make a table return `Locs`,
whose ``report`` says what was counted; others return their report.
"""

from __future__ import annotations

import json
import math
from typing import Any, Union

from . import _arguments as arguments
from . import _spotfit
from ._locs import Locs
from ._warnings import tell

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
    made, report, notes = _spotfit.run_step(name, json.dumps(given), columns)
    tell(notes)
    return made, json.loads(report)
