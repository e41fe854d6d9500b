"""Drift that is followed while frames come."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import Any, Literal, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from . import _arguments as arguments
from . import _spotfit
from ._camera import Camera, by_metadata
from ._fit import fitter_of
from ._frozen import frozen
from ._options import Estimator, InstructionSet, Length, Profile
from ._pictures import Drift
from ._spotfit import CameraMap
from ._warnings import tell

Doubles = npt.NDArray[np.float64]
#: At most so many, a file with their places, or the places (n, 2) in pixels.
TrackBeads = Union[int, str, PathLike[str], npt.ArrayLike]
Smooth = Literal["none", "exponential", "kalman"]


class TrackedFrame(NamedTuple):
    """The drift of a frame, relative to the first: to be subtracted from positions. It is in nanometres if the size of a pixel is known."""

    #: The number of the frame; the reference is frame 0.
    frame: int
    #: Seconds since the first frame, if that is known.
    time: float | None
    x: float
    y: float
    #: In nanometres, with a calibration.
    z: float | None
    #: Standard errors.
    x_error: float
    y_error: float
    z_error: float | None
    #: The beads that it rests on; 0 if it was not measured.
    beads: int
    #: The beads that are lost.
    lost: int
    #: "measured"; "held" without a bead; "lost", where it is not known where the beads are; or "wrong_size". Only the first is a measurement.
    status: str
    #: Microseconds from the frame in memory to its drift.
    latency: float


def _nothing() -> Doubles:
    return np.zeros(0)


@dataclass(frozen=True, eq=False, repr=False)
class Track:
    """The drift of all frames of a source, relative to the first.

    Attributes
    ----------
    frame : array (n,) of int
        The number of each frame, from 0. Frames that were lost are not there.
    time : array (n,) or (0,)
        Seconds since the first frame, if they are known.
    x, y : array (n,)
        The drift in `unit`: to be subtracted from positions.
    z : array (n,) or (0,)
        In nanometres, with a calibration.
    x_error, y_error, z_error : array (n,) or (0,)
        Standard errors.
    beads : array (n,) of int
        The beads that each rests on; 0 where it was not measured.
    status : array (n,) of str
        ``"measured"``; ``"held"`` without a bead; or ``"lost"``, where it is not known where the beads are. Only the first is a measurement.
    latency : array (n,) or (0,)
        Microseconds from each frame in memory to its drift, where frames come as they are taken.
    unit : {"px", "nm"}
        The unit of x and y: nanometres if the size of a pixel is known.
    pixel_size : float or None
        Side of a pixel in nanometres, if it is known.
    report : dict
        What was counted: ``frames``, ``held``, ``lost_frames``, ``missed``, ``torn``, ``disorder``, ``beads``, the range and the error of each axis,
        ``latency`` and others.
    """

    frame: npt.NDArray[np.int64]
    x: Doubles
    y: Doubles
    x_error: Doubles
    y_error: Doubles
    beads: npt.NDArray[np.int64]
    status: npt.NDArray[np.str_] = field(default_factory=lambda: np.zeros(0, "U10"))
    time: Doubles = field(default_factory=_nothing)
    z: Doubles = field(default_factory=_nothing)
    z_error: Doubles = field(default_factory=_nothing)
    latency: Doubles = field(default_factory=_nothing)
    unit: Literal["px", "nm"] = "px"
    pixel_size: float | None = None
    report: dict[str, Any] = field(default_factory=dict)
    #: As they are written: name, unit, kind, values, words.
    _columns: Any = ()

    def __len__(self) -> int:
        return len(self.frame)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Writes the table that ``spotfit track -o`` writes, as CSV: frames count from 1 there. ``spotfit drift --apply`` reads it.

        Parameters
        ----------
        path : str or path
            A name that ends in ``.csv``.
        overwrite : bool
            Whether a file that is no table of Spotfit may be replaced.

        Raises
        ------
        OSError
            If it cannot be written.
        ValueError
            If the name has another ending.
        """
        if not fspath(path).lower().endswith(".csv"):
            raise ValueError(f"{fspath(path)}: the name of a table of drift ends in .csv")
        info = _spotfit.Info(self.pixel_size, None, None, None)
        _spotfit.write_table(path, self._columns, info, arguments.flag("overwrite", overwrite), 0)

    def __repr__(self) -> str:
        return f"Track({len(self)} frames, {self.report.get('beads')} beads, unit={self.unit!r})"

    @property
    def drift(self) -> Drift:
        """The same as `find_drift` gives it: ``track.drift.correct(locs)`` takes it out.

        Raises
        ------
        ValueError
            If frames were lost, whose drift is not known.
        """
        if not np.array_equal(self.frame, np.arange(len(self))):
            raise ValueError(f"{self.frame[-1] + 1 - len(self)} frames were lost: their drift is not known")
        errors = self.x_error, self.y_error, self.z_error
        return Drift(self.x, self.y, self.z, *errors, unit=self.unit, pixel_size=self.pixel_size)


