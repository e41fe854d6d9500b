"""Drift is found."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from ._locs import Locs
from ._options import Length
from ._pictures import Drift, reported
from ._steps import _length, _run


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
        for. What is too fast for them adds to the error.
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
    if isinstance(beads, str) and beads != "auto":
        raise ValueError(f"beads = {beads!r} is neither 'auto' nor places (n, 2)")
    options = {
        "beads": beads if beads is None or isinstance(beads, str) else {"at": _positions(beads)},
        "bead_radius": _length("bead_radius", bead_radius),
        "frames": None if frames is None else arguments.whole("frames", frames, 2**32 - 1),
        "segment": None if segment is None else arguments.whole("segment", segment, 2**32 - 1),
        "knots": None if knots is None else arguments.whole("knots", knots, 2**32 - 1),
        "range": _length("range", range),
        "anyway": arguments.flag("anyway", anyway),
    }
    (columns, _), report = _run("drift", options, {"locs": locs})
    found = {name: values for name, _, _, values, _ in columns if name != "frame"}
    unit: Any = locs.unit
    return reported(Drift(**found, unit=unit, pixel_size=locs.movie.pixel_size), report)


def _positions(beads: npt.ArrayLike) -> list[list[float]]:
    """Places (x, y)."""
    places = np.asarray(arguments.unmasked("beads", beads), dtype=float)
    if places.ndim != 2 or places.shape[1] != 2 or not np.isfinite(places).all():
        raise ValueError(f"beads must be 'auto' or finite places (n, 2), not of shape {places.shape}")
    listed: list[list[float]] = places.tolist()
    return listed
