"""Every operation makes the same table and says the same numbers in Python and as a verb of the command, byte for byte."""

import json
import subprocess
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spotfit
from spotfit import _spotfit
from test_depth import COMMAND

CALIBRATION = (
    "X Coefficients: [0, 0, 0, 0, 1.0e-6, -1.0e-3, 1.3]\nY Coefficients: [0, 0, 0, 0, 1.0e-6, 1.0e-3, 1.3]\n"
    "Number of frames: 61\nStep size in nm: 10\n"
)
#: Options of each operation. Every operation of the package has some here, or the test of them all fails.
CASES: dict[str, list[dict[str, Any]]] = {
    "convert": [{}, {"unit": "nm"}, {"unit": "px"}],
    "drift": [{"anyway": True}, {"anyway": True, "segment": 10, "range": "3px"}],
    "filter": [
        {"condition": "photons > 500 & sigma_nm < 200"},
        {"condition": "x_px < 30", "merge": "0.7px", "neighbours": 3, "radius": 400},
        {},
    ],
    "link": [{}, {"radius": 60, "gap": 3}, {"radius": "0.4px", "label": True}],
    "merge": [{"radius": 90}, {"radius": "0.7px"}],
    "render": [{}, {"pixel": 30, "blur": "none", "colour_map": "grey", "scale_bar": 0}, {"colour_by": "photons", "filter": "photons > 500"}],
    "score": [{}, {"radius": "0.5px", "border": "3px", "width": 64, "height": 64}],
    "stats": [{}, {"filter": "photons > 500"}],
    "z": [{"calibration": "cal.yaml"}, {"calibration": "cal.yaml", "measure": "roots", "box": 11, "found": True}],
}
#: Options that are arguments of the verb.
PLACES = {"filter": ["condition"]}
SIZE = ["--pixel-size", "107"]
#: Operations whose outcome is no table of localizations, or of which Python makes the table in another call.
OTHERS = ("drift", "render", "stats")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: Any) -> Path:
    """A table in pixels and in nanometres, as CSV and as Picasso's, a truth and a calibration."""
    if COMMAND is None:
        pytest.skip("needs the command spotfit: cargo build --release -p spotfit-cli, or SPOTFIT_COMMAND")
    at: Path = tmp_path_factory.mktemp("parity")
    rng = np.random.default_rng(1)
    place, frame = rng.integers(0, 60, 600), np.sort(rng.integers(0, 40, 600))
    x, y = rng.uniform(0, 63, (2, 60))[:, place] + rng.normal(0, 0.1, (2, 600))
    width = rng.uniform(1.1, 1.5, 600)
    columns: dict[str, Any] = {
        "frame": frame, "x": x, "y": y, "sigma_x": width, "sigma_y": 2.6 - width, "photons": rng.uniform(200, 3000, 600),
        "background": np.full(600, 10.0), "uncertainty_x": rng.uniform(0.05, 0.1, 600), "uncertainty_y": rng.uniform(0.05, 0.1, 600),
    }  # fmt: skip
    locs = spotfit.Locs(columns, spotfit.Movie(107.0, 64, 64, 40))
    locs.save(at / "px.csv")
    locs.save(at / "px.hdf5")
    locs.in_nanometres().save(at / "nm.csv")
    spotfit.Locs({"frame": frame, "x": x + rng.normal(0, 0.1, 600), "y": y}).save(at / "truth.csv")
    (at / "cal.yaml").write_text(CALIBRATION, encoding="utf-8")
    return at


