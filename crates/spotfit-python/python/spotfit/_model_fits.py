"""Outcomes of fits of models."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsIndex, overload

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit
from ._fits import NAMES, Ended, Status, reported, told
from ._frozen import frozen, rows
from ._plots import Format, format_of, save_plot, table

if TYPE_CHECKING:
    from ._model import Model
    import pandas

Doubles = npt.NDArray[np.float64]
Counts = npt.NDArray[np.uint32]


class Made(NamedTuple):
    """How fits were made: the model, where the points lie if that was said, the shape of a data set, estimator, threads, whether weights
    are 1/variance, weights (1 or n, points) or the rule that made them, and what leaves the spread of data unknown."""

    model: Model
    points: npt.NDArray[Any] | None
    shape: tuple[int, ...]
    estimator: str
    threads: int
    absolute: bool = False
    weights: npt.NDArray[Any] | None = None
    rule: str | None = None
    costs: str | None = None


class ModelFits(Ended):
    """Outcomes of fits of a model, one for each data set. ``fits["t"]`` is the parameter t of all, ``fits[mask]``, ``fits[2:9]``
    and ``fits[[3, 1]]`` are fits again, and ``fits[3]`` is one of them, a dictionary. Arrays cannot be written to; copies can.

    Attributes
    ----------
    names : tuple of str
        The names of the parameters.
    parameters : array (n, parameters)
        What was found; NaN where the status is invalid.
    errors : array (n, parameters)
        Standard errors; 0 for parameters that are held, or that the data push against a limit: those of the others are
        beside it. Infinite for parameters that the data do not determine.
    covariance : array (n, parameters, parameters) or None
        Their covariance, if it was wanted.
    chi2 : array (n,)
        χ² = Σw(f - y)², or the deviance.
    degrees : array (n,)
        Points less parameters that are neither held nor pushed against a limit.
    iterations, evaluations : array (n,)
        Steps taken, and visits to the points.
    status : array (n,)
        How each fit ended: a number, see `Status`.
    scale : array (n,) or None
        With a loss, the standard deviation that it took the residuals (times the root of their weights) of each data set to have.
    outliers : array (n, points) or None
        Whether each point is an outlier, if `outlier_rate` was given.
    answers : dict of arrays (n,)
        What `Model.fit` was asked for besides, by the names of the columns of ``spotfit curve``; each is ``fits[name]``, too. NaN where
        nothing is known.
    """

    __slots__ = (
        "_made", "answers", "chi2", "covariance", "degrees", "errors", "evaluations", "iterations", "names", "outliers",
        "parameters", "scale", "status",
    )  # fmt: skip

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
        beside: tuple[Doubles | None, npt.NDArray[np.bool_] | None] = (None, None),
        answers: dict[str, Any] | None = None,
        made: Made | None = None,
    ) -> None:
        self.names = names
        self.parameters = frozen(parameters)
        self.errors = frozen(errors)
        self.covariance = None if covariance is None else frozen(covariance)
        self.chi2 = frozen(chi2)
        self.degrees = frozen(degrees)
        self.iterations = frozen(iterations)
        self.evaluations = frozen(evaluations)
        self.status = frozen(status)
        self.scale, self.outliers = (None if array is None else frozen(array) for array in beside)
        self.answers: dict[str, npt.NDArray[Any]] = {name: frozen(np.asarray(values)) for name, values in (answers or {}).items()}
        self._made = made

    def _arrays(self) -> list[npt.NDArray[Any] | None]:
        return [
            self.parameters, self.errors, self.covariance, self.chi2, self.degrees, self.iterations, self.evaluations, self.status,
        ]  # fmt: skip

    def __reduce__(self) -> Any:
        return ModelFits, (self.names, *self._arrays(), (self.scale, self.outliers), self.answers, self._made)

    def _number(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise KeyError(f"there is no parameter '{name}' ({', '.join(self.names)})") from None

    @overload
    def __getitem__(self, index: str) -> Doubles: ...
    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice | npt.NDArray[Any] | list[Any]) -> ModelFits: ...
    def __getitem__(self, index: Any) -> Any:
        """A parameter (n,) by its name; one outcome by its number, as a dictionary; with a slice, a mask or numbers, `ModelFits` of
        those."""
        if isinstance(index, str):
            if index in self.answers:
                return self.answers[index]
            return self.parameters[:, self._number(index)]
        if isinstance(index, SupportsIndex) and not isinstance(index, (bool, np.bool_, np.ndarray)):
            return {name: column[index] for name, column in self.columns().items()}
        parts: list[Any] = [None if array is None else rows(array, index, "fits") for array in self._arrays()]
        beside = [None if array is None else rows(array, index, "fits") for array in (self.scale, self.outliers)]
        made = self._made
        if made is not None and made.points is not None and made.points.ndim == 3:
            made = made._replace(points=rows(made.points, index, "fits"))
        if made is not None and made.weights is not None and len(made.weights) == len(self) != 1:
            made = made._replace(weights=rows(made.weights, index, "fits"))
        answers = {name: rows(values, index, "fits") for name, values in self.answers.items()}
        return ModelFits(self.names, *parts, beside=(beside[0], beside[1]), answers=answers, made=made)  # type: ignore[misc]

    def _predict(self, model: Model, x: npt.ArrayLike | None) -> Doubles:
        made = self._made
        if x is not None:
            return model._model.predict(self.parameters, grid=None, points=model._points(x, len(self)), length=0)
        if made is None:
            raise ValueError("x must say where: it is not known where the data of these fits were")
        grid = made.shape if len(made.shape) == 2 and made.points is None else None
        length = int(np.prod(made.shape))
        found = model._model.predict(self.parameters, grid=grid, points=made.points, length=length)
        return found.reshape(len(self), *made.shape)

    def predict(self, x: npt.ArrayLike | None = None) -> Doubles:
        """The values of the model with these parameters.

        Parameters
        ----------
        x : array_like (points,), (variables, points), (n, points) or (n, variables, points), optional
            Where, as of `Model.fit`. Default: where the data were. Their `x` is not copied, so it must not have changed.

        Returns
        -------
        array (n, points), or (n, height, width) of images
            NaN for fits that are invalid.
        """
        if self._made is None:
            raise ValueError("these fits do not know their model: Model.predict(fits, x) takes them")
        return self._predict(self._made.model, x)

    def residuals(self, y: npt.ArrayLike, x: npt.ArrayLike | None = None) -> Doubles:
        """What the model leaves of the data: y - f(x).

        Parameters
        ----------
        y : array_like (points,), (n, points) or (n, height, width)
            The data that were fitted, or others at the same points.
        x : array_like, optional
            As of `predict`.

        Returns
        -------
        array (n, points), or (n, height, width) of images

        Examples
        --------
        >>> import numpy as np, spotfit
        >>> x = np.arange(4.0)
        >>> fits = spotfit.Model("a*x + b").fit([0.0, 1.0, 2.0, 7.0], x=x, start=[1, 0])
        >>> fits.residuals([0.0, 1.0, 2.0, 7.0]).round(2).tolist()
        [[0.8, -0.4, -1.6, 1.2]]
        """
        data = np.asarray(arguments.unmasked("y", y))
        if data.dtype.kind not in "uifb":
            raise TypeError(f"y must be numbers, not {data.dtype}")
        values = self.predict(x)
        if data.ndim == 1 and len(self) == 1:
            data = data[None]
        if data.shape != values.shape:
            raise ValueError(f"y must have the shape {values.shape}, not {data.shape}")
        found: Doubles = np.subtract(data, values, out=values)
        return found

    def _weights(self, weights: Any, data: Doubles, x: npt.ArrayLike | None = None) -> Doubles | None:
        """Weights (n, points) of data at x: those that are given, or those of the fits; None if all are 1."""
        made = self._made
        if weights is None and made is not None and made.rule is not None:
            values = data if made.rule.startswith("1/y") else self.predict(x).reshape(data.shape)
            with np.errstate(divide="ignore"):
                found: Doubles = np.where(values == 0, 0.0, np.abs(values) ** (-2.0 if made.rule.endswith("^2") else -1.0))
            return found
        weights = made.weights if weights is None and made is not None else weights
        if weights is None:
            return None
        all_: Doubles = np.asarray(arguments.unmasked("weights", weights), dtype=float)
        all_ = np.full((1, data.shape[1]), float(all_)) if all_.ndim == 0 else all_
        all_ = all_.reshape(len(all_), -1) if all_.ndim == 3 else np.atleast_2d(all_)
        return np.broadcast_to(all_, (len(self), all_.shape[1])) if len(all_) == 1 else all_

    def r_squared(
        self, y: npt.ArrayLike | None = None, x: npt.ArrayLike | None = None, *, weights: npt.ArrayLike | None = None
    ) -> Doubles:
        """The coefficient of determination R²: which share of the variance of the data the model explains.

        Parameters
        ----------
        y : array_like (points,), (n, points) or (n, height, width), optional
            The data that were fitted. Fits with ``statistics=True`` know R² without them.
        x : array_like, optional
            As of `predict`.
        weights : array_like (points,) or (n, points), optional
            Weights of the points; those of 0 or NaN are left out. Default: those of the fit.

        Returns
        -------
        array (n,)
            1 - Σw(y - f)²/Σw(y - ȳ)². It is 1 for a perfect fit and below 0 where the mean of the data does better; NaN where
            the data are all the same, or are not numbers.

        Examples
        --------
        >>> import numpy as np, spotfit
        >>> x = np.arange(4.0)
        >>> fits = spotfit.Model("a*x + b").fit([0.0, 1.0, 2.0, 7.0], x=x, start=[1, 0])
        >>> fits.r_squared([0.0, 1.0, 2.0, 7.0]).round(3).tolist()
        [0.834]
        """
        if y is None:
            return self._answer("r_squared")
        left = self.residuals(y, x).reshape(len(self), -1)
        data = np.asarray(y, dtype=float).reshape(left.shape)
        weight = self._weights(weights, data, x)
        if weight is None:
            weight = np.ones_like(left)
        if weight.shape != left.shape:
            raise ValueError(f"weights must have the shape {left.shape[1:]} or {left.shape}, not {weight.shape}")
        used = weight > 0
        weight = np.where(used, weight, 0.0)
        left, data = np.where(used, left, 0.0), np.where(used, data, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = (weight * data).sum(axis=1) / weight.sum(axis=-1)
            whole = (weight * (data - mean[:, None]) ** 2).sum(axis=1)
            found: Doubles = np.where(whole > 0, 1 - (weight * left**2).sum(axis=1) / whole, np.nan)
        return found

    def plot(
        self,
        path: str | PathLike[str],
        y: npt.ArrayLike,
        x: npt.ArrayLike | None = None,
        *,
        weights: npt.ArrayLike | None = None,
        plots: int = 6,
        log_x: Literal["auto", "yes", "no"] = "auto",
        log_y: bool = False,
        bands: float | None = None,
    ) -> None:
        """Draws data, model and residuals of some fits, of images as three pictures, as ``spotfit curve --plot`` does: .svg or .png, as
        the name ends. A file of this name is replaced when the plot is complete.

        Parameters
        ----------
        path : path
            The file.
        y : array_like (points,), (n, points) or (n, height, width)
            The data that were fitted.
        x : array_like, optional
            As of `predict`.
        weights : array_like (points,) or (n, points), optional
            Weights, which are drawn as errors of the data; points of weight 0 or NaN are not drawn. Default: those of the fit.
        plots : int
            The number of fits to draw, evenly spread over all fits.
        log_x : {"auto", "yes", "no"}
            Whether x is on a logarithmic axis; with "auto" where all x are above 0, span two decades or more, and grow by factors rather
            than by steps, as doses do.
        log_y : bool
            Whether data and model are on a logarithmic axis: points at or below 0 are not drawn, and counted.
        bands : float, optional
            The level, such as 0.95, of bands of confidence and prediction around the model; for fits with ``covariance=True``.

        Raises
        ------
        ValueError
            If the name has another ending, the shapes do not fit, or the model is neither one of one variable nor of images.
        OSError
            If the file cannot be written; one of this name is as it was then.

        Examples
        --------
        >>> import tempfile, numpy as np, spotfit
        >>> x, y = np.arange(4.0), [0.0, 1.0, 2.0, 7.0]
        >>> fits = spotfit.Model("a*x + b").fit(y, x=x, start=[1, 0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fits.plot(f"{folder}/fit.png", y)
        """
        format = format_of(path)
        save_plot(path, self._drawn(y, x, weights, plots, log_x, log_y, bands, format))

    def svg(
        self,
        y: npt.ArrayLike,
        x: npt.ArrayLike | None = None,
        *,
        weights: npt.ArrayLike | None = None,
        plots: int = 6,
        log_x: Literal["auto", "yes", "no"] = "auto",
        log_y: bool = False,
        bands: float | None = None,
    ) -> str:
        """What `plot` draws, as SVG."""
        return self._drawn(y, x, weights, plots, log_x, log_y, bands, "svg").decode()

    def _drawn(
        self, y: Any, x: Any, weights: Any, plots: int, log_x: str, log_y: bool, bands: float | None, format: Format
    ) -> bytes:
        made, count = self._made, len(self)
        if bands is not None and self.covariance is None:
            raise ValueError("bands follow from the covariance: Model.fit(…, covariance=True)")
        if made is None:
            raise ValueError("these fits do not know their model, and cannot be drawn")
        if bands is not None and made.costs is not None and (weights is None or made.costs != "x_errors"):
            raise ValueError(f"bands do not go with {made.costs}")
        rule = weights is None
        most = min(arguments.whole("plots", plots), count)
        chosen = np.arange(most) * count // max(most, 1)
        some: ModelFits = self[chosen]
        data = np.asarray(arguments.unmasked("y", y), dtype=float)
        data = data[None] if data.ndim == 1 else data
        if len(data) != count or (x is None and data.shape[1:] != made.shape):
            raise ValueError(f"y must have the shape {(count, *made.shape)}, not {data.shape}")
        image = data.shape[2] if data.ndim == 3 and x is None and made.points is None else None
        data = data.reshape(count, int(np.prod(data.shape[1:])))[chosen]
        points = made.points if x is None else made.model._points(x, count)
        if image is not None:
            row, column = np.divmod(np.arange(float(data.shape[1])), image)
            points = np.stack([column, row])
        elif points is None:
            points = np.arange(float(data.shape[1]))[None]
        points = points[chosen] if points.ndim == 3 else np.broadcast_to(points, (most, *points.shape))
        all_ = some._weights(None, data, x) if weights is None else self._weights(weights, data, x)
        weights = all_ if weights is None or all_ is None else all_[chosen]
        level = None if bands is None else arguments.number("bands", bands)
        drawn = {
            **some._told(made, points, weights, made.rule if rule else None, level),
            "errors": some.errors, "image": image, "log_x": log_x, "log_y": arguments.flag("log_y", log_y),
        }  # fmt: skip
        return _spotfit.draw_curves(made.model._model, [f"fit {number}" for number in chosen], data, drawn, format)

    def _told(self, made: Made, points: Any, weights: Any, rule: str | None, level: float | None) -> dict[str, Any]:
        """The fits with points and weights, and the level of their bands, as Rust takes them."""
        return {
            "parameters": self.parameters, "covariance": self.covariance, "chi2": self.chi2.tolist(), "degrees": self.degrees.tolist(),
            "status": self.status, "points": np.asarray(points, dtype=float), "weights": weights, "rule": rule, "level": level,
            "absolute": made.absolute, "estimator": made.estimator,
        }  # fmt: skip

    def bands_table(
        self, level: float, x: npt.ArrayLike | None = None, *, weights: npt.ArrayLike | None = None
    ) -> dict[str, Doubles]:
        """Bands of confidence, where the model lies, and of prediction, where another datum would, as ``spotfit curve --bands-table`` has them;
        for fits with ``covariance=True``.

        Parameters
        ----------
        level : float
            Their level, such as 0.95.
        x : array_like, optional
            Where, as of `predict`.
        weights : array_like (points,) or (n, points), optional
            The weights of data at these points. Default: those of the fit, and 1 without any; a rule such as ``"1/f"`` follows the model there.
            Where the weights of the points differ, those of data elsewhere must be given. Points of weight 0 have an infinite band of
            prediction, unless all others have the same weight, which is theirs, too.

        Returns
        -------
        dict of array (n, points)
            ``value``, ``confidence_low``, ``confidence_high``, ``prediction_low`` and ``prediction_high``; NaN for fits that were not found.

        Examples
        --------
        >>> import numpy as np, spotfit
        >>> fits = spotfit.Model("a*x + b").fit([0.0, 1.0, 2.0, 7.0], start=[1, 0], covariance=True)
        >>> bands = fits.bands_table(0.68, x=[1.5])
        >>> [round(float(bands[name][0, 0]), 2) for name in ("confidence_low", "value", "confidence_high")]
        [1.48, 2.5, 3.52]
        """
        made, count = self._made, len(self)
        if self.covariance is None:
            raise ValueError("bands follow from the covariance: Model.fit(…, covariance=True)")
        if made is None:
            raise ValueError("these fits do not know their model, and have no bands")
        points = made.points if x is None else made.model._points(x, count)
        if points is None and len(made.shape) == 2:
            row, column = np.divmod(np.arange(float(np.prod(made.shape))), made.shape[1])
            points = np.stack([column, row])
        elif points is None:
            points = np.arange(float(made.shape[0]))[None]
        points = points if points.ndim == 3 else np.broadcast_to(points, (count, *points.shape))
        if made.costs is not None and (weights is None or made.costs != "x_errors"):
            raise ValueError(f"bands do not go with {made.costs}")
        rule = made.rule if weights is None else None
        own = None if rule is not None else self._weights(weights, np.empty((count, 0)))
        if weights is None and x is not None and own is not None:
            used = own > 0
            low, high = np.where(used, own, np.inf).min(axis=1), np.where(used, own, 0.0).max(axis=1)
            if (low < high).any():
                raise ValueError("the weights of the points of these fits differ: weights must say those of data at x")
            own = np.broadcast_to(high[:, None], (count, points.shape[2]))
        wanted = self._told(made, points, own, rule, arguments.number("level", level))
        found = _spotfit.bands_table(made.model._model, wanted)
        names = ("value", "confidence_low", "confidence_high", "prediction_low", "prediction_high")
        return dict(zip(names, found, strict=True))

    def error_of(self, name: str) -> Doubles:
        """The standard error (n,) of a parameter."""
        return self.errors[:, self._number(name)]

    def _answer(self, name: str) -> Doubles:
        try:
            return self.answers[name]
        except KeyError:
            raise ValueError(f"{name} was not asked for: Model.fit(…, statistics=True)") from None

    @property
    def adjusted_r_squared(self) -> Doubles:
        """R² less what any parameters explain: 1 - (1 - R²)(n - 1)/degrees, of fits with ``statistics=True``."""
        return self._answer("adjusted_r_squared")

    @property
    def aicc(self) -> Doubles:
        """Akaike's criterion, corrected for few points (Hurvich and Tsai 1989), of fits with ``statistics=True``."""
        return self._answer("aicc")

    @property
    def bic(self) -> Doubles:
        """Schwarz's criterion, of fits with ``statistics=True``."""
        return self._answer("bic")

    @property
    def p_value(self) -> Doubles:
        """How likely χ² or the deviance is to be this large or larger if the model is true, of fits with ``statistics=True``; NaN where
        residuals scale the errors, which then say nothing of it."""
        return self._answer("p_value")

    @property
    def found(self) -> npt.NDArray[np.bool_]:
        """Which fits have converged, or ended on a limit that was set."""
        found: npt.NDArray[np.bool_] = self.status <= Status.at_limit
        return found

    @property
    def report(self) -> dict[str, Any]:
        """What came of the fits, as ``spotfit curve --json`` prints it: ``fits``, ``statuses``, ``converged``, ``at_limit`` and
        ``threads``. Times are the command's; empty for fits that do not know how they were made."""
        if self._made is None:
            return {}
        return reported(_spotfit.report_curves(self.status, self._made.threads))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the table of ``spotfit curve``: ``.csv`` or ``.npy``. A file of this name is replaced when the table is complete.

        Raises
        ------
        ValueError
            If the name has another ending, a parameter has the name of another column, or the fits do not know how they were made.
        OSError
            If the file cannot be written; one of this name is as it was then.

        Examples
        --------
        >>> import tempfile, numpy as np, spotfit
        >>> fits = spotfit.Model("a*x + b").fit([0.0, 1.0, 2.0, 7.0], start=[1, 0])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     fits.save(f"{folder}/fits.csv")
        ...     with open(f"{folder}/fits.csv") as file:
        ...         print(file.readline().strip())
        fit,a,b,a_error,b_error,chi2,degrees,iterations,status
        """
        if self._made is None:
            raise ValueError("these fits do not know how they were made: to_pandas() has their columns")
        _spotfit.save_curves(
            fspath(path), list(self.names), self.parameters, self.errors, self.chi2, [self.degrees, self.iterations], self.status,
            estimator=self._made.estimator,
            answers=[(name, all.tolist() if all.dtype.kind == "U" else all) for name, all in self.answers.items()],
        )  # fmt: skip

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of a table, by name: each parameter, its error, and how the fit ended."""
        columns: dict[str, npt.NDArray[Any]] = {}
        for name in self.names:
            columns |= {name: self[name], f"{name}_error": self.error_of(name)}
        columns |= {"chi2": self.chi2, "degrees": self.degrees, "iterations": self.iterations}
        return columns | {"status": NAMES[self.status]} | self.answers

    def to_pandas(self) -> pandas.DataFrame:
        """The columns as a data frame of pandas."""
        import pandas

        return pandas.DataFrame(self.columns())

    def __len__(self) -> int:
        return len(self.status)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def _repr_html_(self) -> str:
        good = self.found
        rows = [
            (name, f"{np.median(self[name][good]):.5g}", f"{np.median(self.error_of(name)[good]):.2g}")
            for name in self.names if good.any()
        ]  # fmt: skip
        return table(f"{len(self):,} data sets: {told(self.counts()) or 'nothing to do'}", ("parameter", "median", "its error"), rows)

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
