"""Models of any kind."""

import pickle
from typing import Any

import numpy as np
import pytest
import spotfit

X = np.linspace(0, 10, 40)


def decays(count: int = 50) -> tuple[Any, Any]:
    t = np.linspace(2, 4, count)
    return 5 * np.exp(-X / t[:, None]) + 1, t


def test_a_formula_finds_what_made_the_data() -> None:
    y, t = decays()
    model = spotfit.Model("a*exp(-x/t) + c", "x")
    assert model.parameters == ("a", "t", "c") and model.variables == ("x",) and "exp" in repr(model)
    fits = model.fit(y, x=X, start={"a": 1, "t": 1, "c": 0}, covariance=True)
    assert np.allclose(fits["t"], t, rtol=1e-8) and np.allclose(fits.parameters[:, 0], 5) and len(fits) == 50
    assert fits.converged.all() and list(fits) == ["a", "t", "c"] and fits.counts()
    assert fits.covariance is not None and fits.covariance.shape == (50, 3, 3)
    assert np.allclose(fits.error_of("t") ** 2, fits.covariance[:, 1, 1])
    assert fits.degrees.tolist() == [37] * 50 and "50 data sets" in repr(fits)
    assert np.allclose(model(X, 5, t=2, c=1), y[0])
    with pytest.raises(KeyError, match="tau"):
        fits["tau"]


@pytest.mark.parametrize("backend", ["auto", "reference", "cpu"])
def test_models_with_names_find_their_start(backend: Any) -> None:
    y, t = decays()
    fits = spotfit.Model("exponential").fit(y, x=X, backend=backend)
    assert np.allclose(fits["t"], t, rtol=1e-3)
    assert "exponential" in spotfit.Model.all() and len(spotfit.Model.all()) > 30


def test_every_model_that_is_listed_can_be_made() -> None:
    """Proves that no listed model needs what Python cannot give, and that one that does says so."""
    for name, (formula, about) in spotfit.Model.all().items():
        assert spotfit.Model(name).formula == formula and about
    assert "spline_1d" not in spotfit.Model.all()
    with pytest.raises(ValueError, match="'spline_1d' calls f: a spline for each must be given"):
        spotfit.Model("spline_1d")


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("exponentail", "exponential"), ("gauss2d", "gauss_2d"), ("Lorentz", "lorentz"), ("pover_law", "power_law"), (" logistc ", "logistic")],
)
def test_what_is_nearly_a_name_is_no_constant(wrong: str, right: str) -> None:
    """Proves that a misspelt model is refused with the one that was meant, unless a constant was asked for."""
    for given in (wrong,), (wrong, "x"):
        with pytest.raises(ValueError, match=f"there is no model '{wrong.strip()}'; did you mean '{right}'?"):
            spotfit.Model(*given)
    assert spotfit.Model(wrong, "x", [wrong.strip()]).parameters == (wrong.strip(),)


def test_other_names_are_constants() -> None:
    for name in "c", "b0", "offset", "background":
        assert spotfit.Model(name).parameters == (name,)


