"""Simulated movies and beads, and calibrations of them: what Python makes is what the command makes."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spotfit
from test_depth import COMMAND

CAMERA = spotfit.Camera(baseline=100, sensitivity=1, read_noise=1.5)
WORDS = ("--baseline", "100", "--sensitivity", "1", "--read-noise", "1.5")
BEADS: dict[str, Any] = {"beads": 10, "width": 128, "height": 128, "step": 25}
OBJECTIVE: dict[str, Any] = {"psf_na": 1.2, "wavelength": 600, "index": 1.33, "sample_depth": 300, "zernike": {(4, 0): 0.04, (2, -2): -0.05}}
needs_command = pytest.mark.skipif(
    COMMAND is None, reason="needs the command spotfit: cargo build -p spotfit-cli, or SPOTFIT_COMMAND"
)


def command(*words: object) -> str:
    told = subprocess.run([str(COMMAND), *map(str, words)], check=True, capture_output=True, text=True)
    return told.stdout


def words_of(options: dict[str, Any]) -> list[str]:
    def text(value: Any) -> str:
        if isinstance(value, dict):
            return ",".join(f"{n},{m}={waves}" for (n, m), waves in value.items())
        return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)

    words = []
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [text(value)])]
    return words


@needs_command
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"shape": "rotated", "spots": 8, "photons": 500, "seed": 9},
        {"shape": "defocused", "heights": "structure", "z_range": 300, "on_time": 5, "beads": 2, "unevenness": 0},
        {"profile": "integrated", "shape": "elliptical", "sigma_spread": 0.1, "background": 3, "off_time": 50},
        {"psf_na": 1.4, "z_range": 200, "photons_spread": 0.4, "drift": (0.01, 0.0, -2.0), "heights": "random"},
        OBJECTIVE | {"dipole": (30.0, -50.0), "pixel_size": 110, "density": 0.5, "uniform": True},
    ],
)
def test_movies_are_those_of_the_command(options: dict[str, Any], tmp_path: Path) -> None:
    """Proves that frames and truth of a movie are, to the last bit, those of the command with the same options."""
    size: dict[str, Any] = {"frames": 20, "width": 64, "height": 48}
    movie = spotfit.simulate_movie(**size, **options)
    frames, truth = tmp_path / "movie.npy", tmp_path / "truth.csv"
    command("simulate", "movie", "-o", frames, "--truth", truth, *words_of(size | options))
    assert np.array_equal(movie.frames, np.load(frames))
    table = np.genfromtxt(truth, delimiter=",", names=True)
    names = {"signal": "photons"}
    columns = table.dtype.names or ()
    assert {names.get(name, name) for name in columns} == set(movie.truth)
    for name in columns:
        assert np.array_equal(table[name], movie.truth[names.get(name, name)]), name


@needs_command
def test_beads_are_those_of_the_command(tmp_path: Path) -> None:
    """Proves that a stack of beads is, to the last bit, that of the command, with the camera's maps too."""
    frames, maps = tmp_path / "beads.npy", tmp_path / "maps.npz"
    command("simulate", "beads", "-o", frames, "--camera", maps, *words_of(BEADS))
    stack = spotfit.simulate_beads(maps="simulated", **BEADS)
    behind = BEADS | OBJECTIVE | {"pixel_size": 90}
    command("simulate", "beads", "-o", tmp_path / "behind.npy", *words_of(behind))
    assert np.array_equal(spotfit.simulate_beads(**behind).frames, np.load(tmp_path / "behind.npy"))
    assert np.array_equal(stack.frames, np.load(frames))
    assert stack.maps is not None
    for own, name in zip(stack.maps, ("offset", "gain", "variance"), strict=True):
        assert np.array_equal(own, np.load(maps)[name])
    assert np.array_equal(stack.frames, spotfit.simulate_beads(maps=stack.maps, **BEADS).frames)


