"""Several emitters a window."""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from . import _spotfit
from ._fits import NAMES, Floats, Outcomes, told
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

    @property
    def spot(self) -> npt.NDArray[np.uint64]:
        """The number of the window, from 0."""
        return cast("npt.NDArray[np.uint64]", self.array["spot"])

    @property
    def emitter(self) -> npt.NDArray[np.uint32]:
        """The number of the emitter in its window, from 1; 0 where a window has none."""
        return cast("npt.NDArray[np.uint32]", self.array["emitter"])

    @property
    def sigma(self) -> Floats:
        """Standard deviation in pixels; √(sigma_x·sigma_y) where the two differ."""
        return cast(Floats, self.array["sigma"])

    @property
    def sigma_x(self) -> Floats:
        """Standard deviation along x in pixels."""
        return cast(Floats, self.array["sigma_x"])

    @property
    def sigma_y(self) -> Floats:
        """Standard deviation along y in pixels."""
        return cast(Floats, self.array["sigma_y"])

    @property
    def photons(self) -> Floats:
        """All light of the emitter."""
        return cast(Floats, self.array["photons"])

    @property
    def amplitude(self) -> Floats:
        """Height above the background."""
        return cast(Floats, self.array["amplitude"])

    @property
    def background(self) -> Floats:
        """Background of a pixel, which the emitters of a window share."""
        return cast(Floats, self.array["background"])

    @property
    def goodness(self) -> Floats:
        """Chi² per pixel within 2 sigma of the centre: about 1 where the model fits."""
        return cast(Floats, self.array["goodness"])

    @property
    def neighbour(self) -> Floats:
        """Distance to the nearest other emitter in pixels; infinite if there is none."""
        return cast(Floats, self.array["neighbour"])

    @property
    def crowd(self) -> npt.NDArray[np.bool_]:
        """Whether there may be more emitters than could be told apart."""
        return cast("npt.NDArray[np.bool_]", self.array["crowd"])

    @property
    def status(self) -> npt.NDArray[np.uint8]:
        """How each fit ended: a number, see `Status`. `Status.max_iterations` also where more emitters are needed than may be."""
        return cast("npt.NDArray[np.uint8]", self.array["status"])

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
        import json

        found: dict[str, Any] = json.loads(_spotfit.report_emitters(self._given(), self._made.spots, self._made.about))
        return {name: value for name, value in found.items() if name not in ("fitting", "time", "masked")}

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
        _spotfit.save_emitters(fspath(path), self._given(), made.errors, shape=made.shape, sigma=made.sigma)

    def _given(self) -> npt.NDArray[np.float64]:
        """The numbers as Rust takes them."""
        return np.stack([self.array[name].astype(float) for name, _ in _FIELDS], axis=1)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns of a table, by name."""
        names = self.array.dtype.names or ()
        return {name: NAMES[self.status] if name == "status" else self.array[name] for name in names}

    def _chosen(self, part: npt.NDArray[np.void], index: slice) -> EmitterFits:
        return EmitterFits(part, self._made)

    def __repr__(self) -> str:
        spots = len(np.unique(self.spot))
        lines = [f"EmitterFits of {int((self.emitter > 0).sum()):,} emitters in {spots:,} windows: " + (told(self.counts()) or "nothing to do")]
        good = self.array[self.converged]
        if len(good):
            lines.append("  medians of those that converged:")
            for name, unit in ("x", " px"), ("y", " px"), ("sigma", " px"), ("photons", ""), ("background", ""):
                error = np.median(good[f"{name}_error"])
                lines.append(f"  {name:<10} {np.median(good[name]):>9.4g} ± {error:.3g}{unit}")
        return "\n".join(lines)