def test_models_predict() -> None:
    """Proves that values of many fits at once are those of each, wherever their points lie."""
    y, _ = decays()
    model = spotfit.Model("a*exp(-x/t) + c")
    fits = model.fit(y, x=X, start=[1, 1, 0])
    one_by_one = np.stack([model(X, *parameters) for parameters in fits.parameters])
    for found in fits.predict(), model.predict(fits), model.predict(fits.parameters, X), fits.predict(X):
        assert found.shape == (50, 40) and np.array_equal(found, one_by_one)
    assert np.array_equal(model.predict({"a": 5, "t": fits["t"], "c": 1}, X)[7], model(X, 5, fits["t"][7], 1))
    assert np.array_equal(model.predict([5, 3, 1], X), model(X, 5, 3, 1)) and model.predict({"a": 5, "t": 3, "c": 1}, [0, 1]).shape == (2,)
    assert np.array_equal(fits[3:5].predict(), one_by_one[3:5]) and fits[:0].predict().shape == (0, 40)
    own = np.tile(X, (50, 1)) * np.linspace(1, 2, 50)[:, None]
    each = model.fit(y, x=own, start=[1, 1, 0])
    expected = np.stack([model(at, *parameters) for at, parameters in zip(own, each.parameters, strict=True)])
    assert np.array_equal(each.predict(), expected) and np.array_equal(each[[9, 2]].predict(), expected[[9, 2]])
    spots, _, _ = spotfit.simulate(20, (8, 9), noise="none")
    images = spotfit.Model("gauss_2d").fit(spots)
    assert images.predict().shape == (20, 8, 9) and abs(images.residuals(spots)).max() < 0.01
    plain = model.fit(y, start=[1, 1, 0])
    assert np.array_equal(plain.predict()[0], model(np.arange(40), *plain.parameters[0]))
    assert np.array_equal(pickle.loads(pickle.dumps(fits)).predict(), one_by_one)
    # More than one block of values, and one data set across them.
    long = np.linspace(0, 10, 3_000_000)
    assert np.array_equal(model.predict([[5, 3, 1], [1, 2, 3]], long)[1, ::999_999], model(long[::999_999], 1, 2, 3))


def test_residuals_and_r_squared() -> None:
    """Proves that residuals are data less model, and R² what is defined, with weights and without."""
    rng = np.random.default_rng(2)
    y, _ = decays()
    noisy = y + rng.normal(0, 0.1, y.shape)
    weights = rng.uniform(0, 2, 40) * (rng.random(40) > 0.2)
    fits = spotfit.Model("exponential").fit(noisy, x=X, weights=weights)
    left = fits.residuals(noisy)
    assert np.allclose(left, noisy - fits.predict()) and np.allclose((weights * left**2).sum(axis=1), fits.chi2)
    mean = np.average(noisy, axis=1, weights=weights)
    expected = 1 - fits.chi2 / (weights * (noisy - mean[:, None]) ** 2).sum(axis=1)
    assert np.allclose(fits.r_squared(noisy, weights=weights), expected) and (expected > 0.95).all()
    assert np.allclose(fits.r_squared(noisy, weights=np.ones(40)), 1 - (left**2).sum(axis=1) / ((noisy - noisy.mean(axis=1)[:, None]) ** 2).sum(axis=1))
    holes = noisy.copy()
    holes[:, 3] = np.nan
    masked = np.where(np.arange(40) == 3, np.nan, 1.0)
    assert np.isfinite(fits.r_squared(holes, weights=masked)).all() and np.isnan(fits.r_squared(holes, weights=np.ones(40))).all()
    assert np.isnan(fits[:2].r_squared(np.ones((2, 40)))).all()
    line = spotfit.Model("a*x + b").fit(2 * X + 1, x=X, start=[0, 0])
    assert line.r_squared(2 * X + 1).tolist() == [1] and line.residuals(2 * X + 1).shape == (1, 40)


def test_what_cannot_be_predicted_is_named() -> None:
    y, _ = decays()
    model = spotfit.Model("a*exp(-x/t) + c")
    fits = model.fit(y, x=X, start=[1, 1, 0])
    apart = spotfit.ModelFits(
        fits.names, fits.parameters, fits.errors, None, fits.chi2, fits.degrees, fits.iterations, fits.evaluations, fits.status
    )
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: fits.residuals(y[:3]), ValueError, r"y must have the shape \(50, 40\)"),
        (lambda: fits.residuals(y.astype(complex)), TypeError, "complex"),
        (lambda: fits.residuals(np.ma.MaskedArray(y)), TypeError, "masked"),
        (lambda: fits.r_squared(y, weights=np.ones(3)), ValueError, "weights"),
        (lambda: model.predict([1, 2, 3]), ValueError, "x must say where"),
        (lambda: model.predict([1, 2], X), ValueError, "2 parameters are given, the model has 3"),
        (lambda: model.predict({"a": 1, "t": 2}, X), ValueError, "no value for c"),
        (lambda: model.predict({"a": 1, "t": 2, "d": 1}, X), ValueError, "'d'"),
        (lambda: model.predict([1, 2, 3], np.zeros((2, 5))), ValueError, "1 variables, not 2"),
        (lambda: fits.predict(np.zeros((7, 1, 5))), ValueError, "7 data sets, not of 50"),
        (lambda: spotfit.Model("a*x").predict(fits), ValueError, "the fits have a, t, c, the model has a"),
        (lambda: apart.predict(), ValueError, "do not know their model"),
        (lambda: model.predict(apart), ValueError, "x must say where"),
    ]
    for call, kind, what in cases:
        with pytest.raises(kind, match=what):
            call()
    assert np.array_equal(model.predict(apart, X), fits.predict())


