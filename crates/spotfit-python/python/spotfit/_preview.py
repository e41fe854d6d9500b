"""Looking at a frame before a movie is localized."""

from __future__ import annotations

import base64
import html
import json
import os
from collections.abc import Sequence
from functools import cached_property
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arguments as arguments
from . import _spotfit
from ._localize import Unlearnt
from ._locs import Column, Locs
from ._preset import expanded

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import LocalizeOptions


class Preview:
    """What localizing would make of a frame; `preview` makes it. A notebook shows its picture.

    Attributes
    ----------
    frame : int
        The frame, from 0.
    kept : Locs
        What is kept: the rows of ``spotfit.localize(movie, frames=slice(frame, frame + 1))``; with ``aperture`` the light of the spots
        is that of the first frames of the movie.
    dropped : Locs
        What is dropped: the same columns, ``status``, how each fit ended, and ``reason``, why it is dropped. What was not fitted has only
        a place.
    """

    def __init__(self, made: _spotfit.Preview, frame: int) -> None:
        self._made, self.frame = made, frame
        info = made.info()
        self.kept, self.dropped = (_of_frame(Locs._made(columns, info), frame) for columns in (made.kept(), made.dropped()))

    @cached_property
    def report(self) -> dict[str, Any]:
        """All that ``spotfit preview --json`` tells."""
        told: dict[str, Any] = json.loads(self._made.told())
        return told

    @property
    def counts(self) -> dict[str, Any]:
        """How many ``candidates`` there are, how many are ``kept``, and how many are ``dropped`` for each reason."""
        found: dict[str, Any] = self.report["counts"]
        return found

    def svg(self) -> str:
        """The picture: the frame, a ring around what is kept, a square around what is dropped, and how the numbers are spread."""
        return self._made.svg()

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the picture, as the name ends: .png or .svg. It is there under its name only when it is complete.

        Raises
        ------
        ValueError
            If the name ends in something else.
        OSError
            If the file cannot be written.
        """
        name = fspath(path)
        extension = os.path.splitext(name)[1].lower()
        if extension not in (".png", ".svg"):
            raise ValueError(f"{name}: the name of a preview ends in .png or .svg")
        _spotfit.write_file(name, self.svg().encode() if extension == ".svg" else self._made.png(2.0))

    def _repr_png_(self) -> bytes:
        return self._made.png(1.0)

    def _repr_html_(self) -> str:
        picture = base64.b64encode(self._made.png(2.0)).decode()
        words = html.escape(self._made.words())
        return f'<img style="max-width:100%" alt="{words}" src="data:image/png;base64,{picture}">'

    def __repr__(self) -> str:
        return f"Preview of {len(self.kept)} kept and {len(self.dropped)} dropped"


def _of_frame(locs: Locs, frame: int) -> Locs:
    """The same with the frame's number in the movie: of an array only the frame was looked at."""
    column = locs._columns["frame"]
    return Locs._of(locs._columns | {"frame": Column(np.full(len(locs), frame, np.int64), column.unit, column.kind)}, locs._info)


def preview(
    movie: str | PathLike[str] | Sequence[str | PathLike[str]] | Any,
    *,
    frame: int = 0,
    colour_by: str = "photons",
    filter: str | None = None,
    **options: Unpack[LocalizeOptions],
) -> Preview:
    """Looks at a frame before a movie is localized: what would be kept, what dropped, and why.

    Parameters
    ----------
    movie : path, sequence of paths or array_like (n, height, width)
        The movie, as `localize` takes it.
    frame : int
        The frame, from 0.
    colour_by : str
        The column that colours what is kept in the picture.
    filter : str, optional
        A condition for what is kept, as in `filter`.
    **options
        Those of `localize` but `frames` and `follow`.

    Returns
    -------
    Preview

    Raises
    ------
    ValueError, TypeError, OSError
        As `localize`; if there is no such frame or column.

    Examples
    --------
    >>> import numpy as np, spotfit
    >>> movie = np.random.default_rng(1).poisson(20, (10, 64, 64))
    >>> movie[:, 30:33, 40:43] += 200
    >>> movie[:, 0:2, 5:8] += 200
    >>> seen = spotfit.preview(movie, frame=3, camera=spotfit.Camera())
    >>> seen, seen.dropped["reason"].tolist()
    (Preview of 1 kept and 1 dropped, ['at_edge'])
    """
    given: dict[str, Any] = expanded(options, ("filter",))
    if filter is None:
        filter = given.pop("filter", None)
    given.pop("filter", None)
    for name in ("frames", "follow"):
        if given.get(name):
            raise ValueError(f"{name} is for localizing: a preview looks at one frame")
    number = arguments.whole("frame", frame)
    whole = given.get("temporal_background") is not None
    # What is wrong with a movie and its options is told as where it is localized.
    blocks = Unlearnt(movie, **given, frames=None if whole else slice(number, number + 1))
    movie, parts = arguments.movie(movie)
    if isinstance(movie, (str, PathLike)):
        chosen = arguments.chosen_of(given, bool(given.get("strict", False)), parts)
        made = _spotfit.Preview.of_movie(blocks._options, fspath(movie), chosen, number, colour_by, filter)
        return Preview(made, number)
    array: Any = movie if hasattr(movie, "shape") else np.asarray(movie)
    count = int(array.shape[0])
    if number >= count:
        raise ValueError(f"frame = {number} is out of its range (0 to {count - 1})")
    # All of it, if other frames matter, or numbers of frames.
    whole = whole or any(given.get(name) is not None for name in ("positions", "aperture")) or given.get("psf") == "learn"
    part, place = (array[0:count], number) if whole else (array[number : number + 1], 0)
    made = _spotfit.Preview.of_frames(blocks._options, part, place, colour_by, filter)
    return Preview(made, number)
