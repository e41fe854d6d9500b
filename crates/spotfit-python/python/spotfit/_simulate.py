"""Simulated windows, movies and stacks of beads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit
from ._camera import Camera
from ._locs import Locs

#: Offset, gain and variance.
Maps = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]

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
    given = locals()
    checked = {
        "size": arguments.size(size),
        "sigma": arguments.pair("sigma", sigma),
        "camera": arguments.camera(Camera() if camera is None else camera),
        "maps": None if maps is None else _three(maps),
        "seed": arguments.whole("seed", seed, 2**64 - 1),
    }
    pixels, numbers, corners = _spotfit.simulate(arguments.whole("count", count), given | checked)
    truth: npt.NDArray[Any] = numbers.view(_TRUTH)[:, 0] if len(numbers) else np.empty(0, _TRUTH)
    return Simulation(pixels, truth, corners)


@dataclass(frozen=True, eq=False, repr=False)
class SimulatedMovie:
    """Simulated frames with their truth.

    Attributes
    ----------
    frames : array (n, height, width) of uint16
        The frames in counts.
    truth : Locs
        The molecules and beads that glow in each frame: ``frame``, ``x``, ``y`` and ``sigma`` in pixels (``sigma_x`` and ``sigma_y``
        unless circular; ``angle`` in radians if rotated, ``z`` in nanometres if defocused or behind an objective), ``photons`` and ``background`` (of a pixel)
        in photo-electrons, and the number of the ``molecule``.
    maps : (offset, gain, variance) or None
        The maps (height, width) of the camera, if there are any: ADU, ADU per photo-electron, ADU².
    defects : array (height, width) of bool, or None
        Where hot pixels are, if there are any, as ``localize(defects=…)`` takes them.
    """

    frames: npt.NDArray[np.uint16]
    truth: Locs
    maps: Maps | None = None
    defects: npt.NDArray[np.bool_] | None = None

    def __repr__(self) -> str:
        count, height, width = self.frames.shape
        with_maps = "" if self.maps is None else " of a camera with maps"
        return f"SimulatedMovie of {count:,} frames of {height}×{width} pixels{with_maps}, with a truth of {len(self.truth):,} rows"


def simulate_movie(
    frames: int = 500,
    *,
    width: int = 256,
    height: int = 256,
    spots: float = 20.0,
    density: float | None = None,
    pixel_size: float = 100.0,
    uniform: bool = False,
    photons: float = 1000.0,
    photons_spread: float = 0.0,
    sigma: float = 1.3,
    sigma_spread: float | None = None,
    shape: Literal["circular", "elliptical", "rotated", "defocused"] = "circular",
    z_range: float | None = None,
    focus: float | None = None,
    depth: float | None = None,
    profile: Literal["sampled", "integrated"] = "sampled",
    psf_na: float | None = None,
    wavelength: float | None = None,
    index: float | None = None,
    sample_index: float | None = None,
    sample_depth: float | None = None,
    zernike: Mapping[tuple[int, int], float] | None = None,
    zernike_corner: Mapping[tuple[int, int], float] | None = None,
    dipole: tuple[float, float] | None = None,
    on_time: float = 3.0,
    off_time: float = 300.0,
    beads: int = 0,
    hot_pixels: int = 0,
    haze: float = 0.0,
    drift: Sequence[float] = (0.0, 0.0),
    heights: Literal["random", "structure"] | None = None,
    background: float = 20.0,
    unevenness: float = 0.5,
    camera: Camera | None = None,
    maps: Literal["simulated"] | tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike] | None = None,
    seed: int = 1,
) -> SimulatedMovie:
    """Simulates a movie: blinking molecules on lines and rings or anywhere, beads, an uneven background. The same options and the same
    seed give the frames of ``spotfit simulate movie`` on every machine.

    Parameters
    ----------
    frames : int
        Number of frames.
    width, height : int
        Sides of the frames in pixels.
    spots : float
        Molecules that glow in a frame, on average, where no `density` is given.
    density : float, optional
        Spots of a frame per µm², on average, instead of molecules that blink: each frame has spots of its own, which have all their
        photons in it. `spots`, `on_time` and `off_time` have no part in it.
    pixel_size : float
        The side of a pixel in nanometres, for `density` and `psf_na`.
    uniform : bool
        Spots lie anywhere in the frame instead of on lines and rings.
    photons : float
        Photo-electrons of a molecule in a frame: behind an objective all that reach the camera of one in focus.
    photons_spread : float
        How much molecules differ in brightness: their photons are log-normal with the mean `photons`, and this is the standard deviation
        of their logarithm, 0 to 2.
    sigma : float
        Standard deviation of the spots in pixels.
    sigma_spread : float, optional
        How much sigma varies from molecule to molecule: it is uniform within this share of `sigma`, 0 to 0.9. Default: 0; 0.25
        for elliptical and rotated spots.
    shape, profile, z_range, focus, depth
        As for `simulate`, with the same defaults. Only defocused spots take the last three; `z_range` those behind an objective, too,
        which are in focus without.
    psf_na : float, optional
        The numerical aperture of an objective that spots are behind: they have its light, of vectorial optics, in place of a Gaussian's.
        `sigma` and `profile` have no part in it, and the truth has a column z (nm).
    wavelength : float, optional
        The wavelength of its light in vacuum, in nanometres. Default: 680.
    index, sample_index : float, optional
        The refractive indices of the immersion and of the sample. Default: 1.518, and that of the immersion.
    sample_depth : float, optional
        How far behind the coverslip molecules in focus are, in nanometres: where the indices differ, at least as far as molecules are
        from the focus. Default: 0.
    zernike : mapping of (n, m) to float, optional
        Aberrations: the root of the mean square of Zernike's terms over the pupil, in wavelengths. (2, 0) moves the focus,
        (4, 0) is spherical, (2, 2) and (2, -2) astigmatism, (3, 1) and (3, -1) coma.
    zernike_corner : mapping of (n, m) to float, optional
        The same in the corners of the frame, besides: they grow from its middle on with the distance to the power abs(m), or its square
        where m is 0, and turn with the direction from the middle, as those of a lens do.
    dipole : (float, float), optional
        Molecules stand still, with these angles from the optical axis and in the image, in degrees. Default: they turn freely.
    on_time, off_time : float
        How long a molecule glows, and stays dark, on average, in frames.
    beads : int
        Number of fiducial beads, always on, ten times as bright as a molecule.
    hot_pixels : int
        Number of hot pixels: each adds 5 to 50 % of the photons of a molecule to its pixel, in every frame. They are not in the truth
        of the spots.
    haze : float
        Six clouds of light out of focus, of half of so many to so many photo-electrons a pixel at their centres in the first frame. They
        move slowly and bleach.
    drift : (float, float) or (float, float, float)
        Drift from frame to frame: x and y in pixels, and z in nanometres for defocused spots and behind an objective.
    heights : {"random", "structure"}, optional
        The heights of defocused spots and behind an objective: random, or those of the structures. Default: random.
    background : float
        Mean photo-electrons of the background in a pixel.
    unevenness : float
        How much the background varies over the frame, as a share of its mean, 0 to 1.
    camera : Camera, optional
        How photo-electrons become counts. Default: a baseline of 100 and a read noise of 1.5.
    maps : "simulated" or (offset, gain, variance), optional
        Maps (height, width) of a camera whose pixels differ: ADU, ADU per photo-electron, ADU². They replace `camera` but for its EM
        gain. "simulated" makes them from the seed.
    seed : int
        The seed.

    Returns
    -------
    SimulatedMovie
        Frames and truth.

    Raises
    ------
    ValueError
        If an option is out of its range, or is for defocused spots and these are not.

    Examples
    --------
    >>> movie = simulate_movie(10, width=64, height=48, spots=5)
    >>> movie.frames.shape, movie.frames.dtype.name
    ((10, 48, 64), 'uint16')
    >>> bool((movie.truth.photons <= 1000).all())
    True
    """
    given = locals()
    moved = [arguments.number("drift", step) for step in drift]
    if len(moved) not in (2, 3):
        raise ValueError("drift must be x and y, or x, y and z")
    made, truth, used, defects = _spotfit.simulate_movie({
        **_checked(
            given, ("frames", "beads", "hot_pixels"),
            ("spots", "pixel_size", "photons", "photons_spread", "sigma", "on_time", "off_time", "haze"),
        ),
        "density": None if density is None else arguments.number("density", density),
        "drift": moved[:2],
        "drift_z": moved[2] if len(moved) == 3 else None,
    })  # fmt: skip
    return SimulatedMovie(made, Locs._made(*truth), used, defects)


def simulate_beads(
    *,
    step: float = 20.0,
    range: float = 700.0,
    beads: int = 20,
    spread: float = 50.0,
    photons: float = 10000.0,
    sigma: float = 1.3,
    focus: float | None = None,
    depth: float | None = None,
    profile: Literal["sampled", "integrated"] = "sampled",
    psf_na: float | None = None,
    wavelength: float | None = None,
    index: float | None = None,
    sample_index: float | None = None,
    sample_depth: float | None = None,
    zernike: Mapping[tuple[int, int], float] | None = None,
    zernike_corner: Mapping[tuple[int, int], float] | None = None,
    dipole: tuple[float, float] | None = None,
    pixel_size: float = 100.0,
    width: int = 256,
    height: int = 256,
    background: float = 20.0,
    unevenness: float = 0.5,
    camera: Camera | None = None,
    maps: Literal["simulated"] | tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike] | None = None,
    seed: int = 1,
) -> SimulatedMovie:
    """Simulates a z stack of beads behind an astigmatic lens or an objective, for `calibrate`. The same options and the same seed give the frames of
    ``spotfit simulate beads`` on every machine.

    Parameters
    ----------
    step : float
        How far the stage goes from slice to slice, in nanometres.
    range : float
        The stage goes from plus to minus this, in nanometres, so that the first slice shows the beads highest.
    beads : int
        Number of beads. Each lies in a square of its own of 24 pixels.
    spread : float
        The beads' own heights are uniform within plus and minus this, in nanometres.
    photons : float
        Photo-electrons of a bead in a slice.
    sigma : float
        Standard deviation of a bead in focus, in pixels.
    psf_na, wavelength, index, sample_index, sample_depth, zernike, zernike_corner, dipole, pixel_size
        As for `simulate_movie`: `focus` and `depth` are for the astigmatic lens alone.
    focus, depth, profile, width, height, background, unevenness, camera, maps, seed
        As for `simulate_movie`.

    Returns
    -------
    SimulatedMovie
        Slices and truth.

    Raises
    ------
    ValueError
        If an option is out of its range, or there is no room for so many beads.

    Examples
    --------
    >>> stack = simulate_beads(step=100, beads=2, width=64, height=48)
    >>> stack.frames.shape, len(stack.truth)
    ((15, 48, 64), 30)
    """
    given = _checked(locals(), ("beads",), ("step", "range", "spread", "photons", "sigma", "pixel_size"))
    made, truth, used, _ = _spotfit.simulate_beads(given)
    return SimulatedMovie(made, Locs._made(*truth), used)


def _terms(name: str, given: Mapping[tuple[int, int], float] | None) -> list[tuple[int, int, float]]:
    """Zernike's terms: n, m and wavelengths."""
    terms = []
    for order, waves in ({} if given is None else dict(given)).items():
        if not (isinstance(order, tuple) and len(order) == 2):
            raise ValueError(f"{name} must have keys (n, m), not {order!r}")
        n, m = arguments.whole(name, order[0], 20), arguments.whole(name, abs(order[1]), 20)
        terms.append((n, m if order[1] >= 0 else -m, arguments.number(name, waves)))
    return terms


