#!/usr/bin/env python3
"""Times `spotfit fit` and `spotfit localize` from file to table, and says how much memory they take; several builds take turns.

    python3 benches/scripts/large_files.py target/release/spotfit --gigabytes 6.48 --runs 5
    python3 benches/scripts/large_files.py target/release/spotfit --gigabytes 30 --verbs fit localize --backends cpu gpu --sources file pipe
    python3 benches/scripts/large_files.py OLD NEW --gigabytes 0.972 --kinds f32 u16 --tables npy csv --threads 1 2

The input is made of a block that is simulated once and repeated: windows of 9×9 pixels with a spot each, or frames of 256×256 pixels of 16 bits with 15 spots
each. From a pipe it comes through standard input, and no file is there. Each line: medians by the clock and of the processors, the stages that the command tells,
the most memory that it had (resident, with what is pinned; anonymous where the system says it; on the GPU beside what was taken before), and as a yardstick the time
in which as many threads read the file and write as many bytes as the table has. Of several builds also how many times as fast the last is as each, and whether its
table has the same bytes.
"""

import argparse
import ast
import filecmp
import json
import os
import resource
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

from common import PROCESSORS, median, processors, timed

PIECE = 1 << 20
BLOCK = {"fit": 200_000, "localize": 1000}
SIZES = {"u8": 1, "u16": 2, "f32": 4}

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("commands", nargs="+", metavar="COMMAND", help="one, or several builds that take turns")
parser.add_argument("--gigabytes", type=float, default=6.48, help="of f32 windows; of other inputs as many windows or bytes")
parser.add_argument("--runs", type=int, default=5)
parser.add_argument("--verbs", nargs="+", default=["fit"])
parser.add_argument("--backends", nargs="+", default=["cpu"])
parser.add_argument("--kinds", nargs="+", default=["f32"], help="of the pixels of windows")
parser.add_argument("--tables", nargs="+", default=["npy"], help="of fit")
parser.add_argument("--threads", type=int, nargs="+", default=[0])
parser.add_argument("--sources", nargs="+", choices=["file", "pipe"], default=["file"])
parser.add_argument("--words", default="", help="more words of the command")
parser.add_argument("--folder", default="/dev/shm")
arguments = parser.parse_args()

class Repeated:
    """An array that repeats a block along its first axis: its header, and its bytes."""

    def __init__(self, block: Path, length: float):
        content = block.read_bytes()
        begin = 10 + int.from_bytes(content[8:10], "little")
        header = ast.literal_eval(content[10:begin].decode())
        self.block = memoryview(content)[begin:]
        self.times = max(round(length / len(self.block)), 1)
        self.items = header["shape"][0] * self.times
        header["shape"] = (self.items, *header["shape"][1:])
        text = repr(header)
        text += " " * (-(len(text) + 11) % 64) + "\n"
        self.head = b"\x93NUMPY\x01\0" + len(text).to_bytes(2, "little") + text.encode()

    def parts(self):
        yield self.head
        for _ in range(self.times):
            yield self.block

    def write(self, path: Path):
        with path.open("wb", buffering=0) as file:
            for part in self.parts():
                left = memoryview(part)
                while left:
                    left = left[file.write(left) :]


def device_memory() -> float:
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        return float(subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]) * 1.048576
    except (OSError, subprocess.CalledProcessError, IndexError, ValueError):
        return 0.0


class Watch(threading.Thread):
    """The most memory that a process has, in MB, and what the GPU has beside what was taken before."""

    def __init__(self, process, before: float | None):
        super().__init__(daemon=True)
        self.process, self.before, self.most = process, before, {}
        self.start()

    def note(self, name: str, value: float):
        self.most[name] = max(self.most.get(name, 0.0), value)

    def run(self):
        status = Path(f"/proc/{self.process.pid}/status")
        while self.process.poll() is None:
            try:
                lines = status.read_text().splitlines()
            except OSError:
                return
            for name, _, value in (line.partition(":") for line in lines):
                if name in ("VmRSS", "VmHWM", "RssAnon", "RssShmem", "VmPin", "VmLck") and value.split()[1:] == ["kB"]:
                    self.note(name, int(value.split()[0]) / 1e3)
            if self.before is not None:
                self.note("GPU", device_memory() - self.before)
            time.sleep(0.005)


def alone(path: Path, table: int, threads: int) -> tuple[float, float]:
    """Reads the file and writes as many bytes as the table has, by threads."""
    local, block, other = threading.local(), os.urandom(PIECE), path.parent / "alone"
    source, out = os.open(path, os.O_RDONLY), os.open(other, os.O_RDWR | os.O_CREAT | os.O_TRUNC)

    def read(at: int):
        if not hasattr(local, "room"):
            local.room = bytearray(PIECE)
        os.preadv(source, [local.room], at)

    with ThreadPoolExecutor(threads) as pool:
        pieces = lambda of, length: timed(lambda: list(pool.map(of, range(0, length, PIECE), chunksize=64)))  # noqa: E731
        reading = pieces(read, path.stat().st_size)
        writing = pieces(lambda at: os.pwrite(out, block[: table - at], at), table)
    os.close(source)
    os.close(out)
    other.unlink()
    return reading, writing


