"""Localizing many movies, each into a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np

from . import _arguments as arguments
from . import _record as records
from ._keywords import current
from ._localize import Blocks, _roi
from ._locs import joined
from ._spotfit import CameraMap
from ._summary import FileOutcome, FilesSummary

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import LocalizeOptions

Path = str | PathLike[str]

_EXTENSIONS = (".tif", ".tiff", ".btf", ".npy", ".raw", ".dax")


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
    record: dict[str, Any]

    @property
    def tables(self) -> list[str]:
        """The names of the files that are made, the table first."""
        return [f"{self.name}.{self.format}", *([f"{self.name}.yaml"] if self.format == "hdf5" else [])]

    def at(self, file: str) -> str:
        """A file in the folder of the tables."""
        return os.path.join(self.out, file)

    def ended(self, record: dict[str, Any]) -> FileOutcome:
        """The outcome that a record tells of."""
        return FileOutcome(self.movie, self.at(self.tables[0]), "done", record["frames"], record["localizations"], None)

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
    progress: Callable[[int, int], object] | None = None,
    **options: Unpack[LocalizeOptions],
) -> FilesSummary:
    """Localizes many movies: a table of each in a folder, and beside it ``NAME.fit.json``, the record of how it was made.

    Calling again goes on: a movie whose record agrees is not localized again. Files are there under their names only when
    they are complete, so a process that dies loses only the movies it was at.

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
    if format not in ("hdf5", "csv"):
        raise ValueError(f"format = {format!r} is not 'hdf5' or 'csv'")
    given: dict[str, Any] = {"threads": 0 if executor is None else 1, **current(options)}
    _check(given, executor is not None)
    made_with = {"options": {**records.options_of(given), "format": format}}
    folder = os.path.abspath(fspath(out))
    tasks = [Task(name, movie, folder, format, given, made_with) for name, movie in _named(paths).items()]
    _check_places(tasks)
    os.makedirs(folder, exist_ok=True)

    ended: dict[str, FileOutcome] = {}

    def end(task: Task, outcome: FileOutcome) -> None:
        ended[task.name] = outcome
        if progress is not None:
            progress(len(ended), len(tasks))

    wanted = []
    for task in tasks:
        known = _begin(task, overwrite)
        if isinstance(known, Task):
            wanted.append(known)
        else:
            end(task, known)
    if executor is None:
        for task in wanted:
            end(task, fit_file(task))
    elif wanted:
        from contextlib import closing

        from ._workers import outcomes

        with closing(outcomes(executor, wanted)) as found:
            for task, outcome in found:
                end(task, outcome)
    _sweep(folder, {task.name for task in wanted if ended[task.name].state == "done"})
    return FilesSummary([ended[task.name] for task in tasks])


def fit_file(task: Task) -> FileOutcome:
    """Localizes a movie: what a worker does. Tables stay with it."""
    try:
        return task.ended(_fit_file(task))
    except Exception as error:
        return task.failed(error)


def _fit_file(task: Task) -> dict[str, Any]:
    from shutil import rmtree
    from tempfile import mkdtemp

    part = mkdtemp(prefix=f".{task.name}.", suffix=".part", dir=task.out)
    try:
        blocks = Blocks(task.movie, **task.options)
        found = list(blocks)
        locs = joined(found) if found else blocks.empty()
        left_out = locs.save(os.path.join(part, task.tables[0]))
        counts = {"frames": blocks.done, "localizations": len(locs) - left_out, "left_out": left_out}
        place, new = task.at(_record(task.name)), os.path.join(part, "record")
        # Without counts it says that the tables are ours, though they may not all be there yet.
        records.write(new, {**task.record, **dict.fromkeys(counts)})
        os.replace(new, place)
        records.write(new, {**task.record, **counts})
        records.settle(task.out)
        # The side of a pixel in the YAML file counts before that in the table. So no table may ever be beside the YAML file of
        # another, also if the process is killed: first the old YAML file goes, then the table appears, then the new one.
        for beside in task.tables[1:]:
            if os.path.exists(task.at(beside)):
                os.remove(task.at(beside))
        for file in task.tables:
            os.replace(os.path.join(part, file), task.at(file))
        records.settle(task.out)
        os.replace(new, place)
        records.settle(task.out)
        return counts
    finally:
        rmtree(part, ignore_errors=True)


def _record(name: str) -> str:
    return f"{name}.fit.json"


def _begin(task: Task, overwrite: bool) -> Task | FileOutcome:
    """What has to be done for a movie, or what became of it already."""
    try:
        task = task._replace(record={**records.made_from(task.movie), **task.record})
        there = [file for file in task.tables if os.path.exists(task.at(file))]
        again = "; overwrite=True fits it again"
        try:
            record = records.read(task.at(_record(task.name)))
        except ValueError as error:
            return task if overwrite else task.failed(f"{error}{again}")
        if record is None:
            unknown = there and not overwrite
            return task.failed(f"{there[0]} is there without a record of how it was made{again}") if unknown else task
        if not isinstance(record.get("frames"), int) or not isinstance(record.get("localizations"), int):
            return task
        differs = records.difference(record, task.record)
        if differs is not None:
            return task if overwrite else task.failed(f"{differs}{again}")
        return task.ended(record) if there == task.tables else task
    except OSError as error:
        return task.failed(error)


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
    name = os.path.basename(movie)
    stem, extension = os.path.splitext(name)
    if extension.lower() not in _EXTENSIONS:
        return name
    return stem[:-4] if stem.lower().endswith(".ome") and len(stem) > 4 else stem


def _check(options: dict[str, Any], elsewhere: bool) -> None:
    """Tells of options that are wrong for every movie. Whether there is a GPU, only a worker knows."""
    arguments.whole("threads", options["threads"], 1024)
    here = {**options, "threads": 1}
    for name in ("channel", "slice"):
        number = here.pop(name, None)
        if number is not None:
            arguments.whole(name, number)
    roi = here.pop("roi", None)
    if roi is not None:
        _roi(roi)
    if here.get("backend") == "gpu":
        here["backend"] = "cpu"
    if elsewhere:
        here.pop("instruction_set", None)
    camera = here.get("camera")
    height, width = camera.shape if isinstance(camera, CameraMap) else (256, 256)
    Blocks(np.empty((0, height, width), np.uint16), **here)


def _check_places(tasks: list[Task]) -> None:
    """No table may replace a part of a movie: Picasso's movies have a .yaml, too."""
    metadata = {os.path.splitext(task.movie)[0] + ".yaml": task.movie for task in tasks if task.movie.lower().endswith(".raw")}
    for task in tasks:
        for file in task.tables:
            if task.at(file) in metadata:
                raise ValueError(f"out: {file} would replace that of the movie {metadata[task.at(file)]}; take another folder")


def begun(folder: str) -> dict[str, list[str]]:
    """The temporary folders of movies, by the name of their tables: a worker is at them, or it died."""
    found: dict[str, list[str]] = {}
    for entry in os.scandir(folder):
        # The name, and eight letters.
        if entry.name.startswith(".") and entry.name.endswith(".part") and entry.name[-14:-13] == "." and entry.is_dir():
            found.setdefault(entry.name[1:-14], []).append(entry.path)
    return found


def _sweep(folder: str, names: set[str]) -> None:
    """Removes what workers left that died."""
    from shutil import rmtree

    for name, paths in begun(folder).items():
        for path in paths if name in names else ():
            rmtree(path, ignore_errors=True)
