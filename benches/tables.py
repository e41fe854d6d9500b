#!/usr/bin/env python3
"""Two builds of the command beside each other, on tables: python3 benches/tables.py OLD NEW

It simulates and localizes a movie with OLD in an empty folder, makes a table ten times as long of the result, and runs every verb
with both in turn: medians of the times by the clock, and the ratio of OLD to NEW (above 1: NEW is faster).
"""

import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

CAMERA = "--baseline 100 --sensitivity 1 --pixel-size 100 --backend cpu"
FRAMES = 5200
#: Options, and how often each is run.
CASES = [
    (f"localize movie.tif -o out.csv {CAMERA}", 5),
    ("filter short.csv 'photons > 300 & uncertainty < 20' -o out.csv", 7),
    ("link short.csv -o out.csv --radius 30", 7),
    ("render short.csv -o out.png --pixel 10", 7),
    ("stats short.csv", 5),
    ("drift short.csv -o out.csv --anyway", 3),
    ("filter long.csv 'photons > 300 & uncertainty < 20' -o out.csv", 3),
    ("link long.csv -o out.csv --radius 30", 3),
    ("render long.csv -o out.png --pixel 10", 3),
    ("stats long.csv --no-nena --no-frc", 3),
]


def run(command: str) -> float:
    begin = time.perf_counter()
    subprocess.run(command, shell=True, check=True, capture_output=True)
    return time.perf_counter() - begin


def make(old: str) -> None:
    """A movie, and two tables of its localizations."""
    run(f"{old} simulate movie -o movie.tif --frames {FRAMES} --width 256 --height 256 --spots 200 --seed 1")
    run(f"{old} localize movie.tif -o short.csv {CAMERA}")
    with open("short.csv", encoding="utf-8") as short:
        header, *rows = short
    print(len(rows), "and", 10 * len(rows), "rows")
    with open("long.csv", "w", encoding="utf-8") as table:
        table.write(header)
        for part in range(10):
            for row in rows:
                number, frame, rest = row.split(",", 2)
                table.write(f"{int(number) + part * len(rows)},{int(frame) + part * FRAMES},{rest}")


def main() -> None:
    old, new = (os.path.abspath(path) for path in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make(old)
        ratios = []
        for words, runs in CASES:
            times: dict[str, list[float]] = {old: [], new: []}
            for number in range(runs):
                for command in (old, new) if number % 2 == 0 else (new, old):
                    times[command].append(run(f"{command} {words}"))
            before, after = (statistics.median(times[command]) for command in (old, new))
            ratios.append(before / after)
            print(f"{before:.3f} s, {after:.3f} s, ratio {ratios[-1]:.3f}, {runs} runs each: {words}", flush=True)
        print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}")
        os.chdir("/")


if __name__ == "__main__":
    main()
