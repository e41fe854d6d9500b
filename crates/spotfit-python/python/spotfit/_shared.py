"""Fits in which data sets share parameters, or in which something is known of parameters beforehand."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _arguments as arguments
from . import _spotfit
from ._model_fits import ModelFits
from ._warnings import tell

if TYPE_CHECKING:
    from ._model import Model


class SharedValue(NamedTuple):
    """A value that data sets share: its standard error is 0 at a limit that the data push it against, and infinite if the data do not determine it."""

    name: str
    group: Hashable
    value: float
    error: float
    status: int


class SharedModelFits(ModelFits):
    """Outcomes of fits in which data sets share parameters. Each data set has its own χ², and degrees of freedom of its own points beside
    its own parameters.

    Attributes
    ----------
    shared : tuple of SharedValue
        The shared values, by parameter and by group as they appear.
    total_chi2 : float
        χ² or the deviance of all data sets together, with the priors.
    total_degrees : int
        Points and priors minus all free parameters.
    left_out : int
        Data sets that were left out, because they are invalid.
    """

    __slots__ = ("left_out", "shared", "total_chi2", "total_degrees")

    shared: tuple[SharedValue, ...]
    total_chi2: float
    total_degrees: int
    left_out: int

    def __reduce__(self) -> Any:
        _, given = super().__reduce__()
        return _again, (given, self.shared, self.total_chi2, self.total_degrees, self.left_out)


def _again(given: tuple[Any, ...], *beside: Any) -> SharedModelFits:
    return _with(SharedModelFits(*given), *beside)


def _with(fits: SharedModelFits, shared: Any, chi2: float, degrees: int, left_out: int) -> SharedModelFits:
    fits.shared, fits.total_chi2, fits.total_degrees, fits.left_out = tuple(shared), chi2, degrees, left_out
    return fits


def fit(model: Model, fitter: Any, data: Any, made: Any, shared: Any, priors: Any, options: dict[str, Any]) -> SharedModelFits:
    """Fits data sets that share parameters."""
    names = list(model.parameters)
    labels: dict[int, list[Hashable]] = {}
    asked: list[tuple[int, list[int] | None]] = []
    if isinstance(shared, str):
        shared = [shared]
    for name in shared or ():
        model._check(name)
        number = names.index(name)
        groups = shared[name] if isinstance(shared, Mapping) else None
        if groups is None:
            asked.append((number, None))
            continue
        found: dict[Hashable, int] = {}
        given = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
        try:
            asked.append((number, [found.setdefault(group, len(found)) for group in given]))
        except TypeError:
            raise TypeError(f"the groups of {name} must be words or numbers, one for each data set") from None
        labels[number] = list(found)
    known: list[tuple[int, float, float]] = []
    for name, prior in dict(priors or {}).items():
        model._check(name)
        try:
            mean, deviation = prior
        except (TypeError, ValueError):
            raise ValueError(f"the prior of {name} must be a mean and a standard deviation") from None
        mean, deviation = (arguments.number(f"prior of {name}", value) for value in (mean, deviation))
        known.append((names.index(name), mean, deviation))
    (*outcomes, beside, answers), told = _spotfit.fit_shared(model._model, fitter, data, options, asked, known)
    values, chi2, degrees, left_out = told
    if beside[2] is not None:
        tell(beside[2])
    fits = SharedModelFits(model.parameters, *outcomes, beside=beside[:2], answers=answers, made=made)  # type: ignore[misc]
    named = [
        SharedValue(names[number], labels[number][group] if number in labels else None, value, error, status)
        for number, group, value, error, status in values
    ]
    return _with(fits, named, chi2, degrees, left_out)