def _options(given: dict[str, Any]) -> _spotfit.TrackOptions:
    """What Rust needs of the keywords of `track`."""
    pixel_size, psf, shape, fixed_sigma = (given[name] for name in ("pixel_size", "psf", "shape", "fixed_sigma"))
    beads, camera, profile, estimator = (given[name] for name in ("beads", "camera", "profile", "estimator"))
    size = None if isinstance(pixel_size, str) and pixel_size == "px" else arguments.length("pixel_size", pixel_size)
    if psf is not None and (shape != "circular" or fixed_sigma is not None or profile != "sampled"):
        raise ValueError("shape, fixed_sigma and profile are for Gaussians: a measured PSF has a shape of its own")
    if estimator is None:
        estimator = "lse" if psf is None else "mle"
    asked = by_metadata(given.get("camera_from"), camera, given.get("cameras"))
    if asked is not None and not isinstance(camera, CameraMap):
        camera = None
    fit: Any = {"shape": shape, "profile": profile, "estimator": estimator, "camera": camera, "instruction_set": given["instruction_set"]}
    if fixed_sigma is not None:
        fit["fixed_sigma"] = fixed_sigma
        del fit["shape"]
    elif given["calibration"] is not None and shape == "circular":
        fit["shape"] = "elliptical"
    most, places, file = 32, None, None
    if isinstance(beads, (str, PathLike)):
        file = fspath(beads)
    elif isinstance(beads, (int, np.integer)) and not isinstance(beads, bool):
        most = arguments.whole("beads", beads)
    else:
        at = np.asarray(arguments.unmasked("beads", beads), dtype=float)
        if at.ndim != 2 or at.shape[1] != 2 or not np.isfinite(at).all():
            raise ValueError(f"beads must be their number, a file or finite places (n, 2), not of shape {at.shape}")
        places = at.tolist()
    wander, stop_after = given["wander"], given.get("stop_after")
    return _spotfit.TrackOptions(*fitter_of(fit, size), {
        **given,
        "camera": None if camera is None or isinstance(camera, CameraMap) else arguments.camera(camera),
        "camera_from": asked,
        "beads": most,
        "beads_at": places,
        "beads_file": file,
        **{name: arguments.number(name, given[name]) for name in ("false_rate", "smooth_frames")},
        "reach": arguments.whole("reach", given["reach"]),
        "patience": arguments.whole("patience", given["patience"], 2**32 - 1),
        "wander": None if wander is None else arguments.number("wander", wander),
        **{name: arguments.flag(name, given[name]) for name in ("rotation", "scale")},
        "pixel_size": size,
        "pixels": isinstance(pixel_size, str),
        "box_size": arguments.box(given["box"], size),
        "stop_after": None if stop_after is None else arguments.whole("stop_after", stop_after),
    })  # fmt: skip


