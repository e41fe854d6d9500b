"""Fitting windows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from ._camera import Camera
from ._device import DeviceFits
from ._emitters import EmitterFits, FittingEmitters, emitters_of
from ._fits import Errors, Fits, Fitting
from ._keywords import refuse
from ._spotfit import CameraMap, device_of
from ._spotfit import Fitter as _Fitter
from ._warnings import NO_CAMERA, tell

if TYPE_CHECKING:
    from typing import Protocol

    from typing_extensions import Unpack

    from ._options import Background, Backend, Criteria, Emitters, Estimator, InstructionSet, Length, Options, Profile, Shape

    class _ByDLPack(Protocol):
        def __dlpack_device__(self) -> Any: ...

    class _ByInterface(Protocol):
        @property
        def __cuda_array_interface__(self) -> Any: ...

    #: An array that may be in the memory of a GPU: a tensor of PyTorch, an array of CuPy.
    OnDevice = _ByDLPack | _ByInterface

    # With these, what has no type (numpy.load) is taken for an array of the host; without, the outcome would have no type.
    Own = TypeVar("Own", bound=npt.NDArray[Any])
    There = TypeVar("There", bound=OnDevice)
    Like = TypeVar("Like", bound=npt.ArrayLike)


class Fitter:
    """Fits windows with the same options, again and again. It holds its threads.

    Parameters
    ----------
    shape : {"circular", "elliptical", "rotated", "given"}
        The shape of the spots. Of "given" ones each has the width of its start.
    profile : {"sampled", "integrated"}
        What a pixel measures: the Gaussian at its centre, or its integral over the pixel. It matters where sigma is
        below about 1 pixel.
    fixed_sigma : float or str, or two of them, optional
        The width is known, in place of a shape: in pixels or with a unit, as in ``"130nm"``, or the widths along x and y.
    estimator : {"lse", "mle"}
        What is minimized: least squares, or the deviance of Poisson distributed photo-electrons.
    camera : Camera or CameraMap, optional
        How counts are turned into photo-electrons. Without it all numbers are in counts, and maximum likelihood and
        errors take a count for a photo-electron. With a map the corners of the windows must be given.
    background : {"free", "nonnegative", "plane"}, optional
        What is known about the background. "plane" is for uneven light: it has two slopes (`Fits.offset_x`, `offset_y`).
        Maximum likelihood takes "nonnegative" if nothing is said, least squares "free".
    criteria : {"default", "tight", "paper"}
        When to stop: the ordinary, for comparing with other optimizers, or those of Leutenegger & Weber 2021.
    max_iterations : int, optional
        At most so many iterations, 1 to 100000.
    min_delta : float, optional
        Stop when a step reduces chi² by less than this share; 0: never.
    min_step : float, optional
        Stop when a step changes neither centre nor width by more than this share of the width; 0: never.
    max_error : float, optional
        Stop when chi², summed over the window, is less than this.
    tolerance : float, optional
        Maximum likelihood: stop when the next step is shorter than this many standard errors.
    centre_margin : float, optional
        How far outside the outermost pixel centres the centre may lie, in pixels. Default: 1.
    sigma_min : float or str, optional
        The smallest sigma, in pixels or with a unit, as in ``"90nm"``. Default: 0.25.
    sigma_max : float or str, optional
        The largest sigma, in pixels or with a unit. Default: the longer side of the window.
    pixel_size : float, optional
        Side of a pixel in nanometres, for lengths that are given in nanometres. What is found is in pixels all the same.
    backend : {"auto", "cpu", "gpu", "reference"}
        What computes: the CPU in single precision, NVIDIA GPUs in single precision, or the CPU in double precision,
        slowly. "auto" is the CPU, but a GPU for batches that it fits sooner, with the time to start it, if there is one: `devices` says
        from which size on.
    instruction_set : {"avx512", "avx2", "neon", "portable"}, optional
        Vector instructions of the backend "cpu". Default: the fastest that the processor has.
    device : int or sequence of int
        The GPU of the backend "gpu", or several, by their numbers from 0.
    threads : int
        Threads of the CPU, at most 1024; 0 takes one for each processor.

    Raises
    ------
    ValueError
        If an option is out of its range, the processor lacks the instructions, or a length is in nanometres and the size of a
        pixel is not given.
    RuntimeError
        If the GPU cannot be used, or threads cannot be started.

    Examples
    --------
    >>> import spotfit
    >>> fitter = spotfit.Fitter(fixed_sigma="130nm", pixel_size=100)
    >>> spots = spotfit.simulate(10, sigma=1.3, photons=1000).spots
    >>> bool((fitter.fit(spots).sigma == 1.3).all())
    True
    """

    __slots__ = ("_by", "_counts", "_fitter", "_map", "_options")

    def __init__(
        self,
        *,
        shape: Shape = "circular",
        profile: Profile = "sampled",
        fixed_sigma: Length | tuple[Length, Length] | None = None,
        estimator: Estimator = "lse",
        camera: Camera | CameraMap | None = None,
        background: Background | None = None,
        criteria: Criteria = "default",
        max_iterations: int | None = None,
        min_delta: float | None = None,
        min_step: float | None = None,
        max_error: float | None = None,
        tolerance: float | None = None,
        centre_margin: float | None = None,
        sigma_min: Length | None = None,
        sigma_max: Length | None = None,
        pixel_size: float | None = None,
        backend: Backend = "auto",
        instruction_set: InstructionSet | None = None,
        device: int | Sequence[int] = 0,
        threads: int = 0,
    ) -> None:
        size = arguments.length("pixel_size", pixel_size)
        known = None if fixed_sigma is None else arguments.sigmas("fixed_sigma", fixed_sigma, size)
        fixed_sigma = None if known is None else known[0] if len(known) == 1 else (known[0], known[1])
        sigma_min = None if sigma_min is None else arguments.pixels("sigma_min", sigma_min, size)
        sigma_max = None if sigma_max is None else arguments.pixels("sigma_max", sigma_max, size)
        # What another process makes the same of.
        given = {name: value for name, value in locals().items() if name not in ("self", "size", "known", "pixel_size")}
        devices = (device,) if isinstance(device, SupportsIndex) else tuple(device)
        self._options = cast("Options", given | {"device": devices})
        self._map = camera if isinstance(camera, CameraMap) else None
        numbers = None if camera is None or self._map is not None else arguments.camera(camera)
        if max_iterations is not None:
            max_iterations = arguments.whole("max_iterations", max_iterations, 100_000)
        if fixed_sigma is not None and shape != "circular":
            raise ValueError(f"fixed_sigma is a shape of its own: leave out shape = '{shape}'")
        checked = {
            "sigma": known,
            "camera": numbers,
            "max_iterations": max_iterations,
            "devices": [arguments.whole("device", number, 2**31) for number in devices],
            "threads": arguments.whole("threads", threads, 1024),
        }
        self._fitter = _Fitter(given | checked)
        self._by = Fitting(
            shape=shape,
            sigma=known,
            estimator=estimator,
            background=background,
            single=self._fitter.single,
            about=self._fitter.about,
            limits=(centre_margin, sigma_min, sigma_max),
        )
        # Whether counts are taken for photo-electrons, and nobody said so.
        self._counts = camera is None

    @classmethod
    def _again(cls, options: Options) -> Fitter:
        return cls(**cast("Any", options))

    def _with_map(self, camera: CameraMap) -> Fitter:
        other = Fitter.__new__(Fitter)
        other._fitter, other._map, other._options = self._fitter, camera, {**self._options, "camera": camera}
        other._by, other._counts = self._by, False
        return other

    def __reduce__(self) -> Any:
        return Fitter._again, (self._options,)

    @property
    def backend(self) -> str:
        """The backend in use. With "auto" a batch that is large enough may still go to the GPU."""
        return self._fitter.backend

    @property
    def instruction_set(self) -> str | None:
        """The vector instructions in use."""
        return self._fitter.instruction_set

    @property
    def threads(self) -> int:
        """The number of threads that fit; 0 if the GPU does."""
        return self._fitter.threads

    @overload
    def fit(
        self,
        spots: Own,
        *,
        start: npt.ArrayLike | None = None,
        weights: npt.ArrayLike | None = None,
        corners: npt.ArrayLike | None = None,
        errors: bool = False,
        dtype: Literal["float32", "float64"] | None = None,
    ) -> Fits: ...
    @overload
    def fit(
        self,
        spots: There,
        *,
        start: npt.ArrayLike | OnDevice | None = None,
        weights: npt.ArrayLike | OnDevice | None = None,
        corners: npt.ArrayLike | None = None,
        errors: bool = False,
        dtype: Literal["float32"] | None = None,
    ) -> DeviceFits: ...
    @overload
    def fit(
        self,
        spots: Like,
        *,
        start: npt.ArrayLike | None = None,
        weights: npt.ArrayLike | None = None,
        corners: npt.ArrayLike | None = None,
        errors: bool = False,
        dtype: Literal["float32", "float64"] | None = None,
    ) -> Fits: ...
    def fit(
        self,
        spots: Any,
        *,
        start: Any = None,
        weights: Any = None,
        corners: npt.ArrayLike | None = None,
        errors: bool = False,
        dtype: Literal["float32", "float64"] | None = None,
    ) -> Fits | DeviceFits:
        """Fits every window of a stack. The parameters are those of `spotfit.fit`."""
        self._doubt(errors)
        return self._fit("spots", spots, corners, None, start, weights, errors, dtype)

    @overload
    def fit_in_frames(
        self,
        frames: Own,
        corners: npt.ArrayLike,
        size: int | tuple[int, int],
        *,
        start: npt.ArrayLike | None = None,
        weights: npt.ArrayLike | None = None,
        errors: bool = False,
        dtype: Literal["float32", "float64"] | None = None,
    ) -> Fits: ...
    @overload
    def fit_in_frames(
        self,
        frames: There,
        corners: npt.ArrayLike,
        size: int | tuple[int, int],
        *,
        start: npt.ArrayLike | OnDevice | None = None,
        weights: npt.ArrayLike | OnDevice | None = None,
        errors: bool = False,
        dtype: Literal["float32"] | None = None,
    ) -> DeviceFits: ...
    @overload
    def fit_in_frames(
        self,
        frames: Like,
        corners: npt.ArrayLike,
        size: int | tuple[int, int],
        *,
        start: npt.ArrayLike | None = None,
        weights: npt.ArrayLike | None = None,
        errors: bool = False,
        dtype: Literal["float32", "float64"] | None = None,
    ) -> Fits: ...
    def fit_in_frames(
        self,
        frames: Any,
        corners: npt.ArrayLike,
        size: int | tuple[int, int],
        *,
        start: Any = None,
        weights: Any = None,
        errors: bool = False,
        dtype: Literal["float32", "float64"] | None = None,
    ) -> Fits | DeviceFits:
        """Fits windows that are cut out of frames. The parameters are those of `spotfit.fit_in_frames`."""
        if corners is None:
            raise TypeError("corners must be an array, not None")
        self._doubt(errors)
        return self._fit("frames", frames, corners, arguments.size(size), start, weights, errors, dtype)

    def _doubt(self, errors: bool) -> None:
        """Warns where outcomes depend on a camera that is not given."""
        if self._counts and (arguments.flag("errors", errors) or self._by.estimator == "mle"):
            tell(NO_CAMERA)

    def _fit(
        self,
        name: str,
        pixels: Any,
        corners: npt.ArrayLike | None,
        size: tuple[int, int] | None,
        start: Any,
        weights: Any,
        errors: bool,
        dtype: str | None,
    ) -> Fits | DeviceFits:
        double = _double(dtype)
        if start is None and self._by.shape == "given":
            raise ValueError("shape = 'given' needs start: each window has the width of its start")
        # NumPy's own arrays, which most are, need not be asked.
        plain = type(pixels) is np.ndarray
        device = None if plain else device_of(name, pixels)
        height, width = (0, 0, *(pixels.shape if plain else np.shape(pixels)))[-2:] if size is None else size
        # Of what depends on the camera it was said already.
        counts = self._counts and not (errors or self._by.estimator == "mle")
        made = self._by, counts, (width, height)
        if device is None:
            rows, of_rows = self._fitter.fit(pixels, corners, size, start, weights, self._map, errors, double)
            rows.setflags(write=False)
            return Fits(rows, None if of_rows is None else Errors(of_rows, rows), made)
        if double:
            raise ValueError("dtype = 'float64' needs pixels in the host's memory: GPUs compute in float32")
        found = self._fitter.fit_there(pixels, device, corners, size, start, weights, self._map, errors)
        return DeviceFits(found, made)

    def _fit_emitters(
        self,
        name: str,
        pixels: Any,
        emitters: str,
        corners: npt.ArrayLike | None,
        size: tuple[int, int] | None,
        errors: bool,
    ) -> EmitterFits:
        if type(pixels) is not np.ndarray and device_of(name, pixels) is not None:
            raise ValueError(f"emitters = {emitters} needs pixels in the host's memory")
        numbers, about = self._fitter.fit_emitters(pixels, corners, size, self._map, emitters)
        spots = len(np.asarray(corners)) if size is not None else len(pixels)
        return emitters_of(numbers, FittingEmitters(self._by.shape, self._by.sigma, errors, about, spots))

    def __repr__(self) -> str:
        details = self.instruction_set or "GPU" if self.backend != "reference" else "double precision"
        return f"Fitter({self.backend}: {details}, {self.threads} threads)"


def _double(dtype: str | None) -> bool | None:
    if dtype not in (None, "float32", "float64"):
        raise ValueError(f"dtype = {dtype!r} is not 'float32' or 'float64'")
    return None if dtype is None else dtype == "float64"


# 2 and 2.0 are not the same: the second may be wrong.
_cached = lru_cache(maxsize=16, typed=True)(Fitter)


#: Options that may be text with a unit, which needs the size of a pixel.
LENGTHS = ("fixed_sigma", "sigma_min", "sigma_max")


def _fitter(options: Options, pixel_size: float | None = None) -> Fitter:
    """A fitter with these options: that of an earlier call, if there was one, for starting threads takes longer than
    fitting some windows."""
    size = arguments.length("pixel_size", pixel_size)
    if size is not None and not options.keys().isdisjoint(LENGTHS):
        options = cast("Options", {**options, "pixel_size": size})
    camera = options.get("camera")
    if isinstance(camera, CameraMap):
        # Maps are large: only their owner keeps them.
        return _fitter({**options, "camera": None})._with_map(camera)
    try:
        return _cached(**options)
    except TypeError:
        refuse("fit", options, (*(fit_quietly.__kwdefaults__ or ()), *(Fitter.__init__.__kwdefaults__ or ())))
        # What cannot be hashed, a list for instance, may be right.
        return Fitter(**cast("Any", options))


def fitter_of(options: Options, pixel_size: float | None = None) -> tuple[_Fitter, CameraMap | None]:
    """What Rust needs of a fitter with these options."""
    fitter = _fitter(options, pixel_size)
    return fitter._fitter, fitter._map


@overload
def fit(
    spots: Own,
    *,
    start: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    corners: npt.ArrayLike | None = None,
    errors: bool = False,
    dtype: Literal["float32", "float64"] | None = None,
    emitters: Literal[1] = 1,
    pixel_size: float | None = None,
    **options: Unpack[Options],
) -> Fits: ...
@overload
def fit(
    spots: There,
    *,
    start: npt.ArrayLike | OnDevice | None = None,
    weights: npt.ArrayLike | OnDevice | None = None,
    corners: npt.ArrayLike | None = None,
    errors: bool = False,
    dtype: Literal["float32"] | None = None,
    emitters: Literal[1] = 1,
    pixel_size: float | None = None,
    **options: Unpack[Options],
) -> DeviceFits: ...
@overload
def fit(  # type: ignore[overload-overlap]
    spots: Like,
    *,
    start: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    corners: npt.ArrayLike | None = None,
    errors: bool = False,
    dtype: Literal["float32", "float64"] | None = None,
    emitters: Literal[1] = 1,
    pixel_size: float | None = None,
    **options: Unpack[Options],
) -> Fits: ...
@overload
def fit(
    spots: Like,
    *,
    start: None = None,
    weights: None = None,
    corners: npt.ArrayLike | None = None,
    errors: bool = False,
    dtype: None = None,
    emitters: Emitters,
    pixel_size: float | None = None,
    **options: Unpack[Options],
) -> EmitterFits: ...
def fit(
    spots: Any,
    *,
    start: Any = None,
    weights: Any = None,
    corners: npt.ArrayLike | None = None,
    errors: bool = False,
    dtype: Literal["float32", "float64"] | None = None,
    emitters: Emitters = 1,
    pixel_size: float | None = None,
    **options: Unpack[Options],
) -> Fits | DeviceFits | EmitterFits:
    """Fits a Gaussian spot to every window of a stack.

    Python goes on meanwhile: other threads run, and Ctrl-C ends the fit.

    Parameters
    ----------
    spots : array_like (n, height, width)
        The windows, of integers, booleans or floating-point numbers, in any memory layout. Arrays of 8 to 64 bit
        integers, float32 and float64 are fitted where they lie. Others are copied once: other number types, the other
        byte order, and numbers at addresses that their type does not allow.
        Arrays in the memory of an NVIDIA GPU, such as tensors of PyTorch or arrays of CuPy, are fitted there, by DLPack or
        ``__cuda_array_interface__``: of float32, uint16, uint8 or booleans, in C order. `start` and the weights of each window may be
        there too, of float32. Such a fit ends before Ctrl-C is heard.
    start : array_like (n, 3) or (n, 5), optional
        Where to start: x, y, sigma of each window, or x, y, sigma_x, sigma_y, angle; in pixels and radians. Without it
        each window starts from an estimate.
    weights : array_like (n, height, width) or (height, width), optional
        For least squares: the weight of each pixel, or of each pixel of the frame, which needs `corners`. Pixels with
        a weight of 0 or NaN are masked.
    corners : array_like (n, 2), optional
        Column and row of the first pixel of each window in the frame, for a camera map or weights of the frame.
    errors : bool
        Whether standard errors are wanted, too. Finding them takes longer than the fit.
    dtype : {"float32", "float64"}, optional
        The type of the numbers in the outcome. Default: that in which the backend computes.
    emitters : int or "auto"
        How many emitters a window may show: 1; "auto", as many as its light tells, all of them fitted together; or up to so many, 2 to 100: where more
        are needed, all of that window are ``Status.max_iterations``. The estimator is "mle" then, and the background "free"; spots are circular, or
        have a `fixed_sigma`. Not with `start`, `weights`, `dtype`, criteria and limits.
    pixel_size : float, optional
        Side of a pixel in nanometres, for lengths that are given in nanometres. What is found is in pixels all the same.
    **options
        The options of `Fitter`: `shape`, `estimator`, `camera`, `backend` and others.

    Returns
    -------
    Fits, DeviceFits or EmitterFits
        An outcome for each window; in the memory of the GPU, if the windows are there. With several `emitters` an outcome for each of them, and one
        for each window that has none.

    Raises
    ------
    ValueError
        If a shape or an option makes no sense.
    TypeError
        If something is not what it should be, such as pixels that are no numbers.
    MemoryError
        If the outcomes do not fit into memory.
    RuntimeError
        If the GPU cannot be used.

    Warns
    -----
    SpotfitWarning
        If there is no camera, and maximum likelihood, errors, or later ``photons`` are asked for.

    Examples
    --------
    >>> import numpy as np, spotfit
    >>> y, x = np.mgrid[:9, :9]
    >>> window = 100 * np.exp(-((x - 4.25) ** 2 + (y - 3.5) ** 2) / (2 * 1.5**2)) + 10
    >>> fits = spotfit.fit(window[None])
    >>> [round(float(value), 2) for value in (fits.x[0], fits.y[0], fits.sigma[0])]
    [4.25, 3.5, 1.5]
    """
    if emitters != 1:
        fitter = _of_emitters(emitters, start, weights, dtype, options, pixel_size)
        return fitter._fit_emitters("spots", spots, str(emitters), corners, None, arguments.flag("errors", errors))
    fitter = _fitter(options, pixel_size)
    return fitter.fit(spots, start=start, weights=weights, corners=corners, errors=errors, dtype=dtype)


def _of_emitters(emitters: Any, start: Any, weights: Any, dtype: Any, options: Options, pixel_size: float | None) -> Fitter:
    """What fits several emitters a window."""
    for name, given in ("start", start), ("weights", weights), ("dtype", dtype):
        if given is not None:
            raise ValueError(f"{name} is for one emitter a window: leave it out, or emitters = {emitters}")
    options = cast("Options", {"estimator": "mle", "background": "free", **options})
    fitter = _fitter(options, pixel_size)
    fitter._doubt(True)
    return fitter


def fit_quietly(
    spots: Any,
    *,
    start: Any = None,
    weights: Any = None,
    corners: npt.ArrayLike | None = None,
    errors: bool = False,
    dtype: Literal["float32", "float64"] | None = None,
    pixel_size: float | None = None,
    **options: Unpack[Options],
) -> Fits | DeviceFits:
    """The same without a warning: where it was given, or counts are photo-electrons."""
    return _fitter(options, pixel_size)._fit("spots", spots, corners, None, start, weights, errors, dtype)


@overload
def fit_in_frames(
    frames: Own,
    corners: npt.ArrayLike,
    size: int | tuple[int, int],
    *,
    start: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    errors: bool = False,
    dtype: Literal["float32", "float64"] | None = None,
    emitters: Literal[1] = 1,
    pixel_size: float | None = None,
    **options: Unpack[Options],
) -> Fits: ...
@overload
def fit_in_frames(
    frames: There,
    corners: npt.ArrayLike,
    size: int | tuple[int, int],
    *,
    start: npt.ArrayLike | OnDevice | None = None,
    weights: npt.ArrayLike | OnDevice | None = None,
    errors: bool = False,
    dtype: Literal["float32"] | None = None,
    emitters: Literal[1] = 1,
    pixel_size: float | None = None,
    **options: Unpack[Options],
) -> DeviceFits: ...
@overload
def fit_in_frames(  # type: ignore[overload-overlap]
    frames: Like,
    corners: npt.ArrayLike,
    size: int | tuple[int, int],
    *,
    start: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    errors: bool = False,
    dtype: Literal["float32", "float64"] | None = None,
    emitters: Literal[1] = 1,
    pixel_size: float | None = None,
    **options: Unpack[Options],
) -> Fits: ...
@overload
def fit_in_frames(
    frames: Like,
    corners: npt.ArrayLike,
    size: int | tuple[int, int],
    *,
    start: None = None,
    weights: None = None,
    errors: bool = False,
    dtype: None = None,
    emitters: Emitters,
    pixel_size: float | None = None,
    **options: Unpack[Options],
) -> EmitterFits: ...
def fit_in_frames(
    frames: Any,
    corners: npt.ArrayLike,
    size: int | tuple[int, int],
    *,
    start: Any = None,
    weights: Any = None,
    errors: bool = False,
    dtype: Literal["float32", "float64"] | None = None,
    emitters: Emitters = 1,
    pixel_size: float | None = None,
    **options: Unpack[Options],
) -> Fits | DeviceFits | EmitterFits:
    """Fits windows that are cut out of frames, without copying them first.

    Parameters
    ----------
    frames : array_like (n, height, width)
        The frames, as the windows of `fit`.
    corners : array_like (m, 3)
        Frame, column and row of the first pixel of each window. Centres in the outcome count from it.
    size : int or (int, int)
        Height and width of the windows in pixels; one number for squares.
    start, weights, errors, dtype, emitters, pixel_size, **options
        As of `fit`. A camera map or weights of the frame need no other corners.

    Returns
    -------
    Fits, DeviceFits or EmitterFits
        As of `fit`, in the order of the corners.

    Examples
    --------
    >>> import spotfit
    >>> movie = spotfit.simulate_movie(2, width=64, height=48, spots=0, beads=1)
    >>> x, y = int(movie.truth.x[0]) - 4, int(movie.truth.y[0]) - 4
    >>> fits = spotfit.fit_in_frames(movie.frames, [[0, x, y], [1, x, y]], 9)
    >>> bool((abs(x + fits.x - movie.truth.x) < 0.1).all())
    True
    """
    if emitters != 1:
        if corners is None:
            raise TypeError("corners must be an array, not None")
        fitter = _of_emitters(emitters, start, weights, dtype, options, pixel_size)
        sides = arguments.size(size)
        return fitter._fit_emitters("frames", frames, str(emitters), corners, sides, arguments.flag("errors", errors))
    fitter = _fitter(options, pixel_size)
    return fitter.fit_in_frames(
        frames, corners, size, start=start, weights=weights, errors=errors, dtype=dtype
    )
