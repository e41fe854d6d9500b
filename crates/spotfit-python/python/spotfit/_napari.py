"""What the window in napari does, without the window."""

from __future__ import annotations

import ast
from collections.abc import Generator
from typing import Any

import numpy as np
import numpy.typing as npt

from ._camera import Camera
from ._concatenate import joined
from ._drift import find_drift
from ._localize import Blocks
from ._locs import Locs
from ._pictures import Picture
from ._preview import Preview, preview
from ._render import render
from ._steps import filter, link

#: What can be done with localizations, and how it is told what.
OPERATIONS = {
    "filter": "photons > 300 & uncertainty < 0.2",
    "link": "gap=1",
    "merge": 'merge="1px"',
    "drift": "segment=500",
    "render": 'pixel="0.1px"',
}
#: The colours of what is dropped, by turns.
_MARKS = ("red", "magenta", "orange", "cyan", "white", "blue")


def options_of(values: dict[str, Any]) -> dict[str, Any]:
    """The options of `localize` that the fields of the window say; None and 0 stand for what is not known."""
    options = {"box": values["box_size"]}
    chosen = "threshold" if values["threshold"] else "false_rate"
    options[chosen] = values[chosen]
    if values["shape"] == "fixed":
        options["fixed_sigma"] = values["sigma"]
    else:
        options["shape"] = values["shape"]
    if values["pixel_size"]:
        options["pixel_size"] = values["pixel_size"]
    options["camera"] = Camera(values["baseline"], values["sensitivity"])
    # With a preset, fields that nobody has touched say nothing.
    if values.get("preset"):
        untouched = {"box": 7, "false_rate": 1.0, "shape": "circular", "camera": Camera()}
        options = {name: value for name, value in options.items() if untouched.get(name) != value}
        options["preset"] = values["preset"]
    return {**options, **keywords_of(values.get("keywords", ""))}


def keywords_of(text: str) -> dict[str, Any]:
    """The keywords of a line such as ``drop="neighbour", errors=True``; values are literals."""
    try:
        call = ast.parse(f"dict({text})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args or any(keyword.arg is None for keyword in call.keywords):
            raise ValueError
        return {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (SyntaxError, ValueError):
        raise ValueError(f"{text}: keywords are needed, as in errors=True, drop=\"neighbour\"") from None


def done(operation: str, locs: Locs, text: str) -> Locs | Picture:
    """What an operation makes of localizations; of `filter` the text is the condition, of others it has keywords."""
    if operation == "filter":
        return locs.filter(text)
    options = keywords_of(text)
    if operation == "drift":
        return find_drift(locs, **options).correct(locs)
    if operation == "render":
        return render(locs, **options)
    return link(locs, **options) if operation == "link" else filter(locs, **options)


def previewed(movie: str | Frames, frame: int, options: dict[str, Any]) -> Preview:
    """What localizing would make of a frame of a movie."""
    return preview(movie, frame=min(frame, movie.shape[0] - 1) if isinstance(movie, Frames) else frame, **options)


def layers_of(seen: Preview, name: str, scale: Any = (1, 1, 1), translate: Any = (0, 0, 0)) -> list[tuple[Any, dict[str, Any], str]]:
    """The layers of a preview: what is kept, and what is dropped, a colour for each reason."""
    kept = layer_of(seen.kept, name, scale, translate)
    dropped = layer_of(seen.dropped, name, scale, translate)
    reasons = [str(reason) for reason in seen.dropped["reason"]]
    colours = {reason: _MARKS[number % len(_MARKS)] for number, reason in enumerate(sorted(set(reasons)))}
    kept[1].update(name=f"{name} kept", face_color="lime")
    dropped[1].update(name=f"{name} dropped", symbol="square", face_color=[colours[reason] for reason in reasons] or "red")
    return [kept, dropped]


def image_of(picture: Picture, name: str, scale: Any = (1, 1, 1), translate: Any = (0, 0, 0)) -> tuple[Any, dict[str, Any], str]:
    """The layer of a picture, where its localizations are."""
    left, top, _, _ = picture.extent
    sides, places = _three(scale, 1.0)[1:], _three(translate, 0.0)[1:]
    middles = [edge + picture.pixel / 2 for edge in (top, left)]
    words = {
        "name": f"{name} picture",
        "rgb": True,
        "scale": [picture.pixel * side for side in sides],
        "translate": [place + middle * side for place, middle, side in zip(places, middles, sides, strict=True)],
    }
    return picture.pixels, words, "image"


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
