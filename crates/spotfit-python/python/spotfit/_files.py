"""Localizing many movies, each into a file."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from . import _arguments as arguments
from . import _defects, _positions, _spotfit
from ._camera import Camera
from ._fit import LENGTHS
from ._localize import Blocks, Unlearnt, needs_size
from ._preset import expanded
from ._spotfit import CameraMap
from ._summary import FileOutcome, FilesSummary

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import LocalizeOptions

Path = str | PathLike[str]


class Submits(Protocol):
    """What `fit_files` needs of an executor: those of `concurrent.futures` have it, and submitit's."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:
        """Begins a call elsewhere; what comes back has ``result()`` and ``cancel()``."""


class Task(NamedTuple):
    """A movie to be localized, as it is sent to a worker."""

    name: str
    movie: str
    out: str
    format: str
    options: dict[str, Any]
    #: How the table is made, as its record has it.
    record: dict[str, Any]
    overwrite: bool
    #: Which Picasso its tables are for.
    picasso: Literal[0, 1] = 0
    #: Whether to wait for another process that is at the movie.
    wait: bool = False

    @property
    def tables(self) -> list[str]:
        """The names of the files that are made, the table first."""
        return [f"{self.name}.{self.format}", *([f"{self.name}.yaml"] if self.format == "hdf5" else [])]

    def at(self, file: str) -> str:
        """A file in the folder of the tables."""
        return os.path.join(self.out, file)

    @property
    def files(self) -> list[tuple[str, str]]:
        """The files that options name, each after its option."""
        given = [(name, self.options.get(name)) for name in ("calibration", "psf", "cameras")]
        given = [(name, path) for name, path in given if (name, path) != ("psf", "learn")]
        for name, is_file in ("defects", _defects.is_file), ("positions", _positions.is_file):
            option = self.options.get(name)
            given.append((name, option if is_file(option) else None))
        return [(name, os.path.abspath(fspath(path))) for name, path in given if path is not None]

    def now(self) -> str:
        """The record of the table that would be made now, without the files that it is made of."""
        table = {"output": self.tables[0], "source": os.path.basename(os.path.normpath(self.movie))}
        return json.dumps({**self.record, **table, "state": "begun"})

    def ended(self, counts: Mapping[str, int]) -> FileOutcome:
        """The outcome with a table of which so much was counted."""
        return FileOutcome(self.movie, self.at(self.tables[0]), "done", counts["frames"], counts["localizations"], None)

    def failed(self, why: str | BaseException) -> FileOutcome:
        """The outcome without a table."""
        told = why if isinstance(why, str) else f"{type(why).__name__}: {why}"
        return FileOutcome(self.movie, self.at(self.tables[0]), "failed", None, None, told)


