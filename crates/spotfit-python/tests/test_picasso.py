"""Picasso's function: the same arguments, the same results, and Picasso's tables where Picasso is there."""

import sys
from collections.abc import Iterator
from threading import Event
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import spotfit
import spotfit.picasso

ORDER = ("amplitude", "x", "y", "sigma_x", "sigma_y", "background")


def seeds(truth: Any) -> Any:
    amplitude = truth["photons"] / (2 * np.pi * truth["sigma_x"] * truth["sigma_y"])
    return np.stack([amplitude, *(truth[name] for name in ORDER[1:])], axis=1) * 1.05


@pytest.mark.parametrize("mle", [False, True])
@pytest.mark.parametrize("model", [0, 1, 2])
def test_parameters_are_in_picassos_order(model: int, mle: bool) -> None:
    shape: Any = ("circular", "elliptical", "rotated")[model]
    spots, truth, _ = spotfit.simulate(200, 11, photons=10_000, background=2, shape=shape, noise="none", seed=6)
    start = seeds(truth)
    if model == 0:
        start = np.delete(start, 4, axis=1)
    if model == 2:
        start = np.column_stack([start, -truth["angle"]])
    called: list[int] = []
    found, chi2, states, iterations = spotfit.picasso.fit_spots(
        model, spots, start, mle, 1e-2, 20, called.append
    )
    assert found.shape == start.shape and found.dtype == chi2.dtype == np.float64 and called == [200]
    assert states.dtype == iterations.dtype == np.int32 and not states.any()
    assert np.allclose(found[:, 1], truth["x"], atol=1e-3) and np.allclose(found[:, 2], truth["y"], atol=1e-3)
    if model == 0:
        assert np.allclose(found[:, 3], truth["sigma"], rtol=1e-3) and np.allclose(found[:, 4], 2, rtol=1e-2)
        return
    amplitude, _, _, sigma_x, sigma_y, background = found[:, :6].T
    assert np.allclose(2 * np.pi * amplitude * sigma_x * sigma_y, 10_000, rtol=1e-3)
    assert np.allclose(background, 2, rtol=1e-2)
    y, x = np.mgrid[:11, :11]
    a = found[:, 6] if model == 2 else np.zeros(200)
    dx, dy = x - found[:, 1, None, None], y - found[:, 2, None, None]
    cos, sin = np.cos(a)[:, None, None], np.sin(a)[:, None, None]
    u, v = dx * cos - dy * sin, dx * sin + dy * cos
    power = (u / sigma_x[:, None, None]) ** 2 + (v / sigma_y[:, None, None]) ** 2
    image = amplitude[:, None, None] * np.exp(-power / 2) + background[:, None, None]
    assert np.allclose(image, spots, rtol=1e-2, atol=0.05), "Picasso's model gives the image"


def test_the_variance_of_pixels_counts() -> None:
    spots, truth, _ = spotfit.simulate(2000, 9, photons=500, background=2, sigma=1.3, seed=2)
    rng = np.random.default_rng(1)
    variance = np.where(rng.random(spots.shape) < 0.1, 400.0, 1.0)
    noisy = spots + rng.normal(0, np.sqrt(variance))
    start = np.delete(seeds(truth), 4, axis=1)
    error = [
        np.std(spotfit.picasso.fit_spots(0, noisy, start, True, variance=given)[0][:, 1] - truth["x"])
        for given in (variance, None)
    ]
    assert error[0] < 0.9 * error[1]


def test_what_is_wrong_is_named() -> None:
    spots, start = np.ones((3, 9, 9)), np.ones((3, 5))
    for words, name in (
        ({"model": 3}, "model"),
        ({"spots": spots[0]}, "spots"),
        ({"initial_parameters": start[:2]}, "initial_parameters"),
        ({"mle": True, "variance": spots[:2]}, "variance"),
    ):
        with pytest.raises(ValueError, match=name):
            spotfit.picasso.fit_spots(**{"model": 0, "spots": spots, "initial_parameters": start, **words})
    for given in (np.ma.MaskedArray(spots), start), (spots, np.ma.MaskedArray(start)):
        with pytest.raises(TypeError, match="masked"):
            spotfit.picasso.fit_spots(0, *given)
    with pytest.raises(TypeError, match="variance is a masked"):
        spotfit.picasso.fit_spots(0, spots, start, True, variance=np.ma.MaskedArray(spots))
    assert (spotfit.picasso.fit_spots(0, spots, start)[2] == 2).all()
    assert len(spotfit.picasso.fit_spots(0, spots[:0], start[:0], True, variance=spots[:0])[0]) == 0


def own_fit_spots(model, spots, initial_parameters, mle=False, tolerance=None, max_iterations=None, progress_callback=None, variance=None):  # type: ignore[no-untyped-def]
    """Picasso's of 0.11."""


