#!/usr/bin/env python3
"""Spots that overlap, beside 3D-DAOSTORM: how many are found, how precisely, and at what cost.

    cargo build --release -p spotfit-cli
    python3.11 -m venv daostorm && daostorm/bin/pip install sdt-python==20.1.4 numba scipy
    daostorm/bin/python benches/scripts/against_daostorm.py --spotfit target/release/spotfit

Both get the same movies of `spotfit simulate movie --density`: frames of 64×64 pixels of 100 nm, sigma 1.3 pixels, all spots of a movie
of the same light, flat background, a read noise of 1.5 electrons. Spots lie anywhere, or on lines and rings (`structures`). The
numbers of all seeds are counted together by `spotfit score --radius 2px --border 4px`: of localizations and spots as many as possible
are paired within 200 nm, and 4 pixels at the edge are left out.

- Spotfit is `localize --emitters auto` on one thread, with the width given (`--fixed-sigma 1.3`) or, for `shared`, found from the movie
  (`--sigma shared`). Its time is all that the processor did for the command, reading and writing included, less that for a movie of one
  frame.
- 3D-DAOSTORM is `sdt.loc.daostorm_3d.locate` with numba, the model `2dfixed` and the width given. Its threshold is the one of six with
  which it has the best Jaccard index in the first ten frames; the time is that of `locate` alone, after a first frame in which numba
  compiles.
"""

import argparse
import csv
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

