"""Whatever the type, strides and byte order of the pixels: the numbers are the same."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import spotfit

Array = npt.NDArray[Any]

TYPES = "u1 u2 u4 u8 i2 i4 i8 f2 f4 f8 g >u2 >i4 >u8 >f4 >f8 <f4".split()


@pytest.mark.parametrize("dtype", TYPES)
def test_every_type_gives_the_same(counts: Array, dtype: str) -> None:
    expected = spotfit.fit(counts).array
    assert np.array_equal(spotfit.fit(counts.astype(dtype)).array, expected)


def at_odd_addresses(pixels: Array) -> Array:
    bytes_ = np.zeros(pixels.nbytes + 1, np.uint8)
    odd = bytes_[1:].view(pixels.dtype).reshape(pixels.shape)
    odd[:] = pixels
    assert not odd.flags.aligned
    return odd


def in_records(pixels: Array) -> Array:
    records = np.zeros(pixels.shape, np.dtype([("flag", "u1"), ("value", pixels.dtype)]))
    records["value"] = pixels
    part: Array = records["value"]
    return part


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "fortran": np.asfortranarray,
    "turned": lambda p: np.ascontiguousarray(p.transpose(2, 0, 1)).transpose(1, 2, 0),
    "backwards": lambda p: np.ascontiguousarray(p[::-1, ::-1, ::-1])[::-1, ::-1, ::-1],
    "every other": lambda p: np.repeat(np.repeat(p, 2, axis=0), 3, axis=2)[::2, :, ::3],
    "cut": lambda p: np.pad(p, ((1, 0), (2, 3), (4, 1)))[1:, 2:-3, 4:-1],
    "odd addresses": at_odd_addresses,
    "records": in_records,
    "read-only": lambda p: np.frombuffer(p.tobytes(), p.dtype).reshape(p.shape),
    "list": lambda p: p.tolist(),
    "subclass": lambda p: p.view(type("Mine", (np.ndarray,), {})),
}


@pytest.mark.parametrize("dtype", ["u2", "f4", ">f8"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_the_same(counts: Array, layout: str, dtype: str) -> None:
    pixels = counts.astype(dtype)
    other = LAYOUTS[layout](pixels)
    expected = spotfit.fit(counts, errors=True)
    for _ in range(2):
        fits = spotfit.fit(other, errors=True)
        assert np.array_equal(fits.array, expected.array)
        assert np.array_equal(fits.errors.x, expected.errors.x)
    if isinstance(other, np.ndarray):
        assert np.array_equal(other, pixels), "the pixels are as they were"


def test_one_window_for_all() -> None:
    window = spotfit.simulate(1).spots
    fits = spotfit.fit(np.broadcast_to(window[0], (1000, 9, 9)))
    assert (fits.x == fits.x[0]).all()


def test_booleans_are_numbers() -> None:
    spots = spotfit.simulate(10).spots > 5
    assert np.array_equal(spotfit.fit(spots).array, spotfit.fit(spots.astype(np.uint8)).array)
