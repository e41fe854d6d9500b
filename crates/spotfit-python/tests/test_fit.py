"""Fits find the truth, as exactly as can be known, by every option."""

import pickle
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import spotfit
from conftest import gaussian

SHAPES: list[dict[str, Any]] = [
    {"shape": "circular"},
    {"shape": "elliptical"},
    {"shape": "rotated"},
    {"fixed_sigma": 1.5},
    {"fixed_sigma": (1.5, 1.5)},
]


def test_the_example_of_the_rust_library_has_its_numbers() -> None:
    fits = spotfit.fit(np.round(gaussian()).astype(np.uint16))
    assert fits.converged.all() and len(fits) == 2
    assert np.allclose(fits.x, 4.25, atol=0.01) and np.allclose(fits.y, 3.5, atol=0.01)
    assert np.allclose(fits.sigma, 1.5, atol=0.02) and np.allclose(fits.amplitude, 100, atol=2)


def test_the_example_of_errors_has_its_numbers() -> None:
    spots = np.round(gaussian(1) + 100).astype(np.uint16)
    fits = spotfit.fit(spots, errors=True, camera=spotfit.Camera(baseline=100, sensitivity=0.5))
    assert 0.08 < fits.errors.x[0] < 0.1
    assert fits.errors.covariance("sigma_x", "amplitude")[0] < 0
    assert fits.errors.covariance("amplitude", "sigma_x") == fits.errors.covariance("sigma_x", "amplitude")


