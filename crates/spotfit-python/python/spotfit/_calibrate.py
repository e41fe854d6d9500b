"""Calibrations of z from stacks of beads."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal

from . import _arguments as arguments
from . import _spotfit
from ._camera import Camera, by_metadata
from ._fit import fitter_of
from ._plots import Format, Plotted
from ._spotfit import CameraMap
from ._warnings import tell

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import Length, Options

#: Endings of the files of calibrations, by what is in them.
_ENDINGS = {"widths": (".yaml", ".yml"), "psf": (".hdf5", ".h5")}


@dataclass(frozen=True)
class Calibration(Plotted):
    """A calibration of z: `save` writes it for `localize`, `z` and Picasso, `plot` draws the widths against z, the smallest errors
    of x, y and z with a measured PSF, or the members of one that was learnt from a movie and what they leave of spots.

    Attributes
    ----------
    report : dict
        What came of it, as ``spotfit calibrate --json`` prints it: beads, slices, range, residuals and errors.
    kind : {"widths", "psf"}
        Whether the widths of spots tell z, or it is a measured PSF.
    """

    report: dict[str, Any]
    kind: Literal["widths", "psf"]
    _content: bytes = field(repr=False)
    _plots: dict[str, bytes] = field(repr=False, compare=False, default_factory=dict)

    def _drawn(self, format: Format) -> bytes:
        if format not in self._plots:
            raise ValueError("this calibration does not know how it was made: it has no plot")
        return self._plots[format]

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the calibration: ``.yaml`` for widths, ``.hdf5`` for a measured PSF. A file of this name is replaced,
        and its record goes away.

        Raises
        ------
        ValueError
            If the name has another ending.
        OSError
            If the file cannot be written; one of this name is as it was then.
        """
        name = fspath(path)
        endings = _ENDINGS[self.kind]
        if not name.lower().endswith(endings):
            what = "a calibration of widths" if self.kind == "widths" else "a measured PSF"
            raise ValueError(f"{name}: the name of {what} ends in {' or '.join(endings)}")
        _spotfit.write_file(name, self._content)


def calibrate(
    stacks: Any,
    *,
    step: float,
    order: Literal["first-highest", "first-lowest"] = "first-highest",
    frames_per_step: int = 1,
    box: Length | None = None,
    pixel_size: float | Literal["px"] | None = None,
    range: tuple[float, float] | None = None,
    zero: Literal["crossing", "stage"] = "crossing",
    magnification: float = 1.0,
    channel: int | None = None,
    slice: int | None = None,
    position: int | str | None = None,
    strict: bool = False,
    camera_from: Literal["metadata"] | None = None,
    cameras: str | PathLike[str] | None = None,
    **options: Unpack[Options],
) -> Calibration:
    """Learns from z stacks of beads behind an astigmatic lens how the widths of spots tell their height.

    Python goes on meanwhile: other threads run, and Ctrl-C ends it.

    Parameters
    ----------
    stacks : path, array_like (slice, height, width), or a sequence of them
        Movies whose frames are slices at equal steps of z.
    step : float
        From slice to slice, in nanometres.
    order : {"first-highest", "first-lowest"}
        Which slice shows the beads highest.
    frames_per_step : int
        Frames taken at each step, one after the other.
    box : int or str, optional
        Side of the fitted windows, in pixels or with a unit, as in ``"1.3um"``; odd. Spots far from the focus are wide. Default: 13.
    pixel_size : float or "px", optional
        Side of a pixel in nanometres. Default: what the metadata of the first file state; with "px" it is not known.
    range : (float, float), optional
        The range of z that is needed, in nanometres. Default: the widest possible.
    zero : {"crossing", "stage"}
        Where z is 0: where the widths are equal, or in the middle of the stack.
    magnification : float
        What z is multiplied by in the end, because of different refractive indices.
    channel, slice : int, optional
        Which channel and which slice, from 0; of files only.
    position : int or str, optional
        Which position of the stage, from 0 or by its name, of a file that has several.
    strict : bool
        Refuse a file that is cut off, of which the whole frames are read otherwise.
    camera_from : "metadata", optional
        Take what is not given of the camera from the metadata of the first file, or by its name there from a table of cameras; `camera` is
        a dict of the numbers that are known then, or not given. What is taken is told by warnings.
    cameras : path, optional
        With `camera_from`: a table of cameras besides the one that is known, TOML with entries ``[[camera]]``.
    **options
        The options of `Fitter`: `camera`, `estimator`, `threads` and others. The shape is elliptical.

    Returns
    -------
    Calibration
        The calibration with its report; `Calibration.save` writes it.

    Raises
    ------
    FileNotFoundError, OSError
        If a file is not there, or cannot be read.
    ValueError
        If an option is out of its range, or the stacks give no calibration.

    Examples
    --------
    >>> import spotfit
    >>> camera = spotfit.Camera(baseline=100, read_noise=1.5)
    >>> stack = spotfit.simulate_beads(beads=10, width=128, height=128, step=25)
    >>> calibration = spotfit.calibrate(stack.frames, step=25, camera=camera)
    >>> calibration.report["used"]
    10
    >>> calibration.report["z_error"] < 20
    True
    """
    wanted: dict[str, Any] = {
        "stack": _taken(step, order, frames_per_step, pixel_size, magnification),
        "range": None if range is None else arguments.pair("range", range),
        "zero": _one("zero", zero, ("crossing", "stage")),
    }
    size = _size(pixel_size)
    if box is not None:
        wanted["box_size"] = arguments.box(box, size)
    asked = by_metadata(camera_from, options.get("camera"), cameras)
    if asked is not None and not isinstance(options.get("camera"), CameraMap):
        options["camera"] = None
    fitter, known = fitter_of(options, size)
    chosen = arguments.chosen(channel, slice, position, strict)
    made = _spotfit.calibrate(_all(stacks), fitter, known, options=json.dumps(wanted), chosen=chosen, camera_from=asked)
    return calibration_of("widths", made)


