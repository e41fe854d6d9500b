#!/usr/bin/env python3
"""Astigmatic spots that overlap, beside 3D-DAOSTORM: how many are found, and how precisely in x, y and z.

    cargo build --release -p spotfit-cli
    python3.11 -m venv daostorm && daostorm/bin/pip install sdt-python==20.1.4 numba scipy
    daostorm/bin/python benches/scripts/heights_against_daostorm.py --spotfit target/release/spotfit

Both get the same movies of `spotfit simulate movie --shape defocused --density`: frames of 64×64 pixels of 100 nm, heights of ±500 nm, foci at
±250 nm, a depth of 400 nm and a sigma of 1.3 pixels in focus, flat light. `spotfit score --radius 250nm --radius-z 500nm --border 4px` counts.

- Spotfit is `localize --emitters auto --calibration`, with a calibration of `spotfit calibrate` from a simulated stack of beads. Its time is
  the processor's for the command, less that for a movie of one frame.
- 3D-DAOSTORM is `sdt.loc.daostorm_3d.locate` with numba. It knows the true curves. `z` fits heights as it looks for spots; `3d` fits two
  widths, of which it finds the height afterwards. The threshold is the one of six with the best Jaccard index in the first ten frames.
"""

import argparse
import csv
import json
import math
import os
import tempfile
import time

from against_daostorm import PIXEL, SIDE, SIGMA, THRESHOLDS, TRIED, Found, Runner, daostorm_3d, np
from sdt.loc import z_fit

FOCUS, DEPTH, RANGE = 250.0, 400.0, 500.0
#: Photons, background, density.
ROWS = [(photons, background, density) for photons, background in ((1000, 20), (3000, 20)) for density in (0.2, 0.5, 1)]
#: What a height is searched in, in micrometres, as the beads of our calibration.
SEARCHED = 0.65


class Heights(Found):
    """Counts, and the squares of the errors along z."""

    def __init__(self):
        super().__init__()
        self.along = 0.0

    def add(self, score, seconds, frames):
        super().add(score, seconds, frames)
        self.along += score["true_positives"] * (score["rmse_z"] or 0.0) ** 2

    @property
    def rmse(self):
        """In nanometres, as these tables are scored."""
        return math.sqrt(self.squares / max(self.true, 1))

    @property
    def z(self):
        """In nanometres."""
        return math.sqrt(self.along / max(self.true, 1))


class Deep(Runner):
    """Calls for spots with heights."""

    def calibrate(self):
        self("simulate", "beads", "-o", "beads.tif", "--range", 1000 * SEARCHED, "--step", 20, "--spread", 0, "--focus", FOCUS, "--depth", DEPTH,
             "--sigma", SIGMA, "--photons", 20000)
        self("calibrate", "beads.tif", "--step", 20, "-o", "curve.yaml", "--pixel-size", PIXEL, "--baseline", 100, "--sensitivity", 1)

    def simulate(self, row, frames, seed, _=0.0):
        photons, background, density = row
        self("simulate", "movie", "-o", "m.npy", "--truth", "t.csv", "--frames", frames, "--width", SIDE, "--height", SIDE, "--density", density,
             "--pixel-size", PIXEL, "--uniform", "--photons", photons, "--sigma", SIGMA, "--background", background, "--unevenness", 0,
             "--shape", "defocused", "--z-range", RANGE, "--focus", FOCUS, "--depth", DEPTH, "--seed", seed)
        return np.load(self.folder / "m.npy")

    def score(self, frames=None):
        truth = "t.csv"
        if frames is not None:
            truth = "first.csv"
            lines = (self.folder / "t.csv").read_text().splitlines()
            first = [line for line in lines[1:] if int(line.split(",")[0]) < frames]
            (self.folder / truth).write_text("\n".join([lines[0], *first]) + "\n")
        text, _ = self("score", "l.csv", truth, "--pixel-size", PIXEL, "--radius", "250nm", "--radius-z", "500nm", "--border", "4px",
                       "--width", SIDE, "--height", SIDE, "--json")
        return json.loads(text)

    def write(self, found):
        with open(self.folder / "l.csv", "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["frame", "x [px]", "y [px]", "z [nm]"])
            for frame, places in enumerate(found):
                # A table with units counts frames from 1.
                rows.writerows([frame + 1, *place] for place in places.tolist())


def curves():
    known = z_fit.Parameters((-SEARCHED, SEARCHED))
    known.x = known.Tuple(SIGMA, FOCUS / 1000, DEPTH / 1000, np.array([]))
    known.y = known.Tuple(SIGMA, -FOCUS / 1000, DEPTH / 1000, np.array([]))
    return known


def daostorm(frames, threshold, model):
    """The places found in each frame, and the processor's time."""
    known, tables = curves(), []
    begin = time.process_time()
    for frame in frames:
        given = {"z_params": known} if model == "z" else {}
        table = daostorm_3d.locate(frame, radius=SIGMA, model=model, threshold=threshold, engine="numba", **given)
        if model == "3d":
            z_fit.Fitter(known).fit(table)
        tables.append(table)
    seconds = time.process_time() - begin
    return [table[["x", "y", "z"]].to_numpy() * [1.0, 1.0, 1000.0] for table in tables], seconds


def peer(run, movie, peak, model, chosen):
    """The peer's score, its time, and its threshold as a share of the peak in focus, which is `chosen` if there is one."""
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


def measure(run, row, arguments):
    """What each of them found of the movies of a row, by its name, and the peer's thresholds."""
    results, chosen = {}, {}
    for seed in arguments.seeds:
        movie = run.simulate(row, arguments.frames, seed).astype(float)
        words = ["--calibration", "curve.yaml", "--pixel-size", PIXEL]
        whole = run.localize(*words)
        score = run.score()
        begun = run.localize(*words, "--frames", "1:1")
        results.setdefault("ours", Heights()).add(score, max(whole - begun, 0.0), max(arguments.frames - 1, 1))
        peak = row[0] / (2 * math.pi * SIGMA**2)
        for model in arguments.models:
            score, seconds, chosen[model] = peer(run, movie, peak, model, chosen.get(model))
            results.setdefault(model, Heights()).add(score, seconds, arguments.frames)
    return results, chosen


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spotfit", default="spotfit", help="the command")
    parser.add_argument("--frames", type=int, default=60, help="frames of a movie")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2], help="each is a movie of its own")
    parser.add_argument("--rows", type=int, nargs="+", default=range(len(ROWS)), help="which rows of the table, from 0")
    parser.add_argument("--models", nargs="+", default=["z", "3d"], choices=["z", "3d"], help="of the peer")
    arguments = parser.parse_args()
    if os.sep in arguments.spotfit:
        arguments.spotfit = os.path.abspath(arguments.spotfit)
    print(f"{arguments.frames} frames of each of the seeds {arguments.seeds}\n")
    print("| photons / background, per µm² | by | Jaccard % | RMSE nm | z RMSE nm | precision % | ms a frame | threshold |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for row in (ROWS[index] for index in arguments.rows):
        with tempfile.TemporaryDirectory() as folder:
            run = Deep(arguments.spotfit, folder)
            run.calibrate()
            results, chosen = measure(run, row, arguments)
        photons, background, density = row
        for name, found in results.items():
            print(f"| {photons} / {background}, {density} | {name} | {found.jaccard:.1f} | {found.rmse:.1f} | {found.z:.1f} | {found.precision:.1f} | "
                  f"{found.milliseconds:.2f} | {chosen.get(name, '–')} |", flush=True)


if __name__ == "__main__":
    main()
