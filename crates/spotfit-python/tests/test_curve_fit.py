"""SciPy's interface to fits of curves."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spotfit

NIST = Path(__file__).parents[2] / "fit-tests" / "data" / "nist-strd.txt"


def gauss_3(x: Any, b1: Any, b2: Any, b3: Any, b4: Any, b5: Any, b6: Any, b7: Any, b8: Any) -> Any:
    return b1 * np.exp(-b2 * x) + b3 * np.exp(-((x - b4) ** 2) / b5**2) + b6 * np.exp(-((x - b7) ** 2) / b8**2)


def enso(x: Any, b1: Any, b2: Any, b3: Any, b4: Any, b5: Any, b6: Any, b7: Any, b8: Any, b9: Any) -> Any:
    w = 2 * np.pi * x
    year = b2 * np.cos(w / 12) + b3 * np.sin(w / 12)
    return b1 + year + b5 * np.cos(w / b4) + b6 * np.sin(w / b4) + b8 * np.cos(w / b7) + b9 * np.sin(w / b7)


def cubics(x: Any, b1: Any, b2: Any, b3: Any, b4: Any, b5: Any, b6: Any, b7: Any) -> Any:
    return (b1 + b2 * x + b3 * x**2 + b4 * x**3) / (1 + b5 * x + b6 * x**2 + b7 * x**3)


def lanczos(x: Any, b1: Any, b2: Any, b3: Any, b4: Any, b5: Any, b6: Any) -> Any:
    return b1 * np.exp(-b2 * x) + b3 * np.exp(-b4 * x) + b5 * np.exp(-b6 * x)


def chwirut(x: Any, b1: Any, b2: Any, b3: Any) -> Any:
    return np.exp(-b1 * x) / (b2 + b3 * x)


def saturating(x: Any, b1: Any, b2: Any) -> Any:
    return b1 * (1 - np.exp(-b2 * x))


MODELS: dict[str, Callable[..., Any]] = {
    "Bennett5": lambda x, b1, b2, b3: b1 * (b2 + x) ** (-1 / b3),
    "BoxBOD": saturating,
    "Misra1a": saturating,
    "Chwirut1": chwirut,
    "Chwirut2": chwirut,
    "DanWood": lambda x, b1, b2: b1 * x**b2,
    "ENSO": enso,
    "Eckerle4": lambda x, b1, b2, b3: (b1 / b2) * np.exp(-0.5 * ((x - b3) / b2) ** 2),
    "Gauss1": gauss_3,
    "Gauss2": gauss_3,
    "Gauss3": gauss_3,
    "Hahn1": cubics,
    "Thurber": cubics,
    "Kirby2": lambda x, b1, b2, b3, b4, b5: (b1 + b2 * x + b3 * x**2) / (1 + b4 * x + b5 * x**2),
    "Lanczos1": lanczos,
    "Lanczos2": lanczos,
    "Lanczos3": lanczos,
    "MGH09": lambda x, b1, b2, b3, b4: b1 * (x**2 + x * b2) / (x**2 + x * b3 + b4),
    "MGH10": lambda x, b1, b2, b3: b1 * np.exp(b2 / (x + b3)),
    "MGH17": lambda x, b1, b2, b3, b4, b5: b1 + b2 * np.exp(-x * b4) + b3 * np.exp(-x * b5),
    "Misra1b": lambda x, b1, b2: b1 * (1 - (1 + b2 * x / 2) ** -2),
    "Misra1c": lambda x, b1, b2: b1 * (1 - (1 + 2 * b2 * x) ** -0.5),
    "Misra1d": lambda x, b1, b2: b1 * b2 * x * (1 + b2 * x) ** -1,
    "Nelson": lambda x, b1, b2, b3: b1 - b2 * x[0] * np.exp(-b3 * x[1]),
    "Rat42": lambda x, b1, b2, b3: b1 / (1 + np.exp(b2 - b3 * x)),
    "Rat43": lambda x, b1, b2, b3, b4: b1 / (1 + np.exp(b2 - b3 * x)) ** (1 / b4),
    "Roszman1": lambda x, b1, b2, b3, b4: b1 - b2 * x - np.arctan(b3 / (x - b4)) / np.pi,
}


def problems() -> dict[str, tuple[Any, Any, Any]]:
    """Parameters (parameter, 4): both starts, certified values and deviations; x and y."""
    if not NIST.exists():
        return {}
    found: dict[str, tuple[list[Any], list[Any]]] = {}
    for line in NIST.read_text().splitlines():
        first, *rest = line.split(" ")
        if first == "problem":
            found[rest[0]] = ([], [])
        elif first == "parameter":
            found[list(found)[-1]][0].append([float(word) for word in rest])
        elif first not in ("#", "chi2", "minpack"):
            found[list(found)[-1]][1].append([float(word) for word in (first, *rest)])
    whole = {name: (np.array(parameters), np.array(rows).T) for name, (parameters, rows) in found.items()}
    return {name: (parameters, rows[:-1], np.log(rows[-1]) if name == "Nelson" else rows[-1]) for name, (parameters, rows) in whole.items()}


@pytest.mark.skipif(not NIST.exists(), reason="the problems are part of the repository")
def test_nist_problems_are_solved() -> None:
    """Proves that all certified values are found to six digits, and their deviations to four, from all 54 starts, of functions of NumPy."""
    reached = 0
    for name, (parameters, x, y) in problems().items():
        for start in parameters[:, :2].T:
            popt, pcov = spotfit.curve_fit(MODELS[name], x if len(x) > 1 else x[0], y, start)
            # Lanczos1 has residuals that are rounding: its values are certified, its deviations hardly.
            near = np.allclose(popt, parameters[:, 2], rtol=1e-6)
            errors = name == "Lanczos1" or np.allclose(np.sqrt(np.diag(pcov)), parameters[:, 3], rtol=1e-4)
            assert near and errors, (name, start, popt)
            reached += 1
    assert reached == 54


X = np.linspace(0, 10, 40)


def decay(x: Any, a: Any, t: Any, c: Any) -> Any:
    return a * np.exp(-x / t) + c


def test_it_is_scipys() -> None:
    """Proves that values and covariances are SciPy's, with and without errors of the data, and within bounds."""
    optimize = pytest.importorskip("scipy.optimize")
    random = np.random.default_rng(1)
    y = decay(X, 5, 3, 1) + random.normal(0, 0.2, X.shape)
    sigma = np.linspace(0.1, 0.4, len(X))
    for options in (
        {}, {"sigma": sigma}, {"sigma": sigma, "absolute_sigma": True}, {"bounds": ([0, 0, 0], [20, 9, 5])}, {"absolute_sigma": True},
    ):  # fmt: skip
        told = pytest.warns(spotfit.SpotfitWarning, match="without sigma")
        with told if options == {"absolute_sigma": True} else nullcontext():
            ours = spotfit.curve_fit(decay, X, y, [4, 2, 0.5], **options)
        theirs = optimize.curve_fit(decay, X, y, [4, 2, 0.5], **options)
        errors = np.sqrt(np.diag(theirs[1]))
        assert np.allclose(ours[0], theirs[0], rtol=1e-5), options
        assert np.allclose(ours[1] / np.outer(errors, errors), theirs[1] / np.outer(errors, errors), atol=1e-4), options
    bounds = optimize.Bounds([0, 0, 0], [20, 9, 5])
    assert np.allclose(spotfit.curve_fit(decay, X, y, bounds=bounds)[0], spotfit.curve_fit(decay, X, y)[0], rtol=1e-5)


