"""Many movies: each has its table whatever becomes of the others or of the workers, and none is fitted twice."""

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import spotfit
import spotfit._files
import spotfit._workers
from spotfit import _spotfit

killable = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL")


def frames(count: int = 20, seed: int = 1) -> npt.NDArray[np.uint16]:
    """Frames with a spot each."""
    movie = np.random.default_rng(seed).poisson(10, (count, 32, 40)).astype(np.uint16)
    movie[:, 14:17, 20:23] += 150
    return movie


@pytest.fixture
def movies(tmp_path: Path) -> list[Path]:
    """Six movies, each unlike the others."""
    paths = [tmp_path / f"{letter}.npy" for letter in "abcdef"]
    for seed, path in enumerate(paths):
        np.save(path, frames(20 + seed, seed))
    return paths


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def spawned(workers: int, initializer: Callable[[], object] | None = None) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer)


@pytest.mark.parametrize("format", ["hdf5", "csv"])
def test_tables_are_those_of_localize(movies: list[Path], tmp_path: Path, format: Any) -> None:
    seen: list[tuple[int, int]] = []
    out = tmp_path / "new" / "tables"
    found = spotfit.fit_files(
        movies, out, format=format, pixel_size=100, progress=lambda done, every: seen.append((done, every))
    )
    assert seen == [(number, 6) for number in range(1, 7)] and len(found) == 6 and not found.failed
    for movie, outcome in zip(movies, found, strict=True):
        expected = spotfit.localize(movie, pixel_size=100)
        expected.save(tmp_path / f"expected.{format}")
        table = out / f"{movie.stem}.{format}"
        assert table.read_bytes() == (tmp_path / f"expected.{format}").read_bytes()
        size = len(np.load(movie))
        assert outcome == spotfit.FileOutcome(str(movie), str(table), "done", size, len(expected), None)
    assert "6 movies: 6 done (135 frames" in repr(found) and found.raise_for_failures() is found


def test_every_executor_makes_the_same_files(movies: list[Path], tmp_path: Path) -> None:
    expected = spotfit.fit_files(movies, tmp_path / "here")
    with ThreadPoolExecutor(3) as threads, spawned(2) as processes:
        for name, executor in ("threads", threads), ("processes", processes):
            found = spotfit.fit_files(movies, tmp_path / name, executor=executor)
            assert [outcome[2:] for outcome in found] == [outcome[2:] for outcome in expected]
            assert files(tmp_path / name) == files(tmp_path / "here") and len(files(tmp_path / name)) == 18


