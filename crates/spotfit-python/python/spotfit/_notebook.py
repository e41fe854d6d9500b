"""What notebooks show."""

from __future__ import annotations

import base64
import html
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _spotfit

if TYPE_CHECKING:
    from ._locs import Locs

#: Rows that are shown, and those of the picture, however many there are.
_HEAD = 5
_DRAWN = 300_000
#: The longer side of the picture of a table, and the longest of a picture, in pixels.
_SIDE = 260
_LONGEST = 1600
#: Black, purple, orange, yellow.
_COLOURS = np.array([(0, 0, 4), (87, 16, 110), (188, 55, 84), (249, 142, 9), (252, 255, 164)], float)


def png_of(pixels: npt.NDArray[np.uint8]) -> bytes:
    """A picture as PNG: every n-th pixel of a large one."""
    step = -(-max(pixels.shape[:2]) // _LONGEST)
    return _spotfit.encode_picture(np.ascontiguousarray(pixels[::step, ::step]), None, format="png", nanometres=None)


def _density(locs: Locs) -> npt.NDArray[np.uint8] | None:
    """A small picture of where localizations are; of many, some stand for all."""
    if "x" not in locs.names or "y" not in locs.names or not len(locs):
        return None
    step = -(-len(locs) // _DRAWN)
    places = np.stack([np.asarray(locs[name][::step], float) for name in ("x", "y")])
    places = places[:, np.isfinite(places).all(axis=0)]
    if not places.shape[1]:
        return None
    low, high = np.quantile(places, (0.002, 0.998), axis=1)
    extent = np.maximum(high - low, 1e-9)
    scale = (_SIDE - 1) / extent.max()
    width, height = (int(side) + 1 for side in extent * scale)
    x, y = ((places - low[:, None]) * scale).round()
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    counts = np.bincount((y * width + x)[inside].astype(np.int64), minlength=width * height)
    lit = counts[counts > 0]
    most = max(float(np.quantile(lit, 0.98)) if len(lit) else 1.0, 1.0)
    level = np.sqrt(np.minimum(counts / most, 1)) * (len(_COLOURS) - 1)
    shades = [np.interp(level, np.arange(len(_COLOURS)), _COLOURS[:, part]) for part in range(3)]
    picture: npt.NDArray[np.uint8] = np.stack(shades, axis=1).astype(np.uint8).reshape(height, width, 3)
    return picture


def _cell(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{value:.5g}"
    return html.escape(str(value))


def html_of(locs: Locs) -> str:
    """The first rows of a table with their units, and a small picture; it takes the same time for tables of any length."""
    heads = [f"{html.escape(name)}<br><small>{html.escape(unit)}</small>" for name, unit in locs.units.items()]
    rows = [[_cell(value) for value in locs[row].values()] for row in range(min(_HEAD, len(locs)))]
    head = "".join(f"<th>{text}</th>" for text in heads)
    body = "".join("<tr>" + "".join(f"<td>{text}</td>" for text in row) + "</tr>" for row in rows)
    more = f"<tr><td colspan={len(heads)}>… {len(locs) - _HEAD:,} more</td></tr>" if len(locs) > _HEAD else ""
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}{more}</tbody></table>"
    density = _density(locs)
    picture = ""
    if density is not None:
        encoded = base64.b64encode(png_of(density)).decode()
        picture = f'<img alt="where they are" style="image-rendering:pixelated" src="data:image/png;base64,{encoded}">'
    return f"<div><b>{len(locs):,} localizations</b>{picture}<div style=\"overflow-x:auto\">{table}</div></div>"