def fit_files(
    paths: Sequence[Path] | Mapping[str, Path],
    out: Path,
    *,
    executor: Submits | None = None,
    format: Literal["hdf5", "csv"] = "hdf5",
    overwrite: bool = False,
    picasso: Literal[0, 1] = 0,
    progress: Callable[[int, int], object] | None = None,
    **options: Unpack[LocalizeOptions],
) -> FilesSummary:
    """Localizes many movies: a table of each in a folder, and beside it ``NAME.hdf5.spotfit.json``, the record of how it was made.

    Calling again goes on: a movie whose record agrees is not localized again, whether this function or ``spotfit batch`` made its
    table. Several processes may work on one folder: each movie is localized by one of them. Files are there under their names
    only when they are complete, so a process that dies loses only the movies it was at.

    Parameters
    ----------
    paths : sequence of paths, or mapping of names to paths
        The movies. Without names a table has that of its movie without extension: ``a.ome.tif`` becomes ``a.hdf5``.
    out : path
        The folder of the tables. It is made if it is not there.
    executor : optional
        What runs the fits: a ``concurrent.futures.ProcessPoolExecutor`` or any other, dask's ``Client.get_executor()``, or
        submitit's for Slurm. Its workers must see the files. Default: here, one movie after the other.
    format : {"hdf5", "csv"}
        Picasso's tables with their ``.yaml``, or ThunderSTORM's.
    overwrite : bool
        Fit a movie again if its table was made in another way, or has no record. Otherwise that is its failure.
    picasso : {0, 1}
        Which Picasso tables are for: 0, with lengths in pixels, which every version reads; 1, in nanometres, for version 1.0 and later.
    progress : callable, optional
        Called with the number of movies that ended and that of all, after each movie.
    **options
        Those of `localize`. With an executor `threads` is 1 if nothing is said: its workers share the processors.

    Returns
    -------
    FilesSummary
        What became of each movie, in their order. That one cannot be read, or its worker dies, is no exception here:
        ``raise_for_failures()`` makes one.

    Raises
    ------
    ValueError, TypeError
        If an option is wrong, or two movies would have the same table: before anything begins.

    Examples
    --------
    >>> import tempfile, numpy as np, spotfit
    >>> movie = np.random.default_rng(1).poisson(20, (10, 64, 64)).astype(np.uint16)
    >>> movie[:, 30:33, 40:43] += 200
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/one.npy", movie)
    ...     spotfit.fit_files([f"{folder}/one.npy"], f"{folder}/tables")
    FilesSummary of 1 movie: 1 done (10 frames, 10 localizations)
    """
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor must have a method submit, as those of concurrent.futures, not {type(executor).__name__}")
    if options.get("follow"):
        raise ValueError("follow is for one movie that is being written: spotfit.localize and spotfit.Blocks have it")
    if format not in ("hdf5", "csv"):
        raise ValueError(f"format = {format!r} is not 'hdf5' or 'csv'")
    given: dict[str, Any] = {"threads": 0 if executor is None else 1, **expanded(options)}
    if arguments.whole("picasso", picasso) not in (0, 1):
        raise ValueError(f"picasso = {picasso} is neither 0 nor 1")
    made_with = _made_with(given, _check(given, executor is not None))
    if picasso != 0 and format == "hdf5":
        made_with["options"]["picasso"] = str(picasso)
    folder = os.path.abspath(fspath(out))
    tasks = [Task(name, movie, folder, format, given, made_with, overwrite, picasso) for name, movie in _named(paths).items()]
    _check_places(tasks)
    os.makedirs(folder, exist_ok=True)

    ended: dict[str, FileOutcome] = {}
    #: Those that another process was at.
    busy: list[Task] = []

    def end(task: Task, outcome: FileOutcome) -> None:
        if outcome.state == _BUSY:
            busy.append(task._replace(wait=True))
            return
        ended[task.name] = outcome
        if progress is not None:
            progress(len(ended), len(tasks))

    def run(wanted: list[Task]) -> None:
        if executor is None:
            for task in wanted:
                end(task, fit_file(task))
        elif wanted:
            from contextlib import closing

            from ._workers import outcomes

            with closing(outcomes(executor, wanted)) as found:
                for task, outcome in found:
                    end(task, outcome)

    wanted = []
    for task in tasks:
        known = _standing(task)
        if known is None:
            wanted.append(task)
        else:
            end(task, known)
    run(wanted)
    run(busy[:])
    _sweep(folder, {task.name for task in wanted if ended[task.name].state == "done"})
    return FilesSummary([ended[task.name] for task in tasks])


#: What becomes of a movie for which another process has the lock, in place of a state.
_BUSY = "busy"
#: How often to look whether that process is done, in seconds.
_LOOK = 0.05


def fit_file(task: Task) -> FileOutcome:
    """Localizes a movie: what a worker does. Tables stay with it."""
    try:
        return _fit_file(task)
    except Exception as error:
        return task.failed(error)


def _fit_file(task: Task) -> FileOutcome:
    from time import sleep

    table = task.at(task.tables[0])
    while (lock := _spotfit.FileLock.take(table)) is None:
        if not task.wait:
            return task.failed("another process is at it")._replace(state=_BUSY)  # type: ignore[arg-type]
        sleep(_LOOK)
    try:
        # It may have been made between the first look and the lock.
        known = _standing(task)
        if known is not None:
            return known
        inputs = _inputs(task)
        blocks = Blocks(task.movie, **task.options)
        record = {**json.loads(task.now()), "inputs": inputs, "pixel_size": blocks.empty()._info.numbers[0]}
        if task.options.get("psf") == "learn":
            record["calibration"] = json.loads(_spotfit.method(blocks._options, arguments.chosen(None, None, None))[2])
        made = _spotfit.TableFile(table, json.dumps(record), task.overwrite or _may_replace(task), str(task.picasso))
        empty = True
        for block in blocks:
            made.write(block._given(), block._info)
            empty = False
        if empty:
            rest = blocks.empty()
            made.write(rest._given(), rest._info)
        localizations, _ = made.finish(_counts(blocks))
        return task.ended({"frames": blocks.done, "localizations": localizations})
    finally:
        lock.release()