def newer_fit_spots(model, spots, initial_parameters, mle=False, tolerance=None, max_iterations=None, progress=None, variance=None, abort_callback=None):  # type: ignore[no-untyped-def]
    """Picasso's of 1.0."""


def own_async(model, spots, initial_parameters, mle=False, tolerance=None, max_iterations=None, n_threads=None, variance=None):  # type: ignore[no-untyped-def]
    """Picasso's of either."""


@pytest.fixture(params=[own_fit_spots, newer_fit_spots])
def stand_in(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Modules with the names and the arguments of Picasso's."""
    gaussfit, localize = ModuleType("picasso.fitting.gaussfit"), ModuleType("picasso.localize")
    gaussfit.fit_spots, gaussfit.fit_spots_async = request.param, own_async  # type: ignore[attr-defined]
    localize.fit = lambda movie, **words: (gaussfit.fit_spots, words)  # type: ignore[attr-defined]
    package, fitting = ModuleType("picasso"), ModuleType("picasso.fitting")
    package.__path__ = fitting.__path__ = []
    package.__version__ = "9.9"  # type: ignore[attr-defined]
    package.localize, package.fitting, fitting.gaussfit = localize, fitting, gaussfit  # type: ignore[attr-defined]
    for module in package, fitting, gaussfit, localize:
        monkeypatch.setitem(sys.modules, module.__name__, module)
    yield gaussfit, (request.param, own_async)
    spotfit.picasso.uninstall()


def test_it_takes_the_place_and_gives_it_back(stand_in: Any) -> None:
    gaussfit, own = stand_in
    ours = (spotfit.picasso.fit_spots, spotfit.picasso.fit_spots_async)

    def there() -> Any:
        return gaussfit.fit_spots, gaussfit.fit_spots_async

    spotfit.picasso.uninstall()
    assert there() == own
    for _ in range(2):
        spotfit.picasso.install()
        assert there() == ours
    assert spotfit.picasso.fit(None, box=7) == (ours[0], {"box": 7})
    assert there() == ours
    spotfit.picasso.uninstall()
    assert there() == own
    assert spotfit.picasso.fit(None)[0] is ours[0] and there() == own


def test_what_cannot_be_served_is_named(stand_in: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gaussfit, own = stand_in
    for method in "gausslq-gpu", "spline", "avg":
        with pytest.raises(ValueError, match=f"'{method}' is not one that Spotfit serves: gausslq or gaussmle"):
            spotfit.picasso.fit(None, fitting_method=method)
    assert spotfit.picasso.fit(None, fitting_method="gaussmle-spherical")

    def newer(model: Any, spots: Any, initial_parameters: Any, background: Any) -> None:
        raise NotImplementedError

    monkeypatch.setattr(gaussfit, "fit_spots_async", newer)
    with pytest.raises(ImportError, match=r"Picasso 9\.9 is not served: its fit_spots_async has .*: background"):
        spotfit.picasso.install()
    monkeypatch.delattr(gaussfit, "fit_spots_async")
    with pytest.raises(ImportError, match="has no fit_spots_async"):
        spotfit.picasso.install()
    assert gaussfit.fit_spots is own[0], "nothing is served by halves"
    monkeypatch.delitem(sys.modules, "picasso.fitting.gaussfit")
    with pytest.raises(ImportError, match="has no picasso.fitting.gaussfit, as those from 0.11 on"):
        spotfit.picasso.install()


def test_without_picasso(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "picasso", None)
    with pytest.raises(ImportError, match="pip install picassosr"):
        spotfit.picasso.install()
    spotfit.picasso.uninstall()


class Tracker:
    """What Picasso 1.0 tells progress to."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def zero_progress(self, description: str | None = None, unit: str | None = None) -> None:
        self.told.append((description, unit))

    def setMaximum(self, maximum: int) -> None:
        self.told.append(maximum)

    def set_value(self, value: int) -> None:
        self.told.append(value)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """Windows with their start, fitted in blocks of 64."""
    monkeypatch.setattr(spotfit.picasso, "_BLOCK", 64)
    spots, truth, _ = spotfit.simulate(200, 9, photons=1000, background=2, sigma=1.3, seed=3)
    return spots, np.delete(seeds(truth), 4, axis=1)


def test_progress_is_told(small_blocks: tuple[Any, Any], capsys: pytest.CaptureFixture[str]) -> None:
    tracker = Tracker()
    counted: list[int] = []
    spots, start = small_blocks
    whole = spotfit.fit(spots, start=start[:, 1:4], dtype="float64")
    ways: list[dict[str, Any]] = [{"progress": tracker}, {"progress": counted.append}, {"progress_callback": counted.append}]
    for words in ways:
        found = spotfit.picasso.fit_spots(0, spots, start, **words)
        assert found is not None and np.array_equal(found[0][:, 1], whole.x), "blocks are fitted as the whole"
    assert tracker.told == [("Fitting spots", "spot"), 200, 0, 64, 128, 192, 200]
    assert counted == [64, 128, 192, 200] * 2
    with pytest.raises(TypeError, match="progress must be"):
        spotfit.picasso.fit_spots(0, spots, start, progress=3)  # type: ignore[call-overload]

    def cancel(_: int) -> None:
        raise InterruptedError("by the user")

    with pytest.raises(InterruptedError, match="by the user"):
        spotfit.picasso.fit_spots(0, spots, start, progress=cancel)
    pytest.importorskip("tqdm")
    spotfit.picasso.fit_spots(0, spots, start, progress="console")
    assert "200/200" in capsys.readouterr().err


def test_fits_are_ended(small_blocks: tuple[Any, Any]) -> None:
    asked: list[int] = []

    def second() -> bool:
        asked.append(0)
        return len(asked) == 2

    counted: list[int] = []
    spots, start = small_blocks
    assert spotfit.picasso.fit_spots(0, spots, start, progress=counted.append, abort_callback=second) is None
    assert counted == [64]


def test_fits_go_on_in_the_background(small_blocks: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    spots, start = small_blocks
    for mle, threads in (False, None), (True, 1):
        job = spotfit.picasso.fit_spots_async(0, spots, start, mle, n_threads=threads)
        assert all(future.exception(60) is None for future in job.futures) and job.finished()
        job.raise_errors()
        assert job.n_done == job.done[0] == job.current[0] == 200
        there = spotfit.picasso.fit_spots(0, spots, start, mle)
        assert there is not None
        for k in range(4):
            assert np.array_equal(job.results()[k], there[k], equal_nan=True)
    empty = spotfit.picasso.fit_spots_async(0, spots[:0], start[:0])
    assert empty.futures[0].exception(60) is None and len(empty.results()[0]) == 0
    with pytest.raises(ValueError, match="initial_parameters"):
        spotfit.picasso.fit_spots_async(0, spots, start[:2])
    with pytest.raises(ValueError, match="spots"):
        spotfit.picasso.fit_spots_async(0, spots[0], start)

    # Nothing is begun after it was ended, and what goes wrong is told.
    begun, go_on = Event(), Event()
    own = spotfit.picasso.fit_quietly  # type: ignore[attr-defined]

    def waits(*args: Any, **words: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return own(*args, **words)

    monkeypatch.setattr(spotfit.picasso, "fit_quietly", waits)
    job = spotfit.picasso.fit_spots_async(0, spots, start)
    assert begun.wait(60) and not job.finished() and job.n_done == 0
    job.stop()
    go_on.set()
    assert job.futures[0].exception(60) is None and job.n_done == 64
    assert np.isfinite(job.theta[:64]).all() and np.isnan(job.theta[64:]).all()

    def fails(*_: Any, **__: Any) -> Any:
        raise MemoryError("none left")

    monkeypatch.setattr(spotfit.picasso, "fit_quietly", fails)
    job = spotfit.picasso.fit_spots_async(0, spots, start)
    assert isinstance(job.futures[0].exception(60), MemoryError)
    with pytest.raises(MemoryError, match="none left"):
        job.raise_errors()


def version() -> tuple[int, ...]:
    """That of the Picasso that is there."""
    picasso = pytest.importorskip("picasso")
    return tuple(int(part) for part in picasso.__version__.split(".")[:2])


@pytest.mark.filterwarnings("ignore")
def test_picasso_itself() -> None:
    """Picasso's table by ours is that of ours by hand."""
    pytest.importorskip("numba")
    localize = pytest.importorskip("picasso.localize")
    spots, truth, _ = spotfit.simulate(500, 7, photons=2000, background=5, sigma=1.2, seed=8)
    ways: list[dict[str, Any]] = [{}] if version() < (1, 0) else [{"parallel": True}, {"parallel": False}]
    fits = spotfit.fit(spots)
    for way in ways:
        spotfit.picasso.install()
        try:
            theta = localize.fit_spots_gauss(spots, spherical=True, **way)
        finally:
            spotfit.picasso.uninstall()
        theirs = localize.fit_spots_gauss(spots, spherical=True, **way)
        assert not np.array_equal(theta, theirs), "these are not Picasso's fits"
        assert np.allclose(theta[:, 1], fits.x, atol=1e-3) and np.allclose(theta[:, 0], fits.photons, rtol=1e-3)
        assert np.std(theta[:, 1] - truth["x"]) < 1.1 * np.median(spotfit.fit(spots, errors=True).errors.x)


@pytest.mark.filterwarnings("ignore")
def test_picasso_follows_and_ends_fits() -> None:
    """Picasso's own trackers are told, and its word ends the fits."""
    pytest.importorskip("numba")
    localize = pytest.importorskip("picasso.localize")
    if version() < (1, 0):
        pytest.skip("Picasso has progress= and abort_callback= from 1.0 on")
    spots, _, _ = spotfit.simulate(500, 7, photons=2000, background=5, sigma=1.2, seed=8)
    spotfit.picasso.install()
    try:
        for parallel in True, False:
            tracker = Tracker()
            tracker.maximum, tracker.close = lambda: 500, lambda: None  # type: ignore[attr-defined]
            assert localize.fit_spots_gauss(spots, progress=tracker, parallel=parallel) is not None
            assert 500 in tracker.told[2:]
            assert localize.fit_spots_gauss(spots, abort_callback=lambda: True, parallel=parallel) is None
    finally:
        spotfit.picasso.uninstall()


@pytest.mark.filterwarnings("ignore")
def test_a_movie_by_picasso(tmp_path: Any) -> None:
    """Picasso's whole way from movie to table, with our fits in it."""
    pytest.importorskip("numba")
    localize = pytest.importorskip("picasso.localize")
    y, x = np.mgrid[:64, :64]
    image = 10 + 300 * np.exp(-((x - 30.3) ** 2 + (y - 20.6) ** 2) / (2 * 1.2**2))
    np.save(tmp_path / "movie.npy", np.random.default_rng(1).poisson(image, (50, 64, 64)).astype(np.uint16))
    movie = np.load(tmp_path / "movie.npy", mmap_mode="r")
    newer = version() >= (1, 0)
    if newer:
        how = localize.IdentificationParameters(method=localize.NetGradient(2000), box=7)
        found = localize.identify(movie, parameters=how)
    else:
        found = localize.identify(movie, 2000, 7)
    ids = found[0] if isinstance(found, tuple) else found
    camera = {"Baseline": 0, "Sensitivity": 1, "Gain": 1, "Pixelsize": 100}
    # In pixels before 1.0, and in nanometres from then on.
    unit = 100 if newer else 1
    for method in "gausslq", "gaussmle", "gausslq-spherical":
        words = {"camera_info": dict(camera), "identifications": ids, "box": 7, "fitting_method": method}
        locs, info = spotfit.picasso.fit(movie, **words)
        theirs, _ = localize.fit(movie, **words)
        assert len(locs) == len(theirs) == 50 and list(locs.columns) == list(theirs.columns)
        assert (info if isinstance(info, dict) else info[-1])["Fit method"] == method
        assert not np.array_equal(locs["x"], theirs["x"]), "these are not Picasso's fits"
        assert np.allclose(locs["x"], theirs["x"], atol=0.03 * unit) and abs(np.mean(locs["x"]) / unit - 30.3) < 0.02


@pytest.mark.filterwarnings("ignore")
def test_picasso_reads_our_tables(tmp_path: Any) -> None:
    """What Picasso loads of a table that is written for it are our localizations: in pixels before 1.0, in nanometres from then on."""
    io = pytest.importorskip("picasso.io")
    rng = np.random.default_rng(4)
    columns = {"frame": np.arange(300) // 3, "x": rng.uniform(0, 63, 300), "y": rng.uniform(0, 40, 300)}
    columns |= {name: rng.uniform(1, 2, 300) for name in ("sigma", "uncertainty", "photons", "background")}
    locs = spotfit.Locs(columns, spotfit.Movie(130.0, 64, 48, 100))
    newer = version() >= (1, 0)
    # The newer Picasso converts what is written for the older one.
    for picasso in (0, 1) if newer else (0,):
        assert locs.save(tmp_path / "locs.hdf5", picasso=picasso) == 0
        theirs, info = io.load_locs(str(tmp_path / "locs.hdf5"))
        unit = 130 if newer else 1
        assert len(theirs) == 300 and np.array_equal(theirs["frame"], locs.frame)
        for their, ours in ("x", "x"), ("y", "y"), ("sx", "sigma"), ("sy", "sigma"), ("lpx", "uncertainty"), ("lpy", "uncertainty"):
            assert np.allclose(theirs[their], unit * columns[ours], rtol=1e-6), their
        assert np.allclose(theirs["photons"], columns["photons"]) and np.allclose(theirs["bg"], columns["background"])
        assert info[0]["Width"] == 64 and info[-1 if picasso or not newer else -2]["Pixelsize"] == 130
    if newer:
        io.save_locs(str(tmp_path / "theirs.hdf5"), theirs, info)
        back = spotfit.read_table(tmp_path / "theirs.hdf5")
        assert back.units["x"] == "nm" and np.allclose(back.x, 130 * columns["x"], rtol=1e-6)
