"""Simulated windows."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit
from ._camera import Camera

_TRUTH = np.dtype(
    [(name, "f8") for name in ("x", "y", "sigma", "sigma_x", "sigma_y", "angle", "z", "photons", "background")]
)


class Simulation(NamedTuple):
    """Simulated windows with their truth.

    Attributes
    ----------
    spots : array (n, height, width) of float32
        The windows in counts.
    truth : structured array (n,)
        The fields ``x``, ``y``, ``sigma``, ``sigma_x``, ``sigma_y`` (pixels), ``angle`` (radians), ``z`` (nanometres),
        ``photons`` and ``background`` (photo-electrons of the spot, and of a pixel).
    corners : array (n, 2) of uint32 or None
        Column and row in the camera's maps of the first pixel of each window, if there are maps.
    """

    spots: npt.NDArray[np.float32]
    truth: npt.NDArray[np.void]
    corners: npt.NDArray[np.uint32] | None

    def __repr__(self) -> str:
        count, height, width = self.spots.shape
        with_maps = "" if self.corners is None else " of a camera with maps"
        return f"Simulation of {count:,} windows of {height}×{width} pixels{with_maps}: spots, truth, corners"


def simulate(
    count: int,
    size: int | tuple[int, int] = 9,
    *,
    photons: float = 400.0,
    background: float = 0.5,
    sigma: float | tuple[float, float] = (1.0, 2.0),
    shape: Literal["circular", "elliptical", "rotated", "defocused"] = "circular",
    z_range: float = 500.0,
    focus: float = 200.0,
    depth: float = 400.0,
    profile: Literal["sampled", "integrated"] = "sampled",
    scatter: float = 0.05,
    reach: float | None = None,
    noise: Literal["poisson", "paper", "none"] = "poisson",
    camera: Camera | None = None,
    maps: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike] | None = None,
    seed: int = 1,
) -> Simulation:
    """Simulates windows with a spot each. The same seed gives the same windows on every machine.

    Parameters
    ----------
    count : int
        The number of windows.
    size : int or (int, int)
        Height and width of a window in pixels; one number for squares.
    photons : float
        Photo-electrons of each spot.
    background : float
        Photo-electrons of the background in each pixel.
    sigma : float or (float, float)
        The standard deviation in pixels, or the range in which it is uniform. Of defocused spots that in focus.
    shape : {"circular", "elliptical", "rotated", "defocused"}
        The shape of the spots. Defocused ones are astigmatic: their widths follow from a height z.
    z_range : float
        Defocused: z is uniform within plus and minus this, in nanometres.
    focus : float
        Defocused: the z at which sigma_x is in focus, in nanometres; sigma_y is at its negative.
    depth : float
        Defocused: how far from its focus a width has grown by √2, in nanometres.
    profile : {"sampled", "integrated"}
        Whether a pixel has the Gaussian at its centre, or its mean over the pixel.
    scatter : float
        Centres are normally distributed around that of the window, with this share of its sides.
    reach : float, optional
        Centres are uniform within this many pixels of that of the window, in place of `scatter`.
    noise : {"poisson", "paper", "none"}
        Photon noise, the Gaussian noise of Leutenegger & Weber 2021, or the expected image.
    camera : Camera, optional
        How photo-electrons become counts. Default: a count for each.
    maps : (offset, gain, variance), optional
        Maps (height, width) of a camera whose pixels differ: ADU, ADU per photo-electron, ADU². They replace
        `camera` but for its EM gain.
    seed : int
        The seed.

    Returns
    -------
    Simulation
        Windows and truth.

    Examples
    --------
    >>> simulation = simulate(100, size=(7, 9), photons=1000)
    >>> simulation.spots.shape, float(simulation.truth["photons"][0])
    ((100, 7, 9), 1000.0)
    """
    pixels, numbers, corners = _spotfit.simulate(
        arguments.whole("count", count),
        size=arguments.size(size),
        photons=photons,
        background=background,
        sigma=arguments.pair("sigma", sigma),
        shape=shape,
        defocus=(z_range, focus, depth),
        profile=profile,
        scatter=scatter,
        reach=reach,
        noise=noise,
        camera=arguments.camera(Camera() if camera is None else camera),
        maps=None if maps is None else _three(maps),
        seed=arguments.whole("seed", seed, 2**64 - 1),
    )
    truth: npt.NDArray[Any] = numbers.view(_TRUTH)[:, 0] if len(numbers) else np.empty(0, _TRUTH)
    return Simulation(pixels, truth, corners)


def _three(maps: Any) -> list[Any]:
    try:
        offset, gain, variance = maps
    except (TypeError, ValueError):
        raise ValueError("maps must be three arrays: offset, gain, variance") from None
    return [offset, gain, variance]
