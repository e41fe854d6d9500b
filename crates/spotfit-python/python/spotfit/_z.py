"""Heights of localizations by the name that `spotfit.z` had."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from ._keywords import takes_former
from ._locs import Locs
from ._steps import z
from ._warnings import tell

if TYPE_CHECKING:
    from ._options import Length, Measure


@takes_former(box_size="box")
def find_z(
    locs: Locs, calibration: str | PathLike[str], *, measure: Measure = "mahalanobis", box: Length | None = None
) -> Locs:
    """The former name of `spotfit.z`, which has the same parameters. It still works, with a ``DeprecationWarning``.

    Examples
    --------
    >>> import spotfit
    >>> spotfit.z                               # doctest: +ELLIPSIS
    <function z at ...>
    """
    tell("find_z is called z now", DeprecationWarning)
    return z(locs, calibration, measure=measure, box=box)
