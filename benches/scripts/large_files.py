#!/usr/bin/env python3
"""Times `spotfit fit` and `spotfit localize` on files that are larger than memory should be, and says how much memory they take.

    python3 benches/scripts/large_files.py target/release/spotfit --gigabytes 6.48 --runs 5
    python3 benches/scripts/large_files.py target/release/spotfit --gigabytes 30 --verbs fit localize --backends cpu gpu --sources file pipe

The input is made of a block that is simulated once and repeated: windows of 9×9 pixels with a spot each, or frames of 256×256 pixels of 16 bits with 15 spots
each. From a pipe it comes through standard input, and no file is there. Each line: medians by the clock, the stages that the command tells, the most memory that it
had (resident, with what is pinned; anonymous where the system says it; on the GPU beside what was taken before), and as a yardstick the time in which as many threads
read the file and write as many bytes as the table has.
"""

import argparse
import ast
import json
import os
import resource
import statistics
import subprocess
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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

PROCESSORS = len(os.sched_getaffinity(0))


def threads_of(count: int) -> int:
    return count or PROCESSORS


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


class Watch(threading.Thread):
    """The most memory that a process has."""

    def __init__(self, process):
        super().__init__(daemon=True)
        self.process, self.most = process, {}
        self.start()

    def run(self):
        status = f"/proc/{self.process.pid}/status"
        while self.process.poll() is None:
            try:
                lines = Path(status).read_text().splitlines()
            except OSError:
                return
            for line in lines:
                name, _, value = line.partition(":")
                if name in ("VmRSS", "VmHWM", "RssAnon", "RssShmem", "VmPin", "VmLck") and value.split()[1:] == ["kB"]:
                    self.most[name] = max(self.most.get(name, 0), int(value.split()[0]) / 1e3)
            time.sleep(0.005)


def device_memory() -> float | None:
    query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        return float(subprocess.run(query, capture_output=True, text=True, check=True).stdout.split()[0]) * 1.048576
    except (OSError, subprocess.CalledProcessError, IndexError, ValueError):
        return None


class DeviceWatch(threading.Thread):
    def __init__(self):
        super().__init__(daemon=True)
        self.before = device_memory()
        self.most, self.ended = 0.0, False
        if self.before is not None:
            self.start()

    def run(self):
        while not self.ended:
            now = device_memory()
            self.most = max(self.most, (now or 0.0) - self.before)


def run(words: list[str], source: Repeated | None) -> tuple[float, dict, dict]:
    """Runs the command: seconds, its report, and the most memory."""
    begin = time.perf_counter()
    process = subprocess.Popen(words, stdin=subprocess.PIPE if source else subprocess.DEVNULL, stdout=subprocess.PIPE)
    watch = Watch(process)
    if source:
        for part in source.parts():
            process.stdin.write(part)
        process.stdin.close()
    report = process.stdout.read()
    if process.wait() != 0:
        raise SystemExit(f"{' '.join(words)} failed")
    taken = time.perf_counter() - begin
    watch.join()
    return taken, json.loads(report), watch.most


def alone(path: Path, table: int, threads: int) -> tuple[float, float]:
    """Reads the file and writes as many bytes as the table has, by threads."""
    folder = path.parent
    with ThreadPoolExecutor(threads) as pool:
        local = threading.local()

        def read(at: int):
            if not hasattr(local, "room"):
                local.room = bytearray(PIECE)
            os.preadv(source, [local.room], at)

        source, length = os.open(path, os.O_RDONLY), path.stat().st_size
        begin = time.perf_counter()
        list(pool.map(read, range(0, length, PIECE), chunksize=64))
        reading = time.perf_counter() - begin
        os.close(source)
        block, other = os.urandom(PIECE), folder / "alone"
        out = os.open(other, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        begin = time.perf_counter()
        list(pool.map(lambda at: os.pwrite(out, block[: table - at], at), range(0, table, PIECE), chunksize=64))
        writing = time.perf_counter() - begin
        os.close(out)
        other.unlink()
    return reading, writing


class Runs:
    """What the runs of a command say."""

    def __init__(self):
        self.taken, self.told, self.most = [], [], {}

    def add(self, seconds: float, report: dict, memory: dict):
        self.taken.append(seconds)
        self.told.append(report.get("stages") or {})
        for key, value in memory.items():
            self.most[key] = max(self.most.get(key, 0.0), value)

    def line(self, items: int) -> str:
        median = statistics.median(self.taken)
        spread = ", ".join(f"{seconds:.2f}" for seconds in self.taken)
        stages = ", ".join(f"{stage} {statistics.median(run[stage] for run in self.told):.2f}" for stage in self.told[0])
        memory = ", ".join(f"{key} {value:.0f} MB" for key, value in self.most.items() if value > 0)
        return f"{median:.2f} s ({spread}), {items / median:,.0f}/s of {items:,}; {stages or 'no stages'}; {memory}"


def measure(name: str, words: list[str], threads: int, path: Path, source: Repeated, pipe: bool, table: Path):
    runs = {command: Runs() for command in arguments.commands}
    for _ in range(arguments.runs):
        for command, told in runs.items():
            table.unlink(missing_ok=True)
            device = DeviceWatch() if "gpu" in words else None
            seconds, report, memory = run([command, *words, *(["--threads", str(threads)] if threads else [])], source if pipe else None)
            if device and device.before is not None:
                device.ended = True
                device.join()
                memory["GPU"] = device.most
            told.add(seconds, report, memory)
    length = table.stat().st_size
    alone_line = f"table {length / 1e6:.0f} MB"
    if not pipe:
        yardsticks = [alone(path, length, threads_of(threads)) for _ in range(min(arguments.runs, 3))]
        reading, writing = (statistics.median(both) for both in zip(*yardsticks))
        alone_line += f"; alone: read {reading:.2f}, write {writing:.2f}"
    table.unlink()
    for command, told in runs.items():
        which = f"{Path(command).name}: " if len(runs) > 1 else ""
        print(f"{which}{name}: {told.line(source.items)}; {alone_line}", flush=True)


with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
    folder = Path(name)
    for verb in arguments.verbs:
        for kind in arguments.kinds if verb == "fit" else ["u16"]:
            block, path = folder / "block.npy", folder / "input.npy"
            if verb == "fit":
                making = ["simulate", "--count", str(BLOCK[verb]), "--size", "9", "--dtype", kind]
            else:
                making = ["simulate", "movie", "--frames", str(BLOCK[verb]), "--spots", "15"]
            subprocess.run([arguments.commands[-1], *making, "-o", block], check=True, capture_output=True)
            length = arguments.gigabytes * 1e9 * (SIZES[kind] / SIZES["f32"] if verb == "fit" else 1)
            source = Repeated(block, length)
            block.unlink()
            camera = ["--baseline", "100", "--sensitivity", "1"] if verb == "localize" else []
            for pipe in (name == "pipe" for name in arguments.sources):
                if pipe:
                    path.unlink(missing_ok=True)
                else:
                    source.write(path)
                for table in arguments.tables if verb == "fit" else ["csv"]:
                    for backend in arguments.backends:
                        for threads in arguments.threads:
                            out = folder / f"table.{table}"
                            words = [verb, "-" if pipe else str(path), "-o", str(out), "--json", "--backend", backend]
                            what = f"{verb} {kind} {'through a pipe ' if pipe else ''}to {table}, {backend}, {threads_of(threads)} threads"
                            measure(what, [*words, *camera, *arguments.words.split()], threads, path, source, pipe, out)
            path.unlink(missing_ok=True)
print(f"{PROCESSORS} processors; the most of all commands: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e3:.0f} MB resident", flush=True)
