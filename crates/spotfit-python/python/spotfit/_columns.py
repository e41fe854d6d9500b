"""Columns of numbers in text, as instruments, Excel and Prism export them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Literal

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit
from ._frozen import frozen
from ._warnings import tell


@dataclass(frozen=True)
class Columns:
    """Data sets in columns: what `read_columns` returns."""

    names: list[str]
    """The names of the columns: of x, and then of each data set; empty ones where the text has none."""
    units: list[str]
    """Their units, if the text has a line of them below the names (of a long table those of x only); otherwise an empty list."""
    x: npt.NDArray[np.float64]
    """The points (points,), of several variables (variables, points), of a long table (n, variables, points); read-only."""
    y: npt.NDArray[np.float64]
    """The data sets (n, points), read-only; NaN where there is no number."""
    weights: npt.NDArray[np.float64]
    """Weights of `y` (n, points): 0 where there is no number, so that a fit leaves the point out; elsewhere 1, or 1/errors²."""
    errors: npt.NDArray[np.float64] | None = None
    """The standard deviations of `y` (n, points), if there are columns of them."""

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """All numbers (column, row), x first, read-only; of a table that is not long."""
        if self.x.ndim == 3:
            raise ValueError("a long table has no columns of data sets: x and y have them")
        return frozen(np.vstack([np.atleast_2d(self.x), self.y]))


def read_columns(
    path: str | PathLike[str],
    *,
    columns: str | Sequence[str | int] = (),
    skip: int = 0,
    by: str | Sequence[str | int] = (),
    error_columns: str | Sequence[str | int] = (),
    x_columns: str | Sequence[str | int] = (),
    sheet: str | int | None = None,
    decimal: Literal["point", "comma", ".", ","] | None = None,
) -> Columns:
    """Reads columns of numbers from a text, or from a sheet of a workbook of Excel (``.xlsx``).

    Columns are between commas, semicolons, tabs or spaces, whichever makes numbers of them; with decimal points or commas, and digits in
    groups, as all numbers together tell; in UTF-8, UTF-16 or Latin-1, with the ends of lines of any system. The last line with a name for
    each column has the names, and one with units may be below it. Lines that begin with ``#``, ``%`` or ``!``, columns without numbers and
    names or numbers of rows are left out.

    Parameters
    ----------
    path : path
        The file.
    columns : sequence of str or int
        The columns that are read, by their names or numbers from 1. Default: all of them.
    skip : int
        Do not look at so many lines at the start.
    by : str, or sequence of str or int
        Columns of a long table, which may have words: each of their values is a data set, with x and y in the columns beside them.
    error_columns : str, or sequence of str or int
        Columns that have the standard deviations of y: one for each data set; or, as one string, what their names have behind those of
        the data sets, such as ``"_sd"``.
    x_columns : str, or sequence of str or int
        The columns of the variables, where there are several; `columns` has data sets only then.
    sheet : str or int, optional
        The sheet of a workbook, by its name or number from 1. Default: the first with cells.
    decimal : {"point", "comma"}, optional
        The mark before decimals, where the numbers do not tell: ``1,250`` may be 1250 or 1.25; ``"."`` and ``","`` mean the same.

    Returns
    -------
    Columns
        Names, units and numbers.

    Raises
    ------
    FileNotFoundError, OSError
        If the file is not there, or cannot be read.
    ValueError
        If a cell is neither a number nor empty, or there are no two columns; if nothing tells whether a mark is before decimals or between
        groups of digits, and `decimal` is not given.

    Warns
    -----
    SpotfitWarning
        If something was left out.

    Examples
    --------
    >>> import tempfile, spotfit
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/decay.csv", "w") as file:
    ...         length = file.write("t;a;b\\n" + "".join(f"{t};{3 * t},5;{2 * t}\\n" for t in range(9)))
    ...     columns = spotfit.read_columns(f"{folder}/decay.csv")
    >>> columns.names, columns.y.shape
    (['t', 'a', 'b'], (2, 9))
    >>> fits = spotfit.Model("k*x + c").fit(columns.y, x=columns.x, weights=columns.weights, start={"k": 1, "c": 0})
    >>> fits["k"].round(6).tolist()
    [3.0, 2.0]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/long.csv", "w") as file:
    ...         length = file.write("well,t,signal\\n" + "".join(f"{'AB'[t % 2]},{t},{2 * t}\\n" for t in range(9)))
    ...     columns = spotfit.read_columns(f"{folder}/long.csv", by="well")
    >>> columns.names, columns.x.shape, columns.weights.tolist()
    (['t', 'A', 'B'], (2, 1, 5), [[1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 0.0]])
    """
    whole = arguments.whole("skip", skip)
    chosen, keys, deviations, variables = (_names(of) for of in (columns, by, error_columns, x_columns))
    own = None if sheet is None else str(sheet)
    names, units, x, y, errors, weights, notes = _spotfit.read_columns(path, chosen, whole, keys, deviations, variables, own, decimal)
    tell(notes)
    # Where all data sets have the same points, and there is one variable, these axes say nothing.
    shared = x[0] if not keys else x
    points = shared[0] if shared.ndim == 2 and len(shared) == 1 else shared
    found = None if errors is None else frozen(errors)
    return Columns([*names[0], *names[1]], units, frozen(points), frozen(y), frozen(weights), found)


def _names(columns: str | Sequence[str | int]) -> list[str]:
    return [columns] if isinstance(columns, str) else [str(column) for column in columns]