def _counts(blocks: Blocks) -> dict[str, int]:
    """What records count, as those of the command."""
    report = blocks.report
    names = ("frames", "candidates", "fits", "converged")
    return {"frames": blocks.done} if report is None else {name: report[name] for name in names}


def _inputs(task: Task) -> Any:
    # What is wrong with the movie `Blocks` says better.
    if not os.path.exists(task.movie):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), task.movie)
    return json.loads(_spotfit.record_inputs(task.movie, arguments.chosen_of(task.options), task.files))


def _may_replace(task: Task) -> bool:
    """Whether a process that did not come to its end was about to replace what is there."""
    then = _spotfit.read_record(task.at(task.tables[0]))
    return then is not None and bool(json.loads(then)["state"] == "begun")


def _standing(task: Task) -> FileOutcome | None:
    """What became of a movie already; None if it is to be localized."""
    try:
        os.stat(task.movie)
        there = [file for file in task.tables if os.path.exists(task.at(file))]
        again = "; overwrite=True fits it again"
        try:
            then = _spotfit.read_record(task.at(task.tables[0]))
        except ValueError as error:
            return None if task.overwrite else task.failed(f"{error}{again}")
        if then is None:
            unknown = there and not task.overwrite
            return task.failed(f"{there[0]} is there without a record of how it was made{again}") if unknown else None
        told = json.loads(then)
        counts, differs = told.get("counts"), _spotfit.unlike(then, task.now(), task.movie, task.files)
        if told["state"] == "failed":
            counts = None
        if not counts or not {"frames", "localizations"} <= counts.keys():
            return None
        if differs is not None:
            return None if task.overwrite else task.failed(f"{differs}{again}")
        return task.ended(counts) if there == task.tables else None
    except OSError as error:
        return task.failed(error)


def _made_with(given: dict[str, Any], options: _spotfit.LocalizeOptions) -> dict[str, Any]:
    """How every table is made, as records have it: the same as of ``spotfit localize``."""
    method, camera, calibration = (json.loads(part) for part in _spotfit.method(options, arguments.chosen_of(given)))
    frames = given.get("frames") or slice(None)
    # Users count from 1, and mean both ends.
    first, last = frames.start or 0, frames.stop
    ends = None if (first, last) == (0, None) else [first + 1 if first >= 0 else first, last]
    roi = given.get("roi")
    more = {
        "backend": given.get("backend", "auto"),
        "instruction_set": given.get("instruction_set"),
        "roi": None if roi is None else _recorded_roi(roi),
        "frames": ends,
        **_recorded_lengths(given),
    }
    if given.get("pixel_size") is None:
        # Another may stand for it where options are checked.
        more["pixel_size"] = None
    if _defects.is_word(given.get("defects"), "auto"):
        more["defects"] = "auto"
    if given.get("camera_from") is not None:
        # What its numbers are depends on the movie.
        more["camera_from"], camera = "metadata", None
    if given.get("frame_time") == "metadata":
        more["frame_time"] = "metadata"
    return {
        "format": "spotfit record 1",
        "spotfit": _spotfit.__version__,
        "verb": "fit_files",
        "options": {**method, **more},
        "camera": camera,
        **({} if calibration is None else {"calibration": calibration}),
        "origin": "centre",
    }


def _recorded_roi(roi: Any) -> Any:
    """A region as records have it: in pixels, or as it was given where it has units."""
    parts = arguments.parts(roi)
    return ",".join(map(str, parts)) if needs_size(parts) and not all(map(_is_whole, parts)) else list(arguments.roi(roi))


def _is_whole(part: Any) -> bool:
    return not isinstance(part, str) or part.isdecimal()


def _recorded_lengths(given: Mapping[str, Any]) -> dict[str, str]:
    """Lengths in nanometres as records have them, for the size of a pixel may be one of each movie."""
    found = {}
    for name in ("box", "sigma_min", "sigma_max", "aperture"):
        text = _spotfit.recorded_length(name, given[name]) if isinstance(given.get(name), str) else None
        if text is not None:
            found[name] = text
    sigma = arguments.parts(given.get("fixed_sigma"))
    if any(isinstance(part, str) and _spotfit.recorded_length("fixed_sigma", part) for part in sigma):
        found["fixed_sigma"] = ",".join(map(str, sigma))
    return found


