"""Calls that make no sense raise Python's own exceptions, and never crash. SPOTFIT_TESTS=all makes ten times as many."""

import gc
import os
import random
import threading
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spotfit

CALLS = 10_000 if os.environ.get("SPOTFIT_TESTS") == "all" else 1000
ALLOWED = (ValueError, TypeError, MemoryError, RuntimeError, OverflowError)

NOTHING = [None, "", "spots", b"x", object(), {}, {1, 2}, [], [[]], 3, 1j, ..., NotImplemented, type, len]
NUMBERS = [0, -1, 1, 2, 3, 10**30, -(10**30), 2**63, 2**64, 0.5, -0.0, 1e308, float("nan"), float("inf"), True, np.int8(3)]
WORDS: dict[str, list[Any]] = {
    "shape": ["circular", "elliptical", "rotated", "given"],
    "fixed_sigma": [1.5, (1.0, 2.0), [1, 2], (1, 2, 3), "1", "1,2", "130nm", ("130nm", 2)],
    "profile": ["sampled", "integrated"],
    "estimator": ["lse", "mle", "LSE"],
    "camera": [spotfit.Camera(), spotfit.Camera(em_gain=1), (1, 2), (1, 2, 3, 4)],
    "background": ["free", "nonnegative", "plane"],
    "criteria": ["tight", "paper"],
    "backend": ["auto", "cpu", "gpu", "reference", "GPU"],
    "instruction_set": ["avx512", "neon", "portable", "avx512\0"],
    "device": [[0], 0, [], [-1], [10**9], "0"],
    "dtype": ["float32", "float64", "int", np.float32],
    "errors": [True, False],
    **{name: [] for name in "max_iterations min_delta min_step max_error tolerance".split()},
    **{name: [] for name in "centre_margin sigma_min sigma_max threads".split()},
}


def arrays(choose: random.Random) -> Any:
    """An array that may be anything."""
    array: Any
    if choose.random() < 0.2:
        return choose.choice(NOTHING + NUMBERS)
    if choose.random() < 0.4:
        sound = (choose.choice([1, 3, 7]), choose.choice([3, 5]), choose.choice([4, 9]))
        return np.random.default_rng(choose.randrange(2**32)).poisson(20, sound)
    shape = tuple(choose.choice([0, 1, 2, 3, 5, 9]) for _ in range(choose.choice([0, 1, 2, 3, 3, 3, 3, 4])))
    dtype = choose.choice("? u1 i1 u2 >u2 i4 u8 f2 f4 >f4 f8 g c8 O S3 U2 M8[s] m8[s] V5 i4,f4".split())
    array = np.zeros(shape, dtype)
    if array.dtype.kind in "uif" and array.size:
        values = np.random.default_rng(choose.randrange(2**32)).normal(20, 30, shape)
        array = np.abs(values).astype(dtype)
        if array.dtype.kind == "f" and choose.random() < 0.3:
            array.flat[choose.randrange(array.size)] = choose.choice([np.nan, np.inf, -np.inf, 6e4])
    layout = choose.randrange(8)
    if layout == 0:
        array = array[tuple(slice(None, None, choose.choice([-1, 1, 2, -3])) for _ in shape)]
    elif layout == 1:
        array = array.T
    elif layout == 2 and array.ndim == 3 and array.size:
        array = np.broadcast_to(array[:1], (choose.choice([2**40, 2**45, 2**55]), *shape[1:]))
    elif layout == 3:
        array = np.lib.stride_tricks.as_strided(array, strides=(0,) * array.ndim)
    elif layout == 4:
        return np.ma.MaskedArray(array)
    elif layout == 5:
        return memoryview(array) if array.dtype.kind in "uif" and array.dtype.isnative else array
    elif layout == 6 and array.ndim:
        array.flags.writeable = False
    return array


def words(choose: random.Random) -> dict[str, Any]:
    names = choose.sample(list(WORDS), choose.choice([0, 0, 1, 1, 2, 3]))
    odd = NOTHING + NUMBERS
    return {name: choose.choice(odd if choose.random() < 0.2 else WORDS[name] or NUMBERS) for name in names}


