"""Picasso's function: the same arguments, the same results, and Picasso's tables where Picasso is there."""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import spotfit
import spotfit.picasso

ORDER = ("amplitude", "x", "y", "sigma_x", "sigma_y", "background")


def seeds(truth: Any) -> Any:
    amplitude = truth["photons"] / (2 * np.pi * truth["sigma_x"] * truth["sigma_y"])
    return np.stack([amplitude, *(truth[name] for name in ORDER[1:])], axis=1) * 1.05


@pytest.mark.parametrize("mle", [False, True])
@pytest.mark.parametrize("model", [0, 1, 2])
def test_parameters_are_in_picassos_order(model: int, mle: bool) -> None:
    shape: Any = ("circular", "elliptical", "rotated")[model]
    spots, truth, _ = spotfit.simulate(200, 11, photons=10_000, background=2, shape=shape, noise="none", seed=6)
    start = seeds(truth)
    if model == 0:
        start = np.delete(start, 4, axis=1)
    if model == 2:
        start = np.column_stack([start, -truth["angle"]])
    called: list[int] = []
    found, chi2, states, iterations = spotfit.picasso.fit_spots(
        model, spots, start, mle, 1e-2, 20, called.append
    )
    assert found.shape == start.shape and found.dtype == chi2.dtype == np.float64 and called == [200]
    assert states.dtype == iterations.dtype == np.int32 and not states.any()
    assert np.allclose(found[:, 1], truth["x"], atol=1e-3) and np.allclose(found[:, 2], truth["y"], atol=1e-3)
    if model == 0:
        assert np.allclose(found[:, 3], truth["sigma"], rtol=1e-3) and np.allclose(found[:, 4], 2, rtol=1e-2)
        return
    amplitude, _, _, sigma_x, sigma_y, background = found[:, :6].T
    assert np.allclose(2 * np.pi * amplitude * sigma_x * sigma_y, 10_000, rtol=1e-3)
    assert np.allclose(background, 2, rtol=1e-2)
    y, x = np.mgrid[:11, :11]
    a = found[:, 6] if model == 2 else np.zeros(200)
    dx, dy = x - found[:, 1, None, None], y - found[:, 2, None, None]
    cos, sin = np.cos(a)[:, None, None], np.sin(a)[:, None, None]
    u, v = dx * cos - dy * sin, dx * sin + dy * cos
    power = (u / sigma_x[:, None, None]) ** 2 + (v / sigma_y[:, None, None]) ** 2
    image = amplitude[:, None, None] * np.exp(-power / 2) + background[:, None, None]
    assert np.allclose(image, spots, rtol=1e-2, atol=0.05), "Picasso's model gives the image"


def test_the_variance_of_pixels_counts() -> None:
    spots, truth, _ = spotfit.simulate(2000, 9, photons=500, background=2, sigma=1.3, seed=2)
    rng = np.random.default_rng(1)
    variance = np.where(rng.random(spots.shape) < 0.1, 400.0, 1.0)
    noisy = spots + rng.normal(0, np.sqrt(variance))
    start = np.delete(seeds(truth), 4, axis=1)
    error = [
        np.std(spotfit.picasso.fit_spots(0, noisy, start, True, variance=given)[0][:, 1] - truth["x"])
        for given in (variance, None)
    ]
    assert error[0] < 0.9 * error[1]


