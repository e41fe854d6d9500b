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
