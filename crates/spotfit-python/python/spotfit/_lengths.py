"""Lengths of localizations, in one unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._locs import Locs


def check(locs: Locs) -> None:
    """Names the argument if it is no table."""
    if not isinstance(locs, Locs):
        raise TypeError(f"locs must be spotfit.Locs, not {type(locs).__name__}")


def uncertainty(locs: Locs) -> npt.NDArray[Any] | None:
    """That of x and y, in their unit."""

    def of(name: str) -> npt.NDArray[Any]:
        factor = scale(locs, locs.units[name], locs.units.get("x", ""))
        values: npt.NDArray[Any] = locs[name] if factor == 1 else factor * locs[name]
        return values

    if "uncertainty" in locs.names:
        return of("uncertainty")
    if {"uncertainty_x", "uncertainty_y"} <= set(locs.names):
        both: npt.NDArray[Any] = np.sqrt((of("uncertainty_x") ** 2 + of("uncertainty_y") ** 2) / 2)
        return both
    return None


def scale(locs: Locs, found: str, needed: str) -> float:
    """What a length in one unit is multiplied by to be in the other."""
    # A column that was set without a unit has that of the others.
    if {found, needed} != {"px", "nm"}:
        return 1.0
    size = locs.movie.pixel_size
    if size is None:
        raise ValueError("the size of a pixel is not known: with_pixel_size tells it")
    return size if needed == "nm" else 1 / size


def usual(locs: Locs, name: str) -> float | None:
    """The median of what is positive."""
    values = uncertainty(locs) if name == "uncertainty" else locs[name] if name in locs.names else None
    if values is None:
        return None
    good = values[np.isfinite(values) & (values > 0)]
    return float(np.median(good)) if len(good) else None
