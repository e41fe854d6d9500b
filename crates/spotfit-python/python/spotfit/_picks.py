"""Parts of tables: picks and lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _arguments as arguments
from ._locs import Locs
from ._options import Length
from ._steps import _length, _run


def pick(
    locs: Locs,
    *,
    circle: Sequence[Sequence[Length] | str] | Sequence[Length] | str = (),
    box: Sequence[Sequence[Length] | str] | Sequence[Length] | str = (),
    polygon: Sequence[Sequence[Length] | str] | Sequence[Length] | str = (),
    filter: str | None = None,
) -> dict[str, Any]:
    """What lies in parts of a table. Lengths without a unit have that of the localizations.

    Parameters
    ----------
    locs : Locs
        The localizations.
    circle : sequence of (x, y, radius), or one
        Picks: centre and radius. A pick may be text, as in ``"2um,3um,80nm"``.
    box : sequence of (left, top, right, bottom), or one
        Picks: the edges; the left and the upper one belong to it.
    polygon : sequence of (x, y, x, y, …), or one
        Picks: the corners.
    filter : str, optional
        Look only at localizations for which this condition holds.

    Returns
    -------
    dict
        ``picks`` has a dict for each pick, circles first and polygons last: ``rows``, ``photons``, mean and standard deviation of ``x``, ``y``
        and ``z`` (``x_sd``, …), ``first_frame``, ``last_frame`` (from 1), ``frames``, ``extent`` (left, top, right, bottom) and ``area``; what
        does not exist is None. ``inside`` are the localizations that lie in a pick, with its number in the column ``group``.
        ``localizations`` and ``without_place`` say how many there are in all, and how many have no place; ``unit`` is that of lengths.

    Raises
    ------
    ValueError
        If there is no pick, or one is none.

    Examples
    --------
    >>> locs = Locs({"frame": [0, 0, 1], "x": [3.0, 9.0, 3.5], "y": [4.0, 1.0, 4.0], "photons": [100.0, 300.0, 200.0]})
    >>> found = pick(locs, circle=(3, 4, 1))
    >>> found["picks"][0]["rows"], found["picks"][0]["x"], found["inside"].photons.tolist()
    (2, 3.25, [100.0, 200.0])
    """
    if not isinstance(filter, (str, type(None))):
        raise TypeError(f"filter must be text, not {type(filter).__name__}")
    kinds = {"circle": (circle, 3), "box": (box, 4), "polygon": (polygon, None)}
    picks = [text for name, (given, count) in kinds.items() for text in _texts(name, given, count)]
    made, report = _run("pick", {"picks": picks, "filter": filter}, {"locs": locs})
    return {**report, "inside": Locs._made(*made)}


def profile(
    locs: Locs,
    *,
    line: Sequence[Length] | str,
    width: Length,
    step: Length | None = None,
    filter: str | None = None,
) -> dict[str, Any]:
    """How many localizations lie along a line, and how wide what it crosses is. Lengths without a unit have that of the localizations.

    Parameters
    ----------
    locs : Locs
        The localizations.
    line : (x, y, x, y)
        Where the line begins and ends. It may be text, as in ``"1um,2um,1.4um,2um"``.
    width : float or str
        How wide the strip along the line is in which localizations count.
    step : float or str, optional
        The length of a bin along the line. Default: half the median uncertainty, rounded, but such that there are 20 to 500 bins.
    filter : str, optional
        Count only localizations for which this condition holds.

    Returns
    -------
    dict
        ``counts`` of the bins, ``step``, ``length``, ``width``, ``unit``, ``localizations``; ``fit`` is the Gaussian over a constant that was
        fitted to them by maximum likelihood: ``centre``, ``sigma`` and ``fwhm`` with ``…_error``, ``amplitude`` and ``background``; or None,
        and ``reason`` says why. ``curve`` has its values at the bins.

    Raises
    ------
    ValueError
        If a length is none, or the line has no length.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> x, y = rng.normal(500, 20, 2000), rng.uniform(0, 1000, 2000)
    >>> locs = Locs({"frame": np.zeros(2000, int), "x": x, "y": y}).with_column("x", x, unit="nm").with_column("y", y, unit="nm")
    >>> fit = profile(locs, line=(350, 500, 650, 500), width=1000)["fit"]
    >>> abs(fit["sigma"] - 20) < 4 * fit["sigma_error"]
    True
    """
    if not isinstance(filter, (str, type(None))):
        raise TypeError(f"filter must be text, not {type(filter).__name__}")
    ends = [_length("line", part) for part in arguments.parts(line)]
    if len(ends) != 4:
        raise ValueError(f"line must be four lengths: x and y of its ends, not {len(ends)}")
    options = {"line": ends, "width": _length("width", width), "step": _length("step", step), "filter": filter}
    _, report = _run("profile", options, {"locs": locs})
    return report


def _texts(name: str, given: Any, count: int | None) -> list[str]:
    """Picks as Rust reads them: one, or several of them."""
    parts = arguments.parts(given)
    several = parts and not isinstance(given, str) and all(isinstance(part, str) and "," in part or _is_sequence(part) for part in parts)
    texts = []
    for one in parts if several else [parts] if parts else []:
        numbers = [_length(name, part) for part in arguments.parts(one)]
        if count is not None and len(numbers) != count or count is None and (len(numbers) < 6 or len(numbers) % 2):
            expected = f"{count} lengths" if count else "x and y of three corners or more"
            raise ValueError(f"{name} must be {expected}, not {len(numbers)}")
        texts.append(f"{name}:" + ",".join(part if isinstance(part, str) else repr(float(part)) for part in numbers if part is not None))
    return texts


def _is_sequence(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, str)
