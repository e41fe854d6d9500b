"""Presets: options of localizing in a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import wraps
from os import PathLike, fspath
from typing import Any, ParamSpec, TypeVar

from . import _spotfit
from ._camera import Camera

P = ParamSpec("P")
R = TypeVar("R")

#: What the command calls by the numbers of a `Camera`, and by its maps.
_CAMERA = ("baseline", "sensitivity", "em-gain", "read-noise")
#: Options that only the command has: files and what is printed.
_COMMAND = ("filter", "origin", "max-frame-pixels")
#: Options that are files.
_FILES = ("calibration", "psf", "positions", "defects", "cameras")
#: Options that are counted from 1 by the command.
_COUNTED = ("channel", "slice")
#: Options that do not go together: what is typed wins over those of the preset.
_APART = (("threshold", "false_rate"), ("calibration", "psf"), ("aperture", "psf"), ("roi", "positions"))
#: Options whose text may be a number.
_NUMBERS = (
    "box", "false_rate", "threshold", "pixel_size", "saturation", "temporal_background", "max_iterations", "min_delta", "min_step",
    "max_error", "centre_margin", "sigma_min", "sigma_max", "aperture", "threads", "emitters", "frame_time",
)  # fmt: skip


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)


def _parsed(path: str, name: str, value: Any, numeric: bool) -> Any:
    """The value of a keyword: text has the words of the command."""
    wrong = ValueError(f"{path}: {name} = {value} is not what it must be")
    try:
        if name == "frames":
            first, _, last = str(value).partition(":")
            return slice(int(first) - 1 if first.strip() else None, int(last) if last.strip() else None)
        if name in _COUNTED:
            return int(value) - 1
        if name == "position":
            return int(value) - 1 if str(value).isdecimal() else str(value)
        if name == "drop":
            return [part.strip() for part in value.split(",")] if isinstance(value, str) else value
        if name == "device":
            return [int(part) for part in (value.split(",") if isinstance(value, str) else value)]
        if name == "pixel_size" and isinstance(value, str) and value != "px":
            return float(value.removesuffix("nm"))
    except (ValueError, AttributeError):
        raise wrong from None
    if name in ("roi", "fixed_sigma") and isinstance(value, list):
        return ",".join(value)
    if isinstance(value, str) and (numeric or name in _NUMBERS):
        try:
            return _number(value)
        except ValueError:
            return value
    return value


def _options_of(path: str, given: Mapping[str, Any], more: tuple[str, ...]) -> dict[str, Any]:
    from ._fit import Fitter
    from ._localize import Blocks

    keywords = {*(Blocks.__init__.__kwdefaults__ or ()), *(Fitter.__init__.__kwdefaults__ or ())}
    keywords -= {"preset", "tolerance", "follow", "idle"}
    known = sorted({name.replace("_", "-") for name in keywords} | {*_CAMERA, *_COMMAND})
    folder = os.path.dirname(os.path.abspath(path))
    found: dict[str, Any] = {}
    camera: dict[str, float] = {}
    for key, value, numeric in _spotfit.read_preset(path, known):
        name = key.replace("-", "_")
        if key in _COMMAND and name not in more:
            raise ValueError(f"{path}: {key} is for the command: leave it out, or give it to what follows")
        if key in _CAMERA:
            try:
                camera[name] = float(value)
            except (TypeError, ValueError):
                raise ValueError(f"{path}: {key} = {value} is not a number") from None
        elif key == "camera":
            found["camera"] = os.path.join(folder, str(value))
        elif key in _FILES and value not in ("auto", "none", "learn"):
            found[name] = os.path.join(folder, str(value))
        else:
            found[name] = _parsed(path, name, value, numeric)
    if "camera" in given:
        found.pop("camera", None)
    elif "camera" in found:
        found["camera"] = _spotfit.CameraMap.read(found["camera"], camera.get("sensitivity"))
    elif camera:
        found["camera"] = camera if "camera_from" in {**found, **given} else Camera(**camera)
    learns = found.get("psf") == "learn"
    for one, other in _APART:
        for typed, preset in ((one, other), (other, one)):
            if typed in given:
                found.pop(preset, None)
    if learns and given.get("psf", found.get("psf")) != "learn":
        # Nobody learns where the preset's PSF is not used.
        found.pop("learn_frames", None)
    return found


def expanded(given: Mapping[str, Any], more: tuple[str, ...] = ()) -> dict[str, Any]:
    """The keywords with those of the preset that they name, if they name one; what is given wins."""
    path = given.get("preset")
    if path is None:
        return {name: value for name, value in given.items() if name != "preset"}
    plain = {name: value for name, value in given.items() if name != "preset"}
    return {**_options_of(fspath(path), plain, more), **plain}


def takes_preset(function: Callable[P, R]) -> Callable[P, R]:
    """A function whose keyword `preset` names a file with the others."""

    @wraps(function)
    def wrapped(*args: P.args, **given: P.kwargs) -> R:
        return function(*args, **expanded(given)) if given.get("preset") is not None else function(*args, **given)

    # `wraps` leaves them out.
    setattr(wrapped, "__kwdefaults__", getattr(function, "__kwdefaults__", None))
    return wrapped


#: A file with options.
PresetFile = str | PathLike[str]
