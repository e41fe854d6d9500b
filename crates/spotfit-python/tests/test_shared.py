"""Fits in which data sets share parameters, ties, and priors."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import spotfit

X = np.arange(20.0)


def decays(sets: int = 6) -> np.ndarray[Any, np.dtype[np.float64]]:
    random = np.random.default_rng(5)
    a = 3 + np.arange(sets)[:, None]
    return a * np.exp(-X / 3) + 1 + 0.1 * random.normal(size=(sets, len(X)))


def test_a_time_is_shared() -> None:
    model = spotfit.Model("exponential")
    fits = model.fit(decays(), shared="t", covariance=True)
    assert isinstance(fits, spotfit.SharedModelFits)
    (t,) = fits.shared
    assert (t.name, t.group) == ("t", None)
    assert abs(t.value - 3) < 5 * t.error
    assert np.all(fits["t"] == t.value)
    assert t.error < model.fit(decays()).errors[:, 1].min()
    assert fits.total_degrees == 6 * 20 - 13 and fits.left_out == 0
    assert fits.total_chi2 == pytest.approx(fits.chi2.sum())
    again = pickle.loads(pickle.dumps(fits))
    assert again.shared == fits.shared and np.array_equal(again.parameters, fits.parameters)


def test_shared_on_each_backend() -> None:
    model = spotfit.Model("exponential")
    reference = model.fit(decays(), shared="t", backend="reference")
    assert np.array_equal(model.fit(decays(), shared="t", backend="auto").parameters, reference.parameters)
    # What is shared needs no GPU.
    for backend in ("cpu", "gpu"):
        found = model.fit(decays(), shared="t", backend=backend)
        assert np.allclose(found.parameters, reference.parameters, rtol=1e-6)
        assert np.allclose(found.errors, reference.errors, rtol=1e-6)


def test_groups_are_words_or_numbers() -> None:
    model = spotfit.Model("a*exp(-x/t) + c")
    groups = ["cold", "warm", "cold", "warm", "cold", "warm"]
    start = {"a": 5, "t": 2, "c": 0.5}
    fits = model.fit(decays(), start=start, shared={"t": groups, "c": None})
    assert isinstance(fits, spotfit.SharedModelFits)
    assert [(value.name, value.group) for value in fits.shared] == [("t", "cold"), ("t", "warm"), ("c", None)]
    assert np.ptp(fits["t"][::2]) == 0 and fits["t"][0] != fits["t"][1]
    numbers = model.fit(decays(), start=start, shared={"t": np.array([0, 1, 0, 1, 0, 1]), "c": None})
    assert np.array_equal(numbers.parameters, fits.parameters)


def test_ties_and_priors() -> None:
    model = spotfit.Model("exponential_2", where=["a2=10-a1", "t2=4*t1"])
    assert model.parameters == ("a1", "t1", "c")
    y = 6 * np.exp(-X / 1.5) + 4 * np.exp(-X / 6) + 1 + 0.01 * np.sin(7 * X)
    fits = model.fit(y)
    assert fits["a2"][0] == pytest.approx(10 - fits["a1"][0])
    assert fits["a2_error"][0] == pytest.approx(fits.errors[0, 0], rel=1e-6)
    assert pickle.loads(pickle.dumps(model)).parameters == model.parameters
    plain = spotfit.Model("exponential")
    free, known = (plain.fit(decays(), absolute=True, weights=1, prior=prior) for prior in (None, {"t": (4, 0.01)}))
    assert np.all(np.abs(known["t"] - 4) < np.abs(free["t"] - 4))
    assert np.all(known.errors[:, 1] <= 0.01)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"shared": "q"}, "no parameter 'q'"),
        ({"shared": {"t": [1, 2]}}, "2 groups for 6"),
        ({"shared": ["t", "t"]}, "shared twice"),
        ({"shared": "t", "fixed": "t", "start": {"a": 1, "t": 1, "c": 0}}, "fixed"),
        ({"prior": {"t": (3, 1)}}, "absolute"),
        ({"prior": {"t": (3, 0)}, "absolute": True, "weights": 1}, "not above 0"),
        ({"prior": {"t": 3}, "absolute": True, "weights": 1}, "a mean and a standard deviation"),
        ({"prior": {"t": (3, 1)}, "absolute": True, "weights": 1, "bounds": {"t": (4, None)}}, "outside its limits"),
        ({"shared": "t", "intervals": 0.68, "loss": "huber"}, "not of a loss"),
    ],
)
def test_contradictions(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        spotfit.Model("exponential").fit(decays(), **options)


def test_ties_in_a_circle() -> None:
    for ties, told in ((["a1=a2", "a2=a1"], "circle"), ("q=1", "no parameter 'q'"), ("a1=x", "variable"), ("a1", "NAME=EXPRESSION")):
        with pytest.raises(ValueError, match=told):
            spotfit.Model("exponential_2", where=ties)