# Before anything that reads it.
os.environ.update({name: "1" for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")})

try:
    import numpy as np
    from sdt.loc import daostorm_3d
except ImportError as error:
    sys.exit(f"{error}. This needs an environment with the peer, see --help")

SIDE, PIXEL, SIGMA = 64, 100.0, 1.3
#: Photons, background, density, and whether spots lie anywhere.
ROWS = [
    *((1000, 20, density, True) for density in (0.2, 0.5, 1, 2, 4)),
    (5000, 50, 4, True),
    *((photons, background, density, False) for photons, background in ((1000, 20), (5000, 50)) for density in (0.2, 0.5, 1, 4)),
]
#: Thresholds of the peer, as shares of the brightest pixel of a spot.
THRESHOLDS = [0.06, 0.1, 0.15, 0.2, 0.25, 0.35]
#: Frames with which the threshold is chosen.
TRIED = 10


class Found:
    """What was found of what was there, and the time it took."""

    def __init__(self):
        self.true, self.false, self.missed, self.squares, self.seconds, self.frames = 0, 0, 0, 0.0, 0.0, 0

    def add(self, score, seconds, frames):
        self.true += score["true_positives"]
        self.false += score["false_positives"]
        self.missed += score["false_negatives"]
        self.squares += score["true_positives"] * (score["rmse"] or 0.0) ** 2
        self.seconds += seconds
        self.frames += frames

    @property
    def jaccard(self):
        return 100.0 * self.true / max(self.true + self.false + self.missed, 1)

    @property
    def precision(self):
        return 100.0 * self.true / max(self.true + self.false, 1)

    @property
    def rmse(self):
        """In nanometres."""
        return PIXEL * math.sqrt(self.squares / max(self.true, 1))

    @property
    def milliseconds(self):
        return 1e3 * self.seconds / max(self.frames, 1)


class Runner:
    """Calls of the command in a folder."""

    def __init__(self, spotfit, folder):
        self.spotfit, self.folder = spotfit, pathlib.Path(folder)

    def __call__(self, *words):
        """What the command prints, and the processor's time in seconds."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = subprocess.run([self.spotfit, *map(str, words)], cwd=self.folder, capture_output=True, text=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if ran.returncode:
            sys.exit(f"spotfit {' '.join(map(str, words))}: {ran.stderr}")
        return ran.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def simulate(self, row, frames, seed, unevenness):
        photons, background, density, uniform = row
        places = ["--uniform"] if uniform else []
        self("simulate", "movie", "-o", "m.npy", "--truth", "t.csv", "--frames", frames, "--width", SIDE, "--height", SIDE,
             "--density", density, "--pixel-size", PIXEL, *places, "--photons", photons, "--sigma", SIGMA,
             "--background", background, "--unevenness", unevenness, "--seed", seed)
        return np.load(self.folder / "m.npy")

    def localize(self, *words):
        """The processor's time that it took."""
        camera = ["--baseline", 100, "--sensitivity", 1, "--read-noise", 1.5]
        return self("localize", "m.npy", "-o", "l.csv", "--threads", 1, *camera, "--emitters", "auto", *words)[1]

    def score(self, frames=None):
        """How well the spots of the movie, or of its first frames, were found."""
        truth = "t.csv"
        if frames is not None:
            truth = "first.csv"
            lines = (self.folder / "t.csv").read_text().splitlines()
            first = [line for line in lines[1:] if int(line.split(",")[0]) < frames]
            (self.folder / truth).write_text("\n".join([lines[0], *first]) + "\n")
        sides = ["--width", SIDE, "--height", SIDE]
        text, _ = self("score", "l.csv", truth, "--radius", "2px", "--border", "4px", *sides, "--json")
        return json.loads(text)

    def write(self, found):
        """Writes the peer's table."""
        with open(self.folder / "l.csv", "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["frame", "x", "y"])
            for frame, places in enumerate(found):
                rows.writerows([frame, *place] for place in places.tolist())


def daostorm(frames, threshold):
    """The places found in each frame, and the processor's time."""
    begin = time.process_time()
    found = [daostorm_3d.locate(frame, radius=SIGMA, model="2dfixed", threshold=threshold, engine="numba") for frame in frames]
    seconds = time.process_time() - begin
    return [table[["x", "y"]].to_numpy() for table in found], seconds


def peer(run, movie, peak, chosen):
    """The peer's score, its time, and its threshold as a share of the peak, which is `chosen` if there is one."""
    if chosen is None:
        daostorm(movie[:1], THRESHOLDS[-1] * peak)
        tried = {}
        for share in THRESHOLDS:
            run.write(daostorm(movie[:TRIED], share * peak)[0])
            tried[share] = run.score(TRIED)["jaccard"] or 0.0
        chosen = max(tried, key=tried.get)
    found, seconds = daostorm(movie, chosen * peak)
    run.write(found)
    return run.score(), seconds, chosen


def measure(run, row, arguments):
    """What each of them found of the movies of a row, by its name, and the peer's threshold."""
    results, chosen = {}, None
    for seed in arguments.seeds:
        movie = run.simulate(row, arguments.frames, seed, arguments.unevenness).astype(float)
        for name, words in (("ours", ["--fixed-sigma", SIGMA]), ("shared", ["--sigma", "shared"])):
            if name in arguments.only:
                whole = run.localize(*words)
                score = run.score()
                begun = run.localize(*words, "--frames", "1:1")
                frames = max(arguments.frames - 1, 1)
                results.setdefault(name, Found()).add(score, max(whole - begun, 0.0), frames)
        if "theirs" in arguments.only:
            peak = row[0] / (2 * math.pi * SIGMA**2)
            score, seconds, chosen = peer(run, movie, peak, chosen)
            results.setdefault("theirs", Found()).add(score, seconds, arguments.frames)
    return results, chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spotfit", default="spotfit", help="the command")
    parser.add_argument("--frames", type=int, default=60, help="frames of a movie")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2], help="each is a movie of its own")
    parser.add_argument("--unevenness", type=float, default=0.0, help="of the background, as in `simulate movie`")
    parser.add_argument("--rows", type=int, nargs="+", default=range(len(ROWS)), help="which rows of the table, from 0")
    parser.add_argument("--only", nargs="+", default=["ours", "shared", "theirs"], choices=["ours", "shared", "theirs"])
    arguments = parser.parse_args()
    if os.sep in arguments.spotfit:
        arguments.spotfit = os.path.abspath(arguments.spotfit)
    print(f"{arguments.frames} frames of each of the seeds {arguments.seeds}, unevenness {arguments.unevenness}; ours with the width given, "
          "ours with `--sigma shared`, 3D-DAOSTORM\n")
    print("| case | Jaccard % | RMSE nm | precision % | ms a frame | theirs / ours | their threshold |")
    print("|---|---|---|---|---|---|---|", flush=True)
    for row in (ROWS[index] for index in arguments.rows):
        with tempfile.TemporaryDirectory() as folder:
            results, chosen = measure(Runner(arguments.spotfit, folder), row, arguments)
        cells = [results.get(name) for name in ("ours", "shared", "theirs")]

        def joined(of, decimals):
            return "; ".join("–" if cell is None else f"{of(cell):.{decimals}f}" for cell in cells)

        ours, _, theirs = cells
        ratio = "–" if ours is None or theirs is None else f"{theirs.milliseconds / max(ours.milliseconds, 1e-9):.1f}"
        photons, background, density, uniform = row
        name = f"{'' if uniform else 'structures '}{photons}/{background}, {density}"
        print(f"| {name} | {joined(lambda c: c.jaccard, 1)} | {joined(lambda c: c.rmse, 1)} | {joined(lambda c: c.precision, 1)} | "
              f"{joined(lambda c: c.milliseconds, 2)} | {ratio} | {'–' if chosen is None else chosen} |", flush=True)


if __name__ == "__main__":
    main()
