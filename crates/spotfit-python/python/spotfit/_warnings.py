"""What users should know and no exception tells."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence

_PACKAGE = os.path.dirname(os.path.abspath(__file__))

#: What is said where nothing is known of the camera, and it matters.
NO_CAMERA = (
    "no camera given; photons and uncertainties assume a baseline of 0 ADU and 1 photo-electron per ADU "
    "(camera=spotfit.Camera() if they are so)"
)


class SpotfitWarning(UserWarning):
    """Something about a movie, a camera or a table that makes numbers doubtful.

    Examples
    --------
    >>> import warnings, spotfit
    >>> warnings.simplefilter("error", spotfit.SpotfitWarning)      # such numbers are not wanted
    >>> warnings.simplefilter("default", spotfit.SpotfitWarning)
    """


def tell(notes: str | Sequence[str]) -> None:
    """Warns where the package was called."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == _PACKAGE:
        depth, frame = depth + 1, frame.f_back
    for note in [notes] if isinstance(notes, str) else notes:
        warnings.warn(note, SpotfitWarning, stacklevel=depth)