def huge(options: dict[str, Any]) -> dict[str, Any]:
    """A thousand threads for each of a thousand fitters are not hostile but slow."""
    if isinstance(options.get("threads"), int) and options["threads"] > 4:
        options["threads"] = max(options["threads"], 2000)
    return options


def test_calls_that_make_no_sense() -> None:
    choose = random.Random(18)
    ends = {"fitted": 0, "refused": 0}
    for _ in range(CALLS):
        given: dict[str, Any] = {
            name: arrays(choose) for name in ("start", "weights", "corners") if choose.random() < 0.15
        }
        options = huge(words(choose))
        try:
            if choose.random() < 0.8:
                fits = spotfit.fit(arrays(choose), **given, **options)
            else:
                size: Any = choose.choice([3, 5, (3, 4), 0, -1, 2**40, (2**40, 2**40), None, "9"])
                given.pop("corners", None)
                fits = spotfit.fit_in_frames(arrays(choose), arrays(choose), size, **given, **options)
            known = fits.status != spotfit.Status.invalid
            assert np.isfinite(fits.x[known]).all() and np.isnan(fits.x[~known]).all()
            repr(fits)
            ends["fitted"] += 1
        except ALLOWED as error:
            assert str(error), repr(error)
            assert "PanicException" not in repr(error)
            ends["refused"] += 1
    assert min(ends.values()) > CALLS // 50, ends


FORMULAS: list[Any] = ["a*x + b", "a*exp(-x/t) + c", "gauss_2d", "exponential", "line", "a*", "x", "", "a*x*y", None, 3]


def attack(choose: random.Random, folder: Path) -> None:
    """One call that is no fit of windows."""

    def any_of(*sound: Any) -> Any:
        return choose.choice(NOTHING + NUMBERS if choose.random() < 0.3 else sound)

    def locs() -> Any:
        rows = choose.choice([0, 1, 5, 200])
        names = choose.sample(["frame", "x", "y", "z", "photons", "uncertainty", "sigma", "id", "a b", ""], 6)
        columns = {name: np.arange(rows) * choose.choice([0, 1, -1, 0.1, 1e300]) for name in names}
        if choose.random() < 0.2:
            columns[choose.choice(names)] = arrays(choose)
        return spotfit.Locs(columns, spotfit.Movie(any_of(None, 100.0), any_of(None, 64), any_of(None, 64), any_of(None, 9)))

    what = choose.randrange(7)
    if what == 0:
        words: dict[str, Any] = {name: arrays(choose) for name in ("x", "start", "weights") if choose.random() < 0.4}
        words |= {"estimator": any_of("lse", "mle"), "max_iterations": any_of(20), "bounds": any_of(None, {"a": (0, None)})}
        spotfit.Model(choose.choice(FORMULAS)).fit(arrays(choose), **words)
    elif what == 1:
        spotfit.Model(choose.choice(FORMULAS))(arrays(choose), *[any_of(1, 2.0)] * choose.randrange(4))
    elif what == 2:
        movie = arrays(choose)
        if choose.random() < 0.5:
            movie = np.random.default_rng(1).poisson(20, (3, 32, 33)).astype(choose.choice("u1 u2 f4 >f8 i8".split()))
        names = ["box", "false_rate", "threshold", "roi", "frames", "pixel_size", "drop", "saturation", "channel"]
        sound = [7, 1.0, 5.0, (0, 0, 20, 20), slice(-9, 9), 100.0, "all", 1.0, None]
        given = {name: any_of(value) for name, value in zip(names, sound, strict=True) if choose.random() < 0.3}
        spotfit.localize(movie, **given)
    elif what == 3:
        locs().save(folder / choose.choice(["locs.csv", "locs.hdf5", "locs.txt"]))
    elif what == 4:
        locs().filter(any_of("x > 3", "photons > 3 & x < 2", "x >", "(" * 5000, "nothing < 1"))
    elif what == 5:
        side = any_of(None, "0.1px", "1px")
        # No pictures that take seconds.
        extent = any_of(None, (0, 0, 30, 20))
        spotfit.render(
            locs(), pixel=side, blur=any_of("average", "0.5px"), extent=extent, gamma=any_of(1.0), max_pixels=1 << 18,
            colour_by=any_of(None, "x", "z"),
        )  # fmt: skip
    else:
        drift = spotfit.find_drift(
            locs(), range=any_of(None, "1px"), segment=any_of(None, 3), frames=any_of(None, 9), anyway=any_of(False, True)
        )
        drift.correct(locs(), with_error=any_of(False, True))


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore::spotfit.SpotfitWarning")
def test_other_calls_that_make_no_sense(tmp_path: Path) -> None:
    choose = random.Random(4)
    ends = {"done": 0, "refused": 0}
    for _ in range(CALLS):
        try:
            attack(choose, tmp_path)
            ends["done"] += 1
        except (*ALLOWED, KeyError, OSError) as error:
            assert str(error) and "Panic" not in repr(error), repr(error)
            ends["refused"] += 1
    assert min(ends.values()) > CALLS // 20, ends


