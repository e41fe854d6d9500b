"""Arrays that nobody changes by accident."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

A = TypeVar("A", bound=npt.NDArray[Any])


def frozen(array: A) -> A:
    """A view of an array that cannot be written to; the array itself can be, as before."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def copied(given: npt.ArrayLike) -> npt.NDArray[Any]:
    """A copy that cannot be written to."""
    array = np.array(given)
    array.flags.writeable = False
    return array


def rows(array: npt.NDArray[Any], index: Any, what: str) -> npt.NDArray[Any]:
    """Those entries along the first axis that a slice, a mask or numbers (n,) choose."""
    part = array[index]
    if not isinstance(part, np.ndarray) or part.ndim != array.ndim or part.dtype != array.dtype:
        raise TypeError(f"{what} are chosen by a slice, a mask or numbers (n,)")
    if part.flags.writeable:
        part.flags.writeable = False
    return part
