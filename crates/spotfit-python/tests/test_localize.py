"""Movies: from a file, an array, or block by block, the localizations are the same and right."""

import subprocess
import threading
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import spotfit
from test_depth import COMMAND

PLACES = [(20.3, 20.0), (50.0, 40.7), (60.2, 15.4)]


@pytest.fixture(scope="module")
def movie() -> npt.NDArray[np.uint16]:
    """300 frames with three spots that move by 3 pixels in x."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[:64, :80]
    frames = np.full((300, 64, 80), 10.0)
    for frame, image in enumerate(frames):
        for left, top in PLACES:
            image += 150 * np.exp(-((x - left - frame / 100) ** 2 + (y - top) ** 2) / (2 * 1.3**2))
    return rng.poisson(frames).astype(np.uint16)


def test_spots_are_found_where_they_are(movie: Any) -> None:
    seen: list[tuple[int, int]] = []
    locs = spotfit.localize(movie, progress=lambda done, all_: seen.append((done, all_)))
    assert len(locs) >= 895 and seen[-1] == (300, 300)
    for left, top in PLACES:
        own = locs[np.hypot(locs.x - locs.frame / 100 - left, locs.y - top) < 1]
        assert len(own) >= 295
        pulls = (own.x - own.frame / 100 - left) / own.uncertainty
        assert abs(np.std(pulls) - 1) < 0.15 and abs(np.mean(pulls)) < 0.3
    assert locs.movie == spotfit.Movie(None, 80, 64, 300) and "frames" in repr(locs)


def same(one: spotfit.Locs, other: spotfit.Locs) -> bool:
    return one.names == other.names and all(np.array_equal(one[name], other[name]) for name in one)


def test_files_arrays_and_blocks_give_the_same(movie: Any, tmp_path: Path) -> None:
    expected = spotfit.localize(movie)
    np.save(tmp_path / "movie.npy", movie)
    memmap = np.load(tmp_path / "movie.npy", mmap_mode="r")
    for other in tmp_path / "movie.npy", str(tmp_path / "movie.npy"), memmap, movie.astype(">f8"), movie[::-1][::-1]:
        assert same(spotfit.localize(other), expected)
    blocks = spotfit.Blocks(np.tile(movie, (6, 1, 1)))
    parts = list(blocks)
    assert len(parts) > 1 and sum(len(part) for part in parts) == 6 * len(expected)
    assert blocks.done == blocks.total == 1800


def test_places_are_fitted_instead_of_spots(movie: Any, tmp_path: Path) -> None:
    """Proves that positions are taken in every form, that ids are their rows, and that those in other frames or at the edge are counted."""
    frame, x, y = [7, 3, 3, 299, 500, 9], [50.4, 20.0, 60.0, 53.0, 20.0, 0.0], [40.0, 20.0, 15.0, 41.0, 20.0, 0.0]
    columns: dict[str, Any] = {"y": y, "x": x, "frame": frame, "photons": [0.0] * 6}
    table = spotfit.Locs(columns, spotfit.Movie(107))
    table.save(tmp_path / "px.csv")
    table.in_nanometres().save(tmp_path / "nm.csv")
    named = np.array(list(zip(y, x, frame, strict=True)), [("y", "f8"), ("x", "f4"), ("frame", "u2")])
    array = np.stack([frame, x, y], axis=1)
    camera = spotfit.Camera()
    found = spotfit.localize(movie, positions=array, all=True, camera=camera, pixel_size=107)
    assert found.id.tolist() == [2, 3, 1, 4] and found.frame.tolist() == [3, 3, 7, 299]
    assert np.abs(found.x - [20.33, 60.23, 50.07, 52.99]).max() < 0.3
    dropped = found.report["dropped"]
    assert (found.report["candidates"], dropped["at_edge"], dropped["no_frame"]) == (5, 1, 1)
    forms: list[Any] = [
        array.tolist(), columns, named, table, table.in_nanometres(), table.in_nanometres().with_pixel_size(107),
        tmp_path / "px.csv", str(tmp_path / "nm.csv"),
    ]  # fmt: skip
    np.save(tmp_path / "movie.npy", movie)
    for form in forms:
        for source in movie, tmp_path / "movie.npy":
            again = spotfit.localize(source, positions=form, all=True, camera=camera, pixel_size=107)
            assert same(again, found) or np.abs(again.x - found.x).max() < 1e-6, form
            assert again.report["dropped"] == dropped
    part = spotfit.localize(movie, positions=array, all=True, camera=camera, frames=slice(3, 7))
    assert part.id.tolist() == [2, 3] and part.report["dropped"]["no_frame"] == 4
    pandas = pytest.importorskip("pandas")
    assert same(spotfit.localize(movie, positions=pandas.DataFrame(columns), all=True, camera=camera, pixel_size=107), found)


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        ({"positions": np.zeros((3, 2))}, ValueError, r"positions must be \(n, 3\)"),
        ({"positions": 7}, ValueError, r"positions must be \(n, 3\)"),
        ({"positions": {"frame": [0], "x": [1.0]}}, ValueError, "there is no column 'y'"),
        ({"positions": {"frame": [0.5], "x": [1.0], "y": [1.0]}}, ValueError, "'frame' must be whole numbers"),
        ({"positions": [[-1, 5, 5]]}, ValueError, "frame = -1 is not the number of a frame"),
        ({"positions": [[0, np.nan, 5]]}, ValueError, "row 1: x = NaN is not a finite number"),
        ({"positions": np.ma.masked_invalid([[0, np.nan, 5]])}, TypeError, "masked"),
        ({"positions": [[0, 5, 5]], "roi": (0, 0, 9, 9)}, ValueError, "positions and roi"),
        ({"positions": [[0, 5, 5]], "emitters": "auto"}, ValueError, "positions"),
        ({"positions": spotfit.Locs({"frame": [0], "x": [5.0], "y": [5.0]}, spotfit.Movie(100)).in_nanometres()}, None, ""),
        ({"positions": "nowhere.csv"}, FileNotFoundError, "nowhere.csv"),
    ],
)
def test_places_that_make_no_sense_are_named(options: Any, kind: Any, told: str, movie: Any) -> None:
    """Proves that the exception says what is wrong with positions, and that a table which knows the size of its pixels needs no other."""
    if kind is None:
        assert len(spotfit.localize(movie[:1], camera=spotfit.Camera(), all=True, **options)) == 1
        return
    with pytest.raises(kind, match=told):
        spotfit.localize(movie, camera=spotfit.Camera(), **options)


def test_a_part_of_the_frames(movie: Any, tmp_path: Path) -> None:
    np.save(tmp_path / "movie.npy", movie)
    for source in movie, tmp_path / "movie.npy":
        locs = spotfit.localize(source, frames=slice(10, 20))
        assert set(locs.frame) == set(range(10, 20)) and spotfit.Blocks(source, frames=slice(10, 20)).total == 10
        assert set(spotfit.localize(source, frames=slice(-3, -1)).frame) == {297, 298}
        assert spotfit.Blocks(source, frames=slice(-3, None)).total == 3
        assert spotfit.Blocks(source, frames=slice(-1000, 10**30)).total == 300
        assert len(spotfit.localize(source, frames=slice(10, 10))) == 0 == len(spotfit.localize(source, frames=slice(9, 3)))
        for wrong in 0, slice("a", None):
            with pytest.raises((TypeError, ValueError), match="frames"):
                spotfit.Blocks(source, frames=wrong)  # type: ignore[arg-type]
        assert len(spotfit.localize(source, frames=slice(290, None))) >= 29


def test_options_reach_the_localizer(movie: Any) -> None:
    part = movie[:10]
    camera = spotfit.Camera(baseline=5, sensitivity=0.5)
    assert abs(np.median(spotfit.localize(part, camera=camera).background) - 2.5) < 0.2
    assert {"sigma_x", "uncertainty_y"} <= set(spotfit.localize(part, shape="elliptical").names)
    assert {"photons_error", "flags", "status"} <= set(spotfit.localize(part, errors=True, flags=True, all=True).names)
    assert (spotfit.localize(part, roi=(0, 0, 40, 64)).x < 40).all()
    assert len(spotfit.localize(part, threshold=1e6)) == 0
    assert len(spotfit.localize(part, drop="saturated", saturation=1)) == 0
    maps = [np.full((64, 80), value) for value in (5.0, 2.0, 1.0)]
    assert abs(np.median(spotfit.localize(part, camera=spotfit.CameraMap(*maps)).background) - 2.5) < 0.2


@pytest.mark.parametrize("width", [{}, {"sigma": "shared"}, {"fixed_sigma": 1.3}])
def test_spots_that_overlap(width: dict[str, Any], tmp_path: Path) -> None:
    """Files, arrays and the command find the same in crowds, whosever width is fitted."""
    made = spotfit.simulate_movie(40, width=48, height=48, density=2.0, uniform=True, photons=2000)
    np.save(tmp_path / "movie.npy", made.frames)
    camera = spotfit.Camera(baseline=100, read_noise=1.5)
    options: Any = {"camera": camera, "emitters": "auto", "flags": True, "errors": True, **width}
    locs = spotfit.localize(tmp_path / "movie.npy", **options)
    assert 0.85 * len(made.truth) < len(locs) < len(made.truth)
    assert same(spotfit.localize(made.frames, **options), locs)
    different = len(set(np.round(locs.sigma, 9)))
    assert different == 1 if width else different > 0.99 * len(locs)
    crowded = locs["flags"].astype(int) & 16 > 0
    assert 0 < crowded.sum() < len(locs) / 2
    assert len(spotfit.localize(made.frames, drop="crowd", **options)) == len(locs) - crowded.sum()
    if COMMAND is not None:
        words = [str(word).replace("_", "-") for name, value in width.items() for word in (f"--{name}", value)]
        fixed = ["--emitters", "auto", "--flags", "--errors", "--baseline", "100", "--sensitivity", "1", "--read-noise", "1.5"]
        files = [str(tmp_path / "movie.npy"), "-o", str(tmp_path / "locs.csv")]
        subprocess.run([COMMAND, "localize", *files, *fixed, *words], check=True, capture_output=True)
        told = spotfit.read_table(tmp_path / "locs.csv")
        assert told.names == locs.names and np.array_equal(told.frame, locs.frame)
        for name in ("x", "y", "photons", "background", "sigma", "uncertainty", "photons_error", "flags"):
            assert np.allclose(told[name], locs[name], rtol=1e-3, atol=1e-4), name
    for wrong, said in (
        ({"shape": "elliptical"}, "shape"), ({"estimator": "lse"}, "estimator"), ({"threshold": 3.0}, "threshold"),
        ({"background": "nonnegative"}, "background"), ({"backend": "reference"}, "backend"),
    ):  # fmt: skip
        if "shape" in wrong and "fixed_sigma" in width:
            continue
        with pytest.raises(ValueError, match=f"{said} = .*emitters auto"):
            spotfit.localize(made.frames, **options, **wrong)
    two = spotfit.localize(made.frames, **{**options, "emitters": 2}, all=True)
    assert len(two) < len(locs) and (two["status"] == "max_iterations").any()
    assert same(spotfit.localize(made.frames, **{**options, "emitters": 100}), locs)
    for wrong_number in 0, -1, 101, 1.5, "many":
        with pytest.raises(ValueError, match=f"emitters = {wrong_number} .*1, 2 to 100, or auto"):
            spotfit.localize(made.frames, **{**options, "emitters": wrong_number})
    with pytest.raises(ValueError, match="sigma = shared"):
        spotfit.localize(made.frames, camera=camera, sigma="shared")


def test_a_camera_that_the_movie_contradicts_is_warned_about(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    dim = (rng.poisson(2.0, (40, 64, 64)) + rng.normal(100, 1.5, (40, 64, 64))).round().astype(np.uint16)
    np.save(tmp_path / "dim.npy", dim)
    known = spotfit.Camera(baseline=100)
    noise = spotfit.estimate_read_noise(dim, known)
    assert noise is not None and abs(noise - 1.5) < 0.15
    assert spotfit.estimate_read_noise(dim[:1], known) is None
    for source in dim, tmp_path / "dim.npy":
        with pytest.warns(UserWarning, match=r"read noise of about 1\.\d photo-electrons"):
            spotfit.localize(source, camera=known)
        for wrong in replace(known, sensitivity=100), replace(known, em_gain=100):
            # Noise that a sensitivity makes smaller than it is does not explain the darkest pixels either.
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                spotfit.localize(source, camera=wrong)
            assert any("sensitivity or EM gain is wrong" in str(warning.message) for warning in said)
        # Warnings are errors here.
        spotfit.localize(source, camera=replace(known, read_noise=1.5))
        spotfit.localize(source)
    bright = (100 + 2 * rng.poisson(50.0, (40, 64, 64))).astype(np.uint16)
    found = spotfit.estimate_sensitivity(bright, known)
    assert found is not None and abs(found - 0.5) < 0.03
    with pytest.raises(ValueError, match="height, width"):
        spotfit.estimate_sensitivity(bright[0], known)


def test_a_plane_is_advised_on_slopes(tmp_path: Path) -> None:
    words: Any = {"width": 96, "height": 80, "frames": 60, "spots": 8, "background": 150.0}
    for unevenness in 0.0, 0.8:
        made = spotfit.simulate_movie(**words, unevenness=unevenness)
        np.save(tmp_path / "movie.npy", made.frames)
        options: Any = {"camera": spotfit.Camera(baseline=100, read_noise=1.5), "box": 9}
        for source in made.frames, tmp_path / "movie.npy":
            # Warnings are errors here.
            spotfit.localize(source, **options, background="plane")
            if unevenness == 0:
                spotfit.localize(source, **options)
                continue
            with pytest.warns(spotfit.SpotfitWarning, match="slopes of .* background.*plane") as told:
                spotfit.localize(source, **options)
            assert len(told) == 1


def test_drift_is_found_and_taken_out(movie: Any) -> None:
    locs = spotfit.localize(movie)
    drift = spotfit.find_drift(locs)
    with pytest.raises(ValueError, match="row 1 has -1"):
        drift.correct(spotfit.Locs({"frame": [0, -1], "x": [1.0, 2.0]}))
    assert abs(drift.x[-1] - 3) < 0.1 and abs(drift.y[-1]) < 0.1 and len(drift.x) == 300 and len(drift.z) == 0
    straight = drift.correct(locs)
    assert np.std(straight.x[straight.y < 17]) < 0.1 < np.std(locs.x[locs.y < 17])


def test_pictures(movie: Any, tmp_path: Path) -> None:
    locs = spotfit.localize(movie, pixel_size=100)
    picture = spotfit.render(locs, pixel="0.1px", extent=("0px", "0px", "80px", "64px"))
    assert picture.pixels.shape == (640, 800, 3) and picture.extent == pytest.approx((0, 0, 80, 64))
    bright = np.argwhere(picture.pixels.sum(axis=2) > 300)
    for left, top in PLACES:
        assert np.hypot(bright[:, 1] / 10 - left - 1.5, bright[:, 0] / 10 - top).min() < 0.5
    picture.save(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes()[1:4] == b"PNG" and len(list(tmp_path.iterdir())) == 1
    coloured = spotfit.render(locs, colour_by="frame", blur="0.2px", pixel="0.5px")
    assert not np.array_equal(coloured.pixels[..., 0], coloured.pixels[..., 1])


def test_what_is_wrong_is_named(movie: Any, tmp_path: Path) -> None:
    (tmp_path / "text.tif").write_text("no movie")
    cases: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (tmp_path / "none.tif", {}, FileNotFoundError, "none.tif"),
        (tmp_path / "text.tif", {}, ValueError, "text.tif"),
        (tmp_path / "movie.xyz", {}, (ValueError, OSError), "movie.xyz"),  # type: ignore[list-item]
        (tmp_path, {}, ValueError, ""),
        (None, {}, TypeError, "movie"),
        (movie[0], {}, ValueError, "movie"),
        (movie.astype(complex), {}, TypeError, "complex"),
        (movie[:, :4], {}, ValueError, "smaller"),
        (movie, {"box": 4}, ValueError, "box"),
        (movie, {"false_rate": -1}, ValueError, "false_rate"),
        (movie, {"roi": (0, 0, 1000, 10)}, ValueError, "roi"),
        (movie, {"roi": (0, 0)}, ValueError, "roi"),
        (movie, {"drop": "bad"}, ValueError, "drop"),
        (movie, {"frames": slice(0, 9, 2)}, ValueError, "frames"),
        (movie, {"frames": 3}, ValueError, "frames"),
        (movie, {"speed": 3}, TypeError, "speed"),
        (movie, {"channel": 0}, ValueError, "channel"),
        (movie, {"slice": 7}, ValueError, "slice"),
        (movie, {"pixel_size": -100}, ValueError, "pixel_size"),
        (movie, {"pixel_size": float("nan")}, ValueError, "pixel_size"),
        (movie, {"pixel_size": "100"}, TypeError, "pixel_size"),
        (movie, {"shape": "given"}, ValueError, "given"),
        (movie.astype(float), {"drop": ["width", "saturated"]}, ValueError, "saturation"),
    ]
    for source, words, kind, name in cases:
        with pytest.raises(kind, match=name or None):
            spotfit.localize(source, **words)


def test_an_exception_of_the_callback_ends_it(movie: Any) -> None:
    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        spotfit.localize(movie, progress=stop)


def test_movies_are_followed_while_they_are_written(movie: Any, tmp_path: Path) -> None:
    """Proves that localizations of a movie that is being written are those of the finished one, and what cannot be followed is refused."""
    path = tmp_path / "movie.npy"
    np.save(tmp_path / "whole.npy", movie)
    whole = (tmp_path / "whole.npy").read_bytes()
    frame, start = movie[0].nbytes, len(whole) - movie.nbytes
    read = threading.Event()

    def write() -> None:
        with path.open("wb", buffering=0) as file:
            file.write(whole[:start])
            for number, at in enumerate(range(start, len(whole), frame)):
                if number == 100:
                    # Defects need 64 of them.
                    read.wait()
                file.write(whole[at : at + frame // 2])
                file.write(whole[at + frame // 2 : at + frame])

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    options: dict[str, Any] = {"camera": spotfit.Camera(), "defects": "auto"}
    seen: list[tuple[int, int]] = []

    def progress(done: int, all_: int) -> None:
        seen.append((done, all_))
        read.set()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        locs = spotfit.localize(path, follow=True, idle=600, progress=progress, **options)
        writer.join()
        expected = spotfit.localize(path, **options)
    assert same(locs, expected) and locs.movie == expected.movie and len(seen) > 1 and seen[-1] == (300, 300)
    assert locs.report["frames"] == 300
    # The writer was killed.
    path.write_bytes(whole[: start + 10 * frame + 7])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        blocks = spotfit.Blocks(path, follow=True, idle=0.1, camera=spotfit.Camera())
        assert sum(len(part) for part in blocks) > 20 and blocks.done == 10
    assert any("10 frames, and its metadata promise 300" in str(warning.message) for warning in told)
    wrong: dict[str, Any]
    for wrong in (
        {"movie": movie},
        {"movie": path, "idle": 0},
        {"movie": path, "frames": slice(-3, None)},
        {"movie": tmp_path / "never.tif", "idle": 0.05},
    ):
        with pytest.raises((ValueError, FileNotFoundError)):
            spotfit.Blocks(**{"follow": True, "camera": spotfit.Camera(), **wrong})
    with pytest.raises(ValueError, match="one movie"):
        spotfit.fit_files([path], tmp_path / "out", follow=True)


def test_movies_in_parts_are_one(tmp_path: Path) -> None:
    """Proves that several movies are one whose frames go on counting, and that a part that does not fit is named."""
    movie = np.random.default_rng(3).poisson(20, (12, 40, 50)).astype(np.uint16)
    movie[:, 20:23, 30:33] += 200
    names = [tmp_path / f"run_{number}.npy" for number in range(3)]
    for name, part in zip(names, np.split(movie, [5, 6]), strict=True):
        np.save(name, part)
    camera = spotfit.Camera()
    whole, parts = spotfit.localize(movie, camera=camera), spotfit.localize(names, camera=camera)
    assert parts.frame.tolist() == whole.frame.tolist() == list(range(12)) and np.array_equal(parts.x, whole.x)
    np.save(names[1], movie[:1, 1:])
    with pytest.raises(ValueError, match=r"run_1\.npy.* frames of 50×39 pixels"):
        spotfit.localize(names, camera=camera)
    with pytest.raises(ValueError, match="one movie"):
        spotfit.localize(names, camera=camera, follow=True)
