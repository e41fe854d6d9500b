"""What the window in napari does, without the window."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
import numpy.typing as npt

from ._camera import Camera
from ._concatenate import joined
from ._localize import Blocks
from ._locs import Locs


def options_of(values: dict[str, Any]) -> dict[str, Any]:
    """The options of `localize` that the fields of the window say; None and 0 stand for what is not known."""
    options = {"box": values["box_size"]}
    if values["threshold"]:
        options["threshold"] = values["threshold"]
    else:
        options["false_rate"] = values["false_rate"]
    if values["shape"] == "fixed":
        options["fixed_sigma"] = values["sigma"]
    else:
        options["shape"] = values["shape"]
    if values["pixel_size"]:
        options["pixel_size"] = values["pixel_size"]
    options["camera"] = Camera(values["baseline"], values["sensitivity"])
    return options


class Frames:
    """The frames of a layer: arrays that are loaded when they are looked at are loaded a block at a time."""

    def __init__(self, data: Any, rgb: bool = False) -> None:
        shape = tuple(data.shape)
        if rgb or len(shape) not in (2, 3):
            kind = "colours" if rgb else f"the shape {shape}"
            raise ValueError(f"the layer has {kind}: a movie is (t, y, x), an image (y, x)")
        self._data = data
        self.shape = shape if len(shape) == 3 else (1, *shape)
        self.dtype = np.dtype(data.dtype)

    def __getitem__(self, frames: slice) -> npt.NDArray[Any]:
        found = np.asarray(self._data[frames] if len(self._data.shape) == 3 else self._data)
        return found.reshape(-1, *self.shape[1:])


def localized(movie: str | Frames, options: dict[str, Any]) -> Generator[tuple[int, int], None, Locs]:
    """Localizes a movie; after each block it yields how many frames are done, and how many there are."""
    blocks = Blocks(movie, **options)
    parts = []
    for part in blocks:
        parts.append(part)
        yield blocks.done, blocks.total
    return joined(parts) if parts else blocks.empty()


def layer_of(locs: Locs, name: str, scale: Any = (1, 1, 1), translate: Any = (0, 0, 0)) -> tuple[Any, dict[str, Any], str]:
    """The layer of points of localizations: (t, y, x) in pixels, on the image that they are of, with all columns."""
    places = np.stack([locs["frame"], locs["y"], locs["x"]], axis=1).astype(float)
    words = {
        "name": f"{name} localizations",
        "features": {column: locs[column] for column in locs.names},
        "scale": _three(scale, 1.0),
        "translate": _three(translate, 0.0),
        "size": 5,
        "symbol": "ring",
        "face_color": "yellow",
        "metadata": {"spotfit": locs},
    }
    return places, words, "points"


def _three(numbers: Any, first: float) -> list[float]:
    """Those of t, y and x; an image has none for t."""
    given = [float(number) for number in numbers][-3:]
    return [first] * (3 - len(given)) + given
