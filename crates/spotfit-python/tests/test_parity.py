"""Every operation makes the same table and says the same numbers in Python and as a verb of the command, byte for byte."""

import json
import subprocess
import warnings
from collections.abc import Callable
from functools import partial
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
    "concatenate": [{}, {"frames": "keep", "unit": "nm"}],
    "convert": [{}, {"unit": "nm"}, {"unit": "px"}],
    "drift": [{"anyway": True}, {"anyway": True, "segment": 10, "range": "3px"}],
    "filter": [
        {"condition": "photons > 500 & sigma_nm < 200"},
        {"condition": "x_px < 30", "merge": "0.7px", "neighbours": 3, "radius": 400},
        {"merge": 90},
        {},
    ],
    "link": [{}, {"radius": 60, "gap": 3}, {"radius": "0.4px", "label": True}],
    "pick": [{"circle": "3000,3000,900", "box": "0,0,3um,3um"}, {"polygon": "0px,0px,40px,0px,0px,40px", "filter": "photons > 500"}],
    "profile": [{"line": "0px,10px,60px,30px", "width": "20px"}, {"line": "0,0,3um,3um", "width": "1um", "step": "100nm", "filter": "photons > 500"}],
    "render": [{}, {"pixel": 30, "blur": "none", "colour_map": "grey", "scale_bar": 0}, {"colour_by": "photons", "filter": "photons > 500"}],
    "score": [{}, {"radius": "0.5px", "border": "3px", "width": 64, "height": 64}],
    "stats": [{}, {"filter": "photons > 500"}],
    "z": [{"calibration": "cal.yaml"}, {"calibration": "cal.yaml", "measure": "roots", "box": 11, "found": True}],
}
#: Options that are arguments of the verb.
PLACES = {"filter": ["condition"]}
SIZE = ["--pixel-size", "107"]
#: Operations whose outcome is no table of localizations, or of which Python makes the table in another call.
OTHERS = ("drift", "pick", "profile", "render", "stats")


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
        several = name == "concatenate"
        made = function([locs, locs], **given) if several else function(locs, **given)
        verb = ["convert", file] if several else [name]
        for ending in "csv", "hdf5":
            told = run(folder, *verb, file, *words, *SIZE, "-o", f"theirs.{ending}")
            assert made.report == told and len(made) > 0
            made.save(folder / f"ours.{ending}", overwrite=True)
            assert (folder / f"ours.{ending}").read_bytes() == (folder / f"theirs.{ending}").read_bytes(), (case, ending)


@pytest.mark.parametrize("file", ["px.csv", "nm.csv", "px.hdf5"])
def test_picks_and_profiles_are_those_of_the_command(file: str, folder: Path) -> None:
    locs = spotfit.read_table(folder / file, pixel_size=107)
    for case in CASES["pick"]:
        found = locs.pick(**case)
        for ending in "csv", "hdf5":
            told = run(folder, "pick", file, *words_of("pick", case), *SIZE, "--locs", f"theirs.{ending}")
            assert {name: value for name, value in found.items() if name != "inside"} == told
            found["inside"].save(folder / f"ours.{ending}", overwrite=True)
            assert (folder / f"ours.{ending}").read_bytes() == (folder / f"theirs.{ending}").read_bytes(), (case, ending)
    for case in CASES["profile"]:
        assert locs.profile(**case) == run(folder, "profile", file, *words_of("profile", case), *SIZE)


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
    ({"positions": "places.csv", "frames": slice(3, None)}, ["--positions", "places.csv", "--frames", "4:"]),
    ({"positions": "places.hdf5", "all": True, "flags": True}, ["--positions", "places.hdf5", "--all", "--flags"]),
]
#: Those of them that are files.
FILES = ("calibration", "positions")