def _named(paths: Any) -> dict[str, str]:
    """The movies by the names of their tables."""
    if isinstance(paths, (str, bytes, PathLike)):
        raise TypeError("paths must be a sequence of paths, or a mapping of names to paths, not one path")
    given = list(paths.items()) if isinstance(paths, Mapping) else [(None, path) for path in paths]
    named: dict[str, str] = {}
    # Some file systems take a and A for the same.
    known: dict[str, str] = {}
    for name, path in given:
        if not isinstance(path, (str, PathLike)):
            raise TypeError(f"paths must have paths, not {type(path).__name__}")
        movie = os.path.abspath(fspath(path))
        name = _name(movie) if name is None else name
        if not isinstance(name, str) or not name or name.startswith(".") or set(name) & set("/\\\0"):
            raise ValueError(f"paths: {name!r} cannot be the name of a table")
        folded = name.casefold()
        if folded in known:
            raise ValueError(f"paths: {known[folded]} and {movie} would both have the table {name!r}; a mapping gives them names")
        known[folded] = named[name] = movie
    return named


def _name(movie: str) -> str:
    folder, name = os.path.split(movie)
    if name == "NDTiff.index" and os.path.basename(folder):
        return os.path.basename(folder)
    stem, extension = os.path.splitext(name)
    if extension.lower().removeprefix(".") not in _spotfit.MOVIE_ENDINGS:
        return name
    return stem[:-4] if stem.lower().endswith(".ome") and len(stem) > 4 else stem


def _check(options: dict[str, Any], elsewhere: bool) -> _spotfit.LocalizeOptions:
    """Tells of options that are wrong for every movie. Whether there is a GPU, only a worker knows."""
    arguments.whole("threads", options["threads"], 1024)
    here = {**options, "threads": 1}
    for name in ("channel", "slice"):
        number = here.pop(name, None)
        if number is not None:
            arguments.whole(name, number)
    roi, positions = here.pop("roi", None), here.pop("positions", None)
    if here.get("pixel_size") is None and needs_size(roi, *map(here.get, ("box", "aperture", *LENGTHS))):
        # The movie may say it.
        here["pixel_size"] = _LIKELY
    if roi is not None:
        size = here.get("pixel_size")
        arguments.roi(roi, None if isinstance(size, str) else size)
    here.pop("position", None)
    if here.pop("camera_from", None) is not None:
        # Only a movie says them.
        here.pop("cameras", None)
        if not isinstance(here.get("camera"), CameraMap):
            here["camera"] = Camera()
    if here.get("frame_time") == "metadata":
        here["frame_time"] = 1.0
    if here.get("backend") == "gpu":
        here["backend"] = "cpu"
    if elsewhere:
        here.pop("instruction_set", None)
    camera = here.get("camera")
    height, width = camera.shape if isinstance(camera, CameraMap) else (256, 256)
    mask = _defects.given(here.get("defects"))
    if mask is not None:
        height, width = mask.mask.shape
    checked = Unlearnt(np.empty((0, height, width), np.uint16), **here)._options
    size = here.get("pixel_size")
    placed = _positions.given(positions, roi, _LIKELY if size is None or isinstance(size, str) else size)
    return checked if placed is None else checked.with_positions(placed)


#: The size of a pixel that stands for one that is not known yet, in nanometres.
_LIKELY = 100.0


def _check_places(tasks: list[Task]) -> None:
    """No table may replace a part of a movie: Picasso's movies have a .yaml, too."""
    metadata = {os.path.splitext(task.movie)[0] + ".yaml": task.movie for task in tasks if task.movie.lower().endswith(".raw")}
    for task in tasks:
        for file in task.tables:
            if task.at(file) in metadata:
                raise ValueError(f"out: {file} would replace that of the movie {metadata[task.at(file)]}; take another folder")


def begun(folder: str) -> dict[str, list[str]]:
    """The locks of movies, by the name of their tables: a worker is at them, or it died."""
    found: dict[str, list[str]] = {}
    for entry in os.scandir(folder):
        if entry.name.startswith(".") and entry.name.endswith(_LOCK):
            table = entry.name[1 : -len(_LOCK)]
            found.setdefault(os.path.splitext(table)[0], []).append(os.path.join(folder, table))
    return found


_LOCK = ".spotfit-lock"


def _sweep(folder: str, names: set[str]) -> None:
    """Removes what workers left that died."""
    for name, tables in begun(folder).items():
        for table in tables if name in names else ():
            lock = _spotfit.FileLock.take(table)
            if lock is not None:
                lock.release()
