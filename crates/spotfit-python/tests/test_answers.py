"""What is known of fits of models besides parameters."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spotfit

X = np.linspace(0, 10, 40)
Y = 5 * np.exp(-X / 3) + 1 + np.random.default_rng(3).normal(0, 0.1, (6, 40))
MODEL = spotfit.Model("a*exp(-x/t) + c")


def fitted(**options: Any) -> spotfit.ModelFits:
    return MODEL.fit(Y, x=X, start=[4, 2, 0.5], **options)


def test_statistics_are_what_they_are_called() -> None:
    """Proves the definitions, and that what the residuals say nothing of is NaN."""
    fits = fitted(statistics=True)
    assert np.allclose(fits.r_squared(), fits.r_squared(Y)) and np.allclose(fits["r_squared"], fits.r_squared())
    n, k = 40, 4
    assert np.allclose(fits.adjusted_r_squared, 1 - (1 - fits.r_squared()) * 39 / 37)
    assert np.allclose(fits.aicc, n * np.log(fits.chi2 / n) + 2 * k + 2 * k * (k + 1) / (n - k - 1))
    assert np.allclose(fits.bic, n * np.log(fits.chi2 / n) + k * np.log(n)) and np.isnan(fits.p_value).all()
    fits = fitted(statistics=True, absolute=True, weights=np.full(40, 100.0))
    assert np.allclose(fits.aicc, fits.chi2 + 6 + 24 / 36) and ((fits.p_value > 1e-4) & (fits.p_value < 1)).all()
    with pytest.raises(ValueError, match="statistics=True"):
        fitted().aicc  # noqa: B018


def test_derived_quantities_have_errors_with_all_covariances() -> None:
    """Proves the delta method, and that wrong quantities are refused."""
    fits = fitted(derive=["half_life=t*ln(2)", "start = a + c"], covariance=True)
    assert fits.covariance is not None
    assert np.allclose(fits["half_life"], fits["t"] * np.log(2)) and np.allclose(fits["half_life_error"], fits.error_of("t") * np.log(2))
    variance = fits.covariance[:, 0, 0] + 2 * fits.covariance[:, 0, 2] + fits.covariance[:, 2, 2]
    assert np.allclose(fits["start_error"] ** 2, variance)
    for wrong in ("half", "2x=t", "h=q*t", "h=3", "t=2*t", "h=t*(", "chi2=t", "a_error=a", "x y=t", "=t"):
        with pytest.raises(ValueError):
            fitted(derive=wrong)
    with pytest.raises(ValueError, match="two columns"):
        fitted(derive=["h=t", "h=a"])


def test_intervals_are_near_errors() -> None:
    """Proves that intervals lie around values, are about as long as errors, and say how they end."""
    fits = fitted(intervals=0.6827)
    for name in fits.names:
        low, high = fits[f"{name}_low"], fits[f"{name}_high"]
        assert ((low < fits[name]) & (fits[name] < high)).all() and (fits[f"{name}_interval"] == "closed").all()
        assert np.allclose(high - low, 2 * fits.error_of(name), rtol=0.15)
    limited = MODEL.fit(Y, x=X, start=[4, 2, 2], intervals=0.68, bounds={"c": (1.5, None)})
    assert (limited["c_low"] == 1.5).all() and (limited["c_interval"] == "low_limit").all()
    for wrong in (0, 1, -1, 2, float("nan"), float("inf")):
        with pytest.raises(ValueError):
            fitted(intervals=wrong)
    with pytest.raises(TypeError):
        fitted(intervals="half")


def test_models_are_compared() -> None:
    """Proves that the model that made the data is preferred, however the other is given."""
    for other in ("offset + slope*x", "linear", spotfit.Model("linear")):
        fits = fitted(compare=other, compare_start=[1, 0])
        assert (fits["preferred"] == "model").all() and (fits["aicc_difference"] > 10).all() and (fits["aicc_weight"] > 0.99).all()
        assert (fits["compare_p_value"] < 1e-6).all() and (fits["compare_status"] != "invalid").all()
    assert np.allclose(fitted(compare="linear")["compare_chi2"], fits["compare_chi2"])
    for wrong, start in ((spotfit.Model("p*x*y", "x,y"), None), ("exponentail", None), ("linear", [1]), (None, [1, 2])):
        with pytest.raises(ValueError):
            fitted(compare=wrong, compare_start=start)


def test_answers_are_kept(tmp_path: Path) -> None:
    """Proves that answers go with their fits: chosen, pickled, in tables, and in the command's files."""
    fits = fitted(statistics=True, intervals=0.68, derive="h=t*2")
    again = pickle.loads(pickle.dumps(fits[[1, 3]]))
    assert again["h"].tolist() == fits["h"][[1, 3]].tolist() and again["a_interval"].tolist() == ["closed"] * 2
    assert {"h", "h_error", "aicc"} <= set(fits.columns())
    fits.save(tmp_path / "fits.npy")
    saved = np.load(tmp_path / "fits.npy")
    assert np.array_equal(saved["h"], fits["h"]) and saved["t_interval"].tolist() == fits["t_interval"].tolist()
    fits.save(tmp_path / "fits.csv")
    head, first = (tmp_path / "fits.csv").read_text().splitlines()[:2]
    assert head.endswith("r_squared,adjusted_r_squared,aicc,bic,p_value") and first.endswith(",")


