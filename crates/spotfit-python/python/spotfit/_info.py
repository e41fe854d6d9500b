"""What a file is."""

from __future__ import annotations

import json
from os import PathLike, fspath
from typing import Any

from . import _spotfit


def info(path: str | PathLike[str]) -> dict[str, Any]:
    """Says what a file is, and how it was made: a table, a record, a movie, a calibration or a measured PSF.

    Parameters
    ----------
    path : path
        The file, or the folder of a movie.

    Returns
    -------
    dict
        ``kind`` is "table", "record", "movie", "calibration" or "psf". A table has ``columns`` (each with name and unit), ``rows``,
        ``frames`` (the first and the last, from 1), ``pixel_size`` in nanometres, ``origin`` and its ``record``; a movie ``frames``,
        ``size``, ``pixels``, ``axes``, ``pixel_size`` and its ``acquisition`` (camera, times in seconds, offset, gains) or None; a PSF
        ``extent``, ``heights``, ``single`` (whether it has one member), ``light``, ``misfit`` and ``field`` (where it varies across
        the frame). It is what ``spotfit info --json`` prints.

    Raises
    ------
    FileNotFoundError, OSError
        If it is not there.
    ValueError
        If it is none of these.

    Examples
    --------
    >>> import tempfile, numpy as np, spotfit
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/movie.npy", np.zeros((10, 32, 64), np.uint16))
    ...     found = spotfit.info(f"{folder}/movie.npy")
    >>> found["kind"], found["frames"], found["size"]
    ('movie', 10, [64, 32])
    """
    found: dict[str, Any] = json.loads(_spotfit.info(fspath(path))[0])
    return found