@pytest.mark.parametrize("pixels", [np.nan, np.inf, -np.inf, 3e38, 0])
def test_pixels_that_are_no_numbers_give_a_status(pixels: float) -> None:
    spots = spotfit.simulate(3).spots
    spots[1] = pixels
    fits = spotfit.fit(spots, errors=True)
    assert fits.status[1] == spotfit.Status.invalid and fits.converged.tolist() == [True, False, True]
    assert np.isinf(fits.errors.x[1])


def test_what_is_wrong_is_named() -> None:
    spots = spotfit.simulate(10).spots
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"spots": None}, TypeError, "spots"),
        ({"spots": spots[0]}, ValueError, "spots.*(9, 9)"),
        ({"spots": spots[:, :2]}, ValueError, "9×2"),
        ({"spots": spots.astype(complex)}, TypeError, "spots.*complex"),
        ({"spots": np.ma.MaskedArray(spots)}, TypeError, "masked"),
        ({"start": np.zeros((9, 3))}, ValueError, "start.*n = 10"),
        ({"weights": spots[:9]}, ValueError, "weights.*9"),
        ({"weights": -spots - 1}, ValueError, "weight -"),
        ({"corners": [[0.5, 1]] * 10}, ValueError, "corners.*0.5"),
        ({"shape": "round"}, ValueError, "shape = 'round'"),
        ({"shape": "fixed"}, ValueError, "shape = 'fixed'"),
        ({"shape": "elliptical", "fixed_sigma": 1.5}, ValueError, "fixed_sigma is a shape of its own"),
        ({"max_iterations": 0}, ValueError, "max_iterations"),
        ({"max_iterations": 2.5}, TypeError, "max_iterations.*float"),
        ({"threads": 10**6}, ValueError, "threads"),
        ({"tolerance": -1.0}, ValueError, "tolerance"),
        ({"camera": (100.0, 1.0, None, 0.0)}, TypeError, "camera"),
        ({"camera": 3}, TypeError, "camera"),
        ({"dtype": "int"}, ValueError, "dtype"),
        ({"speed": 3}, TypeError, "speed"),
        ({"fixed_sigma": "12 miles"}, ValueError, "fixed_sigma: .* is not a length"),
        ({"fixed_sigma": "130nm"}, ValueError, "fixed_sigma: 130nm is in nanometres, and the size of a pixel is not given"),
        ({"sigma_max": [3.0]}, TypeError, "sigma_max must be a number"),
        ({"pixel_size": -1}, ValueError, "pixel_size"),
        ({"pixel_size": "px"}, TypeError, "pixel_size"),
        ({"max_iterations": 200.0}, TypeError, "max_iterations"),
    ]
    spotfit.fit(spots, max_iterations=200)
    for words_, kind, name in cases:
        with pytest.raises(kind, match=name):
            spotfit.fit(**{"spots": spots, **words_})


def test_an_array_that_dies_while_it_is_fitted() -> None:
    """The fit holds the pixels, whoever lets go of them."""
    window = spotfit.simulate(1).spots[0]
    found: list[spotfit.Fits] = []

    def fit() -> None:
        found.append(spotfit.fit(next(handed), backend="reference"))

    def hand() -> Iterator[Any]:
        yield held.pop()

    for _ in range(20):
        held = [np.repeat(window[None], 2000, axis=0)]
        dead = weakref.ref(held[0])
        handed = hand()
        thread = threading.Thread(target=fit)
        thread.start()
        gc.collect()
        thread.join()
        del handed
        assert dead() is None and found.pop().converged.all()