@pytest.mark.parametrize("estimator", ["lse", "mle"])
@pytest.mark.parametrize("backend", ["auto", "cpu", "reference"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_shape_finds_an_image_without_noise(shape: dict[str, Any], backend: Any, estimator: Any) -> None:
    fits = spotfit.fit(gaussian(), backend=backend, estimator=estimator, criteria="tight", **shape)
    assert fits.converged.all()
    for found, true in (fits.x, 4.25), (fits.y, 3.5), (fits.sigma, 1.5), (fits.amplitude, 100), (fits.background, 10):
        assert np.allclose(found, true, rtol=1e-3), (found, true)
    assert np.allclose(fits.photons, 2 * np.pi * 100 * 1.5**2, rtol=1e-3)
    assert fits.x.dtype == (np.float64 if backend == "reference" else np.float32)


@pytest.mark.parametrize("estimator", ["lse", "mle"])
def test_errors_are_as_large_as_stated(estimator: Any) -> None:
    """A fit by maximum likelihood is as exact as the Cramér–Rao bound allows, and says so."""
    spots, truth, _ = spotfit.simulate(20_000, photons=1000, background=5, sigma=1.2, seed=7)
    fits = spotfit.fit(spots, estimator=estimator, errors=True)
    assert fits.converged.mean() > 0.999
    for name in "x", "y", "sigma", "photons", "background":
        pulls = (getattr(fits, name) - truth[name]) / getattr(fits.errors, name)
        assert 0.97 < np.sqrt(np.mean(pulls[fits.converged] ** 2)) < 1.04, name
    assert abs(np.mean(fits.errors.goodness) - 1) < 0.01 and not fits.errors.exploding.any()


def test_shapes_that_are_not_round() -> None:
    for shape in "elliptical", "rotated":
        spots, truth, _ = spotfit.simulate(2000, 13, photons=5000, shape=shape, sigma=(1, 2), seed=3)
        fits = spotfit.fit(spots, shape=shape, errors=True)
        for name in "sigma_x", "sigma_y":
            pulls = (getattr(fits, name) - truth[name]) / getattr(fits.errors, name)
            assert abs(np.median(pulls)) < 0.1 and 0.6 < np.median(np.abs(pulls)) < 0.8, (shape, name)
    tilted = np.abs(fits.sigma_x - fits.sigma_y) > 0.3
    assert np.median(np.abs(fits.angle - truth["angle"])[tilted]) < 0.05


def test_a_profile_is_that_of_the_simulation() -> None:
    spots, truth, _ = spotfit.simulate(2000, photons=20_000, sigma=0.8, profile="integrated")
    integrated, sampled = (spotfit.fit(spots, profile=profile) for profile in ("integrated", "sampled"))
    assert abs(np.median(integrated.sigma) - 0.8) < 0.005 < np.median(sampled.sigma) - 0.8


def test_a_start_is_where_a_fit_starts(counts: npt.NDArray[np.uint16]) -> None:
    found = spotfit.fit(counts, criteria="tight", dtype="float64")
    circles = np.stack([found.x, found.y, found.sigma], axis=1)
    outlines = np.stack([found.x, found.y, found.sigma, found.sigma, 0 * found.x], axis=1)
    for start in circles, outlines, circles.astype(np.float32), circles.tolist(), np.asfortranarray(circles):
        again = spotfit.fit(counts, start=start, criteria="tight")
        assert np.median(again.evaluations) < np.median(found.evaluations)
        assert np.allclose(again.x, found.x, atol=1e-3)
    given = spotfit.fit(counts, shape="given", start=circles)
    assert np.allclose(given.sigma, found.sigma)


def test_weights_mask_pixels() -> None:
    spots = gaussian().astype(np.float32)
    spots[:, 0, 0] = 1e4
    weights = np.ones_like(spots)
    weights[:, 0, 0] = 0
    assert np.allclose(spotfit.fit(spots, weights=weights).x, 4.25, atol=1e-3)
    frame = np.pad(weights[0], ((2, 1), (3, 4)))
    assert np.allclose(spotfit.fit(spots, weights=frame, corners=[[3, 2]] * 2).x, 4.25, atol=1e-3)


def test_cameras_turn_counts_into_photons(tmp_path: Any) -> None:
    camera = spotfit.Camera(baseline=100, sensitivity=0.5, read_noise=1)
    spots, _, _ = spotfit.simulate(2000, photons=1000, background=2, sigma=1.3, camera=camera)
    assert abs(np.median(spotfit.fit(spots, camera=camera).photons) - 1000) < 10
    shape = (32, 40)
    gain = np.full(shape, 2.0)
    gain[5, 6] = 0
    maps = (np.full(shape, 100.0), np.full(shape, 2.0), np.full(shape, 4.0))
    spots, _, corners = spotfit.simulate(2000, photons=1000, background=2, sigma=1.3, maps=maps)
    assert corners is not None
    camera_map = spotfit.CameraMap(maps[0], gain, maps[2])
    assert camera_map.shape == shape and camera_map.masked == 1 and "32×40" in repr(camera_map)
    fits = spotfit.fit(spots, camera=camera_map, corners=corners, estimator="mle")
    assert abs(np.median(fits.photons) - 1000) < 10
    np.savez(tmp_path / "maps.npz", offset=maps[0], gain=gain, variance=maps[2])
    assert spotfit.CameraMap.read(tmp_path / "maps.npz").masked == 1
    with pytest.raises(FileNotFoundError, match="none"):
        spotfit.CameraMap.read(tmp_path / "none.npz")


def test_only_their_owner_keeps_maps() -> None:
    maps = spotfit.CameraMap(*(np.full((9, 9), value) for value in (100.0, 2.0, 4.0)))
    known = sys.getrefcount(maps)
    for _ in range(3):
        spotfit.fit(np.ones((2, 9, 9)), camera=maps, corners=[[0, 0]] * 2, estimator="mle")
    assert sys.getrefcount(maps) == known


def test_what_computes_can_be_sent_to_other_processes(counts: npt.NDArray[np.uint16]) -> None:
    gain = np.random.default_rng(1).uniform(1, 3, (8, 9))
    gain[2, 3] = 0
    maps = spotfit.CameraMap(np.full((8, 9), 1.5), gain, np.full((8, 9), 2.0))
    assert pickle.loads(pickle.dumps(maps)).masked == 1
    for camera in maps, spotfit.Camera(1, 0.3):
        fitter = spotfit.Fitter(camera=camera, estimator="mle", shape="elliptical")
        again = pickle.loads(pickle.dumps(fitter))
        corners = np.zeros((len(counts), 2))
        expected = fitter.fit(counts, corners=corners).array
        assert np.array_equal(again.fit(counts, corners=corners).array, expected)


def test_windows_cut_from_frames_are_those_of_a_stack(counts: npt.NDArray[np.uint16]) -> None:
    frames = np.tile(counts[:3], (1, 2, 2))
    corners = [[frame, x, y] for frame in range(3) for x, y in ((0, 0), (9, 8), (4, 3))]
    cut = spotfit.fit_in_frames(frames, corners, (8, 9), errors=True)
    stack = np.stack([frames[frame, y : y + 8, x : x + 9] for frame, x, y in corners])
    assert np.array_equal(cut.array, spotfit.fit(stack).array)
    assert len(cut.errors) == 9


def test_options_reach_the_fit(counts: npt.NDArray[np.uint16]) -> None:
    assert spotfit.fit(counts, max_iterations=1).iterations.max() == 1
    assert spotfit.fit(counts, sigma_max=1.2).sigma.max() <= 1.2001
    assert spotfit.fit(counts, background="nonnegative").background.min() >= 0
    assert spotfit.Fitter(threads=3).threads == 3
    assert spotfit.Fitter(instruction_set="portable").instruction_set == "portable"
    assert spotfit.fit(counts, dtype="float64").x.dtype == np.float64
    assert np.array_equal(spotfit.fit(counts, threads=1).array, spotfit.fit(counts, threads=2).array)


@pytest.mark.parametrize("estimator", ["lse", "mle"])
def test_a_plane_has_slopes(estimator: spotfit.Estimator) -> None:
    y, x = np.mgrid[:9, :11].astype(float)
    light = 900 / (2 * np.pi * 1.69) * np.exp(-((x - 5.3) ** 2 + (y - 3.8) ** 2) / 3.38)
    windows = np.stack([light + 60 + 3 * (x - 5.3) - 2 * (y - 3.8)] * 3)
    fits = spotfit.fit(windows, background="plane", estimator=estimator, criteria="tight")
    assert np.allclose(fits.x, 5.3, atol=1e-3) and np.allclose(fits.y, 3.8, atol=1e-3)
    assert np.allclose(fits.background, 60, atol=0.05)
    assert np.allclose(fits.offset_x, 3, atol=0.01) and np.allclose(fits.offset_y, -2, atol=0.01)
    even = spotfit.fit(windows, estimator=estimator)
    assert np.abs(even.x - 5.3).min() > 0.01 and not even.offset_x.any()
