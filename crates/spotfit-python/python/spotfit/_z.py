"""Heights of localizations with two widths."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING

from ._keywords import takes_former
from ._locs import Locs
from ._steps import z

if TYPE_CHECKING:
    from ._options import Measure


@takes_former(box_size="box")
def find_z(
    locs: Locs,
    calibration: str | PathLike[str],
    *,
    measure: Measure = "mahalanobis",
    box: int | None = None,
) -> Locs:
    """Finds z of localizations from their two widths: `spotfit.z` by the name that it had.

    Parameters
    ----------
    locs : Locs
        Localizations with ``sigma_x`` and ``sigma_y``. If they have no errors of these, these are estimated from ``photons``,
        ``background``, and the uncertainties.
    calibration : path
        A calibration of ``spotfit calibrate`` or Picasso.
    measure : {"mahalanobis", "roots"}
        What is least at the z that is found: the distance of the widths in standard deviations, or that of their square roots, as
        in Picasso.
    box : int, optional
        Side of the windows in which the spots were fitted, in pixels: odd, 5 to 63. How much of a spot they hold says how well its
        widths are known. Default: what ``chi2`` and ``background_std`` tell, or else that of the calibration, or 13.

    Returns
    -------
    Locs
        The same with ``z`` and ``uncertainty_z`` in nanometres, ``z_distance`` and ``z_status``.

    Raises
    ------
    FileNotFoundError, OSError
        If the calibration is not there, or cannot be read.
    ValueError
        If it is none, or a column or the size of a pixel is missing.
    """
    return z(locs, calibration, measure=measure, box=box)
