"""Results do not change, and say so; options are checked when they are made; what is printed is short."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
import spotfit
from conftest import gaussian

X = np.arange(40.0)


def table(rows: int = 5) -> spotfit.Locs:
    number = np.arange(rows)
    columns: dict[str, Any] = {"frame": number, "x": number + 0.5, "y": number + 0.25, "uncertainty": np.full(rows, 0.1)}
    return spotfit.Locs(columns, spotfit.Movie(100.0, 64, 48, rows))


def test_columns_cannot_be_written_to() -> None:
    """Proves that no way of writing to a column changes it, and that the error names `with_column`."""
    locs: Any = table()
    before = locs.x.tolist()
    with pytest.raises((AttributeError, ValueError)):
        locs.x += 1
    with pytest.raises(AttributeError, match=r"with_column\('x', …\)"):
        locs.x = np.zeros(5)
    with pytest.raises(TypeError, match=r"with_column\('x', …\)"):
        locs["x"] = np.zeros(5)
    with pytest.raises(AttributeError):
        del locs._columns
    for part in locs, locs[1:3], locs[locs.x > 1], locs[[0, 2]], locs.in_nanometres(), locs.filter("x > 1"):
        for name in part:
            with pytest.raises(ValueError, match="read-only"):
                part[name][0] = 7
    assert locs.x.tolist() == before
    changed = locs.with_column("x", locs.x + 1)
    assert changed.x.tolist() == [value + 1 for value in before] and locs.x.tolist() == before


def test_what_is_given_stays_the_callers() -> None:
    """Proves that arrays that are given are neither frozen nor shared."""
    mine = np.zeros(3)
    locs = spotfit.Locs({"frame": [0, 1, 2], "x": mine}).with_column("y", mine)
    mine += 5
    assert locs.x.tolist() == locs.y.tolist() == [0, 0, 0]
    x = np.zeros(3)
    drift = spotfit.Drift(x, x)
    x[0] = 1
    assert drift.x.flags.writeable is False and x.flags.writeable
    rows = spotfit.fit(gaussian()).array.copy()
    assert not spotfit.Fits(rows).x.flags.writeable and rows.flags.writeable


def arrays() -> list[tuple[str, Callable[[], Any]]]:
    fits = spotfit.fit(gaussian(5), errors=True)
    curves = spotfit.Model("a*x + b").fit(np.tile(X, (5, 1)), start=[1, 0], covariance=True)
    picture = spotfit.render(table(), colour_map="grey", pixel="1px")
    return [
        ("fits", lambda: fits.x),
        ("part of fits", lambda: fits[1:3].array),
        ("chosen fits", lambda: fits[fits.converged].sigma),
        ("errors", lambda: fits.errors.array),
        ("parameters", lambda: curves["a"]),
        ("part of curves", lambda: curves[1:3].covariance),
        ("chosen curves", lambda: curves[[0, 1]].errors),
        ("picture", lambda: picture.pixels),
        ("shades", lambda: picture.grey),
        ("unpickled fits", lambda: pickle.loads(pickle.dumps(fits)).x),
        ("unpickled errors", lambda: pickle.loads(pickle.dumps(fits)).errors.photons),
        ("unpickled curves", lambda: pickle.loads(pickle.dumps(curves)).chi2),
        ("unpickled locs", lambda: pickle.loads(pickle.dumps(table())).x),
        ("unpickled picture", lambda: pickle.loads(pickle.dumps(picture)).pixels),
    ]


def test_results_cannot_be_written_to() -> None:
    """Proves that arrays that parts share are read-only, also in another process."""
    for name, of in arrays():
        assert of().flags.writeable is False, name


def test_a_simulation_is_whose_it_is() -> None:
    spots, truth, corners = spotfit.simulate(3)
    spots += 1
    assert spots.flags.writeable and truth.shape == (3,) and corners is None


@pytest.mark.parametrize(
    ("make", "kind", "what"),
    [
        (lambda: spotfit.Camera(sensitivity=-1), ValueError, "sensitivity"),
        (lambda: spotfit.Camera(float("nan")), ValueError, "baseline"),
        (lambda: spotfit.Camera(em_gain=0), ValueError, "em_gain"),
        (lambda: spotfit.Camera("100"), TypeError, "baseline"),  # type: ignore[arg-type]
        (lambda: spotfit.Camera(read_noise=None), TypeError, "read_noise"),  # type: ignore[arg-type]
        (lambda: spotfit.Movie(-1.0), ValueError, "pixel_size"),
        (lambda: spotfit.Movie(width=2.5), TypeError, "width"),  # type: ignore[arg-type]
        (lambda: spotfit.Movie(frames=-1), ValueError, "frames"),
        (lambda: spotfit.Drift(np.zeros(3), np.zeros(2)), ValueError, "y must be .* 3 frames"),
        (lambda: spotfit.Drift(np.zeros(3), np.zeros(3), unit="mm"), ValueError, "unit = 'mm'"),  # type: ignore[arg-type]
        (lambda: spotfit.Camera() + spotfit.Camera(), TypeError, "unsupported"),  # type: ignore[operator]
        (lambda: replace(spotfit.Camera(), read_noise=-1), ValueError, "read_noise"),
        (lambda: setattr(spotfit.Camera(), "baseline", 3), FrozenInstanceError, "baseline"),
    ],
)
def test_options_are_checked_when_they_are_made(make: Callable[[], Any], kind: type[Exception], what: str) -> None:
    """Proves that an option that makes no sense is refused where it is made, and that options do not change."""
    with pytest.raises(kind, match=what):
        make()


def test_options_are_values() -> None:
    """Proves that options compare, hash, copy and travel as values do."""
    camera = spotfit.Camera(100, 0.5, None, 1.5)
    assert camera == spotfit.Camera(baseline=100.0, sensitivity=0.5, read_noise=1.5) and hash(camera) == hash(copy.copy(camera))
    assert pickle.loads(pickle.dumps(camera)) == camera and replace(camera, em_gain=2).em_gain == 2.0
    movie = spotfit.Movie(100, 64, 48, 9)
    assert pickle.loads(pickle.dumps(movie)) == movie != replace(movie, frames=8)


def test_what_is_printed_is_short() -> None:
    """Proves that no result prints its arrays."""
    locs = table(2000)
    drift = spotfit.Drift(np.linspace(0, 1.5, 2000), np.zeros(2000), unit="px")
    things = [
        spotfit.render(locs, pixel="0.1px"), drift, spotfit.simulate(1000), spotfit.fit(gaussian(500), errors=True), locs,
        spotfit.Model("a*x + b").fit(np.tile(X, (500, 1)), start=[1, 0]), spotfit.Camera(), locs.movie, spotfit.Model("a*x"),
    ]  # fmt: skip
    for thing in things:
        assert len(repr(thing)) < 500 and len(str(thing)) < 500, type(thing)
    assert repr(drift) == "Drift of 2,000 frames: x from 0 to 1.5 px, y from 0 to 0 px"
    assert repr(things[2]) == "Simulation of 1,000 windows of 9×9 pixels: spots, truth, corners"
    assert "lengths in px, pixels of 100 nm" in repr(locs)
