"""Running fits of movies elsewhere, whatever becomes of the workers."""

from __future__ import annotations

from collections.abc import Generator
from concurrent.futures import BrokenExecutor, Future, as_completed
from concurrent.futures.process import BrokenProcessPool, ProcessPoolExecutor
from contextlib import closing
from typing import Any

from ._files import Submits, Task, begun, fit_file
from ._summary import FileOutcome

#: The outcome of each movie, or the error of an executor that can do no more.
Outcomes = Generator[tuple[Task, FileOutcome | BrokenExecutor], None, None]

_DIED = "the worker that was at it died"


def outcomes(executor: Submits, tasks: list[Task]) -> Generator[tuple[Task, FileOutcome], None, None]:
    """The outcomes of movies, as they come. If the iterator is closed, what has not begun never will.

    A pool of processes is of no more use when one of them dies. The movies that it was at are fitted again, each in a
    process of its own, which tells which one was deadly; then another such pool goes on with those that had not begun.
    """
    executed = _submitted(executor, tasks)
    while True:
        lost: list[tuple[Task, BaseException]] = []
        ended = 0
        with closing(executed):
            for task, outcome in executed:
                if isinstance(outcome, FileOutcome):
                    ended += 1
                    yield task, outcome
                else:
                    lost.append((task, outcome))
        if not lost:
            return
        places = begun(tasks[0].out)
        suspects = [task for task, _ in lost if task.name in places]
        # A pool whose processes die before they begin anything would do so for ever.
        if not isinstance(executor, ProcessPoolExecutor) or not (suspects or ended):
            for task, error in lost:
                yield task, task.failed(f"{_DIED} ({type(error).__name__}: {error})")
            return
        for task in suspects:
            with _like(executor, 1) as pool:
                for _, outcome in _submitted(pool, [task]):
                    yield task, outcome if isinstance(outcome, FileOutcome) else task.failed(_DIED)
        rest = [task for task, _ in lost if task not in suspects]
        executed = _in_another(executor, rest)


def _in_another(executor: ProcessPoolExecutor, tasks: list[Task]) -> Outcomes:
    if tasks:
        with _like(executor, executor._max_workers) as pool:  # type: ignore[attr-defined]
            yield from _submitted(pool, tasks)


def _like(executor: ProcessPoolExecutor, workers: int) -> ProcessPoolExecutor:
    """A pool like one that broke. There is no public way to ask it what it was made with."""
    return ProcessPoolExecutor(workers, executor._mp_context, executor._initializer, executor._initargs)


def _submitted(executor: Submits, tasks: list[Task]) -> Outcomes:
    futures: dict[Any, Task] = {}
    broken: BrokenExecutor = BrokenProcessPool()
    try:
        for task in tasks:
            try:
                futures[executor.submit(fit_file, task)] = task
            except BrokenExecutor as error:
                broken = error
                break
        missed = tasks[len(futures) :]
        # Those of submitit are no futures.
        ordinary = all(isinstance(future, Future) for future in futures)
        for future in as_completed(list(futures)) if ordinary else list(futures):
            task = futures.pop(future)
            try:
                yield task, future.result()
            except BrokenExecutor as error:
                yield task, error
            except Exception as error:
                yield task, task.failed(error)
        for task in missed:
            yield task, broken
    finally:
        for future in futures:
            future.cancel()
