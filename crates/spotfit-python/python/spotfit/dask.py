"""Spotfit on dask: fits of windows, and localizations of movies, that are computed where dask computes.

>>> import dask.array as da, spotfit, spotfit.dask
>>> spots = da.from_array(spotfit.simulate(1000, photons=1000).spots, chunks=(250, -1, -1))
>>> rows = spotfit.dask.fit(spots)
>>> rows["x"].chunks, len(spotfit.dask.fits(rows.compute()))
(((250, 250, 250, 250),), 1000)

Each task fits in the one thread that dask gives it (``threads=1``), so that a worker of n threads keeps n processors busy,
and no more. On a worker of one thread and many processors give ``threads`` as many, or 0 for all.
"""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from ._concatenate import joined
from ._device import DeviceFits
from ._fit import fit as _fit
from ._fit import fit_quietly
from ._fits import Errors, Fits
from ._localize import localize as _localize
from ._preset import expanded
from ._locs import Locs

try:
    import dask.array as da
    from dask.delayed import delayed
except ImportError as error:
    raise ImportError("spotfit.dask needs dask with its arrays: pip install 'dask[array]'") from error

if TYPE_CHECKING:
    from dask.delayed import Delayed
    from typing_extensions import Unpack

    from ._options import LocalizeOptions, Options

__all__ = ["fit", "fits", "localize"]

#: The field of the errors in rows that have them.
_ERRORS = "errors"


def fit(
    spots: da.Array,
    *,
    start: npt.ArrayLike | da.Array | None = None,
    weights: npt.ArrayLike | da.Array | None = None,
    corners: npt.ArrayLike | da.Array | None = None,
    errors: bool = False,
    dtype: Literal["float32", "float64"] | None = None,
    pixel_size: float | None = None,
    **options: Unpack[Options],
) -> da.Array:
    """Fits a Gaussian spot to every window of a dask array, chunk by chunk. Nothing is computed before dask is asked to.

    Parameters
    ----------
    spots : dask array (n, height, width)
        The windows. They may be in chunks along n, also of unknown sizes.
    start, weights, corners : array_like or dask array, optional
        As of `spotfit.fit`. Those that go with the windows get their chunks; they must be dask arrays with the same chunks
        where the sizes of these are not known.
    errors, dtype, pixel_size, **options
        As of `spotfit.fit`; but `threads` is 1 if nothing is said.

    Returns
    -------
    dask array (n,)
        Rows with the fields of ``Fits.array``: ``rows["x"]`` is the column x. With errors they have a field ``errors``
        with those of ``Errors.array``. `fits` makes `Fits` of rows that were computed.
    """
    if not isinstance(spots, da.Array):
        raise TypeError(f"spots must be a dask array, not {type(spots).__name__}")
    if spots.ndim != 3:
        raise ValueError(f"spots must be (n, height, width), not of shape {spots.shape}")
    spots = spots.rechunk({1: -1, 2: -1})
    given: dict[str, Any] = {"threads": 1, "pixel_size": pixel_size, **options}
    blocks: list[Any] = [spots, "nyx"]
    names, whole = [], {}
    for name, value in (("start", start), ("weights", weights), ("corners", corners)):
        if value is None:
            continue
        array = value if isinstance(value, da.Array) else np.asarray(arguments.unmasked(name, value))
        if name == "weights" and array.ndim == 2:
            # Those of the frame are for all windows.
            whole[name] = array
            continue
        blocks += [_alike(name, array, spots), "nyx" if name == "weights" else "n" + name[0]]
        names.append(name)
    meta = _rows(_empty(spots, dict(zip(names, blocks[2::2], strict=True)), whole, errors, dtype, given))
    return da.blockwise(
        _fit_block, "n", *blocks,
        names=names,
        options={**whole, **given, "errors": errors, "dtype": dtype},
        dtype=meta.dtype,
        meta=meta,
        concatenate=True,
    )  # fmt: skip


def fits(rows: npt.NDArray[Any]) -> Fits:
    """The outcomes in rows that `fit` made, after dask computed them: with their errors, if there are any."""
    fields = rows.dtype.fields if isinstance(rows, np.ndarray) else None
    if not fields or "sigma_x" not in fields or rows.ndim != 1:
        raise TypeError("rows must be a NumPy array (n,) of the rows of spotfit.dask.fit: compute it first")
    if _ERRORS not in fields:
        return Fits(rows)
    own = [name for name in rows.dtype.names or () if name != _ERRORS]
    array = np.empty(len(rows), np.dtype([(name, fields[name][0]) for name in own], align=True))
    for name in own:
        array[name] = rows[name]
    return Fits(array, Errors(np.ascontiguousarray(rows[_ERRORS]), array))