def test_simulations_that_make_no_sense_are_refused() -> None:
    """Proves that the exception names the keyword."""
    refused: list[tuple[dict[str, Any], str]] = [
        ({"drift": (1.0,)}, "drift must be"),
        ({"drift": (0.0, 0.0, 1.0)}, "needs shape defocused"),
        ({"heights": "structure"}, "heights: it needs shape defocused"),
        ({"focus": 100.0}, "focus: it needs shape defocused"),
        ({"wavelength": 500.0}, "wavelength: it needs psf_na"),
        ({"psf_na": 1.6}, "psf_na = 1.6 is out of its range"),
        ({"psf_na": 1.4, "zernike": {(4, 1): 0.1}}, "zernike = 1 is out of its range"),
        ({"psf_na": 1.4, "zernike": {4: 0.1}}, r"zernike must have keys \(n, m\)"),
        ({"psf_na": 1.4, "zernike_corner": {4: 0.1}}, r"zernike_corner must have keys \(n, m\)"),
        ({"psf_na": 1.4, "dipole": (400.0, 0.0)}, "dipole = 400 is out of its range"),
        ({"psf_na": 1.4, "dipole": 30.0}, "dipole must be two angles"),
        ({"psf_na": 1.4, "profile": "integrated"}, "psf_na and profile exclude each other"),
        ({"psf_na": 1.4, "drift": (0.0, 0.0, 9999.0)}, "drift = 9999 is out of its range"),
        ({"psf_na": 1.4, "shape": "rotated"}, "psf_na and shape exclude each other"),
        ({"photons_spread": -1.0}, "photons_spread = -1 is out of its range"),
        ({"spots": 1e9}, "spots = 1000000000 is out of its range"),
        ({"maps": "none"}, "maps must be"),
        ({"sigma": 0.0}, "sigma = 0 is out of its range"),
        ({"camera": spotfit.Camera(), "maps": (1, 2)}, "maps must be three arrays"),
    ]
    for options, told in refused:
        with pytest.raises(ValueError, match=told):
            spotfit.simulate_movie(2, width=32, height=32, **options)
    with pytest.raises(ValueError, match="beads = 9999 is out of its range"):
        spotfit.simulate_beads(beads=9999)


@needs_command
@pytest.mark.parametrize("kind", ["widths", "psf"])
def test_calibrations_are_those_of_the_command(kind: str, tmp_path: Path) -> None:
    """Proves that file and report of a calibration are those of the command, for arrays and for files."""
    stack = spotfit.simulate_beads(**BEADS)
    path = tmp_path / "beads.npy"
    np.save(path, stack.frames)
    own, theirs = (tmp_path / f"{who}.{'yaml' if kind == 'widths' else 'hdf5'}" for who in ("own", "theirs"))
    spline = () if kind == "widths" else ("--spline",)
    told = command("calibrate", path, "-o", theirs, "--step", 25, "--pixel-size", 100, "--json", *spline, *WORDS)
    calibrate: Any = spotfit.calibrate if kind == "widths" else spotfit.calibrate_psf
    for given in (path, stack.frames, [stack.frames]):
        calibration = calibrate(given, step=25, pixel_size=100, camera=CAMERA)
        calibration.save(own)
        assert own.read_bytes() == theirs.read_bytes()
        report = json.loads(told)
        report["stacks"][0]["name"] = calibration.report["stacks"][0]["name"]
        assert calibration.report == report
        assert calibration.kind == kind
    with pytest.raises(ValueError, match="ends in"):
        calibration.save(tmp_path / "x.csv")


def test_a_calibration_takes_the_record_of_another_away(tmp_path: Path) -> None:
    """Proves that nothing beside a calibration says how another one was made that had its name, and that files of others stay."""
    calibration = spotfit.Calibration({}, "widths", b"X Coefficients: []\n")
    path, record, other = (tmp_path / name for name in ("cal.yaml", "cal.yaml.spotfit.json", "cal.hdf5.spotfit.json"))
    for file in record, other:
        file.write_text('{"format": "spotfit record 1", "output": "cal.yaml"}', encoding="utf-8")
    calibration.save(path)
    assert path.read_bytes() == b"X Coefficients: []\n"
    assert not record.exists() and other.exists()
    record.write_text("notes", encoding="utf-8")
    calibration.save(path)
    assert record.read_text(encoding="utf-8") == "notes" and len(list(tmp_path.iterdir())) == 3
    with pytest.raises(FileNotFoundError, match="none"):
        calibration.save(tmp_path / "none" / "cal.yaml")


def test_a_psf_without_a_camera_is_warned_about() -> None:
    """Proves that what the command warns of reaches Python: without a camera counts are taken for photo-electrons."""
    stack = spotfit.simulate_beads(**BEADS)
    with pytest.warns(spotfit.SpotfitWarning, match="no camera given; errors take counts for photo-electrons"):
        psf = spotfit.calibrate_psf(stack.frames, step=25)
    assert not psf.report["has_camera"]


def test_calibrations_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    """Proves that the exception says what is wrong, and that nothing is written before it is asked for."""
    stack = np.zeros((10, 32, 32), np.uint16)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"step": 0}, "step = 0 is out of its range"),
        ({"step": 10, "order": "up"}, "order = 'up'"),
        ({"step": 10, "magnification": -1}, "magnification = -1"),
        ({"step": 10, "frames_per_step": 0}, "frames_per_step"),
        ({"step": 10}, "beads"),
    ]
    for options, told in refused:
        with pytest.raises(ValueError, match=told):
            spotfit.calibrate(stack, **options)
    with pytest.raises(ValueError, match="stacks are needed"):
        spotfit.calibrate([], step=10)
    with pytest.raises(ValueError, match="no beads were found"):
        spotfit.calibrate_psf(stack + np.arange(32, dtype=np.uint16), step=10)
    with pytest.raises(FileNotFoundError):
        spotfit.calibrate(tmp_path / "none.tif", step=10)