def test_any_formula_finds_its_start() -> None:
    """Proves that start values of a formula are searched for when that is asked."""
    fits = MODEL.fit(Y, x=X, start="auto")
    assert np.allclose(fits.parameters, fitted().parameters, rtol=1e-3)
    with pytest.raises(ValueError, match="'auto'"):
        MODEL.fit(Y, x=X, start="somewhere")
    with pytest.raises(ValueError):
        MODEL.fit(Y, x=X, start="auto", fixed="c")


def test_bands_are_drawn() -> None:
    """Proves that bands are drawn around fits with a covariance, and only around those."""
    fits = fitted(covariance=True)
    assert "bands of confidence" in fits.svg(Y, bands=0.95) and len(fits.svg(Y, bands=0.95)) > len(fits.svg(Y))
    with pytest.raises(ValueError, match="covariance"):
        fitted().svg(Y, bands=0.95)
    with pytest.raises(ValueError, match="level"):
        fits.svg(Y, bands=2)


def test_bands_are_a_table() -> None:
    """Proves that the table of bands is the delta method's, at the points of the data and elsewhere, and that weights narrow that of prediction."""
    fits = fitted(covariance=True)
    assert fits.covariance is not None
    bands = fits.bands_table(0.95)
    assert all(band.shape == Y.shape for band in bands.values()) and np.allclose(bands["value"], fits.predict())
    a, t, _ = fits.parameters.T
    decay = np.exp(-X[7] / t)
    slopes = np.stack([decay, a * decay * X[7] / t**2, np.ones(6)])
    width = (bands["confidence_high"] - bands["confidence_low"])[:, 7] / 2
    error = np.sqrt(np.einsum("if,fij,jf->f", slopes, fits.covariance, slopes))
    assert np.allclose(width / error, 2.0262, rtol=1e-4)
    assert (bands["prediction_low"] < bands["confidence_low"]).all()
    heavy = fits.bands_table(0.95, [1.0, 2.0], weights=[1.0, 100.0])
    ends = heavy["prediction_high"] - heavy["value"]
    assert (ends[:, 1] < ends[:, 0]).all()
    with pytest.raises(ValueError, match="covariance"):
        fitted().bands_table(0.95)
    with pytest.raises(ValueError, match="level"):
        fits.bands_table(1)


def half(bands: dict[str, Any], name: str) -> Any:
    return (bands[f"{name}_high"] - bands[f"{name}_low"]) / 2


