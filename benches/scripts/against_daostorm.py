#!/usr/bin/env python3
"""Spots that overlap, beside 3D-DAOSTORM: how many are found, how precisely, and at what cost.

    cargo build --release -p spotfit-cli
    python3.11 -m venv daostorm && daostorm/bin/pip install sdt-python==20.1.4 numba scipy
    daostorm/bin/python benches/scripts/against_daostorm.py --spotfit target/release/spotfit [--heights]

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

With `--heights` spots are astigmatic (`--shape defocused`): heights of ±500 nm, foci at ±250 nm, a depth of 400 nm. They are paired within
250 nm, and 500 along z.

- Spotfit is `localize --emitters auto --calibration`, with a calibration of `spotfit calibrate` from a simulated stack of beads.
- 3D-DAOSTORM knows the true curves. `z` fits heights as it looks for spots; `3d` fits two widths, of which it finds the height afterwards.
"""

import argparse
import csv
import json
import math
import os
import pathlib
import sys
import tempfile
import time

from common import ONE_THREAD, call, head, processors, row

os.environ.update(ONE_THREAD)

try:
    import numpy as np
    from sdt.loc import daostorm_3d, z_fit
except ImportError as error:
    sys.exit(f"{error}. This needs an environment with the peer, see --help")

SIDE, PIXEL, SIGMA = 64, 100.0, 1.3
FOCUS, DEPTH, RANGE = 250.0, 400.0, 500.0
#: What a height is searched in, in micrometres, as the beads of our calibration.
SEARCHED = 0.65
#: Photons, background, density, and whether spots lie anywhere.
FLAT = [
    *((1000, 20, density, True) for density in (0.2, 0.5, 1, 2, 4)),
    (5000, 50, 4, True),
    *((photons, background, density, False) for photons, background in ((1000, 20), (5000, 50)) for density in (0.2, 0.5, 1, 4)),
]
DEEP = [(photons, 20, density, True) for photons in (1000, 3000) for density in (0.2, 0.5, 1)]
#: Thresholds of the peer, as shares of the brightest pixel of a spot.
THRESHOLDS = [0.06, 0.1, 0.15, 0.2, 0.25, 0.35]
#: Frames with which the threshold is chosen.
TRIED = 10
#: What is asked of us, and the models of the peer.
OURS = {"ours": ["--fixed-sigma", SIGMA], "shared": ["--sigma", "shared"]}
OURS_DEEP = {"ours": ["--calibration", "curve.yaml", "--pixel-size", PIXEL]}
MODELS = {"theirs": "2dfixed", "z": "z", "3d": "3d"}


class Found:
    """What was found of what was there, and the time it took."""

    def __init__(self):
        self.true, self.false, self.missed, self.squares, self.along, self.seconds, self.frames = 0, 0, 0, 0.0, 0.0, 0.0, 0

    def add(self, score, seconds, frames):
        self.true += score["true_positives"]
        self.false += score["false_positives"]
        self.missed += score["false_negatives"]
        self.squares += score["true_positives"] * (score["rmse"] or 0.0) ** 2
        self.along += score["true_positives"] * (score.get("rmse_z") or 0.0) ** 2
        self.seconds += seconds
        self.frames += frames

    def numbers(self, unit):
        """Jaccard index, rms errors in the plane and along z, precision, milliseconds a frame."""
        true = max(self.true, 1)
        rms = (math.sqrt(squares / true) for squares in (self.squares, self.along))
        jaccard = 100.0 * self.true / max(self.true + self.false + self.missed, 1)
        precision = 100.0 * self.true / max(self.true + self.false, 1)
        return [jaccard, unit * next(rms), next(rms), precision, 1e3 * self.seconds / max(self.frames, 1)]


