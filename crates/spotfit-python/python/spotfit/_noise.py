"""What is told of the noise of data, as Rust takes it."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments

Loss = Literal["huber", "tukey", "soft_l1", "cauchy"]
WeightRule = Literal["1/y", "1/y^2", "1/f", "1/f^2"]
ModelEstimator = Literal["lse", "mle", "binomial"]

_Told = tuple[
    str | None, float | None, float | None, str | None, npt.NDArray[np.float64] | None, float | npt.NDArray[np.float64] | None
]


def told(
    loss: Any, scale: Any, outlier_rate: Any, rule: str | None, trials: Any, x_errors: Any, estimator: str, shape: tuple[int, ...]
) -> _Told:
    """Loss, scale, the rate of outliers, a rule for weights, trials and errors of x."""
    if estimator == "binomial" and trials is None:
        raise ValueError("the estimator 'binomial' needs trials")
    if estimator != "binomial" and trials is not None:
        raise ValueError("trials are for the estimator 'binomial'")
    if loss is not None and not isinstance(loss, str):
        raise TypeError(f"loss must be a string, not {type(loss).__name__}")
    if isinstance(scale, str) and scale != "auto":
        raise ValueError(f"scale must be 'auto' or a number, not {scale!r}")
    held = None if isinstance(scale, str) else arguments.number("scale", scale)
    rate = None if outlier_rate is None else arguments.number("outlier_rate", outlier_rate)
    among = None
    if trials is not None:
        among = np.asarray(arguments.unmasked("trials", trials), dtype=float)
        among = np.full((1, shape[1]), float(among)) if among.ndim == 0 else np.atleast_2d(among)
    errors: Any = x_errors
    if x_errors is not None:
        errors = np.asarray(arguments.unmasked("x_errors", x_errors), dtype=float)
        errors = float(errors) if errors.ndim == 0 else errors.reshape((1,) * max(3 - errors.ndim, 0) + errors.shape)
    return loss, held, rate, rule, among, errors


def costs(told: _Told) -> str | None:
    """What makes bands of prediction unknown: a cost that is no sum of weighted squares, or errors that are not those of y alone."""
    loss, _, _, _, among, errors = told
    noise = [("loss", loss), ("the estimator 'binomial'", among), ("x_errors", errors)]
    return next((word for word, given in noise if given is not None), None)


def refuse_answers(told: _Told, *, statistics: bool, intervals: Any, compare: Any) -> None:
    """Refuses what does not follow from fits whose weights are not those that were given: intervals and comparisons fit again with these
    or a loss, and with other costs than χ² statistics mean something else."""
    loss, _, _, rule, among, errors = told
    noise = [("loss", loss), ("the estimator 'binomial'", among), ("x_errors", errors), ("weights that follow the model or the data", rule)]
    word = next((word for word, given in noise if given is not None), None)
    if word is None:
        return
    costs = loss is not None or among is not None
    again = loss is None
    for name, asked in [
        ("intervals", intervals is not None and again),
        ("compare", compare is not None and again),
        ("statistics", statistics and costs),
    ]:
        if asked:
            raise ValueError(f"{name} do not go with {word}" if name != "compare" else f"compare does not go with {word}")