def test_parts_are_fits() -> None:
    """Proves that fits of models are chosen as those of windows are."""
    y, _ = decays()
    fits = spotfit.Model("exponential").fit(y, x=X, covariance=True)
    for index in fits["t"] > 3, slice(3, 9), [5, 1], np.array([0, 49]), slice(None, None, -1):
        part = fits[index]
        assert isinstance(part, spotfit.ModelFits) and np.array_equal(part["t"], fits["t"][index])
        assert part.covariance is not None and fits.covariance is not None
        assert np.array_equal(part.covariance, fits.covariance[index]) and np.array_equal(part.status, fits.status[index])
    row = fits[-1]
    assert row["t"] == fits["t"][49] and row["t_error"] == fits.error_of("t")[49] and row["status"] in fits.counts()
    assert list(row) == list(fits.columns()) and len(fits[[]]) == 0
    for wrong in (np.zeros((5, 5), int), 50, np.ones(3, bool)):
        with pytest.raises((TypeError, IndexError)):
            fits[wrong]


def test_images() -> None:
    spots, truth, _ = spotfit.simulate(20, (8, 9), noise="none")
    images = spotfit.Model("gauss_2d").fit(spots)
    assert np.allclose(images["x0"], truth["x"], atol=1e-4) and np.allclose(images["y0"], truth["y"], atol=1e-4)


def test_errors_are_as_large_as_stated() -> None:
    rng = np.random.default_rng(3)
    y, t = decays(5000)
    model = spotfit.Model("a*exp(-x/t) + c")
    noisy = y + rng.normal(0, 0.1, y.shape)
    for words in ({}, {"weights": np.full(40, 100.0), "absolute": True}):
        fits = model.fit(noisy, x=X, start=[5, 3, 1], **words)  # type: ignore[arg-type]
        assert abs(np.std((fits["t"] - t) / fits.error_of("t")) - 1) < 0.05
    counts = rng.poisson(100 * y)
    fits = model.fit(counts, x=X, start=[500, 3, 100], estimator="mle")
    assert abs(np.std((fits["t"] - t) / fits.error_of("t")) - 1) < 0.05


def test_limits_and_parameters_that_are_held() -> None:
    y, t = decays()
    model = spotfit.Model("a*exp(-x/t) + c")
    start = {"a": 5, "t": t, "c": 1}
    assert np.array_equal(model.fit(y, x=X, start=start, fixed="t")["t"], t)
    assert (model.fit(y, x=X, start=start | {"t": 2.5}, bounds={"t": (None, 2.5)})["t"] <= 2.5).all()
    own = model.fit(y, x=X, start=start, bounds={"t": (t, t + 1), "a": (0, None)})
    assert (own["t"] >= t).all() and np.allclose(own["c"], 1, atol=0.1)


def test_points_of_their_own() -> None:
    y, t = decays()
    model = spotfit.Model("a*exp(-x/t) + c")
    own = np.tile(X, (50, 1)) * np.linspace(1, 2, 50)[:, None]
    fits = model.fit(5 * np.exp(-own / 3) + 1, x=own, start=[1, 1, 0])
    assert np.allclose(fits["t"], 3)
    plane = spotfit.Model("a*x + b*y + c", "x, y")
    assert plane.variables == ("x", "y")
    at = np.random.default_rng(1).normal(size=(2, 30))
    fits = plane.fit(2 * at[0] - at[1] + 4, x=at, start=[0, 0, 0])
    assert np.allclose(fits.parameters, [[2, -1, 4]])


