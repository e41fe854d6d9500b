"""Several emitters a window."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from . import _spotfit
from ._fits import NAMES, Field, Floats, Outcomes, reported, told
from ._frozen import frozen

#: What Rust tells of an emitter, in this order.
_FIELDS: list[tuple[str, str]] = [
    ("spot", "u8"), ("emitter", "u4"),
    *((name, "f8") for name in ("x", "y", "sigma", "sigma_x", "sigma_y", "photons", "amplitude", "background", "goodness", "neighbour")),
    ("crowd", "?"), ("status", "u1"),
    *((f"{name}_error", "f8") for name in ("x", "y", "sigma", "photons", "amplitude", "background")),
]  # fmt: skip


class FittingEmitters(NamedTuple):
    """How emitters were fitted."""

    shape: str
    #: The known width, or those along x and y.
    sigma: list[float] | None
    #: Whether tables have errors.
    errors: bool
    #: What computed.
    about: str
    #: The windows.
    spots: int


def emitters_of(numbers: npt.NDArray[np.float64], made: FittingEmitters) -> EmitterFits:
    """The fits of which Rust tells these numbers."""
    array = np.empty(len(numbers), _FIELDS)
    for (name, _), values in zip(_FIELDS, numbers.T, strict=True):
        array[name] = values
    return EmitterFits(array, made)


class EmitterFits(Outcomes):
    """The emitters of windows, in the order of the windows; of each window the brightest first.

    A window without any emitter has a row all the same: its ``emitter`` is 0, its ``status`` `Status.invalid`, and its numbers are NaN. Lengths are
    in pixels of the window, light in photo-electrons if there is a camera, else in counts.

    Attributes
    ----------
    array : structured array (n,)
        What the other attributes are taken from, field by field. It cannot be written to; a copy can.

    Examples
    --------
    >>> import numpy as np, spotfit
    >>> y, x = np.mgrid[:11, :13]
    >>> spots = [200 * np.exp(-((x - at) ** 2 + (y - 5) ** 2) / (2 * 1.3**2)) for at in (4.5, 7.5)]
    >>> window = np.round(20 + sum(spots))
    >>> fits = spotfit.fit(window[None], emitters="auto", fixed_sigma=1.3, camera=spotfit.Camera())
    >>> fits.spot.tolist(), fits.emitter.tolist(), sorted(fits.x.round(1).tolist())
    ([0, 0], [1, 2], [4.5, 7.5])
    """

    __slots__ = ("_made",)

    def __init__(self, array: npt.NDArray[np.void], made: FittingEmitters | None = None) -> None:
        self.array = frozen(array)
        self._made = made

    def __reduce__(self) -> Any:
        return EmitterFits, (self.array, self._made)

    spot = Field[npt.NDArray[np.uint64]]("The number of the window, from 0.")
    emitter = Field[npt.NDArray[np.uint32]]("The number of the emitter in its window, from 1; 0 where a window has none.")
    sigma = Field[Floats]("Standard deviation in pixels; √(sigma_x·sigma_y) where the two differ.")
    sigma_x = Field[Floats]("Standard deviation along x in pixels.")
    sigma_y = Field[Floats]("Standard deviation along y in pixels.")
    photons = Field[Floats]("All light of the emitter.")
    amplitude = Field[Floats]("Height above the background.")
    background = Field[Floats]("Background of a pixel, which the emitters of a window share.")
    goodness = Field[Floats]("Chi² per pixel within 2 sigma of the centre: about 1 where the model fits.")
    neighbour = Field[Floats]("Distance to the nearest other emitter in pixels; infinite if there is none.")
    crowd = Field[npt.NDArray[np.bool_]]("Whether there may be more emitters than could be told apart.")
    status = Field[npt.NDArray[np.uint8]]("How each fit ended: a number, see `Status`. `Status.max_iterations` also where more emitters are needed than may be.")

    def error(self, name: str) -> Floats:
        """The standard error of x, y, sigma, photons, amplitude or background, which counts the neighbours."""
        known = [field.removesuffix("_error") for field, _ in _FIELDS if field.endswith("_error")]
        if name not in known:
            raise ValueError(f"'{name}' is not one of {', '.join(known)}")
        return cast(Floats, self.array[f"{name}_error"])

    @property
    def report(self) -> dict[str, Any]:
        """What came of the fits, as ``spotfit fit --json`` prints it: ``spots`` (windows), ``emitters``, ``empty`` (windows without an emitter),
        ``crowd``, ``statuses``, ``converged`` and ``backend``; empty for fits that do not know how they were made."""
        if self._made is None:
            return {}
        return reported(_spotfit.report_emitters(self.array, self._made.spots, self._made.about))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the table of ``spotfit fit --emitters``: ``.csv`` or ``.npy``, with errors if they were asked for. A file of this name is replaced when
        the table is complete.

        Raises
        ------
        ValueError
            If the name has another ending, or the fits do not know how they were made.
        OSError
            If the file cannot be written; one of this name is as it was then.
        """
        if self._made is None:
            raise ValueError("these fits do not know how they were made: to_pandas() has their columns")
        made = self._made
        _spotfit.save_emitters(fspath(path), self.array, made.errors, shape=made.shape, sigma=made.sigma)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of a table, by name."""
        names = self.array.dtype.names or ()
        return {name: NAMES[self.status] if name == "status" else self.array[name] for name in names}

    def _chosen(self, part: npt.NDArray[np.void], index: slice) -> EmitterFits:
        return EmitterFits(part, self._made)

    def _with_error(self, name: str) -> tuple[Any, Any]:
        return self.array[name], self.error(name)

    def __repr__(self) -> str:
        spots = len(np.unique(self.spot))
        title = f"EmitterFits of {int((self.emitter > 0).sum()):,} emitters in {spots:,} windows: "
        return "\n".join([title + (told(self.counts()) or "nothing to do"), *self._told_medians()])
