"""Localizing movies."""

from __future__ import annotations

import builtins
import json
import sys
from builtins import slice as Slice
from collections.abc import Callable, Iterator, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from . import _arguments as arguments
from . import _defects, _positions, _spotfit
from ._camera import Camera, by_metadata
from ._concatenate import joined
from ._fit import LENGTHS, Fitter, fitter_of
from ._keywords import refuse
from ._locs import Locs
from ._preset import PresetFile, takes_preset
from ._spotfit import CameraMap
from ._warnings import NO_CAMERA, tell

if TYPE_CHECKING:
    from typing_extensions import Unpack

    import numpy.typing as npt

    from ._options import Defects, Emitters, Flag, Length, LocalizeOptions, Options, Positions, Sigma

#: Pixels of an array that are localized at a time.
_BLOCK = 1 << 22
#: Options that a measured PSF has no use for.
_GAUSSIAN = (
    "shape", "fixed_sigma", "profile", "criteria", "min_delta", "min_step", "max_error", "tolerance", "centre_margin",
    "sigma_min", "sigma_max",
)  # fmt: skip
#: Pixels whose largest value is that of a saturated one.
_NARROW = (np.dtype(np.uint8), np.dtype(np.uint16))


def localize(
    movie: str | PathLike[str] | Sequence[str | PathLike[str]] | Any,
    *,
    progress: Callable[[int, int], object] | None = None,
    **options: Unpack[LocalizeOptions],
) -> Locs:
    """Finds and fits the spots of a movie.

    Python goes on meanwhile: other threads run, and Ctrl-C ends it.

    Parameters
    ----------
    movie : path, sequence of paths or array_like (n, height, width)
        A file, several that are one movie, or frames: see `Blocks`.
    progress : callable, optional
        Called with the number of frames done and that of all, after each block. Of a movie that is being written the latter is that
        which its metadata promise, or 0.
    **options
        The options of `Blocks` and of `Fitter`: `box`, `drop`, `camera`, `shape`, `estimator` and others.

    Returns
    -------
    Locs
        The localizations in the order of the frames, in pixels and photo-electrons. The ``report`` has ``frames``, ``candidates``,
        ``fits``, ``statuses``, ``converged``, ``dropped`` with the reasons, ``localizations``, ``backend``, ``time`` and others.

    Raises
    ------
    FileNotFoundError, OSError
        If a file is not there, or cannot be read.
    ValueError
        If it is no movie, or an option is out of its range.

    Examples
    --------
    >>> import numpy as np, spotfit
    >>> movie = np.random.default_rng(1).poisson(20, (10, 64, 64))
    >>> movie[:, 30:33, 40:43] += 200
    >>> locs = spotfit.localize(movie, camera=spotfit.Camera())
    >>> len(locs), round(float(np.median(locs.x))), round(float(np.median(locs.y)))
    (10, 41, 31)
    """
    blocks = Blocks(movie, **options)
    parts = []
    for part in blocks:
        parts.append(part)
        if progress is not None:
            progress(blocks.done, blocks.total)
    locs = joined(parts) if parts else blocks.empty()
    if options.get("follow"):
        # How many frames there are was not known when the first localizations came.
        locs = Locs._of(locs._columns, blocks._info)
    # Localizations do not change for those who have them.
    object.__setattr__(locs, "_report", blocks.report or {})
    return locs


