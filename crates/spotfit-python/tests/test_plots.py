"""Plots: what is drawn, where it is written, and what is refused."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spotfit

X = np.geomspace(0.01, 100, 12)
Y = np.stack([1 + 9 / (1 + half / X) for half in (0.5, 1.0, 2.0)])


def fits(**options: Any) -> spotfit.ModelFits:
    model = spotfit.Model("low + (high - low)/(1 + half/dose)", variables="dose")
    return model.fit(Y, x=X, start={"low": 0, "high": 8, "half": 1}, **options)


def is_png(file: bytes) -> bool:
    return file.startswith(b"\x89PNG\r\n")


def test_fits_of_models_are_drawn(tmp_path: Path) -> None:
    """Proves that the chosen fits are drawn with their errors, on a logarithmic axis where x are doses, and that an ending chooses."""
    found = fits()
    svg = found.svg(Y)
    assert svg.count("residual") == 3 and ">dose<" in svg and ">10⁻¹<" in svg and "NaN" not in svg
    assert "<circle" in found.svg(Y, plots=0) and "residual" not in found.svg(Y, plots=0)
    assert found.svg(Y, plots=1).count("residual") == 1 and ">10⁻¹<" not in found.svg(Y, log_x="no")
    assert "not drawn" in found.svg(Y - 5, log_y=True) and "not drawn" not in found.svg(Y, log_y=True)
    weights = np.full(12, 4.0)
    weights[3] = 0
    bars = fits(weights=weights, absolute=True).svg(Y, weights=weights, plots=1)
    assert "± their errors" in bars and bars.count("<circle") == 2 * 11 + 1
    assert pickle.loads(pickle.dumps(found)).svg(Y, X) == svg
    for name in "fit.svg", "fit.png":
        found.plot(tmp_path / name, Y)
    assert (tmp_path / "fit.svg").read_text(encoding="utf-8") == svg and is_png((tmp_path / "fit.png").read_bytes())
    wrong: list[tuple[Callable[[], object], str]] = [
        (lambda: found.plot(tmp_path / "fit.jpg", Y), r"ends in \.svg or \.png"),
        (lambda: found.svg(Y[:2]), "must have the shape"),
        (lambda: found.svg(Y, log_x="maybe"), "log_x = 'maybe' is not one of"),  # type: ignore[arg-type]
        (lambda: found.svg(Y, weights=np.ones(5)), "of the same data sets"),
    ]
    for call, told in wrong:
        with pytest.raises(ValueError, match=told):
            call()
    assert not (tmp_path / "fit.jpg").exists()


def test_images_are_drawn() -> None:
    """Proves that images are drawn as data, model and residuals."""
    y, x = np.mgrid[:9, :11]
    spot = 100 * np.exp(-((x - 5.2) ** 2 + (y - 4.1) ** 2) / 4) + 3
    svg = spotfit.Model("gauss_2d").fit(spot[None]).svg(spot[None])
    assert svg.count("<image") == 6 and ">data − model<" in svg


def test_drift_and_calibrations_are_drawn(tmp_path: Path) -> None:
    """Proves that a drift and a calibration are drawn, as files and in notebooks."""
    frames = np.arange(50.0)
    drift = spotfit.Drift(frames, -frames, x_error=np.ones(50), y_error=np.ones(50), unit="nm")
    assert ">drift (nm)<" in drift.svg() and drift.svg().count("<polygon") == 2
    stack = spotfit.simulate_beads(beads=10, width=128, height=128, step=25)
    calibration = spotfit.calibrate(stack.frames, step=25, camera=spotfit.Camera(baseline=100, read_noise=1.5))
    assert ">σ (px)<" in calibration.svg()
    for number, made in enumerate((drift, calibration)):
        made.plot(tmp_path / f"{number}.svg")
        made.plot(tmp_path / f"{number}.png")
        assert (tmp_path / f"{number}.svg").read_text(encoding="utf-8") == made.svg() == made._repr_html_()
        assert (tmp_path / f"{number}.png").read_bytes() == made._repr_png_() and is_png(made._repr_png_())
        with pytest.raises(ValueError, match=r"ends in \.svg or \.png"):
            made.plot(tmp_path / "plot.pdf")


def test_outcomes_are_tables_in_notebooks() -> None:
    """Proves that fits have tables, whatever they are called, and where there are none."""
    model = spotfit.Model("a*x + b").fit([[0.0, 1.0, 2.0]], start=[1, 0])
    assert "<td>a</td><td>1</td>" in model._repr_html_()
    spots = spotfit.fit(spotfit.simulate(20, photons=1000).spots)
    assert "20 spots" in spots._repr_html_() and "<td>sigma</td>" in spots._repr_html_()
    assert "nothing to do" in spots[:0]._repr_html_()
