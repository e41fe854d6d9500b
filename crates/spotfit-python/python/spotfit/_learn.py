"""The PSF of a movie, learnt from its own spots."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from . import _arguments as arguments
from . import _spotfit
from ._calibrate import Calibration, calibration_of
from ._localize import Unlearnt, to_learn_from
from ._preset import expanded

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import LocalizeOptions


def learn_psf(
    movie: str | PathLike[str] | Sequence[str | PathLike[str]] | Any,
    **options: Unpack[LocalizeOptions],
) -> Calibration:
    """Learns the PSF of a movie from its own spots, without beads, as ``spotfit psf`` does.

    It needs some hundred bright spots that are far from others. What makes spots differ, mostly the focus, becomes an axis of the PSF that
    has no heights: localizing with it gives no z.

    Python goes on meanwhile: other threads run, and Ctrl-C ends it.

    Parameters
    ----------
    movie : path, sequence of paths or array_like (n, height, width)
        The movie, as `localize` takes it.
    **options
        Those of `localize` but `positions`, `calibration`, `psf` and `follow`: the camera, how spots are found, and ``learn_frames``, the most
        frames that are looked at, from all of the movie.

    Returns
    -------
    Calibration
        The PSF with its report, whose ``single`` says whether it has one member, and whose ``field``
        is None unless it varies across the frame; `Calibration.save` writes it, and `Calibration.plot` draws it.

    Raises
    ------
    ValueError
        If an option is out of its range; if the spots are too few or too dim, or Gaussians describe those of held-out frames as well.
    TypeError, OSError
        As `localize`.

    Warns
    -----
    SpotfitWarning
        As `localize`.

    Examples
    --------
    >>> import spotfit
    >>> camera = spotfit.Camera(baseline=100, read_noise=1.5)
    >>> movie = spotfit.simulate_movie(
    ...     frames=100, width=64, height=64, density=0.4, pixel_size=100, uniform=True, photons=3000, background=30, psf_na=1.4, zernike={(2, 2): 0.1}, camera=camera
    ... )
    >>> psf = spotfit.learn_psf(movie.frames, camera=camera)
    >>> psf.kind, psf.report["deviance"] < psf.report["gaussian"]
    ('psf', True)
    """
    given: dict[str, Any] = expanded(options, ("filter",))
    given.pop("filter", None)
    if given.get("psf") == "learn":
        del given["psf"]
    for name in ("positions", "calibration", "psf", "follow"):
        if given.get(name) not in (None, False) if name == "follow" else given.get(name) is not None:
            raise ValueError(f"{name} is for localizing: the PSF is learnt from the movie alone")
    number = given.pop("learn_frames", None)
    number = None if number is None else arguments.whole("learn_frames", number)
    part = given.get("frames")
    # What is wrong with a movie and its options is told as where it is localized.
    blocks = Unlearnt(movie, **given)
    first, last = blocks._first, blocks._first + blocks.total
    frames = None if part is None else f"{first + 1}:{last}"
    movie, parts = arguments.movie(movie)
    if not isinstance(movie, (str, PathLike)):
        movie, frames = to_learn_from(movie, first, last, number), None
    chosen = arguments.chosen_of(given, bool(given.get("strict", False)), parts)
    made = _spotfit.learn_psf(movie, blocks._options, chosen=chosen, frames=frames, learn_frames=number)
    return calibration_of("psf", made)
