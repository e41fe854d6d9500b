"""Plots as files, and in notebooks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from os import PathLike, fspath
from typing import Literal

from . import _spotfit

Format = Literal["svg", "png"]


def save_plot(path: str | PathLike[str], file: bytes) -> None:
    """Writes a plot; a file of this name is replaced when it is complete."""
    _spotfit.write_file(fspath(path), file)


def format_of(path: str | PathLike[str]) -> Format:
    """What a plot of this name is.

    Raises
    ------
    ValueError
        If the name ends in something else.
    """
    return _spotfit.plot_format(fspath(path))


def table(title: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A small table for notebooks, as HTML."""
    import html

    lines = ["<table>", f"<caption>{html.escape(title)}</caption>"]
    for tag, cells in [("th", names), *(("td", row) for row in rows)]:
        lines.append("<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>")
    return "\n".join([*lines, "</table>"])


class Plotted(ABC):
    """What can be drawn as it is."""

    @abstractmethod
    def _drawn(self, format: Format) -> bytes:
        """The plot as a file."""

    def plot(self, path: str | PathLike[str]) -> None:
        """Writes the plot that ``--plot`` of the command writes: .svg or .png, as the name ends. A file of this name is replaced when
        the plot is complete.

        Raises
        ------
        ValueError
            If the name ends in something else.
        OSError
            If the file cannot be written; one of this name is as it was then.
        """
        save_plot(path, self._drawn(format_of(path)))

    def svg(self) -> str:
        """The same plot as SVG."""
        return self._drawn("svg").decode()

    def _repr_html_(self) -> str:
        return self.svg()

    def _repr_png_(self) -> bytes:
        return self._drawn("png")
