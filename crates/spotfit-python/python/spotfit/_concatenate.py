"""Tables, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ._locs import HEIGHTS, NANOMETRE, PIXEL, Column, Locs, Movie, info_of


def concatenate(tables: Sequence[Locs]) -> Locs:
    """One table of several, one after the other, with the numbers that their frames have.

    Parameters
    ----------
    tables : sequence of Locs
        The tables, which must have the same columns. Lengths get the unit of the first table, and if tables in pixels have
        pixels of other sizes, those of the first.

    Returns
    -------
    Locs
        Of what is known of the movie, what is the same in all tables; the number of frames is the largest.

    Raises
    ------
    ValueError
        If a table lacks a column, or has it in a unit that cannot be converted: in nanometres beside pixels of a size that is not
        known, for instance.

    Examples
    --------
    >>> one = Locs({"frame": [0, 1], "x": [3.5, 9.0], "y": [4.0, 1.0]}, Movie(100))
    >>> other = Locs({"frame": [5], "x": [3.6], "y": [4.1]}, Movie(100)).in_nanometres()
    >>> concatenate([one, other]).x.tolist()
    [3.5, 9.0, 3.6]
    """
    tables = list(tables)
    for table in tables:
        if not isinstance(table, Locs):
            raise TypeError(f"tables must be spotfit.Locs, not {type(table).__name__}")
    if not tables:
        raise ValueError("there is no table")
    sizes = [table.movie.pixel_size for table in tables]
    size = next((size for size in sizes if size is not None), None)
    same = [_like(number, table, tables[0], size) for number, table in enumerate(tables)]
    movies = [table.movie for table in tables]
    sides = [{getattr(movie, side) for movie in movies} for side in ("width", "height")]
    counts = [movie.frames for movie in movies if movie.frames is not None]
    width, height = (side.pop() if len(side) == 1 else None for side in sides)
    movie = Movie(size, width, height, max(counts) if len(counts) == len(movies) else None)
    found = joined(same)
    return Locs._of(found._columns, info_of(movie))


def _like(number: int, table: Locs, first: Locs, size: float | None) -> Locs:
    """A table with the columns and units of the first one, in pixels of this size."""
    for one, other, told in (first, table, f"table {number} lacks"), (table, first, "the first table lacks"):
        missing = [name for name in one.names if name not in other.names]
        if missing:
            raise ValueError(f"{told} the column '{missing[0]}': leave it out of all, or add it with with_column")
    own = table.movie.pixel_size if table.movie.pixel_size is not None else size
    columns = {}
    for name in first.names:
        column, wanted = table._columns[name], first._columns[name].unit
        values, pair = column.values, {column.unit, wanted}
        if column.unit == wanted:
            if wanted == PIXEL and own != size and name not in HEIGHTS:
                values = values * (own or 1) / (size or 1)
        elif pair != {PIXEL, NANOMETRE} or name in HEIGHTS:
            units = [unit or "no unit" for unit in (column.unit, wanted)]
            raise ValueError(f"column '{name}' of table {number} has {units[0]}, that of the first table {units[1]}")
        elif own is None or size is None:
            raise ValueError(
                f"column '{name}' of table {number} is in {column.unit}, that of the first table in {wanted}, "
                "and the size of a pixel is not known: with_pixel_size tells it"
            )
        else:
            values = values / size if wanted == PIXEL else values * own
        columns[name] = Column(values, wanted, first._columns[name].kind)
    return Locs._of(columns, table._info)


def joined(parts: list[Locs]) -> Locs:
    """One table of several with the same columns."""
    first = parts[0]
    columns = {
        name: column._replace(values=np.concatenate([part._columns[name].values for part in parts]))
        for name, column in first._columns.items()
    }
    return Locs._of(columns, first._info)
