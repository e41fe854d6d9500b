"""Cameras that are measured from darks and flats."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spotfit

SHAPE = (20, 30)


def frames(light: float, count: int = 150, seed: int = 3) -> np.ndarray:
    random = np.random.default_rng(seed)
    electrons = random.poisson(light, (count, *SHAPE)) if light else 0
    return np.rint(100 + 2 * electrons + random.normal(0, 3, (count, *SHAPE))).astype(np.uint16)


def is_one(gain: Any, error: Any) -> bool:
    """Whether pixels of one gain are found to have one, within four errors."""
    return bool(np.all(np.abs(gain - 2) < 4 * error)) and float(np.std(gain)) < 0.02


def test_files_are_read_again_and_used(tmp_path: Path) -> None:
    """Proves that maps of arrays and of files are the same, and that what is saved is what `localize` takes."""
    darks, flats = frames(0), [frames(100, seed=4), frames(400, seed=5)]
    measured = spotfit.camera(darks, flats)
    assert measured.offset.shape == SHAPE and measured.gain is not None and measured.map is not None
    assert measured.report["gain"] == pytest.approx(2, rel=0.02)
    assert measured.gain_error is not None and is_one(measured.gain, measured.gain_error)
    for name, array in [("darks", darks), ("dim", flats[0]), ("bright", flats[1])]:
        np.save(tmp_path / f"{name}.npy", array)
    again = spotfit.camera(tmp_path / "darks.npy", [tmp_path / "dim.npy", str(tmp_path / "bright.npy")])
    assert again.gain is not None and np.array_equal(again.gain, measured.gain) and np.array_equal(again.variance_error, measured.variance_error)
    for name in ("maps.npz", "maps.hdf5"):
        measured.save(tmp_path / name)
        assert repr(spotfit.CameraMap.read(tmp_path / name)) == repr(measured.map)
    measured.plot(tmp_path / "camera.svg")
    assert (tmp_path / "camera.svg").read_text(encoding="utf-8") == measured.svg() and "gain (ADU/e-)" in measured.svg()
    with np.load(tmp_path / "maps.npz") as file:
        assert np.array_equal(file["offset"], measured.offset.astype(np.float32))
        assert not file["hot"].any() and not file["dead"].any()
    with pytest.raises(ValueError, match=".npz"):
        measured.save(tmp_path / "maps.tif")


def test_what_measures_nothing_is_refused() -> None:
    """Proves that wrong frames and options are refused with what is wrong."""
    cases: list[tuple[Any, Any, dict[str, Any], str]] = [
        (frames(0)[:1], (), {}, "one frame"),
        (frames(100), [frames(0)], {}, "not brighter"),
        (frames(0), [frames(100)], {"sensitivity": 1.0}, "sensitivity"),
        (frames(0), (), {"hot": 0}, "hot"),
        ([frames(0), frames(0)], (), {}, "one movie"),
        (frames(0), [frames(100)[:, :5]], {}, "pixels"),
    ]
    for darks, flats, words, reason in cases:
        with pytest.raises(ValueError, match=reason):
            spotfit.camera(darks, flats, **words)
    assert spotfit.camera(frames(0)).map is None
    assert spotfit.camera(frames(0), sensitivity=0.5).map is not None
