"""What these scripts share: calls of the command, works that take turns, programs that wait to be asked, tables."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

#: For fitters that would start threads of their own; it must be set before they are imported.
ONE_THREAD = {name: "1" for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
median = statistics.median


def timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def processors() -> float:
    """The time of the processors for all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def call(command: str, *words: object, **options: object) -> tuple[str, float]:
    """What a command prints, and the seconds it takes by the clock."""
    begin = time.perf_counter()
    ran = subprocess.run([command, *map(str, words)], capture_output=True, text=True, **options)
    seconds = time.perf_counter() - begin
    if ran.returncode:
        sys.exit(f"{command} {' '.join(map(str, words))}: {ran.stderr}")
    return ran.stdout, seconds


def in_turn(runs: int, works: dict[object, Callable[[], object]]) -> dict[object, list]:
    """What each work gives each time."""
    found: dict[object, list] = {name: [] for name in works}
    for _ in range(runs):
        for name, work in works.items():
            found[name].append(work())
    return found


def head(columns: str) -> None:
    print(f"| {columns} |\n|{'---|' * (columns.count(' | ') + 1)}", flush=True)


def row(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


class Asked:
    """A program that answers a line with a line."""

    def __init__(self, *words: object, ready: str = "") -> None:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([*map(str, words)], stdin=pipe, stdout=pipe, text=True)
        if ready and self.process.stdout.readline().strip() != ready:
            sys.exit(f"{words[0]} did not start")

    def ask(self, line: str = "") -> list[float]:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return [*map(float, self.process.stdout.readline().split())]

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()