def test_functions_formulas_and_models_are_the_same() -> None:
    """Proves that a function, a formula, a name and a model give the same, from start values that are searched for, and for many sets."""
    y = decay(X, 5, 3, 1)
    for f in (decay, "a*exp(-x/t) + c", "exponential", spotfit.Model("exponential"), lambda x, *p: p[0] * np.exp(-x / p[1]) + p[2]):
        p0 = [1, 1, 0] if getattr(f, "__name__", "") == "<lambda>" else None
        popt, pcov = spotfit.curve_fit(f, X, y, p0)
        assert np.allclose(popt, [5, 3, 1], rtol=1e-6) and pcov.shape == (3, 3)
    many = np.stack([decay(X, a, 3, 1) for a in (5, 6, 7)])
    popt, pcov = spotfit.curve_fit(decay, X, many)
    assert np.allclose(popt[:, 0], [5, 6, 7], rtol=1e-6) and pcov.shape == (3, 3, 3)
    plane = np.stack([X, X[::-1] ** 2])
    popt, _ = spotfit.curve_fit(lambda x, a, b: a * x[0] + b * np.sqrt(x[1]), plane, 2 * X + 3 * X[::-1])
    assert np.allclose(popt, [2, 3])

    def unpacked(xy: Any, a: Any, b: Any) -> Any:
        x, y = xy
        return a * x + b * y

    assert np.allclose(spotfit.curve_fit(unpacked, plane, 2 * plane[0] + 3 * plane[1])[0], [2, 3])


