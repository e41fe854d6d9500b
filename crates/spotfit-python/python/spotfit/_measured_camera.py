"""Cameras that are measured, from darks and flats."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit
from ._calibrate import _all
from ._fits import Field
from ._plots import Format, Plotted
from ._spotfit import CameraMap
from ._warnings import tell

_Map = npt.NDArray[np.float64]


@dataclass(frozen=True)
class MeasuredCamera(Plotted):
    """A camera that was measured pixel by pixel: arrays (height, width), `save` for files that `localize` and Picasso read, and `plot`.

    Attributes
    ----------
    report : dict
        What came of it, as ``spotfit camera --json`` prints it: medians, spreads, and the numbers of a `Camera` whose pixels are taken
        for the same.
    offset, offset_error : ndarray
        What a pixel reads without light, in ADU, and its standard error.
    variance, variance_error : ndarray
        The variance of its noise without light, in ADU².
    gain, gain_error : ndarray or None
        Its gain in ADU per photo-electron; None without flats, NaN where no flat tells it.
    hot, dead : ndarray of bool
        Pixels that are much brighter or noisier without light than the others, and pixels that show no light.
    map : CameraMap or None
        The maps for ``localize(camera=…)``, in which dead pixels are masked; None where neither flats nor a sensitivity tell the gain.
    """

    report: dict[str, Any]
    _found: _spotfit.MeasuredCamera = field(repr=False)

    offset = Field[_Map]("What a pixel reads without light, in ADU.")
    offset_error = Field[_Map]("Standard errors of the offset.")
    variance = Field[_Map]("The variance of its noise without light, in ADU².")
    variance_error = Field[_Map]("Standard errors of the variance.")
    gain = Field[_Map | None]("Its gain in ADU per photo-electron; None without flats.")
    gain_error = Field[_Map | None]("Standard errors of the gain; None without flats.")

    @property
    def hot(self) -> npt.NDArray[np.bool_]:
        """Pixels that are much brighter or noisier without light than the others."""
        return self._found.hot

    @property
    def dead(self) -> npt.NDArray[np.bool_]:
        """Pixels that show no light."""
        return self._found.dead

    @property
    def map(self) -> CameraMap | None:
        """The maps for fits; None where nothing tells the gain."""
        return self._found.map

    def _column(self, name: str) -> _Map | None:
        return self._found.array(name)

    def _drawn(self, format: Format) -> bytes:
        return self._found.drawn(format)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the maps: ``.npz`` with errors and with the pixels that are hot or dead, ``.hdf5`` as Picasso has them. A file of this name is
        replaced, and its record goes away.

        Raises
        ------
        ValueError
            If the name has another ending.
        OSError
            If the file cannot be written; one of this name is as it was then.
        """
        name = fspath(path)
        if not name.lower().endswith((".npz", ".hdf5", ".h5")):
            raise ValueError(f"{name}: the name of the maps of a camera ends in .npz, .hdf5 or .h5")
        _spotfit.write_file(name, self._found.file(name.lower().endswith(".npz")))


def camera(
    darks: Any,
    flats: Any = (),
    *,
    sensitivity: float | None = None,
    hot: float = 10.0,
    channel: int | None = None,
    slice: int | None = None,
    position: int | str | None = None,
    strict: bool = False,
) -> MeasuredCamera:
    """Measures a camera: offset, noise and gain of each pixel, from dark frames and frames of even light.

    A hundred darks and as many flats at three brightnesses are a beginning; a thousand each make the variance of a pixel right to 4.5 %.
    Light that flickers is taken out, as far as it does so for all pixels alike. Python goes on meanwhile: other threads run, and Ctrl-C
    ends it.

    Parameters
    ----------
    darks : path or array_like (frame, height, width)
        Frames without light, at the exposure and the temperature of the movies that follow.
    flats : path, array_like (frame, height, width), or a sequence of them
        Frames of constant light that fills the field: a movie for each of some brightnesses, as bright as spots and brighter.
    sensitivity : float, optional
        Photo-electrons per ADU of all pixels, where there are no flats.
    hot : float
        A pixel is hot if its offset is so many standard deviations of all offsets above their median, or its noise so many times the
        median noise.
    channel, slice : int, optional
        Which channel and which slice, from 0; of files only.
    position : int or str, optional
        Which position of the stage, from 0 or by its name, of a file that has several.
    strict : bool
        Refuse a file that is cut off, of which the whole frames are read otherwise.

    Returns
    -------
    MeasuredCamera
        The maps with their errors; `MeasuredCamera.save` writes them, `MeasuredCamera.map` is for ``localize(camera=…)``.

    Raises
    ------
    FileNotFoundError, OSError
        If a file is not there, or cannot be read.
    ValueError
        If an option is out of its range, a movie has one frame or another size, or flats are saturated, or not brighter than the darks.

    Warns
    -----
    SpotfitWarning
        If the light of flats varies by more than 1 % from frame to frame.

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(1)
    >>> noise = lambda: random.normal(0, 3, (200, 20, 30))
    >>> darks = np.rint(100 + noise())
    >>> flats = [np.rint(100 + 2 * random.poisson(light, (200, 20, 30)) + noise()) for light in (100, 400)]
    >>> measured = camera(darks, flats)
    >>> round(measured.report["gain"], 1), measured.map
    (2.0, CameraMap of 20×30 pixels, 0 masked)
    """
    wanted: dict[str, Any] = {"hot": arguments.number("hot", hot)}
    if sensitivity is not None:
        wanted["sensitivity"] = arguments.number("sensitivity", sensitivity)
    several = [] if isinstance(flats, (list, tuple)) and not flats else _all(flats)
    dark = _all(darks)
    if len(dark) != 1:
        raise ValueError("darks are one movie: join them, or give the others as flats")
    chosen = arguments.chosen(channel, slice, position, strict)
    found, report, notes = _spotfit.camera(dark[0], several, options=json.dumps(wanted), chosen=chosen)
    tell(notes)
    return MeasuredCamera(json.loads(report), found)
