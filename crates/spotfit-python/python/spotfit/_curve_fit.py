"""SciPy's interface to fits of curves."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from ._model import Model, _named
from ._model_fits import Doubles, ModelFits
from ._trace import count_of, takes, traced
from ._warnings import tell

#: The names of variables in formulas.
LETTERS = ("x", "y", "z")


def curve_fit(
    f: str | Model | Callable[..., Any],
    xdata: npt.ArrayLike,
    ydata: npt.ArrayLike,
    p0: npt.ArrayLike | None = None,
    sigma: npt.ArrayLike | None = None,
    absolute_sigma: bool = False,
    check_finite: bool | None = None,
    bounds: Any = (-np.inf, np.inf),
    *,
    nan_policy: Literal["raise", "omit"] | None = None,
) -> tuple[Doubles, Doubles]:
    """Fits a function as ``scipy.optimize.curve_fit`` does, by least squares and in double precision.

    Parameters
    ----------
    f : callable, str or Model
        A function ``f(x, a, b, …)`` of NumPy operations, which is made a formula; or a formula such as ``"a*exp(-x/t) + c"``, the name
        of a model, or a `Model`, whose parameters are in the order of `Model.parameters`.
    xdata : array_like (M,) or (k, M)
        The points: of one variable, or k. Formulas call them x; x and y; x, y and z; or x0, x1, ….
    ydata : array_like (M,) or (n, M)
        The data: one set, or n of them, which are fitted side by side.
    p0 : array_like (parameters,) or (n, parameters), optional
        Where to start. Default: it is searched for, and what is found from ones, where SciPy starts, is taken if it is better.
    sigma : array_like (M,) or (n, M), or a number, optional
        The errors of the data. SciPy's matrix (M, M) of correlated errors is refused.
    absolute_sigma : bool
        Whether `sigma` is what it says. Otherwise the residuals scale the covariance. Without `sigma` it is 1, as in SciPy, which a
        `SpotfitWarning` says.
    check_finite : bool, optional
        Whether what is not finite is refused. Default: yes, unless `nan_policy` is given. With False such points are left out.
    bounds : pair of array_like, or scipy.optimize.Bounds
        Lower and upper limits: a number, or one for each parameter.
    nan_policy : {"raise", "omit"}, optional
        What is done about NaN in the data.

    Returns
    -------
    popt : array (parameters,) or (n, parameters)
        What was found; NaN for data sets, of several, whose fit did not converge.
    pcov : array (parameters, parameters) or (n, parameters, parameters)
        Its covariance. Unlike SciPy's, that of a parameter pushed against a limit is 0, and the others' are beside it. Infinite for parameters that
        the data do not determine.

    Raises
    ------
    TypeError
        If `f` does what no formula can do; the message names it. If there are fewer points than parameters.
    ValueError
        If shapes do not fit, or data are not finite.
    RuntimeError
        If the fit of a single data set does not converge.

    Examples
    --------
    >>> import numpy as np, spotfit
    >>> def decay(x, a, t, c):
    ...     return a * np.exp(-x / t) + c
    >>> x = np.arange(20.0)
    >>> popt, pcov = spotfit.curve_fit(decay, x, decay(x, 5, 3, 1))
    >>> popt.round(6).tolist()
    [5.0, 3.0, 1.0]
    """
    x = _numbers("xdata", xdata)
    y = _numbers("ydata", ydata)
    if x.ndim not in (1, 2) or y.ndim not in (1, 2) or x.shape[-1] != y.shape[-1]:
        raise ValueError(f"xdata must be (M,) or (k, M) and ydata (M,) or (n, M), not of the shapes {x.shape} and {y.shape}")
    points, rows = np.atleast_2d(x), np.atleast_2d(y)
    weights = _weights(sigma, rows)
    if absolute_sigma and weights is None:
        tell("absolute_sigma without sigma: each point is taken to have the error 1 in the unit of y, as SciPy takes it")
        weights = np.ones((1, rows.shape[1]))
    points, rows, weights = _finite(points, rows, weights, check_finite, nan_policy)
    model = _model(f, len(points), p0, bounds)
    names = model.parameters
    if len(names) > rows.shape[1]:
        raise TypeError(f"there are {len(names)} parameters and only {rows.shape[1]} points")
    low, high = _bounds(bounds, len(names))
    options: dict[str, Any] = {
        "x": points, "weights": weights, "absolute": absolute_sigma, "covariance": True, "max_iterations": 5000, "tolerance": 1e-7,
        "bounds": {name: (low[j], high[j]) for j, name in enumerate(names)},
    }  # fmt: skip
    if p0 is None:
        fits = model.fit(rows, start="auto", **options)
        ones = np.clip(np.ones(len(names)), low, high)
        fits = _better(fits, model.fit(rows, start=ones, **options))
    else:
        start = np.atleast_1d(_numbers("p0", p0))
        if start.shape[-1] != len(names):
            raise ValueError(f"p0 must have {len(names)} values ({', '.join(names)}), not {start.shape[-1]}")
        if (start < low).any() or (start > high).any():
            raise ValueError("p0 must be within the bounds")
        fits = model.fit(rows, start=start, **options)
    return _outcome(fits, y.ndim == 1)


def _outcome(fits: ModelFits, single: bool) -> tuple[Doubles, Doubles]:
    assert fits.covariance is not None
    popt, pcov, found = fits.parameters.copy(), fits.covariance.copy(), fits.found
    if single and not found[0]:
        raise RuntimeError(f"Optimal parameters not found: the fit ended as {next(iter(fits.counts()))}")
    popt[~found], pcov[~found] = np.nan, np.nan
    unknown = ~np.isfinite(fits.errors).all(axis=1) & found
    if unknown.any():
        pcov[unknown] = np.inf
        warnings.warn("Covariance of the parameters could not be estimated", stacklevel=3)
    return (popt[0], pcov[0]) if single else (popt, pcov)


def _better(first: ModelFits, second: ModelFits) -> ModelFits:
    """Of each data set the fit that was found, with the smaller χ²."""
    better = second.found & (~first.found | (second.chi2 < first.chi2))
    if not better.any():
        return first
    arrays: list[Any] = [
        None if one is None or other is None else np.where(better.reshape(-1, *[1] * (one.ndim - 1)), other, one)
        for one, other in zip(first._arrays(), second._arrays(), strict=True)
    ]
    return ModelFits(first.names, *arrays, made=first._made)  # type: ignore[misc]


def _numbers(name: str, given: Any) -> Doubles:
    try:
        return np.asarray(arguments.unmasked(name, given), dtype=float)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name} must be numbers: {error}") from None


def _weights(sigma: Any, rows: Doubles) -> Doubles | None:
    if sigma is None:
        return None
    errors = _numbers("sigma", sigma)
    if errors.shape == (rows.shape[1],) * 2 and rows.shape[0] != rows.shape[1]:
        raise ValueError("sigma must be errors, not a covariance (M, M): correlated errors cannot be fitted")
    if errors.shape not in ((), rows.shape[1:], rows.shape):
        raise ValueError(f"sigma must have the shape {rows.shape[1:]} or {rows.shape}, not {errors.shape}")
    if not (errors > 0).all():
        raise ValueError("sigma must be above 0")
    return np.atleast_2d(np.broadcast_to(errors, rows.shape[1:] if errors.ndim < 2 else rows.shape) ** -2.0)


def _finite(
    points: Doubles, rows: Doubles, weights: Doubles | None, check: bool | None, policy: str | None
) -> tuple[Doubles, Doubles, Doubles | None]:
    if policy not in (None, "raise", "omit"):
        raise ValueError(f"nan_policy must be 'raise' or 'omit', not {policy!r}")
    sound = np.isfinite(points).all() and np.isfinite(rows).all()
    if sound:
        return points, rows, weights
    if policy == "raise":
        raise ValueError("input contains nan")
    if policy is None and check is not False:
        raise ValueError("array must not contain infs or NaNs")
    there = np.isfinite(points).all(axis=0)
    points, rows = points[:, there], rows[:, there]
    weights = np.ones((1, rows.shape[1])) if weights is None else weights[:, there]
    return points, rows, np.where(np.isfinite(rows), weights, 0.0)


def _model(f: Any, variables: int, p0: Any, bounds: Any) -> Model:
    if isinstance(f, Model):
        return f
    if isinstance(f, str):
        if f.strip() in _named():
            return Model(f)
        names = LETTERS[:variables] if variables <= len(LETTERS) else [f"x{number}" for number in range(variables)]
        return Model(f, list(names))
    if not callable(f):
        raise TypeError(f"f must be a function, a formula or a Model, not {type(f).__name__}")
    count = count_of(f) if p0 is None else np.shape(p0)[-1] if np.ndim(p0) else 1
    if count is None:
        # As many as there are limits.
        count = max((np.size(side) for side in _sides(bounds) if np.ndim(side)), default=None)
    if count is None or count < 1:
        raise ValueError("Unable to determine number of fit parameters.")
    if not takes(f, count):
        raise ValueError(f"f does not take {count} parameters, as many as p0 has")
    text, variables_, parameters = traced(f, variables, count)
    return Model(text, variables_, parameters)


def _sides(bounds: Any) -> tuple[Any, Any]:
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        return bounds.lb, bounds.ub
    try:
        low, high = bounds
    except (TypeError, ValueError):
        raise ValueError("bounds must be a pair of lower and upper limits") from None
    return low, high


def _bounds(bounds: Any, count: int) -> tuple[Doubles, Doubles]:
    low, high = (_numbers("bounds", side) for side in _sides(bounds))
    for side in (low, high):
        if side.shape not in ((), (count,)):
            raise ValueError(f"bounds must be numbers, or {count} of them, not of the shape {side.shape}")
    low, high = (np.broadcast_to(side, (count,)).astype(float) for side in (low, high))
    if not (low < high).all():
        raise ValueError("each lower bound must be below the upper one")
    return low, high