def test_what_is_wrong_is_named() -> None:
    spots, start = np.ones((3, 9, 9)), np.ones((3, 5))
    for words, name in (
        ({"model": 3}, "model"),
        ({"spots": spots[0]}, "spots"),
        ({"initial_parameters": start[:2]}, "initial_parameters"),
        ({"mle": True, "variance": spots[:2]}, "variance"),
    ):
        with pytest.raises(ValueError, match=name):
            spotfit.picasso.fit_spots(**{"model": 0, "spots": spots, "initial_parameters": start, **words})
    for given in (np.ma.MaskedArray(spots), start), (spots, np.ma.MaskedArray(start)):
        with pytest.raises(TypeError, match="masked"):
            spotfit.picasso.fit_spots(0, *given)
    with pytest.raises(TypeError, match="variance is a masked"):
        spotfit.picasso.fit_spots(0, spots, start, True, variance=np.ma.MaskedArray(spots))
    assert (spotfit.picasso.fit_spots(0, spots, start)[2] == 2).all()
    assert len(spotfit.picasso.fit_spots(0, spots[:0], start[:0], True, variance=spots[:0])[0]) == 0


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Modules with the names of Picasso's."""
    gaussfit, localize = ModuleType("picasso.fitting.gaussfit"), ModuleType("picasso.localize")
    own = gaussfit.fit_spots = lambda *_: "own"  # type: ignore[attr-defined]
    localize.fit = lambda movie, **words: (gaussfit.fit_spots, words)  # type: ignore[attr-defined]
    package, fitting = ModuleType("picasso"), ModuleType("picasso.fitting")
    package.localize, fitting.gaussfit = localize, gaussfit  # type: ignore[attr-defined]
    for module in package, fitting, gaussfit, localize:
        monkeypatch.setitem(sys.modules, module.__name__, module)
    yield gaussfit, own


def test_it_takes_the_place_and_gives_it_back(stand_in: Any) -> None:
    gaussfit, own = stand_in
    spotfit.picasso.uninstall()
    assert gaussfit.fit_spots is own
    for _ in range(2):
        spotfit.picasso.install()
        assert gaussfit.fit_spots is spotfit.picasso.fit_spots
    assert spotfit.picasso.fit(None, box=7) == (spotfit.picasso.fit_spots, {"box": 7})
    assert gaussfit.fit_spots is spotfit.picasso.fit_spots
    spotfit.picasso.uninstall()
    assert gaussfit.fit_spots is own
    assert spotfit.picasso.fit(None)[0] is spotfit.picasso.fit_spots and gaussfit.fit_spots is own


def test_picasso_itself() -> None:
    """Picasso's table by ours is that of ours by hand."""
    pytest.importorskip("numba")
    localize = pytest.importorskip("picasso.localize")
    spots, truth, _ = spotfit.simulate(500, 7, photons=2000, background=5, sigma=1.2, seed=8)
    spotfit.picasso.install()
    try:
        theta = localize.fit_spots_gauss(spots, spherical=True)
    finally:
        spotfit.picasso.uninstall()
    fits = spotfit.fit(spots)
    assert np.allclose(theta[:, 1], fits.x, atol=1e-3) and np.allclose(theta[:, 0], fits.photons, rtol=1e-3)
    assert np.std(theta[:, 1] - truth["x"]) < 1.1 * np.median(spotfit.fit(spots, errors=True).errors.x)


def test_a_movie_by_picasso(tmp_path: Any) -> None:
    """Picasso's whole way from movie to table, with our fits in it."""
    pytest.importorskip("numba")
    localize = pytest.importorskip("picasso.localize")
    y, x = np.mgrid[:64, :64]
    image = 10 + 300 * np.exp(-((x - 30.3) ** 2 + (y - 20.6) ** 2) / (2 * 1.2**2))
    np.save(tmp_path / "movie.npy", np.random.default_rng(1).poisson(image, (50, 64, 64)).astype(np.uint16))
    movie = np.load(tmp_path / "movie.npy", mmap_mode="r")
    found = localize.identify(movie, 2000, 7)
    ids = found[0] if isinstance(found, tuple) else found
    camera = {"Baseline": 0, "Sensitivity": 1, "Gain": 1, "Pixelsize": 100}
    for method in "gausslq", "gaussmle", "gausslq-spherical":
        words = {"camera_info": dict(camera), "identifications": ids, "box": 7, "fitting_method": method}
        locs, info = spotfit.picasso.fit(movie, **words)
        theirs, _ = localize.fit(movie, **words)
        assert len(locs) == len(theirs) == 50 and list(locs.columns) == list(theirs.columns)
        assert info["Fit method"] == method
        assert np.allclose(locs["x"], theirs["x"], atol=0.03) and abs(np.mean(locs["x"]) - 30.3) < 0.02
