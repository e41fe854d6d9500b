"""Times `spotfit fit` of two builds in turn, from a file in memory to a table in memory.

    python3 benches/fit_files.py OLD NEW [--count 3000000] [--runs 5] [--threads 1 2] [--folder /dev/shm]

OLD and NEW are the commands. For each number of threads, type of pixels and kind of table: the medians of both by the clock and of the processors, the
ratios, and the stages of NEW. The tables of both must have the same bytes. As yardsticks it reads the file, and writes as many bytes as the table has, in as many threads.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PIECE = 1 << 20

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("commands", nargs=2, metavar="COMMAND")
parser.add_argument("--count", type=int, default=3_000_000)
parser.add_argument("--runs", type=int, default=5)
parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
parser.add_argument("--types", nargs="+", default=["f32", "u16"])
parser.add_argument("--tables", nargs="+", default=["npy", "csv"])
parser.add_argument("--words", default="", help="options of the fits")
parser.add_argument("--folder", default="/dev/shm")
arguments = parser.parse_args()


def processors() -> float:
    """The time of the processors for all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def pieces(of: Callable[[int], object], length: int, threads: int) -> float:
    """Does something with each piece of a file by threads."""
    with ThreadPoolExecutor(threads) as pool:
        return timed(lambda: list(pool.map(of, range(0, length, PIECE))))


def read(path: Path, threads: int) -> float:
    file = os.open(path, os.O_RDONLY)
    rooms = [bytearray(PIECE) for _ in range(64)]
    try:
        return pieces(lambda at: os.preadv(file, [rooms[at // PIECE % 64]], at), path.stat().st_size, threads)
    finally:
        os.close(file)


def write(path: Path, length: int, threads: int) -> float:
    block = os.urandom(PIECE)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    try:
        return pieces(lambda at: os.pwrite(file, block[: length - at], at), length, threads)
    finally:
        os.close(file)
        path.unlink()


with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
    folder = Path(name)
    for kind in arguments.types:
        spots = folder / f"{kind}.npy"
        making = ["simulate", "--count", str(arguments.count), "--size", "9", "--dtype", kind, "-o", str(spots)]
        subprocess.run([arguments.commands[1], *making], check=True, capture_output=True)
        for table in arguments.tables:
            for threads in arguments.threads:
                taken: list[list[float]] = [[], []]
                worked: list[list[float]] = [[], []]
                told: list[dict[str, float]] = []
                for _ in range(arguments.runs):
                    for which, command in enumerate(arguments.commands):
                        out = folder / f"{which}.{table}"
                        out.unlink(missing_ok=True)
                        words = [command, "fit", str(spots), "-o", str(out), "--threads", str(threads), "--json", "--no-record"]
                        begin, before = time.perf_counter(), processors()
                        done = subprocess.run([*words, *arguments.words.split()], check=True, capture_output=True, text=True)
                        taken[which].append(time.perf_counter() - begin)
                        worked[which].append(processors() - before)
                        if which == 1:
                            told.append(json.loads(done.stdout).get("stages") or {})
                same = subprocess.run(["cmp", folder / f"0.{table}", folder / f"1.{table}"], check=False).returncode == 0
                length = (folder / f"1.{table}").stat().st_size
                for which in 0, 1:
                    (folder / f"{which}.{table}").unlink()
                yardsticks = [statistics.median(read(spots, threads) for _ in range(arguments.runs))]
                yardsticks.append(statistics.median(write(folder / "yardstick", length, threads) for _ in range(arguments.runs)))
                old, new, old_work, new_work = map(statistics.median, [*taken, *worked])
                stages = ", ".join(f"{stage} {statistics.median(run[stage] for run in told):.2f}" for stage in told[0])
                print(
                    f"{kind} {table} {threads} threads: {old:.2f} s, {new:.2f} s, ratio {old / new:.2f}; "
                    f"processors {old_work:.2f} s, {new_work:.2f} s, ratio {old_work / new_work:.2f}; {stages}; "
                    f"yardstick: read {yardsticks[0]:.2f}, write {yardsticks[1]:.2f} ({length / 1e6:.0f} MB); "
                    f"{'the same bytes' if same else 'OTHER BYTES'}",
                    flush=True,
                )
        spots.unlink()
