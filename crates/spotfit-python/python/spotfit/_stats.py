"""What localizations are like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from ._locs import Locs
from ._steps import _run


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
    options = {"filter": filter, "nena": arguments.flag("nena", nena), "frc": arguments.flag("frc", frc)}
    _, report = _run("stats", options, {"locs": locs})
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