def test_operations_of_numpy_mean_the_same() -> None:
    """Proves that what NumPy computes, the formula computes."""
    from spotfit._trace import traced

    functions: list[Callable[..., Any]] = [
        lambda x, a, b: np.where(x > b, a * x, -a * x**2) + b,
        lambda x, a, b: np.where((x > b) & (x < 2 * b) | ~(x >= 0.5), a, b),
        lambda x, a, b: (x > b) * a - a**-b / (b - (a - x)) ** 2,
        lambda x, a, b: np.clip(a * x, 0.5, b) + np.maximum(x, a) - np.minimum(x, b) + np.hypot(a, x),
        lambda x, a, b: np.polyval([a, b, 2], x) + np.square(a) + np.reciprocal(b) + np.cbrt(x - b) + np.negative(x),
        lambda x, a, b: np.log1p(x) + np.expm1(-a * x) + np.exp2(x) - np.log10(a) * np.log2(b) + np.arctan2(x, a) + np.abs(-x),
        lambda x, a, b: -(x**2) + (-x) ** 2 - 2**x + (a * x) ** (b / 2) + 1e-3 * a - -b + 7 // b + x % a,
        lambda x, a, b: np.heaviside(x - b, 0.5) + np.sign(x - a) + np.floor(x) - np.ceil(x) + np.float64(2) * a + np.pi * b,
        lambda x, a, b: np.sinh(x) * np.cosh(a) - np.tanh(b * x) + np.where(x != a, 1, 2) + np.where(x == a, 1, 2) + np.deg2rad(a),
    ]  # fmt: skip
    x = np.array([0.1, 0.4, 1.0, 1.3, 1.7, 2.6, 3.1])
    for function in functions:
        text, variables, parameters = traced(function, 1, 2)
        found = spotfit.Model(text, variables, parameters)(x, 1.3, 1.7)
        assert np.allclose(found, function(x, 1.3, 1.7), rtol=1e-12), text


def test_deep_and_repeated_terms_stay_short() -> None:
    """Proves that terms that are used again are named, and that depth has no limit but that of formulas."""
    from spotfit._trace import traced

    def doubled(x: Any, a: Any) -> Any:
        for _ in range(60):
            x = (x + a * x) / 2
        return x

    def nested(x: Any, a: Any) -> Any:
        for _ in range(150):
            x = np.sqrt(1 + a * x)
        return x

    for function in (doubled, nested):
        text, variables, parameters = traced(function, 1, 1)
        assert len(text) < 8000
        assert np.allclose(spotfit.Model(text, variables, parameters)([0.3, 2.0], 0.7), function(np.array([0.3, 2.0]), 0.7))


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda x, a: a if x > 0 else x, "a decision on a value"),
        (lambda x, a: __import__("math").exp(a * x), "a function of the module math"),
        (lambda x, a: a * np.cumsum(x), "cumulative|cumsum|numpy.add"),
        (lambda x, a: a * np.interp(x, [0, 1], [0, 1]), "numpy.interp|conversion"),
        (lambda x, a: a * x.mean(), "the attribute mean"),
        (lambda x, a: a * x[3], "single points"),
        (lambda x, a: a * np.arange(40.0) * x, "ndarray|neither x nor a parameter"),
        (lambda x, a: a * len(x), "the number of points"),
        (lambda x, a: a * np.nan, "nan"),
        (lambda x, a: np.arcsinh(a * x), "numpy.arcsinh"),
        (lambda x, a: [a * v for v in x], "a loop over points"),
        (lambda x, a: "a", "str"),
    ],
)
def test_what_is_no_formula_is_named(function: Any, told: str) -> None:
    """Proves that the operation that cannot be traced is named."""
    with pytest.raises(TypeError, match=told):
        spotfit.curve_fit(function, X, X, [1.0])


def test_bad_input_is_refused() -> None:
    """Proves that what SciPy refuses is refused, and what it leaves out is left out."""
    y = decay(X, 5, 3, 1)
    gaps = y.copy()
    gaps[3] = np.nan
    with pytest.raises(ValueError, match="infs or NaNs"):
        spotfit.curve_fit(decay, X, gaps)
    with pytest.raises(ValueError, match="contains nan"):
        spotfit.curve_fit(decay, X, gaps, nan_policy="raise")
    assert np.allclose(spotfit.curve_fit(decay, X, gaps, nan_policy="omit")[0], [5, 3, 1], rtol=1e-6)
    with pytest.raises(ValueError, match="number of fit parameters"):
        spotfit.curve_fit(lambda x, *p: p[0] * x, X, y)
    with pytest.raises(TypeError, match="only 2 points"):
        spotfit.curve_fit(decay, X[:2], y[:2])
    for wrong in (
        {"p0": [1, 2]}, {"sigma": -1.0}, {"sigma": np.ones(3)}, {"sigma": np.eye(40)}, {"bounds": (0, 0)}, {"bounds": 3},
        {"bounds": ([0, 0], [1, 1])}, {"p0": [9, 9, 9], "bounds": (0, 1)}, {"nan_policy": "propagate"},
    ):  # fmt: skip
        with pytest.raises(ValueError):
            spotfit.curve_fit(decay, X, y, **wrong)
    with pytest.raises(ValueError, match="xdata must be"):
        spotfit.curve_fit(decay, X[:5], y)
    with pytest.raises(TypeError, match="f must be"):
        spotfit.curve_fit(3, X, y)  # type: ignore[arg-type]