def localize(movie: str | PathLike[str] | da.Array, **options: Unpack[LocalizeOptions]) -> Delayed:
    """Finds and fits the spots of a movie, later.

    A file is one task: many movies are ``dask.compute(*[spotfit.dask.localize(path) for path in paths])``, and
    `spotfit.fit_files` with the executor of a cluster if each shall have a table in a file. An array is a task for each
    chunk of frames, and one that joins them. What is judged by the typical width of a movie's spots (``flags``,
    ``drop="width"``), with ``emitters="auto"`` the width itself and how spots differ from Gaussians, ``aperture`` and
    ``temporal_background`` are found chunk by chunk then.

    Parameters
    ----------
    movie : path or dask array (n, height, width)
        A file that the workers see, or frames.
    **options
        Those of `spotfit.localize`; but `threads` is 1 if nothing is said.

    Returns
    -------
    Delayed
        Of `Locs`: ``.compute()`` gives them. It is no data frame, for `Locs` know their units and their movie;
        ``dask.delayed(spotfit.Locs.to_pandas)(locs)`` makes one of it.
    """
    given: dict[str, Any] = {"threads": 1, **expanded(options)}
    if isinstance(movie, (str, PathLike)):
        return delayed(_localize)(movie, **given)
    if not isinstance(movie, da.Array):
        raise TypeError(f"movie must be a path or a dask array, not {type(movie).__name__}")
    if movie.ndim != 3:
        raise ValueError(f"movie must be (n, height, width), not of shape {movie.shape}")
    if any(side != side for side in movie.shape):
        raise ValueError("movie has chunks of unknown sizes: its frames cannot be numbered; compute_chunk_sizes() counts them")
    if given.get("psf") == "learn":
        raise ValueError("psf = 'learn' needs all of the movie: learn it once by spotfit.learn_psf, and give its file")
    wanted = given.pop("frames", None) or slice(None)
    if not isinstance(wanted, slice) or wanted.step not in (None, 1):
        raise ValueError("frames must be a slice without a step")
    first = wanted.indices(len(movie))[0]
    part = movie[wanted].rechunk({1: -1, 2: -1})
    starts = [first, *(first + np.cumsum(part.chunks[0])[:-1]).tolist()]
    task = delayed(_localize_block)
    found = [
        task(block, start, movie.shape, given)
        for block, start in zip(part.to_delayed().ravel().tolist(), starts, strict=True)
    ]
    # Ids of positions are their rows.
    return delayed(_joined)(found, given.get("positions") is None)


class _Part:
    """A part of a movie that is sliced as if the whole were there."""

    def __init__(self, frames: npt.NDArray[Any], first: int, shape: tuple[int, ...]) -> None:
        self._frames, self._first = frames, first
        self.shape, self.dtype = shape, frames.dtype

    def __getitem__(self, frames: slice) -> npt.NDArray[Any]:
        return self._frames[frames.start - self._first : frames.stop - self._first]


def _localize_block(frames: npt.NDArray[Any], first: int, shape: tuple[int, ...], options: dict[str, Any]) -> Locs:
    numbers = slice(first, first + len(frames))
    return _localize(_Part(np.asarray(frames), first, shape), frames=numbers, **options)


def _joined(parts: list[Locs], numbered: bool) -> Locs:
    locs = joined(parts)
    # Each part counted from 1.
    return locs.with_column("id", np.arange(1, len(locs) + 1)) if numbered and "id" in locs.names else locs


def _fit_block(spots: npt.NDArray[Any], *beside: npt.NDArray[Any], names: list[str], options: dict[str, Any]) -> npt.NDArray[Any]:
    own: dict[str, Any] = dict(zip(names, beside, strict=True))
    # It was said where the windows were given.
    found = fit_quietly(spots, **own, **options)
    # Chunks may be arrays of CuPy.
    return _rows(found.to_host() if isinstance(found, DeviceFits) else found)


def _rows(found: Fits) -> npt.NDArray[Any]:
    if found._errors is None:
        return found.array
    own = found.array.dtype
    kinds = [(name, own[name]) for name in own.names or ()]
    rows = np.empty(len(found), [*kinds, (_ERRORS, found.errors.array.dtype)])
    for name, _ in kinds:
        rows[name] = found.array[name]
    rows[_ERRORS] = found.errors.array
    return rows


def _alike(name: str, array: Any, spots: da.Array) -> da.Array:
    """An array with the chunks of the windows."""
    count, chunks = spots.shape[0], spots.chunks[0]
    known = count == count
    if not isinstance(array, da.Array):
        if not known and len(chunks) > 1:
            raise ValueError(f"{name} must be a dask array with the chunks of spots, for the sizes of these are not known")
        if known and (array.ndim == 0 or len(array) != count):
            raise ValueError(f"{name} must have one entry for each of the {count} windows, not the shape {array.shape}")
        array = da.from_array(array, chunks=(chunks if known else -1, *(-1,) * (array.ndim - 1)))
    if array.ndim != (3 if name == "weights" else 2):
        raise ValueError(f"{name} has the wrong number of axes: its shape is {array.shape}")
    if known and array.shape[0] == array.shape[0] and array.shape[0] != count:
        raise ValueError(f"{name} has {array.shape[0]} entries for {count} windows")
    array = array.rechunk(dict.fromkeys(range(1, array.ndim), -1))
    if array.chunks[0] != chunks and known and array.shape[0] == array.shape[0]:
        array = array.rechunk({0: chunks})
    if array.numblocks[0] != spots.numblocks[0]:
        raise ValueError(f"{name} has {array.numblocks[0]} chunks, spots have {spots.numblocks[0]}")
    return array


def _empty(
    spots: da.Array, beside: dict[str, da.Array], whole: dict[str, Any], errors: bool, dtype: Any, options: dict[str, Any]
) -> Fits:
    """The outcome of no windows: what is wrong with arguments is told here, and the type of the rows follows from it.

    Whether there is a GPU, or which instructions, only a worker knows.
    """
    arguments.whole("threads", options["threads"], 1024)
    here = {**options, "instruction_set": None, "device": 0, "threads": 1}
    if here.get("backend") == "gpu":
        here["backend"] = "cpu"
    sides = [9 if side != side else int(side) for side in spots.shape[1:]]
    none: dict[str, Any] = {name: np.empty((0, *array.shape[1:]), array.dtype) for name, array in beside.items()}
    return _fit(np.empty((0, *sides), spots.dtype), **none, **whole, errors=errors, dtype=dtype, **here)