def track(
    source: str | PathLike[str] | npt.ArrayLike,
    *,
    beads: TrackBeads = 32,
    false_rate: float = 1.0,
    reach: int = 8,
    patience: int = 20,
    smooth: Smooth = "none",
    smooth_frames: float = 5.0,
    wander: float | None = None,
    rotation: bool = False,
    scale: bool = False,
    pixel_size: float | Literal["px"] | None = None,
    calibration: str | PathLike[str] | None = None,
    psf: str | PathLike[str] | None = None,
    box: Length | None = None,
    instruction_set: InstructionSet | None = None,
    shape: Literal["circular", "elliptical", "rotated"] = "circular",
    profile: Profile = "sampled",
    fixed_sigma: Length | tuple[Length, Length] | None = None,
    estimator: Estimator | None = None,
    camera: Camera | CameraMap | Mapping[str, float] | None = None,
    camera_from: Literal["metadata"] | None = None,
    cameras: str | PathLike[str] | None = None,
    rate: float | None = None,
    idle: float = 10.0,
    stop_after: int | None = None,
    channel: int | None = None,
    slice: int | None = None,
    position: int | str | None = None,
    strict: bool = False,
    udp: str | int | None = None,
    ring_out: str | None = None,
    callback: Callable[[TrackedFrame], object] | None = None,
) -> Track:
    """Follows the drift of all frames of a source, by beads of the first frame.

    Python goes on meanwhile: other threads run, and Ctrl-C ends it.

    Parameters
    ----------
    source : str, path or array_like (n, height, width)
        A movie in a file; ``"follow:PATH"``, one that is being written; ``"ring:NAME"``, a ring in shared memory that the program of a
        camera fills (`RingWriter`); or frames.
    beads : int, path or array_like (n, 2)
        How many beads are looked for in the first frame at most, those with the smallest errors; a file with their places; or their
        places (x, y) in pixels.
    false_rate : float
        How many false beads may be found in a million pixels of noise.
    reach : int
        How far from its expected place a bead that is gone is looked for, in pixels.
    patience : int
        A bead that was not seen in so many frames is lost, and looked for in the whole frame.
    smooth : {"none", "exponential", "kalman"}
        How the drift is smoothed over time: not at all; by the mean of the last `smooth_frames`; or by a filter of constant velocity.
    smooth_frames : float
        The frames in which the weight falls by e.
    wander : float, optional
        With "kalman": how much the velocity changes from frame to frame, in pixels (nanometres along z). Default: the filter learns it.
    rotation, scale : bool
        Whether the sample may turn, and grow or shrink.
    pixel_size : float or "px", optional
        Side of a pixel in nanometres; with "px" drift is in pixels. Default: what the metadata of the movie state.
    calibration : path, optional
        Find the drift along z from the widths of the beads, by this calibration. The shape is "elliptical" then.
    psf : path, optional
        Fit x, y and z of the beads with this measured PSF, in place of a Gaussian; by maximum likelihood, if nothing else is said.
    box : int or str, optional
        Side of the windows, in pixels or with a unit. Default: 9; with `calibration` that of its beads, with `psf` what it leaves room for.
    instruction_set, shape, profile, fixed_sigma, estimator, camera
        As in `Fitter`.
    camera_from : "metadata", optional
        Take what is not given of the camera from the metadata of the movie, or by its name there from a table of cameras; `camera` is
        a dict of the numbers that are known then, or not given. What is taken is told by warnings.
    cameras : path, optional
        With `camera_from`: a table of cameras besides the one that is known, TOML with entries ``[[camera]]``.
    rate : float, optional
        The frames of a movie were taken so many a second. Default: they have no times.
    idle : float
        Seconds after which a ring without a sign of life has lost its writer, and a movie that is being written is complete.
    stop_after : int, optional
        End after so many frames.
    channel, slice : int, optional
        Which channel and which slice of a file, from 0.
    position : int or str, optional
        Which position of the stage, from 0 or by its name, of a file that has several.
    strict : bool
        Refuse a file that is cut off, of which the whole frames are read otherwise.
    udp : int or str, optional
        Send each drift as a datagram to a port of this machine, or to ``"HOST:PORT"``.
    ring_out : str, optional
        Write each drift into a ring of this name.
    callback : callable, optional
        Called with a `TrackedFrame` for each frame, as soon as its drift is known. Where frames come as they are taken, False ends it.

    Returns
    -------
    Track
        The drift of each frame, and the ``report``.

    Raises
    ------
    FileNotFoundError, OSError
        If a file is not there, or cannot be read.
    ValueError
        If there is no bead, an option is out of its range, or a ring ends without its end.

    Examples
    --------
    >>> import numpy as np, spotfit
    >>> y, x = np.mgrid[:40, :40]
    >>> frames = [100 + 900 * np.exp(-((x - 20 - 0.1 * t) ** 2 + (y - 19) ** 2) / 3.4) + (7 * x + 3 * y) % 5 for t in range(10)]
    >>> track = spotfit.track(np.array(frames), camera=spotfit.Camera())
    >>> len(track), track.unit, bool(abs(track.x[9] - 0.9) < 0.02)
    (10, 'px', True)
    """
    options = _options(locals())
    named = isinstance(source, (str, PathLike))
    frames: Any = None if named else np.asarray(arguments.unmasked("source", source))
    if frames is not None and frames.ndim != 3:
        raise ValueError(f"source must be a name or frames (n, height, width), not of shape {frames.shape}")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback must be a function, not {type(callback).__name__}")
    heard = callback
    columns, unit, size, report, notes = _spotfit.track(
        fspath(source) if isinstance(source, (str, PathLike)) else None,
        frames,
        options,
        chosen=arguments.chosen(channel, slice, position, strict),
        rate=None if rate is None else arguments.number("rate", rate),
        idle=arguments.number("idle", idle),
        udp=None if udp is None else str(udp),
        ring_out=ring_out,
        callback=None if heard is None else lambda numbers: heard(TrackedFrame(*numbers)) is not False,
    )
    for note in notes:
        tell(note)
    found: dict[str, Any] = {name: frozen(values) for name, _, _, values, _ in columns}
    for name in ("frame", "beads"):
        found[name] = frozen(found[name].astype(np.int64))
    for name, _, _, values, words in columns:
        if name == "status":
            found[name] = frozen(np.array(words)[values.astype(np.int64)])
    if "latency_us" in found:
        found["latency"] = found.pop("latency_us")
    return Track(**found, unit="nm" if unit == "nm" else "px", pixel_size=size, report=json.loads(report), _columns=columns)


