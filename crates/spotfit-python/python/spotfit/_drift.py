"""Drift of localizations."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _lengths as lengths
from . import _spotfit
from ._frozen import frozen
from ._locs import Locs

Doubles = npt.NDArray[np.float64]

#: The columns of uncertainties of x and y.
_UNCERTAINTIES = ("uncertainty", "uncertainty_x", "uncertainty_y")


def _unknown() -> Doubles:
    """A number of each frame that is not known."""
    return np.empty(0)


@dataclass(frozen=True, eq=False, repr=False)
class Drift:
    """How far everything had moved in each frame. Arrays cannot be written to; ``dataclasses.replace(drift, x=…)`` makes another one.

    Attributes
    ----------
    x, y : array (frames,)
        In the unit of the drift.
    z : array (frames,) or (0,)
        In nanometres, if the localizations have heights.
    x_error, y_error, z_error : array (frames,) or (0,)
        Standard errors of the drift less its mean: where the whole picture lies is no question of drift. Empty if they
        are not known.
    unit : {"px", "nm", ""}
        The unit of x and y: that of the localizations in which it was found; "" if theirs is not known.
    pixel_size : float or None
        Side of a pixel of these localizations in nanometres, if it is known.

    Examples
    --------
    >>> import numpy as np
    >>> drift = Drift(np.array([0.0, 0.5]), np.array([0.0, -0.2]), unit="px")
    >>> drift.correct(Locs({"frame": [0, 1], "x": [3.0, 3.5], "y": [4.0, 3.8]})).x.tolist()
    [3.0, 3.0]
    """

    x: Doubles
    y: Doubles
    z: Doubles = field(default_factory=_unknown)
    x_error: Doubles = field(default_factory=_unknown)
    y_error: Doubles = field(default_factory=_unknown)
    z_error: Doubles = field(default_factory=_unknown)
    unit: Literal["px", "nm", ""] = "px"
    pixel_size: float | None = None

    def __post_init__(self) -> None:
        for name in ("x", "y", "z", "x_error", "y_error", "z_error"):
            values = np.array(arguments.unmasked(name, getattr(self, name)), dtype=float)
            wanted = (len(self.x), 0) if name not in ("x", "y") else (len(self.x),)
            if values.ndim != 1 or len(values) not in wanted:
                raise ValueError(f"{name} must be an array (frames,) with {len(self.x)} frames, not of shape {values.shape}")
            object.__setattr__(self, name, frozen(values))
        if self.unit not in ("px", "nm", ""):
            raise ValueError(f"unit = {self.unit!r} is not one of 'px', 'nm', ''")
        object.__setattr__(self, "pixel_size", arguments.length("pixel_size", self.pixel_size))

    def _in(self, unit: Any, size: float | None) -> Drift:
        """The same in the unit of a table, whose pixels have this side if it is known."""
        if self.unit == unit or not self.unit or not unit:
            return self
        size = self.pixel_size if size is None else size
        if size is None:
            raise ValueError(
                f"the drift is in {self.unit}, the localizations are in {unit}, and the size of a pixel is not known: "
                "with_pixel_size tells it"
            )
        scale = size if unit == "nm" else 1 / size
        scaled = {name: getattr(self, name) * scale for name in ("x", "y", "x_error", "y_error")}
        return replace(self, **scaled, unit=unit)

    def correct(self, locs: Locs, *, with_error: bool = False) -> Locs:
        """The localizations without the drift. After the last frame the drift, and its error, are those of the last.

        Parameters
        ----------
        locs : Locs
            The localizations. Where they have the other unit than the drift, it is converted.
        with_error : bool
            Whether the error of the drift is added to the uncertainties, as independent errors add up.

        Raises
        ------
        ValueError
            If the localizations have the other unit, and neither they nor the drift know the size of a pixel; or if errors are
            to be added that are not known.
        """
        if not isinstance(locs, Locs):
            raise TypeError(f"locs must be spotfit.Locs, not {type(locs).__name__}")
        return self._in(locs.unit, locs.movie.pixel_size)._taken_out(locs, with_error)

    def _taken_out(self, locs: Locs, with_error: bool) -> Locs:
        parts = {"x": (self.x, self.x_error), "y": (self.y, self.y_error), "z": (self.z, self.z_error)}
        if with_error:
            if not set(_UNCERTAINTIES) & set(locs.names):
                raise ValueError("there is no column 'uncertainty' to which an error can be added")
            for name, (drift, error) in parts.items():
                if len(drift) and not len(error):
                    raise ValueError(f"the errors of the drift are not known: {name}_error is empty")
        if not len(self.x):
            return locs
        given = np.asarray(locs["frame"], dtype=float)
        # A negative number would count from the end.
        wrong = np.flatnonzero(~((given >= 0) & (np.trunc(given) == given) & np.isfinite(given)))
        if len(wrong):
            raise ValueError(f"frame must be whole numbers from 0: row {wrong[0]} has {given[wrong[0]]:g}")
        frames = np.minimum(given, len(self.x) - 1).astype(np.int64)
        for name, (drift, _) in parts.items():
            if len(drift) and name in locs.names:
                locs = locs.with_column(name, locs[name] - drift[frames])
        if not with_error:
            return locs
        both = np.sqrt((self.x_error**2 + self.y_error**2) / 2)
        for name, error in zip(_UNCERTAINTIES, (both, self.x_error, self.y_error), strict=True):
            if name in locs.names:
                scale = lengths.scale(locs, locs.units.get("x", ""), locs.units[name])
                locs = locs.with_column(name, np.hypot(locs[name], scale * error[frames]))
        if len(self.z_error) and "uncertainty_z" in locs.names:
            locs = locs.with_column("uncertainty_z", np.hypot(locs["uncertainty_z"], self.z_error[frames]))
        return locs

    def __repr__(self) -> str:
        told = f"Drift of {len(self.x):,} frames"
        for name, unit in ("x", self.unit), ("y", self.unit), ("z", "nm"):
            values = getattr(self, name)
            if len(values):
                told += f"{':' if name == 'x' else ','} {name} from {values.min():.3g} to {values.max():.3g} {unit}".rstrip()
        return told


def find_drift(
    locs: Locs,
    *,
    frames: int | None = None,
    range: float | None = None,
    segment: int | None = None,
    knots: int | None = None,
    anyway: bool = False,
) -> Drift:
    """Finds the drift of localizations from themselves.

    Parameters
    ----------
    locs : Locs
        The localizations.
    frames : int, optional
        The number of frames. Default: that of the movie, or of the last localization.
    range : float, optional
        The largest drift between two segments that is looked for, in the unit of x. Default: a hundred times the median
        uncertainty, and at least 500 nm (5 pixels if their size is not known).
    segment : int, optional
        Frames of a segment of the first comparison, such that there are 2 to 64 of them. Default: chosen by the number
        of localizations.
    knots : int, optional
        Frames between two knots of the curve, such that it has 2 to 2048 intervals. Default: as short as the data ask
        for.
    anyway : bool
        Whether drift is taken that cannot be told from chance, which is a ``ValueError`` otherwise.

    Returns
    -------
    Drift
        ``drift.correct(locs)`` takes it out. It has its standard errors, and the unit of the localizations.
    """
    lengths.check(locs)
    frame = np.asarray(locs["frame"], dtype=float)
    if np.isinf(frame).any():
        raise ValueError("frame must be whole numbers from 0")
    last = int(np.nanmax(frame, initial=-1)) + 1
    count = max(last, locs.movie.frames or 0) if frames is None else arguments.whole("frames", frames, 2**32 - 1)
    nanometres = locs.unit == "nm"
    # Without uncertainties: those of ordinary single-molecule images.
    precision = lengths.usual(locs, "uncertainty") or (15.0 if nanometres else 0.15)
    pixel = 1.0 if nanometres else locs.movie.pixel_size or 100.0
    if range is None:
        # However small the uncertainties are, a stage does not know them; no wider than Rust takes it.
        range = min(max(100 * precision, 500 / pixel), 1e4 * precision)
    z = locs["z"] if "z" in locs.names and np.isfinite(locs["z"]).any() else None
    whole = [None if n is None else arguments.whole(name, n, 2**32 - 1) for name, n in (("segment", segment), ("knots", knots))]
    found = _spotfit.find_drift(
        frame, locs["x"], locs["y"], z, lengths.uncertainty(locs), locs["uncertainty_z"] if "uncertainty_z" in locs.names else None,
        frames=count,
        precision=(precision, lengths.usual(locs, "uncertainty_z") or 3 * precision * pixel),
        range=range,
        segment=whole[0],
        knots=whole[1],
        anyway=anyway,
    )  # fmt: skip
    x, y, z, x_error, y_error, z_error = found
    unit: Any = locs.unit
    return Drift(x, y, z, x_error, y_error, z_error, unit=unit, pixel_size=locs.movie.pixel_size)
