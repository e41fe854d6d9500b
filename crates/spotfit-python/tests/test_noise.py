"""Noise of other kinds than weights tell."""

import pickle

import numpy as np
import pytest
import spotfit

X = np.arange(30.0)
MODEL = spotfit.Model("k*x + c")


def lines(count: int = 4) -> np.ndarray:
    rng = np.random.default_rng(3)
    y = 2 * X + 1 + rng.normal(0, 0.5, (count, X.size))
    y[:, 7] += 60
    return y


@pytest.mark.parametrize("loss", ["huber", "tukey", "soft_l1", "cauchy"])
def test_losses(loss: str) -> None:
    """Proves that losses find lines beside outliers and list these, and that fits keep what is known of them."""
    y = lines()
    fits = MODEL.fit(y, x=X, start=[1, 0], loss=loss, outlier_rate=0.01)  # type: ignore[arg-type]
    assert np.abs(fits["k"] - 2).max() < 0.05
    assert fits.outliers is not None and fits.outliers[:, 7].all() and fits.outliers.sum() < 8
    assert fits.scale is not None and ((fits.scale > 0.3) & (fits.scale < 0.9)).all()
    again = pickle.loads(pickle.dumps(fits))
    assert (again.outliers == fits.outliers).all() and (again.scale == fits.scale).all()
    assert fits[1:3].outliers.shape == (2, 30)  # type: ignore[union-attr]
    held = MODEL.fit(y, x=X, start=[1, 0], loss=loss, scale=0.5)  # type: ignore[arg-type]
    assert held.outliers is None and held.scale is not None and (held.scale == 0.5).all()


def test_trials_rules_and_errors_of_x() -> None:
    """Proves that successes, rules for weights and errors of x are taken."""
    logistic = spotfit.Model("1/(1 + exp(-(x - m)/w))")
    x = np.arange(-6.0, 7)
    seen = np.round(20 / (1 + np.exp(-(x - 1) / 2)))
    one = logistic.fit(seen, x=x, start=[0, 1], estimator="binomial", trials=20)
    many = logistic.fit([seen, seen], x=x, start=[0, 1], estimator="binomial", trials=np.full((2, 13), 20))
    assert abs(one["m"][0] - 1) < 0.3 and (many["m"] == one["m"][0]).all()
    y = np.abs(lines())
    rules = [MODEL.fit(y, x=X, start=[1, 0], weights=rule)["k"][0] for rule in ("1/y", "1/y^2", "1/f", "1/f^2")]
    assert len(set(rules)) == 4
    weights = np.full(30, 4.0)
    both = MODEL.fit(y, x=X, start=[1, 0], weights=weights, x_errors=0.2)
    assert (both["k"] == MODEL.fit(y, x=X, start=[1, 0], weights=weights, x_errors=np.full(30, 0.2))["k"]).all()
    assert (both.chi2 < MODEL.fit(y, x=X, start=[1, 0], weights=weights).chi2).all()


def test_what_cannot_be_is_refused() -> None:
    """Proves that words that exclude each other, and numbers that make no sense, are refused."""
    y = lines()
    for words, says in [
        ({"loss": "biweight"}, "huber, tukey"),
        ({"loss": "huber", "estimator": "mle"}, "together"),
        ({"scale": 2}, "needs a loss"),
        ({"loss": "huber", "scale": -1}, "above 0"),
        ({"loss": "huber", "outlier_rate": 2}, "below 1"),
        ({"estimator": "binomial"}, "needs trials"),
        ({"trials": 5}, "binomial"),
        ({"estimator": "binomial", "trials": 5}, "in 5 trials"),
        ({"weights": "1/z"}, "1/z"),
        ({"loss": "huber", "statistics": True}, "do not go with loss"),
        ({"weights": "1/f", "compare": "linear"}, "does not go with weights"),
        ({"x_errors": 1}, "errors of y"),
        ({"weights": np.ones(30), "x_errors": np.ones((3, 1, 30))}, "errors of x"),
    ]:
        with pytest.raises(ValueError, match=says):
            MODEL.fit(y, x=X, start=[1, 0], **words)  # type: ignore[arg-type]
