"""Previews are what localizing makes of a frame, and presets what would be typed."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import spotfit


def frames(count: int = 12) -> npt.NDArray[np.uint16]:
    movie = np.random.default_rng(1).poisson(10, (count, 40, 48)).astype(np.uint16)
    movie[:, 14:17, 20:23] += 150
    movie[:, 14:17, 27:30] += 150
    movie[:, 0:2, 5:8] += 150
    return movie


CAMERA = spotfit.Camera(2, 0.7, read_noise=1)
OPTIONS: list[dict[str, Any]] = [
    {},
    {"threshold": 4.0, "flags": True},
    {"drop": "neighbour", "shape": "elliptical"},
    {"emitters": "auto", "pixel_size": 100},
    {"all": True, "threshold": 3, "errors": True},
    {"positions": [(3, 20.0, 15.0), (3, 1.0, 1.0), (4, 9.0, 9.0)]},
]


@pytest.mark.parametrize("options", OPTIONS)
def test_kept_rows_are_those_of_localize(options: dict[str, Any], tmp_path: Path) -> None:
    np.save(tmp_path / "movie.npy", frames())
    for movie in frames(), tmp_path / "movie.npy":
        expected = spotfit.localize(movie, camera=CAMERA, frames=slice(3, 4), **options)
        seen = spotfit.preview(movie, frame=3, camera=CAMERA, **options)
        assert seen.kept.names == expected.names and seen.kept.units == expected.units
        for name in expected.names:
            assert seen.kept[name].tolist() == expected[name].tolist(), name
        assert seen.counts["candidates"] == expected.report["candidates"]
        assert sum(seen.counts["dropped"].values()) == len(seen.dropped)
        assert (seen.dropped["frame"] == 3).all()


def test_a_background_over_time_is_that_of_the_movie() -> None:
    expected = spotfit.localize(frames(), camera=CAMERA, temporal_background=5)
    seen = spotfit.preview(frames(), frame=7, camera=CAMERA, temporal_background=5)
    assert seen.kept.x.tolist() == expected[expected.frame == 7].x.tolist()


def test_a_preview_is_shown_and_saved(tmp_path: Path) -> None:
    seen = spotfit.preview(frames(), frame=1, camera=CAMERA, filter="photons > 1e9", colour_by="sigma")
    assert set(seen.dropped["reason"]) == {"filter", "at_edge"} and not len(seen.kept)
    seen.save(tmp_path / "seen.png")
    seen.save(tmp_path / "seen.svg")
    assert (tmp_path / "seen.png").read_bytes()[:4] == b"\x89PNG" == seen._repr_png_()[:4]
    assert (tmp_path / "seen.svg").read_text() == seen.svg() and seen.svg().startswith("<svg")
    assert "data:image/png" in seen._repr_html_()
    with pytest.raises(ValueError, match=".png or .svg"):
        seen.save(tmp_path / "seen.jpg")


@pytest.mark.parametrize(
    ("options", "says"),
    [({"frame": 12}, "frame"), ({"colour_by": "hue"}, "colour_by"), ({"filter": "hue > 3"}, "hue"), ({"frames": slice(1)}, "frames")],
)
def test_what_is_wrong_is_told(options: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        spotfit.preview(frames(), camera=CAMERA, **options)


PRESET = """
# A microscope.
baseline = 2
sensitivity = 0.7
read-noise = 1.0
pixel_size = "107nm"
drop = ["neighbour"]
flags = true
box = "9"
frames = "2:5"
emitters = 1
fixed-sigma = "130nm"
estimator = "mle"
"""
TYPED: dict[str, Any] = {
    "camera": CAMERA, "pixel_size": 107.0, "drop": ["neighbour"], "flags": True, "box": 9, "frames": slice(1, 5), "emitters": 1,
    "fixed_sigma": "130nm", "estimator": "mle",
}  # fmt: skip


def test_a_preset_is_what_would_be_typed(tmp_path: Path) -> None:
    preset = tmp_path / "scope.toml"
    preset.write_text(PRESET)
    expected = spotfit.localize(frames(), **TYPED)
    found = spotfit.localize(frames(), preset=preset)
    assert found.names == expected.names
    assert all(found[name].tolist() == expected[name].tolist() for name in found.names)
    np.save(tmp_path / "movie.npy", frames())
    spotfit.fit_files([tmp_path / "movie.npy"], tmp_path / "one", format="csv", preset=preset).raise_for_failures()
    spotfit.fit_files([tmp_path / "movie.npy"], tmp_path / "two", format="csv", **TYPED).raise_for_failures()
    assert (tmp_path / "one" / "movie.csv").read_bytes() == (tmp_path / "two" / "movie.csv").read_bytes()
    # What is given wins, also over what does not go with it.
    wide = spotfit.localize(frames(), preset=preset, box=11, pixel_size=65)
    assert wide.movie.pixel_size == 65
    assert wide.x.tolist() == spotfit.localize(frames(), **{**TYPED, "box": 11, "pixel_size": 65}).x.tolist()
    preset.write_text('psf = "learn"\nlearn-frames = 3\n')
    with pytest.raises(OSError, match="typed"):
        spotfit.localize(frames(), preset=preset, camera=CAMERA, psf=tmp_path / "typed.hdf5")
    with pytest.raises(ValueError, match="the light within it"):
        spotfit.localize(frames(), preset=preset, camera=CAMERA, aperture=30)
    preset.write_text("threshold = 1e4\n")
    assert not len(spotfit.localize(frames(), preset=preset, camera=CAMERA))
    assert len(spotfit.localize(frames(), preset=preset, camera=CAMERA, false_rate=1.0))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("basline = 3", "did you mean .?baseline"),
        ("baseline = 'dark'", "baseline = dark"),
        ("origin = 'corner'", "for the command"),
        ("drop = 'neighbors'", "drop"),
        ("frames = '2'\nframes = '3'", "line 2"),
        ("channel = 'red'", "channel = red"),
    ],
)
def test_wrong_presets_are_refused(text: str, says: str, tmp_path: Path) -> None:
    preset = tmp_path / "scope.toml"
    preset.write_text(text)
    with pytest.raises((ValueError, TypeError), match=says):
        spotfit.localize(frames(), preset=preset)


def test_tables_and_pictures_are_shown_in_notebooks() -> None:
    locs = spotfit.localize(frames(), camera=CAMERA, pixel_size=100)
    shown = locs._repr_html_()
    assert "photons" in shown and f"{len(locs):,} localizations" in shown and "data:image/png" in shown
    assert spotfit.render(locs)._repr_png_()[:4] == b"\x89PNG"
    assert "0 localizations" in locs[:0]._repr_html_()
    assert "<b>1 localizations" in spotfit.Locs({"a<b": [1.0]})._repr_html_() and "a&lt;b" in spotfit.Locs({"a<b": [1.0]})._repr_html_()
    rng = np.random.default_rng(1)
    many = spotfit.Locs({"frame": np.zeros(10**7, np.int64), "x": rng.random(10**7), "y": rng.random(10**7)})
    # A column of all rows would be 80 MB.
    tracemalloc.start()
    many._repr_html_()
    assert tracemalloc.get_traced_memory()[1] < 60e6
    tracemalloc.stop()
