"""Columns of numbers in text, as instruments, Excel and Prism export them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit
from ._frozen import frozen
from ._warnings import tell


@dataclass(frozen=True)
class Columns:
    """Columns of numbers: what `read_columns` returns."""

    names: list[str]
    """Their names; empty ones where the text has none."""
    units: list[str]
    """Their units, if the text has a line of them below the names; otherwise an empty list."""
    values: npt.NDArray[np.float64]
    """The numbers (column, row), read-only; NaN where there is none."""

    @property
    def x(self) -> npt.NDArray[np.float64]:
        """The first column."""
        first: npt.NDArray[np.float64] = self.values[0]
        return first

    @property
    def y(self) -> npt.NDArray[np.float64]:
        """The other columns (column, row): data sets."""
        return self.values[1:]

    @property
    def weights(self) -> npt.NDArray[np.float64]:
        """Weights of `y`: 0 where there is no number, so that a fit leaves the point out, and 1 elsewhere."""
        there: npt.NDArray[np.float64] = np.isfinite(self.y).astype(np.float64)
        return there


def read_columns(path: str | PathLike[str], *, columns: Sequence[str | int] = (), skip: int = 0) -> Columns:
    """Reads columns of numbers from a text.

    Columns are between commas, semicolons, tabs or spaces, whichever makes numbers of them; with decimal points or commas; in UTF-8, UTF-16
    or Latin-1, with the ends of lines of any system. The first line with a name for each column has the names, the next ones above
    the numbers have units. Lines that begin with ``#``, ``%`` or ``!`` and columns without numbers are left out.

    Parameters
    ----------
    path : path
        The file.
    columns : sequence of str or int
        The columns that are read, by their names or numbers from 1. Default: all of them.
    skip : int
        Do not look at so many lines at the start.

    Returns
    -------
    Columns
        Names, units and numbers.

    Raises
    ------
    FileNotFoundError, OSError
        If the file is not there, or cannot be read.
    ValueError
        If a cell is neither a number nor empty, or there are no two columns.

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
    """
    chosen = [columns] if isinstance(columns, str) else [str(column) for column in columns]
    names, units, values, notes = _spotfit.read_columns(path, chosen, arguments.whole("skip", skip))
    tell(notes)
    return Columns(names, units, frozen(values))
