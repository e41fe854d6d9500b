"""What a table of 0.1 was made of, and how: the file ``NAME.fit.json`` beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _arguments as arguments
from . import _defects
from ._fit import Fitter
from ._keywords import current, former
from ._localize import Blocks
from ._spotfit import CameraMap

#: What changes the time that a fit takes, but nothing in its table.
_SPEED = ("threads", "devices")
#: What tells one movie from another. Not its folder: the same disk has other paths on other machines.
_MOVIE = ("movie", "size", "mtime_ns")

Record = dict[str, Any]


def made_from(movie: str) -> Record:
    """What is recorded of a movie: its name, its size and when it was changed; of a folder those of the files in it."""
    files = [movie]
    if os.path.isdir(movie):
        files = [entry.path for entry in os.scandir(movie) if entry.is_file()]
    stats = [os.stat(file) for file in files]
    size, mtime = sum(stat.st_size for stat in stats), max((stat.st_mtime_ns for stat in stats), default=0)
    return {"movie": os.path.basename(os.path.normpath(movie)), "size": size, "mtime_ns": mtime}


def options_of(options: Mapping[str, Any]) -> Record:
    """All options of `Blocks` and `Fitter`, given or not, as JSON has them: what means the same looks the same."""
    every = {**(Blocks.__init__.__kwdefaults__ or {}), **(Fitter.__init__.__kwdefaults__ or {}), **current(options)}
    # Records of earlier versions say nothing of these, and have former names.
    crowds = {"emitters": every.pop("emitters", 1), "width_of": every.pop("sigma", "free")}
    every = former(every)
    every |= {name: value for name, value in crowds.items() if value not in (1, "free")}
    drop = every["drop"]
    every["drop"] = [drop] if isinstance(drop, str) else sorted(set(drop))
    every["frames"] = every["frames"] or slice(None)
    for name in ("calibration", "psf"):
        if every[name] is not None and (name, every[name]) != ("psf", "learn"):
            every[name] = _content(every[name])
    # Records of earlier versions say nothing of these.
    for name, usual in ("temporal_background", None), ("learn_frames", 1000), ("aperture", None):
        if every[name] in (None, usual):
            del every[name]
    defects = every.pop("defects", None)
    if defects is not None and not _defects.is_word(defects, "none"):
        every["defects"] = _content(defects) if _defects.is_file(defects) else defects
    if every.pop("positions", None) is not None:
        every["positions"] = True
    if every["box_size"] is None and every["psf"] is None and every["calibration"] is None:
        every["box_size"] = 7
    if every["sigma"] is not None:
        sigma = arguments.parts(every["sigma"])
        every["sigma"] = sigma * 2 if len(sigma) == 1 else sigma
    if every["camera"] is not None and not isinstance(every["camera"], CameraMap):
        every["camera"] = arguments.camera(every["camera"])
    return {name: _plain(name, value) for name, value in sorted(every.items()) if name not in _SPEED}


def _plain(name: str, value: Any) -> Any:
    if isinstance(value, CameraMap):
        return {"map": _hash(value)}
    if isinstance(value, slice):
        return [_plain(name, value.start), _plain(name, value.stop)]
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, (tuple, list)):
        return [_plain(name, part) for part in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{name} must be a number, a word, or several, not {type(value).__name__}")


def _content(path: Any) -> str:
    """A file by what is in it."""
    from hashlib import sha256

    with open(path, "rb") as file:
        return f"{os.path.basename(path)} {sha256(file.read()).hexdigest()}"


def _hash(camera: CameraMap) -> str:
    from hashlib import sha256

    told = sha256(repr(camera.shape).encode())
    for values in camera.__reduce__()[1]:
        told.update(np.asarray(values, "<f4").tobytes())
    return told.hexdigest()


def read(path: str) -> Record | None:
    """The record in a file; None if there is no file."""
    import json

    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
    except FileNotFoundError:
        return None
    except ValueError:
        record = None
    if not isinstance(record, dict) or not isinstance(record.get("options"), dict):
        raise ValueError(f"{path} is no record of a fit")
    return record


def difference(then: Record, now: Record) -> str | None:
    """In words how two records differ, or None."""
    for name in _MOVIE:
        if then.get(name) != now[name]:
            return f"made of another movie ({name} {then.get(name)} then, {now[name]} now)"
    old, new = then["options"], now["options"]
    names = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    if not names:
        return None
    told = ", ".join(f"{name} {_short(old.get(name))} then, {_short(new.get(name))} now" for name in names)
    return f"made with other options ({told})"


def _short(value: Any) -> str:
    return str(value) if isinstance(value, str) else f"{value!r:.60}"