def spoken(folder: Path, *words: object) -> tuple[Any, list[str]]:
    """The report of a command, and the lines that it says besides."""
    done = subprocess.run([str(COMMAND), *map(str, words), "--json"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr.splitlines()


def run(folder: Path, *words: object) -> Any:
    return spoken(folder, *words)[0]


def words_of(name: str, case: dict[str, Any]) -> list[Any]:
    """Options as the command takes them."""
    words = [case[word] for word in PLACES.get(name, []) if word in case]
    for word, value in case.items():
        if word not in PLACES.get(name, []):
            words += [f"--{word.replace('_', '-')}"] if value is True else [f"--{word.replace('_', '-')}", value]
    return words


@pytest.mark.parametrize("file", ["px.csv", "nm.csv", "px.hdf5"])
@pytest.mark.parametrize("name", [name for name in _spotfit.operations() if name not in OTHERS])
def test_command_and_python_agree(name: str, file: str, folder: Path) -> None:
    assert CASES[name]
    for case in CASES[name]:
        words = words_of(name, case)
        locs = spotfit.read_table(folder / file, pixel_size=107)
        given = {word: folder / value if word == "calibration" else value for word, value in case.items()}
        function: Callable[..., Any] = getattr(spotfit, name)
        if name == "score":
            truth = spotfit.read_table(folder / "truth.csv", pixel_size=107)
            assert function(locs, truth, **given) == run(folder, name, file, "truth.csv", *words, *SIZE)
            continue
        made = function(locs, **given)
        for ending in "csv", "hdf5":
            told = run(folder, name, file, *words, *SIZE, "-o", f"theirs.{ending}")
            assert made.report == told and len(made) > 0
            made.save(folder / f"ours.{ending}", overwrite=True)
            assert (folder / f"ours.{ending}").read_bytes() == (folder / f"theirs.{ending}").read_bytes(), (case, ending)


@pytest.mark.parametrize("file", ["px.csv", "nm.csv", "px.hdf5"])
def test_drift_is_that_of_the_command(file: str, folder: Path) -> None:
    locs = spotfit.read_table(folder / file, pixel_size=107)
    for case in CASES["drift"]:
        drift = spotfit.find_drift(locs, **case)
        for ending in "csv", "hdf5":
            told = run(folder, "drift", file, *words_of("drift", case), *SIZE, "-o", f"still.{ending}")
            assert drift.report == told
            drift.correct(locs).save(folder / f"still-here.{ending}", overwrite=True)
            assert (folder / f"still-here.{ending}").read_bytes() == (folder / f"still.{ending}").read_bytes(), (case, ending)


@pytest.mark.parametrize("file", ["px.csv", "nm.csv", "px.hdf5"])
def test_pictures_are_those_of_the_command(file: str, folder: Path) -> None:
    locs = spotfit.read_table(folder / file, pixel_size=107)
    for case in CASES["render"]:
        picture = spotfit.render(locs, **case)
        for ending in "png", "tif":
            told = run(folder, "render", file, *words_of("render", case), *SIZE, "-o", f"theirs.{ending}")
            picture.save(folder / f"ours.{ending}")
            assert picture.report == told
            assert (folder / f"ours.{ending}").read_bytes() == (folder / f"theirs.{ending}").read_bytes(), (case, ending)


@pytest.mark.parametrize("file", ["px.csv", "nm.csv", "px.hdf5"])
def test_statistics_are_those_of_the_command(file: str, folder: Path) -> None:
    locs = spotfit.read_table(folder / file, pixel_size=107)
    for case in CASES["stats"]:
        told = run(folder, "stats", file, *words_of("stats", case), *SIZE)
        # The command says what it describes, too.
        numbers = {name: number for name, number in told.items() if name not in ("file", "filter")}
        assert spotfit.stats(locs, **case)["numbers"] == numbers


#: Options of localizing, as Python and as the command take them.
LOCALIZING: list[tuple[dict[str, Any], list[Any]]] = [
    ({}, []),
    ({"box": 9, "frames": slice(2, 30), "flags": True, "errors": True}, ["--box", 9, "--frames", "3:30", "--flags", "--errors"]),
    ({"estimator": "mle", "drop": ["neighbour", "residual"]}, ["--estimator", "mle", "--drop", "neighbour,residual"]),
    ({"all": True, "roi": (4, 5, 40, 30), "threshold": 5.0}, ["--all", "--roi", "4,5,40,30", "--threshold", 5]),
    ({"shape": "elliptical", "calibration": "cal.yaml"}, ["--shape", "elliptical", "--calibration", "cal.yaml"]),
]


@pytest.mark.parametrize("camera", [None, spotfit.Camera(baseline=100, sensitivity=0.5, read_noise=1.2)])
def test_localizations_are_those_of_the_command(camera: spotfit.Camera | None, folder: Path) -> None:
    """Proves that a movie in a file or in memory has the same localizations, the same numbers are said of it, and the same doubts."""
    movie = spotfit.simulate_movie(40, width=64, height=64, spots=6, beads=1)
    np.save(folder / "movie.npy", movie.frames)
    known = [] if camera is None else ["--baseline", 100, "--sensitivity", 0.5, "--read-noise", 1.2]
    for case, words in LOCALIZING:
        given = {word: folder / value if word == "calibration" else value for word, value in case.items()}
        for source in folder / "movie.npy", movie.frames:
            with warnings.catch_warnings(record=True) as doubts:
                warnings.simplefilter("always")
                made = spotfit.localize(source, camera=camera, pixel_size=107, **given)
            # The record beside the command's table does not belong to this one.
            told, said = spoken(folder, "localize", "movie.npy", *words, *known, *SIZE, "-o", "theirs.hdf5", "--overwrite")
            assert {**made.report, "time": 0} == {**told, "time": 0} and len(made) > 20
            assert [str(doubt.message) for doubt in doubts] == [
                line.removeprefix("spotfit: warning: ").replace("--", "") for line in said if "warning" in line
            ]
            made.save(folder / "ours.hdf5", overwrite=True)
            assert (folder / "ours.hdf5").read_bytes() == (folder / "theirs.hdf5").read_bytes(), (case, type(source))
            made.in_nanometres().save(folder / "ours.csv", overwrite=True)
            spoken(folder, "localize", "movie.npy", *words, *known, *SIZE, "-o", "theirs.csv")
            assert (folder / "ours.csv").read_bytes() == (folder / "theirs.csv").read_bytes(), (case, type(source))


@pytest.mark.parametrize("picasso", [0, 1])
def test_batches_are_those_of_the_command(picasso: Any, folder: Path, tmp_path: Path) -> None:
    """Proves that `fit_files` and ``spotfit batch`` make the same tables, for either Picasso, and know each other's."""
    movie = spotfit.simulate_movie(20, width=64, height=64, spots=6)
    np.save(tmp_path / "movie.npy", movie.frames)
    (tmp_path / "list.txt").write_text("movie.npy\n", encoding="utf-8")
    camera = spotfit.Camera(baseline=100)
    [ours] = spotfit.fit_files([tmp_path / "movie.npy"], tmp_path / "ours", camera=camera, pixel_size=107, picasso=picasso)
    words = ["--baseline", 100, "--sensitivity", 1, *SIZE, "--picasso", picasso]
    told, _ = spoken(tmp_path, "batch", "list.txt", "--out", "theirs", *words)
    assert (told["localized"], told["localizations"]) == (1, ours.localizations)
    for name in "movie.hdf5", "movie.yaml":
        assert (tmp_path / "ours" / name).read_bytes() == (tmp_path / "theirs" / name).read_bytes(), name
    told, _ = spoken(tmp_path, "batch", "list.txt", "--out", "ours", *words)
    assert (told["localized"], told["finished"]) == (0, 1)
    other: Any = 1 - picasso
    [failed] = spotfit.fit_files([tmp_path / "movie.npy"], tmp_path / "theirs", camera=camera, pixel_size=107, picasso=other)
    assert failed.state == "failed" and "picasso" in (failed.error or "")
