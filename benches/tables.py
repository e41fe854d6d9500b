#!/usr/bin/env python3
"""Two builds of the command beside each other, on tables: python3 benches/tables.py OLD NEW [--rows N] [--minutes M]

It simulates and localizes a movie with OLD in an empty folder, makes a table of N rows (10⁷ if nothing else is said) by repeating
the result, and runs every verb with both in turn: medians of the times by the clock, and the ratio of OLD to NEW (above 1: NEW is
faster). The movie has a tenth of the rows. Cases are run in rounds until M minutes are over (9 if nothing else is said), each at
least once with either build; what is left over of the time goes to further rounds, up to 7.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parent / "scripts"))
from common import median, timed  # noqa: E402

CAMERA = "--baseline 100 --sensitivity 1 --pixel-size 100 --backend cpu"
#: Spots that are found in a frame of the movie, about.
IN_A_FRAME = 192
#: The most runs of a case with either build.
MOST = 7
CASES = [
    f"localize movie.tif -o out.csv {CAMERA}",
    "filter short.csv 'photons > 300 & uncertainty < 20' -o out.csv",
    "link short.csv -o out.csv --radius 30",
    "render short.csv -o out.png --pixel 10",
    "stats short.csv",
    "drift short.csv -o out.csv --anyway",
    "filter long.csv 'photons > 300 & uncertainty < 20' -o out.csv",
    "link long.csv -o out.csv --radius 30",
    "render long.csv -o out.png --pixel 10",
    "stats long.csv --no-nena --no-frc",
    "drift long.csv -o out.csv --anyway",
]


def run(command: str) -> float:
    return timed(lambda: subprocess.run(command, shell=True, check=True, capture_output=True))


def make(old: str, rows: int) -> None:
    """A movie, the table of its localizations, and one of so many rows."""
    frames = max(20, rows // 10 // IN_A_FRAME)
    run(f"{old} simulate movie -o movie.tif --frames {frames} --width 256 --height 256 --spots 200 --seed 1")
    run(f"{old} localize movie.tif -o short.csv {CAMERA}")
    with open("short.csv", encoding="utf-8") as short:
        header, *lines = short
    parts = [line.split(",", 2) for line in lines]
    print(len(lines), "and", rows, "rows", flush=True)
    with open("long.csv", "w", encoding="utf-8") as table:
        table.write(header)
        for first in range(0, rows, len(lines)):
            repeated = first // len(lines) * frames
            some = parts[: rows - first]
            table.writelines(f"{int(number) + first},{int(frame) + repeated},{rest}" for number, frame, rest in some)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("builds", nargs=2, metavar="OLD NEW")
    parser.add_argument("--rows", type=int, default=10_000_000, help="rows of the long table")
    parser.add_argument("--minutes", type=float, default=9.0, help="after which no further round begins")
    asked = parser.parse_args()
    old, new = (os.path.abspath(path) for path in asked.builds)
    end = time.perf_counter() + 60 * asked.minutes
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make(old, asked.rows)
        times: dict[tuple[str, str], list[float]] = {(case, build): [] for case in CASES for build in (old, new)}
        longest = 0.0
        for number in range(MOST):
            begin = time.perf_counter()
            # The last round is a whole one.
            if number > 0 and begin + longest > end:
                break
            for case in CASES:
                for build in (old, new) if number % 2 == 0 else (new, old):
                    times[case, build].append(run(f"{build} {case}"))
            longest = max(longest, time.perf_counter() - begin)
        ratios = []
        for case in CASES:
            before, after = (median(times[case, build]) for build in (old, new))
            ratios.append(before / after)
            runs = len(times[case, old])
            print(f"{before:.3f} s, {after:.3f} s, ratio {ratios[-1]:.3f}, {runs} runs each: {case}", flush=True)
        print(f"geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}, smallest {min(ratios):.3f}")
        os.chdir("/")


if __name__ == "__main__":
    main()