class Blocks(Iterator[Locs]):
    """The localizations of a movie, block by block: an iterator of `Locs`.

    Parameters
    ----------
    movie : path, sequence of paths or array_like (n, height, width)
        A TIFF, OME-TIFF, NPY, Picasso ``.raw`` or ``.dax`` file, several of them that are one movie in this order, whose frames go on
        counting, or frames. Anything with a shape that gives frames when it
        is sliced will do, such as ``numpy.memmap``: it is taken in blocks.
    box : int or str, optional
        Side of the windows, in pixels or with a unit, as in ``"700nm"``: odd, 5 to 63. Default: 7; with `calibration` that of the beads, with `psf` the largest up to
        13 that leaves 5 pixels of it around.
    false_rate : float
        How many false spots may be found in a million pixels of noise: 1 is one in 15 frames of 256×256 pixels, and 1e-4 in a µm² at 100 nm a
        pixel. 10 finds more of spots that are hardly seen.
    threshold : float, optional
        How far a spot must stand out, in units of the local noise, in place of what follows from `false_rate`.
    roi : four of int or str, or str, optional
        Where to look: first column, first row, columns, rows; in pixels or with units, as in ``"0,0,12.8um,12.8um"``.
    frames : slice, optional
        Which frames, without a step; negative numbers count from the end.
    pixel_size : float or "px", optional
        Side of a pixel in nanometres. It stands in the table; lengths are in pixels (`Locs.in_nanometres`). Default: what the
        metadata of the file state; with "px" it is not known. A `calibration` of Picasso 1.0 needs it, unless it says it itself.
    drop : str or sequence of str
        Drop localizations that cannot be trusted: "neighbour", "residual", "saturated", "width", "crowd", or "all".
    all : bool
        Keep fits that failed, too, with a column ``status``.
    flags : bool
        Add ``neighbour``, ``goodness`` and ``flags``.
    errors : bool
        Add the standard errors of photons, background and widths.
    saturation : float, optional
        The least value of a saturated pixel, in ADU. Default: the value that many pixels of the first frames have and none exceeds, or
        what the significant bits of the metadata tell; otherwise that of integers of 8 or 16 bits is their largest value, and no other
        number is taken for saturated.
    calibration : path, optional
        A calibration of ``spotfit calibrate`` or Picasso, by which z of every spot follows from its widths. The shape is
        "elliptical" then, if nothing else is said. Adds ``z`` and its uncertainty in nanometres, ``z_distance`` and ``z_status``.
    psf : path or "learn", optional
        A measured PSF of ``spotfit calibrate --spline`` or Picasso (``spline-3d``), with which x, y and z are fitted in place
        of a Gaussian; by maximum likelihood, if nothing else is said. Adds the same columns, but for one of `learn_psf`, which has no
        heights. "learn" learns it first from the spots of the movie itself, of one that is being written from its first frames: where they
        tell too little, a warning says why, and spots have Gaussians.
    learn_frames : int, optional
        The most frames that a PSF is learnt from, taken from all of the movie. Default: 1000.
    aperture : float or str, optional
        Photons of Gaussians are those of the spot's core: multiply them by what isolated spots of the first frames have within this radius
        over the photons of their Gaussians, an aperture correction. In pixels, or with a unit, as in ``"800nm"``. Not with `psf`.
    emitters : int or "auto"
        How many emitters light may come from: 1, every candidate is fitted in a window of its own; "auto", as many as the frame shows, all
        of them fitted together with a background that varies over the frame: circular, of known widths, or with a height that
        `calibration` or `psf` tells; or the most in a window of `box` pixels, 2 to 100: where more are needed, all of that window are
        ``Status.max_iterations`` (dropped without `all`). The estimator is "mle" if they are fitted together, and the background "free".
    sigma : {"free", "shared"}
        With emitters that are fitted together and no `fixed_sigma`, `calibration` or `psf`: every spot has a width of its own, or all have the one that is found in the first 32
        frames.
    defects : "auto", "none", path or array (height, width), optional
        Defective pixels, which are masked: no spot is found at them, and no fit looks at them. "auto" finds hot, flickering and dark ones in
        the first frames; a mask, or an ``.npy`` file of one, is not 0 where a pixel is defective. Default: nothing is masked, but a
        warning tells of defects that the first frames show.
    temporal_background : int, optional
        Take the background from what each pixel shows over time: its median over so many frames around each frame, an odd number or one
        more, at least 3. Spots are found and fitted on top of it, with a constant. For haze that is uneven and changes slowly; spots
        should shine in few of these frames. The frames are held in memory. Default: each frame for itself.
    positions : path, Locs, mapping or array_like (n, 3), optional
        Fit these places instead of detecting spots: a table of localizations in a file, or one with frame (from 0), x and y, in pixels
        unless it says otherwise. The ``id`` of a localization is its row there, from 1. Not with `roi`.
    channel, slice : int, optional
        Which channel and which slice, from 0; of files only.
    position : int or str, optional
        Which position of the stage, from 0 or by its name, of a file that has several.
    camera_from : "metadata", optional
        Take the camera's numbers from the metadata of the file, or from a table of cameras by the name that they give. What is taken is
        told, what is not known is an error. Numbers that are known better stand in `camera`, a mapping then: ``{"baseline": 100}``.
    cameras : path, optional
        With `camera_from`: a table of cameras besides the one that is known, TOML with entries ``[[camera]]``.
    frame_time : float or "metadata", optional
        Add a column ``time`` in seconds since the first frame: frames were taken every so many seconds, or as the metadata of the file say.
    strict : bool
        Refuse a file that is cut off. Otherwise its whole frames are read, with a warning that says how many are missing.
    follow : bool
        Localize while somebody else writes the movie, a file that need not be there yet, or the folder of one in several TIFF files. The
        localizations are those of the movie when it is written; a block has those of the frames that have come.
    preset : path, optional
        A TOML file with options by their names, such as those of a microscope: ``baseline = 100``, ``pixel-size = 107``. What is given
        here wins. It is the file that ``spotfit localize --preset`` takes.
    idle : float
        With `follow`: for how many seconds nothing may come before the movie is taken to have ended. It ends earlier with the number of
        frames that its metadata promise.
    **options
        The options of `Fitter`: `camera`, `shape`, `estimator` and others.

    Attributes
    ----------
    done, total : int
        Frames that were localized so far, and all that will be; of a movie that is being written those that are promised, or 0.
    defects : array (height, width) of bool, or None
        The pixels that are masked as defective.

    Warns
    -----
    SpotfitWarning
        If there is no camera, so that photons are counts, unless ``camera=spotfit.Camera()`` says that they are; if the first frames show
        defective pixels and `defects` says nothing; if they
        contradict a `Camera` that is given (a baseline above most of them, sensitivity or EM gain by more than a factor of 2, a read
        noise of 0 where there is one that matters); if the light of the first frames has slopes that shift spots, for which there is
        ``background="plane"``; if the file or the size of its pixels is odd; or if `box` is not that of the
        calibration.

    Examples
    --------
    >>> import numpy as np, spotfit
    >>> movie = np.random.default_rng(1).poisson(20, (10, 64, 64))
    >>> movie[:, 30:33, 40:43] += 200
    >>> blocks = spotfit.Blocks(movie, camera=spotfit.Camera(), roi=(30, 20, 20, 20))
    >>> sum(len(locs) for locs in blocks), blocks.done, blocks.total
    (10, 10, 10)
    """

    @takes_preset
    def __init__(
        self,
        movie: str | PathLike[str] | Sequence[str | PathLike[str]] | Any,
        *,
        box: Length | None = None,
        false_rate: float = 1.0,
        threshold: float | None = None,
        roi: str | tuple[Length, Length, Length, Length] | None = None,
        frames: Slice | None = None,
        pixel_size: float | Literal["px"] | None = None,
        drop: Flag | Sequence[Flag] = (),
        all: bool = False,
        flags: bool = False,
        errors: bool = False,
        saturation: float | None = None,
        calibration: str | PathLike[str] | None = None,
        psf: str | PathLike[str] | None = None,
        learn_frames: int | None = None,
        aperture: Length | None = None,
        emitters: Emitters = 1,
        sigma: Sigma = "free",
        defects: Defects = None,
        temporal_background: int | None = None,
        positions: Positions = None,
        channel: int | None = None,
        slice: int | None = None,
        position: int | str | None = None,
        camera_from: Literal["metadata"] | None = None,
        cameras: str | PathLike[str] | None = None,
        frame_time: float | Literal["metadata"] | None = None,
        strict: bool = False,
        follow: bool = False,
        idle: float = 60.0,
        preset: PresetFile | None = None,
        **options: Unpack[Options],
    ) -> None:
        refuse("localize", options, (*(Blocks.__init__.__kwdefaults__ or ()), *(Fitter.__init__.__kwdefaults__ or ())))
        if options.get("shape") == "given":
            raise ValueError("shape = 'given' needs start values: spotfit.fit takes them, localizing does not")
        if psf is not None:
            if calibration is not None:
                raise ValueError("calibration and psf both give z: take one of them")
            gaussian = [name for name in _GAUSSIAN if name in options]
            if gaussian:
                raise ValueError(f"{gaussian[0]} is for Gaussians: a measured PSF has a shape of its own")
        # A path is a file, whatever its name.
        learns = isinstance(psf, str) and psf == "learn"
        if learn_frames is not None and not learns:
            raise ValueError("learn_frames is for psf = 'learn'")
        if psf is not None or emitters != 1:
            # These have a background of their own.
            options.setdefault("estimator", "mle")
            options.setdefault("background", "free")
        if calibration is not None and options.get("shape", "circular") == "circular" and options.get("fixed_sigma") is None:
            options["shape"] = "elliptical"
        movie, parts = arguments.movie(movie)
        if follow and parts:
            raise ValueError("follow is for one movie, with which no other goes on")
        waits = _waits(movie, arguments.flag("follow", follow), idle, frames)
        size = None if isinstance(pixel_size, str) and pixel_size == "px" else arguments.length("pixel_size", pixel_size)
        known = size
        if pixel_size is None and isinstance(movie, (str, PathLike)) and needs_size(box, roi, aperture, *map(options.get, LENGTHS)):
            known = _spotfit.MovieFile(fspath(movie), arguments.chosen(channel, slice, position, parts=parts), waits).pixel_size
        dropped: list[str] = [drop] if isinstance(drop, str) else list(drop)
        given: Any = options.get("camera")
        from_metadata = by_metadata(camera_from, given, cameras)
        if from_metadata is not None and not isinstance(given, _spotfit.CameraMap):
            options["camera"] = given = None
        maps = given if isinstance(given, _spotfit.CameraMap) else None
        camera = None if given is None or maps is not None else arguments.camera(given)
        self._options = _spotfit.LocalizeOptions(*fitter_of(options, known), {
            "camera": camera,
            "camera_from": from_metadata,
            "box_size": arguments.box(box, known),
            "false_rate": arguments.number("false_rate", false_rate),
            "threshold": threshold,
            "roi": None if roi is None else arguments.roi(roi, known),
            "drop": dropped,
            "keep_all": all,
            "checks": flags,
            "errors": errors,
            "saturation": saturation,
            "calibration": calibration,
            "psf": None if learns else psf,
            "learns": learns,
            "learn_frames": None if learn_frames is None else arguments.whole("learn_frames", learn_frames),
            "pixel_size": size,
            "pixels": isinstance(pixel_size, str) and pixel_size == "px",
            "emitters": str(emitters),
            "sigma": sigma,
            "temporal_background": None if temporal_background is None else arguments.whole("temporal_background", temporal_background),
            "aperture": None if aperture is None else arguments.pixels("aperture", aperture, known),
            "frame_time": None if frame_time is None else str(frame_time),
        })  # fmt: skip
        self.defects: npt.NDArray[np.bool_] | None = None
        masked = _defects.given(defects)
        if masked is not None:
            self._mask(masked)
        notes = self._options.notes()
        # What the maps of a camera say is not to be found out.
        looks = _defects.is_word(defects, "auto") or masked is not None or defects is None and maps is None
        frames = Slice(None) if frames is None else frames
        if not isinstance(frames, Slice) or frames.step not in (None, 1):
            raise ValueError("frames must be a slice without a step, as in slice(0, 100)")
        frames = Slice(arguments.index("frames", frames.start), arguments.index("frames", frames.stop))
        self.done = 0
        self._told: list[str] = []
        if isinstance(movie, (str, PathLike)):
            chosen = arguments.chosen(channel, slice, position, strict, parts)
            file = _spotfit.MovieFile(fspath(movie), chosen, waits)
            if from_metadata is not None or frame_time == "metadata":
                self._options, more = self._options.of_movie(file)
                notes += more
            if from_metadata is not None and maps is None:
                camera = self._options.camera
                given = camera
            info, notes = file.info, [*notes, *file.notes]
            size = file.pixel_size if pixel_size is None else size
            notes += self._place(positions, roi, size)
            # What only warns need not be waited for.
            if looks and (waits is None or _defects.is_word(defects, "auto")):
                found = _spotfit.Defects.find_in(fspath(movie), chosen, None if masked is not None else maps, waits)
                if found is None and _defects.is_word(defects, "auto"):
                    raise ValueError(f"{fspath(movie)}: defects = 'auto' looks at the first frames, which cannot be read twice")
                self._look(found, defects, masked, notes)
            if learns:
                first, last, _ = frames.indices(sys.maxsize if waits is not None else info.numbers[3] or 0)
                if last > first:
                    wanted = f"{first + 1}:{'' if last == sys.maxsize else last}"
                    notes += self._learn(fspath(movie), chosen, wanted, waits)
            source = _spotfit.MovieLocalizer(self._options, file, frames.start, frames.stop)
            self._source: _spotfit.MovieLocalizer | _spotfit.ArrayLocalizer = source
            if waits is None:
                if maps is None:
                    notes += _spotfit.doubts_of_movie(fspath(movie), chosen, camera)
                first, last, _ = frames.indices(info.numbers[3] or 0)
                self._next = self._of_file(source)
            else:
                first = frames.start or 0
                last = frames.indices(file.promised or 0)[1]
                late = _Late(fspath(movie), chosen, camera, maps, looks and defects is None, file.notes, first)
                self._next = self._following(source, late)
            self.total = max(last - first, 0)
            self._first = first
        else:
            if movie is None:
                raise TypeError("movie must be a path or an array, not None")
            for name, number in (("channel", channel), ("slice", slice), ("position", position), ("camera_from", camera_from)):
                if number is not None:
                    raise ValueError(f"{name} is for files: an array has none")
            if frame_time == "metadata":
                raise ValueError("frame_time = 'metadata' is for files: an array has none")
            if saturation is None and "saturated" in dropped and getattr(movie, "dtype", None) not in _NARROW:
                raise ValueError("drop = 'saturated' needs saturation, in ADU, for pixels that are not uint8 or uint16")
            array: Any = movie if hasattr(movie, "shape") else np.asarray(movie)
            if getattr(array, "dtype", None) is not None and array.dtype.kind in "US":
                raise TypeError("movie must be paths, or frames")
            if len(array.shape) != 3:
                raise ValueError(f"movie must be (n, height, width), not of shape {tuple(array.shape)}")
            count, height, width = (int(side) for side in array.shape)
            first, last, _ = frames.indices(count)
            notes += self._place(positions, roi, size)
            self.total = max(last - first, 0)
            self._first = first
            info = _spotfit.Info(None, width, height, count)
            end = min(last, first + _spotfit.frames_for_estimates(height, width))
            few: Any = array[first:end] if looks or camera is not None else array[first : first + 1]
            # Whole numbers are finite.
            if looks and (masked is None or getattr(getattr(array, "dtype", None), "kind", "f") == "f"):
                self._look(_spotfit.Defects.find(few, None if masked is not None else maps, first), defects, masked, notes)
            if learns and last > first:
                notes += self._learn(to_learn_from(array, first, last, learn_frames), arguments.chosen(None, None, None), None, None)
            self._source = localizer = _spotfit.ArrayLocalizer(self._options, height, width, first, max(last, first))
            if maps is None:
                notes += _spotfit.doubts(few, camera)
            self._next = self._of_array(localizer, array, first, max(last, first))
        self._info = info if size is None else info.with_pixel_size(size)
        unusual = None if size is None else _spotfit.unusual_pixels(size)
        short = None if waits is not None else self._options.notes_of(self.total)
        notes += [note for note in (short, unusual, NO_CAMERA if given is None else None) if note is not None]
        tell(notes)

    def _mask(self, defects: _spotfit.Defects) -> None:
        self._options = self._options.with_defects(defects)
        self.defects = defects.mask

    def _learn(self, movie: Any, chosen: arguments.Chosen, frames: str | None, idle: float | None) -> list[str]:
        self._options, notes = self._options.learnt(movie, chosen=chosen, frames=frames, idle=idle)
        return notes

    def _place(self, positions: Positions, roi: Any, pixel_size: float | None) -> list[str]:
        placed = _positions.given(positions, roi, pixel_size)
        if placed is None:
            return []
        self._options = self._options.with_positions(placed)
        return placed.notes

    def _look(self, found: _spotfit.Defects | None, defects: Any, masked: _spotfit.Defects | None, notes: list[str]) -> None:
        if found is None:
            return
        if masked is not None:
            found = masked.with_not_finite(found)
            self._mask(found)
            notes += found.notes
            return
        if found.frames_left_out is not None:
            notes.append(found.frames_left_out)
        if _defects.is_word(defects, "auto"):
            self._mask(found)
        elif len(found):
            notes.append(_defects.note(found))

    def _of_file(self, source: _spotfit.MovieLocalizer) -> Iterator[list[Any]]:
        while (found := source.next()) is not None:
            self._tell_doubts()
            columns, self.done = found
            yield columns
        self._tell_doubts()

    def _following(self, source: _spotfit.MovieLocalizer, late: _Late) -> Iterator[list[Any]]:
        yield from self._of_file(source)
        pixel_size, width, height, _ = self._info.numbers
        # Only now is it known how many there are.
        self._info = _spotfit.Info(pixel_size, width, height, late.first + self.done)
        tell([*(note for note in source.notes() if note not in late.told), *late.notes()])

    def _of_array(self, localizer: _spotfit.ArrayLocalizer, array: Any, first: int, last: int) -> Iterator[list[Any]]:
        few = localizer.frames_ahead
        if few:
            localizer.look_ahead(array[first : min(first + few, last)])
        step = max(_BLOCK // max(int(array.shape[1]) * int(array.shape[2]), 1), 1)
        for start in range(first, last, step):
            end = min(start + step, last)
            columns = localizer.process(start, array[start:end])
            self._tell_doubts()
            yield self._counted(columns, end - start)
        rest = localizer.finish()
        if rest is not None:
            yield rest

    def _tell_doubts(self) -> None:
        doubts = [doubt for doubt in self._source.doubts() if doubt not in self._told]
        self._told += doubts
        tell(doubts)

    def _counted(self, columns: list[Any], frames: int) -> list[Any]:
        self.done += frames
        return columns

    @property
    def report(self) -> dict[str, Any] | None:
        """What came of the frames: how many candidates there were, how their fits ended, and why some are no localizations.

        It is that of ``spotfit localize --json``. Of a file it is there at the end.
        """
        told = self._source.report()
        return None if told is None else json.loads(told)

    def empty(self) -> Locs:
        """The table without rows."""
        return Locs._made(self._options.empty(), self._info)

    def __next__(self) -> Locs:
        return Locs._made(next(self._next), self._info)


class _Late(NamedTuple):
    """What is found out of a movie when it was written."""

    movie: str
    chosen: arguments.Chosen
    camera: Any
    maps: CameraMap | None
    looks: bool
    #: Notes that were told already.
    told: list[str]
    #: The first frame that is localized.
    first: int

    def notes(self) -> list[str]:
        notes = []
        if self.looks:
            found = _spotfit.Defects.find_in(self.movie, self.chosen, self.maps)
            if found is not None and len(found):
                notes.append(_defects.note(found))
        if self.maps is None:
            notes += _spotfit.doubts_of_movie(self.movie, self.chosen, self.camera)
        return notes


class Unlearnt(Blocks):
    """Options and what is wrong with them, without learning a PSF."""

    def _learn(self, movie: Any, chosen: arguments.Chosen, frames: str | None, idle: float | None) -> list[str]:
        return []


def to_learn_from(array: Any, first: int, last: int, learn_frames: int | None) -> npt.NDArray[Any]:
    """The frames of an array that a PSF is learnt from."""
    array = array if hasattr(array, "shape") else np.asarray(array)
    _, height, width = (int(side) for side in array.shape)
    parts = _spotfit.frames_to_learn(first, last, height, width, learn_frames)
    return np.concatenate([np.asarray(array[begin:end]) for begin, end in parts] or [np.asarray(array[:0])])


def _waits(movie: Any, follow: bool, idle: float, frames: Slice | None) -> float | None:
    """For how many seconds the writer of a movie may be idle, if it is being written."""
    seconds = arguments.number("idle", idle)
    if not 0.001 <= seconds <= 1e6:
        raise ValueError(f"idle = {idle} is not 0.001 to 1e6 seconds")
    if not follow:
        return None
    if not isinstance(movie, (str, PathLike)):
        raise ValueError("follow is for files: an array has all its frames")
    if isinstance(frames, Slice) and any(isinstance(end, int) and end < 0 for end in (frames.start, frames.stop)):
        raise ValueError("frames of a movie that is being written cannot be counted from its end")
    return seconds


def estimate_sensitivity(movie: Any, camera: Camera | None = None) -> float | None:
    """Photo-electrons per ADU, before EM gain, by variance over mean of the first frames of a movie.

    Parameters
    ----------
    movie : array_like (n, height, width)
        Frames, of which the first 64 are looked at, of large ones fewer.
    camera : Camera, optional
        Its baseline, EM gain and, unless it is 0, read noise are taken for granted.

    Returns
    -------
    float or None
        None if the frames do not say: a single one, noise that is not that of single pixels, little light.

    Examples
    --------
    >>> import numpy as np, spotfit
    >>> movie = 100 + 2 * np.random.default_rng(1).poisson(50, (20, 64, 64))
    >>> round(spotfit.estimate_sensitivity(movie, spotfit.Camera(baseline=100)), 1)
    0.5
    """
    return _estimates(movie, camera)[0]


def estimate_read_noise(movie: Any, camera: Camera | None = None) -> float | None:
    """The read noise in photo-electrons, by what noise light leaves over in the darkest quarter of the first frames of a movie.

    Parameters
    ----------
    movie : array_like (n, height, width)
        Frames, of which the first 64 are looked at, of large ones fewer.
    camera : Camera, optional
        Its baseline, sensitivity and EM gain are taken for granted.

    Returns
    -------
    float or None
        None if the frames do not say that there is one that matters: if it makes less than 15 % of the variance, or if there are more
        than 20 photons of even light, where a wrong sensitivity looks the same.

    Examples
    --------
    >>> import numpy as np, spotfit
    >>> rng = np.random.default_rng(1)
    >>> movie = 100 + rng.poisson(2, (20, 64, 64)) + rng.normal(0, 1.5, (20, 64, 64))
    >>> round(spotfit.estimate_read_noise(movie, spotfit.Camera(baseline=100)), 1)
    1.5
    """
    return _estimates(movie, camera)[1]


def _estimates(movie: Any, camera: Camera | None) -> tuple[float | None, float | None]:
    array = movie if hasattr(movie, "shape") else np.asarray(movie)
    if len(array.shape) != 3:
        raise ValueError(f"movie must be (n, height, width), not of shape {tuple(array.shape)}")
    count = _spotfit.frames_for_estimates(int(array.shape[1]), int(array.shape[2]))
    return _spotfit.estimates(array[:count], arguments.camera(Camera() if camera is None else camera))


def needs_size(*lengths: Any) -> bool:
    """Whether the size of a pixel may be needed to know lengths in pixels."""
    return any(isinstance(part, str) for length in lengths for part in arguments.parts(length))
