#!/usr/bin/env python3
"""How well and how fast others find drift: the tables of `drift-report`, one peer at a time.

    cargo build --release -p benches --bin drift-report
    for case in linear linear2 smooth smooth3 walk1 walk1l walk2 jumps swing; do
        for seed in 0 1 2; do
            target/release/drift-report write --case $case --seed $seed --out tables
        done
    done
    python3.12 -m venv picasso && picasso/bin/pip install picassosr==0.11.3
    python3.12 -m venv comet && comet/bin/pip install comet-smlm==1.2.0
    python3.12 -m venv smappy && smappy/bin/pip install smappy-smlm==0.4.1
    picasso/bin/python benches/scripts/drift_peers.py --tables tables --peer aim --seeds 0 1 2
    picasso/bin/python benches/scripts/drift_peers.py --tables tables --peer rcc --seeds 0 1 2
    comet/bin/python benches/scripts/drift_peers.py --tables tables --peer comet --seeds 0 --cases linear2 linear walk1
    smappy/bin/python benches/scripts/drift_peers.py --tables tables --peer smappy --seeds 0 1 2
    target/release/drift-report cases

Each peer is asked at some settings; whatever is not named has its own default. They need environments of their own, made
with Python 3.12 or 3.13:

- `aim` is `picasso.aim.aim`, with segments of 20, 100 (its default) and 500 frames. Its intersection distance is 20/130
  of a pixel and its search radius 60/130, which are 15 and 46 nm here.
- `rcc` is `picasso.postprocess.undrift`, with segments of 500, 1000 and 2000 frames. It wants four segments or more, and
  finds no z.
- `comet` is `comet.comet_run_kd` on the processor, with windows of so many frames that there are about 50, 200 and 1000
  of them, and drift of up to 300 nm. It takes minutes, or an hour for the larger tables.
- `smappy` is `smappy.drift.estimate_drift`, COMET's cost for a spline in time, with knots 2000 (its default), 500, 100, 50
  and 20 frames apart. It merges localizations of the same blink beforehand. The package is called smappy-smlm; what is called
  smappy on PyPI is something else.

All of them give the drift that is to be taken off, as Spotfit does. What is left is the root mean square, over frames, of
the drift found less the true one, without its mean, in nm for x, y and, if there is one, z; and the mean of that over
seeds. The processor's time is that of all threads. There is one, as threads that wait for others would take time too.
Before a case is timed its first table is searched once, so that nothing is compiled while the clock runs.
"""

import argparse
import os
import sys
import time

from common import ONE_THREAD, head, processors, row

os.environ.update(ONE_THREAD)

try:
    import numpy as np
except ImportError as error:
    sys.exit(f"{error}. This needs an environment with a peer, see --help")

CASES = ["linear", "linear2", "smooth", "smooth3", "walk1", "walk1l", "walk2", "jumps", "swing"]
#: Nanometres and pixels of the camera.
PIXEL = 100.0
SIDE = 128


class Table:
    """Localizations by the names of their columns, and the true drift in each frame."""

    def __init__(self, folder, name, seed):
        self.name = f"{name}-{seed}"
        path = os.path.join(folder, self.name)
        with open(f"{path}.csv") as lines:
            names = lines.readline().strip().split(",")
            self.columns = dict(zip(names, np.loadtxt(lines, delimiter=",", ndmin=2).T))
        self.frame = self.columns["frame"].astype(np.int64)
        self.axes = [axis for axis in "xyz" if axis in names]
        self.truth = np.loadtxt(f"{path}-truth.csv", delimiter=",", skiprows=1)
        self.frames = len(self.truth)


def for_picasso(table):
    """The localizations and the metadata of Picasso, which counts in pixels but for z."""
    import pandas as pd

    columns = {"frame": table.frame.astype(np.uint32), "photons": np.full(len(table.frame), 1000, np.float32)}
    for axis in table.axes:
        columns[axis] = (table.columns[axis] / (1 if axis == "z" else PIXEL)).astype(np.float32)
    for precision in "lpx", "lpy":
        columns[precision] = (table.columns["uncertainty"] / PIXEL).astype(np.float32)
    return pd.DataFrame(columns), [{"Frames": table.frames, "Width": SIDE, "Height": SIDE, "Pixelsize": PIXEL}]


def aim(table):
    from picasso.aim import aim

    localizations, info = for_picasso(table)

    def find(segmentation):
        drift = aim(localizations, info, segmentation=segmentation)[2]
        # Its first frame is the first that has localizations.
        of = np.maximum(np.arange(table.frames) - table.frame.min(), 0)
        return np.column_stack([drift[axis] * (1 if axis == "z" else PIXEL) for axis in table.axes])[of]

    return find


