"""Localizations of one molecule."""

from __future__ import annotations

from . import _arguments as arguments
from . import _lengths as lengths
from . import _spotfit
from ._locs import Locs


def link(
    locs: Locs,
    *,
    radius: float | None = None,
    radius_z: float | None = None,
    gap: int = 1,
    label: bool = False,
) -> Locs:
    """Joins localizations of one molecule in successive frames.

    A localization continues the molecule whose mean position is nearest, if it lies within the radius.

    Parameters
    ----------
    locs : Locs
        The localizations.
    radius : float, optional
        How far one may be from the mean of those before it, in the unit of x. Default: four times the median uncertainty.
    radius_z : float, optional
        The same along z, in nanometres. Default: four times the median uncertainty of z, or three times the radius.
    gap : int
        For how many frames a molecule may be dark and still be the same.
    label : bool
        Keep all localizations, and only add the column ``molecule``.

    Returns
    -------
    Locs
        One row for each molecule: photons and background are summed, positions weighted by 1/uncertainty². ``molecule``,
        ``detections`` and ``on_time`` are new.

    Raises
    ------
    ValueError
        If there is no uncertainty and no radius, or a frame has too many localizations within the radius.

    Examples
    --------
    >>> locs = Locs({"frame": [0, 1, 2], "x": [3.0, 3.1, 9.0], "y": [4.0, 4.1, 1.0], "photons": [100.0, 120.0, 90.0]})
    >>> link(locs, radius=0.5).photons.tolist()
    [220.0, 90.0]
    """
    if not isinstance(locs, Locs):
        raise TypeError(f"locs must be spotfit.Locs, not {type(locs).__name__}")
    if radius is None:
        usual = lengths.usual(locs, "uncertainty")
        if usual is None:
            raise ValueError("the localizations have no uncertainty: give a radius")
        radius = 4 * usual
    radius = arguments.number("radius", radius)
    if radius_z is None and "z" in locs.names:
        usual = lengths.usual(locs, "uncertainty_z")
        size = 1.0 if locs.units.get("x") == "nm" else locs.movie.pixel_size
        if usual is None and size is None:
            raise ValueError("the localizations have z: give radius_z, or the size of a pixel")
        radius_z = 4 * usual if usual is not None else 3 * radius * (size or 1.0)
    depth = 1.0 if radius_z is None else arguments.number("radius_z", radius_z)
    gap = arguments.whole("gap", gap, 2**32 - 1)
    made = _spotfit.link_table(
        locs._given(), locs._info, radius=radius, radius_z=depth, gap=gap, label=bool(label)
    )
    return Locs._made(made, locs._info)
