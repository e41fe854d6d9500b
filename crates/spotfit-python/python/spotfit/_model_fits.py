"""Outcomes of fits of models."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ._fits import CONVERGED, NAMES, Status, told

if TYPE_CHECKING:
    import pandas
    import polars

Doubles = npt.NDArray[np.float64]
Counts = npt.NDArray[np.uint32]


class ModelFits:
    """Outcomes of fits of a model, one for each data set. ``fits["t"]`` is the parameter t of all.

    Attributes
    ----------
    names : tuple of str
        The names of the parameters.
    parameters : array (n, parameters)
        What was found; NaN where the status is invalid.
    errors : array (n, parameters)
        Standard errors; 0 for parameters that are held, or ended on a limit: those of the others are beside it. Infinite
        for parameters that the data do not determine.
    covariance : array (n, parameters, parameters) or None
        Their covariance, if it was wanted.
    chi2 : array (n,)
        χ² = Σw(f - y)², or the deviance.
    degrees : array (n,)
        Points less parameters that are neither held nor ended on a limit.
    iterations, evaluations : array (n,)
        Steps taken, and visits to the points.
    status : array (n,)
        How each fit ended: a number, see `Status`.
    """

    __slots__ = ("chi2", "covariance", "degrees", "errors", "evaluations", "iterations", "names", "parameters", "status")

    def __init__(
        self,
        names: tuple[str, ...],
        parameters: Doubles,
        errors: Doubles,
        covariance: Doubles | None,
        chi2: Doubles,
        degrees: Counts,
        iterations: Counts,
        evaluations: Counts,
        status: npt.NDArray[np.uint8],
    ) -> None:
        self.names = names
        self.parameters = parameters
        self.errors = errors
        self.covariance = covariance
        self.chi2 = chi2
        self.degrees = degrees
        self.iterations = iterations
        self.evaluations = evaluations
        self.status = status

    def _number(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise KeyError(f"there is no parameter '{name}' ({', '.join(self.names)})") from None

    def __getitem__(self, name: str) -> Doubles:
        """A parameter (n,) by its name."""
        return self.parameters[:, self._number(name)]

    def error_of(self, name: str) -> Doubles:
        """The standard error (n,) of a parameter."""
        return self.errors[:, self._number(name)]

    @property
    def converged(self) -> npt.NDArray[np.bool_]:
        """Which fits met a criterion, or cannot be improved."""
        return self.status <= CONVERGED

    @property
    def found(self) -> npt.NDArray[np.bool_]:
        """Which fits have converged, or ended on a limit that was set."""
        return self.status <= Status.at_limit

    def counts(self) -> dict[str, int]:
        """How many fits ended in which way, by the name of the status."""
        counts = np.bincount(self.status, minlength=len(NAMES))
        return {status.name: int(counts[status]) for status in Status if counts[status]}

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of a table, by name: each parameter, its error, and how the fit ended."""
        columns: dict[str, npt.NDArray[Any]] = {}
        for name in self.names:
            columns |= {name: self[name], f"{name}_error": self.error_of(name)}
        columns |= {"chi2": self.chi2, "degrees": self.degrees, "iterations": self.iterations}
        return columns | {"status": NAMES[self.status]}

    def to_pandas(self) -> pandas.DataFrame:
        """The columns as a data frame of pandas."""
        import pandas

        return pandas.DataFrame(self.columns())

    def to_polars(self) -> polars.DataFrame:
        """The columns as a data frame of Polars."""
        import polars

        return polars.DataFrame({name: np.ascontiguousarray(values) for name, values in self.columns().items()})

    def __len__(self) -> int:
        return len(self.status)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __repr__(self) -> str:
        lines = [f"ModelFits of {len(self):,} data sets: " + (told(self.counts()) or "nothing to do")]
        good = self.found
        if good.any():
            limited = " or were found at a limit" if (self.status == Status.at_limit).any() else ""
            lines.append(f"  medians of those that converged{limited}:")
            for name in self.names:
                value, error = np.median(self[name][good]), np.median(self.error_of(name)[good])
                lines.append(f"  {name:<10} {value:>9.5g} ± {error:.2g}")
        return "\n".join(lines)
