"""Tables, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ._locs import Locs
from ._steps import _table


def concatenate(
    tables: Sequence[Locs],
    *,
    frames: Literal["continue", "keep"] = "continue",
    unit: Literal["nm", "px"] | None = None,
) -> Locs:
    """One table of several, one after the other, as ``spotfit convert`` makes it.

    Parameters
    ----------
    tables : sequence of Locs
        The tables, which must have the same columns.
    frames : {"continue", "keep"}, default: "continue"
        Whether the frames of a table follow those of the one before it, as if their movies were one, or keep their numbers, for
        tables of one movie. A movie has as many frames as its table says, or else as the last localization tells.
    unit : {"nm", "px"}, optional
        The unit of lengths in the plane. Default: that of the first table.

    Returns
    -------
    Locs
        Its column ``file`` says which table a localization is from, counted from 0, unless all tables have such a column. Labels (``id``,
        ``molecule``, ``group``, ``file``) go on after those of the tables before. Tables in pixels of other sizes get those of the
        first. Of what is known of the movie, what is the same in all tables is kept. The ``report`` has ``localizations`` of each
        table and ``unit``.

    Raises
    ------
    ValueError
        If a table lacks a column, or has it in a unit that cannot be converted: in nanometres beside pixels of a size that is not
        known, for instance.

    Examples
    --------
    >>> from spotfit import Movie
    >>> one = Locs({"frame": [0, 1], "x": [3.5, 9.0], "y": [4.0, 1.0]}, Movie(100, frames=10))
    >>> other = Locs({"frame": [5], "x": [3.6], "y": [4.1]}, Movie(100)).in_nanometres()
    >>> both = concatenate([one, other])
    >>> both.x.tolist(), both.frame.tolist(), both["file"].tolist()
    ([3.5, 9.0, 3.6], [0, 1, 15], [0, 0, 1])
    """
    named = {f"table {number}": table for number, table in enumerate(tables)}
    return _table("concatenate", {"unit": unit, "frames": frames}, **named)


def joined(parts: list[Locs]) -> Locs:
    """One table of several parts of it, which have the same columns."""
    first = parts[0]
    columns = {
        name: column._replace(values=np.concatenate([part._columns[name].values for part in parts]))
        for name, column in first._columns.items()
    }
    return Locs._of(columns, first._info)