def calibrate_psf(
    stacks: Any,
    *,
    step: float,
    planes: float = 50.0,
    order: Literal["first-highest", "first-lowest"] = "first-highest",
    frames_per_step: int = 1,
    box: Length | None = None,
    pixel_size: float | Literal["px"] | None = None,
    magnification: float = 1.0,
    camera: Camera | CameraMap | Mapping[str, float] | None = None,
    threads: int = 0,
    channel: int | None = None,
    slice: int | None = None,
    position: int | str | None = None,
    strict: bool = False,
    camera_from: Literal["metadata"] | None = None,
    cameras: str | PathLike[str] | None = None,
) -> Calibration:
    """Measures the PSF from z stacks of beads: a cubic spline in x, y and z, as ``spotfit calibrate --spline`` does.

    It takes any shape, and at least three beads; ten or more make a good one.

    Parameters
    ----------
    stacks, step, order, frames_per_step, pixel_size, magnification, channel, slice, position, strict, camera_from, cameras
        As for `calibrate`.
    planes : float
        The distance of the PSF's planes in z, in nanometres: 1 to 1000.
    box : int or str, optional
        Side of the boxes of beads, in pixels or with a unit; odd. The PSF is about as large: some pixels more than the windows that are to be fitted
        with it. Default: 17.
    camera : Camera, CameraMap or dict, optional
        How the camera makes counts of photo-electrons. Without it counts are taken for them. A dict has the numbers that are known, with `camera_from`.
    threads : int
        Number of threads; 0 takes one for each processor.

    Returns
    -------
    Calibration
        The PSF with its report; `Calibration.save` writes it.

    Raises
    ------
    FileNotFoundError, OSError
        If a file is not there, or cannot be read.
    ValueError
        If an option is out of its range, or the stacks give no PSF.

    Warns
    -----
    SpotfitWarning
        If there is no camera, or the places of the beads still moved in the last round.

    Examples
    --------
    >>> import spotfit
    >>> camera = spotfit.Camera(baseline=100, read_noise=1.5)
    >>> stack = spotfit.simulate_beads(beads=4, width=96, height=96, step=50, range=400, photons=50000)
    >>> psf = spotfit.calibrate_psf(stack.frames, step=50, camera=camera)
    >>> psf.report["used"], psf.report["largest_window"]
    (4, 17)
    """
    wanted: dict[str, Any] = {
        "stack": _taken(step, order, frames_per_step, pixel_size, magnification),
        "planes": arguments.number("planes", planes),
        "threads": arguments.whole("threads", threads),
    }
    if box is not None:
        wanted["box_size"] = arguments.box(box, _size(pixel_size))
    known = camera if isinstance(camera, CameraMap) else None
    asked = by_metadata(camera_from, camera, cameras)
    numbers = None if camera is None or known is not None or asked is not None else arguments.camera(camera)
    chosen = arguments.chosen(channel, slice, position, strict)
    made = _spotfit.calibrate_psf(_all(stacks), numbers, known, options=json.dumps(wanted), chosen=chosen, camera_from=asked)
    return calibration_of("psf", made)


def calibration_of(kind: Literal["widths", "psf"], made: tuple[bytes, str, list[bytes], list[str]]) -> Calibration:
    content, report, (svg, png), notes = made
    tell(notes)
    return Calibration(json.loads(report), kind, content, {"svg": svg, "png": png})


def _size(pixel_size: Any) -> float | None:
    """The side of a pixel in nanometres that is given."""
    return None if isinstance(pixel_size, str) and pixel_size == "px" else arguments.length("pixel_size", pixel_size)


def _taken(step: float, order: str, frames_per_step: int, pixel_size: Any, magnification: float) -> dict[str, Any]:
    """How stacks were taken, as Rust reads it."""
    scale: Any = "of_movie"
    if isinstance(pixel_size, str) and pixel_size == "px":
        scale = "unknown"
    elif pixel_size is not None:
        scale = {"nanometres": _size(pixel_size)}
    return {
        "step": arguments.number("step", step),
        "order": _one("order", order, ("first-highest", "first-lowest")),
        "frames_per_step": arguments.whole("frames_per_step", frames_per_step, 2**32 - 1),
        "pixel_size": scale,
        "magnification": arguments.number("magnification", magnification),
    }


def _one(name: str, word: str, words: Sequence[str]) -> str:
    if word not in words:
        raise ValueError(f"{name} = {word!r} is not one of {', '.join(map(repr, words))}")
    return word


def _all(stacks: Any) -> list[Any]:
    """Stacks, of which there may be one."""
    one = isinstance(stacks, (str, PathLike)) or len(getattr(stacks, "shape", ())) == 3
    several = [stacks] if one else list(stacks)
    if not several:
        raise ValueError("stacks are needed: there are none")
    return [fspath(stack) if isinstance(stack, PathLike) else stack for stack in several]
