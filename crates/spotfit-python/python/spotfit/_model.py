"""Models of any kind, fitted to data of any kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit
from ._model_fits import Doubles, Made, ModelFits
from ._noise import costs, refuse_answers, told
from ._shared import fit as _fit_shared
from ._warnings import tell

if TYPE_CHECKING:
    from ._noise import Loss, ModelEstimator, WeightRule
    from ._options import Backend, CurvePrecision, InstructionSet, LinearParameters

Limit = float | npt.ArrayLike | None

_cached = lru_cache(maxsize=8, typed=True)(_spotfit.ModelFitter)


def _fitter(*options: Any) -> _spotfit.ModelFitter:
    try:
        return _cached(*options)
    except TypeError:
        # What cannot be hashed is named by Rust.
        return _spotfit.ModelFitter(*options)


class Model:
    """A model function: a formula, or one of those with names.

    Parameters
    ----------
    formula : str
        A formula such as ``"a*exp(-x/t) + c"``, or the name of a model (`Model.all`), which finds its own start values. What is
        nearly such a name is refused; with `parameters` it is a formula.
    variables : str or sequence of str, optional
        The names of the independent variables. Default: ``"x"``.
    parameters : sequence of str, optional
        The names of the parameters, in their order. Default: every name that is no variable, as they appear.
    spline : mapping, optional
        Splines that the formula calls like functions, by their names: samples at 0, 1, 2, … along each axis, the first of which is
        the first argument; or a pair of samples and the axes, from 0, that count channels, which are not interpolated.
    where : str or sequence of str, optional
        Parameters that follow from others, such as ``"f2=1-f1"``: they are no parameters any more, and fits have their values and errors
        as derived quantities, ``fits["f2"]`` and ``fits["f2_error"]``.

    Raises
    ------
    ValueError
        If the formula cannot be read, where the message shows it; or if it is a name, and there is no such model.

    Examples
    --------
    >>> import numpy as np, spotfit
    >>> model = spotfit.Model("a*exp(-x/t) + c", "x")
    >>> x = np.arange(20.0)
    >>> fits = model.fit(5 * np.exp(-x / 3) + 1, x=x, start={"a": 1, "t": 1, "c": 0})
    >>> round(float(fits["t"][0]), 6)
    3.0
    >>> peak = np.exp(-((np.arange(21.0) - 10) ** 2) / 8)
    >>> model = spotfit.Model("a*peak(x - x0) + b", spline={"peak": peak})
    >>> [round(value, 6) for value in model([0, 10, 20], a=2, x0=0, b=1).tolist()]
    [1.000007, 3.0, 1.000007]
    """

    __slots__ = ("_given", "_model")

    def __init__(
        self,
        formula: str,
        variables: str | Sequence[str] | None = None,
        parameters: Sequence[str] | None = None,
        *,
        spline: Mapping[str, npt.ArrayLike | tuple[npt.ArrayLike, Sequence[int]]] | None = None,
        where: str | Sequence[str] = (),
    ) -> None:
        if not isinstance(formula, str):
            raise TypeError(f"formula must be a string, not {type(formula).__name__}")
        # What another process makes the same of.
        ties = [where] if isinstance(where, str) else list(where)
        self._given = (formula, variables, parameters, spline, ties)
        if spline is not None and not isinstance(spline, Mapping):
            raise TypeError(f"spline must be a mapping of names to samples, not {type(spline).__name__}")
        splines = [_spline(called, samples) for called, samples in (spline or {}).items()]
        name = formula.strip()
        if name in _named() or name in _spotfit.Model.with_splines():
            if variables is not None or parameters is not None:
                raise ValueError(f"the model '{formula}' has names for its variables and parameters")
            self._model = _spotfit.Model.named(name, splines).with_ties(ties)
            return
        if parameters is None and name.isidentifier():
            _refuse(name)
        if isinstance(variables, str):
            variables = [name.strip() for name in variables.split(",")]
        given = ["x"] if variables is None else list(variables)
        plain = _spotfit.Model(formula, given, None if parameters is None else list(parameters), splines)
        self._model = plain.with_ties(ties)

    @staticmethod
    def all() -> dict[str, tuple[str, str]]:
        """The models with names: formula, and what it is. Those that call splines, which must be given, are not among them: ``spotfit
        model`` lists them."""
        return dict(sorted(_named().items()))

    @property
    def formula(self) -> str:
        """The formula."""
        return self._model.text

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the independent variables."""
        return tuple(self._model.variables)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters."""
        return tuple(self._model.parameters)

    def __call__(self, x: npt.ArrayLike, *parameters: float, **named: float) -> Doubles:
        """The values of the model.

        Parameters
        ----------
        x : array_like (points,) or (variables, points)
            Where.
        *parameters, **named : float
            The parameters, in their order or by name.

        Returns
        -------
        array (points,)

        Examples
        --------
        >>> Model("a*x + b")([0, 1, 2], a=2, b=1).tolist()
        [1.0, 3.0, 5.0]
        """
        values = dict(zip(self.parameters, parameters, strict=False))
        for name in named:
            if name in values:
                raise TypeError(f"the parameter {name} is given twice")
        values |= named
        if len(parameters) > len(self.parameters) or set(values) != set(self.parameters):
            raise TypeError(f"the model has the parameters {', '.join(self.parameters)}")
        numbers = [arguments.number(name, values[name]) for name in self.parameters]
        points = np.atleast_2d(np.asarray(arguments.unmasked("x", x), dtype=float))
        found: Doubles = self._model.predict(np.array([numbers]), grid=None, points=points, length=0)[0]
        return found

    def predict(self, parameters: ModelFits | Mapping[str, npt.ArrayLike] | npt.ArrayLike, x: npt.ArrayLike | None = None) -> Doubles:
        """The values of the model for many sets of parameters at once.

        Parameters
        ----------
        parameters : ModelFits, mapping, or array_like (parameters,) or (n, parameters)
            Outcomes of `fit`, or the parameters. A mapping has a number, or one for each set, for each name.
        x : array_like (points,), (variables, points), (n, points) or (n, variables, points), optional
            Where, as of `fit`. Default: where the data of the fits were.

        Returns
        -------
        array (n, points)
            In double precision; (n, height, width) for fits of images, (points,) for one set of parameters. NaN for fits that
            are invalid.

        Examples
        --------
        >>> Model("a*x + b").predict([[2, 1], [0, 3]], x=[0, 1, 2]).tolist()
        [[1.0, 3.0, 5.0], [3.0, 3.0, 3.0]]
        """
        if isinstance(parameters, ModelFits):
            if parameters.names != self.parameters:
                raise ValueError(f"the fits have {', '.join(parameters.names)}, the model has {', '.join(self.parameters)}")
            return parameters._predict(self, x)
        if isinstance(parameters, Mapping):
            missing = [name for name in self.parameters if name not in parameters]
            for name in parameters:
                self._check(name)
            if missing:
                raise ValueError(f"parameters has no value for {', '.join(missing)}")
            count = max((np.size(value) for value in parameters.values() if np.ndim(value)), default=1)
            given = [_numbers(f"parameter {name}", parameters[name], count) for name in self.parameters]
            values = np.stack(np.broadcast_arrays(*given), axis=-1) if given else np.zeros(0)
        else:
            values = np.asarray(arguments.unmasked("parameters", parameters))
        if x is None:
            raise ValueError("x must say where: parameters alone do not")
        points = self._points(x, len(np.atleast_2d(values)))
        found = self._model.predict(np.atleast_2d(values), grid=None, points=points, length=0)
        return found[0] if values.ndim < 2 else found

    def fit(
        self,
        y: npt.ArrayLike,
        *,
        x: npt.ArrayLike | None = None,
        start: Mapping[str, npt.ArrayLike] | npt.ArrayLike | Literal["auto"] | None = None,
        bounds: Mapping[str, tuple[Limit, Limit]] | None = None,
        fixed: str | Sequence[str] = (),
        weights: npt.ArrayLike | WeightRule | None = None,
        estimator: ModelEstimator = "lse",
        absolute: bool = False,
        linear: LinearParameters = "auto",
        precision: CurvePrecision = "auto",
        max_iterations: int = 200,
        tolerance: float = 1e-3,
        covariance: bool = False,
        backend: Backend = "reference",
        instruction_set: InstructionSet | None = None,
        device: int = 0,
        threads: int = 0,
        loss: Loss | None = None,
        scale: float | Literal["auto"] = "auto",
        outlier_rate: float | None = None,
        trials: npt.ArrayLike | None = None,
        x_errors: npt.ArrayLike | None = None,
        statistics: bool = False,
        derive: str | Sequence[str] = (),
        intervals: float | None = None,
        compare: str | Model | None = None,
        compare_start: Mapping[str, float] | npt.ArrayLike | Literal["auto"] | None = None,
        shared: str | Sequence[str] | Mapping[str, Sequence[Any] | npt.ArrayLike | None] | None = None,
        prior: Mapping[str, tuple[float, float]] | None = None,
    ) -> ModelFits:
        """Fits data sets, all with the same options.

        Python goes on meanwhile: other threads run, and Ctrl-C ends the fit.

        Parameters
        ----------
        y : array_like (points,), (n, points) or (n, height, width)
            The data: one set, many, or images, of integers or floating-point numbers. Arrays of float32, float64, uint8,
            uint16, uint32 and int32 are fitted where they lie, others are copied once, and so are images with gaps
            between their rows.
        x : array_like (points,), (variables, points), (n, points) or (n, variables, points), optional
            The independent variables: the same for all, or those of each set. The shape (n, points) is for models of one
            variable. Default: the number of the point, or column and row of the pixel.
        start : mapping, or array_like (parameters,) or (n, parameters), optional
            Where to start. A mapping has a number, or one for each set, for each name. Models with names find theirs, and those of a
            formula are searched for with ``"auto"``.
        bounds : mapping, optional
            Lower and upper limit of parameters by name; None where there is none. Each is a number, or one for each set.
        fixed : str or sequence of str
            Parameters that keep their start value.
        weights : array_like (), (points,) or (n, points), optional
            Weights of the points; those of 0 or NaN are left out. Or a rule: ``"1/y"`` or ``"1/y^2"`` of the data (points with y = 0
            are left out, and a `SpotfitWarning` counts them), ``"1/f"`` or ``"1/f^2"`` of the model's own values.
        estimator : {"lse", "mle", "binomial"}
            Least squares; Poisson maximum likelihood; or maximum likelihood of data that are successes among `trials`, where the model
            is their probability.
        absolute : bool
            Whether weights are 1/variance, so that errors are what they say. Otherwise the residuals scale them. Needs `weights`, or
            the estimator "mle".
        linear : {"auto", "eliminated", "searched"}
            What is done with parameters in which the formula is linear. Eliminated ones need no good start.
        precision : {"auto", "f64"}
            Single precision where that is enough for the data and the tolerance, or double precision for all fits. The reference always
            computes in double precision.
        max_iterations : int
            At most so many iterations, 1 to 100000.
        tolerance : float
            Fits end where the next step is shorter than this many standard errors.
        covariance : bool
            Whether the covariance is wanted, too.
        backend : {"reference", "auto", "cpu", "gpu"}
            What computes: the CPU in double precision ("reference", and "auto" too), or in single precision the CPU or the GPU.
        instruction_set : {"avx512", "avx2", "neon", "portable"}, optional
            Vector instructions of the backend "cpu".
        device : int
            The GPU, by its number from 0.
        threads : int
            Threads of the CPU, at most 1024; 0 takes one for each processor.
        loss : {"huber", "tukey", "soft_l1", "cauchy"}, optional
            What large residuals cost, so that outliers change less; `intervals`, `compare` and `shared` go with it. Default: all cost their squares.
        scale : float or "auto"
            The standard deviation that the loss takes residuals (times the root of their weights) to have; that of each data set's
            own residuals with ``"auto"``, and 1 if also `absolute`. SciPy's ``f_scale`` is this times the constant of the loss.
        outlier_rate : float, optional
            List outliers: `ModelFits.outliers`. At most this share of them is none, on the average. Needs a loss.
        trials : array_like (), (points,) or (n, points), optional
            For the estimator "binomial".
        x_errors : array_like (), (points,), (variables, points) or (n, variables, points), optional
            The standard deviation of x. Needs `weights` of 1/variance. The sum of the squares of all errors is least (orthogonal distance
            regression, as of ODRPACK), which `chi2` is.
        statistics : bool
            Whether R², adjusted R², AICc, BIC and the p-value of χ² are wanted: ``fits["r_squared"]`` and so on.
        derive : str or sequence of str
            Quantities that follow from the parameters, such as ``"half_life=t*ln(2)"``: ``fits["half_life"]``, and their errors from all
            covariances, ``fits["half_life_error"]``.
        intervals : float, optional
            The level, such as 0.68, of intervals by profile likelihood: ``fits["a_low"]``, ``fits["a_high"]``, and in
            ``fits["a_interval"]`` whether both ends are closed.
        compare : str or Model, optional
            Another model that is fitted, too: ``fits["preferred"]``, ``fits["aicc_difference"]`` and so on.
        compare_start : mapping or array_like (parameters,), optional
            Where its fits start. Default: it is searched for.
        shared : str, sequence of str, or mapping, optional
            Parameters that are the same in all data sets, which are fitted together, in double precision on the CPU. A mapping has the
            group of each data set, words or numbers: a parameter is the same in each group, and where it has None in all. The outcome
            is a `SharedModelFits`.
        prior : mapping, optional
            What is known of parameters from elsewhere: a value and its standard deviation, as an extra point of each data set, or of all
            for a shared parameter. Needs `absolute` or the estimator "mle".

        Returns
        -------
        ModelFits
            An outcome for each data set.

        Examples
        --------
        >>> import numpy as np, spotfit
        >>> x = np.arange(20.0)
        >>> y = 2 * x + 0.1 * np.cos(9 * x)
        >>> y[7] = 100
        >>> fits = spotfit.Model("a*x + b").fit(y, x=x, start=[1, 0], loss="tukey", outlier_rate=0.01)
        >>> round(float(fits["a"][0]), 2), np.flatnonzero(fits.outliers[0]).tolist()
        (2.0, [7])
        """
        data, grid = _data(y)
        count = len(data)
        names = self.parameters
        fixed = [fixed] if isinstance(fixed, str) else list(fixed)
        for name in [*fixed, *(bounds or ())]:
            self._check(name)
        device = arguments.whole("device", device, 2**31)
        threads = arguments.whole("threads", threads, 1024)
        points = None if x is None else self._points(x, count)
        rule = weights if isinstance(weights, str) else None
        noise = told(loss, scale, outlier_rate, rule, trials, x_errors, estimator, data.shape)
        refuse_answers(noise, statistics=statistics, intervals=intervals, compare=compare)
        # What is shared is fitted on the CPU.
        fitter = _fitter("cpu" if backend == "gpu" and (shared or prior) else backend, instruction_set, device, threads)
        given = None if weights is None or rule else np.asarray(arguments.unmasked("weights", weights))
        if given is not None and given.ndim == 0 and not 0 < float(given) < np.inf:
            raise ValueError(f"weights must be a number above 0, an array or a rule, not {given}")
        if given is not None:
            given = np.full((1, data.shape[1]), float(given)) if given.ndim == 0 else np.atleast_2d(given)
        made = Made(self, points, grid or (data.shape[1],), estimator, fitter.threads, absolute, given, rule, costs(noise))
        options: dict[str, Any] = {
            "grid": grid,
            "points": points,
            "start": self._start(start, count),
            "bounds": self._bounds(bounds or {}, count),
            "fixed": [name in fixed for name in names],
            "weights": given,
            "estimator": estimator,
            "absolute": absolute,
            "linear": linear,
            "precision": precision,
            "max_iterations": arguments.whole("max_iterations", max_iterations, 100_000),
            "tolerance": arguments.number("tolerance", tolerance),
            "covariance": covariance,
            "answers": self._asked(statistics, derive, intervals, compare, compare_start),
            "noise": noise,
        }
        if shared or prior:
            if noise[4] is not None:
                raise ValueError("shared parameters and priors are fitted without trials")
            return _fit_shared(self, fitter, data, made, shared, prior, options)
        found = self._model.fit(fitter, data, options)
        if found[8][2] is not None:
            tell(found[8][2])
        return ModelFits(names, *found[:8], found[8][:2], found[9], made)

    def _asked(self, statistics: bool, derive: Any, intervals: Any, compare: Any, start: Any) -> Any:
        """What is asked of fits besides parameters, as Rust takes it; None if nothing is."""
        derive = [*self._model.tie_formulas(), *([derive] if isinstance(derive, str) else derive)]
        level = None if intervals is None else arguments.number("intervals", intervals)
        if isinstance(compare, str):
            compare = Model(compare, None if compare.strip() in _named() else self.variables)
        if compare is not None and not isinstance(compare, Model):
            raise TypeError(f"compare must be a formula or a Model, not {type(compare).__name__}")
        if start is not None and compare is None:
            raise ValueError("compare_start is of a model that is compared: compare must name it")
        begin = None
        given = None if compare is None else compare._start("auto" if start is None else start, 1)
        if given is not None:
            begin = [float(value) for value in np.atleast_1d(given)]
        asked = (bool(statistics), derive, level, None if compare is None else compare._model, begin)
        nothing = not statistics and not derive and level is None and compare is None
        return None if nothing else asked

    def _check(self, name: str) -> None:
        if name not in self.parameters:
            raise ValueError(f"the model has no parameter '{name}' (it has {', '.join(self.parameters)})")

    def _points(self, x: npt.ArrayLike, count: int) -> npt.NDArray[Any]:
        points = np.asarray(arguments.unmasked("x", x))
        if points.ndim < 2:
            return np.atleast_2d(points)
        if points.ndim == 2 and len(self.variables) == 1 and len(points) == count != 1:
            return points[:, None]
        return points

    def _start(self, start: Any, count: int) -> npt.NDArray[Any] | None:
        if isinstance(start, str):
            if start != "auto":
                raise ValueError(f"start must be values or 'auto', not {start!r}")
            return None
        if start is None:
            if not self._model.finds_its_start:
                wanted = ", ".join(self.parameters)
                raise ValueError(f"a formula needs start values: start must have {wanted}, or be 'auto'")
            return None
        if not isinstance(start, Mapping):
            return np.asarray(arguments.unmasked("start", start))
        for name in start:
            self._check(name)
        missing = [name for name in self.parameters if name not in start]
        if missing:
            raise ValueError(f"start has no value for {', '.join(missing)}")
        values = [_numbers(f"start of {name}", start[name], count) for name in self.parameters]
        return np.stack(np.broadcast_arrays(*values), axis=-1) if values else np.zeros(0)

    def _bounds(self, bounds: Mapping[str, tuple[Limit, Limit]], count: int) -> Doubles:
        sides: list[Doubles] = []
        for name in self.parameters:
            try:
                low, high = bounds.get(name, (None, None))
            except (TypeError, ValueError):
                raise ValueError(f"bounds of {name} must be a lower and an upper limit") from None
            sides.append(_numbers(f"bounds of {name}", -np.inf if low is None else low, count))
            sides.append(_numbers(f"bounds of {name}", np.inf if high is None else high, count))
        if not sides:
            return np.zeros((0, 2))
        table = np.stack(np.broadcast_arrays(*sides), axis=-1)
        return table.reshape(*table.shape[:-1], len(self.parameters), 2)

    def __reduce__(self) -> Any:
        return _again, self._given

    def __repr__(self) -> str:
        return f"Model({self.formula!r}) of {', '.join(self.variables)} with {', '.join(self.parameters)}"


def _again(formula: str, variables: Any, parameters: Any, spline: Any, where: Any) -> Model:
    return Model(formula, variables, parameters, spline=spline, where=where)


def _spline(name: str, given: Any) -> tuple[str, npt.NDArray[Any], list[int]]:
    """A spline by its name: samples, and the axes that count channels."""
    samples, channels = given if isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) else (given, ())
    axes = [arguments.whole(f"channels of spline {name}", axis) for axis in channels]
    return name, np.asarray(arguments.unmasked(f"spline {name}", samples)), axes


@lru_cache(maxsize=1)
def _named() -> dict[str, tuple[str, str]]:
    return _spotfit.Model.all()


def _refuse(name: str) -> None:
    """Refuses a name that cannot be meant as a formula, which would be a constant."""
    splines = _spotfit.Model.with_splines()
    if len(name) < 4:
        return
    from difflib import get_close_matches

    for similar in get_close_matches(name, [*_named(), *splines], 1, 0.8):
        raise ValueError(f"there is no model '{name}'; did you mean '{similar}'? (With parameters={[name]!r} it is a constant.)")


def _data(y: npt.ArrayLike) -> tuple[npt.NDArray[Any], tuple[int, int] | None]:
    """Data (fit, point), and height and width of images."""
    if y is None:
        raise TypeError("y must be an array, not None")
    data = np.asanyarray(y)
    if data.ndim == 3:
        height, width = data.shape[1:]
        return data.reshape(len(data), height * width), (height, width)
    if data.ndim not in (1, 2):
        raise ValueError(f"y must be (points,), (n, points) or (n, height, width), not of shape {data.shape}")
    return np.atleast_2d(data), None


def _numbers(name: str, value: Any, count: int) -> Doubles:
    arguments.unmasked(name, value)
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be numbers, not {value!r}") from None
    if numbers.shape not in ((), (count,)):
        raise ValueError(f"{name} must be one number or {count}, not of shape {numbers.shape}")
    return cast(Doubles, numbers)