class Build:
    """A command, and what its runs say."""

    def __init__(self, command: str):
        self.command, self.taken, self.worked, self.told, self.most = command, [], [], [], {}

    def run(self, words: list[str], source: Repeated | None):
        before = device_memory() if "gpu" in words else None
        begin, used = time.perf_counter(), processors()
        process = subprocess.Popen([self.command, *words], stdin=subprocess.PIPE if source else subprocess.DEVNULL, stdout=subprocess.PIPE)
        watch = Watch(process, before)
        if source:
            for part in source.parts():
                process.stdin.write(part)
            process.stdin.close()
        report = process.stdout.read()
        if process.wait() != 0:
            raise SystemExit(f"{self.command} {' '.join(words)} failed")
        self.taken.append(time.perf_counter() - begin)
        self.worked.append(processors() - used)
        watch.join()
        self.told.append(json.loads(report).get("stages") or {})
        for key, value in watch.most.items():
            self.most[key] = max(self.most.get(key, 0.0), value)

    def line(self, items: int) -> str:
        middle = median(self.taken)
        spread = ", ".join(f"{seconds:.2f}" for seconds in self.taken)
        stages = ", ".join(f"{stage} {median(run[stage] for run in self.told):.2f}" for stage in self.told[0])
        memory = ", ".join(f"{key} {value:.0f} MB" for key, value in self.most.items() if value > 0)
        rate = f"{items / middle:,.0f}/s of {items:,}"
        return f"{middle:.2f} s ({spread}), processors {median(self.worked):.2f} s, {rate}; {stages or 'no stages'}; {memory}"


def measure(name: str, words: list[str], threads: int, path: Path, source: Repeated, pipe: bool, table: Path):
    builds = [Build(command) for command in arguments.commands]
    tables = [table.with_stem(f"table{number}") for number in range(len(builds))]
    asked = [*words, *(["--threads", str(threads)] if threads else [])]
    for _ in range(arguments.runs):
        for build, out in zip(builds, tables):
            out.unlink(missing_ok=True)
            build.run([*asked, "-o", str(out)], source if pipe else None)
    length = tables[-1].stat().st_size
    yardstick = f"table {length / 1e6:.0f} MB"
    if not pipe:
        runs = [alone(path, length, threads or PROCESSORS) for _ in range(min(arguments.runs, 3))]
        reading, writing = (median(both) for both in zip(*runs))
        yardstick += f"; alone: read {reading:.2f}, write {writing:.2f}"
    last = builds[-1]
    for build, out in zip(builds, tables):
        which, beside = f"{Path(build.command).name}: " if len(builds) > 1 else "", ""
        if build is not last:
            same = "the same bytes" if filecmp.cmp(out, tables[-1], shallow=False) else "OTHER BYTES"
            ratios = (median(mine) / median(its) for mine, its in ((build.taken, last.taken), (build.worked, last.worked)))
            beside = "; ratio {:.2f}, of the processors {:.2f}, {}".format(*ratios, same)
        print(f"{which}{name}: {build.line(source.items)}; {yardstick}{beside}", flush=True)
    for out in tables:
        out.unlink()


with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
    folder = Path(name)
    block, path = folder / "block.npy", folder / "input.npy"
    for verb, kind in ((verb, kind) for verb in arguments.verbs for kind in (arguments.kinds if verb == "fit" else ["u16"])):
        count, length = str(BLOCK[verb]), arguments.gigabytes * 1e9
        if verb == "fit":
            making, camera, tables = ["--count", count, "--size", "9", "--dtype", kind], [], arguments.tables
            length *= SIZES[kind] / SIZES["f32"]
        else:
            making, camera, tables = ["movie", "--frames", count, "--spots", "15"], ["--baseline", "100", "--sensitivity", "1"], ["csv"]
        subprocess.run([arguments.commands[-1], "simulate", *making, "-o", block], check=True, capture_output=True)
        source = Repeated(block, length)
        block.unlink()
        for pipe in (name == "pipe" for name in arguments.sources):
            if pipe:
                path.unlink(missing_ok=True)
            else:
                source.write(path)
            for table, backend, threads in product(tables, arguments.backends, arguments.threads):
                words = [verb, "-" if pipe else str(path), "--json", "--backend", backend, *camera, *arguments.words.split()]
                what = f"{verb} {kind} {'through a pipe ' if pipe else ''}to {table}, {backend}, {threads or PROCESSORS} threads"
                measure(what, words, threads, path, source, pipe, folder / f"table.{table}")
        path.unlink(missing_ok=True)
print(f"{PROCESSORS} processors; the most of all commands: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3:.0f} MB resident", flush=True)