@pytest.mark.parametrize("dtype", "f4 f8 u1 u2 u4 i4 i8 f2 >f8 ?".split())
def test_every_type_gives_the_same(dtype: str) -> None:
    y = np.random.default_rng(1).poisson(20 * np.exp(-X / 4) + 1, (10, 40)).astype(dtype)
    model = spotfit.Model("a*exp(-x/t) + c")
    expected = model.fit(y.astype(float), x=X, start=[20, 4, 1]).parameters
    for other in y, np.asfortranarray(y), y[::-1][::-1], np.repeat(y, 2, axis=1)[:, ::2]:
        assert np.array_equal(model.fit(other, x=X, start=[20, 4, 1]).parameters, expected, equal_nan=True)


def test_tables_have_all_columns() -> None:
    y, t = decays()
    pytest.importorskip("pandas")
    fits = spotfit.Model("exponential").fit(y, x=X)
    assert list(fits.to_pandas()["t"]) == list(fits["t"]) and "t_error" in fits.to_pandas()
    pytest.importorskip("polars")
    assert fits.to_polars().columns == list(fits.columns())


def test_what_is_wrong_is_named() -> None:
    y, _ = decays()
    cases: list[tuple[tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
        (("a*exp(-x/t",), {}, ValueError, r"\n  a\*exp\(-x/t\n +\^"),
        (("",), {}, ValueError, "value"),
        (("(" * 10**5,), {}, ValueError, "100000"),
        ((None,), {}, TypeError, "formula"),
        (("exponential", "x"), {}, ValueError, "names"),
        (("a*x + b",), {"start": None}, ValueError, "start"),
        (("a*x + b",), {"start": {"a": 1}}, ValueError, "start.*b"),
        (("a*x + b",), {"start": {"a": 1, "b": "c"}}, TypeError, "start of b"),
        (("a*x + b",), {"start": [1, 2, 3]}, ValueError, "start"),
        (("a*x + b",), {"start": [1, np.nan]}, ValueError, "start"),
        (("a*x + b",), {"fixed": "c"}, ValueError, "'c'"),
        (("a*x + b",), {"bounds": {"a": (2, 1)}}, ValueError, "limits 2 to 1"),
        (("a*x + b",), {"bounds": {"a": 2}}, ValueError, "bounds of a"),
        (("a*x + b",), {"bounds": {"a": (2, 3)}}, ValueError, "start value"),
        (("a*x + b",), {"x": np.zeros(3)}, ValueError, "points"),
        (("a*x + b",), {"x": X * np.nan}, ValueError, "points.*finite"),
        (("a*x + b",), {"weights": -np.ones(40)}, ValueError, "weight"),
        (("a*x + b",), {"weights": np.ones((3, 40))}, ValueError, "weights"),
        (("a*x + b",), {"y": None}, TypeError, "y"),
        (("a*x + b",), {"y": np.zeros((2, 2, 2, 2))}, ValueError, "y"),
        (("a*x + b",), {"y": np.zeros((5, 1)), "x": None}, ValueError, "2 parameters"),
        (("a*x + b",), {"y": np.ma.MaskedArray(y)}, TypeError, "masked"),
        (("a*x + b",), {"y": y.astype(complex)}, TypeError, "complex"),
        (("a*x + b",), {"max_iterations": 0}, ValueError, "max_iterations"),
        (("a*x + b",), {"tolerance": 3}, ValueError, "tolerance"),
        (("a*x + b",), {"backend": "fpga"}, ValueError, "fpga"),
        (("a*x + b",), {"linear": "maybe"}, ValueError, "linear"),
        (("a*x + b",), {"x": np.ma.MaskedArray(X)}, TypeError, "x is a masked"),
        (("a*x + b",), {"weights": np.ma.MaskedArray(X)}, TypeError, "weights is a masked"),
        (("a*x + b",), {"start": np.ma.MaskedArray([1, 1])}, TypeError, "start is a masked"),
        (("a*x + b",), {"start": {"a": np.ma.MaskedArray(1), "b": 1}}, TypeError, "start of a is a masked"),
        (("a*x + b",), {"max_iterations": "9"}, TypeError, "max_iterations"),
        (("a*x + b",), {"tolerance": "1"}, TypeError, "tolerance"),
        (("a*x + b",), {"backend": []}, TypeError, "backend"),
    ]
    for model, words, kind, name in cases:
        with pytest.raises(kind, match=name):
            spotfit.Model(*model).fit(**{"y": y, "x": X, "start": [1, 1], **words})


def test_a_parameter_is_given_once() -> None:
    model = spotfit.Model("a*exp(-x/t) + c")
    with pytest.raises(TypeError, match="a is given twice"):
        model(X, 40, 4, 1, a=99)
    with pytest.raises(TypeError, match="masked"):
        model(np.ma.MaskedArray(X), 40, 4, 1)


@pytest.mark.parametrize("given", [("a*exp(-x/t)", "x", ["t", "a"]), ("exponential",), ("a*u + b*v", ["u", "v"])])
def test_models_can_be_sent_to_other_processes(given: tuple[Any, ...]) -> None:
    model = spotfit.Model(*given)
    again = pickle.loads(pickle.dumps(model))
    assert (again.formula, again.variables, again.parameters) == (model.formula, model.variables, model.parameters)


def test_data_that_say_nothing_give_a_status() -> None:
    y, _ = decays(3)
    y[1] = np.nan
    fits = spotfit.Model("exponential").fit(y, x=X)
    assert fits.converged.tolist() == [True, False, True]
    fits = spotfit.Model("a*b*x").fit(y, x=X, start=[1, 1])
    assert not np.isfinite(fits.errors).any() and not fits.converged.any()
    fits = spotfit.Model("exponential").fit(np.full(len(X), 5.0), x=X)
    assert not fits.converged.any()


def test_errors_at_a_limit_are_those_beside_it() -> None:
    y, _ = decays(3)
    model = spotfit.Model("a*exp(-x/t) + c")
    limited = model.fit(y, x=X, start={"a": 5, "t": 1.0, "c": 1}, bounds={"t": (None, 1.5)}, covariance=True)
    held = model.fit(y, x=X, start={"a": 5, "t": 1.5, "c": 1}, fixed="t", covariance=True)
    assert (limited.status == spotfit.Status.at_limit).all()
    assert limited.found.all() and not limited.converged.any() and "found at a limit" in repr(limited)
    np.testing.assert_allclose(limited.errors, held.errors, rtol=1e-3)
    assert limited.covariance is not None and held.covariance is not None
    np.testing.assert_allclose(limited.covariance, held.covariance, rtol=1e-3, atol=1e-12)
    np.testing.assert_array_equal(limited.degrees, held.degrees)


def test_numbers_far_from_zero() -> None:
    x = np.arange(40.0)
    rng = np.random.default_rng(5)
    y = 2 + 0.25 * x + rng.normal(0, 0.1, 40)
    model = spotfit.Model("a + b*x")
    plain = model.fit(y, x=x, start=[0, 0])
    for shift, level, scale in [(1.7e9, 0, 1), (1.7e12, 1e9, 1), (0, 0, 1e-150), (0, 0, 1e300)]:
        for backend in ("reference", "cpu"):
            fits = model.fit((y + level) * scale, x=x + shift, start=[0, 0], backend=backend)
            assert fits.converged.all()
            off = (fits["b"] / scale - plain["b"]) / plain.error_of("b")
            assert abs(off).max() < 0.01
            np.testing.assert_allclose(fits.error_of("b") / scale, plain.error_of("b"), rtol=0.01)


def test_a_held_parameter_outside_its_limits_is_named() -> None:
    y, _ = decays(1)
    with pytest.raises(ValueError, match="start value 8 of parameter 'a', which is held there, is not within its limits 0 to 1"):
        spotfit.Model("a*exp(-x/t)").fit(y, x=X, start=[8, 1], fixed="a", bounds={"a": (0, 1)})
