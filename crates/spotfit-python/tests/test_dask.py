"""On dask the outcomes are those of Spotfit itself, whatever the chunks, the scheduler, and the fate of its workers."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import spotfit

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

import spotfit.dask  # noqa: E402

# A fitter of one thread takes the same steps as one of many.
SPOTS, TRUTH, _ = spotfit.simulate(1000, photons=1000, background=5)


def same(rows: npt.NDArray[Any], expected: spotfit.Fits) -> bool:
    return np.array_equal(spotfit.dask.fits(rows).array, expected.array)


@pytest.mark.parametrize("chunks", [(1000, 9, 9), (300, -1, -1), ((0, 999, 0, 1), 4, 5)])
@pytest.mark.parametrize("dtype", ["float32", "uint16", ">f8"])
def test_chunks_do_not_matter(chunks: Any, dtype: str) -> None:
    spots = SPOTS.astype(dtype)
    rows = spotfit.dask.fit(da.from_array(spots, chunks=chunks), estimator="mle")
    expected = spotfit.fit(spots, estimator="mle")
    assert rows.shape == (1000,) and rows.dtype == expected.array.dtype
    assert same(rows.compute(), expected)
    assert np.array_equal(rows["sigma"].compute(), expected.sigma)


def test_errors_stay_with_their_rows() -> None:
    rows = spotfit.dask.fit(da.from_array(SPOTS, chunks=(400, 9, 9)), errors=True, dtype="float64", shape="elliptical")
    expected = spotfit.fit(SPOTS, errors=True, dtype="float64", shape="elliptical")
    found = rows.compute()
    again = spotfit.dask.fits(found)
    assert same(found, expected) and again.array.dtype == expected.array.dtype and rows.dtype == found.dtype
    assert np.array_equal(again.errors.array, expected.errors.array)
    assert np.array_equal(again.errors.sigma, expected.errors.sigma) and list(again.columns()) == list(expected.columns())
    good = rows[rows["errors"]["photons"] < 40].compute()
    assert len(good) == (expected.errors.photons < 40).sum() == len(spotfit.dask.fits(good))


def test_what_goes_with_windows_is_in_their_chunks() -> None:
    spots = da.from_array(SPOTS, chunks=(300, 9, 9))
    start = np.stack([TRUTH["x"], TRUTH["y"], TRUTH["sigma"]], axis=1)
    weights = np.random.default_rng(1).uniform(0.5, 2, SPOTS.shape)
    corners = np.random.default_rng(2).integers(0, 20, (1000, 2))
    maps = [np.random.default_rng(3).uniform(low, 2, (40, 40)) for low in (0, 1, 1)]
    cases: list[dict[str, Any]] = [
        {"start": start},
        {"start": start, "shape": "given"},
        {"weights": weights},
        {"weights": weights, "start": start},
        {"weights": weights[0], "corners": np.zeros((1000, 2), int)},
        {"corners": corners, "camera": spotfit.CameraMap(*maps), "estimator": "mle"},
    ]
    for words in cases:
        expected = spotfit.fit(SPOTS, **words)
        assert same(spotfit.dask.fit(spots, **words).compute(), expected), words
        arrays = {name: da.from_array(value, chunks=170) for name, value in words.items() if isinstance(value, np.ndarray)}
        assert same(spotfit.dask.fit(spots, **{**words, **arrays}).compute(), expected), words


def test_chunks_of_unknown_sizes() -> None:
    spots = da.from_array(SPOTS, chunks=(250, 9, 9))
    start = da.from_array(np.stack([TRUTH["x"], TRUTH["y"], TRUTH["sigma"]], axis=1), chunks=(250, 3))
    bright = spots.max(axis=(1, 2)) > np.quantile(SPOTS.max(axis=(1, 2)), 0.9)
    chosen = bright.compute()
    assert same(spotfit.dask.fit(spots[bright]).compute(), spotfit.fit(SPOTS[chosen]))
    assert same(spotfit.dask.fit(spots[spots.max(axis=(1, 2)) < 0]).compute(), spotfit.fit(SPOTS[:0]))
    own = start.compute()[chosen]
    assert same(spotfit.dask.fit(spots[bright], start=start[bright]).compute(), spotfit.fit(SPOTS[chosen], start=own))
    with pytest.raises(ValueError, match="start must be a dask array"):
        spotfit.dask.fit(spots[bright], start=own)


def test_nothing_is_computed_before_it_is_asked_for() -> None:
    calls: list[int] = []

    def made(block_id: Any = None) -> npt.NDArray[np.float32]:
        calls.append(1)
        return SPOTS[:10]

    spots = da.map_blocks(made, chunks=((10,) * 5, 9, 9), dtype=np.float32, meta=np.empty((0, 0, 0), np.float32))
    rows = spotfit.dask.fit(spots, errors=True)["x"].mean()
    assert not calls
    assert rows.compute() > 3 and len(calls) == 5


THREADS = """
import os, sys, dask, dask.array as da, spotfit, spotfit.dask
spots = da.from_array(spotfit.simulate(5000).spots, chunks=(1000, 9, 9))
count = lambda: len(os.listdir("/proc/self/task"))
with dask.config.set(scheduler="synchronous"):
    before = count()
    spotfit.dask.fit(spots).compute()
    alone = count()
    spotfit.dask.fit(spots, threads=3).compute()
    print(alone - before, count() - before)
