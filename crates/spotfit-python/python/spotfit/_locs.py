"""Tables of localizations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit
from ._frozen import copied, frozen, rows
from ._warnings import tell

if TYPE_CHECKING:
    import pandas
    import polars

Array = npt.NDArray[Any]

PIXEL, NANOMETRE = "px", "nm"
#: In which unit columns are that Python makes.
_UNITS = {"photons": "photon", "background": "photon", "z": NANOMETRE, "uncertainty_z": NANOMETRE, "angle": "rad", "time": "s"}
#: Columns that count.
_WHOLE = ("frame", "id")
#: Heights, which are in nanometres whatever the unit of x is.
HEIGHTS = ("z", "uncertainty_z", "z_distance")
_LENGTHS = ("x", "y", "sigma", "sigma_x", "sigma_y", "uncertainty", "uncertainty_x", "uncertainty_y")


@dataclass(frozen=True, slots=True)
class Movie:
    """What is known of the movie that a table is of. ``dataclasses.replace(movie, frames=100)`` makes another one.

    Attributes
    ----------
    pixel_size : float or None
        Side of a pixel in nanometres.
    width, height : int or None
        Sides of the frames in pixels.
    frames : int or None
        The number of frames.

    Raises
    ------
    ValueError, TypeError
        If a number is out of its range, or none.

    Examples
    --------
    >>> Movie(100, width=64, height=48)
    Movie(pixel_size=100.0, width=64, height=48, frames=None)
    """

    pixel_size: float | None = None
    width: int | None = None
    height: int | None = None
    frames: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "pixel_size", arguments.length("pixel_size", self.pixel_size))
        for name in ("width", "height", "frames"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, arguments.whole(name, value))


class Column(NamedTuple):
    """A column: its values, its unit ("px", "nm", "photon", "rad", "s" or ""), and how they are written."""

    values: Array
    unit: str
    kind: str


class Locs:
    """Localizations: columns of numbers with names and units. ``locs.x`` and ``locs["x"]`` are the column x.

    Frames are counted from 0, and (0, 0) is the centre of the first pixel. ``x``, ``y``, ``sigma`` and ``uncertainty`` are
    in pixels or nanometres (`units`), ``z`` in nanometres, ``photons`` and ``background`` in photo-electrons.

    Localizations do not change: their columns cannot be written to, and `with_column` makes others. ``locs[mask]``,
    ``locs[2:9]`` and ``locs[[3, 1]]`` are localizations again, ``locs[3]`` is a row, a dictionary; `concatenate` joins tables.

    Parameters
    ----------
    columns : mapping
        Columns (n,) by name, which are copied. Lengths are taken for pixels.
    movie : Movie, optional
        What is known of the movie.

    Examples
    --------
    >>> locs = Locs({"frame": [0, 0, 1], "x": [3.5, 9.0, 3.6], "y": [4.0, 1.0, 4.1]})
    >>> locs.filter("x < 5").frame.tolist()
    [0, 1]
    """

    __slots__ = ("_columns", "_info", "_report")

    def __init__(self, columns: Mapping[str, npt.ArrayLike], movie: Movie | None = None) -> None:
        if not isinstance(columns, Mapping) and not hasattr(columns, "items"):
            raise TypeError(f"columns must be a mapping of names to arrays, not {type(columns).__name__}")
        known: dict[str, Column] = {}
        for name, given in columns.items():
            values = _values(name, given)
            if values.ndim != 1 or len(values) != len(next(iter(known.values()), Column(values, "", "")).values):
                raise ValueError(f"column '{name}' has the shape {values.shape}: all must be (n,) with the same n")
            unit = PIXEL if name in _LENGTHS else _UNITS.get(name, "")
            kind = "whole" if values.dtype.kind in "iu" else "double"
            known[name] = Column(values, unit, kind)
        self._set(known, info_of(movie or Movie()))

    _columns: dict[str, Column]
    _info: _spotfit.Info

    def _set(self, columns: dict[str, Column], info: _spotfit.Info) -> None:
        frozen_ = {name: column._replace(values=frozen(column.values)) for name, column in columns.items()}
        object.__setattr__(self, "_columns", frozen_)
        object.__setattr__(self, "_info", info)

    @classmethod
    def _of(cls, columns: dict[str, Column], info: _spotfit.Info) -> Locs:
        locs = cls.__new__(cls)
        locs._set(columns, info)
        return locs

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"localizations do not change: locs.with_column({name!r}, …) makes others")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("localizations do not change")

    def __setitem__(self, name: Any, value: object) -> None:
        if not isinstance(name, str):
            raise TypeError("localizations do not change: locs.with_column(name, …) makes others")
        raise TypeError(f"localizations do not change: locs.with_column({name!r}, …) makes others")

    @classmethod
    def _made(cls, made: list[Any], info: _spotfit.Info) -> Locs:
        columns = {}
        for name, unit, kind, values, words in made:
            if words:
                values = np.array(words)[values.astype(np.int64)]
            elif kind == "whole" and np.isfinite(values).all():
                values = values.astype(np.int64)
            columns[name] = Column(values, unit, kind)
        return cls._of(columns, info)

    def _given(self) -> list[Any]:
        given = []
        for name, (values, unit, kind) in self._columns.items():
            words: list[str] = []
            if values.dtype.kind in "UO":
                found, values = np.unique(values.astype(str), return_inverse=True)
                words = found.tolist()
            given.append((name, unit, kind, values, words))
        return given

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._columns)

    @property
    def units(self) -> dict[str, str]:
        """The unit of each column: "px", "nm", "photon", "rad", "s" or "" where there is none."""
        return {name: column.unit for name, column in self._columns.items()}

    @property
    def movie(self) -> Movie:
        """What is known of the movie."""
        return Movie(*self._info.numbers)

    @property
    def report(self) -> dict[str, Any]:
        """What the operation counted that made this table, such as `link`; empty for other tables, and for parts of this one."""
        return dict(getattr(self, "_report", {}))

    @property
    def unit(self) -> str:
        """The unit of x and y: "px", "nm", or "" if it is not known."""
        return self._columns["x"].unit if "x" in self._columns else ""

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_") or name not in self._columns:
            raise AttributeError(f"there is no column '{name}'")
        return self._columns[name].values

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._columns]

    def __getitem__(self, index: Any) -> Any:
        """A column by its name; a row by its number, as a dictionary; with a slice, a mask or numbers, `Locs` of those rows."""
        if isinstance(index, str):
            if index not in self._columns:
                raise KeyError(f"there is no column '{index}' ({', '.join(self._columns)})")
            return self._columns[index].values
        if isinstance(index, SupportsIndex) and not isinstance(index, (bool, np.bool_, np.ndarray)):
            return {name: column.values[index] for name, column in self._columns.items()}
        return Locs._of(
            {name: column._replace(values=rows(column.values, index, "rows")) for name, column in self._columns.items()},
            self._info,
        )

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())).values) if self._columns else 0

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def with_column(self, name: str, values: npt.ArrayLike, unit: str | None = None) -> Locs:
        """The same with another column, or one replaced; `unit` is "px", "nm", "photon", "rad", "s" or "". The values are copied.

        Examples
        --------
        >>> locs = Locs({"frame": [0, 1], "x": [3.5, 3.6], "y": [4.0, 4.1]})
        >>> locs.with_column("x", locs.x + 1).x.tolist()
        [4.5, 4.6]
        """
        array = _values(name, values)
        if array.shape != (len(self),):
            raise ValueError(f"column '{name}' must have {len(self)} values, not the shape {array.shape}")
        if unit not in (None, "", "px", "nm", "photon", "rad", "s"):
            raise ValueError(f"unit = '{unit}' is not one of 'px', 'nm', 'photon', 'rad', ''")
        kind = "whole" if array.dtype.kind in "iu" else "double"
        old = self._columns.get(name, Column(array, "", kind))
        if name in _WHOLE:
            old = old._replace(kind=kind)
        return Locs._of(self._columns | {name: old._replace(values=array, unit=unit or old.unit)}, self._info)

    def with_pixel_size(self, pixel_size: float) -> Locs:
        """The same with another side of a pixel in nanometres; no number changes."""
        size = arguments.number("pixel_size", pixel_size)
        return Locs._of(self._columns, self._info.with_pixel_size(arguments.length("pixel_size", size)))

    def in_pixels(self) -> Locs:
        """The same with lengths in pixels."""
        return self._in(NANOMETRE, PIXEL)

    def in_nanometres(self) -> Locs:
        """The same with lengths in nanometres."""
        return self._in(PIXEL, NANOMETRE)

    def _in(self, old: str, new: str) -> Locs:
        # Heights are in nanometres in either.
        wanted = [
            name
            for name, column in self._columns.items()
            if column.unit == old and name not in HEIGHTS
        ]
        if not wanted:
            return self
        size = self.movie.pixel_size
        if size is None:
            raise ValueError("the size of a pixel is not known: with_pixel_size tells it")
        scale, kind = (size, "rounded 4") if new == NANOMETRE else (1 / size, "rounded 6")
        columns = {name: Column(self._columns[name].values * scale, new, kind) for name in wanted}
        return Locs._of(self._columns | columns, self._info)

    def filter(self, condition: str) -> Locs:
        """The localizations for which a condition such as ``"photons > 300 & uncertainty < 20"`` holds."""
        if not isinstance(condition, str):
            raise TypeError(f"condition must be text, not {type(condition).__name__}")
        mask = _spotfit.filter_table(condition, self._given(), self._info)
        part: Locs = self[mask]
        return part

    def pick(self, **words: Any) -> dict[str, Any]:
        """What lies in parts of the table: see `spotfit.pick`, whose keywords these are."""
        from ._picks import pick

        return pick(self, **words)

    def profile(self, **words: Any) -> dict[str, Any]:
        """How many localizations lie along a line: see `spotfit.profile`, whose keywords these are."""
        from ._picks import profile

        return profile(self, **words)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False, picasso: Literal[0, 1] = 0) -> int:
        """Writes the table: see `write_table`."""
        return write_table(path, self, overwrite=overwrite, picasso=picasso)

    def to_pandas(self) -> pandas.DataFrame:
        """The columns as a data frame of pandas."""
        import pandas

        return pandas.DataFrame({name: column.values for name, column in self._columns.items()})

    def to_polars(self) -> polars.DataFrame:
        """The columns as a data frame of Polars."""
        import polars

        return polars.DataFrame({name: column.values for name, column in self._columns.items()})

    def __reduce__(self) -> Any:
        return _restored, (self._columns, self.movie)

    def _repr_html_(self) -> str:
        from ._notebook import html_of

        return html_of(self)

    def __repr__(self) -> str:
        frames = f" in {len(np.unique(self['frame'])):,} frames" if "frame" in self._columns else ""
        lines = [f"{len(self):,} localizations{frames}: {', '.join(self.names)}"]
        for name in ("photons", "background", "uncertainty", "sigma", "z"):
            if name in self._columns and len(self):
                column = self._columns[name]
                lines.append(f"  median {name:<12} {np.nanmedian(column.values):>9.4g} {column.unit}".rstrip())
        if self.unit:
            size = self.movie.pixel_size
            lines[0] += f"; lengths in {self.unit}" + (f", pixels of {size:g} nm" if size is not None else "")
        return "\n".join(lines)


def _restored(columns: dict[str, Column], movie: Movie) -> Locs:
    return Locs._of(columns, info_of(movie))


def info_of(movie: Movie) -> _spotfit.Info:
    if not isinstance(movie, Movie):
        raise TypeError(f"movie must be a spotfit.Movie, not {movie!r}")
    return _spotfit.Info(movie.pixel_size, movie.width, movie.height, movie.frames)


def _values(name: str, given: npt.ArrayLike) -> Array:
    """The values of a column. Files count frames from 1 or 0 as they are whole numbers, so these must be."""
    values = copied(arguments.unmasked(f"column '{name}'", given))
    if (name in _LENGTHS or name in _UNITS) and values.dtype.kind not in "uifb":
        raise TypeError(f"column '{name}' must be numbers, not {values.dtype}")
    if name not in _WHOLE or values.dtype.kind == "i":
        return values
    if values.dtype.kind not in "uifb":
        raise TypeError(f"column '{name}' must be whole numbers, not {values.dtype}")
    numbers = values.astype(float)
    wrong = np.flatnonzero(~((np.trunc(numbers) == numbers) & (np.abs(numbers) < 2**53)))
    if len(wrong):
        raise ValueError(f"column '{name}' must be whole numbers: row {wrong[0]} has {numbers.flat[wrong[0]]:g}")
    return frozen(values.astype(np.int64))


def read_table(
    path: str | PathLike[str],
    *,
    pixel_size: float | None = None,
    first_frame: Literal[0, 1] | None = None,
    origin: Literal["centre", "corner"] | None = None,
    column_names: str | None = None,
    skip_lines: int = 0,
    decimal: Literal["point", "comma", ".", ","] | None = None,
) -> Locs:
    """Reads a table of localizations.

    Parameters
    ----------
    path : path
        A ``.csv`` file of ThunderSTORM or Spotfit, an ``.hdf5`` file of Picasso with its ``.yaml``, or a table of DECODE (``.h5``), SMAP
        (``_sml.mat``), storm-analysis (``.hdf5``), PYME (``.h5r``, ``.hdf``) or ShareLoc (``.smlm``).
    pixel_size : float, optional
        Side of a pixel in nanometres, where the table does not say it. A CSV table with lengths in both units needs it.
    first_frame : {0, 1}, optional
        The number of the first frame in a CSV table, if it is not 1 where lengths have units and 0 elsewhere, nor 0 where ``id``
        begins with 0.
    origin : {"centre", "corner"}, optional
        Where (0, 0) is in a CSV table: at the centre of the first pixel, or at its corner, as in ThunderSTORM. By default where the
        record beside the table says, or else at the centre. Picasso's tables have it at the centre.
    column_names : str, optional
        What the columns of a CSV table are, where their names do not tell: for each its name here, that in the file, and its unit
        (nm, um, px, photons, rad, deg), as in ``"x=PosX nm, y=PosY nm, frame=T"``. Frames are counted from 0 then.
    skip_lines : int
        Do not look at so many lines above the names of a CSV table.
    decimal : {"point", "comma"}, optional
        The mark before decimals, where the numbers of a CSV table do not tell: ``1,250`` may be 1250 or 1.25; ``"."`` and ``","`` mean the same.

    Returns
    -------
    Locs
        With (0, 0) at the centre of the first pixel, wherever it is in the file.

    Raises
    ------
    ValueError
        If (0, 0) is at the corner of a table in nanometres and the size of a pixel is not known; if a process was killed while
        it replaced a table by one with another origin, and `origin` is not given; if nothing tells whether a mark is before decimals
        or between groups of digits, and `decimal` is not given.

    Warns
    -----
    SpotfitWarning
        If ``id`` begins with 0, so that frames are taken to be counted from 0, or above 1, so that nothing tells.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/locs.csv", "w") as file:
    ...         length = file.write("frame,x [nm],y [nm]\\n1,150,300\\n2,200,450\\n")
    ...     locs = read_table(f"{folder}/locs.csv", pixel_size=100)
    >>> locs.frame.tolist(), locs.unit, locs.in_pixels().x.tolist()
    ([0, 1], 'nm', [1.5, 2.0])
    """
    if first_frame is not None and first_frame not in (0, 1):
        raise ValueError(f"first_frame must be 0 or 1, not {first_frame!r}")
    size = arguments.length("pixel_size", pixel_size)
    skipped = arguments.whole("skip_lines", skip_lines)
    columns, info, notes = _spotfit.read_table(path, size, first_frame, origin, column_names, skipped, decimal)
    tell(notes)
    return Locs._made(columns, info)


def write_table(path: str | PathLike[str], locs: Locs, *, overwrite: bool = False, picasso: Literal[0, 1] = 0) -> int:
    """Writes a table of localizations. The file is there under its name only when it is complete. The record of a table that was
    there before goes with it.

    Parameters
    ----------
    path : path
        A ``.csv`` file with ThunderSTORM's columns, or an ``.hdf5`` file of Picasso, which gets its ``.yaml``. CSV has the
        unit that the table has; `picasso` says that of Picasso's.
    locs : Locs
        The localizations.
    overwrite : bool
        Replace a ``.yaml`` beside the ``.hdf5`` file also if Spotfit did not write it. Without it that is a
        `FileExistsError`, and nothing is written. The file that is named is always replaced.
    picasso : {0, 1}
        Which Picasso an ``.hdf5`` file is for: 0, with lengths in pixels, which every version reads; or 1, in nanometres, for
        version 1.0 and later.

    Returns
    -------
    int
        How many rows were left out, because Picasso would not read them.

    Raises
    ------
    ValueError
        If lengths must be converted, or Picasso 1.0 needs it, and the size of a pixel is not known (`Locs.with_pixel_size`).

    Examples
    --------
    >>> import tempfile
    >>> locs = Locs({"frame": [0, 1], "x": [1.5, 2.0], "y": [3.0, 4.5]}, Movie(pixel_size=100.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     left_out = write_table(f"{folder}/locs.hdf5", locs, picasso=1)
    ...     read_table(f"{folder}/locs.hdf5").x.tolist()
    [150.0, 200.0]
    """
    if not isinstance(locs, Locs):
        raise TypeError(f"locs must be spotfit.Locs, not {type(locs).__name__}")
    if "frame" in locs.names and np.any(locs["frame"] < 0):
        raise ValueError("column 'frame' has numbers below 0: frames are counted from 0")
    return _spotfit.write_table(path, locs._given(), locs._info, overwrite, arguments.whole("picasso", picasso))