def rcc(table):
    from picasso.postprocess import undrift

    localizations, info = for_picasso(table)

    def find(segmentation):
        # Without these it prints how far it is.
        quiet = {"segmentation_callback": lambda _: None, "rcc_callback": lambda _: None}
        return undrift(localizations, info, segmentation, display=False, **quiet)[0][["x", "y"]].to_numpy() * PIXEL

    return find


def comet(table):
    from comet import comet_run_kd

    zero = np.zeros(len(table.frame))
    rows = np.column_stack([table.columns.get(axis, zero) for axis in "xyz"] + [table.frame])

    def find(windows):
        # By frames of a window. It takes the drift off the rows that it is given.
        every = {"segmentation_mode": 2, "segmentation_var": max(round(table.frames / windows), 1)}
        drift = comet_run_kd(rows.copy(), **every, min_max_frames=(0, table.frames - 1), mode="cpu")
        return drift[:, : len(table.axes)]

    return find


def smappy(table):
    from smappy.drift import DriftSettings, estimate_drift
    from smappy.locs import Localizations

    columns = {f"{axis}_nm": table.columns[axis] for axis in table.axes}
    localizations = Localizations({"frame": table.frame, **columns}, {})

    def find(frames):
        drift = estimate_drift(localizations, DriftSettings(spline_knot_frames=frames)).drift
        # It ends with the last frame that has localizations.
        of = np.minimum(np.arange(table.frames), len(drift) - 1)
        return drift[of, : len(table.axes)]

    return find


#: What makes the search of a table, what its setting is, and the settings.
PEERS = {
    "aim": (aim, "AIM, segments of {} frames", (20, 100, 500)),
    "rcc": (rcc, "RCC, segments of {} frames", (500, 1000, 2000)),
    "comet": (comet, "COMET, {} windows", (50, 200, 1000)),
    "smappy": (smappy, "SMAPpy, knots {} frames apart", (2000, 500, 100, 50, 20)),
}


def processor_seconds():
    """What this process took with all its threads, and those that it started and that ended."""
    return time.process_time() + processors()


def measure(find, setting, table):
    """What is left of the drift of each axis, or why nothing was found; and the processor's seconds."""
    begin = processor_seconds()
    try:
        found = find(setting)
    except (ValueError, RuntimeError) as error:
        return str(error), processor_seconds() - begin
    seconds = processor_seconds() - begin
    off = found - table.truth[:, : found.shape[1]]
    left = np.sqrt(np.mean((off - off.mean(axis=0)) ** 2, axis=0))
    return (left if np.isfinite(left).all() else "not finite"), seconds


def listed(numbers):
    return " / ".join(f"{number:.2f}" for number in numbers)


def compare(name, arguments):
    """A line for each setting."""
    peer, text, settings = PEERS[arguments.peer]
    tables = [Table(arguments.tables, name, seed) for seed in arguments.seeds]
    searches = [peer(table) for table in tables]
    measure(searches[0], settings[0], tables[0])
    for setting in settings:
        found, times = [], []
        for table, find in zip(tables, searches):
            left, seconds = measure(find, setting, table)
            times.append(seconds)
            if isinstance(left, str):
                print(f"  {table.name}, {text.format(setting)}: {left}", file=sys.stderr)
                continue
            found.append(left)
            if arguments.verbose:
                print(f"  {table.name}, {text.format(setting)}: left {listed(left)} nm, {seconds:.2f} s", file=sys.stderr)
        rows = sum(len(table.frame) for table in tables) // len(tables)
        left = listed(np.mean(found, axis=0)) if found else "–"
        row(name, rows, text.format(setting), len(found), left, f"{np.mean(times):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", required=True, metavar="DIR", help="where `drift-report write` wrote them")
    parser.add_argument("--peer", required=True, choices=PEERS)
    parser.add_argument("--cases", nargs="+", default=CASES, choices=CASES, help="default: all")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="default: 1 2 3")
    parser.add_argument("--verbose", action="store_true", help="also say what is left in each table")
    arguments = parser.parse_args()
    print(f"Means of {len(arguments.seeds)} seeds; lengths are root mean squares in nm.\n")
    head("case | rows | peer | answered | left | processor, s")
    for name in arguments.cases:
        compare(name, arguments)


if __name__ == "__main__":
    main()