#: The numbers of an objective besides its numerical aperture.
_BEHIND = ("wavelength", "index", "sample_index", "sample_depth")


def _objective(given: dict[str, Any]) -> dict[str, Any] | None:
    """The numbers of an objective, if there is one."""
    if given["psf_na"] is None:
        for name in (*_BEHIND, "zernike", "zernike_corner", "dipole"):
            if given[name] is not None:
                raise ValueError(f"{name}: it needs psf_na")
        return None
    found = {name: arguments.number(name, given[name]) for name in _BEHIND if given[name] is not None}
    dipole = given["dipole"]
    if dipole is not None:
        if not (isinstance(dipole, Sequence) and len(dipole) == 2):
            raise ValueError("dipole must be two angles, in degrees")
        dipole = (arguments.number("dipole", dipole[0]), arguments.number("dipole", dipole[1]))
    terms = {name: _terms(name, given[name]) for name in ("zernike", "zernike_corner")}
    return {"na": arguments.number("psf_na", given["psf_na"]), **found, **terms, "dipole": dipole}


#: The camera of simulated movies, if nothing is said.
_CAMERA = Camera(baseline=100.0, read_noise=1.5)


def _checked(given: dict[str, Any], counts: Sequence[str], numbers: Sequence[str]) -> dict[str, Any]:
    """What is given of frames, with these counts and numbers, as Rust takes it."""
    return {
        **given,
        **{name: arguments.whole(name, given[name]) for name in ("width", "height", *counts)},
        **{name: arguments.number(name, given[name]) for name in ("background", "unevenness", *numbers)},
        "camera": arguments.camera(_CAMERA if given["camera"] is None else given["camera"]),
        "seed": arguments.whole("seed", given["seed"], 2**64 - 1),
        "objective": _objective(given),
        "maps": _maps(given["maps"]),
    }


def _maps(maps: Any) -> tuple[list[Any] | None, bool]:
    """Maps, and whether they are to be simulated."""
    if isinstance(maps, str):
        if maps != "simulated":
            raise ValueError(f"maps must be three arrays, or 'simulated', not {maps!r}")
        return None, True
    return (None if maps is None else _three(maps)), False


def _three(maps: Any) -> list[Any]:
    try:
        offset, gain, variance = maps
    except (TypeError, ValueError):
        raise ValueError("maps must be three arrays: offset, gain, variance") from None
    return [offset, gain, variance]
