"""Arguments that Rust could not name if they were wrong."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any

import numpy as np

from . import _spotfit

#: What is read of a movie: channel, slice, position, whether one that is cut off is refused, and the files that go on with it.
Chosen = tuple[int | None, int | None, str | None, bool, list[str]]


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


def flag(name: str, value: Any) -> bool:
    """True or False, as Rust takes them: what is true of other things is seldom meant."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise TypeError(f"{name} must be True or False, not {type(value).__name__}")


def length(name: str, value: Any) -> float | None:
    """A length above 0, or None where it is not known."""
    if value is None:
        return None
    size = number(name, value)
    if not 0 < size < math.inf:
        raise ValueError(f"{name} = {size} must be above 0, and finite")
    return size


def pixels(name: str, value: Any, pixel_size: float | None = None) -> float:
    """A length in pixels: a number of them, or text with a unit."""
    return _spotfit.in_pixels(name, value, pixel_size) if isinstance(value, str) else number(name, value)


def box(value: Any, pixel_size: float | None = None) -> int | None:
    """The side of windows in pixels, which text may have with a unit, or None where nothing is said."""
    if isinstance(value, str):
        return _spotfit.window_side(value, pixel_size)
    if isinstance(value, (float, np.floating)):
        if not float(value).is_integer():
            raise ValueError(f"box = {value:g} is not a whole number of pixels")
        value = int(value)
    return None if value is None else whole("box", value)


def parts(value: Any) -> list[Any]:
    """Several lengths: text has commas between them."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",")]
    try:
        return list(value)
    except TypeError:
        return [value]


def sigmas(name: str, value: Any, pixel_size: float | None = None) -> list[float]:
    """One width in pixels, or those along x and y."""
    found = [pixels(name, part, pixel_size) for part in parts(value)]
    if len(found) not in (1, 2):
        raise ValueError(f"{name} must be one length or two")
    return found


def roi(value: Any, pixel_size: float | None = None) -> tuple[int, int, int, int]:
    """First column, first row, columns and rows in pixels."""
    sides = [part if isinstance(part, str) else str(whole("roi", part)) for part in parts(value)]
    if len(sides) != 4:
        raise ValueError(f"roi must be four lengths: first column, first row, columns, rows, not {len(sides)}")
    x, y, width, height = _spotfit.region(",".join(sides), pixel_size)
    return x, y, width, height


def unmasked(name: str, value: Any) -> Any:
    """The same, unless it is a masked array: what is masked would be taken for data."""
    if isinstance(value, np.ma.MaskedArray):
        raise TypeError(f"{name} is a masked array: give its data, and leave out what is masked")
    return value


def _two(value: Any, wanted: str) -> tuple[Any, Any]:
    """Two values; one is taken twice."""
    try:
        first, second = value
    except TypeError:
        first = second = value
    except ValueError:
        raise ValueError(wanted) from None
    return first, second


def pair(name: str, value: Any) -> tuple[float, float]:
    """Two numbers; one is taken twice."""
    if isinstance(value, str):
        raise TypeError(f"{name} must be one number or two, not {value!r}")
    first, second = _two(value, f"{name} must be one number or two")
    return number(name, first), number(name, second)


def size(value: Any) -> tuple[int, int]:
    """Height and width of windows; one number is taken twice."""
    height, width = _two(value, "size must be one integer, or height and width")
    return whole("size", height), whole("size", width)


def camera(value: Any) -> tuple[float, float, float | None, float]:
    """The numbers of a camera."""
    from ._camera import Camera

    if not isinstance(value, Camera):
        kind = type(value).__name__
        raise TypeError(f"camera must be a spotfit.Camera or spotfit.CameraMap, not {kind}")
    return value._numbers()


def stage(position: int | str | None) -> str | None:
    """A position of the stage as the command counts them."""
    if position is None or isinstance(position, str):
        return position
    return str(whole("position", position) + 1)


def chosen(
    channel: int | None, slice: int | None, position: int | str | None, strict: bool = False, parts: Sequence[str] = ()
) -> Chosen:
    """What is read of a movie, as Rust takes it."""
    plane = [None if number is None else whole(name, number) for name, number in (("channel", channel), ("slice", slice))]
    return plane[0], plane[1], stage(position), flag("strict", strict), list(parts)


def chosen_of(given: Mapping[str, Any], strict: bool = False, parts: Sequence[str] = ()) -> Chosen:
    """The same of options by their names."""
    return chosen(given.get("channel"), given.get("slice"), given.get("position"), strict, parts)


def movie(given: Any) -> tuple[Any, list[str]]:
    """A movie, and the files that go on with it: several may be given as one."""
    if isinstance(given, (list, tuple)) and given and all(isinstance(part, (str, PathLike)) for part in given):
        first, *parts = map(fspath, given)
        return first, parts
    return given, []