class Tracker:
    """Follows the drift of frames that a program has, one after the other.

    Parameters
    ----------
    reference : array_like (height, width)
        The frame where the drift is 0, in which the beads are found.
    **options
        Those of `track`, as far as they are about beads, fits and drift.

    Examples
    --------
    >>> import numpy as np, spotfit
    >>> y, x = np.mgrid[:40, :40]
    >>> frames = [100 + 900 * np.exp(-((x - 20 - 0.1 * t) ** 2 + (y - 19) ** 2) / 3.4) + (7 * x + 3 * y) % 5 for t in range(10)]
    >>> tracker = spotfit.Tracker(frames[0], camera=spotfit.Camera())
    >>> drifts = [tracker.update(frame) for frame in frames[1:]]
    >>> bool(abs(drifts[-1].x - 0.9) < 0.02), drifts[-1].frame, tracker.beads.shape
    (True, 9, (1, 2))
    """

    def __init__(
        self,
        reference: npt.ArrayLike,
        *,
        beads: TrackBeads = 32,
        false_rate: float = 1.0,
        reach: int = 8,
        patience: int = 20,
        smooth: Smooth = "none",
        smooth_frames: float = 5.0,
        wander: float | None = None,
        rotation: bool = False,
        scale: bool = False,
        pixel_size: float | None = None,
        calibration: str | PathLike[str] | None = None,
        psf: str | PathLike[str] | None = None,
        box: Length | None = None,
        instruction_set: InstructionSet | None = None,
        shape: Literal["circular", "elliptical", "rotated"] = "circular",
        profile: Profile = "sampled",
        fixed_sigma: Length | tuple[Length, Length] | None = None,
        estimator: Estimator | None = None,
        camera: Camera | CameraMap | None = None,
    ) -> None:
        options = _options(locals())
        self._tracker = _spotfit.Tracker(_one("reference", reference), options)
        for note in self._tracker.notes():
            tell(note)

    def update(self, frame: npt.ArrayLike, time: float = 0.0) -> TrackedFrame:
        """The drift of the next frame.

        Parameters
        ----------
        frame : array_like (height, width)
            Its pixels. One of another size has the status "wrong_size", and the drift is held.
        time : float
            When it was there, in seconds.

        Returns
        -------
        TrackedFrame
            Its ``frame`` is 1 for the first after the reference.
        """
        return TrackedFrame(*self._tracker.update(_one("frame", frame), arguments.number("time", time)))

    @property
    def beads(self) -> Doubles:
        """Where the beads are in the reference: an array (n, 2) of x and y in pixels."""
        return np.array(self._tracker.beads()).reshape(-1, 2)


def _one(name: str, frame: npt.ArrayLike) -> npt.NDArray[Any]:
    """A frame as a stack of one."""
    pixels = np.asarray(arguments.unmasked(name, frame))
    if pixels.ndim != 2:
        raise ValueError(f"{name} must be an array (height, width), not of shape {pixels.shape}")
    return pixels[np.newaxis]
