"""Heights and molecules: the same as by the command, of which `.ci/python` has one in the folder of the build."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spotfit

_TARGET = Path(os.environ.get("CARGO_TARGET_DIR", Path(__file__).parents[3] / "target"))
_BUILT = [str(_TARGET / profile / "spotfit") for profile in ("release", "debug")]
COMMAND = os.environ.get("SPOTFIT_COMMAND") or shutil.which("spotfit") or next(filter(os.path.exists, _BUILT), None)

#: Beads and molecules behind the same lens.
CAMERA = ["--baseline", "100", "--sensitivity", "1", "--read-noise", "1.5"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    """A movie of molecules at heights, with a calibration of widths, a PSF, and what the command finds with each."""
    if COMMAND is None:
        pytest.skip("needs the command spotfit: cargo build --release -p spotfit-cli, or SPOTFIT_COMMAND")
    at: Path = tmp_path_factory.mktemp("depth")

    def run(*words: str) -> None:
        subprocess.run([COMMAND, *words], check=True, cwd=at, capture_output=True)

    run("simulate", "beads", "-o", "beads.tif", "--step", "20")
    run("calibrate", "beads.tif", "--step", "20", "-o", "cal.yaml", *CAMERA)
    run("calibrate", "beads.tif", "--step", "20", "--spline", "--pixel-size", "100", "-o", "psf.hdf5", *CAMERA)
    run(
        "simulate", "movie", "-o", "movie.tif", "--truth", "truth.csv", "--shape", "defocused", "--z-range", "300", "--frames", "100",
        "--width", "96", "--height", "96", "--spots", "5", "--photons", "3000", "--unevenness", "0",
    )  # fmt: skip
    words = ["movie.tif", "--pixel-size", "100", *CAMERA]
    run("localize", *words, "-o", "by-widths.hdf5", "--calibration", "cal.yaml", "--box", "13")
    run("localize", *words, "-o", "two-widths.hdf5", "--shape", "elliptical", "--box", "13")
    run("z", "two-widths.hdf5", "-o", "by-table.hdf5", "--calibration", "cal.yaml")
    run("localize", *words, "-o", "by-psf.hdf5", "--psf", "psf.hdf5", "--errors")
    run("link", "by-psf.hdf5", "-o", "linked.hdf5", "--gap", "2")
    run("link", "by-psf.hdf5", "-o", "labelled.hdf5", "--radius", "0.4px", "--radius-z", "90", "--label")
    return at


def same(found: spotfit.Locs, path: Path) -> None:
    """What was found is what the command wrote."""
    expected = spotfit.read_table(path)
    assert len(found) == len(expected) > 100
    for name in expected.names:
        if name in found.names and expected[name].dtype.kind == "f":
            assert np.allclose(found[name], expected[name], rtol=1e-5, atol=1e-5, equal_nan=True), name


def test_heights_by_widths_are_those_of_the_command(folder: Path) -> None:
    camera = spotfit.Camera(100, 1, None, 1.5)
    # The calibration brings its box.
    words: Any = {"camera": camera, "pixel_size": 100, "calibration": folder / "cal.yaml"}
    found = spotfit.localize(folder / "movie.tif", **words)
    assert {"z", "uncertainty_z", "z_distance", "z_status", "sigma_x"} <= set(found.names)
    same(found, folder / "by-widths.hdf5")


def test_another_box_than_that_of_the_calibration_is_warned_about(folder: Path) -> None:
    camera = spotfit.Camera(100, 1, None, 1.5)
    with pytest.warns(UserWarning, match="7×7 pixels, and those of the calibration had 13×13"):
        spotfit.localize(folder / "movie.tif", camera=camera, calibration=folder / "cal.yaml", box=7)


def test_heights_of_a_table_are_those_of_the_command(folder: Path) -> None:
    table = spotfit.read_table(folder / "two-widths.hdf5")
    found = spotfit.z(table, folder / "cal.yaml", box=13)
    same(found, folder / "by-table.hdf5")
    with pytest.raises(KeyError, match="sigma_x"):
        spotfit.z(spotfit.Locs({"frame": [0], "x": [1.0], "y": [1.0]}), folder / "cal.yaml")
    with pytest.raises(ValueError, match="box = 8 is out of its range"):
        spotfit.z(table, folder / "cal.yaml", box=8)
    with pytest.raises(ValueError, match="measure"):
        spotfit.z(table, folder / "cal.yaml", measure="least")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="Locs"):
        spotfit.z({"x": [1.0]}, folder / "cal.yaml")  # type: ignore[arg-type]


def test_heights_by_a_psf_are_those_of_the_command_and_right(folder: Path) -> None:
    camera = spotfit.Camera(100, 1, None, 1.5)
    found = spotfit.localize(folder / "movie.tif", camera=camera, pixel_size=100, psf=folder / "psf.hdf5", errors=True)
    plane = spotfit.localize(folder / "movie.tif", camera=camera, pixel_size=100, psf=folder / "psf.hdf5", background="plane")
    assert len(plane) > 0.9 * len(found)
    assert np.isfinite(plane.offset_x).all()
    assert (plane.offset_x != 0).all()
    assert (plane.offset_y != 0).all()
    same(found, folder / "by-psf.hdf5")
    truth = spotfit.read_table(folder / "truth.csv").with_pixel_size(100).in_pixels()
    pulls = []
    for frame in range(100):
        own, real = found[found.frame == frame], truth[truth.frame == frame]
        for x, y, z, error in zip(own.x, own.y, own.z, own.uncertainty_z, strict=True):
            near = np.hypot(real.x - x, real.y - y)
            if len(near) and near.min() < 0.5 and (np.sort(near)[1:] > 8).all():
                pulls.append((z - real.z[near.argmin()]) / error)
    assert len(pulls) > 50 and abs(np.median(pulls)) < 0.5 and np.median(np.abs(pulls)) < 1.5


@pytest.mark.parametrize(("name", "file"), [("calibration", "cal.yaml"), ("psf", "psf.hdf5")])
def test_heights_in_crowds_are_those_of_the_command(folder: Path, name: str, file: str, tmp_path: Path) -> None:
    """With all emitters of a frame fitted together, heights have the columns that they have one by one."""
    assert COMMAND is not None
    words: Any = {"camera": spotfit.Camera(100, 1, None, 1.5), "pixel_size": 100, name: folder / file, "errors": True}
    found = spotfit.localize(folder / "movie.tif", emitters="auto", **words)
    assert found.names == spotfit.localize(folder / "movie.tif", estimator="mle", **words).names
    given = ["--emitters", "auto", f"--{name}", file, "--errors", "--pixel-size", "100", *CAMERA]
    out = tmp_path / "locs.hdf5"
    subprocess.run([COMMAND, "localize", "movie.tif", "-o", out, *given], check=True, cwd=folder, capture_output=True)
    same(found, out)
    with pytest.raises(ValueError, match="sigma = shared.*emitters auto"):
        spotfit.localize(folder / "movie.tif", emitters="auto", sigma="shared", **words)


def test_molecules_are_those_of_the_command(folder: Path) -> None:
    locs = spotfit.read_table(folder / "by-psf.hdf5")
    linked, expected = spotfit.link(locs, gap=2), spotfit.read_table(folder / "linked.hdf5")
    assert len(linked) == len(expected) < len(locs) and np.allclose(linked.photons, expected.photons, rtol=1e-5)
    labelled = spotfit.link(locs, radius="0.4px", radius_z=90, label=True)
    assert (labelled.molecule == spotfit.read_table(folder / "labelled.hdf5")["molecule"]).all() and len(labelled) == len(locs)


def test_files_that_are_none_are_refused(tmp_path: Path) -> None:
    movie = np.zeros((2, 32, 32), np.uint16)
    (tmp_path / "x.yaml").write_text("a: 1\n", encoding="utf-8")
    (tmp_path / "x.hdf5").write_bytes(b"no HDF5")
    for name in "calibration", "psf":
        with pytest.raises(FileNotFoundError, match="none"):
            spotfit.localize(movie, **{name: tmp_path / "none"})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"x\.yaml: this is no calibration"):
        spotfit.localize(movie, calibration=tmp_path / "x.yaml")
    with pytest.raises(ValueError, match=r"x\.hdf5"):
        spotfit.localize(movie, psf=tmp_path / "x.hdf5")
    with pytest.raises(ValueError, match="one of them"):
        spotfit.localize(movie, psf=tmp_path / "x.hdf5", calibration=tmp_path / "x.yaml")
    with pytest.raises(ValueError, match="shape is for Gaussians"):
        spotfit.localize(movie, psf=tmp_path / "x.hdf5", shape="rotated")


def test_linking_refuses_what_makes_no_sense() -> None:
    columns: dict[str, Any] = {"frame": [0, 1], "x": [1.0, 1.1], "y": [2.0, 2.1]}
    with pytest.raises(ValueError, match="no uncertainties; give radius"):
        spotfit.link(spotfit.Locs(columns))
    for radius in 0.0, -1.0, np.nan, np.inf, "0px", "-1px", "1 furlong":
        with pytest.raises(ValueError, match="radius"):
            spotfit.link(spotfit.Locs(columns, spotfit.Movie(100.0)), radius=radius)
    with pytest.raises(TypeError, match="radius must be a number"):
        spotfit.link(spotfit.Locs(columns), radius=[1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="gap"):
        spotfit.link(spotfit.Locs(columns), radius="1px", gap=-1)
    with pytest.raises(ValueError, match="radius_z"):
        spotfit.link(spotfit.Locs({**columns, "z": [0.0, 1.0]}), radius="1px")
    with pytest.raises(TypeError, match=r"spotfit\.Locs"):
        spotfit.link(columns)  # type: ignore[arg-type]
    alone = spotfit.link(spotfit.Locs({**columns, "x": [1.0, np.nan]}), radius="1px")
    assert len(alone) == 2 and alone.detections.tolist() == [1, 1] and alone.report["not_finite"] == 1


def test_radii_without_a_unit_are_nanometres() -> None:
    """Proves that a number means nanometres whatever the unit of the table is, as in the command."""
    columns: dict[str, Any] = {"frame": [0, 1], "x": [1.0, 1.3], "y": [2.0, 2.0]}
    pixels = spotfit.Locs(columns, spotfit.Movie(100.0))
    for locs in pixels, pixels.in_nanometres():
        for near, far in (40, 20), ("40nm", "20nm"), ("0.4px", "0.2px"), ("0.04um", "0.02um"):
            assert len(spotfit.link(locs, radius=near)) == 1 and len(spotfit.link(locs, radius=far)) == 2
    with pytest.raises(ValueError, match=r"radius = 40 is in nanometres.*size of a pixel is not known; write 0\.5px"):
        spotfit.link(spotfit.Locs(columns), radius=40)


def test_a_report_says_what_was_counted() -> None:
    """Proves that the report comes with the table, and not with parts of it."""
    locs = spotfit.Locs({"frame": [0, 1], "x": [1.0, 1.3], "y": [2.0, 2.0]})
    linked = spotfit.link(locs, radius="0.4px", gap=2)
    counted = {"localizations": 2, "molecules": 1, "not_finite": 0, "radius": 0.4, "unit": "px", "by_uncertainty": False, "gap": 2}
    assert linked.report == counted
    assert locs.report == linked[:1].report == {}
