"""What the metadata of movies say, where it is asked for."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import spotfit


def cube(path: Path, **cards: object) -> Path:
    """A FITS cube of three frames with a spot, and some cards."""
    y, x = np.mgrid[:20, :24]
    frame = 20 + 2000 * np.exp(-((x - 12.0) ** 2 + (y - 9.0) ** 2) / (2 * 1.3**2))
    frames = (100 + np.random.default_rng(1).poisson(frame, (3, 20, 24))).astype(">i2")
    header = {"SIMPLE": "T", "BITPIX": 16, "NAXIS": 3, "NAXIS1": 24, "NAXIS2": 20, "NAXIS3": 3, **cards}
    text = "".join(f"{name:<8}= {value!s:>20}".ljust(80) for name, value in header.items()) + "END".ljust(80)
    data = text.encode().ljust(-(-len(text) // 2880) * 2880) + frames.tobytes()
    path.write_bytes(data.ljust(-(-len(data) // 2880) * 2880, b"\0"))
    return path


def heard(movie: Path, **options: object) -> tuple[spotfit.Locs, str]:
    """Localizations, and what was said."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        locs = spotfit.localize(movie, pixel_size="px", **options)  # type: ignore[arg-type]
    return locs, "\n".join(str(warning.message) for warning in caught)


def test_the_camera_comes_from_the_metadata(tmp_path: Path) -> None:
    """Numbers that a file lacks come from a table by the camera's name; a number that is given wins; what is missing is named."""
    movie = cube(tmp_path / "a.fits", INSTRUME="'DU-897'", EXPTIME="0.03")
    with pytest.raises(ValueError, match="baseline"):
        spotfit.localize(movie, camera_from="metadata", pixel_size="px")
    table = tmp_path / "cameras.toml"
    table.write_text("[[camera]]\nname = 'Ours'\nmatches = ['du897']\nbaseline = 99\nsensitivity = 0.9\nread_noise = 1\n")
    taken, said = heard(movie, camera_from="metadata", cameras=table)
    assert "read_noise 1, by the table of cameras (Ours)" in said.replace(" = ", " ").replace("`", "")
    plain, _ = heard(movie, camera=spotfit.Camera(99, 0.9, None, 1))
    assert taken.photons.tolist() == plain.photons.tolist()
    given, said = heard(movie, camera={"sensitivity": 1}, camera_from="metadata", cameras=table)
    assert "is given and counts" in said
    other, _ = heard(movie, camera=spotfit.Camera(99, 1, None, 1))
    assert given.photons.tolist() == other.photons.tolist()
    with pytest.raises(ValueError, match="known whole"):
        spotfit.localize(movie, camera=spotfit.Camera(), camera_from="metadata")
    with pytest.raises(ValueError, match="array has none"):
        spotfit.localize(np.zeros((3, 20, 24), np.uint16), camera_from="metadata")


def test_times_are_a_column(tmp_path: Path) -> None:
    """Seconds since the first frame, in a column with its unit."""
    movie = cube(tmp_path / "a.fits")
    camera = spotfit.Camera(100)
    locs, _ = heard(movie, camera=camera, frame_time=0.5)
    assert locs["time"].tolist() == (locs.frame * 0.5).tolist()
    assert locs.units["time"] == "s"
    with pytest.raises(ValueError, match="frame_time"):
        spotfit.localize(movie, camera=camera, frame_time="metadata")


def test_positions_that_are_not_there(tmp_path: Path) -> None:
    """A movie of one position has no second one."""
    movie = cube(tmp_path / "a.fits")
    camera = spotfit.Camera(100)
    assert len(heard(movie, camera=camera, position=0)[0]) == len(heard(movie, camera=camera)[0])
    with pytest.raises(ValueError, match="no position 2"):
        spotfit.localize(movie, camera=camera, position=1)


def test_calibrations_and_cameras_take_a_position_and_metadata(tmp_path: Path) -> None:
    """Every function that opens a movie takes a position, and those with a camera its numbers from metadata, where there are some."""
    movie = tmp_path / "movie.npy"
    np.save(movie, np.random.default_rng(1).poisson(100, (4, 20, 24)).astype(np.uint16))
    for call in (
        lambda **chosen: spotfit.camera(movie, sensitivity=1, **chosen),
        lambda **chosen: spotfit.calibrate(movie, step=10, **chosen),
        lambda **chosen: spotfit.calibrate_psf(movie, step=10, **chosen),
        lambda **chosen: spotfit.track(movie, **chosen),
    ):
        with pytest.raises(ValueError, match="no position 2"):
            call(position=1)
        with pytest.raises(TypeError, match="position must be an integer"):
            call(position=1.5)
    assert spotfit.camera(movie, sensitivity=1, position=0).report["darks"] == 4
    for call in (
        lambda **chosen: spotfit.calibrate(movie, step=10, **chosen),
        lambda **chosen: spotfit.calibrate_psf(movie, step=10, **chosen),
        lambda **chosen: spotfit.track(movie, **chosen),
    ):
        with pytest.raises(ValueError, match="sensitivity"):
            call(camera_from="metadata", camera={"baseline": 100, "read_noise": 1.5})
        with pytest.raises(ValueError, match="known whole"):
            call(camera_from="metadata", camera=spotfit.Camera())
        with pytest.raises(ValueError, match="no use without camera_from"):
            call(cameras="ours.toml")
    with pytest.raises(ValueError, match="camera_from is for movies"):
        spotfit.track(np.zeros((3, 20, 24), np.uint16), camera_from="metadata")
