"""Places to fit instead of detected spots, as callers give them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np

from . import _arguments as arguments
from . import _spotfit
from ._locs import Locs

_COLUMNS = ("frame", "x", "y")


def given(positions: Any, roi: Any, pixel_size: float | None) -> _spotfit.Positions | None:
    """Those of a file or a table, where pixels have this size in nanometres, if it is known."""
    if positions is None:
        return None
    if roi is not None:
        raise ValueError("positions and roi both say where to fit: take one of them")
    if is_file(positions):
        # For the class of the exception.
        os.stat(positions)
        return _spotfit.Positions.read(fspath(positions), pixel_size)
    table = positions if isinstance(positions, Locs) else Locs(_columns(positions))
    missing = [name for name in _COLUMNS if name not in table.names]
    if missing:
        raise ValueError(f"positions must have frame, x and y: there is no column {missing[0]!r}")
    return _spotfit.Positions.of([column for column in table._given() if column[0] in _COLUMNS], table._info, pixel_size)


def is_file(positions: Any) -> bool:
    """Whether a file was given."""
    return isinstance(positions, (str, PathLike))


def _columns(positions: Any) -> dict[str, Any]:
    """Frames, and x and y in pixels."""
    names = getattr(getattr(positions, "dtype", None), "names", None) or getattr(positions, "columns", None)
    if names is None and isinstance(positions, Mapping):
        names = positions
    if names is not None:
        return {name: positions[name] for name in _COLUMNS if name in names}
    array = np.asarray(arguments.unmasked("positions", positions))
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "uif":
        raise ValueError(f"positions must be (n, 3), frame, x and y, or a table of them, not of shape {array.shape} and {array.dtype}")
    return dict(zip(_COLUMNS, array.T, strict=True))