def test_bands_take_the_weights_of_the_fit() -> None:
    """Proves that bands of prediction, R² and plots take the weights that the fit had, in the unit of y, also of parts of the fits; that a rule follows
    the model; and that what is not known is refused."""
    for absolute, quantile in (True, 1.959964), (False, 2.026192):
        fits = fitted(covariance=True, absolute=absolute, weights=np.full((6, 40), 100.0))
        scale = 1 if absolute else np.sqrt(fits.chi2 / fits.degrees)[:, None]
        for bands in fits.bands_table(0.95), fits.bands_table(0.95, x=np.linspace(0, 9, 40)):
            wanted = np.hypot(quantile * 0.1 * scale, half(bands, "confidence"))
            assert np.allclose(half(bands, "prediction"), wanted, rtol=1e-5)
        some = fits[2:4].bands_table(0.95)
        assert (some["prediction_low"] == fits.bands_table(0.95)["prediction_low"][2:4]).all()
        assert fits.svg(Y, bands=0.95) == fits.svg(Y, bands=0.95, weights=np.full(40, 100.0))
    weights = np.linspace(0, 300, 40)
    fits = fitted(covariance=True, weights=weights, statistics=True)
    assert np.allclose(fits.r_squared(Y), fits["r_squared"])
    bands = fits.bands_table(0.95)
    assert np.isinf(bands["prediction_high"][:, 0]).all() and np.isfinite(bands["prediction_high"][:, 1:]).all()
    with pytest.raises(ValueError, match="must say those of data at x"):
        fits.bands_table(0.95, x=[1.0, 2.0])
    counts = np.where(X == X[7], 0, np.round(10 * Y))
    with pytest.warns(spotfit.SpotfitWarning, match="6 of 240 points are left out"):
        fits = MODEL.fit(counts, x=X, start=[40, 2, 5], weights="1/y", absolute=True, covariance=True)
    bands = fits.bands_table(0.95)
    assert np.allclose(half(bands, "prediction"), np.hypot(1.959964 * np.sqrt(bands["value"]), half(bands, "confidence")), rtol=1e-5)
    for options, told in (
        ({"loss": "huber"}, "loss"), ({"x_errors": 0.1, "weights": np.full(40, 100.0)}, "x_errors"),
    ):  # fmt: skip
        fits = fitted(covariance=True, **options)
        with pytest.raises(ValueError, match=told):
            fits.bands_table(0.95)
        with pytest.raises(ValueError, match=told):
            fits.svg(Y, bands=0.95)


def test_absolute_errors_need_weights() -> None:
    """Proves that nothing is taken for the errors of the points in silence."""
    with pytest.raises(ValueError, match="give weights"):
        fitted(absolute=True)
    assert np.allclose(fitted(absolute=True, weights=4).errors * 2, fitted(absolute=True, weights=np.ones(40)).errors, rtol=1e-3)
    MODEL.fit(np.round(10 * Y), x=X, start=[40, 2, 5], absolute=True, estimator="mle")
    for wrong in 0, -2, np.nan:
        with pytest.raises(ValueError, match="above 0"):
            fitted(weights=wrong)
    fits = fitted(weights=4)
    assert (fits.r_squared(Y, weights=4) == fits.r_squared(Y)).all()


def test_losses_go_with_answers() -> None:
    """Proves that losses go with intervals and comparisons, and that shared parameters go with all of them."""
    # Of many points intervals are as wide as errors say.
    x = np.linspace(0, 12, 400)
    y = 5 * np.exp(-x / 3) + 1 + np.random.default_rng(5).normal(0, 0.1, (6, 400))
    fits = MODEL.fit(y, x=x, start=[4, 2, 0.5], loss="huber", intervals=0.68, compare="a*exp(-x/t)", compare_start=[5, 3])
    wide = (fits["t_high"] - fits["t_low"]) / 2 / fits.error_of("t")
    assert ((wide > 0.93) & (wide < 1.07)).all() and (fits["compare_p_value"] < 0.01).all()
    shared = fitted(loss="tukey", shared="t", outlier_rate=0.01)
    assert np.ptp(shared["t"]) == 0 and abs(shared["t"][0] - 3) < 0.2
    assert shared.scale is not None and np.ptp(shared.scale) == 0 and abs(shared.scale[0] - 0.1) < 0.02 and shared.outliers is not None
    shared = fitted(shared="t", intervals=0.68, compare="linear")
    assert (shared["t_low"] < shared["t"]).all() and (shared["preferred"] == "model").all()
