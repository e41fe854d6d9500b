"""Drift: its errors, what is refused, and what is added to uncertainties."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import spotfit

FRAMES = 1000


def structure(depth: bool = False) -> spotfit.Locs:
    """Molecules that come back, at 60 places, while everything moves by 1.5 and -0.9 pixels; z moves by 60 nm."""
    rng = np.random.default_rng(3)
    frame = np.repeat(np.arange(FRAMES), 4)
    place = rng.integers(0, 60, len(frame))
    at = rng.uniform(0, 64, (60, 2))[place]
    share = frame / FRAMES
    columns: dict[str, Any] = {
        "frame": frame,
        "x": at[:, 0] + 1.5 * share + rng.normal(0, 0.1, len(frame)),
        "y": at[:, 1] - 0.9 * share + rng.normal(0, 0.1, len(frame)),
        "uncertainty": np.full(len(frame), 0.1),
    }
    if depth:
        columns["z"] = rng.uniform(0, 400, 60)[place] + 60 * share + rng.normal(0, 30, len(frame))
        columns["uncertainty_z"] = np.full(len(frame), 30.0)
    return spotfit.Locs(columns, spotfit.Movie(100.0, 64, 64, FRAMES))


@pytest.mark.parametrize("depth", [False, True])
def test_errors_are_those_of_the_drift(depth: bool) -> None:
    locs = structure(depth)
    drift = spotfit.find_drift(locs)
    truths = [(drift.x, drift.x_error, 1.5), (drift.y, drift.y_error, -0.9), (drift.z, drift.z_error, 60.0)]
    for found, error, whole in truths[: 3 if depth else 2]:
        assert found.shape == error.shape == (FRAMES,) and (error > 0).all() and np.isfinite(error).all()
        truth = whole * np.arange(FRAMES) / FRAMES
        off = (found - found.mean()) - (truth - truth.mean())
        assert np.sqrt(np.mean((off / error) ** 2)) < 3
    assert depth or len(drift.z) == len(drift.z_error) == 0
    straight, stated = drift.correct(locs), drift.correct(locs, with_error=True)
    assert np.array_equal(straight.x, stated.x) and np.array_equal(straight.uncertainty, locs.uncertainty)
    added = np.sqrt((drift.x_error**2 + drift.y_error**2) / 2)[locs.frame]
    assert np.allclose(stated.uncertainty, np.hypot(locs.uncertainty, added), rtol=1e-12)
    assert not depth or np.allclose(stated.uncertainty_z, np.hypot(30, drift.z_error[locs.frame]), rtol=1e-12)


def test_drift_of_chance_is_refused() -> None:
    rng = np.random.default_rng(4)
    frame = np.repeat(np.arange(FRAMES), 3)
    x, y = rng.uniform(0, 64, (2, len(frame)))
    locs = spotfit.Locs({"frame": frame, "x": x, "y": y, "uncertainty": np.full(len(frame), 0.1)}, spotfit.Movie(100.0))
    with pytest.raises(ValueError, match="cannot be told from chance.*anyway"):
        spotfit.find_drift(locs)
    assert len(spotfit.find_drift(locs, anyway=True).x) == FRAMES


def test_errors_are_added_in_the_unit_of_each_column() -> None:
    pixels = [np.array([0.0, 1.0]), np.array([0.0, -2.0]), np.array([0.0, 30.0])]
    errors = [np.array([0.03, 0.06]), np.array([0.04, 0.08]), np.array([5.0, 12.0])]
    x, y, z = pixels
    x_error, y_error, z_error = errors
    drift = spotfit.Drift(x, y, z, x_error, y_error, z_error)
    columns: dict[str, Any] = {
        # The last frame is after the end of the drift.
        "frame": [0, 1, 9],
        "x": [4.0, 4.0, 4.0],
        "y": [4.0, 4.0, 4.0],
        "z": [100.0, 100.0, 100.0],
        "uncertainty": [0.1, 0.1, np.nan],
        "uncertainty_x": [0.04, 0.08, 0.0],
        "uncertainty_y": [0.03, 0.06, 0.0],
        "uncertainty_z": [12.0, 5.0, 0.0],
    }
    both = np.sqrt([0.00125, 0.005])
    locs = spotfit.Locs(columns, spotfit.Movie(100.0))
    found = drift.correct(locs, with_error=True)
    assert found.x.tolist() == [4, 3, 3] and found.z.tolist() == [100, 70, 70]
    assert np.allclose(found.uncertainty_x, [0.05, 0.1, 0.06]) and np.allclose(found.uncertainty_y, [0.05, 0.1, 0.08])
    assert np.allclose(found.uncertainty[:2], np.hypot(0.1, both)) and np.isnan(found.uncertainty[2])
    assert np.allclose(found.uncertainty_z, [13, 13, 12])
    # One column in another unit than the positions.
    mixed = locs.with_column("uncertainty", np.full(3, 10.0), "nm")
    found = drift.correct(mixed, with_error=True)
    assert np.allclose(found.uncertainty[:2], np.hypot(10, 100 * both)) and found.units["uncertainty"] == "nm"
    unknown = spotfit.Locs(columns).with_column("uncertainty", np.full(3, 10.0), "nm")
    with pytest.raises(ValueError, match="the size of a pixel is not known"):
        drift.correct(unknown, with_error=True)


def test_errors_that_are_not_known_are_not_added() -> None:
    drift = spotfit.Drift(np.zeros(2), np.zeros(2), np.zeros(0))
    assert len(drift.x_error) == len(drift.y_error) == len(drift.z_error) == 0
    locs = spotfit.Locs({"frame": [0], "x": [1.0], "y": [1.0], "uncertainty": [0.1]})
    assert drift.correct(locs).uncertainty.tolist() == [0.1]
    with pytest.raises(ValueError, match="errors of the drift are not known: x_error"):
        drift.correct(locs, with_error=True)
    known = replace(drift, x_error=np.ones(2), y_error=np.ones(2))
    bare = spotfit.Locs({"frame": [0], "x": [1.0], "y": [1.0]})
    with pytest.raises(ValueError, match="no column 'uncertainty'"):
        known.correct(bare, with_error=True)
    with pytest.raises(ValueError, match="z_error"):
        replace(known, z=np.zeros(2)).correct(locs, with_error=True)


@pytest.mark.parametrize(("name", "frames"), [("segment", 1000), ("segment", 5), ("knots", 1000)])
def test_counts_out_of_range_are_refused(name: str, frames: int) -> None:
    given: dict[str, Any] = {name: frames}
    with pytest.raises(ValueError, match=f"{name} = {frames} frames: .* are possible"):
        spotfit.find_drift(structure(), **given)