def test_what_is_done_is_not_done_again(
    movies: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    first = spotfit.fit_files(movies, out)
    (out / "b.hdf5").unlink()
    record = out / "c.hdf5.spotfit.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "state": "begun"}))
    fitted: list[str] = []
    own = spotfit._files.fit_file

    def counted(task: spotfit._files.Task) -> spotfit.FileOutcome:
        fitted.append(task.name)
        return own(task)

    monkeypatch.setattr(spotfit._files, "fit_file", counted)
    # Words for what is so anyway, and what no table depends on.
    again = spotfit.fit_files(movies, out, box=7, frames=slice(None), drop=[], threads=1, overwrite=True)
    assert list(again) == list(first) and fitted == ["b", "c"]


def test_other_options_and_other_movies_are_failures(movies: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    spotfit.fit_files(movies[:3], out)
    before = files(out)
    np.save(movies[1], frames(7))
    (out / "c.hdf5.spotfit.json").write_text("broken")
    (out / "d.hdf5").write_text("of someone else")
    before |= {"c.hdf5.spotfit.json": b"broken", "d.hdf5": b"of someone else"}
    found = spotfit.fit_files(movies[:4], out, box=9)
    told = [outcome.error or "" for outcome in found]
    assert told[0] == "made with other options (box 7 then, 9 now); overwrite=True fits it again"
    assert "c.hdf5.spotfit.json: it is no record" in told[2] and "d.hdf5 is there without a record" in told[3]
    assert files(out) == before and len(found.failed) == 4
    with pytest.raises(RuntimeError, match=r"4 failed(.|\n)*box 7 then"):
        found.raise_for_failures()
    told = [outcome.error or "" for outcome in spotfit.fit_files(movies[:2], out)]
    assert told == ["", "made before b.npy was changed; overwrite=True fits it again"]
    found = spotfit.fit_files(movies[:4], out, box=9, overwrite=True).raise_for_failures()
    assert found[1].frames == 7 and len(spotfit.read_table(out / "d.hdf5")) == found[3].localizations


def test_a_map_of_the_camera_is_known_by_its_numbers(movies: list[Path], tmp_path: Path) -> None:
    def camera(gain: float) -> spotfit.CameraMap:
        return spotfit.CameraMap(np.zeros((32, 40)), np.full((32, 40), gain), np.ones((32, 40)))

    spotfit.fit_files(movies[:1], tmp_path / "out", camera=camera(2))
    assert not spotfit.fit_files(movies[:1], tmp_path / "out", camera=camera(2)).failed
    [failed] = spotfit.fit_files(movies[:1], tmp_path / "out", camera=camera(3))
    assert "camera" in (failed.error or "")


def test_one_failure_does_not_stop_the_others(movies: list[Path], tmp_path: Path) -> None:
    movies[1].write_bytes(b"\x93NUMPY no more")
    movies[3].unlink()
    with spawned(2) as executor:
        for each in None, executor:
            found = spotfit.fit_files(movies, tmp_path / "out", executor=each)
            assert [outcome.state for outcome in found] == ["done", "failed", "done", "failed", "done", "done"]
            assert "b.npy" in (found[1].error or "") and "FileNotFoundError" in (found[3].error or "")
            assert {path.name[0] for path in (tmp_path / "out").iterdir()} == set("acef")
    pandas = pytest.importorskip("pandas")
    frame = found.to_pandas()
    assert frame["frames"].sum() == 91 and frame["localizations"].isna().sum() == 2 and isinstance(frame, pandas.DataFrame)


@killable
@pytest.mark.parametrize("traces", [True, False])
def test_a_killed_worker_loses_nothing(traces: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether it was at a movie, or between two, where it leaves no trace."""
    if not traces:
        monkeypatch.setattr(spotfit._workers, "begun", lambda folder: {})
    paths = [tmp_path / f"{number}.npy" for number in range(8)]
    for number, path in enumerate(paths):
        np.save(path, frames(1500, number))
    spotfit.fit_files(paths, tmp_path / "expected")
    killed: list[int] = []

    def kill(done: int, every: int) -> None:
        if not killed:
            killed.extend(list(executor._processes)[:1])
            os.kill(killed[0], signal.SIGKILL)

    with spawned(2) as executor:
        found = spotfit.fit_files(paths, tmp_path / "out", executor=executor, progress=kill)
    assert killed and not found.failed and files(tmp_path / "out") == files(tmp_path / "expected")


def die_of_c() -> None:
    """In a worker: the movie c is deadly."""

    def blocks(movie: str, **options: Any) -> spotfit.Blocks:
        if Path(movie).stem == "c":
            os.kill(os.getpid(), signal.SIGKILL)
        return spotfit.Blocks(movie, **options)

    setattr(spotfit._files, "Blocks", blocks)


@killable
def test_a_deadly_movie_is_the_only_one_that_fails(movies: list[Path], tmp_path: Path) -> None:
    with spawned(2, die_of_c) as executor:
        found = spotfit.fit_files(movies, tmp_path / "out", executor=executor)
    assert [outcome.state for outcome in found] == ["done", "done", "failed", "done", "done", "done"]
    assert "died" in (found[2].error or "")
    # When it is no longer deadly, that is all there is to do, and nothing is left of the dead.
    spotfit.fit_files(movies, tmp_path / "out").raise_for_failures()
    spotfit.fit_files(movies, tmp_path / "expected")
    assert files(tmp_path / "out") == files(tmp_path / "expected")


KILLED = """
import os, signal, sys, spotfit
def kill(done, every):
    if done == 2:
        os.kill(os.getpid(), signal.SIGKILL)
spotfit.fit_files(sys.argv[2:], sys.argv[1], progress=kill)
"""


def die() -> None:
    os._exit(1)


def test_workers_that_never_begin_are_failures(movies: list[Path], tmp_path: Path) -> None:
    with spawned(2, die) as executor:
        found = spotfit.fit_files(movies, tmp_path / "out", executor=executor)
    assert len(found.failed) == 6 and "died" in (found[0].error or "")


@killable
def test_a_killed_process_goes_on_where_it_was(movies: list[Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    ended = subprocess.run([sys.executable, "-c", KILLED, out, *movies])
    assert ended.returncode == -signal.SIGKILL and len(files(out)) == 6
    spotfit.fit_files(movies, out).raise_for_failures()
    spotfit.fit_files(movies, tmp_path / "expected")
    assert files(out) == files(tmp_path / "expected")


def test_nothing_begins_after_an_exception(movies: list[Path], tmp_path: Path) -> None:
    def stop(done: int, every: int) -> None:
        raise KeyboardInterrupt

    raised = threading.Event()

    class Held:
        """Of its one worker, which has nothing but the first movie before the exception."""

        def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:
            return executor.submit(lambda: (args[0].name == "a" or raised.wait(600)) and fn(*args))

    with ThreadPoolExecutor(1) as executor:
        with pytest.raises(KeyboardInterrupt):
            spotfit.fit_files(movies, tmp_path / "out", executor=Held(), progress=stop)
        raised.set()
        # Its turn is after all that was not cancelled.
        executor.submit(int).result()
        # The one that ended, and one that had begun meanwhile.
        assert len(list((tmp_path / "out").glob("*.hdf5"))) <= 2


class Job:
    """What submitit gives in place of a future."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call

    def result(self) -> Any:
        return self.call()

    def cancel(self) -> None:
        raise AssertionError("it has ended")


def test_executors_of_other_kinds_do(movies: list[Path], tmp_path: Path) -> None:
    class Queue:
        def submit(self, fn: Callable[..., Any], /, *args: Any) -> Job:
            return Job(lambda: 1 / 0 if "c.npy" in args[0].movie else fn(*args))

    found = spotfit.fit_files(movies, tmp_path / "out", executor=Queue())
    assert [outcome.state for outcome in found].count("done") == 5 and "ZeroDivision" in (found[2].error or "")


def test_names(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", frames())
    movie = tmp_path / "x.npy"
    spotfit.fit_files({"one": movie, "two.x": movie}, tmp_path / "out", format="csv")
    assert {path.name for path in (tmp_path / "out").glob("*.csv")} == {"one.csv", "two.x.csv"}
    names = {"a.ome.tif": "a", "b.c.TIFF": "b.c", "d": "d", "e.raw": "e", "f.v2": "f.v2"}
    found = spotfit.fit_files([tmp_path / name for name in names], tmp_path / "out", format="csv")
    assert [Path(outcome.output).name for outcome in found] == [f"{name}.csv" for name in names.values()]


def test_what_is_wrong_is_named_before_anything_begins(movies: list[Path], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    raw = tmp_path / "r.raw"
    cases: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        ([movies[0], tmp_path / "other" / "A.ome.tif"], {}, ValueError, r"a\.npy and .*A\.ome\.tif"),
        ({"a": movies[0], "A": movies[1]}, {}, ValueError, r"a\.npy and .*b\.npy"),
        ({"../a": movies[0]}, {}, ValueError, "paths"),
        ({".a": movies[0]}, {}, ValueError, "paths"),
        (movies[0], {}, TypeError, "paths"),
        ([3], {}, TypeError, "paths"),
        (movies, {"format": "txt"}, ValueError, "format"),
        (movies, {"executor": 3}, TypeError, "executor"),
        (movies, {"box": 4}, ValueError, "box = 4 "),
        (movies, {"speed": 4}, TypeError, "speed"),
        (movies, {"channel": "a"}, TypeError, "channel"),
        (movies, {"roi": (1, 2)}, ValueError, "roi"),
        (movies, {"camera": 3}, TypeError, "camera"),
        (movies, {"drop": "bad"}, ValueError, "drop"),
        (movies, {"shape": "given"}, ValueError, "given"),
        (movies, {"backend": "quick"}, ValueError, "backend"),
    ]
    for paths, words, kind, name in cases:
        with pytest.raises(kind, match=name):
            spotfit.fit_files(paths, tmp_path / "out", **words)
    assert not (tmp_path / "out").exists()
    with pytest.raises(ValueError, match=r"r\.yaml would replace that of the movie"):
        spotfit.fit_files([raw], tmp_path)
    with pytest.raises(OSError, match="file"):
        spotfit.fit_files(movies, tmp_path / "file")
    assert len(spotfit.fit_files([], tmp_path / "out")) == 0


def test_tables_are_written_while_movies_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Proves that no more than one block of localizations is held: each is written before the next one is found."""
    told: list[str] = []

    class Blocks(spotfit.Blocks):
        def __next__(self) -> spotfit.Locs:
            block = super().__next__()
            told.append("found")
            return block

    class Table:
        def __init__(self, *given: Any) -> None:
            self._table = _spotfit.TableFile(*given)

        def write(self, *given: Any) -> None:
            told.append("written")
            self._table.write(*given)

        def finish(self, counts: dict[str, int]) -> tuple[int, int]:
            return self._table.finish(counts)

    class Module:
        TableFile = Table

        def __getattr__(self, name: str) -> Any:
            return getattr(_spotfit, name)

    # More than a movie's reader takes at a time.
    np.save(tmp_path / "long.npy", np.full((1200, 128, 128), 100, np.uint16))
    monkeypatch.setattr(spotfit._files, "Blocks", Blocks)
    monkeypatch.setattr(spotfit._files, "_spotfit", Module())
    spotfit.fit_files([tmp_path / "long.npy"], tmp_path / "out", camera=spotfit.Camera()).raise_for_failures()
    assert told == ["found", "written"] * (len(told) // 2) and len(told) > 4


def test_batch_and_fit_files_know_each_other(movies: list[Path], tmp_path: Path) -> None:
    """What one of them finished the other does not fit again, if it would make the same; otherwise it says how it differs."""
    command = os.environ.get("SPOTFIT_COMMAND") or shutil.which("spotfit")
    if command is None:
        pytest.skip("SPOTFIT_COMMAND names the command spotfit")
    (tmp_path / "list.txt").write_text("\n".join(path.name for path in movies))
    words = ["--baseline", "100", "--sensitivity", "1", "--pixel-size", "100", "--flags", "--frames", "2:15", "--threads", "1"]
    batch: list[str | Path] = [command, "batch", tmp_path / "list.txt", "--out"]
    camera = spotfit.Camera(baseline=100)
    options: Any = {"camera": camera, "pixel_size": 100, "flags": True, "frames": slice(1, 15)}
    subprocess.run([*batch, tmp_path / "one", *words], check=True, stderr=subprocess.DEVNULL)
    before = {name: (tmp_path / "one" / name).stat().st_mtime_ns for name in files(tmp_path / "one")}
    found = spotfit.fit_files(movies, tmp_path / "one", **options)
    assert not found.failed and all(outcome.frames == 14 for outcome in found)
    assert before == {name: (tmp_path / "one" / name).stat().st_mtime_ns for name in files(tmp_path / "one")}
    found = spotfit.fit_files(movies, tmp_path / "one", **{**options, "camera": spotfit.Camera(baseline=90)})
    assert "baseline 100.0 then, 90.0 now" in (found[0].error or "") and len(found.failed) == 6

    with warnings.catch_warnings():
        # The baseline is above the median of these frames.
        warnings.simplefilter("ignore", spotfit.SpotfitWarning)
        spotfit.fit_files(movies, tmp_path / "two", **options).raise_for_failures()
    told = subprocess.run([*batch, tmp_path / "two", *words], check=True, stderr=subprocess.PIPE, text=True).stderr
    assert "0 localized now, 6 finished before" in told


#: Lengths as Python and as the command have them.
LENGTHS: list[tuple[dict[str, Any], list[str]]] = [
    ({"box": "0.9um"}, ["--box", "0.9um"]),
    ({"fixed_sigma": "140nm"}, ["--fixed-sigma", "140nm"]),
    ({"fixed_sigma": 1.3}, ["--fixed-sigma", "1.3"]),
    ({"fixed_sigma": (1.3, "1.4px")}, ["--fixed-sigma", "1.3,1.4px"]),
    (
        {"roi": ("0um", 0, "3um", "3um"), "sigma_min": "60nm", "sigma_max": "3px"},
        ["--roi", "0um,0,3um,3um", "--sigma-min", "60nm", "--sigma-max", "3px"],
    ),
]


@pytest.mark.parametrize(("options", "words"), LENGTHS, ids=str)
def test_lengths_in_records_are_those_of_batch(options: dict[str, Any], words: list[str], tmp_path: Path) -> None:
    """Proves that each knows the work of the other where lengths depend on the size of a pixel, which the movie tells, and that tables
    have the same bytes."""
    command = os.environ.get("SPOTFIT_COMMAND") or shutil.which("spotfit")
    if command is None:
        pytest.skip("SPOTFIT_COMMAND names the command spotfit")
    spotfit.simulate_movie(10, width=64, height=64, spots=5).frames.tofile(tmp_path / "m.raw")
    metadata = "Byte Order: <\nData Type: uint16\nFrames: 10\nHeight: 64\nWidth: 64\nPixelsize: 110\n"
    (tmp_path / "m.yaml").write_text(metadata, encoding="utf-8")
    (tmp_path / "list.txt").write_text("m.raw\n", encoding="utf-8")
    tables, told = [], []
    for first in "fit_files", "batch":
        out = tmp_path / first
        for verb in (first, "batch" if first == "fit_files" else "fit_files"):
            if verb == "fit_files":
                camera = spotfit.Camera(100, 1, None, 1.5)
                spotfit.fit_files([tmp_path / "m.raw"], out, camera=camera, **options).raise_for_failures()
            else:
                camera_words = ["--baseline", "100", "--sensitivity", "1", "--read-noise", "1.5"]
                done: list[str | Path] = [command, "batch", tmp_path / "list.txt", "--out", out, *camera_words, *words]
                told.append(subprocess.run(done, check=True, stderr=subprocess.PIPE, text=True).stderr)
            tables.append((out / "m.hdf5").read_bytes())
    assert tables == [tables[0]] * 4 and "1 finished before" in told[0] and "1 localized now" in told[1]


SHARING = """
import sys, spotfit
print(sum(outcome.localizations for outcome in spotfit.fit_files(sys.argv[2:], sys.argv[1]).raise_for_failures()))
"""


def test_two_processes_share_a_folder(tmp_path: Path) -> None:
    """Together they make what one makes, and every table once: a table that is there does not change any more."""
    paths = [tmp_path / f"{number}.npy" for number in range(8)]
    for number, path in enumerate(paths):
        np.save(path, frames(600, number))
    words: list[str | Path] = [sys.executable, "-c", SHARING, tmp_path / "out", *paths]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    seen: dict[str, int] = {}
    while any(each.poll() is None for each in both):
        for path in (tmp_path / "out").glob("*.hdf5"):
            assert seen.setdefault(path.name, path.stat().st_ino) == path.stat().st_ino, "it was made twice"
        time.sleep(0.005)
    assert [each.returncode for each in both] == [0, 0]
    assert len({each.communicate()[0] for each in both}) == 1
    spotfit.fit_files(paths, tmp_path / "expected")
    assert files(tmp_path / "out") == files(tmp_path / "expected")


def test_info_says_what_a_file_is(movies: list[Path], tmp_path: Path) -> None:
    found = spotfit.info(movies[0])
    assert (found["kind"], found["frames"], found["size"]) == ("movie", 20, [40, 32])
    spotfit.fit_files(movies[:1], tmp_path / "out", format="csv")
    found = spotfit.info(tmp_path / "out" / "a.csv")
    assert found["kind"] == "table" and found["record"]["verb"] == "fit_files"
    assert {"name": "x", "unit": "px", "words": False} in found["columns"]
    assert spotfit.info(tmp_path / "out" / "a.csv.spotfit.json")["kind"] == "record"
    with pytest.raises(FileNotFoundError, match="none"):
        spotfit.info(tmp_path / "none.csv")
    (tmp_path / "text.tif").write_text("text")
    with pytest.raises(ValueError, match="text.tif"):
        spotfit.info(tmp_path / "text.tif")