class Runner:
    """Calls of the command in a folder."""

    def __init__(self, spotfit, folder, heights):
        self.spotfit, self.folder, self.heights = spotfit, pathlib.Path(folder), heights
        if heights:
            beads = ["--range", 1000 * SEARCHED, "--step", 20, "--spread", 0, "--focus", FOCUS, "--depth", DEPTH, "--sigma", SIGMA]
            self("simulate", "beads", "-o", "beads.tif", *beads, "--photons", 20000)
            camera = ["--pixel-size", PIXEL, "--baseline", 100, "--sensitivity", 1]
            self("calibrate", "beads.tif", "--step", 20, "-o", "curve.yaml", *camera)

    def __call__(self, *words):
        return call(self.spotfit, *words, cwd=self.folder)[0]

    def simulate(self, light, frames, seed, unevenness):
        photons, background, density, uniform = light
        deep = ["--shape", "defocused", "--z-range", RANGE, "--focus", FOCUS, "--depth", DEPTH] if self.heights else []
        places = ["--uniform"] if uniform else []
        self("simulate", "movie", "-o", "m.npy", "--truth", "t.csv", "--frames", frames, "--width", SIDE, "--height", SIDE,
             "--density", density, "--pixel-size", PIXEL, *places, "--photons", photons, "--sigma", SIGMA,
             "--background", background, "--unevenness", unevenness, *deep, "--seed", seed)
        return np.load(self.folder / "m.npy")

    def localize(self, *words):
        """The processor's time that it took."""
        before = processors()
        camera = ["--baseline", 100, "--sensitivity", 1, "--read-noise", 1.5]
        self("localize", "m.npy", "-o", "l.csv", "--threads", 1, *camera, "--emitters", "auto", *words)
        return processors() - before

    def score(self, frames=None):
        """How well the spots of the movie, or of its first frames, were found."""
        truth = "t.csv"
        if frames is not None:
            truth = "first.csv"
            lines = (self.folder / "t.csv").read_text().splitlines()
            first = [line for line in lines[1:] if int(line.split(",")[0]) < frames]
            (self.folder / truth).write_text("\n".join([lines[0], *first]) + "\n")
        within = ["--pixel-size", PIXEL, "--radius", "250nm", "--radius-z", "500nm"] if self.heights else ["--radius", "2px"]
        return json.loads(self("score", "l.csv", truth, *within, "--border", "4px", "--width", SIDE, "--height", SIDE, "--json"))

    def write(self, found):
        """Writes the peer's table. One with units counts frames from 1."""
        with open(self.folder / "l.csv", "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["frame", "x [px]", "y [px]", "z [nm]"] if self.heights else ["frame", "x", "y"])
            for frame, places in enumerate(found, int(self.heights)):
                rows.writerows([frame, *place] for place in places.tolist())


def daostorm(frames, threshold, model):
    """The places found in each frame, and the processor's time."""
    known = z_fit.Parameters((-SEARCHED, SEARCHED))
    known.x = known.Tuple(SIGMA, FOCUS / 1000, DEPTH / 1000, np.array([]))
    known.y = known.Tuple(SIGMA, -FOCUS / 1000, DEPTH / 1000, np.array([]))
    given = {"z_params": known} if model == "z" else {}
    tables = []
    begin = time.process_time()
    for frame in frames:
        tables.append(daostorm_3d.locate(frame, radius=SIGMA, model=model, threshold=threshold, engine="numba", **given))
        if model == "3d":
            z_fit.Fitter(known).fit(tables[-1])
    seconds = time.process_time() - begin
    if model == "2dfixed":
        return [table[["x", "y"]].to_numpy() for table in tables], seconds
    return [table[["x", "y", "z"]].to_numpy() * [1.0, 1.0, 1000.0] for table in tables], seconds


def peer(run, movie, peak, model, chosen):
    """The peer's score, its time, and its threshold as a share of the peak, which is `chosen` if there is one."""
    if chosen is None:
        daostorm(movie[:1], THRESHOLDS[-1] * peak, model)
        tried = {}
        for share in THRESHOLDS:
            run.write(daostorm(movie[:TRIED], share * peak, model)[0])
            tried[share] = run.score(TRIED)["jaccard"] or 0.0
        chosen = max(tried, key=tried.get)
    found, seconds = daostorm(movie, chosen * peak, model)
    run.write(found)
    return run.score(), seconds, chosen


def measure(run, light, arguments):
    """What each of them found of the movies of a row, by its name, and the peer's thresholds."""
    results, chosen = {}, {}
    wanted = ["ours", *arguments.models] if run.heights else arguments.only
    for seed in arguments.seeds:
        movie = run.simulate(light, arguments.frames, seed, arguments.unevenness).astype(float)
        for name in wanted:
            words = (OURS_DEEP if run.heights else OURS).get(name)
            if words:
                whole, score = run.localize(*words), run.score()
                seconds = max(whole - run.localize(*words, "--frames", "1:1"), 0.0)
                results.setdefault(name, Found()).add(score, seconds, max(arguments.frames - 1, 1))
            else:
                peak = light[0] / (2 * math.pi * SIGMA**2)
                score, seconds, chosen[name] = peer(run, movie, peak, MODELS[name], chosen.get(name))
                results.setdefault(name, Found()).add(score, seconds, arguments.frames)
    return results, chosen


def told(light, results, chosen):
    """A row for all: ours with the width given, with a shared one, and theirs."""
    cells = [results[name].numbers(PIXEL) if name in results else None for name in ("ours", "shared", "theirs")]

    def joined(of, decimals):
        return "; ".join("–" if cell is None else f"{cell[of]:.{decimals}f}" for cell in cells)

    ours, _, theirs = cells
    ratio = "–" if ours is None or theirs is None else f"{theirs[-1] / max(ours[-1], 1e-9):.1f}"
    photons, background, density, uniform = light
    name = f"{'' if uniform else 'structures '}{photons}/{background}, {density}"
    row(name, joined(0, 1), joined(1, 1), joined(3, 1), joined(4, 2), ratio, chosen.get("theirs", "–"))


def told_deep(light, results, chosen):
    """A row for each."""
    photons, background, density, _ = light
    for name, found in results.items():
        *numbers, time = found.numbers(1.0)
        row(f"{photons} / {background}, {density}", name, *(f"{number:.1f}" for number in numbers), f"{time:.2f}", chosen.get(name, "–"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spotfit", default="spotfit", help="the command")
    parser.add_argument("--frames", type=int, default=60, help="frames of a movie")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2], help="each is a movie of its own")
    parser.add_argument("--unevenness", type=float, default=0.0, help="of the background, as in `simulate movie`")
    parser.add_argument("--rows", type=int, nargs="+", help="which rows of the table, from 0")
    parser.add_argument("--only", nargs="+", default=["ours", "shared", "theirs"], choices=["ours", "shared", "theirs"])
    parser.add_argument("--heights", action="store_true", help="astigmatic spots")
    parser.add_argument("--models", nargs="+", default=["z", "3d"], choices=["z", "3d"], help="of the peer, for heights")
    arguments = parser.parse_args()
    if os.sep in arguments.spotfit:
        arguments.spotfit = os.path.abspath(arguments.spotfit)
    begun = f"{arguments.frames} frames of each of the seeds {arguments.seeds}"
    if arguments.heights:
        print(f"{begun}\n")
        head("photons / background, per µm² | by | Jaccard % | RMSE nm | z RMSE nm | precision % | ms a frame | threshold")
    else:
        print(f"{begun}, unevenness {arguments.unevenness}; ours with the width given, ours with `--sigma shared`, 3D-DAOSTORM\n")
        head("case | Jaccard % | RMSE nm | precision % | ms a frame | theirs / ours | their threshold")
    rows = DEEP if arguments.heights else FLAT
    for light in (rows[index] for index in arguments.rows or range(len(rows))):
        with tempfile.TemporaryDirectory() as folder:
            found = measure(Runner(arguments.spotfit, folder, arguments.heights), light, arguments)
        (told_deep if arguments.heights else told)(light, *found)


if __name__ == "__main__":
    main()