class Liar:
    """Something that says it is an array, and is none."""

    def __init__(self, what: Any) -> None:
        self.what = what

    def __array__(self, *_: Any, **__: Any) -> Any:
        if isinstance(self.what, Exception):
            raise self.what
        return self.what


@pytest.mark.parametrize("what", [None, 3, "x", ZeroDivisionError("mine"), np.zeros(3)])
def test_objects_that_lie(what: Any) -> None:
    with pytest.raises((TypeError, ValueError, ZeroDivisionError)):
        spotfit.fit(Liar(what))


def test_calls_of_new_users_are_answered() -> None:
    """Proves that what is likely to be tried first is told in words that name the argument and what would do."""
    movie = np.random.default_rng(2).poisson(10, (5, 32, 32))
    camera = spotfit.Camera()
    locs = spotfit.Locs({"frame": [0, 1], "x": [1.0, 2.0], "y": [3.0, 4.0]}, spotfit.Movie(100))
    calls: list[tuple[Any, type[Exception], str]] = [
        (lambda: spotfit.localize(["a.tif", "b.tif"], camera=camera), FileNotFoundError, r"a\.tif: No such file"),
        (lambda: spotfit.localize(movie, camera=camera, box=7.5), ValueError, "box = 7.5 is not a whole number of pixels"),
        (lambda: spotfit.localize(movie, camera=camera, box=8), ValueError, "box = 8 is out of its range"),
        (lambda: spotfit.localize(movie, camera=camera, frames=(0, 3)), ValueError, r"frames must be .*slice\(0, 100\)"),  # type: ignore[arg-type]
        (lambda: spotfit.localize(movie, camera=camera, roi=(1, 2, 3)), ValueError, "roi must be four lengths"),  # type: ignore[arg-type]
        (lambda: spotfit.render(locs, colour_map="jet"), ValueError, "colour_map = 'jet' is not one of 'inferno', 'magma'"),  # type: ignore[arg-type]
        (lambda: spotfit.render(locs, extent=(0, 0, 9)), ValueError, "extent must be four lengths"),
        (lambda: spotfit.convert(locs, unit="um"), ValueError, "unit = 'um' is not one of 'px', 'nm'"),  # type: ignore[arg-type]
        (lambda: spotfit.find_drift(locs, beads="all"), ValueError, "beads = 'all' is neither 'auto' nor places"),
        (lambda: spotfit.Locs([1, 2]), TypeError, "columns must be a mapping"),  # type: ignore[arg-type]
        (lambda: spotfit.Locs({"frame": [0], "x": ["a"]}), TypeError, "column 'x' must be numbers"),
        (lambda: locs.with_column("photons", ["many", "few"]), TypeError, "column 'photons' must be numbers"),
        (lambda: locs.filter(None), TypeError, "condition must be text, not NoneType"),  # type: ignore[arg-type]
        (lambda: spotfit.Model("a*f(x)", spline=[1, 2]), TypeError, "spline must be a mapping"),  # type: ignore[arg-type]
        (lambda: spotfit.Model("a*f(x, c)", spline={"f": (np.ones((5, 2)), [3])}), ValueError, "spline f: there is no axis 3"),
        (lambda: spotfit.Model("a*f(x)", spline={"f": "f.npy"}), TypeError, "spline f must be numbers"),
        (lambda: spotfit.fit(movie, shape="given"), ValueError, "shape = 'given' needs start"),
        (lambda: spotfit.simulate(3, sigma="130nm"), TypeError, "sigma must be one number or two, not '130nm'"),  # type: ignore[arg-type]
    ]
    for call, error, told in calls:
        with pytest.raises(error, match=told):
            call()
    assert len(spotfit.localize(movie, camera=camera, box=7.0)) == len(spotfit.localize(movie, camera=camera, box=7))
    assert len(repr(spotfit.simulate_movie(3, width=32, height=32))) < 100