"""


def test_a_task_has_one_thread() -> None:
    """As many tasks at once as dask has threads keep as many processors busy: Spotfit starts none of its own unasked."""
    if not os.path.exists("/proc/self/task"):
        pytest.skip("the threads of a process are not told here")
    assert subprocess.check_output([sys.executable, "-c", THREADS]) == b"0 3\n"


def frames() -> npt.NDArray[np.uint16]:
    movie = np.random.default_rng(1).poisson(10, (100, 40, 48)).astype(np.uint16)
    movie[:, 14:17, 20:23] += 150
    return movie


def equal(one: spotfit.Locs, other: spotfit.Locs) -> bool:
    return one.names == other.names and one.movie == other.movie and all(np.array_equal(one[name], other[name]) for name in one)


def test_movies(tmp_path: Path) -> None:
    movie = frames()
    np.save(tmp_path / "movie.npy", movie)
    array = da.from_array(movie, chunks=(30, 20, 48))
    places = [[3, 12, 10], [25, 20.5, 11], [25, 9, 20], [70, 30, 15]]
    cases: list[Any] = [{}, {"positions": places, "all": True}, {"frames": slice(-45, -2)}, {"pixel_size": 100, "errors": True}, {"frames": slice(9, 3)}]
    for words in cases:
        expected = spotfit.localize(movie, **words)
        assert equal(spotfit.dask.localize(array, **words).compute(), expected), words
        assert equal(spotfit.dask.localize(tmp_path / "movie.npy", **words).compute(), expected), words
    both = dask.compute(spotfit.dask.localize(array), spotfit.dask.localize(array, box=9))
    assert len(both[1]) == len(spotfit.localize(movie, box=9))


def test_what_is_wrong_is_named() -> None:
    on: Any = spotfit.dask
    spots = da.from_array(SPOTS, chunks=(250, 9, 9))
    movie = da.from_array(frames(), chunks=(30, 40, 48))
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: on.fit(SPOTS), TypeError, "spots must be a dask array"),
        (lambda: on.fit(spots[0]), ValueError, "spots must be"),
        (lambda: on.fit(spots.astype(complex)), TypeError, "complex"),
        (lambda: on.fit(spots, shape="flat"), ValueError, "shape"),
        (lambda: on.fit(spots, speed=3), TypeError, "speed"),
        (lambda: on.fit(spots, shape="given"), ValueError, "start"),
        (lambda: on.fit(spots, start=np.zeros((7, 3))), ValueError, "start must have one entry"),
        (lambda: on.fit(spots, start=np.zeros((1000, 4))), ValueError, "start"),
        (lambda: on.fit(spots, start=np.zeros(1000)), ValueError, "start"),
        (lambda: on.fit(spots, start=da.zeros((999, 3))), ValueError, "start has 999"),
        (lambda: on.fits(on.fit(spots)), TypeError, "rows"),
        (lambda: on.localize(frames()), TypeError, "movie"),
        (lambda: on.localize(movie[0]), ValueError, "movie"),
        (lambda: on.localize(movie[movie.max(axis=(1, 2)) > 3]), ValueError, "compute_chunk_sizes"),
        (lambda: on.localize(movie, frames=slice(0, 9, 2)), ValueError, "frames"),
    ]
    for call, kind, name in cases:
        with pytest.raises(kind, match=name):
            call()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster of two processes."""
    distributed = pytest.importorskip("distributed")
    words = {"n_workers": 2, "threads_per_worker": 2, "dashboard_address": ":0"}
    folder = tmp_path_factory.mktemp("workers")
    with (
        dask.config.set({"distributed.admin.log-format": "%(message)s", "temporary-directory": str(folder)}),
        distributed.LocalCluster(**words, silence_logs=50) as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


def test_a_cluster_finds_the_same(client: Any) -> None:
    spots = da.from_array(SPOTS, chunks=(100, 9, 9))
    assert same(spotfit.dask.fit(spots, errors=True).compute(), spotfit.fit(SPOTS))
    movie = da.from_array(frames(), chunks=(30, 40, 48))
    assert equal(spotfit.dask.localize(movie).compute(), spotfit.localize(frames()))


def held(block: npt.NDArray[np.float32], folder: Path) -> npt.NDArray[np.float32]:
    """The block, after a worker was killed."""
    (folder / f"begun {os.getpid()}").touch()
    while not (folder / "killed").exists():
        time.sleep(0.01)
    return block


def kill_one(client: Any) -> None:
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL")
def test_a_killed_worker_loses_no_windows(client: Any, tmp_path: Path) -> None:
    # Without `meta` dask would try the function here.
    words = {"dtype": np.float32, "meta": np.empty((0, 0, 0), np.float32)}
    spots = da.from_array(SPOTS, chunks=(25, 9, 9)).map_blocks(held, folder=tmp_path, **words)
    future = client.compute(spotfit.dask.fit(spots))
    while len(list(tmp_path.glob("begun *"))) < 2:
        time.sleep(0.01)
    assert not future.done()
    kill_one(client)
    (tmp_path / "killed").touch()
    assert same(future.result(timeout=600), spotfit.fit(SPOTS))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL")
def test_a_killed_worker_loses_no_files(client: Any, tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.npy" for number in range(12)]
    for path in paths:
        np.save(path, np.tile(frames(), (10, 1, 1)))
    killed: list[int] = []

    def kill(done: int, every: int) -> None:
        if not killed:
            killed.append(done)
            kill_one(client)

    found = spotfit.fit_files(paths, tmp_path / "out", executor=client.get_executor(), progress=kill)
    assert killed and found.raise_for_failures()
    spotfit.fit_files(paths, tmp_path / "expected")
    made = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert made == {path.name: path.read_bytes() for path in (tmp_path / "expected").iterdir()} and len(made) == 36
