"""Arguments that Rust could not name if they were wrong."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np


def whole(name: str, value: Any, most: int = 2**63 - 1) -> int:
    """The integer, or an exception that names the argument."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if not 0 <= number <= most:
        raise ValueError(f"{name} = {number} is out of its range (0 to {most})")
    return number


def index(name: str, value: Any) -> int | None:
    """An end of a slice, near enough for any array."""
    if value is None:
        return None
    try:
        return min(max(operator.index(value), -(2**63)), 2**63 - 1)
    except TypeError:
        raise TypeError(f"{name} must have integers, not {type(value).__name__}") from None


def number(name: str, value: Any) -> float:
    """The number, or an exception that names the argument."""
    try:
        if isinstance(value, (str, bytes, bytearray)):
            raise TypeError
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, not {value!r}") from None
    except OverflowError:
        raise ValueError(f"{name} is too large") from None


def length(name: str, value: Any) -> float | None:
    """A length above 0, or None where it is not known."""
    if value is None:
        return None
    size = number(name, value)
    if not 0 < size < math.inf:
        raise ValueError(f"{name} = {size} must be above 0, and finite")
    return size


def unmasked(name: str, value: Any) -> Any:
    """The same, unless it is a masked array: what is masked would be taken for data."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: give its data, and leave out what is masked")
    return value


def pair(name: str, value: Any) -> tuple[float, float]:
    """Two numbers; one is taken twice."""
    try:
        first, second = value
    except TypeError:
        first = second = value
    except ValueError:
        raise ValueError(f"{name} must be one number or two") from None
    return number(name, first), number(name, second)


def size(value: Any) -> tuple[int, int]:
    """Height and width of windows; one number is taken twice."""
    try:
        height, width = value
    except TypeError:
        height = width = value
    except ValueError:
        raise ValueError("size must be one integer, or height and width") from None
    return whole("size", height), whole("size", width)


def camera(value: Any) -> tuple[float, float, float | None, float]:
    """The numbers of a camera."""
    from ._camera import Camera

    if not isinstance(value, Camera):
        kind = type(value).__name__
        raise TypeError(f"camera must be a spotfit.Camera or spotfit.CameraMap, not {kind}")
    return value._numbers()