@pytest.mark.parametrize("camera", [None, spotfit.Camera(baseline=100, sensitivity=0.5, read_noise=1.2)])
def test_localizations_are_those_of_the_command(camera: spotfit.Camera | None, folder: Path) -> None:
    """Proves that a movie in a file or in memory has the same localizations, the same numbers are said of it, and the same doubts."""
    movie = spotfit.simulate_movie(40, width=64, height=64, spots=6, beads=1)
    np.save(folder / "movie.npy", movie.frames)
    found = spotfit.localize(movie.frames, camera=spotfit.Camera(baseline=100, read_noise=1.5), pixel_size=107)
    rows = zip(found.frame, found.x.round(2), found.y.round(2), strict=True)
    # The first is too near to the edge, and the last in no frame.
    lines = ["frame,x,y", "4,1,1", *(f"{frame},{x},{y}" for frame, x, y in rows), "99,20,20"]
    (folder / "places.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found.save(folder / "places.hdf5", overwrite=True)
    known = [] if camera is None else ["--baseline", 100, "--sensitivity", 0.5, "--read-noise", 1.2]
    for case, words in LOCALIZING:
        given = {word: folder / value if word in FILES else value for word, value in case.items()}
        for source in folder / "movie.npy", movie.frames:
            with warnings.catch_warnings(record=True) as doubts:
                warnings.simplefilter("always")
                made = spotfit.localize(source, camera=camera, pixel_size=107, **given)
            # The record beside the command's table does not belong to this one.
            told, said = spoken(folder, "localize", "movie.npy", *words, *known, *SIZE, "-o", "theirs.hdf5", "--overwrite")
            times = {"time": 0, "stages": {}}
            assert {**made.report, **times} == {**told, **times} and len(made) > 20
            assert list(made.report["stages"]) == list(told["stages"]) == ["read", "detect", "fit", "write", "waited"]
            # Without a camera Python names its own type.
            assert camera is None or [str(doubt.message) for doubt in doubts] == [
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


def test_batches_fit_positions(folder: Path, tmp_path: Path) -> None:
    """Proves that `fit_files` takes positions as the command does, in a file or in memory, and knows tables of others."""
    movie = spotfit.simulate_movie(20, width=64, height=64, spots=6)
    np.save(tmp_path / "movie.npy", movie.frames)
    (tmp_path / "list.txt").write_text("movie.npy\n", encoding="utf-8")
    places = tmp_path / "places.csv"
    places.write_text("frame,x,y\n3,20.5,30\n3,40,41\n7,12,9\n", encoding="utf-8")
    options: dict[str, Any] = {"camera": spotfit.Camera(baseline=100), "pixel_size": 107, "all": True}
    [ours] = spotfit.fit_files([tmp_path / "movie.npy"], tmp_path / "ours", positions=places, **options)
    words = ["--baseline", 100, "--sensitivity", 1, *SIZE, "--all", "--positions", "places.csv"]
    told, _ = spoken(tmp_path, "batch", "list.txt", "--out", "theirs", *words)
    # Fits without a number are in no table of Picasso.
    assert told["localizations"] == ours.localizations and 0 < (ours.localizations or 0) <= 3
    assert (tmp_path / "ours/movie.hdf5").read_bytes() == (tmp_path / "theirs/movie.hdf5").read_bytes()
    told, _ = spoken(tmp_path, "batch", "list.txt", "--out", "ours", *words)
    assert (told["localized"], told["finished"]) == (0, 1)

    def here(positions: Any) -> spotfit.FileOutcome:
        return spotfit.fit_files([tmp_path / "movie.npy"], tmp_path / "memory", positions=positions, **options)[0]

    array = [[3, 20.5, 30], [3, 40, 41], [7, 12, 9]]
    assert here(array).localizations == ours.localizations
    made = (tmp_path / "memory/movie.hdf5").stat().st_mtime_ns
    assert here(np.array(array)).state == "done" and (tmp_path / "memory/movie.hdf5").stat().st_mtime_ns == made
    for other in array[::-1], places:
        assert "positions" in (here(other).error or "")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        here(tmp_path / "nowhere.csv")
    places.write_text("frame,x,y\n3,20.5,30\n", encoding="utf-8")
    [failed] = spotfit.fit_files([tmp_path / "movie.npy"], tmp_path / "ours", positions=places, **options)
    assert failed.state == "failed" and "places.csv" in (failed.error or "")


#: Options on which the defaults of others depend.
DEPENDING: list[dict[str, Any]] = [
    {},
    {"estimator": "mle"},
    {"estimator": "lse"},
    {"psf": "psf.hdf5"},
    {"psf": "learn"},
    {"psf": "learn", "learn_frames": 4, "emitters": "auto"},
    {"psf": "psf.hdf5", "estimator": "mle"},
    {"psf": "psf.hdf5", "estimator": "lse"},
    {"calibration": "cal.yaml"},
    {"calibration": "cal.yaml", "estimator": "mle"},
    {"emitters": "auto", "fixed_sigma": "1.3px"},
    {"fixed_sigma": "1.3px", "estimator": "mle"},
    {"background": "plane", "estimator": "mle"},
]


def test_a_psf_that_is_learnt_is_that_of_the_command(folder: Path, tmp_path: Path) -> None:
    """Proves that a movie in a file and its frames have the rows that the command finds with the PSF that it learns, where there is one and where not."""
    camera = spotfit.Camera(baseline=100, read_noise=1.5)
    movie = spotfit.simulate_movie(
        80, width=64, height=64, density=0.4, pixel_size=100, uniform=True, photons=3000, background=30, psf_na=1.4, zernike={(2, 2): 0.1}, camera=camera
    )
    for frames, note in (movie.frames, "PSF learnt from"), (movie.frames[:6], "spots are fitted with Gaussians"):
        np.save(tmp_path / "movie.npy", frames)
        words = ["--psf", "learn", "--emitters", "auto", "--baseline", 100, "--sensitivity", 1, "--read-noise", 1.5, "--pixel-size", 100]
        _, told = spoken(tmp_path, "localize", "movie.npy", "-o", "locs.csv", "--overwrite", *words)
        assert any(note in line for line in told), told
        expected = spotfit.read_table(tmp_path / "locs.csv")
        for given in tmp_path / "movie.npy", frames:
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                found = spotfit.localize(given, psf="learn", emitters="auto", camera=camera, pixel_size=100).in_nanometres()
            said = [str(one.message) for one in heard]
            # Without a PSF it is told how spots differ from Gaussians.
            assert [note in one for one in said if "spots of the first frames" not in one] == ([True] if "Gaussians" in note else [])
            assert not any("learns what spots look like" in one for one in said)
            assert len(found) == len(expected) and not any(name.startswith("z") for name in found.names)
            assert np.allclose(found.x, expected.x, atol=1e-3) and np.allclose(found.photons, expected.photons, rtol=1e-5)
    learnt = spotfit.learn_psf(movie.frames, camera=camera)
    assert learnt.report["single"] is False
    np.save(tmp_path / "movie.npy", movie.frames)
    run(tmp_path, "psf", "movie.npy", "-o", "psf.hdf5", "--plot", "psf.svg", "--baseline", 100, "--sensitivity", 1, "--read-noise", 1.5)
    learnt.plot(tmp_path / "own.svg")
    assert (tmp_path / "own.svg").read_bytes() == (tmp_path / "psf.svg").read_bytes()
    with pytest.raises(ValueError, match="learn_frames is for psf"):
        spotfit.localize(movie.frames, learn_frames=10, camera=camera)
    with pytest.raises(ValueError, match="aperture does not go with psf"):
        spotfit.localize(movie.frames, psf="learn", aperture=8, camera=camera)
    with pytest.raises(ValueError, match="learn_frames = 0 is out of its range"):
        spotfit.localize(movie.frames, psf="learn", learn_frames=0, camera=camera)


def test_an_aperture_corrects_as_that_of_the_command_does(folder: Path, tmp_path: Path) -> None:
    """Proves that photons within an aperture are those of the command, for a movie in a file and its frames, and that both say by how much they moved."""
    camera = spotfit.Camera(baseline=100, read_noise=1.5)
    movie = spotfit.simulate_movie(32, width=96, height=96, density=0.2, pixel_size=100, uniform=True, photons=3000, psf_na=1.4, camera=camera)
    np.save(tmp_path / "movie.npy", movie.frames)
    words = ["--baseline", 100, "--sensitivity", 1, "--read-noise", 1.5, "--pixel-size", 100, "--aperture", "0.8um"]
    told, _ = spoken(tmp_path, "localize", "movie.npy", "-o", "locs.csv", *words)
    expected = spotfit.read_table(tmp_path / "locs.csv")
    plain = spotfit.localize(movie.frames, camera=camera)
    for given, aperture in ((tmp_path / "movie.npy", "0.8um"), (movie.frames, 8), (movie.frames, "800nm")):
        found = spotfit.localize(given, camera=camera, pixel_size=100, aperture=aperture)
        assert len(found) == len(expected) and np.allclose(found.photons, expected.photons, rtol=1e-5)
        assert found.report["aperture"] == pytest.approx(told["aperture"])
        assert np.allclose(found.photons, plain.photons * told["aperture"]["factor"]) and told["aperture"]["factor"] > 1.1
    assert plain.report["aperture"] is None
    # The size of a pixel may be one of each movie.
    raw = movie.frames.astype("<u2")
    raw.tofile(tmp_path / "movie.raw")
    (tmp_path / "movie.yaml").write_text("Byte Order: <\nData Type: uint16\nFrames: 32\nHeight: 96\nWidth: 96\nPixelsize: 100\n", encoding="utf-8")
    fit = partial(spotfit.fit_files, [tmp_path / "movie.raw"], tmp_path / "out", camera=camera)
    for made in (*fit(aperture="0.8um"), *fit(aperture="0.8um")):
        assert made.error is None
    [other] = fit(aperture=8)
    assert "aperture 800nm then" in (other.error or "")
    for aperture, recorded in (("0.8um", "800nm"), (8, 8)):
        [made] = fit(aperture=aperture, overwrite=True)
        record = json.loads((tmp_path / "out/movie.hdf5.spotfit.json").read_text(encoding="utf-8"))
        assert made.error is None and record["options"]["aperture"] == recorded


@pytest.mark.filterwarnings("ignore:psf learn")
@pytest.mark.parametrize("case", DEPENDING, ids=str)
def test_defaults_that_depend_on_options_are_those_of_the_command(case: dict[str, Any], folder: Path, tmp_path: Path) -> None:
    """Proves that `fit_files` takes what the command takes where nothing is said: each knows the tables of the other."""
    camera = spotfit.Camera(baseline=100)
    beads = spotfit.simulate_beads(step=40, beads=12, width=160, height=160, camera=camera, seed=4)
    spotfit.calibrate_psf(beads.frames, step=40, camera=camera, pixel_size=107).save(tmp_path / "psf.hdf5")
    (tmp_path / "cal.yaml").write_text(CALIBRATION, encoding="utf-8")
    np.save(tmp_path / "movie.npy", spotfit.simulate_movie(6, width=64, height=64, spots=4, camera=camera, seed=2).frames)
    (tmp_path / "list.txt").write_text("movie.npy\n", encoding="utf-8")
    given = {name: tmp_path / value if name in ("psf", "calibration") and value != "learn" else value for name, value in case.items()}
    words = ["--baseline", 100, "--sensitivity", 1, *SIZE, *words_of("batch", case)]
    told, _ = spoken(tmp_path, "batch", "list.txt", "--out", "out", *words)
    assert told["localized"] == 1
    [known] = spotfit.fit_files([tmp_path / "movie.npy"], tmp_path / "out", camera=camera, pixel_size=107, **given)
    assert known.state == "done", known.error
    [made] = spotfit.fit_files([tmp_path / "movie.npy"], tmp_path / "ours", camera=camera, pixel_size=107, **given)
    assert made.error is None
    told, _ = spoken(tmp_path, "batch", "list.txt", "--out", "ours", *words)
    assert (told["localized"], told["finished"]) == (0, 1)


#: Options of fits, as the command has them; those of a camera are one of Python.
FITS: list[dict[str, Any]] = [
    {},
    {"errors": True},
    {"shape": "elliptical", "errors": True, "estimator": "mle", "baseline": 100, "sensitivity": 0.5, "read_noise": 1.5},
    {"shape": "rotated", "criteria": "tight", "backend": "reference", "errors": True},
    {"fixed_sigma": "130nm", "pixel_size": 100, "profile": "integrated"},
    {"fixed_sigma": "1.3,1.4", "errors": True},
    {"sigma_max": "1.2px", "centre_margin": 0.0, "start": "start.npy", "max_iterations": 50},
    {"weights": "weights.npy", "background": "nonnegative"},
    {"background": "plane", "errors": True},
    {"background": "plane", "estimator": "mle", "baseline": 100, "sensitivity": 0.5, "read_noise": 1.5},
]
#: What is the command's in reports: times, and pixels that files mask.
COMMANDS = ("fitting", "time", "stages", "masked")


@pytest.mark.parametrize("case", FITS, ids=str)
def test_fits_are_those_of_the_command(case: dict[str, Any], folder: Path) -> None:
    """Proves that the tables of windows that were fitted have the same bytes, and reports the same numbers."""
    camera = spotfit.Camera(100, 0.5, None, 1.5)
    spots, truth, _ = spotfit.simulate(300, size=(8, 9), photons=800, background=5, sigma=(1.0, 1.6), camera=camera, seed=3)
    spots[5] = 7
    np.save(folder / "spots.npy", spots)
    np.save(folder / "start.npy", np.stack([truth["x"], truth["y"], truth["sigma_x"]], axis=1))
    np.save(folder / "weights.npy", np.random.default_rng(2).uniform(0.5, 2, spots.shape).astype(np.float32))
    given: dict[str, Any] = {name: value for name, value in case.items() if name not in ("baseline", "sensitivity", "read_noise")}
    given |= {name: np.load(folder / case[name]) for name in ("start", "weights") if name in case}
    fits = spotfit.fit(spots, camera=camera if "baseline" in case else None, **given)
    for ending in "csv", "npy":
        told = run(folder, "fit", "spots.npy", *words_of("fit", case), "-o", f"fits.{ending}")
        assert fits.report == {name: value for name, value in told.items() if name not in COMMANDS}
        fits.save(folder / f"fits-here.{ending}")
        assert (folder / f"fits-here.{ending}").read_bytes() == (folder / f"fits.{ending}").read_bytes(), ending


#: Models with their options; `start` and `bounds` as Python has them.
CURVES: list[tuple[str, dict[str, Any]]] = [
    ("a*exp(-x/t) + c", {"start": {"a": 40, "t": 4, "c": 1}}),
    ("a*exp(-x/t) + c", {"start": {"a": 40, "t": 4, "c": 1}, "bounds": {"t": (None, 5.0), "c": (0.0, 9.0)}, "estimator": "mle"}),
    ("a*exp(-x/t) + c", {"start": {"a": 40, "t": 6, "c": 1}, "fixed": ["t"], "absolute": True, "weights": "w.npy", "linear": "searched"}),
    ("exponential", {"max_iterations": 20, "tolerance": 0.01}),
    ("exponential", {"weights": "w.npy", "backend": "reference", "threads": 1}),
    ("exponential", {"backend": "cpu", "instruction_set": "portable", "device": 0}),
    ("a*peak(x - x0) + b", {"start": {"a": 40, "x0": 2, "b": 1}, "spline": "peak"}),
]


@pytest.mark.parametrize(("formula", "case"), CURVES, ids=str)
def test_curves_are_those_of_the_command(formula: str, case: dict[str, Any], folder: Path) -> None:
    """Proves the same of fits of models."""
    data = np.random.default_rng(1).poisson(50 * np.exp(-np.arange(40.0) / 6) + 2, size=(200, 40)).astype(float)
    data[7, 3] = np.nan
    peak = np.exp(-((np.arange(60.0) - 20) ** 2) / 50)
    weights = np.linspace(0, 2, 40)
    for name, array in ("data", data), ("peak", peak), ("w", weights):
        np.save(folder / f"{name}.npy", array)
    words: list[Any] = ["-m", formula]
    for name, value in case.items():
        match value:
            case dict() if name == "bounds":
                sides = {of: ["" if side is None else side for side in limits] for of, limits in value.items()}
                words += ["--bounds", ",".join(f"{of}={low}:{high}" for of, (low, high) in sides.items())]
            case dict():
                words += [f"--{name}", ",".join(f"{of}={number}" for of, number in value.items())]
            case "peak":
                words += ["--spline", "peak=peak.npy"]
            case list():
                words += [f"--{name}", ",".join(value)]
            case _:
                words += words_of("curve", {name: value})
    model = spotfit.Model(formula, spline={"peak": peak} if "spline" in case else None)
    given: dict[str, Any] = {name: weights if name == "weights" else value for name, value in case.items() if name != "spline"}
    fits = model.fit(data, **given)
    for ending in "csv", "npy":
        told = run(folder, "curve", "data.npy", *words, "-o", f"curves.{ending}")
        assert fits.report == {name: value for name, value in told.items() if name not in COMMANDS}
        fits.save(folder / f"curves-here.{ending}")
        assert (folder / f"curves-here.{ending}").read_bytes() == (folder / f"curves.{ending}").read_bytes(), ending


def test_tables_of_fits_are_complete_or_not_there(tmp_path: Path) -> None:
    """Proves that names and folders that will not do are refused, that nothing is left behind, and that parts can be written."""
    fits = spotfit.fit(spotfit.simulate(9, photons=1000).spots, camera=spotfit.Camera())
    curves = spotfit.Model("a*x + b").fit([0.0, 1.0, 2.0, 7.0], start=[1, 0])
    for made in fits, curves, fits[2:4]:
        with pytest.raises(ValueError, match=r"fits\.txt: the name of a table of fits ends in \.csv or \.npy"):
            made.save(tmp_path / "fits.txt")
        with pytest.raises(FileNotFoundError, match="none"):
            made.save(tmp_path / "none" / "fits.csv")
        assert not list(tmp_path.iterdir())
    fits[[4, 2]].save(tmp_path / "fits.npy")
    assert np.load(tmp_path / "fits.npy")["x"].tolist() == fits.x[[4, 2]].astype(float).tolist()
    assert fits[:2].report["spots"] == 2 and curves.report["converged"] == 1
    for unknown in spotfit.Fits(fits.array), spotfit.ModelFits(curves.names, *curves._arrays()):  # type: ignore[arg-type]
        assert unknown.report == {}
        with pytest.raises(ValueError, match="do not know how they were made"):
            unknown.save(tmp_path / "unknown.csv")
